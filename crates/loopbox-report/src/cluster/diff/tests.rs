//! Comparisons of made-up fleets.

use super::*;
use crate::cluster::Sighting;
use crate::diagnose::diagnose;
use crate::model::Analysis;
use crate::test_support::ReportBuilder;
use loopbox_format::model::{AnrVerdict, DumpReason};

/// Adds `reports` reports of a hang in this method. Each has another user, or none if `user` is false.
fn hangs(clusters: &mut Clusters, method: &str, reports: u32, user: bool) {
    for i in 0..reports {
        let report = ReportBuilder::new()
            .idle(3_000)
            .running(9, 6_000)
            .looper_tree(9, &[(&format!("com.shop.Main.onClick:3 {method}:88"), 500)])
            .with(|r| {
                r.meta.process.app_version = "5.2".into();
                r.meta.annotations.clear();
                if user {
                    r.meta.annotations.push(("user".into(), format!("{method} {i}")));
                }
            });
        let analysis = Analysis::new(&report.build());
        clusters.add(Sighting::new(&analysis, &diagnose(&analysis), &format!("{method}-{i}.lbx")));
    }
}

fn side(name: &str, methods: &[(&str, u32)]) -> SideInput {
    let mut clusters = Clusters::default();
    for (method, reports) in methods {
        hangs(&mut clusters, method, *reports, true);
    }
    SideInput { name: name.into(), clusters, skipped: 0, duplicates: 0 }
}

#[test]
fn reports_without_a_hang_are_no_problem_of_a_release() {
    let hang = [("com.shop.Cart.total", 40)];
    let (before, mut after) = (side("5.2", &hang), side("5.3", &hang));
    let calm = ReportBuilder::new().idle_at_dump(500).with(|r| {
        r.meta.reason = DumpReason::Recovered { crash_signal: None };
        r.anr.verdict = AnrVerdict::Responsive;
    });
    let analysis = Analysis::new(&calm.build());
    for _ in 0..3_000 {
        after.clusters.add(Sighting::new(&analysis, &diagnose(&analysis), "frames.lbx"));
    }
    let comparison = Comparison::new(&before, &after, None, Gate::New);
    assert_eq!(kinds(&comparison), [("com.shop.Cart.total", ChangeKind::Same, false, false)]);
    assert_eq!(
        (comparison.after.reports, comparison.after.of, comparison.after.without_hang),
        (40, 40, 3_000)
    );
    assert!(!comparison.failed);
}

fn fleet() -> (SideInput, SideInput) {
    let before = [
        ("com.shop.Cart.total", 20),
        ("com.shop.Feed.load", 60),
        ("com.shop.Store.open", 30),
        ("com.shop.Old.gone", 40),
    ];
    let after = [
        ("com.shop.Cart.total", 90),
        ("com.shop.Feed.load", 10),
        ("com.shop.Store.open", 34),
        ("com.shop.New.sync", 50),
        ("com.shop.Rare.once", 1),
    ];
    (side("5.2", &before), side("5.3", &after))
}

fn kinds(comparison: &Comparison) -> Vec<(&str, ChangeKind, bool, bool)> {
    comparison.groups.iter().map(|c| (c.title.as_str(), c.change, c.certain, c.fails)).collect()
}

#[test]
fn groups_are_new_gone_better_worse_or_the_same() {
    use ChangeKind::{Better, Gone, New, Same, Worse};
    let (before, after) = fleet();
    let compared = Comparison::new(&before, &after, Some((Active::Users, [10_000, 10_000])), Gate::Worse);
    assert_eq!(
        kinds(&compared),
        [
            ("com.shop.New.sync", New, true, true),
            ("com.shop.Cart.total", Worse, true, true),
            ("com.shop.Rare.once", New, false, false),
            ("com.shop.Old.gone", Gone, true, false),
            ("com.shop.Feed.load", Better, true, false),
            ("com.shop.Store.open", Same, false, false),
        ]
    );
    assert!(compared.failed);
    let cart = &compared.groups[1];
    assert_eq!((cart.before.affected, cart.before.per_1000, cart.after.per_1000), (20, 2.0, 9.0));
    assert!((cart.difference.per_1000 - 7.0).abs() < 1e-9 && cart.difference.low > 4.0, "{cart:?}");
    assert_eq!(cart.open, "com.shop.Cart.total-0.lbx");
}

#[test]
fn rates_refer_to_the_fleet_and_not_to_the_reports() {
    // A tenth of the users have the new version: ten reports of each hundred are no improvement.
    let (before, after) =
        (side("5.2", &[("com.shop.Cart.total", 100)]), side("5.3", &[("com.shop.Cart.total", 10)]));
    let compared = Comparison::new(&before, &after, Some((Active::Users, [100_000, 10_000])), Gate::Worse);
    assert_eq!(kinds(&compared), [("com.shop.Cart.total", ChangeKind::Same, false, false)]);
    let compared = Comparison::new(&before, &after, Some((Active::Users, [100_000, 1_000])), Gate::Worse);
    assert_eq!(kinds(&compared), [("com.shop.Cart.total", ChangeKind::Worse, true, true)]);
    assert_eq!(compared.unit.0, Unit::Users);
}

#[test]
fn without_the_fleet_rates_refer_to_what_is_known() {
    let (before, after) = fleet();
    let compared = Comparison::new(&before, &after, None, Gate::Worse);
    let of = [compared.before.of, compared.after.of];
    assert_eq!((compared.unit.0, of), (Unit::UsersWithAReport, [150, 185]));
    let mut anonymous = Clusters::default();
    hangs(&mut anonymous, "com.shop.Cart.total", 7, false);
    let anonymous = SideInput { name: "x".into(), clusters: anonymous, skipped: 2, duplicates: 0 };
    let compared = Comparison::new(&before, &anonymous, None, Gate::Worse);
    assert_eq!(
        (compared.unit.0, compared.before.of, compared.after.of, compared.after.skipped),
        (Unit::Reports, 150, 7, 2)
    );
}

