//! The worker thread: collects, and does what the life of a report requires.

use super::collector::Collector;
use super::digest::{self, FileState};
use super::lifecycle::{Action, AskSystem, Event, FollowUp, Lifecycle, ReportFile, SystemAnswer, Trigger};
use super::start_mark::StartMark;
use super::suspects_counts::SuspectsCounts;
use super::used_symbols::UsedSymbols;
use super::warned::{self, Warned};
use super::{
    file, kernel_view, listener, meta, outside, pending_queue, previous_runs, process_stats, switched_off,
    thread_query, unseen_message,
};
use crate::anr::evidence::{self, NewEvidence};
use crate::anr::native_stack::NativeCapture;
use crate::anr::tracker::{AnrTracker, Stall};
use crate::anr::{debugger, framework, native_stack, signal_catcher, sigquit, update_handler_feature};
use crate::jni::env::Env;
use crate::monitor::display_frames::FrameCollector;
use crate::sampler::sample::SampleReceiver;
use crate::session::Session;
use crate::session::display_frames::FrameReceiver;
#[cfg(debug_assertions)]
use crate::sys::fault;
use crate::sys::priority::BackgroundThread;
use crate::sys::{clock, log, memory, proc};
use loopbox_format::looper::summarize_queue;
use loopbox_format::model::{
    DumpReason, MainState, NativeStack, PendingSource, Report, Statistic, SystemWord, Token, Uptime,
};
use loopbox_recorder::{Activity, Front, Place, QueueFinding, QueueWatch};
use loopbox_store::{Outlives, REQUESTED, WorkerWriter};

/// A suspect message, and a report that is followed, are checked at least this often.
const CHECK_MS: u64 = 500;
/// How often it is checked whether ART has written its own trace.
const TRACE_CHECK_MS: i32 = 10;
/// How long the reading of a suspect's queue is put off while ART writes its own trace.
const TRACE_NS: u64 = 1_000_000_000;
/// How long a rest check is put off while ART writes its own trace.
const REST_CHECK_AGAIN_MS: u64 = 100;
/// A worker that has nothing to do sleeps until it is notified.
const INFINITE: i32 = -1;

pub(crate) struct Worker<'a> {
    session: &'a Session,
    collector: Collector<'a>,
    frames: FrameCollector,
    anr: AnrTracker,
    life: Lifecycle,
    thread: BackgroundThread,
    /// The report that is being written.
    draft: Option<Draft>,
    /// The last evidence found for the report that is followed.
    evidence: NewEvidence,
    seen_signals: u32,
    /// A suspect's queue is to be read. The reading waits while ART writes its own trace, but only until this
    /// uptime. `None` when no queue is to be read.
    suspects_queue_until_ns: Option<Uptime>,
    /// The suspect's figures, to be saved with its queue.
    suspects_stats: Vec<Statistic>,
    suspects_counts: SuspectsCounts,
    /// The version of the last native stack that a report has.
    seen_capture: u32,
    /// The last native stack, and its message.
    native: Option<(Token, NativeStack)>,
    /// How many reports have a name with a number.
    numbered: u32,
    /// How many reports were given up because memory was short.
    given_up: u32,
    start_mark: StartMark,
    warned: Warned,
    queue: QueueWatch,
    /// Whether to check the hook's place and the queue's front.
    wants_rest_check: bool,
}

/// A report that is not complete.
struct Draft {
    file: ReportFile,
    report: Report,
    used: UsedSymbols,
    main_thread: Option<kernel_view::Begun>,
    /// How long it took until the first file had its name.
    first_ns: u64,
    /// Whether the queue is in the report.
    has_queue: bool,
}

impl<'a> Worker<'a> {
    pub(crate) fn new(
        session: &'a Session,
        ring: WorkerWriter,
        samples: SampleReceiver,
        frames: Option<FrameReceiver>,
    ) -> Self {
        Self {
            session,
            collector: Collector::new(session, ring, samples),
            frames: FrameCollector::new(frames),
            anr: AnrTracker::new(),
            life: Lifecycle::default(),
            thread: BackgroundThread::of_this_thread(),
            draft: None,
            evidence: NewEvidence::default(),
            seen_signals: session.signals_before,
            suspects_queue_until_ns: None,
            suspects_stats: Vec::new(),
            suspects_counts: SuspectsCounts::default(),
            seen_capture: session.capture_before,
            native: None,
            numbered: 0,
            given_up: 0,
            start_mark: StartMark::new(session),
            warned: Warned::default(),
            queue: QueueWatch::new(session.settings.hang_threshold_ns),
            wants_rest_check: false,
        }
    }

