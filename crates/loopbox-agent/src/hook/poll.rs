//! The poll hook: it replaces the function of `MessageQueue.nativePollOnce`. Our function notes when a poll
//! begins and ends, and calls the replaced function in between. No table of offsets says where ART keeps the
//! address of a native method's function: [`NativeEntry`] finds the place.
//!
//! On the main thread a poll makes no object and calls no Java. The exception: where its stack frame is at
//! another address than that of the last poll, the Java stack is read, which shows to which loop the poll
//! belongs.

use super::callbacks;
use super::frame_events::MainFrames;
use super::hints::Hints;
use super::main_thread::{self, Main, MainEnvironment};
use super::peek::{self, Peek};
use crate::jni::env::Env;
use crate::jni::{call, class_cache};
use crate::session::hint::Hint;
use crate::sys::log;
use jni::objects::{JObject, JObjectArray};
use jni::sys::{self, jint, jlong};
use loopbox_art::native_entry::{ArtMethod, NativeEntry, NoEntry, is_library_code};
use loopbox_format::model::{End, LifecycleStep, Uptime};
use loopbox_poll::{Recorder, SUPPORTED, Trampoline};
use loopbox_recorder::{Aggregator, Dispatches, PollLoop, PollRules, PollStack, StackPointer, Wanted};
use std::ffi::{CStr, c_void};
use std::sync::atomic::{AtomicUsize, Ordering};

const POLL: &CStr = c"nativePollOnce";
const SIGNATURE: &CStr = c"(JI)V";

/// The address of the pointer to the poll's code; 0 before the hook was first put in. It stays valid: the
/// method's class is never unloaded.
static WORD: AtomicUsize = AtomicUsize::new(0);

/// The address of the code that polls, as it was at the last of these events: the hook was put in, an idle
/// handler was called, the Java stack was read at a poll. If the next idle handler finds another address, the
/// hook may have missed polls. The exception: another library has put its function on top of ours, and calls
/// ours. Then the hook misses no poll, but our stack frame moves. So the Java stack is read at the next poll,
/// and the new address is stored before an idle handler finds it. Main thread only.
static THERE: AtomicUsize = AtomicUsize::new(0);

/// Incremented each time that the hook is installed.
static GENERATION: AtomicUsize = AtomicUsize::new(0);

static RECORDER: Recorder = Recorder { entered, returned };

/// Puts the hook in, for the main thread's `MessageQueue`. On the main thread.
///
/// # Errors
/// Why the hook cannot be put in, in words for the report.
///
/// # Safety
/// `queue` is a `MessageQueue`.
pub unsafe fn put_in(env: &mut Env<'_>, queue: &JObject<'_>) -> Result<(), String> {
    if !SUPPORTED {
        return Err("not for this processor".to_owned());
    }
    let result = call::with_frame(env, |env| {
        // SAFETY: the caller's promise.
        Ok(unsafe { put_in_within_frame(env, queue) })
    });
    result.unwrap_or_else(|why| Err(why.0))
}

/// # Safety
/// As for [`put_in`].
unsafe fn put_in_within_frame(env: &mut Env<'_>, queue: &JObject<'_>) -> Result<(), String> {
    // SAFETY: the caller's promise.
    let poll = unsafe { Poll::find(env, queue) }?;
    let there = poll.entry.of(poll.method).ok_or_else(|| NoEntry::Unreadable.to_string())?;
    let trampoline = trampoline_for(there)?;
    // SAFETY: on the main thread, and no other function of the recorder is on its stack.
    let Some(main) = (unsafe { main_thread::main() }) else { return Err("nothing records".to_owned()) };
    let generation = GENERATION.fetch_add(1, Ordering::Relaxed).wrapping_add(1);
    let mut rules = PollRules::new(generation as u32);
    match main.adopted_in {
        Some(loops) => rules.adopt(loops),
        // What was running when another library displaced the hook.
        None => drop(main.aggregator.end_all(End::Missed)),
    }
    main.poll = Some(rules);
    rest_all();
    trampoline.watch(poll.queue);
    // SAFETY: the caller's promise.
    let placed = unsafe { place(env, &poll, there, trampoline) };
    if placed.is_err() {
        // What is not in place records nothing, and nobody must wait for its polls.
        trampoline.rest();
        // SAFETY: as above.
        if let Some(main) = unsafe { main_thread::main() } {
            main.poll = None;
        }
    }
    placed
}

