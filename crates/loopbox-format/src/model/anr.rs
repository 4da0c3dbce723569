//! The evidence for and against an ANR, and the resulting verdict.

use super::Uptime;
use bincode::{Decode, Encode};

/// Whether the main thread failed to respond, who reported that, and the evidence.
///
/// The recorder decides from the evidence that it has when it writes the report. Later evidence is added to
/// the same file: the end of the hang, the system's dialog, or the process's exit reason, which the next
/// launch reads.
#[derive(Debug, Clone, PartialEq, Eq, Default, Encode, Decode)]
pub struct Anr {
    /// The conclusion from the other fields.
    pub verdict: AnrVerdict,
    /// How long the running message, or the work outside of messages, had been running, less `frozen_ns`. If
    /// the main thread was seen to sleep for longer than that while messages were due, this is how long it
    /// slept.
    pub ran_ns: u64,
    /// How long a message like this one may run before it counts as a hang; `None` when it is not known.
    pub hang_threshold_ns: Option<u64>,
    /// The part of the running message's age in which the whole process did not run: it was frozen by the
    /// system, or stopped.
    pub frozen_ns: u64,
    /// How much of `ran_ns` the main thread spent waiting for a processor. The kernel counted this from the
    /// first check of the message on. That check comes at most half a second after the message began (a
    /// second in the background).
    pub starved_ns: u64,
    /// How long the message took in all, once it has ended; `None` while it runs, or when its end is not
    /// known.
    pub ended_after_ns: Option<u64>,
    /// How long the first message of the queue has been overdue; `None` when none is, or the queue was not
    /// read.
    pub overdue_ns: Option<u64>,
    /// The duration of the longest message that ended in the ten seconds before the report.
    pub before_ns: u64,
    /// Whether a debugger or tracer was attached.
    pub debugged: bool,
    /// The SIGQUIT that the report answers.
    pub signal: Option<QuitSignal>,
    /// What `ActivityManager.getProcessesInErrorState` returned; `None` when it was not asked.
    pub system: Option<SystemWord>,
    /// What `ApplicationExitInfo` says about the end of the process; `None` when it is not known.
    pub exit: Option<ProcessExit>,
}

/// How long a message must have run for the end of its process to count as an end in a hang. The system kills
/// apps all the time, mostly while nothing is wrong.
pub const MIN_HANG_NS: u64 = 1_000_000_000;

/// The conclusion about the main thread, in one word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Encode, Decode)]
#[non_exhaustive]
pub enum AnrVerdict {
    /// There is no verdict.
    #[default]
    Unknown,
    /// Nothing shows that the main thread did not respond.
    Responsive,
    /// A message ran longer than its hang threshold, whether or not it has ended, or messages were due for
    /// that long. The system has not called it an ANR.
    Hang,
    /// The system sent SIGQUIT while the main thread was busy for a long time, or soon after such a time.
    Probable,
    /// The system reported the ANR.
    Confirmed,
}

/// Who sent a SIGQUIT. The system also sends it to processes other than the one that does not respond.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Encode, Decode)]
pub struct QuitSignal {
    /// The sender, as far as it is known.
    pub origin: SignalOrigin,
    /// Process id of the sender.
    pub pid: u32,
    /// User id of the sender.
    pub uid: u32,
    /// How many SIGQUITs there were since the recorder was installed.
    pub count: u32,
}

/// Who may have sent a signal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Encode, Decode)]
#[non_exhaustive]
pub enum SignalOrigin {
    /// The user `system`: an ANR, of this process or of another one.
    System,
    /// This process: another library that raises the signal again.
    SameProcess,
    /// Another process of the same user.
    SameUser,
    /// The users `root` and `shell`: `kill -3` or a bug report.
    Shell,
    /// Another sender, or an unknown one.
    Other,
}

/// What the system reports about this process in its list of processes in an error state.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
#[non_exhaustive]
pub enum SystemWord {
    /// The system reported nothing about this process each time it was asked.
    Silent,
    /// The system reported that this process does not respond; the text is its reason.
    NotResponding(String),
}

/// How the process ended, as the system reports it.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub struct ProcessExit {
    /// `ApplicationExitInfo.REASON_*`; 6 is an ANR.
    pub reason: i32,
    /// The system's words; may be empty.
    pub description: String,
    /// When the process ended, Unix time in milliseconds.
    pub unix_ms: u64,
}

impl ProcessExit {
    /// `ApplicationExitInfo.REASON_ANR`.
    pub const ANR: i32 = 6;
    /// `ApplicationExitInfo.REASON_SIGNALED`.
    pub const SIGNALED: i32 = 2;
    /// `ApplicationExitInfo.REASON_CRASH`.
    pub const CRASH: i32 = 4;
    /// `ApplicationExitInfo.REASON_CRASH_NATIVE`.
    pub const CRASH_NATIVE: i32 = 5;
}

/// The system's warning that it will soon report an ANR of the app: `AnrWarningResult` of API 37 and newer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Encode, Decode)]
pub struct AnrWarning {
    /// When the warning came, uptime.
    pub at_ns: Uptime,
    /// The number of the ANR, as in [`AnrInfo`]: unique for its type until the device restarts.
    pub id: i32,
    /// `AnrTypes.ANR_TYPE_*`.
    pub kind: i32,
    /// How much of the time-out had passed when the warning was sent.
    pub consumed_ms: u64,
    /// How long the system waits before it reports the ANR.
    pub timeout_ms: u64,
}

impl AnrWarning {
    /// The most time that the system takes for traces between the time-out and its record of the ANR.
    const FOLLOWED_MS: u64 = 20_000;

    /// Whether the warning is about the ANR that the system recorded.
    pub fn is_of(&self, info: &AnrInfo) -> bool {
        (self.kind, self.id) == (info.kind, info.id)
    }

    /// Whether the time-out and the time for the system's traces have passed. If there was an ANR, the system
    /// has recorded it by now.
    pub fn is_over(&self, now_ns: Uptime) -> bool {
        let left_ms = self.timeout_ms.saturating_sub(self.consumed_ms).saturating_add(Self::FOLLOWED_MS);
        now_ns.since(self.at_ns) / 1_000_000 > left_ms
    }
}

/// What the system recorded of the ANR that ended the process: `ApplicationExitInfo.AnrInfo` of API 37 and
/// newer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Encode, Decode)]
pub struct AnrInfo {
    /// The number of the ANR: unique for its type until the device restarts.
    pub id: i32,
    /// `AnrTypes.ANR_TYPE_*`.
    pub kind: i32,
    /// How long the system had waited before the ANR.
    pub timeout_ms: u64,
    /// Whether the user could notice the ANR.
    pub user_perceptible: bool,
}
