//! `aizo man`: the manual page, generated from the command tree.

use clap::CommandFactory;

use crate::error::Failure;

/// Arguments of `man`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  aizo man | man -l -
  aizo man recall > aizo-recall.1")]
pub struct Args {
    /// The page of this command
    command: Option<String>,
}

/// Runs `man`.
///
/// # Errors
/// No such command.
pub fn run(args: &Args) -> anyhow::Result<Vec<u8>> {
    let mut tree = super::Cli::command();
    tree.build();
    let page = match &args.command {
        None => tree,
        Some(name) => tree
            .get_subcommands()
            .find(|command| command.get_name() == name)
            .cloned()
            .map(|command| command.display_name(format!("aizo-{name}")))
            .ok_or_else(|| Failure::usage(format!("there is no command `{name}`")))?,
    };
    let mut text = Vec::new();
    clap_mangen::Man::new(page).render(&mut text)?;
    Ok(text)
}
