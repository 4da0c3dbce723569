//! Flame graphs (SVG) of one message's stacks in order of time, or of stacks merged by call path.

use crate::export::{collapsed_merged, collapsed_timed};
use crate::{Analysis, Tree};
use inferno::flamegraph::{self, Options};
use std::io::Write;

/// What to draw.
#[derive(Debug, Clone, Copy, Default)]
pub struct Choice {
    /// The message whose stacks to draw. `None` is the message that was running at the dump, or with `merged` all
    /// messages.
    pub token: Option<u64>,
    /// Sum up equal call paths instead of keeping the order of time.
    pub merged: bool,
}

/// Why there is no flame graph.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FlameError {
    /// The report has no stacks at all.
    #[error("the report has no stacks: {0}")]
    NoStacks(String),
    /// The report has stacks of other messages only.
    #[error("no stacks of message {token}; there are of {have}")]
    NotThisOne {
        /// The message asked for.
        token: u64,
        /// Those that have stacks.
        have: String,
    },
    /// The stacks are there and make no sense.
    #[error("the stacks of message {token} cannot be written: {why}")]
    Unusable {
        /// The message.
        token: u64,
        /// What is wrong with them.
        why: String,
    },
    /// The SVG could not be written.
    #[error("cannot write the flame graph: {0}")]
    Io(#[from] std::io::Error),
}

/// Writes a self-contained SVG. Widths are time; hovering tells milliseconds, a click zooms, Ctrl-F searches.
///
/// # Errors
/// When the chosen stacks are not in the report, and those of `out`.
pub fn write(analysis: &Analysis, choice: Choice, out: impl Write) -> Result<(), FlameError> {
    let trees = chosen(analysis, choice)?;
    let stacks = match trees {
        [tree] if !choice.merged => collapsed_timed(tree, &analysis.frames),
        trees => collapsed_merged(trees, &analysis.frames),
    };
    if stacks.is_empty() {
        return Err(FlameError::NoStacks("its samples are empty".into()));
    }
    let mut options = Options::default();
    options.title = match trees {
        [tree] => crate::export::tree_name(analysis, tree.token),
        trees => format!("{} messages of {}", trees.len(), analysis.meta.process.name),
    };
    let samples: u64 = trees.iter().map(|tree| u64::from(tree.samples())).sum();
    let order = if choice.merged { "merged by call path" } else { "in order of time" };
    options.subtitle = Some(format!("{samples} samples, {order}"));
    options.count_name = "ms".into();
    options.factor = 1e-3;
    options.flame_chart = !choice.merged;
    options.deterministic = true;
    options.image_width = None;
    if choice.merged {
        flamegraph::from_lines(&mut options, stacks.lines(), out)?;
    } else {
        // For a chart inferno turns its input round, because perf prints the newest first.
        flamegraph::from_lines(&mut options, stacks.lines().rev(), out)?;
    }
    Ok(())
}

pub(crate) fn chosen(a: &Analysis, choice: Choice) -> Result<&[Tree], FlameError> {
    if a.trees.is_empty() {
        let sampler = a.features.iter().find(|f| f.feature == loopbox_format::model::Feature::Sampler);
        return Err(FlameError::NoStacks(match sampler {
            Some(state) if !state.on => format!("the sampler was off ({})", state.detail),
            _ => "no message ran long enough to be kept".into(),
        }));
    }
    let token = match (choice.token, choice.merged) {
        (None, true) => return Ok(&a.trees),
        (Some(token), _) => token,
        // The running message's stacks, else the newest there are.
        (None, false) => match a.running() {
            Some(running) if a.tree(running.token).is_some() => running.token,
            _ => a.trees.last().map_or(0, |tree| tree.token),
        },
    };
    if let Some(at) = a.trees.iter().rposition(|tree| tree.token == token) {
        return Ok(&a.trees[at..=at]);
    }
    let have: Vec<String> = a.trees.iter().map(|tree| tree.token.to_string()).collect();
    Err(FlameError::NotThisOne { token, have: have.join(", ") })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_support::ReportBuilder;

    fn svg(choice: Choice) -> Result<String, FlameError> {
        let report = ReportBuilder::new()
            .single("a.H", 200, 100)
            .running(43, 1_000)
            .doing("com.example.Main", "", 900)
            .tree(1, &[("a.A.a z.Z.z", 5)])
            .tree(43, &[("a.A.a b.B.<init>", 2), ("a.A.a", 1), ("a.A.a b.B.<init>", 3)])
            .build();
        let mut out = Vec::new();
        write(&Analysis::new(&report), choice, &mut out)?;
        Ok(String::from_utf8(out).unwrap())
    }

    /// Frame name and milliseconds, from the `<title>` that every rectangle has.
    fn titles(svg: &str) -> Vec<&str> {
        let found = svg.split("<title>").skip(1).filter_map(|rest| rest.split("</title>").next());
        found.filter(|title| title.contains(" ms,")).collect()
    }

    #[test]
    fn the_running_message_is_drawn_in_order_of_time() {
        let svg = svg(Choice::default()).unwrap();
        assert!(svg.contains("#43 com.example.Main what=0 (running at the dump)"), "{svg}");
        let mut titles = titles(&svg);
        titles.sort_unstable();
        assert_eq!(
            titles,
            [
                "a.A.a (60 ms, 100.00%)",
                "all (60 ms, 100%)",
                "b.B.&lt;init&gt; (20 ms, 33.33%)",
                "b.B.&lt;init&gt; (30 ms, 50.00%)"
            ]
        );
        // Where the rectangle begins, in per mille of the width.
        let x = |title: &str| {
            let rect = svg.split(title).nth(1).and_then(|rest| rest.split("x=\"").nth(1)).unwrap();
            rect.split('%').next().unwrap().parse::<f64>().unwrap()
        };
        assert!(x("b.B.&lt;init&gt; (20 ms") < x("b.B.&lt;init&gt; (30 ms"), "time goes from left to right");
    }

    #[test]
    fn merged_sums_up_all_messages_or_one() {
        let all = svg(Choice { merged: true, token: None }).unwrap();
        assert!(titles(&all).contains(&"a.A.a (110 ms, 100.00%)"), "{:?}", titles(&all));
        let one = svg(Choice { merged: true, token: Some(43) }).unwrap();
        assert!(titles(&one).contains(&"b.B.&lt;init&gt; (50 ms, 83.33%)"), "{:?}", titles(&one));
    }

    #[test]
    fn says_what_there_is_instead() {
        let error = svg(Choice { token: Some(7), merged: false }).unwrap_err().to_string();
        assert_eq!(error, "no stacks of message 7; there are of 1, 43");
        let bare = ReportBuilder::new().running(1, 10).with(|r| {
            r.features[1].on = false;
            r.features[1].detail = "no table fits".into();
        });
        let error = write(&Analysis::new(&bare.build()), Choice::default(), &mut Vec::new()).unwrap_err();
        assert_eq!(error.to_string(), "the report has no stacks: the sampler was off (no table fits)");
    }
}
