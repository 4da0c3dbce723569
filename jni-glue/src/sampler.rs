//! The sampler thread: takes stacks of messages that run long.

use crate::session::Session;
use crate::stacks::{Locator, Stack};
use crate::{attach, clock, fallback, funnel, guard, java, log, others};
use jni::objects::JClass;
use jni::{Env, EnvUnowned, sys};
use loopbox_art::{Art, DiscoverOptions, Fuse, KnownMethod, Phase, RawStack, Suspended, ThreadEnv};
use loopbox_format::model::{Feature, StackSource};
use loopbox_recorder::{Activity, Schedule, Step, Taken};
use loopbox_store::{Disarmed, RingFuse, count_start};
use ringbuf::traits::Producer;
use ringbuf::{CachingProd, HeapRb};
use std::cell::Cell;
use std::ffi::c_void;
use std::ptr;
use std::sync::Arc;

/// How many samples wait for the worker at most.
pub(crate) const QUEUE: usize = 64;
/// The worker is woken for this many at once.
const BATCH: u32 = 8;

pub(crate) const SWITCHED_OFF: &str = "switched off by the app";

/// A stack on its way to the worker.
#[derive(Clone, Copy)]
pub(crate) struct Sample {
    pub(crate) token: u64,
    pub(crate) start_ns: u64,
    pub(crate) at_ns: u64,
    pub(crate) stop_ns: u64,
    pub(crate) interval_ns: u64,
    /// Samples of this message that were due before this one and not taken.
    pub(crate) missed: u32,
    /// CPU time of the main thread when it was taken.
    pub(crate) cpu_ns: Option<u64>,
    /// How it was taken.
    pub(crate) source: StackSource,
    /// Of the numbers in `stack`.
    pub(crate) generation: u32,
    pub(crate) stack: Stack,
}

/// The sampler's end of the queue.
pub(crate) type Queue = CachingProd<Arc<HeapRb<Sample>>>;

/// The main thread as the sampler needs it.
#[derive(Clone, Copy)]
pub(crate) struct MainEnv(pub(crate) ThreadEnv);

// SAFETY: the environment is only read for what identifies its thread (process_vm_readv), never called through.
unsafe impl Send for MainEnv {}

/// The ring's word, which outlives the process.
struct RingMark(RingFuse);

impl Fuse for RingMark {
    fn mark(&self, phase: Phase) {
        self.0.mark(phase as u8);
    }
}

/// What the natives below work on; the sampler's stack has it while it calls them.
pub(crate) enum Job<'a> {
    Discover { main: MainEnv, api_level: u32, fuse: RingFuse, found: Option<Result<Art, String>> },
    Walk(Walk<'a>),
    Look(others::Hop<'a>),
}

pub(crate) struct Walk<'a> {
    art: &'a Art,
    session: &'a Session,
    locator: &'a mut Locator,
    raw: &'a mut RawStack,
    suspended: Option<Suspended<'a>>,
    wanted: u64,
    found: Option<Found>,
}

struct Found {
    at_ns: u64,
    stop_ns: u64,
    generation: u32,
    stack: Stack,
}

thread_local! {
    static JOB: Cell<*mut c_void> = const { Cell::new(ptr::null_mut()) };
}

/// What the thread is started with.
pub(crate) struct Parts {
    pub(crate) main: MainEnv,
    pub(crate) fuse: RingFuse,
    pub(crate) queue: Queue,
}

/// The body of the thread: until the session ends or sampling is found not to work.
pub(crate) fn run(env: &mut Env<'_>, session: &Arc<Session>, parts: Parts) {
    if let Err(reason) = sample_all(env, session, parts) {
        log::warn(&["sampling is off: ", &reason].concat());
        session.features.set(Feature::Sampler, false, reason);
        session.wake_worker();
    }
    session.shared.end_sampling();
}

