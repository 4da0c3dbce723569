//! The display's frames.

use super::layout::{Options, heading, line};
use super::style::{QUIET, paint};
use crate::model::Analysis;
use crate::render::smoothness::{DisplayFrames, janks, scene};

/// Without `--full` only this many jank frames are shown: the last ones.
const SHORT: usize = 5;
/// The number of refreshes in one line.
const WIDTH: usize = 100;

pub(super) fn write(out: &mut String, a: &Analysis, options: Options) {
    let Some(frames) = DisplayFrames::new(a) else { return };
    let mut figures = String::new();
    scene(&mut figures, &frames.figures.process);
    let (first, rest) = figures.split_once('\n').unwrap_or((&figures, ""));
    heading(out, "FRAMES", first);
    out.push_str(rest);
    if !frames.line.is_empty() {
        line(out, paint(QUIET, "  the last of them (· in time, digits: refreshes missed, | another scroll)"));
        let shown: Vec<char> = frames.line.chars().collect();
        for part in shown.chunks(WIDTH) {
            line(out, format!("  {}", part.iter().collect::<String>()));
        }
    }
    let from = if options.full { 0 } else { frames.janks.len().saturating_sub(SHORT) };
    if from > 0 {
        line(out, paint(QUIET, format!("  {from} earlier jank frames (--full)")));
    }
    janks(out, &frames.janks[from..]);
}
