pluginManagement {
    repositories {
        google()
        mavenCentral()
        gradlePluginPortal()
    }
}

dependencyResolutionManagement {
    repositories {
        // What `cargo xtask android` makes: io/loopbox/loopbox/VERSION with the AAR, its sources and its POM.
        maven { url = uri("../../target/android/maven") }
        google()
        mavenCentral()
    }
}

rootProject.name = "loopbox-sample"
include(":app")
