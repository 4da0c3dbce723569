//! Reads what clang prints for `-fdump-record-layouts`.

use std::collections::HashMap;

/// Classes of namespace `art` by name, without the namespace.
#[derive(Debug, Default)]
pub(super) struct Dump(HashMap<String, Class>);

#[derive(Debug, Default)]
struct Class {
    size: Option<u32>,
    /// Members with their nesting depth and their offset from the start of the class.
    members: Vec<(usize, String, u32)>,
}

impl Dump {
    /// Parses clang's output. Each record is a table of `offset | declaration`: first the class itself, then
    /// its members (the members of a member follow it, indented), and last a line with `[sizeof=`.
    pub(super) fn parse(text: &str) -> Self {
        let mut dump = Self::default();
        let mut current = None;
        for line in text.lines() {
            let Some((offset, declaration)) = line.split_once(" |") else { continue };
            let depth = declaration.len() - declaration.trim_start().len();
            let declaration = declaration.trim();
            // Bit fields say `16:0-3`; vtable pointers and bases are members like others.
            let offset = offset.trim().split(':').next().and_then(|number| number.parse().ok());
            match (offset, depth) {
                (Some(0), 1) => {
                    let name = declaration.split(' ').next_back().unwrap_or_default();
                    current = name.strip_prefix("art::").map(str::to_owned);
                }
                (Some(offset), _) => {
                    let Some(class) = current.as_ref() else { continue };
                    let name = declaration.split(' ').next_back().unwrap_or_default().to_owned();
                    dump.0.entry(class.clone()).or_default().members.push((depth, name, offset));
                }
                (None, _) => {
                    let size = declaration.strip_prefix("[sizeof=").and_then(|rest| rest.split(',').next());
                    let Some((class, size)) = current.as_ref().zip(size.and_then(|size| size.parse().ok()))
                    else {
                        continue;
                    };
                    dump.0.entry(class.clone()).or_default().size = Some(size);
                }
            }
        }
        dump
    }

    /// `sizeof(art::class)`.
    pub(super) fn size(&self, class: &str) -> Option<u32> {
        self.0.get(class)?.size
    }

    /// The offset of the member with that name. If nested members have the same name, the outermost one
    /// counts.
    pub(super) fn field(&self, class: &str, name: &str) -> Option<u32> {
        let named = self.0.get(class)?.members.iter().filter(|(_, member, _)| member == name);
        named.min_by_key(|(depth, ..)| *depth).map(|(_, _, offset)| *offset)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_members_and_sizes_of_classes_that_hold_others() {
        let dump = Dump::parse(
            "\n*** Dumping AST Record Layout\n         0 | class std::unique_ptr<class art::X>\n         8 |   void * data_\n           | [sizeof=16, dsize=16, align=8,\n\
             *** Dumping AST Record Layout\n         0 | class art::Holder\n         0 |   (Holder vtable pointer)\n         8 |   struct art::Inner inner_\n         8 |     int data_\n    16:0-3 |   unsigned int bits_\n        24 |   class art::ArrayRef<const unsigned char> data_\n           | [sizeof=40, dsize=40, align=8,\n           |  nvsize=40, nvalign=8]\n",
        );
        assert_eq!(dump.size("Holder"), Some(40));
        assert_eq!(dump.field("Holder", "data_"), Some(24));
        assert_eq!(dump.field("Holder", "inner_"), Some(8));
        assert_eq!(dump.field("Holder", "bits_"), Some(16));
        assert_eq!((dump.field("Holder", "other_"), dump.size("X")), (None, None));
    }
}
