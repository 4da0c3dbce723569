//! The work for each display frame without Java: finding its session and the refresh interval, the queue to
//! the worker, and the worker's figures.

use anyhow::{Result, ensure};
use loopbox_format::model::{Token, Uptime};
use loopbox_frames::{
    Cadence, FrameEvent, FrameRecorder, IntervalDetector, OwnMessage, PackedEvent, RefreshInterval,
    SKIPPED_FRAMES, SeenFrame, SeenMessage,
};
use ringbuf::HeapRb;
use ringbuf::traits::{Consumer, Producer, Split};
use std::time::Instant;

const INTERVAL_NS: u64 = 16_666_667;
/// One frame out of this number is shown for two refreshes.
const LATE_EACH: u64 = 10;
/// How many frames arrive until the worker takes them.
const BATCH: u64 = 12;
/// The capacity of the queue to the worker, the same as in the library.
const CAPACITY: usize = 192;
const JANK_NS: u64 = 34_000_000;
const SCENES: usize = 16;
const API_LEVEL: u32 = 29;

/// Runs `count` frames through the main thread's part, and with `figures` through the worker's part, too.
pub(super) fn run(count: u64, figures: bool) -> Result<()> {
    let (mut to_worker, mut from_main) = HeapRb::<PackedEvent>::new(CAPACITY).split();
    let mut cadence = Cadence::new();
    let mut rate = IntervalDetector::new(RefreshInterval::HZ_60);
    let mut recorder = FrameRecorder::new(API_LEVEL, SCENES, JANK_NS, SKIPPED_FRAMES);
    let (mut time_ns, mut sent, mut taken) = (0, 0_u64, 0_u64);
    let began = Instant::now();
    for nth in 0..count {
        time_ns += INTERVAL_NS * if nth % LATE_EACH == 0 { 2 } else { 1 };
        let tick = cadence.frame(Uptime(time_ns), rate.interval());
        if let Some(frame) = tick.finished {
            rate.frame(frame.duration_ns);
            let message = |wall_ns| SeenMessage { token: Token(nth), wall_ns };
            let wall_ns = INTERVAL_NS / 2;
            let own = OwnMessage { message: message(wall_ns), end_ns: frame.time_ns + wall_ns };
            let seen = SeenFrame {
                frame,
                observed_rate: rate.is_observed(),
                own: Some(own),
                other: Some(message(INTERVAL_NS / 8)),
            };
            sent += u64::from(to_worker.try_push(FrameEvent::Frame(seen, 0).into()).is_ok());
        }
        if !tick.ask_again {
            cadence.begin_animation();
        }
        if nth % BATCH == 0 {
            while let Some(packed) = from_main.try_pop() {
                taken += 1;
                if figures && let Some(event) = packed.event() {
                    let scene = recorder.scene("Feed");
                    let _ = recorder.event(event, scene);
                }
            }
        }
    }
    let took = began.elapsed();
    ensure!(sent - taken < BATCH, "{taken} of {sent} frames were taken");
    println!("ns {} kept {taken}", took.as_nanos() as f64 / count as f64);
    Ok(())
}
