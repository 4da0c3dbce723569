//! Names of classes by number. The main thread uses the numbers to describe a message in one word. A name is
//! never freed, so any thread may read it without a lock.

use crate::sys::memory;
use loopbox_format::looper;
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

/// How many names there is room for: an app's activities, and the classes of what it posts to main.
const MOST: usize = 256;

struct ClassName {
    name: Box<str>,
    /// Whether a message with this class, as target or callback, is a component message.
    is_component: bool,
}

/// The names, filled from the first place on. Only the main thread writes them.
struct ClassNames {
    names: [AtomicPtr<ClassName>; MOST],
}

/// The names of this process.
static NAMES: ClassNames = ClassNames::new();

impl ClassNames {
    const fn new() -> Self {
        Self { names: [const { AtomicPtr::new(ptr::null_mut()) }; MOST] }
    }

    /// Finds the number of a name, or adds the name while there is room. Adds none while memory is short,
    /// because main would wait for memory.
    fn number_of(&self, name: &str) -> Option<u32> {
        let mut number = 1;
        while let Some(known) = self.get(number) {
            if *known.name == *name {
                return Some(number);
            }
            number += 1;
        }
        let place = self.names.get(number as usize - 1)?;
        if memory::is_short() {
            return None;
        }
        let class = ClassName { name: name.into(), is_component: looper::component(name, name).is_some() };
        place.store(Box::into_raw(Box::new(class)), Ordering::Release);
        Some(number)
    }

    #[inline(never)]
    fn get(&self, number: u32) -> Option<&'static ClassName> {
        let place = self.names.get((number as usize).checked_sub(1)?)?;
        // SAFETY: null, or a box that is never changed or freed.
        unsafe { place.load(Ordering::Acquire).as_ref() }
    }
}

/// A class by its number. 0 is no class, or one for which there was no room.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct ClassId(u32);

impl ClassId {
    /// No class, or one for which there was no room.
    pub(crate) const NONE: Self = Self(0);
    /// How many bits the number has.
    pub(crate) const BITS: u32 = 10;

    /// The number of the class with this name. Main thread only: allocates for a name that is new.
    pub(crate) fn of(name: &str) -> Self {
        NAMES.number_of(name).map_or(Self::NONE, Self)
    }

    /// The name of the class; empty for [`NONE`](Self::NONE).
    pub(crate) fn name(self) -> &'static str {
        NAMES.get(self.0).map_or("", |class| &*class.name)
    }

    /// Whether a message with this class is a component message.
    pub(crate) fn is_component(self) -> bool {
        NAMES.get(self.0).is_some_and(|class| class.is_component)
    }

    /// The id as a number of [`BITS`](Self::BITS) bits.
    pub(crate) fn to_bits(self) -> u64 {
        self.0.into()
    }

    /// The inverse of [`to_bits`](Self::to_bits). Higher bits are ignored.
    pub(crate) fn from_bits(bits: u64) -> Self {
        Self((bits & ((1 << Self::BITS) - 1)) as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_class_keeps_its_number_and_its_name() {
        let (main, handler) = (ClassId::of("a.Main"), ClassId::of("android.app.ActivityThread$H"));
        assert_eq!((main, handler.name()), (ClassId::of("a.Main"), "android.app.ActivityThread$H"));
        assert_eq!((ClassId::from_bits(main.to_bits()), main.is_component()), (main, false));
        assert!(handler.is_component() && !ClassId::NONE.is_component());
        assert_eq!((ClassId::NONE.name(), ClassId::from_bits(0x3ff).name()), ("", ""));
    }

    #[test]
    fn one_class_too_many_has_no_number() {
        let names = ClassNames::new();
        let all: Vec<_> = (0..=MOST).map(|nth| names.number_of(&format!("a.B{nth}"))).collect();
        assert_eq!((all[0], all[MOST - 1], all[MOST]), (Some(1), Some(MOST as u32), None));
        assert_eq!(names.number_of("a.B0"), Some(1));
        assert_eq!(names.get(MOST as u32).map(|class| &*class.name), Some("a.B255"));
    }
}
