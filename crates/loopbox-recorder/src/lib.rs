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
mod environment;
mod options;
mod outside;
mod poll;
mod queue_watch;
mod schedule;
mod stack_pointer;
mod starvation;
mod symbols;
mod tree;
mod verdict;
mod watchdog;

pub use aggregator::adopted::{AdoptedMessage, BIND_APPLICATION};
pub use aggregator::{Aggregator, Begun, Described, Ended, Wanted};
pub use config::{Config, ConfigError, Keep, Sampling};
pub use details::{Details, MAX_DETAILS, MAX_ENCODED_RECORD, NAME_BYTES, Name};
pub use environment::{Dirty, Environment};
pub use outside::{Asleep, Demand, Finding, Glance, OutsideWatch, Place, SeenBusy, computing_since};
pub use poll::{Dispatches, PollLoop, PollRules, PollStack};
pub use queue_watch::{Front, QueueFinding, QueueWatch};
pub use schedule::{Activity, Schedule, Step, Taken};
pub use stack_pointer::StackPointer;
pub use starvation::{Scheduled, Starvation};
pub use symbols::{Interner, SymbolTable};
pub use tree::{Sample, StackTreeBuilder, widened_interval};
pub use verdict::{classify, origin, threshold_ns};
pub use watchdog::{Counted, Frozen, Since, Suspect, Watchdog};
