//! How the main thread spent most of the primary message waiting.

use super::facts::Facts;
use super::slow_message::SlowMessage;
use super::wait_kind::{WaitKind, WaitSite};
use crate::model::time::{format_ns, percent};
use crate::model::{Frame, FrameId};

/// A slow message that spent most of its time in one kind of wait.
pub(super) struct DominantWait<'a> {
    pub(super) slow: SlowMessage<'a>,
    pub(super) site: WaitSite,
    /// The score of a rule that explains the message by this wait.
    pub(super) score: f64,
    pub(super) evidence: Vec<String>,
}

/// The wait of this kind, if the primary message spent most of its time in it. The score is a little above the score of
/// "this message was slow", because the wait is the reason for it.
pub(super) fn dominant_wait<'a>(facts: &Facts<'a>, kind: WaitKind) -> Option<DominantWait<'a>> {
    let slow = facts.primary_message()?;
    if slow.is_mostly_before_install(facts.analysis) {
        return None;
    }
    let profile = facts.profile.as_ref()?;
    let share = profile.share(kind);
    let (site, site_ns) = profile.main_site(kind)?;
    let mut score = facts.score(slow)
        + match share {
            s if s >= 0.6 => 0.06,
            s if s >= 0.4 => -0.12,
            _ => return None,
        };
    let mut evidence = vec![format!(
        "{} of the {} that its stacks cover, {} of them here",
        percent(share),
        format_ns(profile.total_ns),
        format_ns(site_ns)
    )];
    match slow.cpu_share() {
        // Files, code that is loaded and collections do take CPU time; a wait for another thread or process does not.
        Some(cpu) if cpu >= 0.5 && !takes_cpu(kind) => {
            score -= 0.3;
            evidence.push(format!("against it: main was on the CPU for {} of the time", percent(cpu)));
        }
        Some(cpu) => evidence.push(format!("main was on the CPU for {} of the time", percent(cpu))),
        None => {}
    }
    Some(DominantWait { slow, site, score, evidence })
}

fn takes_cpu(kind: WaitKind) -> bool {
    matches!(kind, WaitKind::File | WaitKind::Database | WaitKind::Gc | WaitKind::Loading)
}

/// The name of a frame in a title: without its package.
pub(super) fn short(facts: &Facts<'_>, frame: FrameId) -> String {
    Frame::short(&facts.analysis.frames[frame])
}

/// `, called from Cart.total`; empty when no frame of the app is known.
pub(super) fn called_from(facts: &Facts<'_>, site: WaitSite) -> String {
    site.app.map(|app| format!(", called from {}", short(facts, app))).unwrap_or_default()
}
