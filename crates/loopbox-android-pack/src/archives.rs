//! The sizes of the archives, as a table in `docs/size.md`. The command that records sizes writes the table.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

use loopbox_setup::files::write_atomically;

/// The lines before and after the table.
const MARKS: [&str; 2] = ["<!-- written by `cargo xtask android --bless` -->\n", "<!-- until here -->"];

/// Puts the table into the page.
pub(crate) fn write(page: &Path, sizes: &BTreeMap<String, u64>) -> Result<()> {
    let text = fs::read_to_string(page).with_context(|| format!("cannot read {}", page.display()))?;
    let (before, _, after) = parts(&text).with_context(|| page.display().to_string())?;
    let [begin, end] = MARKS;
    write_atomically(page, format!("{before}{begin}{}{end}{after}", table(sizes)))
}

/// The page before the table, the table, and what follows.
fn parts(page: &str) -> Result<(&str, &str, &str)> {
    let [begin, end] = MARKS;
    let (before, rest) = page.split_once(begin).context("no table of the archives")?;
    let (table, after) = rest.split_once(end).context("the table of the archives has no end")?;
    Ok((before, table, after))
}

/// The table of the archives' sizes, the heaviest first.
fn table(sizes: &BTreeMap<String, u64>) -> String {
    let mut rows: Vec<(&String, &u64)> = sizes.iter().collect();
    rows.sort_by_key(|(name, bytes)| (std::cmp::Reverse(**bytes), name.as_str()));
    let head = "\n| archive | bytes |\n|---|---:|\n".to_owned();
    let rows =
        rows.into_iter().map(|(name, bytes)| format!("| `io.loopbox:{name}` | {} |\n", grouped(*bytes)));
    format!("{head}{}\n", rows.collect::<String>())
}

/// The number with commas between groups of three digits: `1,234,567`.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::artifact::ALL;
    use crate::project::data;
    use crate::size::Ratchet;
    use loopbox_setup::workspace::root;

    #[test]
    fn the_page_has_every_archive_with_its_recorded_size() {
        let recorded = Ratchet::read(&data("size.toml")).unwrap().archives;
        let mut names: Vec<&str> = ALL.iter().map(|artifact| artifact.name).collect();
        names.sort_unstable();
        assert_eq!(recorded.keys().collect::<Vec<_>>(), names);
        let page = fs::read_to_string(root().join("docs/size.md")).unwrap();
        assert_eq!(parts(&page).unwrap().1, table(&recorded), "`cargo xtask android --bless` writes it");
    }

    #[test]
    fn the_table_is_written_into_the_page() {
        let folder = tempfile::tempdir().unwrap();
        let page = folder.path().join("size.md");
        let [begin, end] = MARKS;
        fs::write(&page, format!("before\n{begin}old{end}\nafter\n")).unwrap();
        write(&page, &BTreeMap::from([("a".to_owned(), 999), ("b".to_owned(), 1_234_567)])).unwrap();
        let rows = "| `io.loopbox:b` | 1,234,567 |\n| `io.loopbox:a` | 999 |\n";
        let wanted = format!("before\n{begin}\n| archive | bytes |\n|---|---:|\n{rows}\n{end}\nafter\n");
        assert_eq!(fs::read_to_string(&page).unwrap(), wanted);
        fs::write(&page, "nothing").unwrap();
        assert!(write(&page, &BTreeMap::new()).is_err());
    }
}
