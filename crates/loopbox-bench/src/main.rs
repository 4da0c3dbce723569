//! The work of the hook's native part for each message, in a plain loop: the recorder's aggregator writes
//! into a real ring and publishes the running message for the sampler, with the same code as in the library.
//! Run by `cargo xtask bench instructions`.
//!
//! Usage: `loopbox-bench COUNT real|steps|frames|figures FOLDER`. With `real` the clock is the system's. With
//! `steps` it is simulated, so that the same count always does the same work, however slowly it runs: each
//! message works for 100 µs and the next starts 100 µs later. Prints the nanoseconds per message. With
//! `frames` it measures display frames instead: the work of the main thread for each; with `figures` the
//! worker's work is included.
//!
//! The entry from Java is not included.

mod frames;

use std::cell::Cell;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context, Result, bail};
use loopbox_agent::SharedState;
use loopbox_agent::hook::main_thread::{Clock, MainEnvironment, SystemClock};
use loopbox_format::model::{ClockPair, End, Uptime};
use loopbox_recorder::{Aggregator, Config, StackPointer};
use loopbox_store::{Identity, Ring, RingOptions};

const STEP_NS: u64 = 100_000;

/// A simulated clock: each reading is one step after the last one.
struct Steps(Cell<u64>);

impl Clock for Steps {
    #[inline]
    fn now_ns(&self) -> Uptime {
        self.0.set(self.0.get() + STEP_NS);
        Uptime(self.0.get())
    }
}

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [count, clock, folder] = &arguments[..] else {
        bail!("usage: loopbox-bench COUNT real|steps|frames|figures FOLDER")
    };
    let count: u64 = count.parse().context("COUNT is not a number")?;
    match clock.as_str() {
        "real" => run(count, folder, SystemClock),
        "steps" => run(count, folder, Steps(Cell::new(STEP_NS))),
        "frames" => frames::run(count, false),
        "figures" => frames::run(count, true),
        other => bail!("no such clock: {other}"),
    }
}

fn run(count: u64, folder: &str, clock: impl Clock) -> Result<()> {
    let clocks = ClockPair { uptime_ns: SystemClock.now_ns(), unix_ms: 0 };
    let mut ring = Ring::create(&RingOptions::new(Path::new(folder), Identity::of_this_process(clocks)));
    ring.mirror.attach().context("the ring has no file")?;
    let host = MainEnvironment::with_clock(ring.main, Arc::new(SharedState::default()), clock);
    let mut main = Aggregator::new(&Config::default(), host);
    let began = Instant::now();
    for _ in 0..count {
        let _ = main.begin(StackPointer::here());
        let _ = main.end(StackPointer::here(), Some(Uptime(1)), End::Returned);
    }
    let took = began.elapsed();
    let counted = {
        main.finish();
        ring.reader.snapshot(Uptime::ZERO).report.history.iter().map(|r| u64::from(r.count)).sum::<u64>()
    };
    println!("ns {} kept {counted}", took.as_nanos() as f64 / count as f64);
    Ok(())
}
