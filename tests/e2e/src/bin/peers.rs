//! Loopbox and other watchers of the main thread, side by side: what a message costs, how often an app that
//! rests is woken, and which watcher names the cause of which hang. `cargo xtask bench peers` calls it.
//!
//! `peers [--costs TESTBED,...] [--hangs TESTBED,...] [--messages N] [--rounds N] [--processes N]
//! [--seconds N] [--times N] [--hang NAME] [--peer NAME] [--texts] [--bless]`

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;

use anyhow::{Context, Result, bail, ensure};
use lab_launch::Build;
use loopbox_e2e::peers::{Bed, Costs, HANGS, Hang, PEERS, Peer, SHOW, Woken, load};
use loopbox_setup::command::for_each;
use loopbox_setup::workspace::root;

const PAGE: &str = "docs/compare.md";
const MARKS: [&str; 2] = ["<!-- written by `cargo xtask bench peers --bless` -->\n", "<!-- until here -->"];

/// The groups of peers that run in one process. In each group at most one peer sets a Printer. Peers that
/// send heartbeats disturb no other peer.
const TOGETHER: [&[&str]; 5] = [
    &["anrwatchdog", "sentry", "datadog-anr", "blockcanary"],
    &["datadog-long-task"],
    &["loopbox-observer"],
    &["loopbox-printer"],
    &["loopbox-poll"],
];

/// What the arguments select.
struct Wanted {
    costs: Vec<String>,
    hangs: Vec<String>,
    messages: u32,
    rounds: u32,
    processes: u32,
    seconds: u32,
    times: u32,
    hang: Vec<String>,
    peer: Vec<String>,
    texts: bool,
    bless: bool,
}

impl Wanted {
    fn read() -> Result<Self> {
        let list = |text: &str| -> Vec<String> {
            text.split(',').filter(|name| !name.is_empty()).map(str::to_owned).collect()
        };
        let mut wanted = Self {
            costs: list("art10,art11,art11-jit"),
            hangs: list("art10,art11"),
            messages: 2_000,
            rounds: 9,
            processes: 3,
            seconds: 20,
            times: 1,
            hang: Vec::new(),
            peer: Vec::new(),
            texts: false,
            bless: false,
        };
        let mut words = std::env::args().skip(1);
        while let Some(word) = words.next() {
            match word.as_str() {
                "--texts" => wanted.texts = true,
                "--bless" => wanted.bless = true,
                _ => {
                    let value = words.next().with_context(|| format!("{word} needs a value"))?;
                    match word.as_str() {
                        "--costs" => wanted.costs = list(&value),
                        "--hangs" => wanted.hangs = list(&value),
                        "--messages" => wanted.messages = value.parse()?,
                        "--rounds" => wanted.rounds = value.parse()?,
                        "--processes" => wanted.processes = value.parse()?,
                        "--seconds" => wanted.seconds = value.parse()?,
                        "--times" => wanted.times = value.parse()?,
                        "--hang" => wanted.hang.push(value),
                        "--peer" => wanted.peer.push(value),
                        _ => bail!("no option is called {word}"),
                    }
                }
            }
        }
        let is_whole = wanted.hang.is_empty() && wanted.peer.is_empty();
        let has_both = !wanted.costs.is_empty() && !wanted.hangs.is_empty();
        ensure!(!wanted.bless || is_whole && has_both, "a part of the tables is not written");
        Ok(wanted)
    }

    fn peers(&self) -> impl Iterator<Item = &'static Peer> {
        PEERS.iter().filter(|peer| self.peer.is_empty() || self.peer.iter().any(|name| name == peer.name))
    }
}

