//! Numbers with their nouns.

/// A number with its noun: `1 group`, `2 groups`.
pub(crate) fn plural(count: u64, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}
