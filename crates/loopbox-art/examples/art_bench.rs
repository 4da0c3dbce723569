//! A library that takes stacks of its process's main thread in four ways and times them; loaded by
//! `probe.SamplerBench` (tests/java), run by `cargo xtask bench sampler`.
//!
//! The ways run by turns, in an order that changes each time, so that other load on the machine affects all
//! of them alike:
//!
//! * `ours`: warm_up, suspend, walk to method pointers, resume; methods not known yet are named afterwards;
//! * `cold`: the same without the warm-up;
//! * `article`: suspend, walk and build each frame's name as a `std::string` (`ArtMethod::PrettyMethod`),
//!   resume;
//! * `trace`: `Thread.getStackTrace` on the main thread.
//!
//! Prints a line `row PHASE DEPTH WAY WHAT P50 P99` (ns) for each figure.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::ffi::c_void;
use std::mem::MaybeUninit;
use std::ptr;
use std::sync::OnceLock;
use std::time::Duration;

use jni::objects::{JClass, JStaticMethodID, JString};
use jni::sys::{jclass, jint};
use jni::{Env, EnvUnowned, jni_sig, jni_str};
use loopbox_art::{
    Art, DiscoverOptions, Fingerprint, Frame, JavaVm, JniEnv, KnownMethod, MAX_FRAMES, MethodName, MethodRef,
    RawStack, Suspended,
};

const WARM_UP: usize = 50;
/// Pause between samples, so that the main thread makes progress.
const PAUSE: Duration = Duration::from_micros(500);
const WAYS: [&str; 4] = ["ours", "cold", "article", "trace"];
const ARTICLE: usize = 2;
const TRACE: usize = 3;

static ART: OnceLock<Art> = OnceLock::new();

/// A `std::string` of libstdc++, with which the libart of the testbeds is built. It must not be moved while
/// it is in use.
#[repr(C)]
struct StdString {
    text: *mut c_void,
    size: usize,
    rest: [usize; 2],
}

/// Texts up to this size lie inside of the `std::string`.
const SHORT: usize = 15;

impl StdString {
    /// Frees the text's memory, as `operator delete` does in the testbeds.
    fn free(self) {
        if self.size > SHORT {
            // SAFETY: a longer text lies in a block from malloc, which nothing else frees.
            unsafe { libc::free(self.text) };
        }
    }
}

/// `std::string ArtMethod::PrettyMethod(bool with_signature)`.
type PrettyMethod = unsafe extern "C" fn(*mut c_void, bool) -> StdString;

fn pretty_method() -> Option<PrettyMethod> {
    let name = c"_ZN3art9ArtMethod12PrettyMethodB5cxx11Eb";
    // SAFETY: the mangled name spells out the parameters, its ABI tag the result: a class returned in memory.
    unsafe {
        let found = libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr());
        (!found.is_null()).then(|| std::mem::transmute::<*mut c_void, PrettyMethod>(found))
    }
}

/// What `sample` and the fast native `walk`, which runs inside of it on the same thread, pass to each other.
struct Job {
    suspended: Option<Suspended<'static>>,
    /// The function that builds a frame's name while the thread is suspended; `None` for the other ways.
    pretty: Option<PrettyMethod>,
    stack: RawStack,
    texts: Box<[MaybeUninit<StdString>; MAX_FRAMES]>,
    before: Vec<Frame>,
    names: HashMap<MethodRef, (Fingerprint, MethodName)>,
    held_ns: u64,
    /// How long it took from the stop to the entry of the fast native.
    hop_ns: u64,
    stopped_ns: u64,
}

thread_local! {
    static JOB: RefCell<Option<Job>> = const { RefCell::new(None) };
    /// The check that discovery runs inside of the fast native; null at all other times.
    static CHECK: Cell<*mut &mut dyn FnMut()> = const { Cell::new(ptr::null_mut()) };
}

fn now_ns() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the result goes to a local.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

