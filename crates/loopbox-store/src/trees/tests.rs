//! Trees that are packed into pages and read back.

use super::*;
use loopbox_format::model::{Phase, StackSource, Token, TreeNode, Uptime};
use loopbox_format::stacks::{TreeMerger, stacks};
use proptest::prelude::*;

fn symbols() -> Symbols {
    let method = |(class, name, source_file): (&str, &str, &str)| Method {
        class: class.into(),
        name: name.into(),
        signature: "(I)V".into(),
        source_file: source_file.into(),
    };
    let frame = |method| Location::Frame { method: MethodId(method), dex_pc: Some(method * 200), line: None };
    Symbols {
        methods: [
            ("com.example.Unused", "unused", "Unused.java"),
            ("com.example.App$Inner", "main", "App.java"),
            ("com.example.AppKt", "wörk", "App.kt"),
            ("Flat", "rest", ""),
            ("com.example.Screen", "draw", "Screen.kt"),
        ]
        .map(method)
        .into(),
        locations: vec![frame(0), frame(1), frame(2), frame(3), frame(4), Location::Elided { frames: 4 }],
    }
}

fn tree(token: Token, stacks: &[Vec<u32>], deltas_ns: &[u64]) -> StackTree {
    let mut merger = TreeMerger::new(usize::MAX);
    for stack in stacks {
        assert!(merger.push(stack.iter().copied().map(LocationId)));
    }
    StackTree {
        token,
        start_ns: Uptime(5_000_000),
        source: StackSource::Art,
        phases: vec![
            Phase { first_sample: 0, interval_ns: 10_000_000 },
            Phase { first_sample: 3, interval_ns: 20_000_000 },
        ],
        sample_deltas_ns: deltas_ns.to_vec(),
        nodes: merger.nodes().to_vec(),
        missed_samples: 3,
        longest_stop_ns: 1,
        total_stop_ns: 2,
    }
}

fn one_sample(token: Token, stack: &[u32]) -> StackTree {
    tree(token, &[stack.to_vec()], &[50_000_000])
}

fn packed(tree: &StackTree) -> Vec<u8> {
    pack_within(&symbols(), tree, 4096, Fidelity::Whole).unwrap().0
}

/// The tree's stacks by class, name and source file.
fn stacks_by_name(symbols: &Symbols, tree: &StackTree) -> Vec<Vec<String>> {
    let name = |&location: &LocationId| match *symbols.location(location).unwrap() {
        Location::Frame { method, dex_pc, .. } => {
            let Method { class, name, signature, source_file } = symbols.method(method).unwrap();
            format!("{class} {name} {signature} {source_file} {dex_pc:?}")
        }
        _ => "...".into(),
    };
    stacks(tree).unwrap().map(|stack| stack.iter().map(name).collect()).collect()
}

#[test]
fn trees_carry_only_the_names_they_use_and_join_to_common_tables() {
    let mut joined = Trees::default();
    let trees = [one_sample(Token(1), &[1, 2, 5]), one_sample(Token(2), &[3, 1, 4])];
    for tree in &trees {
        assert_eq!(joined.add(&packed(tree)).unwrap(), Uptime(55_000_000));
    }
    let (own, read) = joined.finish();
    for (tree, read) in trees.iter().zip(&read) {
        assert_eq!(stacks_by_name(&own, read), stacks_by_name(&symbols(), tree));
    }
    assert_eq!(own.methods.len(), 4);
}

#[test]
fn the_same_tree_with_fewer_samples_is_left_out() {
    let mut joined = Trees::default();
    let whole = tree(Token(1), &[vec![1], vec![2], vec![1]], &[50_000_000, 10_000_000, 10_000_000]);
    joined.add(&packed(&whole)).unwrap();
    let thinned = downsample::every_nth(&whole, 2).unwrap();
    assert_eq!(joined.add(&packed(&thinned)).unwrap(), Uptime(75_000_000));
    assert_eq!(joined.add(&packed(&one_sample(Token(1), &[1]))).unwrap(), Uptime(55_000_000));
    assert_eq!(joined.finish().1.len(), 1);
}

/// One message can have several trees: a report asked Java for a stack of the running message before ART's
/// stacks were there, or main was in two callbacks after one message.
#[test]
fn two_trees_of_one_message_are_both_there() {
    let mut joined = Trees::default();
    joined.add(&packed(&StackTree { source: StackSource::JavaApi, ..one_sample(Token(1), &[1]) })).unwrap();
    joined.add(&packed(&one_sample(Token(1), &[1]))).unwrap();
    joined.add(&packed(&tree(Token(1), &[vec![2]], &[60_000_000]))).unwrap();
    assert_eq!(joined.finish().1.len(), 3);
}

