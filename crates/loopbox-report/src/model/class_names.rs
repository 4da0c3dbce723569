//! Telling classes of the platform, of the app and of obfuscated code apart by their names.

use super::loopbox_code;
use serde::Serialize;

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
    loopbox_code::PACKAGE,
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
pub(crate) fn is_platform(class: &str) -> bool {
    PLATFORM.iter().any(|package| class.starts_with(package)) && !class.starts_with("android.support.")
}

/// Whose code a class is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CodeOwner {
    /// The app's own.
    App,
    /// A library's that the app ships.
    Library,
    /// Android's or its Java library's, which are on the device.
    Platform,
}

/// Which packages are the app's own. By default all but those of the platform and of well-known libraries.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AppPackages(Vec<String>);

impl AppPackages {
    /// These packages with those below them, and obfuscated names, whose package is unknown; the default when there are none.
    pub fn new(packages: impl IntoIterator<Item = String>) -> Self {
        let packages = packages.into_iter().map(|package| package.trim_end_matches(['.', '*']).to_owned());
        Self(packages.filter(|package| !package.is_empty()).collect())
    }

    /// Whose code a class is, by its name, or a method by its name with the class before it.
    pub fn owner(&self, class: &str) -> CodeOwner {
        let is_below = |package: &String| {
            let rest = class.strip_prefix(package.as_str());
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '$']))
        };
        if self.0.iter().any(is_below) {
            CodeOwner::App
        } else if class.is_empty() || is_platform(class) {
            CodeOwner::Platform
        } else if LIBRARIES.iter().any(|package| class.starts_with(package))
            || !self.0.is_empty() && !looks_obfuscated(class)
        {
            CodeOwner::Library
        } else {
            CodeOwner::App
        }
    }
}

/// Whether a class name looks obfuscated by R8 or ProGuard: `a`, `b.c.d`, `e0`, `a.b$c`, `defpackage.A1`.
///
/// The last part up to the first `$` has one or two letters and digits, or three with a small letter first. Real
/// names of that shape exist (`R`, `io`), so callers may only use this to count two names as equal.
pub(crate) fn looks_obfuscated(class: &str) -> bool {
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
    fn the_owner_of_a_class_is_known_by_its_package() {
        let default = AppPackages::default();
        for (class, owner) in [
            ("com.example.Main$1", CodeOwner::App),
            ("a.b", CodeOwner::App),
            ("kotlinx.coroutines.DispatchedTask", CodeOwner::Library),
            ("androidx.room.Room", CodeOwner::Library),
            ("io.loopbox.Listener", CodeOwner::Library),
            ("org.json.JSONObject", CodeOwner::Platform),
            ("java.lang.Object", CodeOwner::Platform),
            ("", CodeOwner::Platform),
        ] {
            assert_eq!(default.owner(class), owner, "{class}");
        }
        let named =
            AppPackages::new(["com.google.shop.".to_owned(), "com.example".to_owned(), String::new()]);
        for (class, owner) in [
            ("com.google.shop.cart.Cart", CodeOwner::App),
            ("com.example.Main$1", CodeOwner::App),
            ("com.example$1", CodeOwner::App),
            ("com.examples.Main", CodeOwner::Library),
            ("com.google.gson.Gson", CodeOwner::Library),
            ("a.b", CodeOwner::App),
            ("java.lang.Object", CodeOwner::Platform),
        ] {
            assert_eq!(named.owner(class), owner, "{class}");
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
