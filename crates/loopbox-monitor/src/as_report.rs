//! Converts a stall, a line about one long message, into a report of that message. So the code that groups
//! and diagnoses reports and restores their names works for stalls, too.

use crate::line::{Base, Stack, Stall};
use chrono::DateTime;
use loopbox_format::model::{
    ClockPair, DumpReason, Location, LocationId, MainState, Message, Meta, Method, NamedBy, Phase, Process,
    Report, Running, StackSource, StackTree, Symbols, Token, Uptime,
};
use loopbox_format::stacks::TreeMerger;
use std::collections::HashMap;

/// The number of the message in its report.
const TOKEN: u64 = 1;
/// The limit to which a line's counts of stacks are scaled down, so that the shares of the stacks stay the
/// same. Each stack keeps at least one sample, so a tree has at most this many samples and one more for each
/// stack.
const SAMPLES: u64 = 200;

/// Makes the report. In it the message is still running, and the time of the report is the moment at which
/// the message ended. The process and its device are those of `base`. The report's clock begins with the
/// message.
pub fn as_report(stall: &Stall, base: &Base) -> Report {
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    let ns = |ms: f64| (ms * 1e6) as u64;
    let wall_ns = ns(stall.wall_ms);
    let mut symbols = Symbols::default();
    let tree = tree(stall, wall_ns, &mut symbols);
    let annotations = [("user", text(&base.user)), ("scene", stall.scene.clone())];
    Report {
        meta: Meta {
            reason: DumpReason::Hang,
            process: Process {
                pid: u32::try_from(stall.pid).unwrap_or_default(),
                name: text(&base.process),
                api_level: base.api,
                app_version: text(&base.app),
                device: text(&base.device),
                ..Process::default()
            },
            dumped_at: ClockPair {
                uptime_ns: Uptime(wall_ns),
                unix_ms: stall.began_ms().map_or(0, |began| began.saturating_add(wall_ns / 1_000_000)),
            },
            annotations: annotations
                .into_iter()
                .filter(|(_, value)| !value.is_empty())
                .map(|(name, value)| (name.to_owned(), value))
                .collect(),
            ..Meta::default()
        },
        main: MainState::Running(Running {
            token: Token(TOKEN),
            start_ns: Uptime::ZERO,
            as_of_ns: Uptime(wall_ns),
            cpu_ns: stall.cpu_ms.map(ns),
            depth: 1,
            message: message(&stall.message),
        }),
        symbols,
        trees: tree.into_iter().collect(),
        ..Report::default()
    }
}

impl Stall {
    /// When it began, Unix milliseconds; `None` when the line has no time, or an impossible one.
    pub fn began_ms(&self) -> Option<u64> {
        u64::try_from(DateTime::parse_from_rfc3339(&self.t).ok()?.timestamp_millis()).ok()
    }
}

/// Reads a message such as `android.os.Handler com.example.shop.Checkout: 0`: the class of the Handler, that
/// of the callback if there is one, and `what` if it is known. `None` for a text without a class.
fn message(text: &str) -> Option<Message> {
    let (names, what) = match text.rsplit_once(": ") {
        Some((names, what)) => (names, what.parse().ok()),
        None => (text, None),
    };
    let (target, callback) = names.split_once(' ').unwrap_or((names, ""));
    let known = !target.is_empty() || !callback.is_empty();
    known.then(|| Message {
        target: target.to_owned(),
        callback: callback.to_owned(),
        what,
        component: None,
        named_by: NamedBy::Observer,
    })
}

/// The stacks in the order of the line, and after them the samples without a stack; `None` when the line has
/// no stack. A line has room for the most frequent stacks only. The samples of all other stacks become
/// samples without a stack.
fn tree(stall: &Stall, wall_ns: u64, symbols: &mut Symbols) -> Option<StackTree> {
    let listed: u64 = stall.stacks.iter().map(|stack| u64::from(stack.n)).sum();
    let all = listed.max(stall.stack_samples.into());
    // At least once: a line has few stacks.
    let share = |times: u64| if all > SAMPLES { (times * SAMPLES / all).max(1) } else { times };
    let mut known = Known { symbols, by_text: HashMap::new() };
    let mut merger = TreeMerger::new(usize::MAX);
    let mut rest = all;
    for stack in stall.stacks.iter().filter(|stack| stack.n > 0 && !stack.frames.is_empty()) {
        let locations = known.stack(stack);
        for _ in 0..share(stack.n.into()) {
            merger.push(locations.iter().copied());
        }
        rest -= u64::from(stack.n);
    }
    if merger.samples() > 0 && rest > 0 {
        for _ in 0..share(rest) {
            merger.push(std::iter::empty());
        }
    }
    let samples = merger.samples();
    let interval_ns = wall_ns.checked_div(u64::from(samples))?;
    Some(StackTree {
        token: Token(TOKEN),
        start_ns: Uptime::ZERO,
        source: StackSource::Art,
        phases: vec![Phase { first_sample: 0, interval_ns }],
        sample_deltas_ns: (0..samples).map(|nth| if nth == 0 { 0 } else { interval_ns }).collect(),
        nodes: merger.nodes().to_vec(),
        missed_samples: 0,
        longest_stop_ns: 0,
        total_stop_ns: 0,
    })
}

