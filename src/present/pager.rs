//! Long answers on a terminal go through the person's pager, which takes the place of this program: an interrupt, a size
//! that changes, and its end are between it and the terminal.

use std::fs::File;
use std::io::{self, BufWriter, IsTerminal, Seek, Write};
use std::process::Command;

use super::{Answer, Page, Style, is_dumb, say, settle};
use crate::model::split_words;

/// The pager where none is set.
pub const DEFAULT_PAGER: &str = "less";

/// What pagers are told by variables, where the person tells them nothing: `less` ends at once when all fits, shows colours,
/// leaves the text on the screen, and reads what is written here, which is UTF-8 under any locale.
const TOLD: [(&str, &str); 3] = [("LESS", "FRX"), ("LESSCHARSET", "utf-8"), ("LV", "-c")];

/// Prints an answer as text. Where a person looks at a terminal and it is longer than that, `pager` shows it.
///
/// # Errors
/// As [`super::answer`].
pub fn paged(answer: Box<dyn Answer>, style: Style, pager: Option<&str>) -> io::Result<()> {
    let Some((pager, rows)) = pager.zip(rows(style)) else {
        return super::answer(answer.as_ref(), false, style);
    };
    let mut screen = Screen {
        rows,
        held: Vec::new(),
        file: None,
    };
    let written = answer.text(&mut Page::new(&mut screen, style));
    // What it holds open is closed: nothing of this program is left when the pager runs.
    drop(answer);
    settle(written.and_then(|()| match screen.file {
        Some(file) => show(file.into_inner()?, pager),
        None => io::stdout().lock().write_all(&screen.held),
    }))
}

/// The rows of a terminal that can be paged: with a person at both ends.
fn rows(style: Style) -> Option<usize> {
    if !style.terminal || is_dumb() || !io::stdin().is_terminal() {
        return None;
    }
    let (_, height) = terminal_size::terminal_size()?;
    Some(usize::from(height.0)).filter(|&rows| rows > 0)
}

/// Holds what fits on a screen, and puts what is longer into a file without a name.
struct Screen {
    rows: usize,
    held: Vec<u8>,
    file: Option<BufWriter<File>>,
}

impl Write for Screen {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if let Some(file) = &mut self.file {
            return file.write(bytes);
        }
        self.held.extend_from_slice(bytes);
        let lines = bytes.iter().filter(|&&byte| byte == b'\n').count();
        self.rows = self.rows.saturating_sub(lines);
        if self.rows == 0 {
            match tempfile::tempfile() {
                Ok(file) => {
                    let file = self.file.insert(BufWriter::new(file));
                    file.write_all(&self.held)?;
                }
                // No place for it: then without a pager.
                Err(_) => self.rows = usize::MAX,
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Lets the pager show a file; prints it where there is none that can.
fn show(mut file: File, pager: &str) -> io::Result<()> {
    file.rewind()?;
    let why = match split_words(pager).as_deref() {
        Some([program, arguments @ ..]) => {
            let mut command = Command::new(program);
            command.args(arguments).stdin(file.try_clone()?);
            for (name, value) in TOLD {
                if std::env::var_os(name).is_none() {
                    command.env(name, value);
                }
            }
            match run(command) {
                Ok(()) => return Ok(()),
                Err(_) if pager == DEFAULT_PAGER => None,
                Err(error) => Some(format!("cannot be started: {error}")),
            }
        }
        _ => Some("is no program and its arguments, and no shell is started for it".to_owned()),
    };
    if let Some(why) = why {
        say(&format!("the pager `{pager}` {why}"));
    }
    io::copy(&mut file, &mut io::stdout().lock()).map(drop)
}

/// Becomes the program, and returns only where it cannot be started.
#[cfg(unix)]
fn run(mut command: Command) -> io::Result<()> {
    use std::os::unix::process::CommandExt;
    Err(command.exec())
}

/// Runs the program to its end.
#[cfg(not(unix))]
fn run(mut command: Command) -> io::Result<()> {
    command.status().map(drop)
}
