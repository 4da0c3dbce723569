//! What the name of a class tells about where it comes from.

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

/// Whether a class belongs to Android or to its Java library. `android.support` and what is not listed here ships
/// with apps.
pub(crate) fn is_platform(class: &str) -> bool {
    PLATFORM.iter().any(|package| class.starts_with(package)) && !class.starts_with("android.support.")
}

/// Whether a class name looks like one that R8 or ProGuard made up: a last part of at most three lower-case letters
/// and digits (`a`, `b.c.d`, `e0`, `a.b$c`), or capitals only as R8 writes them when it runs out (`A0`).
///
/// Real names of that shape exist (`io`, `R`), so this only ever makes two names count as equal.
pub(crate) fn looks_obfuscated(class: &str) -> bool {
    let last = class.rsplit(['.', '$']).next().unwrap_or_default();
    let short = (1..=3).contains(&last.len()) && last.chars().all(|c| c.is_ascii_alphanumeric());
    short && !is_platform(class)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tells_platform_from_app() {
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
    fn knows_made_up_names_by_their_shape() {
        for class in ["a", "a.b.c", "b.e0", "a.b$c", "defpackage.A0", "x.abc"] {
            assert!(looks_obfuscated(class), "{class}");
        }
        for class in
            ["com.example.Main", "com.example.Main$Inner", "java.util.a", "a.b.Cart", "okhttp3.Dns$1$Call"]
        {
            assert!(!looks_obfuscated(class), "{class}");
        }
    }
}
