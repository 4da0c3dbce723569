//! The sampler's policy, driven step by step with simulated time.

use loopbox_format::model::{Token, Uptime};
use loopbox_recorder::{Activity, Sampling, Schedule, Step, Taken};
use proptest::prelude::*;

const MS: u64 = 1_000_000;
const SECOND: u64 = 1_000 * MS;
const HOUR: u64 = 3_600 * SECOND;

/// A sampler thread on a simulated machine where each step takes as long as the test says.
struct Sampler {
    schedule: Schedule,
    now_ns: Uptime,
    /// How late each sleep ends.
    late_ns: u64,
    /// How long a sample stops the main thread.
    stop_ns: u64,
    /// How long a sample takes altogether.
    sample_ns: u64,
    taken_at_ns: Vec<Uptime>,
    intervals_ns: Vec<u64>,
    wakes: u32,
}

impl Sampler {
    fn new(sampling: &Sampling) -> Self {
        Self {
            schedule: Schedule::new(sampling),
            now_ns: Uptime(1_000 * SECOND),
            late_ns: 0,
            stop_ns: MS / 20,
            sample_ns: MS / 10,
            taken_at_ns: Vec::new(),
            intervals_ns: Vec::new(),
            wakes: 0,
        }
    }

    /// Runs the sampler until `until_ns`, while the main thread does `activity`. If the sampler parks
    /// earlier, the run ends there, and [`Step::Park`] is returned.
    fn run(&mut self, activity: Activity, until_ns: Uptime) -> Option<Step> {
        while self.now_ns < until_ns {
            match self.schedule.next(self.now_ns, activity) {
                Step::SleepUntil(deadline_ns) => {
                    assert!(deadline_ns > self.now_ns, "no busy waiting");
                    if deadline_ns >= until_ns {
                        break;
                    }
                    self.wakes += 1;
                    self.now_ns = deadline_ns + self.late_ns;
                }
                Step::Sample { interval_ns, .. } => {
                    self.taken_at_ns.push(self.now_ns);
                    self.intervals_ns.push(interval_ns);
                    self.now_ns += self.sample_ns;
                    self.schedule.taken(self.now_ns, Taken::Stack { stop_ns: self.stop_ns });
                }
                step @ (Step::Park | Step::Pause) => return Some(step),
            }
        }
        self.now_ns = self.now_ns.max(until_ns);
        None
    }

    /// A message runs for this long from now on; returns when its stacks were taken, relative to its start.
    fn message(&mut self, token: u64, ns: u64) -> Vec<u64> {
        let start_ns = self.now_ns;
        self.taken_at_ns.clear();
        self.intervals_ns.clear();
        assert_eq!(self.run(Activity::Running { token: Token(token), start_ns }, start_ns + ns), None);
        self.taken_at_ns.iter().map(|&at| at - start_ns).collect()
    }
}

fn every(from_ms: u64, step_ms: u64, to_ms: u64) -> Vec<u64> {
    (from_ms..to_ms).step_by(step_ms as usize).map(|ms| ms * MS).collect()
}

#[test]
fn a_message_is_sampled_from_50_ms_on_each_10_ms() {
    let mut sampler = Sampler::new(&Sampling::default());
    assert_eq!(sampler.message(1, 50 * MS), []);
    assert_eq!(sampler.message(2, 1_000 * MS), every(50, 10, 1_000));
    assert_eq!(sampler.schedule.take_missed(), 0);
    assert!(sampler.intervals_ns.iter().all(|&interval| interval == 10 * MS));
}

#[test]
fn lateness_does_not_add_up() {
    let mut sampler = Sampler::new(&Sampling::default());
    sampler.late_ns = 3 * MS;
    let taken = sampler.message(1, 500 * MS);
    assert_eq!(taken, every(50, 10, 500).iter().map(|at| at + 3 * MS).collect::<Vec<_>>());
    assert_eq!(sampler.schedule.take_late_ns(), Some(3 * MS));
    assert_eq!(sampler.schedule.take_late_ns(), None);
}