/// The frames of a line, each once.
struct Known<'s, 't> {
    symbols: &'s mut Symbols,
    by_text: HashMap<&'t str, LocationId>,
}

impl<'t> Known<'_, 't> {
    /// The locations of a stack's frames, bottom frame first.
    fn stack(&mut self, stack: &'t Stack) -> Vec<LocationId> {
        stack.frames.iter().rev().map(|frame| self.location(frame)).collect()
    }

    fn location(&mut self, frame: &'t str) -> LocationId {
        if let Some(&known) = self.by_text.get(frame) {
            return known;
        }
        let location = match left_out(frame) {
            Some(frames) => Location::Elided { frames },
            None => self.frame(frame),
        };
        let at = self.symbols.push_location(location);
        self.by_text.insert(frame, at);
        at
    }

    /// Reads a frame as `StackTraceElement` prints it: `com.example.shop.Cart.total(Cart.java:88)`.
    fn frame(&mut self, frame: &str) -> Location {
        let (name, place) = frame.split_once('(').unwrap_or((frame, ""));
        let place = place.trim_end_matches(')');
        let (class, method) = name.rsplit_once('.').unwrap_or(("", name));
        let (file, line) = match place.rsplit_once(':') {
            Some((file, line)) => (file, line.parse().ok()),
            None => (place, None),
        };
        let native = place == "Native Method";
        let method = self.symbols.push_method(Method {
            class: class.to_owned(),
            name: method.to_owned(),
            signature: String::new(),
            source_file: if native { String::new() } else { file.to_owned() },
        });
        // Only a native method has neither.
        let dex_pc = (!native && line.is_none()).then_some(0);
        Location::Frame { method, dex_pc, line }
    }
}

