#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

pub mod apt;
pub mod arch;
pub mod cache;
pub mod command;
pub mod fetch;
pub mod files;
pub mod jar;
pub mod jvm;
pub mod kotlin;
pub mod package;
pub mod progress;
pub mod r8;
pub mod registry;
pub mod tools;
pub mod unpack;
pub mod warm_jvm;
pub mod workspace;
