//! The sampler on real Android Runtimes, through the library of `lab-probe` and the Java of
//! `tests/java`.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use lab_launch::probe::Probe;
use lab_oracle::{Frame, Oracle, Pair};
use loopbox_setup::workspace::root;
use loopbox_testbed as testbed;

/// Builds the oracle, which knows every instruction that runs on the testbed.
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
fn names(testbed: &str) {
    let probe = Probe::new(testbed, "names").unwrap();
    let lines = probe.run("probe.Names", &[], &[]).unwrap();
    let text = lines.join("\n");
    let installed = value(&lines, "installed");
    assert!(is_of_its_row(testbed, &probe, installed), "{installed}");
    assert!(installed.contains("layout: Confirmed"), "{installed}");
    assert!(!text.contains("differs"), "{text}");
    assert_eq!(value(&lines, "compared"), "15");
    assert_eq!(value(&lines, "misuse"), "Some(Some(WrongCaller))");

    // The poll hook finds a native method's function without a table: it is in the method's data.
    if let Some(row) = row_of(testbed) {
        assert_eq!(value(&lines, "entry"), data_of_method(row).to_string(), "{testbed}");
    }

    // The frame of a proxy is named as the interface's method.
    assert!(value(&lines, "proxied").contains("|probe.Names$Shape\tpaint\t()V\t"), "{text}");
    // 400 calls deep: 96 frames from the top, a gap, and the bottom down to main; 3000 deep: cut at the
    // limit.
    let recursions: Vec<_> = lines.iter().filter(|l| l.starts_with("recursion ")).collect();
    assert_eq!(recursions.len(), 2);
    assert!(recursions[0].contains("recursion 129 ") && recursions[0].contains(" gap ... 275 "), "{text}");
    assert!(recursions[0].contains("bottom probe.Names\tmain\t"), "{text}");
    assert!(
        recursions[1].contains(" gap ... 896 ") && recursions[1].contains("bottom probe.Names\trecursion")
    );

    let stats = value(&lines, "stats");
    assert!(stats.contains("windows: 18, timeouts: 0"), "{stats}");
    // Only while main is stopped does the fuse say so: a walk that lasts is what held main up.
    assert!(stats.ends_with(" marked=idle+warm-up/idle+suspend+walk+resume/ fuse=Some(Idle)"), "{stats}");
}

/// Names, files and lines are those of `Throwable.getStackTrace` also in an app that R8 built. Its methods
/// share a line table, which is longer than most methods need and in which a line is the dex pc plus one.
/// Methods that have the same name have separate tables.
fn lines_by_r8(testbed: &str) {
    let lines = Probe::by_r8(testbed, "r8").unwrap().run("probe.Names", &[], &[]).unwrap();
    let text = lines.join("\n");
    assert!(!text.contains("differs"), "{text}");
    assert_eq!(value(&lines, "compared"), "15");
    let recursion = lines.iter().find_map(|line| line.split_once(" top ")?.1.split_once(" gap ")).unwrap().0;
    let [_, method, _, file, line, dex_pc] = recursion.split('\t').collect::<Vec<_>>()[..] else {
        panic!("{recursion}")
    };
    assert_eq!(method, "recursion");
    assert!(file.starts_with("r8-map-id-"), "{recursion}");
    assert_eq!(line.parse::<u32>().unwrap(), dex_pc.parse::<u32>().unwrap() + 1, "{recursion}");
}

/// Under collections, contention, exceptions, class loading and thread churn every stack is possible.
fn stress(testbed: &str, samples: u32) {
    let probe = Probe::new(testbed, "stress").unwrap();
    let jar = probe.class_path().pop().unwrap().display().to_string();
    let options: &[&str] = if testbed.ends_with("-jit") { &["-X", "-Xjitthreshold:0"] } else { &[] };
    let lines = probe.run("probe.Stress", options, &[&samples.to_string(), "1000", &jar, "1"]).unwrap();
    let stats = value(&lines, "stats");
    assert!(stats.contains("timeouts: 0"), "{stats}");
    assert!(stats.ends_with("fuse=Some(Idle)"), "{stats}");
    assert!(stats.contains("failed=0 warmed_up=1 "), "the sampler's own stack is the fast native: {stats}");
    assert_eq!(lines.iter().filter(|l| l.starts_with("phase ")).count(), 9);
    let checked = check_stacks(&oracle(&probe).unwrap(), &lines);
    assert!(checked.stacks >= u64::from(samples) * 9, "{} stacks", checked.stacks);
    assert!(checked.pairs[&Pair::Invoke] > checked.stacks, "{:?}", checked.pairs);
}

/// The holder of a lock is found: for an object's lock and for a class's, in a wait, and in a deadlock.
fn locks(testbed: &str) {
    let probe = Probe::new(testbed, "locks").unwrap();
    let lines = probe.run("probe.Locks", &[], &[]).unwrap();
    let stats = value(&lines, "stats");
    assert!(stats.contains(" marked=//idle+suspend+lock-owner+other fuse="), "main was not stopped: {stats}");
    let text = lines.join("\n");
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
    assert!(text.contains("lock probe.Locks$Other<> no holder"), "Object.wait lets go of the lock\n{text}");
    let cycle = "lock probe.Locks$Other<> held by holder in probe.Locks$4.run|java.lang.Thread.run -> \
                 probe.Locks$Plain<> cycle";
    assert!(text.contains(cycle), "{text}");
    assert!(!text.contains("impossible") && !text.contains("error"), "{text}");
}

