//! What a report says about its process, its app and its device.

use crate::session::Session;
use crate::sys::{clock, proc};
use loopbox_format::model::{DumpReason, Meta, Process};

/// The header of this session's reports, now.
pub(super) fn of(session: &Session) -> Meta {
    let settings = &session.settings;
    Meta {
        producer: concat!("loopbox ", env!("CARGO_PKG_VERSION")).to_owned(),
        reason: DumpReason::Requested(String::new()),
        process: Process {
            pid: std::process::id(),
            name: proc::process_name(),
            api_level: settings.api_level,
            abi: ABI.to_owned(),
            app_version: settings.app_version.clone(),
            device: device(),
            started_ns: session.started_ns(),
            installed_ns: session.installed_ns,
        },
        dumped_at: clock::pair(),
        limits: (&settings.recorder).into(),
        annotations: session.annotations.list(),
    }
}

/// Android's name of the architecture.
const ABI: &str = if cfg!(target_arch = "aarch64") {
    "arm64-v8a"
} else if cfg!(target_arch = "arm") {
    "armeabi-v7a"
} else if cfg!(target_arch = "x86") {
    "x86"
} else {
    "x86_64"
};

#[cfg(target_os = "android")]
fn device() -> String {
    use std::ffi::{CStr, c_char};
    let property = |name: &CStr| {
        let mut value = [0_u8; 92]; // PROP_VALUE_MAX
        // SAFETY: the buffer has the size that the function demands.
        unsafe { libc::__system_property_get(name.as_ptr(), value.as_mut_ptr().cast::<c_char>()) };
        CStr::from_bytes_until_nul(&value).map(|v| v.to_string_lossy().into_owned()).unwrap_or_default()
    };
    format!("{} {}", property(c"ro.product.manufacturer"), property(c"ro.product.model"))
        .trim_ascii()
        .to_owned()
}

#[cfg(not(target_os = "android"))]
fn device() -> String {
    String::new()
}
