//! The table of API levels: `levels [fwLEVEL...]`, all levels when none is named. `cargo xtask stress levels`
//! calls it.

use std::process::ExitCode;

use anyhow::Result;
use loopbox_e2e::levels::{Seen, run_on, table};
use loopbox_e2e::platform_names::faults;
use loopbox_testbed::levels;

fn main() -> Result<ExitCode> {
    let mut wanted: Vec<String> = std::env::args().skip(1).collect();
    if wanted.is_empty() {
        wanted = levels()?.iter().map(ToString::to_string).collect();
    }
    let rows: Vec<_> = wanted
        .into_iter()
        .map(|level| {
            let seen = ["AUTO", "OBSERVER", "POLL"].map(|hook| run_on(&level, hook, &[]));
            (level, seen)
        })
        .collect();
    print!("{}", table(&rows));
    let mut unknown = 0;
    for level in levels()?.iter().filter(|level| level.queue.is_none()) {
        for fault in faults(level.api)? {
            println!("{fault}");
            unknown += 1;
        }
    }
    let is_whole = |seen: &Result<Seen>| seen.as_ref().is_ok_and(|seen| seen.faults().is_empty());
    let good = rows.iter().all(|(_, [auto, _, poll])| is_whole(auto) && is_whole(poll));
    Ok(if good && unknown == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
