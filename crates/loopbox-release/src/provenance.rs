//! The sources and tools that the files of a release were made with: a statement of in-toto with SLSA's
//! provenance in it.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use loopbox_setup::files::write_atomically;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::facts::Facts;

/// The name of the file with the statement.
pub(crate) const NAME: &str = "provenance.intoto.json";

const STATEMENT: &str = "https://in-toto.io/Statement/v1";
const PREDICATE: &str = "https://slsa.dev/provenance/v1";
const BUILD: &str = "urn:loopbox:build:cargo-xtask-release:1";

/// Writes the statement about `subjects`, a map from file names to SHA-256.
pub(crate) fn write(folder: &Path, facts: &Facts, subjects: &BTreeMap<String, String>) -> Result<()> {
    let text = serde_json::to_string_pretty(&statement(facts, subjects)).context("the provenance")?;
    write_atomically(&folder.join(NAME), text)
}

fn statement(facts: &Facts, subjects: &BTreeMap<String, String>) -> Value {
    let subject: Vec<Value> = subjects
        .iter()
        .map(|(name, sha256)| json!({ "name": name, "digest": { "sha256": sha256 } }))
        .collect();
    let mut made_of = Vec::new();
    if let Some(commit) = &facts.commit {
        let place =
            facts.repository.as_deref().map_or("urn:loopbox:sources".to_owned(), |url| format!("git+{url}"));
        made_of.push(json!({ "uri": place, "digest": { "gitCommit": commit } }));
    }
    made_of.push(json!({ "name": "Cargo.lock", "digest": { "sha256": facts.lock_sha256 } }));
    // No hashes: apt has checked each against the signed index of its archive.
    made_of.extend(
        facts
            .compiler
            .iter()
            .map(|(name, version)| json!({ "uri": format!("pkg:deb/debian/{name}@{version}") })),
    );
    json!({
        "_type": STATEMENT,
        "subject": subject,
        "predicateType": PREDICATE,
        "predicate": {
            "buildDefinition": {
                "buildType": BUILD,
                "externalParameters": { "command": "cargo xtask release", "version": facts.version },
                "resolvedDependencies": made_of,
            },
            "runDetails": { "builder": { "id": facts.builder } },
        },
    })
}

/// The parts of a statement that are compared.
#[derive(Deserialize)]
struct Statement {
    #[serde(rename = "_type")]
    kind: String,
    #[serde(rename = "predicateType")]
    predicate_type: String,
    subject: Vec<Subject>,
    predicate: Predicate,
}

#[derive(Deserialize)]
struct Subject {
    name: String,
    digest: Digest,
}

#[derive(Deserialize)]
struct Digest {
    sha256: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Predicate {
    build_definition: BuildDefinition,
    run_details: RunDetails,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct BuildDefinition {
    build_type: String,
    resolved_dependencies: Vec<Dependency>,
}

#[derive(Deserialize)]
struct Dependency {
    #[serde(default)]
    digest: BTreeMap<String, String>,
}

#[derive(Deserialize)]
struct RunDetails {
    builder: Builder,
}

#[derive(Deserialize)]
struct Builder {
    id: String,
}

/// What a statement of provenance claims, in the form in which it is printed.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Claim {
    /// The commit that everything was built from; `None` where the statement names none.
    pub(crate) commit: Option<String>,
    /// The URI of the builder.
    pub(crate) builder: String,
}

/// Compares the statement with `subjects`: it must be about exactly these files.
pub(crate) fn verify(folder: &Path, subjects: &BTreeMap<String, String>) -> Result<Claim> {
    let file = folder.join(NAME);
    let bytes = fs::read(&file).with_context(|| format!("cannot read {}", file.display()))?;
    let statement: Statement = serde_json::from_slice(&bytes).with_context(|| file.display().to_string())?;
    let Statement { kind, predicate_type, subject, predicate } = statement;
    ensure!(
        kind == STATEMENT && predicate_type == PREDICATE && predicate.build_definition.build_type == BUILD,
        "{} is no statement about a build of this kind",
        file.display()
    );
    let mut named = BTreeMap::new();
    for Subject { name, digest } in subject {
        let own = subjects.get(&name);
        ensure!(own.is_some(), "{NAME} is about {name}, which is not there");
        ensure!(own == Some(&digest.sha256), "{NAME} is about another {name}: its SHA-256 differs");
        named.insert(name, digest.sha256);
    }
    let more = subjects.keys().find(|name| !named.contains_key(*name));
    ensure!(more.is_none(), "{NAME} does not name {}", more.map_or("", String::as_str));
    let mut made_of = predicate.build_definition.resolved_dependencies.into_iter();
    let commit = made_of.find_map(|mut dependency| dependency.digest.remove("gitCommit"));
    Ok(Claim { commit, builder: predicate.run_details.builder.id })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn subjects() -> BTreeMap<String, String> {
        BTreeMap::from([("a".to_owned(), "11".repeat(32)), ("b/c".to_owned(), "22".repeat(32))])
    }

    #[test]
    fn the_statement_names_every_file_the_commit_and_the_builder() {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), &Facts::for_test(), &subjects()).unwrap();
        let claim = verify(folder.path(), &subjects()).unwrap();
        assert_eq!(claim.commit.as_deref(), Some("c0ffee"));
        assert_eq!(claim.builder, "https://ci.example.org/release");
        let changed = Facts { commit: None, ..Facts::for_test() };
        write(folder.path(), &changed, &subjects()).unwrap();
        assert_eq!(verify(folder.path(), &subjects()).unwrap().commit, None);
    }

    #[test]
    fn a_file_more_less_or_another_one_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), &Facts::for_test(), &subjects()).unwrap();
        let refusal = |change: &dyn Fn(&mut BTreeMap<String, String>)| {
            let mut subjects = subjects();
            change(&mut subjects);
            verify(folder.path(), &subjects).unwrap_err().to_string()
        };
        assert!(refusal(&|all| drop(all.remove("a"))).contains("about a, which is not there"));
        assert!(refusal(&|all| drop(all.insert("d".into(), String::new()))).contains("does not name d"));
        assert!(refusal(&|all| drop(all.insert("a".into(), String::new()))).contains("another a"));
        fs::write(folder.path().join(NAME), "{").unwrap();
        assert!(verify(folder.path(), &subjects()).is_err());
    }
}
