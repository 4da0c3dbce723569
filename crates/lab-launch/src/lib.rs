//! Runs Loopbox and its test apps on the testbeds of `loopbox-testbed`.
//!
//! `launch` starts the scripted apps of `tests/app` with the recorder, as a phone would: the tests' own build
//! of it, or the library exactly as it ships (`android`). `probe` runs the sampler's own test library
//! instead, and `shrink` makes of an app what its build for a release does.
#![forbid(unsafe_code)]

mod android;
mod launch;
pub mod probe;
pub mod shrink;

pub use android::{Shipped, shipped};
pub use launch::{
    App, Build, Ended, Launcher, Running, java_below, programs_of_this_machine, reports, scripted_apps,
    wait_for_report,
};
