//! The one way in which this workspace uses apt.
//!
//! Two kinds of use: [`install()`] installs packages on this machine; [`Archive`] and [`Release`] have a
//! separate state in some folder, ask indexes and download without touching the machine. Both wait for
//! ([`amount`]).

pub mod amount;
mod archive;
mod config;
mod download;
mod install;
pub mod lock;
mod release;
pub(crate) mod sources;

#[cfg(test)]
pub(crate) mod test_archive;

pub use archive::{Archive, Remote};
pub use download::download;
pub use install::{install, is_root};
pub use release::Release;
