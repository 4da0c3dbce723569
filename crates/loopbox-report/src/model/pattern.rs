//! Patterns of names.

/// Whether a name matches a pattern: `*` at the end matches any end, elsewhere it matches anything up to the
/// text after it; an empty pattern matches any name. Each name is compared with tables of hundreds of
/// patterns, and mostly none matches. So the comparison ends at the first byte that differs.
pub(super) fn matches(pattern: &str, name: &str) -> bool {
    let same = pattern.bytes().zip(name.bytes()).take_while(|(of, byte)| of == byte && *of != b'*').count();
    match pattern.as_bytes().get(same) {
        None => pattern.is_empty() || same == name.len(),
        Some(b'*') => {
            let (rest, tail) = (name.get(same..), pattern.get(same + 1..).unwrap_or_default());
            rest.is_some_and(|rest| tail.is_empty() || rest.contains(tail.trim_end_matches('*')))
        }
        Some(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn name_has_the_form_of_its_pattern() {
        for (pattern, name) in [
            ("", "any"),
            ("a.B", "a.B"),
            ("a.B*", "a.B"),
            ("a.B*", "a.B$Stub"),
            ("a.*Queue", "a.b.LinkedQueue"),
            ("a.*Queue", "a.QueueOf"),
            ("*Base*", "a.DataBase$1"),
            ("a.É*", "a.Éa"),
        ] {
            assert!(matches(pattern, name), "{pattern} {name}");
        }
        for (pattern, name) in [
            ("a.B", "a.BC"),
            ("a.B", "a."),
            ("a.B*", "a.A"),
            ("a.*Queue", "a.Que"),
            ("*Base*", "a.B"),
            ("a.B*", ""),
        ] {
            assert!(!matches(pattern, name), "{pattern} {name}");
        }
    }
}