    /// The body of the thread; it runs until the session ends.
    pub(crate) fn run(mut self, env: &mut Env<'_>) {
        match signal_catcher::find() {
            Ok(snapshot) => {
                let _ = snapshot.map(|snapshot| self.session.catcher_pauses.set(snapshot.pauses()));
            }
            Err(error) => {
                let what = "SIGQUIT is not forwarded, so the system's own trace is missing";
                log::failed(what, b"", &error);
            }
        }
        self.collector.save_meta();
        let session = self.session;
        let previous = session.previous_runs.get_or_init(|| previous_runs::recover(env, session));
        // First: a listener of the app may wait for it.
        listener::previous_runs_read(session);
        for path in &previous.reports {
            listener::notify(session, path, "recovered");
        }
        if let Some(path) = previous.reports.last() {
            file::delete_old(session, path);
        }
        // Not before: the sampler waits for what earlier processes left.
        while !session.shared.stopped() {
            self.thread.hurry(self.is_awaited());
            if session.kill_switch.is_off() {
                switched_off::end(env, session);
                break;
            }
            self.take_samples();
            self.frames.take(env, session);
            if let Some(frames) = session.frames.as_ref().filter(|_| self.frames.is_to_be_saved()) {
                self.collector.save_frames(frames);
            }
            if !self.life.waits_for_trace() {
                self.collector.long.notify_java(env, self.frames.is_awaited());
            }
            self.collector.save_changes();
            let signals = sigquit::count();
            // One that was counted after the end of the session is the next session's.
            if signals != self.seen_signals && !session.shared.stopped() {
                self.seen_signals = signals;
                if self.is_granted() {
                    self.drive(env, Event::Wanted(Trigger::Signal));
                } else {
                    sigquit::forward_waiting();
                }
            }
            // A report that waits for the end of ART's trace comes first. It has two seconds.
            if !self.life.waits_for_trace() {
                for request in session.take_requests() {
                    self.drive(env, Event::Wanted(Trigger::Request(request)));
                }
            }
            if !(self.life.waits_for_trace() && self.anr.has_suspect()) {
                match self.anr.check(env, session) {
                    Stall::Nothing => {}
                    Stall::Suspect => self.save_suspect(env),
                    Stall::Hang => self.drive(env, Event::Wanted(Trigger::Hang)),
                }
            }
            self.heed_warnings(env);
            self.save_suspects_queue(env);
            self.check_rest(env);
            self.collector.check_hook(env);
            let threads_answered = session.thread_queries.is_complete();
            let now_ns = clock::now_ns();
            let trace_lasts = self.life.waits_for_trace() && signal_catcher::writes_trace();
            self.drive(env, Event::Tick { now_ns, threads_answered, trace_lasts });
            self.start_mark.check(now_ns);
            session.wait_for_work(self.wait_ms());
        }
        // What was being written is given up: nothing may become of it any more. What is on the disk stays as
        // it is.
        sigquit::forward_waiting();
        self.start_mark.remove();
        if let Err(error) = session.reader.discard() {
            log::failed("the ring file could not be deleted", b"", &error);
        }
    }

    /// Whether the last signal gets a report. A signal that the process has sent to itself counts as a
    /// request of the app: it may send one each time that it is notified of a report.
    fn is_granted(&self) -> bool {
        let own = sigquit::sender().pid == std::process::id();
        !own || self.session.allowance.take(clock::now_ns())
    }

    /// Whether a report is wanted or being made, or may be at any moment. A process that hangs may be killed
    /// soon, and the system waits for the answer to SIGQUIT.
    fn is_awaited(&self) -> bool {
        let suspect = self.session.stall.snapshot().suspect;
        suspect
            || self.draft.is_some()
            || sigquit::count() != self.seen_signals
            || self.session.has_requests()
    }

