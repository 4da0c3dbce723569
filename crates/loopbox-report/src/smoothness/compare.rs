//! Two sets of reports compared: a base and a variant, two releases, two buckets of a test.
//!
//! A figure is a ratio of sums (hitch time over time, frozen frames over frames). The reports also show how
//! sure a change of the figure is: users are drawn again and again, and the interval contains 95 % of the
//! resulting changes. The number of times that a user counts in a draw has a Poisson distribution of mean 1
//! (the bootstrap for sums that are collected as a stream). Frames of one user depend on each other, so users
//! are drawn and not frames; where no annotation names a user, reports are drawn.

use super::collect::{Smoothness, UnitSums};
use schemars::JsonSchema;
use serde::Serialize;

/// The name and version of the JSON schema.
const SCHEMA: &str = "loopbox.frames-compare/1";
/// The number of random draws of users from which an interval is computed.
const ROUNDS: usize = 2_000;
/// The seed of the draws, so that the same reports give the same answer.
const SEED: u64 = 0x10_0b_b0_c5;

/// A figure that is compared.
#[derive(Debug, Clone, Copy)]
pub(super) struct Metric {
    pub(super) name: &'static str,
    unit: &'static str,
    higher_is_better: bool,
    /// The factor that converts the ratio into the figure's unit.
    scale: f64,
    parts: fn(&UnitSums) -> (u64, u64),
}

/// All metrics. Their names are those of `--fail-if`.
pub(super) const METRICS: [Metric; 5] = [
    Metric {
        name: "hitch",
        unit: "ms/s",
        higher_is_better: false,
        scale: 1e3,
        parts: |sums| (sums.hitch_ns, sums.sum_ns),
    },
    Metric {
        name: "frozen",
        unit: "‰",
        higher_is_better: false,
        scale: 1e3,
        parts: |sums| (sums.frozen, sums.frames),
    },
    Metric {
        name: "fps",
        unit: "",
        higher_is_better: true,
        scale: 1e9,
        parts: |sums| (sums.frames, sums.sum_ns),
    },
    Metric {
        name: "fps-of-rate",
        unit: "%",
        higher_is_better: true,
        scale: 1e2,
        parts: |sums| (sums.interval_ns, sums.sum_ns),
    },
    Metric {
        name: "jank-gestures",
        unit: "%",
        higher_is_better: false,
        scale: 1e2,
        parts: |sums| (sums.jank_gestures, sums.gestures),
    },
];

/// The result of a comparison for one figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The variant is better, by more than chance explains.
    Better,
    /// The variant is worse, by more than chance explains.
    Worse,
    /// The whole change may be chance.
    CannotTell,
}

/// The change of one figure.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct MetricChange {
    /// The figure: `hitch`, `frozen`, `fps`, `fps-of-rate` or `jank-gestures`.
    pub metric: &'static str,
    /// The unit of the figure; empty for frames per second.
    pub unit: &'static str,
    /// The figure of the base; `None` when the base has no frame, or no gesture.
    pub base: Option<f64>,
    /// The figure of the variant; `None` when the variant has no frame, or no gesture.
    pub variant: Option<f64>,
    /// The figure of the variant minus that of the base.
    pub change: Option<f64>,
    /// The interval that contains 95 % of the changes when the users are drawn at random many times; `None`
    /// for fewer than two users in either set.
    pub interval: Option<[f64; 2]>,
    /// The change in per cent of the base; `None` where the base is 0.
    pub change_percent: Option<f64>,
    /// The result.
    pub verdict: Verdict,
}

/// The changes on one screen.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct SceneComparison {
    /// The name of the screen.
    pub scene: String,
    /// The number of users, or reports, of the base.
    pub base_users: usize,
    /// The number of users, or reports, of the variant.
    pub variant_users: usize,
    /// The changes of the figures on the screen.
    pub metrics: Vec<MetricChange>,
}

/// Two sets of reports compared.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Comparison {
    /// `loopbox.frames-compare/1`.
    #[schemars(extend("const" = SCHEMA))]
    pub schema: &'static str,
    /// The screens that both sets have. The entry for all screens together comes first.
    pub scenes: Vec<SceneComparison>,
    /// The conditions of `--fail-if` that hold, in words.
    pub failed: Vec<String>,
    /// The conditions of `--fail-if` for which the reports do not have the figures, in words.
    pub unknown: Vec<String>,
}

