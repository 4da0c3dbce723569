//! The stacks of one message, merged within a fixed amount of memory.

use crate::Sampling;
use loopbox_format::model::{LocationId, Phase, StackSource, StackTree, Token, Uptime};
use loopbox_format::stacks::TreeMerger;

/// The largest number of interval changes that a tree lists. Later changes are not listed, which loses
/// little: each sample has its own time.
const MAX_PHASES: usize = 64;

/// One stack of the main thread.
#[derive(Debug, Clone, Copy)]
pub struct Sample<F> {
    /// The stack's frames, in the form in which the caller keeps them.
    pub frames: F,
    /// When the stack was taken, in uptime.
    pub at_ns: Uptime,
    /// How long the main thread was stopped for this stack.
    pub stop_ns: u64,
    /// The sampling interval in effect when the stack was taken.
    pub interval_ns: u64,
}

impl<F> Sample<F> {
    /// The same sample with its frames in another form.
    pub fn with<G>(&self, frames: G) -> Sample<G> {
        Sample { frames, at_ns: self.at_ns, stop_ns: self.stop_ns, interval_ns: self.interval_ns }
    }
}

/// The sampling interval once `used` of `capacity` samples or nodes are used up.
///
/// The first half has the full resolution. The other half is divided into sixteen parts, each of which
/// doubles the interval. With the defaults, there is a stack each 10 ms in the first ten seconds and each 320
/// ms after half a minute, and a message that hangs for a day still fits.
pub fn widened_interval(base_ns: u64, used: u32, capacity: u32) -> u64 {
    let beyond_half = u64::from(used).saturating_sub(u64::from(capacity / 2));
    let doublings = (beyond_half * 32).checked_div(u64::from(capacity)).unwrap_or(0).min(16);
    base_ns.saturating_mul(1 << doublings)
}

/// Merges the stacks of a message into a [`StackTree`], for one message after the other.
///
/// One builder serves all messages: its memory is allocated once and limited by
/// [`Sampling::samples_per_tree`] and [`Sampling::nodes_per_tree`]. What does not fit counts as missed.
#[derive(Debug, Clone)]
pub struct StackTreeBuilder {
    interval_ns: u64,
    max_samples: u32,
    max_nodes: u32,
    kept_from_ns: u64,
    merger: TreeMerger,
    token: Token,
    start_ns: Uptime,
    source: StackSource,
    last_ns: Uptime,
    deltas_ns: Vec<u64>,
    phases: Vec<Phase>,
    missed: u32,
    longest_stop_ns: u64,
    total_stop_ns: u64,
}

impl StackTreeBuilder {
    /// A builder without a message.
    pub fn new(sampling: &Sampling) -> Self {
        let samples_ns = sampling.interval_ns.saturating_mul(sampling.min_samples.into());
        Self {
            interval_ns: sampling.interval_ns,
            max_samples: sampling.samples_per_tree,
            max_nodes: sampling.nodes_per_tree,
            kept_from_ns: if sampling.once { sampling.onset_ns } else { samples_ns },
            merger: TreeMerger::new(sampling.nodes_per_tree as usize),
            token: Token::NONE,
            start_ns: Uptime::ZERO,
            source: StackSource::Art,
            last_ns: Uptime::ZERO,
            deltas_ns: Vec::new(),
            phases: Vec::new(),
            missed: 0,
            longest_stop_ns: 0,
            total_stop_ns: 0,
        }
    }

    /// Starts the tree of this message, and drops the previous one.
    pub fn begin(&mut self, token: Token, start_ns: Uptime, source: StackSource) {
        self.merger.clear();
        self.deltas_ns.clear();
        self.phases.clear();
        self.token = token;
        self.start_ns = start_ns;
        self.source = source;
        self.last_ns = start_ns;
        self.missed = 0;
        self.longest_stop_ns = 0;
        self.total_stop_ns = 0;
    }

    /// The message that stacks belong to now; [`Token::NONE`] before the first.
    pub fn token(&self) -> Token {
        self.token
    }

    /// Whether the stacks are of the message with this token and this start. The token alone does not show
    /// that: the token of a beginning that was taken back is given to the next message. For what runs outside
    /// of messages, only the token is compared.
    pub fn is_of(&self, token: Token, start_ns: Uptime) -> bool {
        token == self.token && (token.is_outside() || start_ns == self.start_ns)
    }

