//! Heap pages that the collector fills on demand.
//!
//! ART's compacting collector (14 and newer, `MarkCompact`) moves objects while the app runs. A heap page
//! that the collector has not filled yet is missing. A load from it ends in SIGBUS, which ART's handler
//! answers by filling the page (`UFFD_FEATURE_SIGBUS`, 14.0.0_r1:runtime/gc/collector/mark_compact.cc). The
//! kernel's copy by `process_vm_readv` raises no signal and returns `EFAULT`. Then the calling thread touches
//! the page by a load, as Java code would do, and copies again. Only a runnable thread does that, only for an
//! address in the heap that the collector moves, and only in processes where the collector fills pages like
//! this. Elsewhere `EFAULT` means that the memory is not readable.

use std::fs;

use crate::sys::{maps, mem};

/// The beginning of the kernel's name for the heap in which objects are moved, where the kernel names
/// anonymous memory.
const HEAP: &str = "[anon:dalvik-main space";

/// The address range whose pages are filled on demand; empty by default.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Served {
    begin: usize,
    end: usize,
}

impl Served {
    /// Finds the heap, if pages are filled on demand in this process. The heap does not move.
    pub(crate) fn of_this_process() -> Served {
        let Ok(descriptors) = fs::read_dir("/proc/self/fd") else { return Self::default() };
        for descriptor in descriptors.flatten() {
            let link = fs::read_link(descriptor.path());
            if link.is_ok_and(|link| link.as_os_str() == "anon_inode:[userfaultfd]") {
                return Self::heap(&maps::of_self().unwrap_or_default());
            }
        }
        Self::default()
    }

    /// The heap's first stretch of memory that can be read.
    fn heap(maps: &[maps::Mapping]) -> Served {
        let mut of_heap = maps.iter().filter(|map| map.read && map.path.starts_with(HEAP));
        let Some(first) = of_heap.next() else { return Self::default() };
        let mut end = first.end;
        for next in of_heap {
            if next.start == end {
                end = next.end;
            }
        }
        Served { begin: first.start, end }
    }

    /// Makes the collector fill the page that contains the address `at`. Returns false, and does nothing,
    /// when the collector fills no page there on demand.
    pub(crate) fn touch(&self, at: usize) -> bool {
        let at = mem::address(at);
        let served = (self.begin..self.end).contains(&at);
        if served {
            // SAFETY: within the heap, which is mapped for reading as long as the process lives; a missing
            // page is filled by ART's handler, which this runnable thread may wait for.
            unsafe { std::ptr::read_volatile(at as *const u8) };
        }
        served
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicI32, AtomicUsize, Ordering};

    const PAGE: usize = 4096;
    static USERFAULTFD: AtomicI32 = AtomicI32::new(-1);
    static MISSING: AtomicUsize = AtomicUsize::new(0);
    static FULL: [u8; PAGE] = [0x5a; PAGE];

    const UFFDIO_API: libc::c_ulong = 0xc018_aa3f;
    const UFFDIO_REGISTER: libc::c_ulong = 0xc020_aa00;
    const UFFDIO_COPY: libc::c_ulong = 0xc028_aa03;
    const FEATURE_SIGBUS: u64 = 1 << 7;
    const USER_MODE_ONLY: libc::c_int = 1;
    const MODE_MISSING: u64 = 1;

    /// Simulates ART's handler.
    extern "C" fn fill(_: libc::c_int) {
        let mut copy = [MISSING.load(Ordering::SeqCst) as u64, FULL.as_ptr() as u64, PAGE as u64, 0, 0];
        // SAFETY: the request's structure of five words; async-signal-safe.
        unsafe { libc::ioctl(USERFAULTFD.load(Ordering::SeqCst), UFFDIO_COPY as _, copy.as_mut_ptr()) };
    }

    /// A missing page, as the collector leaves it; `None` where the kernel does not allow the process
    /// `userfaultfd`.
    fn missing_page() -> Option<usize> {
        // SAFETY: an anonymous page, requests with structures of their sizes, a handler that does one system
        // call.
        unsafe {
            let descriptor =
                libc::syscall(libc::SYS_userfaultfd, libc::O_CLOEXEC | USER_MODE_ONLY) as libc::c_int;
            let mut api = [0xaa, FEATURE_SIGBUS, 0];
            if descriptor < 0 || libc::ioctl(descriptor, UFFDIO_API as _, api.as_mut_ptr()) != 0 {
                return None;
            }
            let (protection, flags) =
                (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
            let page = libc::mmap(std::ptr::null_mut(), PAGE, protection, flags, -1, 0);
            let mut register = [page as u64, PAGE as u64, MODE_MISSING, 0];
            assert_eq!(libc::ioctl(descriptor, UFFDIO_REGISTER as _, register.as_mut_ptr()), 0);
            USERFAULTFD.store(descriptor, Ordering::SeqCst);
            MISSING.store(page as usize, Ordering::SeqCst);
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = fill as *const () as usize;
            assert_eq!(libc::sigaction(libc::SIGBUS, &raw const action, std::ptr::null_mut()), 0);
            Some(page as usize)
        }
    }

    #[test]
    fn a_page_that_is_missing_is_served_and_then_read() {
        let Some(page) = missing_page() else {
            println!("left out: this process may not use userfaultfd");
            return;
        };
        let at = page + 64;
        assert_eq!(mem::read::<u32>(at), None, "the kernel's copy raises no signal");
        assert!(!Served::default().touch(at), "not where nothing is served");
        let served = Served { begin: page, end: page + PAGE };
        assert!(!served.touch(page + PAGE) && !served.touch(page - 1) && !served.touch(0));
        assert!(served.touch(at));
        assert_eq!(mem::read::<u32>(at), Some(0x5a5a_5a5a));
    }

    #[test]
    fn the_heap_is_found_by_its_name() {
        let maps = maps::parse(
            "12c00000-12c80000 rw-p 00000000 00:00 0      [anon:dalvik-main space (region space)]\n\
             12c80000-14c00000 rw-p 00000000 00:00 0      [anon:dalvik-main space (region space)]\n\
             14c00000-15c00000 ---p 00000000 00:00 0      [anon:dalvik-main space (region space)]\n\
             70000000-71000000 rw-p 00000000 00:00 0      [anon:dalvik-non moving space]\n",
        );
        assert_eq!(Served::heap(&maps), Served { begin: 0x12c0_0000, end: 0x14c0_0000 });
        assert_eq!(Served::heap(&maps[3..]), Served::default());
    }
}
