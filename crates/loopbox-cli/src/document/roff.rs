//! A page as a manual page.

use super::blocks::{Block, Cell, Span, Style, plain};
use super::terminal::columns;
use roff::{Inline, Roff, bold, italic, line_break, roman};

/// Columns of a manual page without its indentation. [`GAP`] is the number of columns that tbl(1) puts
/// between two columns of a table.
const WIDTH: usize = 70;
const GAP: usize = 3;

/// The page in troff's language, with the macros of man(7) and the tables of tbl(1).
pub(super) fn render(name: &str, title: &str, blocks: &[Block]) -> String {
    let name = format!("loopbox-{name}");
    let version = concat!("loopbox ", env!("CARGO_PKG_VERSION"));
    let mut page = Roff::new();
    page.control("TH", [name.as_str(), "7", "", version]);
    page.control("SH", ["NAME"]).text([roman(format!("{name} - {title}"))]);
    page.control("SH", ["DESCRIPTION"]);
    for block in blocks {
        write(&mut page, block);
    }
    // By the first line man(1) knows that tables have to be drawn.
    format!("'\\\" t\n{}", page.render())
}

fn write(page: &mut Roff, block: &Block) {
    match block {
        // The title stands under NAME.
        Block::Heading { level: 1, .. } => {}
        Block::Heading { level, spans } => {
            page.control(if *level == 2 { "SH" } else { "SS" }, []).text([roman(plain(spans))]);
        }
        Block::Paragraph(spans) => {
            page.control("PP", []).text(inlines(spans));
        }
        Block::Item { depth, marker, spans } => {
            let indent = (3 * depth).to_string();
            page.control("IP", [if marker.is_empty() { "\\&" } else { marker }, &indent])
                .text(inlines(spans));
        }
        Block::Code(code) => {
            page.control("PP", []).control("RS", ["4"]).control("nf", []);
            for line in code.lines() {
                page.text([roman(if line.is_empty() { "\u{200B}" } else { line })]);
            }
            page.control("fi", []).control("RE", []);
        }
        Block::Table(rows) => table(page, rows),
    }
}

fn inlines(spans: &[Span]) -> Vec<Inline> {
    let inline = |span: &Span| match span.style {
        Style::Plain => roman(&span.text),
        Style::Strong | Style::Code => bold(&span.text),
        Style::Emphasis => italic(&span.text),
    };
    spans.iter().map(inline).collect()
}

fn table(page: &mut Roff, rows: &[Vec<Cell>]) {
    let columns: Vec<String> =
        columns(rows, WIDTH, GAP).into_iter().map(|columns| format!("lw({columns}n)")).collect();
    page.control("PP", []).control("TS", []).text([roman(format!("{}.", columns.join(" ")))]);
    for row in rows {
        for (at, cell) in row.iter().enumerate() {
            let begin = if at == 0 { "T{" } else { "T}\tT{" };
            page.text([roman(begin)]).text(if cell.is_empty() {
                vec![roman("\u{200B}")]
            } else {
                inlines(cell)
            });
        }
        page.text([roman("T}")]);
    }
    page.control("TE", []).text([line_break()]);
}