impl Job {
    fn run(&mut self, art: &'static Art, env: JniEnv) {
        // Qimao's code walks where it is, without this call: its clock starts here, ours when main stopped.
        let entered_ns = now_ns();
        let Some(suspended) = self.suspended.take() else {
            art.warm_up(env, &mut self.stack);
            return;
        };
        self.hop_ns = entered_ns - suspended.held_ns();
        let from_ns = if self.pretty.is_some() { entered_ns } else { suspended.held_ns() };
        art.walk(&suspended, &mut self.stack);
        let mut built = 0;
        if let Some(pretty) = self.pretty {
            for (frame, text) in self.stack.frames().zip(self.texts.iter_mut()) {
                // SAFETY: the frames of a stopped thread keep their methods alive.
                text.write(unsafe { pretty(frame.method.0.get() as *mut c_void, true) });
                built += 1;
            }
        }
        // Before it is let go: the woken thread often takes this one's processor.
        self.held_ns = now_ns() - from_ns;
        suspended.resume();
        self.stopped_ns = now_ns() - from_ns;
        for text in &mut self.texts[..built] {
            // SAFETY: written above, read once.
            unsafe { text.assume_init_read() }.free();
        }
        if self.pretty.is_none() {
            self.name(art);
        }
    }

    /// Names a stack as the recorder does: frames at its bottom that did not change are not named again.
    fn name(&mut self, art: &Art) {
        let frames: Vec<Frame> = self.stack.frames().collect();
        let same = frames.iter().rev().zip(self.before.iter().rev()).take_while(|(a, b)| a == b).count();
        for frame in &frames[..frames.len() - same] {
            let print = art.fingerprint(frame.method);
            let known = self.names.get(&frame.method).map(|(print, _)| *print);
            if let Some(print) = print.filter(|print| known != Some(*print))
                && let Some(name) = art.describe(frame.method)
            {
                self.names.insert(frame.method, (print, name));
            }
        }
        self.before = frames;
    }
}

/// `@FastNative static native void walk()`: does the part of a sample that needs a runnable thread, or runs
/// the check of discovery.
#[unsafe(no_mangle)]
pub extern "system" fn Java_probe_SamplerBench_walk(env: EnvUnowned<'_>, _: JClass<'_>) {
    // SAFETY: the VM calls with this thread's.
    let env = unsafe { JniEnv::from_raw(env.as_raw().cast()) };
    // SAFETY: null, or what `install` further up on this stack has put there.
    if let Some(check) = unsafe { CHECK.get().as_mut() } {
        return check();
    }
    JOB.with_borrow_mut(|job| {
        if let (Some(job), Some(art)) = (job.as_mut(), ART.get()) {
            job.run(art, env);
        }
    });
}

/// `static native String install()`: discovers ART. To be called on the main thread. Returns what was found,
/// or why the sampler is off.
#[unsafe(no_mangle)]
pub extern "system" fn Java_probe_SamplerBench_install<'local>(
    mut env: EnvUnowned<'local>,
    class: JClass<'local>,
) -> JString<'local> {
    env.with_env(|env| {
        let walk = env.get_static_method_id(&class, jni_str!("walk"), jni_sig!(() -> ()))?;
        let known = KnownMethod {
            id: walk.into_raw().cast(),
            class: "probe.SamplerBench",
            method: "walk",
            signature: "()V",
        };
        let known = [known];
        let options = DiscoverOptions { known: &known, ..DiscoverOptions::default() };
        // SAFETY: this process's, and this thread's.
        let (vm, own) = unsafe {
            (JavaVm::from_raw(env.get_java_vm()?.get_raw().cast()), JniEnv::from_raw(env.get_raw().cast()))
        };
        let found = Art::discover(vm, own, &options, |mut check| {
            CHECK.set((&raw mut check).cast());
            // SAFETY: class and method belong together; it takes nothing and returns nothing.
            unsafe {
                let raw = env.get_raw();
                ((**raw).v1_1.CallStaticVoidMethodA)(raw, class.as_raw(), walk.into_raw(), ptr::null());
            }
            CHECK.set(ptr::null_mut());
        });
        match found {
            Ok(art) => {
                let _ = ART.set(art);
                Ok(JString::null())
            }
            Err(off) => env.new_string(off.to_string()),
        }
    })
    .resolve::<jni::errors::ThrowRuntimeExAndDefault>()
}

