//! The part of the session's symbols that a report uses, renumbered.

use loopbox_format::hash::Map;
use loopbox_format::model::{Location, LocationId, MethodId, StackTree, Symbols};

/// The part of the session's symbols that a report uses.
#[derive(Debug, Default)]
pub(crate) struct UsedSymbols {
    pub(crate) symbols: Symbols,
    methods: Map<MethodId, MethodId>,
    locations: Map<LocationId, LocationId>,
}

impl UsedSymbols {
    /// The number that a location of `all` has in this table. A location that is missing in this table is
    /// added. Pass the same `all` in each call.
    pub(crate) fn number(&mut self, all: &Symbols, location: LocationId) -> LocationId {
        let Self { symbols: used, methods, locations } = self;
        *locations.entry(location).or_insert_with(|| {
            let mut location = all.location(location).copied().unwrap_or(Location::Elided { frames: 1 });
            if let Location::Frame { method, .. } = &mut location {
                *method = *methods.entry(*method).or_insert_with(|| {
                    used.methods.extend(all.method(*method).cloned());
                    MethodId(used.methods.len().saturating_sub(1) as u32)
                });
            }
            used.push_location(location)
        })
    }
}

/// The part of `symbols` that the trees use; renumbers the trees.
pub(crate) fn collect_used(symbols: &Symbols, trees: &mut [StackTree]) -> UsedSymbols {
    let mut used = UsedSymbols::default();
    for node in trees.iter_mut().flat_map(|tree| &mut tree.nodes) {
        node.location = used.number(symbols, node.location);
    }
    used
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use loopbox_format::model::Token;
    use loopbox_format::model::Uptime;
    use loopbox_format::model::{Method, Phase, StackSource, TreeNode};

    pub(in crate::report) fn symbols(names: &[&str]) -> Symbols {
        let method = |name: &&str| {
            let (class, name) = name.rsplit_once('.').unwrap();
            Method {
                class: class.into(),
                name: name.into(),
                signature: String::new(),
                source_file: String::new(),
            }
        };
        let frame = |method| Location::Frame { method: MethodId(method), dex_pc: Some(1), line: None };
        Symbols {
            methods: names.iter().map(method).collect(),
            locations: (0..names.len() as u32).map(frame).collect(),
        }
    }

    pub(in crate::report) fn chain(locations: &[u32]) -> StackTree {
        let last = locations.len() - 1;
        let node = |(at, &location): (usize, &u32)| TreeNode {
            location: LocationId(location),
            skip: 0,
            count: 1,
            children: u32::from(at < last),
        };
        StackTree {
            token: Token(1),
            start_ns: Uptime::ZERO,
            source: StackSource::Art,
            phases: vec![Phase { first_sample: 0, interval_ns: 1 }],
            sample_deltas_ns: vec![1],
            nodes: locations.iter().enumerate().map(node).collect(),
            missed_samples: 0,
            longest_stop_ns: 0,
            total_stop_ns: 0,
        }
    }

    #[test]
    fn only_symbols_that_trees_use_are_kept() {
        let all = symbols(&["a.A.a", "a.B.b", "a.C.c"]);
        let mut trees = [chain(&[2, 0]), chain(&[2])];
        let mut used = collect_used(&all, &mut trees);
        assert_eq!([0, 1].map(|n| used.number(&all, LocationId(n)).0), [1, 2], "more may follow");
        let used = used.symbols;
        let names: Vec<_> = used.methods.iter().map(|m| m.name.as_str()).collect();
        assert_eq!(names, ["c", "a", "b"]);
        assert_eq!(trees[0].nodes.iter().map(|n| n.location.0).collect::<Vec<_>>(), [0, 1]);
        assert_eq!(trees[1].nodes[0].location, LocationId(0));
        assert_eq!(used.locations[1], Location::Frame { method: MethodId(1), dex_pc: Some(1), line: None });
    }
}
