//! Classifies classes and methods by their names: whose code they are, and whether a compiler made them. Used
//! by host tools and by the app itself.

use crate::model::Report;
use crate::text;

/// Whether a list has a package that contains the class. A list is one text with spaces between the packages:
/// as an array of texts, each package would take 40 more bytes of the library that ships.
fn is_in(packages: &str, class: &str) -> bool {
    let (packages, class) = (packages.as_bytes(), class.as_bytes());
    packages.split(|byte| *byte == b' ').any(|package| class.starts_with(package))
}

/// Packages of the platform, and of the additions by device makers. Their classes are on the device, not in
/// the app, and are never obfuscated, except WebView's (`WV.`).
const PLATFORM: &str = "\
    WV. android. com.android. com.asus. com.bbk. com.coloros. com.hihonor.android. com.huawei.android. \
    com.lge. com.mediatek. com.meizu. com.miui. com.motorola.android. com.nothing. com.oneplus. \
    com.oplus. com.oppo. com.qti. com.qualcomm. com.samsung.android. com.samsung.sdhms. com.sec.android. \
    com.sonyericsson. com.sonymobile. com.transsion. com.vivo. com.zte. com.zui. dalvik. huawei.android. \
    java. javax. jdk. libcore. meizu. miui. oplus. org.apache.harmony. org.chromium. org.json. \
    org.w3c.dom. org.xml.sax. sun. vendor. vivo.";

/// Loopbox's own package. Its native methods keep this name in every app.
pub const LOOPBOX: &str = "io.loopbox.";

/// Packages of libraries that apps ship: their code is seldom the code to change.
const LIBRARIES: &str = "\
    android.support. androidx. coil. coil3. com.adjust. com.afollestad. com.agora. com.airbnb. \
    com.alibaba. com.amazonaws. com.amplitude. com.apollographql. com.appboy. com.applovin. \
    com.appsflyer. com.braze. com.bugsnag. com.bumptech.glide. com.bytedance. com.chartboost. \
    com.crashlytics. com.datadog. com.facebook. com.fasterxml. com.getkeepsafe. com.github. com.google. \
    com.heytap.msp. com.hihonor.push. com.huawei.agconnect. com.huawei.hmf. com.huawei.hms. com.inmobi. \
    com.instabug. com.ironsource. com.j256. com.jakewharton. com.mapbox. com.microsoft. com.mixpanel. \
    com.newrelic. com.nostra13. com.onesignal. com.squareup. com.stripe. com.swmansion. com.tencent. \
    com.umeng. com.unity3d. com.vivo.push. com.vungle. com.xiaomi.mipush. com.xiaomi.push. curtains. \
    dagger. expo. io.agora. io.branch. io.embrace. io.flutter. io.grpc. io.ktor. io.opentelemetry. \
    io.reactivex. io.realm. io.sentry. kotlin. kotlinx. leakcanary. net.sqlcipher. net.zetetic. okhttp3. \
    okio. org.apache. org.greenrobot. org.jetbrains. org.joda. org.koin. org.mozilla. org.slf4j. \
    org.tensorflow. org.threeten. org.webrtc. retrofit2. rx. shark. timber. zendesk.";

/// WebView's glue to its native code.
const WEBVIEW_GLUE: &str = "J.N";
/// How the names of source files of WebView's classes begin; the class names alone do not show whose they
/// are. [`PLAY_SERVICES_FILE`] is the same for modules that Google Play services loads into the app.
const WEBVIEW_FILE: &str = "chromium-";
const PLAY_SERVICES_FILE: &str = ":com.google.android.gms";

/// Whether a class belongs to Android, to its Java library or to what a device's maker adds. All other
/// classes ship with apps, those of `android.support`, too.
pub fn is_platform(class: &str) -> bool {
    let is_listed = || is_in(PLATFORM, class) && !is_library(class);
    class == WEBVIEW_GLUE || is_listed()
}

fn is_library(class: &str) -> bool {
    class.starts_with(LOOPBOX) || is_in(LIBRARIES, class)
}

/// Whose code a class is, as far as its name shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Owner {
    /// The app's own.
    App,
    /// A library that apps ship.
    Library,
    /// Android, its Java library or additions of the device's maker, which are on the device and not in the
    /// app. Also a class without a name.
    Platform,
}

/// Second parts of application ids under which many developers have their packages: `com.github.name`,
/// `uk.co.name`.
const SHARED: &str = "ac co com edu github gitlab gov ne net or org";

/// Decides whose code the classes in a report are.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Owners {
    /// The prefix of the names of the app's own classes; empty when that is not known.
    own: String,
    /// Whether the report has classes with the prefix `own`. If so, a readable class that is in no list is
    /// not the app's.
    is_seen: bool,
}

