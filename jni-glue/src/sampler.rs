//! The sampler thread: takes stacks of messages that run long.

use crate::session::Session;
use crate::stacks::{Locator, Stack};
use crate::{clock, funnel, java, log};
use jni::objects::JClass;
use jni::{Env, EnvUnowned, sys};
use loopbox_art::{Art, DiscoverOptions, KnownMethod, RawStack, Suspended, ThreadEnv};
use loopbox_format::model::Feature;
use loopbox_recorder::{Activity, Schedule, Step, Taken};
use loopbox_store::SamplerMarks;
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

/// What the natives below work on; the sampler's stack has it while it calls them.
enum Job<'a> {
    Discover { main: MainEnv, api_level: u32, found: Option<Result<Art, String>> },
    Walk(Walk<'a>),
}

struct Walk<'a> {
    art: &'a Art,
    session: &'a Session,
    marks: &'a mut SamplerMarks,
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

/// The body of the thread: until the session ends or sampling is found not to work.
pub(crate) fn run(
    env: &mut Env<'_>,
    session: &Session,
    main: MainEnv,
    mut marks: SamplerMarks,
    mut queue: Queue,
) {
    let features = &session.features;
    if session.earlier.wait().died_sampling {
        let reason = "off for this run: the last process ended while its main thread was stopped for a stack";
        return features.set(Feature::Sampler, false, reason);
    }
    marks.open_fuse();
    let found = find_art(env, main, session.settings.api_level);
    marks.close_fuse();
    let art = match found {
        Ok(art) => art,
        Err(reason) => return features.set(Feature::Sampler, false, reason),
    };
    let module = art.module();
    let table = module.generation.map_or("layout discovered".to_owned(), |g| format!("table of ART {g}"));
    features.set(Feature::Sampler, true, format!("{table}, {}", module.suspend));
    session.wake_worker();

    let mut sampler = Sampler {
        session,
        art: &art,
        marks: &mut marks,
        queue: &mut queue,
        schedule: Schedule::new(&session.settings.recorder.sampling),
        locator: Locator::default(),
        raw: Box::new(RawStack::new()),
        last_token: 0,
        unseen: 0,
        missed: 0,
    };
    if let Err(reason) = sampler.run(env) {
        log::warn(&format!("sampling is off: {reason}"));
        features.set(Feature::Sampler, false, reason);
        session.wake_worker();
    }
}

struct Sampler<'a> {
    session: &'a Session,
    art: &'a Art,
    marks: &'a mut SamplerMarks,
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
    fn run(&mut self, env: &mut Env<'_>) -> Result<(), String> {
        let shared = &self.session.shared;
        while !shared.stopped() {
            let now = clock::now_ns();
            let activity = shared.activity();
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
            self.marks.beat(now);
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
        self.marks.open_fuse();
        let mut job = Job::Walk(Walk {
            art: self.art,
            session: self.session,
            marks: self.marks,
            locator: &mut self.locator,
            raw: &mut self.raw,
            suspended: None,
            wanted: token,
            found: None,
        });
        // Without a stopped thread it is a rehearsal, after which nothing that the walk needs is far from the processor.
        let mut hop = call(env, &mut job, |java| java.native_walk);
        let Job::Walk(walk) = &mut job else { return Taken::Failed };
        let stopped = hop.is_ok().then(|| self.art.suspend_main(env.get_raw().cast()).ok()).flatten();
        let Some(suspended) = stopped else {
            walk.marks.close_fuse();
            return Taken::Failed;
        };
        walk.suspended = Some(suspended);
        hop = call(env, &mut job, |java| java.native_walk);
        let Job::Walk(mut walk) = job else { return Taken::Failed };
        if let Some(suspended) = walk.suspended.take() {
            // The call did not arrive: let the main thread go all the same.
            suspended.resume();
            walk.marks.close_fuse();
        }
        if hop.is_err() {
            return Taken::Failed;
        }
        let Some(Found { at_ns, stop_ns, generation, stack }) = walk.found else { return Taken::Gone };
        self.missed = self.missed.saturating_add(self.schedule.take_missed());
        let cpu_ns = self.session.main_cpu.and_then(clock::of);
        let missed = self.missed;
        let sample =
            Sample { token, start_ns, at_ns, stop_ns, interval_ns, missed, cpu_ns, generation, stack };
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
}

fn find_art(env: &mut Env<'_>, main: MainEnv, api_level: u32) -> Result<Art, String> {
    let mut job = Job::Discover { main, api_level, found: None };
    call(env, &mut job, |java| java.native_discover)?;
    match job {
        Job::Discover { found: Some(found), .. } => found,
        _ => Err("the check did not run".to_owned()),
    }
}

/// Calls one of the natives below through Java, with the job at hand.
fn call(
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
        let Some(Job::Discover { main, api_level, found }) = job else { return Ok(()) };
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
    let Some(Job::Walk(job)) = (unsafe { JOB.get().cast::<Job<'_>>().as_mut() }) else { return };
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
    job.marks.close_fuse();
    if token == job.wanted {
        let (stack, generation) = job.locator.locate(job.art, &job.session.names, token, job.raw);
        job.found = Some(Found { at_ns, stop_ns, generation, stack });
    }
}
