//! Values for the tests of the ring. Record `seq` covers ten messages and a thousand nanoseconds.
#![allow(dead_code, reason = "each test binary uses some")]

pub(crate) mod file;

use loopbox_format::model::{
    ClockPair, Detail, End, Location, LocationId, Message, Method, MethodId, NamedBy, Phase, Record,
    RecordKind, Slowest, StackSource, StackTree, Symbols, Token, TreeNode, Uptime,
};
use loopbox_store::{BuildId, Identity, Ring, RingOptions};
use std::fs;
use std::path::Path;

pub(crate) fn options(dir: &Path) -> RingOptions {
    let clocks = ClockPair { uptime_ns: Uptime(1), unix_ms: 1_700_000_000_000 };
    let identity = Identity { libart: BuildId::new(&[0xAA; 20]), ..Identity::of_this_process(clocks) };
    RingOptions::new(dir, identity)
}

/// A ring that has its file.
pub(crate) fn ring(options: &RingOptions) -> Ring {
    let mut ring = Ring::create(options);
    ring.mirror.attach().expect("a file");
    ring
}

/// The file that a process leaves if it ends now.
pub(crate) fn file_of(ring: &mut Ring) -> Vec<u8> {
    ring.mirror.copy().unwrap();
    fs::read(ring.reader.path().expect("a file")).unwrap()
}

pub(crate) fn message(what: i32) -> Message {
    Message {
        target: "com.example.UiHandler".into(),
        callback: String::new(),
        what: Some(what),
        component: None,
        named_by: NamedBy::Observer,
    }
}

pub(crate) fn details(first_token: u64, count: u64) -> Vec<Detail> {
    let detail = |token: u64| Detail {
        token: Token(token),
        start_ns: Uptime(token * 100),
        wall_ns: 60,
        wait_ns: Some(1),
        end: End::Returned,
        message: Some(message(token as i32)),
    };
    (first_token..first_token + count).map(detail).collect()
}

pub(crate) fn record(seq: u64) -> Record {
    Record { details: details(seq * 10, 3), closed: true, ..group(seq) }
}

/// The open group `seq`, without its details.
pub(crate) fn group(seq: u64) -> Record {
    Record {
        kind: RecordKind::Group,
        seq,
        first_token: Token(seq * 10),
        count: 10,
        start_ns: Uptime(seq * 1000),
        wall_ns: 1000,
        work_ns: 900,
        idle_ns: 100,
        cpu_ns: Some(800),
        checktime_late_ns: None,
        slowest: Some(Slowest { token: Token(seq * 10 + 1), wall_ns: 60 }),
        details: Vec::new(),
        dropped_details: 0,
        closed: false,
    }
}

pub(crate) fn symbols() -> Symbols {
    let method = |name: &str| Method {
        class: "com.example.App".into(),
        name: name.into(),
        signature: "()V".into(),
        source_file: "App.java".into(),
    };
    Symbols {
        methods: ["unused", "main", "loop", "work"].map(method).into(),
        locations: (0..4)
            .map(|n| Location::Frame { method: MethodId(n), dex_pc: Some(4), line: Some(10 + n) })
            .collect(),
    }
}

/// A tree of three nested frames, which are the same in all of its `samples` samples. The samples are one
/// microsecond apart.
pub(crate) fn tree(token: u64, samples: u32) -> StackTree {
    let node =
        |location, children| TreeNode { location: LocationId(location), skip: 0, count: samples, children };
    StackTree {
        token: Token(token),
        start_ns: Uptime(token * 1000),
        source: StackSource::Art,
        phases: vec![Phase { first_sample: 0, interval_ns: 1000 }],
        sample_deltas_ns: vec![1000; samples as usize],
        nodes: vec![node(1, 1), node(2, 1), node(3, 0)],
        missed_samples: 0,
        longest_stop_ns: 3,
        total_stop_ns: 9,
    }
}

/// Gives `known` the location numbers of `tree`, if both have the same shape. The numbers of a tree's
/// locations depend on the trees that were read before it.
pub(crate) fn renumbered(tree: &StackTree, known: &StackTree) -> StackTree {
    let mut same = known.clone();
    for (node, numbered) in same.nodes.iter_mut().zip(&tree.nodes) {
        node.location = numbered.location;
    }
    same
}