#[test]
fn many_short_messages_cost_one_wake_up_each_50_ms_at_most() {
    let mut sampler = Sampler::new(&Sampling::default());
    for token in 1..=1_000 {
        assert_eq!(sampler.message(token, 2 * MS), []);
    }
    // Each sleep's deadline is a message's start and onset, and there is no message of that age.
    assert_eq!(sampler.wakes, 0);
    let mut sampler = Sampler::new(&Sampling::default());
    let mut deadline_ns = Uptime::ZERO;
    let mut wakes = 0;
    for tick in 0..2_000_u64 {
        let now_ns = Uptime(tick * MS);
        if now_ns < deadline_ns {
            continue;
        }
        wakes += 1;
        let activity = Activity::Running { token: Token(1 + tick / 4), start_ns: Uptime(tick / 4 * 4 * MS) };
        let Step::SleepUntil(next_ns) = sampler.schedule.next(now_ns, activity) else {
            panic!("nothing to sample")
        };
        deadline_ns = next_ns;
    }
    // Ten checks at that pace, and then half as often.
    assert!(wakes <= 10 + 1_540 / 97 + 1, "{wakes} wake-ups in 2 s");
}

#[test]
fn a_long_message_among_many_short_ones_is_sampled_from_150_ms_on_at_the_latest() {
    for phase in 0..100 {
        let mut sampler = Sampler::new(&Sampling::default());
        let begin_ns = sampler.now_ns;
        // Frames of 3 ms each 16 ms, up to the long message.
        let long_ns = begin_ns + 1_600 * MS + phase * MS;
        let activity = |now_ns: Uptime| {
            let (frame, into_ns) = ((now_ns - begin_ns) / (16 * MS), (now_ns - begin_ns) % (16 * MS));
            match into_ns {
                _ if now_ns >= long_ns => Activity::Running { token: Token(1_000), start_ns: long_ns },
                0..3_000_000 => Activity::Running { token: Token(1 + frame), start_ns: now_ns - into_ns },
                _ => Activity::Idle { since_ns: now_ns - into_ns + 3 * MS },
            }
        };
        let first_ns = loop {
            match sampler.schedule.next(sampler.now_ns, activity(sampler.now_ns)) {
                Step::SleepUntil(deadline_ns) => sampler.now_ns = deadline_ns,
                Step::Sample { .. } => break sampler.now_ns,
                Step::Park | Step::Pause => panic!("it is never idle"),
            }
        };
        assert!((50 * MS..=150 * MS).contains(&(first_ns - long_ns)), "{phase}: {}", first_ns - long_ns);
        assert_eq!(sampler.schedule.take_missed(), 0, "what was not wanted is not missed");
        // From then on at the message's deadlines.
        sampler.schedule.taken(sampler.now_ns, Taken::Stack { stop_ns: 1 });
        sampler.taken_at_ns.clear();
        sampler.run(activity(sampler.now_ns), sampler.now_ns + 25 * MS);
        let next: Vec<_> = sampler.taken_at_ns.iter().map(|&at| (at - long_ns) % (10 * MS)).collect();
        assert!(next.len() >= 2 && next.iter().all(|&off| off == 0), "{phase}: {next:?}");
    }
}

#[test]
fn a_short_message_after_silence_costs_three_wake_ups() {
    let mut sampler = Sampler::new(&Sampling::default());
    for (token, background, wakes) in [(1, false, 2), (2, true, 1)] {
        sampler.schedule.set_background(background);
        sampler.wakes = 0;
        let start_ns = sampler.now_ns;
        // Its start is the first wake-up.
        let Step::SleepUntil(deadline_ns) =
            sampler.schedule.next(start_ns, Activity::Running { token: Token(token), start_ns })
        else {
            panic!("it has just begun")
        };
        (sampler.now_ns, sampler.wakes) = (deadline_ns, 1);
        let since_ns = start_ns + 5 * MS;
        assert_eq!(sampler.run(Activity::Idle { since_ns }, Uptime::MAX), Some(Step::Park));
        assert_eq!(sampler.wakes, wakes, "background: {background}");
    }
}

