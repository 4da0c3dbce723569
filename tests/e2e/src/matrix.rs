//! The matrix: it runs code of every kind (`tests/app/frames`) on every testbed, in every mode of execution,
//! and compares each sampled stack with the dex files.

use std::fmt::Write as _;

use anyhow::{Result, ensure};
use lab_launch::{Launcher, reports};
use lab_reports::feature;
use lab_reports::phases::{Figures, PHASES, phase_reports};
use lab_reports::truth::oracle;
use loopbox_format::model::{Feature, Report};
use loopbox_testbed::{LOCAL, Testbed, to_test_on};
use tempfile::tempdir;

use crate::launcher;

/// How methods are executed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// No compiler: ART 10's mterp, nterp on 11 and 14.
    Interpreter,
    /// Methods are compiled by the runtime's own thresholds.
    Jit,
    /// Every method is compiled before its first run.
    FirstUse,
    /// A code cache so small that code is thrown away and made again.
    SmallCache,
    /// All of the app and of the boot class path is compiled before the process starts.
    Ahead,
    /// The interpreter, with pointers from malloc that carry a tag in their top byte, as Android's do on
    /// arm64.
    Tagged,
}

impl Mode {
    fn name(self) -> &'static str {
        match self {
            Self::Interpreter => "interpreter",
            Self::Jit => "jit",
            Self::FirstUse => "jit at first use",
            Self::SmallCache => "jit, 128 KiB cache",
            Self::Ahead => "ahead of time",
            Self::Tagged => "interpreter, tagged pointers",
        }
    }

    /// Whether the runtime compiles methods.
    fn compiles(self) -> bool {
        matches!(self, Self::Jit | Self::FirstUse | Self::SmallCache)
    }

    /// VM options besides those of the testbed.
    fn vm_options(self) -> &'static [&'static str] {
        match self {
            Self::Interpreter | Self::Ahead | Self::Tagged => &[],
            Self::Jit => &["-verbose:jit"],
            Self::FirstUse => &["-verbose:jit", "-Xjitthreshold:0"],
            Self::SmallCache => {
                &["-verbose:jit", "-Xjitthreshold:100", "-Xjitinitialsize:64K", "-Xjitmaxsize:128K"]
            }
        }
    }
}

/// One testbed in one mode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cell {
    /// Name of the testbed.
    pub testbed: &'static str,
    /// How methods are executed.
    pub mode: Mode,
}

impl std::fmt::Display for Cell {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{} {}", self.testbed.trim_end_matches("-jit").trim_end_matches("-aot"), self.mode.name())
    }
}

impl Cell {
    /// Whether the tests run this cell, for a short time. The other cells take minutes to set up, or need
    /// something that not every machine has.
    pub fn in_tests(&self) -> bool {
        let named = to_test_on(&["art10", "art11", "art11-jit", "art11-arm64"]);
        named.iter().any(|testbed| testbed == self.testbed) && self.mode != Mode::Tagged
    }
}

/// The phases that can run on a testbed. The method handles of libcore 10 do not work on runtimes newer than
/// 11, so their phase is left out there.
fn phases(testbed: &Testbed) -> Vec<&'static str> {
    let runs = |phase: &&str| *phase != "Handles" || ["10", "11"].contains(&testbed.manifest.art.as_str());
    PHASES.into_iter().filter(runs).collect()
}

/// All cells.
pub const CELLS: [Cell; 16] = [
    Cell { testbed: "art10", mode: Mode::Interpreter },
    Cell { testbed: "art11", mode: Mode::Interpreter },
    Cell { testbed: "art11-jit", mode: Mode::Jit },
    Cell { testbed: "art11-jit", mode: Mode::FirstUse },
    Cell { testbed: "art11-jit", mode: Mode::SmallCache },
    Cell { testbed: "art11-aot", mode: Mode::Ahead },
    Cell { testbed: "art11-libcxx", mode: Mode::Interpreter },
    Cell { testbed: "art14", mode: Mode::Interpreter },
    Cell { testbed: "art10-jit", mode: Mode::Jit },
    Cell { testbed: "art10-jit", mode: Mode::FirstUse },
    Cell { testbed: "art10-jit", mode: Mode::SmallCache },
    Cell { testbed: "art10-arm64", mode: Mode::Interpreter },
    Cell { testbed: "art11-arm64", mode: Mode::Interpreter },
    Cell { testbed: "art11-arm64", mode: Mode::Tagged },
    Cell { testbed: "art11-x86", mode: Mode::Interpreter },
    Cell { testbed: LOCAL, mode: Mode::Interpreter },
];

