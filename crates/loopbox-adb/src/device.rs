//! The devices that adb lists, and which of them a command is for.

use anyhow::{Context, Result, bail};

/// A device that adb knows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Device {
    /// Its serial number, which adb addresses it by.
    pub serial: String,
    /// `device` when it can be used; else `unauthorized`, `offline`, …
    pub state: String,
    /// Other known properties: `model:Pixel_8`.
    pub about: String,
}

impl Device {
    /// Parses adb's list of devices: one a line, below its heading.
    pub(crate) fn list(text: &str) -> Vec<Self> {
        let device = |line: &str| {
            let mut words = line.split_whitespace();
            let (serial, state) = (words.next()?.to_owned(), words.next()?.to_owned());
            Some(Self { serial, state, about: words.collect::<Vec<_>>().join(" ") })
        };
        let below = text.lines().skip_while(|line| !line.starts_with("List of devices")).skip(1);
        below.filter_map(device).collect()
    }
}

/// The device to ask: the one with this serial number, or the only one that can be used.
///
/// # Errors
/// When there is none, or there are several and none is named.
pub fn choose<'a>(devices: &'a [Device], serial: Option<&str>) -> Result<&'a Device> {
    let usable: Vec<&Device> = devices.iter().filter(|device| device.state == "device").collect();
    let names =
        || devices.iter().map(|d| format!("{} ({})", d.serial, d.state)).collect::<Vec<_>>().join(", ");
    match (serial, usable.as_slice()) {
        (Some(serial), _) => usable.into_iter().find(|device| device.serial == serial).with_context(|| {
            format!(
                "{serial} is no device that can be used; there are: {}",
                if devices.is_empty() { "none".into() } else { names() }
            )
        }),
        (None, [only]) => Ok(only),
        (None, []) if devices.is_empty() => bail!("no device: connect one, and allow USB debugging on it"),
        (None, []) => bail!("no device can be used: {}; allow USB debugging on it", names()),
        (None, _) => bail!("there are several devices: choose one with --serial: {}", names()),
    }
}
