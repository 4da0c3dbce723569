//! The archives of one version, and what a Maven repository says of each: POM, Gradle's module metadata.

use anyhow::{Context, Result};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256, Sha512};
use std::fmt::Write as _;
use std::fs;

use crate::project::data;

/// Maven's name of the group.
pub(crate) const GROUP: &str = "io.loopbox";
pub(crate) const VERSION: &str = env!("CARGO_PKG_VERSION");

/// One archive.
#[derive(Debug)]
pub(crate) struct Artifact {
    /// Maven's name.
    pub(crate) name: &'static str,
    title: &'static str,
    description: &'static str,
    /// The namespace of its manifest.
    namespace: &'static str,
    /// The data file with its manifest.
    manifest: &'static str,
    /// The data file with its shrinker rules.
    pub(crate) rules: &'static str,
    needs: &'static [Needed],
}

/// Another archive that one stands on.
#[derive(Debug)]
struct Needed {
    group: &'static str,
    name: &'static str,
    version: &'static str,
}

const NEEDS_LOOPBOX: Needed = Needed { group: GROUP, name: "loopbox", version: VERSION };

const PLAIN_MANIFEST: &str = "AndroidManifest.xml";

/// All of them.
pub(crate) const ALL: [&Artifact; 5] = [&LOOPBOX, &INHOUSE, &NOOP, &SCREEN, &STARTUP];

/// What an app depends on.
pub(crate) const LOOPBOX: Artifact = Artifact {
    name: "loopbox",
    title: "Loopbox",
    description: "A flight recorder for the Android main thread: one file that says what it did, does and was asked to do next \
                  when the app stops responding.",
    namespace: "io.loopbox",
    manifest: PLAIN_MANIFEST,
    rules: "proguard.txt",
    needs: &[],
};

/// What builds in house add.
pub(crate) const INHOUSE: Artifact = Artifact {
    name: "loopbox-inhouse",
    title: "Loopbox, in house",
    description: "Another way to a hidden field, for builds that go through no store.",
    namespace: "io.loopbox.inhouse",
    manifest: PLAIN_MANIFEST,
    rules: "proguard-inhouse.txt",
    needs: &[NEEDS_LOOPBOX],
};

/// What a build without the recorder has in its place.
pub(crate) const NOOP: Artifact = Artifact {
    name: "loopbox-noop",
    title: "Loopbox, without effect",
    description: "The same public API without the recorder and without native code.",
    namespace: "io.loopbox",
    manifest: PLAIN_MANIFEST,
    rules: "proguard-noop.txt",
    needs: &[],
};

/// For debug builds.
pub(crate) const SCREEN: Artifact = Artifact {
    name: "loopbox-screen",
    title: "Loopbox on the screen",
    description: "For debug builds: a notification after a hang, and a screen that shows its report. No code in the app.",
    namespace: "io.loopbox.screen",
    manifest: "AndroidManifest-screen.xml",
    rules: "proguard-screen.txt",
    needs: &[NEEDS_LOOPBOX],
};

/// For apps that install by their manifest.
pub(crate) const STARTUP: Artifact = Artifact {
    name: "loopbox-startup",
    title: "Loopbox for App Startup",
    description: "Installs the recorder before Application.onCreate where the app's manifest says so, without code.",
    namespace: "io.loopbox.startup",
    manifest: "AndroidManifest-startup.xml",
    rules: "proguard-startup.txt",
    needs: &[NEEDS_LOOPBOX, Needed { group: "androidx.startup", name: "startup-runtime", version: "1.1.1" }],
};

impl Artifact {
    /// `AndroidManifest.xml`.
    pub(crate) fn manifest(&self) -> Result<Vec<u8>> {
        Ok(text(self.manifest)?.replace("@NAMESPACE@", self.namespace).into_bytes())
    }

    /// The file name of something that belongs to it.
    pub(crate) fn file_name(&self, suffix: &str) -> String {
        format!("{}-{VERSION}{suffix}", self.name)
    }

