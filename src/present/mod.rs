//! What people and programs get to see: text with or without colour, JSON, closed pipes. The only place
//! that prints.

mod json;
mod layout;
mod page;
mod pager;
mod progress;
mod sanitize;
mod sparkline;

use std::io::{self, IsTerminal, Write};

pub use json::{ArrayWriter, to_json, to_json_line};
pub use page::{Align, Page, Table, Tone};
pub use pager::{DEFAULT_PAGER, paged};
pub use progress::Progress;
pub use sanitize::for_terminal;
pub use sparkline::sparkline;

use crate::error::Report;
use crate::settings::Color;

/// How text is laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Style {
    /// Whether escape codes are written.
    pub color: bool,
    /// The columns of the terminal; none where nothing is to be wrapped.
    pub width: Option<usize>,
    /// Whether a terminal reads it, which obeys what may stand in a text.
    pub terminal: bool,
}

impl Style {
    /// The style for standard output.
    pub fn for_stdout(color: Color, columns: Option<usize>) -> Self {
        let stdout = io::stdout();
        let terminal = stdout.is_terminal();
        let color = match color {
            Color::Always => true,
            Color::Never => false,
            Color::Auto => {
                anstream::AutoStream::choice(&stdout) != anstream::ColorChoice::Never
                    && (is_forced() || !is_dumb())
            }
        };
        let width = columns.or_else(|| {
            terminal.then(|| {
                terminal_size::terminal_size().map_or(80, |(width, _)| usize::from(width.0))
            })
        });
        Style {
            terminal,
            color,
            width: width
                .filter(|&columns| columns > 0)
                .map(|columns| columns.max(20)),
        }
    }
}

/// Whether the terminal knows no escape codes.
fn is_dumb() -> bool {
    match std::env::var_os("TERM") {
        Some(name) => name == "dumb",
        None => !cfg!(windows),
    }
}

/// Whether colour is asked for wherever the text goes.
fn is_forced() -> bool {
    std::env::var_os("CLICOLOR_FORCE").is_some_and(|value| !value.is_empty() && value != "0")
}

/// A reply that can be shown as text and as JSON.
pub trait Answer {
    /// Writes the text form.
    ///
    /// # Errors
    /// What the stream reports.
    fn text(&self, page: &mut Page<'_>) -> io::Result<()>;

    /// Writes the JSON form: exactly one value and a line end.
    ///
    /// # Errors
    /// What the stream reports.
    fn json(&self, out: &mut dyn Write) -> io::Result<()>;
}

/// Prints an answer to standard output.
///
/// # Errors
/// A stream that cannot be written, other than one whose reader has gone.
pub fn answer(answer: &dyn Answer, json: bool, style: Style) -> io::Result<()> {
    let mut out = io::BufWriter::with_capacity(1 << 16, io::stdout().lock());
    let written = if json {
        answer.json(&mut out)
    } else {
        answer.text(&mut Page::new(&mut out, style))
    };
    settle(written.and_then(|()| out.flush()))
}

/// Prints bytes as they are, for generated scripts, pages and prompts; to a terminal without what it obeys.
///
/// # Errors
/// As [`answer`].
pub fn raw(bytes: &[u8]) -> io::Result<()> {
    let mut out = io::stdout().lock();
    let written = match out.is_terminal() {
        true => out.write_all(page::harmless(bytes).as_bytes()),
        false => out.write_all(bytes),
    };
    settle(written.and_then(|()| out.flush()))
}

/// A reader that has gone is no error.
fn settle(written: io::Result<()>) -> io::Result<()> {
    match written {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => other,
    }
}

/// Prints what clap has to say: help and version to standard output, wrong usage to standard error.
///
/// # Errors
/// As [`answer`].
pub fn help(message: &clap::Error, color: Color) -> io::Result<()> {
    let text = match color {
        Color::Auto if is_forced() || !is_dumb() => {
            return settle(message.print().and_then(|()| io::stdout().flush()));
        }
        Color::Always => message.render().ansi().to_string(),
        Color::Auto | Color::Never => message.render().to_string(),
    };
    settle(match message.use_stderr() {
        true => io::stderr().write_all(text.as_bytes()),
        false => io::stdout().write_all(text.as_bytes()),
    })
}

/// Says something on standard error. Nobody is told when that fails: there is no one left to tell.
pub fn say(text: &str) {
    let mut err = io::stderr().lock();
    let _nobody_listens = writeln!(err, "{}", sanitize::lines_for_terminal(text));
}

/// Reports an error on standard error; in JSON, as its last line.
pub fn report(report: &Report, json: bool) {
    if json {
        let mut err = io::stderr().lock();
        let _nobody_listens = to_json_line(&report.wrapped(), &mut err);
    } else {
        say(&report.to_string());
    }
}

/// Asks a person something on the terminal and waits for a line.
///
/// # Errors
/// What the streams report.
pub fn ask(question: &str) -> io::Result<String> {
    let mut err = io::stderr().lock();
    write!(err, "{}", sanitize::lines_for_terminal(question))?;
    err.flush()?;
    let mut line = String::new();
    io::stdin().read_line(&mut line)?;
    Ok(line.trim().to_owned())
}

/// Asks for a yes.
///
/// # Errors
/// What the terminal reports.
pub fn confirmed(question: &str) -> io::Result<bool> {
    let answer = ask(&format!("{question} Type yes: "))?;
    Ok(["yes", "y"]
        .iter()
        .any(|yes| answer.eq_ignore_ascii_case(yes)))
}

/// Whether something may come on standard input: a pipe or a file, and no terminal.
pub fn is_stdin_piped() -> bool {
    !io::stdin().is_terminal()
}

/// Whether a person sits at both ends.
pub fn is_interactive() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}
