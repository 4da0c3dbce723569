//! Qimao's trace tree: merges many stacks into one tree, and recovers each of them.

use crate::model::{LocationId, StackTree, TreeNode};

/// Merges stacks, in order of time, into the nodes of a [`StackTree`].
///
/// A frame continues a node when the previous sample had the same frame at the same depth under the same
/// callers; otherwise it begins a new node. A new node always belongs at the end of the pre-order, so the
/// nodes are written once and in their final order.
///
/// Qimao's own code also continues a node after samples that do not have its frame (`A>B`, `A`, `A>B`). The
/// stacks that it reads back from such a tree are not the stacks that were merged. This type does not do
/// that.
#[derive(Debug, Clone, Default)]
pub struct TreeMerger {
    nodes: Vec<TreeNode>,
    max_nodes: usize,
    samples: u32,
    /// The stack of the previous sample, bottom first.
    spine: Vec<Level>,
    /// The end of the samples that the roots cover.
    roots_end: u32,
}

#[derive(Debug, Clone, Copy)]
struct Level {
    node: usize,
    location: LocationId,
    /// The end of the samples that this node's children cover.
    children_end: u32,
}

impl TreeMerger {
    /// An empty tree that will never have more than `max_nodes` nodes.
    pub fn new(max_nodes: usize) -> Self {
        Self { max_nodes, ..Self::default() }
    }

    /// Starts again from empty, keeping the memory.
    pub fn clear(&mut self) {
        self.nodes.clear();
        self.spine.clear();
        self.samples = 0;
        self.roots_end = 0;
    }

    /// The nodes so far, in pre-order.
    pub fn nodes(&self) -> &[TreeNode] {
        &self.nodes
    }

    /// How many stacks were merged.
    pub fn samples(&self) -> u32 {
        self.samples
    }

    /// Adds a stack, bottom frame first. False, and no change, when its new nodes do not fit.
    pub fn push(&mut self, stack: impl Iterator<Item = LocationId> + Clone) -> bool {
        let same = self
            .spine
            .iter()
            .zip(stack.clone())
            .take_while(|(level, frame)| level.location == *frame)
            .count();
        if self.nodes.len() + stack.clone().skip(same).count() > self.max_nodes || self.samples == u32::MAX {
            return false;
        }
        let now = self.samples;
        if same < self.spine.len() {
            self.spine.truncate(same);
            *self.last_children_end() = now;
        }
        for level in &self.spine {
            if let Some(node) = self.nodes.get_mut(level.node) {
                node.count += 1;
            }
        }
        for location in stack.skip(same) {
            if let Some(parent) = self.spine.last().and_then(|level| self.nodes.get_mut(level.node)) {
                parent.children += 1;
            }
            let skip = now - *self.last_children_end();
            self.spine.push(Level { node: self.nodes.len(), location, children_end: now });
            self.nodes.push(TreeNode { location, skip, count: 1, children: 0 });
        }
        self.samples += 1;
        true
    }

    /// Replaces the number of every location, after the table of locations was renumbered.
    pub fn renumber(&mut self, mut number: impl FnMut(LocationId) -> LocationId) {
        for node in &mut self.nodes {
            node.location = number(node.location);
        }
        for level in &mut self.spine {
            level.location = number(level.location);
        }
    }

    /// The end of the samples that are covered by the children of the innermost open node, or by the roots
    /// when no node is open.
    fn last_children_end(&mut self) -> &mut u32 {
        match self.spine.last_mut() {
            Some(level) => &mut level.children_end,
            None => &mut self.roots_end,
        }
    }
}

/// How a tree's nodes contradict each other. They come from files, so anything is possible.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TreeError {
    /// A node lies outside of its parent, or of the samples.
    #[error("node {node} covers samples that its parent does not have")]
    Outside {
        /// Its index.
        node: usize,
    },
    /// A node covers no sample.
    #[error("node {node} covers no sample")]
    Empty {
        /// Its index.
        node: usize,
    },
    /// A parent claims more children than there are nodes after it.
    #[error("{missing} nodes are missing at the end")]
    Missing {
        /// How many nodes are missing.
        missing: u64,
    },
}

/// A node with its computed position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Placed {
    /// Its frame.
    pub location: LocationId,
    /// How many callers it has.
    pub depth: u32,
    /// Index of its caller's node.
    pub parent: Option<usize>,
    /// Index of the first sample that it covers.
    pub begin: u32,
    /// Index after the last sample that it covers.
    pub end: u32,
}

