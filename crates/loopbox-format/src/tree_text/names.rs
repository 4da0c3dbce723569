//! Methods as ART prints them: `void com.foo.Bar.baz(int, java.lang.String[])` (`ArtMethod::PrettyMethod`).

use crate::model::Method;

const PRIMITIVES: [(char, &str); 9] = [
    ('Z', "boolean"),
    ('B', "byte"),
    ('C', "char"),
    ('S', "short"),
    ('I', "int"),
    ('J', "long"),
    ('F', "float"),
    ('D', "double"),
    ('V', "void"),
];

/// The method as ART prints it; only class and name when its descriptor is unknown or malformed.
pub(super) fn pretty(method: &Method) -> String {
    let Method { class, name, signature, .. } = method;
    let dot = if class.is_empty() { "" } else { "." };
    match types(signature) {
        Some((returned, taken)) => format!("{returned} {class}{dot}{name}({})", taken.join(", ")),
        None => format!("{class}{dot}{name}"),
    }
}

/// The return type and the parameters of a descriptor, as Java writes them.
fn types(signature: &str) -> Option<(String, Vec<String>)> {
    let (taken, returned) = signature.strip_prefix('(')?.split_once(')')?;
    let mut parameters = Vec::new();
    let mut rest = taken;
    while !rest.is_empty() {
        let (name, after) = java_type(rest)?;
        parameters.push(name);
        rest = after;
    }
    match java_type(returned)? {
        (name, "") => Some((name, parameters)),
        _ => None,
    }
}

/// The first type of a descriptor, and what follows it.
fn java_type(descriptor: &str) -> Option<(String, &str)> {
    let element = descriptor.trim_start_matches('[');
    let dimensions = "[]".repeat(descriptor.len() - element.len());
    if let Some(class) = element.strip_prefix('L') {
        let (class, rest) = class.split_once(';')?;
        return Some((class.replace('/', ".") + &dimensions, rest));
    }
    let mut chars = element.chars();
    let letter = chars.next()?;
    let (_, name) = PRIMITIVES.iter().find(|(primitive, _)| *primitive == letter)?;
    Some((format!("{name}{dimensions}"), chars.as_str()))
}

/// The method that a text names; a text of another form is a name without class.
pub(super) fn method(text: &str) -> Method {
    let full = || {
        let (returned, rest) = text.split_once(' ')?;
        let (path, parameters) = rest.strip_suffix(')')?.split_once('(')?;
        let (class, name) = path.rsplit_once('.')?;
        let mut signature = String::from("(");
        for parameter in parameters.split(", ").filter(|parameter| !parameter.is_empty()) {
            signature += &descriptor(parameter)?;
        }
        signature.push(')');
        Some((class, name, signature + &descriptor(returned)?))
    };
    let short =
        || text.rsplit_once('.').filter(|_| !text.contains([' ', '('])).map(|(c, n)| (c, n, String::new()));
    let (class, name, signature) = full().or_else(short).unwrap_or(("", text, String::new()));
    Method { class: class.into(), name: name.into(), signature, source_file: String::new() }
}

fn descriptor(java_type: &str) -> Option<String> {
    let element = java_type.trim_end_matches("[]");
    let dimensions = "[".repeat((java_type.len() - element.len()) / 2);
    if element.is_empty() || element.contains(|c: char| c.is_whitespace() || "()[],;".contains(c)) {
        return None;
    }
    Some(match PRIMITIVES.iter().find(|(_, name)| *name == element) {
        Some((letter, _)) => format!("{dimensions}{letter}"),
        None => format!("{dimensions}L{};", element.replace('.', "/")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(class: &str, name: &str, signature: &str) -> Method {
        Method {
            class: class.into(),
            name: name.into(),
            signature: signature.into(),
            source_file: String::new(),
        }
    }

    #[test]
    fn methods_are_written_as_art_does_and_read_back() {
        let cases = [
            (known("android.os.Looper", "loop", "()V"), "void android.os.Looper.loop()"),
            (
                known("com.foo.Bar$1", "<init>", "(I[[Ljava/lang/String;J)V"),
                "void com.foo.Bar$1.<init>(int, java.lang.String[][], long)",
            ),
            (known("C", "get", "()[Z"), "boolean[] C.get()"),
            (known("com.foo.Bar", "baz", ""), "com.foo.Bar.baz"),
            (known("", "nativeFrame", ""), "nativeFrame"),
        ];
        for (method_of, text) in cases {
            assert_eq!(pretty(&method_of), text);
            assert_eq!(method(text), method_of, "{text}");
        }
    }

    #[test]
    fn an_odd_descriptor_or_text_is_not_guessed_at() {
        for signature in ["(", "()", "(Q)V", "()VV", "(Lfoo)V", "()[", "V"] {
            assert_eq!(pretty(&known("C", "m", signature)), "C.m", "{signature}");
        }
        for text in ["(3 frames left out)", "a b c", "void m()", "x (y) z", ""] {
            assert_eq!(method(text), known("", text, ""), "{text}");
        }
    }
}
