use super::*;
use loopbox_format::model::{Location, Method};
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
        locations: (0..count).map(|i| Location::Frame { method: i, dex_pc: Some(0), line: None }).collect(),
    }
}

fn tree(nodes: Vec<(u32, u32, u32, u32)>, deltas: Vec<u64>) -> StackTree {
    StackTree {
        token: 7,
        start_ns: 1_000,
        source: StackSource::Art,
        phases: vec![Phase { first_sample: 0, interval_ns: 10 }],
        sample_deltas_ns: deltas,
        nodes: nodes
            .into_iter()
            .map(|(location, skip, count, children)| TreeNode { location, skip, count, children })
            .collect(),
        missed_samples: 0,
        longest_stop_ns: 0,
        total_stop_ns: 0,
    }
}

fn read(t: &StackTree) -> (Tree, Frames) {
    let mut frames = Frames::default();
    let mut cells = bounds::CELLS;
    let read = Tree::read(t, &symbols(8), &mut frames, &mut cells);
    (read, frames)
}

#[test]
fn self_and_total_time_follow_the_real_sample_times() {
    // main over 5 samples: a (2), nothing (1), b (2) with a child c in its second sample.
    let (t, _) =
        read(&tree(vec![(0, 0, 5, 2), (1, 0, 2, 0), (2, 1, 2, 1), (3, 1, 1, 0)], vec![50, 10, 10, 30, 10]));
    assert_eq!(t.flaw, None);
    assert_eq!(t.sample_ns, [1_050, 1_060, 1_070, 1_100, 1_110, 1_120]);
    let figures: Vec<_> = t.nodes.iter().map(|n| (n.depth, n.begin, n.end, n.total_ns, n.self_ns)).collect();
    assert_eq!(figures, [(0, 0, 5, 70, 30), (1, 0, 2, 20, 20), (1, 3, 5, 20, 10), (2, 4, 5, 10, 10)]);
    assert_eq!(t.children(Some(0)).collect::<Vec<_>>(), [1, 2]);
    assert_eq!(t.tops(), [(1, 0, 2), (0, 2, 3), (2, 3, 4), (3, 4, 5)]);
    assert_eq!(t.stack(3).len(), 3);
}

#[test]
fn a_tree_that_lies_is_cut_to_what_can_be_true() {
    let (t, frames) = read(&tree(vec![(0, 0, 9, 1), (99, 3, u32::MAX, u32::MAX)], vec![1, 1]));
    assert!(t.flaw.is_some());
    assert_eq!((t.nodes[0].begin, t.nodes[0].end), (0, 2));
    assert_eq!(t.nodes.len(), 1, "the child lies outside of every sample");
    assert_eq!(frames.list.len(), 1);
}

#[test]
fn a_chain_deeper_than_the_bound_is_cut() {
    let nodes = (0..5_000).map(|_| (1, 0, 1, 1)).collect();
    let (t, _) = read(&tree(nodes, vec![5]));
    assert_eq!(t.nodes.len(), bounds::DEPTH);
    assert_eq!(t.flaw, Some("it ends before all its nodes are there"));
}

proptest! {
    #[test]
    fn whatever_the_nodes_say_the_tree_is_a_tree(
        nodes in proptest::collection::vec((0_u32..12, prop_oneof![0_u32..4, Just(u32::MAX)], prop_oneof![0_u32..6, Just(u32::MAX)], prop_oneof![0_u32..4, Just(u32::MAX)]), 0..60),
        deltas in proptest::collection::vec(prop_oneof![0_u64..1_000, Just(u64::MAX)], 0..20),
    ) {
        let (t, frames) = read(&tree(nodes, deltas));
        let mut covered = 0_u64;
        for (i, node) in t.nodes.iter().enumerate() {
            prop_assert!((node.frame as usize) < frames.list.len());
            prop_assert!(node.begin < node.end && node.end <= t.samples());
            prop_assert!(node.next as usize > i && node.next as usize <= t.nodes.len());
            prop_assert!(node.self_ns <= node.total_ns);
            covered += u64::from(node.self_samples);
            if let Some(parent) = node.parent {
                let parent = &t.nodes[parent as usize];
                prop_assert!(parent.begin <= node.begin && node.end <= parent.end);
                prop_assert_eq!(parent.depth + 1, node.depth);
            }
        }
        prop_assert!(covered <= u64::from(t.samples()));
        let tops = t.tops();
        prop_assert_eq!(tops.iter().map(|(_, b, e)| u64::from(e - b)).sum::<u64>(), covered);
        prop_assert!(tops.windows(2).all(|w| w[0].2 <= w[1].1), "in order of time and apart");
    }
}