/// Computes which samples each node covers. One entry per node, in the same order.
///
/// # Errors
/// When the nodes contradict each other; a tree that [`TreeMerger`] made never does.
pub fn place(tree: &StackTree) -> Result<Vec<Placed>, TreeError> {
    struct Open {
        parent: Option<usize>,
        end: u32,
        children_left: u32,
        children_end: u32,
    }
    let samples = u32::try_from(tree.sample_deltas_ns.len()).unwrap_or(u32::MAX);
    let mut placed = Vec::with_capacity(tree.nodes.len());
    // The roots' list has no end.
    let mut open = vec![Open { parent: None, end: samples, children_left: u32::MAX, children_end: 0 }];
    for (index, node) in tree.nodes.iter().enumerate() {
        while open.len() > 1 && open.last().is_some_and(|parent| parent.children_left == 0) {
            open.pop();
        }
        let depth = open.len() as u32 - 1;
        let Some(parent) = open.last_mut() else { break };
        let outside = TreeError::Outside { node: index };
        let begin = parent.children_end.checked_add(node.skip).ok_or(outside)?;
        let end = begin.checked_add(node.count).filter(|&end| end <= parent.end).ok_or(outside)?;
        if begin == end {
            return Err(TreeError::Empty { node: index });
        }
        parent.children_left -= 1;
        parent.children_end = end;
        placed.push(Placed { location: node.location, depth, parent: parent.parent, begin, end });
        open.push(Open { parent: Some(index), end, children_left: node.children, children_end: begin });
    }
    let missing = open.iter().skip(1).map(|parent| u64::from(parent.children_left)).sum();
    if missing == 0 { Ok(placed) } else { Err(TreeError::Missing { missing }) }
}

/// Every stack that went into a tree, in order of time; each is a list of locations, bottom frame first.
///
/// # Errors
/// As [`place`].
pub fn stacks(tree: &StackTree) -> Result<Stacks, TreeError> {
    Ok(Stacks {
        placed: place(tree)?,
        samples: tree.sample_deltas_ns.len(),
        sample: 0,
        next_node: 0,
        chain: Vec::new(),
    })
}

/// Iterator of [`stacks`].
#[derive(Debug)]
pub struct Stacks {
    placed: Vec<Placed>,
    samples: usize,
    sample: usize,
    next_node: usize,
    /// Nodes that cover the current sample, by depth.
    chain: Vec<Placed>,
}

impl Iterator for Stacks {
    type Item = Vec<LocationId>;

    fn next(&mut self) -> Option<Vec<LocationId>> {
        if self.sample >= self.samples {
            return None;
        }
        let now = self.sample as u32;
        self.chain.retain(|node| node.end > now);
        // In pre-order of a tree in order of time, nodes begin in order of time.
        while let Some(node) = self.placed.get(self.next_node).filter(|node| node.begin == now) {
            self.chain.push(*node);
            self.next_node += 1;
        }
        self.sample += 1;
        Some(self.chain.iter().map(|node| node.location).collect())
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = self.samples - self.sample;
        (left, Some(left))
    }
}

impl ExactSizeIterator for Stacks {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Uptime;
    use crate::model::{StackSource, Token};
    use proptest::prelude::*;

    fn tree(samples: usize, nodes: Vec<TreeNode>) -> StackTree {
        StackTree {
            token: Token(1),
            start_ns: Uptime::ZERO,
            source: StackSource::Art,
            phases: Vec::new(),
            sample_deltas_ns: vec![10; samples],
            nodes,
            missed_samples: 0,
            longest_stop_ns: 0,
            total_stop_ns: 0,
        }
    }

    fn ids(stack: &[u32]) -> Vec<LocationId> {
        stack.iter().copied().map(LocationId).collect()
    }

    fn read(tree: &StackTree) -> Vec<Vec<u32>> {
        stacks(tree).unwrap().map(|stack| stack.into_iter().map(|id| id.0).collect()).collect()
    }

    fn merged(stacks: &[Vec<u32>]) -> StackTree {
        let mut merger = TreeMerger::new(usize::MAX);
        for stack in stacks {
            assert!(merger.push(ids(stack).into_iter()));
        }
        tree(stacks.len(), merger.nodes().to_vec())
    }

