//! The binary: translates a command line into a call, and how it ended into an exit code.

use std::process::ExitCode;

use aizo::commands::{self, Cli, Context, Reply};
use aizo::error::{Failure, Kind, Report};
use aizo::present::{self, Style};
use clap::Parser;

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return usage(&error),
    };
    let json = cli.json;
    match run(cli) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => fail(&error, json),
    }
}

fn run(cli: Cli) -> anyhow::Result<()> {
    let json = cli.json;
    let context = Context::new(&cli)?;
    let reply = commands::run(cli.command, &context);
    for note in context.take_notes() {
        present::say(&note);
    }
    let printed = match reply? {
        Reply::Answer(answer) => present::answer(
            answer.as_ref(),
            json,
            Style::for_stdout(context.settings.color),
        ),
        Reply::Raw(bytes) => present::raw(&bytes),
    };
    printed.map(drop).map_err(|error| {
        Failure::new(
            Kind::Io,
            format!("cannot write to standard output: {error}"),
        )
        .into()
    })
}

fn fail(error: &anyhow::Error, json: bool) -> ExitCode {
    let report = Report::of(error);
    present::report(&report, json);
    ExitCode::from(report.kind.exit_code())
}

/// Help and version are answers; anything else that clap reports is wrong usage.
fn usage(error: &clap::Error) -> ExitCode {
    let json = std::env::args_os().skip(1).any(|word| word == "--json");
    if !error.use_stderr() || !json {
        return match error.print() {
            Ok(()) => ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2)),
            Err(_) => ExitCode::FAILURE,
        };
    }
    let text = error.to_string();
    let message = text
        .lines()
        .take_while(|line| !line.is_empty())
        .map(|line| line.trim().trim_start_matches("error: "))
        .collect::<Vec<_>>()
        .join(" ");
    let failure = Failure::usage(message).hint("aizo --help, or aizo COMMAND --help");
    fail(&failure.into(), true)
}
