//! Lines of standard input and output, each on a thread of its own, so that a reader or a writer that is slow holds no
//! call up, and a host that has gone is noticed at once.

use std::future::{Future, pending, ready};
use std::io::{self, BufRead, Read, Write};
use std::sync::mpsc;
use std::time::Duration;

use rmcp::service::{RoleServer, RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;

use super::wire::{self, Heard};

/// A longer message is none.
const LONGEST: u64 = 16 * 1024 * 1024;
/// So many messages wait to be looked at; a host that sends more is not read meanwhile.
const MOST_WAITING: usize = 64;
/// How long a host that has stopped talking may take to read what is still to be said.
const PATIENCE: Duration = Duration::from_secs(2);

/// What the threads tell.
enum Event {
    /// A line came in.
    Line(Vec<u8>),
    /// One came that is longer than a message may be; it was passed over.
    TooLong,
    /// There is nobody left to hear an answer.
    Gone,
}

/// The two streams.
pub(super) struct Pipe {
    events: tokio::sync::mpsc::Receiver<Event>,
    answers: mpsc::Sender<String>,
    ended: bool,
    wire: wire::State,
}

/// The end of the writing.
pub(super) struct Written(mpsc::Receiver<()>);

impl Written {
    /// Waits until everything is written, for a while.
    pub(super) fn wait(self) {
        // A host that keeps its end open and does not read has had its time.
        let _all_or_not = self.0.recv_timeout(PATIENCE);
    }
}

/// Takes hold of standard input and output.
pub(super) fn open() -> (Pipe, Written) {
    let (sender, events) = tokio::sync::mpsc::channel(MOST_WAITING);
    let (answers, to_write) = mpsc::channel::<String>();
    let (finished, written) = mpsc::channel();
    let gone = sender.clone().downgrade();
    std::thread::spawn(move || read(&sender));
    std::thread::spawn(move || {
        // Dropped at the end, which is what is waited for.
        let _finished: mpsc::Sender<()> = finished;
        if write(&to_write).is_err()
            && let Some(gone) = gone.upgrade()
        {
            let _nobody_listens = gone.blocking_send(Event::Gone);
        }
    });
    let pipe = Pipe {
        events,
        answers,
        ended: false,
        wire: wire::State::default(),
    };
    (pipe, Written(written))
}

/// Reads lines until there are no more. A stream that cannot be read is at its end.
fn read(sender: &tokio::sync::mpsc::Sender<Event>) {
    let mut input = io::stdin().lock();
    loop {
        let mut line = Vec::new();
        match input.by_ref().take(LONGEST).read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => return,
            Ok(_) => {}
        }
        let whole = line.ends_with(b"\n") || (line.len() as u64) < LONGEST;
        let event = if whole {
            Event::Line(line)
        } else {
            if input.skip_until(b'\n').is_err() {
                return;
            }
            Event::TooLong
        };
        if sender.blocking_send(event).is_err() {
            return;
        }
    }
}

/// Writes answers as they come, each on a line.
fn write(answers: &mpsc::Receiver<String>) -> io::Result<()> {
    let mut output = io::stdout().lock();
    for mut answer in answers {
        answer.push('\n');
        output.write_all(answer.as_bytes())?;
        output.flush()?;
    }
    Ok(())
}

impl Transport<RoleServer> for Pipe {
    type Error = io::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), io::Error>> + Send + 'static {
        self.wire.tell(&message);
        let sent = self.answers.send(wire::written(message));
        ready(sent.map_err(|_| io::ErrorKind::BrokenPipe.into()))
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        while !self.ended {
            let heard = match self.events.recv().await {
                Some(Event::Line(line)) => self.wire.hear(&line),
                Some(Event::TooLong) => Heard::Refused(wire::too_long(LONGEST)),
                Some(Event::Gone) => {
                    self.ended = true;
                    return None;
                }
                // What was asked before the end is answered first: after each answer the SDK comes here again.
                None if self.wire.is_busy() => pending().await,
                None => {
                    self.ended = true;
                    return None;
                }
            };
            match heard {
                Heard::Message(message) => return Some(*message),
                Heard::Refused(answer) => {
                    let _nobody_listens = self.answers.send(answer);
                }
                Heard::Nothing => {}
            }
        }
        None
    }

    async fn close(&mut self) -> Result<(), io::Error> {
        self.ended = true;
        Ok(())
    }
}
