//! `aizo completions`: a completion script, generated from the command tree.

use clap::CommandFactory;

/// Arguments of `completions`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:
  aizo completions bash > ~/.local/share/bash-completion/completions/aizo")]
pub struct Args {
    /// The shell
    #[arg(value_enum)]
    shell: clap_complete::Shell,
}

/// Runs `completions`.
pub fn run(args: &Args) -> Vec<u8> {
    let mut script = Vec::new();
    let mut command = super::Cli::command();
    clap_complete::generate(args.shell, &mut command, "aizo", &mut script);
    script
}
