//! Every decoder of Loopbox, each as a function of arbitrary bytes.
//!
//! A [`Target`] runs a decoder and the code that directly uses its result. It fails by a panic: in the
//! decoder, for a property that does not hold, or for an exceeded bound on memory or time. The tests of this
//! package run each target on its seeds (`seeds/NAME`) and on mutations of them. `cargo xtask stress fuzz`
//! runs the same targets under LLVM's libFuzzer, which is guided by coverage, for as long as one likes;
//! `docs/faults.md` says how.

mod elf;
#[path = "../../../crates/loopbox-store/tests/common/memory.rs"]
mod memory;
mod report;
mod ring;
mod stalls;
mod text;
mod views;

use std::time::Duration;

/// A decoder under test.
#[derive(Debug)]
pub struct Target {
    /// The name of the target, which is also that of its folder of seeds.
    pub name: &'static str,
    /// How many bytes the decoder may hold on the heap at once, whatever the input is.
    pub memory: usize,
    /// The greatest length of an input, in bytes; longer inputs are cut.
    pub longest: usize,
    /// Decodes an input. Returns whether there was something to decode.
    run: fn(&[u8]) -> bool,
}

/// The result for an input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Checked {
    /// The most that was held on the heap at once, in bytes.
    pub peak: usize,
    /// Whether the decoder accepted the input, so that more than its error handling was tested.
    pub decoded: bool,
}

/// Processor time that one input may take. The limit is generous: it also holds in a build without
/// optimisation.
pub const TIME: Duration = Duration::from_secs(20);

const MIB: usize = 1 << 20;

/// A report file: container, sections, payloads.
pub const REPORT: Target =
    Target { name: "report", memory: 40 * MIB, longest: 64 << 10, run: report::report };
/// What the host tools make of a decoded report: every view and every export.
pub const VIEWS: Target =
    Target { name: "views", memory: 64 * MIB, longest: 64 << 10, run: views::every_view };
/// A file of the performance monitor, through every view of it.
pub const STALLS: Target =
    Target { name: "stalls", memory: 64 * MIB, longest: 16 << 10, run: stalls::every_view };
/// A ring file, as a killed process leaves it.
pub const RING: Target = Target { name: "ring", memory: 64 * MIB, longest: 64 << 10, run: ring::ring };
/// A packed stack tree in a ring's slot: its numbers, its string table, its nodes.
pub const TREE: Target = Target { name: "tree", memory: 32 * MIB, longest: 16 << 10, run: ring::tree };
/// What the framework's Looper prints: a queue, and the line at a dispatch.
pub const LOOPER: Target = Target { name: "looper", memory: 8 * MIB, longest: 16 << 10, run: text::looper };
/// `/proc/self/maps`.
pub const MAPS: Target = Target { name: "maps", memory: 8 * MIB, longest: 16 << 10, run: text::maps };
/// A table of ART's offsets, as the build reads it.
pub const OFFSETS: Target =
    Target { name: "offsets", memory: 16 * MIB, longest: 16 << 10, run: text::offsets };
/// Qimao's text form of a stack tree.
pub const TREE_TEXT: Target =
    Target { name: "tree_text", memory: 64 * MIB, longest: 16 << 10, run: text::tree_text };
/// A library file: headers, build id, symbol tables, hash table.
pub const ELF: Target = Target { name: "elf", memory: 80 * MIB, longest: 64 << 10, run: elf::elf };
/// The xz stream in a library's `.gnu_debugdata`.
pub const DEBUGDATA: Target =
    Target { name: "debugdata", memory: 80 * MIB, longest: 64 << 10, run: elf::debugdata };
/// A dex file as it is in memory: names, signatures, source lines.
pub const DEX: Target = Target { name: "dex", memory: 16 * MIB, longest: 16 << 10, run: elf::dex };
/// R8's `mapping.txt`, and a report retraced by it.
pub const MAPPING: Target =
    Target { name: "mapping", memory: 32 * MIB, longest: 16 << 10, run: views::mapping };

/// The system's trace of an ANR as a separate file, of one process or of several.
pub const TRACE: Target = Target { name: "trace", memory: 64 * MIB, longest: 16 << 10, run: views::trace };

/// All targets.
pub const TARGETS: [&Target; 14] = [
    &REPORT, &VIEWS, &STALLS, &RING, &TREE, &LOOPER, &MAPS, &OFFSETS, &TREE_TEXT, &ELF, &DEBUGDATA, &DEX,
    &MAPPING, &TRACE,
];

impl Target {
    /// Runs one input.
    ///
    /// # Panics
    /// When the target fails: that is the answer.
    pub fn check(&self, input: &[u8]) -> Checked {
        let input = input.get(..self.longest).unwrap_or(input);
        let begin = cpu_time();
        let (peak, decoded) = peak_of(|| (self.run)(input));
        let took = cpu_time().saturating_sub(begin);
        assert!(peak <= self.memory, "{}: {peak} bytes of heap, more than {}", self.name, self.memory);
        assert!(took <= TIME, "{}: {took:?}", self.name);
        Checked { peak, decoded }
    }
}

/// Runs `work` and returns the most that it held on the heap at once, in bytes.
pub fn peak_of<T>(work: impl FnOnce() -> T) -> (usize, T) {
    memory::peak_of(work)
}

/// The processor time of this thread. Unlike a clock, it does not advance while other threads run.
pub fn cpu_time() -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is a valid place for the answer.
    let answer = unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) };
    assert_eq!(answer, 0, "no clock of this thread");
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}
