//! Reads the machine's own apt configuration to learn which Debian mirror it uses.
//!
//! Both formats of sources.list(5) are understood: one-line `*.list` and deb822 `*.sources`.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

/// Keys of the Debian archive, from the package debian-archive-keyring.
const KEYRING: &str = "/usr/share/keyrings/debian-archive-keyring.gpg";

/// The option of a source line that names the file with Debian's keys. Empty where this machine has no such
/// file; apt then uses its own keys.
pub(crate) fn signed_by() -> String {
    if Path::new(KEYRING).is_file() { format!(" signed-by={KEYRING}") } else { String::new() }
}

/// One repository that this machine's apt knows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Repository {
    /// Base address as apt writes it, without a trailing slash.
    pub(crate) uri: String,
    /// Suite, for example `bookworm` or `bookworm-updates`.
    pub(crate) suite: String,
    /// Components, for example `main`.
    pub(crate) components: Vec<String>,
}

/// Parses a one-line style file: `deb [options] uri suite component...`.
pub(crate) fn parse_list(text: &str) -> Vec<Repository> {
    text.lines().filter_map(parse_list_line).collect()
}

fn parse_list_line(line: &str) -> Option<Repository> {
    let line = line.split('#').next()?.trim();
    let rest = line.strip_prefix("deb")?;
    if !rest.starts_with([' ', '\t', '[']) {
        return None; // deb-src, or another word
    }
    let mut rest = rest.trim_start();
    if let Some(options) = rest.strip_prefix('[') {
        rest = options.split_once(']')?.1;
    }
    let mut words = rest.split_whitespace();
    Some(Repository {
        uri: trim_uri(words.next()?),
        suite: words.next()?.to_owned(),
        components: words.map(str::to_owned).collect(),
    })
}

/// Parses a deb822 style file: stanzas of `Field: value`, continuation lines start with a blank.
pub(crate) fn parse_sources(text: &str) -> Vec<Repository> {
    let mut found = Vec::new();
    let mut stanza: Vec<(String, String)> = Vec::new();
    for line in text.lines().chain([""]) {
        if line.starts_with('#') {
            continue;
        }
        if line.trim().is_empty() {
            found.extend(stanza_repositories(&stanza));
            stanza.clear();
        } else if line.starts_with([' ', '\t']) {
            if let Some((_, value)) = stanza.last_mut() {
                value.push(' ');
                value.push_str(line.trim());
            }
        } else if let Some((field, value)) = line.split_once(':') {
            stanza.push((field.trim().to_ascii_lowercase(), value.trim().to_owned()));
        }
    }
    found
}

fn stanza_repositories(stanza: &[(String, String)]) -> Vec<Repository> {
    let words = |name: &str| -> Vec<String> {
        stanza
            .iter()
            .filter(|(field, _)| field == name)
            .flat_map(|(_, value)| value.split_whitespace().map(str::to_owned))
            .collect()
    };
    let disabled =
        words("enabled").first().is_some_and(|v| matches!(v.to_ascii_lowercase().as_str(), "no" | "false"));
    if disabled || !words("types").iter().any(|t| t == "deb") {
        return Vec::new();
    }
    let components = words("components");
    let mut found = Vec::new();
    for uri in words("uris") {
        for suite in words("suites") {
            found.push(Repository { uri: trim_uri(&uri), suite, components: components.clone() });
        }
    }
    found
}

fn trim_uri(uri: &str) -> String {
    uri.trim_end_matches('/').to_owned()
}

/// The machine's apt configuration. `LOOPBOX_APT_CONFIG` names another folder than `/etc/apt`.
pub(crate) fn folder() -> PathBuf {
    env::var_os("LOOPBOX_APT_CONFIG").map_or_else(|| PathBuf::from("/etc/apt"), PathBuf::from)
}

/// The name of the machine's own Debian release.
pub(crate) fn own_codename() -> Result<String> {
    let about = fs::read_to_string("/etc/os-release").context("cannot read /etc/os-release")?;
    codename(&about).context("/etc/os-release names no release: not a Debian?")
}

/// All repositories below an apt configuration folder (`/etc/apt`), in apt's own order.
pub(crate) fn read_repositories(apt_folder: &Path) -> Result<Vec<Repository>> {
    let mut found = Vec::new();
    if let Ok(text) = fs::read_to_string(apt_folder.join("sources.list")) {
        found.extend(parse_list(&text));
    }
    let parts = apt_folder.join("sources.list.d");
    let mut files: Vec<PathBuf> = match fs::read_dir(&parts) {
        Ok(entries) => entries.filter_map(|entry| Some(entry.ok()?.path())).collect(),
        Err(_) => Vec::new(),
    };
    files.sort();
    for file in files {
        let extension = file.extension().and_then(|e| e.to_str());
        if !matches!(extension, Some("list" | "sources")) {
            continue;
        }
        let text = fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()))?;
        found.extend(if extension == Some("list") { parse_list(&text) } else { parse_sources(&text) });
    }
    Ok(found)
}

