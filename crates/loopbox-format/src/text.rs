//! Strings of limited length, for names of any length where the app must not allocate.

use bincode::Encode;
use bincode::enc::Encoder;
use bincode::error::EncodeError;
use core::fmt;

/// The last character of a string that was truncated.
pub const CUT_MARK: char = '…';

/// The longest prefix of `text` that has at most `max` bytes and ends on a character boundary.
pub fn prefix(text: &str, max: usize) -> &str {
    text.get(..text.floor_char_boundary(max)).unwrap_or_default()
}

/// Where `part` begins in `text` for the first time. `part` is not empty.
///
/// The standard library's search is made for long texts and takes 2 KB of code. An app searches only in lines
/// and names.
pub fn find(text: &str, part: &str) -> Option<usize> {
    text.as_bytes().windows(part.len().max(1)).position(|bytes| equals(bytes, part))
}

/// Where `part` begins in `text` for the last time. `part` is not empty.
pub fn rfind(text: &str, part: &str) -> Option<usize> {
    text.as_bytes().windows(part.len().max(1)).rposition(|bytes| equals(bytes, part))
}

/// The line with this number; empty when there is none.
///
/// In the app a list of names is one text with a name in each line: a list of references would take 40 bytes
/// for each name, with the relocation.
pub fn line(lines: &str, index: usize) -> &str {
    lines.split('\n').nth(index).unwrap_or_default()
}

/// The text before and after the first `part`. `part` must not be empty.
pub fn split_once<'a>(text: &'a str, part: &str) -> Option<(&'a str, &'a str)> {
    around(text, find(text, part)?, part.len())
}

/// The text before and after the last `part`. `part` must not be empty.
pub fn rsplit_once<'a>(text: &'a str, part: &str) -> Option<(&'a str, &'a str)> {
    around(text, rfind(text, part)?, part.len())
}

/// Reads a number in decimal digits, which may begin with `+`; `None` for other text, and when `T` cannot
/// hold it.
///
/// The standard library's parser takes 200 bytes of code for each type.
pub fn number<T: TryFrom<u64>>(digits: &str) -> Option<T> {
    T::try_from(unsigned(digits, 10)?).ok()
}

/// Reads a number in hexadecimal digits, which may begin with `+`; `None` for other text, and when `T` cannot
/// hold it.
pub fn hex<T: TryFrom<u64>>(digits: &str) -> Option<T> {
    T::try_from(unsigned(digits, 16)?).ok()
}

/// Reads a number that may have a sign, in decimal digits; `None` for other text, and when `T` cannot hold
/// it.
pub fn signed<T: TryFrom<i64>>(text: &str) -> Option<T> {
    let number = match text.strip_prefix('-') {
        Some(digits) if digits.starts_with('+') => None,
        Some(digits) => 0_i64.checked_sub_unsigned(number(digits)?),
        None => number(text),
    };
    T::try_from(number?).ok()
}

#[inline(never)]
fn unsigned(digits: &str, radix: u32) -> Option<u64> {
    u64::from_str_radix(digits, radix).ok()
}

fn equals(bytes: &[u8], part: &str) -> bool {
    bytes.first() == part.as_bytes().first() && bytes == part.as_bytes()
}

fn around(text: &str, at: usize, len: usize) -> Option<(&str, &str)> {
    Some((text.get(..at)?, text.get(at + len..)?))
}

/// A string of at most `N` bytes in place, without the heap.
///
/// A text that does not fit is cut on a character boundary and ends in [`CUT_MARK`]. Line breaks and other
/// control characters become spaces, because a record is shown on one line. It serialises exactly like a
/// `str`, so the host tools read what the app writes from a `BoundedStr` into a `String`.
#[derive(Clone, Copy)]
pub struct BoundedStr<const N: usize> {
    len: u16,
    bytes: [u8; N],
}

impl<const N: usize> BoundedStr<N> {
    /// The empty string.
    pub const EMPTY: Self = Self { len: 0, bytes: [0; N] };

    /// Keeps as much of `text` as fits.
    pub fn new(text: &str) -> Self {
        let mut kept = Self::EMPTY;
        kept.set(text);
        kept
    }

