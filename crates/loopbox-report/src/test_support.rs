//! Builds reports for tests from calls that describe a scenario.
//!
//! Public with the feature `test-support`, so that tests and benchmarks of other crates build the same
//! reports.

use flate2::Compression;
use flate2::write::GzEncoder;
use loopbox_format::model::{
    ClockPair, Component, CpuUse, Detail, DumpReason, End, Feature, FeatureState, Limits, Location,
    LocationId, LockHolder, LockWait, MainState, MainThread, Message, Meta, Method, MethodId, NamedBy,
    NativeFrame, NativeFrameSource, NativeModule, NativeStack, OtherThread, Outside, PackedTrace, Pending,
    PendingSource, Phase, Process, Progress, Record, RecordKind, Report, Running, Slowest, StackSource,
    StackTree, Statistic, SystemCall, SystemCallSource, Token, TreeNode, Uptime,
};
use loopbox_format::report::Decoded;
use std::io::Write;

const MS: u64 = 1_000_000;
/// The uptime of the dump of every built report: 100 s.
pub const NOW_NS: u64 = 100_000 * MS;
/// The token of what runs outside of messages after message 98.
pub const OUTSIDE: u64 = Token::outside_before(Token(99)).0;
/// The outermost frames of stacks, the same as on a device.
const LOOP: &str = "android.os.Looper.loop:214 android.os.Handler.dispatchMessage:107";

/// Builds a report. Records are appended to the history from the oldest to the newest; the last one ends
/// where the running message starts.
#[derive(Debug, Clone)]
pub struct ReportBuilder {
    report: Report,
    /// The wall time of the records so far.
    history_ns: Uptime,
    token: Token,
}

impl Default for ReportBuilder {
    fn default() -> Self {
        Self::new()
    }
}

impl ReportBuilder {
    /// An empty report of a healthy recorder on Android 10.
    pub fn new() -> Self {
        let feature = |feature, detail: &str| FeatureState { feature, on: true, detail: detail.to_string() };
        let report = Report {
            meta: Meta {
                producer: "loopbox 0.1.0".into(),
                reason: DumpReason::SigQuit,
                process: Process {
                    pid: 4321,
                    name: "com.example.shop".into(),
                    api_level: 29,
                    abi: "arm64-v8a".into(),
                    app_version: "5.2.1 (50201)".into(),
                    device: "Google Pixel 8".into(),
                    started_ns: Some(Uptime(1_000 * MS)),
                    installed_ns: Uptime(2_000 * MS),
                },
                dumped_at: ClockPair { uptime_ns: Uptime(NOW_NS), unix_ms: 1_790_000_000_000 },
                limits: Limits::default(),
                annotations: vec![("user".into(), "7f3a".into())],
            },
            features: vec![
                feature(Feature::Hook, "Observer by reflection"),
                feature(Feature::Sampler, "ART 10, offset table x86_64"),
                feature(Feature::Ring, "mapped file"),
                feature(Feature::SigQuit, "handler on main"),
            ],
            pending: Pending {
                source: PendingSource::LooperDump,
                captured_ns: Uptime(NOW_NS),
                ..Pending::default()
            },
            main: MainState::Idle { since_ns: Uptime(NOW_NS) },
            ..Report::default()
        };
        Self { report, history_ns: Uptime::ZERO, token: Token(1) }
    }

    /// Changes anything that has no separate method.
    #[must_use]
    pub fn with(mut self, change: impl FnOnce(&mut Report)) -> Self {
        change(&mut self.report);
        self
    }

    fn push(&mut self, mut record: Record) {
        record.seq = self.report.history.len() as u64 + 1;
        record.first_token = self.token;
        record.start_ns = self.history_ns;
        self.token = self.token.plus(record.count.into());
        self.history_ns += record.wall_ns;
        self.report.history.push(record);
    }

    /// A group of `count` short messages, with `work_ms` of work in total and `idle_ms` between them.
    #[must_use]
    pub fn group(mut self, count: u32, work_ms: u64, idle_ms: u64) -> Self {
        let slowest = Some(Slowest { token: self.token, wall_ns: work_ms * MS / u64::from(count.max(1)) });
        self.push(Record {
            count,
            work_ns: work_ms * MS,
            idle_ns: idle_ms * MS,
            wall_ns: (work_ms + idle_ms) * MS,
            cpu_ns: Some(work_ms * MS * 9 / 10),
            slowest,
            ..record(RecordKind::Group)
        });
        self
    }

