//! Whose code a class is, and what compilers made of it, by its name: what host tools and the app itself go by.

/// Packages of the platform: their classes are on the device, not in the app, and are never obfuscated.
const PLATFORM: [&str; 13] = [
    "android.",
    "java.",
    "javax.",
    "com.android.",
    "dalvik.",
    "libcore.",
    "sun.",
    "jdk.",
    "org.apache.harmony.",
    "org.chromium.",
    "org.json.",
    "org.w3c.dom.",
    "org.xml.sax.",
];

/// Loopbox's own package. Its native methods keep this name in every app.
pub const LOOPBOX: &str = "io.loopbox.";

/// Packages of libraries that apps ship: their code is seldom what is to be changed.
const LIBRARIES: [&str; 24] = [
    "android.support.",
    "androidx.",
    "coil.",
    "coil3.",
    "com.airbnb.",
    "com.bumptech.glide.",
    "com.facebook.",
    "com.fasterxml.",
    "com.google.",
    "com.squareup.",
    "dagger.",
    "io.ktor.",
    LOOPBOX,
    "io.reactivex.",
    "io.realm.",
    "kotlin.",
    "kotlinx.",
    "okhttp3.",
    "okio.",
    "org.greenrobot.",
    "org.koin.",
    "org.slf4j.",
    "retrofit2.",
    "rx.",
];

/// Whether a class belongs to Android or to its Java library. All other classes ship with apps, and so does
/// `android.support`.
pub fn is_platform(class: &str) -> bool {
    PLATFORM.iter().any(|package| class.starts_with(package)) && !class.starts_with("android.support.")
}

/// Whose code a class is, as far as its name says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Owner {
    /// The app's own.
    App,
    /// A library's that apps ship.
    Library,
    /// Android's or its Java library's, which are on the device; a class without a name, too.
    Platform,
}

/// Whose code a class is, by its name, or a method by its name with the class before it. A class of an unknown package is
/// the app's.
pub fn owner(class: &str) -> Owner {
    if class.is_empty() || is_platform(class) {
        Owner::Platform
    } else if LIBRARIES.iter().any(|package| class.starts_with(package)) {
        Owner::Library
    } else {
        Owner::App
    }
}

/// How compilers begin the names of methods that only call the one which they stand for.
const ACCESSORS: [&str; 3] = ["access$", "$r8$lambda$", "-$$Nest$"];
/// What is in the names of classes that compilers made: of R8 and D8, and of javac.
const SYNTHETIC_CLASSES: [&str; 3] = ["$$ExternalSynthetic", "$$Lambda", "$$InternalSynthetic"];

/// Whether a method only calls the one that it stands for, which is the next frame: `access$000`,
/// `$r8$lambda$h4sh`, `-$$Nest$mload`.
pub fn is_accessor(method: &str) -> bool {
    ACCESSORS.iter().any(|start| method.starts_with(start))
}

/// Where the part of a class's simple name begins that says that a compiler made it: a lambda, an outline, a
/// backport.
pub fn synthetic_part(simple: &str) -> Option<usize> {
    SYNTHETIC_CLASSES.iter().find_map(|part| simple.find(part))
}

/// Whether a class name looks obfuscated by R8 or ProGuard: `a`, `b.c.d`, `e0`, `a.b$c`, `defpackage.A1`.
///
/// The last part up to the first `$` has one or two letters and digits, or three with a small letter first. Real
/// names of that shape exist (`R`, `io`), so callers may only use this to count two names as equal.
pub fn looks_obfuscated(class: &str) -> bool {
    let simple = class.rsplit('.').next().unwrap_or_default();
    let outer = simple.split('$').next().unwrap_or_default();
    let letter = outer.starts_with(|c: char| c.is_ascii_alphabetic());
    let short = outer.len() <= 2 || outer.len() == 3 && outer.starts_with(|c: char| c.is_ascii_lowercase());
    letter && short && outer.bytes().all(|b| b.is_ascii_alphanumeric()) && !is_platform(class)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_compilers_made_is_known_by_its_name() {
        for made in ACCESSORS {
            assert!(is_accessor(&format!("{made}m")), "{made}");
        }
        for made in SYNTHETIC_CLASSES {
            assert_eq!(synthetic_part(&format!("A{made}0")), Some(1), "{made}");
        }
        assert!(!is_accessor("lambda$b$0"), "a lambda's own code");
    }

    #[test]
    fn a_class_of_an_unknown_package_is_the_apps() {
        for (class, of) in [
            ("com.example.Main", Owner::App),
            ("a.b", Owner::App),
            ("javassist.X", Owner::App),
            ("okhttp3.internal.connection.RealCall", Owner::Library),
            ("io.loopbox.Loopbox", Owner::Library),
            ("android.support.v4.app.Fragment", Owner::Library),
            ("org.json.JSONObject", Owner::Platform),
            ("", Owner::Platform),
        ] {
            assert_eq!(owner(class), of, "{class}");
        }
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
    fn looks_obfuscated_goes_by_the_shape_of_the_name() {
        for class in ["a", "a.b.c", "b.e0", "a.b$c", "defpackage.A0", "x.abc", "a.b$1"] {
            assert!(looks_obfuscated(class), "{class}");
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
            assert!(!looks_obfuscated(class), "{class}");
        }
    }
}
