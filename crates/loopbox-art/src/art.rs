//! The sampler's interface: discovery, the suspend window, names.

mod joined;
mod self_check;
mod suspended;
mod threads;

use std::marker::PhantomData;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::discover::{self, Findings, FoundThread, KnownMethod, Library, Match, ThreadEnv};
use crate::fuse::{Fuse, Phase};
use crate::jni::{JavaVm, JniEnv};
use crate::known::KnownSymbols;
use crate::names::{Fingerprint, MethodName, Namer, Names, Served};
use crate::off::{Off, SuspendError};
use crate::offsets::{NAME_LAYOUTS, NameLayout, ROWS};
use crate::stack::{Frame, MethodRef, RawStack};
use crate::symbols::{GetContendedMonitor, GetLockOwner, Opaque, Suspension};
use crate::sys::{self, mem};
use crate::thread_state::{RUNNABLE, is_suspended, runs_java, state_of};
use crate::visitor::{DEFAULT_DEPTH_LIMIT, Walker};
use crate::window::{Reclaimed, SuspendWindow};

use self::self_check::{choose_namer, own_stack};

pub use self::joined::Joined;
pub use self::suspended::Suspended;

/// ART's number of a thread (the thin-lock id), reused after the thread's end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ThreadId(pub(crate) u32);

/// The arguments of discovery.
#[derive(Default)]
pub struct DiscoverOptions<'a> {
    /// `Build.VERSION.SDK_INT`; `None` where it does not imply the ART version (test hosts).
    pub api_level: Option<u32>,
    /// Methods whose names and identities the caller knows. The first must be the fast native method that
    /// `fast_call` calls: the self-check expects it at the top of the calling thread's stack.
    pub known: &'a [KnownMethod<'a>],
    /// The main thread, when it is not the calling one.
    pub main: Option<ThreadEnv>,
    /// Keeps the addresses of ART's hidden functions for the next process. Without it they are searched for
    /// in each process.
    pub symbols: Option<&'a dyn KnownSymbols>,
    /// Marks the dangerous phases for the next process. Without a fuse, the next process does not learn that
    /// this process ended in such a phase.
    pub fuse: Option<Arc<dyn Fuse>>,
    /// How many frames are visited at most; 0 for [`DEFAULT_DEPTH_LIMIT`].
    pub depth_limit: u32,
}

/// How the layout was determined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LayoutSource {
    /// A table row and the running process say the same.
    Confirmed,
    /// No row is about this build, and exactly one layout passed all checks.
    Discovered,
}

/// About the ART module, for the report.
#[derive(Debug, Clone)]
pub struct ModuleInfo {
    /// Path of the library.
    pub path: String,
    /// Build id in hex; empty when it has none.
    pub build_id: String,
    /// Ids of the table rows that agree with this ART in all values that are used; empty when the layout was
    /// discovered.
    pub rows: Vec<&'static str>,
    /// The ART generations of the table rows in `rows`, as in `"12"`, oldest first; empty when the layout was
    /// discovered.
    pub generations: Vec<&'static str>,
    /// Whether the layout is from table rows or was discovered.
    pub layout: LayoutSource,
    /// Signature of the suspend function.
    pub suspend: &'static str,
    /// Where the functions of ART were found: of `dlsym`, `.dynsym`, `.symtab` and `.gnu_debugdata`, the last
    /// one that was needed.
    pub symbols: &'static str,
    /// The layout numbers found, as `name=bytes` pairs: enough to write a table row.
    pub findings: String,
}

/// Counters since discovery. All durations in ns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Stats {
    /// How many suspensions held a thread.
    pub windows: u64,
    /// How many suspensions ART gave up on.
    pub timeouts: u64,
    /// Upper bound of the time that threads were held, summed: from each request to stop until the call that
    /// resumed the thread.
    pub held_ns: u64,
    /// Time that the calls to resume took, summed. Most of it is the resumed thread running on the caller's
    /// processor.
    pub resume_ns: u64,
    /// The longest time from a request to stop the main thread until the call that resumed it.
    pub longest_ns: u64,
    /// The longest time from when the main thread was known to be stopped until the call that resumed it.
    /// This is the sampler's part of `longest_ns`, without the time that the thread needed to stop.
    pub longest_known_ns: u64,
    /// The same as `longest_ns`, for any other thread.
    pub longest_other_ns: u64,
    /// How many suspensions were left out because the main thread was in an uninterruptible wait.
    pub uninterruptible: u64,
    /// How many suspensions were left out because the main thread had not run on a processor since the last
    /// check.
    pub starved: u64,
    /// How many suspensions were left out because ART was writing its own trace.
    pub trace: u64,
}

