//! The finished testbeds: `store/<name>-<key>`, and a link for each name.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use anyhow::{Context, Result};
use loopbox_setup::cache::Cache;
use loopbox_setup::files::remove;

/// Removes finished testbeds to which no name points and that are older than two weeks.
pub(crate) fn prune(testbeds: &Path) -> Result<()> {
    let context = || format!("cannot read {}", testbeds.display());
    let mut named = Vec::new();
    for entry in fs::read_dir(testbeds).with_context(context)? {
        named.extend(fs::canonicalize(entry.with_context(context)?.path()));
    }
    Cache::open(&testbeds.join("store"))?.prune(&named)
}

/// Makes `target/testbed/<name>` point to a finished testbed, in one step: processes that use the old one
/// continue.
pub(crate) fn publish(link: &Path, finished: &Path) -> Result<()> {
    let new = link.with_extension(format!("new-{}", std::process::id()));
    remove(&new)?;
    let name = finished.file_name().context("a testbed without a name")?;
    symlink(Path::new("store").join(name), &new)
        .with_context(|| format!("cannot create {}", new.display()))?;
    if fs::symlink_metadata(link).is_ok_and(|about| about.is_dir()) {
        remove(link)?;
    }
    fs::rename(&new, link).with_context(|| format!("cannot create {}", link.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn publishing_replaces_the_link_and_keeps_the_old_testbed() {
        let folder = tempfile::tempdir().unwrap();
        let testbed = |name: &str| {
            let testbed = folder.path().join("store").join(name);
            fs::create_dir_all(&testbed).unwrap();
            fs::write(testbed.join("which"), name).unwrap();
            testbed
        };
        let link = folder.path().join("art10");
        let which = || fs::read_to_string(link.join("which")).unwrap();
        let first = testbed("art10-1");
        publish(&link, &first).unwrap();
        assert_eq!(which(), "art10-1");
        publish(&link, &testbed("art10-2")).unwrap();
        assert_eq!(which(), "art10-2");
        assert!(first.join("which").is_file());
    }
}
