//! The results in words: the line of `docs/compatibility.md`, and the file that belongs to it.

use std::fmt::Write as _;

use anyhow::{Error, Result};
use loopbox_format::model::{Feature, FeatureState};

use crate::art::Art;
use crate::frames::Frames;
use crate::hook::Hook;
use crate::killed::Killed;
use crate::phone::About;
use crate::sigquit::SigQuit;

/// The columns of the table in `docs/compatibility.md`.
pub const COLUMNS: [&str; 12] = [
    "phone",
    "build",
    "API level",
    "ABI",
    "ART module",
    "hook",
    "sampler",
    "stacks, wrong",
    "interval, longest stop, ms",
    "SIGQUIT",
    "killed hang",
    "hook, ns a message",
];

/// What the scenarios found.
#[derive(Debug)]
pub struct Summary {
    about: About,
    art: Option<Art>,
    frames: Option<Frames>,
    sigquit: Option<SigQuit>,
    killed: Option<Killed>,
    hook: Option<Hook>,
    faults: Vec<String>,
}

impl Summary {
    pub(crate) fn new(about: About) -> Self {
        Self { about, art: None, frames: None, sigquit: None, killed: None, hook: None, faults: Vec::new() }
    }

    pub(crate) fn art(&mut self, seen: Result<Art>) {
        self.art = self.kept("ART", seen);
        let unknown = self.art.as_ref().filter(|art| !art.report.fits());
        let unknown = unknown.map(|art| format!("ART: no row of offsets/ fits {}", art.path));
        self.faults.extend(unknown);
    }

    pub(crate) fn frames(&mut self, seen: Result<Frames>) {
        self.frames = self.kept("frames", seen);
        let Some(frames) = &self.frames else { return };
        let wrong = frames.checked.wrong.iter().map(|(why, times)| format!("frames: {times} x {why}"));
        self.faults.extend(wrong.chain(frames.checked.faults.iter().map(|fault| format!("frames: {fault}"))));
    }

    pub(crate) fn sigquit(&mut self, seen: Result<SigQuit>) {
        self.sigquit = self.kept("SIGQUIT", seen);
    }

    pub(crate) fn killed(&mut self, seen: Result<Killed>) {
        self.killed = self.kept("killed hang", seen);
    }

    pub(crate) fn hook(&mut self, seen: Result<Hook>) {
        self.hook = self.kept("hook costs", seen);
    }

    /// The result of a scenario; if it has none, the reason becomes a fault.
    fn kept<T>(&mut self, scenario: &str, seen: Result<T>) -> Option<T> {
        let fault = |error: Error| self.faults.push(format!("{scenario}: {error:#}"));
        seen.map_err(fault).ok()
    }

    /// All failures.
    pub fn faults(&self) -> &[String] {
        &self.faults
    }

    /// The line for the table of `docs/compatibility.md`.
    pub fn line(&self) -> String {
        row(&self.fields())
    }

    fn fields(&self) -> [String; 12] {
        let about = &self.about;
        let not_seen = || "**not seen**".to_owned();
        let feature = |which| self.feature(which).map_or_else(not_seen, how);
        let (stacks, times) = match &self.frames {
            Some(frames) => (stacks(frames), times(frames)),
            None => (not_seen(), not_seen()),
        };
        let killed = self.killed.as_ref().map(|killed| {
            format!("recovered, {} stacks, {:.1} s", killed.stacks, killed.report_age_ns as f64 / 1e9)
        });
        [
            about.name.clone(),
            format!("`{}`", about.fingerprint),
            about.api_level.to_string(),
            about.abi.to_string(),
            about.art_module.clone().unwrap_or_else(|| "none".into()),
            feature(Feature::Hook),
            feature(Feature::Sampler),
            stacks,
            times,
            self.sigquit.as_ref().map_or_else(not_seen, |_| "reported, handed on".into()),
            killed.unwrap_or_else(not_seen),
            self.hook.as_ref().map_or_else(not_seen, costs),
        ]
    }

    fn feature(&self, which: Feature) -> Option<&FeatureState> {
        self.frames.as_ref()?.features.iter().find(|state| state.feature == which)
    }

