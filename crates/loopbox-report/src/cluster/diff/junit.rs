//! A comparison as JUnit's XML, which every CI shows. Each group is a test, which fails when the group makes
//! the comparison fail.

use super::{Change, ChangeKind, Comparison};
use crate::render::escape::escape;
use std::fmt::Write as _;

/// The groups of the comparison as tests.
pub fn junit(comparison: &Comparison) -> String {
    let c = comparison;
    let count = |is: fn(&Change) -> bool| c.groups.iter().filter(|change| is(change)).count();
    let (failures, skipped) =
        (count(|change| change.fails), count(|change| change.change == ChangeKind::Incomparable));
    let counts =
        format!("tests=\"{}\" failures=\"{failures}\" errors=\"0\" skipped=\"{skipped}\"", c.groups.len());
    let name = escape(&format!("loopbox diff {} {}", c.before.name, c.after.name));
    let mut out = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites {counts}>\n<testsuite name=\"{name}\" {counts}>\n"
    );
    for change in &c.groups {
        let title = escape(&format!("{} [{}]", change.title, change.id));
        let _ = write!(out, "<testcase classname=\"loopbox.{}\" name=\"{title}\"", escape(&change.cause));
        let rates = format!(
            "{} → {} of 1,000 {}, difference {}",
            change.before.text(),
            change.after.text(),
            c.unit,
            change.difference.text()
        );
        if change.fails {
            let _ = writeln!(
                out,
                "><failure type=\"{kind}\" message=\"{kind}: {}\">{}</failure></testcase>",
                escape(&rates),
                escape(&format!("{}\nopen {}", change.frames.join("\n"), change.open)),
                kind = change.change.as_str()
            );
        } else if change.change == ChangeKind::Incomparable {
            out.push_str("><skipped message=\"obfuscated names cannot be compared\"/></testcase>\n");
        } else {
            let text = format!("{}: {rates}", change.change.as_str());
            let _ = writeln!(out, "><system-out>{}</system-out></testcase>", escape(&text));
        }
    }
    out.push_str("</testsuite>\n</testsuites>\n");
    out
}
