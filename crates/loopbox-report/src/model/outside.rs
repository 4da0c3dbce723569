//! Where the main thread is when it runs no message, by its stack.

use super::analysis::Analysis;
use super::frame::{Frame, FrameId, FrameKind, FrameTable};
use super::framework::Role;
use super::sampled_tree::SampledTree;
use loopbox_format::model::{Feature, MainState, Outside, Token, Uptime};

/// What the main thread does between two messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OutsidePlace {
    /// Main waits for a message.
    Waiting,
    /// A window dispatches an input event that native code has read from its channel.
    Input,
    /// A listener of `MessageQueue.addOnFileDescriptorEventListener`.
    Descriptor,
    /// The callback of a sensor.
    Sensor,
    /// The callback of the display's vsync.
    Vsync,
    /// Another callback of native code.
    NativeCallback,
    /// `MessageQueue.IdleHandler.queueIdle`.
    IdleHandler,
    /// A message, though no hook saw it.
    UnseenMessage,
    /// A message that the hook has seen begin, and that continues after an inner loop has run other messages.
    AfterLoop,
    /// The stack has neither a message queue nor a dispatch.
    Elsewhere,
}

impl OutsidePlace {
    /// The place in words that fit after "in": `an idle handler`. `None` while main waits for a message, or
    /// where the stack shows no place.
    pub(crate) fn words(self) -> Option<&'static str> {
        Some(match self {
            Self::Waiting | Self::Elsewhere => return None,
            Self::Input => "input",
            Self::Descriptor => "a file descriptor's callback",
            Self::Sensor => "a sensor's callback",
            Self::Vsync => "the vsync callback",
            Self::NativeCallback => "a native callback",
            Self::IdleHandler => "an idle handler",
            Self::UnseenMessage => "a message that no hook saw",
            Self::AfterLoop => "a message that goes on after a loop inside of it",
        })
    }
}

/// The place where most of a tree's stacks are, by time. Stacks that wait for a message do not count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TreePlace {
    pub(crate) place: OutsidePlace,
    /// The method by which the place is entered: `MainActivity.dispatchTouchEvent`, `Trim.queueIdle`.
    pub(crate) entry: Option<FrameId>,
    /// The total time of the stacks that do not wait for a message.
    pub(crate) busy_ns: u64,
    /// Whether the last stack waits for a message.
    pub(crate) waits_now: bool,
}

/// The place of one stack, outermost frame first, and the frame that enters it; `None` when the stack's top
/// has no name in the report.
fn place_of(stack: &[FrameId], frames: &FrameTable) -> Option<(OutsidePlace, Option<FrameId>)> {
    let top = frames.get(stack.last()?.index())?;
    (top.kind != FrameKind::Unknown).then(|| place_of_named(stack, frames))
}

fn place_of_named(stack: &[FrameId], frames: &FrameTable) -> (OutsidePlace, Option<FrameId>) {
    let frame = |&id: &FrameId| &frames[id];
    let is_there = |role: Option<Role>| {
        matches!(role, Some(Role::Dispatch | Role::OwnDispatch | Role::Queue | Role::Poll))
    };
    let Some(at) = stack.iter().rposition(|id| is_there(frame(id).role())) else {
        return (OutsidePlace::Elsewhere, None);
    };
    // An accessor is not what was called, but how.
    let above: Vec<FrameId> = stack[at + 1..].iter().copied().filter(|id| !frame(id).synthetic).collect();
    if matches!(frame(&stack[at]).role(), Some(Role::Dispatch | Role::OwnDispatch)) {
        return (OutsidePlace::UnseenMessage, above.first().copied());
    }
    let Some(first) = above.first().map(frame) else { return (OutsidePlace::Waiting, None) };
    let entered_by = |is: &dyn Fn(&Frame) -> bool| above.iter().find(|id| is(frame(id))).copied();
    let of_role = |role: Role| entered_by(&|f| f.role() == Some(role));
    if let Some(entry) = of_role(Role::IdleHandler) {
        return (OutsidePlace::IdleHandler, Some(entry));
    }
    if first.role() == Some(Role::Descriptors) {
        let entry = of_role(Role::DescriptorListener);
        return (OutsidePlace::Descriptor, entry.or(above.get(1).copied()));
    }
    let is_event = |f: &Frame| f.role() == Some(Role::InputEvent);
    let shipped = |f: &Frame| f.is_shipped() && !f.is_of_loopbox();
    let event = entered_by(&|f| is_event(f) && f.is_of_app())
        .or_else(|| entered_by(&|f| is_event(f) && shipped(f)))
        .or_else(|| entered_by(&is_event));
    let place = match first.role() {
        _ if event.is_some() => OutsidePlace::Input,
        Some(Role::Input) => OutsidePlace::Input,
        Some(Role::Vsync) => OutsidePlace::Vsync,
        Some(Role::Sensor) => OutsidePlace::Sensor,
        _ => OutsidePlace::NativeCallback,
    };
    (place, event.or(above.first().copied()))
}