    /// All results as Markdown, the file to send in.
    pub fn text(&self) -> String {
        let about = &self.about;
        let mut text = format!("# Loopbox on {}\n\n", about.name);
        let rule = COLUMNS.map(|_| "---".to_owned());
        let heads = COLUMNS.map(str::to_owned);
        let _ = writeln!(text, "{}\n{}\n{}\n", row(&heads), row(&rule), self.line());
        let _ = writeln!(
            text,
            "* Android {} (API level {}), kernel {}",
            about.release, about.api_level, about.kernel
        );
        if let Some(frames) = &self.frames {
            let _ = writeln!(text, "* {}", frames.producer);
            for state in &frames.features {
                let _ = writeln!(text, "* {:?}: {}", state.feature, how(state));
            }
            for statistic in &frames.statistics {
                let _ = writeln!(text, "* {}: {}", statistic.name, statistic.value);
            }
            let checked = &frames.checked;
            let _ = writeln!(
                text,
                "* {} stacks were compared with {} classes, {} pairs of frames; {} were due and not taken",
                checked.samples, frames.classes, checked.pairs, checked.missed
            );
            for unread in &frames.unread {
                let _ = writeln!(text, "* not read: {unread}");
            }
            if !frames.unseen.is_empty() {
                let _ = writeln!(text, "* without their own stack: {}", frames.unseen.join(", "));
            }
        }
        if let Some(sigquit) = &self.sigquit {
            let _ = writeln!(text, "* SIGQUIT: {}, and ART's own thread had it afterwards", sigquit.how);
        }
        if let Some(killed) = &self.killed {
            let ms = |ns: u64| ns / 1_000_000;
            let (ring, report) = (ms(killed.ring_age_ns), ms(killed.report_age_ns));
            let _ = writeln!(text, "* killed in a hang of {ring} ms by its ring, {report} ms in the report");
        }
        if let Some(hook) = &self.hook {
            let _ = writeln!(
                text,
                "* a message costs {:.0} ns unwatched; an empty Printer adds {:.0} ns",
                hook.unwatched_ns, hook.empty_printer_ns
            );
        }
        if let Some(art) = &self.art {
            let (path, copy) = (&art.path, art.copy.display());
            let _ = writeln!(text, "\n## ART\n\n{path}, copied to {copy}:\n\n```text\n{}```", art.report);
        }
        let _ = writeln!(text, "\n## Faults\n");
        for fault in &self.faults {
            let _ = writeln!(text, "* {}", fault.replace('\n', "\n  "));
        }
        if self.faults.is_empty() {
            text.push_str("None.\n");
        }
        text
    }
}

/// A row of a Markdown table.
fn row(fields: &[String]) -> String {
    let harmless = fields.iter().map(|field| field.replace('|', "/"));
    format!("| {} |", harmless.collect::<Vec<_>>().join(" | "))
}

fn how(state: &FeatureState) -> String {
    let words = &state.detail;
    if state.on { words.clone() } else { format!("off: {words}") }
}

fn stacks(frames: &Frames) -> String {
    let wrong: usize = frames.checked.wrong.values().sum();
    match frames.by_java_api {
        0 => format!("{}, {wrong} wrong", frames.checked.samples),
        unchecked => format!("{}, {wrong} wrong; {unchecked} of getStackTrace", frames.checked.samples),
    }
}

fn times(frames: &Frames) -> String {
    let ms = |ns: u64| format!("{:.2}", ns as f64 / 1e6);
    let interval = frames.usual_interval_ns().map_or_else(|| "none".into(), ms);
    format!("{interval}, {}", ms(frames.checked.longest_stop_ns))
}

fn costs(hook: &Hook) -> String {
    let each: Vec<String> = hook.ours_ns.iter().map(|(way, ns)| format!("{way} {ns:.0}")).collect();
    each.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use loopbox_android_pack::Abi;
    use loopbox_setup::workspace::root;

    fn summary() -> Summary {
        Summary::new(About {
            name: "Google Pixel 8".into(),
            fingerprint: "google/shiba|x".into(),
            release: "14".into(),
            api_level: 34,
            abi: Abi::Arm64,
            art_module: None,
            kernel: "5.15".into(),
        })
    }

    #[test]
    fn the_table_of_the_compatibility_page_has_these_columns() {
        let page = std::fs::read_to_string(root().join("docs/compatibility.md")).unwrap();
        let heads = row(&COLUMNS.map(str::to_owned));
        assert!(page.contains(&format!("\n{heads}\n")), "docs/compatibility.md has no table `{heads}`");
    }

    #[test]
    fn what_a_scenario_did_not_see_is_reported_with_its_reason() {
        let mut summary = summary();
        summary.sigquit(Ok(SigQuit { how: "handled".into() }));
        summary.killed(Err(anyhow::anyhow!("inner").context("no ring")));
        let hook = Hook { unwatched_ns: 9.0, empty_printer_ns: 5.0, ours_ns: vec![("printer", 7.4)] };
        summary.hook(Ok(hook));
        assert_eq!(summary.faults(), ["killed hang: no ring: inner"]);
        let line = summary.line();
        assert_eq!(line.matches(" | ").count() + 1, COLUMNS.len());
        assert!(
            line.starts_with("| Google Pixel 8 | `google/shiba/x` | 34 | arm64-v8a | none | **not seen**"),
            "{line}"
        );
        assert!(line.ends_with("| reported, handed on | **not seen** | printer 7 |"), "{line}");
        let text = summary.text();
        assert!(text.contains(&line) && text.contains("* killed hang: no ring: inner"), "{text}");
    }
}