fn sample_all(env: &mut Env<'_>, session: &Arc<Session>, mut parts: Parts) -> Result<(), String> {
    let sampling = &session.settings.recorder.sampling;
    let (art, detail, schedule) = match find_art(env, session, &parts) {
        Ok(art) => {
            let module = art.module();
            let table =
                module.generation.map_or("layout discovered".to_owned(), |g| ["table of ART ", g].concat());
            let detail = [&table, ", ", module.suspend].concat();
            let art = session.art.get_or_init(|| art);
            start_guard(session)?;
            (Some(art), detail, Schedule::new(sampling))
        }
        Err(reason) if fallback::is_safe() => {
            let detail = ["by Thread.getStackTrace: ", &reason].concat();
            (None, detail, Schedule::new(&fallback::sampling(sampling)))
        }
        Err(reason) => return Err(reason),
    };
    session.shared.set_answers(art.is_some());
    session.features.set(Feature::Sampler, true, detail.as_str());
    session.wake_worker();

    let mut sampler = Sampler {
        session,
        art,
        queue: &mut parts.queue,
        schedule,
        locator: Locator::default(),
        raw: Box::new(RawStack::new()),
        last_token: 0,
        unseen: 0,
        missed: 0,
    };
    sampler.run(env, &detail)
}

fn start_guard(session: &Arc<Session>) -> Result<(), String> {
    let java = java::get().ok_or("the library is not loaded")?;
    let guarded = Arc::clone(session);
    let started = attach::spawn(&java.vm, "loopbox-guard", move |_| {
        if let Some(art) = guarded.art.get() {
            guard::run(&guarded, art);
        }
    });
    started.map_err(|error| ["no guard: ", &error.to_string()].concat())
}

struct Sampler<'a> {
    session: &'a Session,
    /// `None`: by the Java API.
    art: Option<&'a Art>,
    queue: &'a mut Queue,
    schedule: Schedule,
    locator: Locator,
    raw: Box<RawStack>,
    /// The message sampled last.
    last_token: u64,
    /// Samples that the worker was not woken for yet.
    unseen: u32,
    missed: u32,
}

