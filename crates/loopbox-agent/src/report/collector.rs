//! What the worker collects between reports: it makes stack trees out of samples. It also saves them in the
//! ring, for the next process if this one is killed.

use super::ended_names::EndedNames;
use super::jank_trees::tree_of;
use super::used_symbols::{UsedSymbols, collect_used};
use super::{meta, outside, running_message, unseen_message};
use crate::anr::evidence;
use crate::hook::poll;
use crate::jni::env::Env;
use crate::monitor::long_messages::LongMessages;
use crate::sampler::java_fallback;
use crate::sampler::sample::{QueuedSample, SampleReceiver};
use crate::session::Session;
use crate::session::display_frames::Frames;
use crate::session::symbols::Stack;
use crate::sys::{clock, log};
use loopbox_format::model::{
    AnrWarning, FeatureState, MainState, Outside, Pending, Report, StackSource, StackTree, Statistic,
    Symbols, Token, Uptime,
};
use loopbox_recorder::{Activity, Sample, Sampling, StackTreeBuilder};
use loopbox_store::WorkerWriter;
use ringbuf::traits::Consumer;

/// The stacks of a running message are saved in the ring at most this often.
const SAVE_EVERY_NS: u64 = 500_000_000;
/// The app's annotations and its breadcrumbs are saved at most this often: an app that counts in an
/// annotation must not keep the worker busy.
const ANNOTATIONS_EVERY_NS: u64 = 100_000_000;
/// How long a report waits for a stack of the main thread. A stack usually comes after some hundred
/// microseconds. When the main thread does not stop, it would come only after seconds.
const STACK_WAIT_NS: u64 = 500_000_000;
/// How many trees are kept for jank, besides those kept for reports: their messages are too short for a
/// report but may have delayed a display frame. The trees with the most stacks are kept.
const JANK_TREES: usize = 12;

pub(super) struct Collector<'a> {
    session: &'a Session,
    ring: WorkerWriter,
    samples: SampleReceiver,
    growing: StackTreeBuilder,
    kept: Vec<StackTree>,
    /// The messages whose trees are kept only because of frames.
    janky: Vec<Token>,
    /// The main thread's CPU time at the growing tree's first sample, and at its last.
    cpu: Option<(u64, u64)>,
    /// The last stack that was taken, and the message in which or after which it was taken.
    last: Option<(Token, Stack)>,
    /// What the app's performance monitor is notified of.
    pub(super) long: LongMessages<'a>,
    /// The names of messages that the hook does not see.
    names: EndedNames,
    /// Whether a stack has shown a message that the hook did not report.
    unseen: bool,
    /// Whether a stack has shown the end of a message that still runs according to the hook.
    end_unseen: bool,
    saved_at_ns: Uptime,
    /// What was saved in the ring as running outside of messages; [`Token::NONE`] for nothing.
    saved_outside: Token,
    /// The value of `Annotations::changes` when annotations were last saved in the ring.
    saved_annotations: u32,
    saved_meta_ns: Uptime,
    saved_breadcrumbs_ns: Uptime,
    saved_features: Vec<FeatureState>,
}

impl<'a> Collector<'a> {
    pub(super) fn new(session: &'a Session, ring: WorkerWriter, samples: SampleReceiver) -> Self {
        Self {
            session,
            ring,
            samples,
            growing: StackTreeBuilder::new(&session.settings.recorder.sampling),
            kept: Vec::new(),
            janky: Vec::new(),
            cpu: None,
            last: None,
            long: LongMessages::new(session),
            names: EndedNames::default(),
            unseen: false,
            end_unseen: false,
            saved_at_ns: Uptime::ZERO,
            saved_outside: Token::NONE,
            saved_annotations: 0,
            saved_meta_ns: Uptime::ZERO,
            saved_breadcrumbs_ns: Uptime::ZERO,
            saved_features: Vec::new(),
        }
    }

    fn sampling(&self) -> &Sampling {
        &self.session.settings.recorder.sampling
    }

