#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod android;
mod derive;
mod launch;
pub mod probe;
pub mod shrink;

pub use android::{Shipped, run_tests, shipped, with_foreign_library};
pub use derive::derive;
pub use launch::{
    App, Build, Ended, KEPT, Launcher, Running, java_below, keep_programs, programs_of_this_machine, reports,
    scripted_apps, scripted_classes, wait_for_report,
};
