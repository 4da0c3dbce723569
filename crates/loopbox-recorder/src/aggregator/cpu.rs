//! CPU time of records.

/// A record's CPU time when the clock was read only once for the record and its neighbour.
///
/// The two records together used `cpu`. When the neighbour is at most an eighth as long as this record, this
/// record gets all of `cpu`. That is too much by at most an eighth of this record's wall time. Otherwise the
/// CPU time of this record is not known.
pub(super) fn share_of_cpu(cpu: Option<u64>, own_wall: u64, other_wall: u64) -> Option<u64> {
    cpu.filter(|_| other_wall.saturating_mul(8) <= own_wall).map(|cpu| cpu.min(own_wall))
}