/// Compares the screens that both sets have.
pub fn compare(base: &Smoothness, variant: &Smoothness) -> Comparison {
    let of_variant = variant.scene_names();
    let both = base.scene_names().into_iter().filter(|scene| of_variant.contains(scene));
    let scenes = both.map(|scene| {
        let (of_base, of_variant) = (base.units(&scene), variant.units(&scene));
        SceneComparison {
            scene,
            base_users: of_base.len(),
            variant_users: of_variant.len(),
            metrics: changes(&of_base, &of_variant),
        }
    });
    Comparison { schema: SCHEMA, scenes: scenes.collect(), failed: Vec::new(), unknown: Vec::new() }
}

pub(super) fn changes(base: &[UnitSums], variant: &[UnitSums]) -> Vec<MetricChange> {
    let mut draw = Draw(SEED);
    let drawn: Vec<(UnitSums, UnitSums)> =
        (0..ROUNDS).map(|_| (draw.sums(base), draw.sums(variant))).collect();
    let (whole_base, whole_variant) = (total(base), total(variant));
    let enough = base.len() > 1 && variant.len() > 1;
    METRICS
        .iter()
        .map(|metric| {
            let of = |base: &UnitSums, variant: &UnitSums| Some(metric.of(variant)? - metric.of(base)?);
            let (base, variant) = (metric.of(&whole_base), metric.of(&whole_variant));
            let change = of(&whole_base, &whole_variant);
            let interval = enough.then(|| interval(drawn.iter().filter_map(|(b, v)| of(b, v)).collect()));
            let interval = interval.flatten();
            let verdict = match interval {
                Some([low, _]) if low > 0.0 => metric.verdict(true),
                Some([_, high]) if high < 0.0 => metric.verdict(false),
                _ => Verdict::CannotTell,
            };
            let percent = |change: f64, base: f64| 100.0 * change / base;
            MetricChange {
                metric: metric.name,
                unit: metric.unit,
                base,
                variant,
                change,
                interval,
                change_percent: change
                    .zip(base.filter(|b| *b > 0.0))
                    .map(|(change, base)| percent(change, base)),
                verdict,
            }
        })
        .collect()
}

impl Metric {
    fn of(&self, sums: &UnitSums) -> Option<f64> {
        let (part, whole) = (self.parts)(sums);
        (whole > 0).then(|| part as f64 / whole as f64 * self.scale)
    }

    fn verdict(&self, is_higher: bool) -> Verdict {
        if is_higher == self.higher_is_better { Verdict::Better } else { Verdict::Worse }
    }
}

fn total(units: &[UnitSums]) -> UnitSums {
    units.iter().fold(UnitSums::default(), |mut sum, unit| {
        sum.add(unit);
        sum
    })
}

/// The ends of the middle 95 % of the changes. There is one change for each random draw of users, but none
/// for a draw whose figure cannot be computed, for example because it has no frames. `None` when more than a
/// tenth of the draws have no change.
fn interval(mut changes: Vec<f64>) -> Option<[f64; 2]> {
    if changes.len() < ROUNDS * 9 / 10 {
        return None;
    }
    changes.sort_by(f64::total_cmp);
    let at = |share: f64| changes[((changes.len() - 1) as f64 * share).round() as usize];
    Some([at(0.025), at(0.975)])
}

/// Random numbers: SplitMix64, which is enough where no adversary guesses the draws.
struct Draw(u64);

impl Draw {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// The number of times that a user counts in a draw: Poisson-distributed with mean 1.
    fn times(&mut self) -> u64 {
        /// The distribution of the number of times that one draw counts a user: the probability of at most 0
        /// times, of at most 1 time, and so on up to 8 times, each multiplied by 2³². All numbers above 8
        /// become 9; their probability is one in a million.
        const AT_MOST: [u32; 9] = [
            1_580_030_169,
            3_160_060_337,
            3_950_075_422,
            4_213_413_783,
            4_279_248_374,
            4_292_415_292,
            4_294_609_778,
            4_294_923_276,
            4_294_962_463,
        ];
        let number = (self.next() >> 32) as u32;
        AT_MOST.iter().filter(|at_most| number >= **at_most).count() as u64
    }

    fn sums(&mut self, units: &[UnitSums]) -> UnitSums {
        let mut sum = UnitSums::default();
        for unit in units {
            let times = self.times();
            sum.add(&UnitSums {
                frames: unit.frames.saturating_mul(times),
                sum_ns: unit.sum_ns.saturating_mul(times),
                interval_ns: unit.interval_ns.saturating_mul(times),
                hitch_ns: unit.hitch_ns.saturating_mul(times),
                frozen: unit.frozen.saturating_mul(times),
                gestures: unit.gestures.saturating_mul(times),
                jank_gestures: unit.jank_gestures.saturating_mul(times),
            });
        }
        sum
    }
}
