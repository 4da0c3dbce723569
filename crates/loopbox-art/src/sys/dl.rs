//! The dynamic linker. A thread that loads a library holds the linker's lock, also while the library's
//! constructors run. Other threads that call the linker wait until the library is loaded.

use std::ffi::{c_int, c_void};
use std::mem::ManuallyDrop;
use std::ops::Range;

use dlopen2::raw::Library;

/// The address ranges of the ELF notes of the loaded object that contains `address`.
///
/// This takes a few microseconds, but waits for as long as another thread loads a library. So it is called
/// once, at the installation, by the thread that has just loaded this library.
pub(crate) fn notes_at(address: usize) -> Vec<Range<usize>> {
    struct Search {
        address: usize,
        notes: Vec<Range<usize>>,
    }
    /// # Safety
    /// Called by `dl_iterate_phdr` with a valid info and the `Search` passed to it.
    unsafe extern "C" fn visit(info: *mut libc::dl_phdr_info, _size: usize, data: *mut c_void) -> c_int {
        // SAFETY: the linker passes a valid info; `data` is the `Search` below, which outlives the call.
        let (info, search) = unsafe { (&*info, &mut *data.cast::<Search>()) };
        if info.dlpi_phdr.is_null() {
            return 0;
        }
        // SAFETY: the linker gives `dlpi_phnum` program headers at `dlpi_phdr`.
        let headers = unsafe { std::slice::from_raw_parts(info.dlpi_phdr, usize::from(info.dlpi_phnum)) };
        let ranges = |kind: u32| {
            headers.iter().filter(move |header| header.p_type == kind).map(|header| {
                let start = (info.dlpi_addr as usize).wrapping_add(header.p_vaddr as usize);
                start..start.wrapping_add(header.p_memsz as usize)
            })
        };
        if !ranges(libc::PT_LOAD).any(|range| range.contains(&search.address)) {
            return 0;
        }
        search.notes = ranges(libc::PT_NOTE).collect();
        1
    }
    let mut search = Search { address: super::mem::address(address), notes: Vec::new() };
    // SAFETY: `visit` matches the callback's type and is given the live `search`.
    unsafe { libc::dl_iterate_phdr(Some(visit), (&raw mut search).cast()) };
    search.notes
}

/// A library that is loaded already, opened again without loading anything.
///
/// Android refuses `dlopen` of a system library to apps since version 7. On some devices the linker returns
/// the address of a stub. So the caller must check that an address is inside the module (see `elf`).
pub(crate) struct OpenLibrary {
    // Never closed: the library stays loaded anyway, and dlopen2 panics when dlclose fails.
    library: ManuallyDrop<Library>,
}

impl OpenLibrary {
    /// Opens by path with `RTLD_NOLOAD`.
    pub(crate) fn open(path: &str) -> Option<OpenLibrary> {
        let flags = libc::RTLD_NOW | libc::RTLD_NOLOAD;
        let library = Library::open_with_flags(path, Some(flags)).ok()?;
        Some(OpenLibrary { library: ManuallyDrop::new(library) })
    }

    /// Address of an exported symbol.
    pub(crate) fn symbol(&self, name: &str) -> Option<usize> {
        // SAFETY: only the address is taken; its meaning is the caller's, who checks where it points.
        let found: Result<*const c_void, _> = unsafe { self.library.symbol(name) };
        found.ok().map(|p| p as usize).filter(|p| *p != 0)
    }
}

/// The file that an address is in, and where it begins in memory, according to the linker.
#[cfg(test)]
pub(crate) fn linkers_answer(address: usize) -> (String, usize) {
    let mut info = libc::Dl_info {
        dli_fname: std::ptr::null(),
        dli_fbase: std::ptr::null_mut(),
        dli_sname: std::ptr::null(),
        dli_saddr: std::ptr::null_mut(),
    };
    // SAFETY: the address of code of this process, and a struct to fill.
    assert_ne!(unsafe { libc::dladdr(address as *const c_void, &raw mut info) }, 0);
    // SAFETY: the linker's names are zero-terminated and live as long as the object is loaded.
    let name = unsafe { std::ffi::CStr::from_ptr(info.dli_fname) };
    (name.to_str().unwrap().to_owned(), info.dli_fbase as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_library_that_is_loaded_is_opened_again() {
        let (name, _) = linkers_answer(libc::getpid as *const () as usize);
        let library = OpenLibrary::open(&name).unwrap();
        assert_eq!(library.symbol("getpid"), Some(libc::getpid as *const () as usize));
        assert_eq!(library.symbol("no_such_symbol_of_ours"), None);
        assert!(OpenLibrary::open("libdoesnotexist.so.7").is_none(), "a lookup loads nothing");
    }

    #[test]
    fn what_lies_in_no_library_has_no_notes() {
        assert!(!notes_at(libc::getpid as *const () as usize).is_empty());
        assert!(notes_at(8).is_empty());
    }
}
