//! The slices that all tracks of the time axis consist of.

use crate::model::time;
use loopbox_format::model::Uptime;
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// A part of the time axis with a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Slice {
    pub(crate) name: String,
    /// The start, in uptime.
    pub(crate) start_ns: Uptime,
    /// The end, in uptime.
    pub(crate) end_ns: Uptime,
    /// Properties, by name.
    pub(crate) facts: Vec<(&'static str, String)>,
}

/// Nanoseconds as text of milliseconds.
pub(super) fn ms(ns: u64) -> String {
    format!("{:.3}", time::ms(ns))
}

/// Sorts slices by time. Where two slices overlap, the later one is cut to begin at the end of the earlier
/// one. Real records do not overlap, but a hostile file can contain such records.
pub(super) fn cut_overlaps(slices: &mut [Slice]) {
    slices.sort_by_key(|slice| slice.start_ns);
    let mut free_from = Uptime::ZERO;
    for slice in slices {
        slice.start_ns = slice.start_ns.max(free_from);
        slice.end_ns = slice.end_ns.max(slice.start_ns);
        free_from = slice.end_ns;
    }
}

/// Sorts slices by time, an outer slice before those inside of it, and makes them nest. A message may run a
/// loop, whose messages are inside of it. A hostile file can also contain a message that begins inside of
/// another one and ends after it. Such a message is cut at the end of the other message, and only its longer
/// part is kept.
pub(super) fn nest(slices: Vec<Slice>) -> Vec<Slice> {
    let key = |slice: &Slice, nth| (slice.start_ns, Reverse(slice.end_ns), nth);
    let mut left: BTreeMap<_, Slice> = BTreeMap::new();
    for (nth, mut slice) in slices.into_iter().enumerate() {
        slice.end_ns = slice.end_ns.max(slice.start_ns);
        left.insert(key(&slice, nth), slice);
    }
    let mut nested = Vec::with_capacity(left.len());
    // The ends of the slices around the next one, the outermost first.
    let mut open: Vec<Uptime> = Vec::new();
    while let Some(((.., nth), mut slice)) = left.pop_first() {
        while open.pop_if(|end_ns| *end_ns <= slice.start_ns).is_some() {}
        let crossed = open.iter().copied().find(|end_ns| *end_ns < slice.end_ns);
        if let Some(end_ns) = crossed.filter(|end_ns| slice.end_ns - *end_ns >= *end_ns - slice.start_ns) {
            slice.start_ns = end_ns;
            left.insert(key(&slice, nth), slice);
            continue;
        }
        slice.end_ns = open.last().map_or(slice.end_ns, |around| slice.end_ns.min(*around));
        open.push(slice.end_ns);
        nested.push(slice);
    }
    nested
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cut_overlaps_sorts_and_cuts() {
        let slice = |start_ns, end_ns| Slice { name: String::new(), start_ns, end_ns, facts: Vec::new() };
        let mut slices = vec![
            slice(Uptime(5), Uptime(20)),
            slice(Uptime::ZERO, Uptime(10)),
            slice(Uptime(6), Uptime(7)),
            slice(Uptime(30), Uptime::MAX),
            slice(Uptime(40), Uptime(41)),
        ];
        cut_overlaps(&mut slices);
        let times: Vec<_> = slices.iter().map(|s| (s.start_ns.0, s.end_ns.0)).collect();
        assert_eq!(times, [(0, 10), (10, 20), (20, 20), (30, u64::MAX), (u64::MAX, u64::MAX)]);
    }

    fn nested(times: &[(u64, u64)]) -> Vec<(u64, u64)> {
        let slices = times.iter().map(|&(start, end)| Slice {
            name: String::new(),
            start_ns: Uptime(start),
            end_ns: Uptime(end),
            facts: Vec::new(),
        });
        nest(slices.collect()).iter().map(|slice| (slice.start_ns.0, slice.end_ns.0)).collect()
    }

    #[test]
    fn nest_keeps_what_runs_inside_of_a_slice() {
        let times = [(60, 90), (20, 30), (0, 50), (10, 40), (20, 25), (40, 50), (50, 60)];
        assert_eq!(nested(&times), [(0, 50), (10, 40), (20, 30), (20, 25), (40, 50), (50, 60), (60, 90)]);
    }

    #[test]
    fn nest_keeps_the_longer_part_of_what_crosses_an_end() {
        assert_eq!(nested(&[(0, 10), (9, 40), (30, 41)]), [(0, 10), (10, 40), (30, 40)]);
        // Behind the outermost of those that it crosses, and before what begins there.
        assert_eq!(nested(&[(0, 30), (5, 20), (10, 60), (30, 35)]), [(0, 30), (5, 20), (30, 60), (30, 35)]);
        assert_eq!(nested(&[(0, u64::MAX), (5, 3), (7, u64::MAX)]), [(0, u64::MAX), (5, 5), (7, u64::MAX)]);
    }
}