    fn node(location: u32, skip: u32, count: u32, children: u32) -> TreeNode {
        TreeNode { location: LocationId(location), skip, count, children }
    }

    #[test]
    fn equal_frames_of_consecutive_samples_are_one_node() {
        let tree = merged(&[vec![1, 2, 3], vec![1, 2, 4], vec![1, 2, 4], vec![1, 5]]);
        let expected =
            [node(1, 0, 4, 2), node(2, 0, 3, 2), node(3, 0, 1, 0), node(4, 0, 2, 0), node(5, 0, 1, 0)];
        assert_eq!(tree.nodes, expected);
    }

    #[test]
    fn a_frame_that_comes_back_after_a_pause_is_another_node() {
        let samples = [vec![1, 2], vec![1], vec![], vec![1, 2]];
        let tree = merged(&samples);
        assert_eq!(tree.nodes, [node(1, 0, 2, 1), node(2, 0, 1, 0), node(1, 1, 1, 1), node(2, 0, 1, 0)]);
        assert_eq!(read(&tree), samples);
        let samples = [vec![1, 2], vec![1], vec![1, 2]];
        let tree = merged(&samples);
        assert_eq!(tree.nodes, [node(1, 0, 3, 2), node(2, 0, 1, 0), node(2, 1, 1, 0)]);
        assert_eq!(read(&tree), samples);
    }

    #[test]
    fn a_full_tree_takes_what_needs_no_new_node() {
        let mut merger = TreeMerger::new(3);
        assert!(merger.push(ids(&[1, 2, 3]).into_iter()));
        assert!(!merger.push(ids(&[1, 2, 4]).into_iter()));
        assert!(merger.push(ids(&[1, 2, 3]).into_iter()));
        assert!(merger.push(ids(&[1, 2]).into_iter()));
        assert_eq!(merger.samples(), 3);
        assert_eq!(merger.nodes(), [node(1, 0, 3, 1), node(2, 0, 3, 1), node(3, 0, 2, 0)]);
    }

    #[test]
    fn contradictions_are_errors() {
        let outside = |node| Err(TreeError::Outside { node });
        assert_eq!(place(&tree(2, vec![node(1, 0, 3, 0)])), outside(0));
        assert_eq!(place(&tree(2, vec![node(1, u32::MAX, 1, 0)])), outside(0));
        assert_eq!(place(&tree(2, vec![node(1, 1, 1, 1), node(2, 1, 1, 0)])), outside(1));
        assert_eq!(place(&tree(2, vec![node(1, 0, 0, 0)])), Err(TreeError::Empty { node: 0 }));
        assert_eq!(
            place(&tree(2, vec![node(1, 0, 1, 3), node(2, 0, 1, 0)])),
            Err(TreeError::Missing { missing: 2 })
        );
    }

    fn any_stacks() -> impl Strategy<Value = Vec<Vec<u32>>> {
        // Few distinct frames, so that stacks share prefixes often.
        prop::collection::vec(prop::collection::vec(0_u32..3, 0..6), 0..60)
    }

    proptest! {
        #[test]
        fn every_stack_comes_back(samples in any_stacks()) {
            let tree = merged(&samples);
            prop_assert_eq!(read(&tree), samples);
        }

        #[test]
        fn neighbours_are_merged_as_far_as_they_agree(samples in any_stacks()) {
            let fresh = |previous: &[u32], next: &[u32]| {
                next.len() - previous.iter().zip(next).take_while(|(a, b)| a == b).count()
            };
            let mut expected = samples.first().map_or(0, Vec::len);
            for pair in samples.windows(2) {
                expected += fresh(&pair[0], &pair[1]);
            }
            prop_assert_eq!(merged(&samples).nodes.len(), expected);
        }

        #[test]
        fn any_nodes_are_read_without_panic(
            samples in 0_usize..20,
            nodes in prop::collection::vec((0_u32..3, 0_u32..4, 0_u32..6, 0_u32..4), 0..30),
        ) {
            let nodes = nodes.into_iter().map(|(l, s, c, n)| node(l, s, c, n)).collect();
            if let Ok(stacks) = stacks(&tree(samples, nodes)) {
                prop_assert_eq!(stacks.count(), samples);
            }
        }
    }
}