impl Owners {
    /// The owners for a report. The package of the app's own classes follows from the application id, which
    /// is the name of the process up to the first colon. The package is the first two parts of the id. It is
    /// the first three parts if many developers share the second part, as in `com.github.name`. It is the
    /// whole id if the platform or a library has the same first parts.
    pub fn of_report(report: &Report) -> Self {
        let own = own_package(&report.meta.process.name);
        let is_own = |class: &str| !own.is_empty() && class.starts_with(&own);
        let is_seen = report.symbols.methods.iter().any(|method| is_own(&method.class));
        Self { own, is_seen }
    }

    /// Whose code a class is, by its name and that of its source file. A class of an unknown package is the
    /// app's, unless the report has classes of the app's own package.
    pub fn owner(&self, class: &str, source_file: &str) -> Owner {
        if class.is_empty() || source_file.starts_with(WEBVIEW_FILE) {
            Owner::Platform
        } else if source_file.starts_with(PLAY_SERVICES_FILE) {
            Owner::Library
        } else if !self.own.is_empty() && class.starts_with(&self.own) {
            Owner::App
        } else if is_library(class) {
            Owner::Library
        } else if is_platform(class) {
            Owner::Platform
        } else if self.is_seen && !seems_obfuscated(class) {
            Owner::Library
        } else {
            Owner::App
        }
    }
}

/// The package of an app's own classes, with a dot at its end; empty for a process without an application id.
fn own_package(process: &str) -> String {
    let id = process.split(':').next().unwrap_or_default();
    let shared = id.split('.').nth(1).is_some_and(|part| SHARED.split(' ').any(|shared| shared == part));
    let parts = if shared { 3 } else { 2 };
    if id.split('.').count() < parts {
        return String::new();
    }
    let mut own: String = id.split('.').take(parts).flat_map(|part| [part, "."]).collect();
    let overlaps = |package: &str| package.starts_with(&own) || own.starts_with(package);
    if PLATFORM.split(' ').chain(LIBRARIES.split(' ')).chain([LOOPBOX]).any(overlaps) {
        own = [id, "."].concat();
    }
    own
}

/// The prefixes that compilers give to methods which only call another method.
const ACCESSORS: &str = "access$ $r8$lambda$ -$$Nest$";
/// Parts of names of classes that compilers made: R8 and D8, and javac.
const SYNTHETIC_CLASSES: &str = "$$ExternalSynthetic $$Lambda $$InternalSynthetic";

/// Whether a method only calls another method, which is the next frame: `access$000`, `$r8$lambda$h4sh`,
/// `-$$Nest$mload`.
pub fn is_accessor(method: &str) -> bool {
    ACCESSORS.split(' ').any(|start| method.starts_with(start))
}

/// The byte index of the part of a class's simple name that marks a class made by a compiler: a lambda, an
/// outline, a backport. `None` for other classes.
pub fn synthetic_part(simple: &str) -> Option<usize> {
    SYNTHETIC_CLASSES.split(' ').find_map(|part| text::find(simple, part))
}

