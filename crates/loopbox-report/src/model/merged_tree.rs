//! Stack trees merged over time, as flame graphs show them.

use super::frame::{Frame, FrameId, FrameTable};
use super::sampled_tree::{GapSums, SampledNode, SampledTree};
use loopbox_format::problem::{Folded, Node, fold, hot_path};
use std::collections::HashMap;

/// A method on one call path, over all samples that have it on that path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MergedNode {
    /// The frame with the most time of all those that were merged into this node. They differ only in their
    /// line.
    pub frame: FrameId,
    /// The index of the caller's node; `None` for a root.
    pub parent: Option<u32>,
    /// The number of callers; 0 for a root.
    pub depth: u32,
    /// The time in the method and in what it calls.
    pub total_ns: u64,
    /// The time with the method on top of the stack.
    pub self_ns: u64,
    /// The number of samples with the method on top of the stack.
    pub self_samples: u32,
    /// The largest number of times that the method occurs on one stack, in a tree with folded recursion; 1 in
    /// other trees.
    pub calls: u32,
    heaviest_frame_ns: u64,
}

/// A merged tree. Two frames are equal when their classes, methods and descriptors are equal; lines do not
/// matter.
#[derive(Debug, Default)]
pub struct MergedTree {
    /// The nodes; a caller comes before its callees.
    pub nodes: Vec<MergedNode>,
}

impl MergedTree {
    /// Merges one or more trees.
    pub fn new<'t>(trees: impl IntoIterator<Item = &'t SampledTree>, frames: &FrameTable) -> Self {
        Self::merge(trees, &GapSums::default(), frames, false)
    }

    /// Merges one or more trees. Recursion becomes one node with all of its time.
    pub(crate) fn folded<'t>(trees: impl IntoIterator<Item = &'t SampledTree>, frames: &FrameTable) -> Self {
        Self::merge(trees, &GapSums::default(), frames, true)
    }

    /// As [`Self::folded`] for one tree, without the time in `gaps`, which no stack covers.
    pub(crate) fn seen(tree: &SampledTree, gaps: &GapSums, frames: &FrameTable) -> Self {
        Self::merge([tree], gaps, frames, true)
    }

    fn merge<'t>(
        trees: impl IntoIterator<Item = &'t SampledTree>,
        gaps: &GapSums,
        frames: &FrameTable,
        fold_recursion: bool,
    ) -> Self {
        let method = method_ids(frames);
        let mut nodes: Vec<MergedNode> = Vec::new();
        let mut known: HashMap<(Option<u32>, u32), u32> = HashMap::new();
        for tree in trees {
            let folded = if fold_recursion { Some(folded(tree, &method, frames)) } else { None };
            // For each node of the tree, where it went.
            let mut to: Vec<u32> = Vec::with_capacity(tree.nodes.len());
            for (index, node) in (0..).zip(&tree.nodes) {
                let unfolded = || {
                    let number = method[node.frame.index()];
                    Folded { at: index, caller: node.parent, method: number, calls: 1 }
                };
                let place = folded.as_ref().map_or_else(unfolded, |folded| folded[index as usize]);
                let (total_ns, self_ns) = seen_ns(tree, gaps, index, node);
                let parent = place.caller.map(|caller| to[caller as usize]);
                let is_again = place.at != index;
                let at = if is_again {
                    to[place.at as usize]
                } else {
                    *known.entry((parent, place.method)).or_insert_with(|| {
                        nodes.push(MergedNode {
                            frame: node.frame,
                            parent,
                            depth: parent.map_or(0, |p| nodes[p as usize].depth + 1),
                            total_ns: 0,
                            self_ns: 0,
                            self_samples: 0,
                            calls: 1,
                            heaviest_frame_ns: 0,
                        });
                        (nodes.len() - 1) as u32
                    })
                };
                // A caller that went to the same node has this time already.
                let is_counted = is_again || fold_recursion && is_above(tree, &to, node, at);
                to.push(at);
                let merged = &mut nodes[at as usize];
                merged.calls = merged.calls.max(place.calls);
                merged.self_ns = merged.self_ns.saturating_add(self_ns);
                merged.self_samples = merged.self_samples.saturating_add(node.self_samples);
                if is_counted {
                    continue;
                }
                merged.total_ns = merged.total_ns.saturating_add(total_ns);
                if total_ns > merged.heaviest_frame_ns {
                    merged.heaviest_frame_ns = total_ns;
                    merged.frame = node.frame;
                }
            }
        }
        Self { nodes }
    }

    /// The children of each node, heaviest first; the roots come last.
    pub fn children(&self) -> ChildLists {
        let mut lists = vec![Vec::new(); self.nodes.len() + 1];
        for (i, node) in self.nodes.iter().enumerate() {
            lists[node.parent.map_or(self.nodes.len(), |p| p as usize)].push(i as u32);
        }
        for list in &mut lists {
            list.sort_by_key(|&i| std::cmp::Reverse(self.nodes[i as usize].total_ns));
        }
        ChildLists(lists)
    }

    /// The path of the heaviest calls. It ends at the method in which the time is spent. It ends earlier
    /// where the time is split: where the heaviest callee has less than two fifths of its caller's time, or
    /// less than a quarter of the whole time.
    pub fn hot_path(&self) -> Vec<&MergedNode> {
        // Each is a different method: they are merged already.
        let node = |(at, node): (usize, &MergedNode)| Node {
            parent: node.parent,
            method: at as u32,
            total_ns: node.total_ns,
        };
        let nodes: Vec<Node> = self.nodes.iter().enumerate().map(node).collect();
        hot_path(&nodes, |_| None).into_iter().map(|hot| &self.nodes[hot.node as usize]).collect()
    }
}

