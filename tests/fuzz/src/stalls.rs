//! Files of the performance monitor.

use loopbox_format::report::{Decoded, decode, encode};
use loopbox_monitor::{StallRow, Summary, as_report, each_stall, html, text, uiperf};
use loopbox_report::Analysis;
use loopbox_report::cluster::{Clusters, Sighting};
use loopbox_report::diagnose::diagnose;
use loopbox_report::export::parquet::Table;
use std::convert::Infallible;

/// Makes every view of a file with arbitrary content: the sums, the text log, and each stall as the report
/// that other tools use.
pub(crate) fn every_view(input: &[u8]) -> bool {
    let mut summary = Summary::default();
    summary.add(input);
    let view = summary.view();
    let shown = text(&view, 9);
    let styled = |c: char| c.is_control() && c != '\n' && c != '\u{1b}';
    assert!(!shown.contains(styled), "a control character reaches the terminal");
    assert!(!html(&view, 9).contains("<script"), "a script of the file's own");
    let _ = uiperf(input);

    let mut clusters = Clusters::default();
    let mut rows = Vec::new();
    let Ok(file) = each_stall(input, |stall, base| {
        let report = as_report(stall, base);
        let written = encode(&report).expect("a line's report can be written");
        assert!(
            decode(&written).expect("and read").report == report,
            "another report after writing and reading"
        );
        let analysis = Analysis::new(&Decoded { report, damage: Vec::new() });
        let diagnosis = diagnose(&analysis);
        clusters.add(Sighting::of_stall(&analysis, &diagnosis, "a.jsonl"));
        rows.push(StallRow::new(stall, base, &analysis, &diagnosis, "a.jsonl"));
        Ok::<_, Infallible>(())
    });
    assert_eq!(view.stalls, rows.len() as u64, "both read the same lines");
    let _ = clusters.summary(0, 0);
    let mut table = Table::new(Vec::new()).expect("a table");
    table.write(&rows).expect("rows");
    table.finish().expect("the table's end");
    file.is_of_monitor
}
