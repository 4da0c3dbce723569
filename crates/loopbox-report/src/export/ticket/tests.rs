//! Tickets of a report with everything in it, of a report whose cause is unclear, and of a hostile report.

use super::*;
use crate::diagnose::diagnose;
use crate::test_support::ReportBuilder;
use serde_json::Value;

fn shop() -> ReportBuilder {
    let recursion = format!("com.example.shop.Cart.total:88 {}", "com.example.shop.Cart.sum:91 ".repeat(40));
    ReportBuilder::new()
        .idle(2_400)
        .group(41, 310, 240)
        .running(46, 5_200)
        .doing("android.os.Handler", "com.example.shop.Checkout$1", 5_050)
        .looper_tree(46, &[(&format!("com.example.shop.Checkout$1.run:31 {}", recursion.trim()), 515)])
        .with(|report| report.meta.process.device = "Google Pixel 8".into())
}

fn written(report: ReportBuilder, format: TicketFormat) -> String {
    let analysis = Analysis::new(&report.build());
    ticket(format, &analysis, &diagnose(&analysis), "reports/a hang.lbx").unwrap()
}

#[test]
fn markdown_has_verdict_evidence_and_folded_stack() {
    insta::assert_snapshot!(written(shop(), TicketFormat::Markdown));
}

#[test]
fn slack_has_the_same_in_blocks() {
    let message: Value = serde_json::from_str(&written(shop(), TicketFormat::Slack)).unwrap();
    let kinds: Vec<&str> =
        message["blocks"].as_array().unwrap().iter().map(|b| b["type"].as_str().unwrap()).collect();
    assert_eq!(kinds[..4], ["header", "context", "section", "section"]);
    let text = |at: usize| message["blocks"][at]["text"]["text"].as_str().unwrap();
    assert_eq!(text(0), message["text"]);
    assert!(
        text(2).contains("*high confidence*") && text(2).contains("Look at `com.example.shop.Cart."),
        "{message}"
    );
    assert!(text(3).starts_with("```\nat com.example.shop.Cart.sum(Cart.java:91)\n"), "{message}");
    assert!(text(3).contains("… the line above 38 more times"), "{message}");
}

#[test]
fn sarif_names_the_source_line_and_the_signature() {
    let log: Value = serde_json::from_str(&written(shop(), TicketFormat::Sarif)).unwrap();
    let result = &log["runs"][0]["results"][0];
    assert_eq!((result["ruleId"].as_str(), result["level"].as_str()), (Some("current-slow"), Some("error")));
    let place = &result["locations"][0]["physicalLocation"];
    assert_eq!(place["artifactLocation"]["uri"], "com/example/shop/Cart.java");
    assert_eq!(place["region"]["startLine"], 91);
    assert_eq!(log["runs"][0]["artifacts"][0]["location"]["uri"], "reports/a%20hang.lbx");
    let analysis = Analysis::new(&shop().build());
    let signature = Problem::new(&analysis, &diagnose(&analysis)).signature.id();
    assert_eq!(result["partialFingerprints"]["loopboxSignature/v1"], signature);
}

#[test]
fn sarif_names_no_file_that_only_a_mapping_knows() {
    for file in ["SourceFile", "r8-map-id-5ac1e0f", "R8$$SyntheticClass", "go/retraceme 5ac1e0f"] {
        let report = shop().with(move |report| {
            report.symbols.methods.iter_mut().for_each(|method| method.source_file = file.into());
        });
        let log: Value = serde_json::from_str(&written(report, TicketFormat::Sarif)).unwrap();
        let place = &log["runs"][0]["results"][0]["locations"][0];
        assert_eq!(place["physicalLocation"], Value::Null, "{file}: {place}");
        assert!(place["logicalLocations"][0]["fullyQualifiedName"].is_string(), "{place}");
    }
}

#[test]
fn an_unclear_verdict_is_a_ticket_too() {
    let unclear = || ReportBuilder::new().group(41, 4_000, 4_000).running(46, 40);
    let markdown = written(unclear(), TicketFormat::Markdown);
    assert!(markdown.starts_with("## Unclear: "), "{markdown}");
    let log: Value = serde_json::from_str(&written(unclear(), TicketFormat::Sarif)).unwrap();
    assert_eq!(log["runs"][0]["results"], serde_json::json!([]));
}

#[test]
fn texts_of_a_hostile_report_are_no_markup() {
    let evil = "<!channel> *b* [x](http://evil) @all ``` & |";
    let report = || {
        shop().with(move |report| {
            report.meta.process.name = evil.into();
            report
                .symbols
                .methods
                .iter_mut()
                .for_each(|method| method.name = format!("{evil}{}", "y".repeat(400)));
        })
    };
    let markdown = written(report(), TicketFormat::Markdown);
    let (head, stack) = markdown.split_once("````text\n").expect("a longer fence than the stack has");
    // In a span of code it is what it is.
    let text: String = head.lines().filter(|line| !line.starts_with("Look at ````")).collect();
    assert!(!text.contains("<!channel>") && !text.contains("@all ") && !text.contains("[x]("), "{head}");
    assert!(head.contains("Look at ````") && text.contains("\\<\\!channel\\>"), "{head}");
    assert!(stack.ends_with("\n````\n"), "{stack}");
    let slack: Value = serde_json::from_str(&written(report(), TicketFormat::Slack)).unwrap();
    for block in slack["blocks"].as_array().unwrap() {
        let text = block["text"]["text"].as_str().or(block["elements"][0]["text"].as_str()).unwrap();
        let is_header = block["type"] == "header";
        assert!(text.chars().count() <= if is_header { 150 } else { 3_000 }, "{text}");
        assert!(is_header || !text.contains("<!channel>"), "{text}");
    }
}

#[test]
fn own_frames_and_the_holder_are_in_sight() {
    let deep = "com.example.shop.Cart.total:88 android.content.A.one:1 android.content.A.two:2 android.content.A.three:3 android.content.A.four:4 \
                android.content.A.five:5 android.content.A.six:6 android.content.A.top:7";
    let report = ReportBuilder::new()
        .running(46, 5_200)
        .doing("android.os.Handler", "", 50)
        .looper_tree(46, &[(deep, 515)])
        .waits_for(
            "com.example.shop.Store",
            "sync",
            "com.example.shop.Sync.run:12 com.example.shop.Store.save:88",
        )
        .interrupted(98, &[("/a/libc.so", &[1], 1), ("/a/libart.so", &[2], 2), ("/a/libart.so", &[2], 3)]);
    let markdown = written(report.clone(), TicketFormat::Markdown);
    let wanted = "\
at android.content.A.top(A.java:7)
at android.content.A.six(A.java:6)
at android.content.A.five(A.java:5)
… 3 frames of the platform and of libraries
at android.content.A.one(A.java:1)
at com.example.shop.Cart.total(Cart.java:88)
";
    assert!(markdown.contains(wanted), "{markdown}");
    assert!(
        markdown
            .contains("… 3 native frames without symbols (libart.so, libc.so): loopbox symbolize names them"),
        "{markdown}"
    );
    let holder = "### Stack of thread sync, which main waits for\n\n```text\nat com.example.shop.Store.save(Store.java:88)\n";
    assert!(markdown.contains(holder), "{markdown}");
    let slack = written(report, TicketFormat::Slack);
    assert!(slack.contains("Thread sync, which main waits for:"), "{slack}");
    assert!(slack.contains("at com.example.shop.Store.save(Store.java:88)"), "{slack}");
}
