//! What comes from outside while it is waited for: standard input, which a caller may leave open, and files that may have no
//! end.

use std::io::{self, Read};
use std::path::Path;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

/// How long standard input is waited for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Patience {
    /// For the next part of it.
    pub part: Duration,
    /// For all of it.
    pub whole: Duration,
}

/// What came on standard input.
#[derive(Debug)]
pub(super) struct Sent {
    pub bytes: Vec<u8>,
    pub end: End,
}

/// How standard input ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// Its end came, or enough of it.
    Came,
    /// There was more than is wanted.
    Cut,
    /// Nothing more came in time.
    Open,
}

/// Reads standard input: until its end, until more than is wanted is there, until `is_enough` says so, or as long as there
/// is patience. A thread may be left waiting for more.
///
/// # Errors
/// It cannot be read.
pub(super) fn read_patiently(
    most: u64,
    patience: Patience,
    is_enough: impl Fn(&[u8]) -> bool,
) -> io::Result<Sent> {
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        // One more tells whether there is more.
        let mut input = io::stdin().lock().take(most + 1);
        let mut part = vec![0; 64 * 1024];
        loop {
            match input.read(&mut part) {
                Ok(0) => return,
                Ok(count) => {
                    if sender.send(Ok(part[..count].to_vec())).is_err() {
                        return;
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    let _nobody_waits = sender.send(Err(error));
                    return;
                }
            }
        }
    });
    let begun = Instant::now();
    let mut sent = Sent {
        bytes: Vec::new(),
        end: End::Open,
    };
    loop {
        let left = patience.whole.saturating_sub(begun.elapsed());
        match receiver.recv_timeout(patience.part.min(left)) {
            Ok(part) => sent.bytes.extend(part?),
            Err(RecvTimeoutError::Disconnected) => {
                sent.end = End::Came;
                return Ok(sent);
            }
            Err(RecvTimeoutError::Timeout) => return Ok(sent),
        }
        if sent.bytes.len() as u64 > most {
            sent.bytes
                .truncate(usize::try_from(most).unwrap_or(usize::MAX));
            sent.end = End::Cut;
            return Ok(sent);
        }
        if is_enough(&sent.bytes) {
            sent.end = End::Came;
            return Ok(sent);
        }
    }
}

/// Whether a path is a file that has an end: no folder, pipe or device, and nothing that a system only makes look like one.
///
/// # Errors
/// There is nothing there, or it cannot be looked at.
pub(super) fn is_plain_file(path: &Path) -> io::Result<bool> {
    if !std::fs::metadata(path)?.is_file() {
        return Ok(false);
    }
    let real = path.canonicalize()?;
    let made_up = ["/proc", "/sys", "/dev"];
    Ok(!(cfg!(unix) && made_up.iter().any(|root| real.starts_with(root))))
}
