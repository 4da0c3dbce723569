//! The context of a report: why it was written, process, app, device and clocks.

use super::Uptime;
use bincode::{Decode, Encode};

/// Why a report was written.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
#[non_exhaustive]
pub enum DumpReason {
    /// The app asked for it, with its own words.
    Requested(String),
    /// The process received SIGQUIT, which the system sends at an ANR.
    SigQuit,
    /// The process has ended, and the next process of the app made this report from the ring file of the
    /// ended one. `dumped_at` is the last instant at which the ended process is known to have run.
    Recovered {
        /// The signal that a crash handler noted in the ring before the end; `None` when there is none.
        crash_signal: Option<i32>,
    },
    /// A message ran longer than its hang threshold.
    Hang,
    /// No recorder wrote it: a host tool has read a trace that the system wrote.
    SystemTrace,
}

/// The process that the report is about.
#[derive(Debug, Clone, PartialEq, Eq, Default, Encode, Decode)]
pub struct Process {
    /// Process id.
    pub pid: u32,
    /// Process name as in `/proc/self/cmdline`.
    pub name: String,
    /// `Build.VERSION.SDK_INT`.
    pub api_level: u32,
    /// The ABI of the running code: `arm64-v8a`, `armeabi-v7a`, `x86_64`, `x86`.
    pub abi: String,
    /// The app's version name and code, `5.2.1 (50201)`; empty when unknown.
    pub app_version: String,
    /// `Build.MANUFACTURER` and `Build.MODEL`, `Google Pixel 8`; empty when unknown.
    pub device: String,
    /// When the process started, uptime; `None` when the start could not be read. The recorder saw nothing of
    /// the time between the start and its installation.
    pub started_ns: Option<Uptime>,
    /// When the recorder was installed, uptime.
    pub installed_ns: Uptime,
}

/// One instant on both clocks, to turn uptime into wall-clock time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Encode, Decode)]
pub struct ClockPair {
    /// Uptime.
    pub uptime_ns: Uptime,
    /// Unix time of the same instant, in milliseconds.
    pub unix_ms: u64,
}

/// The limits that the recorder worked under.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Encode, Decode)]
pub struct Limits {
    /// A group is full when its work reaches this. A message with at least this much work gets a separate
    /// record.
    pub group_ns: u64,
    /// A message whose dispatch takes at least this long is kept by name.
    pub detail_ns: u64,
    /// How many records the history keeps.
    pub slots: u32,
    /// How many messages a record keeps by name.
    pub details_per_record: u32,
    /// Age of a message at which stack sampling begins.
    pub sample_onset_ns: u64,
    /// Time between two stacks; 0 when a message gets one stack only.
    pub sample_interval_ns: u64,
}

/// The numbers of Qimao's article.
impl Default for Limits {
    fn default() -> Self {
        Self {
            group_ns: 300_000_000,
            detail_ns: 50_000_000,
            slots: 100,
            details_per_record: 8,
            sample_onset_ns: 50_000_000,
            sample_interval_ns: 10_000_000,
        }
    }
}

/// Who wrote the report, when, why and how.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub struct Meta {
    /// Name and version of the writing library.
    pub producer: String,
    /// Why it was written.
    pub reason: DumpReason,
    /// The process that the report is about.
    pub process: Process,
    /// The instant of the dump on both clocks.
    pub dumped_at: ClockPair,
    /// The limits in force.
    pub limits: Limits,
    /// The app's annotations: name and value, in the app's order. `loopbox cluster` counts users by the
    /// annotation `user` (a pseudonym, not an account).
    pub annotations: Vec<(String, String)>,
}

impl Default for Meta {
    fn default() -> Self {
        Self {
            producer: String::new(),
            reason: DumpReason::Requested(String::new()),
            process: Process::default(),
            dumped_at: ClockPair::default(),
            limits: Limits::default(),
            annotations: Vec::new(),
        }
    }
}

/// A part of the recorder that can be on or off without the rest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Encode, Decode)]
#[non_exhaustive]
pub enum Feature {
    /// The hook into the main Looper.
    Hook,
    /// The stack sampler.
    Sampler,
    /// The ring file that outlives the process.
    Ring,
    /// The SIGQUIT handler.
    SigQuit,
    /// Display frames and scrolling. `Frames`, `Stages`, `Touch` and `Janks` are absent when the app does not
    /// ask for them.
    Frames,
    /// The stages of display frames (`FrameMetrics`).
    Stages,
    /// Touches: they show which scrolling a finger caused.
    Touch,
    /// SurfaceFlinger's reports of what made a display frame late (`JankData`).
    Janks,
}

/// Whether a [`Feature`] was on, and details.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub struct FeatureState {
    /// Which feature.
    pub feature: Feature,
    /// Whether it was working.
    pub on: bool,
    /// How it works (`Observer by reflection`), or why it does not (`no offset table matches`).
    pub detail: String,
}

/// One statistic of the process or the machine at the dump.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub struct Statistic {
    /// Dotted name with its unit at the end: `mem.available_bytes`, `psi.cpu.some_avg10_percent`.
    pub name: String,
    /// The value as text.
    pub value: String,
}
