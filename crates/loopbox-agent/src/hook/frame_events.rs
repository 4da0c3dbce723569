//! Display frames on the main thread: makes events for the worker out of the calls of Java's frame callback
//! and listeners. A frame costs some integers and a place in a queue. Nothing is allocated and no lock is
//! taken.

use crate::session::Session;
use crate::session::display_frames::FrameSender;
use loopbox_format::model::{Token, Uptime};
use loopbox_frames::{
    Cadence, FrameEvent, IntervalDetector, OwnMessage, RefreshInterval, SeenFrame, SeenMessage,
};
use loopbox_recorder::Ended;
use ringbuf::traits::Producer;
use std::sync::Arc;

const MS: u64 = 1_000_000;
/// The lowest age from which messages are sampled, at any refresh interval.
const SHORTEST_ONSET_NS: u64 = 20 * MS;

/// What the main thread keeps of its frames.
pub(crate) struct MainFrames {
    session: Arc<Session>,
    queue: FrameSender,
    cadence: Cadence,
    rate: IntervalDetector,
    scene: u16,
    /// Whether a callback was requested.
    asked: bool,
    /// The message that drew the frame now on the display. Once that message has ended, `own_ended` has its
    /// end.
    own: Option<Token>,
    own_ended: Option<OwnMessage>,
    /// The slowest message that ended while the display showed the frame that `own` drew. `own` itself does
    /// not count.
    other: Option<SeenMessage>,
}

impl MainFrames {
    pub(crate) fn new(session: Arc<Session>, queue: FrameSender) -> Self {
        Self {
            session,
            queue,
            cadence: Cadence::new(),
            rate: IntervalDetector::new(RefreshInterval::HZ_60),
            scene: u16::MAX,
            asked: false,
            own: None,
            own_ended: None,
            other: None,
        }
    }

    /// Takes note of a message that has ended: it may have drawn or delayed the frame now on the display.
    #[inline]
    pub(crate) fn message_ended(&mut self, ended: Ended) {
        let Some(own) = self.own else { return };
        let Ended { token, ran_ns: wall_ns, end_ns } = ended;
        if token == own {
            self.own_ended = Some(OwnMessage { message: SeenMessage { token, wall_ns }, end_ns });
            if !self.asked {
                self.own = None;
                self.set_awaited(false);
            }
        } else if self.other.is_none_or(|other| wall_ns > other.wall_ns) {
            self.other = Some(SeenMessage { token, wall_ns });
        }
    }

    /// From now on the display shows the frame that the message `running` draws.
    fn stands(&mut self, running: Option<Token>) {
        if self.own != running {
            self.own = running;
            self.own_ended = None;
            self.other = None;
        }
    }

    /// The frame callback runs, in this message. Returns whether Java should ask for it again.
    pub(super) fn frame(&mut self, time_ns: u64, running: Option<Token>) -> bool {
        let tick = self.cadence.frame(Uptime(time_ns), self.rate.interval());
        if let Some(frame) = tick.finished {
            self.rate.frame(frame.duration_ns);
            let observed_rate = self.rate.is_observed();
            let seen = SeenFrame { frame, observed_rate, own: self.own_ended, other: self.other };
            self.send(FrameEvent::Frame(seen, self.scene));
        }
        self.stands(running);
        self.ask(tick.ask_again)
    }

    /// A view has scrolled, in this message, at this time of the animation clock. Returns whether Java should
    /// ask for a callback.
    pub(super) fn scrolled(&mut self, clock_ms: u64, running: Option<Token>) -> bool {
        let ask = self.cadence.scrolled(clock_ms);
        if ask {
            self.stands(running);
            self.ask(true);
        }
        ask
    }

    /// Records whether a callback is requested. As long as one is, the sampler takes samples more often.
    fn ask(&mut self, asks: bool) -> bool {
        self.asked = asks;
        // What scrolls in a frame may say so at its end: until its message is over, the next one may still be
        // asked for.
        if asks || self.own.is_none() {
            self.set_awaited(asks);
        }
        if asks && self.session.settings.frames.is_some_and(|frames| frames.stacks) {
            let interval_ns = self.rate.interval().ns();
            let onset_ns = (interval_ns + interval_ns / 2).max(SHORTEST_ONSET_NS);
            self.session.shared.pace.set_jank_onset(onset_ns);
        }
        asks
    }

    fn set_awaited(&self, awaited: bool) {
        if let Some(frames) = &self.session.frames {
            frames.set_awaited(awaited);
        }
    }

    /// Passes an event on to the worker, which is woken when it sleeps.
    pub(super) fn send(&mut self, event: FrameEvent) {
        let Some(frames) = &self.session.frames else { return };
        if self.queue.try_push(event.into()).is_err() {
            frames.lose();
        }
        if frames.wakes() {
            self.session.wake_worker();
        }
    }

    /// An animation other than a scroll begins. Returns whether Java should ask for a callback.
    pub(super) fn begin_animation(&mut self) -> bool {
        let asks = self.cadence.begin_animation();
        if asks { self.ask(true) } else { false }
    }

    /// Ends the animation with the frame that runs.
    pub(super) fn end_animation(&mut self) {
        self.cadence.end_animation();
    }

    /// The callback that was requested is taken back: how long the frame on the display stands is not known.
    pub(super) fn stop(&mut self) {
        self.cadence = Cadence::new();
        self.stands(None);
        self.ask(false);
    }

    /// Passes a touch on. While the app has paused the recorder, only the lift of a finger is passed on:
    /// without it, a gesture that began before the pause would never end.
    pub(super) fn touched(&mut self, touch: FrameEvent) {
        if matches!(touch, FrameEvent::Up { .. }) || !self.session.shared.is_paused() {
            self.send(touch);
        }
    }

    /// Frames from now on are of this screen.
    pub(super) fn set_scene(&mut self, name: &str) {
        self.scene = self.session.frames.as_ref().map_or(u16::MAX, |frames| frames.number_of(name));
    }

    /// Takes the refresh rate that the display claims.
    pub(super) fn set_rate(&mut self, hz: f32) {
        if let Some(interval) = RefreshInterval::from_hz(hz) {
            self.rate.claim(interval);
            self.send(FrameEvent::Interval(interval));
        }
    }
}