impl Sampler<'_> {
    fn run(&mut self, env: &mut Env<'_>, detail: &str) -> Result<(), String> {
        let shared = &self.session.shared;
        let mut was_off = false;
        while !shared.sampling_ended() {
            let now = clock::now_ns();
            // Before the switch is looked at: a message that began after it was switched off is never sampled.
            let activity = shared.activity();
            let off = shared.is_off();
            if off != was_off {
                was_off = off;
                self.session.features.set(Feature::Sampler, !off, if off { SWITCHED_OFF } else { detail });
                self.session.wake_worker();
            }
            shared.set_answers(!off && self.art.is_some());
            if off {
                shared.take_asked();
                shared.pause();
                self.schedule.distracted();
                continue;
            }
            if shared.take_asked()
                && let Some(art) = self.art
            {
                let (locator, raw) = (&mut self.locator, &mut *self.raw);
                others::Looker { art, session: self.session, locator, raw }.look(env);
                self.schedule.distracted();
                continue;
            }
            let (running, start_ns) = match activity {
                Activity::Idle { .. } => (0, 0),
                Activity::Running { token, start_ns } => (token, start_ns),
            };
            if self.last_token != 0 && self.last_token != running {
                // The sampled message has ended: its tree is complete.
                self.last_token = 0;
                self.unseen = 0;
                self.session.wake_worker();
            }
            self.session.reader.beat(now);
            self.schedule.set_background(shared.in_background());
            let (advised_token, advised_ns) = shared.advice();
            self.schedule.advise(advised_token, advised_ns);
            let step = self.schedule.next(now, activity);
            if let Some(late) = self.schedule.take_late_ns() {
                shared.note_late(late);
            }
            match step {
                Step::Park => shared.park(),
                Step::SleepUntil(deadline_ns) => shared.sleep_until(deadline_ns),
                Step::Sample { token, interval_ns } => {
                    let taken = self.sample(env, token, start_ns, interval_ns);
                    self.schedule.taken(clock::now_ns(), taken);
                }
                Step::Stop(reason) => return Err(reason.to_string()),
            }
        }
        Ok(())
    }

    fn sample(&mut self, env: &mut Env<'_>, token: u64, start_ns: u64, interval_ns: u64) -> Taken {
        if self.session.shared.token() != token {
            return Taken::Gone;
        }
        let found = match self.art {
            Some(art) => self.walk(env, art, token),
            // Who is frozen in the middle of it is ended by its time-out on thawing.
            None if self.session.shared.in_background() => Err(Taken::Gone),
            None => self.ask_java(env, token),
        };
        let Found { at_ns, stop_ns, generation, stack } = match found {
            Ok(found) => found,
            Err(taken) => return taken,
        };
        let source = if self.art.is_some() { StackSource::Art } else { StackSource::JavaApi };
        self.missed = self.missed.saturating_add(self.schedule.take_missed());
        let cpu_ns = self.session.main_cpu.and_then(clock::of);
        let missed = self.missed;
        let sample = Sample {
            token,
            start_ns,
            at_ns,
            stop_ns,
            interval_ns,
            missed,
            cpu_ns,
            source,
            generation,
            stack,
        };
        if self.queue.try_push(sample).is_ok() {
            self.missed = 0;
        } else {
            self.missed = self.missed.saturating_add(1);
        }
        self.last_token = token;
        self.unseen += 1;
        if self.unseen >= BATCH {
            self.unseen = 0;
            self.session.wake_worker();
        }
        Taken::Stack { stop_ns }
    }

    /// Stops the main thread, walks, lets it go.
    fn walk(&mut self, env: &mut Env<'_>, art: &Art, token: u64) -> Result<Found, Taken> {
        let mut job = Job::Walk(Walk {
            art,
            session: self.session,
            locator: &mut self.locator,
            raw: &mut self.raw,
            suspended: None,
            wanted: token,
            found: None,
        });
        // Without a stopped thread it is a rehearsal, after which nothing that the walk needs is far from the processor.
        call(env, &mut job, |java| java.native_walk).map_err(|_| Taken::Failed)?;
        let suspended = art.suspend_main(env.get_raw().cast()).map_err(|_| Taken::Failed)?;
        #[cfg(debug_assertions)]
        crate::fault::main_is_stopped();
        let Job::Walk(walk) = &mut job else { return Err(Taken::Failed) };
        walk.suspended = Some(suspended);
        let hop = call(env, &mut job, |java| java.native_walk);
        let Job::Walk(mut walk) = job else { return Err(Taken::Failed) };
        if let Some(suspended) = walk.suspended.take() {
            // The call did not arrive: let the main thread go all the same.
            suspended.resume();
        }
        hop.map_err(|_| Taken::Failed)?;
        walk.found.ok_or(Taken::Gone)
    }

    /// The same through Java. What the main thread is kept stopped is not known, the whole call at most.
    fn ask_java(&mut self, env: &mut Env<'_>, token: u64) -> Result<Found, Taken> {
        let at_ns = clock::now_ns();
        let (stack, generation) = fallback::take(env, &self.session.names).ok_or(Taken::Failed)?;
        let stop_ns = clock::now_ns().saturating_sub(at_ns);
        let same = self.session.shared.token() == token;
        same.then_some(Found { at_ns, stop_ns, generation, stack }).ok_or(Taken::Gone)
    }
}

/// Android 8. The sources of older releases were not read for what the self-check does, so it is not tried there.
const FIRST_API_LEVEL: u32 = 26;

/// Whether the self-check may be tried; why not.
fn check_release(api_level: u32) -> Result<(), String> {
    if api_level < FIRST_API_LEVEL { Err("unknown ART: older than Android 8".to_owned()) } else { Ok(()) }
}

/// Finds ART, unless an earlier process did not survive what comes with it.
fn find_art(env: &mut Env<'_>, session: &Session, parts: &Parts) -> Result<Art, String> {
    check_release(session.settings.api_level)?;
    let blown = &session.earlier.wait().blown;
    if let Some(off) = count_start(&session.settings.directory, session.libart, blown) {
        return Err(disarmed(off));
    }
    #[cfg(debug_assertions)]
    if crate::fault::unknown_art() {
        return Err("unknown ART: a test says so".to_owned());
    }
    let (main, fuse) = (parts.main, parts.fuse.clone());
    let mut job = Job::Discover { main, api_level: session.settings.api_level, fuse, found: None };
    call(env, &mut job, |java| java.native_discover)?;
    match job {
        Job::Discover { found: Some(found), .. } => found,
        _ => Err("the check did not run".to_owned()),
    }
}

