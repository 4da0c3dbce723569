//! Reports that are within all limits of size, but in which two lists belong together: their diagnosis must
//! not take the product of both.

use loopbox_format::model::{Detail, End, LocationId, MainState, Phase, TreeNode, Uptime};
use loopbox_fuzz::{TIME, cpu_time};
use loopbox_report::Analysis;
use loopbox_report::diagnose::diagnose;
use loopbox_report::test_support::ReportBuilder;

const MOST: usize = 100_000;

fn diagnosed_in_time(report: ReportBuilder) {
    let analysis = Analysis::new(&report.build());
    let begin = cpu_time();
    let headline = diagnose(&analysis).headline;
    let took = cpu_time().saturating_sub(begin);
    assert!(took < TIME, "{headline}: {took:?}");
}

/// Main computes. Its stack is sampled only each two seconds, although the interval is 10 ms: so there is a
/// gap before each sample. Each stack differs from the previous one.
#[test]
fn as_many_gaps_as_samples_take_bounded_time() {
    let stacks = [("com.shop.Cart.total:1", 1), ("com.shop.Feed.load:1", 1)];
    diagnosed_in_time(ReportBuilder::new().running(7, 6_000).tree(7, &stacks).with(|r| {
        let MainState::Running(running) = &mut r.main else { unreachable!() };
        running.as_of_ns = running.start_ns.plus(2_000_000_000 * MOST as u64);
        r.meta.dumped_at.uptime_ns = running.as_of_ns;
        let tree = r.trees.last_mut().unwrap();
        let of = |nth: usize| LocationId(tree.nodes[nth % 2].location.0);
        let node = |nth| TreeNode { location: of(nth), skip: 0, count: 1, children: 0 };
        let nodes = (0..MOST).map(node).collect();
        tree.nodes = nodes;
        tree.sample_deltas_ns = vec![2_000_000_000; MOST];
        tree.phases = vec![Phase { first_sample: 0, interval_ns: 10_000_000 }];
    }));
}

/// A history of more records than are read, with more named messages in each. For each message, all records
/// are compared with it.
#[test]
fn as_many_named_messages_as_records_take_bounded_time() {
    let report = (0..4_096).fold(ReportBuilder::new(), |report, _| report.group(100, 20, 5));
    diagnosed_in_time(report.running(500_000, 6_000).with(|r| {
        for record in &mut r.history {
            let named = |nth: u64| Detail {
                token: record.first_token.plus(nth),
                start_ns: Uptime(record.start_ns.0 + nth),
                wall_ns: 1_000_000_000_000,
                wait_ns: None,
                end: End::Returned,
                message: None,
            };
            record.details = (0..64).map(named).collect();
        }
    }));
}