/// Registers the trampoline for the method, unless it is `there` already.
///
/// # Safety
/// As for [`put_in`].
unsafe fn place(
    env: &mut Env<'_>,
    poll: &Poll<'_>,
    there: usize,
    trampoline: Trampoline,
) -> Result<(), String> {
    if there != trampoline.address() {
        // SAFETY: a trampoline has the signature of what it calls.
        unsafe { poll.register(env, trampoline.address()) }?;
    }
    WORD.store(poll.method.0.wrapping_add(poll.entry.offset()), Ordering::Release);
    if poll.entry.of(poll.method) != Some(trampoline.address()) {
        return Err("it was set but is not there".to_owned());
    }
    THERE.store(trampoline.address(), Ordering::Relaxed);
    Ok(())
}

/// The trampoline to put in place of the code that polls now.
fn trampoline_for(there: usize) -> Result<Trampoline, String> {
    if let Some(ours) = Trampoline::at(there) {
        // It was left there, or what another library has put back.
        return Ok(ours);
    }
    is_library_code(there, entered as *const () as usize).map_err(|why| why.to_string())?;
    Ok(Trampoline::claim(there, &RECORDER).ok_or("it was replaced by other libraries too often")?)
}

fn rest_all() {
    Trampoline::all().for_each(Trampoline::rest);
}

/// Puts back the function that polled before the hook was put in, unless another library's function is on
/// top. On the main thread.
///
/// # Safety
/// As for [`put_in`].
pub unsafe fn take_out(env: &mut Env<'_>, queue: &JObject<'_>) {
    let there = word();
    rest_all();
    // SAFETY: as in `put_in_within_frame`.
    if let Some(main) = unsafe { main_thread::main() } {
        main.poll = None;
        main.peeks = false;
    }
    let Some((trampoline, original)) =
        there.and_then(Trampoline::at).and_then(|ours| Some((ours, ours.original()?)))
    else {
        return;
    };
    let result = call::with_frame(env, |env| {
        // SAFETY: the caller's promise, and `original` was registered for this method before.
        Ok(unsafe { Poll::find(env, queue).and_then(|poll| poll.register(env, original)) })
    });
    if let Err(why) = result.unwrap_or_else(|why| Err(why.0)) {
        // It passes on for good.
        log::warn(&["the poll hook stays at ", &trampoline.address().to_string(), ": ", &why].concat());
    }
}

/// The address of the code that polls now; `None` before the hook was first put in, or when the address
/// cannot be read. Any thread.
pub fn word() -> Option<usize> {
    let at = WORD.load(Ordering::Acquire);
    if at == 0 { None } else { loopbox_art::native_entry::read_word(at) }
}

/// As [`word`], but without its system call, so that the main thread may call it; 0 before the hook was first
/// put in.
fn word_on_main() -> usize {
    let at = WORD.load(Ordering::Acquire);
    if at == 0 {
        return 0;
    }
    // SAFETY: whoever set it has read this word with the checked reader, and the method of a boot class stays
    // where it is.
    unsafe { std::ptr::with_exposed_provenance::<usize>(at).read_volatile() }
}

/// Whether the poll hook is in use: at least one trampoline calls the recorder.
pub(crate) fn records() -> bool {
    Trampoline::all().any(Trampoline::is_watching)
}

/// Whether code at this address records polls.
pub fn is_ours(address: usize) -> bool {
    Trampoline::at(address).is_some_and(Trampoline::is_watching)
}

