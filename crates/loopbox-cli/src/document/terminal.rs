//! A page as text for a terminal.

use super::blocks::{Block, Cell, Span, Style as TextStyle};
use anstyle::{AnsiColor, Style};
use std::fmt::Write as _;

/// The width of the text in columns, the same as that of manual pages.
const WIDTH: usize = 80;
/// Space between the columns of a table.
const GAP: usize = 2;
/// The minimum width of a column of a table.
const MIN_COLUMN: usize = 6;

const HEADING: Style = Style::new().bold();
const CODE: Style = AnsiColor::Cyan.on_default();

/// One word of a text: pieces without a space between them, each with its style.
type Word = Vec<Span>;

/// The text, with ANSI styles.
pub(super) fn render(blocks: &[Block]) -> String {
    let mut out = String::new();
    let mut in_list = false;
    for block in blocks {
        let is_item = matches!(block, Block::Item { .. });
        // Items of a list stand together.
        let goes_on = in_list && is_item;
        if !out.is_empty() && !goes_on {
            out.push('\n');
        }
        in_list = is_item;
        match block {
            Block::Heading { spans, level } => {
                let text: String = spans.iter().map(|span| span.text.as_str()).collect();
                let text = if *level == 1 { text.to_uppercase() } else { text };
                let _ = writeln!(out, "{HEADING}{text}{HEADING:#}");
            }
            Block::Paragraph(spans) => paragraph(&mut out, spans, "", ""),
            Block::Item { depth, marker, spans } => {
                let indent = "   ".repeat(depth - 1);
                let first = format!("{indent}{marker:<3}");
                paragraph(&mut out, spans, &first, &format!("{indent}   "));
            }
            Block::Code(code) => {
                for line in code.lines() {
                    let _ = writeln!(out, "    {CODE}{line}{CODE:#}");
                }
            }
            Block::Table(rows) => table(&mut out, rows),
        }
    }
    out
}

fn paragraph(out: &mut String, spans: &[Span], first: &str, indent: &str) {
    let lines = wrap(spans, WIDTH - indent.chars().count());
    for (at, line) in lines.iter().enumerate() {
        let _ = writeln!(out, "{}{}", if at == 0 { first } else { indent }, styled(line));
    }
}

fn style(of: TextStyle) -> Style {
    match of {
        TextStyle::Plain => Style::new(),
        TextStyle::Strong => Style::new().bold(),
        TextStyle::Emphasis => Style::new().italic(),
        TextStyle::Code => CODE,
    }
}

fn styled(line: &[Word]) -> String {
    let mut text = String::new();
    for (at, word) in line.iter().enumerate() {
        if at > 0 {
            text.push(' ');
        }
        for Span { text: piece, style: of } in word {
            let style = style(*of);
            let _ = write!(text, "{style}{piece}{style:#}");
        }
    }
    text
}

fn width(word: &Word) -> usize {
    word.iter().map(|piece| piece.text.chars().count()).sum()
}

fn line_width(line: &[Word]) -> usize {
    line.iter().map(width).sum::<usize>() + line.len().saturating_sub(1)
}

fn words(spans: &[Span]) -> Vec<Word> {
    let mut words: Vec<Word> = vec![Vec::new()];
    for span in spans {
        for (at, piece) in span.text.split(' ').enumerate() {
            if at > 0 {
                words.push(Vec::new());
            }
            if let (Some(word), false) = (words.last_mut(), piece.is_empty()) {
                word.push(Span { text: piece.to_owned(), style: span.style });
            }
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

/// The lines of a text. A word that is longer than a line gets a separate line.
fn wrap(spans: &[Span], columns: usize) -> Vec<Vec<Word>> {
    let mut lines: Vec<Vec<Word>> = vec![Vec::new()];
    for word in words(spans) {
        let Some(line) = lines.last_mut() else { continue };
        if line.is_empty() || line_width(line) + 1 + width(&word) <= columns {
            line.push(word);
        } else {
            lines.push(vec![word]);
        }
    }
    lines
}

/// The width of each column of a table: that of its longest cell. The widest ones are made narrower until all
/// fit into `width`, with `gap` between.
pub(super) fn columns(rows: &[Vec<Cell>], width: usize, gap: usize) -> Vec<usize> {
    let count = rows.iter().map(Vec::len).max().unwrap_or(0);
    let widest = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.map(|cell| line_width(&words(cell))).max().unwrap_or(0).max(1)
    };
    let mut columns: Vec<usize> = (0..count).map(widest).collect();
    let room = width.saturating_sub(gap * count.saturating_sub(1));
    while columns.iter().sum::<usize>() > room {
        match columns.iter_mut().max() {
            Some(widest) if *widest > MIN_COLUMN => *widest -= 1,
            _ => break,
        }
    }
    columns
}

fn table(out: &mut String, rows: &[Vec<Cell>]) {
    let columns = columns(rows, WIDTH, GAP);
    for (at, row) in rows.iter().enumerate() {
        let cells: Vec<Vec<Vec<Word>>> =
            row.iter().zip(&columns).map(|(cell, &columns)| wrap(cell, columns)).collect();
        for line in 0..cells.iter().map(Vec::len).max().unwrap_or(0) {
            let mut text = String::new();
            let mut missing = 0;
            for (cell, columns) in cells.iter().zip(&columns) {
                let words = cell.get(line).map_or(&[][..], Vec::as_slice);
                let _ = write!(text, "{:missing$}{}", "", styled(words));
                missing = columns.saturating_sub(line_width(words)) + GAP;
            }
            let _ = writeln!(out, "{}", text.trim_end());
        }
        if at == 0 {
            let rule: Vec<String> = columns.iter().map(|&columns| "─".repeat(columns)).collect();
            let _ = writeln!(out, "{}", rule.join(&" ".repeat(GAP)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::blocks::parse;
    use super::*;

    #[test]
    fn a_page_is_wrapped_and_its_tables_are_aligned() {
        let page = "# A page\n\nText with **strong** and `code here`, which is long enough that its line has to be \
                    broken somewhere.\n\n* one\n* two,\n  which goes on\n  1. inner\n\n```sh\nloopbox   show\n```\n\n\
                    | key | meaning |\n|---|---|\n| `a` | short |\n| b | long, long, long, long, long, long, long, \
                    long, long, long, long, long, long, long, long |\n";
        let text = anstream::adapter::strip_str(&render(&parse(page))).to_string();
        let wanted = "\
A PAGE

Text with strong and code here, which is long enough that its line has to be
broken somewhere.

•  one
•  two, which goes on
   1. inner

    loopbox   show

key  meaning
───  ───────────────────────────────────────────────────────────────────────────
a    short
b    long, long, long, long, long, long, long, long, long, long, long, long,
     long, long, long
";
        assert_eq!(text, wanted);
    }
}