/// Runs every phase for `phase_ms` under a collector that moves objects, and checks every stack of every
/// report.
///
/// # Errors
/// When the cell cannot be set up, or the app ends otherwise than by itself; wrong stacks are in the figures.
pub fn run(cell: Cell, phase_ms: u32) -> Result<Figures> {
    let launcher = launcher(cell.testbed)?;
    let oracle = oracle(&launcher)?;
    let mut figures = Figures::default();
    let mut phases = phases(&launcher.testbed);
    let mut last_state = (false, String::new());
    // On a busy machine the sampler gives way, and a short phase may be over before its first stack: such
    // phases are run again, for longer.
    for phase_ms in [phase_ms, phase_ms * 4, phase_ms * 16] {
        let mut unseen = Vec::new();
        // A directory keeps a bounded number of reports, so a few phases at a time.
        for phases in phases.chunks(6) {
            let (sampled, compiled) = sample(&launcher, cell.mode, phases, phase_ms)?;
            figures.compiled += compiled;
            if let Some((_, report)) = sampled.last() {
                figures.timeouts += number(report, "sampler.timeouts");
            }
            for (at, (phase, report)) in sampled.iter().enumerate() {
                if !figures.add(&oracle, phase, report)? {
                    unseen.push(phases[at]);
                    let (on, how) = feature(report, Feature::Sampler);
                    last_state = (on, how.to_owned());
                }
            }
        }
        figures.again.extend(&unseen);
        phases = unseen;
    }
    figures
        .faults
        .extend(phases.iter().map(|phase| format!("{phase} was never sampled (sampler {last_state:?})")));
    if (figures.compiled > 0) != cell.mode.compiles() {
        figures.faults.push(format!("{} methods were compiled", figures.compiled));
    }
    Ok(figures)
}

/// The value of a statistic of a report; 0 when the sampler had not started.
fn number(report: &Report, name: &str) -> u64 {
    let figure = report.statistics.iter().find(|figure| figure.name == name);
    figure.and_then(|figure| figure.value.parse().ok()).unwrap_or(0)
}

/// Runs some phases. Returns the report of each, with the stacks of that phase only (none when the machine
/// was too busy), and how many methods the runtime compiled in that time.
///
/// # Errors
/// When the app does not run to its end, or does not leave one report for each phase.
pub fn sample(
    launcher: &Launcher,
    mode: Mode,
    phases: &[&str],
    phase_ms: u32,
) -> Result<(Vec<(String, Report)>, usize)> {
    let folder = tempdir()?;
    let mut app = launcher.app("frames.Frames").property("loopbox.dir", folder.path().display());
    if mode == Mode::Tagged {
        app = app.env("GLIBC_TUNABLES", "glibc.mem.tagging=3");
    }
    for option in mode.vm_options() {
        app = app.option("-X").option(option);
    }
    let app = phases.iter().fold(app.argument(phase_ms.to_string()), |app, phase| app.argument(*phase));
    let limit =
        lab_reports::LIMIT + std::time::Duration::from_millis(u64::from(phase_ms) * phases.len() as u64);
    let ended = app.start()?.finish(limit)?.success()?;
    let done = format!("phases done: {}", phases.len());
    ensure!(ended.lines.contains(&done), "{:?}\n{}", ended.lines, ended.errors);
    let code: Vec<_> = ended.lines.iter().filter_map(|line| line.strip_prefix("code: ")).collect();
    let of = |ending: &str| code.iter().any(|file| file.ends_with(ending));
    let taken = of(".oat") && of(".odex");
    ensure!(taken == (mode == Mode::Ahead), "code of {code:?}, compiled ahead of time, was taken");
    let sampled = phase_reports(&reports(folder.path())?)?;
    let names: Vec<_> = sampled.iter().map(|(phase, _)| phase.as_str()).collect();
    ensure!(names == phases, "reports of {names:?}, not of {phases:?}");
    Ok((sampled, ended.errors.matches("Compiling method ").count()))
}

/// The figures as a Markdown table.
pub fn table(rows: &[(Cell, Result<Figures>)]) -> String {
    let mut text = String::from(
        "| testbed, mode | samples | frame pairs | wrong | missed | time-outs | longest stop, ms | methods compiled | phases run again |\n\
         |---|---|---|---|---|---|---|---|---|\n",
    );
    for (cell, figures) in rows {
        let _ = match figures {
            Ok(f) => writeln!(
                text,
                "| {cell} | {} | {} | {} | {} | {} | {:.2} | {} | {} |",
                f.samples,
                f.pairs,
                f.wrong.values().sum::<usize>(),
                f.missed,
                f.timeouts,
                f.longest_stop_ns as f64 / 1e6,
                if cell.mode == Mode::Ahead { "all, before".into() } else { f.compiled.to_string() },
                f.again.join(" ")
            ),
            Err(error) => writeln!(text, "| {cell} | did not run: {error:#} | | | | | | | |"),
        };
    }
    for (cell, figures) in rows {
        let Ok(f) = figures else { continue };
        for (why, count) in f.wrong.iter().take(10) {
            let _ = writeln!(text, "{cell}: WRONG {count} x {why}");
        }
        for fault in &f.faults {
            let _ = writeln!(text, "{cell}: {fault}");
        }
    }
    text
}

/// Runs cells one after the other; the table goes to standard output. Returns whether all of them were good.
pub fn run_all(cells: &[Cell], phase_ms: u32) -> bool {
    let rows: Vec<_> = cells.iter().map(|&cell| (cell, run(cell, phase_ms))).collect();
    println!("{phase_ms} ms a phase, {} phases\n{}", PHASES.len(), table(&rows));
    rows.iter().all(|(_, figures)| figures.as_ref().is_ok_and(Figures::good))
}