#[test]
fn it_parks_after_a_tenth_of_a_second_of_silence() {
    let mut sampler = Sampler::new(&Sampling::default());
    let since_ns = sampler.now_ns;
    assert_eq!(sampler.run(Activity::Idle { since_ns }, since_ns + 10 * SECOND), Some(Step::Park));
    assert_eq!(sampler.now_ns - since_ns, 100 * MS);
    assert_eq!(sampler.wakes, 1);
    // Where short trees are kept, a message that begins right after a check is still sampled in time.
    let mut sampler = Sampler::new(&Sampling { min_samples: 1, ..Sampling::default() });
    let since_ns = sampler.now_ns;
    let Step::SleepUntil(deadline_ns) = sampler.schedule.next(since_ns, Activity::Idle { since_ns }) else {
        panic!("it is too early to park")
    };
    assert!(deadline_ns <= since_ns + 50 * MS);
}

#[test]
fn a_paused_recorder_checks_nothing_until_it_is_resumed() {
    for background in [false, true] {
        let mut sampler = Sampler::new(&Sampling::default());
        sampler.schedule.set_background(background);
        let start_ns = sampler.now_ns;
        let hour_ns = start_ns + HOUR;
        assert_eq!(sampler.run(Activity::Paused, hour_ns), Some(Step::Pause));
        assert_eq!((sampler.wakes, sampler.now_ns), (0, start_ns), "at once, and for as long as it lasts");
        // In the middle of a message, too, which goes on when the recorder is resumed.
        let runs = Activity::Running { token: Token(1), start_ns };
        sampler.run(runs, start_ns + 200 * MS);
        let before = sampler.taken_at_ns.len();
        assert_eq!(sampler.run(Activity::Paused, hour_ns), Some(Step::Pause));
        sampler.schedule.take_missed();
        sampler.now_ns = hour_ns;
        sampler.run(runs, hour_ns + MS);
        assert_eq!((sampler.taken_at_ns.len(), sampler.schedule.take_missed()), (before + 1, 0));
    }
}

#[test]
fn deadlines_that_passed_are_counted_and_not_made_up_for() {
    let mut sampler = Sampler::new(&Sampling::default());
    // The thread did not run for 107 ms of the message.
    let start_ns = sampler.now_ns;
    sampler.now_ns += 107 * MS;
    let taken = sampler.message(1, 0);
    assert_eq!(taken, []);
    sampler.run(Activity::Running { token: Token(1), start_ns }, start_ns + 131 * MS);
    let taken: Vec<_> = sampler.taken_at_ns.iter().map(|&at| at - start_ns).collect();
    assert_eq!(
        taken.len() + sampler.schedule.take_missed() as usize,
        9,
        "due at 50, 60 to 130 ms: {taken:?}"
    );
}

#[test]
fn a_sample_that_takes_longer_than_the_interval_costs_the_next_ones() {
    let mut sampler = Sampler::new(&Sampling::default());
    sampler.sample_ns = 25 * MS;
    let taken = sampler.message(1, 200 * MS);
    assert_eq!(taken, every(50, 30, 200));
    assert_eq!(sampler.schedule.take_missed(), 10, "60 and 70, 90 and 100, and so on");
}

#[test]
fn a_message_of_minutes_is_sampled_ever_less_often() {
    let sampling = Sampling::default();
    let mut sampler = Sampler::new(&sampling);
    let taken = sampler.message(1, HOUR);
    assert!(taken.len() < sampling.samples_per_tree as usize);
    assert_eq!(taken[..1_000], every(50, 10, 10_050)[..1_000]);
    assert!(sampler.intervals_ns.is_sorted());
    let last = *sampler.intervals_ns.last().unwrap();
    assert!(last >= 640 * MS, "the interval is {last} ns after an hour");
    assert!(HOUR - taken.last().unwrap() <= last);
    // The next message begins anew.
    assert_eq!(sampler.message(2, 100 * MS), every(50, 10, 100));
}

