//! Names of a whole dex file, for tests with files that are not well-formed.

use super::dex::{DexFile, class_name};
use super::{LineTable, lines};
use crate::offsets::{Code, NameLayout};
use crate::sys::mem::WORD;

/// Limit on methods, classes and pieces of code read: a file may claim any number of them.
const MOST: u32 = 512;

/// The names in a dex file in memory.
#[doc(hidden)]
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Named {
    /// Class, name and signature of each method.
    pub methods: Vec<[String; 3]>,
    /// Source file of each class that has one.
    pub sources: Vec<String>,
    /// The lines of everything that seems to be code.
    pub lines: Vec<LineTable>,
}

/// Reads the names in `file`, a whole dex file in memory: those of at most 512 methods, 512 classes and 512
/// pieces of code. The names are read through an `art::DexFile` for `file`, as the names of a sampled method
/// are.
///
/// `None` when the header of `file` is not that of a dex file.
#[doc(hidden)]
pub fn names_of_dex(file: &[u8]) -> Option<Named> {
    let word_at = |at: usize| file.get(at..at + 4)?.try_into().ok().map(u32::from_le_bytes);
    let begin = file.as_ptr() as usize;
    // The object's members, a word each.
    let mut object = [0_usize; 20];
    let tables =
        [0x3c, 0x44, 0x4c, 0x5c, 0x64].map(|offset| Some(begin.wrapping_add(word_at(offset)? as usize)));
    for (member, value) in object.iter_mut().zip([Some(begin), Some(begin)].into_iter().chain(tables)) {
        *member = value?;
    }
    let [begin, data, string_ids, type_ids, proto_ids, method_ids, class_defs] =
        std::array::from_fn(|member| (member * WORD) as u8);
    let layout = NameLayout {
        dex_method_index: 0,
        code: Code::Offset(0),
        method_data: 0,
        class_dex_cache: 0,
        class_access_flags: 0,
        class_def: 0,
        dex_cache_dex_file: 0,
        begin,
        data,
        string_ids,
        type_ids,
        proto_ids,
        method_ids,
        class_defs,
    };
    let dex = DexFile::read(&layout, object.as_ptr() as usize)?;
    let mut found = Named::default();
    for id in (0..MOST).map_while(|index| dex.method_id(index)) {
        let of = || {
            let class = class_name(&dex.type_descriptor(id.class)?);
            Some([class, dex.string(id.name)?, dex.signature(id.proto)?])
        };
        found.methods.extend(of());
    }
    for class in (0..MOST).map_while(|index| dex.class_definition(index)) {
        found.sources.extend(class.source_file.and_then(|name| dex.string(name)));
    }
    let code =
        (0..file.len()).step_by(4).filter_map(|at| lines::of_code_item(&dex, dex.data.checked_add(at)?));
    found.lines.extend(code.take(MOST as usize));
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_dx_wrote_is_read_whole() {
        let file = include_bytes!("../../../../tests/fuzz/seeds/dex/names");
        let named = names_of_dex(file).unwrap();
        let all: Vec<String> = named.methods.iter().map(|parts| parts.join(" ")).collect();
        for expected in [
            "Names$Größe <init> (I)V",
            "Names$Größe many (Ljava/lang/String;[Ljava/lang/Object;[D)[[J",
            "Names$Größe none ()V",
            "java.lang.Object <init> ()V",
        ] {
            assert!(all.iter().any(|name| name == expected), "{expected} is not in {all:?}");
        }
        assert_eq!(named.sources, ["Names.java", "Names.java"]);
        // The constructor's and the next method's, as the source has them, among what only seems to be code.
        let spans: Vec<_> = named.lines.iter().map(|table| (table.line(0), table.line(u32::MAX))).collect();
        assert!(spans.contains(&(Some(6), Some(10))) && spans.contains(&(Some(13), Some(13))), "{spans:?}");
    }

    #[test]
    fn what_is_no_dex_file_has_no_names() {
        assert_eq!(names_of_dex(b"dex\n035"), None);
        assert_eq!(names_of_dex(&[0; 0x70]), None);
    }
}
