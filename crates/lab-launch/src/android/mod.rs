//! Programs built with the Android toolchain that run on testbeds.

mod foreign;
pub(crate) mod linux;
mod shim;

pub use foreign::with_foreign_library;
pub use linux::run_tests;
pub use shim::{Shipped, shipped};
