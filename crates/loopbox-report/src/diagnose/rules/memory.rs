//! The kernel makes main wait for memory: the app is above the memory limit of its cgroup, which Android 17
//! and newer set, or the device has too little memory.

use crate::diagnose::cpu_wait::asleep_share;
use crate::diagnose::dominant_wait::uncovered;
use crate::diagnose::facts::Facts;
use crate::diagnose::finding::Finding;
use crate::diagnose::hot_method::{hot_path, most_of_it_in};
use crate::diagnose::slow_message::SlowMessage;
use crate::diagnose::wait_kind::WaitKind;
use crate::model::time::{percent, share};
use crate::model::{MainWaitKind, MemoryEvents, MemoryLimit};

/// Figures that cover less time than this are not meaningful.
const MIN_SPAN_MS: u64 = 500;
/// When threads waited for memory for less than this share of the time, memory is not a cause.
const MIN_STALLED: f64 = 0.1;
/// From this percentage on, the pressure on the device's memory is more than usual.
const PRESSED_PERCENT: f64 = 15.0;
/// From this share of the time on, collections may be the reason for the wait.
const MANY_COLLECTIONS: f64 = 0.3;

/// What is known of the wait.
struct Wait {
    /// The time from the first suspicion of a hang to the report, in milliseconds, and the memory events in
    /// this time.
    lately: Option<(u64, MemoryEvents)>,
    /// The share of the time in `lately` in which a thread of the app waited for memory.
    stalled: Option<f64>,
    /// The share of the message in which main may have waited for memory: it slept although its stacks show
    /// code that runs, or it was in the kernel.
    of_main: Option<f64>,
    /// The kernel's function that main was in at the report.
    seen: Option<String>,
}

impl Wait {
    fn of(facts: &Facts<'_>, slow: SlowMessage<'_>, limit: Option<&MemoryLimit>) -> Self {
        let a = facts.analysis;
        let lately = limit.and_then(|limit| limit.lately).filter(|(over_ms, _)| *over_ms >= MIN_SPAN_MS);
        let stalled = lately.and_then(|(over_ms, events)| {
            Some(share(events.stalled_us?, over_ms.saturating_mul(1_000)).min(1.0))
        });
        let progress = a.main_thread.as_ref().and_then(|main| main.progress);
        // What was not read makes the part smaller, never larger.
        let in_kernel = progress.map(|progress| share(progress.kernel_ns, progress.over_ns));
        let of_main = asleep_share(facts, slow)
            .map(|asleep| in_kernel.iter().fold(asleep, |part, in_kernel| part + in_kernel).min(1.0));
        let seen = a.main_wait().filter(|wait| wait.kind == MainWaitKind::Memory).map(|wait| wait.text);
        Self { lately, stalled, of_main, seen }
    }

    /// How often the app met a limit at which the kernel makes it wait; `None` when that is not known.
    fn met(&self) -> Option<u64> {
        self.lately.and_then(|(_, events)| events.limit_times())
    }

    /// The smaller one of `stalled` and `of_main`, or the one that is known.
    fn share(&self) -> Option<f64> {
        match (self.stalled, self.of_main) {
            (Some(stalled), Some(of_main)) => Some(stalled.min(of_main)),
            (known, None) | (None, known) => known,
        }
    }

    /// What is missing in order to compute the share of the time.
    fn unknown(&self) -> Vec<String> {
        let stalled =
            self.stalled.is_none().then_some("for how long the app waited for memory was not counted");
        let of_main = self.of_main.is_none().then_some("for how long main itself waited was not measured");
        stalled.into_iter().chain(of_main).map(str::to_owned).collect()
    }
}

