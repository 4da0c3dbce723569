//! Reads of our own memory that cannot fault.
//!
//! Discovery and naming follow pointers, and after a wrong guess a pointer may be invalid. `process_vm_readv`
//! on the own process returns `EFAULT` where a load would end the app. The kernel allows it to every thread
//! of the same thread group under any security policy (`__ptrace_may_access` returns early). It is called by
//! number: bionic has a function for it only since API 23, and a library that imports that function would not
//! load on older versions. Kernels built without `CONFIG_CROSS_MEMORY_ATTACH` do not have it; there a `write`
//! to a pipe returns `EFAULT` as well.

use std::io;
use std::mem::{MaybeUninit, size_of};
use std::os::fd::{AsRawFd as _, FromRawFd as _, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};

/// Plain words, for which every bit pattern is a valid value.
///
/// # Safety
/// Implementors have no padding and no invalid bit patterns.
pub(crate) unsafe trait Plain: Copy {}
// SAFETY: integers have no padding and every bit pattern is a value.
unsafe impl Plain for u8 {}
// SAFETY: as above.
unsafe impl Plain for u16 {}
// SAFETY: as above.
unsafe impl Plain for u32 {}
// SAFETY: as above.
unsafe impl Plain for u64 {}
// SAFETY: as above.
unsafe impl Plain for usize {}
// SAFETY: an array of plain elements has no padding between them.
unsafe impl<T: Plain, const N: usize> Plain for [T; N] {}

/// Size of a pointer of this process, the `P` of the layout notes.
pub(crate) const WORD: usize = size_of::<usize>();

/// The address behind a pointer value.
///
/// On arm64 the top byte is not part of the address (top-byte-ignore): heap pointers have a tag there since
/// Android 11. A tagged address must be neither compared nor passed to the kernel.
#[inline]
pub(crate) fn address(pointer: usize) -> usize {
    if cfg!(target_arch = "aarch64") { pointer & (usize::MAX >> 8) } else { pointer }
}

/// Whether two pointer values mean the same place.
#[inline]
pub(crate) fn same(a: usize, b: usize) -> bool {
    address(a) == address(b)
}

/// The smallest size of a memory page, in bytes.
const PAGE: usize = 4096;

/// Set when the kernel does not have `process_vm_readv`, or a filter of the process refuses it.
static NO_CALL: AtomicBool = AtomicBool::new(false);

/// Whether own memory can be read at all.
pub(crate) fn is_readable() -> bool {
    let here = WORD;
    read_word(&raw const here as usize) == Some(here)
}

/// Copies bytes from `from` into `into`; returns how many could be read before the first fault.
pub(crate) fn read_into(from: usize, into: &mut [u8]) -> usize {
    if from == 0 || into.is_empty() {
        return 0;
    }
    if !NO_CALL.load(Ordering::Relaxed) {
        match read_by_call(from, into) {
            Err(libc::ENOSYS | libc::EPERM) => NO_CALL.store(true, Ordering::Relaxed),
            read => return read.unwrap_or(0),
        }
    }
    read_by_pipe(address(from), into)
}

/// Reads by one system call; returns the error's number when nothing was read.
fn read_by_call(from: usize, into: &mut [u8]) -> Result<usize, libc::c_int> {
    let local = libc::iovec { iov_base: into.as_mut_ptr().cast(), iov_len: into.len() };
    let remote = libc::iovec { iov_base: address(from) as *mut libc::c_void, iov_len: into.len() };
    let (one, no_flags): (libc::c_ulong, libc::c_ulong) = (1, 0);
    // SAFETY: `local` covers exactly the exclusive slice; the kernel validates the remote side.
    let n = unsafe {
        let (call, own) = (libc::SYS_process_vm_readv, libc::getpid());
        libc::syscall(call, own, &raw const local, one, &raw const remote, one, no_flags)
    };
    usize::try_from(n).map_err(|_| io::Error::last_os_error().raw_os_error().unwrap_or(0))
}

/// Reads through a pipe that only this call uses, so that nothing is shared and no lock is needed. Page by
/// page, because a `write` that faults does not report how far it came.
fn read_by_pipe(from: usize, into: &mut [u8]) -> usize {
    let mut ends: [libc::c_int; 2] = [0; 2];
    // SAFETY: room for both ends.
    if unsafe { libc::syscall(libc::SYS_pipe2, ends.as_mut_ptr(), libc::O_CLOEXEC) } != 0 {
        return 0;
    }
    // SAFETY: both were just opened, and nothing else has them.
    let [reader, writer] = ends.map(|fd| unsafe { OwnedFd::from_raw_fd(fd) });
    let mut done = 0;
    while let Some(rest) = into.get_mut(done..).filter(|rest| !rest.is_empty()) {
        let Some(at) = from.checked_add(done) else { break };
        let len = rest.len().min(PAGE - at % PAGE);
        // SAFETY: the kernel validates what it reads; what it writes is within the exclusive slice. The pipe
        // is empty before and after, so neither call waits.
        let copied = unsafe {
            libc::write(writer.as_raw_fd(), at as *const libc::c_void, len) == len as isize
                && libc::read(reader.as_raw_fd(), rest.as_mut_ptr().cast(), len) == len as isize
        };
        if !copied {
            break;
        }
        done += len;
    }
    done
}