/// Whether a class name seems obfuscated by R8 or ProGuard: `a`, `b.c.d`, `e0`, `a.b$c`, `defpackage.A1`.
///
/// The last part up to the first `$` has one or two letters and digits, or three with a small letter first.
/// Real names of that shape exist (`R`, `io`). So callers may use this only to decide whether two names can
/// be those of one class.
pub fn seems_obfuscated(class: &str) -> bool {
    let simple = class.rsplit('.').next().unwrap_or_default();
    let outer = simple.split('$').next().unwrap_or_default();
    let letter = outer.starts_with(|c: char| c.is_ascii_alphabetic());
    let short = outer.len() <= 2 || outer.len() == 3 && outer.starts_with(|c: char| c.is_ascii_lowercase());
    letter && short && outer.bytes().all(|b| b.is_ascii_alphanumeric()) && !is_platform(class)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Method;

    #[test]
    fn what_compilers_made_is_known_by_its_name() {
        for made in ACCESSORS.split(' ') {
            assert!(is_accessor(&format!("{made}m")), "{made}");
        }
        for made in SYNTHETIC_CLASSES.split(' ') {
            assert_eq!(synthetic_part(&format!("A{made}0")), Some(1), "{made}");
        }
        assert!(!is_accessor("lambda$b$0"), "a lambda's own code");
    }

    fn report(process: &str, classes: &[&str]) -> Report {
        let mut report = Report::default();
        report.meta.process.name = process.into();
        let method = |class: &&str| Method {
            class: (*class).into(),
            name: "run".into(),
            signature: String::new(),
            source_file: String::new(),
        };
        report.symbols.methods = classes.iter().map(method).collect();
        report
    }

    #[test]
    fn a_class_of_an_unknown_package_is_the_apps() {
        let owners = Owners::default();
        for (class, of) in [
            ("com.example.Main", Owner::App),
            ("a.b", Owner::App),
            ("javassist.X", Owner::App),
            ("okhttp3.internal.connection.RealCall", Owner::Library),
            ("io.loopbox.Loopbox", Owner::Library),
            ("android.support.v4.app.Fragment", Owner::Library),
            ("io.sentry.android.core.ANRWatchDog", Owner::Library),
            ("io.flutter.embedding.engine.FlutterJNI", Owner::Library),
            ("net.sqlcipher.database.SQLiteDatabase", Owner::Library),
            ("com.huawei.hms.push.HmsMessaging", Owner::Library),
            ("com.vivo.push.PushManager", Owner::Library),
            ("org.json.JSONObject", Owner::Platform),
            ("com.oplus.util.OplusTypeCastingHelper", Owner::Platform),
            ("com.samsung.android.app.SemFeature", Owner::Platform),
            ("com.mediatek.boostfwk.BoostFwkManager", Owner::Platform),
            ("com.vivo.framework.Boost", Owner::Platform),
            ("miui.os.Build", Owner::Platform),
            ("J.N", Owner::Platform),
            ("J.Next", Owner::App),
            ("WV.Startup", Owner::Platform),
            ("", Owner::Platform),
        ] {
            assert_eq!(owners.owner(class, ""), of, "{class}");
        }
    }

    #[test]
    fn the_application_id_says_which_classes_are_the_apps() {
        let owners = Owners::of_report(&report("com.shop.android:sync", &["com.shop.cart.Cart"]));
        for (class, file, of) in [
            ("com.shop.cart.Cart", "", Owner::App),
            ("com.shopping.Cart", "", Owner::Library),
            ("org.unlisted.Parser", "", Owner::Library),
            ("a.b", "", Owner::App),
            ("java.lang.Object", "", Owner::Platform),
            ("okio.Buffer", "", Owner::Library),
            ("aB.cD", "chromium-TrichromeWebViewGoogle6432.aab-stable-653310033", Owner::Platform),
            ("m.ab", ":com.google.android.gms.dynamite_dynamiteloader@244433109@", Owner::Library),
        ] {
            assert_eq!(owners.owner(class, file), of, "{class}");
        }
        // None of its classes has the application id's name: then its code may have any.
        let owners = Owners::of_report(&report("com.shop.android", &["org.unlisted.Parser"]));
        assert_eq!(owners.owner("org.unlisted.Parser", ""), Owner::App);
    }

    #[test]
    fn an_app_of_a_listed_maker_has_its_own_package_alone() {
        for (process, own) in [
            ("com.example.shop", "com.example."),
            ("com.shop", "com.shop."),
            ("com.google.android.apps.maps", "com.google.android.apps.maps."),
            ("com.samsung.android.app.notes", "com.samsung.android.app.notes."),
            ("com.github.reader", "com.github.reader."),
            ("io.github.ana.reader", "io.github.ana."),
            ("uk.co.paper.news", "uk.co.paper."),
            ("uk.co", ""),
            ("system_server", ""),
            ("", ""),
        ] {
            assert_eq!(own_package(process), own, "{process}");
        }
        let notes = ["com.samsung.android.app.notes.Main"];
        let owners = Owners::of_report(&report("com.samsung.android.app.notes", &notes));
        assert_eq!(owners.owner(notes[0], ""), Owner::App);
        assert_eq!(owners.owner("com.samsung.android.view.SemView", ""), Owner::Platform);
    }

    #[test]
    fn is_platform_is_false_for_classes_that_ship_with_apps() {
        for class in ["android.os.Looper", "java.util.HashMap", "com.android.internal.os.ZygoteInit"] {
            assert!(is_platform(class), "{class}");
        }
        for class in [
            "com.example.Main",
            "android.support.v4.app.Fragment",
            "androidx.room.Room",
            "javassist.X",
            "a.b",
        ] {
            assert!(!is_platform(class), "{class}");
        }
    }

    #[test]
    fn seems_obfuscated_goes_by_the_shape_of_the_name() {
        for class in ["a", "a.b.c", "b.e0", "a.b$c", "defpackage.A0", "x.abc", "a.b$1"] {
            assert!(seems_obfuscated(class), "{class}");
        }
        for class in [
            "com.example.Main",
            "com.example.Main$Inner",
            "java.util.a",
            "a.b.Cart",
            "okhttp3.Dns$1$Call",
            "com.a.Main$1",
            "com.a.App",
            "",
        ] {
            assert!(!seems_obfuscated(class), "{class}");
        }
    }
}
