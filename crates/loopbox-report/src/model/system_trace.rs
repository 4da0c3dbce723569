//! ART's own trace of an ANR, which the system keeps and the app has put into the report of its process.

use super::frame::FrameId;
use super::kernel_view::NativeStack;
use loopbox_format::model::Uptime;

/// A longer wait is not believed: the system has no time-out as long as this.
const MOST_WAITED_NS: u64 = 600_000_000_000;

/// The trace, as far as it could be read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SystemTrace {
    /// The subject of the ANR, as the system wrote it; empty where it did not (before Android 12).
    pub subject: String,
    /// Other fields of the ANR, with the system's own names and texts: `Frozen`, `TimeoutStart`, …
    pub fields: Vec<(String, String)>,
    /// The process whose trace this is.
    pub pid: Option<u32>,
    /// When ART wrote the trace, as written: local time of the device, with its zone on newer versions.
    pub written_at: String,
    /// When the system asked for the trace, in uptime; known from Android 14 on.
    pub asked_ns: Option<Uptime>,
    /// Whether the trace is complete up to its end.
    pub complete: bool,
    /// Whether ART wrote a part of the trace. Where ART did not answer, the system collected native stacks,
    /// and the kernel functions that threads sleep in.
    pub of_art: bool,
    /// The threads, in the order of the trace.
    pub threads: Vec<TraceThread>,
    /// How many threads of the trace are left out, because there are more than the limit.
    pub left_out: u32,
    /// Why the trace cannot describe the moment of the report. `None` when it can: the rest of the report was
    /// then completed from it.
    pub apart: Option<String>,
}

/// A thread of the trace.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TraceThread {
    /// The whole name of the thread.
    pub name: String,
    /// Whether the thread is a daemon of Java.
    pub daemon: bool,
    /// ART's number of the thread, by which the trace names holders of locks; `None` for a thread that ART
    /// does not know.
    pub tid: Option<u32>,
    /// The thread's id in the kernel.
    pub sys_tid: Option<u32>,
    /// The thread's state in ART: `Native`, `Blocked`, `TimedWaiting`, …; empty when ART does not know the
    /// thread.
    pub state: String,
    /// The state letter of proc(5), `/proc/PID/stat`; `None` when unknown.
    pub kernel_state: Option<u8>,
    /// The kernel function that the thread sleeps in; empty when unknown.
    pub wchan: String,
    /// The CPU time since the thread's start.
    pub cpu_ns: Option<u64>,
    /// The stack of the thread, innermost first.
    pub stack: Vec<TraceLine>,
    /// The native frames of the thread, with the functions that the device knew.
    pub native: Option<NativeStack>,
}

/// A line of a stack of the trace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TraceLine {
    /// A method of Java.
    Java(FrameId),
    /// A lock that the method above it holds or wants.
    Lock(TraceLock),
    /// A native frame or a note, as ART printed it.
    Text(String),
}

/// What a thread does with the lock of an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TraceLock {
    /// What the thread does with the lock.
    pub action: LockAction,
    /// What is locked, in words: `a java.lang.Object`, `the class com.example.Foo`.
    pub object: String,
    /// The number by which the trace distinguishes objects (an identity hash, or an address); `None` when the
    /// trace has none for the object.
    pub id: Option<u64>,
    /// ART's number of the thread that holds the lock.
    pub holder: Option<u32>,
}

/// What a thread does with a lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LockAction {
    /// The thread holds the lock.
    Holds,
    /// The thread waits to get the lock.
    Wants,
    /// The thread has released the lock, and waits to be notified.
    WaitsOn,
    /// The thread sleeps on the object: `Thread.sleep`.
    SleepsOn,
}

