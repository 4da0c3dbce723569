//! Trees as text, read back, and texts that are refused.

use super::*;
use crate::model::{Method, MethodId};
use crate::stacks::stacks;
use proptest::prelude::*;

/// The names of every stack, bottom first.
fn named(tree: &StackTree, symbols: &Symbols) -> Vec<Vec<String>> {
    stacks(tree)
        .unwrap()
        .map(|stack| stack.into_iter().map(|location| name(symbols, location)).collect())
        .collect()
}

fn built(samples: &[Vec<u32>]) -> StackTree {
    let mut merger = TreeMerger::new(usize::MAX);
    for stack in samples {
        assert!(merger.push(stack.iter().copied().map(LocationId)));
    }
    let (mut tree, _) = parse("").unwrap();
    tree.sample_deltas_ns = vec![INTERVAL_NS; samples.len()];
    tree.nodes = merger.nodes().to_vec();
    tree
}

/// Locations 0 and 1 are in method 0, 2 and 3 in method 1, and so on; the last one represents left-out
/// frames.
fn symbols() -> Symbols {
    let method = |class: &str, name: &str, signature: &str| Method {
        class: class.into(),
        name: name.into(),
        signature: signature.into(),
        source_file: String::new(),
    };
    let frame = |location: u32| Location::Frame {
        method: MethodId(location / 2),
        dex_pc: Some(location),
        line: None,
    };
    Symbols {
        methods: vec![
            method("com.android.internal.os.ZygoteInit", "main", "([Ljava/lang/String;)V"),
            method("android.os.Looper", "loop", "()V"),
            method("com.foo.Bar", "run", ""),
        ],
        locations: (0..6).map(frame).chain([Location::Elided { frames: 9 }]).collect(),
    }
}

/// By hand from Qimao's `buildTraceTree` and `serialize`: main>loop>a, main>loop>a, main>loop>b>c, main>idle.
const ARTICLE: &str = "void M.main(java.lang.String[]);4;0;2;void L.loop();3;0;2;void A.a();2;0;0;\
                       void B.b();1;2;1;void C.c();1;2;0;void L.idle();1;3;0;";

#[test]
fn the_articles_text_is_read() {
    let (tree, symbols) = parse(ARTICLE).unwrap();
    let main = "void M.main(java.lang.String[])";
    let expected = [
        vec![main, "void L.loop()", "void A.a()"],
        vec![main, "void L.loop()", "void A.a()"],
        vec![main, "void L.loop()", "void B.b()", "void C.c()"],
        vec![main, "void L.idle()"],
    ];
    assert_eq!(named(&tree, &symbols), expected);
    assert_eq!(tree.sample_deltas_ns, [ONSET_NS, INTERVAL_NS, INTERVAL_NS, INTERVAL_NS]);
    assert_eq!(write(&tree, &symbols).unwrap(), ARTICLE);
}

#[test]
fn places_in_one_method_become_one_node() {
    let text = write(&built(&[vec![0, 2, 4], vec![0, 3, 5], vec![1, 3, 6]]), &symbols()).unwrap();
    assert_eq!(
        text,
        "void com.android.internal.os.ZygoteInit.main(java.lang.String[]);3;0;1;void android.os.Looper.loop();3;0;2;\
         com.foo.Bar.run;2;0;0;(9 frames left out);1;2;0;"
    );
}

#[test]
fn samples_without_a_common_root_get_one() {
    let tree = built(&[vec![2], vec![], vec![4]]);
    let text = write(&tree, &symbols()).unwrap();
    assert_eq!(text, "(root);3;0;2;void android.os.Looper.loop();1;0;0;com.foo.Bar.run;1;2;0;");
    let (back, names) = parse(&text).unwrap();
    assert_eq!(named(&back, &names)[1], ["(root)"]);
    assert_eq!(write(&built(&[]), &symbols()).unwrap(), "");
    assert_eq!(write(&built(&[vec![99]]), &symbols()).unwrap(), "(location 99);1;0;0;");
}

#[test]
fn a_separator_in_a_name_does_not_break_the_text() {
    let mut symbols = symbols();
    symbols.methods[2].name = "a;b".into();
    let text = write(&built(&[vec![4]]), &symbols).unwrap();
    assert_eq!(text, "com.foo.Bar.a:b;1;0;0;");
}

