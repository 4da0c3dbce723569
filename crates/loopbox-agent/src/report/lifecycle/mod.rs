//! The life of a report, as a state machine without clock, thread, file or Java: events go in, actions come
//! out.
//!
//! A report is *collected* and written. Its first file is *on disk* before the recorder asks for anything
//! that may wait for the app. Listeners of first files are notified then. The report then *waits*, for a
//! bounded time: for the end of ART's own trace, for the pending queue and for the data of other threads.
//! Then it is *complete*: it is written again, and its listener is notified. Only one report is in progress:
//! when the next one is wanted, the present one is completed with what is known.
//!
//! A complete report of a signal or a hang is *followed* until its message has ended and the system has
//! answered whether the process does not respond. Until then each new piece of evidence is put into the file.
//! The evidence may *reclassify* the report.
//!
//! The worker executes the actions in order and reports their results, see [`Lifecycle::next_action`].

use super::digest::FileState;
use crate::session::Request;
use loopbox_format::model::{DumpReason, Named, Token, Uptime};
use std::path::PathBuf;

/// For how long the system is asked whether the process does not respond. The system takes traces for up to
/// twenty seconds before it reports that.
const ASK_SYSTEM_NS: u64 = 25_000_000_000;
/// How long after a question the system is asked again. Each question waits for another process, and the
/// worker wakes far more often: for every batch of stacks.
const ASK_AGAIN_NS: u64 = 500_000_000;
/// How long the reading of the queue waits for ART's own trace. Java code reads the queue and allocates, so
/// it may have to wait for a collection. ART 14 aborts when it dumps a thread that waits for a collection and
/// has a frame without compiled code (`art_method.cc`, `IsNative`).
const TRACE_NS: u64 = 2_000_000_000;

/// Why a report is written.
#[derive(Debug)]
pub(super) enum Trigger {
    /// SIGQUIT.
    Signal,
    /// A message has crossed its hang threshold.
    Hang,
    /// The app has asked for it.
    Request(Request),
}

impl Trigger {
    /// Why the report is written, for native listeners.
    pub(super) fn words(&self) -> &str {
        match self {
            Self::Signal => DumpReason::SigQuit.name(),
            Self::Hang => DumpReason::Hang.name(),
            Self::Request(request) => &request.reason,
        }
    }
}

/// A report's file.
#[derive(Debug, Clone)]
pub(super) struct ReportFile {
    /// The name without its ending: the same for all reports of one hang.
    pub(super) name: String,
    pub(super) path: PathBuf,
}

/// Compares names only, because the path follows from the name. Comparing paths takes them apart, which is 1
/// KB of code.
impl PartialEq for ReportFile {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for ReportFile {}

/// What is needed to follow a complete report, which means to add later evidence to its file.
#[derive(Debug)]
pub(super) struct FollowUp {
    pub(super) file: ReportFile,
    /// The message that ran; [`Token::NONE`] when none did.
    pub(super) message: Token,
    /// Whether to ask the system, because the report seems to be of an ANR that the system has not confirmed
    /// yet.
    pub(super) ask_system: bool,
}

/// How the worker asks the system whether it reports this process as not responding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AskSystem {
    No,
    /// Asks the system. If the system reports nothing, the worker asks again later.
    Yes,
    /// Asks the system for the last time. If the system reports nothing, this is its answer, and the worker
    /// does not ask again.
    LastTime,
}

/// The system's answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SystemAnswer {
    NotResponding,
    /// The system has been asked for long enough, and reports nothing.
    Nothing,
}

