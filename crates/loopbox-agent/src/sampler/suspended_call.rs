//! Calls through Java into native methods of ours, so that ART has this thread in the state that the work
//! needs: "in native code" to find ART, "runnable" (`@FastNative`) to read a suspended thread's stack,
//! because then no collection can move or unload what is read.

use super::symbolizer::{StackOwner, Symbolizer};
use crate::error::SamplerError;
use crate::jni::class_cache::{self, ClassCache};
use crate::jni::entry;
use crate::jni::env::Env;
use crate::session::Session;
use crate::session::symbols::Stack;
use crate::sys::clock;
#[cfg(debug_assertions)]
use crate::sys::fault;
use jni::ids::JStaticMethodID;
use jni::objects::JClass;
use jni::{EnvUnowned, sys};
use loopbox_art::{
    Art, DiscoverOptions, Fuse, JniEnv, KnownMethod, KnownSymbols, Lock, Off, Phase, RawStack, Suspended,
    ThreadEnv,
};
#[cfg(debug_assertions)]
use loopbox_format::model::Feature;
use loopbox_format::model::{Token, Uptime};
use loopbox_store::{RingFuse, keep_symbols, known_symbols};
use std::cell::Cell;
use std::ffi::c_void;
use std::ptr;
use std::sync::Arc;

/// Writes the phase of a stop into the ring. The ring outlives the process.
struct RingMark(RingFuse);

impl Fuse for RingMark {
    fn mark(&self, phase: Phase) {
        self.0.mark(phase as u8, clock::now_ns());
    }

    fn arm(&self, phase: Phase) {
        self.0.arm(phase as u8, clock::now_ns());
    }

    fn settle(&self) {
        self.0.settle();
    }
}

/// Keeps the addresses of ART's hidden functions in a file in the app's directory.
pub(crate) struct KeptSymbols<'a> {
    pub(crate) session: &'a Session,
}

impl KnownSymbols for KeptSymbols<'_> {
    fn load(&self) -> Option<String> {
        known_symbols(&self.session.settings.directory, self.session.libart)
    }

    fn keep(&self, text: &str) {
        if let Some(_inside) = self.session.gate.enter() {
            keep_symbols(&self.session.settings.directory, self.session.libart, text);
        }
    }
}

