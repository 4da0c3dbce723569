//! `loopbox completions` and `loopbox man`: made from the command line's own definition.

use crate::{Outcome, output};
use anyhow::{Context, Result};
use clap::CommandFactory;
use std::path::PathBuf;

#[derive(Debug, clap::Args)]
pub(crate) struct Completions {
    /// The shell.
    #[arg(value_enum)]
    shell: clap_complete::Shell,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Man {
    /// Writes loopbox.1, loopbox-show.1 and so on into this folder; without it prints loopbox.1.
    #[arg(short, long, value_name = "FOLDER")]
    output: Option<PathBuf>,
}

pub(crate) fn completions(args: &Completions) -> Result<Outcome> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut crate::args::Args::command(), "loopbox", &mut script);
    output::bytes(&script, None)?;
    Ok(Outcome::Done)
}

pub(crate) fn man(args: &Man) -> Result<Outcome> {
    let command = crate::args::Args::command();
    if let Some(folder) = &args.output {
        let name = || folder.display().to_string();
        std::fs::create_dir_all(folder).with_context(name)?;
        clap_mangen::generate_to(command, folder).with_context(name)?;
    } else {
        let mut page = Vec::new();
        clap_mangen::Man::new(command).render(&mut page)?;
        output::bytes(&page, None)?;
    }
    Ok(Outcome::Done)
}