#[test]
fn the_trees_advice_holds_for_its_message_only() {
    let mut sampler = Sampler::new(&Sampling::default());
    sampler.message(7, 60 * MS);
    sampler.schedule.advise(Token(6), 500 * MS);
    assert_eq!(sampler.schedule.interval_ns(), 10 * MS);
    sampler.schedule.advise(Token(7), 40 * MS);
    assert_eq!(sampler.schedule.interval_ns(), 40 * MS);
    assert_eq!(sampler.message(8, 100 * MS), every(50, 10, 100));
}

#[test]
fn the_background_is_sampled_more_gently() {
    let mut sampler = Sampler::new(&Sampling::default());
    sampler.schedule.set_background(true);
    assert_eq!(sampler.message(1, 300 * MS), every(50, 40, 300));
    sampler.schedule.set_background(false);
    assert_eq!(sampler.message(2, 100 * MS), every(50, 10, 100));
}

#[test]
fn a_starved_machine_is_left_alone_and_recovers() {
    let mut sampler = Sampler::new(&Sampling::default());
    sampler.late_ns = 15 * MS;
    sampler.message(1, 2 * SECOND);
    assert_eq!(sampler.schedule.interval_ns(), 160 * MS, "ten milliseconds, doubled four times");
    assert_eq!(sampler.schedule.take_late_ns(), Some(15 * MS));
    sampler.late_ns = 0;
    sampler.message(2, 30 * SECOND);
    assert_eq!(sampler.intervals_ns.first(), Some(&(160 * MS)));
    assert_eq!(sampler.message(3, 100 * MS), every(50, 10, 100));
}

#[test]
fn late_now_and_then_is_no_starvation() {
    let mut sampler = Sampler::new(&Sampling::default());
    for token in 1..200 {
        sampler.late_ns = if token % 2 == 0 { 30 * MS } else { 0 };
        sampler.message(token, 55 * MS);
    }
    assert_eq!(sampler.schedule.interval_ns(), 10 * MS);
}

#[test]
fn a_frozen_process_is_not_a_starved_one() {
    let mut sampler = Sampler::new(&Sampling::default());
    let start_ns = sampler.now_ns;
    for _ in 0..5 {
        let activity = Activity::Running { token: Token(1), start_ns };
        loop {
            match sampler.schedule.next(sampler.now_ns, activity) {
                Step::SleepUntil(deadline_ns) => break sampler.now_ns = deadline_ns + 600 * SECOND,
                _ => sampler.schedule.taken(sampler.now_ns, Taken::Stack { stop_ns: 1 }),
            }
        }
        assert!(matches!(
            sampler.schedule.next(sampler.now_ns, activity),
            Step::Sample { interval_ns: 10_000_000, .. }
        ));
        sampler.schedule.taken(sampler.now_ns, Taken::Stack { stop_ns: 1 });
    }
    assert_eq!(sampler.schedule.frozen(), 5);
    assert_eq!(sampler.schedule.take_late_ns(), None);
    assert!(sampler.schedule.take_missed() >= 5 * 59_000);
}

#[test]
fn who_did_something_else_was_not_woken_late() {
    let mut schedule = Schedule::new(&Sampling::default());
    let activity = Activity::Running { token: Token(1), start_ns: Uptime(SECOND) };
    for n in 1..10 {
        while let Step::Sample { .. } = schedule.next(Uptime(n * SECOND), activity) {
            schedule.taken(Uptime(n * SECOND), Taken::Stack { stop_ns: 1 });
        }
        schedule.reset_lateness();
    }
    assert_eq!((schedule.take_late_ns(), schedule.interval_ns()), (None, 10 * MS));
}

