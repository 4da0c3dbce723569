//! The publisher and the place of the sources, which a public Maven repository requires for each archive;
//! from the root `Cargo.toml`.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use quick_xml::escape::escape;
use serde::Deserialize;

/// The authors, the homepage and the repository in `[workspace.package]`. RELEASE.md says how published
/// crates inherit the repository.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
pub struct Publisher {
    /// The authors, each as `Name <address>`.
    #[serde(default)]
    authors: Vec<String>,
    /// The project's page. Where there is none, the repository's page is used.
    homepage: Option<String>,
    /// Where the sources are.
    repository: Option<String>,
}

#[derive(Deserialize)]
struct Manifest {
    workspace: Workspace,
}

#[derive(Deserialize)]
struct Workspace {
    package: Publisher,
}

impl Publisher {
    /// Reads the publisher from the `Cargo.toml` of a workspace.
    ///
    /// # Errors
    /// When the file cannot be read or is no workspace's.
    pub fn read(root: &Path) -> Result<Self> {
        let file = root.join("Cargo.toml");
        let text = fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()))?;
        let manifest: Manifest = toml::from_str(&text).with_context(|| format!("{}", file.display()))?;
        Ok(manifest.workspace.package)
    }

    /// The keys of `[workspace.package]` that Maven Central requires and that are missing.
    #[must_use]
    pub fn missing(&self) -> Vec<&'static str> {
        let keys = [("repository", self.repository.is_none()), ("authors", self.authors.is_empty())];
        keys.into_iter().filter(|(_, is_missing)| *is_missing).map(|(key, _)| key).collect()
    }

    /// Where the sources are, when that is known.
    #[must_use]
    pub fn repository(&self) -> Option<&str> {
        self.repository.as_deref()
    }

    /// The elements of a POM, each on separate lines.
    pub(crate) fn elements(&self) -> String {
        let page = self.homepage.as_ref().or(self.repository.as_ref());
        let url = page.map(|page| format!("\n  <url>{}</url>", escape(page)));
        let sources = self.repository.as_deref().map(escape).map(|place| {
            format!(
                "\n  <scm>\n    <url>{place}</url>\n    <connection>scm:git:{place}</connection>\n  </scm>"
            )
        });
        let developers: String = self.authors.iter().map(|author| developer(author)).collect();
        let developers =
            (!developers.is_empty()).then(|| format!("\n  <developers>{developers}\n  </developers>"));
        [url, sources, developers].into_iter().flatten().collect()
    }
}

fn developer(author: &str) -> String {
    let (name, address) = match author.split_once('<') {
        Some((name, rest)) => (name.trim(), rest.trim_end().strip_suffix('>')),
        None => (author.trim(), None),
    };
    let address =
        address.map_or_else(String::new, |address| format!("\n      <email>{}</email>", escape(address)));
    format!("\n    <developer>\n      <name>{}</name>{address}\n    </developer>", escape(name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::artifact::LOOPBOX;
    use loopbox_setup::workspace::root;

    fn read(text: &str) -> Publisher {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("Cargo.toml"), text).unwrap();
        Publisher::read(folder.path()).unwrap()
    }

    #[test]
    fn a_pom_has_page_sources_and_developers_from_the_workspace() {
        let publisher = read(
            "[workspace.package]\nversion = \"1.0.0\"\nrepository = \"https://example.org/a?b&c\"\n\
             authors = [\"Ada L. <ada@example.org>\", \"The <Others\"]\n",
        );
        assert_eq!(publisher.missing(), [""; 0]);
        let pom = LOOPBOX.pom(&publisher).unwrap();
        for expected in [
            "<url>https://example.org/a?b&amp;c</url>\n  <scm>",
            "<connection>scm:git:https://example.org/a?b&amp;c</connection>",
            "<name>Ada L.</name>\n      <email>ada@example.org</email>",
            "<name>The</name>\n    </developer>",
        ] {
            assert!(pom.contains(expected), "no {expected} in {pom}");
        }
        assert!(!pom.contains('@') || pom.matches('@').count() == 1, "only the address has one: {pom}");
    }

    #[test]
    fn what_is_missing_is_named_and_leaves_no_element() {
        let publisher = read("[workspace.package]\nhomepage = \"https://example.org\"\n");
        assert_eq!(publisher.missing(), ["repository", "authors"]);
        let pom = LOOPBOX.pom(&publisher).unwrap();
        assert!(pom.contains("<url>https://example.org</url>"), "{pom}");
        assert!(!pom.contains("<scm>") && !pom.contains("<developers>"), "{pom}");
    }

    #[test]
    fn the_workspaces_own_is_read() {
        Publisher::read(&root()).unwrap();
    }
}
