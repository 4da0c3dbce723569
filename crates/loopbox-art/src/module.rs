//! The ART module of this process: which file it is, where it is mapped, and its symbols.

use crate::loaded::{MappedElf, elf_at, elf_of};
use crate::off::Off;
use crate::sys::dl::OpenLibrary;
use crate::sys::file::FileView;
use crate::sys::maps::{self, Mapping};
use crate::sys::mem;
use loopbox_elf::{Image, Symbol, SymbolSource};

/// A module that is mapped here, and where its symbols are.
pub(crate) struct Module {
    elf: MappedElf,
    tables: Tables,
    path: String,
}

/// Where a module's symbols are.
enum Tables {
    /// In the file that is mapped.
    File(FileView),
    /// In the linker's list of libraries, for a file that cannot be read. Used only then, because a query of
    /// the linker waits while any thread loads a library, and the main thread may hang in such a load.
    Linker(OpenLibrary),
}

/// An address in memory and the table it was found in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Found {
    pub address: usize,
    pub source: SymbolSource,
}

impl Module {
    /// The module that contains `address` (a function of ART).
    ///
    /// It is found by address, not by name: Debian calls it `libart.so.0`, some devices have stubs called
    /// `libart.so` in `fake-libs`, and inside an APEX or APK the name is that of the archive.
    pub(crate) fn holding(address: usize) -> Result<Module, Off> {
        let maps = maps::of_self().map_err(|_| Off::NoModule("/proc/self/maps is not readable"))?;
        let Home { elf, path, elf_offset, deleted } = home(&maps, address, elf_at)?;
        let tables = match open_file(&path, elf_offset, deleted, &elf) {
            Ok(file) => Tables::File(file),
            Err(why) => match OpenLibrary::open(&path) {
                Some(library) => Tables::Linker(library),
                None => return Err(Off::ModuleUnreadable { path, why }),
            },
        };
        Ok(Module { elf, tables, path })
    }

    /// Path of the file, or of the archive that contains it.
    pub(crate) fn path(&self) -> &str {
        &self.path
    }

    /// Build id in lower-case hex, empty when the file has none.
    pub(crate) fn build_id(&self) -> String {
        loopbox_elf::hex(&self.elf.build_id)
    }

    /// What is added to addresses in the file.
    pub(crate) fn load_bias(&self) -> usize {
        self.elf.load_bias
    }

    /// Whether an address lies in the module.
    pub(crate) fn contains(&self, address: usize) -> bool {
        self.elf.contains(address)
    }

    /// Resolves all names. An address outside of the module is refused: a linker may return a stub of the
    /// same name.
    pub(crate) fn find_all(&self, names: &[&str]) -> Vec<Option<Found>> {
        match &self.tables {
            Tables::File(file) => self.find_in_file(file, names, Image::find_all),
            Tables::Linker(library) => self.ask_linker(library, names),
        }
    }

    /// As [`find_all`](Self::find_all), but only among the exported symbols: never slow.
    pub(crate) fn find_exported(&self, names: &[&str]) -> Vec<Option<Found>> {
        match &self.tables {
            Tables::File(file) => self.find_in_file(file, names, Image::find_dynamic),
            Tables::Linker(library) => self.ask_linker(library, names),
        }
    }

    fn find_in_file<'f>(
        &self,
        file: &'f FileView,
        names: &[&str],
        find: fn(&Image<'f>, &[&str]) -> Vec<Option<Symbol>>,
    ) -> Vec<Option<Found>> {
        let Some(image) = Image::parse(file.bytes()) else { return vec![None; names.len()] };
        let in_memory = |symbol: Symbol| {
            self.found(self.elf.load_bias.wrapping_add(symbol.value as usize), symbol.source)
        };
        find(&image, names).into_iter().map(|symbol| symbol.and_then(in_memory)).collect()
    }

    fn ask_linker(&self, library: &OpenLibrary, names: &[&str]) -> Vec<Option<Found>> {
        let ask = |name: &&str| self.found(library.symbol(name)?, SymbolSource::Linker);
        names.iter().map(ask).collect()
    }

    fn found(&self, address: usize, source: SymbolSource) -> Option<Found> {
        self.contains(address).then_some(Found { address, source })
    }
}

struct Home {
    elf: MappedElf,
    path: String,
    /// Where the ELF file begins within the file: not 0 inside an archive.
    elf_offset: u64,
    deleted: bool,
}

/// The file that an address is mapped from, and where in it the ELF file begins.
fn home(maps: &[Mapping], address: usize, elf_at: impl Fn(usize) -> Option<MappedElf>) -> Result<Home, Off> {
    let address = mem::address(address);
    let at =
        maps.iter().position(|m| m.contains(address)).ok_or(Off::NoModule("its memory is not mapped"))?;
    let mapping = maps.get(at).filter(|m| m.is_file()).ok_or(Off::NoModule("its memory is not of a file"))?;
    // What is between the segments is of no file.
    let before = maps.get(..=at).unwrap_or_default().iter();
    let of_file: Vec<Mapping> =
        before.filter(|m| (m.inode, &m.path) == (mapping.inode, &mapping.path)).cloned().collect();
    let (header, elf) =
        elf_of(&of_file, elf_at).ok_or(Off::NoModule("its file begins with no ELF header"))?;
    if !elf.contains(address) {
        return Err(Off::NoModule("its mapping lies outside of its segments"));
    }
    Ok(Home { elf, path: mapping.path.clone(), elf_offset: header.offset, deleted: mapping.deleted })
}

