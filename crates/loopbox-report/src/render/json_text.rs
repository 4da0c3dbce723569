//! Writes JSON for programs, and for people on a terminal.

use crate::model::sanitize::is_hidden;
use serde::Serialize;
use serde_json::Serializer;
use serde_json::ser::{CompactFormatter, Formatter, PrettyFormatter};
use std::io::{self, Write};

/// Indented JSON with a line break at the end. Characters that a terminal would act on are escaped, as in
/// `\u009b`: to a program it is the same string.
///
/// # Errors
/// When the value cannot be written as JSON.
pub fn json_text(value: &impl Serialize) -> serde_json::Result<String> {
    let mut out = Vec::new();
    value.serialize(&mut Serializer::with_formatter(&mut out, Visible(PrettyFormatter::new())))?;
    out.push(b'\n');
    Ok(String::from_utf8_lossy(&out).into_owned())
}

/// [`json_text`] in one line, without the line break.
pub(crate) fn write_json(out: impl Write, value: &impl Serialize) -> serde_json::Result<()> {
    value.serialize(&mut Serializer::with_formatter(out, Visible(CompactFormatter)))
}

/// Wraps another formatter: every character of a string is written either visibly or escaped.
struct Visible<F>(F);

impl<F: Formatter> Formatter for Visible<F> {
    fn write_string_fragment<W: ?Sized + Write>(&mut self, out: &mut W, fragment: &str) -> io::Result<()> {
        let mut rest = fragment;
        while let Some((at, c)) = rest.char_indices().find(|(_, c)| is_hidden(*c)) {
            let (before, from) = rest.split_at(at);
            out.write_all(before.as_bytes())?;
            for unit in c.encode_utf16(&mut [0; 2]) {
                write!(out, "\\u{unit:04x}")?;
            }
            rest = &from[c.len_utf8()..];
        }
        out.write_all(rest.as_bytes())
    }

    fn begin_array<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.0.begin_array(out)
    }

    fn end_array<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.0.end_array(out)
    }

    fn begin_array_value<W: ?Sized + Write>(&mut self, out: &mut W, first: bool) -> io::Result<()> {
        self.0.begin_array_value(out, first)
    }

    fn end_array_value<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.0.end_array_value(out)
    }

    fn begin_object<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.0.begin_object(out)
    }

    fn end_object<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.0.end_object(out)
    }

    fn begin_object_key<W: ?Sized + Write>(&mut self, out: &mut W, first: bool) -> io::Result<()> {
        self.0.begin_object_key(out, first)
    }

    fn begin_object_value<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.0.begin_object_value(out)
    }

    fn end_object_value<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.0.end_object_value(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    #[test]
    fn what_a_terminal_acts_on_is_escaped_and_the_string_stays_the_same() {
        let value = json!({"a\u{9b}\u{202E}": ["\u{1b}[31m", "é \u{1F600}", "\u{1FFFF}\"\\\n", {}], "b": []});
        let text = json_text(&value).unwrap();
        let wanted = "{\n  \"a\\u009b\\u202e\": [\n    \"\\u001b[31m\",\n    \"é \u{1F600}\",\n    \
                      \"\\ud83f\\udfff\\\"\\\\\\n\",\n    {}\n  ],\n  \"b\": []\n}\n";
        assert_eq!(text, wanted);
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), value);
        let mut line = Vec::new();
        write_json(&mut line, &value).unwrap();
        assert_eq!(serde_json::from_slice::<Value>(&line).unwrap(), value);
        assert!(!line.contains(&b'\n'));
    }
}
