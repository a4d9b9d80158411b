//! A bar for a person who waits: on standard error, on a terminal only, and gone when the work is done.

use std::cell::Cell;
use std::io::{self, Read};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// What takes less is not worth a bar that comes and goes.
const PATIENCE: Duration = Duration::from_millis(300);

/// How far a work is.
pub struct Progress {
    bar: ProgressBar,
    began: Instant,
    /// Whether the bar is still to be shown.
    waits: Cell<bool>,
}

impl Progress {
    /// The progress of a work of so many steps, be it bytes or rows; shown where it is wanted and somebody looks.
    pub fn new(total: u64, wanted: bool) -> Self {
        Progress {
            bar: ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::hidden()),
            began: Instant::now(),
            waits: Cell::new(wanted),
        }
    }

    /// Goes on by so many steps.
    pub fn advance(&self, steps: u64) {
        self.bar.inc(steps);
        if self.waits.get() && self.began.elapsed() > PATIENCE {
            self.show();
        }
    }

    /// Names what is done now, which may take a while: that is shown at once.
    pub fn name(&self, what: &'static str) {
        self.bar.set_message(what);
        if self.waits.get() {
            self.show();
        }
    }

    /// The same stream, with each byte counted.
    pub fn reading<R: Read>(self, stream: R) -> impl Read {
        Counted {
            progress: self,
            stream,
        }
    }

    fn show(&self) {
        self.waits.set(false);
        let columns =
            terminal_size::terminal_size_of(io::stderr()).map_or(80, |(width, _)| width.0);
        let template = match columns {
            ..50 => "{bar:10} {percent}% {msg}",
            _ => "{bar:30} {percent}% {msg}",
        };
        if let Ok(style) = ProgressStyle::with_template(template) {
            self.bar.set_style(style);
        }
        // Hidden where no terminal is, or a dumb one.
        self.bar.set_draw_target(ProgressDrawTarget::stderr());
        self.bar.tick();
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

/// A stream whose bytes are counted.
struct Counted<R> {
    progress: Progress,
    stream: R,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.stream.read(buffer)?;
        self.progress.advance(read as u64);
        Ok(read)
    }
}