/// Opens the file, if it is the one that is mapped.
fn open_file(
    path: &str,
    elf_offset: u64,
    deleted: bool,
    mapped: &MappedElf,
) -> Result<FileView, &'static str> {
    if deleted {
        return Err("the file was replaced since it was loaded");
    }
    let file = FileView::open(path, elf_offset).map_err(|_| "cannot be mapped")?;
    if loopbox_elf::is_64(file.bytes()) == Some(cfg!(not(target_pointer_width = "64"))) {
        return Err("of another word size");
    }
    let image = Image::parse(file.bytes()).ok_or("no ELF file")?;
    if image.build_id().unwrap_or_default() != mapped.build_id {
        return Err("not the build that is mapped");
    }
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mapping(start: usize, end: usize, offset: u64) -> Mapping {
        Mapping::parse(&format!("{start:x}-{end:x} r-xp {offset:08x} fd:00 7 /data/app/base.apk")).unwrap()
    }

    /// Headers at these addresses, for files with one segment each.
    fn headers(known: &'static [(usize, usize)]) -> impl Fn(usize) -> Option<MappedElf> {
        move |at| {
            let segment = known.iter().find(|(start, _)| *start == at)?;
            Some(MappedElf { load_bias: at, build_id: Vec::new(), segments: vec![*segment] })
        }
    }

    #[test]
    fn the_c_library_is_a_module() {
        let module = Module::holding(libc::getpid as *const () as usize).unwrap();
        assert!(module.path().contains("libc"));
        assert!(module.build_id().len() >= 16);
        for found in
            [module.find_all(&["getpid", "no_such_function"]), module.find_exported(&["getpid", "no_such"])]
        {
            assert_eq!(found[0].unwrap().address, libc::getpid as *const () as usize);
            assert_eq!(found[0].unwrap().source, SymbolSource::DynSym);
            assert_eq!(found[1], None);
        }
    }

    #[test]
    fn the_linker_answers_for_a_module_whose_file_cannot_be_read() {
        let file = Module::holding(libc::getpid as *const () as usize).unwrap();
        let library = OpenLibrary::open(file.path()).unwrap();
        let module = Module { tables: Tables::Linker(library), ..file };
        for find in [Module::find_all, Module::find_exported] {
            let found = find(&module, &["getpid", "no_such_function_of_ours"]);
            assert_eq!(found[0].unwrap().address, libc::getpid as *const () as usize);
            assert_eq!(found[0].unwrap().source, SymbolSource::Linker);
            assert_eq!(found[1], None);
        }
    }

    #[test]
    fn an_answer_outside_of_the_module_is_refused() {
        let file = Module::holding(libc::getpid as *const () as usize).unwrap();
        let library = OpenLibrary::open(file.path()).unwrap();
        let elsewhere = MappedElf { segments: vec![(0x1000, 0x2000)], ..file.elf };
        let module = Module { tables: Tables::Linker(library), elf: elsewhere, path: file.path };
        assert_eq!(module.find_all(&["getpid"]), [None]);
    }

    #[test]
    fn a_file_is_used_only_if_it_is_the_one_that_is_mapped() {
        let address = libc::getpid as *const () as usize;
        let Home { mut elf, path, elf_offset, .. } =
            home(&maps::of_self().unwrap(), address, elf_at).unwrap();
        let open = |path: &str, deleted, elf: &MappedElf| open_file(path, elf_offset, deleted, elf).map(drop);
        assert_eq!(open(&path, false, &elf), Ok(()));
        assert_eq!(open(&path, true, &elf), Err("the file was replaced since it was loaded"));
        assert_eq!(open("/nowhere/libart.so", false, &elf), Err("cannot be mapped"));
        assert_eq!(open("/proc/self/comm", false, &elf), Err("cannot be mapped"), "its length is 0");
        assert_eq!(open("/etc/passwd", false, &elf), Err("no ELF file"));
        elf.build_id.push(0);
        assert_eq!(open(&path, false, &elf), Err("not the build that is mapped"));
    }

    #[test]
    fn memory_that_is_no_library_is_refused() {
        let heap = Box::new(1u8);
        let off = Module::holding(&raw const *heap as usize).err().unwrap();
        assert_eq!(off.code(), "no-module");
    }

    #[test]
    fn a_library_inside_an_archive_begins_within_it() {
        // Two libraries of one archive; the address is in the second one's code.
        let maps = [
            mapping(0x1_0000, 0x1_2000, 0x5000),
            mapping(0x2_0000, 0x2_2000, 0x9000),
            mapping(0x2_3000, 0x2_6000, 0xb000),
        ];
        let known = headers(&[(0x1_0000, 0x1_2000), (0x2_0000, 0x2_6000)]);
        let home = home(&maps, 0x2_4321, known).unwrap();
        assert_eq!((home.elf_offset, home.elf.load_bias), (0x9000, 0x2_0000));
        assert_eq!(home.path, "/data/app/base.apk");
    }

    #[test]
    fn an_address_that_the_header_before_it_does_not_hold_is_refused() {
        let maps = [mapping(0x1_0000, 0x1_2000, 0), mapping(0x1_3000, 0x1_8000, 0x3000)];
        let of = |known| home(&maps, 0x1_5000, headers(known)).err().unwrap().to_string();
        assert!(of(&[(0x1_0000, 0x1_2000)]).ends_with("lies outside of its segments"));
        assert!(of(&[]).ends_with("begins with no ELF header"));
    }

    #[test]
    fn a_mapping_split_by_protection_still_has_its_start() {
        let maps = [mapping(0x1_0000, 0x1_3000, 0), mapping(0x1_3000, 0x1_8000, 0x3000)];
        assert_eq!(home(&maps, 0x1_5000, headers(&[(0x1_0000, 0x1_8000)])).unwrap().elf_offset, 0);
    }
}
