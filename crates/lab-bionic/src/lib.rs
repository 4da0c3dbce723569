#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod cpio;
pub mod device;
mod driver;
mod log;
pub mod machine;
mod properties;
pub mod retail;
pub mod scenario;

pub use driver::{compile_for_arm64, compile_for_host};
