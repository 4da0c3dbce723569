//! Finds out whether one kind of wait took at least 40 % of the time of the message in focus
//! ([`Facts::primary_message`]), and where main waited.

use super::account::account;
use super::cpu_wait::NO_CPU_TIME;
use super::facts::Facts;
use super::slow_message::SlowMessage;
use super::system_trace::seen_in;
use super::traced_main::one_instant;
use super::wait_kind::{WaitKind, WaitProfile, WaitSite};
use crate::model::time::{format_ns, percent, share};
use crate::model::{Frame, FrameId};

/// A slow message that spent at least 40 % of its time in one kind of wait.
pub(super) struct DominantWait<'a> {
    pub(super) slow: SlowMessage<'a>,
    pub(super) site: WaitSite,
    /// The score of a rule that explains the message by this wait.
    pub(super) score: f64,
    /// The share of the message's time that the wait explains.
    pub(super) share: f64,
    pub(super) evidence: Vec<String>,
    /// Unknown facts that could contradict the cause.
    pub(super) unknown: Vec<String>,
}

/// The wait of this kind, if the message in focus spent at least 40 % of its time in it. From 60 % on the
/// score is a little above the score of the finding that the message was slow, because the wait explains why.
pub(super) fn dominant_wait<'a>(facts: &Facts<'a>, kind: WaitKind) -> Option<DominantWait<'a>> {
    let slow = facts.primary_message()?;
    if slow.is_mostly_before_install(facts.analysis) {
        return None;
    }
    let profile = facts.profile.as_ref()?;
    let part = profile.share(kind);
    let (site, site_ns) = profile.main_site(kind)?;
    let mut score = facts.score(slow)
        + match part {
            s if s >= 0.6 => 0.06,
            s if s >= 0.4 => -0.12,
            _ => return None,
        };
    let of_stacks = || {
        let of_them = percent(share(profile.ns(kind), profile.stacks_ns));
        let (total, here) = (format_ns(profile.stacks_ns), format_ns(site_ns));
        format!("{of_them} of the {total} that its stacks cover, {here} of them here")
    };
    let mut evidence = vec![seen_in(facts, slow).unwrap_or_else(of_stacks)];
    match slow.cpu_share() {
        // Files, code that is loaded and collections do take CPU time; a wait for another thread or process
        // does not.
        Some(cpu) if cpu >= 0.5 && !kind.takes_cpu() => {
            score -= 0.3;
            evidence.push(format!("against it: main was on the CPU for {} of the time", percent(cpu)));
        }
        Some(cpu) => evidence.push(format!("main was on the CPU for {} of the time", percent(cpu))),
        None => {}
    }
    let confirmed = facts.trace.is_some_and(|traced| traced.confirms(facts, kind));
    let no_cpu_time = slow.cpu_ns.is_none() && !kind.takes_cpu() && !confirmed;
    let unknown = no_cpu_time.then(|| NO_CPU_TIME.to_owned());
    let unknown = unknown.into_iter().chain(uncovered(facts, slow, profile)).collect();
    let share = part * account(facts)?.own_share();
    Some(DominantWait { slow, site, score, share, evidence, unknown })
}

/// The reason to lower the confidence when stacks cover less than half of the message, or only one instant of
/// it; else `None`.
pub(super) fn uncovered(facts: &Facts<'_>, slow: SlowMessage<'_>, profile: &WaitProfile) -> Option<String> {
    if let Some(one_instant) = one_instant(slow) {
        return Some(one_instant);
    }
    // A process that is frozen has no stacks to take.
    let ran_ns = slow.certain_ns.saturating_sub(facts.unseen.frozen_ns);
    let covers = share(profile.stacks_ns, ran_ns);
    (covers < 0.5).then(|| {
        format!("the stacks cover only {} of {}", format_ns(profile.stacks_ns), format_ns(slow.wall_ns))
    })
}

/// The name of a frame in a title: without its package.
pub(super) fn short(facts: &Facts<'_>, frame: FrameId) -> String {
    Frame::short(&facts.analysis.frames[frame])
}

/// An addition to a title: `, called from Cart.total`. Empty when no frame of the app is known.
pub(super) fn called_from(facts: &Facts<'_>, site: WaitSite) -> String {
    site.app.map_or_else(String::new, |app| format!(", called from {}", short(facts, app)))
}
