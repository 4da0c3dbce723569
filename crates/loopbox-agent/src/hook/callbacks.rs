//! The native methods that the hooks call for each message, on the main thread: no allocation, no lock, and
//! none of the jni crate's overhead. The only system calls are clocks, a futex wake for a thread that sleeps
//! while the main thread is idle, and, when another library has blocked SIGQUIT, the two that unblock it.

use super::main_thread::{self, Main, MainEnvironment};
use crate::jni::string::Text;
use jni::sys;
use loopbox_format::looper::dispatch;
use loopbox_format::model::{End, NamedBy, Uptime};
use loopbox_recorder::{AdoptedMessage, Aggregator, Begun, Described, StackPointer, Wanted};

// As in `Native.java`.
const WANTS_NAME: sys::jint = 1;
const DEPTH_SHIFT: u32 = 1;
const IN_DOUBT: sys::jint = -1;
const ELSEWHERE: sys::jint = -2;

/// The result for Java: whether a name is wanted, and how many messages run.
fn result_for_java(wanted: Wanted, depth: u32) -> sys::jint {
    let wants = if wanted == Wanted::Description { WANTS_NAME } else { 0 };
    (depth << DEPTH_SHIFT).cast_signed() | wants
}

fn on_begin(at: StackPointer) -> sys::jint {
    // SAFETY: no other function of the recorder is on this thread's stack.
    (unsafe { main_thread::main() }).map_or(ELSEWHERE, |main| begin_at(main, at))
}

fn begin_at(main: &mut Main, at: StackPointer) -> sys::jint {
    if main.aggregator.depth() > main.nested {
        return IN_DOUBT;
    }
    begun_at(main, at)
}

fn begun_at(main: &mut Main, at: StackPointer) -> sys::jint {
    begun(main, at, Aggregator::begin)
}

#[inline]
fn begun(
    main: &mut Main,
    at: StackPointer,
    begin: impl FnOnce(&mut Aggregator<MainEnvironment>, StackPointer) -> Begun,
) -> sys::jint {
    main_thread::count_begun();
    let begun = begin(&mut main.aggregator, at);
    let depth = main.aggregator.depth();
    if let Some(pointer) = main.pointers.get_mut((depth as usize).wrapping_sub(1)) {
        *pointer = at;
    }
    result_for_java(begun.wanted, depth)
}

fn on_end(at: StackPointer, when_ms: sys::jlong, threw: sys::jboolean) -> sys::jint {
    // SAFETY: as in `on_begin`.
    (unsafe { main_thread::main() }).map_or(ELSEWHERE, |main| end_at(main, at, when_ms, threw))
}

fn end_at(main: &mut Main, at: StackPointer, when_ms: sys::jlong, threw: sys::jboolean) -> sys::jint {
    if main.aggregator.depth() > 1 && main.aggregator.miss_inner(at) {
        return IN_DOUBT;
    }
    let when_ns = u64::try_from(when_ms).ok().map(|ms| Uptime(ms.saturating_mul(1_000_000)));
    let wanted = main.aggregator.end(at, when_ns, if threw { End::Threw } else { End::Returned });
    let depth = main.aggregator.depth();
    main.nested = main.nested.min(depth);
    end_message_of_frames(main);
    result_for_java(wanted, depth)
}

/// Passes the end of a message, of any loop, on to the recording of display frames. A loop inside of a
/// message counts, too, because it may run for the rest of the app's life.
#[inline]
fn end_message_of_frames(main: &mut Main) {
    if let Some(frames) = &mut main.frames {
        frames.message_ended(main.aggregator.ended());
    }
}

/// `Native.begin`: a message starts.
pub extern "system" fn begin(_: *mut sys::JNIEnv, _: sys::jclass) -> sys::jint {
    on_begin(StackPointer::here())
}

/// `Native.end`: the message has ended.
pub extern "system" fn end(
    _: *mut sys::JNIEnv,
    _: sys::jclass,
    when_ms: sys::jlong,
    threw: sys::jboolean,
) -> sys::jint {
    on_end(StackPointer::here(), when_ms, threw)
}

/// `Native.beginCritical`: as [`begin`], where ART supports `@CriticalNative`.
pub extern "system" fn begin_critical() -> sys::jint {
    on_begin(StackPointer::here())
}

/// `Native.endCritical`: as [`end`], where ART supports `@CriticalNative`.
pub extern "system" fn end_critical(when_ms: sys::jlong, threw: sys::jboolean) -> sys::jint {
    on_end(StackPointer::here(), when_ms, threw)
}