/// `nativePollOnce` of this process.
struct Poll<'local> {
    class: JObject<'local>,
    method: ArtMethod,
    entry: NativeEntry,
    /// `MessageQueue.mPtr`.
    queue: i64,
}

impl<'local> Poll<'local> {
    /// # Safety
    /// `queue` is a `MessageQueue`.
    unsafe fn find(env: &mut Env<'local>, queue: &JObject<'_>) -> Result<Self, String> {
        let classes = class_cache::get().ok_or(class_cache::NOT_LOADED)?;
        let raw = env.get_raw();
        // Static on Android 5 and 5.1. SAFETY: a live object; names end with a null byte; a look-up that
        // fails leaves an exception, which is cleared.
        let (class, found, pointer) = unsafe {
            let class = env.object(((**raw).v1_1.GetObjectClass)(raw, queue.as_raw()));
            let found = method(env, &class, POLL, SIGNATURE);
            let field = ((**raw).v1_1.GetFieldID)(raw, class.as_raw(), c"mPtr".as_ptr(), c"J".as_ptr());
            env.exception_clear();
            let pointer = (!field.is_null()).then(|| ((**raw).v1_1.GetLongField)(raw, queue.as_raw(), field));
            (class, found, pointer)
        };
        let found = found.ok_or("MessageQueue.nativePollOnce(JI)V is refused or absent")?;
        let queue =
            pointer.filter(|&pointer| pointer != 0).ok_or("MessageQueue.mPtr is refused or absent")?;
        let native = classes.native.as_ref();
        let known = [
            (c"depth", c"()I", callbacks::depth as *const () as usize),
            (c"begun", c"()J", callbacks::begun_so_far as *const () as usize),
        ];
        let mut methods = Vec::with_capacity(known.len());
        for (name, signature, function) in known {
            // SAFETY: a live class, and names that end with a null byte.
            let of_ours = unsafe { method(env, native, name, signature) };
            let method = of_ours.ok_or("its own method cannot be found")?;
            methods.push((method, function));
        }
        let entry = NativeEntry::find(&methods).map_err(|why| why.to_string())?;
        Ok(Self { class, method: found, entry, queue })
    }

    /// # Safety
    /// `function` has the signature of the poll.
    unsafe fn register(&self, env: &mut Env<'_>, function: usize) -> Result<(), String> {
        let raw = env.get_raw();
        let method = sys::JNINativeMethod {
            name: POLL.as_ptr().cast_mut(),
            signature: SIGNATURE.as_ptr().cast_mut(),
            fnPtr: function as *mut c_void,
        };
        // SAFETY: a live class; the caller's promise.
        let code = unsafe { ((**raw).v1_1.RegisterNatives)(raw, self.class.as_raw(), &raw const method, 1) };
        env.exception_clear();
        if code == sys::JNI_OK { Ok(()) } else { Err("ART refuses to register it".to_owned()) }
    }
}

/// The method in ART's memory, static or not. Where ART's `jmethodID` is a number and not an address, the
/// address is read from a field of the reflected method.
///
/// # Safety
/// `class` is a class.
unsafe fn method(env: &mut Env<'_>, class: &JObject<'_>, name: &CStr, signature: &CStr) -> Option<ArtMethod> {
    let raw = env.get_raw();
    // SAFETY: a live class, and texts that end with a null byte. What fails leaves an exception, which is
    // cleared before the next call.
    unsafe {
        let mut is_static = sys::JNI_FALSE;
        let mut id = ((**raw).v1_1.GetMethodID)(raw, class.as_raw(), name.as_ptr(), signature.as_ptr());
        env.exception_clear();
        if id.is_null() {
            is_static = sys::JNI_TRUE;
            id = ((**raw).v1_1.GetStaticMethodID)(raw, class.as_raw(), name.as_ptr(), signature.as_ptr());
            env.exception_clear();
        }
        if id.is_null() {
            return None;
        }
        let address = id.addr();
        if address & 1 == 0 {
            return Some(ArtMethod(address));
        }
        let executable = ((**raw).v1_1.FindClass)(raw, c"java/lang/reflect/Executable".as_ptr());
        env.exception_clear();
        if executable.is_null() {
            return None;
        }
        let field = ((**raw).v1_1.GetFieldID)(raw, executable, c"artMethod".as_ptr(), c"J".as_ptr());
        env.exception_clear();
        let reflected = ((**raw).v1_2.ToReflectedMethod)(raw, class.as_raw(), id, is_static);
        env.exception_clear();
        if field.is_null() || reflected.is_null() {
            return None;
        }
        let address = ((**raw).v1_1.GetLongField)(raw, reflected, field);
        usize::try_from(address).ok().filter(|&address| address != 0).map(ArtMethod)
    }
}