    /// How long the worker may sleep.
    fn wait_ms(&self) -> i32 {
        if self.life.waits_for_trace() || self.suspects_queue_until_ns.is_some() {
            return TRACE_CHECK_MS;
        }
        let follows = self.life.followed_file().is_some() || self.anr.has_suspect();
        let check_ms =
            follows.then(|| CHECK_MS.min(self.session.settings.hang_threshold_ns / 8_000_000).max(1));
        let left_ms = |deadline_ns: Uptime| deadline_ns.since(clock::now_ns()) / 1_000_000 + 1;
        let report_ms = self.life.deadline_ns().map(left_ms);
        let start_ms = self.start_mark.next_check_ns().map(left_ms);
        let long_ms = self.collector.long.wait_ms();
        let next_ms = self.queue.next_check_ns().map(|at_ns| left_ms(at_ns).max(REST_CHECK_AGAIN_MS));
        let rest_ms = if self.wants_rest_check { Some(REST_CHECK_AGAIN_MS) } else { next_ms };
        [rest_ms, check_ms, report_ms, start_ms, self.frames.wait_ms(), long_ms, self.collector.wait_ms()]
            .into_iter()
            .flatten()
            .min()
            .map_or(INFINITE, |ms| ms as i32)
    }

    /// Passes on an event, and performs the resulting actions.
    fn drive(&mut self, env: &mut Env<'_>, event: Event) {
        self.life.handle(event);
        while let Some(action) = self.life.next_action() {
            if self.session.shared.stopped() {
                return;
            }
            if let Some(event) = self.perform(env, action) {
                self.life.handle(event);
            }
        }
    }

    fn perform(&mut self, env: &mut Env<'_>, action: Action) -> Option<Event> {
        match action {
            Action::WriteFirst => return Some(self.write_first(env)),
            Action::ForwardSignal => sigquit::forward_waiting(),
            Action::NotifyFirst => {
                if let (Some(draft), Some(trigger)) = (&self.draft, self.life.trigger()) {
                    listener::notify_first(self.session, &draft.file.path, trigger.words());
                }
            }
            Action::AskThreads => {
                if memory::is_short() {
                    return Some(Event::ThreadsAsked { deadline_ns: None });
                }
                let report = &self.draft.as_ref()?.report;
                let deadline_ns = thread_query::ask(self.session, report);
                if deadline_ns.is_some() && matches!(self.life.trigger(), Some(Trigger::Signal)) {
                    thread_query::wait_before_trace(self.session);
                }
                return Some(Event::ThreadsAsked { deadline_ns });
            }
            Action::CheckTrace => {
                let lasts = signal_catcher::writes_trace();
                return Some(Event::TraceChecked { now_ns: clock::now_ns(), lasts });
            }
            Action::CaptureQueue => return self.capture_queue(env),
            Action::WriteAgain => self.write_again(FileState::First, Outlives::Process),
            Action::WriteComplete => self.write_complete(),
            Action::NotifyComplete(trigger) => self.notify_complete(trigger),
            Action::CheckEvidence { message, ask } => return Some(self.check_evidence(env, message, ask)),
            Action::AddEvidence { file, message } => {
                return Some(Event::EvidenceAdded { written: self.add_evidence(&file, message) });
            }
            Action::NotifyReclassified { file, reason } => listener::notify(self.session, &file.path, reason),
            Action::Close { file } => {
                file::rewrite(self.session, &file, FileState::Closed, &mut |_| ());
            }
        }
        None
    }

    fn take_samples(&mut self) {
        // An answer of the sampler that is under way has the location numbers of the time of the question.
        self.collector.take_samples(self.draft.is_none());
    }

    /// Checks what only Java can see of a main thread at rest: the hook's place, and the front of the queue.
    /// Not while ART writes its own trace.
    fn check_rest(&mut self, env: &mut Env<'_>) {
        let shared = &self.session.shared;
        self.wants_rest_check |= shared.take_rest_check();
        let now_ns = clock::now_ns();
        let due = self.queue.next_check_ns().is_some_and(|at_ns| now_ns >= at_ns);
        if !(self.wants_rest_check || due) || signal_catcher::writes_trace() {
            return;
        }
        let asked = std::mem::take(&mut self.wants_rest_check);
        if shared.is_paused() {
            self.queue.forget();
            return;
        }
        if asked {
            debugger::is_attached(env, self.session);
            unseen_message::check_hook(env, false);
        }
        let token = shared.main.token();
        let Some(front) = pending_queue::front(env, &self.session.settings) else {
            self.queue.forget();
            return;
        };
        if front == Front::Free {
            self.anr.is_free();
        }
        let waits = matches!(shared.main.activity(), Activity::Idle { .. })
            && matches!(proc::main_place(), Place::Queue | Place::Unknown)
            && shared.main.token() == token;
        if let QueueFinding::Hang(held_ns) = self.queue.check(now_ns, front, waits)
            && self.anr.is_held_back(env, self.session, token, held_ns)
        {
            self.drive(env, Event::Wanted(Trigger::Hang));
        }
    }

