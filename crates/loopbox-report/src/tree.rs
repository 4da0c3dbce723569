//! A stack tree as the desk works with it: names resolved, times summed up, every index checked.

use crate::{bounds, frame::Frames};
use loopbox_format::model::{Phase, StackSource, StackTree, Symbols, TreeNode};

/// One frame over a run of consecutive samples.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    /// Index into the report's frames.
    pub frame: u32,
    /// The node that called it; `None` for a root.
    pub parent: Option<u32>,
    /// 0 for a root.
    pub depth: u32,
    /// First sample that has it.
    pub begin: u32,
    /// One past the last sample that has it.
    pub end: u32,
    /// Index one past its last descendant: nodes are in pre-order.
    pub next: u32,
    /// Time that the samples stand for.
    pub total_ns: u64,
    /// The part of `total_ns` in which it was on top of the stack.
    pub self_ns: u64,
    /// How many samples had it on top of the stack.
    pub self_samples: u32,
}

/// The sampled stacks of one message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tree {
    /// The message's number.
    pub token: u64,
    /// When the message's dispatch began, uptime.
    pub start_ns: u64,
    /// How the stacks were taken; `None` for a way that this program does not know.
    pub source: Option<StackSource>,
    /// The intervals asked for, with the sample each began at.
    pub phases: Vec<Phase>,
    /// In pre-order.
    pub nodes: Vec<Node>,
    /// When each sample was taken, uptime; one more entry ends the last sample.
    pub sample_ns: Vec<u64>,
    /// Samples that were due but could not be taken.
    pub missed_samples: u32,
    /// The longest time that one sample kept the main thread stopped.
    pub longest_stop_ns: u64,
    /// The time that all samples together kept it stopped.
    pub total_stop_ns: u64,
    /// What is wrong with the tree, or too large to keep.
    pub flaw: Option<&'static str>,
}

impl Tree {
    /// How many samples there are.
    pub fn samples(&self) -> u32 {
        self.sample_ns.len().saturating_sub(1) as u32
    }

    /// The time from sample `begin` to sample `end`.
    pub fn span_ns(&self, begin: u32, end: u32) -> u64 {
        let at = |i: u32| self.sample_ns.get(i as usize).copied().unwrap_or_default();
        at(end).saturating_sub(at(begin))
    }

    /// The time that all samples stand for.
    pub fn total_ns(&self) -> u64 {
        self.span_ns(0, self.samples())
    }

    /// The direct children of a node, or the roots.
    pub fn children(&self, of: Option<u32>) -> impl Iterator<Item = u32> + '_ {
        let (mut at, end) = match of {
            Some(node) => (node + 1, self.nodes.get(node as usize).map_or(0, |n| n.next)),
            None => (0, self.nodes.len() as u32),
        };
        std::iter::from_fn(move || {
            let here = at;
            let node = self.nodes.get(here as usize).filter(|_| here < end)?;
            at = node.next;
            Some(here)
        })
    }

    /// The frames of a node's stack, bottom first.
    pub fn stack(&self, node: u32) -> Vec<u32> {
        let mut frames = Vec::new();
        let mut at = Some(node);
        while let Some(node) = at.and_then(|i| self.nodes.get(i as usize)) {
            frames.push(node.frame);
            at = node.parent;
        }
        frames.reverse();
        frames
    }

    /// Every distinct stack in order of time: the node on top of it and the samples it covers.
    ///
    /// A node is on top for the samples of its range that none of its children has.
    pub fn tops(&self) -> Vec<(u32, u32, u32)> {
        let mut tops = Vec::new();
        for (i, node) in self.nodes.iter().enumerate().filter(|(_, n)| n.self_samples > 0) {
            let mut from = node.begin;
            for child in self.children(Some(i as u32)) {
                let child = &self.nodes[child as usize];
                if child.begin > from {
                    tops.push((i as u32, from, child.begin));
                }
                from = child.end;
            }
            if node.end > from {
                tops.push((i as u32, from, node.end));
            }
        }
        tops.sort_unstable_by_key(|&(_, begin, _)| begin);
        tops
    }

    /// Reads a decoded tree, keeping what makes sense of it. `cells` is what is left of [`bounds::CELLS`].
    pub(crate) fn read(tree: &StackTree, symbols: &Symbols, frames: &mut Frames, cells: &mut usize) -> Self {
        let mut flaw =
            (tree.sample_deltas_ns.len() > bounds::SAMPLES).then_some("more samples than are read");
        let sample_ns = sample_times(tree);
        let samples = sample_ns.len().saturating_sub(1) as u32;
        let mut reader = Reader { nodes: Vec::new(), open: Vec::new(), samples, root_cursor: 0, flaw: None };
        for node in &tree.nodes {
            if reader.nodes.len() >= bounds::NODES || *cells == 0 {
                flaw = flaw.or(Some("more nodes than are read"));
                break;
            }
            let depth = reader.add(node, || frames.index(symbols, node.location));
            *cells = cells.saturating_sub(depth + 1);
        }
        reader.finish();
        let mut read = Self {
            token: tree.token,
            start_ns: tree.start_ns,
            source: matches!(tree.source, StackSource::Art | StackSource::JavaApi).then_some(tree.source),
            phases: tree.phases.iter().take(bounds::FACTS).copied().collect(),
            nodes: reader.nodes,
            sample_ns,
            missed_samples: tree.missed_samples,
            longest_stop_ns: tree.longest_stop_ns,
            total_stop_ns: tree.total_stop_ns,
            flaw: flaw.or(reader.flaw),
        };
        read.sum_up();
        read
    }

    fn sum_up(&mut self) {
        for i in 0..self.nodes.len() {
            let (begin, end) = (self.nodes[i].begin, self.nodes[i].end);
            let (mut below_ns, mut below) = (0_u64, 0);
            for child in self.children(Some(i as u32)) {
                let child = &self.nodes[child as usize];
                below_ns = below_ns.saturating_add(self.span_ns(child.begin, child.end));
                below += child.end - child.begin;
            }
            let total_ns = self.span_ns(begin, end);
            let node = &mut self.nodes[i];
            node.total_ns = total_ns;
            node.self_ns = total_ns.saturating_sub(below_ns);
            node.self_samples = (end - begin).saturating_sub(below);
        }
    }
}

