//! The locks that kept the main thread waiting.

use super::layout::{heading, line};
use super::style::{BAD, NAME, paint};
use crate::derive::java_stack;
use crate::model::{Analysis, LockSource};

pub(super) fn write(out: &mut String, a: &Analysis) {
    if a.locks.waits.is_empty() {
        return;
    }
    let joins = a.locks.source == LockSource::Join;
    let kind = match a.locks.deadlock {
        true => paint(BAD, "a deadlock"),
        false if joins => "which thread is to end".into(),
        false => "which thread holds which lock".into(),
    };
    let source =
        if a.locks.source == LockSource::SystemTrace { ", by ART's own trace of the ANR" } else { "" };
    heading(out, "LOCKS", &format!("{kind}{source}"));
    let mut waiter = "main".to_string();
    for wait in &a.locks.waits {
        let Some(holder) = &wait.holder else {
            line(out, format!("  {waiter} waits for {}, which no thread holds", wait.object));
            continue;
        };
        let name = paint(NAME, &holder.name);
        let tid = holder.tid.map(|tid| format!(" (tid {tid})")).unwrap_or_default();
        if joins && waiter == "main" {
            line(out, format!("  {waiter} waits for thread {name}{tid} to end"));
        } else {
            line(out, format!("  {waiter} waits for {}, held by {name}{tid}", wait.object));
        }
        for frame in java_stack(a, &holder.stack) {
            line(out, format!("      at {frame}"));
        }
        waiter.clone_from(&holder.name);
    }
}
