//! What executable memory is mapped at an address, for use in a signal handler: reads `/proc/self/maps` with
//! three system calls and a buffer on the stack. The linker knows it too, but takes a lock for the answer.

use super::descriptors;
use std::io;

/// The file and the offset that code was mapped from. The same numbers at the same address are the same code,
/// also when a part of the mapping got other rights and so became a separate one. Anonymous memory has no
/// file; its numbers are 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Origin {
    pub(crate) device: u64,
    pub(crate) inode: u64,
    pub(crate) position: u64,
}

/// Where the code at an address comes from; `None` when nothing executable is mapped there.
/// Async-signal-safe. Takes some milliseconds in a process with thousands of mappings.
///
/// # Errors
/// When the kernel does not say: then it is not known whether anything is mapped there.
pub(crate) fn code_at(address: usize) -> io::Result<Option<Origin>> {
    descriptors::open(|| {
        // SAFETY: a C string; no file is made.
        let fd = unsafe { libc::open(c"/proc/self/maps".as_ptr(), libc::O_RDONLY | libc::O_CLOEXEC) };
        if fd < 0 {
            return Err(io::Error::last_os_error());
        }
        let found = search(address as u64, |buffer| {
            // SAFETY: the buffer has room for what is asked for.
            let len = unsafe { libc::read(fd, buffer.as_mut_ptr().cast(), buffer.len()) };
            usize::try_from(len).map_err(|_| io::Error::last_os_error())
        });
        // SAFETY: opened above, and given to nobody.
        unsafe { libc::close(fd) };
        found
    })
}

/// Searches the text of `/proc/self/maps`. `read` returns the text piece by piece, and 0 bytes at its end.
fn search(address: u64, mut read: impl FnMut(&mut [u8]) -> io::Result<usize>) -> io::Result<Option<Origin>> {
    let mut buffer = [0_u8; 2048];
    let mut line = Line::default();
    loop {
        let len = read(&mut buffer)?;
        if len == 0 {
            return Ok(None);
        }
        for &byte in buffer.iter().take(len) {
            if byte != b'\n' {
                line.push(byte);
                continue;
            }
            if line.has(address) {
                return Ok(line.origin(address));
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
        let code_at = |address| code_at(address).unwrap();
        let origin = code_at(function).unwrap();
        assert_eq!(origin.inode, std::fs::metadata("/proc/self/exe").unwrap().ino());
        assert_eq!(code_at(function + 1).unwrap().position, origin.position + 1);
        let local = 0_u8;
        assert_eq!(code_at((&raw const local) as usize), None);
        assert_eq!(code_at(0), None);
        assert_eq!(code_at(usize::MAX), None);
    }

    #[test]
    fn a_map_that_ends_says_no_and_one_that_cannot_be_read_says_nothing() {
        let map = b"1000-2000 r-xp 00000000 00:00 0 \n5000-6000 r--p 00000000 00:00 0 \n";
        let found = |address, fails_after: usize| {
            let (mut at, mut reads) = (0, 0);
            search(address, |buffer| {
                if reads == fails_after {
                    return Err(io::Error::from_raw_os_error(libc::ENOMEM));
                }
                reads += 1;
                let piece = map.get(at..).unwrap_or_default().iter().take(7);
                let len = piece.len();
                buffer.iter_mut().zip(piece).for_each(|(to, from)| *to = *from);
                at += len;
                Ok(len)
            })
        };
        assert!(found(0x1000, usize::MAX).unwrap().is_some());
        assert_eq!(found(0x5000, usize::MAX).unwrap(), None);
        assert_eq!(found(0x9000, usize::MAX).unwrap(), None);
        for fails_after in 0..5 {
            assert!(found(0x9000, fails_after).is_err(), "the rest of the map may have it");
        }
    }
}