/// `Native.beginIn`: like [`begin`], after Java has counted the loops on the stack. Each loop but the
/// innermost one runs a message.
pub extern "system" fn begin_in(_: *mut sys::JNIEnv, _: sys::jclass, loops: sys::jint) -> sys::jint {
    let at = StackPointer::here();
    // SAFETY: as in `on_begin`.
    (unsafe { main_thread::main() }).map_or(ELSEWHERE, |main| begin_inside(main, loops, at))
}

fn begin_inside(main: &mut Main, loops: sys::jint, here: StackPointer) -> sys::jint {
    let loops = u32::try_from(loops).unwrap_or(0);
    let running = loops.saturating_sub(main.adopted_in.unwrap_or(1));
    if running == 0 {
        main.adopted_in = None;
    }
    main.nested = if main.adopted_in.is_some() { 0 } else { running.min(main.aggregator.depth()) };
    if running == 0 {
        // In the outermost loop all that ran are over, and the new one may start anywhere on the stack.
        return begun(main, here, Aggregator::begin_outermost);
    }
    // A message that starts where a lost one started closes that one and those inside of it.
    let first_lost = main.pointers.get(running as usize).filter(|_| running < main.aggregator.depth());
    begun_at(main, first_lost.copied().unwrap_or(here))
}

/// Adopts the message in which recording has begun. On the main thread, before its hook is in.
pub(crate) fn adopt(loops: u32, adopted: &AdoptedMessage) {
    // SAFETY: as in `on_begin`.
    if let Some(main) = unsafe { main_thread::main() } {
        adopt_in(main, loops, adopted);
    }
}

fn adopt_in(main: &mut Main, loops: u32, adopted: &AdoptedMessage) {
    main.aggregator.adopt(adopted);
    main.adopted_in = Some(loops);
}

/// `Native.endAdopted`: the Looper has gone on, so the message in which recording began has ended.
pub extern "system" fn end_adopted(_: *mut sys::JNIEnv, _: sys::jclass) {
    // SAFETY: as in `on_begin`.
    if let Some(main) = unsafe { main_thread::main() } {
        end_adopted_in(main);
    }
}

fn end_adopted_in(main: &mut Main) {
    if main.adopted_in.take().is_some() {
        let _ = main.aggregator.end_all(End::Returned);
        main.nested = 0;
        if let Some(poll) = &mut main.poll {
            poll.forget_adopted();
        }
    }
}

/// `Native.rests`: the Looper is about to wait.
pub extern "system" fn rests(_: *mut sys::JNIEnv, _: sys::jclass) {
    // SAFETY: as in `on_begin`.
    if let Some(main) = unsafe { main_thread::main() } {
        main.aggregator.rests();
    }
}

/// `Native.beginInput`: a window is called with an event. Returns whether the event counts as a message: it
/// does outside of messages only, and only while something is recorded.
pub extern "system" fn begin_input(_: *mut sys::JNIEnv, _: sys::jclass) -> sys::jboolean {
    let at = StackPointer::here();
    // SAFETY: as in `on_begin`.
    (unsafe { main_thread::main() }).is_some_and(|main| begin_input_at(main, at))
}

fn begin_input_at(main: &mut Main, at: StackPointer) -> bool {
    if main.aggregator.depth() > 0 {
        return false;
    }
    let _ = main.aggregator.begin(at);
    if let Some(pointer) = main.pointers.first_mut() {
        *pointer = at;
    }
    true
}

/// `Native.endInput`: the call that [`begin_input`] has counted is over; `target` is the class that was
/// called.
///
/// # Safety
/// As for [`describe`].
pub unsafe extern "system" fn end_input(
    env: *mut sys::JNIEnv,
    _: sys::jclass,
    target: sys::jstring,
    threw: sys::jboolean,
) {
    // SAFETY: as in `describe`.
    let target = unsafe { Text::read(env, target) };
    // SAFETY: as in `on_begin`.
    if let Some(main) = unsafe { main_thread::main() } {
        // Named however short it was, like a frame.
        let _ = main.aggregator.end_all(if threw { End::Threw } else { End::Returned });
        main.nested = 0;
        end_message_of_frames(main);
        main.aggregator.describe(&Described {
            target: target.as_str(),
            callback: "",
            what: None,
            named_by: NamedBy::Window,
        });
    }
}

/// `Native.depth`: how many messages run.
pub extern "system" fn depth(_: *mut sys::JNIEnv, _: sys::jclass) -> sys::jint {
    // SAFETY: as in `on_begin`.
    (unsafe { main_thread::main() }).map_or(ELSEWHERE, |main| main.aggregator.depth().cast_signed())
}

