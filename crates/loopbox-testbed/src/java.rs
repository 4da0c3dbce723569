//! javac and D8.

use std::path::{Path, PathBuf};
use std::{fs, process};

use anyhow::{Context, Result, ensure};

use loopbox_setup::command::{outcome, path_list, run};
use loopbox_setup::files::remove;
use loopbox_setup::jar;
use loopbox_setup::r8::{Program, R8};
use loopbox_setup::tools::Tools;

/// The API level of the oldest testbed's own framework. Features that ART 10 supports are not desugared.
const CORE_API: u32 = 29;

/// The API level for which D8 compiles the boot classes of a runtime with records. For lower levels D8
/// removes `java.lang.Record` from its input, and ART 14 does not start without it.
const RECORDS_API: u32 = 35;

/// The oldest level of any testbed's framework. D8 removes an app's checks for levels below this one.
pub(crate) const APP_API: u32 = 21;

/// The classes and the target of a compilation.
#[derive(Debug)]
pub(crate) enum Against<'a> {
    /// Compiles Java 8. These jars are the boot class path; there is no other class path.
    Boot(&'a [PathBuf]),
    /// Compiles Java 17. D8 can turn the resulting classes into dex files, for older API levels, too. The
    /// first field is the Java library, a folder made by [`crate::system::image`]; the second is the class
    /// path.
    System(&'a Path, &'a [PathBuf]),
}

/// Compiles sources into the folder `classes`. Classes that are already in the folder are on the class path,
/// too, with [`Against::System`].
pub(crate) fn javac(tools: &Tools, sources: &[PathBuf], against: &Against<'_>, classes: &Path) -> Result<()> {
    fs::create_dir_all(classes).with_context(|| format!("cannot create {}", classes.display()))?;
    // Thousands of names do not fit a command line.
    let list = classes.with_extension("list");
    let lines: Vec<String> = sources.iter().map(|s| format!("\"{}\"", s.display())).collect();
    fs::write(&list, lines.join("\n")).with_context(|| format!("cannot write {}", list.display()))?;
    let mut javac = tools.javac();
    javac.args(["-nowarn", "-XDignore.symbol.file", "-g", "-encoding", "UTF-8", "-proc:none"]);
    javac.args(["-Xlint:-options", "-sourcepath", ""]);
    match against {
        Against::Boot(boot) => {
            javac.args(["-source", "8", "-target", "8", "-extdirs", "", "-classpath", ""]);
            javac.arg("-bootclasspath").arg(path_list(*boot));
        }
        Against::System(system, class_path) => {
            // As Android's build does: there is no StringConcatFactory.
            javac.args(["-source", "17", "-target", "17", "-XDstringConcat=inline", "--system"]).arg(system);
            let class_path = class_path.iter().map(PathBuf::as_path).chain([classes]);
            javac.arg("-classpath").arg(path_list(class_path));
        }
    }
    javac.arg("-d").arg(classes).arg(format!("@{}", list.display()));
    let compiled = outcome(&mut javac)?;
    // All of it, as it is: editors find places in it.
    ensure!(compiled.status.success(), "javac refuses the sources\n{}", compiled.errors.trim_end());
    remove(&list)
}

/// What D8 may assume about its input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DexOf {
    /// Classes of the boot class path.
    Core,
    /// Classes of the boot class path of a runtime that has records.
    CoreWithRecords,
    /// An app, for any level.
    App,
}

/// Turns jars of classes into a jar of dex. `libraries` has the classes that they need.
pub(crate) fn d8(r8: &R8, classes: &[PathBuf], of: DexOf, libraries: &[PathBuf], out: &Path) -> Result<()> {
    let mut d8 = r8.command(Program::D8);
    let level = match of {
        DexOf::Core => CORE_API,
        DexOf::CoreWithRecords => RECORDS_API,
        DexOf::App => APP_API,
    };
    d8.args(["--debug", "--min-api", &level.to_string()]);
    if of != DexOf::App {
        d8.arg("--android-platform-build");
    }
    for library in libraries {
        d8.arg("--lib").arg(library);
    }
    let folder = out.with_extension(format!("d8-{}", process::id()));
    fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
    run(d8.arg("--output").arg(&folder).args(classes))?;
    // Stored, since the VM starts quicker from it, and without a time.
    jar::pack(&folder, out)?;
    remove(&folder)
}
