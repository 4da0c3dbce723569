//! Events for the worker, packed into 64 bytes each. Their queue takes its full size in memory all the time,
//! although it is nearly always empty. So small events save memory.

use crate::display_frame::DisplayFrame;
use crate::interval::RefreshInterval;
use crate::recorder::{FrameEvent, OwnMessage, SeenFrame, SeenMessage};
use loopbox_format::model::{FrameFlags, Token, Uptime};

// The first word of an event. Of a frame from the lowest bit on: interval (26), flags (16), screen (16), then
// these; the highest three bits are the kind. Of a moved finger the lower half is the distance.
const FLAGS_AT: u32 = 26;
const SCENE_AT: u32 = FLAGS_AT + 16;
const OBSERVED_AT: u32 = SCENE_AT + 16;
const OWN_AT: u32 = OBSERVED_AT + 1;
const OTHER_AT: u32 = OWN_AT + 1;
const KIND_AT: u32 = OTHER_AT + 1;
const INTERVAL_MASK: u64 = (1 << FLAGS_AT) - 1;

const FRAME: u64 = 0;
const DOWN: u64 = 1;
const MOVED: u64 = 2;
const UP: u64 = 3;
const INTERVAL: u64 = 4;

/// An event in eight words, without loss.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PackedEvent([u64; 8]);

impl From<FrameEvent> for PackedEvent {
    #[inline]
    fn from(event: FrameEvent) -> Self {
        let [head, at_ns] = match event {
            FrameEvent::Frame(SeenFrame { frame, observed_rate, own, other }, scene) => {
                let head = frame.interval.ns()
                    | u64::from(frame.flags.0) << FLAGS_AT
                    | u64::from(scene) << SCENE_AT
                    | u64::from(observed_rate) << OBSERVED_AT
                    | u64::from(own.is_some()) << OWN_AT
                    | u64::from(other.is_some()) << OTHER_AT
                    | FRAME << KIND_AT;
                let own = own.unwrap_or_default();
                let other = other.unwrap_or_default();
                return Self([
                    head,
                    frame.time_ns.0,
                    frame.duration_ns,
                    own.message.token.0,
                    own.message.wall_ns,
                    own.end_ns.0,
                    other.token.0,
                    other.wall_ns,
                ]);
            }
            FrameEvent::Down { at_ns } => [DOWN << KIND_AT, at_ns.0],
            FrameEvent::Moved { at_ns, distance_dp } => {
                [MOVED << KIND_AT | u64::from(distance_dp.to_bits()), at_ns.0]
            }
            FrameEvent::Up { at_ns } => [UP << KIND_AT, at_ns.0],
            FrameEvent::Interval(interval) => [INTERVAL << KIND_AT | interval.ns(), 0],
        };
        Self([head, at_ns, 0, 0, 0, 0, 0, 0])
    }
}

impl PackedEvent {
    /// The event that these words were made from; `None` for words that are not an event's.
    pub fn event(&self) -> Option<FrameEvent> {
        let [head, at_ns, duration_ns, own_token, own_wall_ns, own_end_ns, other_token, other_wall_ns] =
            self.0;
        let has = |at: u32| head >> at & 1 == 1;
        let interval = || RefreshInterval::from_ns(head & INTERVAL_MASK);
        let at_ns = Uptime(at_ns);
        Some(match head >> KIND_AT {
            FRAME => {
                let flags = FrameFlags((head >> FLAGS_AT) as u16);
                let frame = DisplayFrame { time_ns: at_ns, duration_ns, interval: interval()?, flags };
                let own = OwnMessage {
                    message: SeenMessage { token: Token(own_token), wall_ns: own_wall_ns },
                    end_ns: Uptime(own_end_ns),
                };
                let other = SeenMessage { token: Token(other_token), wall_ns: other_wall_ns };
                let seen = SeenFrame {
                    frame,
                    observed_rate: has(OBSERVED_AT),
                    own: has(OWN_AT).then_some(own),
                    other: has(OTHER_AT).then_some(other),
                };
                FrameEvent::Frame(seen, (head >> SCENE_AT) as u16)
            }
            DOWN => FrameEvent::Down { at_ns },
            MOVED => FrameEvent::Moved { at_ns, distance_dp: f32::from_bits(head as u32) },
            UP => FrameEvent::Up { at_ns },
            INTERVAL => FrameEvent::Interval(interval()?),
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    prop_compose! {
        fn message()(token in any::<u64>(), wall_ns in any::<u64>()) -> SeenMessage {
            SeenMessage { token: Token(token), wall_ns }
        }
    }

    prop_compose! {
        fn frame()(
            time_ns in any::<u64>(),
            duration_ns in any::<u64>(),
            interval_ns in 4_000_000_u64..=50_000_000,
            flags in any::<u16>(),
            observed_rate in any::<bool>(),
            own in proptest::option::of((message(), any::<u64>())),
            other in proptest::option::of(message()),
        ) -> SeenFrame {
            let interval = RefreshInterval::from_ns(interval_ns).unwrap();
            let flags = FrameFlags(flags);
            let frame = DisplayFrame { time_ns: Uptime(time_ns), duration_ns, interval, flags };
            let own = own.map(|(message, end_ns)| OwnMessage { message, end_ns: Uptime(end_ns) });
            SeenFrame { frame, observed_rate, own, other }
        }
    }

    fn event() -> impl Strategy<Value = FrameEvent> {
        let at = || any::<u64>().prop_map(Uptime);
        prop_oneof![
            4 => (frame(), any::<u16>()).prop_map(|(seen, scene)| FrameEvent::Frame(seen, scene)),
            1 => at().prop_map(|at_ns| FrameEvent::Down { at_ns }),
            1 => (at(), -1e6_f32..1e6).prop_map(|(at_ns, distance_dp)| FrameEvent::Moved { at_ns, distance_dp }),
            1 => at().prop_map(|at_ns| FrameEvent::Up { at_ns }),
            1 => (4_000_000_u64..=50_000_000)
                .prop_map(|ns| FrameEvent::Interval(RefreshInterval::from_ns(ns).unwrap())),
        ]
    }

    proptest! {
        #[test]
        fn nothing_of_an_event_is_lost(event in event()) {
            prop_assert_eq!(PackedEvent::from(event).event(), Some(event));
        }

        #[test]
        fn other_words_are_an_event_or_none(words in any::<[u64; 8]>()) {
            if let Some(event) = PackedEvent(words).event() {
                // By their words: a distance that is not a number is not equal to itself.
                let packed = PackedEvent::from(event);
                prop_assert_eq!(packed.event().map(PackedEvent::from), Some(packed));
            }
        }
    }
}
