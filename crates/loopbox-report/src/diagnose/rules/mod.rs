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
mod native;
mod no_data;
mod outside;
mod sleep;
mod starved;
mod trace_state;

pub(super) use no_data::caveats;

use super::facts::Facts;
use super::finding::Finding;

type Rule = fn(&Facts<'_>) -> Option<Finding>;

/// All rules. Of causes with equal scores, the one whose rule comes first here is ranked first.
pub(super) const ALL: &[Rule] = &[
    barrier::find,
    frozen::find,
    binder::find,
    trace_state::find_frozen,
    trace_state::find,
    lock::find_holder,
    lock::find,
    lock::find_monitor,
    gc::find,
    gc::find_pressure,
    io::find,
    sleep::find,
    native::find,
    starved::find,
    flood::find,
    current_slow::find,
    history::find,
    outside::find,
    main_free::find,
    trace_state::find_place,
    no_data::find,
];
