//! What every ticket contains about the process.

use crate::derive::{about_device, process_name};
use crate::model::Analysis;

/// The process, its version and its device, and when the report was written.
pub(super) fn about(a: &Analysis) -> Vec<String> {
    let mut texts = vec![process_name(a).to_owned()];
    texts.extend(about_device(a));
    texts.extend(a.wall_clock().rfc3339(a.meta.dumped_at.uptime_ns));
    texts
}
