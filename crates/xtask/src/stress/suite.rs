//! Runs the test programs again and again, alone or together with work that takes processors and memory from
//! them.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use clap::Args;
use loopbox_setup::workspace::target;

use super::load::LoadArgs;
use crate::suite::programs::TestProgram;
use crate::suite::runner::Runner;
use crate::suite::steps::{minutes, shown};

/// Arguments of the suite's stress.
#[derive(Debug, Args)]
pub(crate) struct SuiteArgs {
    /// How often each test program runs
    #[arg(long, default_value_t = 3)]
    times: u32,
    #[command(flatten)]
    load: LoadArgs,
    /// Run only the programs whose package and name contain this text
    #[arg(long)]
    only: Option<String>,
    /// How many programs run at a time
    #[arg(long, default_value_t = 1)]
    at_once: usize,
    /// Seconds that one program may take
    #[arg(long, default_value_t = 1_800)]
    limit_s: u64,
}

/// How often a test failed, and the output of its program the first time.
#[derive(Debug)]
struct Failures {
    times: u32,
    log: PathBuf,
}

pub(crate) fn suite(args: &SuiteArgs) -> Result<()> {
    let wanted =
        |program: &TestProgram| args.only.as_deref().is_none_or(|only| program.name().contains(only));
    let programs: Vec<_> = TestProgram::build_all()?.into_iter().filter(wanted).collect();
    ensure!(!programs.is_empty(), "no test program is called so");
    let logs = target().join("stress-suite");
    fs::create_dir_all(&logs).with_context(|| format!("cannot create {}", logs.display()))?;
    let load = args.load.start();
    let start = Instant::now();
    let runner = Runner::new(args.at_once, Duration::from_secs(args.limit_s)).ended_by_signals()?;
    let mut failures: BTreeMap<String, Failures> = BTreeMap::new();
    let mut passed = 0;
    for round in 1..=args.times {
        let begun = Instant::now();
        let log_of = |program: &TestProgram| logs.join(format!("{round:03}-{}.log", program.file_name()));
        let mut failed = 0;
        runner.run(&programs, log_of, |program, outcome, log| {
            passed += outcome.passed;
            failed += outcome.failed.len();
            if outcome.failed.is_empty() {
                fs::remove_file(log).with_context(|| format!("cannot remove {}", log.display()))?;
            }
            for test in outcome.failed {
                let name = format!("{}: {test}", program.name());
                println!("round {round}: {name} FAILED after {}; {}", minutes(outcome.took), shown(log));
                failures.entry(name).or_insert(Failures { times: 0, log: log.to_owned() }).times += 1;
            }
            Ok(())
        })?;
        let (took, so_far) = (minutes(begun.elapsed()), minutes(start.elapsed()));
        println!("round {round} of {}: {failed} failed, {took}, {so_far} so far", args.times);
    }
    drop(load);
    println!("\n{}", table(&failures, args.times));
    println!("{passed} passed, {} failed", failures.values().map(|f| f.times as usize).sum::<usize>());
    ensure!(failures.is_empty(), "{} tests failed", failures.len());
    Ok(())
}

fn table(failures: &BTreeMap<String, Failures>, rounds: u32) -> String {
    if failures.is_empty() {
        return format!("no test failed in {rounds} rounds\n");
    }
    let mut rows: Vec<_> = failures.iter().collect();
    rows.sort_by_key(|(_, failures)| std::cmp::Reverse(failures.times));
    let row = |(name, Failures { times, log }): (&String, &Failures)| {
        format!("{times:>4} of {rounds}  {name}\n             first in {}\n", shown(log))
    };
    rows.into_iter().map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_begins_with_what_failed_most_often() {
        let failure = |times| Failures { times, log: "log".into() };
        let failures = [("a x: t".to_owned(), failure(1)), ("b y: u".to_owned(), failure(3))].into();
        assert_eq!(
            table(&failures, 10),
            "   3 of 10  b y: u\n             first in log\n   1 of 10  a x: t\n             first in log\n"
        );
        assert_eq!(table(&BTreeMap::new(), 10), "no test failed in 10 rounds\n");
    }
}