pub(super) fn find(facts: &Facts<'_>) -> Option<Finding> {
    let slow = facts.primary_message().filter(|slow| slow.running)?;
    let profile = facts.profile.as_ref();
    // Who waits for something else needs no memory.
    if profile.is_some_and(|profile| profile.waiting_share() >= 0.4 || profile.share(WaitKind::Gc) >= 0.4) {
        return None;
    }
    let a = facts.analysis;
    let limit = a.memory_limit();
    let wait = Wait::of(facts, slow, limit.as_ref());
    let pressed = a.statistic("psi.memory.some_avg10_percent").filter(|percent| *percent >= PRESSED_PERCENT);
    let has_met = wait.met().is_some_and(|times| times > 0);
    let waited = wait.stalled.is_some_and(|stalled| stalled >= MIN_STALLED);
    // A limit that is met and costs nothing is no cause, and neither is one instant that nothing supports.
    if !(waited && has_met || wait.seen.is_some() && (has_met || waited || pressed.is_some())) {
        return None;
    }
    let (path, culprit) = hot_path(facts, slow);
    let most = most_of_it_in(facts, slow, culprit);
    let subject = slow.subject();
    let (title, advice, certainty) = if has_met {
        let title = format!("{subject} is held up by the limit on the app's memory{most}");
        (title, LIMIT_ADVICE, 0.06)
    } else {
        (format!("{subject} waits for memory, which the device is short of{most}"), DEVICE_ADVICE, 0.02)
    };
    let figures = limit.iter().flat_map(|limit| limit.lately_words().into_iter().chain(limit.words()));
    let seen = wait.seen.as_ref().map(|wait| format!("at the report main {wait}"));
    let of_main = wait.of_main.filter(|_| profile.is_some()).map(|part| {
        format!("for {} of the time main slept or was in the kernel, while its stacks run", percent(part))
    });
    let pressure = pressed
        .map(|percent| format!("memory pressure: tasks were stalled for {percent:.0} % of the last 10 s"));
    let mut finding = Finding::new("memory", facts.score(slow) + certainty, title)
        .with_all_evidence(figures)
        .with_all_evidence(seen)
        .with_all_evidence(of_main)
        .with_all_evidence(pressure)
        .with_all_evidence(path)
        .at_most_medium(match profile {
            Some(profile) if profile.share(WaitKind::Unknown) >= 0.4 => Some(
                "the names of the stacks are missing, which would show a wait for something else".to_owned(),
            ),
            Some(profile) => uncovered(facts, slow, profile),
            None => Some("there are no stacks, which would show a wait for something else".to_owned()),
        })
        .at_most_medium(wait.unknown())
        .at_most_medium(other_reasons(facts, slow))
        .at_most_medium((!has_met).then(|| not_met(limit.as_ref(), &wait)))
        .with_advice(advice)
        .with_message(slow.token)
        .with_culprit(culprit.map(|method| method.frame));
    if let Some(share) = wait.share() {
        finding = finding.with_share(share).of_its_share();
    }
    Some(finding)
}

const LIMIT_ADVICE: &str = "The code on the stack may not be the cause: hold less memory at a time (bitmaps, caches, \
                            native buffers), and give it back in onTrimMemory. Android 17 and newer limit each app.";
const DEVICE_ADVICE: &str =
    "The code on the stack may not be the cause: see how many devices and which models report this.";

/// The caveat that the limit is not known to be the reason.
fn not_met(limit: Option<&MemoryLimit>, wait: &Wait) -> String {
    match (wait.met(), limit.and_then(|limit| limit.refused.as_deref())) {
        (Some(_), _) => "the app met no limit on its memory meanwhile".to_owned(),
        (None, Some(why)) => format!("whether the app met a limit on its memory is not known: {why}"),
        (None, None) => "whether the app met a limit on its memory is not known".to_owned(),
    }
}

/// What else main may have waited for.
fn other_reasons(facts: &Facts<'_>, slow: SlowMessage<'_>) -> Vec<String> {
    let statistic = |name: &str| facts.analysis.statistic(name);
    let collections = || {
        let span_ms = statistic("gc.lately.ms").filter(|ms| *ms >= MIN_SPAN_MS as f64)?;
        let part = (statistic("gc.lately.blocking_time_ms")? / span_ms).min(1.0);
        let words = || format!("collections that threads had to wait for took {} of the time", percent(part));
        (part >= MANY_COLLECTIONS).then(words)
    };
    let disk = facts.analysis.main_wait().filter(|wait| {
        slow.running && matches!(wait.kind, MainWaitKind::File | MainWaitKind::FileSync | MainWaitKind::Read)
    });
    let disk = disk.map(|wait| format!("at the report main {}", wait.text));
    collections().into_iter().chain(disk).collect()
}
