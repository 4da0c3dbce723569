//! `loopbox help`: the help of a command, or a document.

use crate::document;
use crate::options::TerminalOptions;
use crate::outcome::Outcome;
use crate::output;
use anyhow::Result;
use clap::builder::{PossibleValue, PossibleValuesParser};
use std::fmt::Write as _;

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  loopbox help
  loopbox help show
  loopbox help diagnosis")]
pub(crate) struct Args {
    /// A command, or a document; without it, the commands and the documents.
    #[arg(value_name = NAME)]
    name: Option<String>,
    #[command(flatten)]
    terminal: TerminalOptions,
}

/// The placeholder for the argument in the usage.
const NAME: &str = "COMMAND|DOCUMENT";

/// Adds to the definition of the command line which names each argument of names can have.
pub(crate) fn with_names(cli: clap::Command) -> clap::Command {
    let commands =
        cli.get_subcommands().map(|command| PossibleValue::new(command.get_name().to_owned()).hide(true));
    let documents =
        document::ALL.iter().map(|document| PossibleValue::new(document.name).help(document.title()));
    let names = PossibleValuesParser::new(commands.chain(documents));
    cli.mut_subcommand("help", |help| help.mut_arg("name", |name| name.value_parser(names)))
}

pub(crate) fn run(args: &Args, mut cli: clap::Command) -> Result<Outcome> {
    let Some(name) = &args.name else {
        let mut text = cli.render_long_help().ansi().to_string();
        text.push_str("\nDocuments (loopbox help DOCUMENT):\n");
        for document in document::ALL {
            let _ = writeln!(text, "  {:<17} {}", document.name, document.title());
        }
        output::write_text(&text, &args.terminal)?;
        return Ok(Outcome::Complete);
    };
    let text = if let Some(document) = document::ALL.iter().find(|document| document.name == name) {
        document.for_terminal()
    } else {
        // So that usage and options are shown as of the whole command line.
        cli.build();
        let command = cli.find_subcommand_mut(name);
        command.map(|command| command.render_long_help().ansi().to_string()).unwrap_or_default()
    };
    output::write_text(&text, &args.terminal)?;
    Ok(Outcome::Complete)
}
