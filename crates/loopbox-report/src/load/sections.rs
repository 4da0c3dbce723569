//! Sanitised and bounded copies of the sections of a report.

use super::limits;
use super::stack_frames::FrameCollector;
use crate::model::sanitize::sanitize;
use crate::model::{LockChain, LockHolder, LockSource, LockWait, OtherThread, OtherThreads, locked_object};
use loopbox_format::model as file;
use loopbox_format::model::{
    Anr, Breadcrumb, Detail, DumpReason, FrameScene, FrameSession, MainState, Message, Meta, ProcessExit,
    Record, Running,
};
use loopbox_format::text::BoundedStr;

fn name(text: &str) -> String {
    sanitize(text, limits::NAME_CHARS)
}

fn line(text: &str) -> String {
    sanitize(text, limits::LINE_CHARS)
}

pub(super) fn meta(meta: &Meta) -> Meta {
    let mut sanitised = meta.clone();
    sanitised.producer = name(&meta.producer);
    sanitised.process.name = name(&meta.process.name);
    sanitised.process.abi = name(&meta.process.abi);
    sanitised.process.app_version = name(&meta.process.app_version);
    sanitised.process.device = name(&meta.process.device);
    let annotations = meta.annotations.iter().take(limits::SHORT_LIST);
    sanitised.annotations = annotations.map(|(key, value)| (name(key), line(value))).collect();
    if let DumpReason::Requested(reason) = &meta.reason {
        sanitised.reason = DumpReason::Requested(line(reason));
    }
    sanitised
}

/// Sorts the breadcrumbs by time, because threads that leave breadcrumbs at the same time may store them in
/// another order.
pub(super) fn breadcrumbs(left: &[Breadcrumb]) -> Vec<Breadcrumb> {
    let mut left: Vec<_> = left.iter().map(|one| Breadcrumb { name: name(&one.name), ..*one }).collect();
    left.sort_by_key(|one| one.at_ns);
    left
}

fn message(message: &Message) -> Message {
    Message { target: name(&message.target), callback: name(&message.callback), ..*message }
}

pub(super) fn record(record: &Record) -> Record {
    let cut = record.details.len().saturating_sub(limits::DETAILS) as u32;
    let details = record.details.iter().take(limits::DETAILS);
    Record {
        details: details
            .map(|detail| Detail { message: detail.message.as_ref().map(message), ..*detail })
            .collect(),
        dropped_details: record.dropped_details.saturating_add(cut),
        ..*record
    }
}

pub(super) fn main(main: &MainState) -> MainState {
    match main {
        MainState::Running(running) => {
            MainState::Running(Running { message: running.message.as_ref().map(message), ..*running })
        }
        other => other.clone(),
    }
}

pub(super) fn anr(anr: &Anr) -> Anr {
    let system = match &anr.system {
        Some(file::SystemWord::NotResponding(words)) => Some(file::SystemWord::NotResponding(line(words))),
        other => other.clone(),
    };
    let exit = anr.exit.as_ref().map(|exit| ProcessExit { description: line(&exit.description), ..*exit });
    Anr { system, exit, ..*anr }
}

pub(super) fn locks(chain: &file::LockChain, frames: &mut FrameCollector<'_>) -> LockChain {
    let mut holder = |holder: &file::LockHolder| LockHolder {
        name: name(&holder.name),
        tid: Some(holder.tid),
        stack: frames.stack(&holder.stack),
    };
    let waits = chain.waits.iter().take(limits::LOCK_WAITS).map(|wait| LockWait {
        object: locked_object(&name(&wait.class), &name(&wait.of_class)),
        holder: wait.holder.as_ref().map(&mut holder),
    });
    LockChain {
        waits: waits.collect(),
        captured_ns: chain.captured_ns,
        deadlock: chain.deadlock,
        source: LockSource::Recorder,
    }
}

pub(super) fn threads(all: &file::OtherThreads, frames: &mut FrameCollector<'_>) -> OtherThreads {
    let threads = all.threads.iter().take(limits::THREADS).map(|thread| OtherThread {
        name: name(&thread.name),
        tid: Some(thread.tid),
        state: Some(thread.state),
        cpu_ns: thread.cpu_ns,
        stack: thread.stack.as_ref().map(|stack| frames.stack(stack)),
        trace: None,
    });
    OtherThreads { threads: threads.collect(), captured_ns: all.captured_ns, left_out: all.left_out }
}

pub(super) fn display_frames(session: &FrameSession) -> FrameSession {
    let scene =
        |scene: &FrameScene| FrameScene { name: BoundedStr::new(&name(scene.name.as_str())), ..*scene };
    FrameSession {
        scenes: session.scenes.iter().take(limits::SCENES).map(scene).collect(),
        gestures: newest(&session.gestures),
        janks: newest(&session.janks),
        recent: newest(&session.recent),
        stages: newest(&session.stages),
    }
}

fn newest<T: Clone>(list: &[T]) -> Vec<T> {
    list[list.len().saturating_sub(limits::DISPLAY_FRAMES)..].to_vec()
}