#[test]
fn what_is_wrong_is_reported() {
    let wrong = |text: &str| parse(text).unwrap_err().to_string();
    assert_eq!(wrong("main"), "the text ends inside of node 0");
    assert_eq!(wrong("main;3;0"), "the text ends inside of node 0");
    assert_eq!(wrong("main;many;0;0;"), "node 0: count is \"many\", not a number");
    assert_eq!(wrong("main;1;0;-1;"), "node 0: children is \"-1\", not a number");
    assert_eq!(wrong("main;1;0;0;next;1;0;0;"), "node 1 belongs to no root");
    assert_eq!(wrong("main;1;0;1;"), "1 nodes are missing at the end");
    assert_eq!(
        wrong("main;3;0;2;a;2;0;0;b;1;1;0;"),
        "node 2 begins at sample 1, inside of the node before it"
    );
    assert_eq!(wrong("main;1;0;1;a;2;0;0;"), "node 1 covers samples that its parent does not have");
    assert_eq!(wrong("main;4294967295;0;0;"), "4294967295 samples, more than any tree has");
    assert_eq!(wrong("main;1;1;0;"), "node 0 covers samples that its parent does not have");
}

/// Qimao's `TraceNode`, `buildTraceTree` and `buildString`, as in the original.
struct TraceNode {
    trace: String,
    count: usize,
    offset: usize,
    child: Vec<TraceNode>,
}

impl TraceNode {
    fn add_child(&mut self, trace: &str) -> &mut TraceNode {
        let offset = self.child.last().map_or(self.offset, |last| last.offset + last.count);
        if self.child.last().is_none_or(|last| last.trace != trace) {
            self.child.push(TraceNode { trace: trace.to_owned(), count: 0, offset, child: Vec::new() });
        }
        let node = self.child.last_mut().unwrap();
        node.count += 1;
        node
    }

    fn build(traces: &[Vec<String>]) -> Self {
        let mut root =
            TraceNode { trace: traces[0][0].clone(), count: traces.len(), offset: 0, child: Vec::new() };
        for trace in traces {
            trace[1..].iter().fold(&mut root, |node, frame| node.add_child(frame));
        }
        root
    }

    fn text(&self) -> String {
        let own = format!("{};{};{};{};", self.trace, self.count, self.offset, self.child.len());
        self.child.iter().fold(own, |text, child| text + &child.text())
    }
}

proptest! {
    #[test]
    fn the_articles_own_code_writes_the_same(samples in prop::collection::vec(prop::collection::vec(1_u32..3, 4), 1..40)) {
        // Stacks of one depth: with stacks that shrink and grow again Qimao's code loses the order of time.
        let samples: Vec<Vec<u32>> = samples.into_iter().map(|s| s.into_iter().map(|n| n * 2).collect()).collect();
        let stacks: Vec<_> = samples.iter().map(|stack| [vec![0], stack.clone()].concat()).collect();
        let (tree, symbols) = (built(&stacks), symbols());
        prop_assert_eq!(write(&tree, &symbols).unwrap(), TraceNode::build(&named(&tree, &symbols)).text());
    }
}

proptest! {
    #[test]
    fn every_stack_comes_back(samples in prop::collection::vec(prop::collection::vec(0_u32..7, 0..6), 1..40)) {
        let (tree, symbols) = (built(&samples), symbols());
        let text = write(&tree, &symbols).unwrap();
        let (back, names) = parse(&text).unwrap();
        let mut expected = named(&tree, &symbols);
        if text.starts_with(NO_COMMON_ROOT) {
            for stack in &mut expected {
                stack.insert(0, NO_COMMON_ROOT.to_owned());
            }
        }
        prop_assert_eq!(named(&back, &names), expected);
        prop_assert_eq!(write(&back, &names).unwrap(), text);
    }

    #[test]
    fn any_text_is_read(text in "([a-c]{0,2};[0-5]{0,2};[0-5]{0,2};[0-5]{0,2};){0,8}\\PC{0,5}") {
        if let Ok((tree, _)) = parse(&text) {
            prop_assert!(stacks(&tree).is_ok());
        }
    }
}
