//! The confidence intervals of a rate and of its change.
//!
//! A rate is shown with the score interval of Wilson (1927). The difference of two rates is shown with the
//! interval that Newcombe (1998, Statistics in Medicine 17, method 10) derives from their Wilson intervals.
//! Both hold for small and for zero counts, where the textbook interval does not.

/// The confidence of each interval.
pub(super) const CONFIDENCE: f64 = 0.95;

/// How many standard deviations an interval must extend to each side, so that with [`CONFIDENCE`] all of
/// `comparisons` intervals hold at once (Bonferroni). Otherwise five of a hundred unchanged groups would be
/// reported as changed.
pub(super) fn deviations(comparisons: usize) -> f64 {
    let wanted = (1.0 - CONFIDENCE) / 2.0 / comparisons.max(1) as f64;
    let (mut low, mut high) = (1.0_f64, 40.0_f64);
    // Each step halves what is left: 60 leave nothing that a double can represent.
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        if upper_tail(middle) > wanted { low = middle } else { high = middle }
    }
    high
}

/// The part of a normal distribution above `deviations` standard deviations (at least 1), by the continued
/// fraction of Laplace.
fn upper_tail(deviations: f64) -> f64 {
    let fraction = (1..=300).rev().fold(deviations, |below, k| deviations + f64::from(k) / below);
    (-deviations * deviations / 2.0).exp() / std::f64::consts::TAU.sqrt() / fraction
}

/// A number that may be an estimate, with its lower and upper bound.
#[derive(Debug, Clone, Copy)]
pub(super) struct Counted {
    pub(super) low: f64,
    pub(super) value: f64,
    pub(super) high: f64,
}

impl Counted {
    /// A count with its bounds. An estimate has a standard error of 3.3 %. Its bounds are three standard
    /// errors away, which is practically certain.
    pub(super) fn new(count: u64, exact: bool) -> Self {
        let (value, error) = (count as f64, if exact { 0.0 } else { 0.1 });
        Self { low: value * (1.0 - error), value, high: value * (1.0 + error) }
    }
}

/// The share of a part in a whole, with its interval. All three numbers are from 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Proportion {
    pub(super) low: f64,
    pub(super) value: f64,
    pub(super) high: f64,
}

impl Proportion {
    /// Wilson's interval of `part` out of `whole`.
    pub(super) fn new(part: Counted, whole: Counted, deviations: f64) -> Self {
        let value = if whole.value > 0.0 { (part.value / whole.value).min(1.0) } else { 0.0 };
        let (low, _) = wilson(part.low, whole.high, deviations);
        let (_, high) = wilson(part.high, whole.low, deviations);
        Self { low: low.min(value), value, high: high.max(value) }
    }

    /// `self` minus `before`, with Newcombe's interval, from -1 to 1.
    pub(super) fn difference(self, before: Self) -> Self {
        let value = self.value - before.value;
        let distance = |x: f64, y: f64| x.hypot(y);
        Self {
            low: value - distance(self.value - self.low, before.high - before.value),
            value,
            high: value + distance(self.high - self.value, before.value - before.low),
        }
    }
}

fn wilson(part: f64, whole: f64, deviations: f64) -> (f64, f64) {
    if whole <= 0.0 {
        return (0.0, 1.0);
    }
    let (p, z2) = ((part / whole).min(1.0), deviations * deviations);
    let scale = 1.0 + z2 / whole;
    let centre = (p + z2 / (2.0 * whole)) / scale;
    let half = deviations / scale * (p * (1.0 - p) / whole + z2 / (4.0 * whole * whole)).sqrt();
    ((centre - half).max(0.0), (centre + half).min(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(part: u64, whole: u64) -> Proportion {
        Proportion::new(Counted::new(part, true), Counted::new(whole, true), deviations(1))
    }

    fn is(got: f64, wanted: f64) -> bool {
        (got - wanted).abs() < 6e-5
    }

    #[test]
    fn deviations_are_those_of_the_tables() {
        for (comparisons, wanted) in [(1, 1.959_96), (5, 2.575_83), (50, 3.290_53)] {
            assert!(is(deviations(comparisons), wanted), "{comparisons}: {}", deviations(comparisons));
        }
    }

    /// The expected values are from Table II of Newcombe's paper, method 10.
    #[test]
    fn differences_have_the_published_intervals() {
        for (after, before, low, high) in [
            ((56, 70), (48, 80), 0.0524, 0.3339),
            ((9, 10), (3, 10), 0.1705, 0.8090),
            ((5, 56), (0, 29), -0.0381, 0.1926),
            ((10, 10), (0, 20), 0.6791, 1.0),
        ] {
            let found = of(after.0, after.1).difference(of(before.0, before.1));
            assert!(is(found.low, low) && is(found.high, high), "{after:?} {before:?}: {found:?}");
        }
    }

    #[test]
    fn a_rate_of_no_users_is_unknown_and_an_estimate_is_less_sure() {
        assert_eq!(of(0, 0), Proportion { low: 0.0, value: 0.0, high: 1.0 });
        let estimate =
            Proportion::new(Counted::new(1_000, false), Counted::new(100_000, true), deviations(1));
        let exact = of(1_000, 100_000);
        assert!(estimate.low < exact.low && estimate.high > exact.high, "{estimate:?} {exact:?}");
    }
}
