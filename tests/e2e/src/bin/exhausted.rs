//! Repeatedly runs apps whose memory is used up during a hang: `exhausted [--shipped] [--runs N] TESTBED
//! ARGUMENT...`, with the arguments of `scenario.Exhausted`. For each app that did not run to its end, prints
//! how it ended.

use anyhow::{Context, Result};
use lab_launch::{Build, Launcher};
use loopbox_e2e::exhausted::run;

fn main() -> Result<()> {
    let (mut shipped, mut runs, mut rest) = (false, 10, Vec::new());
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--shipped" => shipped = true,
            "--runs" => {
                runs =
                    arguments.next().and_then(|runs| runs.parse().ok()).context("--runs needs a number")?;
            }
            _ => rest.push(argument),
        }
    }
    let (testbed, rest) = rest.split_first().context("which testbed?")?;
    let launcher = if shipped { Launcher::shipped(testbed)? } else { Launcher::new(testbed, Build::Dev)? };
    let rest: Vec<&str> = rest.iter().map(String::as_str).collect();
    let mut dead = 0;
    for nth in 1..=runs {
        let folder = tempfile::tempdir()?;
        let outcome = run(&launcher, folder.path(), &rest)?;
        let said: Vec<_> = outcome.said().collect();
        if !outcome.lived() {
            dead += 1;
            println!("{nth}: {}\n{}\n{}", outcome.ended.status, said.join("\n"), outcome.ended.errors);
        } else if nth == 1 {
            println!("{}", said.join("\n"));
        }
    }
    println!("{testbed} {}: {dead} of {runs} died", rest.join(" "));
    Ok(())
}
