use bincode::{Decode, Encode};

/// Who used the processors while the running message, or what ran outside of messages, ran: the main thread
/// and the whole process, over the same time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Encode, Decode)]
pub struct CpuUse {
    /// The length of that time: from the first look at the message, which comes within half a second (a
    /// second in the background), to the moment of the report, without what the process was frozen for.
    pub over_ns: u64,
    /// CPU time of the main thread.
    pub main_ns: u64,
    /// CPU time of the process, the main thread included; `None` when the kernel did not report it.
    pub process_ns: Option<u64>,
    /// How many processors the main thread may run on; `None` when the kernel did not report it.
    pub processors: Option<u32>,
}