/// `Native.begun`: how many messages have started so far. Any thread.
pub extern "system" fn begun_so_far(_: *mut sys::JNIEnv, _: sys::jclass) -> sys::jlong {
    main_thread::begun().cast_signed()
}

/// `Native.describe`: the class names and code of the message that has just ended.
///
/// # Safety
/// Called by the VM: `env` is the calling thread's, without a pending exception, the strings are local
/// references.
pub unsafe extern "system" fn describe(
    env: *mut sys::JNIEnv,
    _: sys::jclass,
    target: sys::jstring,
    callback: sys::jstring,
    what: sys::jint,
) {
    // SAFETY: by this function's contract.
    let (target, callback) = unsafe { (Text::read(env, target), Text::read(env, callback)) };
    name(&Described {
        target: target.as_str(),
        callback: callback.as_str(),
        what: Some(what),
        named_by: NamedBy::Observer,
    });
}

/// `Native.describeLine`: the line that Looper has printed at the start of the message.
///
/// # Safety
/// As for [`describe`].
pub unsafe extern "system" fn describe_line(env: *mut sys::JNIEnv, _: sys::jclass, line: sys::jstring) {
    // SAFETY: as in `describe`.
    let line = unsafe { Text::read(env, line) };
    let line = dispatch(line.as_str());
    name(&Described {
        target: line.target,
        callback: line.callback,
        what: line.what,
        named_by: NamedBy::Printer,
    });
}

