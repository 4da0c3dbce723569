//! The folders of the build machine, whose paths must not be in anything that ships.

use std::env;
use std::path::PathBuf;

use loopbox_setup::workspace::root;

/// Folders of this machine and their replacements in programs, for file names in panics and line tables.
fn remapped() -> Vec<(PathBuf, &'static str)> {
    let mut folders = vec![(root(), "/loopbox")];
    let home = env::var_os("HOME").map(PathBuf::from);
    let cargo = env::var_os("CARGO_HOME").map(PathBuf::from).or_else(|| Some(home?.join(".cargo")));
    folders.extend(cargo.map(|folder| (folder, "/cargo")));
    folders
}

/// The arguments that make rustc replace the folders of this machine.
pub fn flags() -> impl Iterator<Item = String> {
    remapped().into_iter().map(|(folder, name)| format!("--remap-path-prefix={}={name}", folder.display()))
}

/// Texts that would reveal the build machine.
pub fn traces() -> Vec<String> {
    remapped().into_iter().map(|(folder, _)| folder.display().to_string()).collect()
}

/// The first of the texts `traces` that a file contains.
pub fn find<'a>(bytes: &[u8], traces: &'a [String]) -> Option<&'a str> {
    let has = |text: &&String| {
        !text.is_empty() && bytes.windows(text.len()).any(|window| window == text.as_bytes())
    };
    traces.iter().find(has).map(String::as_str)
}
