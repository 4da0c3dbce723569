//! The worker thread: merges stacks into trees, keeps the ring's slow parts up to date, writes reports.

use crate::hang::{Hangs, Look};
use crate::raw::{self, Failure};
use crate::report::Used;
use crate::sampler::Sample;
use crate::session::{self, Request, Session};
use crate::{clock, digest, earlier, figures, java, listener, log, others, pending, report, sigquit};
use jni::errors::Error;
use jni::signature::{JavaType, Primitive};
use jni::sys::jvalue;
use jni::{DEFAULT_LOCAL_FRAME_CAPACITY, Env};
use loopbox_format::model::{
    DumpReason, FeatureState, Figure, MainState, Report, Running, StackSource, StackTree,
};
use loopbox_format::report as format;
use loopbox_recorder::{Sample as TreeSample, StackTreeBuilder};
use loopbox_store::{ReportPolicy, WorkerWriter, disarm, enforce, write_report};
use ringbuf::traits::Consumer;
use ringbuf::{CachingCons, HeapRb};
use std::collections::VecDeque;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The worker's end of the queue.
pub(crate) type Samples = CachingCons<Arc<HeapRb<Sample>>>;

/// The stacks of a running message are put into the ring at most that often.
const SAVE_EVERY_NS: u64 = 500_000_000;
/// Nothing but notifications wakes a worker that has nothing to do.
const FOR_EVER: i32 = -1;

pub(crate) struct Worker<'a> {
    session: &'a Session,
    ring: WorkerWriter,
    samples: Samples,
    growing: StackTreeBuilder,
    kept: VecDeque<StackTree>,
    /// CPU time of the main thread at the first sample of the growing tree, and at its last.
    cpu: Option<(u64, u64)>,
    saved_at_ns: u64,
    /// As `Notes::changes` was when the ring got them.
    saved_notes: u32,
    saved_features: Vec<FeatureState>,
    seen_signals: u32,
    written: u32,
    hangs: Hangs,
    unfinished: Option<Unfinished>,
}

/// A report that is on disk and gets more.
struct Unfinished {
    path: PathBuf,
    name: String,
    report: Report,
    used: Used,
    /// The file has an earlier one of the same hang.
    again: bool,
    /// How long it took until the first file had its name.
    first_ns: u64,
    done: Done,
}

/// Who is told of a report when it has all that it can get.
enum Done {
    /// The listener, and why.
    Tell(&'static str),
    /// Who asked for it, and the listener.
    Answer(Request),
}

impl<'a> Worker<'a> {
    pub(crate) fn new(session: &'a Session, ring: WorkerWriter, samples: Samples) -> Self {
        Self {
            session,
            ring,
            samples,
            growing: StackTreeBuilder::new(&session.settings.recorder.sampling),
            kept: VecDeque::new(),
            cpu: None,
            saved_at_ns: 0,
            saved_notes: 0,
            saved_features: Vec::new(),
            seen_signals: session.signals_before,
            written: 0,
            hangs: Hangs::new(),
            unfinished: None,
        }
    }

