//! The binary: translates a command line into a call, and how it ended into an exit code.

use std::process::ExitCode;

use aizo::commands::{self, Cli, Context, Reply};
use aizo::error::{DIFFERS, Failure, Kind, Report, VIOLATED};
use aizo::model::is_hidden;
use aizo::present::{self, Style};
use aizo::redact::redact;
use aizo::settings::Color;
use aizo::storage::StorageError;

#[cfg(target_env = "musl")]
#[global_allocator]
static ALLOCATOR: dlmalloc::GlobalDlmalloc = dlmalloc::GlobalDlmalloc;

fn main() -> ExitCode {
    let cli = match Cli::read() {
        Ok(cli) => cli,
        // A host takes some exit codes for a refusal; a wrong entry in its settings must not refuse everything.
        Err(error)
            if error.use_stderr()
                && std::env::args_os()
                    .nth(1)
                    .is_some_and(|word| word == "hook") =>
        {
            let _nobody_listens = present::help(&error, Color::Never);
            return ExitCode::SUCCESS;
        }
        Err(error) => return usage(&error),
    };
    if let Some(code) = commands::at_the_door(&cli) {
        return code;
    }
    let json = cli.global.json;
    match run(cli) {
        Ok(code) => code,
        Err(error) => fail(&error, json),
    }
}

fn run(cli: Cli) -> anyhow::Result<ExitCode> {
    let json = cli.global.json;
    let context = Context::new(&cli)?;
    let reply = commands::run(cli.command, &context);
    for note in context.take_notes() {
        present::say(&note);
    }
    let style = || Style::for_stdout(context.settings.color, context.settings.columns);
    let (answer, code, missing) = match reply? {
        Reply::Raw(bytes) => {
            present::raw(&bytes).map_err(cannot_print)?;
            return Ok(ExitCode::SUCCESS);
        }
        Reply::Answer(answer) if !json => {
            let pager = context.settings.pager.as_deref();
            present::paged(answer, style(), pager).map_err(cannot_print)?;
            return Ok(ExitCode::SUCCESS);
        }
        Reply::Answer(answer) => (answer, ExitCode::SUCCESS, None),
        Reply::Violation(answer) => (answer, ExitCode::from(VIOLATED), None),
        Reply::Difference(answer) => (answer, ExitCode::from(DIFFERS), None),
        Reply::Incomplete(answer, failure) => {
            let code = ExitCode::from(failure.kind.exit_code());
            (answer, code, Some(failure))
        }
    };
    present::answer(answer.as_ref(), json, style()).map_err(cannot_print)?;
    if let Some(failure) = missing {
        present::report(&Report::of(&failure.into()), json);
    }
    Ok(code)
}

/// Why an answer is not written to its end: what is shown as it is read may fail in the store too.
fn cannot_print(error: std::io::Error) -> anyhow::Error {
    match error.downcast::<StorageError>() {
        Ok(fault) => fault.into(),
        Err(error) => {
            let message = format!("cannot write the answer to standard output: {error}");
            Failure::new(Kind::Io, message).into()
        }
    }
}

fn fail(error: &anyhow::Error, json: bool) -> ExitCode {
    let report = Report::of(error);
    present::report(&report, json);
    ExitCode::from(report.kind.exit_code())
}

/// Help and version are answers; anything else that clap reports is wrong usage.
fn usage(error: &clap::Error) -> ExitCode {
    let words: Vec<String> = std::env::args_os()
        .skip(1)
        .map(|word| word.to_string_lossy().into_owned())
        .collect();
    let json = words.iter().any(|word| word == "--json");
    let color = if json {
        Color::Never
    } else {
        Color::named_in(&words)
    };
    if !error.use_stderr() {
        return match present::help(error, color) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => fail(&cannot_print(error), json),
        };
    }
    if !json {
        let text = error.to_string();
        let clean = redact(&text).text;
        let hides = |word: &String| word.contains(is_hidden);
        if clean == text && !words.iter().any(hides) {
            let _nobody_listens = present::help(error, color);
        } else {
            present::say(clean.trim_end());
        }
        return ExitCode::from(Kind::Usage.exit_code());
    }
    fail(&commands::wrong_usage(error).into(), true)
}
