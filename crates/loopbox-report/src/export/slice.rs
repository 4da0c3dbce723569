//! The slices that all tracks of the time axis consist of.

use crate::model::time;
use loopbox_format::model::Uptime;

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

/// Sorts by time and cuts overlaps: a hostile file can claim two messages at once, which no viewer can show.
pub(super) fn cut_overlaps(slices: &mut [Slice]) {
    slices.sort_by_key(|slice| slice.start_ns);
    let mut free_from = Uptime::ZERO;
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
}
