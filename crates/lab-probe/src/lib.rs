//! A library that samples its process's main thread for the tests of `loopbox-art`: what the JNI layer of the
//! product does with that crate, reduced to the sampler. Loaded by `probe.Probe` of its tests.
//!
//! It is a separate crate, and no example of `loopbox-art`, so that it has few dependencies. An example would
//! also be built with the dependencies of all tests there, for each architecture of a testbed.

mod parked;

use std::cell::Cell;
use std::collections::HashMap;
use std::fmt::Write;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, OnceLock};
use std::time::Duration;

use jni::objects::{JClass, JStaticMethodID, JString};
use jni::signature::{Primitive, ReturnType};
use jni::sys::{jboolean, jint, jlong};
use jni::{Env, EnvUnowned, jni_sig, jni_str};
use loopbox_art::native_entry::{ArtMethod, NativeEntry};
use loopbox_art::{
    Art, DiscoverOptions, Fingerprint, Frame, Fuse, JavaVm, JniEnv, KnownMethod, Lock, MethodName, MethodRef,
    Phase, RawStack, SuspendError, Suspended,
};

static ART: OnceLock<Art> = OnceLock::new();
static FUSE: OnceLock<Arc<Marks>> = OnceLock::new();

/// The last mark of any thread. Which phases a thread has marked is in [`MARKED`].
#[derive(Default)]
struct Marks(AtomicU32);

impl Fuse for Marks {
    fn mark(&self, phase: Phase) {
        self.0.mark(phase);
        MARKED.set(MARKED.get() | 1 << phase as u32);
    }
}

/// The phases that were marked in each step: in the warm-ups, while main was stopped, and while another
/// thread was stopped. Each word has one bit for each phase.
static MARKED_IN: [AtomicU32; 3] = [const { AtomicU32::new(0) }; 3];

/// Adds the phases that the calling thread has marked since its last call of this function to those of a
/// step: 0 for warm-ups, 1 for stops of main, 2 for stops of other threads.
fn note_marks(step: usize) {
    MARKED_IN[step].fetch_or(MARKED.take(), Ordering::Relaxed);
}

/// The names of the phases that were marked in a step.
fn marked_in(step: &AtomicU32) -> String {
    let marked = step.load(Ordering::Relaxed);
    let phases = (0..u32::BITS).filter(|bit| marked & 1 << bit != 0).filter_map(Phase::from_mark);
    phases.map(Phase::name).collect::<Vec<_>>().join("+")
}

/// What `hop` and the fast native `walk` pass to each other. `walk` runs inside of `hop`, on the same thread.
#[derive(Default)]
struct Hop {
    /// Whether `walk` has to find the monitor that a thread waits for: the suspended thread or, when none is
    /// suspended, main.
    ask: bool,
    lock: Option<Lock>,
    suspended: Option<Suspended<'static>>,
    stack: RawStack,
    names: HashMap<MethodRef, (Fingerprint, Arc<MethodName>)>,
}

/// How many frames could not be named.
static UNNAMED: AtomicU64 = AtomicU64::new(0);
/// The smallest number of frames that one call of `Art::warm_up` walked. `u64::MAX` before the first call.
static WARMED_UP: AtomicU64 = AtomicU64::new(u64::MAX);
/// How many samples could not be taken.
static FAILED: AtomicU64 = AtomicU64::new(0);
/// How often another method than before was found at an address, because the class of the earlier one was
/// unloaded.
static REUSED: AtomicU64 = AtomicU64::new(0);

thread_local! {
    /// The phases that this thread has marked, a bit for each.
    static MARKED: Cell<u32> = const { Cell::new(0) };
    static HOP: std::cell::RefCell<Option<Hop>> = const { std::cell::RefCell::new(None) };
    /// The check that discovery runs inside of the fast native; null at all other times.
    static CHECK: Cell<*mut &mut dyn FnMut()> = const { Cell::new(ptr::null_mut()) };
}

type Failure = Box<dyn std::error::Error>;

fn answer<'local, T: Default>(
    mut env: EnvUnowned<'local>,
    body: impl FnOnce(&mut Env<'local>) -> Result<T, jni::errors::Error>,
) -> T {
    env.with_env(body).resolve::<jni::errors::ThrowRuntimeExAndDefault>()
}

