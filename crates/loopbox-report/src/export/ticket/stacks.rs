//! The stacks of a ticket: short enough to be read, with the app's own frames in sight.

use crate::derive::tombstone_line;
use crate::model::{Analysis, Frame, FrameId, LockHolder, NativeModule, NativeStack};
use crate::render::folded;
use std::collections::BTreeSet;

/// How many frames above the app's first frame are written: what main waits in, and what the app called.
const ABOVE: usize = 4;
/// From this number on, consecutive native frames without a function become one line.
const UNNAMED: usize = 3;

/// The stack of main at the dump, the innermost frame first; empty without one.
pub(super) fn of_main(a: &Analysis) -> Vec<String> {
    let native = a.main_thread.as_ref().and_then(|main| main.native.as_ref());
    let mut lines = native.map(of_native).unwrap_or_default();
    lines.extend(of_java(a, &a.last_stack().unwrap_or_default()));
    lines
}

/// The thread that holds the lock that main waits for, and its stack.
pub(super) fn of_holder(a: &Analysis) -> Option<(&LockHolder, Vec<String>)> {
    let holder = a.locks.waits.first()?.holder.as_ref()?;
    let lines = of_java(a, &holder.stack);
    (!lines.is_empty()).then_some((holder, lines))
}

/// The lines of a stack, innermost frame first. `stack` has the outermost frame first.
fn of_java(a: &Analysis, stack: &[FrameId]) -> Vec<String> {
    let frames: Vec<&Frame> = stack.iter().rev().map(|&id| &a.frames[id]).collect();
    let own = frames.iter().position(|frame| frame.is_of_app() && !frame.synthetic);
    let mut lines: Vec<String> = frames.iter().map(|frame| format!("at {}", frame.full())).collect();
    if let Some(own) = own.filter(|own| *own > ABOVE + 1) {
        let left_out = format!("… {} frames of the platform and of libraries", own - ABOVE);
        lines.splice(ABOVE - 1..own - 1, [left_out]);
    }
    folded(&lines)
}

fn of_native(native: &NativeStack) -> Vec<String> {
    let mut lines = Vec::new();
    let mut at = 0;
    while at < native.frames.len() {
        let rest = &native.frames[at..];
        let unnamed = rest.iter().take_while(|frame| frame.functions.is_empty()).count();
        if unnamed < UNNAMED {
            lines.push(tombstone_line(native, at, &rest[0]));
            at += 1;
            continue;
        }
        let modules = rest[..unnamed].iter().filter_map(|frame| native.modules.get(frame.module?));
        let modules: BTreeSet<&str> = modules.map(NativeModule::file_name).collect();
        let modules = modules.into_iter().collect::<Vec<_>>().join(", ");
        lines.push(format!(
            "… {unnamed} native frames without symbols ({modules}): loopbox symbolize names them"
        ));
        at += unnamed;
    }
    lines
}
