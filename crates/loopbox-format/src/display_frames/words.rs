//! Fields as little-endian words. The same list of fields writes and reads them.

use crate::model::{FrameCause, FrameFlags, JankPlace, SceneKind, Token, Uptime};

/// The bytes that are left to write to, or to read from.
pub enum Words<'a> {
    /// The rest of the bytes that fields are written to.
    Write(&'a mut [u8]),
    /// The rest of the bytes that fields are read from.
    Read(&'a [u8]),
}

impl Words<'_> {
    /// Writes the lowest `width` bytes of `value`. When reading, returns the number in the next `width`
    /// bytes.
    fn word(&mut self, value: u64, width: usize) -> u64 {
        match self {
            Self::Write(out) => {
                let (now, rest) = core::mem::take(out).split_at_mut_checked(width).unwrap_or_default();
                now.iter_mut().zip(value.to_le_bytes()).for_each(|(to, from)| *to = from);
                *out = rest;
                value
            }
            Self::Read(bytes) => {
                let (now, rest) = bytes.split_at_checked(width).unwrap_or_default();
                *bytes = rest;
                let mut word = [0; 8];
                word.iter_mut().zip(now).for_each(|(to, from)| *to = *from);
                u64::from_le_bytes(word)
            }
        }
    }

    pub(super) fn field<T: Field>(&mut self, value: &mut T) {
        *value = T::from_word(self.word(value.to_word(), T::WIDTH));
    }

    pub(super) fn fields<T: Field>(&mut self, values: &mut [T]) {
        values.iter_mut().for_each(|value| self.field(value));
    }

    /// Writes a field of at most 8 bytes as unknown. When reading, skips it.
    pub(super) fn unknown(&mut self, width: usize) {
        self.word(u64::MAX, width);
    }

    /// Writes zeros where there is no field yet. When reading, skips these bytes.
    pub(super) fn spare(&mut self, mut width: usize) {
        while width > 0 {
            let now = width.min(8);
            self.word(0, now);
            width -= now;
        }
    }

    /// How many bytes are left.
    #[cfg(test)]
    pub(super) fn left(&self) -> usize {
        match self {
            Self::Write(out) => out.len(),
            Self::Read(bytes) => bytes.len(),
        }
    }
}

/// A value of a fixed width.
pub(super) trait Field: Copy {
    const WIDTH: usize;
    fn to_word(self) -> u64;
    fn from_word(word: u64) -> Self;
}

macro_rules! numbers {
    ($($number:ty),*) => {$(
        impl Field for $number {
            const WIDTH: usize = size_of::<$number>();
            fn to_word(self) -> u64 {
                u64::from(self)
            }
            fn from_word(word: u64) -> Self {
                word as $number
            }
        }

        /// `None` is written with all bits set, which is `MAX`. So `Some(MAX)` is written as `MAX - 1`.
        impl Field for Option<$number> {
            const WIDTH: usize = size_of::<$number>();
            fn to_word(self) -> u64 {
                u64::from(self.map_or(<$number>::MAX, |known| known.min(<$number>::MAX - 1)))
            }
            fn from_word(word: u64) -> Self {
                let number = word as $number;
                (number != <$number>::MAX).then_some(number)
            }
        }
    )*};
}

numbers!(u8, u16, u32, u64);

impl Field for Uptime {
    const WIDTH: usize = u64::WIDTH;

    fn to_word(self) -> u64 {
        self.0
    }

    fn from_word(word: u64) -> Self {
        Self(word)
    }
}

/// Implements [`Field`] for options of types that contain one number.
macro_rules! unknown {
    ($($wrapper:ident),*) => {$(
        impl Field for Option<$wrapper> {
            const WIDTH: usize = Option::<u64>::WIDTH;

            fn to_word(self) -> u64 {
                self.map(|known| known.0).to_word()
            }

            fn from_word(word: u64) -> Self {
                Option::from_word(word).map($wrapper)
            }
        }
    )*};
}

unknown!(Token, Uptime);

impl Field for FrameFlags {
    const WIDTH: usize = 2;

    fn to_word(self) -> u64 {
        self.0.to_word()
    }

    fn from_word(word: u64) -> Self {
        Self(u16::from_word(word))
    }
}

impl Field for bool {
    const WIDTH: usize = 2;

    fn to_word(self) -> u64 {
        u64::from(self)
    }

    fn from_word(word: u64) -> Self {
        word == 1
    }
}

/// A kind that this version does not know is read as that of an ordinary screen.
impl Field for SceneKind {
    const WIDTH: usize = 2;

    fn to_word(self) -> u64 {
        self as u64
    }

    fn from_word(word: u64) -> Self {
        Self::ALL.get(word as usize).copied().unwrap_or_default()
    }
}

macro_rules! known_or_not {
    ($($kind:ty),*) => {$(
        impl Field for Option<$kind> {
            const WIDTH: usize = 1;
            fn to_word(self) -> u64 {
                self.map_or(u64::from(u8::MAX), |known| known as u64)
            }
            fn from_word(word: u64) -> Self {
                <$kind>::ALL.get(word as usize).copied()
            }
        }
    )*};
}

known_or_not!(FrameCause, JankPlace);
