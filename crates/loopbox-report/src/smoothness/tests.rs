//! Figures of smoothness, and comparisons of two versions.

use super::collect::UnitSums;
use super::compare::changes;
use super::*;
use crate::diagnose::diagnose;
use crate::json::ReportView;
use crate::model::Analysis;
use crate::smoothness_views::{comparison_text, html, text};
use crate::test_frames::{ARTICLE_TRACE, SessionBuilder};
use crate::test_support::ReportBuilder;
use loopbox_format::model::FrameSession;

fn strip(styled: &str) -> String {
    anstream::adapter::strip_str(styled).to_string()
}

/// A report whose message 46 has stacks in `Cart.total`.
fn report(user: &str, session: FrameSession) -> Analysis {
    let builder = ReportBuilder::new().running(46, 5_200).looper_tree(
        46,
        &[(
            "com.example.shop.Checkout.run:31 com.example.shop.Cart.total:88 java.util.ArrayList.get:436",
            500,
        )],
    );
    let builder = builder.with(|report| {
        report.meta.annotations = vec![("user".into(), user.into())];
        report.frames = session;
    });
    Analysis::new(&builder.build())
}

fn feed() -> FrameSession {
    SessionBuilder::new()
        .scroll("com.example.Feed", &[17; 30])
        .scroll_with("com.example.Feed", &ARTICLE_TRACE, Some(46))
        .scroll("com.example.Detail", &[17, 720, 16, 17])
        .stages(
            "com.example.Feed",
            &[[1, 0, 2, 30, 4, 1, 3, 1, 42], [1, 0, 1, 2, 1, 1, 2, 1, 37], [0, 0, 0, 2, 2, 1, 1, 1, 8]],
        )
        .build()
}

fn collected(reports: &[(&str, FrameSession)]) -> Smoothness {
    let mut all = Smoothness::default();
    for (user, session) in reports {
        all.add(&report(user, session.clone()), &FramesOnce::default(), &format!("{user}.lbx"));
    }
    all
}

#[test]
fn the_figures_of_a_report_are_those_of_its_frames() {
    let view = collected(&[("ann", feed())]).view(0);
    assert_eq!((view.reports, view.process.frames, view.process.kind.as_str()), (1, 117, "process"));
    let names: Vec<_> = view.scenes.iter().map(|scene| (scene.name.as_str(), scene.frames)).collect();
    assert_eq!(names, [("com.example.Detail", 4), ("com.example.Feed", 113)], "the longest hitches first");
    let feed = &view.scenes[1];
    assert_eq!((feed.slow, feed.frozen, feed.windows.recorded, feed.gestures), (3, 0, 3, 2));
    assert_eq!(feed.windows.worst_fps.map(|fps| (fps * 1e3) as u32), Some(23_622));
    assert_eq!(
        feed.causes.iter().map(|c| (c.cause.as_str(), c.frames)).collect::<Vec<_>>(),
        [("layout_measure", 1), ("render_wait", 1)]
    );
    assert_eq!((feed.staged, feed.scroll.frames, feed.finger.frames), (3, 113, 113));
    assert_eq!(view.gestures.count, 3);
    let ordinals: Vec<_> = view.gestures.by_ordinal.iter().map(|o| (o.ordinal, o.gestures)).collect();
    assert_eq!(ordinals, [(1, 2), (2, 1)]);
    assert_eq!(view.gestures.worst[0].scene, "com.example.Detail");
    assert_eq!((view.gestures.worst[0].frozen, view.gestures.worst[1].jank_windows), (1, 3));
    let longest = &view.janks[0];
    assert_eq!(
        (longest.scene.as_str(), longest.refreshes, longest.place.map(|place| place.as_str())),
        ("com.example.Detail", Some(43), Some("outside_of_messages"))
    );
    let known = &view.janks[1];
    assert_eq!(
        (known.duration_ms as u32, known.place.map(|place| place.as_str())),
        (98, Some("own_message"))
    );
    assert_eq!(known.method.as_deref(), Some("com.example.shop.Cart.total(Cart.java:88)"));
    assert!(
        known.stack.len() > 2
            && known.in_words().starts_with("own message 97 ms, layout_measure, com.example")
    );
}