fn main() -> Result<()> {
    let wanted = Wanted::read()?;
    let mut page = String::new();
    if !wanted.costs.is_empty() {
        page += &costs(&wanted)?;
    }
    if !wanted.hangs.is_empty() {
        page += &hangs(&wanted)?;
    }
    if wanted.bless {
        let file = root().join(PAGE);
        let text = fs::read_to_string(&file).with_context(|| format!("cannot read {PAGE}"))?;
        let (before, rest) = text.split_once(MARKS[0]).context("no mark")?;
        let (_, after) = rest.split_once(MARKS[1]).context("no second mark")?;
        fs::write(&file, format!("{before}{}\n{page}{}{after}", MARKS[0], MARKS[1]))
            .with_context(|| format!("cannot write {PAGE}"))?;
    }
    Ok(())
}

fn row(cells: impl IntoIterator<Item = String>) -> String {
    format!("| {} |\n", cells.into_iter().collect::<Vec<_>>().join(" | "))
}

fn head(cells: Vec<String>) -> String {
    let line = format!("|{}\n", "---|".repeat(cells.len()));
    row(cells) + &line
}

/// Measures what a message and a resting app cost. Returns the text of the page.
fn costs(wanted: &Wanted) -> Result<String> {
    let before = load()?;
    let names: Vec<&str> = wanted.peers().map(|peer| peer.name).collect();
    let mut all = Vec::new();
    for testbed in &wanted.costs {
        let bed = Bed::ensure(testbed, Build::App)?;
        let mut costs = Costs::default();
        for _ in 0..wanted.processes {
            costs.add(&bed, &names, wanted.messages, wanted.rounds).with_context(|| testbed.clone())?;
        }
        all.push(costs);
    }
    let bed = Bed::ensure(&wanted.costs[0], Build::App)?;
    let mut page = format!(
        "Added to a message that nothing watches: ns of main's CPU time, by testbed, and bytes of Java on {}. \
         Medians of {} batches of {} messages in {} processes; wake-ups a second of an app that does nothing, \
         in {} s on {}. Load {before} before, {} after.\n\n",
        wanted.costs[0],
        wanted.rounds * wanted.processes,
        wanted.messages,
        wanted.processes,
        wanted.seconds,
        wanted.costs[0],
        load()?
    );
    page = wrap(&page);
    let mut cells = vec!["who".to_owned(), "reports a hang from".into()];
    cells.extend(wanted.costs.iter().map(|testbed| format!("{testbed}, ns")));
    cells.extend(["bytes", "main woken", "all threads"].map(str::to_owned));
    page += &head(cells);
    let ns = |way: &str| {
        all.iter()
            .map(|costs| costs.added(way).map_or("off".into(), |cost| format!("{:.0}", cost.ns)))
            .collect::<Vec<String>>()
    };
    let bytes = |way: &str| all[0].added(way).map_or("-".into(), |cost| format!("{:.0}", cost.bytes));
    let woken = |way: &str| -> Result<[String; 2]> {
        let woken = Woken::count(&bed, way, wanted.seconds)?;
        Ok(woken.map_or(["-".into(), "-".into()], |woken| {
            [format!("{:.2}", woken.main), format!("{:.2}", woken.all)]
        }))
    };
    let base = all.iter().map(|costs| costs.of("none").map_or("-".into(), |cost| format!("{:.0}", cost.ns)));
    let mut cells = vec!["a message that nothing watches, whole".to_owned(), String::new()];
    cells.extend(base.collect::<Vec<String>>());
    cells.push("0".into());
    page += &row(cells.into_iter().chain(woken("none")?));
    let mut cells = vec!["an empty Printer".to_owned(), String::new()];
    cells.extend(ns("empty"));
    page += &row(cells.into_iter().chain([bytes("empty"), String::new(), String::new()]));
    for peer in wanted.peers() {
        let mut cells = vec![peer.title()?, peer.threshold.to_owned()];
        cells.extend(ns(peer.name));
        cells.push(bytes(peer.name));
        page += &row(cells.into_iter().chain(woken(peer.name)?));
    }
    println!("{page}");
    Ok(page + "\n")
}

