//! The stalls of a file one by one, each with what is known about its process.

use crate::line::{Base, Line, Stall, read_line};
use std::collections::HashMap;

/// What a file contains besides its stalls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Stalls {
    /// Lines that are cut off, damaged or of a newer version.
    pub cut_lines: u64,
    /// Whether at least one line is from the monitor.
    pub is_of_monitor: bool,
}

/// Calls `visit` for each stall of an unpacked file, in the order of the lines. A stall gets the default
/// process when no line before it describes its process. Only one stall is kept in memory at a time, because
/// a parsed stall is many times as large as its line.
///
/// # Errors
/// The first error that `visit` returns.
pub fn each_stall<E>(
    file: &[u8],
    mut visit: impl FnMut(&Stall, &Base) -> Result<(), E>,
) -> Result<Stalls, E> {
    let mut found = Stalls::default();
    let mut processes: HashMap<i64, Base> = HashMap::new();
    for line in lines(file) {
        match read_line(line) {
            None => {
                found.cut_lines += 1;
                continue;
            }
            Some(Line::Base { pid, base, .. }) => {
                // Of one app's day there are no more; of a file that says so, the others are not
                // distinguished.
                if processes.len() < MAX_PROCESSES || processes.contains_key(&pid) {
                    processes.insert(pid, base);
                }
            }
            Some(Line::Stall(stall)) => {
                visit(&stall, processes.get(&stall.pid).unwrap_or(&Base::default()))?;
            }
        }
        found.is_of_monitor = true;
    }
    Ok(found)
}

/// At most this many processes of a file are kept apart. It is far more than an app starts in a day.
const MAX_PROCESSES: usize = 10_000;

/// The lines that are not empty.
pub(crate) fn lines(file: &[u8]) -> impl Iterator<Item = &[u8]> {
    file.split(|&byte| byte == b'\n').filter(|line| !line.trim_ascii().is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::convert::Infallible;

    #[test]
    fn a_stall_goes_with_the_process_that_wrote_it() {
        let base = |pid: u32, app: &str| format!(r#"{{"v":1,"pid":{pid},"base":{{"app":"{app}"}}}}"#);
        let stall = |pid: u32| format!(r#"{{"v":1,"pid":{pid},"level":1,"wall_ms":120.0}}"#);
        let file = [
            base(7, "5.2"),
            stall(7),
            stall(8),
            String::new(),
            base(8, "5.3"),
            stall(8),
            stall(7),
            base(7, "5.4"),
            stall(7),
        ];
        let mut apps = Vec::new();
        let visit = |_: &Stall, base: &Base| {
            apps.push(base.app.clone().unwrap_or_default());
            Ok::<_, Infallible>(())
        };
        let Ok(found) = each_stall((file.join("\n") + "\n{\"v\":1,\"le").as_bytes(), visit);
        assert_eq!(apps, ["5.2", "", "5.3", "5.2", "5.4"]);
        assert_eq!(found, Stalls { cut_lines: 1, is_of_monitor: true });
        let Ok(other) = each_stall(b"{}\nnot of the monitor", |_, _| Ok::<_, Infallible>(()));
        assert!(!other.is_of_monitor);
        assert_eq!(each_stall(file[1].as_bytes(), |_, _| Err(7)), Err(7));
    }
}
