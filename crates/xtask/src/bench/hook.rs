//! `cargo xtask bench hook`: what watching the main Looper costs per message.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use clap::Args;
use xtask::launch::{Build, Launcher};

use super::{LIMIT, median};

/// Arguments of the hook bench.
#[derive(Debug, Args)]
pub(crate) struct HookArgs {
    /// Beds to run on
    #[arg(long, value_delimiter = ',', default_value = "art10,art11,art14")]
    bed: Vec<String>,
    /// Messages per batch
    #[arg(long, default_value_t = 4_000)]
    messages: u32,
    /// Batches per way to watch
    #[arg(long, default_value_t = 15)]
    rounds: u32,
}

/// The ways to watch, as `bench.HookBench` calls them, and what they are.
const VARIANTS: [(&str, &str); 7] = [
    ("none", "nothing watches"),
    ("observer", "Loopbox, Observer as a class"),
    ("observer-proxy", "Loopbox, Observer by Proxy, passing on"),
    ("printer-empty", "an empty Printer (Looper's own strings)"),
    ("printer", "Loopbox, Printer"),
    ("article", "the article's recorder (Proxy, strings)"),
    ("printer-posting", "Printer, object and post per message"),
];

pub(crate) fn run(args: &HookArgs) -> Result<()> {
    for bed in &args.bed {
        bench(bed, args).with_context(|| format!("bench hook on {bed}"))?;
    }
    Ok(())
}

fn bench(bed: &str, args: &HookArgs) -> Result<()> {
    let launcher = Launcher::new(bed, Build::App)?;
    let folder = tempfile::tempdir().context("no temporary folder")?;
    let app = launcher.app("bench.HookBench").property("loopbox.dir", folder.path().display());
    let app = app.argument(args.messages.to_string()).argument(args.rounds.to_string());
    let ended = app.start()?.finish(LIMIT)?.success()?;
    let mut batches: BTreeMap<&str, (Vec<f64>, Vec<f64>)> = BTreeMap::new();
    for line in &ended.lines {
        let words: Vec<_> = line.split_whitespace().collect();
        if let ["batch", variant, ns, bytes] = words[..] {
            let (times, sizes) = batches.entry(variant).or_default();
            times.push(ns.parse().with_context(|| format!("not a time: {line}"))?);
            sizes.push(bytes.parse().with_context(|| format!("not a size: {line}"))?);
        }
    }
    let base =
        batches.get("none").map(|(times, _)| median(times)).context("the bench printed no base line")?;
    let added = |variant: &str| batches.get(variant).map(|(times, _)| median(times) - base);
    println!(
        "\n{bed}: {} messages a batch, {} batches each, medians; a message costs {base:.0} ns unwatched",
        args.messages, args.rounds
    );
    println!("  {:42} {:>10} {:>12} {:>14}", "", "added ns", "Java bytes", "of article's");
    for (variant, label) in VARIANTS {
        let Some((_, sizes)) = batches.get(variant) else { continue };
        let Some(extra) = added(variant) else { continue };
        let ratio =
            added("article").map_or_else(|| "-".to_owned(), |article| format!("{:.3}", extra / article));
        println!("  {label:42} {extra:10.0} {:12.1} {ratio:>14}", median(sizes));
    }
    Ok(())
}
