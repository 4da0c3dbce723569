//! The sampler on real Android Runtimes, through the library `examples/art_probe.rs` and the Java of `tests/java`.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use loopbox_oracle::{Frame, Oracle, Pair};
use xtask::bed;
use xtask::offsets::probe::Probe;

/// Knows every instruction that runs on the bed.
fn oracle(probe: &Probe) -> Result<Oracle> {
    let mut oracle = Oracle::default();
    for jar in probe.class_path() {
        let bytes = std::fs::read(&jar).with_context(|| format!("cannot read {}", jar.display()))?;
        oracle.add_jar(&bytes).with_context(|| format!("cannot use {}", jar.display()))?;
    }
    Ok(oracle)
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
    let jar = probe.class_path().pop().unwrap().display().to_string();
    let lines = probe.run("probe.Stress", &[], &[&samples.to_string(), "1000", &jar, "1"]).unwrap();
    let stats = value(&lines, "stats");
    assert!(stats.contains("timeouts: 0"), "{stats}");
    assert!(stats.ends_with("fuse=Some(Idle)"), "{stats}");
    assert!(stats.contains("failed=0 rehearsed=1 "), "the sampler's own stack is the fast native: {stats}");
    assert_eq!(lines.iter().filter(|l| l.starts_with("phase ")).count(), 9);
    let checked = check_stacks(&oracle(&probe).unwrap(), &lines);
    assert!(checked.stacks >= u64::from(samples) * 9, "{} stacks", checked.stacks);
    assert!(checked.pairs[&Pair::Invoke] > checked.stacks, "{:?}", checked.pairs);
}

/// Who holds the lock: an object's, a class's, in a wait, in a deadlock.
fn locks(bed: &str) {
    let probe = Probe::new(bed, "locks").unwrap();
    let text = probe.run("probe.Locks", &[], &[]).unwrap().join("\n");
    let sleeping = "java.lang.Thread.sleep|probe.Locks.hold|";
    for (lock, holder) in [
        ("probe.Locks$Plain<>", "probe.Locks$1.run|java.lang.Thread.run"),
        ("java.lang.Class<probe.Locks>", "probe.Locks.whole|probe.Locks$2.run|java.lang.Thread.run"),
        ("probe.Locks$Other<>", "probe.Locks$4.run|java.lang.Thread.run"),
    ] {
        let lines = text.lines().filter(|l| l.contains(&format!("lock {lock} held by holder in ")));
        let held = lines.filter(|l| l.contains(&format!("{sleeping}{holder}")));
        assert!(held.count() > 0, "{lock}\n{text}");
    }
    assert!(text.contains("lock probe.Locks$Other<> nobody"), "Object.wait lets go of the lock\n{text}");
    let cycle = "lock probe.Locks$Other<> held by holder in probe.Locks$4.run|java.lang.Thread.run -> \
                 probe.Locks$Plain<> cycle";
    assert!(text.contains(cycle), "{text}");
    assert!(!text.contains("impossible") && !text.contains("error"), "{text}");
}

/// Main sits in a lock that anybody needs who allocates or asks the dynamic loader: sampling goes on.
fn parked(bed: &str) {
    let probe = Probe::new(bed, "parked").unwrap();
    // One arena and no thread cache: then every allocation needs the one lock.
    let one_lock = [("GLIBC_TUNABLES", "glibc.malloc.arena_max=1:glibc.malloc.tcache_count=0")];
    let lines = probe.run_with(&one_lock, "probe.Parked", &[], &[]).unwrap();
    assert_eq!(value(&lines, "loader"), "200 of 200");
    assert_eq!(value(&lines, "malloc"), "200 of 200");
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

fn beds() -> Vec<String> {
    bed::to_test_on(&["art10", "art11"])
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
fn the_holders_of_locks_are_told() {
    beds().iter().for_each(|bed| locks(bed));
}

#[test]
fn sampling_needs_no_lock_that_main_may_hold() {
    beds().iter().for_each(|bed| parked(bed));
}

/// `LOOPBOX_SAMPLES` makes it longer: samples in each of the nine phases.
#[test]
fn every_stack_under_stress_is_possible() {
    let samples = std::env::var("LOOPBOX_SAMPLES").map_or(150, |n| n.parse().unwrap());
    beds().iter().for_each(|bed| stress(bed, samples));
}
