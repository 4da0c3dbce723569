//! What `cargo xtask bench cli` runs: times one report, and generates corpora of reports.
//!
//! `bench_reports time [FILE…]` times decoding, loading and diagnosing each report, and prints `time NAME
//! BYTES` and the medians in microseconds. `bench_reports corpus FOLDER COUNT [FILE…]` fills a folder with
//! variations of the given reports. Without files it uses a generated full report.

mod corpus;

use loopbox_format::report;
use loopbox_report::{Analysis, diagnose, test_support};
use std::error::Error;
use std::fs;
use std::hint::black_box;
use std::time::Instant;

/// How often each step is repeated; the median is printed.
const ROUNDS: usize = 101;

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["time", files @ ..] => recordings(files)?.iter().try_for_each(|(name, bytes)| time(name, bytes)),
        ["corpus", folder, count, files @ ..] => {
            let generated = usize::from(!files.is_empty());
            let recordings =
                recordings(files)?.into_iter().skip(generated).map(|(_, bytes)| bytes).collect::<Vec<_>>();
            corpus::write(folder.as_ref(), count.parse()?, &recordings)
        }
        _ => Err("bench_reports time [FILE…] | bench_reports corpus FOLDER COUNT [FILE…]".into()),
    }
}

/// A recording: its name and its bytes.
type Recording = (String, Vec<u8>);

/// The generated report, and the files.
fn recordings(files: &[&str]) -> Result<Vec<Recording>, Box<dyn Error>> {
    let generated = report::encode(&test_support::full().build().report)?;
    let mut recordings = vec![("generated".to_string(), generated)];
    for file in files {
        recordings.push(((*file).to_string(), fs::read(file)?));
    }
    Ok(recordings)
}

fn time(name: &str, bytes: &[u8]) -> Result<(), Box<dyn Error>> {
    let decoded = report::decode(bytes)?;
    let analysis = Analysis::new(&decoded);
    let medians = [
        median_us(|| drop(black_box(report::decode(black_box(bytes))))),
        median_us(|| drop(black_box(Analysis::new(black_box(&decoded))))),
        median_us(|| drop(black_box(diagnose::diagnose(black_box(&analysis))))),
    ];
    println!("time {name} {} {:.1} {:.1} {:.1}", bytes.len(), medians[0], medians[1], medians[2]);
    Ok(())
}

fn median_us(mut step: impl FnMut()) -> f64 {
    let mut times: Vec<f64> = (0..ROUNDS)
        .map(|_| {
            let start = Instant::now();
            step();
            start.elapsed().as_secs_f64() * 1e6
        })
        .collect();
    times.sort_by(f64::total_cmp);
    times[ROUNDS / 2]
}
