//! The sampler thread: takes stacks of messages that run long.

use super::discovery::find_art;
use super::sample::{QueuedSample, SampleSender};
use super::stoppable::{Progress, unstoppable};
use super::suspended_call::{Job, SampleJob, Walker, call};
use super::symbolizer::Symbolizer;
use super::thread_dump::ThreadDumper;
use super::{deadman, java_fallback};
use crate::anr::signal_catcher;
use crate::error::SamplerError;
use crate::jni::env::Env;
use crate::jni::{attach, class_cache};
use crate::session::display_frames::Frames;
use crate::session::symbols::Stack;
use crate::session::{SWITCHED_OFF, Session};
#[cfg(debug_assertions)]
use crate::sys::fault;
use crate::sys::priority::{self, Urgent};
use crate::sys::{clock, log, memory, proc};
use loopbox_art::{Art, RawStack, ThreadEnv, Unstoppable};
use loopbox_format::model::{Feature, StackSource, Token, Uptime};
use loopbox_recorder::{Activity, Place, Sample, Schedule, Step, Taken};
use loopbox_store::RingFuse;
use ringbuf::traits::Producer;
use std::sync::Arc;

/// The worker is woken for this many samples at once.
const BATCH: u32 = 8;

/// The objects that the thread is started with.
pub(crate) struct SamplerParts {
    pub(crate) main: ThreadEnv,
    pub(crate) fuse: RingFuse,
    pub(crate) queue: SampleSender,
}

/// The body of the thread. It runs until the session ends or sampling is found not to work.
pub(crate) fn run(env: &mut Env<'_>, session: &Arc<Session>, parts: SamplerParts) {
    if let Err(error) = sample_all(env, session, parts) {
        let reason = error.to_string();
        log::warn(&["sampling is off (", error.code(), "): ", &reason].concat());
        session.features.set(Feature::Sampler, false, reason);
        session.wake_worker();
    }
    session.shared.end_sampling();
}

fn sample_all(
    env: &mut Env<'_>,
    session: &Arc<Session>,
    mut parts: SamplerParts,
) -> Result<(), SamplerError> {
    let sampling = &session.settings.recorder.sampling;
    let (art, detail, schedule) = match find_art(env, session, parts.main, &parts.fuse) {
        Ok(art) => {
            let module = art.module();
            let detail = [&layout_name(&module.generations), ", ", module.suspend].concat();
            let art = session.art.get_or_init(|| art);
            start_deadman(session)?;
            (Some(art), detail, Schedule::new(sampling))
        }
        // Java is not asked for stacks with a blown fuse: for them ART stops the main thread, too.
        Err(error) if !matches!(error, SamplerError::FuseBlown(_)) && java_fallback::is_safe() => {
            let detail = ["by Thread.getStackTrace: ", &error.to_string()].concat();
            (None, detail, Schedule::new(&java_fallback::sampling(sampling)))
        }
        Err(error) => {
            if matches!(error, SamplerError::FuseBlown(_)) {
                session.shared.sampler.forbid_stops();
            }
            return Err(error);
        }
    };
    session.shared.sampler.set_answers_queries(art.is_some());
    session.features.set(Feature::Sampler, true, detail.as_str());
    session.wake_worker();

    let mut sampler = Sampler {
        session,
        art,
        queue: &mut parts.queue,
        schedule,
        symbolizer: Symbolizer::default(),
        raw: Box::new(RawStack::new()),
        last_token: Token::NONE,
        last_progress: None,
        unannounced: 0,
        missed: 0,
        given_up: 0,
    };
    sampler.run(env, &detail);
    Ok(())
}

/// Says which table the layout is from. Tables with the same numbers cannot be distinguished, so the ART
/// versions of all of them are named.
fn layout_name(generations: &[&str]) -> String {
    match generations.split_last() {
        None => "layout discovered".to_owned(),
        Some((one, [])) => ["table of ART ", one].concat(),
        Some((last, others)) => ["table of ART ", &others.join(", "), " or ", last].concat(),
    }
}

/// Starts the only thread that is not started at install: only the sampler knows when there is something to
/// watch.
fn start_deadman(session: &Arc<Session>) -> Result<(), SamplerError> {
    let classes = class_cache::get().ok_or(SamplerError::NotLoaded)?;
    let session = Arc::clone(session);
    let started = attach::spawn(&classes.vm, c"loopbox-guard", move |_| {
        if let Some(art) = session.art.get() {
            deadman::run(&session, art);
        }
    });
    started.map_err(SamplerError::NoDeadman)
}

struct Sampler<'a> {
    session: &'a Session,
    /// `None` where stacks come from the Java API.
    art: Option<&'a Art>,
    queue: &'a mut SampleSender,
    schedule: Schedule,
    symbolizer: Symbolizer,
    raw: Box<RawStack>,
    /// The message sampled last.
    last_token: Token,
    /// The main thread's progress when it was last checked, or resumed.
    last_progress: Option<Progress>,
    /// The number of samples for which the worker was not woken yet.
    unannounced: u32,
    missed: u32,
    /// How many messages were given up, according to the last text for the report.
    given_up: u32,
}

