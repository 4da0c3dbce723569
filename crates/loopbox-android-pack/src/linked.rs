//! The crates that are linked into the library: for the notices that their licences ask for, and as a list for tools.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use loopbox_setup::command::run;
use loopbox_setup::workspace::{cargo, root};
use serde::Deserialize;
use serde_json::json;

use crate::artifact::{GROUP, LOOPBOX, VERSION};
use crate::project::LIBRARY;

/// One crate.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Crate {
    pub(crate) name: String,
    version: String,
    /// An SPDX expression.
    licence: String,
    /// Each text of a licence or a notice that its package has.
    texts: Vec<String>,
}

/// What is used of `cargo metadata`.
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
    /// `None` for our own.
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
    /// `None` for what is linked.
    kind: Option<String>,
}

/// What is linked into the library that apps load, but our own crates; sorted.
pub(crate) fn crates() -> Result<Vec<Crate>> {
    let mut command = cargo();
    command.args([
        "metadata",
        "--format-version",
        "1",
        "--locked",
        "--filter-platform",
        "aarch64-linux-android",
    ]);
    let output = run(&mut command).context("cargo metadata")?;
    of(&serde_json::from_str(&output).context("cargo metadata says something else")?)
}

fn of(metadata: &Metadata) -> Result<Vec<Crate>> {
    let packages: BTreeMap<&str, &Package> = metadata.packages.iter().map(|p| (p.id.as_str(), p)).collect();
    let nodes: BTreeMap<&str, &Node> = metadata.resolve.nodes.iter().map(|n| (n.id.as_str(), n)).collect();
    let library = metadata.packages.iter().find(|package| package.name == LIBRARY.package);
    let mut todo = vec![library.context("the library is not in the workspace")?.id.as_str()];
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
            found.push(Crate { name, version, licence, texts });
        }
    }
    ensure!(!found.is_empty(), "nothing is linked into the library");
    found.sort();
    Ok(found)
}

/// Some packages name their licence and do not bring it.
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

/// The files beside a manifest that a licence may ask to be passed on.
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

/// What an app that shows notices shows: each crate with its licence, then each text once, with the crates that it is of.
pub(crate) fn notices(crates: &[Crate]) -> String {
    let mut all =
        "libloopbox.so is linked with the Rust standard library (MIT OR Apache-2.0) and these crates:\n\n"
            .to_owned();
    let mut of_text: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for each in crates {
        let _ = writeln!(all, "  {} {} ({})", each.name, each.version, each.licence);
        for text in &each.texts {
            of_text.entry(text.trim()).or_default().push(&each.name);
        }
    }
    for (text, names) in of_text {
        let _ = writeln!(all, "\n{}\n{}\n\n{text}", "-".repeat(80), names.join(", "));
    }
    all
}

/// The list as CycloneDX 1.5.
pub(crate) fn sbom(crates: &[Crate]) -> Result<String> {
    let component = |name: &str, version: &str, licence: &str| {
        let purl = format!("pkg:cargo/{name}@{version}");
        json!({
            "type": "library", "bom-ref": purl, "name": name, "version": version, "purl": purl,
            "licenses": [{ "expression": licence.replace('/', " OR ") }],
        })
    };
    let mut components: Vec<_> = crates.iter().map(|c| component(&c.name, &c.version, &c.licence)).collect();
    components.push(json!({
        "type": "library", "bom-ref": "rust-std", "name": "rust-std",
        "licenses": [{ "expression": "MIT OR Apache-2.0" }],
    }));
    let own = format!("pkg:maven/{GROUP}/{}@{VERSION}", LOOPBOX.name);
    let refs: Vec<_> = components.iter().map(|component| component["bom-ref"].clone()).collect();
    let bom = json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": { "component": {
            "type": "library", "bom-ref": own, "group": GROUP, "name": LOOPBOX.name, "version": VERSION, "purl": own,
            "licenses": [{ "expression": "MIT OR Apache-2.0" }],
        } },
        "components": components,
        "dependencies": [{ "ref": own, "dependsOn": refs }],
    });
    serde_json::to_string_pretty(&bom).context("the list of components")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_linked_is_listed_with_licences_and_what_is_not_is_not() {
        let crates = crates().unwrap();
        let names: Vec<&str> = crates.iter().map(|each| each.name.as_str()).collect();
        for linked in ["jni", "goblin", "libc", "bincode", "serde"] {
            assert!(names.contains(&linked), "{linked}: {names:?}");
        }
        // Of tests, of the host tools, and macros.
        for other in ["proptest", "clap", "serde_derive", "thiserror-impl", "loopbox-agent", "toml"] {
            assert!(!names.contains(&other), "{other}: {names:?}");
        }
        let notices = notices(&crates);
        let bom: serde_json::Value = serde_json::from_str(&sbom(&crates).unwrap()).unwrap();
        assert_eq!(bom["components"].as_array().unwrap().len(), crates.len() + 1);
        for each in &crates {
            assert!(!each.texts.is_empty(), "{} has no text", each.name);
            assert!(notices.contains(&format!("  {} {} (", each.name, each.version)));
        }
        assert!(notices.contains("Permission is hereby granted"));
        assert!(
            notices.contains("Copyright (c) Szymon") || !names.contains(&"dlopen2"),
            "its authors stand in its manifest"
        );
    }
}
