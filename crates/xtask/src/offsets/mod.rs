//! `cargo xtask offsets`: checks the ART layout tables of `offsets/` with everything that is available.

mod layouts;

use std::path::PathBuf;

use anyhow::{Result, anyhow, bail, ensure};
use clap::{Args, Subcommand};
use lab_launch::probe::{Discovered, Probe};
use loopbox_art_tables::{self as tables, Generation, Row};
use loopbox_setup::workspace::root;
use loopbox_testbed::libart;

/// Arguments of `cargo xtask offsets`.
#[derive(Debug, Args)]
pub(crate) struct OffsetsArgs {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Validate the tables and compare their rows with the runtimes of the testbeds
    Check {
        /// Testbeds to compare with
        #[arg(long, value_delimiter = ',', default_value = "art10,art11")]
        testbeds: Vec<String>,
        /// Also compute the class layouts of Debian's ART sources with clang, for every architecture, and
        /// compare
        #[arg(long)]
        layouts: bool,
    },
    /// Say which symbols a device's libart.so or libopenjdkjvmti.so has, and which rows fit it
    Verify {
        /// The library
        library: PathBuf,
    },
}

pub(crate) fn run(args: &OffsetsArgs) -> Result<()> {
    let generations = load()?;
    match &args.command {
        Command::Check { testbeds, layouts } => {
            check(&generations, testbeds)?;
            if *layouts { layouts::check(&generations) } else { Ok(()) }
        }
        Command::Verify { library } => {
            let report = libart::library(library, &generations)?;
            print!("{report}");
            ensure!(report.fits(), "no row of the tables fits this library");
            Ok(())
        }
    }
}

/// All tables, validated.
fn load() -> Result<Vec<Generation>> {
    tables::load(&root().join("offsets")).map_err(|e| anyhow!(e))
}

fn check(generations: &[Generation], testbeds: &[String]) -> Result<()> {
    let rows: Vec<&Row> = generations.iter().flat_map(|g| &g.rows).collect();
    println!("{} rows in {} files are well-formed", rows.len(), generations.len());
    for testbed in testbeds {
        let probe = Probe::new(testbed, "offsets")?;
        let found = probe.discovered()?;
        let Some(row) = rows.iter().find(|row| row.id == found.row) else {
            bail!("{testbed}: no row called {}", found.row);
        };
        let wrong = differences(&found, row);
        ensure!(wrong.is_empty(), "{testbed}: row {} differs: {}", row.id, wrong.join(", "));
        println!("{testbed}: the running libart agrees with row {}", row.id);
        let report = libart::library(&probe.libart(), generations)?;
        ensure!(
            report.matches().contains(&row.id.as_str()),
            "{testbed}: the code of libart says otherwise\n{report}"
        );
        println!("{testbed}: the code of libart agrees with row {}", row.id);
    }
    Ok(())
}

/// Numbers of a row that differ from those found in a running process.
fn differences(found: &Discovered, row: &Row) -> Vec<String> {
    let of_row = [
        ("thread_list", row.runtime.thread_list),
        ("java_vm", row.runtime.java_vm),
        ("thin_lock_id", row.thread.thin_lock_id),
        ("jni_env", row.thread.jni_env),
        ("visitor_size", row.visitor.size),
        ("context", row.visitor.context),
        ("check_suspended", row.visitor.check_suspended),
    ];
    let differs = |(name, table): (&str, u32)| {
        let found = found.numbers.iter().find(|(n, _)| n == name).map(|(_, value)| *value);
        (found != Some(table)).then(|| format!("{name} is {table} in the table, {found:?} in the process"))
    };
    of_row.into_iter().filter_map(differs).collect()
}