/// Why a thread was not asked to stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unstoppable {
    /// In Java code and in an uninterruptible wait, for example for a page that a file system does not
    /// deliver.
    Uninterruptible,
    /// In Java code, and without a processor for a while.
    Starved,
    /// ART writes its own trace. A thread that asks for a suspension meanwhile may have to wait for all
    /// threads.
    Trace,
}

/// What a guard could do about a suspend window that stays open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rescue {
    /// There is no thread to resume. ART still waits for the thread to stop (at most 10 s), or the thread has
    /// been resumed or is just being resumed.
    Nothing,
    /// The thread runs again.
    Resumed,
    /// A living thread reads the stopped thread's stack. The stopped thread must not run meanwhile.
    BeingRead,
}

/// ART in this process: found, checked, ready to sample the main thread.
pub struct Art {
    suspension: Suspension,
    locks: Option<(GetContendedMonitor, GetLockOwner)>,
    walker: Walker,
    thread_list: usize,
    main: FoundThread,
    native_state: u16,
    namer: Namer,
    served: Served,
    depth_limit: u32,
    fuse: Arc<dyn Fuse>,
    info: ModuleInfo,
    window: SuspendWindow,
    poisoned: AtomicBool,
    windows: AtomicU64,
    timeouts: AtomicU64,
    held_ns: AtomicU64,
    longest_ns: AtomicU64,
    longest_known_ns: AtomicU64,
    longest_other_ns: AtomicU64,
    resume_ns: AtomicU64,
    uninterruptible: AtomicU64,
    starved: AtomicU64,
    trace: AtomicU64,
}

/// A scope in which the process may stop or walk a thread. If the process ends in this scope, the next
/// process learns that it ended there. The value is created and dropped in native state, while no thread is
/// stopped.
#[must_use]
pub struct Armed<'a> {
    fuse: &'a dyn Fuse,
    /// The phase to mark when this is dropped; `None` when other code marks the end.
    over: Option<Phase>,
}

impl Drop for Armed<'_> {
    fn drop(&mut self) {
        self.over.inspect(|phase| self.fuse.mark(*phase));
        self.fuse.settle();
    }
}

fn check_begins(fuse: &dyn Fuse) -> Armed<'_> {
    fuse.arm(Phase::SelfCheck);
    fuse.mark(Phase::SelfCheck);
    Armed { fuse, over: Some(Phase::Idle) }
}

impl Art {
    /// Finds ART, runs all checks, and only if they pass returns a sampler.
    ///
    /// Called by an attached thread inside of a plain native method, not a `@FastNative` one: discovery reads
    /// the calling thread's state and takes its value for that of "native". No thread is suspended here.
    ///
    /// `fast_call` calls a static `@FastNative` method through Java, and that method runs the closure that is
    /// passed to `fast_call`. So the walk of the self-check, like every later walk, is done by a runnable
    /// thread.
    ///
    /// # Errors
    /// Anything that is not as expected; sampling then stays off for this process.
    pub fn discover(
        vm: JavaVm,
        env: JniEnv,
        options: &DiscoverOptions<'_>,
        fast_call: impl FnOnce(&mut dyn FnMut()),
    ) -> Result<Art, Off> {
        let fuse = options.fuse.as_ref();
        let begun = fuse.map(|fuse| check_begins(&**fuse));
        let library = Library::load(vm, options.symbols);
        drop(begun);
        Art::with_library(&library?, vm, env, options, fast_call)
    }