    /// A message with its own record.
    #[must_use]
    pub fn single(mut self, target: &str, wall_ms: u64, cpu_ms: u64) -> Self {
        let token = self.token;
        let detail = Detail {
            token,
            start_ns: self.history_ns,
            wall_ns: wall_ms * MS,
            wait_ns: Some(3 * MS),
            end: End::Returned,
            message: Some(message(target, "", 1)),
        };
        self.push(Record {
            count: 1,
            wall_ns: wall_ms * MS,
            work_ns: wall_ms * MS,
            cpu_ns: Some(cpu_ms * MS),
            slowest: Some(Slowest { token, wall_ns: wall_ms * MS }),
            details: vec![detail],
            ..record(RecordKind::Single)
        });
        self
    }

    /// An idle time, whose CPU time was not read.
    #[must_use]
    pub fn idle(mut self, wall_ms: u64) -> Self {
        let kind = if wall_ms > 60_000 { RecordKind::Frozen } else { RecordKind::Idle };
        self.push(Record { wall_ns: wall_ms * MS, idle_ns: wall_ms * MS, ..record(kind) });
        self
    }

    /// Work outside of messages. The hook has seen it begin and end.
    #[must_use]
    pub fn worked_outside(mut self, wall_ms: u64) -> Self {
        let wall_ns = wall_ms * MS;
        self.push(Record { wall_ns, work_ns: wall_ns, ..record(RecordKind::Outside) });
        self
    }

    /// Sets the CPU time of all idle records so far to a thousandth of their length.
    #[must_use]
    pub fn idle_cpu_read(mut self) -> Self {
        let idle = self.report.history.iter_mut().filter(|record| record.kind == RecordKind::Idle);
        idle.for_each(|record| record.cpu_ns = Some(record.wall_ns / 1_000));
        self
    }

    /// The message that runs at the dump, with all its time on the CPU.
    #[must_use]
    pub fn running(mut self, token: u64, age_ms: u64) -> Self {
        self.report.main = MainState::Running(Running {
            token: Token(token),
            start_ns: Uptime(NOW_NS - age_ms * MS),
            as_of_ns: Uptime(NOW_NS),
            cpu_ns: Some(age_ms * MS * 95 / 100),
            depth: 1,
            message: None,
        });
        self
    }

    /// Main is busy outside of messages at the dump, after message 98; its stack tree is that of [`OUTSIDE`].
    /// When the start is unknown, `age_ms` is the longest time that it may have been busy.
    #[must_use]
    pub fn outside(mut self, age_ms: u64, begin_known: bool) -> Self {
        let start_ns = NOW_NS - age_ms * MS;
        self.report.main = MainState::Outside(Outside {
            token: Token(OUTSIDE),
            after_ns: Uptime(start_ns - if begin_known { 300 * MS } else { 0 }),
            start_ns: begin_known.then_some(Uptime(start_ns)),
            as_of_ns: Uptime(NOW_NS),
            cpu_ns: Some(age_ms * MS * 95 / 100),
        });
        self
    }

    /// The main thread has been idle for this long at the dump.
    #[must_use]
    pub fn idle_at_dump(mut self, idle_ms: u64) -> Self {
        self.report.main = MainState::Idle { since_ns: Uptime(NOW_NS - idle_ms * MS) };
        self
    }

    /// The measurements of the running message: how long it ran, and how long main waited for a CPU in that
    /// time. Also marks the lock chain as read.
    #[must_use]
    pub fn watched(mut self, ran_ms: u64, starved_ms: u64) -> Self {
        let anr = &mut self.report.anr;
        anr.hang_threshold_ns = anr.hang_threshold_ns.or(Some(1_000 * MS));
        (anr.ran_ns, anr.starved_ns) = (ran_ms * MS, starved_ms * MS);
        self.report.locks.captured_ns = Uptime(NOW_NS);
        self.statistic("main.waited_for_cpu_ns", &(starved_ms * MS).to_string())
    }

