//! javac and dx.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

use loopbox_setup::command::{outcome, path_list, run};
use loopbox_setup::jar;
use loopbox_setup::tools::Tools;

/// The first dex version of ART 10 and what its core library needs.
const CORE_API: u32 = 28;

/// Below 26 dx refuses an invokedynamic: a lambda in an app is an error here, not a crash on the testbed.
const APP_API: u32 = 24;

/// What dx may assume of its input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DexOf {
    /// Classes of the boot class path: `java.*` is allowed.
    Core,
    /// An app: no lambdas.
    App,
}

/// Compiles sources for Java 8 into a jar of classes. `classes` may hold classes from before; they go in too.
pub(crate) fn javac(
    tools: &Tools,
    sources: &[PathBuf],
    boot_class_path: &[PathBuf],
    class_path: &[PathBuf],
    classes: &Path,
) -> Result<()> {
    fs::create_dir_all(classes).with_context(|| format!("cannot create {}", classes.display()))?;
    // Thousands of names do not fit a command line.
    let list = classes.with_extension("list");
    let lines: Vec<String> = sources.iter().map(|s| format!("\"{}\"", s.display())).collect();
    fs::write(&list, lines.join("\n")).with_context(|| format!("cannot write {}", list.display()))?;
    let mut javac = tools.javac();
    javac.args(["-nowarn", "-XDignore.symbol.file", "-source", "8", "-target", "8", "-g"]);
    javac.args(["-encoding", "UTF-8", "-proc:none", "-Xlint:-options", "-extdirs", "", "-sourcepath", ""]);
    javac.arg("-bootclasspath").arg(path_list(boot_class_path));
    javac.arg("-classpath").arg(path_list(class_path));
    javac.arg("-d").arg(classes).arg(format!("@{}", list.display()));
    let compiled = outcome(&mut javac)?;
    // All of it, as it is: editors find places in it.
    ensure!(compiled.status.success(), "javac refuses the sources\n{}", compiled.errors.trim_end());
    loopbox_setup::files::remove(&list)
}

/// Turns a jar of classes into a jar of dex.
pub(crate) fn dx(tools: &Tools, dx: &Path, classes: &Path, of: DexOf, out: &Path) -> Result<()> {
    let mut dx_command = tools.java();
    dx_command.arg("-Xmx2g").arg("-cp").arg(dx).args([
        "com.android.dx.command.Main",
        "--dex",
        "--num-threads=2",
    ]);
    match of {
        DexOf::Core => {
            dx_command.args(["--core-library", "--multi-dex"]).arg(format!("--min-sdk-version={CORE_API}"))
        }
        DexOf::App => dx_command.arg(format!("--min-sdk-version={APP_API}")),
    };
    // dx compresses; the VM starts quicker from a stored dex, and the jar must not depend on the time.
    let packed = out.with_extension("packed.jar");
    dx_command.arg(format!("--output={}", packed.display())).arg(classes);
    run(&mut dx_command)?;
    let dex = jar::read_entry(&packed, "classes.dex")?;
    loopbox_setup::files::remove(&packed)?;
    jar::write(out, &[("classes.dex".to_owned(), dex)])
}
