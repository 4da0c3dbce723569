//! The signature of a report as it was written: the app computes the same one.

use super::{Method, Node, Signature, Words, hash64, path};
use crate::code::{Owner, Owners};
use crate::model::{
    Location, LocationId, MainState, Message, Record, Report, StackTree, Symbols, Token, Uptime, own_ns,
};
use crate::stacks::place;

/// A report can be about an earlier message if that message took at least this long.
const LONG_NS: u64 = 1_000_000_000;
/// A report can be about an earlier message if that message ended at most this long ago: the shortest
/// time-out of the system.
const RECENT_NS: u64 = 5_000_000_000;
/// The minimum weight of the last sample: a stack counts even if the message ended right after it was taken.
const MIN_WEIGHT_NS: u64 = 1_000;

/// The message that a report is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Subject {
    /// The message, or what ran outside of messages.
    pub token: Token,
    /// How long the message took. If the message still ran: how long it had been running at the instant that
    /// the report describes.
    pub took_ns: u64,
}

/// The subject of a report: what main did, unless an earlier message took longer and had just ended. `at_ns`
/// is when the report was written. `None` when main was idle or nothing is known of it.
pub fn subject(main: &MainState, history: &[Record], at_ns: Uptime) -> Option<Subject> {
    let (now, age_ns, at_ns) = match main {
        MainState::Running(running) => (Some(running.token), running.age_ns(), running.as_of_ns),
        MainState::Outside(outside) => (Some(outside.token), outside.age_ns(), outside.as_of_ns),
        _ => (None, 0, at_ns),
    };
    let details = history.iter().flat_map(|record| &record.details);
    let past =
        details.map(|detail| (detail.token, own_ns(history, detail), detail.start_ns.plus(detail.wall_ns)));
    let past =
        past.filter(|&(_, ns, end_ns)| ns >= LONG_NS && ns > age_ns && at_ns.since(end_ns) <= RECENT_NS);
    let longest = past.max_by_key(|&(_, ns, _)| ns).map(|(token, took_ns, _)| Subject { token, took_ns });
    longest.or_else(|| Some(Subject { token: now?, took_ns: age_ns }))
}

/// A message of the report by its token, if it is kept by name.
fn message(main: &MainState, history: &[Record], token: Token) -> Option<Words> {
    if token.is_outside() {
        return Some(Words::outside());
    }
    let running = match main {
        MainState::Running(running) if running.token == token => running.message.as_ref(),
        _ => None,
    };
    let recorded = || -> Option<&Message> {
        let mut details = history.iter().flat_map(|record| &record.details);
        details.find(|detail| detail.token == token)?.message.as_ref()
    };
    running.or_else(recorded).map(Words::new)
}

/// When a report was written. If the file does not say, the result is the latest instant in the report.
pub fn written_at(report: &Report) -> Uptime {
    let dumped_ns = report.meta.dumped_at.uptime_ns;
    match &report.main {
        _ if dumped_ns > Uptime::ZERO => dumped_ns,
        MainState::Running(running) => running.as_of_ns,
        MainState::Outside(outside) => outside.as_of_ns,
        _ => {
            let last = report.history.last().map_or(Uptime::ZERO, |last| last.start_ns.plus(last.wall_ns));
            // Both are read in the moment after.
            last.max(report.pending.captured_ns).max(report.main_thread.captured_ns)
        }
    }
}

/// When a message, or what ran outside of messages, ended: its samples cover no time after that. If the
/// message still ran at the dump, the result is the instant that the report describes. If the history does
/// not have the end of the message, the result is `at_ns`: the message had ended by then, and its exact end
/// is not known.
pub fn message_end(token: Token, main: &MainState, history: &[Record], at_ns: Uptime) -> Uptime {
    match main {
        MainState::Running(running) if running.token == token => return running.as_of_ns,
        MainState::Outside(outside) if outside.token == token => return outside.as_of_ns,
        _ => {}
    }
    let mut details = history.iter().flat_map(|record| &record.details);
    let detail = details.find(|detail| detail.token == token);
    let unnamed = || history.iter().find(|record| record.first_token == token && record.count == 1);
    match detail {
        Some(detail) => detail.start_ns.plus(detail.wall_ns),
        None => unnamed().map_or(at_ns, |record| record.start_ns.plus(record.work_ns)),
    }
}

/// The times at which the samples of a message were taken, at most `most` of them. The message ended at
/// `end_ns`. The last entry is the end of the last sample: one sampling interval later, or the end of the
/// message.
pub fn sample_times(tree: &StackTree, end_ns: Uptime, most: usize) -> Vec<Uptime> {
    let mut at = tree.start_ns;
    let mut times: Vec<Uptime> = Vec::new();
    for delta in tree.sample_deltas_ns.iter().take(most) {
        at = at.plus(*delta);
        times.push(at);
    }
    let last_interval = tree.phases.last().map_or(0, |phase| phase.interval_ns);
    let left_ns = end_ns.since(at).max(MIN_WEIGHT_NS);
    times.push(at.plus(if times.is_empty() { 0 } else { last_interval.min(left_ns) }));
    times
}

/// The signature of a report from the names in it: the app's packages and mapping are not known.
pub fn of_report(report: &Report) -> Signature {
    let at_ns = written_at(report);
    let token = subject(&report.main, &report.history, at_ns).map(|subject| subject.token);
    let words = token.and_then(|token| message(&report.main, &report.history, token)).unwrap_or_default();
    let tree = token.and_then(|token| report.trees.iter().find(|tree| tree.token == token));
    let methods = tree.map(|tree| of_tree(report, tree, at_ns)).unwrap_or_default();
    Signature::new(&methods, "", &words, &report.meta.process.app_version)
}