    /// Until the session ends.
    pub(crate) fn run(mut self, env: &mut Env<'_>) {
        self.save_meta();
        let session = self.session;
        let earlier = session.earlier.get_or_init(|| {
            let earlier = earlier::take_over(env, &session.settings);
            disarm(&session.settings.directory, session.libart, &earlier.blown);
            earlier
        });
        for path in &earlier.reports {
            tell(env, path, "recovered");
        }
        if let Some(path) = earlier.reports.last() {
            self.tidy_directory(path);
        }
        while !self.session.shared.stopped() {
            self.take_samples();
            self.save_features();
            if self.session.notes.changes() != self.saved_notes {
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
            let wait_ms = self.watch(env);
            self.session.wait_for_work(wait_ms);
        }
        self.finish(env);
        if let Err(error) = self.session.reader.discard() {
            log::warn(&format!("the ring file stays: {error}"));
        }
    }

    /// Our report first: the system's own trace takes seconds, and the process may be gone after it.
    fn answer_signal(&mut self, env: &mut Env<'_>) {
        let first = self.write_first(env, DumpReason::SigQuit, Done::Tell("sigquit"));
        if let Err(error) = sigquit::hand_on() {
            log::warn(&format!("the Signal Catcher did not get its signal: {error}"));
        }
        self.complete(env, first);
    }

    /// Hangs that begin, last and end; how long to sleep after it.
    fn watch(&mut self, env: &mut Env<'_>) -> i32 {
        match self.hangs.look(env, self.session) {
            Look::Nothing => {}
            Look::Suspect => self.save_suspect(env),
            Look::Hang => self.write(env, DumpReason::Hang, Done::Tell("hang")),
        }
        let news = self.hangs.news(env, self.session);
        let left_ns = self.unfinished.as_ref().map(|_| others::left_ns(self.session));
        if news.is_some() || left_ns == Some(0) {
            self.finish(env);
        }
        if let Some((path, what)) = news.and_then(|news| self.hangs.add(self.session, news)) {
            tell(env, &path, what);
        }
        let left_ms = self.unfinished.as_ref().and(left_ns).map(|ns| ns / 1_000_000 + 1);
        let waits = [self.hangs.wait_ms(self.session), left_ms];
        waits.into_iter().flatten().min().map_or(FOR_EVER, |ms| ms as i32)
    }

    /// For the next process, if this one is killed before it can write a report.
    fn save_suspect(&mut self, env: &mut Env<'_>) {
        let mut report = self.session.reader.snapshot(clock::now_ns()).report;
        self.put_trees(&mut report);
        self.name_running(env, &mut report);
        self.hangs.named(self.session, &report);
        if let MainState::Running(running) = &report.main {
            self.log_refused("the running message's name", |ring, _| ring.running(running));
        }
        let pending = pending::capture(env, &self.session.settings.pending);
        self.log_refused("the queue", |ring, _| ring.pending(&pending));
        let figures = figures::read(self.session.watched.seen().frozen, self.session.art.get());
        self.log_refused("the figures", |ring, _| ring.figures(&figures));
    }

    fn take_samples(&mut self) {
        let generation = self.session.names.generation();
        while let Some(sample) = self.samples.try_pop() {
            if sample.token != self.growing.token() {
                self.finish_tree();
                self.growing.begin(sample.token, sample.start_ns, sample.source);
                self.cpu = None;
            }
            self.growing.missed(sample.missed);
            if sample.generation == generation {
                self.growing.push(&TreeSample {
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
        // An answer that is under way speaks of the numbers of when it was asked for.
        if self.unfinished.is_none() {
            self.session.names.tidy_up(self.kept.make_contiguous(), &mut self.growing);
        }
    }

    /// The message of the growing tree has ended.
    fn finish_tree(&mut self) {
        if self.growing.token() == 0 {
            return;
        }
        if self.growing.is_worth_keeping() {
            let tree = self.growing.tree();
            let symbols = self.session.names.symbols();
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
        let symbols = self.session.names.symbols();
        self.log_refused("the running message's stacks", |ring, _| {
            ring.running_tree(&symbols, &tree).map(|_| ())
        });
    }

    /// Who records, and what the app says about itself.
    fn save_meta(&mut self) {
        self.saved_notes = self.session.notes.changes();
        self.log_refused("who records", |ring, session| ring.meta(&session::meta(session)));
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
            log::warn(&format!("{what} is not in the ring: {error}"));
        }
    }

    /// A report with everything that there is; what takes longer to find out follows.
    fn write(&mut self, env: &mut Env<'_>, reason: DumpReason, done: Done) {
        let first = self.write_first(env, reason, done);
        self.complete(env, first);
    }

    /// Adds what may wait for the app, and asks for what takes longer, to be put in place of the first file.
    fn complete(&mut self, env: &mut Env<'_>, first: Option<Unfinished>) {
        let Some(mut first) = first else { return };
        let asked = others::ask(self.session, &first.report);
        let report = &mut first.report;
        report.pending = pending::capture(env, &self.session.settings.pending);
        self.hangs.judge_queue(report);
        let finished = !asked || others::left_ns(self.session) == 0;
        if !finished && !first.again {
            self.put_again(&mut first);
        }
        self.hangs.written(&first.name, &first.path, &first.report);
        self.unfinished = Some(first);
        if finished {
            self.finish(env);
        }
    }

    /// With what is known by now.
    fn finish(&mut self, env: &mut Env<'_>) {
        let Some(mut open) = self.unfinished.take() else { return };
        others::take(self.session, &mut open.report, &mut open.used);
        let value = open.first_ns.to_string();
        open.report.figures.push(Figure { name: "report.first_file_ns".to_owned(), value });
        self.put_again(&mut open);
        match open.done {
            Done::Tell(why) => tell(env, &open.path, why),
            Done::Answer(Request { reason, done }) => {
                let _ = done.send(open.path.clone());
                tell(env, &open.path, &reason);
            }
        }
    }

    /// Unless somebody has taken the file meanwhile.
    fn put_again(&self, open: &mut Unfinished) {
        if open.path.exists() {
            open.report.digest = digest::lines(&open.report);
            self.put(&open.name, &open.report);
        }
    }

    /// The main thread's own data, onto the disk. Nothing here waits for the app.
    fn write_first(&mut self, env: &mut Env<'_>, reason: DumpReason, done: Done) -> Option<Unfinished> {
        self.finish(env);
        self.take_samples();
        let mut report = self.session.reader.snapshot(clock::now_ns()).report;
        report.meta = session::meta(self.session);
        report.meta.reason = reason;
        self.session.check_sig_quit();
        report.features = self.session.features.list();
        let used = self.put_trees(&mut report);
        self.name_running(env, &mut report);
        report.figures = figures::read(self.session.watched.seen().frozen, self.session.art.get());
        report.anr = self.hangs.judge(env, self.session, &report);
        report.digest = digest::lines(&report);

        let follows = matches!(report.meta.reason, DumpReason::SigQuit | DumpReason::Hang);
        let name = Hangs::file_name(&report).filter(|_| follows).unwrap_or_else(|| {
            self.written += 1;
            format!(
                "loopbox-{}-{}-{}",
                report.meta.process.pid,
                report.meta.dumped_at.uptime_ns / 1_000_000,
                self.written
            )
        });
        // What the file of an earlier signal has, and this report not yet, stays until all of this one is there.
        let earlier = self.hangs.judged_again(self.session, &name, &report.anr);
        let again = earlier.is_some();
        let path = earlier.or_else(|| self.put(&name, &report))?;
        let first_ns = clock::now_ns().saturating_sub(report.meta.dumped_at.uptime_ns);
        self.tidy_directory(&path);
        Some(Unfinished { path, name, report, used, again, first_ns, done })
    }

    fn put(&self, name: &str, report: &Report) -> Option<PathBuf> {
        let directory = &self.session.settings.directory;
        // Somebody may have tidied up; the ring is gone then, this report need not be.
        let _ = fs::create_dir_all(directory);
        let written = format::encode(report)
            .map_err(|error| error.to_string())
            .and_then(|bytes| write_report(directory, name, &bytes).map_err(|error| error.to_string()));
        written.inspect_err(|error| log::warn(&format!("no report in {}: {error}", directory.display()))).ok()
    }

    fn tidy_directory(&self, newest: &Path) {
        let directory = &self.session.settings.directory;
        if let Err(error) = enforce(directory, &ReportPolicy::default(), Some(newest)) {
            log::warn(&format!("old reports stay in {}: {error}", directory.display()));
        }
    }

    /// The trees of this process with the running message's last; the ring has them too, but cut to its slots.
    fn put_trees(&self, report: &mut Report) -> Used {
        let mut trees: Vec<StackTree> = self.kept.iter().cloned().collect();
        if self.growing.token() != 0 {
            trees.push(self.growing.tree());
        }
        let used = report::only_used(&self.session.names.symbols(), &mut trees);
        report.symbols = used.symbols.clone();
        report.trees = trees;
        used
    }

    /// Names the running message, by the line that Looper printed for it or else by its stack.
    fn name_running(&self, env: &mut Env<'_>, report: &mut Report) {
        let MainState::Running(running) = &mut report.main else { return };
        running.message = running_line(env, self.session, running).as_deref().map(report::named_by_line);
        running.cpu_ns = match self.cpu {
            Some((first, _)) if self.growing.token() == running.token => {
                self.session.main_cpu.and_then(clock::of).map(|now| now.saturating_sub(first))
            }
            _ => None,
        };
        report::name_by_stack(report, self.session.settings.recorder.keep);
    }
}

/// The start line of this very message; none when another one runs by now.
fn running_line(env: &mut Env<'_>, session: &Session, running: &Running) -> Option<String> {
    let java = java::get()?;
    let found = env.with_local_frame(DEFAULT_LOCAL_FRAME_CAPACITY, |env| {
        // SAFETY: looked up in this class with this signature: no arguments, a String.
        let line = unsafe {
            env.call_static_method_unchecked(&*java.loopbox, java.loopbox_running_line, JavaType::Object, &[])
        }?
        .l()?;
        // SAFETY: a String, as the method's type says.
        Ok::<_, Error>(unsafe { raw::text(env, &line) })
    });
    if let Ok(line) = found {
        return line.filter(|_| session.shared.token() == running.token);
    }
    let Failure(why) = raw::failure(env);
    log::warn(&format!("the running message's line cannot be read: {why}"));
    None
}

/// Tells Java of a report, then native code.
fn tell(env: &mut Env<'_>, path: &Path, reason: &str) {
    let Some(java) = java::get() else { return };
    let told = env.with_local_frame(DEFAULT_LOCAL_FRAME_CAPACITY, |env| {
        let path = raw::new_string(env, &path.to_string_lossy())?;
        let reason = raw::new_string(env, reason)?;
        let arguments = [jvalue { l: path.as_raw() }, jvalue { l: reason.as_raw() }];
        let nothing = JavaType::Primitive(Primitive::Void);
        // SAFETY: looked up in this class with this signature: two Strings, nothing back.
        unsafe {
            env.call_static_method_unchecked(&*java.loopbox, java.loopbox_on_report, nothing, &arguments)
        }?;
        Ok::<_, Failure>(())
    });
    if let Err(error) = told {
        let why = raw::exception(env).unwrap_or(error.0);
        log::warn(&format!("the report listener was not told: {why}"));
    }
    listener::tell(path, reason);
}
