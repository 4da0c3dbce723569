//! `loopbox completions` and `loopbox man`, generated from the definition of the command line and from the
//! documents.

use crate::destination::write_file;
use crate::document;
use crate::outcome::Outcome;
use crate::output;
use anyhow::{Context, Result};
use std::io::Write;
use std::path::PathBuf;

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples (new shells have the completions):
  mkdir -p ~/.local/share/bash-completion/completions ~/.zfunc ~/.config/fish/completions
  loopbox completions bash > ~/.local/share/bash-completion/completions/loopbox
  loopbox completions zsh > ~/.zfunc/_loopbox
  loopbox completions fish > ~/.config/fish/completions/loopbox.fish

Bash needs the package bash-completion. Zsh needs these lines in ~/.zshrc:
  fpath+=~/.zfunc
  autoload -Uz compinit && compinit")]
pub(crate) struct Completions {
    /// The shell.
    #[arg(value_enum)]
    shell: clap_complete::Shell,
}

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples (`man loopbox-show` and `man loopbox-diagnosis` find them there):
  loopbox man -o ~/.local/share/man
  loopbox man > loopbox.1")]
pub(crate) struct Man {
    /// Writes man1/loopbox.1, man1/loopbox-show.1 and so on, and the documents as man7/loopbox-diagnosis.7
    /// and so on, into this folder, instead of printing loopbox.1.
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
    let Some(folder) = &args.output else {
        let mut page = Vec::new();
        clap_mangen::Man::new(cli).render(&mut page)?;
        output::write_plain(&page)?;
        return Ok(Outcome::Complete);
    };
    let [commands, documents] = ["man1", "man7"].map(|section| folder.join(section));
    for section in [&commands, &documents] {
        std::fs::create_dir_all(section).with_context(|| section.display().to_string())?;
    }
    clap_mangen::generate_to(cli, &commands).with_context(|| commands.display().to_string())?;
    for document in document::ALL {
        let page = documents.join(format!("loopbox-{}.7", document.name));
        write_file(&page, |mut file| Ok(file.write_all(document.manual_page().as_bytes())?))?;
    }
    Ok(Outcome::Complete)
}
