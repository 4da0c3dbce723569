//! The cost per message of watching the main Looper, measured on the phone. The phone's own compiler makes
//! the code.

use std::collections::BTreeMap;

use anyhow::{Context, Result};

use crate::stage::Stage;

/// The first API level with an Observer.
const FIRST_WITH_OBSERVER: u32 = 29;
/// The ways to watch (variants of `bench.HookBench`), each with the variant that it is compared with.
const WAYS: [(&str, &str); 2] = [("printer", "printer-empty"), ("observer", "none")];

/// The measured costs of watching.
#[derive(Debug, Default)]
pub(crate) struct Hook {
    /// Nanoseconds of a message when nothing watches.
    pub(crate) unwatched_ns: f64,
    /// Nanoseconds that a Printer without any code adds to a message: the cost of the strings that the Looper
    /// makes for a Printer.
    pub(crate) empty_printer_ns: f64,
    /// For each way to watch that this Android supports, the nanoseconds that the recorder adds.
    pub(crate) ours_ns: Vec<(&'static str, f64)>,
}

pub(crate) fn play(stage: &Stage<'_>) -> Result<Hook> {
    let mut words = vec![stage.options.messages.to_string(), stage.options.rounds.to_string()];
    words.extend(["none", "printer-empty", "printer"].map(str::to_owned));
    if stage.about.api_level >= FIRST_WITH_OBSERVER {
        words.push("observer".into());
    }
    let said = stage.phone.start("hook", "bench.HookBench", &words)?.finish()?;
    costs(&said)
}

/// The costs, from the medians of the lines `batch VARIANT NS BYTES MALLOCS`.
fn costs(lines: &[String]) -> Result<Hook> {
    let mut batches: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for line in lines {
        if let ["batch", variant, ns, ..] = line.split_whitespace().collect::<Vec<_>>()[..] {
            batches.entry(variant).or_default().push(ns.parse().with_context(|| line.clone())?);
        }
    }
    let mut medians = BTreeMap::new();
    for (variant, mut all) in batches {
        all.sort_by(f64::total_cmp);
        medians.insert(variant, all.get(all.len() / 2).copied().context("a batch has no number")?);
    }
    let of = |variant: &str| medians.get(variant).copied();
    let unwatched_ns = of("none").context("the bench has no base line")?;
    let empty = of("printer-empty").context("the bench has no empty Printer")?;
    let ours = |(way, without): (&'static str, &str)| Some((way, of(way)? - of(without)?));
    let ours_ns = WAYS.into_iter().filter_map(ours).collect();
    Ok(Hook { unwatched_ns, empty_printer_ns: empty - unwatched_ns, ours_ns })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ours_is_what_a_way_adds_to_the_same_without_us() {
        let lines = "batch none 100 0 NaN\nother\nbatch none 300 0 0\nbatch none 110 0 0\nbatch printer-empty 1000 9 0\n\
                     batch printer 1250.5 9 0\n";
        let lines: Vec<String> = lines.lines().map(str::to_owned).collect();
        let hook = costs(&lines).unwrap();
        assert_eq!((hook.unwatched_ns, hook.empty_printer_ns), (110.0, 890.0));
        assert_eq!(hook.ours_ns, [("printer", 250.5)]);
        assert!(costs(&lines[..1]).is_err());
    }
}