/// Reads a plain value; `None` unless all of its memory is readable.
pub(crate) fn read<T: Plain>(from: usize) -> Option<T> {
    let mut value = MaybeUninit::<T>::zeroed();
    // SAFETY: the slice covers the zeroed value; `Plain` has no padding, so all its bytes are initialised.
    let bytes = unsafe { std::slice::from_raw_parts_mut(value.as_mut_ptr().cast::<u8>(), size_of::<T>()) };
    if read_into(from, bytes) != size_of::<T>() {
        return None;
    }
    // SAFETY: every byte was initialised (zeroed, then read) and every bit pattern of `Plain` is a value.
    Some(unsafe { value.assume_init() })
}

/// Reads one pointer-sized word.
pub(crate) fn read_word(from: usize) -> Option<usize> {
    read::<usize>(from)
}

/// Reads `into.len()` words starting at `from`; returns how many whole words could be read.
pub(crate) fn read_words(from: usize, into: &mut [usize]) -> usize {
    let len = size_of_val(into);
    // SAFETY: a slice of usize is a slice of plain bytes of that length; the borrow is exclusive.
    let bytes = unsafe { std::slice::from_raw_parts_mut(into.as_mut_ptr().cast::<u8>(), len) };
    read_into(from, bytes) / WORD
}

/// Reads a string that ends with a zero byte, at most `limit` bytes of it.
///
/// `None` where the memory is not readable or no end is found within the limit.
pub(crate) fn read_c_str(from: usize, limit: usize) -> Option<Vec<u8>> {
    let mut text = Vec::new();
    let mut chunk = [0u8; 96];
    while text.len() < limit {
        let n = read_into(from.checked_add(text.len())?, &mut chunk);
        let part = chunk.get(..n)?;
        if let Some(end) = part.iter().position(|b| *b == 0) {
            text.extend_from_slice(part.get(..end)?);
            return (text.len() <= limit).then_some(text);
        }
        if n == 0 {
            return None;
        }
        text.extend_from_slice(part);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_is_there() {
        let words = [1usize, 2, 3];
        let at = words.as_ptr() as usize;
        assert_eq!(read::<[usize; 3]>(at), Some(words));
        assert_eq!(read_word(at + WORD), Some(2));
        let mut out = [0usize; 2];
        assert_eq!(read_words(at, &mut out), 2);
        assert_eq!(out, [1, 2]);
    }

    #[test]
    fn a_wild_pointer_is_an_answer_not_a_crash() {
        assert_eq!(read_word(0), None);
        assert_eq!(read_word(8), None);
        assert_eq!(read_word(usize::MAX - 3), None);
        let mut out = [7u8; 4];
        assert_eq!(read_into(0x10, &mut out), 0);
    }

    #[test]
    fn a_pipe_reads_what_the_call_reads() {
        let bytes: Vec<u8> = (0..3 * PAGE).map(|at| (at % 251) as u8).collect();
        let at = bytes.as_ptr() as usize;
        let mut read = vec![0; bytes.len()];
        assert_eq!(read_by_pipe(at, &mut read), bytes.len());
        assert_eq!(read, bytes);
        for wild in [8, usize::MAX - 3] {
            assert_eq!(
                (read_by_pipe(wild, &mut read), read_by_call(wild, &mut read)),
                (0, Err(libc::EFAULT))
            );
        }
        assert!(is_readable());
    }

    #[test]
    fn a_read_across_an_unmapped_page_stops_there() {
        // SAFETY: anonymous mapping of two pages, the second made inaccessible, unmapped at the end.
        unsafe {
            let page = usize::try_from(libc::sysconf(libc::_SC_PAGESIZE)).unwrap();
            let map = libc::mmap(
                std::ptr::null_mut(),
                2 * page,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
                -1,
                0,
            );
            assert_ne!(map, libc::MAP_FAILED);
            let base = map as usize;
            assert_eq!(libc::mprotect((base + page) as *mut _, page, libc::PROT_NONE), 0);
            let mut both = vec![1; 2 * page];
            assert_eq!((read_by_pipe(base, &mut both), both[page - 1], both[page]), (page, 0, 1));
            assert_eq!(read::<u64>(base + page - 4), None);
            assert_eq!(read::<u32>(base + page - 4), Some(0));
            std::ptr::write_bytes((base + page - 3) as *mut u8, b'x', 3);
            assert_eq!(read_c_str(base + page - 3, 64), None, "the text runs into the hole");
            std::ptr::write((base + page - 1) as *mut u8, 0);
            assert_eq!(read_c_str(base + page - 3, 64), Some(b"xx".to_vec()));
            libc::munmap(map, 2 * page);
        }
    }

    #[test]
    fn a_string_longer_than_the_limit_is_refused() {
        let text = [b'a'; 200];
        let mut bytes = text.to_vec();
        bytes.push(0);
        assert_eq!(read_c_str(bytes.as_ptr() as usize, 100), None);
        assert_eq!(read_c_str(bytes.as_ptr() as usize, 200), Some(text.to_vec()));
    }

    #[test]
    #[cfg(not(target_arch = "aarch64"))]
    fn addresses_are_whole_words_off_arm64() {
        assert!(!same(0xb400_0000_0000_1000, 0x1000));
    }

    #[test]
    #[cfg(target_arch = "aarch64")]
    fn tags_do_not_count_on_arm64() {
        assert!(same(0xb400_0000_0000_1000, 0x1000));
        let value = 5usize;
        assert_eq!(read_word((&raw const value) as usize | 0xb4 << 56), Some(5));
    }
}
