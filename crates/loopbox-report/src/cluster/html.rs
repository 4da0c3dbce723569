//! The result of clustering as one self-contained page.

use super::cardinality::NameCount;
use super::summary::{Group, Summary};
use super::text::days;
use super::trend;
use crate::model::plural::plural;
use crate::render::escape::{breakable, escape};
use std::fmt::Write as _;

const STYLE: &str = "\
:root{color-scheme:light dark;--back:#fff;--ink:#1b2230;--line:#dde2ea;--quiet:#5b6577;--bar:#c4464640;--mark:#c44646}\
@media screen and (prefers-color-scheme:dark){:root{--back:#12161d;--ink:#e5e9f0;--line:#2f3846;--quiet:#9aa5b8;--bar:#c4464680;--mark:#e07a7a}}\
body{background:var(--back);color:var(--ink);font:15px/1.5 system-ui,sans-serif;margin:0 auto;max-width:75rem;padding:1rem}\
h1{font-size:1.4rem}summary{cursor:pointer;display:grid;grid-template-columns:3rem 7rem 1fr;gap:.5rem;padding:.4rem 0}\
details{border-top:1px solid var(--line)}summary::marker{content:''}summary:focus-visible{outline:2px solid}\
code{overflow-wrap:anywhere}small,dt{color:var(--quiet)}\
.bar{background:linear-gradient(var(--bar),var(--bar)) no-repeat;padding:0 .3rem;text-align:right;border-radius:3px;align-self:start}\
dl{display:grid;grid-template-columns:max-content 1fr;gap:.2rem 1rem;margin:0 0 1rem 3.5rem}dd{margin:0}\
ol{margin:0;padding-left:1.2rem}\
.trend{display:block;max-width:100%;height:auto;font:12px system-ui,sans-serif}.trend rect{fill:var(--mark)}.trend text{fill:var(--ink);text-anchor:middle}\
@media(max-width:40rem){summary{grid-template-columns:2rem 4.5rem 1fr}dl{margin-left:0}}";

/// The HTML page of a summary, with at most `limit` groups.
pub fn html(summary: &Summary, limit: usize) -> String {
    let mut out = String::with_capacity(4_096 + 2_048 * summary.groups.len().min(limit));
    let headline = escape(&summary.headline());
    let _ = write!(
        out,
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><meta name=\"viewport\" \
         content=\"width=device-width\"><title>Loopbox: {headline}</title><style>{STYLE}</style><main><h1>{headline}</h1>"
    );
    for (i, group) in summary.groups.iter().take(limit).enumerate() {
        write_group(&mut out, i + 1, group, summary);
    }
    if summary.groups.len() > limit {
        let more = plural((summary.groups.len() - limit) as u64, "more group");
        let _ = write!(out, "<p>Not on this page: {more}.");
    }
    if !summary.recorder.is_empty() {
        let _ = write!(out, "<h2>The recorder itself</h2><dl>");
        for part in &summary.recorder {
            let _ = write!(
                out,
                "<dt>{} off in {}<dd>{}",
                part.name,
                plural(part.reports, "report"),
                escape(&part.reasons_in_words())
            );
        }
        out.push_str("</dl>");
    }
    out.push_str("</main></html>\n");
    out
}

fn write_group(out: &mut String, rank: usize, group: &Group, summary: &Summary) {
    let share = 100.0 * group.share;
    let open = if rank == 1 { " open" } else { "" };
    let _ = write!(
        out,
        "<details{open} id=\"{}\"><summary><b>{rank}</b><span class=\"bar\" \
         style=\"background-size:{share:.1}% 100%\">{}</span><span><code>{}</code> {} \
         <small>{}</small></span></summary><dl>",
        escape(&group.id),
        group.amount.short(summary.ranked_by),
        breakable(group.title()),
        group.top_causes.first().map(|cause| escape(&cause.name)).unwrap_or_default(),
        group.counts()
    );
    let mut row = |name: &str, value: &str| {
        if !value.is_empty() {
            let _ = write!(out, "<dt>{name}<dd>{value}");
        }
    };
    row("has", &group.amount.in_words());
    row("share", &format!("{share:.1} %"));
    row("rate", &summary.rate_in_words(group).unwrap_or_default());
    row("causes", &list(&group.top_causes));
    row("messages", &list(&group.top_messages));
    row("ANR", &list(&group.anr_verdicts));
    let frames: Vec<String> = group.frames.iter().map(|frame| format!("<li>{}", code(frame))).collect();
    if !frames.is_empty() {
        row("path", &format!("<ol>{}</ol>", frames.concat()));
    }
    row("trend", &trend::bars(&group.trend));
    row("versions", &list(&group.top_versions));
    row("devices", &list(&group.top_devices));
    if let Some((first, last)) = days(group) {
        row("seen", &format!("{first} to {last}"));
    }
    if !group.obfuscated_version.is_empty() {
        row("names", "are obfuscated; --mapping deobfuscates them and joins versions");
    }
    row("verdict", &escape(&group.representative.headline));
    row("look at", &group.representative.culprit.as_deref().map(code).unwrap_or_default());
    row("open", &format!("<code>{}</code>", escape(&group.representative.path)));
    out.push_str("</dl></details>");
}

fn code(text: &str) -> String {
    if text.is_empty() { String::new() } else { format!("<code>{}</code>", breakable(text)) }
}

fn list(named: &[NameCount]) -> String {
    let one = |n: &NameCount| format!("{} ({})", escape(&n.name), n.reports);
    named.iter().map(one).collect::<Vec<_>>().join(", ")
}
