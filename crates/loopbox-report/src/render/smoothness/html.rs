//! Display frames as one self-contained page with charts.

use super::charts::{Bar, Part, bars, hue, stacked};
use super::text::{headline, nth, number, share, time};
use crate::model::format_ms;
use crate::model::plural::plural;
use crate::render::escape::{breakable, escape};
use crate::smoothness::{GesturesView, JankView, SceneView, SmoothnessView};
use loopbox_frames::histogram::{BUCKETS, bucket_begin_ns};
use std::fmt::Write as _;

const STYLE: &str = "\
:root{color-scheme:light dark;--back:#fff;--ink:#1b2230;--line:#dde2ea;--quiet:#5b6577;--bar:#4a7fb5;--bad:#c44646}\
@media screen and (prefers-color-scheme:dark){:root{--back:#12161d;--ink:#e5e9f0;--line:#2f3846;--quiet:#9aa5b8}}\
body{background:var(--back);color:var(--ink);font:15px/1.5 system-ui,sans-serif;margin:0 auto;max-width:75rem;padding:1rem}\
h1{font-size:1.4rem}h2{font-size:1.1rem;border-top:1px solid var(--line);padding-top:.8rem}h3{font-size:1rem;margin-bottom:.2rem}\
small,.quiet{color:var(--quiet)}code{overflow-wrap:anywhere}\
.scroll{overflow-x:auto}table{border-collapse:collapse;white-space:nowrap}td,th{padding:.2rem .5rem;text-align:right;border-bottom:1px solid var(--line)}\
td:first-child,th:first-child{text-align:left}\
svg{display:block}svg text{font-size:10px;text-anchor:middle;fill:currentColor}rect{fill:var(--bar)}rect.bad{fill:var(--bad)}\
.stack{display:flex;height:1.4rem;border-radius:3px;overflow:hidden}.stack i,.legend i{background:hsl(var(--hue) 45% 55%)}\
.legend i{display:inline-block;width:.8rem;height:.8rem;margin-right:.3rem}.legend span{margin-right:1rem;white-space:nowrap}\
details{border-top:1px solid var(--line)}summary{cursor:pointer;padding:.3rem 0}summary:focus-visible{outline:2px solid}ol{margin:0}\
.numbers{display:flex;flex-wrap:wrap;gap:1rem 2.5rem;margin:1rem 0}.numbers b{display:block;font-size:1.5rem}";

/// The page, with at most `limit` screens, gestures and jank frames.
pub fn html(view: &SmoothnessView, limit: usize) -> String {
    let mut out = String::with_capacity(64 << 10);
    let headline = headline(view);
    let _ = write!(
        out,
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><meta name=\"viewport\" \
         content=\"width=device-width\"><title>Loopbox: display frames</title><style>{STYLE}</style>\
         <main><h1>Display frames</h1><p>{headline}"
    );
    numbers(&mut out, &view.process);
    distribution(&mut out, &view.process);
    cost(&mut out, &view.process);
    screens(&mut out, &view.scenes, limit);
    gestures(&mut out, &view.gestures, limit);
    janks(&mut out, &view.janks, limit);
    out.push_str("</main></html>\n");
    out
}

fn numbers(out: &mut String, all: &SceneView) {
    out.push_str("<div class=\"numbers\">");
    let mut one = |value: String, what: &str| {
        let _ = write!(out, "<div><b>{value}</b><small>{what}</small></div>");
    };
    one(format!("{} ms/s", number(all.hitch_ms_per_s)), "hitch rate");
    one(number(all.fps), &format!("FPS of {}", all.rates_in_words()));
    one(share(all.fps_of_rate), "of the refresh rate");
    let mut counted = |count: u64, what: &str, more: &str| {
        one(count.to_string(), &format!("{what}{}{more}", if count == 1 { "" } else { "s" }));
    };
    counted(all.frames, "frame", &format!(" in {}", format_ms(all.duration_ms)));
    counted(all.slow, "slow frame", "");
    counted(all.frozen, "frozen frame", "");
    counted(all.windows.recorded, "jank window", "");
    one(format_ms(all.longest_ms), "longest frame");
    out.push_str("</div><p class=\"quiet\">Hitch rates by Apple: good up to 5 and critical from 10 ms/s (2020); good up to 10, \
                  critical up to 50 (today).");
}

