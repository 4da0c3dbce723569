//! The worker thread: merges stacks into trees, keeps the ring's slow parts up to date, writes reports.

use super::used_symbols::{UsedSymbols, collect_used};
use super::{
    digest, listener, meta, pending_queue, previous_runs, process_stats, running_message, thread_query,
};
use crate::anr::tracker::{AnrTracker, Stall};
use crate::anr::{sigquit, update_handler_feature};
use crate::sampler::sample::SampleReceiver;
use crate::session::{Request, Session};
use crate::sys::{clock, log};
use jni::Env;
use loopbox_format::model::{DumpReason, FeatureState, Figure, MainState, Report, StackSource, StackTree};
use loopbox_format::report::encode;
use loopbox_recorder::{Sample, StackTreeBuilder};
use loopbox_store::{ReportPolicy, WorkerWriter, disarm, enforce, write_report};
use ringbuf::traits::Consumer;
use std::collections::VecDeque;
use std::fs;
use std::path::{Path, PathBuf};

/// The stacks of a running message are saved in the ring at most this often.
const SAVE_EVERY_NS: u64 = 500_000_000;
/// A worker that has nothing to do sleeps until it is notified.
const INFINITE: i32 = -1;

pub(crate) struct Worker<'a> {
    session: &'a Session,
    ring: WorkerWriter,
    samples: SampleReceiver,
    growing: StackTreeBuilder,
    kept: VecDeque<StackTree>,
    /// CPU time of the main thread at the first sample of the growing tree, and at its last.
    cpu: Option<(u64, u64)>,
    saved_at_ns: u64,
    /// What `Annotations::changes` was when they were saved in the ring.
    saved_annotations: u32,
    saved_features: Vec<FeatureState>,
    seen_signals: u32,
    written: u32,
    anr: AnrTracker,
    unfinished: Option<Unfinished>,
}

/// A report that is on disk and not complete yet.
struct Unfinished {
    path: PathBuf,
    name: String,
    report: Report,
    used: UsedSymbols,
    /// The file has an earlier report of the same hang.
    again: bool,
    /// How long it took until the first file had its name.
    first_ns: u64,
    done: Done,
}

/// Who is notified of a report when it is complete.
enum Done {
    /// The listener, with this reason.
    Notify(&'static str),
    /// The app, which asked for it, and the listener.
    Answer(Request),
}

impl<'a> Worker<'a> {
    pub(crate) fn new(session: &'a Session, ring: WorkerWriter, samples: SampleReceiver) -> Self {
        Self {
            session,
            ring,
            samples,
            growing: StackTreeBuilder::new(&session.settings.recorder.sampling),
            kept: VecDeque::new(),
            cpu: None,
            saved_at_ns: 0,
            saved_annotations: 0,
            saved_features: Vec::new(),
            seen_signals: session.signals_before,
            written: 0,
            anr: AnrTracker::new(),
            unfinished: None,
        }
    }

    /// The body of the thread: until the session ends.
    pub(crate) fn run(mut self, env: &mut Env<'_>) {
        self.save_meta();
        let session = self.session;
        let previous = session.previous_runs.get_or_init(|| {
            let previous = previous_runs::recover(env, &session.settings);
            disarm(&session.settings.directory, session.libart, &previous.ended_in_stop);
            previous
        });
        for path in &previous.reports {
            listener::notify(env, path, "recovered");
        }
        if let Some(path) = previous.reports.last() {
            self.tidy_directory(path);
        }
        while !self.session.shared.stopped() {
            self.take_samples();
            self.save_features();
            if self.session.annotations.changes() != self.saved_annotations {
                self.save_meta();
            }
            let signals = sigquit::count();
            if signals != self.seen_signals {
                self.seen_signals = signals;
                self.answer_signal(env);
            }
            for request in self.session.take_requests() {
                self.write(env, DumpReason::Requested(request.reason.clone()), Done::Answer(request));
            }
            let wait_ms = self.follow_hangs(env);
            self.session.wait_for_work(wait_ms);
        }
        self.finish(env);
        if let Err(error) = self.session.reader.discard() {
            log::warn(&format!("the ring file could not be deleted: {error}"));
        }
    }

    /// Our report first: the system's own trace takes seconds, and the process may be gone after it.
    fn answer_signal(&mut self, env: &mut Env<'_>) {
        let first = self.write_first(env, DumpReason::SigQuit, Done::Notify("sigquit"));
        if let Err(error) = sigquit::forward() {
            log::warn(&format!(
                "SIGQUIT could not be forwarded to ART's Signal Catcher, so the system's own trace is missing: {error}"
            ));
        }
        self.complete(env, first);
    }

