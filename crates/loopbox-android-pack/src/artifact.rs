//! The archives of one version, and their descriptions in a Maven repository: POM, Gradle's module metadata.

use anyhow::{Context, Result};
use loopbox_setup::files::{hex, sha256};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha512};
use std::fs;

use crate::ktx;
use crate::project::data;
use crate::publisher::Publisher;

/// Maven's name of the group.
pub(crate) const GROUP: &str = "io.loopbox";
pub(crate) const VERSION: &str = env!("CARGO_PKG_VERSION");

/// One archive.
#[derive(Debug)]
pub(crate) struct Artifact {
    /// Maven's name.
    pub(crate) name: &'static str,
    title: &'static str,
    pub(crate) description: &'static str,
    /// The namespace of its manifest.
    namespace: &'static str,
    /// The data file with its manifest.
    manifest: &'static str,
    /// The data file with its shrinker rules.
    pub(crate) rules: &'static str,
    pub(crate) needs: &'static [Needed],
    /// Whether this archive has the same classes as the archive that apps depend on, so that an app can only
    /// have one of the two.
    replaces_loopbox: bool,
}

/// An archive that another archive depends on.
#[derive(Debug)]
pub(crate) struct Needed {
    pub(crate) group: &'static str,
    pub(crate) name: &'static str,
    pub(crate) version: &'static str,
    /// The type of its file: `aar`, or `jar` where nothing in it needs Android.
    pub(crate) kind: &'static str,
}

const NEEDS_LOOPBOX: Needed = Needed { group: GROUP, name: "loopbox", version: VERSION, kind: "aar" };

const PLAIN_MANIFEST: &str = "AndroidManifest.xml";

/// All archives.
pub(crate) const ALL: [&Artifact; 7] = [&LOOPBOX, &INHOUSE, &KTX, &NOOP, &SCREEN, &STARTUP, &TESTING];

/// The archive that apps depend on.
pub(crate) const LOOPBOX: Artifact = Artifact {
    name: "loopbox",
    title: "Loopbox",
    description: "A flight recorder for the Android main thread: one file that says what it did, does and was asked to do next \
                  when the app stops responding.",
    namespace: "io.loopbox",
    manifest: PLAIN_MANIFEST,
    rules: "proguard.txt",
    needs: &[],
    replaces_loopbox: false,
};

/// The additional archive for in-house builds.
pub(crate) const INHOUSE: Artifact = Artifact {
    name: "loopbox-inhouse",
    title: "Loopbox, in house",
    description: "Another way to a hidden field, for builds that go through no store.",
    namespace: "io.loopbox.inhouse",
    manifest: PLAIN_MANIFEST,
    rules: "proguard-inhouse.txt",
    needs: &[NEEDS_LOOPBOX],
    replaces_loopbox: false,
};

/// The archive for apps in Kotlin.
pub(crate) const KTX: Artifact = Artifact {
    name: ktx::NAME,
    title: "Loopbox for Kotlin",
    description: "The configuration as a block, reports as a Flow, and a report on request that suspends.",
    namespace: "io.loopbox.ktx",
    manifest: PLAIN_MANIFEST,
    rules: "proguard-ktx.txt",
    needs: &[
        NEEDS_LOOPBOX,
        Needed {
            group: "org.jetbrains.kotlin",
            name: "kotlin-stdlib",
            version: ktx::STANDARD_LIBRARY.version,
            kind: "jar",
        },
        // The name by which Gradle and Maven find the one for the JVM.
        Needed {
            group: "org.jetbrains.kotlinx",
            name: "kotlinx-coroutines-core",
            version: ktx::COROUTINES.version,
            kind: "jar",
        },
    ],
    replaces_loopbox: false,
};

/// The archive without effect, for builds without the recorder.
pub(crate) const NOOP: Artifact = Artifact {
    name: "loopbox-noop",
    title: "Loopbox, without effect",
    description: "The same public API without the recorder and without native code.",
    namespace: "io.loopbox",
    manifest: PLAIN_MANIFEST,
    rules: "proguard-noop.txt",
    needs: &[],
    replaces_loopbox: true,
};

/// The additional archive for debug builds.
pub(crate) const SCREEN: Artifact = Artifact {
    name: "loopbox-screen",
    title: "Loopbox on the screen",
    description: "For debug builds: a notification after a hang, and a screen that shows its report. No code in the app.",
    namespace: "io.loopbox.screen",
    manifest: "AndroidManifest-screen.xml",
    rules: "proguard-screen.txt",
    needs: &[NEEDS_LOOPBOX],
    replaces_loopbox: false,
};

/// The archive for apps that install the recorder by their manifest.
pub(crate) const STARTUP: Artifact = Artifact {
    name: "loopbox-startup",
    title: "Loopbox for App Startup",
    description: "Installs the recorder before Application.onCreate where the app's manifest says so, without code.",
    namespace: "io.loopbox.startup",
    manifest: "AndroidManifest-startup.xml",
    rules: "proguard-startup.txt",
    needs: &[
        NEEDS_LOOPBOX,
        Needed { group: "androidx.startup", name: "startup-runtime", version: "1.1.1", kind: "aar" },
    ],
    replaces_loopbox: false,
};

