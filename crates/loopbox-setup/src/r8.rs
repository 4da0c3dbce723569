//! The official D8, R8 and Retrace, which are one jar.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Result;

use crate::progress::Progress;
use crate::registry::{Pinned, Registry};
use crate::tools::Tools;

/// Of November 2026.
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
    /// Does that too, and shrinks, optimizes and renames.
    R8,
    /// Takes stack traces back to the names before R8.
    Retrace,
    /// Says what of a library is used, or is missing there.
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

/// The jar, and what it runs on.
#[derive(Debug, Clone)]
pub struct R8 {
    tools: Tools,
    jar: PathBuf,
}

impl R8 {
    /// Downloads it, once.
    ///
    /// # Errors
    /// When it cannot be had, or the machine has no JVM.
    pub fn ensure(progress: &Progress) -> Result<Self> {
        Ok(Self { tools: Tools::ensure()?, jar: JAR.ensure(progress)? })
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

    /// A command that runs one of the programs.
    pub fn command(&self, program: Program) -> Command {
        let mut command = self.tools.java();
        command.arg("-Xmx2g").arg("-cp").arg(&self.jar).arg(program.class());
        command
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::run;

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
