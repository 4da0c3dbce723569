//! Markdown as blocks: what the pages in `docs` consist of.

use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};

/// The style of a piece of text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Style {
    Plain,
    Strong,
    Emphasis,
    Code,
}

/// A piece of text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) text: String,
    pub(super) style: Style,
}

/// A cell of a table.
pub(super) type Cell = Vec<Span>;

/// A part of a page.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Block {
    Heading {
        level: u8,
        spans: Vec<Span>,
    },
    Paragraph(Vec<Span>),
    Code(String),
    /// A paragraph of a list. `marker` is empty for one that continues an item; `depth` is 1 in the outermost
    /// list.
    Item {
        depth: usize,
        marker: String,
        spans: Vec<Span>,
    },
    /// The first row is the head.
    Table(Vec<Vec<Cell>>),
}

/// The text without its styles.
pub(super) fn plain(spans: &[Span]) -> String {
    spans.iter().map(|span| span.text.as_str()).collect()
}

/// The blocks of a page.
pub(super) fn parse(page: &str) -> Vec<Block> {
    let mut reading = Reading::default();
    Parser::new_ext(page, Options::ENABLE_TABLES).for_each(|event| reading.event(event));
    reading.blocks
}

#[derive(Default)]
struct Reading {
    blocks: Vec<Block>,
    spans: Vec<Span>,
    styles: Vec<Style>,
    /// The number of the next item of each open list; `None` for a list without numbers.
    lists: Vec<Option<u64>>,
    marker: String,
    code: Option<String>,
    rows: Vec<Vec<Cell>>,
}

impl Reading {
    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(&tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text) => match &mut self.code {
                Some(code) => code.push_str(&text),
                None => self.push(&text, self.styles.last().copied().unwrap_or(Style::Plain)),
            },
            Event::Code(text) => self.push(&text, Style::Code),
            Event::SoftBreak | Event::HardBreak => self.push(" ", Style::Plain),
            _ => {}
        }
    }

    fn push(&mut self, text: &str, style: Style) {
        self.spans.push(Span { text: text.to_owned(), style });
    }

    fn start(&mut self, tag: &Tag<'_>) {
        match tag {
            Tag::Strong => self.styles.push(Style::Strong),
            Tag::Emphasis => self.styles.push(Style::Emphasis),
            Tag::List(first) => {
                self.flush();
                self.lists.push(*first);
            }
            Tag::Item => {
                self.marker = match self.lists.last_mut() {
                    Some(Some(number)) => {
                        *number += 1;
                        format!("{}.", *number - 1)
                    }
                    _ => "•".into(),
                };
            }
            Tag::CodeBlock(CodeBlockKind::Fenced(_) | CodeBlockKind::Indented) => {
                self.flush();
                self.code = Some(String::new());
            }
            Tag::TableHead | Tag::TableRow => self.rows.push(Vec::new()),
            _ => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Strong | TagEnd::Emphasis => {
                self.styles.pop();
            }
            TagEnd::Heading(level) => {
                let spans = std::mem::take(&mut self.spans);
                self.blocks.push(Block::Heading { level: level as u8, spans });
            }
            TagEnd::Paragraph | TagEnd::Item => self.flush(),
            TagEnd::List(_) => {
                self.lists.pop();
            }
            TagEnd::CodeBlock => self.blocks.extend(self.code.take().map(Block::Code)),
            TagEnd::TableCell => {
                let cell = std::mem::take(&mut self.spans);
                if let Some(row) = self.rows.last_mut() {
                    row.push(cell);
                }
            }
            TagEnd::Table => self.blocks.push(Block::Table(std::mem::take(&mut self.rows))),
            _ => {}
        }
    }

    /// Ends a paragraph.
    fn flush(&mut self) {
        let spans = std::mem::take(&mut self.spans);
        if spans.is_empty() {
            return;
        }
        self.blocks.push(match self.lists.len() {
            0 => Block::Paragraph(spans),
            depth => Block::Item { depth, marker: std::mem::take(&mut self.marker), spans },
        });
    }
}
