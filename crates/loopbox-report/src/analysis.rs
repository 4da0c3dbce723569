//! A decoded report, bounded, cleaned and resolved: what every view and every rule starts from.

use crate::clock::WallClock;
use crate::frame::{Frame, Frames};
use crate::{bounds, clean::clean, queue::Queue, tree::Tree};
use loopbox_format::container::Damage;
use loopbox_format::model::{
    Anr, Detail, DumpReason, FeatureState, Figure, LockChain, LockHolder, LockWait, MainState, Message, Meta,
    OtherThread, OtherThreads, Pending, PendingSource, ProcessExit, Record, Running, Symbols, SystemWord,
};
use loopbox_format::report::Decoded;

/// A part of the file that could not be used.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Loss {
    /// Where in the file, in bytes from its start; `None` when it is not about one place.
    pub offset: Option<u64>,
    /// What is wrong there.
    pub what: String,
}

/// A report ready to be shown and judged. All texts are harmless, all lists bounded, all indices valid.
#[derive(Debug)]
pub struct Analysis {
    /// Who wrote it, when and why.
    pub meta: Meta,
    /// The instant that times are told relative to: the dump, or when the file lost it, the last instant known.
    pub zero_ns: u64,
    /// Oldest first.
    pub history: Vec<Record>,
    /// What the main thread was doing.
    pub main: MainState,
    /// Whether it did not respond.
    pub anr: Anr,
    /// What it was asked to do next, as printed.
    pub pending: Pending,
    /// What that says.
    pub queue: Queue,
    /// The locks that main waited for; stacks are indices into `frames`.
    pub locks: LockChain,
    /// What the other threads were doing; stacks are indices into `frames`.
    pub threads: OtherThreads,
    /// The distinct frames of all trees.
    pub frames: Vec<Frame>,
    /// Stack trees, oldest first.
    pub trees: Vec<Tree>,
    /// Which features were on.
    pub features: Vec<FeatureState>,
    /// Figures of the process and the machine.
    pub figures: Vec<Figure>,
    /// What could not be read or was left out.
    pub losses: Vec<Loss>,
}

impl Analysis {
    /// Prepares a decoded report.
    pub fn new(decoded: &Decoded) -> Self {
        let report = &decoded.report;
        let mut losses: Vec<Loss> = decoded
            .damage
            .iter()
            .filter(|d| !told_before(&d.what, &decoded.damage))
            .take(bounds::DAMAGE)
            .map(|d| Loss { offset: Some(d.offset as u64), what: clean(&d.what, bounds::LINE) })
            .collect();
        let mut left_out = |what: &str, have: usize, bound: usize| {
            if have > bound {
                let what = format!(
                    "{what}: {} of {have} left out, the file has more than a report can",
                    have - bound
                );
                losses.push(Loss { offset: None, what });
            }
        };
        left_out("damage", decoded.damage.len(), bounds::DAMAGE);
        left_out("history records", report.history.len(), bounds::RECORDS);
        left_out("stack trees", report.trees.len(), bounds::TREES);
        left_out("pending lines", report.pending.lines.len(), bounds::PENDING);
        left_out("lock holders", report.locks.waits.len(), bounds::LOCKS);
        left_out("other threads", report.threads.threads.len(), bounds::THREADS);
        left_out("annotations", report.meta.annotations.len(), bounds::FACTS);
        left_out("features", report.features.len(), bounds::FACTS);
        left_out("figures", report.figures.len(), bounds::FACTS);

        let mut frames = Frames::default();
        let mut cells = bounds::CELLS;
        let newest_trees = &report.trees[report.trees.len().saturating_sub(bounds::TREES)..];
        let trees: Vec<Tree> = newest_trees
            .iter()
            .map(|tree| Tree::read(tree, &report.symbols, &mut frames, &mut cells))
            .collect();
        let locks = clean_locks(&report.locks, &report.symbols, &mut frames);
        let threads = clean_threads(&report.threads, &report.symbols, &mut frames);
        for tree in &trees {
            if let Some(flaw) = tree.flaw {
                losses.push(Loss {
                    offset: None,
                    what: format!("stack tree of message {}: {flaw}", tree.token),
                });
            }
        }
        let newest = &report.history[report.history.len().saturating_sub(bounds::RECORDS)..];
        let history: Vec<Record> = newest.iter().map(clean_record).collect();
        let main = clean_main(&report.main);
        Self {
            zero_ns: zero(&report.meta, &main, &history),
            meta: clean_meta(&report.meta),
            history,
            main,
            anr: clean_anr(&report.anr),
            pending: clean_pending(&report.pending),
            queue: Queue::read(&report.pending),
            locks,
            threads,
            frames: frames.list,
            trees,
            features: report
                .features
                .iter()
                .take(bounds::FACTS)
                .map(|f| FeatureState { detail: clean(&f.detail, bounds::LINE), ..f.clone() })
                .collect(),
            figures: report
                .figures
                .iter()
                .take(bounds::FACTS)
                .map(|f| Figure { name: clean(&f.name, bounds::NAME), value: clean(&f.value, bounds::LINE) })
                .collect(),
            losses,
        }
    }

    /// The message that was running at the dump, if one was.
    pub fn running(&self) -> Option<&Running> {
        match &self.main {
            MainState::Running(running) => Some(running),
            _ => None,
        }
    }

    /// The stack tree of a message.
    pub fn tree(&self, token: u64) -> Option<&Tree> {
        self.trees.iter().rev().find(|tree| tree.token == token)
    }

