//! What is known of the running message without its object, in one word: the poll hook does not see the
//! message. The main thread writes the word, and any thread can turn it into a name.

use super::class_names::ClassId;
use loopbox_format::model::{LifecycleStep, LifecycleSteps, NamedBy};
use loopbox_recorder::Described;

const KIND_BITS: u32 = 2;
const KIND: u64 = (1 << KIND_BITS) - 1;
const HIGH: u32 = 32;

/// What is known of a message. The lowest bits have the kind, then come classes, and the upper half has steps
/// or `what`. By default nothing is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Hint(u64);

impl Hint {
    /// The recorder's callback of a display frame was called in the message.
    pub(crate) const FRAME: Self = Self(1);
    const NOTHING: u64 = 0;
    const ACTIVITY: u64 = 2;
    const HEAD: u64 = 3;

    /// The hint with another callback of a life cycle added.
    pub(crate) fn called(before: Self, activity: ClassId, step: LifecycleStep) -> Self {
        let same = Self::ACTIVITY | activity.to_bits() << KIND_BITS;
        // Classes that are too many are not known apart.
        let steps = if before.0 as u32 == same as u32 && activity != ClassId::NONE {
            before.steps()
        } else if before.0 & KIND == Self::ACTIVITY {
            LifecycleSteps::default().then(LifecycleStep::Other)
        } else {
            LifecycleSteps::default()
        };
        Self(same | u64::from(steps.then(step).to_bits()) << HIGH)
    }

    /// The hint for a message that was at the head of the queue before it was taken.
    pub(crate) fn head(target: ClassId, callback: ClassId, what: i32) -> Self {
        let classes = target.to_bits() | callback.to_bits() << ClassId::BITS;
        Self(Self::HEAD | classes << KIND_BITS | u64::from(what.cast_unsigned()) << HIGH)
    }

    pub(crate) fn to_bits(self) -> u64 {
        self.0
    }

    /// The inverse of [`to_bits`](Self::to_bits).
    pub(crate) fn from_bits(bits: u64) -> Self {
        Self(bits)
    }

    fn steps(self) -> LifecycleSteps {
        LifecycleSteps::from_bits((self.0 >> HIGH) as u32)
    }

    fn target(self) -> ClassId {
        ClassId::from_bits(self.0 >> KIND_BITS)
    }

    fn callback(self) -> ClassId {
        ClassId::from_bits(self.0 >> (KIND_BITS + ClassId::BITS))
    }

    /// Whether the hint is of a component message. A component message is kept however short it is.
    pub(crate) fn is_of_component(self) -> bool {
        match self.0 & KIND {
            Self::NOTHING => false,
            Self::HEAD => self.target().is_component() || self.callback().is_component(),
            _ => true,
        }
    }

    /// The name; `None` where nothing is known.
    pub(crate) fn described(self) -> Option<Described<'static>> {
        Some(match self.0 & KIND {
            Self::NOTHING => return None,
            Self::HEAD => Described {
                target: self.target().name(),
                callback: self.callback().name(),
                what: Some(((self.0 >> HIGH) as u32).cast_signed()),
                named_by: NamedBy::Peek,
            },
            Self::ACTIVITY => Described {
                target: self.target().name(),
                callback: "",
                what: None,
                named_by: NamedBy::Lifecycle(self.steps()),
            },
            _ => Described {
                target: "android.view.Choreographer$FrameHandler",
                callback: "android.view.Choreographer$FrameDisplayEventReceiver",
                what: None,
                named_by: NamedBy::Callback,
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hint_is_one_word_with_all_that_is_known() {
        let (main, other) = (ClassId::of("a.MainActivity"), ClassId::of("a.Other"));
        let one = Hint::called(Hint::default(), main, LifecycleStep::Pause);
        let two = Hint::called(one, main, LifecycleStep::Stop);
        let three = Hint::called(two, other, LifecycleStep::Create);
        let steps = |hint: Hint| {
            let described = hint.described().unwrap();
            let NamedBy::Lifecycle(steps) = described.named_by else { panic!("{hint:?}") };
            (described.target, steps.iter().collect::<Vec<_>>())
        };
        assert_eq!(steps(two), ("a.MainActivity", vec![LifecycleStep::Pause, LifecycleStep::Stop]));
        assert_eq!(steps(three), ("a.Other", vec![LifecycleStep::Other, LifecycleStep::Create]));
        let after_frame = Hint::called(Hint::FRAME, other, LifecycleStep::Create);
        assert_eq!(steps(after_frame), ("a.Other", vec![LifecycleStep::Create]));
        let head = |target, callback, what| {
            let hint = Hint::head(target, callback, what);
            assert_eq!(Hint::from_bits(hint.to_bits()), hint);
            let Described { target, callback, what, .. } = hint.described().unwrap();
            (target, callback, what, hint.is_of_component())
        };
        assert_eq!(head(main, ClassId::NONE, -3), ("a.MainActivity", "", Some(-3), false));
        assert_eq!(head(other, main, 159), ("a.Other", "a.MainActivity", Some(159), false));
        let handler = ClassId::of("android.app.ActivityThread$H");
        assert!(head(handler, ClassId::NONE, 159).3 && Hint::FRAME.is_of_component());
        assert!(Hint::default().described().is_none() && !Hint::default().is_of_component());
    }
}
