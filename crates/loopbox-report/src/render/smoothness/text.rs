//! Display frames as text. Lines have ANSI styles; strip them for plain text.

use crate::model::format_ms;
use crate::model::plural::plural;
use crate::smoothness::{FrameCauseView, GesturesView, JankView, SceneView, SmoothnessView};
use anstyle::{AnsiColor, Style};
use loopbox_format::model::{FrameFlags, RecentFrame, Uptime};
use std::fmt::Write as _;

const QUIET: Style = Style::new().dimmed();
const STRONG: Style = Style::new().bold();
const NAME: Style = AnsiColor::Cyan.on_default();

/// The figures of all reports, with at most `limit` screens, gestures and jank frames.
pub fn text(view: &SmoothnessView, limit: usize) -> String {
    let mut out = String::new();
    let _ = writeln!(out, "{STRONG}{}{STRONG:#}", headline(view));
    let _ = write!(out, "\n{STRONG}ALL SCREENS{STRONG:#}  ");
    scene(&mut out, &view.process);
    let _ = writeln!(
        out,
        "  {QUIET}hitch rates by Apple: good up to 5 and critical from 10 (2020); good up to 10, critical up to 50 (today){QUIET:#}"
    );
    if !view.scenes.is_empty() {
        table(&mut out, &view.scenes, limit);
    }
    gestures(&mut out, &view.gestures, limit);
    if !view.janks.is_empty() {
        let shown = view.janks.len().min(limit);
        let _ = writeln!(out, "\n{STRONG}JANK FRAMES{STRONG:#}  the {shown} that stood longest");
        janks(&mut out, &view.janks[..shown]);
    }
    out
}

/// The first line: `7 reports with display frames, 2 without, 1 file skipped`.
pub(super) fn headline(view: &SmoothnessView) -> String {
    let mut line = format!("{} with display frames", plural(view.reports, "report"));
    if view.reports_without_frames > 0 {
        let _ = write!(line, ", {} without", view.reports_without_frames);
    }
    if view.skipped > 0 {
        let _ = write!(line, ", {} skipped", plural(view.skipped, "file"));
    }
    line
}

/// Writes the figures of one screen. The caller has written the beginning of the first line.
pub(crate) fn scene(out: &mut String, scene: &SceneView) {
    let _ = writeln!(
        out,
        "{} in {}, {} FPS of {} ({})",
        plural(scene.frames, "frame"),
        format_ms(scene.duration_ms),
        number(scene.fps),
        scene.rates_in_words(),
        share(scene.fps_of_rate)
    );
    let mut row = |name: &str, text: String| {
        let _ = writeln!(out, "  {name:<9} {text}");
    };
    row(
        "hitch",
        format!(
            "{} ms/s ({} with jitter), {} in all",
            number(scene.hitch_ms_per_s),
            number(scene.hitch_exact_ms_per_s),
            format_ms(scene.hitch_ms)
        ),
    );
    row(
        "stood",
        format!(
            "p50 {}, p90 {}, p99 {}, longest {}",
            time(scene.p50_ms),
            time(scene.p90_ms),
            time(scene.p99_ms),
            format_ms(scene.longest_ms)
        ),
    );
    let levels = scene.levels.iter().filter(|level| level.frames > 0);
    let levels: Vec<String> = levels.map(|level| format!("{} {}", level.frames, level.level)).collect();
    let dropped = scene.levels.iter().map(|level| level.dropped).fold(0, u64::saturating_add);
    row(
        "late",
        format!(
            "{} slow, {} frozen ({} ‰), {dropped} dropped; levels: {}",
            scene.slow,
            scene.frozen,
            number(scene.frozen_permille),
            levels.join(", ")
        ),
    );
    let windows = &scene.windows;
    if windows.all > 0 {
        let worst = windows.worst_fps.map(|fps| format!(", the worst of {fps:.1} FPS")).unwrap_or_default();
        row("windows", format!("{}{worst}", plural(windows.recorded, "jank window")));
    }
    for (name, part) in [("scrolled", &scene.scroll), ("by finger", &scene.finger)] {
        if part.frames > 0 {
            let frames = plural(part.frames, "frame");
            let (fps, hitch) = (number(part.fps), number(part.hitch_ms_per_s));
            row(name, format!("{frames}, {fps} FPS, hitch {hitch} ms/s, {} frozen", part.frozen));
        }
    }
    if scene.staged > 0 {
        row("cost", cost(scene));
    }
    if !scene.causes.is_empty() {
        row("causes", causes(&scene.causes));
    }
    for (slow, fps) in [(scene.slow_session_20_fps, 20), (scene.slow_session_30_fps, 30)] {
        if slow {
            row("slow", format!("a slow session: more than a quarter of the frames are below {fps} FPS"));
            break;
        }
    }
    if scene.observed_rate {
        row("rate", "observed: the display claims another one".into());
    }
}

fn cost(scene: &SceneView) -> String {
    let mut line = format!(
        "of {} with stages {} were slow, {} took longer than 700 ms",
        plural(scene.staged, "frame"),
        scene.slow_cost,
        scene.frozen_cost
    );
    for (count, what) in [
        (scene.lost_reports, "lost"),
        (scene.duplicate_reports, "given twice"),
        (scene.rejected_reports, "with impossible times"),
    ] {
        if count > 0 {
            let _ = write!(line, "; {} {what}", plural(count, "report"));
        }
    }
    line
}

