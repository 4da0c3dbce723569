//! The Java library as an image of system modules, the form that javac needs for Java 9 and newer.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use loopbox_setup::command::{path_list, run};
use loopbox_setup::files::{files_below, remove};
use loopbox_setup::jar;
use loopbox_setup::unpack;

use crate::builder::Builder;
use crate::paths;

/// Name of the image's folder.
pub(crate) const FOLDER: &str = "system";

/// Packages of the library that the module does not export, because apps of the tests have classes in them,
/// too: javac allows a package in only one module.
const OF_APPS: [&str; 1] = ["dalvik.annotation.optimization"];

/// The folder of an image with one module, `java.base`. The module has the classes of the jar `core` and
/// those of [`compile_only`]. It exports all their packages except those in [`OF_APPS`].
pub(crate) fn image(builder: &Builder<'_>, core: &Path) -> Result<PathBuf> {
    let compile_only = compile_only();
    let key = builder.key("system").with_path(core)?.with_path(&compile_only)?;
    let result = builder.cache.step("system", &key, |out| {
        let [module, classes, modules] =
            ["module-info.java", "classes", "modules"].map(|name| out.join(name));
        let further = files_below(&compile_only)?;
        let relative = |file: &PathBuf| Some(file.strip_prefix(&compile_only).ok()?.to_str()?.to_owned());
        let files: Vec<String> =
            jar::names(core)?.into_iter().chain(further.iter().filter_map(relative)).collect();
        fs::write(&module, declaration(&files))
            .with_context(|| format!("cannot write {}", module.display()))?;
        let mut javac = builder.tools.javac();
        javac.args(["-nowarn", "-proc:none", "--system=none", "--patch-module"]);
        javac.arg(format!("java.base={}", core.display())).arg("-d").arg(&classes);
        run(javac.arg(&module).args(&further))?;
        fs::create_dir(&modules).with_context(|| format!("cannot create {}", modules.display()))?;
        let mut jmod = builder.tools.of_jdk("jmod");
        jmod.args(["create", "--target-platform", "LINUX-AMD64", "--module-version", "17", "--class-path"]);
        run(jmod.arg(path_list([&*classes, core])).arg(modules.join("java.base.jmod")))?;
        let system = out.join(FOLDER);
        let mut jlink = builder.tools.of_jdk("jlink");
        jlink.args(["--add-modules", "java.base", "--disable-plugin", "system-modules", "--module-path"]);
        run(jlink.arg(&modules).arg("--output").arg(&system))?;
        // By which javac reads the image.
        let reader = builder.tools.jdk()?.join("lib/jrt-fs.jar");
        unpack::place(&reader, &system.join("lib/jrt-fs.jar"))?;
        [module, classes, modules].iter().try_for_each(|made| remove(made))
    })?;
    Ok(result.join(FOLDER))
}

/// Classes that javac requires and D8 removes again.
pub(crate) fn compile_only() -> PathBuf {
    paths::specs().join("compile-only")
}

/// The declaration of the module `java.base`. The module exports every package that has a class or a source
/// in `files`, except the packages in [`OF_APPS`].
fn declaration(files: &[String]) -> String {
    let is_java = |file: &&String| matches!(file.rsplit_once('.'), Some((_, "class" | "java")));
    let folders = files.iter().filter(is_java).filter_map(|file| Some(file.rsplit_once('/')?.0));
    let packages: BTreeSet<String> = folders.map(|folder| folder.replace('/', ".")).collect();
    let exported = packages.iter().filter(|package| !OF_APPS.contains(&package.as_str()));
    let exports: Vec<String> = exported.map(|package| format!("    exports {package};\n")).collect();
    format!("module java.base {{\n{}}}\n", exports.concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_module_exports_each_package_once_but_those_of_apps() {
        let files = [
            "java/util/List.class",
            "java/util/Map.java",
            "META-INF/x",
            "dalvik/annotation/optimization/A.class",
        ];
        assert_eq!(declaration(&files.map(str::to_owned)), "module java.base {\n    exports java.util;\n}\n");
    }
}
