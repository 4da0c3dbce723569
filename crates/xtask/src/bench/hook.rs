//! `cargo xtask bench hook`: what watching the main Looper costs per message.
//!
//! Times are the main thread's CPU time, so that waiting for a processor on a busy machine does not count.

use std::collections::BTreeMap;

use anyhow::{Context, Result, ensure};
use clap::Args;
use lab_launch::{App, Build, Launcher};

use super::stats::{LIMIT, median};

/// Arguments of the hook bench.
#[derive(Debug, Args)]
pub(crate) struct HookArgs {
    /// Testbeds to run on
    #[arg(long, value_delimiter = ',', default_value = "art10,art11,art11-jit,art14")]
    testbed: Vec<String>,
    /// Messages per batch
    #[arg(long, default_value_t = 4_000)]
    messages: u32,
    /// Batches per way to watch
    #[arg(long, default_value_t = 15)]
    rounds: u32,
}

/// The ways to watch: their names in `bench.HookBench`, and their descriptions.
const VARIANTS: [(&str, &str); 15] = [
    ("none", "nothing watches"),
    ("observer", "Loopbox, Observer as a class"),
    ("observer-proxy", "Loopbox, Observer by Proxy, passing on"),
    ("printer-empty", "an empty Printer (Looper's own strings)"),
    ("printer", "Loopbox, Printer"),
    ("poll", "Loopbox, Poll"),
    ("poll-peek", "the same with the head of the queue"),
    ("poll-other", "the same, for another thread's Looper"),
    ("other", "another thread's Looper, nothing watches"),
    ("article", "Qimao's recorder (Proxy, strings)"),
    ("article-whole", "the same with its Printer and its timer"),
    ("monitor", "Loopbox, Observer, with its performance monitor"),
    ("block", "the block article's monitor (Printer, post)"),
    ("uiperf", "the uiperf article's monitor (Printer)"),
    ("blockcanary", "BlockCanary's way (Printer, two posts)"),
];
/// The ways that call our natives. Each has the way with which it is compared: it differs only in that it
/// does not call our natives.
const OURS: [(&str, &str); 2] = [("observer", "none"), ("printer", "printer-empty")];

/// How the two natives of each message are called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Natives {
    /// The natives as they ship: `@CriticalNative`, without an environment.
    Critical,
    /// The natives with `@FastNative`: with an environment, without a change of the thread's state.
    Fast,
    /// The natives without an annotation.
    Plain,
}

impl Natives {
    fn label(self) -> &'static str {
        match self {
            Self::Critical => "@CriticalNative (as it ships)",
            Self::Fast => "@FastNative",
            Self::Plain => "plain JNI",
        }
    }

    /// The recorder's Java source, changed to call the natives in this way.
    fn change(self, file: &str, text: String) -> Result<String> {
        let replace = |text: String, from: &str, to: &str| {
            ensure!(text.contains(from), "{file} has no `{from}` any more");
            Ok(text.replace(from, to))
        };
        match (self, file) {
            (Self::Critical, _) => Ok(text),
            (_, "MainThread.java") => replace(
                text,
                "CRITICAL = Build.VERSION.SDK_INT >= 26",
                "CRITICAL = Build.VERSION.SDK_INT < 0",
            ),
            (Self::Plain, "Native.java") => {
                let from = "@FastNative\n    static native int ";
                replace(text, from, "static native int ")
            }
            _ => Ok(text),
        }
    }
}

pub(crate) fn run(args: &HookArgs) -> Result<()> {
    for testbed in &args.testbed {
        bench(testbed, args).with_context(|| format!("bench hook on {testbed}"))?;
    }
    Ok(())
}

fn bench(testbed: &str, args: &HookArgs) -> Result<()> {
    let launcher = Launcher::new(testbed, Build::App)?;
    let batches = Batches::of(launcher.app("bench.HookBench"), args, &[])?;
    println!(
        "\n{testbed}: {} messages a batch, {} batches each, medians; a message costs {:.0} ns unwatched",
        args.messages,
        args.rounds,
        batches.base()?
    );
    println!("  {:42} {:>10} {:>12} {:>12} {:>14}", "", "added ns", "Java bytes", "mallocs", "of article's");
    let article = batches.added("article");
    for (variant, label) in VARIANTS {
        let Some(added) = batches.added(variant) else { continue };
        let [_, bytes, mallocs] = batches.medians(variant).unwrap_or_default();
        let ratio = article.map_or_else(|| "-".to_owned(), |article| format!("{:.3}", added / article));
        println!("  {label:42} {added:10.0} {bytes:12.1} {mallocs:12.4} {ratio:>14}");
    }
    twins(&launcher, args)
}

