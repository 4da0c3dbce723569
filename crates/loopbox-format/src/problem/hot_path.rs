//! Finds where the time of sampled stacks was spent.

use super::numbers::Numbers;
use super::recursion::{Node, Place, fold};

/// A method of the hot path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hot {
    /// The node with the most time, of all nodes that were merged into this method.
    pub node: u32,
    /// The time of all nodes that were merged into this method.
    pub total_ns: u64,
}

/// The calls of one method under the same callers, merged.
struct Merged {
    caller: Option<u32>,
    hot: Hot,
    /// The time of the merged node with the most time.
    most_ns: u64,
}

/// The path of the heaviest calls. Calls of the same method under the same callers are combined, and so is
/// [recursion](fold). The path ends at the method in which the time is spent. It also ends where the heaviest
/// callee has less than two fifths of its caller's time, or less than a quarter of the whole.
pub fn hot_path(nodes: &[Node], place: impl Fn(u32) -> Option<Place>) -> Vec<Hot> {
    let merged = merge(nodes, place);
    let whole_ns = sum(merged.iter().filter(|method| method.caller.is_none()));
    let mut path: Vec<Hot> = Vec::new();
    let mut caller = None;
    while let Some((index, method)) = heaviest_callee(&merged, caller) {
        let hot = method.hot;
        let minor = path.last().is_some_and(|caller| hot.total_ns / 2 < caller.total_ns / 5);
        if minor || hot.total_ns < whole_ns / 4 {
            break;
        }
        path.push(hot);
        caller = Some(index);
    }
    path
}

fn sum<'m>(methods: impl Iterator<Item = &'m Merged>) -> u64 {
    methods.fold(0, |sum: u64, method| sum.saturating_add(method.hot.total_ns))
}

/// The callee with the most time; of equal ones, the first that was seen.
fn heaviest_callee(merged: &[Merged], caller: Option<u32>) -> Option<(u32, &Merged)> {
    let callees = (0..).zip(merged).filter(|(_, method)| method.caller == caller);
    callees.fold(None, |heaviest: Option<(u32, &Merged)>, (index, method)| match heaviest {
        Some((_, known)) if method.hot.total_ns <= known.hot.total_ns => heaviest,
        _ => Some((index, method)),
    })
}

fn merge(nodes: &[Node], place: impl Fn(u32) -> Option<Place>) -> Vec<Merged> {
    let folded = fold(nodes, place);
    let mut merged: Vec<Merged> = Vec::new();
    // By caller, counted from 1, and method.
    let mut known = Numbers::default();
    // For each node the method that it went to.
    let mut to: Vec<u32> = Vec::with_capacity(nodes.len());
    for (index, (node, place)) in (0..).zip(nodes.iter().zip(&folded)) {
        let of = |at: u32| to.get(at as usize).copied();
        if place.at != index {
            to.push(of(place.at).unwrap_or_default());
            continue;
        }
        let caller = place.caller.and_then(of);
        let key = caller.map_or(0, |caller| (u64::from(caller) + 1) << 32) | u64::from(place.method);
        let at = known.get(key).unwrap_or_else(|| {
            merged.push(Merged { caller, hot: Hot { node: index, total_ns: 0 }, most_ns: 0 });
            let at = (merged.len() - 1) as u32;
            known.set(key, at);
            at
        });
        let counted = is_above(nodes, &to, node, at);
        to.push(at);
        let Some(method) = merged.get_mut(at as usize).filter(|_| !counted) else { continue };
        method.hot.total_ns = method.hot.total_ns.saturating_add(node.total_ns);
        if node.total_ns > method.most_ns {
            (method.hot.node, method.most_ns) = (index, node.total_ns);
        }
    }
    merged
}

/// Whether `node` has a caller that belongs to `method`. If so, that caller's time includes the node's time.
fn is_above(nodes: &[Node], to: &[u32], node: &Node, method: u32) -> bool {
    let mut at = node.parent;
    while let Some(caller) = at {
        if to.get(caller as usize) == Some(&method) {
            return true;
        }
        at = nodes.get(caller as usize).and_then(|caller| caller.parent);
    }
    false
}
