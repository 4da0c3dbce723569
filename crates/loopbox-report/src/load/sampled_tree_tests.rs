//! How trees of a file appear in the report.

use super::limits;
use super::sampled_tree::{TreeBudget, read_tree};
use super::stack_frames::FrameCollector;
use crate::model::{AppPackages, FrameTable, SampledTree, StackRun};
use loopbox_format::model::{
    Location, LocationId, Method, MethodId, Phase, StackSource, StackTree, Symbols, Token, TreeNode, Uptime,
};
use proptest::prelude::*;

fn symbols(count: u32) -> Symbols {
    Symbols {
        methods: (0..count)
            .map(|i| Method {
                class: format!("a.C{i}"),
                name: "m".into(),
                signature: String::new(),
                source_file: String::new(),
            })
            .collect(),
        locations: (0..count)
            .map(|i| Location::Frame { method: MethodId(i), dex_pc: Some(0), line: None })
            .collect(),
    }
}

fn tree(nodes: Vec<(u32, u32, u32, u32)>, deltas: Vec<u64>) -> StackTree {
    StackTree {
        token: Token(7),
        start_ns: Uptime(1_000),
        source: StackSource::Art,
        phases: vec![Phase { first_sample: 0, interval_ns: 10 }],
        sample_deltas_ns: deltas,
        nodes: nodes
            .into_iter()
            .map(|(location, skip, count, children)| TreeNode {
                location: LocationId(location),
                skip,
                count,
                children,
            })
            .collect(),
        missed_samples: 0,
        longest_stop_ns: 0,
        total_stop_ns: 0,
    }
}

fn read(t: &StackTree) -> (SampledTree, FrameTable) {
    let symbols = symbols(8);
    let packages = AppPackages::default();
    let mut frames = FrameCollector::new(&symbols, &packages);
    let read = read_tree(t, Uptime::MAX, &mut frames, &mut TreeBudget::default());
    (read, frames.into_table())
}

#[test]
fn read_tree_sums_up_the_times_of_the_samples() {
    // main over 5 samples: a (2), nothing (1), b (2) with a child c in its second sample.
    let (t, _) =
        read(&tree(vec![(0, 0, 5, 2), (1, 0, 2, 0), (2, 1, 2, 1), (3, 1, 1, 0)], vec![50, 10, 10, 30, 10]));
    assert_eq!(t.error, None);
    assert_eq!(t.sample_ns, [1_050, 1_060, 1_070, 1_100, 1_110, 1_120].map(Uptime));
    let nodes: Vec<_> = t.nodes.iter().map(|n| (n.depth, n.start, n.end, n.total_ns, n.self_ns)).collect();
    assert_eq!(nodes, [(0, 0, 5, 70, 30), (1, 0, 2, 20, 20), (1, 3, 5, 20, 10), (2, 4, 5, 10, 10)]);
    assert_eq!(t.children(Some(0)).collect::<Vec<_>>(), [1, 2]);
    let runs =
        [(1, 0, 2), (0, 2, 3), (2, 3, 4), (3, 4, 5)].map(|(top, start, end)| StackRun { top, start, end });
    assert_eq!(t.stack_runs(), runs);
    assert_eq!(t.stack(3).len(), 3);
}

/// The sampler had backed off to 160 ms when the report was taken 20 ms after its last stack.
#[test]
fn the_last_stack_weighs_no_more_than_the_message_lasted_after_it() {
    const MS: u64 = 1_000_000;
    let mut backed_off = tree(vec![(0, 0, 3, 0)], vec![50 * MS, 10 * MS, 160 * MS]);
    backed_off.phases.push(Phase { first_sample: 2, interval_ns: 160 * MS });
    let symbols = symbols(8);
    let total = |end_ns| {
        let read = read_tree(
            &backed_off,
            end_ns,
            &mut FrameCollector::new(&symbols, &AppPackages::default()),
            &mut TreeBudget::default(),
        );
        read.total_ns()
    };
    assert_eq!(total(Uptime(1_000 + 240 * MS)), 190 * MS);
    assert_eq!(total(Uptime(1_000 + 900 * MS)), 330 * MS, "one that went on weighs its interval");
    assert_eq!(
        total(Uptime::ZERO),
        170 * MS + 1_000,
        "one that is not known to have lasted weighs next to nothing"
    );
}

#[test]
fn read_tree_cuts_an_inconsistent_tree() {
    let (t, frames) = read(&tree(vec![(0, 0, 9, 1), (99, 3, u32::MAX, u32::MAX)], vec![1, 1]));
    assert!(t.error.is_some());
    assert_eq!((t.nodes[0].start, t.nodes[0].end), (0, 2));
    assert_eq!(t.nodes.len(), 1, "the child lies outside of every sample");
    assert_eq!(frames.len(), 1);
}

#[test]
fn read_tree_cuts_a_stack_deeper_than_the_limit() {
    let nodes = (0..5_000).map(|_| (1, 0, 1, 1)).collect();
    let (t, _) = read(&tree(nodes, vec![5]));
    assert_eq!(t.nodes.len(), limits::STACK_DEPTH);
    assert_eq!(t.error, Some("it ends before all children of its nodes"));
}

proptest! {
    #[test]
    fn read_tree_of_any_nodes_is_consistent(
        nodes in proptest::collection::vec((0_u32..12, prop_oneof![0_u32..4, Just(u32::MAX)], prop_oneof![0_u32..6, Just(u32::MAX)], prop_oneof![0_u32..4, Just(u32::MAX)]), 0..60),
        deltas in proptest::collection::vec(prop_oneof![0_u64..1_000, Just(u64::MAX)], 0..20),
    ) {
        let (t, frames) = read(&tree(nodes, deltas));
        let mut covered = 0_u64;
        for (i, node) in t.nodes.iter().enumerate() {
            prop_assert!(node.frame.index() < frames.len());
            prop_assert!(node.start < node.end && node.end <= t.samples());
            prop_assert!(node.subtree_end as usize > i && node.subtree_end as usize <= t.nodes.len());
            prop_assert!(node.self_ns <= node.total_ns);
            covered += u64::from(node.self_samples);
            if let Some(parent) = node.parent {
                let parent = &t.nodes[parent as usize];
                prop_assert!(parent.start <= node.start && node.end <= parent.end);
                prop_assert_eq!(parent.depth + 1, node.depth);
            }
        }
        prop_assert!(covered <= u64::from(t.samples()));
        let runs = t.stack_runs();
        prop_assert_eq!(runs.iter().map(|run| u64::from(run.end - run.start)).sum::<u64>(), covered);
        prop_assert!(runs.windows(2).all(|w| w[0].end <= w[1].start), "in order of time and apart");
    }
}
