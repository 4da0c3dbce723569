//! The ART module of this process: which file it is, where it is mapped, and its symbols.

use crate::elf::{self, Image, SymbolSource, build_id_in_notes};
use crate::off::Off;
use crate::sys::dl::{self, LoadedObject, OpenLibrary};
use crate::sys::file::FileView;
use crate::sys::maps::{self, Mapping};
use crate::sys::mem;

/// A module that is mapped here, and the file it came from.
pub(crate) struct Module {
    object: LoadedObject,
    file: FileView,
    path: String,
    build_id: Option<Vec<u8>>,
}

/// An address in memory and the table it was found in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Found {
    pub address: usize,
    pub source: SymbolSource,
}

impl Module {
    /// The module that holds `address` (a function of ART).
    ///
    /// Found by address, not by name: Debian calls it `libart.so.0`, devices have had stubs called
    /// `libart.so` in `fake-libs`, and inside an APEX or APK the name is the archive's.
    pub(crate) fn holding(address: usize) -> Result<Module, Off> {
        let object =
            dl::object_at(address).ok_or(Off::NoModule("no loaded object holds the JavaVM's functions"))?;
        let maps = maps::of_self().map_err(|_| Off::NoModule("/proc/self/maps is not readable"))?;
        let home = home(&maps, &object, address)?;
        let unreadable = |why| Off::ModuleUnreadable { path: home.path.clone(), why };
        if home.deleted {
            return Err(unreadable("the file was replaced since it was loaded"));
        }
        let file = FileView::open(&home.path, home.elf_offset).map_err(|_| unreadable("cannot be mapped"))?;
        let image = Image::parse(file.bytes()).ok_or_else(|| unreadable("no ELF file"))?;
        if image.is_64() != cfg!(target_pointer_width = "64") {
            return Err(unreadable("of another word size"));
        }
        let on_disk = image.build_id().map(<[u8]>::to_vec);
        if on_disk != object.build_id() {
            return Err(unreadable("not the build that is mapped"));
        }
        Ok(Module { path: home.path, build_id: on_disk, object, file })
    }

    /// Path of the file, or of the archive that holds it.
    pub(crate) fn path(&self) -> &str {
        &self.path
    }

    /// Build id in lower-case hex, empty when the file has none.
    pub(crate) fn build_id(&self) -> String {
        self.build_id.as_deref().map(elf::hex).unwrap_or_default()
    }

    /// What is added to addresses in the file.
    pub(crate) fn load_bias(&self) -> usize {
        self.object.load_bias
    }

    /// Whether an address lies in the module.
    pub(crate) fn contains(&self, address: usize) -> bool {
        self.object.contains(address)
    }

    /// Looks all names up, by the linker where it answers, else in the file's tables.
    ///
    /// An answer outside of the module is refused: a linker may give a stub of the same name.
    pub(crate) fn find_all(&self, names: &[&str]) -> Vec<Option<Found>> {
        self.find(names, Tables::All)
    }

    /// As [`find_all`](Self::find_all), but only among the exported symbols: never slow.
    pub(crate) fn find_exported(&self, names: &[&str]) -> Vec<Option<Found>> {
        self.find(names, Tables::Exported)
    }

    fn find(&self, names: &[&str], tables: Tables) -> Vec<Option<Found>> {
        let library = OpenLibrary::open(&self.object.name);
        let by_linker = |name: &&str| {
            let address = library.as_ref()?.symbol(name).filter(|a| self.contains(*a))?;
            Some(Found { address, source: SymbolSource::Linker })
        };
        let mut found: Vec<Option<Found>> = names.iter().map(by_linker).collect();
        if found.iter().all(Option::is_some) {
            return found;
        }
        let Some(image) = Image::parse(self.file.bytes()) else { return found };
        let in_file = match tables {
            Tables::Exported => image.find_dynamic(names),
            Tables::All => image.find_all(names),
        };
        for (slot, symbol) in found.iter_mut().zip(in_file) {
            if slot.is_none()
                && let Some(symbol) = symbol
            {
                let address = self.object.load_bias.wrapping_add(symbol.value as usize);
                *slot = self.contains(address).then_some(Found { address, source: symbol.source });
            }
        }
        found
    }
}

/// Which tables of the file to look into.
#[derive(Clone, Copy)]
enum Tables {
    Exported,
    All,
}

/// The build id of the loaded object that holds an address.
pub(crate) fn build_id_at(address: usize) -> Option<Vec<u8>> {
    dl::object_at(address)?.build_id()
}

