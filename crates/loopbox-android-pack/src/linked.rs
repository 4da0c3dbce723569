//! The crates that are linked into a library or a program, and the notices that their licences require.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use loopbox_setup::command::run;
use loopbox_setup::workspace::{cargo, root};
use serde::Deserialize;

/// The target whose list of crates is used for the Android libraries of every ABI.
pub(crate) const ANDROID: &str = "aarch64-linux-android";

/// One crate.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Crate {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// The licence, an SPDX expression.
    pub licence: String,
    /// SHA-256 of its package in hexadecimal digits, from the lock file.
    pub sha256: Option<String>,
    /// Each text of a licence or a notice that its package has.
    texts: Vec<String>,
}

/// The used parts of `cargo metadata`.
#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
    resolve: Resolve,
}

#[derive(Deserialize)]
struct Package {
    id: String,
    name: String,
    version: String,
    license: Option<String>,
    /// `None` for the workspace's own packages.
    source: Option<String>,
    manifest_path: String,
    authors: Vec<String>,
    targets: Vec<Target>,
}

#[derive(Deserialize)]
struct Target {
    kind: Vec<String>,
}

#[derive(Deserialize)]
struct Resolve {
    nodes: Vec<Node>,
}

#[derive(Deserialize)]
struct Node {
    id: String,
    deps: Vec<Dep>,
}

#[derive(Deserialize)]
struct Dep {
    pkg: String,
    dep_kinds: Vec<DepKind>,
}

#[derive(Deserialize)]
struct DepKind {
    /// `None` for an ordinary dependency, which is linked.
    kind: Option<String>,
}

/// The lock file, as far as it is needed.
#[derive(Deserialize)]
struct Lock {
    package: Vec<Locked>,
}

#[derive(Deserialize)]
struct Locked {
    name: String,
    version: String,
    checksum: Option<String>,
}

/// The crates that are linked into a package of the workspace for a target, without our own; sorted.
///
/// # Errors
/// When cargo does not know the package, or a crate does not say what it is licensed under.
pub fn crates(package: &str, target: &str) -> Result<Vec<Crate>> {
    let mut command = cargo();
    command.args(["metadata", "--format-version", "1", "--locked", "--filter-platform", target]);
    let output = run(&mut command).context("cargo metadata")?;
    let lock = fs::read_to_string(root().join("Cargo.lock")).context("cannot read Cargo.lock")?;
    let lock = toml::from_str(&lock).context("Cargo.lock")?;
    of(&serde_json::from_str(&output).context("cargo metadata says something else")?, &lock, package)
}

fn of(metadata: &Metadata, lock: &Lock, wanted: &str) -> Result<Vec<Crate>> {
    let packages: BTreeMap<&str, &Package> = metadata.packages.iter().map(|p| (p.id.as_str(), p)).collect();
    let nodes: BTreeMap<&str, &Node> = metadata.resolve.nodes.iter().map(|n| (n.id.as_str(), n)).collect();
    let own = metadata.packages.iter().find(|package| package.name == wanted);
    let mut todo = vec![own.with_context(|| format!("{wanted} is not in the workspace"))?.id.as_str()];
    let mut seen = BTreeSet::new();
    let mut found = Vec::new();
    while let Some(id) = todo.pop() {
        let (Some(package), Some(node)) = (packages.get(id), nodes.get(id)) else { continue };
        // What a macro crate needs runs at compile time only, as it does itself.
        let runs_at_build =
            package.targets.iter().any(|target| target.kind.iter().any(|k| k == "proc-macro"));
        if !seen.insert(id) || runs_at_build {
            continue;
        }
        let linked = node.deps.iter().filter(|dep| dep.dep_kinds.iter().any(|kind| kind.kind.is_none()));
        todo.extend(linked.map(|dep| dep.pkg.as_str()));
        if package.source.is_some() {
            let (name, version) = (package.name.clone(), package.version.clone());
            let licence = package.license.clone().with_context(|| format!("{name} has no licence"))?;
            let mut texts = texts(Path::new(&package.manifest_path))?;
            if texts.is_empty() {
                texts.push(text_of(package, &licence)?);
            }
            let locked = lock.package.iter().find(|each| each.name == name && each.version == version);
            let sha256 = locked.and_then(|each| each.checksum.clone());
            found.push(Crate { name, version, licence, sha256, texts });
        }
    }
    ensure!(!found.is_empty(), "nothing is linked into {wanted}");
    found.sort();
    Ok(found)
}

/// The text of a licence. Some packages only name their licence and do not include it.
fn text_of(package: &Package, licence: &str) -> Result<String> {
    let own =
        |name: &str| fs::read_to_string(root().join(name)).with_context(|| format!("cannot read {name}"));
    if licence.contains("Apache-2.0") {
        return own("LICENSE-APACHE");
    }
    let mit = own("LICENSE-MIT")?;
    // The text is everybody's, the line about whose it is above it is not.
    let body = mit.find("Permission is hereby granted").and_then(|start| mit.get(start..));
    let body = body.filter(|_| licence == "MIT");
    let body = body.with_context(|| format!("{} brings no text of its licence, {licence}", package.name))?;
    Ok(format!("Copyright (c) {}\n\n{body}", package.authors.join(", ")))
}