    /// Saves what is known of the suspect for the next process, if this one is killed before it can write a
    /// report.
    fn save_suspect(&mut self, env: &mut Env<'_>) {
        self.collector.take_stack(env);
        let (report, _) = self.collector.snapshot(env);
        self.anr.named(self.session, &report);
        // The name first: the queue may take a while, and the process may be killed meanwhile.
        self.collector.save_running_name(&report);
        self.suspects_stats.clear();
        self.suspects_stats.extend(outside::messages_around(self.session, &report.main));
        self.suspects_counts.begin(&report.main, &mut self.suspects_stats);
        if self.session.settings.traces_hangs
            && let Some(name) = AnrTracker::file_name(&report, None)
        {
            listener::suspect(self.session, &name);
        }
        self.suspects_queue_until_ns = Some(clock::now_ns().plus(TRACE_NS));
        self.save_suspects_queue(env);
    }

    /// Handles the system's warnings of an ANR of the app. Where a warning may be about this process, saves
    /// in the ring what a report would have now. If there is already a report of the same hang, adds the
    /// warning to it.
    fn heed_warnings(&mut self, env: &mut Env<'_>) {
        let session = self.session;
        let came = self.warned.take(session);
        let now_ns = clock::now_ns();
        let not_now = self.life.waits_for_trace() || session.shared.is_paused();
        // In this order: whether the process is traced is read from a file, and mostly no warning waits.
        if not_now || !self.warned.waits(now_ns) || proc::is_traced() {
            return;
        }
        // The queue is read once, and a message at each turn: the stall monitor causes one when it suspects
        // it.
        let is_read = came && !signal_catcher::writes_trace();
        let front = if is_read { pending_queue::front(env, &session.settings) } else { None };
        if !warned::is_late(session, front) || framework::is_debugged(env) {
            return;
        }
        let new = self.warned.is_late(now_ns);
        let concerns = self.warned.concerns(now_ns).to_vec();
        // First, because the rest may take a while.
        self.collector.save_warnings(&concerns);
        for warning in concerns.iter().rev().take(new).rev() {
            listener::warn(session, warning);
        }
        self.save_suspect(env);
        match (&mut self.draft, self.life.warned_file()) {
            (Some(draft), _) => draft.report.anr_warnings = concerns,
            (None, Some(file)) => {
                let state = self.life.state_of(file);
                file::rewrite(session, file, state, &mut |known| known.warnings.clone_from(&concerns));
            }
            (None, None) => {}
        }
    }

    /// Saves the suspect's queue and figures, which Java code reads. The reading is put off for up to a
    /// second while ART writes its own trace.
    fn save_suspects_queue(&mut self, env: &mut Env<'_>) {
        let Some(until_ns) = self.suspects_queue_until_ns else { return };
        if signal_catcher::writes_trace() && clock::now_ns() < until_ns {
            return;
        }
        self.suspects_queue_until_ns = None;
        debugger::is_attached(env, self.session);
        let (queue, mut statistics) = pending_queue::capture(env, &self.session.settings);
        self.collector.save_queue(&queue);
        self.suspects_counts.collected(queue.captured_ns, &statistics);
        let mut stats = process_stats::read(self.session.frozen_now(), self.session.art.get());
        stats.append(&mut statistics);
        stats.append(&mut self.suspects_stats);
        self.collector.save_stats(&stats);
    }

