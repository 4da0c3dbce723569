//! The steps of an activity's life cycle that began in a message.

use bincode::de::{BorrowDecoder, Decoder};
use bincode::enc::Encoder;
use bincode::error::{DecodeError, EncodeError};
use bincode::{BorrowDecode, Decode, Encode};

/// A step of an activity's life cycle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum LifecycleStep {
    /// `onCreate`.
    Create,
    /// `onStart`.
    Start,
    /// `onResume`.
    Resume,
    /// `onPause`.
    Pause,
    /// `onStop`.
    Stop,
    /// `onDestroy`.
    Destroy,
    /// Steps of another activity.
    Other,
}

impl LifecycleStep {
    const ALL: [Self; 7] =
        [Self::Create, Self::Start, Self::Resume, Self::Pause, Self::Stop, Self::Destroy, Self::Other];

    /// The step with this number, from 1.
    pub fn from_number(number: u32) -> Option<Self> {
        Self::ALL.get((number as usize).checked_sub(1)?).copied()
    }

    fn number(self) -> u32 {
        self as u32 + 1
    }
}

/// Steps of an activity's life cycle in the order in which they began; the last eight. A step is included
/// from its first callback on, so it may not be over.
///
/// It has only three bytes. In the app they fit into the padding of the type for a message's name, which
/// therefore does not grow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct LifecycleSteps([u8; 3]);

impl LifecycleSteps {
    const BITS: u32 = 3;
    const MOST: u32 = 8;

    /// The steps of a number that [`to_bits`](Self::to_bits) returned.
    pub fn from_bits(bits: u32) -> Self {
        let [first, second, third, _] = bits.to_le_bytes();
        Self([first, second, third])
    }

    /// The steps as a number of 24 bits: three bits for each step, the last step in the lowest.
    pub fn to_bits(self) -> u32 {
        let [first, second, third] = self.0;
        u32::from_le_bytes([first, second, third, 0])
    }

    /// Appends a step, unless it is the same as the last one.
    #[must_use]
    pub fn then(self, step: LifecycleStep) -> Self {
        let bits = self.to_bits();
        if bits & 7 == step.number() { self } else { Self::from_bits(bits << Self::BITS | step.number()) }
    }

    /// The steps, the first one first.
    pub fn iter(self) -> impl Iterator<Item = LifecycleStep> {
        let bits = self.to_bits();
        let places = (0..Self::MOST).rev();
        places.filter_map(move |place| LifecycleStep::from_number(bits >> (place * Self::BITS) & 7))
    }
}

// By hand: a number has its reader and writer in the app's library already.
impl Encode for LifecycleSteps {
    fn encode<E: Encoder>(&self, encoder: &mut E) -> Result<(), EncodeError> {
        self.to_bits().encode(encoder)
    }
}

impl<C> Decode<C> for LifecycleSteps {
    fn decode<D: Decoder<Context = C>>(decoder: &mut D) -> Result<Self, DecodeError> {
        Ok(Self::from_bits(u32::decode(decoder)?))
    }
}

impl<'de, C> BorrowDecode<'de, C> for LifecycleSteps {
    fn borrow_decode<D: BorrowDecoder<'de, Context = C>>(decoder: &mut D) -> Result<Self, DecodeError> {
        Self::decode(decoder)
    }
}

#[cfg(test)]
mod tests {
    use super::LifecycleStep::{Create, Destroy, Other, Pause, Resume, Start, Stop};
    use super::*;

    #[test]
    fn steps_keep_their_order_and_the_last_eight() {
        let of = |steps: &[LifecycleStep]| {
            let all = steps.iter().fold(LifecycleSteps::default(), |all, &step| all.then(step));
            LifecycleSteps::from_bits(all.to_bits()).iter().collect::<Vec<_>>()
        };
        assert_eq!(of(&[]), []);
        assert_eq!(of(&[Create, Create, Start]), [Create, Start]);
        let relaunch = [Pause, Stop, Destroy, Create, Start, Resume];
        assert_eq!(of(&relaunch), relaunch);
        let many = [Other, Pause, Stop, Start, Resume, Pause, Resume, Pause, Stop, Destroy];
        assert_eq!(of(&many), many[2..]);
        assert_eq!(of(&[Destroy]), LifecycleSteps::from_bits(0xff00_0006).iter().collect::<Vec<_>>());
    }
}
