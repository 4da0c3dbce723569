//! The lines of a file. Unknown fields of a newer writer are ignored, and missing ones are empty.

use serde::Deserialize;
use std::collections::BTreeMap;

/// The supported version of lines.
const VERSION: u32 = 1;

/// One line.
#[derive(Debug, Clone, PartialEq)]
pub enum Line {
    /// The line about a process, before its first stall in a file.
    Base {
        /// The process's id, which its stalls refer to.
        pid: i64,
        /// How many lines before this one could not be written.
        lost: u64,
        /// The facts about the process.
        base: Base,
    },
    /// A message that took long.
    Stall(Box<Stall>),
}

/// Facts about a process and its device.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct Base {
    /// Android's version.
    pub os: Option<String>,
    /// Its API level.
    pub api: u32,
    /// Maker and model.
    pub device: Option<String>,
    /// The process's name.
    pub process: Option<String>,
    /// The app's version.
    pub app: Option<String>,
    /// The app's name for its user.
    pub user: Option<String>,
    /// When the process wrote the first line about itself, Unix milliseconds. It is the same in each of them;
    /// `None` in lines of an older writer.
    pub started_ms: Option<i64>,
}

/// A message that took long.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct Stall {
    /// When it began: `2026-11-21T20:10:02.588+00:00`.
    pub t: String,
    /// When it ended.
    pub end: String,
    /// Id of the process.
    pub pid: i64,
    /// The number of limits that it exceeded.
    pub level: u32,
    /// How long it took.
    pub wall_ms: f64,
    /// CPU time of the main thread in it.
    pub cpu_ms: Option<f64>,
    /// How long it waited in the queue.
    pub wait_ms: Option<f64>,
    /// The class of the Handler, that of the callback if there is one, and `what`.
    pub message: String,
    /// The app's name for the screen.
    pub scene: String,
    /// The display frames around it, where the app records them and this screen had some.
    pub display_frames: Option<DisplayFrames>,
    /// How many stacks were taken.
    pub stack_samples: u32,
    /// The most frequent stacks, most frequent first.
    pub stacks: Vec<Stack>,
    /// Samples of the process before, during and after it.
    pub samples: Vec<Sample>,
}

/// Frames of the display around a stall.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct DisplayFrames {
    /// How many frames were dropped because of the stall; `None` when no counted frame was shown meanwhile.
    pub dropped: Option<u64>,
    /// The screen that the figures belong to.
    pub scene: String,
    /// How many frames the screen has had so far.
    pub scene_frames: u64,
    /// How many frames the screen has dropped so far.
    pub scene_dropped: u64,
    /// The screen's frames per second.
    pub scene_fps: Option<f64>,
    /// The screen's hitch rate, in milliseconds per second.
    pub scene_hitch_ms_per_s: Option<f64>,
}

/// A stack that was seen during a stall.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct Stack {
    /// How often it was seen.
    pub n: u32,
    /// How many frames are left out at its end.
    pub cut: u32,
    /// Frames in the form of an exception's stack trace, top first.
    pub frames: Vec<String>,
}

/// What the process did at one moment; `None` for what is not known.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct Sample {
    /// Milliseconds after the stall's start.
    pub at: i64,
    /// CPU use of the process since the previous sample, in per cent of one processor.
    pub proc_cpu: Option<f64>,
    /// CPU use of all processes since the previous sample, in per cent of all processors.
    pub sys_cpu: Option<f64>,
    /// Memory that the machine has left.
    pub free_mb: Option<u64>,
    /// Memory of the process.
    pub rss_mb: Option<u64>,
    /// Share of the last ten seconds in which something waited for a processor.
    pub psi_cpu: Option<f64>,
    /// Share of the last ten seconds in which something waited for memory.
    pub psi_memory: Option<f64>,
    /// Share of the last ten seconds in which something waited for the disk.
    pub psi_io: Option<f64>,
    /// The values of the app's own samplers.
    pub x: BTreeMap<String, i64>,
}

#[derive(Deserialize)]
struct Head {
    v: u32,
    #[serde(default)]
    pid: i64,
    #[serde(default)]
    lost: u64,
    base: Option<Base>,
}

/// Parses one line without its end; `None` for a line that is cut off, damaged or of another version.
pub fn read_line(bytes: &[u8]) -> Option<Line> {
    let head: Head = serde_json::from_slice(bytes).ok()?;
    if head.v != VERSION {
        return None;
    }
    if let Some(base) = head.base {
        return Some(Line::Base { pid: head.pid, lost: head.lost, base });
    }
    let stall: Stall = serde_json::from_slice(bytes).ok()?;
    // JSON has no other numbers; a time below zero means nothing.
    (stall.level > 0 && stall.wall_ms >= 0.0).then(|| Line::Stall(Box::new(stall)))
}

impl Stall {
    /// How many frames were dropped because of it; `None` when that is not known.
    pub(crate) fn dropped_frames(&self) -> Option<u64> {
        self.display_frames.as_ref()?.dropped
    }

    /// The day on which it began: `2026-11-21`; empty when it has no time.
    pub fn day(&self) -> &str {
        self.t.get(..10).filter(|day| day.bytes().all(|b| b.is_ascii_digit() || b == b'-')).unwrap_or("")
    }
}
