//! `cargo xtask offsets`: the ART layout tables of `offsets/`, checked against what can be had.

mod code;
mod layouts;
pub mod probe;
#[path = "../../../loopbox-art/build/table.rs"]
#[allow(missing_docs)] // the fields are described in docs/sampler.md
pub mod table;
mod verify;

use std::path::PathBuf;

use anyhow::{Result, anyhow, bail, ensure};
use clap::{Args, Subcommand};

use crate::workspace::root;
use table::{Generation, Row};

/// Arguments of `cargo xtask offsets`.
#[derive(Debug, Args)]
pub struct OffsetsArgs {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Validate the tables and compare their rows with the runtimes of the beds
    Check {
        /// Beds to compare with
        #[arg(long, value_delimiter = ',', default_value = "art10,art11")]
        beds: Vec<String>,
        /// Also lay the classes of Debian's ART sources out with clang, for every architecture, and compare
        #[arg(long)]
        layouts: bool,
    },
    /// Tell which symbols and which rows a device's libart.so or libopenjdkjvmti.so fits
    Verify {
        /// The library
        library: PathBuf,
    },
}

/// Runs the command.
///
/// # Errors
/// When a table is wrong, or contradicts a runtime or the library.
pub fn run(args: &OffsetsArgs) -> Result<()> {
    let generations = load()?;
    match &args.command {
        Command::Check { beds, layouts } => {
            check(&generations, beds)?;
            if *layouts { layouts::check(&generations) } else { Ok(()) }
        }
        Command::Verify { library } => {
            let report = verify::library(library, &generations)?;
            print!("{report}");
            ensure!(report.fits(), "no row of the tables fits this library");
            Ok(())
        }
    }
}

/// All tables, validated.
///
/// # Errors
/// What is wrong, and in which file.
pub fn load() -> Result<Vec<Generation>> {
    table::load(&root().join("offsets")).map_err(|e| anyhow!(e))
}

fn check(generations: &[Generation], beds: &[String]) -> Result<()> {
    let rows: Vec<&Row> = generations.iter().flat_map(|g| &g.rows).collect();
    println!("{} rows in {} files are well-formed", rows.len(), generations.len());
    for bed in beds {
        let probe = probe::Probe::new(bed, "offsets")?;
        let found = probe.discovered()?;
        let Some(row) = rows.iter().find(|row| row.id == found.row) else {
            bail!("{bed}: no row called {}", found.row);
        };
        let wrong = found.differences(row);
        ensure!(wrong.is_empty(), "{bed}: row {} differs: {}", row.id, wrong.join(", "));
        println!("{bed}: the running libart agrees with row {}", row.id);
        let report = verify::library(&probe.libart(), generations)?;
        ensure!(
            report.matches().contains(&row.id.as_str()),
            "{bed}: the code of libart says otherwise\n{report}"
        );
        println!("{bed}: the code of libart agrees with row {}", row.id);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text() -> String {
        std::fs::read_to_string(root().join("offsets/art-14.toml")).unwrap()
    }

    /// What the validation says to a table in which `from` was typed as `to`.
    fn refused(from: &str, to: &str) -> String {
        let text = text();
        assert!(text.contains(from), "{from}");
        table::parse(&text.replacen(from, to, 1)).unwrap_err()
    }

    #[test]
    fn the_tables_hold_every_generation_and_architecture() {
        let generations = load().unwrap();
        let of = |g: &str| generations.iter().find(|x| x.generation == g).unwrap();
        for name in ["8.0", "8.1", "9", "10", "11", "12", "13", "14", "15", "16"] {
            for arch in ["arm64", "arm", "x86_64"] {
                assert!(
                    of(name).rows.iter().any(|r| r.arch == arch && r.stdlib == "libc++"),
                    "{name} {arch}"
                );
            }
        }
        assert_eq!(of("8.0").rows.iter().filter(|r| r.arch == "arm64").count(), 2, "both builds of 8.0");
        let levels: Vec<u32> = generations.iter().flat_map(|g| g.api_levels.clone()).collect();
        assert_eq!(levels, (26..=36).collect::<Vec<u32>>());
    }

    #[test]
    fn a_number_typed_wrong_is_refused() {
        assert!(refused("thread_list = 584", "thread_list = 548").contains("not word-aligned"));
        assert!(refused("java_vm = 632", "java_vm = 624x").contains("expected"));
        assert!(refused("java_vm = 632", "java_vm = 672").contains("4 to 8 words"));
        assert!(refused("tid = 12", "tid = 16").contains("follows thin_lock_id"));
        assert!(refused("self = 224", "self = 216").contains("two words after jni_env"));
        assert!(refused("size = 496", "size = 504").contains("ends after check_suspended_"));
        assert!(refused("dex_method_index = 8", "dex_method_index = 12").contains("code"));
        assert!(refused("class_def = 80", "class_def = 72").contains("16 after access_flags"));
        assert!(refused("method_ids = 104", "method_ids = 112").contains("follow each other"));
        assert!(refused("list = 8192", "list = 4096").contains("65536 bits"));
    }

    #[test]
    fn a_row_without_origin_is_refused() {
        assert!(refused("verified = [\"layout-dump\"]", "verified = []").contains("verified"));
        assert!(refused("verified = [\"layout-dump\"]", "verified = [\"trust me\"]").contains("verified"));
        assert!(refused("arch = \"arm64\"", "arch = \"arm65\"").contains("arch"));
        assert!(refused("source = \"android-14.0.0_r1\"", "source = \"\"").contains("source"));
        assert!(refused("api_levels = [34]", "api_levels = [25]").contains("API level 25"));
        assert!(refused("label", "lable").contains("unknown field"));
    }
}
