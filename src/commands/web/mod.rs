//! `aizo web`: the profile in a browser on this machine. What a request is, and which ones are let through, is left to
//! `crate::web`.

mod ask;
mod server;

use std::net::{Ipv4Addr, TcpListener};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde::Serialize;

use super::{Context, Reply};
use crate::error::{Failure, Kind};
use crate::present;
use crate::web::{Gate, Ticket};
use server::Server;

/// So long a browser may take to start.
const TO_OPEN: Duration = Duration::from_secs(60);

/// Arguments of `web`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  aizo web
  aizo web --write
  aizo web --port 0 --no-open

Serves this machine alone, until Ctrl-C. The address holds a key that is new with each start; without it nothing is shown.
The browser is started with another address, which opens the page once and within a minute.")]
pub struct Args {
    /// Listen at this port; 0 takes a free one
    #[arg(long, value_name = "PORT", default_value = "2342")]
    port: u16,
    /// Do not open a browser
    #[arg(long)]
    no_open: bool,
    /// Let the page change things: add, edit, remove, undo, review
    #[arg(long)]
    write: bool,
}

/// Where the page is, in JSON.
#[derive(Serialize)]
struct Place<'a> {
    url: &'a str,
    writes: bool,
}

/// Serves the page until the program is ended.
///
/// # Errors
/// The port is taken, or there is no randomness to make a key of.
pub fn run(args: &Args, context: &Context) -> anyhow::Result<Reply> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, args.port))
        .map_err(|error| cannot_listen(args.port, &error))?;
    let gate = Gate::new(listener.local_addr()?.port(), key()?);
    let address = gate.address();
    let mut ticket = None;
    let mut once = String::new();
    if !args.no_open {
        let text = key()?;
        once = gate.address_with(&text);
        ticket = Some(Mutex::new(Ticket::new(text, Instant::now() + TO_OPEN)));
    }
    let server = Server {
        gate,
        db: context.settings.db.clone(),
        scenarios: context.scenarios_path().ok(),
        writes: args.write,
        ticket,
    };
    for note in context.take_notes() {
        present::say(&note);
    }
    let place = Place {
        url: &address,
        writes: args.write,
    };
    let mut line = Vec::new();
    if context.is_quiet() {
        present::to_json_line(&place, &mut line)?;
    } else {
        line.extend(format!("{address}\n").bytes());
    }
    present::raw(&line)?;
    present::say(if args.write {
        "the page can change the store; Ctrl-C ends it"
    } else {
        "the page only reads (aizo web --write lets it change things); Ctrl-C ends it"
    });
    if !args.no_open {
        open(&once);
    }
    server::serve(&listener, &Arc::new(server))
}

fn cannot_listen(port: u16, error: &std::io::Error) -> Failure {
    Failure::new(Kind::Io, format!("cannot listen at port {port}: {error}"))
        .hint("another aizo web may be running; aizo web --port 0 takes a free port")
}

/// A key that nobody can guess: 128 bits.
fn key() -> Result<String, Failure> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes)
        .map_err(|error| Failure::new(Kind::Io, format!("cannot make a key: {error}")))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Asks the system to show an address, and does not wait for it.
fn open(address: &str) {
    let (program, before): (_, &[&str]) = if cfg!(target_os = "macos") {
        ("open", &[])
    } else if cfg!(windows) {
        ("rundll32", &["url.dll,FileProtocolHandler"])
    } else {
        ("xdg-open", &[])
    };
    let started = Command::new(program)
        .args(before)
        .arg(address)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    match started {
        Ok(mut browser) => {
            std::thread::spawn(move || browser.wait());
        }
        Err(error) => present::say(&format!(
            "{program}: {error}; open the address in a browser yourself"
        )),
    }
}
