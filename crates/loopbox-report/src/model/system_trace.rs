//! ART's own trace of an ANR, which the system keeps and the app has put into the report of its process.

use super::frame::FrameId;
use super::main_thread::NativeStack;
use loopbox_format::model::Uptime;

/// The trace, as far as it could be read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SystemTrace {
    /// What it is about, as the system wrote it; empty where it did not (before Android 12).
    pub subject: String,
    /// The process that it is of.
    pub pid: Option<u32>,
    /// When ART wrote it, as it stands there: local time of the device, with its zone on newer versions.
    pub written_at: String,
    /// When the system asked for it, in uptime; known from Android 14 on.
    pub asked_ns: Option<Uptime>,
    /// Whether its end is there.
    pub complete: bool,
    /// Its threads, in its order.
    pub threads: Vec<TraceThread>,
    /// How many threads more than the limit it has.
    pub left_out: u32,
    /// Why it has nothing about the moment of the report; `None` when it does, and the rest of the report was completed with it.
    pub apart: Option<String>,
}

/// A thread of the trace.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TraceThread {
    /// The whole name of the thread.
    pub name: String,
    /// Whether Java calls it a daemon.
    pub daemon: bool,
    /// ART's number of it, by which the trace names holders of locks; `None` for a thread that ART does not know.
    pub tid: Option<u32>,
    /// The kernel's id of it.
    pub sys_tid: Option<u32>,
    /// Its state in ART: `Native`, `Blocked`, `TimedWaiting`, …; empty when ART does not know the thread.
    pub state: String,
    /// The state letter of proc(5), `/proc/PID/stat`; `None` when unknown.
    pub kernel_state: Option<u8>,
    /// The CPU time since its start.
    pub cpu_ns: Option<u64>,
    /// Its stack, innermost first.
    pub stack: Vec<TraceLine>,
    /// Its native frames, with their functions as far as the device knew them.
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
    /// What it does.
    pub action: LockAction,
    /// What is locked, in words: `a java.lang.Object`, `the class com.example.Foo`.
    pub object: String,
    /// The number by which the trace distinguishes objects (an identity hash, or an address); `None` when it has none.
    pub id: Option<u64>,
    /// ART's number of the thread that holds it.
    pub holder: Option<u32>,
}

/// What a thread does with a lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LockAction {
    /// It holds it.
    Holds,
    /// It waits to get it.
    Wants,
    /// It has let it go, and waits to be notified.
    WaitsOn,
    /// It sleeps on it: `Thread.sleep`.
    SleepsOn,
}

impl SystemTrace {
    /// The main thread, by its id in the kernel, or else by its number: ART's first thread.
    pub fn main(&self) -> Option<&TraceThread> {
        let by_pid = self.threads.iter().find(|thread| self.pid.is_some() && thread.sys_tid == self.pid);
        by_pid.or_else(|| self.threads.iter().find(|thread| thread.tid == Some(1)))
    }

    /// The thread with this number.
    pub fn thread(&self, tid: u32) -> Option<&TraceThread> {
        self.threads.iter().find(|thread| thread.tid == Some(tid))
    }
}

impl TraceThread {
    /// Its locks with what it does with them, innermost first.
    pub fn locks(&self) -> impl Iterator<Item = &TraceLock> {
        self.stack.iter().filter_map(|line| match line {
            TraceLine::Lock(lock) => Some(lock),
            _ => None,
        })
    }

    /// The lock that it waits for, or the object that it waits on.
    pub fn waits(&self) -> Option<&TraceLock> {
        self.locks().find(|lock| matches!(lock.action, LockAction::Wants | LockAction::WaitsOn))
    }

    /// Its methods of Java, outermost first.
    pub fn java(&self) -> Vec<FrameId> {
        let frames = self.stack.iter().rev().filter_map(|line| match line {
            TraceLine::Java(frame) => Some(*frame),
            _ => None,
        });
        frames.collect()
    }
}
