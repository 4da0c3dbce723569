//! A report as text for a terminal.
//!
//! It starts with the diagnosis and goes on in order of time: the history, the running message with its
//! stacks, the pending messages. Lines have ANSI styles; strip them for plain text.

mod anr;
mod current;
mod diagnosis;
mod display_frames;
mod header;
mod history;
mod kernel_view;
mod layout;
mod locks;
mod pending;
mod stacks;
mod style;
mod system_trace;
mod threads;

pub use layout::Options;

use crate::diagnose::Diagnosis;
use crate::model::Analysis;

/// The whole report, as `loopbox show` prints it.
pub fn show(a: &Analysis, diagnosis: &Diagnosis, options: Options) -> String {
    let mut out = String::new();
    header::write(&mut out, a);
    diagnosis::write_short(&mut out, diagnosis);
    anr::write(&mut out, a);
    history::write(&mut out, a);
    current::write(&mut out, a, options);
    kernel_view::write(&mut out, a, options);
    locks::write(&mut out, a);
    display_frames::write(&mut out, a, options);
    pending::write(&mut out, a, options);
    system_trace::write(&mut out, a, options);
    threads::write(&mut out, a, options);
    stacks::write_earlier(&mut out, a, options);
    header::write_recorder(&mut out, a);
    header::write_damage(&mut out, a);
    out
}

/// Every possible cause with its evidence, as `loopbox diagnose` prints it.
pub fn diagnosis(a: &Analysis, diagnosis: &Diagnosis) -> String {
    let mut out = String::new();
    header::write(&mut out, a);
    diagnosis::write_full(&mut out, a, diagnosis);
    out
}

/// All frames of the main thread's native stack, with the names from symbols, as `loopbox symbolize` prints
/// them.
pub fn native_stack(a: &Analysis) -> String {
    let mut out = String::new();
    kernel_view::write_symbolized(&mut out, a);
    out
}

#[cfg(test)]
mod tests;
