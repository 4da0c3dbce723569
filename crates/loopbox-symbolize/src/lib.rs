#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod binary;
mod find;

pub use binary::{Binary, Function};
pub use find::{Detail, SymbolFile, find};

use std::path::PathBuf;

/// Why symbols could not be had.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SymbolizeError {
    /// A folder that was named is not there, or cannot be read.
    #[error("{}: {why}", path.display())]
    Folder {
        /// The folder.
        path: PathBuf,
        /// The system's words.
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
