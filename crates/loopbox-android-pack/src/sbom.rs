//! The components of an archive as a list for tools: CycloneDX 1.6.

use anyhow::{Context, Result};
use loopbox_setup::files::sha256;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::artifact::{Artifact, GROUP, Needed, VERSION};
use crate::linked::Crate;

/// The licences of all our archives and of the Rust standard library.
const LICENCE: &str = "MIT OR Apache-2.0";

/// The list for an archive: its own bytes, the crates in its native libraries, and the archives that it
/// depends on. `standard_library` names the compiler whose standard library is linked; it is only used where
/// there are `crates`.
pub(crate) fn sbom(
    artifact: &Artifact,
    archive: &[u8],
    crates: &[Crate],
    standard_library: &str,
) -> Result<String> {
    let mut components = linked(crates, standard_library);
    components.extend(artifact.needs.iter().map(|Needed { group, name, version, kind }| {
        let purl = maven(group, name, version, kind);
        json!({
            "type": "library", "bom-ref": purl, "group": group, "name": name, "version": version, "purl": purl,
        })
    }));
    let own = json!({
        "type": "library", "group": GROUP, "name": artifact.name, "description": artifact.description,
        "purl": maven(GROUP, artifact.name, VERSION, "aar"),
    });
    list(own, archive, &components)
}

/// The list for an archive that contains a command-line program: the workspace's `package`, built for
/// `target`.
///
/// # Errors
/// When it cannot be written as JSON, which does not happen.
pub fn of_command(
    package: &str,
    target: &str,
    archive: &[u8],
    crates: &[Crate],
    compiler: &str,
) -> Result<String> {
    let own = json!({
        "type": "application", "name": package, "description": format!("built for {target}"),
        "purl": format!("pkg:cargo/{package}@{VERSION}?target={target}"),
    });
    list(own, archive, &linked(crates, compiler))
}

/// The crates, and the standard library with them.
fn linked(crates: &[Crate], standard_library: &str) -> Vec<Value> {
    let mut components: Vec<Value> = crates.iter().map(of_crate).collect();
    if !crates.is_empty() {
        components.push(json!({
            "type": "library", "bom-ref": "rust-std", "name": "rust-std", "version": standard_library,
            "licenses": licence(LICENCE),
        }));
    }
    components
}

/// The list of the components of `own`. The same archive has the same list and the same serial number,
/// because neither contains a time.
fn list(mut own: Value, archive: &[u8], components: &[Value]) -> Result<String> {
    let refs: Vec<&Value> = components.iter().map(|component| &component["bom-ref"]).collect();
    let hash = sha256(archive);
    let purl = own["purl"].as_str().unwrap_or_default().to_owned();
    let serial = Uuid::new_v5(&Uuid::NAMESPACE_URL, format!("{purl}#{hash}").as_bytes());
    own["bom-ref"] = purl.as_str().into();
    own["version"] = VERSION.into();
    own["licenses"] = licence(LICENCE);
    own["hashes"] = hashes(&hash);
    let bom = json!({
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": serial.urn().to_string(),
        "version": 1,
        "metadata": { "component": own },
        "components": components,
        "dependencies": [{ "ref": purl, "dependsOn": refs }],
    });
    serde_json::to_string_pretty(&bom).context("the list of components")
}

fn of_crate(Crate { name, version, licence: licensed, sha256, .. }: &Crate) -> Value {
    let purl = format!("pkg:cargo/{name}@{version}");
    let mut component = json!({
        "type": "library", "bom-ref": purl, "name": name, "version": version, "purl": purl,
        "licenses": licence(&licensed.replace('/', " OR ")),
    });
    if let Some(sha256) = sha256 {
        component["hashes"] = hashes(sha256);
    }
    component
}

fn maven(group: &str, name: &str, version: &str, kind: &str) -> String {
    format!("pkg:maven/{group}/{name}@{version}?type={kind}")
}

fn licence(expression: &str) -> Value {
    json!([{ "expression": expression }])
}

fn hashes(sha256: &str) -> Value {
    json!([{ "alg": "SHA-256", "content": sha256 }])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::artifact::{ALL, KTX, LOOPBOX, STARTUP};
    use crate::linked::{ANDROID, crates};
    use crate::project::LIBRARY;

    fn parsed(artifact: &Artifact, archive: &[u8], crates: &[Crate]) -> Value {
        serde_json::from_str(&sbom(artifact, archive, crates, "rustc 1.0").unwrap()).unwrap()
    }

    #[test]
    fn every_part_is_a_component_with_version_and_hash_that_the_archive_depends_on() {
        let crates = crates(LIBRARY.package, ANDROID).unwrap();
        let bom = parsed(&LOOPBOX, b"x", &crates);
        let components = bom["components"].as_array().unwrap();
        assert_eq!(components.len(), crates.len() + 1);
        for component in components {
            assert!(component["version"].as_str().is_some_and(|version| !version.is_empty()), "{component}");
            let is_crate = component["bom-ref"] != "rust-std";
            let hash = component["hashes"][0]["content"].as_str().unwrap_or_default();
            assert_eq!(hash.len(), if is_crate { 64 } else { 0 }, "{component}");
        }
        assert_eq!(bom["dependencies"][0]["dependsOn"].as_array().unwrap().len(), components.len());
        let own = &bom["metadata"]["component"];
        let of_x = "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881";
        assert_eq!((&own["hashes"][0]["content"], &own["name"]), (&json!(of_x), &json!("loopbox")));
    }

    #[test]
    fn an_archive_without_native_code_lists_the_archives_that_it_stands_on() {
        let bom = parsed(&STARTUP, b"x", &[]);
        let names: Vec<&str> =
            bom["components"].as_array().unwrap().iter().map(|c| c["name"].as_str().unwrap()).collect();
        assert_eq!(names, ["loopbox", "startup-runtime"]);
        let bom = parsed(&KTX, b"x", &[]);
        let coroutines = bom["components"].as_array().unwrap().last().unwrap();
        let purl = "pkg:maven/org.jetbrains.kotlinx/kotlinx-coroutines-core@1.7.3?type=jar";
        assert_eq!(coroutines["purl"], purl);
    }

    #[test]
    fn serial_numbers_differ_by_archive_and_bytes_alone() {
        let serial =
            |artifact, bytes| parsed(artifact, bytes, &[])["serialNumber"].as_str().unwrap().to_owned();
        let mut seen: Vec<String> = ALL.iter().map(|artifact| serial(artifact, b"x")).collect();
        seen.push(serial(&LOOPBOX, b"y"));
        assert!(seen.iter().all(|serial| serial.starts_with("urn:uuid:")), "{seen:?}");
        assert_eq!(serial(&LOOPBOX, b"x"), seen[0]);
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen.len(), ALL.len() + 1);
    }
}
