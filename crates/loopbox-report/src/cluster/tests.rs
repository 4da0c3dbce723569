//! Reports that belong to one group, and reports that do not.

use super::*;
use crate::diagnose::diagnose;
use crate::model::Analysis;
use crate::smoothness::FramesOnce;
use crate::test_frames::SessionBuilder;
use crate::test_support::{OUTSIDE, ReportBuilder};
use loopbox_format::model::{AnrVerdict, DumpReason, Feature, FeatureState, MainState, Report};
use loopbox_format::problem::of_report;

const ENTRY: &str = "com.shop.CartActivity$1.onClick:31";

/// A report of version `version` by `user` with these stacks of its running message.
fn report(version: &str, user: &str, stacks: &[(&str, u32)]) -> ReportBuilder {
    ReportBuilder::new()
        .group(41, 310, 240)
        .running(46, 6_000)
        .doing("android.view.ViewRootImpl$ViewRootHandler", "android.view.View$PerformClick", 5_900)
        .looper_tree(46, stacks)
        .with(|r| {
            r.meta.process.app_version = version.into();
            r.meta.annotations = vec![("user".into(), user.into())];
        })
}

fn sighting(builder: ReportBuilder, path: &str) -> Sighting {
    let decoded = builder.build();
    let analysis = Analysis::new(&decoded);
    let sighting = Sighting::new(&analysis, &diagnose(&analysis), path);
    assert_eq!(of_report(&decoded.report), sighting.signature, "the app says the same of its report");
    sighting
}

fn groups(reports: Vec<ReportBuilder>) -> Summary {
    let mut clusters = Clusters::default();
    for (i, report) in reports.into_iter().enumerate() {
        let mut sighting = sighting(report, &format!("{i}.lbx"));
        sighting.representative.headline = format!("Headline of report {i}");
        clusters.add(sighting);
    }
    clusters.summary(0, 0)
}

fn counts(summary: &Summary) -> Vec<(u64, &str)> {
    summary.groups.iter().map(|group| (group.amount.reports, group.title())).collect()
}

/// Reports in which main responded, each written for another reason than a hang.
fn calm() -> Vec<ReportBuilder> {
    let reasons = [
        DumpReason::Requested("checkout".into()),
        DumpReason::SigQuit,
        DumpReason::Recovered { crash_signal: None },
        DumpReason::Recovered { crash_signal: Some(11) },
    ];
    let report = |reason: &DumpReason| {
        report("2", "calm", &[(&format!("{ENTRY} com.shop.Cart.total:88"), 20)]).with(|r| {
            r.meta.reason = reason.clone();
            r.anr.verdict = AnrVerdict::Responsive;
        })
    };
    reasons.iter().map(report).collect()
}

#[test]
fn a_report_that_shows_no_hang_counts_as_such_and_as_nothing_else() {
    let hang = |user: &str| report("1", user, &[(&format!("{ENTRY} com.shop.Cart.total:88"), 480)]);
    let mut reports = vec![hang("a"), hang("b")];
    reports.extend(calm());
    let summary = groups(reports);
    assert_eq!(counts(&summary), [(2, "com.shop.Cart.total")]);
    assert_eq!((summary.amount.reports, summary.without_hang), (2, 4));
    let group = &summary.groups[0];
    assert_eq!((group.users.unwrap().count, group.versions.unwrap().count), (2, 1));
    assert_eq!(summary.headline(), "2 reports of 2 users in 1 group, 4 reports without a hang left out");
    let parts = [0, 1].map(|_| {
        let mut part = Clusters::default();
        calm().into_iter().for_each(|report| part.add(sighting(report, "x.lbx")));
        part
    });
    let mut whole = Clusters::default();
    parts.into_iter().for_each(|part| whole.merge(part));
    assert!(whole.is_empty());
    assert_eq!(whole.summary(0, 0).without_hang, 8);
}

