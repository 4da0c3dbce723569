//! The stalls of a file one by one, each with what is known of its process.

use crate::line::{Base, Line, Stall, read_line};
use std::collections::HashMap;
use std::rc::Rc;

/// What a file has.
#[derive(Debug, Clone, Default)]
pub struct Stalls {
    /// Its stalls in the order of their lines; the process of one of which no line says anything is the default.
    pub stalls: Vec<(Stall, Rc<Base>)>,
    /// Lines that are cut off, damaged or of a newer version.
    pub cut_lines: u64,
    /// Whether it has one line that is of the monitor.
    pub is_of_monitor: bool,
}

/// The stalls of a file, unpacked.
pub fn stalls(file: &[u8]) -> Stalls {
    let mut found = Stalls::default();
    let mut processes: HashMap<i64, Rc<Base>> = HashMap::new();
    for line in lines(file) {
        match read_line(line) {
            None => {
                found.cut_lines += 1;
                continue;
            }
            Some(Line::Base { pid, base, .. }) => {
                processes.insert(pid, Rc::new(base));
            }
            Some(Line::Stall(stall)) => {
                let base = processes.entry(stall.pid).or_default();
                found.stalls.push((*stall, Rc::clone(base)));
            }
        }
        found.is_of_monitor = true;
    }
    found
}

/// The lines that have anything.
pub(crate) fn lines(file: &[u8]) -> impl Iterator<Item = &[u8]> {
    file.split(|&byte| byte == b'\n').filter(|line| !line.trim_ascii().is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let found = stalls((file.join("\n") + "\n{\"v\":1,\"le").as_bytes());
        let apps: Vec<_> = found.stalls.iter().map(|(_, base)| base.app.as_deref()).collect();
        assert_eq!(apps, [Some("5.2"), None, Some("5.3"), Some("5.2"), Some("5.4")]);
        assert_eq!((found.cut_lines, found.is_of_monitor), (1, true));
        assert!(!stalls(b"{}\nnot of the monitor").is_of_monitor);
    }
}
