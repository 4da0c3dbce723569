plugins {
    id("com.android.application")
}

android {
    namespace = "io.loopbox.sample"
    compileSdk = 36

    defaultConfig {
        applicationId = "io.loopbox.sample"
        minSdk = 21
        targetSdk = 36
        versionCode = 1
        versionName = "1.0"
    }

    buildTypes {
        release {
            isMinifyEnabled = true // the library's own rules come with the AAR
            proguardFiles(getDefaultProguardFile("proguard-android-optimize.txt"))
            signingConfig = signingConfigs.getByName("debug")
        }
    }

    compileOptions {
        sourceCompatibility = JavaVersion.VERSION_1_8
        targetCompatibility = JavaVersion.VERSION_1_8
    }
}

dependencies {
    implementation("io.loopbox:loopbox:0.1.0")
    debugImplementation("io.loopbox:loopbox-screen:0.1.0")
}