/// `static native String install()`: discovers ART. To be called on the main thread. Returns what was found,
/// or why the sampler is off.
#[unsafe(no_mangle)]
pub extern "system" fn Java_probe_Probe_install<'local>(
    env: EnvUnowned<'local>,
    class: JClass<'local>,
) -> JString<'local> {
    answer(env, |env| {
        let install = env.get_static_method_id(&class, jni_str!("install"), jni_sig!(() -> JString))?;
        let walk = env.get_static_method_id(&class, jni_str!("walk"), jni_sig!(() -> ()))?;
        let known = |id: JStaticMethodID, method, signature| KnownMethod {
            id: id.into_raw().cast(),
            class: "probe.Probe",
            method,
            signature,
        };
        let known = [known(walk, "walk", "()V"), known(install, "install", "()Ljava/lang/String;")];
        let fuse = FUSE.get_or_init(Arc::default).clone();
        let options = DiscoverOptions { known: &known, fuse: Some(fuse), ..DiscoverOptions::default() };
        // SAFETY: this process's.
        let vm = unsafe { JavaVm::from_raw(env.get_java_vm()?.get_raw().cast()) };
        let found = Art::discover(vm, of_art(env), &options, |mut check| {
            CHECK.set((&raw mut check).cast());
            let _ = call(env, &class, walk);
            CHECK.set(ptr::null_mut());
        });
        let text = match found {
            Ok(art) => {
                let text = format!("{:?}", art.module());
                let _ = ART.set(art);
                text
            }
            Err(off) => format!("off {}: {off}", off.code()),
        };
        env.new_string(text)
    })
}

/// `@FastNative static native void walk()`: does the part of `hop` that needs a runnable thread, or runs
/// the check of discovery for `install`.
#[unsafe(no_mangle)]
pub extern "system" fn Java_probe_Probe_walk(env: EnvUnowned<'_>, _: JClass<'_>) {
    // SAFETY: the VM calls with this thread's.
    let raw = unsafe { JniEnv::from_raw(env.as_raw().cast()) };
    // SAFETY: null, or what `install` further up on this stack has put there.
    if let Some(check) = unsafe { CHECK.get().as_mut() } {
        return check();
    }
    HOP.with_borrow_mut(|hop| {
        if let (Some(hop), Some(art)) = (hop.as_mut(), ART.get()) {
            let mut object = None;
            if let Some(suspended) = hop.suspended.take() {
                art.walk(&suspended, &mut hop.stack);
                if hop.ask {
                    object = art.contended_by(raw, &suspended);
                }
            } else if hop.ask {
                object = art.contended_by_main(raw);
            } else {
                WARMED_UP.fetch_min(art.warm_up(raw, &mut hop.stack).into(), Ordering::Relaxed);
            }
            hop.lock = object.map(|o| art.describe_lock(o));
            for frame in hop.stack.frames() {
                let Some(print) = art.fingerprint(frame.method) else {
                    UNNAMED.fetch_add(1, Ordering::Relaxed);
                    continue;
                };
                if let Some((seen, _)) = hop.names.get(&frame.method) {
                    if *seen == print {
                        continue;
                    }
                    REUSED.fetch_add(1, Ordering::Relaxed);
                }
                match art.describe(frame.method) {
                    Some(name) => {
                        hop.names.insert(frame.method, (print, Arc::new(name)));
                    }
                    None => {
                        UNNAMED.fetch_add(1, Ordering::Relaxed);
                    }
                }
            }
        }
    });
}

/// Runs the fast native, which gets the suspended thread, if there is one. Whatever happens in there, the
/// thread is resumed.
fn hop(
    env: &mut Env<'_>,
    class: &JClass<'_>,
    walk: JStaticMethodID,
    suspended: Option<Suspended<'static>>,
    ask: bool,
) -> Result<(), Failure> {
    HOP.with_borrow_mut(|hop| {
        let hop = hop.get_or_insert_with(Hop::default);
        hop.suspended = suspended;
        hop.ask = ask;
        hop.lock = None;
        hop.stack.clear();
    });
    let called = call(env, class, walk);
    HOP.with_borrow_mut(|hop| hop.as_mut().map(|h| h.suspended.take()));
    called?;
    Ok(())
}

/// Calls the fast native.
fn call(env: &mut Env<'_>, class: &JClass<'_>, walk: JStaticMethodID) -> jni::errors::Result<()> {
    // SAFETY: the method is static, takes nothing and returns nothing.
    unsafe { env.call_static_method_unchecked(class, walk, ReturnType::Primitive(Primitive::Void), &[]) }?;
    Ok(())
}