#[test]
fn a_report_that_may_be_of_a_hang_counts_whatever_it_was_written_for() {
    let shows: [fn(&mut Report); 4] = [
        |r| r.anr.verdict = AnrVerdict::Unknown,
        |r| r.anr.verdict = AnrVerdict::Probable,
        |r| r.anr.ran_ns = 1_000_000_000,
        |r| r.meta.reason = DumpReason::Hang,
    ];
    let reports: Vec<ReportBuilder> =
        shows.iter().flat_map(|show| calm().into_iter().map(|report| report.with(*show))).collect();
    let summary = groups(reports);
    assert_eq!((summary.amount.reports, summary.without_hang), (16, 0));
}

#[test]
fn grouping_ignores_lines_lambdas_and_platform_internals() {
    let with = |middle: &str, tail: &str, n: u32| {
        let whole = format!("android.view.View.performClick:7125 {ENTRY} {middle} {tail}");
        report("1", "u", &[(&whole, n), (&format!("android.view.View.performClick:7125 {ENTRY}"), 20)])
    };
    let summary = groups(vec![
        with("com.shop.Cart.total:88", "java.util.ArrayList.get:437", 400),
        with("com.shop.Cart.total:91", "java.util.ArrayList.get:500", 480),
        with("com.shop.Cart.total:91", "java.util.HashMap.hash:5", 300),
        report(
            "2",
            "v",
            &[(&format!("android.view.View.performClickInternal:9 {ENTRY} com.shop.Cart.total:90"), 500)],
        ),
        report(
            "2",
            "v",
            &[("android.view.View.x com.shop.CartActivity$7.onClick:3 com.shop.Cart.total:90", 500)],
        ),
    ]);
    assert_eq!(counts(&summary), [(5, "com.shop.Cart.total")], "{:#?}", summary.groups);
    let group = &summary.groups[0];
    assert_eq!(group.frames, ["com.shop.CartActivity$#.onClick", "com.shop.Cart.total"]);
    assert_eq!((group.users.unwrap().count, group.versions.unwrap().count), (2, 2));
    assert_eq!(group.top_versions[0], NameCount { name: "1".into(), reports: 3 });
}

#[test]
fn grouping_separates_methods_and_waits() {
    let at = |tail: &str| report("1", "u", &[(&format!("{ENTRY} {tail}"), 500)]);
    let summary = groups(vec![
        at("com.shop.Cart.total:88"),
        at("com.shop.Cart.save:12"),
        at("com.shop.Cart.save:12 android.database.sqlite.SQLiteDatabase.insert:1"),
        at("com.shop.Cart.save:12 java.lang.Thread.sleep!").doing("android.os.Handler", "", 10),
        at("com.shop.Cart.total:89"),
    ]);
    assert_eq!(counts(&summary), [(3, "com.shop.Cart.save"), (2, "com.shop.Cart.total"),]);
    let causes = &summary.groups[0].top_causes;
    assert!(causes.contains(&NameCount { name: "sleep".into(), reports: 1 }), "{causes:?}");
}

#[test]
fn grouping_ignores_the_message_where_the_app_is_known() {
    let by = |callback: &str| {
        report("1", "u", &[(&format!("{ENTRY} com.shop.Cart.total:88"), 500)]).doing(
            "android.os.Handler",
            callback,
            5_900,
        )
    };
    let summary = groups(vec![by("android.view.View$PerformClick"), by("com.shop.Retry"), by("")]);
    assert_eq!(counts(&summary), [(3, "com.shop.Cart.total")]);
    let messages: Vec<&str> = summary.groups[0].top_messages.iter().map(|m| m.name.as_str()).collect();
    assert_eq!(messages.len(), 3, "{messages:?}");
    // Without a method of the app, the message identifies the problem.
    let by = |callback: &str| {
        report("1", "u", &[("android.view.Choreographer.doFrame:9", 500)]).doing(
            "android.os.Handler",
            callback,
            5_900,
        )
    };
    assert_eq!(groups(vec![by("com.shop.Retry"), by("com.shop.Load"), by("com.shop.Load")]).groups.len(), 2);
}