#[test]
fn reports_add_up_whichever_thread_read_them() {
    let other = SessionBuilder::new().scroll("com.example.Feed", &[17, 50, 17]).build();
    let reports = [("ann", feed()), ("bob", other), ("ann", feed())];
    let json = |all: Smoothness| serde_json::to_string(&all.view(1)).unwrap();
    let together = json(collected(&reports));
    for cut in 0..=reports.len() {
        let (first, second) = reports.split_at(cut);
        let mut merged = collected(second);
        merged.merge(collected(first));
        assert_eq!(json(merged), together);
    }
    let mut none = Smoothness::default();
    none.add(&Analysis::new(&ReportBuilder::new().build()), &FramesOnce::default(), "without.lbx");
    assert!(none.is_empty());
    assert_eq!(none.view(0).reports_without_frames, 1);
}

/// A process counts frames in 32 bits, and its values of FPS in 16.
#[test]
fn the_counts_of_a_fleet_are_larger_than_those_of_a_process() {
    let many = |user: &str, pid: u32| {
        let mut session = feed();
        for scene in &mut session.scenes {
            (scene.frames, scene.sum_ns) = (3_000_000_000, 50_000_000_000_000_000);
            (scene.histogram, scene.level_frames, scene.causes) = ([0; 32], [0; 5], [0; 12]);
            (scene.histogram[8], scene.histogram[20]) = (2_500_000_000, 500_000_000);
            (scene.level_frames[0], scene.causes[0]) = (3_000_000_000, 3_000_000_000);
            (scene.fps_values, scene.fps_shares) = (40_000, [0; 16]);
            scene.fps_shares[15] = 40_000;
            (scene.slow_cadence, scene.frozen_cadence) = (2_000_000_000, 2_500_000_000);
            (scene.scroll.frames, scene.rates[0].frames) = (3_000_000_000, 3_000_000_000);
        }
        let mut report = report(user, session);
        report.meta.process.pid = pid;
        let mut all = Smoothness::default();
        all.add(&report, &FramesOnce::default(), &format!("{user}.lbx"));
        all
    };
    let one = many("ann", 1).view(0);
    let mut two = many("ann", 1);
    two.merge(many("bob", 2));
    let two = two.view(0);
    for (one, two) in [(&one.process, &two.process), (&one.scenes[0], &two.scenes[0])] {
        assert_eq!((one.frames, two.frames), (3_000_000_000, 6_000_000_000));
        assert_eq!((two.fps_values.count, two.fps_values.by_share[15]), (80_000, 80_000));
        assert_eq!((two.slow, two.frozen, two.levels[0].frames), (4_000_000_000, 5_000_000_000, two.frames));
        assert_eq!(
            (two.causes[0].frames, two.scroll.frames, two.rates[0].frames),
            (two.frames, two.frames, two.frames)
        );
        assert_eq!(two.histogram.iter().map(|bucket| bucket.frames).sum::<u64>(), two.frames);
        let rates =
            |view: &SceneView| (view.fps, view.p50_ms, view.p90_ms, view.frozen_permille, view.scroll.fps);
        assert_eq!(rates(one), rates(two));
    }
}

#[test]
fn the_text_says_what_a_reader_needs() {
    let shown = strip(&text(&collected(&[("ann", feed())]).view(2), 20));
    for wanted in [
        "1 report with display frames, 2 files skipped\n",
        "ALL SCREENS  117 frames in 2.81 s, 41.6 FPS of 60 Hz (69 %)\n",
        "  hitch     313.8 ms/s (322.7 with jitter), 883 ms in all\n",
        "  stood     p50 ~18 ms, p90 ~18 ms",
        "longest 720 ms\n",
        "4 slow, 1 frozen (8.5 ‰), 53 dropped; levels: 113 best, 3 normal, 1 frozen\n",
        "4 jank windows, the worst of 1.4 FPS\n",
        "layout_measure 1, render_wait 1\n",
        "  com.example.Feed\n",
        "GESTURES  3 gestures, 2 with jank\n",
        "hitch ms/s by number on the screen  1st: ",
        "windows of 23.6, 30.0, 43.9 FPS  com.example.Feed 2nd\n",
        "720 ms (43 refreshes)  com.example.Detail, 3rd gesture: main outside of messages",
        "98 ms (6 refreshes)  com.example.Feed, 2nd gesture: own message 97 ms, layout_measure, com.example.shop.Cart.total(Cart.java:88)\n",
    ] {
        assert!(shown.contains(wanted), "{wanted}\n{shown}");
    }
    let short = strip(&text(&collected(&[("ann", feed())]).view(0), 1));
    assert!(short.contains("1 more screen (--limit)") && !short.contains("com.example.Feed\n"), "{short}");
}