#[test]
fn a_side_has_its_number_once_where_reports_are_what_is_counted() {
    let anonymous = |name: &str, reports| {
        let mut clusters = Clusters::default();
        hangs(&mut clusters, "com.shop.Cart.total", reports, false);
        SideInput { name: name.into(), clusters, skipped: 0, duplicates: 0 }
    };
    let sides = [anonymous("5.2", 7), anonymous("5.3", 4)];
    let first_line = |users| {
        let text = text(&Comparison::new(&sides[0], &sides[1], users, Gate::Worse));
        anstream::adapter::strip_str(text.lines().next().unwrap()).to_string()
    };
    assert_eq!(first_line(None), "5.2 (7 reports) → 5.3 (4 reports)");
    assert_eq!(
        first_line(Some((Active::Users, [90, 80]))),
        "5.2 (7 reports, 90 users) → 5.3 (4 reports, 80 users)"
    );
}

#[test]
fn an_unchanged_fleet_of_many_problems_does_not_fail() {
    // Two hundred groups whose counts differ by chance, up to two standard deviations.
    let names: Vec<String> = (0..200).map(|i| format!("com.shop.Screen{i}.run")).collect();
    let counts = |add: u32| {
        names
            .iter()
            .zip(0_u32..)
            .map(|(name, i)| (name.as_str(), 9 + (i * 7 + add * i * i) % 13))
            .collect::<Vec<_>>()
    };
    let compared = Comparison::new(
        &side("a", &counts(0)),
        &side("b", &counts(3)),
        Some((Active::Users, [50_000, 50_000])),
        Gate::Worse,
    );
    assert_eq!(compared.compared, 200);
    assert!(!compared.failed, "{:?}", compared.groups.first());
}

#[test]
fn a_gate_fails_on_the_changes_it_is_set_to() {
    let (before, after) = (
        side("a", &[("com.shop.Cart.total", 20)]),
        side("b", &[("com.shop.Cart.total", 20), ("com.shop.Rare.once", 1)]),
    );
    let failed = |gate| Comparison::new(&before, &after, Some((Active::Users, [9_000, 9_000])), gate).failed;
    assert_eq!([Gate::Worse, Gate::New, Gate::Nothing].map(failed), [false, true, false]);
    let (before, after) = fleet();
    assert!(!Comparison::new(&before, &after, Some((Active::Users, [9_000, 9_000])), Gate::Nothing).failed);
}

#[test]
fn obfuscated_groups_are_not_compared() {
    let obfuscated = |version: &str| {
        let report = ReportBuilder::new().running(9, 6_000).looper_tree(9, &[("a.b.c:4 a.b.d:9", 500)]);
        let report = report.with(|r| r.meta.process.app_version = version.into());
        let analysis = Analysis::new(&report.build());
        let mut clusters = Clusters::default();
        clusters.add(Sighting::new(&analysis, &diagnose(&analysis), "x.lbx"));
        SideInput { name: version.into(), clusters, skipped: 0, duplicates: 0 }
    };
    let compared =
        Comparison::new(&obfuscated("1"), &obfuscated("2"), Some((Active::Users, [9, 9])), Gate::New);
    assert_eq!((compared.compared, compared.failed), (0, false));
    assert!(compared.groups.iter().all(|c| c.change == ChangeKind::Incomparable), "{compared:?}");
    assert!(text(&compared).contains("--mapping"));
}

#[test]
fn an_empty_side_is_compared_too() {
    let (before, _) = fleet();
    let nothing = SideInput { name: "5.3".into(), clusters: Clusters::default(), skipped: 0, duplicates: 0 };
    let compared = Comparison::new(&before, &nothing, Some((Active::Users, [10_000, 10_000])), Gate::New);
    assert!(!compared.failed && compared.groups.iter().all(|c| c.change == ChangeKind::Gone), "{compared:?}");
    let compared = Comparison::new(&nothing, &nothing, None, Gate::New);
    assert_eq!((compared.groups.len(), compared.unit.0), (0, Unit::Reports));
}

#[test]
fn text_markdown_and_junit_show_the_changes() {
    let (before, after) = fleet();
    let compared = Comparison::new(&before, &after, Some((Active::Users, [10_000, 10_000])), Gate::Worse);
    insta::assert_snapshot!("text", anstream::adapter::strip_str(&text(&compared)));
    insta::assert_snapshot!("markdown", markdown(&compared));
    insta::assert_snapshot!("junit", junit(&compared));
}

/// Some apps do not know their user yet when they start. The reports of hangs from that time name no user.
#[test]
fn a_report_that_names_no_user_counts_as_one_user_next_to_those_that_do() {
    let side = |name: &str, unnamed: u32, named: u32| {
        let mut clusters = Clusters::default();
        hangs(&mut clusters, "com.shop.Cart.total", unnamed, false);
        hangs(&mut clusters, "com.shop.Cart.total", named, true);
        SideInput { name: name.to_owned(), clusters, skipped: 0, duplicates: 0 }
    };
    let (before, after) = (side("5.2", 50, 0), side("5.3", 59, 1));
    let compared = Comparison::new(&before, &after, Some((Active::Users, [1_000, 1_000])), Gate::Worse);
    let cart = &compared.groups[0];
    assert_eq!((cart.before.affected, cart.after.affected), (50, 60));
    assert_eq!(cart.change, ChangeKind::Same);
}