    /// The use of the processors while the running message ran: the measured time, and how much CPU time main
    /// and the process used in it.
    #[must_use]
    pub fn cpu_used(mut self, over_ms: u64, main_ms: u64, process_ms: u64, processors: u32) -> Self {
        let (over_ns, main_ns, process_ns) = (over_ms * MS, main_ms * MS, Some(process_ms * MS));
        self.report.cpu_use = Some(CpuUse { over_ns, main_ns, process_ns, processors: Some(processors) });
        self
    }

    /// Names the running message and gives its CPU time.
    #[must_use]
    pub fn doing(mut self, target: &str, callback: &str, cpu_ms: u64) -> Self {
        if let MainState::Running(running) = &mut self.report.main {
            running.message = Some(message(target, callback, 0));
            running.cpu_ns = Some(cpu_ms * MS);
        }
        self
    }

    /// The stack tree of a message, one sample every 10 ms. A stack is a list of frames separated by spaces,
    /// outermost first. A frame is `class.method`, `class.method:line` or, for a native method,
    /// `class.method!`. Each stack has the number of its consecutive samples.
    #[must_use]
    pub fn tree(mut self, token: u64, stacks: &[(&str, u32)]) -> Self {
        let start_ns = match &self.report.main {
            MainState::Running(running) if running.token == Token(token) => running.start_ns,
            MainState::Outside(outside) if outside.token == Token(token) => {
                outside.start_ns.unwrap_or(outside.after_ns)
            }
            MainState::Idle { since_ns } if token == OUTSIDE => *since_ns,
            _ => {
                let record = self.report.history.iter().find(|r| r.first_token == Token(token));
                record.map_or(Uptime::ZERO, |r| r.start_ns)
            }
        };
        let stacks: Vec<(Vec<LocationId>, u32)> = stacks
            .iter()
            .map(|(stack, count)| (stack.split(' ').map(|f| self.location(f)).collect(), *count))
            .collect();
        let samples: u32 = stacks.iter().map(|(_, count)| count).sum();
        let mut nodes = Vec::new();
        children(&stacks.iter().map(|(s, n)| (s.as_slice(), *n)).collect::<Vec<_>>(), &mut nodes);
        self.report.trees.push(StackTree {
            token: Token(token),
            start_ns,
            source: StackSource::Art,
            phases: vec![Phase { first_sample: 0, interval_ns: 10 * MS }],
            sample_deltas_ns: (0..samples).map(|i| if i == 0 { 50 * MS } else { 10 * MS }).collect(),
            nodes,
            missed_samples: 0,
            longest_stop_ns: 90_000,
            total_stop_ns: u64::from(samples) * 40_000,
        });
        self
    }

    /// [`Self::tree`] under the frames of Looper and Handler.
    #[must_use]
    pub fn looper_tree(self, token: u64, stacks: &[(&str, u32)]) -> Self {
        let stacks: Vec<(String, u32)> = stacks.iter().map(|(s, n)| (format!("{LOOP} {s}"), *n)).collect();
        self.tree(token, &stacks.iter().map(|(s, n)| (s.as_str(), *n)).collect::<Vec<_>>())
    }

    fn location(&mut self, frame: &str) -> LocationId {
        let symbols = &mut self.report.symbols;
        let (name, line) = match frame.split_once(':') {
            Some((name, line)) => (name, line.parse().ok()),
            None => (frame.trim_end_matches('!'), None),
        };
        let (class, method) = name.rsplit_once('.').unwrap_or(("", name));
        let file = class.rsplit('.').next().unwrap_or_default().split('$').next().unwrap_or_default();
        let method = Method {
            class: class.into(),
            name: method.into(),
            signature: String::new(),
            source_file: format!("{file}.java"),
        };
        let index = symbols.methods.iter().position(|m| *m == method).unwrap_or_else(|| {
            symbols.methods.push(method);
            symbols.methods.len() - 1
        });
        let dex_pc = (!frame.ends_with('!')).then_some(0);
        let location = Location::Frame { method: MethodId(index as u32), dex_pc, line };
        let at = symbols.locations.iter().position(|l| *l == location).unwrap_or_else(|| {
            symbols.locations.push(location);
            symbols.locations.len() - 1
        });
        LocationId(at as u32)
    }

