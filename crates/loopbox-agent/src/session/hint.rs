//! What is known of the running message without its object, in one word: the poll hook does not see it. The
//! main thread writes the word, and any thread makes a name of it.

use super::class_names::ClassId;
use loopbox_format::model::{Component, LifecycleStep, LifecycleSteps, Message, NamedBy};
use loopbox_recorder::{Described, Keep};

const KIND_BITS: u32 = 2;
const HIGH: u32 = 32;

/// What is known of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Hint {
    /// Our callback of a display frame was called in it.
    Frame,
    /// Callbacks of the life cycle of this activity were.
    Activity(ClassId, LifecycleSteps),
    /// What was at the head of the queue before it was taken: its target, callback and `what`.
    Head(ClassId, ClassId, i32),
}

impl Hint {
    /// What another callback of a life cycle adds to what is known.
    pub(crate) fn called(before: Option<Self>, activity: ClassId, step: LifecycleStep) -> Self {
        let steps = match before {
            Some(Self::Activity(same, steps)) if same == activity => steps,
            Some(Self::Activity(..)) => LifecycleSteps::default().then(LifecycleStep::Other),
            _ => LifecycleSteps::default(),
        };
        Self::Activity(activity, steps.then(step))
    }

    pub(crate) fn to_bits(self) -> u64 {
        match self {
            Self::Frame => 1,
            Self::Activity(class, steps) => {
                2 | class.to_bits() << KIND_BITS | u64::from(steps.to_bits()) << HIGH
            }
            Self::Head(target, callback, what) => {
                let classes = target.to_bits() | callback.to_bits() << ClassId::BITS;
                3 | classes << KIND_BITS | u64::from(what.cast_unsigned()) << HIGH
            }
        }
    }

    /// `None` for 0.
    pub(crate) fn from_bits(bits: u64) -> Option<Self> {
        let class = ClassId::from_bits(bits >> KIND_BITS);
        let high = (bits >> HIGH) as u32;
        Some(match bits & 3 {
            1 => Self::Frame,
            2 => Self::Activity(class, LifecycleSteps::from_bits(high)),
            3 => {
                let callback = ClassId::from_bits(bits >> (KIND_BITS + ClassId::BITS));
                Self::Head(class, callback, high.cast_signed())
            }
            _ => return None,
        })
    }

    /// Whether it names a message of a component, which is kept however short it is.
    pub(crate) fn is_of_component(self) -> bool {
        match self {
            Self::Frame | Self::Activity(..) => true,
            Self::Head(target, callback, _) => target.is_component() || callback.is_component(),
        }
    }

    /// The name.
    pub(crate) fn described(self) -> Described<'static> {
        match self {
            Self::Frame => Described {
                target: "android.view.Choreographer$FrameHandler",
                callback: "android.view.Choreographer$FrameDisplayEventReceiver",
                what: None,
                named_by: NamedBy::Callback,
            },
            Self::Activity(class, steps) => Described {
                target: class.name(),
                callback: "",
                what: None,
                named_by: NamedBy::Lifecycle(steps),
            },
            Self::Head(target, callback, what) => Described {
                target: target.name(),
                callback: callback.name(),
                what: Some(what),
                named_by: NamedBy::Peek,
            },
        }
    }

    /// The name of a message that runs.
    pub(crate) fn message(self, keep: Keep) -> Message {
        let Described { target, callback, what, named_by } = self.described();
        let component = match self {
            Self::Activity(..) => Some(Component::ActivityThread),
            _ => loopbox_format::looper::component(target, callback),
        };
        let hidden = matches!(self, Self::Activity(..)) && keep == Keep::ComponentsOnly;
        let target = if hidden { "" } else { target };
        Message { target: target.to_owned(), callback: callback.to_owned(), what, component, named_by }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hint_is_the_same_after_it_was_one_word() {
        let (main, other) = (ClassId::of("a.MainActivity"), ClassId::of("a.Other"));
        let one = Hint::called(None, main, LifecycleStep::Pause);
        let two = Hint::called(Some(one), other, LifecycleStep::Create);
        let all = [Hint::Frame, one, two, Hint::Head(main, ClassId::NONE, -3), Hint::Head(other, main, 159)];
        for hint in all {
            assert_eq!(Hint::from_bits(hint.to_bits()), Some(hint));
        }
        assert_eq!(Hint::from_bits(0), None);
        let NamedBy::Lifecycle(steps) = two.described().named_by else { panic!("{two:?}") };
        assert_eq!(steps.iter().collect::<Vec<_>>(), [LifecycleStep::Other, LifecycleStep::Create]);
        assert_eq!(two.message(Keep::Names).target, "a.Other");
        assert_eq!(two.message(Keep::ComponentsOnly).target, "");
        assert_eq!(one.message(Keep::Names).component, Some(Component::ActivityThread));
    }
}
