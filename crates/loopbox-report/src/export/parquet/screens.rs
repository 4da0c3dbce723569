//! The display frames of one screen in one report as a row. Most columns are counts and sums, which can be
//! added over reports; a few are ratios.

use super::Column::{Integer, Json, Real, Text, Time};
use super::{Column, Row, object};
use crate::model::Analysis;
use crate::model::version::version_code;
use crate::smoothness::{FramesOnce, SceneView};
use loopbox_format::model::{FrameScene, SceneKind};

/// One screen of a report.
#[derive(Debug, Clone)]
pub struct ScreenRow {
    path: String,
    dumped_at: Option<i64>,
    process: String,
    app_version: String,
    app_version_code: Option<i64>,
    device: String,
    api_level: i64,
    user: String,
    annotations: String,
    interval_ms: f64,
    scroll_ms: f64,
    scroll_hitch_ms: f64,
    finger_ms: f64,
    finger_hitch_ms: f64,
    jank_gestures: i64,
    causes: String,
    report_id: String,
    view: SceneView,
}

impl Row for ScreenRow {
    const SCHEMA: &'static str = "loopbox.screens/1";
    const NAME: &'static str = "screen";
    const COLUMNS: &'static [(&'static str, Column<Self>)] = &[
        ("path", Text(|r| &r.path)),
        ("dumped_at", Time(|r| r.dumped_at)),
        ("process", Text(|r| &r.process)),
        ("app_version", Text(|r| &r.app_version)),
        ("app_version_code", Integer(|r| r.app_version_code)),
        ("device", Text(|r| &r.device)),
        ("api_level", Integer(|r| Some(r.api_level))),
        ("user", Text(|r| &r.user)),
        ("annotations", Json(|r| &r.annotations)),
        ("screen", Text(|r| &r.view.name)),
        ("kind", Text(|r| r.view.kind.as_str())),
        ("refresh_hz", Real(|r| r.view.rates.iter().max_by_key(|rate| rate.frames).map(|rate| rate.hz))),
        ("frames", Integer(|r| r.view.frames.try_into().ok())),
        ("duration_ms", Real(|r| Some(r.view.duration_ms))),
        ("interval_ms", Real(|r| Some(r.interval_ms))),
        ("hitch_ms", Real(|r| Some(r.view.hitch_ms))),
        (
            "dropped",
            Integer(|r| {
                r.view.levels.iter().try_fold(0, |sum: i64, level| sum.checked_add_unsigned(level.dropped))
            }),
        ),
        ("slow", Integer(|r| r.view.slow.try_into().ok())),
        ("frozen", Integer(|r| r.view.frozen.try_into().ok())),
        ("longest_ms", Real(|r| Some(r.view.longest_ms))),
        ("p50_ms", Real(|r| r.view.p50_ms)),
        ("p90_ms", Real(|r| r.view.p90_ms)),
        ("p99_ms", Real(|r| r.view.p99_ms)),
        ("scroll_frames", Integer(|r| r.view.scroll.frames.try_into().ok())),
        ("scroll_ms", Real(|r| Some(r.scroll_ms))),
        ("scroll_hitch_ms", Real(|r| Some(r.scroll_hitch_ms))),
        ("finger_frames", Integer(|r| r.view.finger.frames.try_into().ok())),
        ("finger_ms", Real(|r| Some(r.finger_ms))),
        ("finger_hitch_ms", Real(|r| Some(r.finger_hitch_ms))),
        ("gestures", Integer(|r| r.view.gestures.try_into().ok())),
        ("jank_gestures", Integer(|r| Some(r.jank_gestures))),
        ("jank_windows", Integer(|r| r.view.windows.recorded.try_into().ok())),
        ("worst_window_fps", Real(|r| r.view.windows.worst_fps)),
        ("delay_ms", Real(|r| Some(r.view.delay_ms))),
        ("staged", Integer(|r| r.view.staged.try_into().ok())),
        ("slow_cost", Integer(|r| r.view.slow_cost.try_into().ok())),
        ("frozen_cost", Integer(|r| r.view.frozen_cost.try_into().ok())),
        ("cause", Text(|r| r.view.causes.first().map_or("", |cause| cause.cause.as_str()))),
        ("causes", Json(|r| &r.causes)),
        ("first_draw", Integer(|r| r.view.first_draw.try_into().ok())),
        ("lost_reports", Integer(|r| r.view.lost_reports.try_into().ok())),
        ("report_id", Text(|r| &r.report_id)),
    ];
}