fn of_tree<'r>(report: &'r Report, tree: &StackTree, at_ns: Uptime) -> Vec<Method<'r>> {
    let times = sample_times(tree, message_end(tree.token, &report.main, &report.history, at_ns), usize::MAX);
    let span_ns = |from: u32, to: u32| {
        let at = |sample: u32| times.get(sample as usize).copied().unwrap_or_default();
        at(to).since(at(from))
    };
    let placed = place(tree).unwrap_or_default();
    let owners = Owners::of_report(report);
    let numbers = numbers(&report.symbols, &owners, placed.iter().map(|node| node.location));
    let nodes: Vec<Node> = placed
        .iter()
        .map(|node| Node {
            parent: node.parent.map(|parent| parent as u32),
            method: numbers.get(node.location.0 as usize).copied().unwrap_or(node.location.0),
            total_ns: span_ns(node.begin, node.end),
        })
        .collect();
    let whole_ns = span_ns(0, times.len().saturating_sub(1) as u32);
    path(&nodes, whole_ns, |node| {
        let location = placed.get(node as usize).map(|node| node.location);
        location
            .and_then(|location| method(&report.symbols, &owners, location))
            .map_or(NO_METHOD, |(_, method)| method)
    })
}

const NO_METHOD: Method<'_> = Method { class: "", name: "", owner: Owner::Platform };

/// The method of a location, with its descriptor.
fn method<'r>(symbols: &'r Symbols, owners: &Owners, location: LocationId) -> Option<(&'r str, Method<'r>)> {
    let Location::Frame { method, .. } = *symbols.location(location)? else { return None };
    let method = symbols.method(method)?;
    let owner = owners.owner(&method.class, &method.source_file);
    let named = Method { class: &method.class, name: &method.name, owner };
    Some((&method.signature, named))
}

/// A number for the method of each location, up to the last used location. The number is that of the first
/// location in `used` that belongs to the same method, so equal methods have equal numbers.
fn numbers(symbols: &Symbols, owners: &Owners, used: impl Iterator<Item = LocationId>) -> Vec<u32> {
    let mut numbers: Vec<u32> = Vec::new();
    // By a hash: the first file of an ANR waits for this, and a tree may have thousands of methods.
    let mut known: Vec<(u64, LocationId, (&str, Method<'_>))> = Vec::new();
    for location in used {
        let at = location.0 as usize;
        // A damaged file may have any number.
        if at >= symbols.locations.len() || numbers.get(at).is_some_and(|&number| number != UNKNOWN) {
            continue;
        }
        if numbers.len() <= at {
            numbers.resize(at + 1, UNKNOWN);
        }
        let named = method(symbols, owners, location);
        let mut number = location;
        if let Some(named) = named {
            let hash = hash64(named.1.class) ^ hash64(named.1.name).rotate_left(1);
            match known.iter().find(|(known, _, other)| *known == hash && *other == named) {
                Some((_, first, _)) => number = *first,
                None => known.push((hash, location, named)),
            }
        }
        if let Some(slot) = numbers.get_mut(at) {
            *slot = number.0;
        }
    }
    numbers
}

/// A value that is not the number of a location.
const UNKNOWN: u32 = u32::MAX;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Detail, End, RecordKind, Running};

    const SECOND: u64 = 1_000_000_000;

    /// The token of the subject of a report. The report was written at an uptime of 60 seconds. Message 3
    /// took `took` seconds and ended `ended` seconds before the report. Message 4 has been running for `runs`
    /// seconds; if `runs` is 0, nothing is known of main.
    fn about(took: u64, ended: u64, runs: u64) -> Option<Token> {
        let at_ns = Uptime(60 * SECOND);
        let start_ns = Uptime((60 - ended - took) * SECOND);
        let wall_ns = took * SECOND;
        let detail =
            Detail { token: Token(3), start_ns, wall_ns, wait_ns: None, end: End::Returned, message: None };
        let record = Record {
            kind: RecordKind::Single,
            seq: 1,
            first_token: Token(3),
            count: 1,
            start_ns,
            wall_ns,
            work_ns: wall_ns,
            idle_ns: 0,
            cpu_ns: None,
            checktime_late_ns: None,
            slowest: None,
            details: vec![detail],
            dropped_details: 0,
            closed: true,
        };
        let running = Running {
            token: Token(4),
            start_ns: Uptime((60 - runs) * SECOND),
            as_of_ns: at_ns,
            cpu_ns: None,
            depth: 1,
            message: None,
        };
        let main = if runs == 0 { MainState::Unknown } else { MainState::Running(running) };
        subject(&main, &[record], at_ns).map(|subject| subject.token)
    }

    #[test]
    fn a_report_is_about_the_running_message_unless_an_earlier_one_took_longer_and_just_ended() {
        for ([took, ended, runs], token) in [
            ([4, 1, 1], Some(Token(3))),
            ([4, 1, 5], Some(Token(4))),
            ([4, 6, 1], Some(Token(4))),
            ([0, 1, 1], Some(Token(4))),
            ([4, 1, 0], Some(Token(3))),
            ([4, 6, 0], None),
        ] {
            assert_eq!(about(took, ended, runs), token, "{took} s, {ended} s before, running for {runs} s");
        }
    }
}
