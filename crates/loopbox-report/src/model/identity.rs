//! What distinguishes a report from others, and one analysis of it from another.

use loopbox_format::problem;

/// What distinguishes a report from others, and which program analysed it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// The hash of what was recorded, [`crate::ReportId`], as hexadecimal digits.
    pub report_id: String,
    /// The id of R8's mapping of the build; empty when nothing names it.
    pub mapping_id: String,
}

impl Identity {
    /// The version of the code that diagnoses.
    pub const ANALYZER: &str = concat!("loopbox ", env!("CARGO_PKG_VERSION"));
    /// The version of the code that groups reports. Only group ids of the same version can be compared.
    pub const SIGNATURE: u32 = problem::VERSION;
}
