//! Names without what changes from build to build.

use crate::code::{is_accessor, synthetic_part};
use crate::text;

/// Stands for a lambda's class.
const LAMBDA: &str = "$λ";

/// A class name without the parts that compilers make up. Such a part may change with any edit further up in
/// the source: `Main$1` becomes `Main$2`.
///
/// * `Main$$ExternalSyntheticLambda3` (R8), `-$$Lambda$Main$h4sh` (D8 until 2021), `Main$$Lambda$14` (javac):
///   `Main$λ`.
/// * `ComposableSingletons$MainKt$lambda-1$1` (Compose): `ComposableSingletons$MainKt$λ$#`.
/// * `Main$1`, `Main$load$2$1` (Kotlin), `$Proxy12`: numbers become `#`.
pub(super) fn stable_class(class: &str) -> String {
    let (package, simple) = class.rsplit_once('.').map_or(("", class), |(package, simple)| (package, simple));
    let dot = if package.is_empty() { "" } else { "." };
    if let Some(rest) = simple.strip_prefix("-$$Lambda$") {
        return [package, dot, rest.split('$').next().unwrap_or_default(), LAMBDA].concat();
    }
    if let Some((outer, _)) = synthetic_part(simple).and_then(|at| simple.split_at_checked(at)) {
        return [package, dot, outer, LAMBDA].concat();
    }
    let parts: Vec<&str> = simple.split('$').map(stable_part).collect();
    [package, dot, &parts.join("$")].concat()
}

fn stable_part(part: &str) -> &str {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let number_after = |start| part.strip_prefix(start).is_some_and(is_number);
    if is_number(part) || number_after("-") {
        "#"
    } else if number_after("lambda-") {
        "λ"
    } else if number_after("Proxy") {
        "Proxy#"
    } else {
        part
    }
}

/// A method name without the parts that compilers make up: `lambda$onCreate$3`, `onCreate$lambda$3`,
/// `load$default`, `load$suspendImpl`, `load-0d7_KjU` (Kotlin's inline classes). `None` for an accessor.
pub(super) fn stable_method(method: &str) -> Option<String> {
    if is_accessor(method) {
        return None;
    }
    let without_number = |name: &str| name.trim_end_matches(|c: char| c.is_ascii_digit()).to_owned();
    if method.starts_with("lambda$") {
        return Some(without_number(method).trim_end_matches('$').to_owned());
    }
    if let Some((name, rest)) = text::rsplit_once(method, "$lambda")
        && without_number(rest).trim_end_matches(['$', '-']).is_empty()
    {
        return Some([name, "$lambda"].concat());
    }
    let mut method = method;
    for end in ["$default", "$suspendImpl"] {
        while let Some(name) = method.strip_suffix(end) {
            method = name;
        }
    }
    Some(match method.split_once('-') {
        Some((name, hash)) if hash.len() == 7 && !name.is_empty() => name.to_owned(),
        _ => method.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stable_names_have_no_compiler_generated_numbers() {
        for (class, stable) in [
            ("com.a.Main$1", "com.a.Main$#"),
            ("com.a.Main$load$2$1", "com.a.Main$load$#$#"),
            ("com.a.Main$$ExternalSyntheticLambda14", "com.a.Main$λ"),
            ("com.a.-$$Lambda$Main$Zm3x_h4sh", "com.a.Main$λ"),
            ("com.a.Main$$Lambda$14/0x0000", "com.a.Main$λ"),
            ("com.a.Utf8$Inner", "com.a.Utf8$Inner"),
            ("com.a.ComposableSingletons$MainKt$lambda-1$1", "com.a.ComposableSingletons$MainKt$λ$#"),
            (
                "com.a.ComposableSingletons$MainKt$lambda$-1204$1",
                "com.a.ComposableSingletons$MainKt$lambda$#$#",
            ),
            ("$Proxy12", "$Proxy#"),
            ("com.a.Proxy", "com.a.Proxy"),
        ] {
            assert_eq!(stable_class(class), stable);
        }
        for (method, stable) in [
            ("lambda$onCreate$3", Some("lambda$onCreate")),
            ("onCreate$lambda$3", Some("onCreate$lambda")),
            ("onCreate$lambda-0", Some("onCreate$lambda")),
            ("access$000", None),
            ("access$load", None),
            ("$r8$lambda$Zm3xh4sh", None),
            ("-$$Nest$mload", None),
            ("load$default", Some("load")),
            ("load-0d7_KjU$default", Some("load")),
            ("load$suspendImpl", Some("load")),
            ("load-0d7_KjU", Some("load")),
            ("sha256", Some("sha256")),
        ] {
            assert_eq!(stable_method(method).as_deref(), stable, "{method}");
        }
    }
}