#[test]
fn grouping_ignores_what_compilers_make_up_and_libraries() {
    let at = |stack: &str| report("1", "u", &[(stack, 500)]);
    let summary = groups(vec![
        at("com.shop.Main.$r8$lambda$Zm3xA com.shop.Main.lambda$onCreate$0 com.shop.Cart.load:3"),
        at("com.shop.Main.lambda$onCreate$4 com.shop.Cart.load$default:3 com.shop.Cart.load:9"),
        at(
            "com.shop.Main.lambda$onCreate$4 com.shop.Cart.access$100 com.shop.Cart.load:9 okhttp3.RealCall.execute",
        ),
        at("com.shop.Main.lambda$onCreate$4 com.shop.Cart.load:9 \
            kotlinx.coroutines.BuildersKt.runBlocking java.util.concurrent.locks.LockSupport.parkNanos!"),
    ]);
    assert_eq!(counts(&summary), [(4, "com.shop.Cart.load")], "{:#?}", summary.groups);
}

#[test]
fn grouping_joins_obfuscated_builds_by_kept_names() {
    let summary = groups(vec![
        report(
            "1",
            "u",
            &[(&format!("{ENTRY} a.b.c:4 a.b.d:9 a.e.f:2 android.os.BinderProxy.transactNative!"), 500)],
        ),
        report(
            "2",
            "v",
            &[(&format!("{ENTRY} b.a.x:1 c.c.a:3 android.os.BinderProxy.transactNative!"), 500)],
        ),
    ]);
    assert_eq!(summary.groups.len(), 1, "{:#?}", summary.groups);
    assert_eq!(summary.groups[0].frames, ["com.shop.CartActivity$#.onClick", "…"]);
    assert_eq!(summary.groups[0].obfuscated_version, "");
}

#[test]
fn grouping_separates_obfuscated_builds_without_kept_names() {
    let stack = "a.b.c:4 a.b.d:9 android.os.BinderProxy.transactNative!";
    let summary = groups(vec![
        report("1", "u", &[(stack, 500)]),
        report("1", "v", &[(stack, 400)]),
        report("1", "v", &[("a.b.c:4 a.b.e:9 android.os.BinderProxy.transactNative!", 500)]),
        report("2", "w", &[(stack, 500)]),
    ]);
    let got: Vec<_> =
        summary.groups.iter().map(|g| (g.amount.reports, g.obfuscated_version.as_str())).collect();
    assert_eq!(got, [(2, "1"), (1, "1"), (1, "2")]);
}

#[test]
fn grouping_does_not_take_an_obfuscated_message_for_a_kept_name() {
    let by = |version: &str, callback: &str, stack: &str| {
        report(version, "u", &[(stack, 500)]).doing("android.os.Handler", callback, 5_900)
    };
    let (regex, recursion) = ("a.b.c:4 a.b.d:9 java.util.regex.Matcher.find", "a.b.a:1 c.d.a:3 c.d.b:3");
    let versions =
        |summary: &Summary| summary.groups.iter().map(|g| g.obfuscated_version.clone()).collect::<Vec<_>>();
    let summary = groups(vec![by("5.1", "a.b", regex), by("5.2", "a.b", recursion)]);
    assert_eq!(versions(&summary), ["5.1", "5.2"]);
    // A message that kept its name joins its builds.
    let summary = groups(vec![by("5.1", "com.shop.Sync", regex), by("5.2", "com.shop.Sync", recursion)]);
    assert_eq!(versions(&summary), [""]);
    assert_eq!(counts(&summary), [(2, "com.shop.Sync")]);
}

