//! Jank in OpenTelemetry's form: events `app.jank` (semantic conventions for mobile apps) as one OTLP request
//! in JSON.
//!
//! An event has the number of frames in a period that were longer than a threshold. Two thresholds are usual:
//! one refresh interval (a longer frame is late), and 0.7 s (a longer frame counts as frozen). A display that
//! changes its rate has several refresh intervals. Then the first threshold in the output is the interval at
//! the rate of most frames. Late frames are still counted by each frame's own interval, in whole refreshes.

use crate::model::Analysis;
use crate::render::json_text;
use crate::smoothness::{FramesOnce, SceneView, Smoothness};
use serde_json::{Value, json};
use std::io::{self, Write};

/// The threshold of frozen frames, in seconds.
const FROZEN_S: f64 = 0.7;

/// Writes the request: two events for each screen that has frames.
pub(super) fn write(a: &Analysis, out: &mut dyn Write) -> io::Result<()> {
    let mut collected = Smoothness::default();
    collected.add(a, &FramesOnce::default(), "");
    let view = collected.view(0);
    let screens = view.scenes.iter().filter(|scene| scene.frames > 0);
    let events: Vec<Value> = screens.flat_map(|scene| events(a, scene)).collect();
    let process = &a.meta.process;
    let request = json!({
        "resourceLogs": [{
            "resource": { "attributes": [
                text("service.name", &process.name),
                text("service.version", &process.app_version),
                text("device.model.name", &process.device),
                text("os.name", "Android"),
                number("android.os.api_level", process.api_level.into()),
            ]},
            "scopeLogs": [{ "scope": { "name": "loopbox" }, "logRecords": events }],
        }]
    });
    out.write_all(json_text(&request)?.as_bytes())
}

fn events(a: &Analysis, scene: &SceneView) -> [Value; 2] {
    let main_rate = scene.rates.iter().max_by_key(|rate| rate.frames);
    let interval_s = main_rate.map_or(1.0 / 60.0, |rate| 1.0 / rate.hz);
    let at_ns = u128::from(a.meta.dumped_at.unix_ms) * 1_000_000;
    [(scene.slow, interval_s), (scene.frozen, FROZEN_S)].map(|(frames, threshold_s)| {
        json!({
            "timeUnixNano": at_ns.to_string(),
            "eventName": "app.jank",
            "attributes": [
                number("app.jank.frame_count", frames),
                seconds("app.jank.threshold", threshold_s),
                seconds("app.jank.period", scene.duration_ms / 1e3),
                text("app.screen.name", &scene.name),
            ],
        })
    })
}

fn text(key: &str, value: &str) -> Value {
    json!({ "key": key, "value": { "stringValue": value } })
}

/// An attribute with a whole number. OTLP's JSON has 64-bit numbers as texts.
fn number(key: &str, value: u64) -> Value {
    json!({ "key": key, "value": { "intValue": value.to_string() } })
}

fn seconds(key: &str, value: f64) -> Value {
    json!({ "key": key, "value": { "doubleValue": value } })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_frames::SessionBuilder;
    use crate::test_support::ReportBuilder;

    #[test]
    fn each_screen_has_an_event_for_slow_and_for_frozen_frames() {
        let session = SessionBuilder::new().scroll("com.example.Feed", &[17, 98, 720, 17]).build();
        let a = Analysis::new(&ReportBuilder::new().with(|report| report.frames = session).build());
        let mut out = Vec::new();
        write(&a, &mut out).unwrap();
        let request: Value = serde_json::from_slice(&out).unwrap();
        let records = &request["resourceLogs"][0]["scopeLogs"][0]["logRecords"];
        let of = |record: usize| {
            let attributes = &records[record]["attributes"];
            (
                attributes[0]["value"]["intValue"].clone(),
                attributes[1]["value"]["doubleValue"].as_f64().unwrap(),
            )
        };
        assert_eq!(records.as_array().unwrap().len(), 2);
        assert_eq!((of(0).0, (of(0).1 * 1e6).round() as u32), ("2".into(), 16_667));
        assert_eq!((of(1).0, (of(1).1 * 1e6).round() as u32), ("1".into(), 700_000));
        assert_eq!(records[0]["eventName"], "app.jank");
        assert_eq!(records[0]["attributes"][2]["value"]["doubleValue"], 0.852);
        assert_eq!(records[0]["timeUnixNano"], "1790000000000000000");
    }
}