/// The number in `... 40 frames left out`, which the app writes where a stack was deeper than its sampler
/// reads. `None` for a frame.
fn left_out(frame: &str) -> Option<u32> {
    frame.strip_prefix("... ")?.strip_suffix(" frames left out")?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use loopbox_format::report::Decoded;
    use loopbox_report::Analysis;
    use loopbox_report::diagnose::{TimeUse, diagnose};

    fn analysis(stall: &Stall) -> Analysis {
        let base = Base { app: Some("5.2 (502)".into()), user: Some("u7".into()), ..Base::default() };
        Analysis::new(&Decoded { report: as_report(stall, &base), damage: Vec::new() })
    }

    fn stack(n: u32, frames: &[&str]) -> Stack {
        Stack { n, frames: frames.iter().map(|&frame| frame.to_owned()).collect(), ..Stack::default() }
    }

    fn stall() -> Stall {
        let below = ["a.Cart.total(Cart.java:88)", "a.Job.run(Job.java:7)", "... 40 frames left out"];
        let sleep =
            [&["java.lang.Thread.sleep(Native Method)", "a.b.c(Unknown Source)"], &below[..]].concat();
        Stall {
            t: "2026-11-21T20:10:02.588+08:00".into(),
            pid: 42,
            wall_ms: 731.2,
            cpu_ms: Some(206.0),
            message: "android.os.Handler a.Job: 0".into(),
            scene: "Feed".into(),
            stacks: vec![stack(66, &sleep), stack(4, &below)],
            ..Stall::default()
        }
    }

    #[test]
    fn a_stall_is_the_running_message_of_a_sound_report() {
        let a = analysis(&stall());
        assert!(a.issues.is_empty(), "{:?}", a.issues);
        let running = a.running().unwrap();
        assert_eq!((running.age_ns(), running.cpu_ns), (731_200_000, Some(206_000_000)));
        let message = running.message.as_ref().unwrap();
        assert_eq!((message.target.as_str(), message.callback.as_str()), ("android.os.Handler", "a.Job"));
        assert_eq!(message.what, Some(0));
        assert_eq!(a.meta.annotations, [("user".into(), "u7".into()), ("scene".into(), "Feed".into())]);
        assert_eq!(a.meta.dumped_at.unix_ms, 1_795_263_002_588 + 731);
        let tree = a.tree(Token(TOKEN)).unwrap();
        let names: Vec<String> = tree.nodes.iter().map(|node| a.frames[node.frame].full()).collect();
        assert_eq!(
            names,
            [
                "[40 frames left out]",
                "a.Job.run(Job.java:7)",
                "a.Cart.total(Cart.java:88)",
                "a.b.c(dex pc 0x0)",
                "java.lang.Thread.sleep(Native method)"
            ]
        );
        assert_eq!((tree.samples(), tree.nodes[4].total_ns / 1_000_000), (70, 689));
    }

    #[test]
    fn what_a_line_does_not_say_is_not_known() {
        let a = analysis(&Stall { t: "yesterday".into(), wall_ms: 120.0, ..Stall::default() });
        assert_eq!((a.issues.len(), a.trees.len(), a.meta.dumped_at.unix_ms), (0, 0, 0));
        assert!(a.running().unwrap().message.is_none());
        for (text, target, callback, what) in [
            ("a.Main", "a.Main", "", None),
            ("a.Main: -7", "a.Main", "", Some(-7)),
            ("android.os.Handler a.B$1", "android.os.Handler", "a.B$1", None),
        ] {
            let found = message(text).unwrap();
            assert_eq!(
                (found.target.as_str(), found.callback.as_str(), found.what),
                (target, callback, what)
            );
        }
    }

    /// The writer lists the five most frequent stacks, and counts all.
    #[test]
    fn a_stack_has_the_share_of_all_samples_that_were_in_it() {
        let dispatch = "android.os.Handler.dispatchMessage(Handler.java:106)";
        let binder = stack(
            10,
            &["android.os.BinderProxy.transactNative(Native Method)", "a.Shop.load(Shop.java:3)", dispatch],
        );
        let once = |line: u32| stack(1, &[&format!("a.Feed.bind(Feed.java:{line})"), dispatch]);
        let listed = vec![binder, once(1), once(2), once(3), once(4)];
        for (of, most) in [(195, 0.06), (19_500, 0.02)] {
            let a = analysis(&Stall { stack_samples: of, stacks: listed.clone(), ..stall() });
            let tree = a.tree(Token(TOKEN)).unwrap();
            let binder = tree.nodes.iter().find(|node| a.frames[node.frame].method == "transactNative");
            let share = binder.unwrap().total_ns as f64 / a.running().unwrap().age_ns() as f64;
            assert!(a.issues.is_empty() && share > 0.0 && share <= most, "{share} of {of}: {:?}", a.issues);
            let diagnosis = diagnose(&a);
            assert_ne!(diagnosis.primary_cause().map(|cause| cause.rule), Some("binder"), "{diagnosis:#?}");
            // Of the samples without a stack nobody knows what main did.
            let account = diagnosis.account.as_ref().unwrap();
            let use_of = |time_use: TimeUse| -> f64 {
                account.parts.iter().filter(|part| part.time_use == time_use).map(|part| part.share).sum()
            };
            assert!(use_of(TimeUse::Unexplained) < 0.01, "{account:#?}");
            assert!(use_of(TimeUse::Unmeasured) > 0.6, "{account:#?}");
        }
        // All of them, as a line without the number may have them.
        let a = analysis(&Stall { stacks: listed, ..stall() });
        assert_eq!(a.tree(Token(TOKEN)).unwrap().samples(), 14);
    }

    #[test]
    fn a_line_that_claims_billions_of_stacks_costs_no_memory() {
        let many = Stall { stacks: vec![stack(u32::MAX, &["a.B.c"]), stack(1, &["a.B.d"])], ..stall() };
        let a = analysis(&many);
        assert_eq!((a.issues.len(), a.tree(Token(TOKEN)).unwrap().samples()), (0, 200));
        let many = Stall { stack_samples: u32::MAX, ..stall() };
        let a = analysis(&many);
        assert_eq!((a.issues.len(), a.tree(Token(TOKEN)).unwrap().samples()), (0, 201));
    }
}
