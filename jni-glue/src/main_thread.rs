//! What belongs to the main thread: the aggregator and where its results go.

use crate::clock;
use crate::shared::Shared;
use loopbox_format::model::Record;
use loopbox_recorder::{Aggregator, Change, Details, Host};
use loopbox_store::MainWriter;
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicPtr, Ordering};

/// The aggregator with its way out.
pub(crate) type Main = Aggregator<MainHost>;

/// Null while nothing records. Set, used and cleared on the main thread only.
static MAIN: AtomicPtr<Main> = AtomicPtr::new(ptr::null_mut());

/// The main thread's recorder; `None` while nothing records.
///
/// # Safety
/// To be called on the main thread, by the natives that Java calls there only, and not while another result of it
/// is in use.
#[inline]
pub(crate) unsafe fn main<'a>() -> Option<&'a mut Main> {
    // SAFETY: the pointer is null or a Box that `install` leaked and `uninstall`, on this same thread, takes back;
    // the caller promises to hold no second reference.
    unsafe { MAIN.load(Ordering::Relaxed).as_mut() }
}

/// Starts recording on the calling thread, the main one.
pub(crate) fn install(main: Main) {
    let old = MAIN.swap(Box::into_raw(Box::new(main)), Ordering::Relaxed);
    // SAFETY: see `main`: what was there came from a Box, and nobody uses it now.
    drop(unsafe { from(old) });
}

/// Stops recording and hands over what was being recorded. On the main thread.
pub(crate) fn uninstall() -> Option<Box<Main>> {
    let old = MAIN.swap(ptr::null_mut(), Ordering::Relaxed);
    // SAFETY: as in `install`.
    unsafe { from(old) }
}

/// # Safety
/// `main` is null or came from `Box::into_raw`, and is not used any more.
unsafe fn from(main: *mut Main) -> Option<Box<Main>> {
    // SAFETY: by the caller's promise.
    (!main.is_null()).then(|| unsafe { Box::from_raw(main) })
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
        self.shared.running(token, start_ns);
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