    /// What the ring, the trees and Looper show at this moment: the part of a report for which no other
    /// thread must be asked.
    pub(super) fn snapshot(&self, env: &mut Env<'_>) -> (Report, UsedSymbols) {
        let mut report = self.session.reader.snapshot(clock::now_ns()).report;
        report.frames = self.session.frames.as_ref().map(Frames::session).unwrap_or_default();
        let symbols = self.session.symbols.symbols();
        if !matches!(report.main, MainState::Running(_)) {
            self.find_outside(&symbols, &mut report.main);
        }
        let used = self.put_trees(&symbols, &mut report);
        self.names.put_into(&mut report);
        self.name_running(env, &mut report);
        (report, used)
    }

    /// Finds what runs outside of messages now. The ring does not have that: it knows messages, and what was
    /// saved earlier.
    fn find_outside(&self, symbols: &Symbols, main: &mut MainState) {
        if let MainState::Outside(outside) = main {
            // As it was when it was saved, and maybe over.
            *main = MainState::Idle { since_ns: outside.after_ns };
        }
        let last = self.last_stack(self.session.shared.main.token());
        let waits = last.and_then(|stack| outside::waits(symbols, stack.locations()));
        if let Some(outside) = outside::find(self.session, waits) {
            *main = MainState::Outside(outside);
        }
    }

    /// Takes the main thread's stack for a report, whatever main does. Takes none when the running message
    /// has stacks already and more will come.
    pub(super) fn take_stack(&mut self, env: &mut Env<'_>) {
        let shared = &self.session.shared;
        if shared.is_paused() {
            return;
        }
        let running = shared.main.activity().running();
        let sampled = self.is_growing(running);
        let goes_on = !self.sampling().once && shared.sampler.takes_orders();
        let more_to_come = sampled && self.growing.samples() > 0 && goes_on;
        if !more_to_come {
            self.take_one_stack(env);
        }
        if self.is_growing(running) {
            // However short ago the ones before were saved: the process may be killed before the next time.
            self.saved_at_ns = Uptime::ZERO;
            self.save_running();
        }
    }

    /// Whether the growing tree has the stacks of `running`: of the running message, or of what runs outside
    /// of messages, with its start.
    fn is_growing(&self, running: Option<(Token, Uptime)>) -> bool {
        running.is_some_and(|(token, start_ns)| self.growing.is_of(token, start_ns))
    }

    /// Has the sampler take a stack and waits for it, or takes one through Java.
    fn take_one_stack(&mut self, env: &mut Env<'_>) {
        let shared = &self.session.shared;
        if let Some(order) = shared.order_stack() {
            let deadline_ns = clock::now_ns().plus(STACK_WAIT_NS);
            while !shared.sampler.is_done(order) {
                let left_ns = deadline_ns.since(clock::now_ns());
                if left_ns == 0 {
                    break;
                }
                self.session.wait_for_work((left_ns / 1_000_000 + 1) as i32);
            }
            // What else it was woken for meanwhile, is still to be done.
            self.session.wake_worker();
            self.take_queued();
        } else if java_fallback::may_ask(self.session) {
            self.take_by_java(env);
        }
    }

    /// Takes the stack through Java, where there is no sampler.
    fn take_by_java(&mut self, env: &mut Env<'_>) {
        let shared = &self.session.shared;
        let at_ns = clock::now_ns();
        let (token, start_ns) = shared.main.activity().running().unwrap_or((shared.main.token(), at_ns));
        let Some(stack) = java_fallback::take_stack(env, &self.session.symbols) else { return };
        if shared.main.token() != token {
            return;
        }
        if !self.growing.is_of(token, start_ns) {
            self.finish_tree();
            self.growing.begin(token, start_ns, StackSource::JavaApi);
        }
        self.last = Some((token, stack));
        self.growing.push(&Sample {
            frames: stack.locations(),
            at_ns,
            stop_ns: clock::now_ns().since(at_ns),
            interval_ns: self.sampling().interval_ns,
        });
    }

    /// Saves the running message's name.
    pub(super) fn save_running_name(&mut self, report: &Report) {
        if let MainState::Running(running) = &report.main {
            self.save("the running message's name", |ring, _| ring.running(running));
        }
    }

