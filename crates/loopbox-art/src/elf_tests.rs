//! `loopbox-elf` against the linker, in this process.

use crate::sys::dl;
use crate::sys::file::FileView;
use loopbox_elf::{Image, SymbolSource};

fn own_file() -> Vec<u8> {
    std::fs::read(std::env::current_exe().unwrap()).unwrap()
}

#[unsafe(no_mangle)]
extern "C" fn loopbox_art_elf_test_marker() -> u32 {
    0x10_0b
}

#[test]
fn finds_exported_functions_of_the_c_library_where_the_linker_does() {
    let (path, load_bias) = dl::linkers_answer(libc::getpid as *const () as usize);
    let view = FileView::open(&path, 0).unwrap();
    let image = Image::parse(view.bytes()).unwrap();
    assert!(image.build_id().is_some_and(|id| id.len() >= 8));
    let names = ["getpid", "malloc", "open", "process_vm_readv", "no_such_function_of_ours"];
    let found = image.find_dynamic(&names);
    let library = dl::OpenLibrary::open(&path).unwrap();
    for (name, symbol) in names.iter().zip(&found).take(4) {
        let symbol = symbol.unwrap_or_else(|| panic!("{name}"));
        assert_eq!(Some(load_bias + symbol.value as usize), library.symbol(name), "{name}");
        assert_eq!(symbol.source, SymbolSource::DynSym);
    }
    assert_eq!(found[4], None);
}

#[test]
fn imports_and_the_bytes_of_a_function_are_found() {
    let bytes = own_file();
    let image = Image::parse(&bytes).unwrap();
    assert_eq!(image.find_imported(&["mmap", "no_such_function_of_ours"]), [true, false]);
    let here = image.find_all(&["loopbox_art_elf_test_marker"])[0].unwrap();
    let code = image.bytes_at(here.value, here.size).unwrap();
    assert!(
        code.len() >= 4 && code.windows(2).any(|w| w == [0x0b, 0x10]),
        "the constant it returns is in it"
    );
    assert_eq!(image.bytes_at(u64::MAX - 3, 8), None);
}

#[test]
fn finds_a_function_that_is_not_exported_in_symtab() {
    let bytes = own_file();
    let image = Image::parse(&bytes).unwrap();
    let found = image.find_all(&["loopbox_art_elf_test_marker"])[0].unwrap();
    assert_eq!(found.source, SymbolSource::SymTab);
    let here = loopbox_art_elf_test_marker as *const () as usize;
    let (_, load_bias) = dl::linkers_answer(here);
    assert_eq!(load_bias + found.value as usize, here);
    assert_eq!(loopbox_art_elf_test_marker(), 0x10_0b);
}
