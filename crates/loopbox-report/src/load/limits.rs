//! How much of a decoded report is used.
//!
//! A report file is hostile input even after it decoded: it can declare a million nodes, a history of a
//! hundred thousand records, a class name of sixteen megabytes. Everything above this layer works on what
//! these limits leave, so that the time and the memory of each command are bounded whatever the file says.
//! What a limit cuts is listed in [`crate::Analysis::issues`]. Reports of busy apps stay far below all
//! limits: a full one has a hundred records, eleven trees of some thousand nodes and two hundred pending
//! messages.

/// The most records of the history; the newest are kept.
pub(crate) const RECORDS: usize = 1_024;
/// The most breadcrumbs; the newest are kept. The recorder has at most 64.
pub(crate) const BREADCRUMBS: usize = 256;
/// The most messages that one record keeps by name.
pub(crate) const DETAILS: usize = 16;
/// The most lines of the dump of the message queue.
pub(crate) const PENDING_LINES: usize = 4_096;
/// The most stack trees; the newest are kept.
pub(crate) const TREES: usize = 64;
/// The most samples of one tree.
pub(crate) const SAMPLES: usize = 100_000;
/// The most nodes of one tree.
pub(crate) const NODES: usize = 100_000;
/// The most frames of one stack. Samplers stop at 128 or 256.
pub(crate) const STACK_DEPTH: usize = 512;
/// The largest sum of the depths of all nodes of all trees: the cost of writing out every distinct stack.
pub(crate) const NODE_DEPTH_SUM: usize = 4_000_000;
/// The most locks in the chain from the main thread to the last holder.
pub(crate) const LOCK_WAITS: usize = 64;
/// The most other threads of the process.
pub(crate) const THREADS: usize = 1_024;
/// The most arguments of a system call; no call has more.
pub(crate) const CALL_ARGUMENTS: usize = 6;
/// The most modules of a native stack.
pub(crate) const NATIVE_MODULES: usize = 256;
/// The most bytes of a build id; SHA-1 has 20.
pub(crate) const BUILD_ID_BYTES: usize = 64;
/// The most entries of each short list: features, statistics, annotations, sampling intervals.
pub(crate) const SHORT_LIST: usize = 1_024;
/// The most entries of the list of damaged parts.
pub(crate) const DAMAGE: usize = 256;
/// The most characters of a class, method or file name.
pub(crate) const NAME_CHARS: usize = 200;
/// The most characters of a longer text, such as a line of the queue's dump or the reason of a requested
/// dump.
pub(crate) const LINE_CHARS: usize = 1_000;
/// The maximum size of the text of ART's own trace, in bytes. The app stores no more than that.
pub(crate) const TRACE_BYTES: usize = 4 << 20;
/// The most fields that the system writes before its trace, by name.
pub(crate) const TRACE_FIELDS: usize = 16;
/// The most screens of a smoothness session; the recorder has at most 18.
pub(crate) const SCENES: usize = 64;
/// The most entries of each list of display frames; the newest are kept. The recorder keeps 256 frames.
pub(crate) const DISPLAY_FRAMES: usize = 4_096;