    /// Hangs that start, last and end. Returns how long to sleep after it.
    fn follow_hangs(&mut self, env: &mut Env<'_>) -> i32 {
        match self.anr.check(env, self.session) {
            Stall::Nothing => {}
            Stall::Suspect => self.save_suspect(env),
            Stall::Hang => self.write(env, DumpReason::Hang, Done::Notify("hang")),
        }
        let evidence = self.anr.new_evidence(env, self.session);
        let left_ns = self.unfinished.as_ref().map(|_| self.session.thread_queries.left_ns());
        if evidence.is_some() || left_ns == Some(0) {
            self.finish(env);
        }
        let updated = evidence.and_then(|evidence| self.anr.add_evidence(self.session, evidence));
        if let Some((path, reason)) = updated {
            listener::notify(env, &path, reason);
        }
        let left_ms = self.unfinished.as_ref().and(left_ns).map(|ns| ns / 1_000_000 + 1);
        let waits = [self.anr.wait_ms(self.session), left_ms];
        waits.into_iter().flatten().min().map_or(INFINITE, |ms| ms as i32)
    }

    /// For the next process, if this one is killed before it can write a report.
    fn save_suspect(&mut self, env: &mut Env<'_>) {
        let mut report = self.session.reader.snapshot(clock::now_ns()).report;
        self.put_trees(&mut report);
        self.name_running(env, &mut report);
        self.anr.named(self.session, &report);
        if let MainState::Running(running) = &report.main {
            self.log_refused("the running message's name", |ring, _| ring.running(running));
        }
        let pending = pending_queue::capture(env, &self.session.settings.pending);
        self.log_refused("the queue", |ring, _| ring.pending(&pending));
        let stats = process_stats::read(self.session.stall.snapshot().frozen, self.session.art.get());
        self.log_refused("the process statistics", |ring, _| ring.figures(&stats));
    }

    fn take_samples(&mut self) {
        let generation = self.session.symbols.generation();
        while let Some(sample) = self.samples.try_pop() {
            if sample.token != self.growing.token() {
                self.finish_tree();
                self.growing.begin(sample.token, sample.start_ns, sample.source);
                self.cpu = None;
            }
            self.growing.missed(sample.missed);
            if sample.generation == generation {
                self.growing.push(&Sample {
                    frames: sample.stack.locations(),
                    at_ns: sample.at_ns,
                    stop_ns: sample.stop_ns,
                    interval_ns: sample.interval_ns,
                });
            } else {
                self.growing.missed(1);
            }
            if let Some(now) = sample.cpu_ns {
                self.cpu = Some((self.cpu.map_or(now, |(first, _)| first), now));
            }
        }
        if self.growing.token() == 0 {
            return;
        }
        if self.session.shared.token() == self.growing.token() {
            self.session.shared.advise(self.growing.token(), self.growing.interval_ns());
            self.save_running();
        } else {
            self.finish_tree();
        }
        // An answer that is under way has the location numbers of the time of the question.
        if self.unfinished.is_none() {
            self.session.symbols.compact(self.kept.make_contiguous(), &mut self.growing);
        }
    }

    /// The message of the growing tree has ended.
    fn finish_tree(&mut self) {
        if self.growing.token() == 0 {
            return;
        }
        if self.growing.is_worth_keeping() {
            let tree = self.growing.tree();
            let symbols = self.session.symbols.symbols();
            self.log_refused("a stack tree", |ring, _| ring.keep_tree(&symbols, &tree).map(|_| ()));
            while self.kept.len() >= self.session.settings.recorder.sampling.trees as usize {
                self.kept.pop_front();
            }
            self.kept.push_back(tree);
        }
        self.log_refused("the end of a message", |ring, _| ring.clear_running_tree());
        self.growing.begin(0, 0, StackSource::Art);
        self.cpu = None;
    }

    /// For the next process, if this one is killed in the middle of the message.
    fn save_running(&mut self) {
        let now = clock::now_ns();
        if now.saturating_sub(self.saved_at_ns) < SAVE_EVERY_NS {
            return;
        }
        self.saved_at_ns = now;
        let tree = self.growing.tree();
        let symbols = self.session.symbols.symbols();
        self.log_refused("the running message's stacks", |ring, _| {
            ring.running_tree(&symbols, &tree).map(|_| ())
        });
    }

    /// The header of reports, with the annotations.
    fn save_meta(&mut self) {
        self.saved_annotations = self.session.annotations.changes();
        self.log_refused("the header", |ring, session| ring.meta(&meta::of(session)));
    }

    fn save_features(&mut self) {
        let features = self.session.features.list();
        if features != self.saved_features {
            self.log_refused("the features", |ring, _| ring.features(&features));
            self.saved_features = features;
        }
    }

    fn log_refused(
        &mut self,
        what: &str,
        write: impl FnOnce(&mut WorkerWriter, &Session) -> Result<(), loopbox_store::StoreError>,
    ) {
        if let Err(error) = write(&mut self.ring, self.session) {
            log::warn(&format!("{what} could not be saved in the ring: {error}"));
        }
    }

    /// Writes a report of what is there; what takes longer to find out follows.
    fn write(&mut self, env: &mut Env<'_>, reason: DumpReason, done: Done) {
        let first = self.write_first(env, reason, done);
        self.complete(env, first);
    }

