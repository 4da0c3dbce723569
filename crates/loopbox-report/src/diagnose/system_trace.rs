//! What the system's trace shows of main at the moment of the report. Where the recorder has no stack, the
//! trace's stack becomes a tree like the recorder's own.

use super::facts::Facts;
use super::slow_message::SlowMessage;
use super::traced_main::{TracedMain, is_of_trace};
use super::wait_kind::{WaitKind, WaitProfile, kind_of_stack};
use crate::model::time::share;
use crate::model::{Analysis, FrameId};

/// When at least this share of the stacks is at one place, that is no chance.
const SAME_PLACE: f64 = 0.9;

impl TracedMain<'_> {
    /// Whether the recorder's own stacks show main, all the time, at the place where the trace shows it.
    pub(super) fn stood(self, facts: &Facts<'_>) -> bool {
        let own = facts.primary_message().and_then(|slow| slow.tree).filter(|tree| !is_of_trace(tree));
        let Some((_, profile)) = own.zip(facts.profile.as_ref()) else { return false };
        self.main.java().last().is_some_and(|&top| stood_in(facts.analysis, profile, top))
    }

    /// Whether the recorder's own stacks show that main was at one place all the time, and the trace shows it
    /// there, in this wait. If so, main waited, whatever CPU time it used.
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

/// A sentence which says where main was, when the message's only stack is from the system's trace; `None`
/// when the recorder took the stacks.
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
