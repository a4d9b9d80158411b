//! The binary: translates a command line into a call, and how it ended into an exit code.

use std::borrow::Cow;
use std::process::ExitCode;

use aizo::commands::{self, Cli, Context, Reply};
use aizo::error::{DIFFERS, Failure, Kind, Report, VIOLATED};
use aizo::present::{self, Style};
use aizo::redact::redact;
use clap::Parser;

#[cfg(target_env = "musl")]
#[global_allocator]
static ALLOCATOR: dlmalloc::GlobalDlmalloc = dlmalloc::GlobalDlmalloc;

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        // A host takes some exit codes for a refusal; a wrong entry in its settings must not refuse everything.
        Err(error)
            if error.use_stderr()
                && std::env::args_os()
                    .nth(1)
                    .is_some_and(|word| word == "hook") =>
        {
            let _nobody_listens = present::help(&error);
            return ExitCode::SUCCESS;
        }
        Err(error) => return usage(&error),
    };
    if let Some(code) = commands::at_the_door(&cli) {
        return code;
    }
    let json = cli.json;
    match run(cli) {
        Ok(code) => code,
        Err(error) => fail(&error, json),
    }
}

fn run(cli: Cli) -> anyhow::Result<ExitCode> {
    let json = cli.json;
    let context = Context::new(&cli)?;
    let reply = commands::run(cli.command, &context);
    for note in context.take_notes() {
        present::say(&note);
    }
    let mut missing = None;
    let (reply, code) = match reply? {
        Reply::Incomplete(answer, failure) => {
            let code = failure.kind.exit_code();
            missing = Some(failure);
            (Reply::Answer(answer), ExitCode::from(code))
        }
        Reply::Violation(answer) => (Reply::Answer(answer), ExitCode::from(VIOLATED)),
        Reply::Difference(answer) => (Reply::Answer(answer), ExitCode::from(DIFFERS)),
        reply => (reply, ExitCode::SUCCESS),
    };
    let printed = match reply {
        Reply::Answer(answer)
        | Reply::Violation(answer)
        | Reply::Difference(answer)
        | Reply::Incomplete(answer, _) => present::answer(
            answer.as_ref(),
            json,
            Style::for_stdout(context.settings.color, context.settings.columns),
        ),
        Reply::Raw(bytes) => present::raw(&bytes),
    };
    printed.map_err(cannot_print)?;
    if let Some(failure) = missing {
        present::report(&Report::of(&failure.into()), json);
    }
    Ok(code)
}

fn cannot_print(error: std::io::Error) -> anyhow::Error {
    let message = format!("cannot write the answer to standard output: {error}");
    Failure::new(Kind::Io, message).into()
}

fn fail(error: &anyhow::Error, json: bool) -> ExitCode {
    let report = Report::of(error);
    present::report(&report, json);
    ExitCode::from(report.kind.exit_code())
}

/// Help and version are answers; anything else that clap reports is wrong usage.
fn usage(error: &clap::Error) -> ExitCode {
    let json = std::env::args_os().skip(1).any(|word| word == "--json");
    if !error.use_stderr() {
        return match present::help(error) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => fail(&cannot_print(error), json),
        };
    }
    if !json {
        let text = error.to_string();
        match redact(&text).text {
            Cow::Owned(clean) => present::say(clean.trim_end()),
            Cow::Borrowed(_) => {
                let _nobody_listens = present::help(error);
            }
        }
        return ExitCode::from(Kind::Usage.exit_code());
    }
    fail(&commands::wrong_usage(error).into(), true)
}