pub(super) fn causes(causes: &[FrameCauseView]) -> String {
    causes.iter().map(|cause| format!("{} {}", cause.cause, cause.frames)).collect::<Vec<_>>().join(", ")
}

fn table(out: &mut String, scenes: &[SceneView], limit: usize) {
    let _ = writeln!(
        out,
        "\n{STRONG}SCREENS{STRONG:#}    frames     FPS  of rate   hitch ms/s       p90   longest  frozen  windows  gestures"
    );
    for scene in scenes.iter().take(limit) {
        let _ = writeln!(out, "  {NAME}{}{NAME:#}", scene.name);
        let _ = writeln!(
            out,
            "         {:>8} {:>7} {:>8} {:>12} {:>9} {:>9} {:>7} {:>8} {:>9}",
            scene.frames,
            number(scene.fps),
            share(scene.fps_of_rate),
            number(scene.hitch_ms_per_s),
            time(scene.p90_ms),
            format_ms(scene.longest_ms),
            scene.frozen,
            scene.windows.recorded,
            scene.gestures
        );
        if !scene.causes.is_empty() {
            let _ = writeln!(out, "         {QUIET}causes: {}{QUIET:#}", causes(&scene.causes));
        }
    }
    if scenes.len() > limit {
        let more = plural((scenes.len() - limit) as u64, "more screen");
        let _ = writeln!(out, "  {QUIET}{more} (--limit){QUIET:#}");
    }
}

fn gestures(out: &mut String, gestures: &GesturesView, limit: usize) {
    if gestures.count == 0 {
        return;
    }
    let count = plural(gestures.count, "gesture");
    let _ = writeln!(out, "\n{STRONG}GESTURES{STRONG:#}  {count}, {} with jank", gestures.with_jank);
    let ordinals = gestures.by_ordinal.iter().filter(|ordinal| ordinal.gestures > 0);
    let hitches: Vec<String> =
        ordinals.map(|o| format!("{}: {}", nth(o.ordinal), number(o.hitch_ms_per_s))).collect();
    let _ = writeln!(out, "  hitch ms/s by number on the screen  {}", hitches.join(", "));
    for gesture in gestures.worst.iter().take(limit).filter(|gesture| gesture.hitch_ms > 0.0) {
        let windows: Vec<String> = gesture.worst_window_fps.iter().map(|fps| format!("{fps:.1}")).collect();
        let windows = if windows.is_empty() {
            String::new()
        } else {
            format!(", windows of {} FPS", windows.join(", "))
        };
        let _ = writeln!(
            out,
            "  hitch {:>7} ms/s  {} in {}, {} FPS, longest {}{windows}  {NAME}{}{NAME:#} {}",
            number(gesture.hitch_ms_per_s),
            plural(gesture.frames.into(), "frame"),
            format_ms(gesture.duration_ms.into()),
            number(gesture.fps),
            format_ms(gesture.longest_ms),
            gesture.scene,
            nth(gesture.ordinal.into())
        );
    }
}

/// Writes one line for each jank frame.
pub(crate) fn janks(out: &mut String, janks: &[JankView]) {
    for jank in janks {
        let refreshes =
            jank.refreshes.map(|n| format!(" ({n} {})", if n == 1 { "refresh" } else { "refreshes" }));
        let refreshes = refreshes.unwrap_or_default();
        let gesture = jank.gesture.map(|n| format!(", {} gesture", nth(n as usize))).unwrap_or_default();
        let _ = writeln!(
            out,
            "  {:>8}{refreshes}  {NAME}{}{NAME:#}{gesture}: {}",
            format_ms(jank.duration_ms),
            jank.scene,
            jank.in_words()
        );
    }
}

/// The frames of the newest eight seconds as a line: a point for a frame that came on time, the number of
/// refreshes that a late frame missed, `|` where a session begins.
pub(crate) fn refresh_line(recent: &[RecentFrame]) -> String {
    let last_ns = recent.last().map_or(Uptime::ZERO, |frame| frame.frame_time_ns);
    let mut line = String::new();
    for frame in recent.iter().filter(|frame| last_ns.since(frame.frame_time_ns) <= 8_000_000_000) {
        if frame.flags.has(FrameFlags::BEGINS) && !line.is_empty() {
            line.push('|');
        }
        match frame.dropped {
            0 => line.push('·'),
            missed @ 1..=9 => line.push(char::from(b'0' + missed as u8)),
            missed => {
                let _ = write!(line, "[{missed}]");
            }
        }
    }
    line
}

pub(super) fn nth(number: usize) -> String {
    let ending = match (number % 10, number % 100) {
        (1, tens) if tens != 11 => "st",
        (2, tens) if tens != 12 => "nd",
        (3, tens) if tens != 13 => "rd",
        _ => "th",
    };
    format!("{number}{ending}")
}

pub(super) fn number(value: Option<f64>) -> String {
    value.map_or_else(|| "-".into(), |value| format!("{value:.1}"))
}

pub(super) fn share(value: Option<f64>) -> String {
    value.map_or_else(|| "-".into(), |value| format!("{:.0} %", 100.0 * value))
}

/// A quantile as text. It has a `~`, because a quantile is only accurate to 12 %.
pub(super) fn time(ms: Option<f64>) -> String {
    ms.map_or_else(|| "-".into(), |ms| format!("~{}", format_ms(ms)))
}