    /// Saves display frames.
    pub(super) fn save_frames(&mut self, frames: &Frames) {
        self.save("display frames", |ring, _| {
            ring.frames(|slot| frames.recorder(|recorder| recorder.encode(slot)))
        });
    }

    /// Saves the pending queue.
    pub(super) fn save_queue(&mut self, pending: &Pending) {
        self.save("the queue", |ring, _| ring.pending(pending));
    }

    /// Saves the process statistics.
    pub(super) fn save_stats(&mut self, stats: &[Statistic]) {
        self.save("the process statistics", |ring, _| ring.statistics(stats));
    }

    /// Saves the system's warnings of an ANR.
    pub(super) fn save_warnings(&mut self, warnings: &[AnrWarning]) {
        self.save("the warnings of an ANR", |ring, _| ring.warnings(warnings));
    }

    /// Saves the header and the features when they have changed.
    pub(super) fn save_changes(&mut self) {
        self.save_features();
        self.save_outside();
        if self.meta_wait_ms() == Some(0) {
            self.save_meta();
        }
        if self.breadcrumbs_wait_ms() == Some(0) {
            self.saved_breadcrumbs_ns = clock::now_ns();
            self.save("the breadcrumbs", |ring, session| ring.breadcrumbs(&session.breadcrumbs.to_save()));
        }
    }

    /// How long until the app's annotations or breadcrumbs are to be saved; `None` when all are saved.
    pub(super) fn wait_ms(&self) -> Option<u64> {
        [self.meta_wait_ms(), self.breadcrumbs_wait_ms()].into_iter().flatten().min()
    }

    fn breadcrumbs_wait_ms(&self) -> Option<u64> {
        self.session.breadcrumbs.is_unsaved().then(|| wait_ms(self.saved_breadcrumbs_ns))
    }

    fn meta_wait_ms(&self) -> Option<u64> {
        let changed = self.session.annotations.changes() != self.saved_annotations;
        changed.then(|| wait_ms(self.saved_meta_ns))
    }

    /// Moves samples from the queue into trees. `renumber`: whether locations may get new numbers.
    pub(super) fn take_samples(&mut self, renumber: bool) {
        self.take_queued();
        let growing = self.growing.token();
        if growing == Token::NONE {
            return;
        }
        let shared = &self.session.shared;
        let awaits = self.session.frames.as_ref().is_some_and(Frames::is_awaited);
        let goes_on = awaits && shared.main.token() == growing;
        if goes_on || self.is_growing(shared.main.activity().running()) {
            self.session.shared.pace.advise(growing, self.growing.interval_ns());
            self.save_running();
        } else {
            self.finish_tree();
        }
        if renumber {
            self.session.symbols.compact(&mut self.kept, &mut self.growing);
        }
    }

    fn take_queued(&mut self) {
        let generation = self.session.symbols.generation();
        while let Some(queued) = self.samples.try_pop() {
            let QueuedSample { token, source, sample, .. } = queued;
            if !self.growing.is_of(token, queued.start_ns) || source != self.growing.source() {
                self.finish_tree();
                self.growing.begin(token, queued.start_ns, source);
                self.cpu = None;
            }
            self.growing.missed(queued.missed);
            if sample.frames.generation == generation {
                self.growing.push(&sample.with(sample.frames.locations()));
            } else {
                self.growing.missed(1);
            }
            self.long.sampled(&queued);
            if let Some(now) = queued.cpu_ns {
                self.cpu = Some((self.cpu.map_or(now, |(first, _)| first), now));
            }
            self.last = Some((token, sample.frames));
        }
    }

    /// The last stack that was taken, if it was taken in or after the message `of`, and if its location
    /// numbers are still valid.
    fn last_stack(&self, of: Token) -> Option<Stack> {
        let (token, stack) = self.last?;
        (token == of && stack.generation == self.session.symbols.generation()).then_some(stack)
    }