#[test]
fn slow_stops_widen_the_interval() {
    let mut sampler = Sampler::new(&Sampling::default());
    sampler.stop_ns = 5 * MS + 1;
    sampler.sample_ns = 6 * MS;
    let taken = sampler.message(1, SECOND);
    assert_eq!(taken[..4], [50 * MS, 70 * MS, 110 * MS, 190 * MS]);
    assert_eq!(sampler.schedule.interval_ns(), 160 * MS);
}

/// Runs a message from `begun_ns` for `length_ns`; each sample has this outcome. Returns when samples were
/// attempted, in nanoseconds after the start of the message.
fn attempts(
    schedule: &mut Schedule,
    token: u64,
    begun_ns: Uptime,
    length_ns: u64,
    outcome: Taken,
) -> Vec<u64> {
    let (activity, mut now_ns, mut at) =
        (Activity::Running { token: Token(token), start_ns: begun_ns }, begun_ns, Vec::new());
    while now_ns < begun_ns + length_ns {
        match schedule.next(now_ns, activity) {
            Step::SleepUntil(deadline_ns) => now_ns = deadline_ns,
            Step::Sample { .. } => {
                at.push(now_ns - begun_ns);
                schedule.taken(now_ns, outcome);
            }
            step @ (Step::Park | Step::Pause) => panic!("{step:?}"),
        }
    }
    at
}

#[test]
fn a_message_is_given_up_when_suspending_failed_three_times_in_a_row() {
    let mut schedule = Schedule::new(&Sampling::default());
    let activity = Activity::Running { token: Token(1), start_ns: Uptime::ZERO };
    let mut now_ns = Uptime::ZERO;
    let stack = Taken::Stack { stop_ns: 1 };
    for outcome in [Taken::Failed, Taken::Failed, stack, Taken::Failed, Taken::Failed] {
        while let Step::SleepUntil(deadline_ns) = schedule.next(now_ns, activity) {
            now_ns = deadline_ns;
        }
        schedule.taken(now_ns, outcome);
    }
    assert_eq!((schedule.given_up(), schedule.take_missed()), (0, 4));
    let tried = attempts(&mut schedule, 1, now_ns, 20 * SECOND, Taken::Failed);
    assert_eq!((tried.len(), schedule.given_up(), schedule.take_missed()), (1, 1, 1));
    assert!(
        !attempts(&mut schedule, 2, now_ns + 30 * SECOND, SECOND, stack).is_empty(),
        "the next one is sampled"
    );
}

#[test]
fn what_could_not_have_stopped_is_missed_and_no_failure() {
    let mut schedule = Schedule::new(&Sampling::default());
    let at = attempts(&mut schedule, 1, Uptime(1_000 * SECOND), 200 * MS, Taken::Unstoppable);
    assert_eq!(at, every(50, 10, 200));
    assert_eq!((schedule.take_missed(), schedule.given_up()), (15, 0));
}

#[test]
fn what_goes_on_failing_is_tried_less_and_less_often_and_never_given_up_for_good() {
    let mut schedule = Schedule::new(&Sampling::default());
    let mut token = 0;
    let mut message = |schedule: &mut Schedule, begun_ns, outcome| {
        token += 1;
        attempts(schedule, token, begun_ns, SECOND, outcome).len()
    };
    let mut at_ns = SECOND;
    assert_eq!(message(&mut schedule, Uptime(at_ns), Taken::Failed), 3);
    for pause_s in [0, 10, 60, 360, 2_160, 3_600, 3_600] {
        assert_eq!(
            message(&mut schedule, Uptime(at_ns + pause_s / 2 * SECOND), Taken::Failed),
            if pause_s == 0 { 3 } else { 0 }
        );
        if pause_s > 0 {
            at_ns += (pause_s + 1) * SECOND;
            assert_eq!(message(&mut schedule, Uptime(at_ns), Taken::Failed), 3, "after {pause_s} s");
        }
    }
    at_ns += 3_601 * SECOND;
    assert!(
        message(&mut schedule, Uptime(at_ns), Taken::Stack { stop_ns: 1 }) > 3,
        "and one stack makes all as it was"
    );
    assert_eq!(message(&mut schedule, Uptime(at_ns + SECOND), Taken::Failed), 3);
    assert_eq!(message(&mut schedule, Uptime(at_ns + 2 * SECOND), Taken::Failed), 3);
    assert_eq!(schedule.given_up(), 10);
}