#[test]
fn show_has_a_block_of_frames_when_there_are_any() {
    let show = |analysis: &Analysis| {
        let diagnosis = diagnose(analysis);
        let json = serde_json::to_value(ReportView::new(analysis, &diagnosis)).unwrap();
        (strip(&crate::text::show(analysis, &diagnosis, crate::text::Options::default())), json)
    };
    let (shown, json) = show(&report("ann", feed()));
    assert!(shown.contains("\nFRAMES  117 frames in 2.81 s"), "{shown}");
    assert!(shown.contains("|······3·········3········5·····"), "{shown}");
    assert!(shown.contains("|·[42]··\n"), "{shown}");
    assert_eq!(json["display_frames"]["recent"].as_array().unwrap().len(), 117);
    assert_eq!(json["display_frames"]["janks"][0]["duration_ms"], 69.0);
    let (shown, json) = show(&report("ann", FrameSession::default()));
    assert!(!shown.contains("FRAMES"), "{shown}");
    assert!(json.get("display_frames").is_none());
}

#[test]
fn the_page_is_self_contained_and_its_texts_are_harmless() {
    let evil = SessionBuilder::new().scroll("<script>alert(1)</script>", &[17, 98, 17]).build();
    let page = html(&collected(&[("ann", feed()), ("<b>", evil)]).view(0), 20);
    assert!(page.starts_with("<!doctype html>") && page.ends_with("</html>\n"));
    assert!(!page.contains("http") && !page.contains("<script"), "refers to no other file");
    assert_eq!(page.matches("<svg").count(), 3, "distribution, ordinals, gestures in time");
    assert_eq!(page.matches("<svg").count(), page.matches("</svg>").count());
    assert!(page.contains("&lt;script&gt;") && page.contains("layout_measure"));
    assert!(!page.contains("NaN") && !page.contains("inf"), "{page}");
    let empty = html(&Smoothness::default().view(0), 20);
    assert!(!empty.contains("NaN"), "{empty}");
}

/// The sums of `count` users with `hitch_ms` of hitch time on average. `seed` makes the random numbers.
fn users(count: u64, hitch_ms: u64, seed: u64) -> Vec<UnitSums> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut chance = |below: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state % below
    };
    let user = |_| {
        let frames = 300 + chance(600);
        UnitSums {
            frames,
            sum_ns: frames * 16_666_667 + 1_000_000 * chance(2 * hitch_ms),
            interval_ns: frames * 16_666_667,
            hitch_ns: 1_000_000 * chance(2 * hitch_ms),
            frozen: u64::from(chance(50) == 0),
            gestures: 10,
            jank_gestures: chance(5),
        }
    };
    (0..count).map(user).collect()
}

fn verdict(base: &[UnitSums], variant: &[UnitSums], metric: &str) -> (Verdict, MetricChange) {
    let found = changes(base, variant).into_iter().find(|change| change.metric == metric).unwrap();
    (found.verdict, found)
}

#[test]
fn a_known_effect_is_found_and_called_what_it_is() {
    let (base, worse) = (users(60, 200, 1), users(60, 300, 2));
    let (found, change) = verdict(&base, &worse, "hitch");
    assert_eq!(found, Verdict::Worse);
    let [low, high] = change.interval.unwrap();
    assert!(0.0 < low && low < change.change.unwrap() && change.change.unwrap() < high, "{change:?}");
    assert!(change.change_percent.unwrap() > 20.0, "{change:?}");
    assert_eq!(verdict(&worse, &base, "hitch").0, Verdict::Better);
    assert_eq!(verdict(&base, &base, "fps").0, Verdict::CannotTell);
    assert_eq!(verdict(&base, &base[..1], "hitch").1.interval, None, "one user is no evidence of others");
    assert_eq!(verdict(&[], &base, "hitch").1.base, None);
}