#[test]
fn merge_does_not_depend_on_order() {
    let stacks = [format!("{ENTRY} com.shop.Cart.total:88"), format!("{ENTRY} com.shop.Cart.save:88")];
    let all: Vec<Sighting> = (0..60_u32)
        .map(|i| {
            let stack = stacks[(i % 3 == 0) as usize].as_str();
            let user = format!("user {}", i % 7);
            sighting(report(&format!("5.{}", i % 4), &user, &[(stack, 100 + i)]), &format!("{i:02}.lbx"))
        })
        .collect();
    let json = |parts: &[Vec<Sighting>]| {
        let mut whole = Clusters::default();
        for part in parts {
            let mut clusters = Clusters::default();
            for sighting in part {
                clusters.add(sighting.clone());
            }
            whole.merge(clusters);
        }
        serde_json::to_value(whole.summary(3, 0)).unwrap()
    };
    let mut reversed = all.clone();
    reversed.reverse();
    let one = json(std::slice::from_ref(&all));
    assert_eq!(one, json(&[all[..13].to_vec(), all[13..].to_vec()]));
    assert_eq!(one, json(&[reversed[..40].to_vec(), reversed[40..].to_vec()]));
    assert_eq!(one["groups"][0]["reports"], 40);
    assert_eq!(one["groups"][0]["users"]["count"], 7);
    // Of 40 reports with equal confidence the one with most samples.
    assert_eq!(one["groups"][0]["representative"]["path"], "59.lbx");
}

#[test]
fn text_and_html_list_the_groups_and_html_is_escaped() {
    let summary = groups(vec![
        report("<i>1</i>", "u", &[(&format!("{ENTRY} com.shop.Cart.total:88"), 500)]),
        report("5.2.1", "v", &[(&format!("{ENTRY} com.shop.Cart.total:88"), 500)]),
        report("5.2.1", "v", &[("com.shop.<script>.x:1", 500)]),
    ]);
    insta::assert_snapshot!(anstream::adapter::strip_str(&text(&summary, 20)));
    let page = html(&summary, 20);
    assert!(page.contains("&lt;script&gt;") && !page.contains("<script") && !page.contains("<i>"), "{page}");
    for group in &summary.groups {
        assert!(page.contains(&group.id) && page.contains(&group.representative.path));
    }
    assert!(text(&summary, 1).contains("1 more group with 1 report ("));
}

#[test]
fn parts_of_the_recorder_that_were_off_are_in_text_page_and_json() {
    let off = |detail: &str| {
        let sampler = FeatureState { feature: Feature::Sampler, on: false, detail: detail.into() };
        report("5.2.1", "u", &[]).with(|r| r.features = vec![sampler])
    };
    let summary =
        groups(vec![off("fuse blown, an <earlier> process"), off("unknown <ART>: 99"), off("unknown <ART>")]);
    let text = text(&summary, 20);
    assert!(
        text.contains("recorder, in 3 reports:\n  sampler   off in 3: unknown <ART> 2, fuse blown 1\n"),
        "{text}"
    );
    let page = html(&summary, 20);
    assert!(page.contains("sampler off in 3 reports<dd>unknown &lt;ART&gt; 2, fuse blown 1"), "{page}");
    let json = serde_json::to_value(&summary).unwrap();
    assert_eq!(json["recorder"][0]["reasons"][1]["name"], "fuse blown");
    assert!(groups(vec![report("5.2.1", "u", &[])]).recorder.is_empty());
}

#[test]
fn grouping_accepts_an_empty_report() {
    let decoded = loopbox_format::report::Decoded { report: Report::default(), damage: Vec::new() };
    let mut clusters = Clusters::default();
    let analysis = Analysis::new(&decoded);
    clusters.add(Sighting::new(&analysis, &diagnose(&analysis), "empty.lbx"));
    let summary = clusters.summary(1, 0);
    assert_eq!((summary.groups.len(), summary.groups[0].users), (1, None));
}

