//! `loopbox completions` and `loopbox man`, generated from the definition of the command line.

use crate::outcome::Outcome;
use crate::output;
use anyhow::{Context, Result};
use std::path::PathBuf;

#[derive(Debug, clap::Args)]
pub(crate) struct Completions {
    /// The shell.
    #[arg(value_enum)]
    shell: clap_complete::Shell,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Man {
    /// Writes loopbox.1, loopbox-show.1 and so on into this folder, instead of printing loopbox.1.
    #[arg(short, long, value_name = "FOLDER")]
    output: Option<PathBuf>,
}

pub(crate) fn completions(args: &Completions, mut cli: clap::Command) -> Result<Outcome> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut cli, "loopbox", &mut script);
    output::write_plain(&script)?;
    Ok(Outcome::Complete)
}

pub(crate) fn man(args: &Man, cli: clap::Command) -> Result<Outcome> {
    if let Some(folder) = &args.output {
        let name = || folder.display().to_string();
        std::fs::create_dir_all(folder).with_context(name)?;
        clap_mangen::generate_to(cli, folder).with_context(name)?;
    } else {
        let mut page = Vec::new();
        clap_mangen::Man::new(cli).render(&mut page)?;
        output::write_plain(&page)?;
    }
    Ok(Outcome::Complete)
}
