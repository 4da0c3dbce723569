//! The sampler on real Android Runtimes, through the library `examples/art_probe.rs` and the Java of `tests/java`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};

use anyhow::{Context, Result, ensure};
use loopbox_oracle::{Frame, Oracle, Pair};
use xtask::bed::{self, Bed};
use xtask::workspace::{cargo, root, run, target};

/// A bed with the probe ready to run on it.
struct Probe {
    bed: Bed,
    jar: PathBuf,
    host: PathBuf,
    libraries: PathBuf,
}

impl Probe {
    /// `of` names the test: tests run at the same time and each has its own jar.
    fn new(name: &str, of: &str) -> Result<Probe> {
        // One set-up at a time: they share working folders.
        static SET_UP: Mutex<()> = Mutex::new(());
        let _lock = SET_UP.lock().unwrap_or_else(PoisonError::into_inner);
        let bed = bed::ensure(name)?;
        run(cargo().args(["build", "--quiet", "--locked", "--package", "loopbox-host"]))?;
        let folder = root().join("crates/loopbox-art/tests/java/probe");
        let mut sources = Vec::new();
        for entry in std::fs::read_dir(&folder).context("no probe sources")? {
            sources.push(entry?.path());
        }
        let jar = target().join(format!("art-probe-{name}-{of}.jar"));
        bed.dex(&sources, &[], &jar)?;
        let debug = target().join("debug");
        Ok(Probe { bed, jar, host: debug.join("loopbox-host"), libraries: debug.join("examples") })
    }

    /// Runs a class to its end; the lines that it printed.
    fn run(&self, main: &str, options: &[&str], arguments: &[&str]) -> Result<Vec<String>> {
        let mut command = Command::new(&self.host);
        command.arg("--bed").arg(self.bed.dir.join("bed.toml")).arg("--app").arg(&self.jar);
        command.arg("-D").arg(format!("java.library.path={}", self.libraries.display()));
        command.args(["--main", main]).args(options).arg("--").args(arguments);
        let output = command.output().context("cannot start the host program")?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let errors = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "{main} ended with {}\n{text}\n{errors}", output.status);
        let lines: Vec<String> = text.lines().map(String::from).collect();
        ensure!(lines.last().is_some_and(|l| l == "done"), "{main} did not finish\n{text}\n{errors}");
        Ok(lines)
    }

    fn oracle(&self) -> Result<Oracle> {
        let mut oracle = Oracle::default();
        let boot = self.bed.manifest.boot_class_path.iter().map(|jar| self.bed.dir.join(jar));
        for jar in boot.chain([self.jar.clone()]) {
            add(&mut oracle, &jar)?;
        }
        Ok(oracle)
    }
}

fn add(oracle: &mut Oracle, jar: &Path) -> Result<()> {
    let bytes = std::fs::read(jar).with_context(|| format!("cannot read {}", jar.display()))?;
    oracle.add_jar(&bytes).with_context(|| format!("cannot use {}", jar.display()))
}

fn value<'a>(lines: &'a [String], key: &str) -> &'a str {
    let found = lines.iter().find_map(|l| l.strip_prefix(key)?.strip_prefix(' '));
    found.unwrap_or_else(|| panic!("no line `{key}` in\n{}", lines.join("\n")))
}

/// Names, files and lines are those of `Throwable.getStackTrace`, in all kinds of methods.
fn names(bed: &str, row: &str) {
    let probe = Probe::new(bed, "names").unwrap();
    let lines = probe.run("probe.Names", &[], &[]).unwrap();
    let text = lines.join("\n");
    let installed = value(&lines, "installed");
    assert!(installed.contains(&format!("rows: [\"{row}\"]")), "{installed}");
    assert!(installed.contains("layout: Confirmed"), "{installed}");
    assert!(!text.contains("differs"), "{text}");
    assert_eq!(value(&lines, "compared"), "15");
    assert_eq!(value(&lines, "misuse"), "Some(Some(WrongCaller))");

    // The frame of a proxy is named as the interface's method.
    assert!(value(&lines, "proxied").contains("|probe.Names$Shape\tpaint\t()V\t"), "{text}");
    // 400 calls deep: 96 frames from the top, a gap, and the bottom down to main; 3000 deep: cut at the limit.
    let recursions: Vec<_> = lines.iter().filter(|l| l.starts_with("recursion ")).collect();
    assert_eq!(recursions.len(), 2);
    assert!(recursions[0].contains("recursion 129 ") && recursions[0].contains(" gap ... 275 "), "{text}");
    assert!(recursions[0].contains("bottom probe.Names\tmain\t"), "{text}");
    assert!(
        recursions[1].contains(" gap ... 896 ") && recursions[1].contains("bottom probe.Names\trecursion")
    );

    let stats = value(&lines, "stats");
    assert!(stats.contains("windows: 18, timeouts: 0"), "{stats}");
    assert!(stats.contains("native_walks: 0"), "the fast native hop makes the thread runnable: {stats}");
    assert!(stats.ends_with("fuse=Some(Idle)"), "{stats}");
}