    /// Writes the main thread's own data into a file. Nothing here waits for the app, or for the disk to
    /// store it.
    fn write_first(&mut self, env: &mut Env<'_>) -> Event {
        let session = self.session;
        let (reason, named_by_hang) = match self.life.trigger() {
            Some(Trigger::Signal) => (DumpReason::SigQuit, true),
            Some(Trigger::Hang) => (DumpReason::Hang, true),
            Some(Trigger::Request(request)) => (DumpReason::Requested(request.reason.clone()), false),
            None => return Event::FirstFailed,
        };
        session.kill_switch.check_now(clock::now_ns());
        if session.kill_switch.is_off() {
            // The next turn of this thread ends the recording.
            session.wake_worker();
            return Event::FirstFailed;
        }
        if !memory::has_room() {
            self.given_up += 1;
            log::warn("a report is given up: memory is short");
            return Event::FirstFailed;
        }
        #[cfg(debug_assertions)]
        fault::disk_stands_still();
        if let Some(Trigger::Signal) = self.life.trigger() {
            // It answers those that came before it was the worker's turn, too.
            self.seen_signals = sigquit::count();
        }
        // First of all: it is about this moment.
        let (main_thread, begun) = kernel_view::begin(session.shared.main.token(), self.take_capture());
        self.take_samples();
        self.frames.take(env, session);
        self.collector.take_stack(env);
        let (mut report, used) = self.collector.snapshot(env);
        let begun = begun.of(&report.main);
        report.main_thread = begun.as_ref().map(|_| main_thread).unwrap_or_default();
        report.meta = meta::of(session);
        report.meta.reason = reason;
        report.breadcrumbs = session.breadcrumbs.list();
        update_handler_feature(session);
        unseen_message::check_hook(env, false);
        report.features = session.features.list();
        unseen_message::add_gap(session, &mut report);
        report.statistics = process_stats::read(session.frozen_now(), session.art.get());
        report.statistics.extend(outside::messages_around(session, &report.main));
        self.suspects_counts.add_memory(&mut report);
        for (name, count) in
            [("requests.refused", session.allowance.refused()), ("reports.given_up", self.given_up)]
        {
            if count > 0 {
                report.statistics.push(Statistic { name: name.to_owned(), value: count.to_string() });
            }
        }
        self.anr.classify(env, session, &mut report);
        report.anr_warnings = self.warned.concerns(clock::now_ns()).to_vec();
        report.digest = digest::lines(&report, FileState::First, session.settings.digest_annotations);
        let held_back = self.anr.held_back(session, &report).map(|(token, _)| token);
        let name = AnrTracker::file_name(&report, held_back).filter(|_| named_by_hang).unwrap_or_else(|| {
            self.numbered += 1;
            let (pid, ms) = (report.meta.process.pid, report.meta.dumped_at.uptime_ns.0 / 1_000_000);
            let kind = if named_by_hang { "-" } else { REQUESTED };
            format!("loopbox-{pid}-{ms}{kind}{}", self.numbered)
        });
        // What the file of an earlier signal has, and this report not yet, stays until this one is complete.
        let known = self.life.followed_file().filter(|file| file.name == name).cloned();
        let known = known.filter(|file| file::put_evidence(session, file, &report));
        let updated = known.is_some();
        let path =
            known.map(|file| file.path).or_else(|| file::write(session, &name, &report, Outlives::Process));
        let Some(path) = path else { return Event::FirstFailed };
        let first_ns = clock::now_ns().since(report.meta.dumped_at.uptime_ns);
        file::delete_old(session, &path);
        let file = ReportFile { name, path };
        self.draft = Some(Draft { file, report, used, main_thread: begun, first_ns, has_queue: false });
        Event::FirstWritten { updated }
    }

    /// What the handler of the report's signal captured of the main thread; nothing when the signal came to
    /// another thread.
    fn take_capture(&mut self) -> Option<NativeCapture> {
        let Some(Trigger::Signal) = self.life.trigger() else { return None };
        let capture = native_stack::newer_than(self.seen_capture)?;
        self.seen_capture = capture.version;
        Some(capture)
    }

    fn capture_queue(&mut self, env: &mut Env<'_>) -> Option<Event> {
        self.add_native_stack();
        let draft = self.draft.as_mut()?;
        draft.has_queue = true;
        let report = &mut draft.report;
        let (pending, mut statistics) = pending_queue::capture(env, &self.session.settings);
        if outside::is_over(self.session, &report.main) {
            pending_queue::forget_waits(&mut statistics);
        }
        self.suspects_counts.add_collections(&report.main, pending.captured_ns, &mut statistics);
        report.pending = pending;
        report.statistics.append(&mut statistics);
        self.anr.add_queue(report);
        let polling = summarize_queue(&report.pending).polling;
        if outside::is_doubtful(&report.main, report.anr.overdue_ns, polling) {
            // Where the queue does not say whether main waits, the kernel does.
            if let Some(found) = outside::find(self.session, polling) {
                report.main = MainState::Outside(found);
                unseen_message::add_gap(self.session, report);
            }
        }
        let (message, ask_system) = self.anr.follow_up(self.session, report);
        let follow_up = FollowUp { file: draft.file.clone(), message, ask_system };
        let threads_answered = self.session.thread_queries.is_complete();
        Some(Event::QueueCaptured { now_ns: clock::now_ns(), threads_answered, follow_up })
    }