    /// Ends the growing tree, whose message has ended. The tree is kept when it may be needed for a report or
    /// shows what delayed a frame.
    fn finish_tree(&mut self) {
        if self.growing.token() == Token::NONE {
            return;
        }
        self.long.ended(&self.growing);
        if poll::records() && !self.growing.token().is_outside() {
            let symbols = self.session.symbols.symbols();
            self.names.ended(self.session, &symbols, &self.growing.tree());
        }
        // Of a main thread that waited, a stack is for the report that asked for it.
        let ran = !self.growing.token().is_outside() || self.growing.token() == self.saved_outside;
        let ran_ns = evidence::ended_ns(self.session, self.growing.token());
        if ran && self.growing.is_worth_keeping(ran_ns) {
            let tree = self.growing.tree();
            let symbols = self.session.symbols.symbols();
            self.log_refused("a stack tree", |ring, _| ring.keep_tree(&symbols, &tree).map(|_| ()));
            let most = self.sampling().trees as usize;
            while self.kept.len() >= most.saturating_add(self.janky.len()) {
                let oldest = self.kept.iter().position(|kept| !self.janky.contains(&kept.token));
                let Some(at) = oldest else { break };
                self.kept.remove(at);
            }
            self.kept.push(tree);
        } else if (ran || self.was_away())
            && let Some(onset_ns) = self.session.shared.pace.jank_onset_ns()
            && self.growing.is_of_one_that_ran(ran_ns, onset_ns.saturating_add(self.second_stack_ns()))
        {
            self.keep_jank_tree();
        }
        self.log_refused("the end of a message", |ring, _| ring.clear_running_tree());
        self.growing.begin(Token::NONE, Uptime::ZERO, StackSource::Art);
        self.cpu = None;
    }

    /// How long after a message's first stack the second one is due. On a starved machine, where most frames
    /// are late, back-off may delay or prevent the second stack.
    fn second_stack_ns(&self) -> u64 {
        if self.sampling().once { 0 } else { self.sampling().interval_ns }
    }

    /// Whether the main thread was seen, between two messages, doing something else than waiting for one.
    fn was_away(&self) -> bool {
        self.last_stack(self.growing.token()).is_some_and(|stack| {
            outside::waits(&self.session.symbols.symbols(), stack.locations()) == Some(false)
        })
    }

    /// Keeps the growing tree, which may show what delayed a frame. When there are enough trees, the one with
    /// the fewest stacks is dropped.
    fn keep_jank_tree(&mut self) {
        let tree = self.growing.tree();
        if self.janky.len() == JANK_TREES {
            let janky = self.kept.iter().enumerate().filter(|(_, kept)| self.janky.contains(&kept.token));
            let Some((at, least)) = janky.min_by_key(|(_, kept)| kept.sample_deltas_ns.len()) else { return };
            if least.sample_deltas_ns.len() > tree.sample_deltas_ns.len() {
                return;
            }
            let token = least.token;
            self.kept.remove(at);
            self.janky.retain(|&of| of != token);
        }
        self.janky.push(tree.token);
        self.kept.push(tree);
    }

    /// Saves the running message's stacks for the next process, if this one is killed in the middle of the
    /// message.
    fn save_running(&mut self) {
        let now = clock::now_ns();
        if now.since(self.saved_at_ns) < SAVE_EVERY_NS {
            return;
        }
        self.saved_at_ns = now;
        let tree = self.growing.tree();
        let symbols = self.session.symbols.symbols();
        self.save("the running message's stacks", |ring, _| ring.running_tree(&symbols, &tree).map(|_| ()));
        // The token is of the moment that the stack was taken in.
        let Some(stack) = self.last_stack(tree.token) else { return };
        if tree.token.is_outside() {
            let around = self.session.shared.main.around(tree.token);
            self.unseen |= unseen_message::is_on(&symbols, stack.locations(), around);
        } else {
            self.end_unseen |= unseen_message::is_over(&symbols, stack.locations());
        }
    }

