//! How much of a decoded report is looked at.
//!
//! A report file is hostile input even after it decoded: it can declare a million nodes, a history of a hundred
//! thousand records, a class name of sixteen megabytes. Every view works on what is left after these bounds, so
//! that the work and the memory of each command are bounded whatever the file says. What a bound cuts is named in
//! the report's damage list. A report of a busy app stays far below all of them (a full one has a hundred
//! records, eleven trees of some thousand nodes and two hundred pending messages).

/// Records of the history that are kept, newest first to go in.
pub(crate) const RECORDS: usize = 4_096;
/// Messages kept by name of one record.
pub(crate) const DETAILS: usize = 64;
/// Lines of the pending queue.
pub(crate) const PENDING: usize = 4_096;
/// Stack trees.
pub(crate) const TREES: usize = 64;
/// Samples of one tree.
pub(crate) const SAMPLES: usize = 100_000;
/// Nodes of one tree.
pub(crate) const NODES: usize = 100_000;
/// Depth of one tree. Samplers stop at 128 or 256 frames.
pub(crate) const DEPTH: usize = 512;
/// Sum over all nodes of all trees of their depth: what writing every distinct stack out costs.
pub(crate) const CELLS: usize = 4_000_000;
/// Steps from main to the thread that all others wait for.
pub(crate) const LOCKS: usize = 64;
/// Other threads of the process.
pub(crate) const THREADS: usize = 1_024;
/// Features and figures.
pub(crate) const FACTS: usize = 1_024;
/// Entries of the damage list.
pub(crate) const DAMAGE: usize = 256;
/// Characters of a class, method or file name.
pub(crate) const NAME: usize = 200;
/// Characters of a longer text: a pending line, the words of a dump request.
pub(crate) const LINE: usize = 1_000;