/// The archive for unit tests of an app. It depends on no other archive, because it works with [`LOOPBOX`]
/// and with [`NOOP`], whichever the app has.
pub(crate) const TESTING: Artifact = Artifact {
    name: "loopbox-testing",
    title: "Loopbox for unit tests",
    description: "Makes what the recorder hands to an app, reports with their files above all, for the app's own unit tests.",
    namespace: "io.loopbox.testing",
    manifest: PLAIN_MANIFEST,
    rules: "proguard-testing.txt",
    needs: &[],
    replaces_loopbox: false,
};

impl Artifact {
    /// `AndroidManifest.xml`.
    pub(crate) fn manifest(&self) -> Result<Vec<u8>> {
        Ok(text(self.manifest)?.replace("@NAMESPACE@", self.namespace).into_bytes())
    }

    /// The file name of one of its files.
    pub(crate) fn file_name(&self, suffix: &str) -> String {
        format!("{}-{VERSION}{suffix}", self.name)
    }

    /// The description for Maven.
    pub(crate) fn pom(&self, publisher: &Publisher) -> Result<String> {
        let dependency = |Needed { group, name, version, kind }: &Needed| {
            format!(
                "\n    <dependency>\n      <groupId>{group}</groupId>\n      <artifactId>{name}</artifactId>\n      \
                 <version>{version}</version>\n      <type>{kind}</type>\n      <scope>compile</scope>\n    </dependency>"
            )
        };
        let dependencies = if self.needs.is_empty() {
            String::new()
        } else {
            let all: String = self.needs.iter().map(dependency).collect();
            format!("\n  <dependencies>{all}\n  </dependencies>")
        };
        let filled = [
            ("@NAME@", self.name),
            ("@VERSION@", VERSION),
            ("@TITLE@", self.title),
            ("@DESCRIPTION@", self.description),
            ("@PUBLISHER@", &publisher.elements()),
            ("@DEPENDENCIES@", &dependencies),
        ];
        Ok(filled.iter().fold(text("pom.xml")?, |text, (mark, value)| text.replace(mark, value)))
    }

    /// Gradle's module metadata: the files for compiling, for running, and for sources and documentation.
    /// `files` are the names and bytes of the archive, of its sources and of its documentation.
    pub(crate) fn module(&self, files: &[(String, &[u8]); 3]) -> Result<String> {
        let [archive, sources, documentation] = files.each_ref().map(|(name, bytes)| described(name, bytes));
        let dependency = |Needed { group, name, version, .. }: &Needed| json!({ "group": group, "module": name, "version": { "requires": version } });
        let dependencies: Vec<Value> = self.needs.iter().map(dependency).collect();
        // Gradle refuses a build with two modules of one capability. Each module has its own unless it lists
        // others.
        let capability = |name: &str| json!({ "group": GROUP, "name": name, "version": VERSION });
        let capabilities: Vec<Value> = if self.replaces_loopbox {
            vec![capability(LOOPBOX.name), capability(self.name)]
        } else {
            Vec::new()
        };
        let library = |name: &str, usage: &str| {
            let attributes = json!({
                "org.gradle.category": "library",
                "org.gradle.dependency.bundling": "external",
                "org.gradle.libraryelements": "aar",
                "org.gradle.usage": usage,
            });
            let mut variant = json!({ "name": name, "attributes": attributes, "files": [archive] });
            for (field, list) in [("capabilities", &capabilities), ("dependencies", &dependencies)] {
                if !list.is_empty() {
                    variant[field] = json!(list);
                }
            }
            variant
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
        "sha256": sha256(bytes),
        "sha512": hex(&Sha512::digest(bytes)),
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
            let pom = artifact.pom(&Publisher::default()).unwrap();
            assert!(
                pom.contains(&format!("<artifactId>{}</artifactId>\n  <version>{VERSION}<", artifact.name))
            );
            assert!(pom.contains("<packaging>aar</packaging>") && pom.contains("<name>Apache-2.0</name>"));
            assert!(!pom.contains('@') && pom.contains("published-with-gradle-metadata"), "{pom}");
            assert_eq!(pom.matches("<dependency>").count(), artifact.needs.len(), "{pom}");
            for Needed { group, kind, .. } in artifact.needs {
                let (_, of_this) = pom.split_once(&format!("<groupId>{group}</groupId>")).unwrap();
                let (element, _) = of_this.split_once("</dependency>").unwrap();
                assert!(element.contains(&format!("<type>{kind}</type>")), "{pom}");
            }
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

    #[test]
    fn an_app_cannot_have_the_library_and_the_one_without_effect() {
        let files = ["a.aar", "a-sources.jar", "a-javadoc.jar"].map(|name| (name.to_owned(), &b"x"[..]));
        for artifact in ALL {
            let module: Value = serde_json::from_str(&artifact.module(&files).unwrap()).unwrap();
            for variant in &module["variants"].as_array().unwrap()[..2] {
                let names: Option<Vec<&str>> = variant["capabilities"]
                    .as_array()
                    .map(|list| list.iter().map(|each| each["name"].as_str().unwrap()).collect());
                let expected = (artifact.name == "loopbox-noop").then(|| vec!["loopbox", "loopbox-noop"]);
                assert_eq!(names, expected, "{}", artifact.name);
            }
        }
    }
}
