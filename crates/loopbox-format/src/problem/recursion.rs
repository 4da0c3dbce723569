//! Recursion in sampled stacks: a method that calls itself, and methods that call each other.
//!
//! For the reader of a report, a parser's `value > array > value > object` is one method. When the inner
//! calls are folded into the first one, that call has all of the time. Unfolded, each depth has a small part
//! of it.

use super::numbers::Numbers;

/// A method in consecutive samples, under one caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Node {
    /// The index of the caller's node, which comes before it; `None` for a root.
    pub parent: Option<u32>,
    /// The number of its method; equal for equal methods.
    pub method: u32,
    /// The time in it and in its callees.
    pub total_ns: u64,
}

/// The class and the package of a method. By them [`fold`] recognises methods that call each other.
///
/// A method of the platform has no place, so such a method counts as recursive only when it calls itself
/// directly. For example, `View.draw` calls an app's view, which calls `View.draw` again. These calls are not
/// folded, because the time is that of the app's view.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// A hash of its outermost class.
    pub class: u64,
    /// A hash of its package.
    pub package: u64,
}

/// The position of a node after recursion is folded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Folded {
    /// The node that represents this one: itself, or the first call of its recursion.
    pub at: u32,
    /// The node that represents the caller of the node `at`.
    pub caller: Option<u32>,
    /// The number of its method, or of the group of methods that call each other.
    pub method: u32,
    /// How many calls of the recursion's first method are on the stack here, this one included.
    pub calls: u32,
}

/// Folds recursion. Callers come before their callees; `place` returns the place of a node's method.
///
/// Methods count as calling each other when one of them is twice on a stack with only methods of its class in
/// between, or three times with only methods of its package in between. Methods of the platform in between do
/// not count.
pub fn fold(nodes: &[Node], place: impl Fn(u32) -> Option<Place>) -> Vec<Folded> {
    let places = places(nodes, place);
    let groups = groups(nodes, &places);
    let mut folded: Vec<Folded> = Vec::with_capacity(nodes.len());
    for (index, node) in (0..).zip(nodes) {
        let group = groups.of(node.method);
        let method = group.unwrap_or(node.method);
        let of = |at: u32| folded.get(at as usize).copied();
        let caller = node.parent.and_then(|parent| Some((nodes.get(parent as usize)?, of(parent)?)));
        let itself = Folded { at: index, caller: caller.map(|(_, caller)| caller.at), method, calls: 1 };
        folded.push(match caller {
            Some((parent, into)) if parent.method == node.method => Folded { calls: into.calls + 1, ..into },
            Some(_) if group.is_some() => {
                into_earlier(nodes, &folded, node, itself, &places).unwrap_or(itself)
            }
            _ => itself,
        });
    }
    folded
}

/// The earlier call that a node of a group is folded into. `None` when there is none, or when other code of
/// the app is in between.
fn into_earlier(
    nodes: &[Node],
    folded: &[Folded],
    node: &Node,
    itself: Folded,
    places: &[Option<Place>],
) -> Option<Folded> {
    let mut at = itself.caller?;
    let first = loop {
        let earlier = folded.get(at as usize)?;
        if earlier.method == itself.method {
            break *earlier;
        }
        // Other code of the app's is in between: that is no recursion of the group alone.
        if place_of(places, at).is_some() {
            return None;
        }
        at = earlier.caller?;
    };
    let mut last = node.parent?;
    while folded.get(last as usize)?.at != first.at {
        last = nodes.get(last as usize)?.parent?;
    }
    let again = nodes.get(first.at as usize)?.method == node.method;
    Some(Folded { calls: folded.get(last as usize)?.calls + u32::from(again), ..first })
}

/// The methods that call each other.
#[derive(Debug, Default)]
struct Groups {
    /// For each method of a group: another method of the group, or itself. Following these links from any
    /// method of the group ends at the method that links to itself, whose number is the group's.
    next: Numbers,
}

impl Groups {
    /// The number of a method's group; `None` for a method that is in no group.
    fn of(&self, method: u32) -> Option<u32> {
        let mut at = method;
        let mut next = self.next.get(u64::from(at))?;
        while next != at {
            at = next;
            next = self.next.get(u64::from(at)).unwrap_or(at);
        }
        Some(at)
    }

    fn join(&mut self, method: u32, other: u32) {
        let (a, b) = (self.of(method).unwrap_or(method), self.of(other).unwrap_or(other));
        self.next.set(u64::from(a), a);
        self.next.set(u64::from(b), a);
    }
}

/// The place of each node: that of its method, computed once per method, because it is needed for every
/// caller of every node.
fn places(nodes: &[Node], place: impl Fn(u32) -> Option<Place>) -> Vec<Option<Place>> {
    let mut known = Numbers::default();
    let mut places: Vec<Option<Place>> = Vec::with_capacity(nodes.len());
    for (index, node) in (0..).zip(nodes) {
        let method = u64::from(node.method);
        let earlier = known.get(method).and_then(|at| places.get(at as usize).copied());
        places.push(earlier.unwrap_or_else(|| {
            known.set(method, index);
            place(index)
        }));
    }
    places
}