impl SampledTree {
    /// The place of a main thread that runs no message, by the stacks of this tree. `None` for a tree without
    /// stacks, or when the top of its last stack has no name.
    pub(crate) fn outside_place(&self, frames: &FrameTable) -> Option<TreePlace> {
        let mut times: Vec<(OutsidePlace, Option<FrameId>, u64)> = Vec::new();
        let mut last = None;
        for run in self.stack_runs() {
            let found = place_of(&self.stack(run.top), frames);
            last = found.map(|(place, _)| place);
            let Some((place, entry)) = found else { continue };
            let ns = self.span_ns(run.start, run.end);
            match times.iter_mut().find(|(known, ..)| *known == place) {
                Some((.., sum)) => *sum = sum.saturating_add(ns),
                None => times.push((place, entry, ns)),
            }
        }
        let waits_now = last? == OutsidePlace::Waiting;
        times.retain(|(place, ..)| *place != OutsidePlace::Waiting);
        let busy_ns = times.iter().fold(0, |sum: u64, (.., ns)| sum.saturating_add(*ns));
        let heaviest = times.into_iter().max_by_key(|(.., ns)| *ns);
        let (place, entry, _) = heaviest.unwrap_or((OutsidePlace::Waiting, None, 0));
        Some(TreePlace { place, entry, busy_ns, waits_now })
    }
}

impl Analysis {
    /// The place of a tree as [`SampledTree::outside_place`] finds it, with one exception.
    /// [`OutsidePlace::UnseenMessage`] means that the stacks show a message that no hook saw. But if that
    /// message contains an inner loop, the hook saw it begin, and only did not see it continue after the
    /// loop. The place is then [`OutsidePlace::AfterLoop`]. Three conditions show this: the hook is on, the
    /// tree is of what main does at the dump, and the recorder reports that main was in an inner loop before.
    pub(crate) fn place_of(&self, tree: &SampledTree) -> Option<TreePlace> {
        let found = tree.outside_place(&self.frames)?;
        let hooked = self.features.iter().any(|state| state.feature == Feature::Hook && state.on);
        let now = self.outside().is_some_and(|outside| outside.token == tree.token);
        let goes_on =
            found.place == OutsidePlace::UnseenMessage && hooked && now && self.has_messages_around();
        Some(if goes_on { TreePlace { place: OutsidePlace::AfterLoop, ..found } } else { found })
    }

    /// Whether the recorder reports that at least one message enclosed the loop that main was in before the
    /// work outside of messages. False when the report has no such statistic.
    fn has_messages_around(&self) -> bool {
        self.statistic("main.messages_around").is_some_and(|messages| messages >= 1.0)
    }

    /// The work outside of messages that main did at the dump; `None` when it did none.
    pub fn outside(&self) -> Option<&Outside> {
        match &self.main {
            MainState::Outside(outside) => Some(outside),
            _ => None,
        }
    }