impl ScreenRow {
    /// The rows of a report: one for all of its screens together, and one for each screen. A report has no
    /// rows in two cases: it has no display frames, or its frames are already counted in another report.
    /// `path` is the name of the report in the table.
    pub fn all(a: &Analysis, once: &FramesOnce, path: &str) -> Vec<Self> {
        let scenes = a.display_frames.scenes.iter().enumerate().filter(|_| once.counts(a));
        let used = scenes.filter(|(_, scene)| scene.frames > 0 || scene.staged > 0 || scene.first_draw > 0);
        used.map(|(nth, scene)| Self::new(a, nth, scene, path)).collect()
    }

    fn new(a: &Analysis, nth: usize, scene: &FrameScene, path: &str) -> Self {
        let ms = crate::model::time::ms;
        let process = &a.meta.process;
        let annotations = || a.meta.annotations.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        let view = SceneView::new(&scene.into());
        let of_all = view.kind.0 == SceneKind::Process;
        let janky = a.display_frames.gestures.iter().filter(|gesture| gesture.windows > 0);
        let causes = view.causes.iter().map(|cause| (cause.cause.to_string(), cause.frames.into()));
        Self {
            path: path.to_owned(),
            report_id: a.identity.report_id.clone(),
            dumped_at: a.wall_clock().unix_ms(a.dump_ns),
            process: process.name.clone(),
            app_version: process.app_version.clone(),
            app_version_code: version_code(&process.app_version),
            device: process.device.clone(),
            api_level: process.api_level.into(),
            user: annotations()
                .find(|(name, _)| *name == "user")
                .map_or(String::new(), |(_, user)| user.into()),
            annotations: object(annotations()),
            interval_ms: ms(scene.ideal_ns.saturating_sub(scene.hitch_ns)),
            scroll_ms: ms(scene.scroll.sum_ns),
            scroll_hitch_ms: ms(scene.scroll.hitch_ns),
            finger_ms: ms(scene.finger.sum_ns),
            finger_hitch_ms: ms(scene.finger.hitch_ns),
            jank_gestures: janky.filter(|gesture| of_all || usize::from(gesture.scene) == nth).count() as i64,
            causes: serde_json::Value::Object(causes.collect()).to_string(),
            view,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{documented, written};
    use super::*;
    use crate::test_frames::{ARTICLE_TRACE, SessionBuilder};
    use crate::test_support::ReportBuilder;

    #[test]
    fn a_report_has_a_row_for_all_screens_and_one_for_each() {
        let session = SessionBuilder::new()
            .scroll("Feed", &ARTICLE_TRACE)
            .scroll("Cart", &[17; 20])
            .stages("Feed", &[[1, 1, 1, 40, 1, 1, 1, 1, 47]])
            .build();
        let report = ReportBuilder::new().with(|report| report.frames = session.clone()).build();
        let rows = ScreenRow::all(&Analysis::new(&report), &FramesOnce::default(), "r.lbx");
        let shown: Vec<_> =
            rows.iter().map(|r| (r.view.name.as_str(), r.view.kind.as_str(), r.view.frames)).collect();
        assert_eq!(shown, [("all screens", "process", 103), ("Feed", "scene", 83), ("Cart", "scene", 20)]);
        let feed = &rows[1];
        assert_eq!((rows[0].jank_gestures, feed.jank_gestures, rows[2].jank_gestures), (1, 1, 0));
        assert_eq!((feed.user.as_str(), feed.causes.as_str()), ("7f3a", r#"{"layout_measure":1}"#));
        // 83 intervals of 16.667 ms; eleven refreshes were missed.
        assert!((feed.interval_ms - 1_383.333).abs() < 0.01, "{}", feed.interval_ms);
        assert!((feed.view.hitch_ms - 183.333).abs() < 0.01 && (feed.scroll_ms - 1_535.0).abs() < 0.01);
        let without = Analysis::new(&ReportBuilder::new().build());
        assert!(ScreenRow::all(&without, &FramesOnce::default(), "r.lbx").is_empty());
    }

    #[test]
    fn columns_are_those_of_the_documentation() {
        let docs = include_str!("../../../../../docs/parquet.md");
        assert_eq!(documented(docs, "Screens"), written::<ScreenRow>());
    }
}