    /// A further step of the lock chain: the class of the locked object, the thread that holds it, and its
    /// stack as in [`Self::tree`].
    #[must_use]
    pub fn waits_for(mut self, class: &str, holder: &str, stack: &str) -> Self {
        let stack = stack.split(' ').map(|frame| self.location(frame)).collect();
        let tid = 5_000 + self.report.locks.waits.len() as u32;
        let holder = Some(LockHolder { name: holder.into(), tid, stack });
        let wait = LockWait { class: class.into(), of_class: String::new(), holder };
        self.report.locks.captured_ns = Uptime(NOW_NS);
        self.report.locks.waits.push(wait);
        self
    }

    /// Another thread of the process, with its stack as in [`Self::tree`] if one was taken.
    #[must_use]
    pub fn thread(mut self, name: &str, stack: Option<&str>) -> Self {
        let stack = stack.map(|stack| stack.split(' ').map(|frame| self.location(frame)).collect());
        let tid = 7_000 + self.report.threads.threads.len() as u32;
        let thread = OtherThread { name: name.into(), tid, state: b'S', cpu_ns: Some(1_250_000_000), stack };
        self.report.threads.captured_ns = Uptime(NOW_NS);
        self.report.threads.threads.push(thread);
        self
    }

    /// Sets the system call that a SIGQUIT interrupted on the main thread (by its arm64 number), and the
    /// native stack. Each frame is a path, a build id and an offset in the module; the innermost frame comes
    /// first.
    #[must_use]
    pub fn interrupted(mut self, call: u32, frames: &[(&str, &[u8], u64)]) -> Self {
        let module = |(path, build_id, _): &(&str, &[u8], u64)| NativeModule {
            path: (*path).into(),
            build_id: build_id.to_vec(),
        };
        let frame = |(at, (.., offset)): (usize, &(&str, &[u8], u64))| NativeFrame {
            source: if at == 0 { NativeFrameSource::Pc } else { NativeFrameSource::FramePointer },
            module: Some(at as u32),
            offset: *offset,
        };
        self.report.main_thread = MainThread {
            captured_ns: Uptime(NOW_NS + MS),
            state: Some(b'S'),
            wchan: "futex_wait_queue".into(),
            system_call: Some(SystemCall {
                number: Some(call),
                arguments: vec![None, Some(128)],
                descriptor: String::new(),
                source: SystemCallSource::Registers,
            }),
            progress: Some(Progress {
                over_ns: 250 * MS,
                ran_ns: Some(MS),
                waited_ns: Some(2 * MS),
                user_ns: 0,
                kernel_ns: 0,
                minor_faults: 2,
                major_faults: 1,
            }),
            native: Some(NativeStack {
                captured_ns: Uptime(NOW_NS - 2 * MS),
                frames: frames.iter().enumerate().map(frame).collect(),
                modules: frames.iter().map(module).collect(),
            }),
        };
        self
    }

    /// ART's own trace of the ANR, as the app puts it into the file.
    #[must_use]
    pub fn system_trace(mut self, text: &str) -> Self {
        let mut gzip = GzEncoder::new(Vec::new(), Compression::default());
        let packed = gzip.write_all(text.as_bytes()).and_then(|()| gzip.finish());
        self.report.system_trace = PackedTrace { gzip: packed.unwrap_or_default(), offset: 0 };
        self
    }

    /// A line of `Looper.dump`.
    #[must_use]
    pub fn pending(mut self, line: &str) -> Self {
        self.report.pending.lines.push(line.into());
        self
    }

    /// A statistic at the dump.
    #[must_use]
    pub fn statistic(mut self, name: &str, value: &str) -> Self {
        self.report.statistics.push(Statistic { name: name.into(), value: value.into() });
        self
    }

    /// The report, as if decoded from an intact file.
    pub fn build(mut self) -> Decoded {
        let newest = match &self.report.main {
            MainState::Running(running) => running.start_ns,
            MainState::Idle { since_ns } => *since_ns,
            MainState::Outside(outside) => outside.after_ns,
            _ => Uptime(NOW_NS),
        };
        let shift = newest.since(self.history_ns);
        let moved = self.report.history.clone();
        for record in &mut self.report.history {
            record.start_ns += shift;
            record.details.iter_mut().for_each(|d| d.start_ns += shift);
        }
        for tree in &mut self.report.trees {
            if moved.iter().any(|r| r.first_token == tree.token && r.start_ns == tree.start_ns) {
                tree.start_ns += shift;
            }
        }
        Decoded { report: self.report, damage: Vec::new() }
    }
}