    /// The token under which the stacks of the dump are stored: the token of the running message, or of what
    /// ran outside of messages. Where the recorder took main for idle, it is the token of stacks that were
    /// taken since main became idle. Where the recorder did not know what main did, it is the token of the
    /// newest stacks outside of messages. `None` when there are no such stacks.
    pub(crate) fn current_token(&self) -> Option<Token> {
        match &self.main {
            MainState::Running(running) => Some(running.token),
            MainState::Outside(outside) => Some(outside.token),
            MainState::Idle { since_ns } => self.stacks_outside_since(*since_ns).map(|tree| tree.token),
            _ => self.stacks_outside_since(Uptime::ZERO).map(|tree| tree.token),
        }
    }

    /// The newest stacks that were taken outside of messages; `None` when the last of them is older than
    /// `since_ns`.
    pub(crate) fn stacks_outside_since(&self, since_ns: Uptime) -> Option<&SampledTree> {
        let last_sample = |tree: &SampledTree| {
            tree.samples().checked_sub(1).and_then(|last| tree.sample_ns.get(last as usize)).copied()
        };
        let mut outside = self.trees.iter().rev().filter(|tree| tree.token.is_outside());
        outside.find(|tree| last_sample(tree).is_some_and(|at| at >= since_ns))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_support::{OUTSIDE, ReportBuilder};
    use loopbox_format::model::FeatureState;

    /// The place, and the method that enters it.
    fn place(stack: &str) -> (OutsidePlace, Option<String>) {
        let a = Analysis::new(&ReportBuilder::new().running(1, 1_000).tree(1, &[(stack, 50)]).build());
        let found = a.trees[0].outside_place(&a.frames).unwrap();
        (found.place, found.entry.map(|id| a.frames[id].short()))
    }

    #[test]
    fn the_place_is_what_the_queue_called() {
        use OutsidePlace::*;
        const NEXT: &str = "android.os.Looper.loop android.os.MessageQueue.next";
        const POLL: &str =
            "android.os.Looper.loop android.os.MessageQueue.next android.os.MessageQueue.nativePollOnce";
        const POLL_17: &str = "android.os.Looper.loop android.os.Looper.loopOnce \
                               android.os.MessageQueue.next android.os.MessageQueue.nextDeliQueue \
                               android.os.MessageQueue.nativePollOnce";
        let input = "android.view.InputEventReceiver.dispatchInputEvent \
                     android.view.ViewRootImpl$WindowInputEventReceiver.onInputEvent";
        let cases = [
            ("waits", format!("{POLL}!"), Waiting, None),
            (
                "touch",
                format!("{POLL} {input} com.shop.Main.dispatchTouchEvent a.B.c"),
                Input,
                Some("Main.dispatchTouchEvent"),
            ),
            (
                "touch behind a wrapped window",
                format!(
                    "{POLL} {input} com.android.internal.policy.DecorView.dispatchTouchEvent \
                     io.loopbox.WindowInput.dispatchTouchEvent com.shop.Main.dispatchTouchEvent"
                ),
                Input,
                Some("Main.dispatchTouchEvent"),
            ),
            (
                "key",
                format!("{POLL} {input} com.android.internal.policy.DecorView.dispatchKeyEvent"),
                Input,
                Some("DecorView.dispatchKeyEvent"),
            ),
            (
                "input that no view has",
                format!("{POLL} {input}"),
                Input,
                Some("InputEventReceiver.dispatchInputEvent"),
            ),
            (
                "descriptor",
                format!(
                    "{POLL} android.os.MessageQueue.dispatchEvents com.shop.Pipe.onFileDescriptorEvents a.B.c"
                ),
                Descriptor,
                Some("Pipe.onFileDescriptorEvents"),
            ),
            (
                "sensor",
                format!(
                    "{POLL} android.hardware.SystemSensorManager$SensorEventQueue.dispatchSensorEvent a.B.c"
                ),
                Sensor,
                Some("SystemSensorManager$SensorEventQueue.dispatchSensorEvent"),
            ),
            (
                "vsync",
                format!("{POLL} android.view.DisplayEventReceiver.dispatchVsync"),
                Vsync,
                Some("DisplayEventReceiver.dispatchVsync"),
            ),
            (
                "other native code",
                format!("{POLL} com.shop.Jni.onReady"),
                NativeCallback,
                Some("Jni.onReady"),
            ),
            (
                "idle handler",
                format!("{NEXT} com.shop.Trim.queueIdle a.B.c"),
                IdleHandler,
                Some("Trim.queueIdle"),
            ),
            (
                "an unseen message",
                "android.os.Looper.loop android.os.Handler.dispatchMessage a.H.handleMessage".into(),
                UnseenMessage,
                Some("H.handleMessage"),
            ),
            (
                "an unseen message of Android 17",
                "android.os.Looper.loopOnce android.os.Handler.dispatchMessage \
                 android.os.Handler.dispatchMessageImpl a.H.-$$Nest$mshow a.H.show"
                    .into(),
                UnseenMessage,
                Some("H.show"),
            ),
            (
                "idle on Android 17",
                format!(
                    "{NEXT} android.os.MessageQueue.nextDeliQueue android.os.MessageQueue.nativePollOnce"
                ),
                Waiting,
                None,
            ),
            (
                "a nested loop in an idle handler",
                format!(
                    "{NEXT} a.T.queueIdle android.os.Looper.loop android.os.Handler.dispatchMessage a.H.h"
                ),
                UnseenMessage,
                Some("H.h"),
            ),
            (
                "touch, on Android 17",
                format!("{POLL_17} {input} com.shop.Main.dispatchTouchEvent a.B.c"),
                Input,
                Some("Main.dispatchTouchEvent"),
            ),
            (
                "a sensor, by an accessor",
                format!(
                    "{POLL_17} a.B.-$$Nest$mc android.hardware.SystemSensorManager$Queue.dispatchSensorEvent"
                ),
                Sensor,
                Some("SystemSensorManager$Queue.dispatchSensorEvent"),
            ),
            ("before the loop", "com.android.internal.os.ZygoteInit.main a.B.c".into(), Elsewhere, None),
        ];
        for (name, stack, expected, entry) in cases {
            assert_eq!(place(&stack), (expected, entry.map(str::to_owned)), "{name}");
        }
    }

    #[test]
    fn a_message_goes_on_after_a_loop_inside_of_it_where_the_recorder_says_so() {
        let stack = "android.os.Looper.loop android.os.Handler.dispatchMessage a.Dialog.show";
        let place = |around: &str, on| {
            let report = ReportBuilder::new().outside(3_000, true).tree(OUTSIDE, &[(stack, 50)]);
            let mut decoded = report.statistic("main.messages_around", around).build();
            let detail = String::new();
            decoded.report.features.retain(|state| state.feature != Feature::Hook);
            decoded.report.features.push(FeatureState { feature: Feature::Hook, on, detail });
            let a = Analysis::new(&decoded);
            a.place_of(&a.trees[0]).unwrap().place
        };
        assert_eq!(place("1", true), OutsidePlace::AfterLoop);
        assert_eq!(
            place("1", false),
            OutsidePlace::UnseenMessage,
            "another library may have the hook's place"
        );
        assert_eq!(place("", true), OutsidePlace::UnseenMessage);
    }

    #[test]
    fn most_of_the_time_decides_and_waiting_does_not_count() {
        let poll = "android.os.MessageQueue.next android.os.MessageQueue.nativePollOnce";
        let stacks = [
            (format!("{poll}!"), 60),
            (format!("{poll} a.J.call"), 10),
            ("android.os.MessageQueue.next a.T.queueIdle".to_owned(), 20),
            (format!("{poll}!"), 1),
        ];
        let stacks: Vec<(&str, u32)> = stacks.iter().map(|(stack, n)| (stack.as_str(), *n)).collect();
        let a = Analysis::new(&ReportBuilder::new().running(1, 2_000).tree(1, &stacks).build());
        let found = a.trees[0].outside_place(&a.frames).unwrap();
        assert_eq!(
            (found.place, found.busy_ns, found.waits_now),
            (OutsidePlace::IdleHandler, 300_000_000, true)
        );
    }
}
