//! A simulated main thread: clocks that tests set, and everything that the aggregator reported.
#![allow(dead_code, reason = "each test binary uses a part of it")]

use loopbox_format::codec;
use loopbox_format::model::{End, NamedBy, Record, RecordKind, Token, Uptime};
use loopbox_recorder::{
    Aggregator, Config, Described, Details, Dirty, Environment, MAX_ENCODED_RECORD, StackPointer, Wanted,
};

pub(crate) const MS: u64 = 1_000_000;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum State {
    Running { token: u64, start_ns: Uptime, depth: u32 },
    Idle { since_ns: Uptime },
}

/// Kind, first token, count and work (ms) of each record.
pub(crate) fn kinds(records: &[Record]) -> Vec<(RecordKind, u64, u32, u64)> {
    records.iter().map(|r| (r.kind, r.first_token.0, r.count, r.work_ns / MS)).collect()
}

#[derive(Debug, Default)]
pub(crate) struct Recording {
    pub(crate) now_ns: Uptime,
    pub(crate) cpu_ns: Option<u64>,
    pub(crate) late_ns: Option<u64>,
    pub(crate) unseen_ns: Uptime,
    pub(crate) cpu_reads: std::cell::Cell<u32>,
    pub(crate) states: Vec<State>,
    /// The token that was announced for the next message when the thread last became idle.
    pub(crate) next: u64,
    /// How many messages were running when the thread last became idle: messages whose nested loops waited.
    pub(crate) around: u32,
    pub(crate) closed: Vec<Record>,
    /// The open record as a reader sees it. Its numbers are updated at each change, its details only when
    /// they are published.
    pub(crate) open: Option<Record>,
    /// How often the details of a record were written.
    pub(crate) detail_writes: u32,
}

impl Recording {
    fn decoded(record: &Record<Details>) -> Record {
        let bytes = codec::encode(record).unwrap();
        assert!(bytes.len() <= MAX_ENCODED_RECORD);
        codec::decode(&bytes).unwrap()
    }
}

impl Environment for Recording {
    fn now_ns(&self) -> Uptime {
        self.now_ns
    }

    fn thread_cpu_ns(&self) -> Option<u64> {
        self.cpu_reads.set(self.cpu_reads.get() + 1);
        self.cpu_ns
    }

    fn take_late_ns(&mut self) -> Option<u64> {
        self.late_ns.take()
    }

    fn unseen_since(&self, since_ns: Uptime) -> bool {
        self.unseen_ns >= since_ns
    }

    fn running(&mut self, token: Token, start_ns: Uptime, depth: u32) {
        self.states.push(State::Running { token: token.0, start_ns, depth });
    }

    fn idle(&mut self, next: Token, since_ns: Uptime, around: u32) {
        self.next = next.0;
        self.around = around;
        self.states.push(State::Idle { since_ns });
    }

    fn opened(&mut self, record: &Record<Details>, dirty: Dirty) {
        assert!(!record.closed);
        let mut record = Self::decoded(record);
        if dirty == Dirty::Counters {
            record.details = self.open.take().expect("details come first").details;
        } else {
            self.detail_writes += 1;
        }
        self.open = Some(record);
    }

    fn closed(&mut self, record: &Record<Details>) {
        assert!(record.closed);
        self.closed.push(Self::decoded(record));
    }
}

/// Drives an aggregator as a hook does.
pub(crate) struct Main {
    pub(crate) aggregator: Aggregator<Recording>,
}

impl Main {
    pub(crate) fn new(config: &Config) -> Self {
        Self::with_cpu(config, None)
    }

    pub(crate) fn with_cpu(config: &Config, cpu_ns: Option<u64>) -> Self {
        let environment = Recording { now_ns: Uptime(1_000_000 * MS), cpu_ns, ..Recording::default() };
        Self { aggregator: Aggregator::new(config, environment) }
    }

    pub(crate) fn environment(&mut self) -> &mut Recording {
        self.aggregator.environment_mut()
    }

    pub(crate) fn now(&mut self) -> Uptime {
        self.environment().now_ns
    }

    pub(crate) fn pass(&mut self, ns: u64) {
        self.environment().now_ns += ns;
    }

    /// The thread computes for this long.
    pub(crate) fn compute(&mut self, ns: u64) {
        self.pass(ns);
        let cpu = &mut self.environment().cpu_ns;
        *cpu = cpu.map(|cpu| cpu + ns);
    }

    /// The stack pointer of a hook at this depth of nested loops (1 for the thread's own loop). At the end of
    /// a message the hook's frame is a bit larger.
    pub(crate) fn pointer(depth: u64, at_end: bool) -> StackPointer {
        StackPointer::at(0x7fff_0000_0000 - depth * 700 - u64::from(at_end) * 112)
    }

    pub(crate) fn begin(&mut self, depth: u64) -> u64 {
        self.aggregator.begin(Self::pointer(depth, false)).token.0
    }

    pub(crate) fn end(&mut self, depth: u64) -> Wanted {
        self.aggregator.end(Self::pointer(depth, true), None, End::Returned)
    }

    /// Runs an outermost message, which computes for `ns` nanoseconds. It is described when the aggregator
    /// wants a description. Returns its token.
    pub(crate) fn message(&mut self, ns: u64) -> u64 {
        let token = self.begin(1);
        self.compute(ns);
        if self.end(1) == Wanted::Description {
            self.describe(&format!("com.example.H{token}"), 7);
        }
        token
    }

    pub(crate) fn describe(&mut self, target: &str, what: i32) {
        self.aggregator.describe(&Described {
            target,
            callback: "",
            what: Some(what),
            named_by: NamedBy::Observer,
        });
    }

    /// Everything recorded, the open record as the last.
    pub(crate) fn history(&mut self) -> Vec<Record> {
        self.aggregator.finish();
        self.environment().closed.clone()
    }
}