impl SystemTrace {
    /// The main thread, by its id in the kernel, or else by its number (ART's first thread), or its name.
    pub fn main(&self) -> Option<&TraceThread> {
        let by_pid = self.threads.iter().find(|thread| self.pid.is_some() && thread.sys_tid == self.pid);
        let by_number = || self.threads.iter().find(|thread| thread.tid == Some(1));
        // A native backtrace without the lines around it has neither.
        let by_name = || self.threads.iter().find(|thread| thread.tid.is_none() && thread.name == "main");
        by_pid.or_else(by_number).or_else(by_name)
    }

    /// The text of one of the system's fields; `None` where it has not written the field.
    pub fn field(&self, name: &str) -> Option<&str> {
        let field = self.fields.iter().find(|(known, _)| known == name);
        field.map(|(_, value)| value.as_str())
    }

    /// Whether the system had frozen the process; `None` where the system does not report it.
    pub fn was_frozen(&self) -> Option<bool> {
        self.field("Frozen")?.parse().ok()
    }

    /// How long the system had waited for the app when it asked for the trace. `None` where the trace does
    /// not have the start of the timer, or the start is impossible.
    ///
    /// `TimeoutStart` is the uptime in milliseconds at which the timer of this ANR began; the time of
    /// `dumping pid` is an uptime, too. Android 16 writes `TimeoutStart` where it uses native timers:
    /// `StackTracesDumpHelper.dumpStackTraces` writes the value of `AnrTimer.ExpiredTimer.mStartMs`.
    pub fn waited_ns(&self) -> Option<u64> {
        let number = |text: &str| text.split(|c: char| !c.is_ascii_digit()).next()?.parse::<u64>().ok();
        let start_ns = number(self.field("TimeoutStart")?)?.checked_mul(1_000_000)?;
        let waited_ns = self.asked_ns?.0.checked_sub(start_ns)?;
        (start_ns > 0 && waited_ns <= MOST_WAITED_NS).then_some(waited_ns)
    }

    /// The time-out that had passed, with the extension that the system granted because it was itself under
    /// load; `None` where the trace does not have it. It is read from the line `Timeout`, in milliseconds;
    /// the source is the same as for [`Self::waited_ns`].
    pub fn time_out_ns(&self) -> Option<u64> {
        self.field("Timeout")?.parse::<u64>().ok()?.checked_mul(1_000_000).filter(|ns| *ns > 0)
    }

    /// The thread with this number of ART; `None` when the trace does not show it.
    pub fn thread(&self, tid: u32) -> Option<&TraceThread> {
        self.threads.iter().find(|thread| thread.tid == Some(tid))
    }
}

impl TraceThread {
    /// Whether the thread waits to enter a monitor, by its state; `None` when ART does not report its state.
    /// Dalvik had other names for the states.
    pub fn is_blocked(&self) -> Option<bool> {
        let state = self.state.split(' ').next().filter(|state| !state.is_empty())?;
        Some(matches!(state, "Blocked" | "MONITOR"))
    }

    /// The thread's locks and what it does with each, innermost first.
    pub fn locks(&self) -> impl Iterator<Item = &TraceLock> {
        self.stack.iter().filter_map(|line| match line {
            TraceLine::Lock(lock) => Some(lock),
            _ => None,
        })
    }

    /// The lock that the thread waits to enter, or the object that the thread waits on; `None` when the stack
    /// has neither. The stack may show a lock as wanted. Such a lock counts if the thread's state is a wait
    /// for a monitor, or is unknown.
    pub fn waits(&self) -> Option<&TraceLock> {
        let may = |lock: &&TraceLock| match lock.action {
            LockAction::Wants => self.is_blocked() != Some(false),
            LockAction::WaitsOn => true,
            _ => false,
        };
        self.locks().find(may)
    }

    /// The thread's methods of Java, outermost first.
    pub fn java(&self) -> Vec<FrameId> {
        let frames = self.stack.iter().rev().filter_map(|line| match line {
            TraceLine::Java(frame) => Some(*frame),
            _ => None,
        });
        frames.collect()
    }
}
