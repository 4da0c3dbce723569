//! The platform's real class files, as far as they are kept (`tests/testbed/levels/levels.toml`).

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anyhow::{Context, Result};
use loopbox_android_pack::class_file::ClassFile;
use loopbox_setup::jar;

/// The `wanted` classes of a jar, and the classes that these extend, as far as the jar has them.
///
/// # Errors
/// When the jar cannot be read.
pub fn read(jar: &Path, mut wanted: BTreeSet<String>) -> Result<BTreeMap<String, ClassFile>> {
    let there: BTreeSet<String> = jar::names(jar)?.into_iter().collect();
    let mut classes = BTreeMap::new();
    while !wanted.is_empty() {
        let files: Vec<String> = wanted.iter().map(|class| format!("{class}.class")).collect();
        let files: Vec<&String> = files.iter().filter(|file| there.contains(*file)).collect();
        wanted.clear();
        for (name, bytes) in jar::read_entries(jar, &files)? {
            let class = ClassFile::parse(&bytes).with_context(|| name)?;
            wanted.extend(class.extends.iter().cloned());
            classes.insert(class.name.clone(), class);
        }
        wanted.retain(|class| !classes.contains_key(class));
    }
    Ok(classes)
}