    /// Replaces the content by as much of `text` as fits.
    pub fn set(&mut self, text: &str) {
        self.len = 0;
        let whole = text.len() <= N;
        let room = if whole { N } else { N.saturating_sub(CUT_MARK.len_utf8()) };
        for c in prefix(text, room).chars() {
            self.push(if c.is_control() { ' ' } else { c });
        }
        if !whole {
            self.push(CUT_MARK);
        }
    }

    fn push(&mut self, c: char) {
        let mut utf8 = [0; 4];
        let utf8 = c.encode_utf8(&mut utf8).as_bytes();
        let start = usize::from(self.len);
        if let Some(room) = self.bytes.get_mut(start..start + utf8.len()) {
            room.copy_from_slice(utf8);
            self.len += utf8.len() as u16;
        }
    }

    /// The kept text.
    pub fn as_str(&self) -> &str {
        let kept = self.bytes.get(..usize::from(self.len)).unwrap_or_default();
        core::str::from_utf8(kept).unwrap_or_default()
    }

    /// Whether nothing is kept.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
}

impl<const N: usize> Default for BoundedStr<N> {
    fn default() -> Self {
        Self::EMPTY
    }
}

impl<const N: usize> PartialEq for BoundedStr<N> {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

impl<const N: usize> Eq for BoundedStr<N> {}

impl<const N: usize> fmt::Debug for BoundedStr<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_str().fmt(f)
    }
}

impl<const N: usize> Encode for BoundedStr<N> {
    fn encode<E: Encoder>(&self, encoder: &mut E) -> Result<(), EncodeError> {
        self.as_str().encode(encoder)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn cuts_on_a_character_boundary_and_marks_it() {
        assert_eq!(BoundedStr::<8>::new("12345678").as_str(), "12345678");
        assert_eq!(BoundedStr::<8>::new("123456789").as_str(), "12345…");
        assert_eq!(BoundedStr::<8>::new("1234é6789").as_str(), "1234…");
        assert_eq!(BoundedStr::<16>::new("two\nlines\0").as_str(), "two lines ");
    }

    #[test]
    fn nothing_is_found_in_a_text_that_is_shorter() {
        assert_eq!((find("", ": "), rfind(":", ": "), split_once("", " ")), (None, None, None));
    }

    #[test]
    fn number_fits_its_type() {
        assert_eq!((number::<u32>("4294967295"), number::<u32>("4294967296")), (Some(u32::MAX), None));
        assert_eq!((number("18446744073709551615"), hex("ff")), (Some(u64::MAX), Some(255_u8)));
        assert_eq!(
            (signed("-9223372036854775808"), signed::<i64>("9223372036854775808")),
            (Some(i64::MIN), None)
        );
        assert_eq!((signed("-128"), signed::<i8>("-129")), (Some(-128_i8), None));
    }

    proptest! {
        #[test]
        fn numbers_are_those_of_the_standard_library(text in "[+-]{0,2}[0-9]{0,11}x?") {
            prop_assert_eq!(number::<u32>(&text), text.parse().ok());
            prop_assert_eq!(signed::<i32>(&text), text.parse().ok());
            prop_assert_eq!(hex::<u32>(&text), u32::from_str_radix(&text, 16).ok());
        }

        #[test]
        fn finds_what_the_standard_library_finds(text in "[ab: é]{0,24}", part in "[ab: é]{1,3}") {
            prop_assert_eq!(find(&text, &part), text.find(&part));
            prop_assert_eq!(rfind(&text, &part), text.rfind(&part));
            prop_assert_eq!(split_once(&text, &part), text.split_once(&part));
            prop_assert_eq!(rsplit_once(&text, &part), text.rsplit_once(&part));
        }

        #[test]
        fn keeps_a_prefix_and_reads_back_as_a_string(text in "\\PC{0,60}") {
            let kept = BoundedStr::<24>::new(&text);
            if text.len() <= 24 {
                prop_assert_eq!(kept.as_str(), &text);
            } else {
                let body = kept.as_str().strip_suffix(CUT_MARK).expect("a mark");
                prop_assert!(text.starts_with(body));
                prop_assert!(kept.as_str().len() > 24 - 4);
            }
            let bytes = crate::codec::encode(&kept).unwrap();
            prop_assert_eq!(crate::codec::decode::<String>(&bytes).unwrap(), kept.as_str());
        }
    }
}
