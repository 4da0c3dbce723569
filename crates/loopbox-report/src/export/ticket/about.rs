//! What every ticket says of the process.

use crate::render::json::ReportView;

/// The process, its version and its device in one line.
pub(super) fn about(view: &ReportView) -> Vec<String> {
    let process = &view.report.process;
    let name = if process.name.is_empty() { "unknown process" } else { &process.name };
    let api = (process.api_level > 0).then(|| format!("API {}", process.api_level));
    let texts = [name, &process.app_version, &process.device].map(str::to_owned);
    let all =
        texts.into_iter().chain(api).chain([process.abi.clone()]).chain(view.report.dumped_at.utc.clone());
    all.filter(|text| !text.is_empty()).collect()
}
