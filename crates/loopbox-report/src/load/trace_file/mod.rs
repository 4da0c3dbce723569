//! Files that the system, a bug report, or a crash service has written: the text of traces, of one process or
//! of many.
//!
//! Whatever form a text has, it is converted into ART's form, so that all code that reads the trace of a
//! report can read it.

mod encoding;
mod lines;

pub use encoding::text as text_of;

use super::limits;
use crate::load::system_trace::{Line, read_line};
use crate::model::sanitize::sanitize;
use chrono::DateTime;
use flate2::Compression;
use flate2::write::GzEncoder;
use loopbox_format::model::{
    Anr, AnrVerdict, ClockPair, DumpReason, Meta, PackedTrace, Process, Report, SystemWord, Uptime,
};
use std::io::Write;

/// How many dumps of one file are kept: a bug report has those of some hundred processes.
const MAX_DUMPS: usize = 1_024;
/// How many lines of the system in front of a dump are kept.
const MAX_HEAD: usize = 64;

/// The traces in a file.
#[derive(Debug)]
pub struct TraceFile {
    dumps: Vec<ProcessTrace>,
}

/// The trace of one process.
#[derive(Debug, Default)]
pub struct ProcessTrace {
    pid: Option<u32>,
    name: String,
    /// The trace's text in ART's form.
    text: String,
    /// Whether the text has the part that ART writes.
    of_art: bool,
    has_main: bool,
}

impl TraceFile {
    /// The traces in the bytes of a file; `None` when it has none that shows a main thread.
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let text = text_of(bytes)?;
        let mut reader = Reader::default();
        for line in lines::canonical(&text) {
            reader.line(&line);
        }
        let mut dumps = reader.finish();
        dumps.retain(|dump| dump.has_main);
        (!dumps.is_empty()).then_some(Self { dumps })
    }

    /// How many processes the file shows.
    pub fn processes(&self) -> usize {
        self.dumps.len()
    }

    /// The process that the file is about: the system writes it first.
    pub fn first(&self) -> &ProcessTrace {
        // `read` keeps no file without any.
        &self.dumps[0]
    }

    /// The first process of this name, or with this number.
    pub fn of(&self, process: &str) -> Option<&ProcessTrace> {
        let number = process.parse().ok();
        self.dumps.iter().find(|dump| dump.name == process || number.is_some() && dump.pid == number)
    }

    /// The names of the file's processes, for an error message.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.dumps.iter().map(ProcessTrace::name)
    }
}

#[derive(Default)]
struct Reader {
    dumps: Vec<ProcessTrace>,
    /// The lines that the system wrote since the end of the last process's part.
    head: Vec<String>,
    open: Option<ProcessTrace>,
    in_thread: bool,
}

impl Reader {
    fn line(&mut self, line: &str) {
        if line.contains("VM TRACES AT LAST ANR") {
            // In a bug report the traces of the moment of the report come first: of every process, and no
            // ANR.
            *self = Self::default();
            return;
        }
        let read = read_line(line, self.in_thread);
        match read {
            Line::Begin(pid, _) | Line::Channels(pid, _) => {
                self.close();
                let mut dump = ProcessTrace { pid: Some(pid), ..ProcessTrace::default() };
                self.head.drain(..).for_each(|line| dump.push(&line));
                dump.push(line);
                self.open = Some(dump);
                return;
            }
            Line::Thread(_) if self.open.is_none() => {
                // Without the lines that the system writes around a process it is one process.
                let mut dump = ProcessTrace::default();
                self.head.drain(..).for_each(|line| dump.push(&line));
                self.open = Some(dump);
            }
            _ => {}
        }
        let Some(dump) = &mut self.open else {
            if self.head.len() < MAX_HEAD && matches!(read, Line::Field(..) | Line::Asked(..)) {
                self.head.push(line.to_owned());
            }
            return;
        };
        match &read {
            Line::Field("Cmd line" | "Process", name) if dump.name.is_empty() => {
                dump.name = sanitize(name, limits::NAME_CHARS);
            }
            Line::Threads => dump.of_art = true,
            Line::Thread(header) => {
                self.in_thread = true;
                dump.has_main |= header.name == "main" || header.tid == Some(1);
                dump.has_main |= header.sys_tid.is_some() && header.sys_tid == dump.pid;
            }
            Line::Channel(tid, _) => dump.has_main |= Some(*tid) == dump.pid,
            Line::Blank => self.in_thread = false,
            _ => {}
        }
        let ends = read == Line::End;
        // Statistics of ART, and what else stands in a text.
        if read != Line::Other {
            dump.push(line);
        }
        if ends {
            self.close();
        }
    }

