//! The rules, one file each. Their words for users are in `docs/diagnosis.md`.

mod barrier;
mod binder;
mod current_slow;
mod flood;
mod frozen;
mod gc;
mod history;
mod io;
mod lock;
mod main_free;
mod no_data;
mod outside;
mod sleep;
mod starved;

pub(super) use no_data::caveats;

use super::Finding;
use super::facts::{Facts, Slow, percent, said};
use super::waits::{Doing, Site};

type Rule = fn(&Facts<'_>) -> Option<Finding>;

/// All rules; of causes with equal scores the one whose rule comes first here is told first.
pub(super) const ALL: &[Rule] = &[
    barrier::find,
    frozen::find,
    binder::find,
    lock::find_holder,
    lock::find,
    lock::find_monitor,
    gc::find,
    io::find,
    sleep::find,
    starved::find,
    flood::find,
    current_slow::find,
    history::find,
    outside::find,
    main_free::find,
    no_data::find,
];

/// A message that took long and waited most of that time in one way.
struct Waiting<'a> {
    slow: Slow<'a>,
    site: Site,
    /// The score of a rule that explains the message by this wait.
    score: f64,
    evidence: Vec<String>,
}

/// Whether the message that matters spent its time `doing` that; the score is a little above the one of "this
/// message was slow", because it says why.
fn waiting<'a>(facts: &Facts<'a>, doing: Doing) -> Option<Waiting<'a>> {
    let slow = facts.focus()?;
    let profile = facts.profile.as_ref()?;
    let share = profile.share(doing);
    let (site, site_ns) = profile.main_site(doing)?;
    let mut score = facts.blame(slow)
        + match share {
            s if s >= 0.6 => 0.06,
            s if s >= 0.4 => -0.12,
            _ => return None,
        };
    let mut evidence = vec![format!(
        "{} of the {} that its stacks cover, {} of them here",
        percent(share),
        said(profile.total_ns),
        said(site_ns)
    )];
    match slow.cpu_share() {
        // A file or a collection does take CPU time; a wait for another thread or process does not.
        Some(cpu) if cpu >= 0.5 && !matches!(doing, Doing::File | Doing::Database | Doing::Gc) => {
            score -= 0.3;
            evidence.push(format!("against it: main was on the CPU for {} of the time", percent(cpu)));
        }
        Some(cpu) => evidence.push(format!("main was on the CPU for {} of the time", percent(cpu))),
        None => {}
    }
    Some(Waiting { slow, site, score, evidence })
}

/// How a frame is named in a title: without its package.
fn short(facts: &Facts<'_>, frame: u32) -> String {
    facts.a.frames.get(frame as usize).map(crate::Frame::short).unwrap_or_default()
}

/// `, called from Cart.total`; empty when no frame of the app is known.
fn called_from(facts: &Facts<'_>, site: Site) -> String {
    site.app.map(|app| format!(", called from {}", short(facts, app))).unwrap_or_default()
}

/// How a slow message is spoken of at the begin of a title.
fn subject(slow: Slow<'_>) -> String {
    let which = if slow.running { "The running message" } else { "An earlier message" };
    format!("{which} (#{}, {})", slow.token, said(slow.wall_ns))
}
