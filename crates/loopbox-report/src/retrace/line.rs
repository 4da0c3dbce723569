//! One line of a text with the names in it. All names are in one part of the line.

use super::stack_frames::{Above, Retracer};
use crate::model::framework::{CLASS_OBJECT, in_class_object};

/// How to write a frame that may belong to several methods.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Several {
    /// As one frame with the names of all methods, so that the number of frames does not change.
    OneFrame,
    /// As R8's own retrace does: a line for each method, with `<OR>` before all but the first.
    Lines,
}

/// The text before a frame.
const AT: &str = "at ";
/// The text before each further line for a frame that may belong to several methods.
const OR: &str = "<OR> ";

/// The names in a line, with the text before and after them.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Part<'l> {
    before: &'l str,
    what: What<'l>,
    after: &'l str,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum What<'l> {
    /// A frame: `a.b.c(SourceFile:12)`.
    Frame(&'l str),
    /// A class, or the class of an array's elements.
    Class(&'l str),
    /// The class of an exception.
    Thrown(&'l str),
}

impl<'l> Part<'l> {
    pub(super) fn read(line: &'l str) -> Option<Self> {
        frame(line).or_else(|| lock(line)).or_else(|| exception(line))
    }

    /// The class, and for a frame the method, too.
    pub(super) fn names(&self) -> Option<(&'l str, Option<&'l str>)> {
        match self.what {
            What::Frame(frame) => {
                let (name, _) = frame.split_once('(')?;
                let (class, method) = name.trim_end().rsplit_once('.')?;
                Some((class, Some(method)))
            }
            What::Class(class) | What::Thrown(class) => Some((class, None)),
        }
    }

    /// The lines that replace this line: several where methods were inlined, none for code that a compiler
    /// made. `None` when the mapping does not have the name.
    pub(super) fn retraced(
        &self,
        retracer: &Retracer<'_>,
        several: Several,
        above: &mut Above,
    ) -> Option<Vec<String>> {
        let line = |name: String| format!("{}{name}{}", self.before, self.after);
        let or = |nth: usize, name: String| {
            let before = self.before.strip_suffix(AT).filter(|_| nth > 0);
            before
                .map_or_else(|| line(name.clone()), |before| format!("{before}{OR}{AT}{name}{}", self.after))
        };
        match self.what {
            What::Frame(frame) => {
                let mut lines = Vec::new();
                for printed in retracer.printed_frame(frame, above)? {
                    if several == Several::Lines && !printed.each.is_empty() {
                        lines.extend(printed.each.into_iter().enumerate().map(|(nth, name)| or(nth, name)));
                    } else {
                        lines.push(line(printed.frame));
                    }
                }
                Some(lines)
            }
            What::Class(class) | What::Thrown(class) => {
                let is_thrown = matches!(self.what, What::Thrown(_));
                *above = Above { outline: None, thrown: is_thrown.then(|| class.to_owned()) };
                Some(vec![line(retracer.class(class)?.to_owned())])
            }
        }
    }
}

/// Finds `at a.b.c(SourceFile:12)` anywhere in a line. The text in the brackets may itself contain brackets.
fn frame(line: &str) -> Option<Part<'_>> {
    let mut from = 0;
    while let Some(found) = line.get(from..)?.find(AT) {
        let start = from + found;
        let name = start + AT.len();
        from = name;
        let begins = line.get(..start)?.chars().next_back().is_none_or(|c| c.is_whitespace() || c == ':');
        let rest = line.get(name..)?;
        let Some((method, place)) = rest.split_once('(').filter(|_| begins) else { continue };
        let qualified = method.trim_end();
        let is_name = qualified.contains('.') && !qualified.contains(char::is_whitespace);
        let Some(end) = closing(place).filter(|_| is_name) else { continue };
        let len = method.len() + 1 + end + 1;
        return Some(Part {
            before: line.get(..name)?,
            what: What::Frame(rest.get(..len)?),
            after: rest.get(len..)?,
        });
    }
    None
}

/// The position of the closing bracket for the opening bracket directly before `text`.
fn closing(text: &str) -> Option<usize> {
    let mut open = 1;
    text.char_indices().find_map(|(at, c)| {
        match c {
            '(' => open += 1,
            ')' => open -= 1,
            _ => {}
        }
        (open == 0).then_some(at)
    })
}

/// Finds the class in `- locked <0x0d3b5c8a> (a a.b[])` or `(a java.lang.Class<a.b>)`.
fn lock(line: &str) -> Option<Part<'_>> {
    let (action, rest) = line.split_once("(a ")?;
    let is_lock = action.trim_start().starts_with("- ") || action.contains(" - ");
    let (name, _) = rest.split_once(')').filter(|_| is_lock)?;
    let start = action.len() + "(a ".len();
    let class_at = if in_class_object(name).is_some() { start + CLASS_OBJECT.len() } else { start };
    let class = in_class_object(name).unwrap_or(name).trim_end_matches("[]");
    let end = class_at + class.len();
    Some(Part { before: line.get(..class_at)?, what: What::Class(class), after: line.get(end..)? })
}

/// Finds the class in `Caused by: a.b: words`, `Exception in thread "main" a.b`, or a class alone.
fn exception(line: &str) -> Option<Part<'_>> {
    let mut before_word = "";
    for word in line.split_whitespace() {
        let name = word.trim_end_matches(':');
        let is_last = line.trim_end().ends_with(word);
        let begins = matches!(before_word.chars().next_back(), None | Some(':' | '"'));
        let ends = word.len() == name.len() + 1 || is_last;
        let is_class = name.contains('.')
            && name.split('.').all(|part| {
                !part.is_empty() && part.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '$' | '-'))
            });
        if begins && ends && is_class {
            let start = word.as_ptr() as usize - line.as_ptr() as usize;
            let end = start + name.len();
            return Some(Part {
                before: line.get(..start)?,
                what: What::Thrown(name),
                after: line.get(end..)?,
            });
        }
        before_word = word;
    }
    None
}

