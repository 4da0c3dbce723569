//! Numbers and strings of varying length.

/// Appends `value` in groups of seven bits, lowest first; all but the last byte have their high bit set.
pub(super) fn put(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Maps a signed number to an unsigned one. Numbers near zero, of either sign, become small numbers.
pub(super) fn zigzag(value: i64) -> u64 {
    (value << 1 ^ value >> 63) as u64
}

/// The inverse of [`zigzag`].
pub(super) fn unzigzag(value: u64) -> i64 {
    (value >> 1) as i64 ^ -((value & 1) as i64)
}

/// Reads what [`put`] wrote, from bytes that anyone may have written.
pub(super) struct Cursor<'a>(pub(super) &'a [u8]);

impl<'a> Cursor<'a> {
    /// The next number; `None` at the end of the bytes or when it has more than 64 bits.
    pub(super) fn number(&mut self) -> Option<u64> {
        let mut value = 0_u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            let bits = u64::from(byte & 0x7F);
            if bits << shift >> shift != bits {
                return None;
            }
            value |= bits << shift;
            if byte < 0x80 {
                return Some(value);
            }
        }
        None
    }

    /// The next number; `None` also when it has more than 32 bits.
    pub(super) fn small(&mut self) -> Option<u32> {
        u32::try_from(self.number()?).ok()
    }

    /// A count of items of at least one byte each; a count larger than the number of remaining bytes is
    /// invalid.
    pub(super) fn count(&mut self) -> Option<usize> {
        let count = usize::try_from(self.number()?).ok()?;
        (count <= self.0.len()).then_some(count)
    }

    /// The next byte.
    pub(super) fn byte(&mut self) -> Option<u8> {
        let (byte, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*byte)
    }

    /// The next `len` bytes.
    pub(super) fn bytes(&mut self, len: usize) -> Option<&'a [u8]> {
        let (bytes, rest) = self.0.split_at_checked(len)?;
        self.0 = rest;
        Some(bytes)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_number_of_more_than_64_bits_is_refused() {
        let mut most = Vec::new();
        put(&mut most, u64::MAX);
        assert_eq!(Cursor(&most).number(), Some(u64::MAX));
        *most.last_mut().unwrap() = 2;
        assert_eq!(Cursor(&most).number(), None);
        assert_eq!(Cursor(&[0xFF; 20]).number(), None);
        assert_eq!(Cursor(&[0x80]).number(), None);
        assert_eq!(Cursor(&[5, 1, 2, 3]).count(), None);
    }

    proptest! {
        #[test]
        fn numbers_are_read_back(values in proptest::collection::vec(any::<i64>(), 0..20)) {
            let mut bytes = Vec::new();
            for &value in &values {
                put(&mut bytes, zigzag(value));
            }
            let mut cursor = Cursor(&bytes);
            for value in values {
                prop_assert_eq!(cursor.number().map(unzigzag), Some(value));
            }
            prop_assert_eq!(cursor.byte(), None);
        }
    }
}