/// `static native void start(String phase, int samples)`: starts the thread that takes the samples and prints
/// the figures. To be called on the main thread.
#[unsafe(no_mangle)]
pub extern "system" fn Java_probe_SamplerBench_start<'local>(
    mut env: EnvUnowned<'local>,
    class: JClass<'local>,
    phase: JString<'local>,
    samples: jint,
) {
    env.with_env(|env| {
        let phase = phase.to_string();
        let vm = env.get_java_vm()?;
        let class = env.new_global_ref(&class)?;
        let method = |env: &mut Env<'_>, name| env.get_static_method_id(&class, name, jni_sig!(() -> ()));
        let (walk, finish) = (method(env, jni_str!("walk"))?, method(env, jni_str!("finish"))?);
        let trace = env.get_static_method_id(&class, jni_str!("trace"), jni_sig!(() -> jint))?;
        let body = move |env: &mut Env<'_>| -> jni::errors::Result<()> {
            let bench = Bench { class: class.as_raw(), walk, trace };
            if let Err(error) = bench.run(env, &phase, samples as usize) {
                println!("failed: {error}");
            }
            bench.call(env, finish);
            Ok(())
        };
        std::thread::spawn(move || vm.attach_current_thread(body));
        Ok::<_, jni::errors::Error>(())
    })
    .resolve::<jni::errors::ThrowRuntimeExAndDefault>();
}

struct Bench {
    class: jclass,
    walk: JStaticMethodID,
    trace: JStaticMethodID,
}

impl Bench {
    /// Calls a static method without arguments, directly by the JNI function, because the main thread may be
    /// stopped.
    fn call(&self, env: &mut Env<'_>, method: JStaticMethodID) {
        let raw = env.get_raw();
        // SAFETY: class and method belong together; it takes nothing and returns nothing.
        unsafe { ((**raw).v1_1.CallStaticVoidMethodA)(raw, self.class, method.into_raw(), ptr::null()) };
    }

    fn depth(&self, env: &mut Env<'_>) -> jint {
        let raw = env.get_raw();
        // SAFETY: class and method belong together; it takes nothing and returns an int.
        unsafe { ((**raw).v1_1.CallStaticIntMethodA)(raw, self.class, self.trace.into_raw(), ptr::null()) }
    }

    fn run(&self, env: &mut Env<'_>, phase: &str, samples: usize) -> Result<(), &'static str> {
        let art = ART.get().ok_or("not installed")?;
        let pretty = pretty_method().ok_or("no PrettyMethod")?;
        JOB.set(Some(Job {
            suspended: None,
            pretty: None,
            stack: RawStack::new(),
            texts: Box::new([const { MaybeUninit::uninit() }; MAX_FRAMES]),
            before: Vec::new(),
            names: HashMap::new(),
            held_ns: 0,
            hop_ns: 0,
            stopped_ns: 0,
        }));
        let mut figures: HashMap<(usize, &str), Vec<u64>> = HashMap::new();
        let mut note = |way, what, ns| figures.entry((way, what)).or_default().push(ns);
        let mut depth = 0;
        for round in 0..WARM_UP + samples {
            for turn in 0..WAYS.len() {
                std::thread::sleep(PAUSE);
                let way = (round + turn) % WAYS.len();
                let began_ns = now_ns();
                if way == TRACE {
                    let frames = self.depth(env);
                    let whole_ns = now_ns() - began_ns;
                    if round < WARM_UP {
                        depth = frames;
                    } else if frames == depth {
                        note(way, "whole", whole_ns);
                    }
                    continue;
                }
                if way == 0 {
                    self.call(env, self.walk);
                }
                // SAFETY: this thread's.
                let own = unsafe { JniEnv::from_raw(env.get_raw().cast()) };
                let suspended = art.suspend_main(own).map_err(|_| "suspending failed")?;
                let waited_ns = suspended.held_ns() - suspended.asked_ns();
                JOB.with_borrow_mut(|job| {
                    if let Some(job) = job.as_mut() {
                        job.suspended = Some(suspended);
                        job.pretty = (way == ARTICLE).then_some(pretty);
                    }
                });
                self.call(env, self.walk);
                let whole_ns = now_ns() - began_ns;
                let seen = JOB.with_borrow_mut(|job| {
                    job.as_mut().map(|job| (job.held_ns, job.hop_ns, job.stopped_ns, job.stack.depth()))
                });
                let (held_ns, hop_ns, stopped_ns, frames) = seen.ok_or("no result")?;
                // A waiting thread wakes up now and then: its stack has fewer frames for a moment.
                if round >= WARM_UP && frames == depth as u32 {
                    note(way, "suspend", waited_ns);
                    note(way, "held", held_ns);
                    note(way, "hop", hop_ns);
                    note(way, "stopped", stopped_ns);
                    note(way, "whole", whole_ns);
                }
            }
        }
        for ((way, what), mut values) in figures {
            values.sort_unstable();
            let at = |share: usize| values[(values.len() - 1) * share / 100];
            println!("row {phase} {depth} {} {what} {} {}", WAYS[way], at(50), at(99));
        }
        Ok(())
    }
}
