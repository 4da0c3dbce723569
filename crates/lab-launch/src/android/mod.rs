//! Programs built with the Android toolchain that run on testbeds.

pub(crate) mod linux;
mod shim;

pub use shim::{Shipped, shipped};
