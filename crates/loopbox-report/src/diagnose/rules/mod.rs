//! The rules, one file each. Their description for users is `docs/diagnosis.md`.

mod barrier;
mod binder;
mod current_slow;
mod flood;
mod frozen;
mod gc;
mod history;
mod io;
mod lock;
mod main_free;
mod memory;
mod native;
mod no_data;
mod outside;
mod sleep;
mod starved;
mod suspended;
mod trace_state;

pub(super) use no_data::caveats;

use super::facts::Facts;
use super::finding::Finding;

/// A rule that is run once for the report, or a rule that is run for each message that may be the cause. That
/// message is then in the focus of the [`Facts`].
#[derive(Clone, Copy)]
pub(super) enum Rule {
    Report(fn(&Facts<'_>) -> Option<Finding>),
    Message(fn(&Facts<'_>) -> Option<Finding>),
}

use Rule::{Message, Report};

/// All rules. Of causes with equal scores, the one whose rule comes first here is ranked first.
pub(super) const ALL: &[Rule] = &[
    Report(barrier::find),
    Report(frozen::find),
    Message(suspended::find),
    Message(binder::find),
    Report(trace_state::find_frozen),
    Report(trace_state::find),
    Message(lock::find_holder),
    Message(lock::find),
    Message(lock::find_monitor),
    Message(gc::find),
    Message(gc::find_pressure),
    Message(memory::find),
    Message(io::find),
    Message(sleep::find),
    Message(native::find),
    Message(native::find_service),
    Message(starved::find),
    Report(flood::find),
    Message(current_slow::find),
    Message(history::find_one),
    Report(history::find_many),
    Report(outside::find),
    Report(main_free::find),
    Report(trace_state::find_place),
    Report(no_data::find),
];