/// Follows the locks from main to their holders, at most a few steps.
fn chain(env: &mut Env<'_>, class: &JClass<'_>, walk: JStaticMethodID) -> Result<String, Failure> {
    let art = ART.get().ok_or("not installed")?;
    let mut text = String::new();
    let mut seen = vec![art.main_thread_id()];
    hop(env, class, walk, None, true)?;
    while let Some(lock) = HOP.with_borrow_mut(|hop| hop.as_mut().and_then(|h| h.lock.take())) {
        let _ = write!(text, "{}<{}>", lock.class.unwrap_or_default(), lock.of_class.unwrap_or_default());
        let Some(owner) = lock.owner else {
            text.push_str(" no holder");
            break;
        };
        if seen.contains(&owner) {
            text.push_str(" cycle");
            break;
        }
        seen.push(owner);
        MARKED.take();
        let suspended = art.suspend_thread(of_art(env), owner)?;
        let tid = suspended.tid().unwrap_or_default();
        let name = std::fs::read_to_string(format!("/proc/self/task/{tid}/comm")).unwrap_or_default();
        hop(env, class, walk, Some(suspended), true)?;
        note_marks(2);
        let frames = HOP.with_borrow(|hop| hop.as_ref().map(frames).unwrap_or_default());
        let _ = write!(text, " held by {} in {frames} -> ", name.trim());
    }
    Ok(text)
}

fn frames(hop: &Hop) -> String {
    let name = |frame: Frame| hop.names.get(&frame.method).map(|(_, n)| format!("{}.{}", n.class, n.method));
    hop.stack.frames().filter_map(name).collect::<Vec<_>>().join("|")
}

/// The environment in the type that the library under test uses.
fn of_art(env: &Env<'_>) -> JniEnv {
    // SAFETY: the calling thread's; neither leaves it.
    unsafe { JniEnv::from_raw(env.get_raw().cast()) }
}

/// Stops the main thread.
fn suspend(env: &Env<'_>) -> Result<Suspended<'static>, Failure> {
    let art = ART.get().ok_or("not installed")?;
    Ok(art.suspend_main(of_art(env))?)
}

/// One sample of the main thread, on the calling (attached, native) thread, which is not the main one.
fn sample(env: &mut Env<'_>, class: &JClass<'_>, walk: JStaticMethodID) -> Result<(), Failure> {
    MARKED.take();
    hop(env, class, walk, None, false)?;
    note_marks(0);
    let suspended = suspend(env)?;
    hop(env, class, walk, Some(suspended), false)?;
    note_marks(1);
    Ok(())
}

fn line(frame: Frame, name: &MethodName) -> String {
    let place = match (name.native, name.lines.line(frame.dex_pc)) {
        (true, _) => -2,
        (false, Some(line)) => i64::from(line),
        (false, None) => -1,
    };
    let pc = i64::from(frame.dex_pc as i32);
    let file = name.source_file.as_deref().unwrap_or("null");
    format!("{}\t{}\t{}\t{file}\t{place}\t{pc}", name.class, name.method, name.signature)
}

fn text() -> String {
    HOP.with_borrow(|hop| {
        let mut out = String::new();
        let Some(hop) = hop else { return out };
        let gap = hop.stack.gap_at();
        for (index, frame) in hop.stack.frames().enumerate() {
            if gap == Some(index) {
                let _ = writeln!(out, "... {}", hop.stack.truncated());
            }
            match hop.names.get(&frame.method) {
                Some((_, name)) => out.push_str(&line(frame, name)),
                None => out.push('?'),
            }
            out.push('\n');
        }
        out
    })
}

struct Sampler {
    stop: AtomicBool,
    /// How many of the sampler's threads have not ended.
    threads: AtomicU32,
    wanted: Mutex<u32>,
    taken: Condvar,
    asked: Condvar,
    result: Mutex<String>,
    samples: AtomicU64,
    log: Mutex<Option<String>>,
}

static SAMPLER: Sampler = Sampler {
    stop: AtomicBool::new(false),
    threads: AtomicU32::new(0),
    wanted: Mutex::new(0),
    taken: Condvar::new(),
    asked: Condvar::new(),
    result: Mutex::new(String::new()),
    samples: AtomicU64::new(0),
    log: Mutex::new(None),
};

/// How often main was found waiting for a lock.
static LOCKS_SEEN: AtomicU64 = AtomicU64::new(0);

/// `static native void watchLocks(boolean print)`: follows the locks that main waits for until `stop`; prints
/// changes.
#[unsafe(no_mangle)]
pub extern "system" fn Java_probe_Probe_watchLocks<'local>(
    env: EnvUnowned<'local>,
    class: JClass<'local>,
    print: jboolean,
) {
    answer(env, |env| {
        let vm = env.get_java_vm()?;
        let class = env.new_global_ref(&class)?;
        let walk = env.get_static_method_id(&class, jni_str!("walk"), jni_sig!(() -> ()))?;
        SAMPLER.threads.fetch_add(1, Ordering::Relaxed);
        std::thread::spawn(move || {
            let mut before = String::new();
            let body = |env: &mut Env<'_>| -> jni::errors::Result<()> {
                while !SAMPLER.stop.load(Ordering::Acquire) {
                    std::thread::sleep(Duration::from_millis(5));
                    let now = chain(env, &class, walk).unwrap_or_else(|e| format!("error {e}"));
                    let waits = u64::from(!now.is_empty());
                    if print && now != before {
                        println!("lock {now}");
                        before = now;
                    }
                    LOCKS_SEEN.fetch_add(waits, Ordering::Relaxed);
                }
                Ok(())
            };
            let ended = vm.attach_current_thread(body);
            SAMPLER.threads.fetch_sub(1, Ordering::Release);
            ended
        });
        Ok(())
    });
}