/// Sampling continues while main is inside malloc's lock or the dynamic loader's. Every thread that allocates
/// or calls the loader needs that lock.
fn parked(testbed: &str) {
    let probe = Probe::new(testbed, "parked").unwrap();
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

/// Checks each printed stack. Where frames were left out, the parts above and below the gap are checked
/// separately.
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
        stack.push(frame(line).unwrap_or_else(|| panic!("a frame without a name: {line}")));
    }
    checked
}

/// The frame on a printed line; `None` when the line has no frame or the frame no name.
fn frame(line: &str) -> Option<Frame> {
    let [class, name, signature, _, _, dex_pc] = line.split('\t').collect::<Vec<_>>()[..] else {
        return None;
    };
    let dex_pc = dex_pc.parse::<i64>().unwrap();
    Some(Frame {
        class: class.into(),
        name: name.into(),
        signature: signature.into(),
        dex_pc: u32::try_from(dex_pc).ok(),
    })
}

fn is_finalizer_registration(frame: &Frame) -> bool {
    frame.class == "java.lang.ref.FinalizerReference" && frame.name == "add"
}

fn testbeds() -> Vec<String> {
    testbed::to_test_on(&["art10", "art11"])
}

/// The table row of a testbed that Debian's packages provide; `None` for one that was built on this machine.
fn row_of(testbed: &str) -> Option<&'static str> {
    match testbed.trim_end_matches("-jit").trim_end_matches("-aot") {
        "art10" => Some("29-x86_64-debian"),
        "art11" => Some("30-x86_64-debian"),
        "art11-x86" => Some("30-x86-debian"),
        "art11-arm" => Some("30-arm-debian"),
        "art11-libcxx" => Some("30-x86_64"),
        "art14" => Some("34-x86_64-debian"),
        testbed::LOCAL => None,
        other => panic!("no such testbed: {other}"),
    }
}

/// Whether the confirmed row is the testbed's own.
fn is_of_its_row(testbed: &str, probe: &Probe, installed: &str) -> bool {
    if let Some(row) = row_of(testbed) {
        return installed.contains(&format!("rows: [\"{row}\"]"));
    }
    // What its code says, however it was built.
    let report = testbed::libart::compare(&probe.libart()).unwrap();
    report.matches().iter().any(|row| installed.contains(&format!("\"{row}\"")))
}

/// The offset of an ArtMethod's data that the tables in `offsets` have for this row.
fn data_of_method(row: &str) -> u32 {
    let generations = loopbox_art_tables::load(&root().join("offsets")).unwrap();
    let mut rows = generations.iter().flat_map(|generation| &generation.rows);
    rows.find(|of| of.id == row).unwrap_or_else(|| panic!("no row {row}")).method.data
}

/// This testbed, and one with 32-bit words, where ART's structures and calls are different.
fn testbeds_of_each_size() -> Vec<String> {
    testbed::to_test_on(&["art10", "art11", "art11-x86"])
}

#[test]
fn names_and_lines_are_those_of_javas_own_stack_traces() {
    testbeds_of_each_size().iter().for_each(|testbed| names(testbed));
}

#[test]
fn lines_of_an_app_that_r8_built_are_those_of_javas_own_stack_traces() {
    testbeds().iter().for_each(|testbed| lines_by_r8(testbed));
}

/// A process whose self-check fails once is not sampled natively for the rest of its life. In this test the
/// collector moves the classes whose names the check reads, and those by which ART finds each frame's
/// position. Meanwhile threads come and go.
#[test]
fn discovery_confirms_the_row_whatever_collector_and_threads_do() {
    for testbed in testbeds() {
        let probe = Probe::new(&testbed, "starts").unwrap();
        let lines = probe.run("probe.Starts", &[], &["1000"]).unwrap();
        assert_eq!(value(&lines, "confirmed"), "1000", "{}", lines.join("\n"));
    }
}

#[test]
fn the_holders_of_locks_are_named() {
    testbeds_of_each_size().iter().for_each(|testbed| locks(testbed));
}

#[test]
fn sampling_needs_no_lock_that_main_may_hold() {
    testbeds().iter().for_each(|testbed| parked(testbed));
}

/// `LOOPBOX_SAMPLES` sets the samples in each of the nine phases. `LOOPBOX_TESTBEDS` may name testbeds with a
/// compiler.
#[test]
fn every_stack_under_stress_is_possible() {
    let samples = std::env::var("LOOPBOX_SAMPLES").map_or(150, |n| n.parse().unwrap());
    testbeds().iter().for_each(|testbed| stress(testbed, samples));
}

/// Without `@FastNative` the sampler's thread would be in native state during a walk, where a collection may
/// free what the walk reads.
#[test]
fn nothing_is_walked_where_the_fast_native_makes_no_thread_runnable() {
    for testbed in testbeds() {
        let lines =
            Probe::without_fast_native(&testbed, "native").unwrap().run("probe.Discover", &[], &[]).unwrap();
        assert_eq!(
            value(&lines, "installed"),
            "off not-runnable: the fast native method does not make its thread runnable"
        );
    }
}
