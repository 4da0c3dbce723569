//! Programs built with the Android toolchain that run on testbeds.

pub(crate) mod linux;
mod shim;

pub use linux::run_tests;
pub use shim::{Shipped, shipped};
