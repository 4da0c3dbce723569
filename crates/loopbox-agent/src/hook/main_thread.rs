//! What belongs to the main thread: the aggregator and the destinations of its results.

use super::frame_events::MainFrames;
use super::hints::{Hints, Known, MAX_DEPTH};
use crate::anr::sigquit;
use crate::session::class_names::ClassId;
use crate::session::hint::Hint;
use crate::session::shared_state::SharedState;
use crate::sys::clock;
use loopbox_format::model::{LifecycleStep, Record, Token, Uptime};
use loopbox_recorder::{Aggregator, Details, Dirty, Environment, PollRules, StackPointer};
use loopbox_store::MainWriter;
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicPtr, AtomicU64, AtomicUsize, Ordering};

/// The main thread's recorder, which the callbacks work on.
pub(crate) struct Main {
    pub(crate) aggregator: Aggregator<MainEnvironment>,
    /// How many of the running messages are known to have a loop inside of them.
    pub(crate) nested: u32,
    /// The stack positions at which the running messages started, outermost first.
    pub(crate) pointers: [StackPointer; MAX_DEPTH],
    /// How many loops were on the stack when recording began in the middle of a message; `None` once that
    /// message has ended. The position on the stack at which the message started is unknown, so every start
    /// inside of the message is in doubt.
    pub(crate) adopted_in: Option<u32>,
    /// Display frames, where the app asks for them.
    pub(crate) frames: Option<Box<MainFrames>>,
    /// The rules for the queue's polls, while the poll hook is installed.
    pub(crate) poll: Option<PollRules>,
    /// Whether the poll hook reads the queue's head, as the app requested.
    pub(crate) peeks: bool,
    /// What is known of the running messages, for the poll hook, which does not see them.
    pub(crate) hints: Hints,
}

impl Main {
    pub(crate) fn new(aggregator: Aggregator<MainEnvironment>, frames: Option<Box<MainFrames>>) -> Self {
        let pointers = [StackPointer::UNKNOWN; MAX_DEPTH];
        let hints = Hints::default();
        Self { aggregator, nested: 0, pointers, adopted_in: None, frames, poll: None, peeks: false, hints }
    }

    /// Notes that the framework calls back, in a step of an activity's life cycle or in a frame. The callback
    /// shows what the running message is. The poll hook does not see that itself; with another hook this does
    /// nothing.
    pub(crate) fn is_called(&mut self, activity: Option<(ClassId, LifecycleStep)>) {
        if self.poll.is_some() {
            let before = known(&self.aggregator, &self.hints).hint;
            let hint = activity.map_or(Hint::FRAME, |(class, step)| Hint::called(before, class, step));
            // What the head said of its time is of another source.
            learn(&self.aggregator, &mut self.hints, hint, Uptime::ZERO);
        }
    }
}

/// What is known of the innermost message that runs.
#[inline]
pub(super) fn known(aggregator: &Aggregator<MainEnvironment>, hints: &Hints) -> Known {
    match aggregator.running() {
        Some(running) if hints.any => hints.get(aggregator.depth(), running),
        _ => Known::default(),
    }
}

/// Replaces what is known of the innermost running message, and publishes it to the other threads.
pub(super) fn learn(
    aggregator: &Aggregator<MainEnvironment>,
    hints: &mut Hints,
    hint: Hint,
    when_ns: Uptime,
) {
    if let Some(running) = aggregator.running() {
        hints.set(aggregator.depth(), running, hint, when_ns);
        aggregator.environment().shared.main.set_hint(running, hint);
    }
}

/// How many messages have started in this recording. Written by the thread that records, read by any.
static BEGUN: AtomicU64 = AtomicU64::new(0);

/// Counts a message that has started. On the thread that records, which is the only writer.
#[inline]
pub(crate) fn count_begun() {
    BEGUN.store(begun().wrapping_add(1), Ordering::Relaxed);
}

/// How many messages have started in this recording; while nothing records, in the last one.
#[inline]
pub(crate) fn begun() -> u64 {
    BEGUN.load(Ordering::Relaxed)
}

/// The main thread's recorder; null while nothing records. Set, used and cleared on the main thread only.
static MAIN: AtomicPtr<Main> = AtomicPtr::new(ptr::null_mut());
/// The recording thread, by its `pthread_t`; 0 once the recording has ended. Any thread may end the
/// recording.
static THREAD: AtomicUsize = AtomicUsize::new(0);
/// The thread that `MAIN` belongs to, also when the recording has ended.
static OWNER: AtomicUsize = AtomicUsize::new(0);

fn this_thread() -> usize {
    // SAFETY: no arguments, no effects.
    unsafe { libc::pthread_self() as usize }
}

/// The main thread's recorder; `None` on other threads, and while nothing records.
///
/// # Safety
/// The reference from an earlier call must not be in use any more. The callbacks keep that rule: while a
/// callback holds the reference, it does not call into Java, so no second callback can run inside of it.
#[inline]
pub(crate) unsafe fn main<'a>() -> Option<&'a mut Main> {
    if THREAD.load(Ordering::Relaxed) != this_thread() {
        return None;
    }
    // SAFETY: the pointer is null or a Box that `install` leaked and `uninstall`, on this same thread, takes
    // back; the caller promises to hold no second reference.
    unsafe { MAIN.load(Ordering::Relaxed).as_mut() }
}

