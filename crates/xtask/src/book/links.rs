//! Checks that the links in the repository's Markdown have targets, and that the book has all pages of
//! `docs`.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs;
use std::path::{Component, Path, PathBuf};

use anyhow::{Context, Result};
use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};
use walkdir::{DirEntry, WalkDir};

/// The folder with the book's pages and its table of contents.
const BOOK: &str = "docs";
const SUMMARY: &str = "SUMMARY.md";

/// The links of a page, and the places in it that links can have as targets.
#[derive(Debug, Default, PartialEq, Eq)]
struct Page {
    links: Vec<String>,
    anchors: BTreeSet<String>,
}

/// The errors in the pages below a folder, one line each.
///
/// # Errors
/// When a page cannot be read.
pub(super) fn faults(root: &Path) -> Result<Vec<String>> {
    let mut pages = BTreeMap::new();
    // What is built, downloaded or git's own is not ours; a page that another place links to is checked where
    // it is.
    let ours = |entry: &DirEntry| {
        let name = entry.file_name().as_encoded_bytes();
        entry.depth() == 0 || !(name.starts_with(b".") || name == b"target" || entry.path_is_symlink())
    };
    for entry in WalkDir::new(root).sort_by_file_name().into_iter().filter_entry(ours) {
        let file = entry.context("cannot list the pages")?.into_path();
        if file.extension() == Some(OsStr::new("md")) {
            let text =
                fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()))?;
            pages.insert(file.strip_prefix(root).unwrap_or(&file).to_owned(), Page::parse(&text));
        }
    }
    let mut faults = Vec::new();
    for (path, page) in &pages {
        let wrong = |link: &String| {
            let why = wrong_with(link, path, &pages, root)?;
            Some(format!("{}: {link} {why}", path.display()))
        };
        faults.extend(page.links.iter().filter_map(wrong));
    }
    let summary = Path::new(BOOK).join(SUMMARY);
    let listed: BTreeSet<PathBuf> = pages
        .get(&summary)
        .with_context(|| format!("there is no {}", summary.display()))?
        .links
        .iter()
        .map(|link| Path::new(BOOK).join(link))
        .collect();
    let in_book = pages.keys().filter(|page| page.starts_with(BOOK) && **page != summary);
    faults.extend(
        in_book
            .filter(|page| !listed.contains(*page))
            .map(|page| format!("{}: not in {SUMMARY}", page.display())),
    );
    Ok(faults)
}

impl Page {
    fn parse(markdown: &str) -> Self {
        let mut page = Self::default();
        let mut heading: Option<String> = None;
        for event in Parser::new_ext(markdown, Options::ENABLE_TABLES) {
            match event {
                Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
                    page.links.push(dest_url.into_string());
                }
                Event::Start(Tag::Heading { .. }) => heading = Some(String::new()),
                Event::End(TagEnd::Heading(_)) => page.add_anchor(&heading.take().unwrap_or_default()),
                Event::Text(text) | Event::Code(text) => {
                    if let Some(heading) = &mut heading {
                        heading.push_str(&text);
                    }
                }
                _ => {}
            }
        }
        page
    }

    /// Adds the anchor that mdBook and code forges give to a heading. The anchor of the second of two equal
    /// headings ends in `-1`.
    fn add_anchor(&mut self, heading: &str) {
        let kept = |c: &char| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_');
        let name: String = heading.trim().to_lowercase().chars().filter(kept).collect();
        let name = name.replace(' ', "-");
        let free = (1..).map(|n| format!("{name}-{n}"));
        let anchor = std::iter::once(name.clone()).chain(free).find(|name| !self.anchors.contains(name));
        self.anchors.extend(anchor);
    }
}

fn wrong_with(link: &str, from: &Path, pages: &BTreeMap<PathBuf, Page>, root: &Path) -> Option<&'static str> {
    if ["https://", "http://", "mailto:"].iter().any(|scheme| link.starts_with(scheme)) {
        return None;
    }
    let (path, anchor) = link.split_once('#').map_or((link, None), |(path, anchor)| (path, Some(anchor)));
    let folder = from.parent().unwrap_or(Path::new(""));
    let to = if path.is_empty() { from.to_owned() } else { normal(&folder.join(path)) };
    if !root.join(&to).exists() {
        return Some("does not exist");
    }
    if from.starts_with(BOOK) && (!to.starts_with(BOOK) || to.ends_with(SUMMARY)) {
        return Some("is not a page of the book");
    }
    let anchors = pages.get(&to).map(|page| &page.anchors);
    let found = anchor.is_none_or(|anchor| anchors.is_some_and(|anchors| anchors.contains(anchor)));
    (!found).then_some("has no such heading")
}

/// The path without `.` and `..`.
fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(normal.pop()),
            Component::CurDir => {}
            other => normal.push(other),
        }
    }
    normal
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults_of(files: &[(&str, &str)]) -> Vec<String> {
        let root = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let file = root.path().join(name);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, text).unwrap();
        }
        faults(root.path()).unwrap()
    }

    #[test]
    fn parse_finds_links_images_and_anchors() {
        let page = Page::parse(
            "# What `CTRL-C` does, and why\n\n[a](b.md) ![c](d.png)\n\n| x |\n|---|\n| [e](#f) |\n\n## G\n\n## G\n\n```\n[no](link.md)\n```\n",
        );
        assert_eq!(page.links, ["b.md", "d.png", "#f"]);
        assert_eq!(page.anchors, ["g", "g-1", "what-ctrl-c-does-and-why"].map(String::from).into());
    }

    #[test]
    fn faults_are_those_of_the_page_and_not_of_a_link_to_it() {
        let root = tempfile::tempdir().unwrap();
        for folder in ["docs", "crates"] {
            fs::create_dir(root.path().join(folder)).unwrap();
        }
        fs::write(root.path().join("docs/SUMMARY.md"), "[One](one.md)\n").unwrap();
        fs::write(root.path().join("docs/one.md"), "# One\n\n[summary](nowhere.md)\n").unwrap();
        std::os::unix::fs::symlink("../docs/one.md", root.path().join("crates/one.md")).unwrap();
        assert_eq!(faults(root.path()).unwrap(), ["docs/one.md: nowhere.md does not exist"]);
    }

    #[test]
    fn faults_names_each_link_that_leads_nowhere() {
        let files = [
            ("docs/SUMMARY.md", "[One](one.md)\n\n- [Two](two.md)\n- [Absent](absent.md)\n"),
            (
                "docs/one.md",
                "# One\n\n[ok](two.md#two-words) [ok](#one) [ok](https://example.org/x)\n[a](two.md#two) [b](../README.md) [c](images/x.png) [d](SUMMARY.md)\n",
            ),
            ("docs/two.md", "## Two words\n"),
            ("docs/three.md", ""),
            ("README.md", "[ok](docs/one.md) [ok](docs) [d](docs/four.md)\n"),
            ("target/built.md", "[e](nowhere.md)\n"),
        ];
        assert_eq!(
            faults_of(&files),
            [
                "README.md: docs/four.md does not exist",
                "docs/SUMMARY.md: absent.md does not exist",
                "docs/one.md: two.md#two has no such heading",
                "docs/one.md: ../README.md is not a page of the book",
                "docs/one.md: images/x.png does not exist",
                "docs/one.md: SUMMARY.md is not a page of the book",
                "docs/three.md: not in SUMMARY.md",
            ]
        );
    }
}