fn record(kind: RecordKind) -> Record {
    Record {
        kind,
        seq: 0,
        first_token: Token(0),
        count: 0,
        start_ns: Uptime::ZERO,
        wall_ns: 0,
        work_ns: 0,
        idle_ns: 0,
        cpu_ns: None,
        checktime_late_ns: Some(200_000),
        slowest: None,
        details: Vec::new(),
        dropped_details: 0,
        closed: true,
    }
}

/// A message as the Observer hook names it.
pub fn message(target: &str, callback: &str, what: i32) -> Message {
    Message {
        target: target.into(),
        callback: callback.into(),
        what: Some(what),
        component: (target == "android.app.ActivityThread$H").then_some(Component::ActivityThread),
        named_by: NamedBy::Observer,
    }
}

/// Writes a node, with its children, for each run of stacks that have the same first frame. Returns the
/// number of these nodes.
fn children(stacks: &[(&[LocationId], u32)], out: &mut Vec<TreeNode>) -> u32 {
    let (mut at, mut skip, mut count) = (0, 0, 0);
    while at < stacks.len() {
        let Some(first) = stacks[at].0.first() else {
            skip += stacks[at].1;
            at += 1;
            continue;
        };
        let run = stacks[at..].iter().take_while(|(stack, _)| stack.first() == Some(first)).count();
        let below: Vec<_> = stacks[at..at + run].iter().map(|(stack, n)| (&stack[1..], *n)).collect();
        let node = out.len();
        let samples = below.iter().map(|(_, n)| n).sum();
        out.push(TreeNode { location: *first, skip, count: samples, children: 0 });
        out[node].children = children(&below, out);
        (skip, count) = (0, count + 1);
        at += run;
    }
    count
}

/// A report as large as a recorder with the default limits makes it: a hundred records, ten trees of earlier
/// messages, the tree of a running message of ten seconds, stacks of up to forty frames, two hundred pending
/// messages.
pub fn full() -> ReportBuilder {
    let mut report = ReportBuilder::new();
    // xorshift: every run builds the same report.
    let mut state = 0x2545_F491_4F6C_DD1D_u64;
    let mut random = move |below: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state % below
    };
    let stacks = |samples: u32, random: &mut dyn FnMut(u64) -> u64| {
        let mut made = Vec::new();
        let mut left = samples;
        while left > 0 {
            let (depth, run) = (8 + random(30), (1 + random(4) as u32).min(left));
            let frames: Vec<String> = (0..depth)
                .map(|d| {
                    let class = d * 3 + random(100) / 60;
                    format!("com.example.shop.feature{d}.Presenter{class}.update{}:{}", class % 7, 10 + class)
                })
                .collect();
            made.push((frames.join(" "), run));
            left -= run;
        }
        made
    };
    let mut trees = Vec::new();
    for i in 0..50 {
        report = report.group(10 + random(60) as u32, 300 + random(40), random(200));
        report = if i % 5 == 0 { report.idle(300 + random(2_000)) } else { report };
        let token = report.token;
        let wall_ms = 320 + random(900);
        report = report.single("com.example.shop.FeedHandler", wall_ms, wall_ms / 2);
        if i % 5 == 0 {
            trees.push((token, stacks(100, &mut random)));
        }
    }
    let token = report.token;
    report = report.running(token.0, 10_000).doing("android.app.ActivityThread$H", "", 7_000);
    trees.push((token, stacks(995, &mut random)));
    for (token, stacks) in trees {
        let stacks: Vec<(&str, u32)> = stacks.iter().map(|(s, n)| (s.as_str(), *n)).collect();
        report = report.looper_tree(token.0, &stacks);
    }
    for i in 0..200 {
        let line = format!(
            "Message {i}: {{ when=-{}ms what={} target=com.example.shop.Ticker }}",
            900 - i * 4,
            i % 9
        );
        report = report.pending(&line);
    }
    report.statistic("psi.cpu.some_avg10_percent", "12.5").statistic("mem.available_bytes", "812345678")
}
