//! Runs `libloopbox.so` in a process that is no Android app: a driver calls its natives as the Java half does, with a stand-in
//! for the VM (`drive/`, in C, because it is compiled for devices' own C libraries without an NDK).
//!
//! `driver` compiles it, `story` runs it and judges the reports, `device` makes a root of a folder with a device's libraries,
//! in which `properties` is the system's property area and `log` the end of its log. `retail` starts the device's own runtime there, with the scripted apps
//! (`retail/`). `machine` boots a kernel with pages of 16 KiB for the driver, with the file system that `cpio` writes and
//! `machine/init.c` as its first process.
#![forbid(unsafe_code)]

mod cpio;
pub mod device;
mod driver;
mod log;
pub mod machine;
mod properties;
pub mod retail;
pub mod story;

pub use driver::{compile_for_arm64, compile_for_host};
