//! Who used the processors while main was busy.

use bincode::{Decode, Encode};

/// Who used the processors while a message ran, or while main worked outside of messages: the main thread and
/// the whole process, over the same time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Encode, Decode)]
pub struct CpuUse {
    /// The length of the time that the counts cover, without the time for which the process was frozen. It
    /// begins with the first check of the message, at most half a second after the message began (a second in
    /// the background), and ends when the report is made.
    pub over_ns: u64,
    /// CPU time of the main thread.
    pub main_ns: u64,
    /// CPU time of the process, the main thread included; `None` when the kernel did not report it.
    pub process_ns: Option<u64>,
    /// How many processors the main thread may run on; `None` when the kernel did not report it.
    pub processors: Option<u32>,
}

impl CpuUse {
    /// The CPU time of the app's other threads, and the time that all processors had for them: `over_ns` on
    /// each processor, less the main thread's CPU time. `None` where a part is not known.
    pub fn of_other_threads(&self) -> Option<(u64, u64)> {
        let all_ns = self.over_ns.saturating_mul(self.processors?.into()).saturating_sub(self.main_ns);
        let used_ns = self.process_ns?.saturating_sub(self.main_ns);
        // The counters are read one after the other.
        (all_ns > 0).then_some((used_ns.min(all_ns), all_ns))
    }
}
