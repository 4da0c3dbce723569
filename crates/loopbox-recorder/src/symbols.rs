//! Numbers for the methods and code locations that trees refer to.

use crate::StackTreeBuilder;
use loopbox_format::hash::FixedHasher;
use loopbox_format::model::{Location, LocationId, Method, MethodId, StackTree, Symbols};
use std::hash::{Hash, Hasher};

/// Distinct values with a number each, at most a fixed count of them.
#[derive(Debug, Clone)]
pub struct Interner<T> {
    items: Vec<T>,
    /// A hash table with open addressing: item number plus one, 0 for free. It has at least twice as many
    /// places as items.
    places: Vec<u32>,
    capacity: usize,
}

impl<T: Hash + Eq> Interner<T> {
    /// An empty table for at most `capacity` values.
    pub fn new(capacity: usize) -> Self {
        let capacity = capacity.clamp(1, 1 << 24);
        let places = (capacity * 2).next_power_of_two();
        Self { items: Vec::new(), places: vec![0; places], capacity }
    }

    /// The number of this value, a new one if it was not known; `None` when it is new and the table is full.
    pub fn intern(&mut self, value: T) -> Option<u32> {
        let mask = self.places.len() - 1;
        let mut hasher = FixedHasher::default();
        value.hash(&mut hasher);
        let mut place = hasher.finish() as usize & mask;
        loop {
            let entry = self.places.get_mut(place)?;
            match entry.checked_sub(1) {
                Some(number) if self.items.get(number as usize) == Some(&value) => return Some(number),
                Some(_) => place = (place + 1) & mask,
                None if self.items.len() == self.capacity => return None,
                None => {
                    self.items.push(value);
                    *entry = self.items.len() as u32;
                    return Some(*entry - 1);
                }
            }
        }
    }

    /// The values, by number.
    pub fn items(&self) -> &[T] {
        &self.items
    }

    /// Forgets everything, keeping the memory.
    pub fn clear(&mut self) {
        self.items.clear();
        self.places.fill(0);
    }
}

/// The methods and locations of all trees of a process, bounded.
///
/// An app that runs for weeks meets ever more methods, while old trees are dropped: when the table is full,
/// [`SymbolTable::collect`] keeps what the remaining trees still need.
#[derive(Debug, Clone)]
pub struct SymbolTable {
    methods: Interner<Method>,
    locations: Interner<Location>,
}

impl SymbolTable {
    /// The location used for a frame for which there was no room.
    pub const NO_ROOM: LocationId = LocationId(0);

    /// A table for at most this many distinct methods and locations.
    pub fn new(max_methods: usize, max_locations: usize) -> Self {
        let mut table =
            Self { methods: Interner::new(max_methods), locations: Interner::new(max_locations.max(2)) };
        table.reset();
        table
    }

    /// The number of a method; `None` when the table is full.
    pub fn method(&mut self, method: Method) -> Option<MethodId> {
        self.methods.intern(method).map(MethodId)
    }

    /// The number of a location; `None` when the table is full.
    pub fn location(&mut self, location: Location) -> Option<LocationId> {
        self.locations.intern(location).map(LocationId)
    }

    /// The tables that a report needs to understand the trees.
    pub fn symbols(&self) -> Symbols {
        Symbols { methods: self.methods.items().to_vec(), locations: self.locations.items().to_vec() }
    }

    /// The location with this number, and its method; `None` for a number that is not in use.
    pub fn place(&self, location: LocationId) -> Option<(Location, Option<&Method>)> {
        let location = *self.locations.items().get(location.0 as usize)?;
        let method = match location {
            Location::Frame { method, .. } => self.methods.items().get(method.0 as usize),
            _ => None,
        };
        Some((location, method))
    }

