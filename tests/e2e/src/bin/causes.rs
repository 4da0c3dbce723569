//! Runs an app that hangs for each known cause, and prints whether the verdict was right: `causes [--cause
//! NAME]... [--reports FOLDER] [TESTBED...]`. `cargo xtask stress causes` calls it. It fails when a verdict
//! was wrong with high confidence, or when verdicts on the generated variants are right less often than their
//! confidence promises.

use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result};
use loopbox_e2e::causes::{Known, Worth};
use loopbox_report::diagnose::Confidence;
use loopbox_report::test_causes::{Reliability, generated};

fn main() -> Result<ExitCode> {
    let mut causes: Vec<&Known> = Vec::new();
    let mut testbeds = Vec::new();
    let mut reports = None;
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        if argument == "--cause" {
            causes.push(Known::of(&arguments.next().context("--cause needs a name")?)?);
        } else if argument == "--reports" {
            reports = Some(PathBuf::from(arguments.next().context("--reports needs a folder")?));
        } else {
            testbeds.push(argument);
        }
    }
    if causes.is_empty() {
        causes.extend(Known::all());
    }
    if testbeds.is_empty() {
        testbeds.push("art10".into());
    }
    let mut wrong = 0;
    let mut on_testbeds = Reliability::default();
    for testbed in &testbeds {
        println!("\n{testbed}\n\n| main | verdict | confidence | the verdict is |\n|---|---|---|---|");
        let mut count = [0; 3];
        for cause in &causes {
            if let Some(refusal) = cause.is_refused_by(testbed)? {
                println!("| {} | not run: {refusal} | | |", cause.words);
                continue;
            }
            let (_, verdict) = match &reports {
                Some(folder) => {
                    let folder = folder.join(testbed).join(cause.name);
                    fs::create_dir_all(&folder)?;
                    cause.play_in(testbed, &folder)
                }
                None => cause.play(testbed),
            }
            .with_context(|| cause.name)?;
            let worth = cause.worth(&verdict);
            count[worth as usize] += 1;
            on_testbeds.add(verdict.confidence, worth == Worth::Right);
            let confidence = verdict.confidence.map_or("none", Confidence::as_str);
            // The names of types may have bars.
            let headline = verdict.headline.replace('|', "\\|");
            println!("| {} | {headline} | {confidence} | {} |", cause.words, word(worth));
        }
        let [right, unsure, wrong_here] = count;
        println!(
            "\n{} causes: {right} right, {unsure} not sure, {wrong_here} wrong and confident",
            count.iter().sum::<usize>()
        );
        wrong += wrong_here;
    }
    println!("\nof the verdicts above\n\n{on_testbeds}");
    let mut variants = Reliability::default();
    for one in generated() {
        variants.add(one.verdict.confidence, one.right);
    }
    println!("of verdicts on generated variants of causes\n\n{variants}");
    Ok(if wrong == 0 && variants.holds() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn word(worth: Worth) -> &'static str {
    match worth {
        Worth::Right => "right",
        Worth::Unsure => "not sure",
        Worth::Wrong => "WRONG",
    }
}