    /// How the stacks of the current message are taken.
    pub fn source(&self) -> StackSource {
        self.source
    }

    /// Adds a stack, top frame first. Returns false when there is no room; then the stack counts as missed.
    pub fn push(&mut self, sample: &Sample<&[LocationId]>) -> bool {
        self.longest_stop_ns = self.longest_stop_ns.max(sample.stop_ns);
        self.total_stop_ns = self.total_stop_ns.saturating_add(sample.stop_ns);
        let bottom_first = sample.frames.iter().rev().copied();
        if self.merger.samples() >= self.max_samples || !self.merger.push(bottom_first) {
            self.missed(1);
            return false;
        }
        if self.phases.last().is_none_or(|phase| phase.interval_ns != sample.interval_ns)
            && self.phases.len() < MAX_PHASES
        {
            let first_sample = self.merger.samples() - 1;
            self.phases.push(Phase { first_sample, interval_ns: sample.interval_ns });
        }
        self.deltas_ns.push(sample.at_ns.since(self.last_ns));
        self.last_ns = self.last_ns.max(sample.at_ns);
        true
    }

    /// Counts samples that were due but not taken.
    pub fn missed(&mut self, samples: u32) {
        self.missed = self.missed.saturating_add(samples);
    }

    /// The sampling interval from now on: the base interval, widened when more than half of the tree is used
    /// up.
    pub fn interval_ns(&self) -> u64 {
        let nodes = self.merger.nodes().len() as u32;
        let by_nodes = widened_interval(self.interval_ns, nodes, self.max_nodes);
        by_nodes.max(widened_interval(self.interval_ns, self.merger.samples(), self.max_samples))
    }

    /// How many stacks the tree has.
    pub fn samples(&self) -> u32 {
        self.merger.samples()
    }

    /// Whether to keep the tree of a finished message: the message ran for as long as
    /// [`Sampling::min_samples`] samples take at the configured interval (Qimao keeps a tree from 95 samples
    /// of 10 ms on). The number of stacks is no measure of that: back-off and a busy machine make stacks
    /// rarer, and those of the Java API are taken at a wider interval. With [`Sampling::once`] the message
    /// must have run until its stack was due.
    ///
    /// `ran_ns` is how long the message took. `None` means unknown: then it ran at least until its last
    /// stack.
    pub fn is_worth_keeping(&self, ran_ns: Option<u64>) -> bool {
        self.is_of_one_that_ran(ran_ns, self.kept_from_ns)
    }

    /// As [`StackTreeBuilder::is_worth_keeping`], with `at_least_ns` instead of the configured time.
    pub fn is_of_one_that_ran(&self, ran_ns: Option<u64>, at_least_ns: u64) -> bool {
        let seen_ns = self.last_ns.since(self.start_ns);
        self.samples() > 0 && ran_ns.unwrap_or(0).max(seen_ns) >= at_least_ns
    }

    /// The tree so far.
    pub fn tree(&self) -> StackTree {
        StackTree {
            token: self.token,
            start_ns: self.start_ns,
            source: self.source,
            phases: self.phases.clone(),
            sample_deltas_ns: self.deltas_ns.clone(),
            nodes: self.merger.nodes().to_vec(),
            missed_samples: self.missed,
            longest_stop_ns: self.longest_stop_ns,
            total_stop_ns: self.total_stop_ns,
        }
    }