/// `static native void start(int periodUs)`: starts the sampler's thread, which takes a sample each
/// `periodUs` µs. With 0 it samples only on request of `hold`.
#[unsafe(no_mangle)]
pub extern "system" fn Java_probe_Probe_start<'local>(
    env: EnvUnowned<'local>,
    class: JClass<'local>,
    period_us: jint,
) {
    answer(env, |env| {
        let vm = env.get_java_vm()?;
        let class = env.new_global_ref(&class)?;
        let walk = env.get_static_method_id(&class, jni_str!("walk"), jni_sig!(() -> ()))?;
        let body = move |env: &mut Env<'_>| -> jni::errors::Result<()> {
            while !SAMPLER.stop.load(Ordering::Acquire) {
                if period_us == 0 {
                    let wanted = SAMPLER.wanted.lock().unwrap();
                    if *wanted == 0 {
                        drop(SAMPLER.asked.wait_timeout(wanted, Duration::from_millis(50)).unwrap());
                        continue;
                    }
                } else {
                    std::thread::sleep(Duration::from_micros(period_us as u64));
                }
                let outcome = sample(env, &class, walk);
                // The watcher of locks is holding a thread: next time.
                if outcome.as_ref().is_err_and(|e| e.downcast_ref() == Some(&SuspendError::Held)) {
                    continue;
                }
                FAILED.fetch_add(u64::from(outcome.is_err()), Ordering::Relaxed);
                SAMPLER.samples.fetch_add(1, Ordering::Relaxed);
                let line = || match &outcome {
                    Ok(()) => text(),
                    Err(error) => format!("error {error}\n"),
                };
                if period_us == 0 {
                    *SAMPLER.result.lock().unwrap() = line();
                    *SAMPLER.wanted.lock().unwrap() = 0;
                    SAMPLER.taken.notify_all();
                } else if let Some(log) = SAMPLER.log.lock().unwrap().as_mut() {
                    log.push_str(&line());
                    log.push('\n');
                }
            }
            Ok(())
        };
        SAMPLER.threads.fetch_add(1, Ordering::Relaxed);
        std::thread::spawn(move || {
            if let Err(error) = vm.attach_current_thread(body) {
                println!("sampler: {error}");
            }
            SAMPLER.threads.fetch_sub(1, Ordering::Release);
        });
        Ok(())
    });
}

/// `static native void stop()`: ends the sampling and the watch of locks, and waits until both have ended.
#[unsafe(no_mangle)]
pub extern "system" fn Java_probe_Probe_stop(_: EnvUnowned<'_>, _: JClass<'_>) {
    SAMPLER.stop.store(true, Ordering::Release);
    while SAMPLER.threads.load(Ordering::Acquire) > 0 {
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// `static native String hold()`: blocks the calling (main) thread until it was sampled once.
#[unsafe(no_mangle)]
pub extern "system" fn Java_probe_Probe_hold<'local>(
    env: EnvUnowned<'local>,
    _: JClass<'local>,
) -> JString<'local> {
    answer(env, |env| {
        let mut wanted = SAMPLER.wanted.lock().unwrap();
        *wanted = 1;
        SAMPLER.asked.notify_all();
        while *wanted != 0 {
            wanted = SAMPLER.taken.wait(wanted).unwrap();
        }
        drop(wanted);
        let text = SAMPLER.result.lock().unwrap().clone();
        env.new_string(text)
    })
}