    /// Makes Java put the hook back if, since the previous call of this method, a stack has shown that the
    /// hook missed a message. Makes Java check the hook if a stack has shown that the hook missed a message's
    /// end.
    pub(super) fn check_hook(&mut self, env: &mut Env<'_>) {
        if std::mem::take(&mut self.unseen) {
            unseen_message::put_hook_back(env);
        }
        if std::mem::take(&mut self.end_unseen) {
            unseen_message::check_hook(env, true);
        }
    }

    /// Saves what runs outside of messages, for the next process if this one is killed meanwhile.
    fn save_outside(&mut self) {
        let token = match self.session.shared.main.activity() {
            Activity::Outside { token, .. } => token,
            _ => Token::NONE,
        };
        if token == self.saved_outside {
            return;
        }
        self.saved_outside = token;
        let outside = outside::find(self.session, None).filter(|outside| outside.token == token);
        // Its CPU time is of now, and the end may come later.
        let outside = outside.map(|outside| Outside { cpu_ns: None, ..outside });
        self.save("what runs outside of messages", |ring, _| ring.outside(outside.as_ref()));
    }

    /// Saves the header of reports, with the annotations.
    pub(super) fn save_meta(&mut self) {
        self.session.annotations.seen();
        self.saved_annotations = self.session.annotations.changes();
        self.saved_meta_ns = clock::now_ns();
        self.save("the header", |ring, session| ring.meta(&meta::of(session)));
    }

    fn save_features(&mut self) {
        let features = self.session.features.list();
        if features != self.saved_features {
            self.save("the features", |ring, _| ring.features(&features));
            self.saved_features = features;
        }
    }

    /// Writes data to the ring, and has the ring copied into its file.
    fn save(
        &mut self,
        what: &str,
        write: impl FnOnce(&mut WorkerWriter, &Session) -> Result<(), loopbox_store::StoreError>,
    ) {
        self.log_refused(what, write);
        self.session.shared.copies.ask();
    }

    fn log_refused(
        &mut self,
        what: &str,
        write: impl FnOnce(&mut WorkerWriter, &Session) -> Result<(), loopbox_store::StoreError>,
    ) {
        if let Err(error) = write(&mut self.ring, self.session) {
            log::failed("the ring could not take ", what.as_bytes(), &error);
        }
    }

    /// Puts the trees of this process into the report, the growing one last. The ring has them too, but
    /// shortened to its slots. Returns the symbols that they use.
    fn put_trees(&self, symbols: &Symbols, report: &mut Report) -> UsedSymbols {
        let mut of_frames = Vec::new();
        for jank in &mut report.frames.janks {
            jank.tree_token = tree_of(jank, &self.kept);
            of_frames.extend(jank.tree_token);
        }
        // Of those that are kept because of frames, only what a frame names.
        let wanted = |tree: &&StackTree| !self.janky.contains(&tree.token) || of_frames.contains(&tree.token);
        let mut trees: Vec<StackTree> = self.kept.iter().filter(wanted).cloned().collect();
        if self.growing.token() != Token::NONE {
            trees.push(self.growing.tree());
        }
        let used = collect_used(symbols, &mut trees);
        report.symbols = used.symbols.clone();
        report.trees = trees;
        used
    }

    /// Names the running message, by the line that Looper printed for it or else by its stack.
    fn name_running(&self, env: &mut Env<'_>, report: &mut Report) {
        let MainState::Running(running) = &mut report.main else { return };
        running.message = running_message::name_by_looper(env, self.session, running)
            .or_else(|| running_message::name_by_hint(self.session, running))
            .or_else(|| running_message::name_by_install(self.session, running));
        running.cpu_ns = match self.cpu {
            Some((first, _)) if self.growing.token() == running.token => {
                self.session.main_cpu.and_then(clock::thread_cpu_of).map(|now| now.saturating_sub(first))
            }
            _ => None,
        };
        running_message::name_by_stack(report, self.session.settings.recorder.keep);
    }
}

/// How long to wait, in ms, until data that was saved at `saved_ns` is saved again.
fn wait_ms(saved_ns: Uptime) -> u64 {
    saved_ns.plus(ANNOTATIONS_EVERY_NS).since(clock::now_ns()).div_ceil(1_000_000)
}
