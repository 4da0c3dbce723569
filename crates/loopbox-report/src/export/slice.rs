//! What all tracks of the time axis are made of.

use crate::model::time;

/// A part of the time axis with a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Slice {
    pub(crate) name: String,
    /// The start, in uptime.
    pub(crate) start_ns: u64,
    /// The end, in uptime.
    pub(crate) end_ns: u64,
    /// Properties, by name.
    pub(crate) facts: Vec<(&'static str, String)>,
}

/// Nanoseconds as text of milliseconds.
pub(super) fn ms(ns: u64) -> String {
    format!("{:.3}", time::ms(ns))
}

/// Sorts by time and cuts overlaps: a hostile file can claim two messages at once, which no viewer can show.
pub(super) fn cut_overlaps(slices: &mut [Slice]) {
    slices.sort_by_key(|slice| slice.start_ns);
    let mut free_from = 0;
    for slice in slices {
        slice.start_ns = slice.start_ns.max(free_from);
        slice.end_ns = slice.end_ns.max(slice.start_ns);
        free_from = slice.end_ns;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cut_overlaps_sorts_and_cuts() {
        let slice = |start_ns, end_ns| Slice { name: String::new(), start_ns, end_ns, facts: Vec::new() };
        let mut slices = vec![slice(5, 20), slice(0, 10), slice(6, 7), slice(30, u64::MAX), slice(40, 41)];
        cut_overlaps(&mut slices);
        let times: Vec<_> = slices.iter().map(|s| (s.start_ns, s.end_ns)).collect();
        assert_eq!(times, [(0, 10), (10, 20), (20, 20), (30, u64::MAX), (u64::MAX, u64::MAX)]);
    }
}