    /// Removes what no tree uses and renumbers the rest, in the trees too. All earlier numbers become
    /// invalid, and a cache of numbers must be cleared.
    pub fn collect(&mut self, trees: &mut [StackTree], growing: &mut StackTreeBuilder) {
        let old = self.symbols();
        self.reset();
        let mut renumbered = vec![None; old.locations.len()];
        let mut number = |location: LocationId| -> LocationId {
            let Some(known) = renumbered.get_mut(location.0 as usize) else { return Self::NO_ROOM };
            *known.get_or_insert_with(|| self.adopt(&old, location).unwrap_or(Self::NO_ROOM))
        };
        for node in trees.iter_mut().flat_map(|tree| &mut tree.nodes) {
            node.location = number(node.location);
        }
        growing.renumber(number);
    }

    fn adopt(&mut self, old: &Symbols, location: LocationId) -> Option<LocationId> {
        let location = match *old.location(location)? {
            Location::Frame { method, dex_pc, line } => {
                let method = self.method(old.method(method)?.clone())?;
                Location::Frame { method, dex_pc, line }
            }
            other => other,
        };
        self.location(location)
    }

    fn reset(&mut self) {
        self.methods.clear();
        self.locations.clear();
        self.locations.intern(Location::Elided { frames: 1 });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Sample, Sampling};
    use loopbox_format::model::StackSource;
    use loopbox_format::model::Token;
    use loopbox_format::model::Uptime;
    use loopbox_format::stacks::stacks;

    fn method(n: u32) -> Method {
        Method {
            class: format!("C{n}"),
            name: "m".into(),
            signature: String::new(),
            source_file: String::new(),
        }
    }

    #[test]
    fn equal_values_have_one_number_and_a_full_table_still_knows_its_own() {
        let mut table = Interner::new(3);
        let numbers: Vec<_> = ["a", "b", "a", "c", "d", "b"].map(|name| table.intern(name)).into();
        assert_eq!(numbers, [Some(0), Some(1), Some(0), Some(2), None, Some(1)]);
        assert_eq!(table.items(), ["a", "b", "c"]);
        table.clear();
        assert_eq!(table.intern("d"), Some(0));
    }

    #[test]
    fn collecting_keeps_what_trees_use_and_their_stacks() {
        let mut table = SymbolTable::new(8, 8);
        let location = |table: &mut SymbolTable, n| {
            let method = table.method(method(n))?;
            table.location(Location::Frame { method, dex_pc: Some(n), line: None })
        };
        let ids: Vec<LocationId> = (0..7).map(|n| location(&mut table, n).unwrap()).collect();
        assert_eq!(location(&mut table, 7), None, "locations 0..7 and the reserved one fill it");

        let name = |table: &SymbolTable, id: LocationId| match *table.symbols().location(id).unwrap() {
            Location::Frame { method, .. } => table.symbols().method(method).unwrap().class.clone(),
            _ => "?".into(),
        };
        let mut builder = StackTreeBuilder::new(&Sampling::default());
        builder.begin(Token(1), Uptime::ZERO, StackSource::Art);
        let push = |builder: &mut StackTreeBuilder, frames: &[LocationId]| {
            assert!(builder.push(&Sample { frames, at_ns: Uptime(1), stop_ns: 1, interval_ns: 1 }));
        };
        push(&mut builder, &[ids[6], ids[2]]);
        let mut trees = [builder.tree()];
        builder.begin(Token(2), Uptime::ZERO, StackSource::Art);
        push(&mut builder, &[ids[4], ids[2]]);

        table.collect(&mut trees, &mut builder);
        let names = |tree: &StackTree| -> Vec<String> {
            stacks(tree).unwrap().next().unwrap().into_iter().map(|id| name(&table, id)).collect()
        };
        assert_eq!(names(&trees[0]), ["C2", "C6"]);
        assert_eq!(names(&builder.tree()), ["C2", "C4"]);
        assert_eq!(table.symbols().methods.len(), 3);
        assert!(location(&mut table, 7).is_some());
        // The spine was renumbered too: the same stack continues the node.
        let same: Vec<LocationId> =
            stacks(&builder.tree()).unwrap().next().unwrap().into_iter().rev().collect();
        push(&mut builder, &same);
        assert_eq!(builder.tree().nodes.len(), 2);
    }
}
