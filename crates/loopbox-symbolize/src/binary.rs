//! One library with symbols.

use crate::SymbolizeError;
use addr2line::{Loader, demangle_auto};
use object::{Object, ObjectSegment, ReadCache, SegmentFlags, elf};
use std::borrow::Cow;
use std::fs::File;
use std::ops::Range;
use std::path::Path;

/// A library file whose symbols are read on demand.
pub struct Binary {
    loader: Loader,
    /// The address ranges of code. Only addresses in these ranges are looked up, because functions that the
    /// linker left out still have debug information, at addresses from 0 on.
    code: Vec<Range<u64>>,
}

/// A function in a source file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Function {
    /// Its name, demangled.
    pub name: String,
    /// Its source file.
    pub file: Option<String>,
    /// The line that the address is in. If other functions are inlined at the address, it is the line in
    /// which this function calls the previous one of the list.
    pub line: Option<u32>,
    /// Whether the compiler has inlined it into the next function of the list.
    pub inlined: bool,
}

impl Binary {
    /// Opens a file.
    ///
    /// # Errors
    /// When it is no library, or its debug information is damaged.
    pub fn open(path: &Path) -> Result<Self, SymbolizeError> {
        let unreadable = |why: Box<dyn std::error::Error>| SymbolizeError::Unreadable {
            path: path.to_path_buf(),
            why: why.to_string(),
        };
        let code = code_of(path).map_err(unreadable)?;
        Ok(Self { loader: Loader::new(path).map_err(unreadable)?, code })
    }

    /// The functions that an address of the file is in: inlined ones first, and last the one that contains
    /// the code. Empty when nothing is known about the address.
    pub fn functions(&self, address: u64) -> Vec<Function> {
        if !self.code.iter().any(|code| code.contains(&address)) {
            return Vec::new();
        }
        let mut functions = self.by_debug_information(address);
        let symbol = || {
            self.loader.find_symbol(address).map(|name| demangle_auto(Cow::Borrowed(name), None).into_owned())
        };
        match functions.last_mut() {
            Some(last) => {
                last.inlined = false;
                if last.name.is_empty() {
                    last.name = symbol().unwrap_or_default();
                }
            }
            None => functions.extend(symbol().map(|name| Function {
                name,
                file: None,
                line: None,
                inlined: false,
            })),
        }
        functions.retain(|function| !function.name.is_empty());
        functions
    }

    fn by_debug_information(&self, address: u64) -> Vec<Function> {
        let mut functions = Vec::new();
        let Ok(mut frames) = self.loader.find_frames(address) else { return functions };
        while let Ok(Some(frame)) = frames.next() {
            let name = frame.function.as_ref().and_then(|name| name.demangle().ok().map(Cow::into_owned));
            let place = frame.location;
            functions.push(Function {
                name: name.unwrap_or_default(),
                file: place.as_ref().and_then(|place| place.file.map(str::to_owned)),
                line: place.and_then(|place| place.line),
                inlined: true,
            });
        }
        functions
    }
}

/// The executable segments of a file. A file that has only symbols keeps the table of segments.
fn code_of(path: &Path) -> Result<Vec<Range<u64>>, Box<dyn std::error::Error>> {
    let file = ReadCache::new(File::open(path)?);
    let file = object::File::parse(&file)?;
    let is_code = |flags| matches!(flags, SegmentFlags::Elf { p_flags, .. } if p_flags.contains(elf::PF_X));
    let code = file.segments().filter(|segment| is_code(segment.flags()));
    Ok(code.map(|segment| segment.address()..segment.address().saturating_add(segment.size())).collect())
}

impl std::fmt::Debug for Binary {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Binary").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use object::ObjectSymbol;

    #[inline(never)]
    fn a_function_with_a_distinct_name() -> u32 {
        std::hint::black_box(line!())
    }

    /// The address of `a_function_with_a_distinct_name` in this program's file.
    fn its_address(path: &Path) -> u64 {
        let bytes = std::fs::read(path).unwrap();
        let elf = object::File::parse(&*bytes).unwrap();
        let symbol =
            elf.symbols().find(|s| s.name().is_ok_and(|n| n.contains("a_function_with_a_distinct_name")));
        symbol.unwrap().address()
    }

    #[test]
    fn functions_have_name_file_and_line() {
        let path = std::env::current_exe().unwrap();
        let functions = Binary::open(&path).unwrap().functions(its_address(&path));
        let function = functions.last().unwrap();
        assert!(function.name.ends_with("binary::tests::a_function_with_a_distinct_name"), "{function:?}");
        assert!(function.file.as_ref().unwrap().ends_with("src/binary.rs"), "{function:?}");
        assert_eq!(function.line, Some(a_function_with_a_distinct_name() - 1));
        assert!(!function.inlined);
    }

    #[test]
    fn functions_of_no_code_are_none() {
        let binary = Binary::open(&std::env::current_exe().unwrap()).unwrap();
        assert_eq!(binary.functions(u64::MAX), []);
        assert_eq!(binary.functions(0), []);
    }

    #[test]
    fn open_says_what_is_wrong() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), b"\x7fELF and nothing").unwrap();
        let error = Binary::open(file.path()).unwrap_err().to_string();
        assert!(error.contains("its symbols cannot be read"), "{error}");
    }
}
