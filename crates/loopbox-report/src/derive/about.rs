//! What a report is about, in short texts.

use crate::model::Analysis;

/// The name of the process, or that it is unknown.
pub(crate) fn process_name(a: &Analysis) -> &str {
    if a.meta.process.name.is_empty() { "unknown process" } else { &a.meta.process.name }
}

/// The version of the app, the device, the API level and the ABI, as far as they are known.
pub(crate) fn about_device(a: &Analysis) -> Vec<String> {
    let process = &a.meta.process;
    let api = if process.api_level > 0 { format!("API {}", process.api_level) } else { String::new() };
    let texts = [process.app_version.clone(), process.device.clone(), api, process.abi.clone()];
    texts.into_iter().filter(|text| !text.is_empty()).collect()
}
