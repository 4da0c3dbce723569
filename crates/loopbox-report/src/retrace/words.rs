//! Finds names of classes in the messages of a report.

use loopbox_format::model::{MainState, Message, Report};

/// Calls `each` with every message that has a name.
pub(super) fn messages(report: &mut Report, mut each: impl FnMut(&mut Message)) {
    for detail in report.history.iter_mut().flat_map(|record| &mut record.details) {
        detail.message.iter_mut().for_each(&mut each);
    }
    if let MainState::Running(running) = &mut report.main {
        running.message.iter_mut().for_each(&mut each);
    }
}

/// A printed message with the class names after `target=`, `callback=` and `obj=` deobfuscated. Other text is
/// not changed: a word there that equals an obfuscated name is not a class name.
pub(super) fn pending_line<'n>(line: &str, mut original: impl FnMut(&str) -> Option<&'n str>) -> String {
    let mut out = String::with_capacity(line.len());
    let mut rest = line;
    while let Some((key, at)) = ["target=", "callback=", "obj="]
        .into_iter()
        .filter_map(|key| Some((key, rest.find(key)?)))
        .min_by_key(|k| k.1)
    {
        let (before, from) = rest.split_at(at + key.len());
        out.push_str(before);
        let is_name = |c: char| c.is_alphanumeric() || matches!(c, '.' | '$' | '_' | '-');
        let end = from.find(|c| !is_name(c)).unwrap_or(from.len());
        let (name, after) = from.split_at(end);
        out.push_str(original(name).unwrap_or(name));
        rest = after;
    }
    out.push_str(rest);
    out
}
