//! Charts of bars as SVG, drawn with the colours of the page.

use crate::render::escape::escape;
use std::fmt::Write as _;

/// The height of the tallest bar.
const HEIGHT: f64 = 120.0;
/// The width for a bar with its name.
const STEP: f64 = 34.0;
/// The room above the bars for their values.
const ABOVE: f64 = 16.0;
/// The room below the bars for their names.
const BELOW: f64 = 18.0;

/// A bar: its name, its value, and the value as a reader sees it.
pub(super) struct Bar {
    pub(super) name: String,
    pub(super) value: f64,
    pub(super) label: String,
    /// Whether it is drawn as something bad.
    pub(super) bad: bool,
}

/// Bars next to each other. Each has enough width for its name, so on a narrow screen the reader has to
/// scroll. With `log` the height of a bar is the logarithm of its value, so that rare values are visible next
/// to frequent ones.
pub(super) fn bars(title: &str, bars: &[Bar], log: bool) -> String {
    let scale = |value: f64| if log { (1.0 + value.max(0.0)).ln() } else { value.max(0.0) };
    let tallest = bars.iter().map(|bar| scale(bar.value)).fold(0.0, f64::max);
    let width = STEP * bars.len() as f64;
    let mut out = format!(
        "<div class=\"scroll\" tabindex=\"0\" role=\"group\" aria-label=\"Chart\">\
         <svg role=\"img\" aria-label=\"{}\" width=\"{width:.0}\" height=\"{:.0}\">",
        escape(title),
        HEIGHT + ABOVE + BELOW
    );
    for (at, bar) in bars.iter().enumerate() {
        let height = if tallest > 0.0 { HEIGHT * scale(bar.value) / tallest } else { 0.0 };
        let (left, top) = (STEP * at as f64, ABOVE + HEIGHT - height);
        let middle = left + STEP / 2.0;
        let class = if bar.bad { " class=\"bad\"" } else { "" };
        let _ = write!(
            out,
            "<rect{class} x=\"{:.1}\" y=\"{top:.1}\" width=\"{:.1}\" height=\"{height:.1}\"><title>{}: {}</title></rect>\
             <text x=\"{middle:.1}\" y=\"{:.1}\">{}</text><text x=\"{middle:.1}\" y=\"{:.1}\">{}</text>",
            left + 2.0,
            STEP - 4.0,
            escape(&bar.name),
            escape(&bar.label),
            top - 4.0,
            escape(&bar.label),
            ABOVE + HEIGHT + 13.0,
            escape(&bar.name),
        );
    }
    out.push_str("</svg></div>");
    out
}

/// A part of a whole.
pub(super) struct Part<'a> {
    pub(super) name: &'a str,
    pub(super) value: f64,
    pub(super) label: String,
    /// The hue of the part's colour, in degrees.
    pub(super) hue: usize,
}

/// Parts of a whole as one stacked bar with a legend.
pub(super) fn stacked(title: &str, parts: &[Part<'_>]) -> String {
    let whole: f64 = parts.iter().map(|part| part.value.max(0.0)).sum();
    let mut out = format!("<div class=\"stack\" role=\"img\" aria-label=\"{}\">", escape(title));
    for Part { name, value, label, hue } in parts {
        let share = if whole > 0.0 { 100.0 * value.max(0.0) / whole } else { 0.0 };
        let (name, label) = (escape(name), escape(label));
        let _ = write!(out, "<i style=\"width:{share:.2}%;--hue:{hue}\" title=\"{name}: {label}\"></i>");
    }
    out.push_str("</div><p class=\"legend\">");
    for Part { name, label, hue, .. } in parts {
        let (name, label) = (escape(name), escape(label));
        let _ = write!(out, "<span><i style=\"--hue:{hue}\"></i>{name} <small>{label}</small></span> ");
    }
    out.push_str("</p>");
    out
}

/// The hue of the colour for the item at this position of a list, in degrees; neighbours differ.
pub(super) fn hue(at: usize) -> usize {
    (210 + at * 137) % 360
}
