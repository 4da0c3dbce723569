//! `cargo xtask bench install`: what the recorder's installation costs the main thread of a starting app.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use clap::Args;
use lab_launch::{Build, Launcher};

use super::sampler::load;
use super::stats::{LIMIT, median};

/// Arguments of the install bench.
#[derive(Debug, Args)]
pub(crate) struct InstallArgs {
    /// Testbeds to run on; for a testbed with `-aot`, the app without compiled code is measured, too
    #[arg(long, value_delimiter = ',', default_value = "art10,art11,art11-aot")]
    testbed: Vec<String>,
    /// Processes for each app and testbed
    #[arg(long, default_value_t = 41)]
    times: u32,
}

pub(crate) fn run(args: &InstallArgs) -> Result<()> {
    for testbed in &args.testbed {
        let launcher = Launcher::new(testbed, Build::App)?;
        let jar = launcher.class_path().pop().context("the app has no jar")?;
        bench(&launcher, testbed, &jar, args.times).with_context(|| format!("bench install on {testbed}"))?;
        if testbed.ends_with("-aot") {
            // Its code is found next to the jar.
            let folder = tempfile::tempdir()?;
            let alone = folder.path().join("app.jar");
            fs::copy(&jar, &alone)?;
            bench(&launcher, &format!("{testbed}, app interpreted"), &alone, args.times)?;
        }
    }
    Ok(())
}

/// Durations in milliseconds; each list has one value for each launch.
#[derive(Debug, Default)]
struct Figures {
    load: Vec<f64>,
    install: Vec<f64>,
    /// Duration of each part of the installation by its name, in order.
    parts: Vec<(String, Vec<f64>)>,
}

impl Figures {
    fn add(&mut self, said: &[String]) -> Result<()> {
        let ms = |ns: &str| anyhow::Ok(ns.parse::<f64>()? / 1e6);
        for line in said {
            if let Some(section) = line.strip_prefix("BENCH section loopbox ") {
                let (name, ns) = section.rsplit_once(' ').context("a section has no length")?;
                match self.parts.iter_mut().find(|(known, _)| known == name) {
                    Some((_, all)) => all.push(ms(ns)?),
                    None => self.parts.push((name.to_owned(), vec![ms(ns)?])),
                }
            } else if let Some(whole) = line.strip_prefix("BENCH install ") {
                let (load, install) = whole.split_once(' ').context("a figure is missing")?;
                self.load.push(ms(load)?);
                self.install.push(ms(install)?);
            }
        }
        Ok(())
    }

    fn print(&self, what: &str) {
        let least = |values: &[f64]| values.iter().copied().fold(f64::INFINITY, f64::min);
        let row = |name: &str, values: &[f64]| {
            println!("| {name} | {:.2} | {:.2} |", median(values), least(values));
        };
        println!("\n{what}, {} launches, load {}, milliseconds\n", self.install.len(), load());
        println!("| on the main thread | median | least |\n|---|---|---|");
        row("load the library", &self.load);
        row("install", &self.install);
        self.parts.iter().for_each(|(name, values)| row(&format!("of that: {name}"), values));
    }
}

/// Measures each installation in a new process, because an app sees only the first installation of a process.
/// All processes use one directory, as the launches of an app do.
fn bench(launcher: &Launcher, what: &str, jar: &Path, times: u32) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let mut figures = Figures::default();
    for _ in 0..times {
        let app = launcher.app_in(jar, "bench.InstallBench");
        let mut app = app.argument(format!("dir={}", folder.path().display())).start()?;
        app.wait_for("BENCH install", LIMIT)?;
        figures.add(app.seen())?;
        // As a start that lasts leaves it: what the next launch finds is no sign of a crash.
        for entry in fs::read_dir(folder.path())?.flatten() {
            fs::remove_file(entry.path())?;
        }
    }
    figures.print(what);
    Ok(())
}