/// The work of the native methods below. It lies on the sampler's stack while the sampler calls them.
pub(crate) enum Job<'a> {
    /// Find ART.
    Discover {
        main: ThreadEnv,
        api_level: u32,
        symbols: KeptSymbols<'a>,
        fuse: RingFuse,
        found: Option<Result<Box<Art>, Off>>,
    },
    /// Check the walk, as a part of finding ART.
    Check(&'a mut dyn FnMut()),
    /// Take the main thread's stack.
    Sample(SampleJob<'a>),
    /// Take another thread's stack, or find out about a lock.
    Inspect(InspectJob<'a>),
    /// Read the names that did not fit into the call that took the stack.
    Name(Walker<'a>),
}

/// What a walk needs, of the main thread or of another one.
pub(crate) struct Walker<'a> {
    pub(crate) art: &'a Art,
    pub(crate) session: &'a Session,
    pub(crate) symbolizer: &'a mut Symbolizer,
    pub(crate) raw: &'a mut RawStack,
}

/// One sample of the main thread.
pub(crate) struct SampleJob<'a> {
    pub(crate) walker: Walker<'a>,
    /// `None`: nothing is stopped, and the call only warms up the code and data of the walk.
    pub(crate) suspended: Option<Suspended<'a>>,
    /// The message whose stack is wanted.
    pub(crate) wanted: Token,
    /// When main was known to be stopped, and how long it was stopped at most. `None` unless main was still
    /// in the message `wanted`.
    pub(crate) found: Option<(Uptime, u64)>,
}

/// One step of a thread dump.
pub(crate) struct InspectJob<'a> {
    pub(crate) walker: Walker<'a>,
    /// The suspended thread and its id; `None` for the main thread, of which only the lock is wanted.
    pub(crate) suspended: Option<(Suspended<'a>, u32)>,
    pub(crate) wants_lock: bool,
    /// Whether the thread's stack was read.
    pub(crate) has_stack: bool,
    pub(crate) lock: Option<Lock>,
}

thread_local! {
    static JOB: Cell<*mut c_void> = const { Cell::new(ptr::null_mut()) };
}

/// Calls one of the native methods below through Java, with this job.
pub(crate) fn call(
    env: &mut Env<'_>,
    job: &mut Job<'_>,
    method: impl FnOnce(&ClassCache) -> JStaticMethodID,
) -> Result<(), SamplerError> {
    let classes = class_cache::get().ok_or(SamplerError::NotLoaded)?;
    let raw = env.get_raw();
    let (class, method) = (classes.native.as_raw(), method(classes).into_raw());
    JOB.set(ptr::from_mut(job).cast());
    // SAFETY: class and method were looked up together; it takes no arguments and returns nothing. `job`
    // lives across the call and is not touched here meanwhile. Raw, because the main thread may be stopped:
    // the jni crate's way allocates nothing either, but does not promise to.
    let threw = unsafe {
        ((**raw).v1_1.CallStaticVoidMethodA)(raw, class, method, ptr::null());
        ((**raw).v1_2.ExceptionCheck)(raw)
    };
    JOB.set(ptr::null_mut());
    if threw {
        env.exception_clear();
        return Err(SamplerError::CallFailed);
    }
    Ok(())
}

/// `Native.discover`: finds ART. It is a plain native method, because discovery remembers this thread's state
/// as "in native code".
pub extern "system" fn discover<'local>(env: EnvUnowned<'local>, _: JClass<'local>) {
    entry::enter(env, |env| {
        // SAFETY: null, or the job that `call` on this thread's stack has put there.
        let job = unsafe { JOB.get().cast::<Job<'_>>().as_mut() };
        let Some(Job::Discover { main, api_level, symbols, fuse, found }) = job else { return Ok(()) };
        let Some(classes) = class_cache::get() else { return Ok(()) };
        let known = |id: JStaticMethodID, method| KnownMethod {
            id: id.into_raw().cast(),
            class: "io.loopbox.internal.recording.Native",
            method,
            signature: "()V",
        };
        let options = DiscoverOptions {
            // A test host's API level is unrelated to its ART.
            api_level: cfg!(target_os = "android").then_some(*api_level),
            known: &[known(classes.native_walk, "walk"), known(classes.native_discover, "discover")],
            main: Some(*main),
            symbols: Some(symbols),
            fuse: Some(Arc::new(RingMark(fuse.clone()))),
            ..DiscoverOptions::default()
        };
        let art = Art::discover(classes.vm_of_art(), env.of_art(), &options, |check| {
            // Where the call fails, discovery sees that nothing was checked.
            let _ = call(env, &mut Job::Check(check), |classes| classes.native_walk);
        });
        *found = Some(art.map(Box::new));
        Ok(())
    });
}

/// `Native.walk`: does the job for which this thread must be runnable. It is `@FastNative`, so that no
/// collection can move or unload what is read. Until the suspended thread is resumed, nothing here allocates,
/// locks, logs or panics.
///
/// # Safety
/// Called by the VM: `env` is the calling thread's.
pub unsafe extern "system" fn walk(env: *mut sys::JNIEnv, _: sys::jclass) {
    // SAFETY: the VM's promise.
    let env = unsafe { JniEnv::from_raw(env.cast()) };
    // SAFETY: null, or the job that `call` on this thread's stack has put there.
    match unsafe { JOB.get().cast::<Job<'_>>().as_mut() } {
        Some(Job::Check(check)) => check(),
        Some(Job::Sample(job)) => sample(job, env),
        Some(Job::Inspect(job)) => inspect(job, env),
        Some(Job::Name(walker)) => walker.symbolizer.read_more(walker.art.names(env)),
        _ => {}
    }
}

fn sample(job: &mut SampleJob<'_>, env: JniEnv) {
    let walker = &mut job.walker;
    let Some(suspended) = job.suspended.take() else {
        walker.art.warm_up(env, walker.raw);
        return;
    };
    let at_ns = Uptime(suspended.held_ns());
    #[cfg(debug_assertions)]
    walker.art.while_read(&suspended, || fault::stack_is_read(|| is_off(walker.session)));
    walker.art.walk(&suspended, walker.raw);
    let token = walker.session.shared.main.token();
    // Before it is resumed: the woken thread often takes this one's processor, and then its own running would
    // count. At most: up to ART 14 it may have stood still for milliseconds before this thread knew of it.
    let stop_ns = clock::now_ns().since(Uptime(suspended.asked_ns()));
    suspended.resume();
    if token == job.wanted {
        walker.read(StackOwner::Message(token), env);
        job.found = Some((at_ns, stop_ns));
    }
}

/// Whether the state of the sampler's feature is "off".
#[cfg(debug_assertions)]
fn is_off(session: &Session) -> bool {
    session.features.list().iter().any(|state| state.feature == Feature::Sampler && !state.on)
}

fn inspect(job: &mut InspectJob<'_>, env: JniEnv) {
    let walker = &mut job.walker;
    let art = walker.art;
    let object = match job.suspended.take() {
        Some((suspended, tid)) => {
            art.walk(&suspended, walker.raw);
            let object = if job.wants_lock { art.contended_by(env, &suspended) } else { None };
            suspended.resume();
            walker.read(StackOwner::Thread(tid), env);
            job.has_stack = true;
            object.filter(|_| !sleeps(art, walker.raw))
        }
        None => art.contended_by_main(env),
    };
    job.lock = object.map(|object| art.describe_lock(object));
}

impl Walker<'_> {
    fn read(&mut self, owner: StackOwner, env: JniEnv) {
        self.symbolizer.read(self.art.names(env), owner, self.raw);
    }

    /// Reads the names that are left, and then numbers the frames of the stack that was read. In native
    /// state. `None` when a call failed, or when the symbol table was renumbered since the walk.
    pub(crate) fn number(self, env: &mut Env<'_>) -> Option<Stack> {
        let mut job = Job::Name(self);
        loop {
            let Job::Name(walker) = &mut job else { return None };
            if !walker.symbolizer.has_more() {
                return walker.symbolizer.number(&walker.session.symbols, walker.raw);
            }
            call(env, &mut job, |classes| classes.native_walk).ok()?;
        }
    }
}

/// Whether the thread is in `Thread.sleep`, which waits on a monitor that no other thread uses.
fn sleeps(art: &Art, stack: &RawStack) -> bool {
    let top = stack.frames().next().and_then(|frame| art.describe(frame.method));
    top.is_some_and(|top| top.method == "sleep" && top.class == "java.lang.Thread")
}
