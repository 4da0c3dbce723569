//! The code that runs for each frame allocates nothing on the heap.

mod common;

use common::{MS, S60};
use loopbox_format::model::Uptime;
use loopbox_frames::{
    Cadence, Duplicates, Gestures, IntervalDetector, Live, METRICS, Scenes, StageReport, matrix::MatrixSlice,
};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    static TAKEN: Cell<u64> = const { Cell::new(0) };
}

struct Counting;

// SAFETY: every call is handed to the system's allocator as it is; counting touches only a thread-local
// number that needs neither allocation nor a destructor.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        TAKEN.with(|taken| taken.set(taken.get() + 1));
        // SAFETY: the caller keeps GlobalAlloc's contract, which is System's.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: the block comes from `System`, by `alloc` above or the trait's own `realloc`.
        unsafe { System.dealloc(block, layout) }
    }
}

#[global_allocator]
static HEAP: Counting = Counting;

#[test]
fn a_frame_takes_nothing_from_the_heap() {
    let (mut cadence, mut gestures, mut live) = (Cadence::new(), Gestures::new(), Live::new());
    let (mut detector, mut slice) = (IntervalDetector::new(S60), MatrixSlice::new());
    let (mut scenes, mut seen) = (Scenes::new(Scenes::DEFAULT_LIMIT), Duplicates::default());
    let names: Vec<String> = (0..20).map(|k| format!("com.example.Screen{k}")).collect();
    let mut time_ns = 1_000 * MS;
    let mut metrics = [MS as i64; METRICS];
    metrics[8] = 60 * MS as i64;
    for name in &names {
        scenes.scene(name);
    }
    let before = TAKEN.with(Cell::get);
    for (k, name) in (0..10_000_u64).zip(names.iter().cycle()) {
        let scene = scenes.scene(name);
        if k % 100 == 0 {
            gestures.down(Uptime(time_ns));
        }
        gestures.moved(Uptime(time_ns + MS), 20.0);
        cadence.scrolled(time_ns / MS);
        time_ns += (1 + k % 7) * S60.ns();
        if let Some(frame) = cadence.frame(Uptime(time_ns), S60).finished {
            scenes.frame(scene, &frame);
            scenes.main_part(scene, frame.duration_ns, S60);
            live.frame(&frame);
            detector.frame(frame.duration_ns);
            slice.frame(frame.dropped());
            if let Some(mut gesture) = gestures.frame(&frame, scene.index()) {
                scenes.gesture(&mut gesture);
            }
        }
        if let Ok(report) = StageReport::from_frame_metrics(31, &metrics)
            && !seen.is_one(k % 6, Uptime(time_ns))
        {
            scenes.stages(scene, &report, S60);
        }
    }
    let taken = TAKEN.with(Cell::get) - before;
    assert_eq!(taken, 0);
    assert_eq!(scenes.records().next().map(|process| process.frames), Some(10_000));
    assert_eq!(scenes.records().count(), 18);
}