/// `static native long samples()`: how many samples were taken.
#[unsafe(no_mangle)]
pub extern "system" fn Java_probe_Probe_samples(_: EnvUnowned<'_>, _: JClass<'_>) -> jlong {
    SAMPLER.samples.load(Ordering::Relaxed) as jlong
}

/// `static native long locksSeen()`: how often main was found waiting for a lock.
#[unsafe(no_mangle)]
pub extern "system" fn Java_probe_Probe_locksSeen(_: EnvUnowned<'_>, _: JClass<'_>) -> jlong {
    LOCKS_SEEN.load(Ordering::Relaxed) as jlong
}

/// `static native void log(boolean on)`: prints the samples that were kept, if any. If `on` is true, keeps
/// the text of every sample from now on.
#[unsafe(no_mangle)]
pub extern "system" fn Java_probe_Probe_log(_: EnvUnowned<'_>, _: JClass<'_>, on: jboolean) {
    let kept = std::mem::replace(&mut *SAMPLER.log.lock().unwrap(), on.then(String::new));
    if let Some(text) = kept {
        for line in text.lines() {
            println!("stack {line}");
        }
    }
}

/// `static native String stats()`: the counts of the sampler and of this library, the phases that were
/// marked, and the state of the fuse.
#[unsafe(no_mangle)]
pub extern "system" fn Java_probe_Probe_stats<'local>(
    env: EnvUnowned<'local>,
    _: JClass<'local>,
) -> JString<'local> {
    answer(env, |env| {
        let fuse = FUSE.get().and_then(|f| Phase::from_mark(f.0.load(Ordering::Relaxed)));
        let marked = MARKED_IN.each_ref().map(marked_in).join("/");
        let locks = LOCKS_SEEN.load(Ordering::Relaxed);
        let (unnamed, reused) = (UNNAMED.load(Ordering::Relaxed), REUSED.load(Ordering::Relaxed));
        let failed = FAILED.load(Ordering::Relaxed);
        let stats = ART.get().map(Art::stats);
        let warmed_up = WARMED_UP.load(Ordering::Relaxed);
        let text = format!(
            "{stats:?} locks={locks} failed={failed} warmed_up={warmed_up} unnamed={unnamed} reused={reused} \
             marked={marked} fuse={fuse:?}"
        );
        env.new_string(text)
    })
}

/// `static native String memory()`: KiB resident, and bytes taken from malloc.
#[unsafe(no_mangle)]
pub extern "system" fn Java_probe_Probe_memory<'local>(
    env: EnvUnowned<'local>,
    _: JClass<'local>,
) -> JString<'local> {
    answer(env, |env| {
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let resident = status.lines().find_map(|l| l.strip_prefix("VmRSS:")?.trim().strip_suffix(" kB"));
        // SAFETY: takes nothing and returns plain numbers.
        let info = unsafe { libc::mallinfo2() };
        env.new_string(format!("{} {}", resident.unwrap_or("0"), info.uordblks + info.hblkhd))
    })
}

/// `static native String misuse()`: the error of an attempt to suspend the main thread from itself.
#[unsafe(no_mangle)]
pub extern "system" fn Java_probe_Probe_misuse<'local>(
    env: EnvUnowned<'local>,
    _: JClass<'local>,
) -> JString<'local> {
    answer(env, |env| {
        let said = ART.get().map(|art| art.suspend_main(of_art(env)).err());
        let text = format!("{said:?}");
        env.new_string(text)
    })
}

/// `static native String entry()`: the offset in an `ArtMethod` at which ART keeps the address of a native
/// method's function, or why the offset was not found. The offset is found from two methods, both linked to
/// their functions by now: `entry` is running, and the test has called `misuse` before.
#[unsafe(no_mangle)]
pub extern "system" fn Java_probe_Probe_entry<'local>(
    env: EnvUnowned<'local>,
    class: JClass<'local>,
) -> JString<'local> {
    answer(env, |env| {
        let misuse = env.get_static_method_id(&class, jni_str!("misuse"), jni_sig!(() -> JString))?;
        let entry = env.get_static_method_id(&class, jni_str!("entry"), jni_sig!(() -> JString))?;
        let known = [
            (ArtMethod(misuse.into_raw().addr()), Java_probe_Probe_misuse as *const () as usize),
            (ArtMethod(entry.into_raw().addr()), Java_probe_Probe_entry as *const () as usize),
        ];
        let text = match NativeEntry::find(&known) {
            Ok(entry) => entry.offset().to_string(),
            Err(why) => why.to_string(),
        };
        env.new_string(text)
    })
}