    /// A figure of the process or the machine as a number.
    pub fn figure(&self, name: &str) -> Option<f64> {
        let figure = self.figures.iter().find(|figure| figure.name == name)?;
        figure.value.trim().parse().ok().filter(|value: &f64| value.is_finite())
    }

    pub(crate) fn wall_clock(&self) -> WallClock {
        WallClock(self.meta.dumped_at)
    }

    /// How far back the history reaches from the dump.
    pub(crate) fn history_span_ns(&self) -> u64 {
        self.history.first().map_or(0, |first| self.zero_ns.saturating_sub(first.start_ns))
    }
}

/// Whether a damage only says that a section is missing of which another damage says why.
fn told_before(what: &str, damage: &[Damage]) -> bool {
    let section = what.strip_prefix("section ").and_then(|rest| rest.strip_suffix(" is missing"));
    section.is_some_and(|tag| {
        let is_about = |d: &Damage| {
            d.what != what && d.what.strip_prefix("section ").is_some_and(|r| r.starts_with(tag))
        };
        damage.iter().take(bounds::DAMAGE).any(is_about)
    })
}

fn zero(meta: &Meta, main: &MainState, history: &[Record]) -> u64 {
    if meta.dumped_at.uptime_ns > 0 {
        return meta.dumped_at.uptime_ns;
    }
    match main {
        MainState::Running(running) => running.as_of_ns,
        _ => history.last().map_or(0, |last| last.start_ns.saturating_add(last.wall_ns)),
    }
}

fn clean_message(message: &Message) -> Message {
    Message {
        target: clean(&message.target, bounds::NAME),
        callback: clean(&message.callback, bounds::NAME),
        ..*message
    }
}

fn clean_record(record: &Record) -> Record {
    let cut = record.details.len().saturating_sub(bounds::DETAILS) as u32;
    Record {
        details: record
            .details
            .iter()
            .take(bounds::DETAILS)
            .map(|detail| Detail { message: detail.message.as_ref().map(clean_message), ..*detail })
            .collect(),
        dropped_details: record.dropped_details.saturating_add(cut),
        ..*record
    }
}

fn clean_main(main: &MainState) -> MainState {
    match main {
        MainState::Running(running) => {
            MainState::Running(Running { message: running.message.as_ref().map(clean_message), ..*running })
        }
        other => other.clone(),
    }
}

fn clean_anr(anr: &Anr) -> Anr {
    let system = match &anr.system {
        Some(SystemWord::NotResponding(words)) => Some(SystemWord::NotResponding(clean(words, bounds::LINE))),
        other => other.clone(),
    };
    let exit = anr
        .exit
        .as_ref()
        .map(|exit| ProcessExit { description: clean(&exit.description, bounds::LINE), ..*exit });
    Anr { system, exit, ..*anr }
}

fn clean_pending(pending: &Pending) -> Pending {
    let cut = pending.lines.len().saturating_sub(bounds::PENDING) as u32;
    Pending {
        source: match &pending.source {
            PendingSource::Unavailable(why) => PendingSource::Unavailable(clean(why, bounds::LINE)),
            known => known.clone(),
        },
        captured_ns: pending.captured_ns,
        lines: pending.lines.iter().take(bounds::PENDING).map(|line| clean(line, bounds::LINE)).collect(),
        dropped_lines: pending.dropped_lines.saturating_add(cut),
    }
}

/// The chain with its stacks as frames.
fn clean_locks(locks: &LockChain, symbols: &Symbols, frames: &mut Frames) -> LockChain {
    let mut holder = |holder: &LockHolder| LockHolder {
        name: clean(&holder.name, bounds::NAME),
        tid: holder.tid,
        stack: holder.stack.iter().take(bounds::DEPTH).map(|&l| frames.index(symbols, l)).collect(),
    };
    let waits = locks.waits.iter().take(bounds::LOCKS).map(|wait| LockWait {
        class: clean(&wait.class, bounds::NAME),
        of_class: clean(&wait.of_class, bounds::NAME),
        holder: wait.holder.as_ref().map(&mut holder),
    });
    LockChain { waits: waits.collect(), ..*locks }
}

/// The threads with their stacks as frames.
fn clean_threads(all: &OtherThreads, symbols: &Symbols, frames: &mut Frames) -> OtherThreads {
    let mut index = |stack: &Vec<u32>| {
        stack.iter().take(bounds::DEPTH).map(|&location| frames.index(symbols, location)).collect()
    };
    let threads = all.threads.iter().take(bounds::THREADS).map(|thread| OtherThread {
        name: clean(&thread.name, bounds::NAME),
        stack: thread.stack.as_ref().map(&mut index),
        ..*thread
    });
    OtherThreads { threads: threads.collect(), ..*all }
}

fn clean_meta(meta: &Meta) -> Meta {
    let mut clean_meta = meta.clone();
    clean_meta.producer = clean(&meta.producer, bounds::NAME);
    clean_meta.process.name = clean(&meta.process.name, bounds::NAME);
    clean_meta.process.abi = clean(&meta.process.abi, bounds::NAME);
    clean_meta.process.app_version = clean(&meta.process.app_version, bounds::NAME);
    clean_meta.process.device = clean(&meta.process.device, bounds::NAME);
    clean_meta.annotations = meta
        .annotations
        .iter()
        .take(bounds::FACTS)
        .map(|(name, value)| (clean(name, bounds::NAME), clean(value, bounds::LINE)))
        .collect();
    if let DumpReason::Requested(words) = &meta.reason {
        clean_meta.reason = DumpReason::Requested(clean(words, bounds::LINE));
    }
    clean_meta
}
