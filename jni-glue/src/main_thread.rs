//! What belongs to the main thread: the aggregator and where its results go.

use crate::clock;
use crate::shared::Shared;
use crate::sigquit;
use loopbox_format::model::Record;
use loopbox_recorder::{Aggregator, Change, Details, Host, StackMark};
use loopbox_store::MainWriter;
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

/// What the main thread's natives work on.
pub(crate) struct Main {
    pub(crate) aggregator: Aggregator<MainHost>,
    /// So many of the running messages are known to have a loop inside of them.
    pub(crate) nested: u32,
    /// How many messages have begun.
    pub(crate) begun: u64,
    /// Where the running messages began, outermost first.
    pub(crate) marks: [StackMark; MAX_DEPTH],
}

impl Main {
    pub(crate) fn new(aggregator: Aggregator<MainHost>) -> Self {
        Self { aggregator, nested: 0, begun: 0, marks: [StackMark::UNKNOWN; MAX_DEPTH] }
    }
}

/// As many nested loops as the aggregator tells apart.
const MAX_DEPTH: usize = 8;

/// Null while nothing records. Set, used and cleared on the main thread only.
static MAIN: AtomicPtr<Main> = AtomicPtr::new(ptr::null_mut());
/// The thread that `MAIN` belongs to, by its `pthread_t`.
static THREAD: AtomicUsize = AtomicUsize::new(0);

fn this_thread() -> usize {
    // SAFETY: no arguments, no effects.
    unsafe { libc::pthread_self() as usize }
}

/// The main thread's recorder; `None` on other threads, and while nothing records.
///
/// # Safety
/// Not to be called while another result of it is in use: natives of ours do not call back into Java while they hold
/// it, so there is only one on the stack.
#[inline]
pub(crate) unsafe fn main<'a>() -> Option<&'a mut Main> {
    if THREAD.load(Ordering::Relaxed) != this_thread() {
        return None;
    }
    // SAFETY: the pointer is null or a Box that `install` leaked and `uninstall`, on this same thread, takes back;
    // the caller promises to hold no second reference.
    unsafe { MAIN.load(Ordering::Relaxed).as_mut() }
}

/// Starts recording on the calling thread, the main one.
pub(crate) fn install(aggregator: Aggregator<MainHost>) {
    uninstall();
    MAIN.store(Box::into_raw(Box::new(Main::new(aggregator))), Ordering::Relaxed);
    THREAD.store(this_thread(), Ordering::Relaxed);
}

/// Stops recording. Does nothing on any other thread than the one that records.
pub(crate) fn uninstall() {
    if THREAD.load(Ordering::Relaxed) != this_thread() {
        return;
    }
    THREAD.store(0, Ordering::Relaxed);
    let main = MAIN.swap(ptr::null_mut(), Ordering::Relaxed);
    if !main.is_null() {
        // SAFETY: it came from `Box::into_raw` in `install`, and only this thread, which is here, uses it.
        drop(unsafe { Box::from_raw(main) });
    }
}

/// The ring and the sampler, as the aggregator sees them.
#[derive(Debug)]
pub(crate) struct MainHost {
    ring: MainWriter,
    shared: Arc<Shared>,
}

impl MainHost {
    pub(crate) fn new(ring: MainWriter, shared: Arc<Shared>) -> Self {
        Self { ring, shared }
    }
}

// A ring that refuses a write has said why at install, or this process is a fork of its owner: there is nobody to
// tell here, on the main thread, for each message.
impl Host for MainHost {
    #[inline]
    fn now_ns(&self) -> u64 {
        clock::now_ns()
    }

    fn thread_cpu_ns(&self) -> Option<u64> {
        clock::thread_cpu_ns()
    }

    fn take_late_ns(&mut self) -> Option<u64> {
        self.shared.take_late_ns()
    }

    fn running(&mut self, token: u64, start_ns: u64, depth: u32) {
        let _ = self.ring.running(token, start_ns, depth);
        if self.shared.running(token, start_ns) {
            sigquit::unblock();
        }
    }

    fn idle(&mut self, since_ns: u64) {
        let _ = self.ring.idle(since_ns);
        self.shared.idle(since_ns);
    }

    fn opened(&mut self, record: &Record<Details>, change: Change) {
        if change == Change::Details {
            let _ = self.ring.open_details(record.seq, record.details.as_slice());
        }
        let _ = self.ring.open(record);
    }

    fn closed(&mut self, record: &Record<Details>) {
        let _ = self.ring.close(record, record.details.as_slice());
    }
}
