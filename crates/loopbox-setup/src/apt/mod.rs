//! The only code in this workspace that uses apt.
//!
//! It is used in two ways: [`install()`] installs packages on this machine; [`Archive`] and [`Release`] have
//! a separate state in some folder, and read indexes and download without changing the machine.

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
pub use release::{PinnedPackage, Release};