/// The main thread's recorder. [`PollRules`] calls its methods, those of [`Dispatches`], when a message
/// begins or ends.
struct Thread<'a> {
    aggregator: &'a mut Aggregator<MainEnvironment>,
    frames: Option<&'a mut MainFrames>,
    adopted_in: &'a mut Option<u32>,
    hints: &'a mut Hints,
    begun: bool,
}

impl Thread<'_> {
    #[inline]
    fn end(&mut self, end: End) {
        let known = main_thread::known(self.aggregator, self.hints);
        let wanted = self.aggregator.end(StackPointer::UNKNOWN, Some(known.when_ns), end);
        if (wanted == Wanted::Description || known.hint.is_of_component())
            && let Some(described) = known.hint.described()
        {
            self.aggregator.describe(&described);
        }
        if let Some(frames) = &mut self.frames {
            frames.message_ended(self.aggregator.ended());
        }
    }
}

impl Dispatches for Thread<'_> {
    #[inline]
    fn begin(&mut self, at: StackPointer, worked: bool) {
        main_thread::count_begun();
        self.begun = true;
        let _ = if worked { self.aggregator.begin_after_work(at) } else { self.aggregator.begin(at) };
    }

    fn rest(&mut self) {
        self.aggregator.rest_after_work();
    }

    #[inline]
    fn end(&mut self) {
        self.end(End::Returned);
    }

    #[inline]
    fn retract(&mut self) {
        // What called back meanwhile was in no message, and the next one gets the same number.
        if self.hints.any {
            main_thread::learn(self.aggregator, self.hints, Hint::default(), Uptime::ZERO);
        }
        self.aggregator.retract();
    }

    fn lose(&mut self) {
        self.end(End::Missed);
    }

    fn end_adopted(&mut self) {
        *self.adopted_in = None;
        let _ = self.aggregator.end_all(End::Returned);
    }
}

/// The rules, and the recorder that they call; `None` without the poll hook.
#[inline]
fn parts(main: &mut Main) -> Option<(&mut PollRules, Thread<'_>)> {
    let Main { aggregator, poll, frames, adopted_in, hints, .. } = main;
    let thread = Thread { aggregator, frames: frames.as_deref_mut(), adopted_in, hints, begun: false };
    Some((poll.as_mut()?, thread))
}

extern "C" fn entered(env: *mut c_void, timeout_ms: i32, frame: usize) -> u32 {
    let at = StackPointer::at(frame as u64);
    // SAFETY: no other function of the recorder is on this thread's stack.
    let knows = unsafe { main_thread::main() }.and_then(|main| Some(main.poll.as_ref()?.knows(at)));
    let stack = match knows {
        None => return 0,
        Some(true) => None,
        Some(false) => {
            THERE.store(word_on_main(), Ordering::Relaxed);
            // SAFETY: the environment that ART passed to the poll.
            unsafe { stack(env) }
        }
    };
    // SAFETY: as above; the reference before is gone.
    let Some((rules, mut thread)) = (unsafe { main_thread::main() }).and_then(parts) else { return 0 };
    rules.entered(at, timeout_ms, stack, &mut thread).to_bits()
}

