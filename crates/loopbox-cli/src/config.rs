//! `loopbox.toml`: a project's settings for all commands.

use crate::configuration;
use crate::options::PackageOptions;
use anyhow::{Context, Result, anyhow};
use loopbox_report::AppPackages;
use serde::Deserialize;
use std::path::{Path, PathBuf};

const NAME: &str = "loopbox.toml";
/// The size limit: the file only has some package names.
const MAX_LEN: u64 = 1 << 20;

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Config {
    /// The packages of the app's own code.
    #[serde(default)]
    in_app: Vec<String>,
}

/// The packages of the app's own code: those of the command line, or else those of the project.
///
/// # Errors
/// When there is a `loopbox.toml` that cannot be read or understood.
pub(crate) fn app_packages(options: &PackageOptions) -> Result<AppPackages> {
    if !options.in_app.is_empty() {
        return Ok(AppPackages::new(options.in_app.iter().cloned()));
    }
    let folder = std::env::current_dir().context("this folder is gone")?;
    let config = find(&folder).map(|file| read(&file)).transpose()?.unwrap_or_default();
    Ok(AppPackages::new(config.in_app))
}

fn find(folder: &Path) -> Option<PathBuf> {
    folder.ancestors().map(|folder| folder.join(NAME)).find(|file| file.is_file())
}

fn read(file: &Path) -> Result<Config> {
    let name = || file.display().to_string();
    let text = String::from_utf8(configuration::read(file, MAX_LEN)?).with_context(name)?;
    toml::from_str(&text)
        .map_err(|error| {
            // In one line, as all errors: TOML's own text quotes the file.
            let at = error.span().map_or(0, |span| span.start);
            let line = 1 + text.bytes().take(at).filter(|byte| *byte == b'\n').count();
            anyhow!("line {line}, offset {at}: {}", error.message())
        })
        .with_context(name)
}