    pub(crate) fn pom(&self) -> Result<String> {
        let dependency = |Needed { group, name, version }: &Needed| {
            format!(
                "\n    <dependency>\n      <groupId>{group}</groupId>\n      <artifactId>{name}</artifactId>\n      \
                 <version>{version}</version>\n      <type>aar</type>\n      <scope>compile</scope>\n    </dependency>"
            )
        };
        let dependencies = if self.needs.is_empty() {
            String::new()
        } else {
            let all: String = self.needs.iter().map(dependency).collect();
            format!("\n  <dependencies>{all}\n  </dependencies>")
        };
        let page = env!("CARGO_PKG_REPOSITORY");
        let url = if page.is_empty() { String::new() } else { format!("\n  <url>{page}</url>") };
        let filled = [
            ("@NAME@", self.name),
            ("@VERSION@", VERSION),
            ("@TITLE@", self.title),
            ("@DESCRIPTION@", self.description),
            ("@URL@", &url),
            ("@DEPENDENCIES@", &dependencies),
        ];
        Ok(filled.iter().fold(text("pom.xml")?, |text, (mark, value)| text.replace(mark, value)))
    }

    /// Gradle's module metadata: what to take for compiling, for running, and as sources and documentation. `files` gives the
    /// bytes of the archive, its sources and its documentation.
    pub(crate) fn module(&self, files: &[(String, &[u8]); 3]) -> Result<String> {
        let [archive, sources, documentation] = files.each_ref().map(|(name, bytes)| described(name, bytes));
        let dependency = |Needed { group, name, version }: &Needed| json!({ "group": group, "module": name, "version": { "requires": version } });
        let dependencies: Vec<Value> = self.needs.iter().map(dependency).collect();
        let library = |name: &str, usage: &str| {
            let attributes = json!({
                "org.gradle.category": "library",
                "org.gradle.dependency.bundling": "external",
                "org.gradle.libraryelements": "aar",
                "org.gradle.usage": usage,
            });
            json!({ "name": name, "attributes": attributes, "dependencies": dependencies, "files": [archive] })
        };
        let documents = |name: &str, kind: &str, file: &Value| {
            let attributes = json!({
                "org.gradle.category": "documentation",
                "org.gradle.dependency.bundling": "external",
                "org.gradle.docstype": kind,
                "org.gradle.usage": "java-runtime",
            });
            json!({ "name": name, "attributes": attributes, "files": [file] })
        };
        let module = json!({
            "formatVersion": "1.1",
            "component": {
                "group": GROUP,
                "module": self.name,
                "version": VERSION,
                "attributes": { "org.gradle.status": "release" },
            },
            "variants": [
                library("releaseApiElements", "java-api"),
                library("releaseRuntimeElements", "java-runtime"),
                documents("releaseSourcesElements", "sources", &sources),
                documents("releaseJavadocElements", "javadoc", &documentation),
            ],
        });
        serde_json::to_string_pretty(&module).context("the module metadata")
    }
}

fn described(name: &str, bytes: &[u8]) -> Value {
    json!({
        "name": name,
        "url": name,
        "size": bytes.len(),
        "sha256": hex(&Sha256::digest(bytes)),
        "sha512": hex(&Sha512::digest(bytes)),
    })
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

fn text(name: &str) -> Result<String> {
    let file = data(name);
    fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_pom_names_its_archive_and_what_it_stands_on() {
        for artifact in ALL {
            let pom = artifact.pom().unwrap();
            assert!(
                pom.contains(&format!("<artifactId>{}</artifactId>\n  <version>{VERSION}<", artifact.name))
            );
            assert!(pom.contains("<packaging>aar</packaging>") && pom.contains("<name>Apache-2.0</name>"));
            assert!(!pom.contains('@') && pom.contains("published-with-gradle-metadata"), "{pom}");
            assert_eq!(pom.matches("<dependency>").count(), artifact.needs.len(), "{pom}");
        }
    }

    #[test]
    fn the_module_metadata_describes_the_files_that_are_there() {
        let files = [("a.aar", "x"), ("a-sources.jar", "y"), ("a-javadoc.jar", "z")]
            .map(|(name, bytes)| (name.to_owned(), bytes.as_bytes()));
        let module: Value = serde_json::from_str(&INHOUSE.module(&files).unwrap()).unwrap();
        let names: Vec<&str> = module["variants"]
            .as_array()
            .unwrap()
            .iter()
            .map(|v| v["files"][0]["url"].as_str().unwrap())
            .collect();
        assert_eq!(names, ["a.aar", "a.aar", "a-sources.jar", "a-javadoc.jar"]);
        let api = &module["variants"][0];
        assert_eq!(api["attributes"]["org.gradle.libraryelements"], "aar");
        assert_eq!(api["dependencies"][0]["module"], "loopbox");
        let sha256 = "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881";
        assert_eq!((&api["files"][0]["size"], &api["files"][0]["sha256"]), (&json!(1), &json!(sha256)));
    }
}
