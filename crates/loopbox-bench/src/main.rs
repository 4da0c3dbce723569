//! What the hook's native part does for each message, in a plain loop: the aggregator of the recorder writing into a
//! real mapped ring and telling a sampler. Run by `cargo xtask bench instructions`.
//!
//! Usage: `loopbox-bench COUNT real|steps FOLDER`. With `real` the clock is the system's. With `steps` it is made of
//! numbers, so that the same count always does the same work, however slowly it runs: each message works for 100 µs
//! and the next begins 100 µs later. Prints the nanoseconds that a message took.
//!
//! The entry from Java is not part of it.

// The library's own, which a program cannot link to: it is made for Java to load.
#[path = "../../../jni-glue/src/clock.rs"]
#[allow(dead_code, reason = "only what the main thread does for a message is used here")]
mod clock;
#[path = "../../../jni-glue/src/shared.rs"]
#[allow(dead_code, reason = "only what the main thread does for a message is used here")]
mod shared;
#[path = "../../../jni-glue/src/wake.rs"]
#[allow(dead_code, reason = "only what the main thread does for a message is used here")]
mod wake;

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context, Result, bail};
use loopbox_format::model::{ClockPair, End, Record};
use loopbox_recorder::{Aggregator, Change, Config, Details, Host, StackMark};
use loopbox_store::{Identity, MainWriter, Ring, RingOptions};
use shared::Shared;

const STEP_NS: u64 = 100_000;

/// The ring and the sampler's words, as the app's main thread has them, and one of two clocks.
struct Main {
    ring: MainWriter,
    sampler: Arc<Shared>,
    /// `None` for the system's clock.
    steps: Option<std::cell::Cell<u64>>,
}

impl Host for Main {
    #[inline]
    fn now_ns(&self) -> u64 {
        let Some(steps) = &self.steps else { return clock::now_ns() };
        steps.set(steps.get() + STEP_NS);
        steps.get()
    }

    fn thread_cpu_ns(&self) -> Option<u64> {
        clock::thread_cpu_ns()
    }

    fn take_late_ns(&mut self) -> Option<u64> {
        self.sampler.take_late_ns()
    }

    fn running(&mut self, token: u64, start_ns: u64, depth: u32) {
        let _ = self.ring.running(token, start_ns, depth);
        self.sampler.running(token, start_ns);
    }

    fn idle(&mut self, since_ns: u64) {
        let _ = self.ring.idle(since_ns);
        self.sampler.idle(since_ns);
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

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [count, clock, folder] = &arguments[..] else {
        bail!("usage: loopbox-bench COUNT real|steps FOLDER")
    };
    let count: u64 = count.parse().context("COUNT is not a number")?;
    let steps = match clock.as_str() {
        "real" => None,
        "steps" => Some(std::cell::Cell::new(STEP_NS)),
        other => bail!("no such clock: {other}"),
    };
    let clocks = ClockPair { uptime_ns: clock::now_ns(), unix_ms: 0 };
    let ring = Ring::create(&RingOptions::new(Path::new(folder), Identity::of_this_process(clocks)));
    if let Some(reason) = ring.reader.volatile_reason() {
        bail!("the ring is not on disk: {reason:?}");
    }
    let sampler = Arc::new(Shared::default());
    let mut main = Aggregator::new(&Config::default(), Main { ring: ring.main, sampler, steps });
    let began = Instant::now();
    for _ in 0..count {
        let _ = main.begin(StackMark::here());
        let _ = main.end(StackMark::here(), Some(1), End::Returned);
    }
    let took = began.elapsed();
    let counted = {
        main.finish();
        ring.reader.snapshot(0).report.history.iter().map(|r| u64::from(r.count)).sum::<u64>()
    };
    println!("ns {} kept {counted}", took.as_nanos() as f64 / count as f64);
    Ok(())
}