/// The texts of the licences and notices next to a manifest: a licence may require that they are passed on.
fn texts(manifest: &Path) -> Result<Vec<String>> {
    let wanted = ["LICENSE", "LICENCE", "COPYING", "COPYRIGHT", "NOTICE", "UNLICENSE"];
    let folder = manifest.parent().context("a manifest in no folder")?;
    let mut found = Vec::new();
    for entry in sorted(folder)? {
        let name = entry.file_name().to_string_lossy().to_uppercase();
        if !wanted.iter().any(|word| name.starts_with(word)) {
            continue;
        }
        let files = if entry.file_type()?.is_dir() { sorted(&entry.path())? } else { vec![entry] };
        for file in files {
            found.push(fs::read_to_string(file.path())?.replace("\r\n", "\n"));
        }
    }
    Ok(found)
}

fn sorted(folder: &Path) -> Result<Vec<fs::DirEntry>> {
    let mut entries: Vec<_> = fs::read_dir(folder)?.collect::<std::io::Result<_>>()?;
    entries.sort_by_key(fs::DirEntry::file_name);
    Ok(entries)
}

/// The text that an app can show as its notices: each crate with its licence, then each licence text once,
/// with the crates that have it.
#[must_use]
pub fn notices(file: &str, crates: &[Crate]) -> String {
    let mut all =
        format!("{file} is linked with the Rust standard library (MIT OR Apache-2.0) and these crates:\n\n");
    // The same licence is wrapped and indented in many ways.
    let mut of_words: BTreeMap<Vec<&str>, (&str, BTreeSet<&str>)> = BTreeMap::new();
    for each in crates {
        let _ = writeln!(all, "  {} {} ({})", each.name, each.version, each.licence);
        for text in &each.texts {
            let of_text = of_words.entry(text.split_whitespace().collect());
            of_text.or_insert_with(|| (text.trim(), BTreeSet::new())).1.insert(&each.name);
        }
    }
    for (text, names) in of_words.into_values() {
        let names: Vec<&str> = names.into_iter().collect();
        let _ = writeln!(all, "\n{}\n{}\n\n{text}", "-".repeat(80), names.join(", "));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::project::{INHOUSE, LIBRARY};

    #[test]
    fn what_is_linked_is_listed_with_licences_and_what_is_not_is_not() {
        let crates = crates(LIBRARY.package, ANDROID).unwrap();
        let names: Vec<&str> = crates.iter().map(|each| each.name.as_str()).collect();
        for linked in ["jni", "goblin", "libc", "bincode", "serde"] {
            assert!(names.contains(&linked), "{linked}: {names:?}");
        }
        // Of tests, of the host tools, and macros.
        for other in ["proptest", "clap", "serde_derive", "thiserror-impl", "loopbox-agent", "toml"] {
            assert!(!names.contains(&other), "{other}: {names:?}");
        }
        let notices = notices("libloopbox.so", &crates);
        assert!(notices.starts_with("libloopbox.so is linked with the Rust standard library"), "{notices}");
        for each in &crates {
            assert!(!each.texts.is_empty(), "{} has no text", each.name);
            assert_eq!(each.sha256.as_ref().map(String::len), Some(64), "{}", each.name);
            assert!(notices.contains(&format!("  {} {} (", each.name, each.version)));
        }
        assert!(notices.contains("Permission is hereby granted"));
        assert!(
            notices.contains("Copyright (c) Szymon") || !names.contains(&"dlopen2"),
            "its authors stand in its manifest"
        );
    }
    #[test]
    fn each_library_has_a_separate_list() {
        let names: Vec<String> =
            crates(INHOUSE.package, ANDROID).unwrap().into_iter().map(|each| each.name).collect();
        assert!(names.iter().any(|name| name == "jni"), "{names:?}");
        assert!(names.iter().all(|name| name != "goblin"), "{names:?}");
    }

    #[test]
    fn one_licence_wrapped_in_two_ways_is_one_notice() {
        let of = |name: &str, text: &str| Crate {
            name: name.into(),
            version: "1.0.0".into(),
            licence: "MIT".into(),
            sha256: None,
            texts: vec![text.into()],
        };
        let all = [of("a", "Do as\n you like."), of("b", "Do as you\nlike.\n"), of("c", "Do not.")];
        let notices = notices("libloopbox.so", &all);
        assert_eq!(notices.matches("Do as").count(), 1, "{notices}");
        assert!(notices.contains("\na, b\n\nDo as") && notices.contains("\nc\n\nDo not."), "{notices}");
    }
}