fn distribution(out: &mut String, all: &SceneView) {
    let title = "Frames by how long they stood, from how many ms on (height: logarithm of the number)";
    let buckets = bars(title, &buckets(all), true);
    let _ = write!(out, "<h2>How long frames stood</h2><p class=\"quiet\">{title}.{buckets}");
    // From calm to alarm, in the order of the levels.
    let hues = [210, 55, 40, 20, 0];
    let with_frames = all.levels.iter().zip(hues).filter(|(level, _)| level.frames > 0);
    let levels: Vec<Part<'_>> = with_frames
        .map(|(level, hue)| Part {
            name: level.level.as_str(),
            value: level.frames as f64,
            label: format!("{}, {} dropped", plural(level.frames, "frame"), level.dropped),
            hue,
        })
        .collect();
    let _ = write!(out, "<h3>Drop levels</h3>{}", stacked("Frames by drop level", &levels));
}

/// The bars of all buckets from the first to the last one that has frames. The empty buckets between them
/// have bars too, so that the axis is even.
fn buckets(all: &SceneView) -> Vec<Bar> {
    let begins = (0..BUCKETS).map(|bucket| bucket_begin_ns(bucket) as f64 / 1e6);
    let (Some(first), Some(last)) = (all.histogram.first(), all.histogram.last()) else { return Vec::new() };
    begins
        .filter(|ms| (first.from_ms..=last.from_ms).contains(ms))
        .map(|ms| {
            let found = all.histogram.iter().find(|bucket| bucket.from_ms.total_cmp(&ms).is_eq());
            let frames = found.map_or(0, |bucket| bucket.frames);
            let label = if frames > 0 { frames.to_string() } else { String::new() };
            Bar { name: format!("{ms:.0}"), value: frames as f64, label, bad: ms >= 33.3 }
        })
        .collect()
}

fn cost(out: &mut String, all: &SceneView) {
    if all.staged == 0 {
        return;
    }
    let stages: Vec<_> = all
        .stages
        .iter()
        .filter(|stage| stage.sum_ms > 0.0)
        .enumerate()
        .map(|(at, stage)| Part {
            name: stage.stage.as_str(),
            value: stage.sum_ms,
            label: format_ms(stage.sum_ms / all.staged as f64),
            hue: hue(at),
        })
        .collect();
    let _ = write!(
        out,
        "<h2>What frames cost</h2><p class=\"quiet\">{} with stages, {} of them slow; {} lost.\
         <h3>Time in each stage, on average</h3>{}",
        plural(all.staged, "frame"),
        all.slow_cost,
        plural(all.lost_reports, "report"),
        stacked("Time in each stage", &stages)
    );
    if !all.causes.is_empty() {
        let causes: Vec<_> = all
            .causes
            .iter()
            .enumerate()
            .map(|(at, cause)| Part {
                name: cause.cause.as_str(),
                value: cause.frames as f64,
                label: cause.frames.to_string(),
                hue: hue(at),
            })
            .collect();
        let _ = write!(out, "<h3>Main causes of slow frames</h3>{}", stacked("Main causes", &causes));
    }
}

fn screens(out: &mut String, scenes: &[SceneView], limit: usize) {
    if scenes.is_empty() {
        return;
    }
    out.push_str(
        "<h2>Screens</h2><div class=\"scroll\" tabindex=\"0\" role=\"group\" aria-label=\"Screens\"><table><tr><th>screen<th>frames<th>FPS<th>of rate<th>hitch ms/s\
         <th>p50<th>p90<th>p99<th>longest<th>frozen ‰<th>jank windows<th>gestures",
    );
    for scene in scenes.iter().take(limit) {
        let _ = write!(
            out,
            "<tr><td><code>{}</code><td>{}<td>{}<td>{}<td>{}<td>{}<td>{}<td>{}<td>{}<td>{}<td>{}<td>{}",
            escape(&scene.name),
            scene.frames,
            number(scene.fps),
            share(scene.fps_of_rate),
            number(scene.hitch_ms_per_s),
            time(scene.p50_ms),
            time(scene.p90_ms),
            time(scene.p99_ms),
            format_ms(scene.longest_ms),
            number(scene.frozen_permille),
            scene.windows.recorded,
            scene.gestures
        );
    }
    out.push_str("</table></div>");
    if scenes.len() > limit {
        let _ = write!(
            out,
            "<p class=\"quiet\">Not on this page: {}.",
            plural((scenes.len() - limit) as u64, "more screen")
        );
    }
}