/// When each sample was taken, and when the last one ends: one interval later.
fn sample_times(tree: &StackTree) -> Vec<u64> {
    let mut at = tree.start_ns;
    let mut times: Vec<u64> = tree
        .sample_deltas_ns
        .iter()
        .take(bounds::SAMPLES)
        .map(|delta| {
            at = at.saturating_add(*delta);
            at
        })
        .collect();
    let last_interval = tree.phases.last().map_or(0, |phase| phase.interval_ns);
    times.push(at.saturating_add(if times.is_empty() { 0 } else { last_interval }));
    times
}

struct Open {
    /// Index in the result; `None` for a node that was not kept.
    node: Option<u32>,
    children_left: u32,
    cursor: u32,
    end: u32,
}

struct Reader {
    nodes: Vec<Node>,
    open: Vec<Open>,
    samples: u32,
    root_cursor: u32,
    flaw: Option<&'static str>,
}

impl Reader {
    fn close_finished(&mut self) {
        while let Some(open) = self.open.pop_if(|open| open.children_left == 0) {
            self.close(&open);
        }
    }

    fn close(&mut self, open: &Open) {
        let next = self.nodes.len() as u32;
        if let Some(node) = open.node.and_then(|i| self.nodes.get_mut(i as usize)) {
            node.next = next;
        }
    }

    /// Adds the next node of the pre-order and returns its depth.
    fn add(&mut self, node: &TreeNode, frame: impl FnOnce() -> u32) -> usize {
        self.close_finished();
        let depth = self.open.len();
        let parent = self.open.last().and_then(|open| open.node);
        let (cursor, limit) = match self.open.last_mut() {
            Some(open) => {
                open.children_left -= 1;
                (&mut open.cursor, open.end)
            }
            None => (&mut self.root_cursor, self.samples),
        };
        let begin = cursor.saturating_add(node.skip);
        let end = begin.saturating_add(node.count);
        if end > limit {
            self.flaw = Some("a node has more samples than its caller");
        } else if node.count == 0 {
            self.flaw = Some("a node has no sample");
        }
        let (begin, end) = (begin.min(limit), end.min(limit));
        *cursor = end;
        let keep = end > begin && depth < bounds::DEPTH;
        if depth >= bounds::DEPTH {
            self.flaw = Some("deeper than is read");
        }
        let index = keep.then_some(self.nodes.len() as u32);
        if keep {
            let (depth, frame) = (depth as u32, frame());
            let zero =
                Node { frame, parent, depth, begin, end, next: 0, total_ns: 0, self_ns: 0, self_samples: 0 };
            self.nodes.push(zero);
        }
        self.open.push(Open { node: index, children_left: node.children, cursor: begin, end });
        depth.min(bounds::DEPTH)
    }

    fn finish(&mut self) {
        self.close_finished();
        if !self.open.is_empty() {
            self.flaw = Some("it ends before all its nodes are there");
        }
        while let Some(open) = self.open.pop() {
            self.close(&open);
        }
    }
}

#[cfg(test)]
#[path = "tree_test.rs"]
mod tests;