#[test]
fn no_effect_is_called_one_in_about_five_of_a_hundred_runs() {
    let verdict_of =
        |run: u64| verdict(&users(40, 200, 2 * run + 11), &users(40, 200, 2 * run + 12), "hitch").0;
    let cannot_tell = (0..200).filter(|run| verdict_of(*run) == Verdict::CannotTell).count();
    // 190 on average; less than 180 by chance alone is one in a thousand, and the runs are the same each
    // time.
    assert!((180..200).contains(&cannot_tell), "{cannot_tell}");
}

#[test]
fn a_condition_holds_only_for_what_is_more_than_chance() {
    let of = |user: &str, stalls: usize| {
        let durations = [vec![17; 100], vec![100; stalls]].concat();
        (user.to_string(), SessionBuilder::new().scroll("com.example.Feed", &durations).build())
    };
    let set = |from: usize| {
        let mut all = Smoothness::default();
        for user in 0..12 {
            let (name, session) = of(&format!("u{user}"), from + user % 3);
            all.add(&report(&name, session), &FramesOnce::default(), "r.lbx");
        }
        all
    };
    let worse = compare(&set(1), &set(4));
    assert_eq!(worse.scenes[0].scene, "all screens");
    assert_eq!(worse.scenes[1].scene, "com.example.Feed");
    assert_eq!((worse.scenes[0].base_users, worse.scenes[0].variant_users), (12, 12));
    let answer = |condition: &str, of: &Comparison| condition.parse::<FailIf>().unwrap().holds(of);
    let holds = |condition: &str, of: &Comparison| answer(condition, of).unwrap();
    for condition in ["hitch>+10%", "hitch > +10 %", "hitch>+5", "hitch>100", "fps<-1%", "fps-of-rate<90"] {
        assert!(holds(condition, &worse), "{condition}: {worse:?}");
    }
    for condition in ["hitch<-10%", "hitch>+900%", "fps>+1%", "frozen>0", "jank-gestures>+1%", "hitch<100"] {
        assert!(!holds(condition, &worse), "{condition}: {worse:?}");
    }
    // Without a gesture nobody knows how many were janky.
    let mut unrecorded = Smoothness::default();
    let (name, mut session) = of("u1", 4);
    session.gestures.clear();
    unrecorded.add(&report(&name, session), &FramesOnce::default(), "r.lbx");
    let unrecorded = compare(&set(1), &unrecorded);
    for condition in ["jank-gestures>+1%", "jank-gestures>+1", "jank-gestures>1"] {
        assert_eq!(answer(condition, &unrecorded), None, "{condition}");
    }
    let same = compare(&set(1), &set(1));
    assert!(!holds("hitch>+0%", &same) && !holds("hitch>-50", &same), "chance: {same:?}");
    let from_nothing = compare(&collected_smooth(), &set(4));
    assert!(holds("hitch>+10%", &from_nothing), "{from_nothing:?}");
    let shown = strip(&comparison_text(&worse, 1));
    assert!(shown.contains("all screens  12 users or reports against 12\n"), "{shown}");
    assert!(shown.contains("  hitch ") && shown.contains("  worse\n") && !shown.contains("Feed"), "{shown}");
}

fn collected_smooth() -> Smoothness {
    let smooth = SessionBuilder::new().scroll("com.example.Feed", &[17; 100]).build();
    let names: Vec<String> = (0..12).map(|user| format!("u{user}")).collect();
    let reports: Vec<(&str, FrameSession)> =
        names.iter().map(|name| (name.as_str(), smooth.clone())).collect();
    collected(&reports)
}

#[test]
fn a_condition_that_is_none_says_what_is_wrong() {
    let error = |text: &str| text.parse::<FailIf>().unwrap_err();
    assert_eq!(error("hitch"), FailIfError::NoComparison);
    assert_eq!(error("jank>+1%"), FailIfError::Metric("jank".into()));
    assert!(error("jank>1").to_string().ends_with("hitch, frozen, fps, fps-of-rate, jank-gestures"));
    for limit in ["", "10%", "+x%", "+inf", "NaN", "+10%%"] {
        assert_eq!(error(&format!("hitch>{limit}")), FailIfError::Limit(limit.into()));
    }
    assert_eq!("fps < -2.5 %".parse::<FailIf>().unwrap().to_string(), "fps < -2.5 %");
}