/// An event in the life of a report.
#[derive(Debug)]
pub(super) enum Event {
    /// A report is wanted now.
    Wanted(Trigger),
    /// The first file is on disk. `updated`: it is the complete file of an earlier report of the same hang,
    /// with the new evidence added.
    FirstWritten { updated: bool },
    /// The first file could not be written.
    FirstFailed,
    /// The sampler was asked about other threads. The deadline is `None` when the sampler need not or cannot
    /// be asked.
    ThreadsAsked { deadline_ns: Option<Uptime> },
    /// Whether ART writes its own trace now.
    TraceChecked { now_ns: Uptime, lasts: bool },
    /// The queue is in the report.
    QueueCaptured { now_ns: Uptime, threads_answered: bool, follow_up: FollowUp },
    /// Time has passed, or the worker was woken.
    Tick { now_ns: Uptime, threads_answered: bool, trace_lasts: bool },
    /// What [`Action::CheckEvidence`] has found.
    EvidenceChecked { message_ended: bool, system: Option<SystemAnswer> },
    /// The evidence is in the file, or the file is gone.
    EvidenceAdded { written: bool },
}

/// What the worker has to do.
#[derive(Debug)]
pub(super) enum Action {
    /// Collect the main thread's own data and write it; none of that waits for the app.
    WriteFirst,
    /// Forward SIGQUIT to ART's Signal Catcher.
    ForwardSignal,
    /// Notify the listeners that want each report's first file. That file is on disk, but the report is not
    /// complete.
    NotifyFirst,
    /// Ask the sampler about other threads. If a signal is to be forwarded, wait a moment for the answer
    /// first.
    AskThreads,
    /// Find out whether ART writes its own trace.
    CheckTrace,
    /// Put the pending queue into the report, and return how the report is to be followed.
    CaptureQueue,
    /// Write the report again, as far as it is known.
    WriteAgain,
    /// Put the sampler's answer into the report and write it for the last time.
    WriteComplete,
    /// Notify the thread that waits for the report.
    NotifyComplete(Trigger),
    /// Find out whether the message has ended, and ask the system.
    CheckEvidence { message: Token, ask: AskSystem },
    /// Put the evidence found last into this file.
    AddEvidence { file: ReportFile, message: Token },
    /// Notify the listener of this file again.
    NotifyReclassified { file: ReportFile, reason: &'static str },
    /// Record in this file that no more evidence will come.
    Close { file: ReportFile },
}

/// The state of the report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// The main thread's data is being collected.
    Collecting,
    /// The first file exists, and the recorder asks for the queue and the threads. It asks for the queue only
    /// when ART has written its trace, or at `trace_until_ns`.
    FirstOnDisk { updated: bool, deadline_ns: Option<Uptime>, trace_until_ns: Option<Uptime> },
    /// Only the threads' answer is missing.
    WaitingForThreads { deadline_ns: Uptime },
}

#[derive(Debug)]
struct Current {
    trigger: Trigger,
    stage: Stage,
}

/// What the listener is notified of when the message of a report has ended.
const ENDED: &str = "ended";

#[derive(Debug)]
struct Followed {
    file: ReportFile,
    /// [`Token::NONE`] when no message ran, or it has ended.
    message: Token,
    /// Until when the system is asked; `None` when it has answered, or need not be asked.
    ask_until_ns: Option<Uptime>,
    /// When the system was asked last; `None` before the first time.
    asked_ns: Option<Uptime>,
    /// The way in which the system is being asked now.
    asking: AskSystem,
    /// What the listener is notified of when the evidence is in the file.
    reason: &'static str,
}

impl Followed {
    /// How the system is asked at `now_ns`.
    fn next_question(&mut self, now_ns: Uptime) -> AskSystem {
        let Some(until_ns) = self.ask_until_ns else { return AskSystem::No };
        if now_ns >= until_ns {
            return AskSystem::LastTime;
        }
        if self.asked_ns.is_some_and(|asked_ns| now_ns.since(asked_ns) < ASK_AGAIN_NS) {
            return AskSystem::No;
        }
        self.asked_ns = Some(now_ns);
        AskSystem::Yes
    }

    /// Whether no more evidence can come.
    fn is_settled(&self) -> bool {
        self.message == Token::NONE && self.ask_until_ns.is_none()
    }

    /// What to do with the file when it is not followed any more; `None` when no more evidence could come
    /// anyway.
    fn close(self) -> Option<Action> {
        (!self.is_settled()).then_some(Action::Close { file: self.file })
    }
}