/// Starts recording on the calling thread, the main one.
pub(crate) fn install(aggregator: Aggregator<MainEnvironment>, frames: Option<Box<MainFrames>>) {
    uninstall();
    BEGUN.store(0, Ordering::Relaxed);
    MAIN.store(Box::into_raw(Box::new(Main::new(aggregator, frames))), Ordering::Relaxed);
    OWNER.store(this_thread(), Ordering::Relaxed);
    THREAD.store(this_thread(), Ordering::Release);
}

/// Makes the callbacks do nothing from now on; one that runs at this moment may finish. Any thread.
pub(crate) fn silence() {
    THREAD.store(0, Ordering::Release);
}

/// Stops recording. Does nothing on any other thread than the one that records.
pub(crate) fn uninstall() {
    if OWNER.load(Ordering::Relaxed) != this_thread() {
        return;
    }
    OWNER.store(0, Ordering::Relaxed);
    THREAD.store(0, Ordering::Relaxed);
    let main = MAIN.swap(ptr::null_mut(), Ordering::Relaxed);
    if !main.is_null() {
        // SAFETY: it came from `Box::into_raw` in `install`, and only this thread, which is here, uses it.
        drop(unsafe { Box::from_raw(main) });
    }
}

/// The clock of the messages' starts and ends.
pub trait Clock {
    /// The current uptime.
    fn now_ns(&self) -> Uptime;
}

/// `CLOCK_MONOTONIC`.
#[derive(Debug, Clone, Copy)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[inline]
    fn now_ns(&self) -> Uptime {
        clock::now_ns()
    }
}

/// The ring and the state that other threads read, as the aggregator sees them.
#[derive(Debug)]
pub struct MainEnvironment<C = SystemClock> {
    ring: MainWriter,
    shared: Arc<SharedState>,
    clock: C,
}

impl MainEnvironment {
    /// Writes into `ring` and `shared`, by the system's clock.
    pub fn new(ring: MainWriter, shared: Arc<SharedState>) -> Self {
        Self::with_clock(ring, shared, SystemClock)
    }
}

impl<C: Clock> MainEnvironment<C> {
    /// Writes into `ring` and `shared`, by another clock.
    pub fn with_clock(ring: MainWriter, shared: Arc<SharedState>, clock: C) -> Self {
        Self { ring, shared, clock }
    }
}

// A ring that refuses a write has reported why at install, or this process is a fork of its owner: an error
// for each message would help no one here.
impl<C: Clock> Environment for MainEnvironment<C> {
    #[inline]
    fn now_ns(&self) -> Uptime {
        self.clock.now_ns()
    }

    fn thread_cpu_ns(&self) -> Option<u64> {
        clock::thread_cpu_ns()
    }

    fn take_late_ns(&mut self) -> Option<u64> {
        self.shared.pace.take_late_ns()
    }

    fn unseen_since(&self, since_ns: Uptime) -> bool {
        self.shared.main.unseen_since(since_ns)
    }

    fn running(&mut self, token: Token, start_ns: Uptime, depth: u32) {
        let _ = self.ring.running(token, start_ns, depth);
        if self.shared.running(token, start_ns) {
            sigquit::unblock();
        }
    }

    #[inline]
    fn idle(&mut self, next: Token, since_ns: Uptime, around: u32) {
        self.ring.next_is(next);
        let _ = self.ring.idle(since_ns);
        if around > 0 {
            self.shared.main.set_around(next, around);
        }
        self.shared.main.idle(next, since_ns);
    }

    fn opened(&mut self, record: &Record<Details>, dirty: Dirty) {
        if dirty == Dirty::Details {
            let _ = self.ring.open_details(record.seq, record.details.as_slice());
        }
        let _ = self.ring.open(record);
    }

    fn closed(&mut self, record: &Record<Details>) {
        let _ = self.ring.close(record, record.details.as_slice());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use loopbox_format::model::{End, RecordKind};
    use loopbox_recorder::Config;
    use loopbox_store::{Identity, Ring, RingOptions};
    use std::cell::Cell;
    use std::rc::Rc;

    const S: u64 = 1_000_000_000;

    impl Clock for Rc<Cell<u64>> {
        fn now_ns(&self) -> Uptime {
            Uptime(self.get())
        }
    }

    #[test]
    fn time_in_which_the_app_has_paused_the_recorder_is_neither_idle_nor_frozen() {
        for paused_s in [20, 90] {
            let folder = tempfile::tempdir().unwrap();
            let options = RingOptions::new(folder.path(), Identity::of_this_process(clock::pair()));
            let Ring { main, reader, .. } = Ring::create(&options);
            let (shared, now) = (Arc::new(SharedState::default()), Rc::new(Cell::new(S)));
            let environment = MainEnvironment::with_clock(main, Arc::clone(&shared), Rc::clone(&now));
            let mut aggregator = Aggregator::new(&Config::default(), environment);
            let mut message = || {
                let _ = aggregator.begin(StackPointer::at(9_000));
                now.set(now.get() + S / 10);
                let _ = aggregator.end_all(End::Returned);
            };
            message();
            shared.set_paused(true, Uptime(now.get()));
            now.set(now.get() + paused_s * S);
            shared.set_paused(false, Uptime(now.get()));
            // What goes on after the resume, the hook has not seen begin.
            now.set(now.get() + S / 2);
            message();
            now.set(now.get() + 2 * S);
            message();
            let seen = reader.history().into_iter().map(|record| (record.kind, record.wall_ns * 10 / S));
            let all = [
                (RecordKind::Group, 1),
                (RecordKind::Unseen, paused_s * 10 + 5),
                (RecordKind::Group, 1),
                (RecordKind::Idle, 20),
                (RecordKind::Group, 1),
            ];
            assert_eq!(seen.collect::<Vec<_>>(), all);
        }
    }
}
