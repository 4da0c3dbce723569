//! Telling classes of the platform, of the app and of obfuscated code apart by their names.

use schemars::JsonSchema;
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

/// Loopbox's own package. Its native methods keep this name in every app.
pub(crate) const LOOPBOX: &str = "io.loopbox.";

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
pub(crate) fn is_platform(class: &str) -> bool {
    PLATFORM.iter().any(|package| class.starts_with(package)) && !class.starts_with("android.support.")
}

/// Whose code a class is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, JsonSchema)]
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

/// What R8 and D8 write as the source file of a class that they made.
const SYNTHETIC_FILES: [&str; 2] = ["R8$$SyntheticClass", "D8$$SyntheticClass"];
/// What Google's own modules have as their source file: where a hash and a number are looked up.
const LOOKED_UP_FILE: &str = "go/retraceme ";
/// How compilers begin the names of methods that only call the one which they stand for.
const ACCESSORS: [&str; 3] = ["access$", "$r8$lambda$", "-$$Nest$"];
/// What is in the names of classes that compilers made: of R8 and D8, and of javac.
const SYNTHETIC_CLASSES: [&str; 3] = ["$$ExternalSynthetic", "$$Lambda", "$$InternalSynthetic"];

/// The source file and the line that a report names, where they are of a source: compilers write others, and
/// line 0 for none.
pub(crate) fn source_place(file: &str, line: Option<u32>) -> (&str, Option<u32>) {
    if is_source_file(file) { (file, line.filter(|line| *line > 0)) } else { ("", None) }
}

/// Whether a source may have this name.
pub(crate) fn is_source_file(file: &str) -> bool {
    !SYNTHETIC_FILES.contains(&file) && !file.starts_with(LOOKED_UP_FILE)
}

/// Whether a method only calls the one that it stands for, which is the next frame: `access$000`,
/// `$r8$lambda$h4sh`, `-$$Nest$mload`.
pub(crate) fn is_accessor(method: &str) -> bool {
    ACCESSORS.iter().any(|start| method.starts_with(start))
}

/// Where the part of a class's simple name begins that says that a compiler made it: a lambda, an outline, a
/// backport.
pub(crate) fn synthetic_part(simple: &str) -> Option<usize> {
    SYNTHETIC_CLASSES.iter().find_map(|part| simple.find(part))
}

/// Whether a compiler made a method: an accessor, or all of its class. Of a class that R8 and D8 have given an ordinary name
/// only the source file says so.
pub(crate) fn is_synthetic(class: &str, method: &str, file: &str) -> bool {
    let simple = class.rsplit('.').next().unwrap_or_default();
    is_accessor(method) || synthetic_part(simple).is_some() || SYNTHETIC_FILES.contains(&file)
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
    fn what_compilers_made_is_known_by_method_class_or_file() {
        for made in ACCESSORS {
            assert!(is_synthetic("com.shop.A", &format!("{made}m"), "A.kt"), "{made}");
        }
        for made in SYNTHETIC_CLASSES {
            assert!(is_synthetic(&format!("com.shop.A{made}0"), "run", ""), "{made}");
        }
        for file in SYNTHETIC_FILES {
            assert!(is_synthetic("com.shop.A$1", "run", file), "{file}");
        }
        assert!(!is_synthetic("com.shop.A", "lambda$b$0", "A.kt"), "a lambda's own code");
    }

    #[test]
    fn what_compilers_write_is_no_place_in_a_source() {
        assert_eq!(source_place("Cart.kt", Some(12)), ("Cart.kt", Some(12)));
        assert_eq!(source_place("Cart.kt", Some(0)), ("Cart.kt", None));
        assert_eq!(source_place("", Some(12)), ("", Some(12)));
        for file in ["R8$$SyntheticClass", "D8$$SyntheticClass", "go/retraceme 5ac1e0f7aa55b40b"] {
            assert_eq!(source_place(file, Some(7)), ("", None), "{file}");
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
