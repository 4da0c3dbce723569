//! Telling classes of the platform, of the app and of obfuscated code apart by their names.

/// Packages of the platform: their classes are on the device, not in the app, and are never obfuscated.
const PLATFORM: [&str; 10] = [
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
];

/// Whether a class belongs to Android or to its Java library. All other classes ship with apps, and so does
/// `android.support`.
pub(crate) fn is_platform(class: &str) -> bool {
    PLATFORM.iter().any(|package| class.starts_with(package)) && !class.starts_with("android.support.")
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
