#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod binary;
mod find;

pub use binary::{Binary, Function};
pub use find::{Detail, SymbolFile, find};

use std::path::PathBuf;

/// Why there are no symbols.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SymbolizeError {
    /// A named folder does not exist, or cannot be read.
    #[error("{}: {why}", path.display())]
    Folder {
        /// The folder.
        path: PathBuf,
        /// The system's error message.
        why: String,
    },
    /// A file has the build id but cannot be read as a library.
    #[error("{}: its symbols cannot be read: {why}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        why: String,
    },
}
