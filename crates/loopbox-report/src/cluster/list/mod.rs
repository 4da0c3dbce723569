//! An HTML page that lists reports, with filters by what they have in common. The server that serves it has
//! the reports themselves at `report/0`, `report/1`, and so on.

use super::sighting::Sighting;
use crate::model::plural::plural;
use crate::model::time::minute;
use crate::render::escape::escape;
use crate::render::html::STYLE;
use loopbox_format::problem::OBFUSCATED;
use std::fmt::Write as _;

const SKELETON: &str = include_str!("list.html");
const SCRIPT: &str = include_str!("list.js");

/// The page of these reports. Each report comes with its number; the newest `limit` of them are listed, the
/// newest first.
pub fn list(reports: &[(usize, Sighting)], limit: usize) -> String {
    let mut newest: Vec<&(usize, Sighting)> = reports.iter().collect();
    newest.sort_by_key(|(number, sighting)| (std::cmp::Reverse(sighting.seen_ms), *number));
    let headline = plural(reports.len() as u64, "report");
    let note = match reports.len().saturating_sub(limit) {
        0 => String::new(),
        more => format!("the newest {limit} are listed, {more} more are not"),
    };
    let rows: String =
        newest.into_iter().take(limit).map(|(number, sighting)| row(*number, sighting)).collect();
    let mut page = String::with_capacity(16 << 10);
    for part in SKELETON.split("{{").flat_map(|piece| piece.split_inclusive("}}")) {
        match part {
            "headline}}" => page.push_str(&headline),
            "note}}" => page.push_str(&note),
            "style}}" => page.push_str(STYLE),
            "rows}}" => page.push_str(&rows),
            "script}}" => page.push_str(SCRIPT),
            text => page.push_str(text),
        }
    }
    page
}

fn row(number: usize, sighting: &Sighting) -> String {
    let frames = sighting.signature.frames.iter().rev();
    let group = frames.into_iter().find(|frame| *frame != OBFUSCATED).map_or("", String::as_str);
    let [cause, group, version, device] =
        [&sighting.cause, group, &sighting.version, &sighting.device].map(escape);
    let mut row = format!(
        "<tr data-version=\"{version}\" data-cause=\"{cause}\" data-device=\"{device}\" data-group=\"{group}\">"
    );
    let time = sighting.seen_ms.and_then(minute).unwrap_or_default();
    let _ = writeln!(
        row,
        "<td>{time}</td><td class=\"text\"><a href=\"report/{number}\">{}</a><br><small class=\"sub\">{}</small></td><td>{cause}</td>\
         <td>{group}</td><td>{version}</td><td>{device}</td><td>{}</td></tr>",
        escape(&sighting.representative.headline),
        escape(&sighting.representative.path),
        sighting.anr
    );
    row
}