impl Sampler<'_> {
    fn run(&mut self, env: &mut Env<'_>, detail: &str) {
        let shared = &self.session.shared;
        let mut was_off = false;
        while !shared.sampling_ended() {
            let now = clock::now_ns();
            // Before the switch is read: a message that started after sampling was switched off is never
            // sampled.
            let activity = shared.activity();
            let off = shared.sampler.is_off();
            if off != was_off {
                was_off = off;
                self.session.features.set(Feature::Sampler, !off, if off { SWITCHED_OFF } else { detail });
                self.session.wake_worker();
            }
            shared.sampler.set_answers_queries(!off && self.art.is_some());
            shared.sampler.set_takes_orders(!off);
            if off {
                shared.sampler.take_query();
                if let Some(order) = shared.sampler.open_order() {
                    shared.sampler.finish_order(order);
                }
                shared.pause();
                self.schedule.reset_lateness();
                continue;
            }
            if shared.sampler.take_query()
                && let Some(art) = self.art
            {
                let (symbolizer, raw) = (&mut self.symbolizer, &mut *self.raw);
                ThreadDumper::new(art, self.session, symbolizer, raw).answer(env);
                self.schedule.reset_lateness();
                continue;
            }
            if let Some(order) = shared.sampler.open_order() {
                self.fill(env, order);
                self.schedule.reset_lateness();
                continue;
            }
            let activity = self.overdue(now, activity);
            let (running, start_ns) = activity.running().unwrap_or((Token::NONE, Uptime::ZERO));
            if self.last_token != Token::NONE && self.last_token != running {
                // The sampled message has ended: its tree is complete.
                self.last_token = Token::NONE;
                self.unannounced = 0;
                self.session.wake_worker();
            }
            self.schedule.set_background(shared.in_background());
            self.schedule.set_jank_onset(shared.pace.jank_onset_ns());
            let (advised_token, advised_ns) = shared.pace.advice();
            self.schedule.advise(advised_token, advised_ns);
            let step = self.schedule.next(now, activity);
            if let Some(late) = self.schedule.take_late_ns() {
                shared.pace.record_late(late);
            }
            match step {
                Step::Park => shared.park(),
                Step::Pause => shared.sleep_while_paused(),
                Step::SleepUntil(deadline_ns) => shared.sleep_until(deadline_ns),
                Step::Sample { token, interval_ns } => {
                    let taken = self.sample(env, token, start_ns, interval_ns);
                    self.schedule.taken(clock::now_ns(), taken);
                    self.report_given_up(detail);
                }
            }
        }
    }

    /// A main thread that runs no message may still be in a touch handler, or in another callback of a
    /// descriptor, and so delay a display frame. Checks for this while a frame is overdue. Returns what main
    /// does, with the result taken into account.
    fn overdue(&self, now_ns: Uptime, activity: Activity) -> Activity {
        let shared = &self.session.shared;
        let (Activity::Idle { since_ns }, Some(onset_ns)) = (activity, shared.pace.jank_onset_ns()) else {
            return activity;
        };
        let awaited = self.session.frames.as_ref().is_some_and(Frames::is_awaited);
        let overdue = now_ns.since(since_ns) >= onset_ns.saturating_mul(2);
        let between = shared.main.between_messages().filter(|&(_, ended_ns)| ended_ns == since_ns);
        match between {
            Some((token, _)) if awaited && overdue && proc::main_place() != Place::Queue => {
                Activity::Outside { token, since_ns }
            }
            _ => activity,
        }
    }

    /// Says in the report that messages were given up, because the main thread could not be suspended.
    fn report_given_up(&mut self, detail: &str) {
        let given_up = self.schedule.given_up();
        if given_up != self.given_up {
            self.given_up = given_up;
            let detail =
                format!("{detail}; {given_up} messages given up: suspending failed three times in a row");
            self.session.features.set(Feature::Sampler, true, detail);
            self.session.wake_worker();
        }
    }

    /// Takes the stack that a report requested, whatever the main thread does.
    fn fill(&mut self, env: &mut Env<'_>, order: u32) {
        /// How often a stack is tried: a short message may end before its thread is stopped.
        const TRIES: usize = 3;
        /// How long to wait for the end of ART's own trace: less than a report waits for its stack.
        const TRACE_TIMEOUT_NS: u64 = 400_000_000;
        let shared = &self.session.shared;
        signal_catcher::wait_until_idle(clock::now_ns().plus(TRACE_TIMEOUT_NS));
        for _ in 0..TRIES {
            let now = clock::now_ns();
            let (token, start_ns) = shared.main.activity().running().unwrap_or((shared.main.token(), now));
            if !matches!(self.sample(env, token, start_ns, self.schedule.interval_ns()), Taken::Gone) {
                break;
            }
        }
        shared.sampler.finish_order(order);
        self.session.wake_worker();
    }

    fn sample(&mut self, env: &mut Env<'_>, token: Token, start_ns: Uptime, interval_ns: u64) -> Taken {
        if self.session.shared.main.token() != token {
            return Taken::Gone;
        }
        if signal_catcher::is_tracing() {
            self.art.inspect(|art| art.left_out(Unstoppable::Trace));
            return Taken::Unstoppable;
        }
        if memory::is_short_for_a_sample() {
            return Taken::Unstoppable;
        }
        if token != self.last_token {
            priority::follow_main();
        }
        let found = match self.art {
            Some(art) => self.check_and_walk(env, art, token, interval_ns),
            None => self.ask_java(env, token, interval_ns),
        };
        let sample = match found {
            Ok(sample) => sample,
            Err(taken) => return taken,
        };
        let source = if self.art.is_some() { StackSource::Art } else { StackSource::JavaApi };
        self.missed = self.missed.saturating_add(self.schedule.take_missed());
        self.last_progress = Progress::now(self.session, token);
        let cpu_ns = self.last_progress.map(|progress| progress.cpu_ns);
        let Sample { at_ns, stop_ns, .. } = sample;
        let queued = QueuedSample { token, start_ns, missed: self.missed, cpu_ns, source, sample };
        if self.queue.try_push(queued).is_ok() {
            self.missed = 0;
        } else {
            self.missed = self.missed.saturating_add(1);
        }
        self.last_token = token;
        self.unannounced += 1;
        let age_ns = at_ns.since(start_ns);
        if self.unannounced >= BATCH || self.session.monitor.blocks_now(age_ns, interval_ns) {
            self.unannounced = 0;
            self.session.wake_worker();
        }
        Taken::Stack { stop_ns }
    }

    /// Suspends the main thread if it can stop soon, walks its stack, and resumes it.
    fn check_and_walk(
        &mut self,
        env: &mut Env<'_>,
        art: &Art,
        token: Token,
        interval_ns: u64,
    ) -> Result<Sample<Stack>, Taken> {
        self.symbolizer.prepare(&self.session.symbols);
        let walker =
            Walker { art, session: self.session, symbolizer: &mut self.symbolizer, raw: &mut self.raw };
        let mut job = Job::Sample(SampleJob { walker, suspended: None, wanted: token, found: None });
        let armed = art.armed();
        // Without a suspended thread it warms up: afterwards the processor's caches have what the walk needs.
        call(env, &mut job, |classes| classes.native_walk).map_err(|_| Taken::Failed)?;
        // Right before it is asked: what may come in between, as the first touch of a page that does not
        // come, keeps the sampler until main has it.
        let before = std::mem::replace(&mut self.last_progress, Progress::now(self.session, token));
        if let Some(why) = unstoppable(art, before, self.last_progress) {
            art.left_out(why);
            return Err(Taken::Unstoppable);
        }
        let urgent = Urgent::begin();
        let _stop = self.session.shared.stops.begin();
        // Once more, within the stop: a signal that is forwarded from now on waits for its end.
        if signal_catcher::is_tracing() {
            art.left_out(Unstoppable::Trace);
            return Err(Taken::Unstoppable);
        }
        let suspended = art.suspend_main(env.of_art()).map_err(|_| Taken::Failed)?;
        #[cfg(debug_assertions)]
        {
            fault::main_is_stopped();
            fault::trace_begins(signal_catcher::thread());
        }
        let Job::Sample(sample) = &mut job else { return Err(Taken::Failed) };
        sample.suspended = Some(suspended);
        let called = call(env, &mut job, |classes| classes.native_walk);
        let Job::Sample(mut sample) = job else { return Err(Taken::Failed) };
        if let Some(suspended) = sample.suspended.take() {
            // The call did not reach the native method: resume the main thread all the same.
            suspended.resume();
        }
        drop(armed);
        drop(urgent);
        called.map_err(|_| Taken::Failed)?;
        let (at_ns, stop_ns) = sample.found.ok_or(Taken::Gone)?;
        let Some(frames) = sample.walker.number(env) else {
            self.missed = self.missed.saturating_add(1);
            return Err(Taken::Gone);
        };
        Ok(Sample { frames, at_ns, stop_ns, interval_ns })
    }

    /// Takes a stack through Java. It is not known how long the main thread is stopped: at most for the whole
    /// call.
    fn ask_java(
        &mut self,
        env: &mut Env<'_>,
        token: Token,
        interval_ns: u64,
    ) -> Result<Sample<Stack>, Taken> {
        if !java_fallback::may_ask(self.session) {
            return Err(Taken::Unstoppable);
        }
        let at_ns = clock::now_ns();
        let frames = java_fallback::take_stack(env, &self.session.symbols).ok_or(Taken::Failed)?;
        let stop_ns = clock::now_ns().since(at_ns);
        let same = self.session.shared.main.token() == token;
        same.then_some(Sample { frames, at_ns, stop_ns, interval_ns }).ok_or(Taken::Gone)
    }
}

#[cfg(test)]
mod tests {
    use super::layout_name;

    #[test]
    fn a_layout_is_named_after_all_versions_that_have_it() {
        assert_eq!(layout_name(&[]), "layout discovered");
        assert_eq!(layout_name(&["10"]), "table of ART 10");
        assert_eq!(layout_name(&["14", "15", "16"]), "table of ART 14, 15 or 16");
    }
}
