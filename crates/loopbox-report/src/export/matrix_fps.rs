//! The report that Matrix's `FrameTracer` makes of each scene (tag `Trace_FPS`), for servers that expect it.
//!
//! The members and their order are Matrix's. Where Matrix's numbers are wrong, ours are used: a level is a
//! time and not a number of refreshes, and `fps` is not truncated (`loopbox_frames::matrix` has Matrix's own
//! arithmetic).

use crate::model::Analysis;
use crate::render::write_json;
use crate::smoothness::SceneView;
use loopbox_format::model::{DropLevel, Named, SceneKind};
use serde::{Serialize, Serializer, ser::SerializeMap};
use std::io::{self, Write};

/// One line of the output, with the figures of one screen.
#[derive(Debug, Clone, Serialize)]
struct Line<'a> {
    machine: &'static str,
    cpu_app: u32,
    mem: u64,
    mem_free: u64,
    scene: &'a str,
    #[serde(rename = "dropLevel")]
    drop_level: Levels,
    #[serde(rename = "dropSum")]
    drop_sum: Levels,
    fps: f64,
    #[serde(rename = "dropTaskFrameSum")]
    drop_task_frame_sum: u32,
    tag: &'static str,
    process: &'a str,
    time: u64,
}

/// A number for each level, best level first. The JSON has the worst level first, as Matrix writes it.
#[derive(Debug, Clone, Copy)]
struct Levels([u64; 5]);

impl Serialize for Levels {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(5))?;
        for level in DropLevel::ALL.into_iter().rev() {
            let name = format!("DROPPED_{}", level.name().to_ascii_uppercase());
            map.serialize_entry(&name, &self.0[level.index()])?;
        }
        map.end()
    }
}

/// Writes a line for each screen that has frames. The screens without separate sums share one line.
pub(super) fn write(a: &Analysis, out: &mut dyn Write) -> io::Result<()> {
    let statistic = |name: &str| a.statistic(name).map_or(0, |value| value.max(0.0) as u64);
    let screens = a.display_frames.scenes.iter().filter(|scene| scene.kind != SceneKind::Process);
    for scene in screens.filter(|scene| scene.frames > 0) {
        let view = SceneView::new(&scene.into());
        let line = Line {
            machine: "UN_KNOW",
            cpu_app: 0,
            mem: statistic("mem.total_bytes"),
            mem_free: statistic("mem.available_bytes") / 1_024,
            scene: &view.name,
            drop_level: Levels(scene.level_frames.map(u64::from)),
            drop_sum: Levels(scene.level_dropped),
            fps: view.fps.unwrap_or_default(),
            drop_task_frame_sum: 0,
            tag: "Trace_FPS",
            process: &a.meta.process.name,
            time: a.meta.dumped_at.unix_ms,
        };
        write_line(&line, out)?;
    }
    Ok(())
}

fn write_line(line: &Line<'_>, out: &mut dyn Write) -> io::Result<()> {
    write_json(&mut *out, line)?;
    out.write_all(b"\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_frames::{ARTICLE_TRACE, SessionBuilder};
    use crate::test_support::ReportBuilder;
    use loopbox_frames::matrix::MatrixSlice;

    /// The JSON of the article on Matrix's `FrameTracer`, without its blanks.
    const ARTICLE: &str = "{\"machine\":\"BEST\",\"cpu_app\":0,\"mem\":6000824320,\"mem_free\":1571584,\
        \"scene\":\"sample.tencent.matrix.trace.TestTraceMainActivity\",\
        \"dropLevel\":{\"DROPPED_FROZEN\":0,\"DROPPED_HIGH\":0,\"DROPPED_MIDDLE\":0,\"DROPPED_NORMAL\":3,\"DROPPED_BEST\":700},\
        \"dropSum\":{\"DROPPED_FROZEN\":0,\"DROPPED_HIGH\":0,\"DROPPED_MIDDLE\":0,\"DROPPED_NORMAL\":13,\"DROPPED_BEST\":32},\
        \"fps\":58.5394287109375,\"dropTaskFrameSum\":0,\"tag\":\"Trace_FPS\",\"process\":\"sample.tencent.matrix\",\
        \"time\":1578478298423}\n";

    #[test]
    fn the_line_of_the_article_is_written_byte_for_byte() {
        let mut slice = MatrixSlice::new();
        let drops = [vec![0; 668], vec![1; 32], vec![4, 4, 5]].concat();
        let report = drops.into_iter().find_map(|dropped| slice.frame(dropped)).unwrap();
        let line = Line {
            machine: "BEST",
            cpu_app: 0,
            mem: 6_000_824_320,
            mem_free: 1_571_584,
            scene: "sample.tencent.matrix.trace.TestTraceMainActivity",
            drop_level: Levels(report.level_frames.map(u64::from)),
            drop_sum: Levels(report.level_dropped),
            fps: report.fps.into(),
            drop_task_frame_sum: report.task_frames,
            tag: "Trace_FPS",
            process: "sample.tencent.matrix",
            time: 1_578_478_298_423,
        };
        let mut out = Vec::new();
        write_line(&line, &mut out).unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), ARTICLE);
    }

    #[test]
    fn each_screen_has_a_line() {
        let session = SessionBuilder::new()
            .scroll("com.example.Feed", &ARTICLE_TRACE)
            .scroll("com.example.Detail", &[17, 720])
            .build();
        let a = Analysis::new(&ReportBuilder::new().with(|report| report.frames = session).build());
        let mut out = Vec::new();
        write(&a, &mut out).unwrap();
        let out = String::from_utf8(out).unwrap();
        let lines: Vec<serde_json::Value> =
            out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(lines.len(), 2);
        assert_eq!(
            (&lines[0]["scene"], &lines[0]["dropLevel"]["DROPPED_NORMAL"]),
            (&"com.example.Feed".into(), &3.into())
        );
        assert_eq!(lines[0]["fps"].as_f64().map(|fps| (fps * 1e3).round() as u32), Some(54_072));
        assert_eq!(lines[1]["dropSum"]["DROPPED_FROZEN"], 42);
        assert_eq!(lines[1]["process"], "com.example.shop");
    }

    #[test]
    fn a_report_without_frames_has_no_line() {
        let mut out = Vec::new();
        write(&Analysis::new(&ReportBuilder::new().build()), &mut out).unwrap();
        assert!(out.is_empty());
    }
}
