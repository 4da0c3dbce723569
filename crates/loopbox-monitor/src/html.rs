//! The sums of a monitor's files as one self-contained page with charts.

use crate::text::{culprit, dropped, headline, levels, name, phases, plural, time, values};
use crate::view::{Group, View};
use loopbox_report::{breakable, escape};
use std::fmt::Write as _;

const STYLE: &str = "\
:root{color-scheme:light dark;--back:#fff;--ink:#1b2230;--line:#dde2ea;--quiet:#5b6577;--bar:#4a7fb5}\
@media screen and (prefers-color-scheme:dark){:root{--back:#12161d;--ink:#e5e9f0;--line:#2f3846;--quiet:#9aa5b8}}\
body{background:var(--back);color:var(--ink);font:15px/1.5 system-ui,sans-serif;margin:0 auto;max-width:75rem;padding:1rem}\
h1{font-size:1.4rem}h2{font-size:1.1rem;border-top:1px solid var(--line);padding-top:.8rem}\
small,.quiet{color:var(--quiet)}code,td{overflow-wrap:anywhere}pre{overflow-x:auto;margin:.2rem 0 .6rem}\
table{border-collapse:collapse;table-layout:fixed;width:100%}.wide{table-layout:auto}td,th{padding:.2rem .7rem;text-align:left;border-bottom:1px solid var(--line)}\
th{color:var(--quiet);font-weight:normal}td.n,th.n{text-align:right;white-space:nowrap;width:5.4rem}td.bar{width:26%}td.bar i{display:block;height:.9rem;background:var(--bar);border-radius:2px}\
@media(max-width:40rem){table,thead,tbody{display:block}tr{display:grid;grid-template-columns:repeat(3,4.7rem) 1fr;align-items:center;border-bottom:1px solid var(--line)}\
td,th{border:0;padding:.1rem .3rem}td.n,th.n{width:auto}tr>:first-child{grid-column:1/-1;min-width:0}td.bar{width:auto}.wide tr{grid-template-columns:1fr}.wide td.n{text-align:left}}";
/// The heads of all columns of a table except the first, and the start of the table's body.
const COLUMNS: &str =
    "<th class=\"n\">stalls<th class=\"n\">longest<th class=\"n\">in all<td class=\"bar\"><tbody>";

/// The page, with at most `limit` rows of each table except that of days.
pub fn html(view: &View, limit: usize) -> String {
    let mut out = String::with_capacity(32 << 10);
    let headline = escape(&headline(view));
    let _ = write!(
        out,
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><meta name=\"viewport\" \
         content=\"width=device-width\"><title>Loopbox: main-thread stalls</title><style>{STYLE}</style>\
         <main><h1>Main-thread stalls</h1><p>{headline}<p>{}",
        levels(&view.levels)
    );
    table(&mut out, "Days", &view.days, usize::MAX);
    table(&mut out, "Scenes", &view.scenes, limit);
    table(&mut out, "Messages", &view.messages, limit);
    out.push_str("<h2>Stacks</h2><p class=\"quiet\">By their share of the stalls' time. Open one for the stack of the longest stall.");
    let most = view.stacks.iter().map(|stack| stack.ms).fold(0.0, f64::max);
    let _ = write!(out, "<table><thead><tr><th>stack{COLUMNS}");
    for stack in view.stacks.iter().take(limit) {
        let frames = escape(&stack.frames.join("\n"));
        let what = format!(
            "<details><summary><code>{}</code></summary><pre tabindex=\"0\">{frames}</pre></details>",
            breakable(&culprit(stack))
        );
        row(&mut out, stack.ms, most, stack.stalls, stack.longest_ms, &what);
    }
    out.push_str("</table>");
    around(&mut out, view);
    out.push_str("</main></html>\n");
    out
}

fn table(out: &mut String, title: &str, groups: &[Group], limit: usize) {
    if groups.iter().all(|group| group.name.is_empty()) {
        return;
    }
    let most = groups.iter().map(|group| group.ms).fold(0.0, f64::max);
    let what = title.trim_end_matches('s').to_lowercase();
    let _ = write!(out, "<h2>{title}</h2><table><thead><tr><th>{what}{COLUMNS}");
    for group in groups.iter().take(limit) {
        let what = format!(
            "<code>{}</code> <small>{}{}</small>",
            breakable(&name(&group.name)),
            levels(&group.levels),
            dropped(group.dropped_frames)
        );
        row(out, group.ms, most, group.stalls, group.longest_ms, &what);
    }
    out.push_str("</table>");
}

/// Adds a row to a table. `what` is HTML and is not escaped.
fn row(out: &mut String, ms: f64, most_ms: f64, stalls: u64, longest_ms: f64, what: &str) {
    let share = if most_ms > 0.0 { 100.0 * ms / most_ms } else { 0.0 };
    let _ = write!(
        out,
        "<tr><td>{what}<td class=\"n\">{stalls}<td class=\"n\">{}<td class=\"n\">{}<td class=\"bar\"><i style=\"width:{share:.1}%\"></i>",
        time(longest_ms),
        time(ms)
    );
}

fn around(out: &mut String, view: &View) {
    out.push_str("<h2>Around stalls</h2><table class=\"wide\">");
    for (when, phase) in phases(view) {
        let _ = write!(out, "<tr><td>{when}<td class=\"n\">{}<td>", plural(phase.stalls, "stall"));
        let words: Vec<String> =
            values(phase).into_iter().map(|(what, value)| format!("{what} {value}")).collect();
        out.push_str(&words.join(", "));
        let share = phase.proc_cpu.unwrap_or_default().clamp(0.0, 100.0);
        let _ = write!(out, "<td class=\"bar\"><i style=\"width:{share:.1}%\"></i>");
    }
    out.push_str("</table>");
}
