//! CPU time of records.

/// What is known of a record's CPU time when the clock was read only once for it and its neighbour.
///
/// `cpu` was spent in both together. When the neighbour is at most an eighth as long, the error is at most
/// that much and all of it is taken for this record's; otherwise nothing is known.
pub(super) fn share_of_cpu(cpu: Option<u64>, own_wall: u64, other_wall: u64) -> Option<u64> {
    cpu.filter(|_| other_wall.saturating_mul(8) <= own_wall).map(|cpu| cpu.min(own_wall))
}