/// The children of the nodes of a [`MergedTree`].
#[derive(Debug)]
pub struct ChildLists(Vec<Vec<u32>>);

impl ChildLists {
    /// The children of a node, or the roots.
    pub fn of(&self, node: Option<u32>) -> &[u32] {
        let roots = self.0.len() - 1;
        &self.0[node.map_or(roots, |i| i as usize)]
    }
}

/// The positions of the nodes of a tree after recursion is folded.
fn folded(tree: &SampledTree, method: &[u32], frames: &FrameTable) -> Vec<Folded> {
    let nodes = tree.nodes.iter().map(|node| Node {
        parent: node.parent,
        method: method[node.frame.index()],
        total_ns: node.total_ns,
    });
    let nodes: Vec<Node> = nodes.collect();
    fold(&nodes, |node| frames[tree.nodes[node as usize].frame].as_method().place())
}

/// Whether a caller of the node was merged into the same position.
fn is_above(tree: &SampledTree, to: &[u32], node: &SampledNode, at: u32) -> bool {
    let mut caller = node.parent;
    while let Some(above) = caller {
        if to[above as usize] == at {
            return true;
        }
        caller = tree.nodes[above as usize].parent;
    }
    false
}

/// The total time of a node, and the part of it in which the node's frame was on top of the stack. Both are
/// without the time in the gaps.
fn seen_ns(tree: &SampledTree, gaps: &GapSums, index: u32, node: &SampledNode) -> (u64, u64) {
    if gaps.is_empty() {
        return (node.total_ns, node.self_ns);
    }
    let of = |node: &SampledNode| gaps.ns(node.start, node.end);
    let of_callees: u64 = tree.children(Some(index)).map(|child| of(&tree.nodes[child as usize])).sum();
    let whole = of(node);
    (node.total_ns.saturating_sub(whole), node.self_ns.saturating_sub(whole.saturating_sub(of_callees)))
}

