//! What the recorder decides, without saying how it gets at the facts.
//!
//! * [`Aggregator`] turns the begins and ends of messages into the records of the history (the article's three
//!   rules, idle time, nesting, lost ends). It is owned by the main thread and allocates nothing.
//! * [`StackTreeBuilder`] merges the stacks of one message into a tree of bounded size; [`SymbolTable`] numbers
//!   the methods and code locations that trees refer to.
//! * [`Schedule`] says when the sampler sleeps, parks and takes a stack.
//! * [`Watch`] says how long the running message has really been running, [`judge`] whether that was an ANR.
//! * [`OutsideWatch`] tells whether a main thread that runs no message waits for one.
//! * [`Config`] holds every number of these, checked once.
//!
//! There is no clock, no I/O, no JNI and no `unsafe` here: time and effects come in through the [`Host`] trait or
//! as arguments, so that every policy can be tested as plain arithmetic.
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
mod watch;

pub use aggregator::adopted::{Adopted, BIND_APPLICATION};
pub use aggregator::{Aggregator, Begun, Described, Wanted};
pub use config::{Config, ConfigError, Keep, Sampling};
pub use details::{Details, MAX_DETAILS, MAX_ENCODED_RECORD, NAME_BYTES, Name};
pub use host::{Change, Host};
pub use mark::StackMark;
pub use outside::{Asleep, Demand, Finding, Glance, OutsideWatch, Place, computing_since};
pub use schedule::{Activity, Schedule, Step, Taken};
pub use symbols::{Interner, SymbolTable};
pub use tree::{Sample, StackTreeBuilder, widened_interval};
pub use verdict::{judge, origin, patience_ns};
pub use watch::{Frozen, Since, Suspect, Watch};
