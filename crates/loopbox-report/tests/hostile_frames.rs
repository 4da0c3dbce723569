//! Whatever records of display frames contain, no function of this crate panics or prints characters that a
//! terminal acts on.

use loopbox_format::display_frames::{FrameRecord, read};
use loopbox_format::model::{FrameSession, Report, Uptime};
use loopbox_format::report::Decoded;
use loopbox_report::cluster::{self, Clusters, Sighting};
use loopbox_report::diagnose::diagnose;
use loopbox_report::export::parquet::{ScreenRow, Table};
use loopbox_report::smoothness::{FramesOnce, FramesSeen, Smoothness, compare};
use loopbox_report::smoothness_views::{comparison_text, html, text};
use loopbox_report::{Analysis, text as report_text};
use proptest::collection::vec;
use proptest::prelude::*;

/// Records of any bytes: every number, also those that a recorder never writes.
fn session() -> impl Strategy<Value = FrameSession> {
    fn records<R: FrameRecord>(bytes: &[u8], count: usize) -> Vec<R> {
        (0..count).filter_map(|at| read(bytes.get(at * 41..)?).ok()).collect()
    }
    let byte = prop_oneof![any::<u8>(), Just(0), Just(1), Just(0xFF), Just(b'<')];
    (vec(byte, 900..901), 0..5_usize).prop_map(|(bytes, count)| FrameSession {
        scenes: records(&bytes, count),
        gestures: records(&bytes, count),
        janks: records(&bytes, count),
        recent: records(&bytes, count),
        stages: records(&bytes, count),
    })
}

fn is_harmless(styled: &str) -> bool {
    let plain = anstream::adapter::strip_str(styled).to_string();
    plain.chars().all(|c| c == '\n' || !(c.is_control() || ('\u{202A}'..='\u{202E}').contains(&c)))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn every_view_of_any_session_is_rendered(frames in session(), dump_ns in any::<u64>()) {
        let mut report = Report { frames, ..Report::default() };
        report.meta.dumped_at.uptime_ns = Uptime(dump_ns);
        let analysis = Analysis::new(&Decoded { report, damage: Vec::new() });
        let once = FramesOnce::of(FramesSeen::of(&analysis).into_iter().chain(FramesSeen::of(&analysis)));
        let mut all = Smoothness::default();
        all.add(&analysis, &once, "a.lbx");
        all.merge(all.clone());
        prop_assert!(is_harmless(&comparison_text(&compare(&all, &all), 9)));
        let view = all.view(0);
        prop_assert!(is_harmless(&text(&view, 9)));
        prop_assert!(html(&view, 9).ends_with("</html>\n"));
        prop_assert!(serde_json::to_string(&view).is_ok());
        let mut clusters = Clusters::default();
        clusters.add_janks(Sighting::of_janks(&analysis, &once, "a.lbx"));
        let groups = clusters.summary(0, 0);
        prop_assert!(is_harmless(&cluster::text(&groups, 9)) && serde_json::to_string(&groups).is_ok());
        let mut table = Table::new(Vec::<u8>::new()).unwrap();
        prop_assert!(table.write(&ScreenRow::all(&analysis, &once, "a.lbx")).is_ok() && table.finish().is_ok());
        let options = report_text::Options { full: true };
        prop_assert!(is_harmless(&report_text::show(&analysis, &diagnose(&analysis), options)));
    }
}

#[test]
fn long_lists_are_cut_and_reported() {
    let frames = FrameSession {
        scenes: vec![read(&[b'x'; 704]).unwrap(); 70],
        recent: vec![read(&[0; 32]).unwrap(); 5_000],
        ..FrameSession::default()
    };
    let analysis =
        Analysis::new(&Decoded { report: Report { frames, ..Report::default() }, damage: Vec::new() });
    assert_eq!((analysis.display_frames.scenes.len(), analysis.display_frames.recent.len()), (64, 4_096));
    let issues: Vec<String> = analysis.issues.iter().map(ToString::to_string).collect();
    assert_eq!(issues.len(), 2, "{issues:?}");
    assert!(issues[0].starts_with("screens: 6 of 70 are left out"), "{issues:?}");
}
