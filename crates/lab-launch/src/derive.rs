//! Testbeds that differ from another one in their description only.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use loopbox_testbed::{Manifest, Testbed};

/// Writes a changed copy of a testbed's description into another folder, and opens the copy. Its relative
/// paths become absolute, so the copy uses the files of `testbed`.
///
/// # Errors
/// When the copy cannot be written, or names a file that does not exist.
pub fn derive(testbed: &Testbed, folder: &Path, change: impl FnOnce(&mut Manifest)) -> Result<Testbed> {
    let absolute = |path: &PathBuf| {
        let inside = testbed.dir.join(path);
        if inside.exists() { inside } else { path.clone() }
    };
    let mut manifest = testbed.manifest.clone();
    for paths in [&mut manifest.boot_class_path, &mut manifest.boot_class_path_hidden_api] {
        *paths = paths.iter().map(absolute).collect();
    }
    manifest.build.java_class_path = manifest.build.java_class_path.iter().map(absolute).collect();
    manifest.build.framework = absolute(&manifest.build.framework);
    manifest.build.system = absolute(&manifest.build.system);
    manifest.library_path = manifest.library_path.iter().map(absolute).collect();
    for argument in &mut manifest.runner {
        *argument = absolute(&PathBuf::from(&*argument)).display().to_string();
    }
    change(&mut manifest);
    fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
    manifest.write(folder)?;
    Testbed::open(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MANIFEST: &str = "
        name = 'art10'
        art = '10'
        api_level = 29
        package_version = '1'
        arch = 'x86_64'
        boot_class_path = ['core.jar']
        boot_class_path_hidden_api = ['hidden.jar']
        library_path = ['lib', '/opt/lib']
        preload = ['libsigchain.so.0']
        vm_options = []
        libart = 'libart.so.0'
        dlopen_first = []
        runner = []
        env = {}
        [build]
        java_class_path = ['c.jar']
        framework = 'c.jar'
        system = 'system'
        key = 'k'
    ";

    #[test]
    fn a_derived_testbed_has_the_change_and_finds_everything_else_where_it_was() {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().join("testbed");
        fs::create_dir_all(home.join("lib")).unwrap();
        for file in ["core.jar", "hidden.jar", "c.jar"] {
            fs::write(home.join(file), "").unwrap();
        }
        fs::write(home.join("testbed.toml"), MANIFEST).unwrap();
        let testbed = Testbed::open(&home).unwrap();
        let derived = derive(&testbed, &folder.path().join("derived"), |manifest| {
            manifest.preload.insert(0, "/shim/libc.so".into());
        })
        .unwrap();
        assert_eq!(derived.manifest.preload, ["/shim/libc.so", "libsigchain.so.0"]);
        assert_eq!(derived.manifest.library_path, [testbed.dir.join("lib"), "/opt/lib".into()]);
        assert_eq!(derived.manifest.boot_class_path, [testbed.dir.join("core.jar")]);
        assert_eq!(derived.manifest.libart, testbed.manifest.libart);
    }
}