    /// Replaces the number of every location, after the table of locations was renumbered.
    pub(crate) fn renumber(&mut self, number: impl FnMut(LocationId) -> LocationId) {
        self.merger.renumber(number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use loopbox_format::stacks::stacks;
    use proptest::prelude::*;

    const MS: u64 = 1_000_000;

    #[test]
    fn times_intervals_and_stops_are_kept() {
        let mut builder = StackTreeBuilder::new(&Sampling::default());
        builder.begin(Token(7), Uptime(1_000), StackSource::JavaApi);
        for (at_ns, stop_ns, interval_ns) in [(51_000, 5, 10), (61_500, 9, 10), (81_500, 2, 20)] {
            assert!(builder.push(&Sample {
                frames: &[3, 2, 1].map(LocationId),
                at_ns: Uptime(at_ns),
                stop_ns,
                interval_ns
            }));
        }
        builder.missed(2);
        let tree = builder.tree();
        assert_eq!((tree.token, tree.start_ns, tree.source), (Token(7), Uptime(1_000), StackSource::JavaApi));
        assert_eq!(tree.sample_deltas_ns, [50_000, 10_500, 20_000]);
        let phases = [Phase { first_sample: 0, interval_ns: 10 }, Phase { first_sample: 2, interval_ns: 20 }];
        assert_eq!(tree.phases, phases);
        assert_eq!((tree.missed_samples, tree.longest_stop_ns, tree.total_stop_ns), (2, 9, 16));
        assert_eq!(stacks(&tree).unwrap().next().unwrap(), [1, 2, 3].map(LocationId));
        builder.begin(Token(8), Uptime::ZERO, StackSource::Art);
        assert_eq!((builder.samples(), builder.tree().missed_samples), (0, 0));
        for at_ns in [50, 40, 60] {
            builder.push(&Sample {
                frames: &[LocationId(1)],
                at_ns: Uptime(at_ns),
                stop_ns: 1,
                interval_ns: 10,
            });
        }
        assert_eq!(builder.tree().sample_deltas_ns, [50, 0, 10], "a time that goes back stands still");
    }

    #[test]
    fn a_tree_is_not_of_a_later_message_with_the_token_of_a_beginning_that_was_taken_back() {
        let mut builder = StackTreeBuilder::new(&Sampling::default());
        builder.begin(Token(7), Uptime(1_000), StackSource::Art);
        assert!(builder.is_of(Token(7), Uptime(1_000)));
        assert!(!builder.is_of(Token(7), Uptime(2_000)) && !builder.is_of(Token(8), Uptime(1_000)));
        // Work outside of messages may seem to begin later: what came before ran unseen.
        let outside = Token::outside_before(Token(7));
        builder.begin(outside, Uptime(1_000), StackSource::Art);
        assert!(builder.is_of(outside, Uptime(2_000)));
    }

    /// Pushes stacks without a common frame for `for_ns`, at the interval that the builder demands. Returns
    /// the time of the next stack.
    fn hang(builder: &mut StackTreeBuilder, for_ns: u64) -> u64 {
        builder.begin(Token(1), Uptime::ZERO, StackSource::Art);
        let mut at_ns = 50 * MS;
        let mut taken = 0_u32;
        while at_ns < for_ns {
            let frames: [LocationId; 20] =
                std::array::from_fn(|depth| LocationId(taken.wrapping_mul(31).wrapping_add(depth as u32)));
            builder.push(&Sample {
                frames: &frames,
                at_ns: Uptime(at_ns),
                stop_ns: 1,
                interval_ns: builder.interval_ns(),
            });
            taken += 1;
            at_ns += builder.interval_ns();
        }
        at_ns
    }

    #[test]
    fn a_message_that_never_ends_stays_within_its_memory_and_is_covered_to_the_end() {
        let sampling = Sampling::default();
        let mut builder = StackTreeBuilder::new(&sampling);
        let hour = 3_600_000 * MS;
        hang(&mut builder, hour);
        let tree = builder.tree();
        assert!(tree.nodes.len() <= sampling.nodes_per_tree as usize);
        assert!(tree.sample_deltas_ns.len() <= sampling.samples_per_tree as usize);
        assert_eq!(tree.missed_samples, 0);
        let last_at: u64 = tree.sample_deltas_ns.iter().sum();
        assert!(last_at > hour - builder.interval_ns(), "the last sample is at {last_at}");
        assert!(tree.phases.len() > 5);
        assert_eq!(stacks(&tree).unwrap().count(), tree.sample_deltas_ns.len());
    }

    #[test]
    fn a_message_that_ran_long_keeps_its_tree_however_few_stacks_it_has() {
        let mut builder = StackTreeBuilder::new(&Sampling::default());
        let mut kept = |last_ms: u64, ran_ms: Option<u64>, stacks: u64| {
            builder.begin(Token(1), Uptime(MS), StackSource::Art);
            for nth in 1..=stacks {
                let at_ns = MS + last_ms * MS * nth / stacks;
                builder.push(&Sample {
                    frames: &[LocationId(1)],
                    at_ns: Uptime(at_ns),
                    stop_ns: 1,
                    interval_ns: 160 * MS,
                });
            }
            builder.is_worth_keeping(ran_ms.map(|ms| ms * MS))
        };
        let cases = [
            ("a stack is as late as the 95th", 950, None, 1, true),
            ("it is not", 949, None, 90, false),
            ("it is not, but the message ran on", 900, Some(1_010), 6, true),
            ("it ran shorter, however many stacks", 940, Some(949), 300, false),
            ("no stack", 0, Some(60_000), 0, false),
        ];
        for (name, last_ms, ran_ms, stacks, expected) in cases {
            assert_eq!(kept(last_ms, ran_ms, stacks), expected, "{name}");
        }
    }

    #[test]
    fn where_a_message_gets_one_stack_it_is_kept() {
        let sampling = Sampling { once: true, onset_ns: 200 * MS, ..Sampling::default() };
        let mut builder = StackTreeBuilder::new(&sampling);
        let mut kept = |at_ms: u64, ran_ms: u64| {
            builder.begin(Token(1), Uptime(MS), StackSource::Art);
            let at_ns = MS + at_ms * MS;
            builder.push(&Sample {
                frames: &[LocationId(1)],
                at_ns: Uptime(at_ns),
                stop_ns: 1,
                interval_ns: 10 * MS,
            });
            builder.is_worth_keeping(Some(ran_ms * MS))
        };
        assert!(kept(200, 201));
        assert!(!kept(25, 100), "it was taken because of frames");
    }

    #[test]
    fn how_long_a_message_ran_decides_for_any_time() {
        let mut builder = StackTreeBuilder::new(&Sampling::default());
        let (onset, two) = (25 * MS, 35 * MS);
        builder.begin(Token(1), Uptime(MS), StackSource::Art);
        assert!(!builder.is_of_one_that_ran(Some(two), two), "there is no stack");
        let frames = &[LocationId(1)];
        builder.push(&Sample { frames, at_ns: Uptime(MS + onset), stop_ns: 1, interval_ns: 160 * MS });
        for (ran_ns, expected) in [(None, false), (Some(two - 1), false), (Some(two), true)] {
            assert_eq!(builder.is_of_one_that_ran(ran_ns, two), expected, "{ran_ns:?}");
        }
    }

    #[test]
    fn what_does_not_fit_is_counted() {
        let sampling = Sampling { samples_per_tree: 100, ..Sampling::default() };
        let mut builder = StackTreeBuilder::new(&sampling);
        builder.begin(Token(1), Uptime::ZERO, StackSource::Art);
        for at_ns in 0..150 {
            let kept = builder.push(&Sample {
                frames: &[LocationId(1)],
                at_ns: Uptime(at_ns),
                stop_ns: 0,
                interval_ns: 1,
            });
            assert_eq!(kept, at_ns < 100);
        }
        assert_eq!((builder.samples(), builder.tree().missed_samples), (100, 50));
    }

    #[test]
    fn the_first_half_has_full_resolution_and_then_the_interval_doubles() {
        assert_eq!(widened_interval(10, 1_024, 2_048), 10);
        assert_eq!(widened_interval(10, 1_088, 2_048), 20);
        assert_eq!(widened_interval(10, 2_047, 2_048), 10 << 15);
        assert_eq!(widened_interval(10, u32::MAX, 2_048), 10 << 16);
        assert_eq!(widened_interval(10, 5, 0), 10);
    }

    proptest! {
        #[test]
        fn every_kept_stack_comes_back(
            samples in prop::collection::vec((prop::collection::vec(0_u32..4, 0..8), 1_u64..50), 0..300),
        ) {
            let sampling = Sampling { samples_per_tree: 128, nodes_per_tree: 512, ..Sampling::default() };
            let mut builder = StackTreeBuilder::new(&sampling);
            builder.begin(Token(1), Uptime(5), StackSource::Art);
            let mut kept = Vec::new();
            let mut at_ns = 5;
            for (frames, delta) in &samples {
                at_ns += delta;
                let frames = &frames.iter().copied().map(LocationId).collect::<Vec<_>>();
                if builder.push(&Sample { frames, at_ns: Uptime(at_ns), stop_ns: 1, interval_ns: builder.interval_ns() }) {
                    kept.push((at_ns, frames.iter().rev().copied().collect::<Vec<_>>()));
                }
            }
            let tree = builder.tree();
            prop_assert_eq!(tree.missed_samples as usize, samples.len() - kept.len());
            let times = tree.sample_deltas_ns.iter().scan(5, |at, delta| { *at += delta; Some(*at) });
            let back: Vec<_> = times.zip(stacks(&tree).unwrap()).collect();
            prop_assert_eq!(back, kept);
        }
    }
}
