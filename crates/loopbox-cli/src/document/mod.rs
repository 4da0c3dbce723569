//! The documents for readers of reports that the command contains: `loopbox help diagnosis`, and manual
//! pages.

mod blocks;
mod roff;
mod terminal;

use blocks::Block;

/// A page of the folder `docs`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Document {
    /// The name of its file without `.md`, by which users request it.
    pub(crate) name: &'static str,
    text: &'static str,
}

macro_rules! documents {
    ($($name:literal),* $(,)?) => {
        &[$(Document { name: $name, text: include_str!(concat!("../../docs/", $name, ".md")) }),*]
    };
}

/// All documents, in reading order.
pub(crate) const ALL: &[Document] = documents![
    "reading-a-report",
    "on-call",
    "diagnosis",
    "anr",
    "blind-spots",
    "native-frames",
    "exports",
    "clustering",
    "diff",
    "parquet",
    "fleet",
    "json",
    "file-format",
    "faults",
    "glossary",
];

impl Document {
    /// Its first heading.
    pub(crate) fn title(&self) -> String {
        let blocks = blocks::parse(self.text);
        let title = blocks.iter().find_map(|block| match block {
            Block::Heading { spans, .. } => Some(blocks::plain(spans)),
            _ => None,
        });
        title.unwrap_or_else(|| self.name.to_owned())
    }

    /// The document as text for a terminal, with ANSI styles.
    pub(crate) fn for_terminal(&self) -> String {
        terminal::render(&blocks::parse(self.text))
    }

    /// The document as a manual page of section 7.
    pub(crate) fn manual_page(&self) -> String {
        roff::render(self.name, &self.title(), &blocks::parse(self.text))
    }
}