/// Finds out which peer names which hang. Returns the text of the page.
fn hangs(wanted: &Wanted) -> Result<String> {
    let before = load()?;
    let mut seen: BTreeMap<(&str, String), Vec<String>> = BTreeMap::new();
    let hangs: Vec<&Hang> = HANGS
        .iter()
        .filter(|hang| wanted.hang.is_empty() || wanted.hang.iter().any(|name| name == hang.name))
        .collect();
    for testbed in &wanted.hangs {
        let bed = Bed::ensure(testbed, Build::App)?;
        for _ in 0..wanted.times {
            for hang in &hangs {
                let mut runs = Vec::new();
                for peers in TOGETHER {
                    let peers: Vec<&str> = peers
                        .iter()
                        .copied()
                        .filter(|name| wanted.peers().any(|peer| peer.name == *name))
                        .collect();
                    if !peers.is_empty() {
                        runs.push(peers);
                    }
                }
                let said = std::sync::Mutex::new(Vec::new());
                for_each(&runs, |peers| {
                    let one = hang.watch(&bed, peers).with_context(|| format!("{} {testbed}", hang.name))?;
                    said.lock().map_err(|_| anyhow::anyhow!("a thread failed"))?.push((peers[0], one));
                    Ok(())
                })?;
                let said = said.into_inner().map_err(|_| anyhow::anyhow!("a thread failed"))?;
                for (first, one) in said {
                    if wanted.texts {
                        println!("--- {} on {testbed}\n{}", hang.name, one.texts);
                        eprintln!("{}", one.errors);
                    }
                    for (name, outcome) in one.outcomes {
                        let name = if name == SHOW { format!("{first} {SHOW}") } else { name };
                        seen.entry((hang.name, name)).or_default().push(outcome.to_string());
                    }
                }
            }
        }
    }
    let mut columns: Vec<(String, String)> = Vec::new();
    for peer in wanted.peers() {
        if peer.is_ours() {
            columns.push((peer.title()?, format!("{} {SHOW}", peer.name)));
            columns.push(("its digest".into(), peer.name.to_owned()));
        } else {
            columns.push((peer.title()?, peer.name.to_owned()));
        }
    }
    let mut page = wrap(&format!(
        "Each hang {} times on {}, each at its defaults. R the cause is named, r it is named behind another \
         one, S main's place without the cause, N the message's name alone, W another place is blamed, L only \
         when the hang was over, - no report; several letters: several reports. Load {before} before, {} after.\n\n",
        wanted.times,
        wanted.hangs.join(" and "),
        load()?
    ));
    page += &head(
        std::iter::once("main".to_owned()).chain(columns.iter().map(|(title, _)| title.clone())).collect(),
    );
    for hang in &hangs {
        let cells = columns.iter().map(|(_, name)| {
            let all = seen.get(&(hang.name, name.clone())).cloned().unwrap_or_default();
            counted(&all)
        });
        page += &row(std::iter::once(hang.words.to_owned()).chain(cells));
    }
    println!("{page}");
    Ok(page + "\n")
}

/// The different results in one text. When there are several, each has the number of times that it came.
fn counted(all: &[String]) -> String {
    let kinds: BTreeSet<&String> = all.iter().collect();
    let mut text = String::new();
    for kind in &kinds {
        let times = all.iter().filter(|seen| seen == kind).count();
        let separator = if text.is_empty() { "" } else { ", " };
        let _ = if kinds.len() == 1 {
            write!(text, "{separator}{kind}")
        } else {
            write!(text, "{separator}{kind} ({times} of {})", all.len())
        };
    }
    text
}

/// Breaks a paragraph into lines of a document's width.
fn wrap(text: &str) -> String {
    const COLUMNS: usize = 110;
    let mut page = String::new();
    let mut width = 0;
    for word in text.split_whitespace() {
        if width + 1 + word.len() > COLUMNS {
            page.push('\n');
            width = 0;
        } else if width > 0 {
            page.push(' ');
            width += 1;
        }
        page.push_str(word);
        width += word.len();
    }
    page + "\n\n"
}
