//! The names of an enum's values: written here once, for JSON, tables, the digest and texts.

/// An enum whose values have fixed names. A name never changes and never gets another meaning.
pub trait Named {
    /// The names of all values.
    const NAMES: &'static [&'static str];

    /// The name of this value, whatever data it has.
    fn name(&self) -> &'static str;
}

impl<E: Named> Named for &E {
    const NAMES: &'static [&'static str] = E::NAMES;

    fn name(&self) -> &'static str {
        (*self).name()
    }
}

/// Implements [`Named`](crate::model::Named) for enums: `names! { End { Returned: "returned" } }`.
#[macro_export]
macro_rules! names {
    ($($enum:ident { $($value:ident: $name:literal),+ $(,)? })+) => {
        $(impl $crate::model::Named for $enum {
            const NAMES: &'static [&'static str] = &[$($name),+];

            fn name(&self) -> &'static str {
                enum Index { $($value),+ }
                let index = match self {
                    $(Self::$value { .. } => Index::$value),+
                };
                $crate::text::line(concat!($($name, "\n"),+), index as usize)
            }
        })+
    };
}

use super::{
    AnrVerdict, Component, DropLevel, DumpReason, End, Feature, FrameCause, JankPlace, LifecycleStep,
    NamedBy, NativeFrameSource, PendingSource, RecordKind, SceneKind, SignalOrigin, StackSource, Stage,
    SystemCallSource, SystemWord,
};

names! {
    AnrVerdict {
        Unknown: "unknown",
        Responsive: "responsive",
        Hang: "hang",
        Probable: "probable",
        Confirmed: "confirmed",
    }
    Component {
        ActivityThread: "activity_thread",
        Receiver: "receiver",
        ServiceConnection: "service_connection",
        Job: "job",
        Frame: "frame",
        Input: "input",
    }
    DropLevel { Best: "best", Normal: "normal", Middle: "middle", High: "high", Frozen: "frozen" }
    DumpReason {
        Requested: "requested",
        SigQuit: "sigquit",
        Recovered: "recovered",
        Hang: "hang",
        SystemTrace: "system_trace",
    }
    End { Returned: "returned", Threw: "threw", Missed: "missed" }
    Feature {
        Hook: "hook",
        Sampler: "sampler",
        Ring: "ring",
        SigQuit: "sigquit",
        Frames: "frames",
        Stages: "stages",
        Touch: "touch",
        Janks: "janks",
    }
    FrameCause {
        UnknownDelay: "unknown_delay",
        Input: "input",
        Animation: "animation",
        LayoutMeasure: "layout_measure",
        Draw: "draw",
        RenderWait: "render_wait",
        Sync: "sync",
        CommandIssue: "command_issue",
        SwapBuffers: "swap_buffers",
        Unattributed: "unattributed",
        Gpu: "gpu",
        None: "none",
    }
    JankPlace {
        OwnMessage: "own_message",
        OtherMessage: "other_message",
        OutsideOfMessages: "outside_of_messages",
        AfterMain: "after_main",
    }
    LifecycleStep {
        Create: "create",
        Start: "start",
        Resume: "resume",
        Pause: "pause",
        Stop: "stop",
        Destroy: "destroy",
        Other: "other",
    }
    NamedBy {
        Observer: "observer",
        Printer: "printer",
        Stack: "stack",
        Window: "window",
        Callback: "callback",
        Lifecycle: "lifecycle",
        Peek: "peek",
    }
    NativeFrameSource { Pc: "pc", Link: "link", FramePointer: "frame_pointer" }
    PendingSource {
        LooperDump: "looper_dump",
        MessagesField: "messages_field",
        Unavailable: "unavailable",
    }
    RecordKind { Group: "group", Single: "single", Idle: "idle", Frozen: "frozen", Unseen: "unseen", Outside: "outside" }
    SceneKind { Named: "scene", Other: "other", Process: "process" }
    SignalOrigin {
        System: "system",
        SameProcess: "same_process",
        SameUser: "same_user",
        Shell: "shell",
        Other: "other",
    }
    Stage {
        UnknownDelay: "unknown_delay",
        Input: "input",
        Animation: "animation",
        LayoutMeasure: "layout_measure",
        Draw: "draw",
        RenderWait: "render_wait",
        Sync: "sync",
        CommandIssue: "command_issue",
        SwapBuffers: "swap_buffers",
        GpuTail: "gpu_tail",
    }
    StackSource { Art: "art", JavaApi: "java_api", SystemTrace: "system_trace" }
    SystemCallSource { Registers: "registers", Proc: "proc" }
    SystemWord { Silent: "silent", NotResponding: "not_responding" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_has_its_name_whatever_data_it_has() {
        let why = PendingSource::Unavailable("no method Looper.dump".into());
        assert_eq!((why.name(), PendingSource::NAMES.len()), ("unavailable", 3));
        assert_eq!(DumpReason::Recovered { crash_signal: Some(11) }.name(), "recovered");
        let [first, last] = [Stage::UnknownDelay, Stage::GpuTail].map(|stage| stage.name());
        assert_eq!([Some(&first), Some(&last)], [Stage::NAMES.first(), Stage::NAMES.last()]);
    }

    #[test]
    fn names_of_one_enum_differ() {
        for names in [AnrVerdict::NAMES, Component::NAMES, Feature::NAMES, RecordKind::NAMES] {
            let distinct: std::collections::HashSet<_> = names.iter().collect();
            assert_eq!(distinct.len(), names.len(), "{names:?}");
        }
    }
}
