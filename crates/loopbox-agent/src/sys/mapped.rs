//! What executable memory is mapped at an address, for use in a signal handler: reads `/proc/self/maps` with
//! three system calls and a buffer on the stack. The linker knows it too, but takes a lock for the answer.

use std::os::fd::RawFd;

/// The file and the offset that code was mapped from. The same numbers at the same address are the same code,
/// also when a part of the mapping got other rights and so became a separate one. Anonymous memory has no
/// file; its numbers are 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Origin {
    pub(crate) device: u64,
    pub(crate) inode: u64,
    pub(crate) position: u64,
}

/// Where the code at an address comes from; `None` when nothing executable is mapped there, or the kernel
/// does not say. Async-signal-safe. Takes some milliseconds in a process with thousands of mappings.
pub(crate) fn code_at(address: usize) -> Option<Origin> {
    // SAFETY: a C string; no file is made.
    let fd = unsafe { libc::open(c"/proc/self/maps".as_ptr(), libc::O_RDONLY | libc::O_CLOEXEC) };
    if fd < 0 {
        return None;
    }
    let found = search(fd, address as u64);
    // SAFETY: opened above, and given to nobody.
    unsafe { libc::close(fd) };
    found
}

fn search(fd: RawFd, address: u64) -> Option<Origin> {
    let mut buffer = [0_u8; 2048];
    let mut line = Line::default();
    loop {
        // SAFETY: the buffer has room for what is asked for.
        let len = unsafe { libc::read(fd, buffer.as_mut_ptr().cast(), buffer.len()) };
        let read = usize::try_from(len).ok().filter(|&len| len > 0).and_then(|len| buffer.get(..len))?;
        for &byte in read {
            if byte != b'\n' {
                line.push(byte);
                continue;
            }
            if line.has(address) {
                return line.origin(address);
            }
            line = Line::default();
        }
    }
}

/// What was read so far of a line `start-end rights position device inode path`.
#[derive(Default)]
struct Line {
    field: u32,
    start: u64,
    end: u64,
    executable: bool,
    position: u64,
    device: u64,
    inode: u64,
}

impl Line {
    fn push(&mut self, byte: u8) {
        let (number, radix) = match self.field {
            0 => (&mut self.start, 16),
            1 => (&mut self.end, 16),
            3 => (&mut self.position, 16),
            // Two numbers with a colon, which is no digit.
            4 => (&mut self.device, 16),
            5 => (&mut self.inode, 10),
            field => {
                self.executable |= field == 2 && byte == b'x';
                self.field += u32::from(field == 2 && byte == b' ');
                return;
            }
        };
        match char::from(byte).to_digit(radix) {
            Some(digit) => *number = number.wrapping_mul(radix.into()).wrapping_add(digit.into()),
            None => self.field += u32::from(byte != b':'),
        }
    }

    fn has(&self, address: u64) -> bool {
        (self.start..self.end).contains(&address)
    }

    fn origin(&self, address: u64) -> Option<Origin> {
        let from_file = u64::from(self.inode != 0);
        let position = (address - self.start).wrapping_add(self.position) * from_file;
        let origin = Origin { device: self.device, inode: self.inode, position };
        self.executable.then_some(origin)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::MetadataExt;

    fn of(line: &str, address: u64) -> Option<Origin> {
        let mut read = Line::default();
        line.bytes().for_each(|byte| read.push(byte));
        read.has(address).then(|| read.origin(address))?
    }

    #[test]
    fn a_line_says_from_where_in_which_file() {
        let line = "7f10002000-7f10005000 r-xp 00001000 fd:01 1234567                /data/app/a b/lib x.so";
        let at = |position| Some(Origin { device: 0xfd01, inode: 1_234_567, position });
        assert_eq!(of(line, 0x7f_1000_2000), at(0x1000));
        assert_eq!(of(line, 0x7f_1000_4fff), at(0x3fff));
        assert_eq!(of(line, 0x7f_1000_1fff), None);
        assert_eq!(of(line, 0x7f_1000_5000), None);
        assert_eq!(of(&line.replace("r-xp", "r--p"), 0x7f_1000_2000), None, "nothing to call");
        let jit = "5000-6000 r-xp 00000000 00:00 0 ";
        assert_eq!(of(jit, 0x5abc), Some(Origin { device: 0, inode: 0, position: 0 }));
    }

    #[test]
    fn code_of_this_program_is_found_and_data_is_not() {
        let function = code_of_this_program_is_found_and_data_is_not as fn() as usize;
        let origin = code_at(function).unwrap();
        assert_eq!(origin.inode, std::fs::metadata("/proc/self/exe").unwrap().ino());
        assert_eq!(code_at(function + 1).unwrap().position, origin.position + 1);
        let local = 0_u8;
        assert_eq!(code_at((&raw const local) as usize), None);
        assert_eq!(code_at(0), None);
        assert_eq!(code_at(usize::MAX), None);
    }
}
