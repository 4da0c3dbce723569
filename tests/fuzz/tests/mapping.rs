//! The memory that a mapping takes: one and a half times its own size, whatever it contains.

use loopbox_format::model::Report;
use loopbox_fuzz::peak_of;
use loopbox_report::retrace::{Mapping, MappingMismatch};
use loopbox_report::test_support::ReportBuilder;
use std::fmt::Write as _;

const MIB: usize = 1 << 20;
/// The memory that is held in addition to one and a half times the mapping's size.
const FIXED: usize = 2 * MIB;

fn report() -> Report {
    let stack = "a.b1.a:2 a.b2.a:5 a.b3.a:8 java.lang.Thread.sleep!";
    ReportBuilder::new().running(1, 1_000).tree(1, &[(stack, 5)]).build().report
}

/// Reads the mapping `text`, and retraces a report with it. Returns the most memory that was held at once
/// while the mapping was read, which includes its text; then the most that was held in addition during the
/// retracing, both in bytes; and the result of the retracing.
fn held(name: &str, text: &str) -> (usize, usize, Result<(), MappingMismatch>) {
    let (reading, mapping) = peak_of(|| Mapping::parse(text.as_bytes().to_vec()).unwrap());
    let mut report = report();
    let (retracing, result) = peak_of(|| mapping.retrace(&mut report));
    println!("{name}: {} bytes, {reading} to read it, {retracing} to retrace a report", text.len());
    (reading, retracing, result)
}

fn assert_bounded(name: &str, text: &str) {
    let (reading, retracing, result) = held(name, text);
    assert_eq!(result, Ok(()), "{name}");
    assert!(reading <= text.len() + text.len() / 2 + FIXED, "{name}: {reading} bytes for {}", text.len());
    assert!(retracing <= 2 * FIXED, "{name}: {retracing} bytes for a report");
}

#[test]
fn a_mapping_as_of_a_large_app() {
    let mut text = String::new();
    for class in 0..12_000 {
        let name =
            format!("com.company.product.feature{}.presentation.SomeRatherLongClassName{class}", class % 500);
        let _ = writeln!(
            text,
            "{name} -> a.b{class}:\n# {{\"id\":\"sourceFile\",\"fileName\":\"Some{class}.kt\"}}"
        );
        for method in 0..9 {
            let (from, source) = (method * 3 + 1, method * 10);
            let _ = writeln!(
                text,
                "    {from}:{}:void someMethodName{method}(int):{source}:{} -> a",
                from + 2,
                source + 2
            );
        }
    }
    assert_bounded("large app", &text);
}

#[test]
fn a_mapping_of_many_small_classes() {
    let mut text = String::new();
    for class in 0..150_000 {
        let _ = writeln!(text, "com.company.product.Class{class} -> a.b{class}:");
    }
    assert_bounded("small classes", &text);
    // And of the smallest ones, which leave no room for a place each.
    text.clear();
    for class in 0..300_000 {
        let _ = writeln!(text, "a{class:x} -> b:");
    }
    text.push_str("com.Shop -> a.b1:\n");
    assert_bounded("smallest classes", &text);
}

#[test]
fn a_mapping_of_one_class() {
    let mut text = String::from("com.Shop -> a.b1:\n");
    for line in 0..200_000 {
        let _ = writeln!(text, "    {line}:{line}:void m{line}(java.lang.String):1:1 -> m{line}");
    }
    assert_bounded("one class", &text);
    // All of it is about a method of the report.
    let (reading, retracing, result) = held("one method", &text.replace(" -> m", " -> a\n#"));
    assert_eq!(result, Err(MappingMismatch::TooMuch { max_mib: 4 }));
    assert!(reading <= text.len() * 2 && retracing <= 16 * MIB, "{reading}, {retracing}");
    let many = "    void m() -> a\n".repeat(300_000);
    let (_, retracing, result) = held("one line", &format!("com.Shop -> a.b1:\n{many}"));
    assert_eq!(result, Err(MappingMismatch::TooMuch { max_mib: 4 }));
    assert!(retracing <= 16 * MIB, "{retracing}");
}
