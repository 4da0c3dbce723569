//! Finds which class of some sources a person wants to run: the one with `public static void main(String[])`,
//! or the class that Kotlin makes from a file with `fun main`.
//!
//! The sources are not parsed. Comments and literals are removed, and words and braces are followed.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result, bail};

/// The only class with a `main`.
///
/// # Errors
/// When there is no such class, or several; the error then names them.
pub(super) fn only(files: &[PathBuf]) -> Result<String> {
    let mut found = Vec::new();
    for file in files {
        let text = fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
        if file.extension().is_some_and(|extension| extension == "kt") {
            found.extend(class_of_kotlin(&text, &file.file_stem().unwrap_or_default().to_string_lossy()));
        } else {
            found.extend(classes_with_main(&text));
        }
    }
    match &found[..] {
        [main] => Ok(main.clone()),
        [] => bail!(
            "no class has a `public static void main(String[])` or `fun main`: which one runs? (--main CLASS)"
        ),
        several => bail!("{} have a main: which one runs? (--main CLASS)", several.join(" and ")),
    }
}

/// The class that Kotlin makes from the functions of a file, if `main` is one of them.
fn class_of_kotlin(source: &str, file: &str) -> Option<String> {
    let code = without_comments_and_literals(source);
    code.lines().find(|line| line.starts_with("fun main(") || line.starts_with("suspend fun main("))?;
    let package = code.lines().find_map(|line| line.strip_prefix("package "));
    let package = package.map(|name| format!("{}.", name.trim())).unwrap_or_default();
    let mut name = file.chars();
    let first = name.next()?.to_uppercase();
    Some(format!("{package}{first}{}Kt", name.as_str()))
}

/// The binary names of the classes of a source that have a `main`.
fn classes_with_main(source: &str) -> Vec<String> {
    let code = without_comments_and_literals(source);
    let words = words(&code);
    let mut package = String::new();
    // Names of the classes around the current word, each with the depth of its body.
    let mut around: Vec<(&str, usize)> = Vec::new();
    let mut depth = 0;
    let mut named = None;
    // Where the current member begins.
    let mut member = 0;
    let mut found = Vec::new();
    for (at, word) in words.iter().enumerate() {
        let next = |by: usize| words.get(at + by).copied().unwrap_or_default();
        match *word {
            "package" if depth == 0 => {
                package = words.iter().skip(at + 1).take_while(|word| **word != ";").copied().collect();
            }
            "class" | "interface" | "enum" if at == 0 || words.get(at - 1) != Some(&".") => {
                named = Some(next(1));
            }
            // No keyword everywhere.
            "record" if matches!(next(2), "(" | "<") => named = Some(next(1)),
            "{" => {
                depth += 1;
                if let Some(name) = named.take() {
                    around.push((name, depth));
                }
            }
            "}" => {
                around.pop_if(|(_, body)| *body == depth);
                depth = depth.saturating_sub(1);
            }
            "main" => {
                let modifiers = words.get(member..at).unwrap_or_default();
                let is = |word: &str| modifiers.contains(&word);
                let takes_strings =
                    (1..=3).map(next).filter(|word| *word != "final").take(2).eq(["(", "String"]);
                let in_class = around.last().is_some_and(|(_, body)| *body == depth);
                if in_class && is("public") && is("static") && is("void") && takes_strings {
                    let names: Vec<_> = around.iter().map(|(name, _)| *name).collect();
                    let dot = if package.is_empty() { "" } else { "." };
                    found.push(format!("{package}{dot}{}", names.join("$")));
                }
            }
            _ => {}
        }
        if matches!(*word, "{" | "}" | ";") {
            member = at + 1;
        }
    }
    found
}

/// What a literal of several lines begins and ends with.
const TEXT_BLOCK: &str = "\"\"\"";

/// Splits code into names and single other characters.
fn words(code: &str) -> Vec<&str> {
    let is_name = |sign: char| sign.is_alphanumeric() || sign == '_' || sign == '$';
    let mut words = Vec::new();
    let mut rest = code.trim_start();
    while let Some(first) = rest.chars().next() {
        let end = if is_name(first) {
            rest.find(|sign| !is_name(sign)).unwrap_or(rest.len())
        } else {
            first.len_utf8()
        };
        let (word, after) = rest.split_at(end);
        words.push(word);
        rest = after.trim_start();
    }
    words
}

