//! The one way in which this workspace uses apt.
//!
//! Two kinds of use: [`install()`] installs packages on this machine; [`Archive`] and [`Release`] have a
//! state of their own in some folder, ask indexes and download without touching the machine. Both wait for
//! locks that other package managers hold ([`lock`]), and both say how much they will download before they do
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
