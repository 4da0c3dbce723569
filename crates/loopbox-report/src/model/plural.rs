//! Numbers with their nouns, and lists.

/// A number with its noun: `1 group`, `2 groups`.
pub(crate) fn plural(count: u64, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

/// A list in words: `60`, `60 and 90`, `60, 90 and 120`.
pub(crate) fn listed(items: &[String]) -> String {
    match items {
        [] => String::new(),
        [one] => one.clone(),
        [before @ .., last] => format!("{} and {last}", before.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn listed_has_and_before_the_last_item_only() {
        let items = ["60", "90", "120"].map(str::to_owned);
        let lists: Vec<String> = (0..=3).map(|len| listed(&items[..len])).collect();
        assert_eq!(lists, ["", "60", "60 and 90", "60, 90 and 120"]);
    }
}
