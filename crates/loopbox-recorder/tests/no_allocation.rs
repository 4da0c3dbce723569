//! The code on the app's main thread and in the sampler thread's loop allocates nothing on the heap.

use loopbox_format::codec;
use loopbox_format::looper;
use loopbox_format::model::{End, LocationId, NamedBy, Record, StackSource, Token, Uptime};
use loopbox_recorder::{
    Activity, Aggregator, Config, Described, Details, Dirty, Environment, MAX_ENCODED_RECORD, Sample,
    Schedule, StackPointer, StackTreeBuilder, Step, Taken, Wanted,
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
        // SAFETY: the block comes from `System`, by `alloc` or `realloc` above.
        unsafe { System.dealloc(block, layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        TAKEN.with(|taken| taken.set(taken.get() + 1));
        // SAFETY: the block comes from `System`, by `alloc` or `realloc` above.
        unsafe { System.realloc(block, layout, new_size) }
    }
}

#[global_allocator]
static HEAP: Counting = Counting;

fn allocations(work: impl FnOnce()) -> u64 {
    let before = TAKEN.with(Cell::get);
    work();
    TAKEN.with(Cell::get) - before
}

const MS: u64 = 1_000_000;

/// Writes each record into a fixed slot, as the app does.
struct Slots {
    now_ns: Uptime,
    slot: [u8; MAX_ENCODED_RECORD],
    closed: u64,
}

impl Environment for Slots {
    fn now_ns(&self) -> Uptime {
        self.now_ns
    }

    fn thread_cpu_ns(&self) -> Option<u64> {
        Some(self.now_ns.0 / 2)
    }

    fn running(&mut self, _: Token, _: Uptime, _: u32) {}

    fn idle(&mut self, _: Token, _: Uptime, _: u32) {}

    fn opened(&mut self, record: &Record<Details>, _: Dirty) {
        codec::encode_into(record, &mut self.slot).unwrap();
    }

    fn closed(&mut self, record: &Record<Details>) {
        codec::encode_into(record, &mut self.slot).unwrap();
        self.closed += 1;
    }
}

#[test]
fn counting_counts() {
    assert_eq!(allocations(|| drop(std::hint::black_box(Box::new(7)))), 1);
}

#[test]
fn recording_takes_nothing_from_the_heap() {
    let environment = Slots { now_ns: Uptime(1_000_000 * MS), slot: [0; MAX_ENCODED_RECORD], closed: 0 };
    let mut main = Aggregator::new(&Config::default(), environment);
    let line =
        ">>>>> Dispatching to Handler (com.example.shop.Feed$H) {6a3d1f2} com.example.shop.Load$1@1f: 159";
    let taken = allocations(|| {
        let top = StackPointer::here();
        let nested = StackPointer::at(0x1000);
        for round in 0..20_000_u64 {
            // All kinds: short and long messages, gaps, nested loops, lost ends, descriptions.
            let _ = main.begin(top);
            main.environment_mut().now_ns += round % 7 * 13 * MS;
            if round % 11 == 0 {
                let _ = main.begin(nested);
                main.environment_mut().now_ns += round % 5 * 90 * MS;
                let _ = main.end(nested, None, End::Threw);
            }
            if round % 13 == 0 {
                continue;
            }
            let wanted = main.end(top, Some(main.environment().now_ns), End::Returned);
            if wanted == Wanted::Description || round % 3 == 0 {
                let dispatch = looper::dispatch(line);
                let target = if round % 3 == 0 { "android.app.ActivityThread$H" } else { dispatch.target };
                main.describe(&Described {
                    target,
                    callback: dispatch.callback,
                    what: dispatch.what,
                    named_by: NamedBy::Printer,
                });
            }
            main.environment_mut().now_ns += round % 17 * 30 * MS;
        }
        main.finish();
    });
    assert!(main.environment().closed > 5_000, "{} records", main.environment().closed);
    assert_eq!(taken, 0);
}

#[test]
fn the_schedule_takes_nothing_from_the_heap() {
    let mut schedule = Schedule::new(&Config::default().sampling);
    let mut samples = 0;
    let taken = allocations(|| {
        let mut now_ns = Uptime::ZERO;
        for round in 0..100_000_u64 {
            let activity = match round / 500 % 3 {
                0 => Activity::Idle { since_ns: now_ns.minus(round * MS) },
                _ => Activity::Running { token: Token(round / 500), start_ns: now_ns.minus(100 * MS) },
            };
            match schedule.next(now_ns, activity) {
                Step::SleepUntil(deadline_ns) => now_ns = deadline_ns,
                Step::Sample { .. } => {
                    samples += 1;
                    schedule.taken(now_ns, Taken::Stack { stop_ns: 100_000 });
                }
                Step::Park | Step::Pause => now_ns += MS,
            }
        }
    });
    assert!(samples > 1_000, "{samples} samples");
    assert_eq!(taken, 0);
}

#[test]
fn a_tree_builder_takes_its_memory_once() {
    let sampling = Config::default().sampling;
    let mut builder = StackTreeBuilder::new(&sampling);
    let message = |builder: &mut StackTreeBuilder, token: u64| {
        builder.begin(Token(token), Uptime::ZERO, StackSource::Art);
        for sample in 0..5_000_u64 {
            let frames: [LocationId; 16] =
                std::array::from_fn(|depth| LocationId(((sample * token) >> depth) as u32 % 5));
            let interval_ns = builder.interval_ns();
            builder.push(&Sample { frames: &frames, at_ns: Uptime(sample * MS), stop_ns: 1, interval_ns });
        }
    };
    message(&mut builder, 1);
    assert_eq!(allocations(|| (2..20).for_each(|token| message(&mut builder, token))), 0);
}