fn name(described: &Described<'_>) {
    // SAFETY: as in `on_begin`.
    if let Some(main) = unsafe { main_thread::main() } {
        main.aggregator.describe(described);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::shared_state::SharedState;
    use crate::sys::clock;
    use loopbox_format::model::RecordKind;
    use loopbox_format::model::Token;
    use loopbox_recorder::Config;
    use loopbox_store::{Identity, Ring, RingOptions};
    use std::alloc::{GlobalAlloc, Layout, System};
    use std::cell::Cell;
    use std::sync::Arc;

    /// Counts what each thread allocates.
    struct Counting;

    thread_local! {
        static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
    }

    // SAFETY: everything is the system allocator's; counting touches a thread-local without a destructor.
    unsafe impl GlobalAlloc for Counting {
        unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
            ALLOCATIONS.set(ALLOCATIONS.get() + 1);
            // SAFETY: the caller's promise is the system allocator's.
            unsafe { System.alloc(layout) }
        }

        unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
            // SAFETY: as above.
            unsafe { System.dealloc(memory, layout) };
        }
    }

    #[global_allocator]
    static COUNTING: Counting = Counting;

    fn ring() -> (Ring, tempfile::TempDir) {
        let folder = tempfile::tempdir().unwrap();
        let options = RingOptions::new(folder.path(), Identity::of_this_process(clock::pair()));
        (Ring::create(&options), folder)
    }

    /// Records of every kind, and messages that end in every way. One test, because `main` is per process.
    #[test]
    fn recording_allocates_nothing_and_is_for_the_main_thread_only() {
        assert_eq!(begin_critical(), ELSEWHERE, "nothing records yet");
        let (Ring { main, reader, .. }, _folder) = ring();
        let config =
            Config { group_ns: 10_000_000, detail_ns: 1_000_000, ..Config::default() }.validated().unwrap();
        main_thread::install(
            Aggregator::new(&config, MainEnvironment::new(main, Arc::new(SharedState::default()))),
            None,
        );
        let names = Described { target: "a.B", callback: "c.D", what: Some(1), named_by: NamedBy::Observer };

        let before = ALLOCATIONS.get();
        let until = clock::now_ns() + 200_000_000;
        let mut messages = 0_i64;
        while clock::now_ns() < until {
            messages += 1;
            assert_eq!(begin_critical(), 1 << DEPTH_SHIFT);
            // Now and then one that is long enough to be named, and one that is its own record.
            let work_ns = match messages % 2_000 {
                0 => 12_000_000,
                1 => 2_000_000,
                _ => 0,
            };
            let end = clock::now_ns() + work_ns;
            while clock::now_ns() < end {}
            if end_critical(messages, messages % 3 == 0) & WANTS_NAME != 0 {
                name(&names);
            }
        }
        assert_eq!(ALLOCATIONS.get(), before);

        let elsewhere = std::thread::spawn(|| (begin_critical(), end_critical(0, false)));
        assert_eq!(elsewhere.join().unwrap(), (ELSEWHERE, ELSEWHERE));
        // Of the whole process, in which other tests begin some, too.
        assert!(begun_so_far(std::ptr::null_mut(), std::ptr::null_mut()) >= messages);
        main_thread::uninstall();
        assert_eq!(end_critical(0, false), ELSEWHERE);

        let report = reader.snapshot(clock::now_ns()).report;
        let counted: i64 = report.history.iter().map(|record| i64::from(record.count)).sum();
        let first = report.history.first().unwrap().first_token.0 as i64;
        assert_eq!(first - 1 + counted, messages, "the ring has the newest records, without a gap");
        assert!(report.history.iter().any(|record| record.kind == RecordKind::Single));
    }

    #[test]
    fn a_message_whose_nesting_is_in_doubt_waits_for_java() {
        let (Ring { main, .. }, _folder) = ring();
        let thread = std::thread::spawn(move || {
            let aggregator = Aggregator::new(
                &Config::default(),
                MainEnvironment::new(main, Arc::new(SharedState::default())),
            );
            let mut main = Main::new(aggregator, None);
            let at = |address| StackPointer::at(address);
            assert_eq!(begin_at(&mut main, at(9_000)), 2);
            assert_eq!(begin_at(&mut main, at(5_000)), IN_DOUBT);
            // Two loops: it is nested, and so are those that follow in the same loop.
            assert_eq!(begin_inside(&mut main, 2, at(4_900)), 4);
            assert_eq!(end_at(&mut main, at(5_000), -1, false) >> DEPTH_SHIFT, 1);
            assert_eq!(begin_at(&mut main, at(5_000)), 4);
            // That one is lost, the next starts in the same inner loop, seen from deeper in the stack.
            assert_eq!(begin_at(&mut main, at(5_000)), IN_DOUBT);
            assert_eq!(begin_inside(&mut main, 2, at(4_000)) >> DEPTH_SHIFT, 2);
            // All are lost: the app went on with a loop that is deeper than the first one.
            assert_eq!(begin_at(&mut main, at(3_000)), IN_DOUBT);
            assert_eq!(begin_inside(&mut main, 1, at(3_000)) >> DEPTH_SHIFT, 1);
            assert_eq!(end_at(&mut main, at(3_000), -1, false) >> DEPTH_SHIFT, 0);
            assert_eq!(begin_at(&mut main, at(3_000)), 2);
        });
        thread.join().unwrap();
    }

    #[test]
    fn only_java_knows_when_the_message_is_over_that_recording_began_in() {
        let (Ring { main, .. }, _folder) = ring();
        let thread = std::thread::spawn(move || {
            let shared = Arc::new(SharedState::default());
            let environment = MainEnvironment::new(main, Arc::clone(&shared));
            let mut main = Main::new(Aggregator::new(&Config::default(), environment), None);
            let main = &mut main;
            let at = |address| StackPointer::at(address);
            // The second of two loops: an outer message is not known.
            adopt_in(main, 2, &AdoptedMessage { start_ns: clock::now_ns(), cpu_ns: None, binds: false });
            assert_eq!(shared.main.token(), Token(1));
            assert!(!begin_input_at(main, at(8_000)), "inside of a message");
            // Twice in a loop inside of it: its depth means nothing, wherever they start.
            for _ in 0..2 {
                assert_eq!(begin_at(main, at(5_000)), IN_DOUBT);
                assert_eq!(begin_inside(main, 3, at(4_900)) >> DEPTH_SHIFT, 2);
                assert_eq!(end_at(main, at(5_000), -1, false) >> DEPTH_SHIFT, 1);
            }
            // The loop that it ran in takes the next one.
            assert_eq!(begin_at(main, at(9_000)), IN_DOUBT);
            assert_eq!(begin_inside(main, 2, at(8_900)) >> DEPTH_SHIFT, 1);
            assert_eq!(end_at(main, at(9_000), -1, false) >> DEPTH_SHIFT, 0);
            assert_eq!(begin_at(main, at(9_000)) >> DEPTH_SHIFT, 1, "no doubt any more");
            end_adopted_in(main);
            assert_eq!(shared.main.token(), Token(5), "it is over: nothing else is ended by that");
            assert_eq!(end_at(main, at(9_000), -1, false) >> DEPTH_SHIFT, 0);
            assert!(begin_input_at(main, at(8_000)) && !begin_input_at(main, at(7_000)));
            assert_eq!(shared.main.token(), Token(6));
        });
        thread.join().unwrap();
    }
}