    /// Ends the open part. If the previous dump is of the same process, the part is appended to it. Otherwise
    /// the part becomes a separate dump.
    fn close(&mut self) {
        self.in_thread = false;
        let Some(dump) = self.open.take() else { return };
        let last = self.dumps.last_mut().filter(|last| last.pid == dump.pid && dump.pid.is_some());
        if let Some(last) = last.filter(|last| !(last.of_art && dump.of_art)) {
            last.push(&dump.text);
            last.of_art |= dump.of_art;
            last.has_main |= dump.has_main;
            if last.name.is_empty() {
                last.name = dump.name;
            }
        } else if self.dumps.len() < MAX_DUMPS {
            self.dumps.push(dump);
        }
    }

    fn finish(mut self) -> Vec<ProcessTrace> {
        self.close();
        self.dumps
    }
}

impl ProcessTrace {
    fn push(&mut self, line: &str) {
        self.text.push_str(line);
        if !line.ends_with('\n') {
            self.text.push('\n');
        }
    }

    /// The name of the process; empty where the text does not contain it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The number of the process.
    pub fn pid(&self) -> Option<u32> {
        self.pid
    }

    /// The trace as ART writes it.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// A report that contains only this trace.
    pub fn report(&self) -> Report {
        let (mut process, mut anr) = (Process::default(), Anr::default());
        let (mut written_at, mut asked_ms) = ("", 0);
        (process.pid, process.name) = (self.pid.unwrap_or_default(), self.name.clone());
        for line in self.text.lines().take_while(|line| !line.starts_with('"')) {
            match read_line(line, false) {
                Line::Field("Subject", subject) => {
                    // The system writes it for what does not respond.
                    anr.verdict = AnrVerdict::Confirmed;
                    anr.system = Some(SystemWord::NotResponding(subject.to_owned()));
                }
                Line::Field("ABI", abi) => abi_name(abi.trim_matches('\'')).clone_into(&mut process.abi),
                Line::Field("Build fingerprint" | "Build", build) => {
                    process.device = device(build.trim_matches('\''));
                }
                Line::Field("Package", package) => process.app_version = version(package),
                Line::Asked(_, uptime_ms) => asked_ms = uptime_ms,
                Line::Begin(_, at) | Line::Channels(_, at) if written_at.is_empty() => written_at = at,
                _ => {}
            }
        }
        let dumped_at = ClockPair {
            uptime_ns: Uptime(asked_ms.saturating_mul(1_000_000)),
            unix_ms: unix_ms(written_at).unwrap_or_default(),
        };
        let meta = Meta { reason: DumpReason::SystemTrace, process, dumped_at, ..Meta::default() };
        Report { meta, anr, system_trace: packed(&self.text), ..Report::default() }
    }
}

/// The text packed as in a report file.
fn packed(text: &str) -> PackedTrace {
    let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
    // Memory takes all that is written.
    let packed = gzip.write_all(text.as_bytes()).and_then(|()| gzip.finish());
    PackedTrace { gzip: packed.unwrap_or_default(), offset: 0 }
}

/// The Unix time, in milliseconds, of a text that has a time zone. `None` when the text has no time zone, as
/// before Android 12.
fn unix_ms(at: &str) -> Option<u64> {
    let at = DateTime::parse_from_str(at, "%Y-%m-%d %H:%M:%S%.f%z").ok()?;
    u64::try_from(at.timestamp_millis()).ok()
}

/// Android's name for an ABI that ART names `arm64` or `arm`.
fn abi_name(abi: &str) -> &str {
    match abi {
        "arm64" => "arm64-v8a",
        "arm" => "armeabi-v7a",
        other => other,
    }
}

/// Brand and device in a build fingerprint: `google shiba` of
/// `google/shiba/shiba:14/UQ1A.240105.004/11206848:user/release-keys`.
fn device(fingerprint: &str) -> String {
    let mut parts = fingerprint.split([':', '/']);
    let (Some(brand), Some(_), Some(device)) = (parts.next(), parts.next(), parts.next()) else {
        return String::new();
    };
    sanitize(&format!("{brand} {device}"), limits::NAME_CHARS)
}

/// The app's version in a `Package:` line: `5.2.1 (50201)` of `com.example.shop v50201 (5.2.1)`.
fn version(package: &str) -> String {
    let found = package.split_once(" v").and_then(|(_, version)| version.split_once(" ("));
    let found = found.map(|(code, name)| format!("{} ({code})", name.trim_end_matches(')')));
    sanitize(&found.unwrap_or_default(), limits::NAME_CHARS)
}

#[cfg(test)]
mod tests;
