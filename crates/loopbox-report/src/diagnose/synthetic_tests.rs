//! Methods that compilers add between the source's frames are no culprits, and give no name and no line.

use super::tests::calm;
use super::*;
use crate::test_support::ReportBuilder;
use loopbox_format::model::Report;

fn hang(stack: &str) -> ReportBuilder {
    let report = ReportBuilder::new().idle(20_000).running(99, 6_000);
    report.doing("android.os.Handler", "com.shop.A$1", 5_900).looper_tree(99, &[(stack, 590)])
}

/// The report with this class marked as one that R8 or D8 made.
fn made(mut report: Report, class: &str, file: &str) -> Report {
    for method in report.symbols.methods.iter_mut().filter(|method| method.class == class) {
        method.source_file = file.into();
    }
    report
}

fn culprit(report: Report) -> String {
    let analysis = Analysis::new(&loopbox_format::report::Decoded { report, damage: Vec::new() });
    let diagnosis = diagnose(&analysis);
    diagnosis.causes.first().and_then(|cause| cause.culprit.clone()).unwrap()
}

#[test]
fn an_accessor_is_no_culprit() {
    let stack = "com.shop.Main$1.onClick:17 com.shop.Main.-$$Nest$mload:0";
    assert_eq!(culprit(hang(stack).build().report), "com.shop.Main$1.onClick(Main.java:17)");
    let stack = "com.shop.Cart.total:5 com.shop.Main.access$100:0 com.shop.Main.$r8$lambda$h4sh:0";
    assert_eq!(culprit(hang(stack).build().report), "com.shop.Cart.total(Cart.java:5)");
    let platform = "android.view.View.performClick:7200 android.view.View.-$$Nest$mperformClickInternal:0";
    assert_eq!(culprit(hang(platform).build().report), "android.view.View.performClick(View.java:7200)");
}

#[test]
fn an_accessor_is_no_place_to_wait_for_a_monitor() {
    let rule = |top: &str| {
        let stack = format!("com.shop.Feed.show:20 {top}");
        let report = calm().running(99, 1_240).doing("android.os.Handler", "", 20);
        let report = report.looper_tree(99, &[(stack.as_str(), 118)]).build().report;
        let analysis = Analysis::new(&loopbox_format::report::Decoded { report, damage: Vec::new() });
        diagnose(&analysis).causes.iter().map(|cause| cause.rule).collect::<Vec<_>>()
    };
    assert!(rule("com.shop.Feed.update:41").contains(&"lock"));
    assert!(!rule("com.shop.Feed.-$$Nest$sfgetsum:0").contains(&"lock"));
}

#[test]
fn the_class_of_a_lambda_is_the_culprit_only_where_nothing_else_is() {
    const LAMBDA: &str = "com.shop.Main$$ExternalSyntheticLambda0";
    for file in ["D8$$SyntheticClass", "R8$$SyntheticClass"] {
        let of = |stack: String| made(hang(&stack).build().report, LAMBDA, file);
        let report = of(format!("{LAMBDA}.run:0 com.shop.Main.lambda$show$0:31 {LAMBDA}.get:0"));
        assert_eq!(culprit(report), "com.shop.Main.lambda$show$0(Main.java:31)");
        let report = of(format!("{LAMBDA}.run:0 okio.Buffer.read:9"));
        assert_eq!(culprit(report), "okio.Buffer.read(Buffer.java:9)");
        // It has no line, and its file is no file.
        assert_eq!(culprit(of(format!("{LAMBDA}.run:0"))), format!("{LAMBDA}.run(dex pc 0x0)"));
    }
}

#[test]
fn a_place_that_only_its_maker_can_resolve_is_none() {
    let stack = "com.google.android.gms.common.api.Call.run:88 java.lang.Thread.sleep!";
    let report =
        made(hang(stack).build().report, "com.google.android.gms.common.api.Call", "go/retraceme 5ac1e0f7");
    assert_eq!(culprit(report), "com.google.android.gms.common.api.Call.run(dex pc 0x0)");
}
