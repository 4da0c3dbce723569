//! `loopbox cluster --jank` on many reports whose jank frames have known causes: all that it counts must
//! match what was generated.

mod support;

use loopbox_report::test_frames::SessionBuilder;
use loopbox_report::test_support::ReportBuilder;
use serde_json::Value;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use support::{Files, loopbox, recorded};

const REPORTS: u64 = 500;
/// A refresh of 60 Hz.
const REFRESH_NS: u64 = 16_666_667;

/// The causes of late frames. For each: the app's method, in how many of a hundred scrolls it delays frames,
/// the fewest and the most frames that are dropped at once, and the most delays in one scroll. Causes that
/// are frequent drop few frames, so that the order by number differs from that by time.
const CAUSES: [(&str, u64, u64, u64, u64); 6] = [
    ("com.example.feed.Row.bind", 30, 2, 4, 5),
    ("com.example.feed.Price.format", 25, 2, 3, 3),
    ("com.example.feed.Image.decode", 15, 5, 9, 3),
    ("com.example.feed.Cache.read", 10, 8, 20, 2),
    ("com.example.feed.Layout.inflate", 6, 20, 40, 1),
    ("com.example.feed.Database.migrate", 2, 60, 180, 1),
];
/// The cause of jank frames that no message explains, and for which no stack was taken.
const OUTSIDE: &str = "outside_of_messages";

/// xorshift: every run makes the same reports.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % bound
    }

    fn within(&mut self, least: u64, most: u64) -> u64 {
        least + self.below(most - least + 1)
    }
}

/// What was generated for one cause.
#[derive(Debug, Default, Clone)]
struct Made {
    janks: u64,
    dropped: u64,
    reports: BTreeSet<u64>,
    users: BTreeSet<u64>,
}

impl Made {
    fn hitch_ms(&self) -> f64 {
        (self.dropped * REFRESH_NS) as f64 / 1e6
    }
}

/// Writes reports of one to three scrolls each. Returns what was generated for each cause.
fn corpus(files: &Files) -> BTreeMap<&'static str, Made> {
    let mut random = Random(0x2545_F491_4F6C_DD1D);
    let mut made: BTreeMap<&'static str, Made> = BTreeMap::new();
    for number in 0..REPORTS {
        let user = random.below(40);
        let mut report = ReportBuilder::new();
        let mut session = SessionBuilder::new();
        for nth in 0..random.within(1, 3) {
            let token = 40 + nth;
            let mut dice = random.below(100);
            let cause = CAUSES.iter().find(|&&(_, often, ..)| {
                let found = dice < often;
                dice = dice.wrapping_sub(often);
                found
            });
            let (name, token, drops) = match cause {
                Some(&(method, _, fewest, most, frames)) => {
                    // Lines, compilers' names and the platform's part of a stack differ from report to
                    // report.
                    let (line, anonymous) = (random.below(300), random.below(5));
                    let platform = ["", " java.util.HashMap.get:560", " java.lang.Thread.sleep!"];
                    let stack = format!(
                        "com.example.feed.Feed${anonymous}.run:{line} {method}:{line}{}",
                        platform[random.below(3) as usize]
                    );
                    report = report.looper_tree(token, &[(&stack, 9)]);
                    let frames = random.within(1, frames);
                    (method, Some(token), (0..frames).map(|_| random.within(fewest, most)).collect())
                }
                // Of a scroll without jank there is nothing to group.
                None if dice.is_multiple_of(2) => ("", None, Vec::new()),
                None => (OUTSIDE, None, vec![3]),
            };
            // Each to the nearest millisecond, between frames that are on time.
            let late = drops.iter().flat_map(|dropped| [17, ((dropped + 1) * 50 + 1) / 3, 17]);
            let durations: Vec<u64> = [17, 17].into_iter().chain(late).collect();
            session = session.scroll_with("Feed", &durations, token);
            if !drops.is_empty() {
                let of = made.entry(name).or_default();
                of.janks += drops.len() as u64;
                of.dropped += drops.iter().sum::<u64>();
                of.reports.insert(number);
                of.users.insert(user);
            }
        }
        let report = report.with(|report| {
            report.frames = session.build();
            report.meta.annotations = vec![("user".into(), format!("user {user}"))];
            report.meta.process.app_version = format!("5.{} ({})", number % 4, 500 + number % 4);
        });
        files.bytes(&format!("{number:03}.lbx"), &recorded(&report.build().report));
    }
    made
}

#[test]
fn five_hundred_reports_of_known_causes_are_grouped_as_they_were_made() {
    let files = Files::new();
    let made = corpus(&files);
    assert_eq!(made.len(), CAUSES.len() + 1, "{made:#?}");
    let mut ranked: Vec<_> = made.iter().collect();
    ranked.sort_by_key(|(_, made)| Reverse(made.dropped));
    assert!(!ranked.is_sorted_by_key(|(_, made)| Reverse(made.janks)), "their numbers give the same order");

    let mut outputs = Vec::new();
    for jobs in ["1", "3"] {
        let run = loopbox(&["cluster", files.dir().to_str().unwrap(), "--jank", "--json", "--jobs", jobs]);
        assert_eq!((run.code, run.stderr.as_str()), (0, ""));
        outputs.push(run.stdout);
    }
    assert_eq!(outputs[0], outputs[1]);
    let json: Value = serde_json::from_str(&outputs[0]).unwrap();
    let near = |got: &Value, expected: f64| got.as_f64().is_some_and(|got| (got - expected).abs() < 0.001);

    let reports: BTreeSet<_> = made.values().flat_map(|made| &made.reports).collect();
    let janks: u64 = made.values().map(|made| made.janks).sum();
    let hitch_ms: f64 = made.values().map(Made::hitch_ms).sum();
    assert_eq!(
        (&json["ranked_by"], &json["reports"], &json["janks"], &json["skipped"]),
        (&"time".into(), &reports.len().into(), &janks.into(), &0.into())
    );
    assert!((reports.len() as u64) < REPORTS && near(&json["hitch_ms"], hitch_ms), "{hitch_ms} ms");

    let groups = json["groups"].as_array().unwrap();
    assert_eq!(groups.len(), ranked.len(), "{groups:#?}");
    for (group, (name, made)) in groups.iter().zip(ranked) {
        let frames = group["frames"].as_array().unwrap();
        let cause = frames.last().unwrap_or(&group["top_causes"][0]["name"]);
        assert_eq!(cause, name, "{group:#}");
        assert_eq!(
            (&group["janks"], &group["reports"], &group["users"]["count"]),
            (&made.janks.into(), &made.reports.len().into(), &made.users.len().into()),
            "{group:#}"
        );
        assert!(near(&group["hitch_ms"], made.hitch_ms()), "{} ms: {group:#}", made.hitch_ms());
        assert!(near(&group["share"], made.hitch_ms() / hitch_ms), "{group:#}");
    }
}