#[test]
fn a_message_that_ended_meanwhile_is_no_failure() {
    let mut schedule = Schedule::new(&Sampling::default());
    for token in 1..100 {
        let activity = Activity::Running { token: Token(token), start_ns: Uptime(token * SECOND) };
        assert!(matches!(schedule.next(Uptime(token * SECOND + 50 * MS), activity), Step::Sample { .. }));
        schedule.taken(Uptime(token * SECOND + 50 * MS), Taken::Gone);
    }
    assert_eq!((schedule.interval_ns(), schedule.take_missed()), (10 * MS, 0));
}

#[test]
fn stops_are_limited_by_an_hourly_budget() {
    let sampling = Sampling { stop_budget_per_hour_ns: SECOND, ..Sampling::default() };
    let mut sampler = Sampler::new(&sampling);
    sampler.stop_ns = MS;
    // A second hangs again and again, for two hours.
    let mut stopped_ns = Vec::new();
    for token in 1..7_200 {
        stopped_ns.push(sampler.message(token, SECOND).len() as u64 * sampler.stop_ns);
    }
    let hours: Vec<u64> = stopped_ns.chunks(3_600).map(|hour| hour.iter().sum()).collect();
    assert!(hours[0] <= 2 * SECOND + 10 * MS, "the budget and one refill: {hours:?}");
    assert!(hours[1] <= SECOND + 10 * MS, "one refill: {hours:?}");
    assert!(hours[1] >= SECOND / 2, "an empty budget still leaves some stacks: {hours:?}");
}

proptest! {
    #[test]
    fn it_never_spins_and_never_samples_before_its_time(
        steps in prop::collection::vec((0_u64..200_000_000, 0_u64..4, 0_u8..8), 1..300),
    ) {
        let mut schedule = Schedule::new(&Sampling::default());
        let (mut now_ns, mut token, mut start_ns, mut idle_ns) = (0, 0, 0, Some(0));
        for (pass_ns, change, outcome) in steps {
            match change {
                0 => { token += 1; start_ns = now_ns; idle_ns = None; }
                1 if token > 0 => idle_ns = Some(now_ns),
                _ => {}
            }
            let activity = match idle_ns {
                Some(since_ns) => Activity::Idle { since_ns: Uptime(since_ns) },
                None => Activity::Running { token: Token(token), start_ns: Uptime(start_ns) },
            };
            match schedule.next(Uptime(now_ns), activity) {
                Step::SleepUntil(deadline_ns) => {
                    prop_assert!(deadline_ns > Uptime(now_ns));
                    // Woken early, in time or late.
                    now_ns = deadline_ns - (deadline_ns - now_ns).min(Uptime(10 * MS)) + pass_ns % (20 * MS);
                }
                Step::Sample { token: of, interval_ns } => {
                    prop_assert_eq!((of, idle_ns), (Token(token), None));
                    prop_assert!(now_ns >= start_ns + 50 * MS && interval_ns >= 10 * MS);
                    now_ns += pass_ns % (15 * MS);
                    schedule.taken(Uptime(now_ns), match outcome {
                        0 => Taken::Gone,
                        1 => Taken::Failed,
                        _ => Taken::Stack { stop_ns: pass_ns % (8 * MS) },
                    });
                    let again = schedule.next(Uptime(now_ns), activity);
                    prop_assert!(!matches!(again, Step::Sample { .. }), "at most one stack an interval");
                }
                Step::Pause => panic!("it is never paused"),
                Step::Park => {
                    prop_assert!(idle_ns.is_some_and(|since| now_ns - since >= 100 * MS));
                    now_ns += pass_ns;
                }
            }
        }
    }
}