/// The report that is being written and the one that is followed.
#[derive(Debug, Default)]
pub(super) struct Lifecycle {
    current: Option<Current>,
    followed: Option<Followed>,
    actions: Vec<Action>,
}

impl Lifecycle {
    /// The next thing to do. To be called after each event until there is nothing left to do.
    pub(super) fn next_action(&mut self) -> Option<Action> {
        (!self.actions.is_empty()).then(|| self.actions.remove(0))
    }

    /// Why the report in progress is written.
    pub(super) fn trigger(&self) -> Option<&Trigger> {
        self.current.as_ref().map(|current| &current.trigger)
    }

    /// The file that may get more evidence.
    pub(super) fn followed_file(&self) -> Option<&ReportFile> {
        self.followed.as_ref().map(|followed| &followed.file)
    }

    /// The file to which a warning of the system is added: the followed file, unless its message has ended. A
    /// warning is about what main does now.
    pub(super) fn warned_file(&self) -> Option<&ReportFile> {
        Some(&self.followed.as_ref().filter(|followed| followed.reason != ENDED)?.file)
    }

    /// What may still be added to a complete file.
    pub(super) fn state_of(&self, file: &ReportFile) -> FileState {
        let more = self.followed.as_ref().is_some_and(|known| known.file == *file && !known.is_settled());
        if more { FileState::Open } else { FileState::Closed }
    }

    /// Until when a report waits for other threads' stacks.
    pub(super) fn deadline_ns(&self) -> Option<Uptime> {
        match self.current.as_ref()?.stage {
            Stage::WaitingForThreads { deadline_ns } => Some(deadline_ns),
            _ => None,
        }
    }

    /// Whether the report waits for the end of ART's own trace. Until then no other Java code may run for a
    /// report.
    pub(super) fn waits_for_trace(&self) -> bool {
        self.current.as_ref().is_some_and(|current| {
            matches!(current.stage, Stage::FirstOnDisk { trace_until_ns: Some(_), .. })
        })
    }

    /// Takes note of an event.
    pub(super) fn handle(&mut self, event: Event) {
        match event {
            Event::Wanted(trigger) => {
                self.complete();
                self.current = Some(Current { trigger, stage: Stage::Collecting });
                self.actions.push(Action::WriteFirst);
            }
            Event::FirstWritten { updated } => self.first_written(updated),
            Event::FirstFailed => {
                self.forward_signal();
                self.current = None;
            }
            Event::ThreadsAsked { deadline_ns: asked_until_ns } => {
                if let Some(Current { stage: Stage::FirstOnDisk { deadline_ns, .. }, .. }) = &mut self.current
                {
                    *deadline_ns = asked_until_ns;
                }
            }
            Event::TraceChecked { now_ns, lasts } => self.trace_checked(now_ns, lasts),
            Event::QueueCaptured { now_ns, threads_answered, follow_up } => {
                self.queue_captured(now_ns, threads_answered, follow_up);
            }
            Event::Tick { now_ns, threads_answered, trace_lasts } => {
                self.tick(now_ns, threads_answered, trace_lasts);
            }
            Event::EvidenceChecked { message_ended, system } => self.evidence_checked(message_ended, system),
            Event::EvidenceAdded { written } => self.evidence_added(written),
        }
    }

    fn first_written(&mut self, updated: bool) {
        let Some(current) = &mut self.current else { return };
        current.stage = Stage::FirstOnDisk { updated, deadline_ns: None, trace_until_ns: None };
        // No thread is asked any more while the system's own trace is written.
        self.actions.push(Action::AskThreads);
        self.forward_signal();
        // Of an updated file they have heard.
        self.actions.extend((!updated).then_some(Action::NotifyFirst));
        self.actions.push(Action::CheckTrace);
    }

    fn trace_checked(&mut self, now_ns: Uptime, lasts: bool) {
        let Some(Current { stage: Stage::FirstOnDisk { trace_until_ns, .. }, .. }) = &mut self.current else {
            return;
        };
        let until_ns = *trace_until_ns.get_or_insert(now_ns.plus(TRACE_NS));
        if !lasts || now_ns >= until_ns {
            *trace_until_ns = None;
            self.actions.push(Action::CaptureQueue);
        }
    }