fn gestures(out: &mut String, gestures: &GesturesView, limit: usize) {
    if gestures.count == 0 {
        return;
    }
    let _ = write!(
        out,
        "<h2>Gestures <small>{} in all, {} with jank</small></h2>",
        gestures.count, gestures.with_jank
    );
    let bar = |ordinal: &crate::smoothness::OrdinalView| Bar {
        name: nth(ordinal.ordinal),
        value: ordinal.hitch_ms_per_s.unwrap_or_default(),
        label: number(ordinal.hitch_ms_per_s),
        bad: ordinal.hitch_ms_per_s.is_some_and(|hitch| hitch >= 10.0),
    };
    let ordinals: Vec<Bar> = gestures.by_ordinal.iter().map(bar).collect();
    let title =
        "Hitch rate (ms/s) by the number of the gesture on its screen: does it get worse the further down?";
    let _ = write!(out, "<p class=\"quiet\">{title}{}", bars(title, &ordinals, false));
    // Over time, where the order means something: in the reports that they came from.
    let mut in_time: Vec<_> = gestures.worst.iter().take(limit).collect();
    in_time.sort_by(|a, b| (&a.path, a.number).cmp(&(&b.path, b.number)));
    let bar = |gesture: &&crate::smoothness::GestureView| Bar {
        name: gesture.number.to_string(),
        value: gesture.hitch_ms_per_s.unwrap_or_default(),
        label: number(gesture.hitch_ms_per_s),
        bad: gesture.jank_windows > 0,
    };
    let in_time: Vec<Bar> = in_time.iter().map(bar).collect();
    let title = "Hitch rate (ms/s) of the worst gestures in the order of their report and time; red ones have jank windows";
    let _ = write!(out, "<p class=\"quiet\">{title}.{}", bars(title, &in_time, false));
    out.push_str(
        "<div class=\"scroll\" tabindex=\"0\" role=\"group\" aria-label=\"Gestures\"><table><tr><th>gesture<th>frames<th>took<th>fling<th>FPS<th>hitch ms/s<th>longest<th>windows of FPS",
    );
    for gesture in gestures.worst.iter().take(limit) {
        let windows: Vec<String> = gesture.worst_window_fps.iter().map(|fps| format!("{fps:.1}")).collect();
        let _ = write!(
            out,
            "<tr><td><code>{}</code> {}<td>{}<td>{}<td>{}<td>{}<td>{}<td>{}<td>{}",
            escape(&gesture.scene),
            nth(gesture.ordinal.into()),
            gesture.frames,
            format_ms(gesture.duration_ms.into()),
            format_ms(gesture.fling_ms.into()),
            number(gesture.fps),
            number(gesture.hitch_ms_per_s),
            format_ms(gesture.longest_ms),
            windows.join(", ")
        );
    }
    out.push_str("</table></div>");
}

fn janks(out: &mut String, janks: &[JankView], limit: usize) {
    if janks.is_empty() {
        return;
    }
    let _ =
        write!(out, "<h2>Jank frames <small>the {} that stood longest</small></h2>", janks.len().min(limit));
    for jank in janks.iter().take(limit) {
        let _ = write!(
            out,
            "<details><summary><b>{}</b> <code>{}</code> {} <small>{}</small></summary>",
            format_ms(jank.duration_ms),
            escape(&jank.scene),
            breakable(&jank.in_words()),
            escape(&jank.path)
        );
        if jank.stack.is_empty() {
            out.push_str("<p class=\"quiet\">The report has no stacks of it.");
        } else {
            out.push_str("<ol>");
            jank.stack.iter().for_each(|frame| {
                let _ = write!(out, "<li><code>{}</code>", breakable(frame));
            });
            out.push_str("</ol>");
        }
        out.push_str("</details>");
    }
}
