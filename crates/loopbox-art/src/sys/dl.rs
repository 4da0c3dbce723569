//! The dynamic linker: what is loaded and where, and plain look-up where the linker allows it.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::mem::ManuallyDrop;

use dlopen2::raw::Library;

/// One loaded object as the linker reports it.
#[derive(Debug, Clone)]
pub(crate) struct LoadedObject {
    /// The linker's name for it: a path, or `/path/x.apk!/lib/arm64-v8a/y.so` inside an archive.
    pub(crate) name: String,
    /// What is added to the addresses in the file to get those in memory.
    pub(crate) load_bias: usize,
    /// Its loadable segments.
    pub(crate) segments: Vec<Segment>,
    /// Address ranges of its note segments, in memory.
    pub(crate) notes: Vec<(usize, usize)>,
}

/// A loadable segment.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Segment {
    /// First address in memory.
    pub(crate) start: usize,
    /// First address after it.
    pub(crate) end: usize,
    /// Position of its first byte in the ELF file.
    pub(crate) file_offset: u64,
}

impl LoadedObject {
    /// Whether an address lies in one of the segments.
    pub(crate) fn contains(&self, address: usize) -> bool {
        self.segments.iter().any(|s| (s.start..s.end).contains(&address))
    }
}

/// The loaded object that holds `address`.
///
/// On Android this lists every library of the process whatever the linker namespace of the caller,
/// which `dlopen` does not.
pub(crate) fn object_at(address: usize) -> Option<LoadedObject> {
    struct Search {
        address: usize,
        found: Option<LoadedObject>,
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
        let bias = info.dlpi_addr as usize;
        let range =
            |vaddr: usize, len: usize| (bias.wrapping_add(vaddr), bias.wrapping_add(vaddr).wrapping_add(len));
        let mut object = LoadedObject {
            name: text(info.dlpi_name),
            load_bias: bias,
            segments: Vec::new(),
            notes: Vec::new(),
        };
        for header in headers {
            let (start, end) = range(header.p_vaddr as usize, header.p_memsz as usize);
            match header.p_type {
                libc::PT_LOAD => {
                    object.segments.push(Segment { start, end, file_offset: file_offset(header) });
                }
                libc::PT_NOTE => object.notes.push((start, end)),
                _ => {}
            }
        }
        if object.contains(search.address) {
            search.found = Some(object);
            return 1;
        }
        0
    }
    let mut search = Search { address: super::mem::address(address), found: None };
    // SAFETY: `visit` matches the callback's type and is given the live `search`.
    unsafe { libc::dl_iterate_phdr(Some(visit), (&raw mut search).cast()) };
    search.found
}

#[cfg(target_pointer_width = "64")]
fn file_offset(header: &libc::Elf64_Phdr) -> u64 {
    header.p_offset
}

#[cfg(target_pointer_width = "32")]
fn file_offset(header: &libc::Elf32_Phdr) -> u64 {
    header.p_offset.into()
}

fn text(name: *const c_char) -> String {
    if name.is_null() {
        return String::new();
    }
    // SAFETY: the linker's names are zero-terminated and live as long as the object is loaded.
    unsafe { CStr::from_ptr(name) }.to_string_lossy().into_owned()
}

/// A library that is loaded already, opened again without loading anything.
///
/// `dlopen` of a system library is refused to apps since Android 7, and gives a stub on some devices,
/// so the caller must check that an answer lies inside the module (see `elf`).
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_c_library_by_an_address() {
        let address = libc::getpid as *const () as usize;
        let object = object_at(address).unwrap();
        assert!(object.name.contains("libc"), "{}", object.name);
        assert!(object.contains(address));
        let library = OpenLibrary::open(&object.name).unwrap();
        assert_eq!(library.symbol("getpid"), Some(address));
        assert_eq!(library.symbol("no_such_symbol_of_ours"), None);
    }

    #[test]
    fn nothing_is_loaded_by_looking() {
        assert!(OpenLibrary::open("libdoesnotexist.so.7").is_none());
        assert!(object_at(8).is_none());
    }
}