impl LoadedObject {
    /// The build id in the mapped note segments.
    fn build_id(&self) -> Option<Vec<u8>> {
        self.notes.iter().find_map(|(start, end)| {
            let mut notes = vec![0; end.saturating_sub(*start).min(4096)];
            let n = mem::read_into(*start, &mut notes);
            build_id_in_notes(notes.get(..n)?).map(<[u8]>::to_vec)
        })
    }
}

struct Home {
    path: String,
    /// Where the ELF file begins within the file: not 0 inside an archive.
    elf_offset: u64,
    deleted: bool,
}

/// The file that an object is mapped from and where in it the object begins.
fn home(maps: &[Mapping], object: &LoadedObject, address: usize) -> Result<Home, Off> {
    let address = mem::address(address);
    let mapping = maps.iter().find(|m| m.contains(address));
    let mapping = mapping.filter(|m| m.is_file()).ok_or(Off::NoModule("its memory is not of a file"))?;
    let segment = object.segments.iter().find(|s| (s.start..s.end).contains(&address));
    let segment = segment.ok_or(Off::NoModule("its mapping lies outside of its segments"))?;
    let in_elf = (address - segment.start) as u64 + segment.file_offset;
    let in_file = (address - mapping.start) as u64 + mapping.offset;
    let elf_offset =
        in_file.checked_sub(in_elf).ok_or(Off::NoModule("its mapping contradicts its segments"))?;
    Ok(Home { path: mapping.path.clone(), elf_offset, deleted: mapping.deleted })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sys::dl::Segment;

    fn mapping(start: usize, end: usize, offset: u64) -> Mapping {
        Mapping::parse(&format!("{start:x}-{end:x} r-xp {offset:08x} fd:00 7 /data/app/base.apk")).unwrap()
    }

    fn object(segments: &[(usize, usize, u64)]) -> LoadedObject {
        let segments = segments.iter().map(|(start, end, file_offset)| Segment {
            start: *start,
            end: *end,
            file_offset: *file_offset,
        });
        LoadedObject {
            name: String::new(),
            load_bias: 0x1_0000,
            segments: segments.collect(),
            notes: Vec::new(),
        }
    }

    #[test]
    fn the_c_library_is_a_module() {
        let module = Module::holding(libc::getpid as *const () as usize).unwrap();
        assert!(module.path().contains("libc"));
        assert!(module.build_id().len() >= 16);
        let found = module.find_all(&["getpid", "no_such_function_of_ours"]);
        assert_eq!(found[0].unwrap().address, libc::getpid as *const () as usize);
        assert_eq!(found[0].unwrap().source, SymbolSource::Linker);
        assert_eq!(found[1], None);
    }

    #[test]
    fn memory_that_is_no_library_is_refused() {
        let heap = Box::new(1u8);
        let off = Module::holding(&raw const *heap as usize).err().unwrap();
        assert_eq!(off.code(), "no-module");
    }

    #[test]
    fn a_library_inside_an_archive_begins_within_it() {
        // The library at 0x5000 of the archive; its code segment at 0x2000 of the library, 0x3000 of its addresses.
        let object = object(&[(0x1_0000, 0x1_2000, 0), (0x1_3000, 0x1_6000, 0x2000)]);
        let maps = [mapping(0x1_0000, 0x1_2000, 0x5000), mapping(0x1_3000, 0x1_6000, 0x7000)];
        let home = home(&maps, &object, 0x1_4321).unwrap();
        assert_eq!(home.elf_offset, 0x5000);
        assert_eq!(home.path, "/data/app/base.apk");
    }

    #[test]
    fn a_segment_that_does_not_begin_on_a_page_is_mapped_from_the_page() {
        let object = object(&[(0x1_0000, 0x1_1f00, 0), (0x1_32a0, 0x1_6000, 0x22a0)]);
        let maps = [mapping(0x1_0000, 0x1_2000, 0), mapping(0x1_3000, 0x1_6000, 0x2000)];
        assert_eq!(home(&maps, &object, 0x1_3300).unwrap().elf_offset, 0);
    }

    #[test]
    fn a_mapping_split_by_protection_still_has_its_start() {
        let object = object(&[(0x1_0000, 0x1_8000, 0)]);
        let maps = [mapping(0x1_0000, 0x1_3000, 0), mapping(0x1_3000, 0x1_8000, 0x3000)];
        assert_eq!(home(&maps, &object, 0x1_5000).unwrap().elf_offset, 0);
    }
}
