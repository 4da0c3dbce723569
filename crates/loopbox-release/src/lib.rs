#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod archives;
mod checksums;
pub mod commands;
mod facts;
mod listing;
mod make;
mod maven;
mod provenance;
mod signing;
mod verify;

pub use facts::Facts;
pub use make::{Parts, make};
pub use signing::{KEY, PASSPHRASE, Signer};
pub use verify::{Verified, verify};