#[test]
fn what_ran_outside_of_messages_is_grouped_by_its_place_and_path() {
    let outside = |version: &str, place: &str, rest: &str| {
        let stack = format!("android.os.MessageQueue.next {place} {rest}");
        ReportBuilder::new().outside(6_000, true).tree(OUTSIDE, &[(&stack, 590)]).with(|r| {
            r.meta.process.app_version = version.into();
            r.meta.annotations.clear();
        })
    };
    let touch = "android.os.MessageQueue.nativePollOnce! android.view.InputEventReceiver.dispatchInputEvent:1 \
                 com.shop.Main.dispatchTouchEvent:4";
    let idle = "com.shop.Trim.queueIdle:4";
    let summary = groups(vec![
        outside("1", touch, "com.shop.Cart.total:8"),
        outside("2", touch, "com.shop.Cart.total:9"),
        outside("2", idle, "com.shop.Cart.total:9"),
    ]);
    let got: Vec<(u64, &str)> = summary
        .groups
        .iter()
        .map(|group| (group.amount.reports, group.top_messages[0].name.as_str()))
        .collect();
    assert_eq!(got, [(2, "outside of messages, input"), (1, "outside of messages, an idle handler")]);
    // Made-up names of two builds are two problems, as in a message without a name.
    let obfuscated = |version| outside(version, "android.os.MessageQueue.nativePollOnce! a.b.c", "a.d.e");
    assert_eq!(groups(vec![obfuscated("1"), obfuscated("2")]).groups.len(), 2);
}

#[test]
fn a_trend_has_the_newest_versions_in_their_order() {
    let of = |version: &str, method: &str| {
        report(version, "u", &[(&format!("{ENTRY} com.shop.Cart.{method}:88"), 500)])
    };
    let mut reports: Vec<ReportBuilder> =
        (1..=9).map(|minor| of(&format!("5.{minor}.0 (50{minor}00)"), "total")).collect();
    reports.extend([
        of("5.10.0 (51000)", "total"),
        of("5.10.0 (51000)", "save"),
        of("", "save"),
        of("beta", "save"),
    ]);
    let summary = groups(reports);
    let trend = |group: usize| {
        let trend = summary.groups[group].trend.iter();
        trend.map(|v| (v.version.split(" (").next().unwrap(), v.reports, v.of)).collect::<Vec<_>>()
    };
    let total = [
        ("5.3.0", 1, 1),
        ("5.4.0", 1, 1),
        ("5.5.0", 1, 1),
        ("5.6.0", 1, 1),
        ("5.7.0", 1, 1),
        ("5.8.0", 1, 1),
        ("5.9.0", 1, 1),
        ("5.10.0", 1, 2),
    ];
    assert_eq!(trend(0), total);
    let save: Vec<u64> = trend(1).iter().map(|v| v.1).collect();
    assert_eq!((save.len(), save.iter().sum::<u64>(), save[7]), (8, 1, 1));
    let page = html(&summary, 9);
    assert!(
        page.contains("5.9.0 (50900): 0 of 1 reports (0 %), 5.10.0 (51000): 1 of 2 reports (50 %)"),
        "{page}"
    );
}

/// A stall of this length, as a report.
fn stall_of(builder: ReportBuilder, ms: u64, path: &str) -> Sighting {
    let aged = builder.with(|r| {
        let MainState::Running(running) = &mut r.main else { panic!("no message runs") };
        running.start_ns = running.as_of_ns - ms * 1_000_000;
    });
    let analysis = Analysis::new(&aged.build());
    Sighting::of_stall(&analysis, &diagnose(&analysis), path)
}

#[test]
fn rates_of_stalls_are_of_their_users_or_not_known() {
    let mut clusters = Clusters::default();
    let cart = [(ENTRY, 5), ("com.shop.Cart.total", 500)];
    for user in ["u1", "u2", "u2"] {
        clusters.add(stall_of(report("5.3 (503)", user, &cart), 700, "a.jsonl"));
    }
    let rate = |active, of| {
        let mut summary = clusters.summary(0, 0);
        summary.add_rates(active, of);
        summary.groups[0].rate.map(|rate| (rate.affected, rate.of))
    };
    assert_eq!(rate(Active::Users, 1_000), Some((2, 1_000)));
    assert_eq!(rate(Active::Sessions, 1_000), None);
}