/// The block monitor samples like this: one stack at the threshold.
#[test]
fn once_a_stack_was_taken_a_message_is_left_alone() {
    let mut sampler = Sampler::new(&Sampling { once: true, onset_ns: 200 * MS, ..Sampling::default() });
    assert_eq!(sampler.message(1, 150 * MS), []);
    assert_eq!(sampler.message(2, 5_000 * MS), [200 * MS]);
    // However many messages came before: none is found later than at its threshold.
    for token in 3..40 {
        assert_eq!(sampler.message(token, 30 * MS), []);
    }
    assert_eq!(sampler.message(40, 600 * MS), [200 * MS]);
    sampler.late_ns = 35 * MS;
    assert_eq!(sampler.message(41, 600 * MS), [235 * MS]);
    assert_eq!(sampler.schedule.take_missed(), 0, "only one was wanted");
    sampler.late_ns = 0;
    sampler.schedule.set_jank_onset(Some(25 * MS));
    assert_eq!(sampler.message(42, 600 * MS), [25 * MS]);
}

#[test]
fn while_frames_come_a_message_is_sampled_from_the_age_that_holds_them_up() {
    let mut sampler = Sampler::new(&Sampling::default());
    sampler.schedule.set_jank_onset(Some(25 * MS));
    assert_eq!(sampler.message(1, 60 * MS), every(25, 10, 60));
    // Never later than the app wants it, and as before when no frames come.
    sampler.schedule.set_jank_onset(Some(80 * MS));
    assert_eq!(sampler.message(2, 75 * MS), every(50, 10, 75));
    sampler.schedule.set_jank_onset(None);
    assert_eq!(sampler.message(3, 75 * MS), every(50, 10, 75));
}

#[test]
fn two_that_run_outside_of_messages_with_one_number_are_sampled_each() {
    let mut sampler = Sampler::new(&Sampling { once: true, onset_ns: 200 * MS, ..Sampling::default() });
    let token = Token::outside_before(Token(7));
    for _ in 0..2 {
        let start_ns = sampler.now_ns;
        sampler.taken_at_ns.clear();
        assert_eq!(sampler.run(Activity::Outside { token, since_ns: start_ns }, start_ns + SECOND), None);
        assert_eq!(sampler.taken_at_ns, [start_ns + 200 * MS]);
        let over_ns = sampler.now_ns;
        assert_eq!(sampler.run(Activity::Idle { since_ns: over_ns }, over_ns + 5 * SECOND), Some(Step::Park));
    }
}

#[test]
fn a_message_that_gets_the_number_of_one_that_was_taken_back_is_sampled_as_any_other() {
    let mut sampler = Sampler::new(&Sampling { once: true, onset_ns: 200 * MS, ..Sampling::default() });
    for _ in 0..2 {
        let start_ns = sampler.now_ns;
        sampler.taken_at_ns.clear();
        let activity = Activity::Running { token: Token(7), start_ns };
        assert_eq!(sampler.run(activity, start_ns + SECOND), None);
        assert_eq!(sampler.taken_at_ns, [start_ns + 200 * MS]);
        sampler.run(Activity::Idle { since_ns: start_ns }, sampler.now_ns + 50 * MS);
        sampler.now_ns += 3 * SECOND;
    }
    let mut schedule = Schedule::new(&Sampling::default());
    let at = attempts(&mut schedule, 7, Uptime(SECOND), 20 * SECOND, Taken::Failed);
    assert_eq!((at.len(), schedule.given_up()), (3, 1));
    let _ = schedule.take_missed();
    let at = attempts(&mut schedule, 7, Uptime(30 * SECOND), 100 * MS, Taken::Stack { stop_ns: 1 });
    assert_eq!((at, schedule.take_missed()), (vec![50 * MS], 0));
}