    /// Adds what may have to wait for the app, and asks for what takes longer; the complete report replaces the first file.
    fn complete(&mut self, env: &mut Env<'_>, first: Option<Unfinished>) {
        let Some(mut first) = first else { return };
        let asked = thread_query::ask(self.session, &first.report);
        let report = &mut first.report;
        report.pending = pending_queue::capture(env, &self.session.settings.pending);
        self.anr.add_queue(report);
        let finished = !asked || self.session.thread_queries.left_ns() == 0;
        if !finished && !first.again {
            self.replace(&mut first);
        }
        self.anr.report_written(&first.name, &first.path, &first.report);
        self.unfinished = Some(first);
        if finished {
            self.finish(env);
        }
    }

    /// Ends the report that is not complete, with what is known by now.
    fn finish(&mut self, env: &mut Env<'_>) {
        let Some(mut open) = self.unfinished.take() else { return };
        thread_query::take(self.session, &mut open.report, &mut open.used);
        let value = open.first_ns.to_string();
        open.report.figures.push(Figure { name: "report.first_file_ns".to_owned(), value });
        self.replace(&mut open);
        match open.done {
            Done::Notify(why) => listener::notify(env, &open.path, why),
            Done::Answer(Request { reason, done }) => {
                let _ = done.send(open.path.clone());
                listener::notify(env, &open.path, &reason);
            }
        }
    }

    /// Writes the report again, unless the app has taken the file meanwhile.
    fn replace(&self, open: &mut Unfinished) {
        if open.path.exists() {
            open.report.digest = digest::lines(&open.report);
            self.put(&open.name, &open.report);
        }
    }

    /// Writes the main thread's own data to disk. Nothing here waits for the app.
    fn write_first(&mut self, env: &mut Env<'_>, reason: DumpReason, done: Done) -> Option<Unfinished> {
        self.finish(env);
        self.take_samples();
        let mut report = self.session.reader.snapshot(clock::now_ns()).report;
        report.meta = meta::of(self.session);
        report.meta.reason = reason;
        update_handler_feature(self.session);
        report.features = self.session.features.list();
        let used = self.put_trees(&mut report);
        self.name_running(env, &mut report);
        report.figures = process_stats::read(self.session.stall.snapshot().frozen, self.session.art.get());
        report.anr = self.anr.classify(env, self.session, &report);
        report.digest = digest::lines(&report);

        let follows = matches!(report.meta.reason, DumpReason::SigQuit | DumpReason::Hang);
        let name = AnrTracker::file_name(&report).filter(|_| follows).unwrap_or_else(|| {
            self.written += 1;
            format!(
                "loopbox-{}-{}-{}",
                report.meta.process.pid,
                report.meta.dumped_at.uptime_ns / 1_000_000,
                self.written
            )
        });
        // What the file of an earlier signal has, and this report not yet, stays until this one is complete.
        let earlier = self.anr.update_evidence(self.session, &name, &report.anr);
        let again = earlier.is_some();
        let path = earlier.or_else(|| self.put(&name, &report))?;
        let first_ns = clock::now_ns().saturating_sub(report.meta.dumped_at.uptime_ns);
        self.tidy_directory(&path);
        Some(Unfinished { path, name, report, used, again, first_ns, done })
    }

    fn put(&self, name: &str, report: &Report) -> Option<PathBuf> {
        let directory = &self.session.settings.directory;
        // The app may have deleted the directory; the ring is gone then, this report need not be.
        let _ = fs::create_dir_all(directory);
        let written = encode(report)
            .map_err(|error| error.to_string())
            .and_then(|bytes| write_report(directory, name, &bytes).map_err(|error| error.to_string()));
        let warn = |error: &String| {
            log::warn(&format!("a report could not be written to {}: {error}", directory.display()));
        };
        written.inspect_err(warn).ok()
    }

    fn tidy_directory(&self, newest: &Path) {
        let directory = &self.session.settings.directory;
        if let Err(error) = enforce(directory, &ReportPolicy::default(), Some(newest)) {
            log::warn(&format!("old reports could not be deleted from {}: {error}", directory.display()));
        }
    }

    /// The trees of this process with the running message's last; the ring has them too, but shortened to its slots.
    fn put_trees(&self, report: &mut Report) -> UsedSymbols {
        let mut trees: Vec<StackTree> = self.kept.iter().cloned().collect();
        if self.growing.token() != 0 {
            trees.push(self.growing.tree());
        }
        let used = collect_used(&self.session.symbols.symbols(), &mut trees);
        report.symbols = used.symbols.clone();
        report.trees = trees;
        used
    }

    /// Names the running message, by the line that Looper printed for it or else by its stack.
    fn name_running(&self, env: &mut Env<'_>, report: &mut Report) {
        let MainState::Running(running) = &mut report.main else { return };
        running.message = running_message::name_by_looper(env, self.session, running);
        running.cpu_ns = match self.cpu {
            Some((first, _)) if self.growing.token() == running.token => {
                self.session.main_cpu.and_then(clock::thread_cpu_of).map(|now| now.saturating_sub(first))
            }
            _ => None,
        };
        running_message::name_by_stack(report, self.session.settings.recorder.keep);
    }
}