extern "C" fn returned(env: *mut c_void, of: u32) {
    let raw: *mut sys::JNIEnv = env.cast();
    // SAFETY: the environment that ART passed to the poll; allowed with an exception pending.
    let threw = unsafe { ((**raw).v1_2.ExceptionCheck)(raw) };
    // SAFETY: as in `entered`.
    let Some(main) = (unsafe { main_thread::main() }) else { return };
    let Some((rules, mut thread)) = parts(main) else { return };
    rules.returned(PollLoop::from_bits(of), threw, &mut thread);
    if !thread.begun || !main.peeks {
        return;
    }
    // SAFETY: on the main thread, in the native method that polls; what threw has begun nothing.
    let (hint, when_ns) = unsafe { Peek::get().and_then(|peek| peek.read(raw)) }.unwrap_or_default();
    // A class may have been asked for its name. SAFETY: as in `entered`; the reference before is gone.
    if let Some(main) = unsafe { main_thread::main() } {
        main_thread::learn(&main.aggregator, &mut main.hints, hint, when_ns);
    }
}

/// `Native.pollPeek`: from now on the queue's head is read before each message.
///
/// # Safety
/// Called by the VM on the main thread, with what `Peek::make` takes.
pub unsafe extern "system" fn peek<'local>(
    env: *mut sys::JNIEnv,
    _: sys::jclass,
    queue: JObject<'local>,
    members: JObjectArray<'local>,
) {
    // SAFETY: the caller's promise.
    unsafe { Peek::make(env, queue.as_raw(), members.as_raw()) };
    // SAFETY: as in `entered`.
    if let Some(main) = unsafe { main_thread::main() } {
        main.peeks = true;
    }
}

/// `Native.pollIdle`: an idle handler is called.
pub extern "system" fn idle(_: *mut sys::JNIEnv, _: sys::jclass) {
    let at = StackPointer::here();
    let there = word_on_main();
    let missed = THERE.swap(there, Ordering::Relaxed) != there;
    // SAFETY: as in `entered`.
    if let Some((rules, mut thread)) = (unsafe { main_thread::main() }).and_then(parts) {
        rules.idle(at, missed, &mut thread);
    }
}

/// `Native.inActivity`: a life-cycle callback of an activity runs; `class` is the activity's class, and
/// `step` is a [`LifecycleStep`]'s number.
///
/// # Safety
/// As for [`callbacks::describe`].
pub unsafe extern "system" fn in_activity(
    env: *mut sys::JNIEnv,
    _: sys::jclass,
    class: sys::jstring,
    step: jint,
) {
    // SAFETY: the caller's promise.
    let class = unsafe { peek::class_named(env, class) };
    let Some(step) = LifecycleStep::from_number(step.cast_unsigned()) else { return };
    // SAFETY: as in `entered`.
    if let Some(main) = unsafe { main_thread::main() } {
        main.is_called(Some((class, step)));
    }
}

/// `Native.pollThere`: a number that identifies the code that polls now. It is 1 for our code, and 0 when the
/// code cannot be seen.
pub extern "system" fn there(_: *mut sys::JNIEnv, _: sys::jclass) -> jlong {
    word().map_or(0, |address| if is_ours(address) { 1 } else { address as jlong })
}

/// What the Java stack shows at the entry of a poll, read by a call into Java. `None` when the call fails.
///
/// # Safety
/// `env` is this thread's environment, without a pending exception.
unsafe fn stack(env: *mut c_void) -> Option<PollStack> {
    let classes = class_cache::get()?;
    // SAFETY: the caller's promise, for the time of this call.
    let mut env = unsafe { Env::from_raw(env.cast()) };
    // SAFETY: looked up in this class with this signature: no arguments, an int.
    let packed: jint =
        unsafe { call::int(&mut env, (&classes.calls, classes.calls_poll_stack), &[]) }.ok()?;
    let packed = packed.cast_unsigned();
    let part = |shift: u32| packed >> shift & 0x3ff;
    Some(PollStack { frames: part(0), idle_of: part(10), loops: part(20) })
}
