//! Display frames of the process: what the main thread, the thread of `FrameMetrics` and the worker share.

use super::settings::FrameSettings;
use loopbox_format::model::FrameSession;
use loopbox_frames::{FrameRecorder, PackedEvent};
use ringbuf::traits::Split;
use ringbuf::{CachingCons, CachingProd, HeapRb};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// How many events may wait for the worker: those of 1.6 s at 120 Hz. The worker takes them every 200 ms as
/// long as there are frames.
const CAPACITY: usize = 192;
/// How many screens have separate names; further screens count as others.
const MAX_NAMES: usize = 64;

/// The main thread's end of the queue of events.
pub(crate) type FrameSender = CachingProd<Arc<HeapRb<PackedEvent>>>;
/// The worker's end of the queue.
pub(crate) type FrameReceiver = CachingCons<Arc<HeapRb<PackedEvent>>>;

/// An empty queue.
pub(crate) fn queue() -> (FrameSender, FrameReceiver) {
    HeapRb::new(CAPACITY).split()
}

/// The figures of display frames, and the state by which the main thread wakes the worker, which computes
/// them.
#[derive(Debug)]
pub(crate) struct Frames {
    /// The recorder of the figures. Used by the worker, the thread of `FrameMetrics`, and callers that ask
    /// for the figures; not by the recorder's part of the main thread.
    recorder: Mutex<FrameRecorder>,
    /// Names of screens, by their numbers.
    names: Mutex<Vec<String>>,
    /// Whether the worker sleeps without a deadline.
    asleep: AtomicBool,
    /// Whether a frame is expected: a frame callback is requested, or the message that drew the frame on the
    /// display still runs and may request one.
    awaited: AtomicBool,
    /// How many events the queue had no room for.
    lost: AtomicU32,
    /// Whether the figures were reset, so that the saved ones are out of date.
    forgotten: AtomicBool,
}

impl Frames {
    pub(crate) fn new(settings: &FrameSettings, api_level: u32) -> Self {
        Self {
            recorder: Mutex::new(FrameRecorder::new(
                api_level,
                settings.scenes,
                settings.jank_ns,
                settings.skipped,
            )),
            names: Mutex::default(),
            asleep: AtomicBool::new(false),
            awaited: AtomicBool::new(false),
            lost: AtomicU32::new(0),
            forgotten: AtomicBool::new(false),
        }
    }

    /// Runs `body` with the recorder of the figures. Must not be called on the main thread.
    pub(crate) fn recorder<T>(&self, body: impl FnOnce(&mut FrameRecorder) -> T) -> T {
        body(&mut self.recorder.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The figures so far.
    pub(crate) fn session(&self) -> FrameSession {
        self.recorder(|recorder| recorder.session())
    }

    /// Forgets the figures. The caller must wake the worker.
    pub(crate) fn reset(&self) {
        self.recorder(FrameRecorder::reset);
        self.forgotten.store(true, Ordering::Relaxed);
    }

    /// Whether the figures were cleared since the previous call.
    pub(crate) fn take_forgotten(&self) -> bool {
        self.forgotten.swap(false, Ordering::Relaxed)
    }

    /// The number of a screen; `u16::MAX` when there are too many.
    pub(crate) fn number_of(&self, name: &str) -> u16 {
        let mut names = self.names.lock().unwrap_or_else(PoisonError::into_inner);
        let known = names.iter().position(|known| known == name);
        let room = names.len() < MAX_NAMES;
        let at = known.or_else(|| {
            room.then(|| {
                names.push(name.to_owned());
                names.len() - 1
            })
        });
        at.map_or(u16::MAX, |at| at as u16)
    }

    /// The name of the screen of this number; empty when it has none.
    pub(crate) fn name(&self, number: u16) -> String {
        let names = self.names.lock().unwrap_or_else(PoisonError::into_inner);
        names.get(usize::from(number)).cloned().unwrap_or_default()
    }

    /// Whether to wake the worker for an event in the queue. Main thread only.
    pub(crate) fn wakes(&self) -> bool {
        self.asleep.swap(false, Ordering::SeqCst)
    }

    /// Records whether the worker sleeps without a deadline; does not put it to sleep. After `true` is
    /// recorded, the worker must check the queue once more: an event that came before that has not woken it.
    pub(crate) fn set_asleep(&self, asleep: bool) {
        self.asleep.store(asleep, Ordering::SeqCst);
    }

    /// Sets whether a frame is on its way. Main thread only.
    pub(crate) fn set_awaited(&self, awaited: bool) {
        self.awaited.store(awaited, Ordering::Relaxed);
    }

    /// Whether a frame is on its way.
    pub(crate) fn is_awaited(&self) -> bool {
        self.awaited.load(Ordering::Relaxed)
    }

    /// Counts an event for which the queue had no room.
    pub(crate) fn lose(&self) {
        self.lost.fetch_add(1, Ordering::Relaxed);
    }

    /// The number of events for which the queue had no room.
    pub(crate) fn lost(&self) -> u32 {
        self.lost.load(Ordering::Relaxed)
    }
}
