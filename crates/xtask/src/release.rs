//! `cargo xtask release`: makes and checks the folder of a release, or only checks one that is there.

use std::path::PathBuf;

use anyhow::{Result, ensure};
use clap::Args;
use loopbox_android_pack::publisher::Publisher;
use loopbox_android_pack::{Options, folder, pack};
use loopbox_release::{Facts, KEY, Parts, Signer, commands, make, verify};
use loopbox_setup::workspace::{root, target};

/// Arguments of `cargo xtask release`.
#[derive(Debug, Args)]
pub(crate) struct ReleaseArgs {
    /// Make nothing, but check this folder
    #[arg(long, value_name = "FOLDER")]
    verify: Option<PathBuf>,
    /// A file with public keys; each signature must be by one of them
    #[arg(long, value_name = "FILE", requires = "verify")]
    keys: Option<PathBuf>,
    /// Allow sources that are not committed, for a trial: the provenance then names no commit
    #[arg(long, conflicts_with = "verify")]
    allow_dirty: bool,
}

pub(crate) fn run(args: &ReleaseArgs) -> Result<()> {
    if let Some(folder) = &args.verify {
        println!("{}", verify(folder, args.keys.as_deref())?);
        return Ok(());
    }
    let facts = Facts::of_workspace()?;
    ensure!(
        facts.commit.is_some() || args.allow_dirty,
        "files differ from the commit, see `git status`; --allow-dirty makes a release for a trial"
    );
    let signer = Signer::from_environment()?;
    pack(&Options::default())?;
    let place = target().join("release").join(&facts.version);
    // The packer may have found a newer compiler.
    let facts = Facts::of_workspace()?;
    let built = target().join("release-commands");
    commands::build(&built, facts.committed_s)?;
    let parts = Parts { repository: &folder().join("maven"), commands: &built };
    make(parts, &place, &facts, signer.as_ref())?;
    println!("\n{}\n{}", place.display(), verify(&place, None)?);
    println!("{}", lab_play::check(&folder().join("maven"), &facts.version)?);
    let mut open = facts.open_points();
    let missing = Publisher::read(&root())?.missing();
    if !missing.is_empty() {
        open.push(format!(
            "Cargo.toml, [workspace.package], has no {}: Maven Central asks for it.",
            missing.join(", ")
        ));
    }
    if signer.is_none() {
        open.push(format!("Nothing is signed: {KEY} has no key. Maven Central takes signed files only."));
    }
    open.push("The rest is for a person, in RELEASE.md: tag, upload, announce.".to_owned());
    println!("\nto do:\n  {}", open.join("\n  "));
    Ok(())
}