fn disarmed(off: Disarmed) -> String {
    let phase = Phase::from_mark(u32::from(off.phase)).map_or("unknown", Phase::name);
    let left = off.starts_left.to_string();
    ["fuse blown, an earlier process ended in phase ", phase, "; starts until the next try: ", &left].concat()
}

/// Calls one of the natives below through Java, with the job at hand.
pub(crate) fn call(
    env: &mut Env<'_>,
    job: &mut Job<'_>,
    method: impl FnOnce(&java::Java) -> jni::ids::JStaticMethodID,
) -> Result<(), String> {
    let java = java::get().ok_or("the library is not loaded")?;
    let raw = env.get_raw();
    let (class, method) = (java.native.as_raw(), method(java).into_raw());
    JOB.set(ptr::from_mut(job).cast());
    // SAFETY: class and method were looked up together; it takes no arguments and returns nothing. `job` lives
    // across the call and is not touched here meanwhile. Raw, because the main thread may be stopped: the jni
    // crate's way allocates nothing either, but does not promise to.
    let threw = unsafe {
        ((**raw).v1_1.CallStaticVoidMethodA)(raw, class, method, ptr::null());
        ((**raw).v1_2.ExceptionCheck)(raw)
    };
    JOB.set(ptr::null_mut());
    if threw {
        env.exception_clear();
        return Err("the call through Java failed".to_owned());
    }
    Ok(())
}

/// `Native.discover`: plain, because the thread's state is remembered as "in native code".
pub(crate) extern "system" fn discover<'local>(env: EnvUnowned<'local>, _: JClass<'local>) {
    funnel::enter(env, |env| {
        // SAFETY: null, or the job that `call` on this thread's stack has put there.
        let job = unsafe { JOB.get().cast::<Job<'_>>().as_mut() };
        let Some(Job::Discover { main, api_level, fuse, found }) = job else { return Ok(()) };
        let Some(java) = java::get() else { return Ok(()) };
        let known = |id: jni::ids::JStaticMethodID, method| KnownMethod {
            id: id.into_raw().cast(),
            class: "io.loopbox.Native",
            method,
            signature: "()V",
        };
        let options = DiscoverOptions {
            // A test host's level says nothing about its ART.
            api_level: cfg!(target_os = "android").then_some(*api_level),
            known: &[known(java.native_discover, "discover"), known(java.native_walk, "walk")],
            main: Some(main.0),
            fuse: Some(Arc::new(RingMark(fuse.clone()))),
            ..DiscoverOptions::default()
        };
        let art = Art::discover(java.vm.get_raw().cast(), env.get_raw().cast(), &options);
        *found = Some(art.map_err(|off| off.to_string()));
        Ok(())
    });
}

/// `Native.walk`: fast, so that this thread is runnable and no collection can move or unload what it reads. Until the
/// main thread goes on, nothing here allocates, locks, logs or panics.
pub(crate) extern "system" fn walk(env: *mut sys::JNIEnv, _: sys::jclass) {
    // SAFETY: null, or the job that `call` on this thread's stack has put there.
    let job = match unsafe { JOB.get().cast::<Job<'_>>().as_mut() } {
        Some(Job::Walk(job)) => job,
        Some(Job::Look(hop)) => return others::hop(hop, env),
        _ => return,
    };
    let Some(suspended) = job.suspended.take() else {
        job.art.rehearse(env.cast(), job.raw);
        return;
    };
    let at_ns = suspended.held_ns();
    job.art.walk(&suspended, job.raw);
    let token = job.session.shared.token();
    // Before it is let go: the woken thread often takes this one's processor, and then its own running would count.
    let stop_ns = clock::now_ns().saturating_sub(at_ns);
    suspended.resume();
    if token == job.wanted {
        let (stack, generation) = job.locator.locate(job.art, &job.session.names, token, job.raw);
        job.found = Some(Found { at_ns, stop_ns, generation, stack });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn releases_before_the_first_that_was_looked_at_are_left_alone() {
        assert_eq!(check_release(FIRST_API_LEVEL), Ok(()));
        assert_eq!(check_release(99), Ok(()), "newer ones are for the self-check to decide");
        for api_level in [21, 25] {
            assert!(check_release(api_level).is_err_and(|reason| reason.starts_with("unknown ART")));
        }
    }
}