/// Under collections, contention, exceptions, class loading and thread churn every stack is possible.
fn stress(bed: &str, samples: u32) {
    let probe = Probe::new(bed, "stress").unwrap();
    let jar = probe.jar.display().to_string();
    let lines = probe.run("probe.Stress", &[], &[&samples.to_string(), "1000", &jar, "1"]).unwrap();
    let stats = value(&lines, "stats");
    assert!(stats.contains("timeouts: 0"), "{stats}");
    assert!(stats.ends_with("fuse=Some(Idle)"), "{stats}");
    assert_eq!(lines.iter().filter(|l| l.starts_with("phase ")).count(), 9);
    let checked = check_stacks(&probe.oracle().unwrap(), &lines);
    assert!(checked.stacks >= u64::from(samples) * 9, "{} stacks", checked.stacks);
    assert!(checked.pairs[&Pair::Invoke] > checked.stacks, "{:?}", checked.pairs);
}

struct Checked {
    stacks: u64,
    pairs: BTreeMap<Pair, u64>,
}

/// Checks each printed stack, the parts above and below a gap apart.
fn check_stacks(oracle: &Oracle, lines: &[String]) -> Checked {
    let mut checked = Checked { stacks: 0, pairs: BTreeMap::new() };
    let mut stack = Vec::new();
    for line in lines.iter().filter_map(|l| l.strip_prefix("stack ")) {
        if line.is_empty() || line.starts_with("... ") {
            checked.stacks += u64::from(line.is_empty());
            // Allocating an object with a finalizer: the runtime itself calls this at `new-instance`.
            for part in stack.split_inclusive(is_finalizer_registration) {
                match oracle.check(part) {
                    Ok(pairs) => pairs.into_iter().for_each(|p| *checked.pairs.entry(p).or_default() += 1),
                    Err(wrong) => panic!("impossible stack: {wrong:?}\n{stack:#?}"),
                }
            }
            stack.clear();
            continue;
        }
        let fields: Vec<_> = line.split('\t').collect();
        assert_eq!(fields.len(), 6, "a frame without a name: {line}");
        let dex_pc = fields[5].parse::<i64>().unwrap();
        stack.push(Frame {
            class: fields[0].into(),
            name: fields[1].into(),
            signature: fields[2].into(),
            dex_pc: u32::try_from(dex_pc).ok(),
        });
    }
    checked
}

fn is_finalizer_registration(frame: &Frame) -> bool {
    frame.class == "java.lang.ref.FinalizerReference" && frame.name == "add"
}

/// The beds to test on: `LOOPBOX_BEDS`, comma-separated, or those that every machine can have.
fn beds() -> Vec<String> {
    let named = std::env::var("LOOPBOX_BEDS").unwrap_or_else(|_| "art10,art11".into());
    named.split(',').map(String::from).collect()
}

/// The table row that is a bed's.
fn row(bed: &str) -> &'static str {
    match bed {
        "art10" => "29-x86_64-debian",
        "art11" => "30-x86_64-debian",
        "art14" => "34-x86_64-debian",
        other => panic!("no such bed: {other}"),
    }
}

#[test]
fn names_and_lines_are_those_of_javas_own_stack_traces() {
    beds().iter().for_each(|bed| names(bed, row(bed)));
}

#[test]
fn every_stack_under_stress_is_possible() {
    beds().iter().for_each(|bed| stress(bed, 150));
}
