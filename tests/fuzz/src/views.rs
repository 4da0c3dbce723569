//! What happens to a report after it is decoded.

use crate::report::sealed;
use loopbox_format::report::{Decoded, decode};
use loopbox_report::cluster::{self, Clusters, Sighting};
use loopbox_report::diagnose::diagnose;
use loopbox_report::export::parquet::{ReportRow, ScreenRow, Table};
use loopbox_report::export::{self, Format};
use loopbox_report::retrace::Mapping;
use loopbox_report::smoothness::FramesOnce;
use loopbox_report::test_support::ReportBuilder;
use loopbox_report::{Analysis, TraceFile, flame, html, invariant_violations, text};
use std::cell::RefCell;

/// Makes every view and every export of a report with arbitrary content.
pub(crate) fn every_view(input: &[u8]) -> bool {
    let decoded = decode(&sealed(input));
    decoded.iter().for_each(views);
    decoded.is_ok()
}

fn views(decoded: &Decoded) {
    let analysis = Analysis::new(decoded);
    let diagnosis = diagnose(&analysis);
    let shown = text::show(&analysis, &diagnosis, text::Options { full: true })
        + &text::diagnosis(&analysis, &diagnosis)
        + &text::native_stack(&analysis);
    let styled = |c: char| c.is_control() && c != '\n' && c != '\u{1b}';
    assert!(!shown.contains(styled), "a control character reaches the terminal");
    assert!(diagnosis.causes.iter().all(|cause| cause.score.is_finite()));
    let page = html::page(&analysis, &diagnosis).expect("a page");
    assert_eq!(page.matches("<script").count(), 2, "a script of the report's own");
    let mut out = Vec::new();
    for format in Format::ALL {
        out.clear();
        export::write(format, &analysis, &diagnosis, &mut out).expect("an export");
    }
    for merged in [false, true] {
        out.clear();
        let _ = flame::write(&analysis, flame::TreeChoice { token: None, merged }, &mut out);
    }
    let _ = export::tree_text(&decoded.report, &analysis, None);
    let mut table = Table::new(Vec::new()).expect("a table");
    table.write(&[ReportRow::new(&analysis, &diagnosis, "a.lbx")]).expect("a row");
    table.finish().expect("the table's end");
    let mut screens = Table::new(Vec::new()).expect("a table");
    screens.write(&ScreenRow::all(&analysis, &FramesOnce::default(), "a.lbx")).expect("rows");
    screens.finish().expect("the table's end");
    let mut clusters = Clusters::default();
    clusters.add(Sighting::new(&analysis, &diagnosis, "a.lbx"));
    let summary = clusters.summary(0, 0);
    assert!(!cluster::html(&summary, 9).contains("<script"));
    let _ = (cluster::text(&summary, 9), invariant_violations(&analysis));
}

/// Makes every view of the first process of a trace, and checks the facts of the others.
pub(crate) fn trace(input: &[u8]) -> bool {
    let Some(file) = TraceFile::read(input) else { return false };
    assert_eq!(file.names().count(), file.processes());
    for name in file.names() {
        let process = file.of(name).expect("a process by its name");
        assert_eq!(process.name(), name);
        let report = process.report();
        assert_eq!(report.meta.process.pid, process.pid().unwrap_or_default());
        let _ = Analysis::new(&Decoded { report, damage: Vec::new() });
    }
    views(&Decoded { report: file.first().report(), damage: Vec::new() });
    true
}

/// Reads a mapping, and retraces a report whose names it may map.
pub(crate) fn mapping(input: &[u8]) -> bool {
    let Ok(mapping) = Mapping::parse(input) else { return false };
    OBFUSCATED.with_borrow(|decoded| {
        let mut report = decoded.report.clone();
        let _ = mapping.is_of(&report);
        let fits = mapping.retrace(&mut report).is_ok();
        let analysis = Analysis::new(&Decoded { report, damage: Vec::new() });
        let _ = text::diagnosis(&analysis, &diagnose(&analysis));
        fits
    })
}

thread_local! {
    /// A report with the names of `seeds/mapping`.
    static OBFUSCATED: RefCell<Decoded> = RefCell::new(
        ReportBuilder::new()
            .single("a.b", 500, 400)
            .running(7, 3_000)
            .doing("a.b", "a.c$d", 2_000)
            .tree(7, &[("a.b.c:4 a.c.a:1 a.c.b:20", 20), ("a.b.c:5 a.d.e:3", 30)])
            .pending("Message 0: { when=-5ms what=1 target=a.b obj=a.c }")
            .build(),
    );
}