/// Retraces `line` and appends the result to `out`. Returns whether the result differs from `line`.
pub(super) fn push_line(
    out: &mut String,
    line: &str,
    retracer: &Retracer<'_>,
    several: Several,
    above: &mut Above,
) -> bool {
    let text = line.trim_end_matches(['\n', '\r']);
    let end = line.get(text.len()..).unwrap_or_default();
    let part = Part::read(text);
    if !matches!(&part, Some(Part { what: What::Frame(_), .. })) {
        // An exception's words may have several lines.
        let is_end = text.trim_start().is_empty();
        *above = Above { outline: None, thrown: above.thrown.take().filter(|_| !is_end) };
    }
    let Some(lines) = part.and_then(|part| part.retraced(retracer, several, above)) else {
        out.push_str(line);
        return false;
    };
    for line in &lines {
        out.push_str(line);
        out.push_str(end);
    }
    !matches!(lines.as_slice(), [line] if line == text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(line: &str) -> Option<(&str, &str, &str)> {
        Part::read(line).map(|part| match part.what {
            What::Frame(text) | What::Class(text) | What::Thrown(text) => (part.before, text, part.after),
        })
    }

    #[test]
    fn a_line_names_a_frame_a_lock_or_an_exception() {
        for (line, wanted) in [
            ("  at a.b.c(SourceFile:12)", Some(("  at ", "a.b.c(SourceFile:12)", ""))),
            ("\tat a.b.c (Unknown Source) ~[na]", Some(("\tat ", "a.b.c (Unknown Source)", " ~[na]"))),
            ("  at a.b.x(:own.lib@1@2.3 (19-0):12)", Some(("  at ", "a.b.x(:own.lib@1@2.3 (19-0):12)", ""))),
            (
                "E/AndroidRuntime( 99): \tat a.b.c(:3)",
                Some(("E/AndroidRuntime( 99): \tat ", "a.b.c(:3)", "")),
            ),
            ("  - locked <0x01> (a a.c[])", Some(("  - locked <0x01> (a ", "a.c", "[])"))),
            (
                "  - locked <0x1> (a java.lang.Class<a.c>)",
                Some(("  - locked <0x1> (a java.lang.Class<", "a.c", ">)")),
            ),
            ("Caused by: a.b: cannot (a b)", Some(("Caused by: ", "a.b", ": cannot (a b)"))),
            ("Exception in thread \"main\" a.b", Some(("Exception in thread \"main\" ", "a.b", ""))),
            ("a.b.C$D: words", Some(("", "a.b.C$D", ": words"))),
            ("look at this (a thing)", None),
            ("at nothing", None),
            ("it is 3.5 s late", None),
            ("  at a.b.c(", None),
            ("", None),
        ] {
            assert_eq!(parts(line), wanted, "{line}");
        }
    }
}
