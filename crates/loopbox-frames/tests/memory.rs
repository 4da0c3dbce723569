//! The frames of a process take little memory, however many screens and frames there were.

mod common;

use common::{MS, S60};
use loopbox_format::display_frames::encode_session;
use loopbox_format::model::{FrameFlags, Token, Uptime};
use loopbox_frames::{
    Cadence, DisplayFrame, FrameEvent, FrameRecorder, IntervalDetector, METRICS, OwnMessage, SKIPPED_FRAMES,
    SeenFrame, SeenMessage,
};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    static HELD: Cell<isize> = const { Cell::new(0) };
}

struct Counting;

impl Counting {
    fn count(bytes: isize) {
        HELD.with(|held| held.set(held.get() + bytes));
    }
}

// SAFETY: every call is handed to the system's allocator as it is; counting touches only a thread-local
// number that needs neither allocation nor a destructor.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        Self::count(layout.size() as isize);
        // SAFETY: the caller keeps GlobalAlloc's contract, which is System's.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        Self::count(-(layout.size() as isize));
        // SAFETY: the block comes from `System`, by `alloc` above or the trait's own `realloc`.
        unsafe { System.dealloc(block, layout) }
    }
}

#[global_allocator]
static HEAP: Counting = Counting;

fn held() -> isize {
    HELD.with(Cell::get)
}

/// Records, for each second of `seconds`, jank on a separate screen. Each frame has its own message, another
/// message, a stage report and a jank type. The frames of a second are one gesture.
fn use_all(recorder: &mut FrameRecorder, seconds: std::ops::Range<u64>) {
    let mut metrics = [MS as i64; METRICS];
    metrics[8] = 60 * MS as i64;
    for second in seconds {
        let others = recorder.scene("");
        recorder.event(FrameEvent::Down { at_ns: Uptime(second * 1_000 * MS) }, others);
        for k in 0..10_u64 {
            let time_ns = Uptime((second * 1_000 + k * 80) * MS);
            let duration_ns = 80 * MS;
            let frame = DisplayFrame { time_ns, duration_ns, interval: S60, flags: FrameFlags::SCROLLED };
            let message = SeenMessage { token: Token(second * 10 + k), wall_ns: 50 * MS };
            let own = Some(OwnMessage { message, end_ns: time_ns.plus(50 * MS) });
            let seen = SeenFrame { frame, observed_rate: false, own, other: Some(message) };
            let scene = recorder.scene(&format!("com.example.screen.Screen{second}"));
            recorder.event(FrameEvent::Frame(seen, 0), scene);
            (metrics[10], metrics[11]) = (time_ns.0 as i64, time_ns.0 as i64);
            recorder.stages(&metrics, 1, 0);
            recorder.jank_type(second * 10 + k, 1);
        }
        recorder.event(FrameEvent::Up { at_ns: Uptime((second * 1_000 + 850) * MS) }, others);
        recorder.idle(Uptime((second * 1_000 + 999) * MS));
    }
}

#[test]
fn all_that_is_kept_takes_34_kib_at_most_and_does_not_grow() {
    let before = held();
    let mut recorder = FrameRecorder::new(36, 16, 34 * MS, SKIPPED_FRAMES);
    use_all(&mut recorder, 1..3);
    let of_two_screens = held() - before;
    use_all(&mut recorder, 3..60);
    let of_all = held() - before;
    let session = recorder.session();
    let counts =
        [&session.gestures.len(), &session.janks.len(), &session.recent.len(), &session.stages.len()];
    assert_eq!((session.scenes.len(), counts), (18, [&16, &32, &128, &32]));
    drop(session);
    let fixed = size_of::<FrameRecorder>() + size_of::<Cadence>() + size_of::<IntervalDetector>();
    assert!(of_two_screens <= 16 << 10, "{of_two_screens}");
    assert!(of_all + fixed as isize <= 34 << 10, "{of_all} + {fixed}");
    let mut saved = Vec::new();
    recorder.encode(&mut saved);
    assert_eq!((saved.len(), saved.capacity()), (encode_session(&recorder.session()).len(), saved.len()));
    drop(saved);
    use_all(&mut recorder, 60..200);
    assert_eq!(held() - before, of_all);
}
