//! Flame graphs (SVG): the stacks of one message in order of time, or stacks merged by call path.

use super::collapsed;
use super::tree_choice::chosen_trees;
pub use super::tree_choice::{TreeChoice, TreeError};
use crate::model::Analysis;
use crate::model::message_name::tree_title;
use crate::model::plural::plural;
use inferno::flamegraph::{self, Options};
use std::io::Write;

/// Writes a self-contained SVG. Widths are time; hovering shows milliseconds, a click zooms, Ctrl-F searches.
///
/// # Errors
/// When the chosen stacks are not in the report, or `out` cannot be written to.
pub fn write(analysis: &Analysis, choice: TreeChoice, out: impl Write) -> Result<(), TreeError> {
    let trees = chosen_trees(analysis, choice)?;
    let stacks = match trees {
        [tree] if !choice.merged => collapsed::in_time_order(tree, &analysis.frames),
        trees => collapsed::merged(trees, &analysis.frames),
    };
    if stacks.is_empty() {
        return Err(TreeError::NoStacks("its samples are empty".into()));
    }
    let mut options = Options::default();
    options.title = match trees {
        [tree] => tree_title(analysis, tree.token),
        trees => format!("{} messages of {}", trees.len(), analysis.meta.process.name),
    };
    let samples: u64 = trees.iter().map(|tree| u64::from(tree.samples())).sum();
    let order = if choice.merged { "merged by call path" } else { "in order of time" };
    options.subtitle = Some(format!("{}, {order}", plural(samples, "sample")));
    options.count_name = "ms".into();
    options.factor = 1e-3;
    options.flame_chart = !choice.merged;
    options.deterministic = true;
    options.image_width = None;
    if choice.merged {
        flamegraph::from_lines(&mut options, stacks.lines(), out)?;
    } else {
        // For a flame chart inferno reverses its input, because perf prints the newest stack first.
        flamegraph::from_lines(&mut options, stacks.lines().rev(), out)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_support::ReportBuilder;
    use loopbox_format::model::Token;

    fn svg(choice: TreeChoice) -> Result<String, TreeError> {
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
    fn write_draws_the_running_message_in_order_of_time() {
        let svg = svg(TreeChoice::default()).unwrap();
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
        // The left edge of the rectangle, in per cent of the width.
        let x = |title: &str| {
            let rect = svg.split(title).nth(1).and_then(|rest| rest.split("x=\"").nth(1)).unwrap();
            rect.split('%').next().unwrap().parse::<f64>().unwrap()
        };
        assert!(x("b.B.&lt;init&gt; (20 ms") < x("b.B.&lt;init&gt; (30 ms"), "time goes from left to right");
    }

    #[test]
    fn write_merged_sums_up_all_messages_or_one() {
        let all = svg(TreeChoice { merged: true, token: None }).unwrap();
        assert!(titles(&all).contains(&"a.A.a (110 ms, 100.00%)"), "{:?}", titles(&all));
        let one = svg(TreeChoice { merged: true, token: Some(Token(43)) }).unwrap();
        assert!(titles(&one).contains(&"b.B.&lt;init&gt; (50 ms, 83.33%)"), "{:?}", titles(&one));
    }

    #[test]
    fn write_of_a_missing_message_lists_those_with_stacks() {
        let error = svg(TreeChoice { token: Some(Token(7)), merged: false }).unwrap_err().to_string();
        assert_eq!(error, "no stacks of message #7; there are stacks of 1, 43");
        let bare = ReportBuilder::new().running(1, 10).with(|r| {
            r.features[1].on = false;
            r.features[1].detail = "no table fits".into();
        });
        let error = write(&Analysis::new(&bare.build()), TreeChoice::default(), &mut Vec::new()).unwrap_err();
        assert_eq!(error.to_string(), "the report has no stacks: the sampler was off (no table fits)");
    }
}