    /// Forwards the signal, if the report is for one. The first file is written before that, because the
    /// system's own trace takes seconds, and the process may be gone after it.
    fn forward_signal(&mut self) {
        if let Some(Trigger::Signal) = self.trigger() {
            self.actions.push(Action::ForwardSignal);
        }
    }

    fn queue_captured(&mut self, now_ns: Uptime, threads_answered: bool, follow_up: FollowUp) {
        let Some(current) = &mut self.current else { return };
        let Stage::FirstOnDisk { updated, deadline_ns, .. } = current.stage else { return };
        if matches!(current.trigger, Trigger::Signal | Trigger::Hang) {
            let FollowUp { file, message, ask_system } = follow_up;
            let ask_until_ns = ask_system.then(|| now_ns.plus(ASK_SYSTEM_NS));
            let asked_ns = self.followed.as_ref().and_then(|last| last.asked_ns);
            let next = Followed { file, message, ask_until_ns, asked_ns, asking: AskSystem::No, reason: "" };
            let last = self.followed.take().filter(|last| last.file != next.file);
            self.actions.extend(last.and_then(Followed::close));
            self.followed = Some(next);
        }
        match deadline_ns.filter(|&deadline_ns| !threads_answered && now_ns < deadline_ns) {
            Some(deadline_ns) => {
                current.stage = Stage::WaitingForThreads { deadline_ns };
                // An earlier file of the same hang has threads already: it stays until this report has its
                // own.
                if !updated {
                    self.actions.push(Action::WriteAgain);
                }
            }
            None => self.complete(),
        }
    }

    fn tick(&mut self, now_ns: Uptime, threads_answered: bool, trace_lasts: bool) {
        if self.waits_for_trace() {
            // The system is asked by Java code, too.
            self.trace_checked(now_ns, trace_lasts);
            return;
        }
        if self.deadline_ns().is_some_and(|deadline_ns| threads_answered || now_ns >= deadline_ns) {
            self.complete();
        }
        if let Some(followed) = &mut self.followed {
            followed.asking = followed.next_question(now_ns);
            let (message, ask) = (followed.message, followed.asking);
            self.actions.push(Action::CheckEvidence { message, ask });
        }
    }

    fn evidence_checked(&mut self, message_ended: bool, system: Option<SystemAnswer>) {
        let Some(followed) = &mut self.followed else { return };
        if !message_ended && system.is_none() {
            let last_time = followed.asking == AskSystem::LastTime;
            if followed.message == Token::NONE && (last_time || followed.ask_until_ns.is_none()) {
                self.close_followed();
            } else if last_time {
                followed.ask_until_ns = None;
            }
            return;
        }
        if system.is_some() || followed.asking == AskSystem::LastTime {
            followed.ask_until_ns = None;
        }
        followed.reason = match system {
            Some(SystemAnswer::NotResponding) => "anr",
            _ if message_ended => ENDED,
            _ => "cause decided",
        };
        let add = Action::AddEvidence { file: followed.file.clone(), message: followed.message };
        if message_ended {
            followed.message = Token::NONE;
        }
        // The evidence goes into the complete file.
        self.complete();
        self.actions.push(add);
    }

    fn evidence_added(&mut self, written: bool) {
        let Some(followed) = &self.followed else { return };
        let (file, reason) = (followed.file.clone(), followed.reason);
        if !written || followed.is_settled() {
            self.followed = None;
        }
        if written {
            self.actions.push(Action::NotifyReclassified { file, reason });
        }
    }

    /// Stops following the file: it gets no more evidence.
    fn close_followed(&mut self) {
        self.actions.extend(self.followed.take().and_then(Followed::close));
    }

    /// Completes the report: it waits for nothing more.
    fn complete(&mut self) {
        if let Some(Current { trigger, .. }) = self.current.take() {
            self.actions.extend([Action::WriteComplete, Action::NotifyComplete(trigger)]);
        }
    }
}

#[cfg(test)]
mod tests;