fn without_comments_and_literals(source: &str) -> String {
    let mut code = String::with_capacity(source.len());
    let mut rest = source;
    while let Some(first) = rest.chars().next() {
        let skipped = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            rest.get(2..).and_then(|body| body.find("*/")).map_or(rest.len(), |end| end + 4)
        } else if let Some(text) = rest.strip_prefix(TEXT_BLOCK) {
            text.find(TEXT_BLOCK).map_or(rest.len(), |end| end + 2 * TEXT_BLOCK.len())
        } else if first == '"' || first == '\'' {
            literal(rest, first)
        } else {
            code.push(first);
            rest = rest.get(first.len_utf8()..).unwrap_or_default();
            continue;
        };
        code.push(' ');
        rest = rest.get(skipped..).unwrap_or_default();
    }
    code
}

/// The length of the literal at the start of `text`, with its quotation marks.
fn literal(text: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, sign) in text.char_indices().skip(1) {
        if sign == quote && !escaped {
            return at + 1;
        }
        escaped = sign == '\\' && !escaped;
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_class_whose_body_has_the_main() {
        let cases = [
            ("public class A { public static void main(String[] args) {} }", vec!["A"]),
            (
                "package a.b; final class A { static public void main(final String... args) {} }",
                vec!["a.b.A"],
            ),
            (
                "package a; class A { static class B { public static void main(String[] x) {} } }",
                vec!["a.A$B"],
            ),
            ("record R<T>(T t) { record Q(int x) { public static void main(String[] x) {} } }", vec!["R$Q"]),
            (
                "class A { String s = \"\"\"\n } \" {\n\"\"\"; public static void main(String[] x) {} }",
                vec!["A"],
            ),
            ("enum E { X, Y { void f() {} }; public static void main(String[] x) {} }", vec!["E"]),
            (
                "class A { void f() { Object o = A.class; } } class B { public static void main(String[] x) {} }",
                vec!["B"],
            ),
        ];
        for (source, expected) in cases {
            assert_eq!(classes_with_main(source), expected, "{source}");
        }
    }

    #[test]
    fn what_is_no_main_is_not_found() {
        for source in [
            "class A { // public static void main(String[] args) {}\n }",
            "class A { /* public static void main(String[] args) {} */ }",
            "class A { String s = \"} public static void main(String[] \\\" args) {}\"; char c = '\"'; }",
            "class A { public void main(String[] args) {} }",
            "class A { static void main(String[] args) {} }",
            "class A { public static void main(int number) {} }",
            "class A { public static void run() { main(String.valueOf(1)); } }",
            "class A { public static int x; void main(String[] args) {} }",
        ] {
            assert_eq!(classes_with_main(source), Vec::<String>::new(), "{source}");
        }
    }

    #[test]
    fn finds_the_class_that_kotlin_makes_of_a_file() {
        let of = |source| class_of_kotlin(source, "app");
        assert_eq!(of("package a.b\n\nfun main() {}").as_deref(), Some("a.b.AppKt"));
        assert_eq!(of("fun main(args: Array<String>) {}").as_deref(), Some("AppKt"));
        assert_eq!(of("object A {\n    @JvmStatic fun main(args: Array<String>) {}\n}"), None);
        assert_eq!(of("/*\nfun main() {}\n*/"), None);
    }

    #[test]
    fn none_and_several_are_reported() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str, text: &str| {
            let file = folder.path().join(name);
            fs::write(&file, text).unwrap();
            file
        };
        let main = |name: &str| format!("class {name} {{ public static void main(String[] args) {{}} }}");
        let (a, b, none) =
            (file("A.java", &main("A")), file("B.java", &main("B")), file("C.java", "class C {}"));
        assert_eq!(only(&[a.clone(), none.clone()]).unwrap(), "A");
        assert!(only(&[none]).unwrap_err().to_string().starts_with("no class has a "));
        assert!(only(&[a, b]).unwrap_err().to_string().starts_with("A and B have a main"));
    }
}