fn place_of(places: &[Option<Place>], node: u32) -> Option<Place> {
    places.get(node as usize).copied().flatten()
}

fn groups(nodes: &[Node], places: &[Option<Place>]) -> Groups {
    let mut groups = Groups::default();
    let mut between: Vec<u32> = Vec::new();
    for (index, node) in (0..).zip(nodes) {
        let Some(own) = place_of(places, index) else { continue };
        between.clear();
        let (mut same_class, mut calls) = (true, 1);
        let mut at = node.parent;
        while let Some((number, caller)) = at.and_then(|at| Some((at, nodes.get(at as usize)?))) {
            at = caller.parent;
            if caller.method == node.method {
                calls += 1;
                if same_class || calls > 2 {
                    groups.join(node.method, node.method);
                    between.iter().for_each(|&other| groups.join(node.method, other));
                    break;
                }
            } else if let Some(other) = place_of(places, number) {
                if other.package != own.package {
                    break;
                }
                same_class &= other.class == own.class;
                between.push(caller.method);
            }
        }
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::code::Owner;
    use crate::problem::Method;

    /// One stack, outermost first: `class.method`, with platform methods in small letters.
    fn folded(stack: &str) -> Vec<String> {
        let frames: Vec<(&str, &str)> =
            stack.split(' ').map(|frame| frame.rsplit_once('.').unwrap()).collect();
        let method = |at: u32| {
            let (class, name) = frames[at as usize];
            let owner = if class.starts_with("java") { Owner::Platform } else { Owner::App };
            Method { class, name, owner }
        };
        let numbers = |at: u32| (0..=at).find(|&known| method(known) == method(at)).unwrap();
        let nodes: Vec<Node> = (0..frames.len() as u32)
            .map(|at| Node { parent: at.checked_sub(1), method: numbers(at), total_ns: 1 })
            .collect();
        let folded = fold(&nodes, |at| method(at).place());
        let mut path = Vec::new();
        let mut at = folded.last().map(|last| (last.at, last.calls));
        while let Some((node, calls)) = at {
            path.push(format!(
                "{}{}",
                method(node).name,
                if calls > 1 { format!("×{calls}") } else { String::new() }
            ));
            at = folded[node as usize].caller.map(|caller| {
                let most = folded.iter().filter(|node| node.at == caller).map(|node| node.calls).max();
                (caller, most.unwrap())
            });
        }
        path.reverse();
        path
    }

    #[test]
    fn methods_of_one_class_that_call_each_other_are_one() {
        let parser = "a.b.Main.run a.b.Json.value a.b.Json.array a.b.Json.value a.b.Json.object";
        assert_eq!(folded(parser), ["run", "value×2", "object"]);
        assert_eq!(folded(&format!("{parser} a.b.Json.value")), ["run", "value×3"]);
        assert_eq!(folded(&format!("{parser} java.util.HashMap.put")), ["run", "value×2", "object", "put"]);
        let inner = "a.b.Main.run a.b.Json.value a.b.Json$Array.read a.b.Json.value a.b.Json$Array.read";
        assert_eq!(folded(inner), ["run", "value×2"]);
    }

    #[test]
    fn methods_of_one_package_call_each_other_when_one_is_there_three_times() {
        let twice = "a.b.Group.layout a.b.Row.layout a.b.Group.layout a.b.Cell.layout";
        assert_eq!(folded(twice), ["layout", "layout", "layout", "layout"]);
        assert_eq!(folded(&format!("{twice} a.b.Group.layout a.b.Cell.measure")), ["layout×3", "measure"]);
        let views = "a.b.Group.draw java.View.draw a.b.Group.draw java.View.draw a.b.Chart.draw";
        assert_eq!(folded(views), ["draw×2", "draw", "draw"]);
    }

    #[test]
    fn what_stands_between_two_calls_of_a_helper_is_kept() {
        let wrapped = "a.util.Trace.section a.cart.Cart.load a.util.Trace.section a.feed.Feed.parse";
        assert_eq!(folded(wrapped), ["section", "load", "section", "parse"]);
        let thrice = format!("{wrapped} a.util.Trace.section a.feed.Item.read");
        assert_eq!(folded(&thrice), ["section", "load", "section", "parse", "section", "read"]);
        let platform = "java.View.draw a.b.Chart.draw java.View.draw a.b.Axis.draw";
        assert_eq!(folded(platform), ["draw", "draw", "draw", "draw"]);
    }

    #[test]
    fn a_method_that_calls_itself_is_one_whoever_it_is_of() {
        assert_eq!(folded("a.b.Fib.fib a.b.Fib.fib a.b.Fib.fib"), ["fib×3"]);
        assert_eq!(folded("java.A.walk java.A.walk a.b.C.d"), ["walk×2", "d"]);
    }
}
