#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod aot;
mod assemble;
mod blueprint;
mod builder;
mod code_patch;
mod compiler;
mod dex;
mod framework;
mod hidden_api;
mod java;
mod level;
mod levels;
pub mod libart;
mod libcore;
mod libcxx;
mod local;
mod makefile;
mod manifest;
mod name;
mod names;
mod patch;
mod paths;
mod set_up;
mod spec;
mod store;
mod system;

pub use local::{FOLDER as LOCAL_FOLDER, LOCAL};
pub use loopbox_setup::arch::Arch;
pub use manifest::{Build, Manifest, Testbed};
pub use name::{Compiled, Framework, Name, Queue};
pub use names::{level_classes, level_testbeds_in_tests, levels, names, to_test_on};
pub use set_up::ensure;
pub use spec::{Compiler, CompilerCommon, CompilerSpec, compiler};
