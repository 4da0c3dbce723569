//! The locks that kept the main thread waiting.

use super::layout::{heading, line};
use super::style::{BAD, NAME, paint};
use crate::render::json::ReportView;

pub(super) fn write(out: &mut String, view: &ReportView) {
    if view.locks.waits.is_empty() {
        return;
    }
    let kind =
        if view.locks.deadlock { paint(BAD, "a deadlock") } else { "which thread holds which lock".into() };
    heading(out, "LOCKS", &kind);
    let mut waiter = "main".to_string();
    for wait in &view.locks.waits {
        let Some(holder) = &wait.holder else {
            line(out, format!("  {waiter} waits for {}, which no thread holds", wait.object));
            continue;
        };
        let name = paint(NAME, &holder.name);
        line(out, format!("  {waiter} waits for {}, held by {name} (tid {})", wait.object, holder.tid));
        for frame in &holder.stack {
            line(out, format!("      at {frame}"));
        }
        waiter.clone_from(&holder.name);
    }
}