/// For each frame, the index of the first frame of the same method.
pub(crate) fn method_ids(frames: &[Frame]) -> Vec<u32> {
    let mut first: HashMap<(&str, &str, &str), u32> = HashMap::new();
    frames
        .iter()
        .enumerate()
        .map(|(i, f)| *first.entry((&f.class, &f.method, &f.signature)).or_insert(i as u32))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Analysis;
    use crate::test_support::ReportBuilder;

    fn path_of(stacks: &[(&str, u32)]) -> Vec<String> {
        let report = ReportBuilder::new().running(1, 2_000).tree(1, stacks).build();
        let a = Analysis::new(&report);
        let merged = MergedTree::new(&a.trees, &a.frames);
        merged.hot_path().iter().map(|n| a.frames[n.frame].short()).collect()
    }

    #[test]
    fn hot_path_ends_where_the_time_splits_up() {
        let path = path_of(&[("a.Main.main a.X.x a.Y.slow", 60), ("a.Main.main a.Z.z", 40)]);
        assert_eq!(path, ["Main.main", "X.x", "Y.slow"]);
        let path = path_of(&[("a.M.m a.A.a", 30), ("a.M.m a.B.b", 35), ("a.M.m a.C.c", 35)]);
        assert_eq!(path, ["M.m"]);
        let halves = [
            ("M.m A.a B.b C.c", 13),
            ("M.m A.a B.b D.d", 12),
            ("M.m A.a E.e F.f", 12),
            ("M.m A.a E.e G.g", 13),
        ];
        let deeper: Vec<_> = halves.iter().map(|(s, n)| (*s, *n)).chain([("M.m H.h", 49)]).collect();
        assert_eq!(
            path_of(&deeper),
            ["M.m", "A.a", "B.b"],
            "the path has methods with a quarter of the time, not with less"
        );
    }

    #[test]
    fn recursion_is_one_node_with_all_of_its_time() {
        let fib = |depth: usize, rest: &str| format!("a.M.m{}{rest}", " a.F.fib:3".repeat(depth));
        let stacks = [(fib(41, ""), 30), (fib(12, " a.L.log"), 20), (fib(30, ""), 40), (fib(2, ""), 10)];
        let stacks: Vec<(&str, u32)> = stacks.iter().map(|(stack, n)| (stack.as_str(), *n)).collect();
        let a = Analysis::new(&ReportBuilder::new().running(1, 2_000).tree(1, &stacks).build());
        let folded = MergedTree::folded(&a.trees, &a.frames);
        let shown = |n: &MergedNode| {
            (a.frames[n.frame].short(), n.calls, n.depth, n.total_ns / 1_000_000, n.self_ns / 1_000_000)
        };
        let nodes: Vec<_> = folded.nodes.iter().map(shown).collect();
        assert_eq!(
            nodes,
            [
                ("M.m".into(), 1, 0, 1_000, 0),
                ("F.fib".into(), 41, 1, 1_000, 800),
                ("L.log".to_string(), 1, 2, 200, 200)
            ]
        );
        assert_eq!(folded.hot_path().len(), 2);
        assert_eq!(MergedTree::new(&a.trees, &a.frames).nodes.len(), 43, "a flame graph has all frames");
    }

    #[test]
    fn methods_that_call_each_other_are_one_node_with_all_of_their_time() {
        let parse = |depth: usize, rest: &str| {
            let nested =
                " a.b.Json.value:3 a.b.Json.array:5 a.b.Json.value:4 a.b.Json.object:7".repeat(depth);
            format!("a.b.Main.load:1{nested}{rest}")
        };
        let stacks = [
            (parse(1, ""), 26),
            (parse(2, " java.util.HashMap.put"), 25),
            (parse(3, ""), 30),
            (parse(2, " a.b.Json.value:4"), 10),
            ("a.b.Main.load:1 a.c.Log.write:9".to_owned(), 9),
        ];
        let stacks: Vec<(&str, u32)> = stacks.iter().map(|(stack, n)| (stack.as_str(), *n)).collect();
        let a = Analysis::new(&ReportBuilder::new().running(1, 2_000).tree(1, &stacks).build());
        let folded = MergedTree::folded(&a.trees, &a.frames);
        let shown = |n: &MergedNode| (a.frames[n.frame].short(), n.calls, n.total_ns / 10_000_000);
        let nodes: Vec<_> = folded.nodes.iter().map(shown).collect();
        assert_eq!(
            nodes,
            [
                ("Main.load".into(), 1, 100),
                ("Json.value".into(), 6, 91),
                ("HashMap.put".into(), 1, 25),
                ("Log.write".to_string(), 1, 9)
            ]
        );
        let own: u64 = folded.nodes.iter().map(|node| node.self_ns).sum();
        assert_eq!(own, a.trees[0].total_ns());
    }

    #[test]
    fn merge_sums_up_one_method_over_all_its_lines() {
        let path = [("a.M.m:1 a.A.a:4", 30), ("a.M.m:2 a.B.b", 30), ("a.M.m:3 a.A.a:9", 40)];
        let report = ReportBuilder::new().running(1, 2_000).tree(1, &path).build();
        let a = Analysis::new(&report);
        let merged = MergedTree::new(&a.trees, &a.frames);
        let got: Vec<_> = merged
            .nodes
            .iter()
            .map(|n| (a.frames[n.frame].full(), n.total_ns / 1_000_000, n.self_samples))
            .collect();
        assert_eq!(
            got,
            [
                ("a.M.m(M.java:3)".into(), 1_000, 0),
                ("a.A.a(A.java:9)".into(), 700, 70),
                ("a.B.b(dex pc 0x0)".to_string(), 300, 30)
            ]
        );
    }
}