#[test]
fn a_tree_that_is_too_large_gives_up_signatures_first_and_then_samples() {
    let samples: Vec<Vec<u32>> = (0..64).map(|i| vec![1, 2 + i % 3]).collect();
    let tree = tree(Token(1), &samples, &[10_000_000; 64]);
    let whole = packed(&tree).len();
    let (names_only, kept) = pack_within(&symbols(), &tree, whole - 1, Fidelity::Whole).unwrap();
    assert_eq!(kept, Fidelity::NamesOnly);
    let (thinned, kept) = pack_within(&symbols(), &tree, names_only.len() - 1, Fidelity::Whole).unwrap();
    assert_eq!(kept, Fidelity::EveryNth(2));
    let mut joined = Trees::default();
    joined.add(&thinned).unwrap();
    let (own, read) = joined.finish();
    let names: Vec<Vec<String>> = stacks_by_name(&own, &read[0]);
    assert_eq!(names.len(), 32);
    assert!(names[1][1].starts_with("com.example.Screen draw  "), "{:?}", names[1]);
    assert_eq!(read[0].missed_samples, 3 + 32);
    assert_eq!(read[0].phases[1], Phase { first_sample: 2, interval_ns: 40_000_000 });
    let span = |tree: &StackTree| tree.sample_deltas_ns.iter().sum::<u64>();
    assert_eq!(span(&read[0]), span(&tree) - 10_000_000);
    assert!(matches!(pack_within(&symbols(), &tree, 20, Fidelity::Whole), Err(PackError::TooLarge(21..))));
}

#[test]
fn an_index_that_leads_nowhere_costs_its_tree_and_leaves_no_trace() {
    let mut joined = Trees::default();
    assert!(matches!(joined.add(&packed(&one_sample(Token(1), &[1, 77]))), Err(TreeError::Index)));
    let broken = Symbols { methods: vec![], ..symbols() };
    let bytes = pack_within(&broken, &one_sample(Token(1), &[1]), 4096, Fidelity::Whole).unwrap().0;
    assert!(matches!(joined.add(&bytes), Err(TreeError::Index)));
    assert_eq!(joined.finish(), (Symbols::default(), vec![]));
}

#[test]
fn names_that_repeat_without_end_are_refused() {
    use super::varint::put;
    let mut bytes = packed(&tree(Token(1), &[], &[]));
    // In place of five empty tables: one string of a thousand bytes, and sixty thousand methods that are it.
    bytes.truncate(bytes.len() - 5);
    put(&mut bytes, 1);
    put(&mut bytes, 0);
    put(&mut bytes, 1000);
    bytes.extend([b'x'; 1000]);
    put(&mut bytes, 60_000);
    bytes.extend(vec![0; 240_000]);
    assert!(matches!(Trees::default().add(&bytes), Err(TreeError::Budget)));
}

proptest! {
    #[test]
    fn a_tree_is_read_back_with_its_times_to_the_microsecond(
        samples in proptest::collection::vec((proptest::collection::vec(1_u32..6, 0..8), 0_u64..2_000_000_000), 0..60),
        start_ns in 0..u64::MAX / 4,
    ) {
        let (stacks, deltas): (Vec<_>, Vec<_>) = samples.into_iter().unzip();
        let tree = StackTree { start_ns: Uptime(start_ns), ..tree(Token(9), &stacks, &deltas) };
        let mut joined = Trees::default();
        joined.add(&pack_within(&symbols(), &tree, usize::MAX, Fidelity::Whole).unwrap().0).unwrap();
        let (own, read) = joined.finish();
        prop_assert_eq!(stacks_by_name(&own, &read[0]), stacks_by_name(&symbols(), &tree));
        let times = |tree: &StackTree| -> Vec<u64> {
            tree.sample_deltas_ns.iter().scan(tree.start_ns, |at, delta| { *at += *delta; Some(at.0) }).collect()
        };
        for (read, written) in times(&read[0]).into_iter().zip(times(&tree)) {
            prop_assert!(written.abs_diff(read) < 1000, "{} {}", written, read);
        }
        let rest = |tree: &StackTree| StackTree { sample_deltas_ns: vec![], nodes: vec![], ..tree.clone() };
        prop_assert_eq!(rest(&read[0]), rest(&tree));
        let shape = |tree: &StackTree| -> Vec<TreeNode> {
            tree.nodes.iter().map(|node| TreeNode { location: LocationId(0), ..*node }).collect()
        };
        prop_assert_eq!(shape(&read[0]), shape(&tree));
    }

    #[test]
    fn no_bytes_make_unpacking_panic(at in 0_usize..200, value: u8, len in 0_usize..220, noise in proptest::collection::vec(any::<u8>(), 0..60)) {
        let mut bytes = packed(&one_sample(Token(1), &[1, 2, 3, 4, 5]));
        let at = at % bytes.len();
        bytes[at] = value;
        bytes.truncate(len);
        let _ = Trees::default().add(&bytes);
        let _ = Trees::default().add(&noise);
    }
}
