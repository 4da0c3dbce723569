//! The text of a digest.

/// A text that stays on one line. It does without `format!`, whose code is larger than all of this.
#[derive(Default)]
pub(super) struct Line(pub(super) String);

impl Line {
    pub(super) fn text(&mut self, part: &str) -> &mut Self {
        self.0.extend(part.chars().map(|c| if c < ' ' { ' ' } else { c }));
        self
    }

    /// Adds text that already has the form of a line.
    pub(super) fn raw(&mut self, line: &str) -> &mut Self {
        self.0.push_str(line);
        self
    }

    pub(super) fn number(&mut self, number: u64) -> &mut Self {
        if number >= 10 {
            self.number(number / 10);
        }
        self.0.push(char::from(b'0' + (number % 10) as u8));
        self
    }

    /// Separates the parts of a line that has several; no part contains a tab.
    pub(super) fn tab(&mut self) -> &mut Self {
        self.0.push('\t');
        self
    }

    pub(super) fn ms(&mut self, ns: u64) -> &mut Self {
        self.number(ns / 1_000_000).text(" ms")
    }

    pub(super) fn end(&mut self) -> &mut Self {
        self.0.push('\n');
        self
    }

    pub(super) fn within(mut self, bytes: usize) -> String {
        const MORE: char = '\u{2026}';
        if self.0.len() > bytes {
            let mut end = bytes - MORE.len_utf8();
            while !self.0.is_char_boundary(end) {
                end -= 1;
            }
            self.0.truncate(end);
            self.0.push(MORE);
        }
        self.0
    }
}