    /// As [`discover`](Art::discover), with symbols of the library that the caller has looked up.
    pub fn with_library(
        library: &Library,
        vm: JavaVm,
        env: JniEnv,
        options: &DiscoverOptions<'_>,
        fast_call: impl FnOnce(&mut dyn FnMut()),
    ) -> Result<Art, Off> {
        let fuse: Arc<dyn Fuse> = options.fuse.clone().unwrap_or_else(|| Arc::new(()));
        let _begun = check_begins(&*fuse);
        Art::check(library, vm, env, options, fast_call, &fuse)
    }

    fn check(
        library: &Library,
        vm: JavaVm,
        env: JniEnv,
        options: &DiscoverOptions<'_>,
        fast_call: impl FnOnce(&mut dyn FnMut()),
        fuse: &Arc<dyn Fuse>,
    ) -> Result<Art, Off> {
        let symbols = &library.symbols;
        let caller = discover::thread_of(ThreadEnv::current(env), vm.address())?;
        let main = match options.main {
            Some(main) => discover::thread_of(main, vm.address())?,
            None => caller,
        };
        if (main.thin_lock_id_at, main.jni_env_at) != (caller.thin_lock_id_at, caller.jni_env_at) {
            return Err(Off::UnknownArt("two threads are laid out differently"));
        }
        let runtime = discover::runtime_of(vm.address(), symbols.runtime_instance, &[main, caller])?;
        let native_state = state_of(caller.thread).ok_or(Off::UnknownArt("Thread is not readable"))?;
        if RUNNABLE.contains(&native_state) {
            return Err(Off::Misuse("discovery must run in native state, not in a fast native method"));
        }

        let walker = Walker::new(symbols);
        // SAFETY: the Thread is the calling thread's own, found through its own environment.
        let shape = unsafe { walker.probe(caller.thread) }.map_err(Off::UnknownArt)?;
        let findings = Findings {
            suspend: symbols.suspension.abi(),
            thread_list: runtime.thread_list_at,
            java_vm: runtime.java_vm_at,
            thin_lock_id: main.thin_lock_id_at,
            jni_env: main.jni_env_at,
            visitor_size: shape.size(),
            host_build: symbols.host_build,
        };
        let rows = match findings.compare(options.api_level)? {
            Match::Rows(rows) => rows,
            Match::NoRow => Vec::new(),
        };

        let own = own_stack(&walker, &caller, fast_call)?;
        let top = own.frames().next().ok_or(Off::WalkCheck("the caller's own stack is empty"))?;
        let layouts: Vec<(Option<usize>, NameLayout)> = if rows.is_empty() {
            NAME_LAYOUTS.iter().map(|layout| (None, *layout)).collect()
        } else {
            rows.iter().filter_map(|r| Some((Some(*r), *ROWS.get(*r)?.layout()?))).collect()
        };
        let (row, namer) = choose_namer(&layouts, options.known, top)?;

        let row = row.and_then(|r| ROWS.get(r));
        let agreeing = discover::agreeing(row, &rows);
        let info = ModuleInfo {
            path: library.module.path().to_owned(),
            build_id: library.module.build_id(),
            rows: agreeing.iter().map(|r| r.id.as_str()).collect(),
            generations: discover::generations(&agreeing),
            layout: if row.is_some() { LayoutSource::Confirmed } else { LayoutSource::Discovered },
            suspend: findings.suspend.name(),
            symbols: symbols.source.name(),
            findings: format!(
                "thread_list={} java_vm={} thin_lock_id={} jni_env={} visitor_size={} context={} check_suspended={}",
                findings.thread_list,
                findings.java_vm,
                findings.thin_lock_id,
                findings.jni_env,
                findings.visitor_size,
                shape.context,
                shape.check_suspended
            ),
        };
        Ok(Art {
            suspension: symbols.suspension,
            locks: symbols.locks,
            walker,
            thread_list: runtime.thread_list,
            main,
            native_state,
            namer,
            served: Served::of_this_process(),
            depth_limit: if options.depth_limit == 0 { DEFAULT_DEPTH_LIMIT } else { options.depth_limit },
            fuse: Arc::clone(fuse),
            info,
            window: SuspendWindow::default(),
            poisoned: AtomicBool::new(false),
            windows: AtomicU64::new(0),
            timeouts: AtomicU64::new(0),
            held_ns: AtomicU64::new(0),
            longest_ns: AtomicU64::new(0),
            longest_known_ns: AtomicU64::new(0),
            longest_other_ns: AtomicU64::new(0),
            resume_ns: AtomicU64::new(0),
            uninterruptible: AtomicU64::new(0),
            starved: AtomicU64::new(0),
            trace: AtomicU64::new(0),
        })
    }

