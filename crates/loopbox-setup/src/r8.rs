//! The official D8, R8 and Retrace, which are one jar.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result};

use crate::cache::{Cache, Key};
use crate::command::run;
use crate::progress::Progress;
use crate::registry::{Pinned, Registry};
use crate::tools::{Tools, recorded_classes, shared_classes};
use crate::{jar, workspace};

/// File name of the JVM's class data sharing archive with the classes that D8 loads.
const ARCHIVE: &str = "r8.jsa";

/// The release of November 2026.
const JAR: Pinned<'_> = Pinned {
    registry: Registry::Maven,
    package: "com.android.tools:r8",
    version: "9.5.28",
    sha256: "38a9ffaaebbd17d1514e3ecbff5a85b989bb13c551b9e224c7409514eea84ff5",
    megabytes: 22,
};

/// One of the jar's programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Program {
    /// Turns class files into dex.
    D8,
    /// Turns class files into dex too, and shrinks, optimizes and renames.
    R8,
    /// Puts the original names in stack traces in the place of those that R8 gave.
    Retrace,
    /// Reports which parts of a library a program uses, and which it needs but the library lacks.
    TraceReferences,
}

impl Program {
    fn class(self) -> &'static str {
        match self {
            Self::D8 => "com.android.tools.r8.D8",
            Self::R8 => "com.android.tools.r8.R8",
            Self::Retrace => "com.android.tools.r8.retrace.Retrace",
            Self::TraceReferences => "com.android.tools.r8.tracereferences.TraceReferences",
        }
    }
}

/// The jar, and the JVM that it runs on.
#[derive(Debug, Clone)]
pub struct R8 {
    tools: Tools,
    jar: PathBuf,
    /// The path of the class data sharing archive with the classes that D8 loads. With this archive, D8 takes
    /// a third of the time for a small app.
    archive: PathBuf,
}

impl R8 {
    /// Downloads the jar, unless an earlier call did.
    ///
    /// # Errors
    /// When it cannot be had, or the machine has no JVM.
    pub fn ensure(progress: &Progress) -> Result<Self> {
        let (tools, jar) = (Tools::ensure()?, JAR.ensure(progress)?);
        let key =
            Key::new("r8", 1).with(JAR.sha256).with(&tools.identity()?).with(&jar.display().to_string());
        let result = Cache::open(&workspace::set_up().join("tools"))?.step("r8", &key, |out| {
            let class = out.join("D8.class");
            fs::write(&class, jar::read_entry(&jar, "com/android/tools/r8/D8.class")?)
                .with_context(|| format!("cannot write {}", class.display()))?;
            let mut java = tools.java();
            java.args(recorded_classes(&out.join(ARCHIVE))).arg("-cp").arg(&jar).arg(Program::D8.class());
            // Its nest mates are elsewhere in the jar.
            java.arg("--lib").arg(tools.jdk()?).arg("--classpath").arg(&jar);
            run(java.args(["--min-api", "29", "--output"]).arg(out).arg(&class))?;
            Ok(())
        })?;
        Ok(Self { tools, jar, archive: result.join(ARCHIVE) })
    }

    /// The jar.
    pub fn jar(&self) -> &Path {
        &self.jar
    }

    /// Text that changes when the programs do.
    #[must_use]
    pub const fn identity() -> &'static str {
        JAR.sha256
    }

    /// A command that runs one of the programs, in the [warm JVM](crate::warm_jvm) where there is one.
    pub fn command(&self, program: Program) -> Command {
        // Retrace may read its standard input, which a program in the warm JVM does not have.
        let warm = (program != Program::Retrace)
            .then(|| self.tools.warm(&self.jar.display().to_string(), program.class()));
        warm.flatten().unwrap_or_else(|| {
            let mut command = self.tools.java();
            command.args(shared_classes(&self.archive)).args(["-Xmx2g", "-cp"]).arg(&self.jar);
            command.arg(program.class());
            command
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pinned_jar_has_the_programs_of_its_version() {
        let r8 = R8::ensure(&Progress::new("R8")).unwrap();
        for program in [Program::D8, Program::R8, Program::Retrace] {
            let text = run(r8.command(program).arg("--version")).unwrap();
            assert!(text.contains(JAR.version), "{program:?}: {text}");
        }
        let help = run(r8.command(Program::TraceReferences).arg("--help")).unwrap();
        assert!(help.contains("--check"), "{help}");
    }
}
