//! A report as text for a terminal.
//!
//! It starts with the diagnosis and goes on in order of time: the history, the running message with its stacks, the
//! pending messages. Lines have ANSI styles; strip them for plain text.

mod anr;
mod current;
mod diagnosis;
mod display_frames;
mod header;
mod history;
mod layout;
mod locks;
mod main_thread;
mod pending;
mod stacks;
mod style;
mod system_trace;
mod threads;

pub use layout::Options;

use super::json::ReportView;

/// The whole report, as `loopbox show` prints it.
pub fn show(view: &ReportView, options: Options) -> String {
    let mut out = String::new();
    header::write(&mut out, view);
    diagnosis::write_short(&mut out, &view.verdict);
    anr::write(&mut out, view);
    history::write(&mut out, view);
    current::write(&mut out, view, options);
    main_thread::write(&mut out, view, options);
    locks::write(&mut out, view);
    display_frames::write(&mut out, view, options);
    pending::write(&mut out, view, options);
    system_trace::write(&mut out, view, options);
    threads::write(&mut out, view, options);
    stacks::write_earlier(&mut out, view, options);
    header::write_recorder(&mut out, view);
    header::write_damage(&mut out, view);
    out
}

/// Every possible cause with its evidence, as `loopbox diagnose` prints it.
pub fn diagnosis(view: &ReportView) -> String {
    let mut out = String::new();
    header::write(&mut out, view);
    diagnosis::write_full(&mut out, view);
    anr::write(&mut out, view);
    out
}

/// The native stack of the main thread with all that symbols have, as `loopbox symbolize` prints it.
pub fn native_stack(view: &ReportView) -> String {
    let mut out = String::new();
    main_thread::write_symbolized(&mut out, view);
    out
}

#[cfg(test)]
mod tests;