    /// About the module, for the report.
    pub fn module(&self) -> &ModuleInfo {
        &self.info
    }

    /// Counters so far.
    pub fn stats(&self) -> Stats {
        Stats {
            windows: self.windows.load(Ordering::Relaxed),
            timeouts: self.timeouts.load(Ordering::Relaxed),
            held_ns: self.held_ns.load(Ordering::Relaxed),
            longest_ns: self.longest_ns.load(Ordering::Relaxed),
            longest_known_ns: self.longest_known_ns.load(Ordering::Relaxed),
            longest_other_ns: self.longest_other_ns.load(Ordering::Relaxed),
            resume_ns: self.resume_ns.load(Ordering::Relaxed),
            uninterruptible: self.uninterruptible.load(Ordering::Relaxed),
            starved: self.starved.load(Ordering::Relaxed),
            trace: self.trace.load(Ordering::Relaxed),
        }
    }

    /// Since when a thread is held or asked to stop (`CLOCK_MONOTONIC` ns); `None` while none is. For a guard
    /// thread. No two requests to stop a thread have the same value.
    pub fn window_open_since(&self) -> Option<u64> {
        self.window.since_ns()
    }

    /// Whether the thread that last asked for a suspension is itself suspended: a stop of all threads, as for
    /// a heap dump or ART's own trace, keeps it from running Java code. For a guard thread.
    pub fn is_holder_suspended(&self) -> bool {
        self.window.holder(sys::lives).is_some_and(is_suspended)
    }

    /// Resumes the stopped thread in place of the thread that stopped it, the holder. For a guard thread that
    /// has seen the same suspension last for too long. ART gets the same reason for the resume as for the
    /// suspension.
    ///
    /// Every version of ART allows this. The holder finds later that it does not hold the thread any more,
    /// and then resumes nothing. Nothing is resumed while a living thread reads the stopped thread's stack.
    /// After a rescue no thread is suspended again. A rescue does not clear the fuse: the mark of the phase
    /// that did not end stays for the next process.
    ///
    /// The calling thread must be attached to ART. It must be neither the holder nor the stopped thread.
    pub fn rescue(&self) -> Rescue {
        match self.window.reclaim(sys::lives) {
            Reclaimed::Nothing => Rescue::Nothing,
            Reclaimed::BeingRead => Rescue::BeingRead,
            Reclaimed::Thread(thread) => {
                self.poisoned.store(true, Ordering::Relaxed);
                // SAFETY: `thread` was returned by `suspend` on this list; taking it from the window makes
                // this the only place that resumes it.
                unsafe { self.suspension.resume(self.thread_list as Opaque, thread as Opaque) };
                Rescue::Resumed
            }
        }
    }

    /// Counts a suspension that was left out.
    pub fn left_out(&self, why: Unstoppable) {
        let counter = match why {
            Unstoppable::Uninterruptible => &self.uninterruptible,
            Unstoppable::Starved => &self.starved,
            Unstoppable::Trace => &self.trace,
        };
        counter.fetch_add(1, Ordering::Relaxed);
    }

