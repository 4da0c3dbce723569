//! What the system's trace says of main at the moment of the report. Its stack is a tree like the recorder's
//! own, where the recorder has none.

use super::facts::Facts;
use super::finding::Finding;
use super::slow_message::SlowMessage;
use super::wait_kind::{WaitKind, WaitProfile, kind_of_stack};
use crate::model::framework::Role;
use crate::model::time::share;
use crate::model::{Analysis, FrameId, SampledTree, SystemTrace, TraceThread};
use loopbox_format::model::StackSource;

/// So much of the stacks at one place are no chance.
const SAME_PLACE: f64 = 0.9;
/// How far below a cause that the trace shows one stays that has no more than the message's length.
const BELOW: f64 = 0.01;

/// Main as a trace of the same moment shows it.
#[derive(Debug, Clone, Copy)]
pub(super) struct TracedMain<'a> {
    pub(super) trace: &'a SystemTrace,
    pub(super) main: &'a TraceThread,
}

impl<'a> TracedMain<'a> {
    /// `None` without a trace, where it is of another moment, and where it does not show main.
    pub(super) fn of(a: &'a Analysis) -> Option<Self> {
        let trace = a.system_trace.as_ref().filter(|trace| trace.apart.is_none())?;
        Some(Self { trace, main: trace.main()? })
    }

    /// Whether ART says a state of main that is none of a wait for a monitor.
    pub(super) fn refutes_monitor(self) -> bool {
        self.main.is_blocked() == Some(false)
    }

    /// Whether it shows where main was: by a stack, or by what it sleeps in.
    pub(super) fn shows_a_place(self) -> bool {
        let has_native = self.main.native.as_ref().is_some_and(|native| !native.frames.is_empty());
        has_native || !self.main.wchan.is_empty() || !self.main.java().is_empty()
    }

    /// Whether main waits for its next message.
    pub(super) fn waits_for_a_message(self, a: &Analysis) -> bool {
        self.main.java().last().is_some_and(|&top| a.frames[top].role() == Some(Role::Poll))
    }

    /// Whether main stood where the trace finds it all the time, by the recorder's own stacks.
    pub(super) fn stood(self, facts: &Facts<'_>) -> bool {
        let own = facts.primary_message().and_then(|slow| slow.tree).filter(|tree| !is_of_trace(tree));
        let Some((_, profile)) = own.zip(facts.profile.as_ref()) else { return false };
        self.main.java().last().is_some_and(|&top| stood_in(facts.analysis, profile, top))
    }

    /// Whether main stood at one place all the time, by the recorder's own stacks, and the trace finds it
    /// there, in this wait. Then it waited, whatever CPU time it used.
    pub(super) fn confirms(self, facts: &Facts<'_>, kind: WaitKind) -> bool {
        let is_in = kind_of_stack(&self.main.java(), &facts.analysis.frames) == Some(kind);
        let enters_monitor = kind == WaitKind::Lock && self.main.is_blocked() == Some(true);
        (is_in || enters_monitor) && self.stood(facts)
    }
}

fn stood_in(a: &Analysis, profile: &WaitProfile, top: FrameId) -> bool {
    profile.top.is_some_and(|own| {
        let (own_frame, frame) = (&a.frames[own.frame], &a.frames[top]);
        let is_same = (&own_frame.class, &own_frame.method) == (&frame.class, &frame.method);
        is_same && share(own.ns, profile.total_ns) >= SAME_PLACE
    })
}

/// Whether a tree is the one stack of the system's trace.
pub(super) fn is_of_trace(tree: &SampledTree) -> bool {
    tree.source == StackSource::SystemTrace
}

/// Where main was, by the one stack of the trace; empty for stacks of the recorder.
pub(super) fn seen_in(facts: &Facts<'_>, slow: SlowMessage<'_>) -> Option<String> {
    let tree = slow.tree.filter(|tree| is_of_trace(tree))?;
    let frames = &facts.analysis.frames;
    let stack = tree.stack(tree.stack_runs().pop()?.top);
    let top = stack.last()?;
    let own = frames.first_own(stack.iter().rev(), |id| *id).filter(|own| *own != top);
    let place = frames[*top].full();
    let state = facts.trace.map(|traced| traced.main.state.as_str()).filter(|state| !state.is_empty());
    let state = state.map_or_else(String::new, |state| format!(", its state is {state}"));
    Some(match own {
        Some(own) => {
            format!("the system's trace shows main in {place}, called from {}{state}", frames[*own].full())
        }
        None => format!("the system's trace shows main in {place}{state}"),
    })
}

/// The reason not to be sure of what one stack shows.
pub(super) fn one_instant(slow: SlowMessage<'_>) -> Option<String> {
    slow.tree.filter(|tree| is_of_trace(tree)).map(|_| "the system's trace shows one instant of it".into())
}

/// A cause that says only how long it took, and where, comes behind one that the trace shows, which says why;
/// unless main used the CPU meanwhile. That the trace shows a place is the verdict where nothing else is.
pub(super) fn rank(findings: &mut Vec<Finding>, facts: &Facts<'_>) {
    if findings.iter().any(|finding| !finding.is_place() && finding.score >= super::MIN_HEADLINE_SCORE) {
        findings.retain(|finding| !finding.is_place());
    }
    let Some(slow) = facts.at_dump().filter(|_| facts.trace.is_some()) else { return };
    if slow.cpu_share() >= Some(0.5) {
        return;
    }
    let shown = findings.iter().filter(|finding| finding.is_about(slow.token) && finding.says_why());
    let Some(best) = shown.map(|finding| finding.score).max_by(f64::total_cmp) else { return };
    if best < super::MIN_HEADLINE_SCORE {
        return;
    }
    for finding in findings.iter_mut().filter(|f| f.is_about(slow.token) && !f.says_why()) {
        finding.score = finding.score.min(best - BELOW);
    }
}