/// The mirror that this machine gets its own release from: the address of the first repository with the suite
/// `codename` itself (not its updates or security suite) and the component `main`.
pub(crate) fn debian_mirror(repositories: &[Repository], codename: &str) -> Result<String> {
    let own = |r: &&Repository| {
        let names_release =
            r.suite == codename || matches!(r.suite.as_str(), "stable" | "testing" | "unstable");
        names_release && r.components.iter().any(|c| c == "main") && !r.uri.starts_with("cdrom:")
    };
    match repositories.iter().find(own) {
        Some(repository) => Ok(repository.uri.clone()),
        None => bail!("the machine's apt configuration names no Debian mirror for its release {codename:?}"),
    }
}

/// `VERSION_CODENAME` of an os-release(5) file.
fn codename(os_release: &str) -> Option<String> {
    let value = os_release.lines().find_map(|line| line.strip_prefix("VERSION_CODENAME="))?;
    Some(value.trim().trim_matches(['"', '\'']).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_one_line_style() {
        let text = "# comment\n\
            deb-src http://a.example/archive bookworm main\n\
            deb [arch=amd64 signed-by=/k.gpg] http://a.example/archive/ bookworm main contrib # note\n\
            deb\thttp://b.example/sec bookworm-security main\n\
            debug http://c.example/ x main\n\
            deb http://short.example\n";
        assert_eq!(
            parse_list(text),
            [
                Repository {
                    uri: "http://a.example/archive".into(),
                    suite: "bookworm".into(),
                    components: vec!["main".into(), "contrib".into()],
                },
                Repository {
                    uri: "http://b.example/sec".into(),
                    suite: "bookworm-security".into(),
                    components: vec!["main".into()],
                },
            ]
        );
    }

    #[test]
    fn reads_deb822_style_with_comments_continuations_and_disabled_stanzas() {
        let text = "Types: deb deb-src\n# a comment inside\nURIs: http://a.example/archive/\n\
            Suites: bookworm\n  bookworm-updates\nComponents: main\nSigned-By: /k.gpg\n\n\
            Types: deb\nEnabled: no\nURIs: http://off.example\nSuites: bookworm\nComponents: main\n\n\
            Types: deb-src\nURIs: http://src.example\nSuites: bookworm\nComponents: main\n";
        let found = parse_sources(text);
        let suites: Vec<_> = found.iter().map(|r| (r.uri.as_str(), r.suite.as_str())).collect();
        assert_eq!(
            suites,
            [("http://a.example/archive", "bookworm"), ("http://a.example/archive", "bookworm-updates")]
        );
    }

    #[test]
    fn chooses_the_mirror_of_the_release_itself() {
        let list = parse_list(
            "deb cdrom:[disc]/ bookworm main\n\
             deb http://tools.example/apt cloud main\n\
             deb http://sec.example/security bookworm-security main\n\
             deb http://part.example/archive bookworm contrib\n\
             deb http://own.example/archive bookworm main\n",
        );
        assert_eq!(debian_mirror(&list, "bookworm").unwrap(), "http://own.example/archive");
        let message = debian_mirror(&list, "trixie").unwrap_err().to_string();
        assert!(message.contains("trixie"), "{message}");
    }

    #[test]
    fn reads_both_formats_from_a_folder() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("sources.list.d")).unwrap();
        let part = |name: &str, text: &str| {
            fs::write(folder.path().join("sources.list.d").join(name), text).unwrap();
        };
        fs::write(folder.path().join("sources.list"), "deb http://one.example d main\n").unwrap();
        part("b.sources", "Types: deb\nURIs: http://three.example\nSuites: d\nComponents: main\n");
        part("a.list", "deb http://two.example d main\n");
        part("old.list.disabled", "deb http://off.example d main\n");
        let uris: Vec<_> = read_repositories(folder.path()).unwrap().into_iter().map(|r| r.uri).collect();
        assert_eq!(uris, ["http://one.example", "http://two.example", "http://three.example"]);
    }

    #[test]
    fn reads_the_codename() {
        assert_eq!(codename("ID=debian\nVERSION_CODENAME=bookworm\n").as_deref(), Some("bookworm"));
        assert_eq!(codename("VERSION_CODENAME=\"trixie\"").as_deref(), Some("trixie"));
        assert_eq!(codename("ID=x\n"), None);
    }
}