#[test]
fn stalls_and_reports_of_one_path_are_one_group() {
    let mut clusters = Clusters::default();
    let total = format!("{ENTRY} com.shop.Cart.total:88");
    let cart = [(ENTRY, 5), (total.as_str(), 500)];
    clusters.add(sighting(report("5.2 (502)", "u1", &cart), "a.lbx"));
    let stall = |ms: u64, path: &str| stall_of(report("5.3 (503)", "u2", &cart), ms, path);
    clusters.add(stall(700, "short.jsonl"));
    clusters.add(stall(1_300, "long.jsonl"));
    let both = clusters.summary(0, 0);
    assert_eq!((both.ranked_by, both.groups.len()), (Measure::Reports, 1));
    let group = &both.groups[0];
    assert_eq!((group.amount.reports, group.amount.stalls, group.amount.stall_ns), (1, 2, 2_000_000_000));
    assert_eq!((group.share, group.users.unwrap().count), (1.0, 2));
    // A verdict says more than a stall.
    assert_eq!(group.representative.path, "a.lbx");
    assert!(
        text(&both, 9).contains("1 report; 2 stalls, 2.00 s in all of 2 users in 1 group"),
        "{}",
        text(&both, 9)
    );

    let mut stalls = Clusters::default();
    stalls.add(stall(700, "short.jsonl"));
    stalls.add(stall(1_300, "long.jsonl"));
    stalls.add(stall_of(report("5.3", "u2", &[("com.shop.Feed.bind:9", 300)]), 2_500, "other.jsonl"));
    let stalls = stalls.summary(0, 0);
    let ranked: Vec<_> = stalls.groups.iter().map(|g| (g.title(), g.amount.stalls, g.share)).collect();
    // By their time, not by their number.
    assert_eq!(stalls.ranked_by, Measure::Time);
    assert_eq!(ranked, [("com.shop.Feed.bind", 1, 2.5 / 4.5), ("com.shop.Cart.total", 2, 2.0 / 4.5)]);
    assert_eq!(stalls.groups[1].representative.path, "long.jsonl");
    assert!(stalls.groups[1].representative.headline.ends_with("PerformClick took 1.30 s"), "{stalls:?}");
}

#[test]
fn jank_frames_are_ranked_by_their_hitches() {
    let session = SessionBuilder::new()
        .scroll_with("Feed", &[17, 17, 117, 17, 117, 17], Some(46))
        .scroll("Cart", &[17, 67, 17, 67, 17, 67, 17])
        .build();
    let feed = [("com.shop.Feed.bind:9", 300)];
    let analysis = |frames: bool| {
        let builder = report("5.2 (502)", "u1", &feed);
        let with = |r: &mut Report| r.frames = session.clone();
        Analysis::new(&(if frames { builder.with(with) } else { builder }).build())
    };
    let mut clusters = Clusters::default();
    let once = FramesOnce::default();
    clusters.add_janks(Sighting::of_janks(&analysis(true), &once, "a.lbx"));
    clusters.add_janks(Sighting::of_janks(&analysis(true), &once, "b.lbx"));
    clusters.add_janks(Sighting::of_janks(&analysis(false), &once, "none.lbx"));
    let summary = clusters.summary(0, 0);
    assert_eq!((summary.ranked_by, summary.amount.reports, summary.amount.janks), (Measure::Time, 2, 10));
    let ranked: Vec<_> = summary
        .groups
        .iter()
        .map(|g| (g.title(), g.amount.reports, g.amount.janks, g.amount.hitch_ns / 1_000_000))
        .collect();
    // Four frames of six refreshes too many, six of three; the latter have no stack, and a separate group.
    assert_eq!(ranked, [("com.shop.Feed.bind", 2, 4, 400), ("outside_of_messages", 2, 6, 300)]);
    assert_eq!(summary.groups[0].representative.headline, "a frame of Feed stood 117 ms");
    let shown = text(&summary, 9);
    assert!(
        shown.contains("10 jank frames in 2 reports, 700 ms of hitches of 1 user in 2 groups"),
        "{shown}"
    );
    assert!(html(&summary, 9).contains("4 jank frames in 2 reports, 400 ms of hitches"));
}
