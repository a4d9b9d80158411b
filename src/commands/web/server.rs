//! The sockets: a thread for each connection, so many of them and no more, and a limit to the time that each may take.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::json;

use super::ask;
use crate::commands::Context;
use crate::error::Failure;
use crate::files::stamp;
use crate::present;
use crate::storage::Store;
use crate::web::{Gate, Incoming, Method, Refusal, Request, Response, Route, Shown, Ticket};

/// So many connections at once; a browser has six.
const MOST_CONNECTIONS: usize = 64;
/// A request is whole by then.
const TO_ASK: Duration = Duration::from_secs(10);
/// An answer has been taken by then.
const TO_LISTEN: Duration = Duration::from_secs(60);
/// Whoever still sends what nobody reads is listened to so long, and so much of it, or the answer would be lost with it.
const TO_PART: Duration = Duration::from_secs(1);
const MOST_UNREAD: u64 = 1 << 20;

/// What is served.
pub(super) struct Server {
    pub(super) gate: Gate,
    pub(super) db: PathBuf,
    /// The file of the kinds of task.
    pub(super) scenarios: Option<PathBuf>,
    /// Whether the page may change anything.
    pub(super) writes: bool,
    /// What the browser was started with.
    pub(super) ticket: Option<Mutex<Ticket>>,
}

/// Answers until the program is ended.
pub(super) fn serve(listener: &TcpListener, server: &Arc<Server>) -> ! {
    let open = Arc::new(AtomicUsize::new(0));
    loop {
        // Where no connection can be had, there are too many open files for the moment.
        let Ok((stream, _)) = listener.accept() else {
            thread::sleep(Duration::from_millis(20));
            continue;
        };
        let slot = Slot::take(&open);
        if slot.number > MOST_CONNECTIONS {
            turn_away(stream);
            continue;
        }
        let server = Arc::clone(server);
        let _no_thread_to_be_had = thread::Builder::new().spawn(move || {
            let _slot = slot;
            // Whoever has gone does not want to know.
            let _gone = converse(stream, &server);
        });
    }
}

/// A place among the connections, free again when it is dropped.
struct Slot {
    open: Arc<AtomicUsize>,
    number: usize,
}

impl Slot {
    fn take(open: &Arc<AtomicUsize>) -> Self {
        Slot {
            number: open.fetch_add(1, Ordering::Relaxed) + 1,
            open: Arc::clone(open),
        }
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.open.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A connection that ends at a given moment, whatever is still to come or to go.
struct Line {
    stream: TcpStream,
    until: Instant,
}

impl Line {
    fn new(stream: TcpStream, time: Duration) -> Self {
        Line {
            stream,
            until: Instant::now() + time,
        }
    }

    fn left(&self) -> io::Result<Option<Duration>> {
        match self.until.checked_duration_since(Instant::now()) {
            Some(left) if !left.is_zero() => Ok(Some(left)),
            _ => Err(io::ErrorKind::TimedOut.into()),
        }
    }
}

impl Read for Line {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        self.stream.set_read_timeout(self.left()?)?;
        self.stream.read(bytes)
    }
}

impl Write for Line {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.stream.set_write_timeout(self.left()?)?;
        self.stream.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.stream.flush()
    }
}

/// Hears one request and answers it.
fn converse(stream: TcpStream, server: &Server) -> io::Result<()> {
    let mut line = Line::new(stream, TO_ASK);
    let (response, with_body) = match hear(&mut line) {
        Ok(None) => return Ok(()),
        Ok(Some(request)) => {
            let with_body = request.method != Method::Head;
            (server.answer(&request), with_body)
        }
        Err(refusal) => (refusal.into(), true),
    };
    line.until = Instant::now() + TO_LISTEN;
    response.write(&mut line, with_body)?;
    line.stream.shutdown(Shutdown::Write)?;
    line.until = Instant::now() + TO_PART;
    io::copy(&mut line.take(MOST_UNREAD), &mut io::sink())?;
    Ok(())
}

/// Reads until a request is whole; nothing comes back where nothing came, as browsers open connections they may need.
fn hear(line: &mut Line) -> Result<Option<Request>, Refusal> {
    let mut request = Incoming::default();
    let mut part = [0; 8 * 1024];
    loop {
        match line.read(&mut part) {
            Ok(0) if !request.is_empty() => {
                return Err(Refusal::new(400, "the request ends before it is whole"));
            }
            Ok(0) => return Ok(None),
            Ok(count) => {
                if let Some(request) = request.take(&part[..count])? {
                    return Ok(Some(request));
                }
            }
            Err(error) => match error.kind() {
                io::ErrorKind::Interrupted => {}
                io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock if !request.is_empty() => {
                    return Err(Refusal::new(408, "the request takes too long"));
                }
                _ => return Ok(None),
            },
        }
    }
}

/// Says that there are too many connections: what a socket takes without waiting.
fn turn_away(stream: TcpStream) {
    let refusal = Refusal::new(503, "there are too many connections");
    let mut line = Line::new(stream, Duration::from_millis(50));
    let _gone = Response::from(refusal).write(&mut line, true);
}

impl Server {
    fn answer(&self, request: &Request) -> Response {
        match self.gate.route(request) {
            Ok(Route::Asset(asset)) => Response::file(asset.kind, asset.bytes()),
            Ok(Route::Look) => self.look(),
            Ok(Route::Ask(words)) => ask::answer(words, self),
            Ok(Route::Enter(shown)) => self.enter(&shown),
            Err(refusal) => refusal.into(),
        }
    }

    /// Gives the key for the ticket. One that is shown twice is in two hands, and nobody knows whose the first ones were.
    fn enter(&self, shown: &str) -> Response {
        let Some(ticket) = &self.ticket else {
            return Refusal::new(404, "no browser was started").into();
        };
        let mut ticket = ticket.lock().unwrap_or_else(PoisonError::into_inner);
        match ticket.show(shown, Instant::now()) {
            Shown::Opens => {
                let key = json!({"key": self.gate.key()});
                Response::json(200, key.to_string().into_bytes())
            }
            Shown::Refused(refusal) => refusal.into(),
            Shown::Again => {
                present::say(
                    "the address that the browser was started with was opened twice, perhaps by somebody else who saw it in the list of processes: this ends here; aizo web --no-open starts no browser",
                );
                std::process::exit(1)
            }
        }
    }

    /// The surroundings of one question. Nothing is kept between two: the store may be replaced or removed meanwhile.
    pub(super) fn context(&self) -> Result<Context, Failure> {
        Context::for_a_call(Some(self.db.clone()))
    }

    /// Something else whenever the store or the kinds of task may have changed. It opens nothing, so that it can be asked often.
    fn look(&self) -> Response {
        let scenarios = self.scenarios.as_deref().map(stamp);
        let stamp = format!(
            "{} {}",
            Store::stamp(&self.db),
            scenarios.unwrap_or_default()
        );
        let seen = json!({
            "version": env!("CARGO_PKG_VERSION"),
            "writes": self.writes,
            "stamp": stamp,
        });
        Response::json(200, seen.to_string().into_bytes())
    }
}
