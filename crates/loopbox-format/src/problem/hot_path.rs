//! Where the time of sampled stacks goes.

/// A method over a run of samples, under its caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Node {
    /// The index of the caller's node, which comes before it; `None` for a root.
    pub parent: Option<u32>,
    /// The number of its method; equal for equal methods.
    pub method: u32,
    /// The time in it and in what it calls.
    pub total_ns: u64,
}

/// A method of the hot path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hot {
    /// Of the nodes that have it there, the index of the one with most time.
    pub node: u32,
    /// The time of all of them.
    pub total_ns: u64,
}

/// The methods that a method of the path calls, or those at the bottom of the stacks: in the order in which they are seen first.
#[derive(Default)]
struct Callees(Vec<(u32, Hot, u64)>);

impl Callees {
    fn add(&mut self, index: u32, node: &Node) {
        let Some((_, hot, most_ns)) = self.0.iter_mut().find(|(method, ..)| *method == node.method) else {
            self.0.push((node.method, Hot { node: index, total_ns: node.total_ns }, node.total_ns));
            return;
        };
        hot.total_ns = hot.total_ns.saturating_add(node.total_ns);
        if node.total_ns > *most_ns {
            (hot.node, *most_ns) = (index, node.total_ns);
        }
    }

    fn heaviest(&self) -> Option<(u32, Hot)> {
        let mut heaviest: Option<(u32, Hot)> = None;
        for &(method, hot, _) in &self.0 {
            if heaviest.is_none_or(|(_, known)| hot.total_ns > known.total_ns) {
                heaviest = Some((method, hot));
            }
        }
        heaviest
    }
}

/// The path of the heaviest calls, the same method under the same callers taken together, and a method that calls itself as
/// one. It ends at the method that spends the time, or where the time splits up so that no callee has two fifths of its caller's
/// time, or a quarter of the whole.
pub fn hot_path(nodes: &[Node]) -> Vec<Hot> {
    let mut path: Vec<Hot> = Vec::new();
    // What lies on the path's last method, and what above it; at first all does.
    let mut above: Vec<u32> = (0..nodes.len() as u32).collect();
    let mut callees = Callees::default();
    for (index, node) in (0..).zip(nodes).filter(|(_, node)| node.parent.is_none()) {
        callees.add(index, node);
    }
    let whole = callees.0.iter().fold(0, |sum: u64, (_, hot, _)| sum.saturating_add(hot.total_ns));
    let mut places = vec![Place::Elsewhere; nodes.len()];
    while let Some((method, hot)) = callees.heaviest() {
        let minor = path.last().is_some_and(|caller| hot.total_ns / 2 < caller.total_ns / 5);
        if minor || hot.total_ns < whole / 4 {
            break;
        }
        path.push(hot);
        callees = Callees::default();
        let depth = path.len() as u32;
        above.retain(|&index| {
            let (Some(node), Some(&known)) = (nodes.get(index as usize), places.get(index as usize)) else {
                return false;
            };
            // It stays where it is: its callees ask for it.
            if matches!(known, Place::On(_)) {
                return false;
            }
            let of_caller = match node.parent {
                None if depth == 1 => Place::On(0),
                None => Place::Elsewhere,
                Some(parent) => places.get(parent as usize).copied().unwrap_or(Place::Elsewhere),
            };
            let place = match of_caller {
                Place::On(at) if at + 1 == depth && node.method == method => Place::On(depth),
                // It calls itself.
                Place::On(at) if at == depth && node.method == method => Place::On(depth),
                Place::On(at) if at == depth => {
                    callees.add(index, node);
                    Place::Above(depth)
                }
                Place::Above(at) if at == depth => Place::Above(depth),
                _ => Place::Elsewhere,
            };
            if let Some(known) = places.get_mut(index as usize) {
                *known = place;
            }
            place != Place::Elsewhere
        });
    }
    path
}

/// Where a node lies, by the number of the path's method.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    On(u32),
    Above(u32),
    Elsewhere,
}
