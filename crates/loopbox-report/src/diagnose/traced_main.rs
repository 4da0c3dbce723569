//! The main thread in the system's trace, when the trace is of the moment of the report.

use super::slow_message::SlowMessage;
use crate::model::framework::Role;
use crate::model::{Analysis, SampledTree, SystemTrace, TraceThread};
use loopbox_format::model::StackSource;

/// The main thread as a trace of the moment of the report shows it.
#[derive(Debug, Clone, Copy)]
pub(super) struct TracedMain<'a> {
    pub(super) trace: &'a SystemTrace,
    pub(super) main: &'a TraceThread,
}

impl<'a> TracedMain<'a> {
    /// Main in the report's trace. `None` without a trace, when the trace is of another moment, and when it
    /// does not show main.
    pub(super) fn of(a: &'a Analysis) -> Option<Self> {
        let trace = a.system_trace.as_ref().filter(|trace| trace.apart.is_none())?;
        Some(Self { trace, main: trace.main()? })
    }

    /// Whether ART reports a state of main in which it does not wait for a monitor.
    pub(super) fn refutes_monitor(self) -> bool {
        self.main.is_blocked() == Some(false)
    }

    /// Whether the trace shows where main was: by a stack, or by the kernel function that main sleeps in.
    pub(super) fn shows_a_place(self) -> bool {
        let has_native = self.main.native.as_ref().is_some_and(|native| !native.frames.is_empty());
        has_native || !self.main.wchan.is_empty() || !self.main.java().is_empty()
    }

    /// Whether main waits for its next message, according to the trace.
    pub(super) fn waits_for_a_message(self, a: &Analysis) -> bool {
        self.main.java().last().is_some_and(|&top| a.frames[top].role() == Some(Role::Poll))
    }
}

/// Whether a stack tree is from the system's trace, which has one stack of main.
pub(super) fn is_of_trace(tree: &SampledTree) -> bool {
    tree.source == StackSource::SystemTrace
}

/// The reason to lower the confidence when the message's only stack is from the system's trace; else `None`.
pub(super) fn one_instant(slow: SlowMessage<'_>) -> Option<String> {
    slow.tree.filter(|tree| is_of_trace(tree)).map(|_| "the system's trace shows one instant of it".into())
}