/// Measures the benefit of the annotations on the two native methods that the hook calls for each message:
/// compares the recorder with copies of it that have other annotations or none. Each of these recorders needs
/// a separate process, so the processes alternate, with few batches each.
fn twins(launcher: &Launcher, args: &HookArgs) -> Result<()> {
    let ways = [Natives::Critical, Natives::Fast, Natives::Plain];
    let jars = ways.map(|way| launcher.variant(&format!("{way:?}").to_lowercase(), |f, t| way.change(f, t)));
    let mut figures: BTreeMap<(&str, usize), Vec<f64>> = BTreeMap::new();
    for _ in 0..3 {
        for (at, jar) in jars.iter().enumerate() {
            let jar = jar.as_ref().map_err(|error| anyhow::anyhow!("{error:#}"))?;
            let app = launcher.app_in(jar, "bench.HookBench");
            let batches = Batches::of(app, args, &["none", "observer", "printer-empty", "printer"])?;
            for (hook, without) in OURS {
                let added = batches.added(hook).zip(batches.added(without));
                figures.entry((hook, at)).or_default().extend(added.map(|(with, without)| with - without));
            }
        }
    }
    println!("  ours alone, ns by how begin and end are called (medians of 3 processes each):");
    for (hook, without) in OURS {
        let added = |at: usize| figures.get(&(hook, at)).filter(|all| !all.is_empty()).map(|all| median(all));
        let Some(shipped) = added(0) else { continue };
        let each = ways.iter().enumerate().filter_map(|(at, way)| {
            let ns = added(at)?;
            Some(format!("{} {ns:.0} ({:.2})", way.label(), ns / shipped))
        });
        println!("    {hook} over {without}: {}", each.collect::<Vec<_>>().join(", "));
    }
    Ok(())
}

/// The output of `bench.HookBench`, by variant. Each batch has three numbers: nanoseconds, bytes and mallocs
/// for each message.
struct Batches(BTreeMap<String, Vec<[f64; 3]>>);

impl Batches {
    fn of(app: App, args: &HookArgs, variants: &[&str]) -> Result<Self> {
        let folder = tempfile::tempdir().context("no temporary folder")?;
        let app = app.property("loopbox.dir", folder.path().display());
        let app = app.argument(args.messages.to_string()).argument(args.rounds.to_string());
        let app = variants.iter().fold(app, |app, variant| app.argument(*variant));
        let ended = app.start()?.finish(LIMIT)?.success()?;
        let mut batches: BTreeMap<String, Vec<[f64; 3]>> = BTreeMap::new();
        for line in &ended.lines {
            let words: Vec<_> = line.split_whitespace().collect();
            if let ["batch", variant, numbers @ ..] = &words[..] {
                let numbers: Vec<f64> = numbers.iter().filter_map(|word| word.parse().ok()).collect();
                let numbers =
                    numbers.try_into().ok().with_context(|| format!("not three numbers: {line}"))?;
                batches.entry((*variant).to_owned()).or_default().push(numbers);
            }
        }
        Ok(Self(batches))
    }

    fn medians(&self, variant: &str) -> Option<[f64; 3]> {
        let all = self.0.get(variant)?;
        Some([0, 1, 2].map(|at| median(&all.iter().map(|batch| batch[at]).collect::<Vec<_>>())))
    }

    /// What a message costs when nothing watches, in ns.
    fn base(&self) -> Result<f64> {
        Ok(self.medians("none").context("the bench printed no base line")?[0])
    }

    /// What this way of watching adds to a message of main, or with `poll-other` to a message of another
    /// thread, in ns.
    fn added(&self, variant: &str) -> Option<f64> {
        let base = if variant == "poll-other" { self.medians("other")?[0] } else { self.base().ok()? };
        Some(self.medians(variant)?[0] - base)
    }
}
