//! Runs cargo for one Android target.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

use crate::abi::Abi;
use crate::build_machine;
use crate::link;
use crate::project::Product;
use crate::toolchain::{Target, Toolchain, cargo};
use loopbox_setup::workspace::root;

/// Builds a library and returns the file with all its symbols. `products` is cargo's target folder for this.
pub(crate) fn compile(product: Product, abi: Abi, target: &Target, products: &Path) -> Result<PathBuf> {
    let mut flags = link::common(&target.flags);
    flags.extend(build_machine::flags());
    let mut command = cargo();
    command.current_dir(root()).args(["rustc", "--quiet", "--locked", "--package", product.package]);
    command.args(["--lib", "--profile", "app", "--target", abi.triple()]);
    command.env("CARGO_TARGET_DIR", products).env("CARGO_ENCODED_RUSTFLAGS", flags.join("\u{1f}"));
    command.envs(target.environment.iter().cloned());
    // Only as a C library: together with an rlib it would not be optimised as a whole.
    command.args(["--crate-type", "cdylib"]);
    command.arg("--").args(link::own(product, &target.flags));
    let status = command.status().context("cannot run cargo")?;
    ensure!(
        status.success(),
        "cannot build the library for {abi}; an undefined symbol above is one that Android 21 does not have, or that \
         jni-glue/android/bionic-symbols.toml does not list yet"
    );
    Ok(products.join(abi.triple()).join("app").join(product.soname))
}

/// Texts in a library that would reveal the build machine.
pub(crate) fn traces(toolchain: &Toolchain) -> Vec<String> {
    let of_compiler = toolchain.folders().into_iter().map(|folder| folder.display().to_string());
    build_machine::traces().into_iter().chain(of_compiler).collect()
}
