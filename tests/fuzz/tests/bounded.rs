//! Each target on its seeds and on mutations of them, for a bounded number of executions.
//!
//! `PROPTEST_CASES` asks for more than CI runs. A failure is shrunk to the fewest edits of a seed that still
//! fail.

use loopbox_fuzz::{TARGETS, Target};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use std::cell::Cell;
use std::fs;
use std::path::PathBuf;

/// Executions of each target, besides its seeds.
const CASES: u32 = 1_500;

/// A change of some bytes. Places are taken modulo the present length of the input.
#[derive(Debug, Clone)]
enum Edit {
    /// Changes one bit.
    Flip { at: usize, bit: u8 },
    /// Writes bytes over what is there.
    Write { at: usize, bytes: Vec<u8> },
    /// Puts bytes in between.
    Insert { at: usize, bytes: Vec<u8> },
    /// Takes bytes out.
    Remove { at: usize, len: usize },
    /// Repeats bytes at another place.
    Copy { from: usize, len: usize, to: usize },
    /// Cuts the end off.
    Cut { at: usize },
    /// Continues with the rest of another seed.
    Cross { at: usize, seed: usize },
}

fn piece() -> impl Strategy<Value = Vec<u8>> {
    /// Byte strings with a special meaning in the codec, in LEB128 or in texts, such as a very large number
    /// or the end of an entry.
    const WORDS: [&[u8]; 10] = [
        b"\xFC\xFF\xFF\xFF\x7F",
        b"\xFD\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x7F",
        b"\xFF\xFF\xFF\xFF\x0F",
        b"\xFF\xFE",
        b"-2147483648",
        b"18446744073709551616",
        b";",
        b" }",
        b"\n",
        b"->",
    ];
    let number = prop_oneof![
        Just(0_u64),
        Just(1),
        Just(u64::MAX),
        Just(u64::from(u32::MAX)),
        Just(0x7FFF_FFFF),
        Just(i64::MIN.cast_unsigned()),
        any::<u64>()
    ];
    let word = (number, prop_oneof![Just(1_usize), Just(2), Just(4), Just(8)])
        .prop_map(|(number, len)| number.to_le_bytes()[..len].to_vec());
    let word_of_format = proptest::sample::select(&WORDS[..]).prop_map(<[u8]>::to_vec);
    prop_oneof![word, word_of_format, proptest::collection::vec(any::<u8>(), 1..20)]
}

fn edit() -> impl Strategy<Value = Edit> {
    let place = any::<usize>;
    prop_oneof![
        4 => (place(), 0_u8..8).prop_map(|(at, bit)| Edit::Flip { at, bit }),
        4 => (place(), piece()).prop_map(|(at, bytes)| Edit::Write { at, bytes }),
        2 => (place(), piece()).prop_map(|(at, bytes)| Edit::Insert { at, bytes }),
        2 => (place(), 1_usize..64).prop_map(|(at, len)| Edit::Remove { at, len }),
        2 => (place(), 1_usize..256, place()).prop_map(|(from, len, to)| Edit::Copy { from, len, to }),
        1 => place().prop_map(|at| Edit::Cut { at }),
        1 => (place(), place()).prop_map(|(at, seed)| Edit::Cross { at, seed }),
    ]
}

impl Edit {
    fn apply(&self, input: &mut Vec<u8>, seeds: &[(PathBuf, Vec<u8>)]) {
        let len = input.len();
        let within = |at: usize| at % (len + 1);
        match self {
            Self::Flip { at, bit } => {
                if let Some(byte) = input.get_mut(at % len.max(1)) {
                    *byte ^= 1 << bit;
                }
            }
            Self::Write { at, bytes } => {
                input.iter_mut().skip(within(*at)).zip(bytes).for_each(|(to, from)| *to = *from);
            }
            Self::Insert { at, bytes } => {
                input.splice(within(*at)..within(*at), bytes.iter().copied());
            }
            Self::Remove { at, len: count } => {
                let at = within(*at);
                input.drain(at..len.min(at + count));
            }
            Self::Copy { from, len: count, to } => {
                let from = within(*from);
                let copied = input[from..len.min(from + count)].to_vec();
                input.splice(within(*to)..within(*to), copied);
            }
            Self::Cut { at } => input.truncate(within(*at)),
            Self::Cross { at, seed } => {
                let at = within(*at);
                let other = &seeds[seed % seeds.len()].1;
                input.truncate(at);
                input.extend(&other[at.min(other.len())..]);
            }
        }
    }
}

fn seeds(target: &Target) -> Vec<(PathBuf, Vec<u8>)> {
    let folder = std::env::current_dir().unwrap().join("seeds").join(target.name);
    let mut seeds: Vec<_> = fs::read_dir(&folder)
        .unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
        .map(|entry| entry.unwrap().path())
        .map(|path| (path.clone(), fs::read(path).unwrap()))
        .collect();
    seeds.sort();
    assert!(!seeds.is_empty(), "no seeds in {}", folder.display());
    seeds
}

fn survives(target: &Target) {
    let seeds = seeds(target);
    let peak = Cell::new(0);
    let decoded = Cell::new(0);
    let check = |input: &[u8]| {
        let checked = target.check(input);
        peak.set(checked.peak.max(peak.get()));
        decoded.set(decoded.get() + u32::from(checked.decoded));
    };
    for (path, seed) in &seeds {
        println!("{}", path.display());
        check(seed);
    }
    assert!(decoded.get() > 0, "{}: no seed has anything to decode", target.name);
    decoded.set(0);
    let cases = std::env::var("PROPTEST_CASES").map_or(CASES, |cases| cases.parse().expect("a number"));
    let config = Config { cases, failure_persistence: None, max_shrink_iters: 2_000, ..Config::default() };
    let inputs = (0..seeds.len(), proptest::collection::vec(edit(), 1..6));
    let result = TestRunner::new(config).run(&inputs, |(seed, edits)| {
        let mut input = seeds[seed].1.clone();
        edits.iter().for_each(|edit| edit.apply(&mut input, &seeds));
        check(&input);
        Ok(())
    });
    println!(
        "{}: {} seeds, {cases} mutations, {} of them decoded, at most {} bytes of heap",
        target.name,
        seeds.len(),
        decoded.get(),
        peak.get()
    );
    if let Err(failure) = result {
        panic!("{}: {failure}", target.name);
    }
}

/// A target that is never run would test nothing: each has its line in the macro below.
#[test]
fn every_target_is_run() {
    let names: Vec<&str> = TARGETS.iter().map(|target| target.name).collect();
    assert_eq!(names, RUN);
}

macro_rules! each {
    ($($name:ident => $target:ident),*) => {
        const RUN: &[&str] = &[$(stringify!($name)),*];
        $(#[test] fn $name() { survives(&loopbox_fuzz::$target); })*
    };
}

each!(report => REPORT, views => VIEWS, stalls => STALLS, ring => RING, tree => TREE, looper => LOOPER, maps => MAPS, offsets => OFFSETS,
    tree_text => TREE_TEXT, elf => ELF, debugdata => DEBUGDATA, dex => DEX, mapping => MAPPING, trace => TRACE);
