//! How a group's share of the reports changes from version to version, as a drawing.

use super::summary::VersionShare;
use crate::model::time::share;
use crate::render::escape::escape;
use std::fmt::Write as _;

/// The width of a bar with the space next to it, in pixels.
const BAR: usize = 76;
/// The width of a bar, in pixels.
const WIDTH: usize = 44;
/// The height of the highest bar, in pixels.
const HEIGHT: f64 = 56.0;
/// The height above the bars, for the percentages, in pixels.
const ABOVE: usize = 18;
/// The height below the bars, for the versions, in pixels.
const BELOW: usize = 20;
/// How many characters of a version fit below its bar.
const MAX_CHARS: usize = 10;

/// A drawing with a bar for each version. The bar of the highest share has the full height. Empty for fewer
/// than two versions.
pub(super) fn bars(trend: &[VersionShare]) -> String {
    if trend.len() < 2 {
        return String::new();
    }
    let shares: Vec<f64> = trend.iter().map(|version| share(version.reports, version.of).min(1.0)).collect();
    let highest = shares.iter().copied().fold(0.001, f64::max);
    let (width, base) = (trend.len() * BAR, ABOVE as f64 + HEIGHT);
    let mut out = format!(
        "<svg class=\"trend\" viewBox=\"0 0 {width} {}\" width=\"{width}\" role=\"img\" aria-label=\"{}\">",
        ABOVE + HEIGHT as usize + BELOW,
        escape(&in_words(trend))
    );
    for (nth, (version, share)) in trend.iter().zip(shares).enumerate() {
        let (left, high) = (nth * BAR + (BAR - WIDTH) / 2, HEIGHT * share / highest);
        let middle = left + WIDTH / 2;
        let _ = write!(
            out,
            "<rect x=\"{left}\" y=\"{:.1}\" width=\"{WIDTH}\" height=\"{:.1}\"/><text x=\"{middle}\" y=\"{:.1}\">{}</text><text \
             x=\"{middle}\" y=\"{}\">{}</text>",
            base - high,
            high.max(1.0),
            base - high - 5.0,
            percent(share),
            base as usize + 15,
            escape(&short(&version.version))
        );
    }
    out.push_str("</svg>");
    out
}

/// The trend in words: `5.1.0 (50100): 3 of 40 reports (7.5 %), …`.
fn in_words(trend: &[VersionShare]) -> String {
    let one = |version: &VersionShare| {
        let percent = percent(share(version.reports, version.of));
        format!("{}: {} of {} reports ({percent})", version.version, version.reports, version.of)
    };
    trend.iter().map(one).collect::<Vec<_>>().join(", ")
}

fn percent(share: f64) -> String {
    let percent = 100.0 * share;
    if percent > 0.0 && percent < 9.95 { format!("{percent:.1} %") } else { format!("{percent:.0} %") }
}

/// The version's name without its code.
fn short(version: &str) -> String {
    let name = version.split(" (").next().unwrap_or_default();
    if name.chars().count() <= MAX_CHARS {
        return name.to_owned();
    }
    name.chars().take(MAX_CHARS - 1).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn version(name: &str, reports: u64, of: u64) -> VersionShare {
        VersionShare { version: name.into(), reports, of }
    }

    #[test]
    fn bars_are_as_high_as_the_shares() {
        let svg =
            bars(&[version("5.1.0 (50100)", 0, 40), version("5.2.0 (50200)", 5, 40), version("<b>", 10, 20)]);
        let heights: Vec<&str> =
            svg.split("height=\"").skip(1).map(|rest| rest.split('"').next().unwrap()).collect();
        assert_eq!(heights, ["1.0", "14.0", "56.0"], "{svg}");
        assert!(svg.contains(">0 %<") && svg.contains(">12 %<") && svg.contains(">50 %<"), "{svg}");
        assert!(svg.contains(">5.2.0<") && svg.contains("&lt;b&gt;") && !svg.contains("<b>"), "{svg}");
        assert!(svg.contains("5.2.0 (50200): 5 of 40 reports (12 %)"), "{svg}");
    }

    #[test]
    fn one_version_is_no_trend() {
        assert_eq!(bars(&[version("1", 1, 1)]), "");
        assert_eq!(bars(&[]), "");
    }
}
