//! Which process a ring belongs to.

use loopbox_format::model::ClockPair;
use loopbox_format::text::number;
use std::fmt::{self, Write as _};

/// The build id of a library (the content of its ELF note), up to 31 bytes.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub struct BuildId {
    len: u8,
    bytes: [u8; 31],
}

impl BuildId {
    /// Keeps the first 31 bytes of `id`; a linker writes 8 to 20.
    pub fn new(id: &[u8]) -> Self {
        let mut bytes = [0; 31];
        bytes.iter_mut().zip(id).for_each(|(to, from)| *to = *from);
        Self { len: id.len().min(31) as u8, bytes }
    }

    /// The kept bytes; none when the id is unknown.
    pub fn as_bytes(&self) -> &[u8] {
        self.bytes.get(..usize::from(self.len)).unwrap_or_default()
    }

    /// The id's form in a file: its length, then its bytes.
    pub(crate) fn to_raw(self) -> [u8; 32] {
        let mut raw = [0; 32];
        raw.iter_mut().zip(core::iter::once(self.len).chain(self.bytes)).for_each(|(to, from)| *to = from);
        raw
    }

    pub(crate) fn from_raw(raw: [u8; 32]) -> Self {
        let [len, bytes @ ..] = raw;
        Self { len: len.min(31), bytes }
    }
}

impl fmt::Display for BuildId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_bytes().iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for BuildId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "BuildId({self})")
    }
}

/// The process that a ring belongs to, and what a reader needs in order to interpret the ring.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Identity {
    /// Process id.
    pub pid: u32,
    /// When the process started, in clock ticks since boot: field 22 of `/proc/self/stat`. Together with the
    /// pid and the boot id it identifies one process for ever. 0 when it could not be read.
    pub start_ticks: u64,
    /// `/proc/sys/kernel/random/boot_id`; zeros when it could not be read.
    pub boot_id: [u8; 16],
    /// One instant on two clocks: uptime and wall clock.
    pub clocks: ClockPair,
    /// The build id of the libart in this process.
    pub libart: BuildId,
    /// The build id of the recorder's own library.
    pub recorder: BuildId,
}

impl Identity {
    /// The calling process, as far as it is known without reading a file;
    /// [`Mirror::attach`](crate::Mirror::attach) adds the rest. The build ids are left empty, because only
    /// the caller knows the libraries.
    pub fn of_this_process(clocks: ClockPair) -> Self {
        Self { pid: std::process::id(), clocks, ..Self::default() }
    }

    /// This identity, completed with the process's start and the boot id where these are unknown.
    pub(crate) fn completed(self) -> Self {
        let Self { start_ticks: ticks, boot_id: id, .. } = self;
        Self {
            start_ticks: if ticks == 0 { start_ticks().unwrap_or_default() } else { ticks },
            boot_id: if id == [0; 16] { boot_id().unwrap_or_default() } else { id },
            ..self
        }
    }

    /// The name of this process's ring file; `nth` counts the rings of one process.
    pub(crate) fn file_name(&self, nth: u32) -> String {
        let mut name = String::from("ring-");
        for byte in self.boot_id.iter().take(4) {
            let _ = write!(name, "{byte:02x}");
        }
        let _ = write!(name, "-{}-{}", self.pid, self.start_ticks);
        if nth > 0 {
            let _ = write!(name, "-{nth}");
        }
        name.push_str(".lbr");
        name
    }
}

/// When the calling process started, in clock ticks since boot; `None` when it cannot be read. Reads a file.
pub fn start_ticks() -> Option<u64> {
    let stat = std::fs::read("/proc/self/stat").ok()?;
    // The second field is the thread's name in parentheses and may hold spaces and parentheses itself.
    let after_name = stat.iter().rposition(|&byte| byte == b')')?;
    let rest = std::str::from_utf8(stat.get(after_name + 1..)?).ok()?;
    // What follows begins with field 3.
    number(rest.split_ascii_whitespace().nth(22 - 3)?)
}

fn boot_id() -> Option<[u8; 16]> {
    let text = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    let digits: Vec<u8> = text.chars().filter_map(|c| c.to_digit(16)).map(|digit| digit as u8).collect();
    let mut id = [0; 16];
    let bytes = digits.chunks_exact(2).map(|pair| pair.iter().fold(0, |byte, digit| byte << 4 | digit));
    (digits.len() == 32).then(|| id.iter_mut().zip(bytes).for_each(|(to, from)| *to = from))?;
    Some(id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_has_a_distinct_name() {
        let identity = Identity::of_this_process(ClockPair::default()).completed();
        assert_ne!(identity.start_ticks, 0);
        assert_ne!(identity.boot_id, [0; 16]);
        assert_eq!(identity.completed(), identity);
        let name = identity.file_name(0);
        assert_eq!((name.get(..5), name.rsplit_once('.').map(|(_, end)| end)), (Some("ring-"), Some("lbr")));
        assert!(name.contains(&format!("-{}-", std::process::id())), "{name}");
        assert_ne!(name, identity.file_name(1));
    }

    #[test]
    fn a_build_id_is_kept_up_to_its_bound() {
        assert_eq!(BuildId::new(&[0xAB, 1]).to_string(), "ab01");
        assert_eq!(BuildId::new(&[7; 40]).as_bytes(), [7; 31]);
    }
}
