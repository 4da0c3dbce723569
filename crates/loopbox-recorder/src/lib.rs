#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]
#![cfg_attr(
    not(test),
    deny(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::panic,
        clippy::todo,
        clippy::unimplemented,
        clippy::unreachable,
        clippy::indexing_slicing
    )
)]

pub mod aggregator;
mod config;
mod details;
mod host;
mod mark;
mod outside;
mod schedule;
mod symbols;
mod tree;
mod verdict;
mod watchdog;

pub use aggregator::adopted::{Adopted, BIND_APPLICATION};
pub use aggregator::{Aggregator, Begun, Described, Wanted};
pub use config::{Config, ConfigError, Keep, Sampling};
pub use details::{Details, MAX_DETAILS, MAX_ENCODED_RECORD, NAME_BYTES, Name};
pub use host::{Change, Host};
pub use mark::StackMark;
pub use outside::{Asleep, Demand, Finding, Glance, OutsideWatch, Place, SeenBusy, computing_since};
pub use schedule::{Activity, Schedule, Step, Taken};
pub use symbols::{Interner, SymbolTable};
pub use tree::{Sample, StackTreeBuilder, widened_interval};
pub use verdict::{classify, origin, threshold_ns};
pub use watchdog::{Frozen, Since, Suspect, Watchdog};