    /// Adds the native stack. When a report for a hang replaces the report for a signal of the same message,
    /// the stack of that signal is kept, with its time.
    fn add_native_stack(&mut self) {
        let Some(Draft { report, main_thread, .. }) = &mut self.draft else { return };
        let earlier =
            self.native.take().filter(|(of, _)| *of != Token::NONE && *of == outside::token(&report.main));
        let native = main_thread.as_ref().and_then(kernel_view::Begun::native_stack);
        report.main_thread.native = native.or(earlier.map(|(_, stack)| stack));
    }

    /// Writes the report again, unless the app has taken the file meanwhile.
    fn write_again(&mut self, state: FileState, outlives: Outlives) {
        let Some(Draft { file, report, .. }) = &mut self.draft else { return };
        report.digest = digest::lines(report, state, self.session.settings.digest_annotations);
        file::write_again(self.session, file, report, outlives);
    }

    fn write_complete(&mut self) {
        if self.draft.as_ref().is_some_and(|draft| !draft.has_queue) {
            self.add_native_stack();
        }
        let Some(draft) = &mut self.draft else { return };
        if !draft.has_queue {
            const WHY: &str = "ART wrote its own trace until the next report was wanted";
            draft.report.pending.source = PendingSource::Unavailable(WHY.to_owned());
        }
        // Main may have shown meanwhile whether the hook is in its place.
        unseen_message::settle_doubt(self.session, &mut draft.report);
        thread_query::take(self.session, &mut draft.report, &mut draft.used);
        // What main has done after its message is no progress of that.
        let begun =
            draft.main_thread.as_ref().filter(|_| !outside::is_over(self.session, &draft.report.main));
        draft.report.main_thread.progress = begun.and_then(kernel_view::Begun::progress);
        let value = draft.first_ns.to_string();
        draft.report.statistics.push(Statistic { name: "report.first_file_ns".to_owned(), value });
        let value = self.thread.low().to_string();
        draft.report.statistics.push(Statistic { name: "worker.nice".to_owned(), value });
        let state = self.life.state_of(&draft.file);
        // The only flush of a report: the signal that it answers has been forwarded.
        self.write_again(state, Outlives::PowerLoss);
    }

    fn notify_complete(&mut self, trigger: Trigger) {
        let Some(Draft { file: ReportFile { path, .. }, mut report, .. }) = self.draft.take() else { return };
        self.native = report.main_thread.native.take().map(|stack| (outside::token(&report.main), stack));
        listener::notify(self.session, &path, trigger.words());
        if let Trigger::Request(request) = trigger {
            request.finish(&path);
        }
    }

    fn check_evidence(&mut self, env: &mut Env<'_>, message: Token, ask: AskSystem) -> Event {
        let end = evidence::end_of(self.session, message);
        let system = match ask {
            AskSystem::No => None,
            AskSystem::Yes => evidence::ask_system(env, false),
            AskSystem::LastTime => evidence::ask_system(env, true),
        };
        let answer = system.as_ref().map(|system| match system {
            SystemWord::NotResponding(_) => SystemAnswer::NotResponding,
            _ => SystemAnswer::Nothing,
        });
        let message_ended = end.is_some();
        self.evidence = NewEvidence { ended_ns: end.and_then(|end| end.after_ns), system };
        Event::EvidenceChecked { message_ended, system: answer }
    }

    /// Puts the newest evidence into the file. A message that runs on may get another report, which needs the
    /// evidence, too.
    fn add_evidence(&mut self, file: &ReportFile, message: Token) -> bool {
        let mut evidence = std::mem::take(&mut self.evidence);
        if evidence.ended_ns.is_none() {
            self.anr.keep_system_answer(message, evidence.system.as_ref());
        }
        let state = self.life.state_of(file);
        file::rewrite(self.session, file, state, &mut |known| evidence.add_to(&mut known.anr))
    }
}
