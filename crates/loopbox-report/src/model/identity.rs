//! What distinguishes a report from others, and its readings from each other.

use loopbox_format::problem;

/// What distinguishes a report from others, and what read it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// The hash of what was recorded, [`crate::ReportId`], as hexadecimal digits.
    pub report_id: String,
    /// The id of R8's mapping of the build; empty when nothing names it.
    pub mapping_id: String,
}

impl Identity {
    /// The version of what diagnoses.
    pub const ANALYZER: &str = concat!("loopbox ", env!("CARGO_PKG_VERSION"));
    /// The version of what groups: ids of groups compare under one version only.
    pub const SIGNATURE: u32 = problem::VERSION;
}