    /// Stops the main thread.
    ///
    /// Returns when it is stopped. That takes microseconds unless the thread is far from a safepoint:
    /// building the trace of a stack overflow took 0.4 s on a loaded machine. Up to ART 14 the call may
    /// return some milliseconds after the thread has stopped: ART checks for that at once, then after a
    /// `sched_yield`, then after pauses of up to 5 ms. ART gives up after 10 s (up to 14) or 1 to 2 s (since
    /// 15). The main thread then runs on until it reaches a safepoint.
    ///
    /// The calling thread must be in native state, so not in a fast native method: a runnable thread that
    /// suspends another one can deadlock with the collector.
    pub fn suspend_main(&self, env: JniEnv) -> Result<Suspended<'_>, SuspendError> {
        if self.poisoned.load(Ordering::Relaxed) {
            return Err(SuspendError::WrongThread);
        }
        let suspended = self.suspend(env, self.main.id)?;
        if !mem::same(suspended.thread(), self.main.thread) {
            self.poisoned.store(true, Ordering::Relaxed);
            drop(suspended);
            return Err(SuspendError::WrongThread);
        }
        Ok(suspended)
    }

    /// Marks that a thread is about to be stopped or walked.
    ///
    /// The result must be held from before [`suspend_main`](Art::suspend_main),
    /// [`suspend_thread`](Art::suspend_thread) or the fast native method that asks about a lock, until after
    /// that call. Otherwise the next process does not learn that this one ended in between.
    pub fn armed(&self) -> Armed<'_> {
        self.fuse.arm(Phase::Stop);
        Armed { fuse: &*self.fuse, over: None }
    }

    /// Stops a thread other than main, as [`suspend_main`](Art::suspend_main) stops main: the holder of a
    /// lock that main waits for. The error is [`SuspendError::TimedOut`] also when that thread has ended; its
    /// number may be another thread's by now.
    pub fn suspend_thread(&self, env: JniEnv, id: ThreadId) -> Result<Suspended<'_>, SuspendError> {
        if self.poisoned.load(Ordering::Relaxed) {
            return Err(SuspendError::WrongThread);
        }
        self.suspend(env, id.0)
    }

    fn suspend(&self, env: JniEnv, id: u32) -> Result<Suspended<'_>, SuspendError> {
        let caller = self.caller(env)?;
        if mem::read::<u32>(caller.wrapping_add(self.main.thin_lock_id_at)).is_none_or(|own| own == id) {
            return Err(SuspendError::WrongCaller);
        }
        let asked_ns = sys::now_ns();
        if !self.window.ask(sys::gettid(), caller, asked_ns) {
            return Err(SuspendError::Held);
        }
        self.fuse.mark(Phase::Suspend);
        // SAFETY: the list was found and checked; the id is not 0 (it comes from ART) and not the caller's
        // (checked above); `caller` checked that this thread is attached and in native state.
        let thread = unsafe { self.suspension.suspend(self.thread_list as Opaque, id) };
        if thread.is_null() {
            self.close();
            self.timeouts.fetch_add(1, Ordering::Relaxed);
            return Err(SuspendError::TimedOut);
        }
        let held_ns = sys::now_ns();
        self.fuse.mark(if id == self.main.id { Phase::Walk } else { Phase::Other });
        self.window.opened(thread as usize);
        Ok(Suspended { art: self, thread, caller, asked_ns, held_ns, not_send: PhantomData })
    }

    /// The calling thread's `art::Thread*`, if it may suspend the main thread now.
    fn caller(&self, env: JniEnv) -> Result<usize, SuspendError> {
        let thread =
            mem::read_word(env.address().wrapping_add(mem::WORD)).ok_or(SuspendError::WrongCaller)?;
        let tid = mem::read::<u32>(thread.wrapping_add(self.main.thin_lock_id_at + 4));
        if mem::same(thread, self.main.thread) || tid != Some(sys::gettid()) {
            return Err(SuspendError::WrongCaller);
        }
        if state_of(thread) != Some(self.native_state) {
            return Err(SuspendError::NotNative);
        }
        Ok(thread)
    }

    /// Records the stopped thread's stack in `out`.
    ///
    /// To be called in a fast native method (`@FastNative`), where the calling thread is runnable: no
    /// collection can finish during the walk.
    ///
    /// Nothing is walked when the calling thread is in another state, or when a guard has resumed the stopped
    /// thread.
    pub fn walk(&self, suspended: &Suspended<'_>, out: &mut RawStack) {
        out.clear();
        // SAFETY: `caller` is the calling thread's own Thread (Suspended cannot leave the thread), whose
        // first word is tls32_.state_and_flags; other threads set flag bits in it, so it is read once.
        let state = (unsafe { std::ptr::read_volatile(suspended.caller as *const u32) } >> 16) as u16;
        if !RUNNABLE.contains(&state) || !self.window.begin_read() {
            return;
        }
        // SAFETY: the thread is suspended as long as `suspended` lives and the window says that it is read;
        // this thread is runnable.
        let walked = unsafe { self.walker.walk(suspended.thread as usize, self.depth_limit, out) };
        if walked.is_err() {
            self.poisoned.store(true, Ordering::Relaxed);
            out.clear();
        }
        self.window.end_read();
    }

    pub(crate) fn window(&self) -> &SuspendWindow {
        &self.window
    }

    /// Walks the calling thread's own stack, as [`walk`](Art::walk) will walk the stopped one's, to fill the
    /// processor's caches.
    ///
    /// Called just before a thread is stopped, in the fast native method that will walk it: the walk of the
    /// stopped thread then does not wait for memory. Without the warm-up that wait is most of the stop, on a
    /// machine that does other work between two samples. Uses `out`, which is empty afterwards. Returns how
    /// many frames there were: 0 outside of a fast native method, where nothing is walked.
    pub fn warm_up(&self, env: JniEnv, out: &mut RawStack) -> u32 {
        out.clear();
        if self.is_runnable(env)
            && let Some(thread) = mem::read_word(env.address().wrapping_add(mem::WORD))
        {
            self.fuse.mark(Phase::WarmUp);
            // SAFETY: by `is_runnable` it is the calling thread's own Thread, and this thread is runnable.
            let walked = unsafe { self.walker.walk(thread, self.depth_limit, out) };
            self.fuse.mark(Phase::Idle);
            if walked.is_err() {
                self.poisoned.store(true, Ordering::Relaxed);
            }
        }
        let frames = out.depth();
        out.clear();
        frames
    }

    pub(crate) fn locks(&self) -> Option<(GetContendedMonitor, GetLockOwner)> {
        self.locks
    }

    pub(crate) fn namer(&self) -> &Namer {
        &self.namer
    }

    pub(crate) fn main_id(&self) -> u32 {
        self.main.id
    }

    pub(crate) fn main_thread(&self) -> usize {
        self.main.thread
    }

    pub(crate) fn mark(&self, phase: Phase) {
        self.fuse.mark(phase);
    }

    /// Whether the calling thread, whose environment this is, is runnable.
    pub(crate) fn is_runnable(&self, env: JniEnv) -> bool {
        let thread = mem::read_word(env.address().wrapping_add(mem::WORD)).unwrap_or(0);
        let tid = mem::read::<u32>(thread.wrapping_add(self.main.thin_lock_id_at + 4));
        tid == Some(sys::gettid()) && runs_java(thread)
    }

    fn close(&self) {
        self.fuse.mark(Phase::Idle);
        self.window.close();
    }

    /// A reader of names. It is for the fast native method that walked a stack, or for a later fast native
    /// method.
    ///
    /// `env` is the calling thread's environment. In a fast native method this thread is runnable. Then the
    /// reader can also read a heap page that a compacting collector has not filled yet: it touches the page,
    /// which makes the collector fill it.
    pub fn names(&self, env: JniEnv) -> Names {
        Names::new(if self.is_runnable(env) { self.namer.served(self.served) } else { self.namer })
    }

    /// The fingerprint of a method. When another method is at the same address later, its fingerprint is
    /// different. `None` when the method cannot be read.
    pub fn fingerprint(&self, method: MethodRef) -> Option<Fingerprint> {
        self.namer.fingerprint(method)
    }

    /// The name of a method. Never crashes. The name is right if the method's class cannot be unloaded during
    /// the call. That is so in the fast native method that walked the stack, and while a frame of the method
    /// is known to be running. `None` when the method has no name in a dex file, or cannot be read at the
    /// moment.
    pub fn describe(&self, method: MethodRef) -> Option<MethodName> {
        self.namer.name(method)
    }

    /// The source line of a frame, under the same conditions as [`describe`](Art::describe).
    /// [`MethodName::lines`] is cheaper.
    pub fn line_of(&self, frame: Frame) -> Option<u32> {
        self.namer.name(frame.method)?.lines.line(frame.dex_pc)
    }
}
