//! The name of an app's process, which the system sets before any code of the app runs
//! (`AndroidRuntime::setArgv0`).

use anyhow::{Context, Result, ensure};
use std::ptr;

/// Names the process: writes the name over the arguments that the process was started with. On a device the
/// name is in the same place, and an app's process has no arguments.
///
/// # Errors
/// When the name is longer than the arguments, or the kernel does not report their addresses.
pub(crate) fn set(name: &str) -> Result<()> {
    let stat = std::fs::read_to_string("/proc/self/stat").context("cannot read /proc/self/stat")?;
    let (start, end) = arguments(&stat).context("/proc/self/stat has no addresses of the arguments")?;
    let room = end.checked_sub(start).context("the arguments end before they begin")?;
    ensure!(name.len() < room, "{name} is longer than the arguments of the process");
    let at = ptr::with_exposed_provenance_mut::<u8>(start);
    // SAFETY: the kernel has the arguments there, in memory that the process may write; no other thread is
    // there yet, and this program has copied what it needs.
    unsafe {
        ptr::write_bytes(at, 0, room);
        ptr::copy_nonoverlapping(name.as_ptr(), at, name.len());
    }
    Ok(())
}

/// Where the arguments begin and end, by the text of `/proc/self/stat`: its fields 48 and 49.
fn arguments(stat: &str) -> Option<(usize, usize)> {
    // Field 2 is the program's name in brackets, which may have blanks and brackets in it.
    let (_, rest) = stat.rsplit_once(')')?;
    let mut fields = rest.split_whitespace().skip(48 - 3);
    let mut next = || fields.next()?.parse().ok();
    Some((next()?, next()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_addresses_behind_a_name_with_brackets() {
        let fields: Vec<String> = (4..=52).map(|field| (field * 100).to_string()).collect();
        let stat = format!("17 (a) b) R {}", fields.join(" "));
        assert_eq!(arguments(&stat), Some((4800, 4900)));
        assert_eq!(arguments("17 (a) R 1 2"), None);
    }

    #[test]
    fn refuses_a_name_that_has_no_room() {
        let message = set(&"long".repeat(100_000)).unwrap_err().to_string();
        assert!(message.ends_with("is longer than the arguments of the process"), "{message}");
    }
}
