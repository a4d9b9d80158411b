//! How far a file was read, so that the next run reads what is new and nothing else.

use std::fs::{File, Metadata};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use serde::{Deserialize, Serialize};

use super::digest;
use super::host::Host;
use super::reader::LineReader;
use crate::model::Answer;

/// The version of what is read: a cursor of another version is not gone on from.
const VERSION: u32 = 1;
/// How much of the beginning, and before the place to go on from, tells whether a file is still the same.
const SAMPLE: u64 = 4096;

/// How far a file was read. Small, and serialisable: what was needed from before the place to go on from is in it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Cursor {
    version: u32,
    looks: Looks,
    /// The host that the file was read as; none where it was no transcript.
    host: Option<Host>,
    /// Where to go on, in files that only grow.
    resume: Option<Resume>,
}

/// How a file looked before it was read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Looks {
    size: u64,
    modified: Option<u64>,
    /// The same of what lies beside it and is read with it.
    beside: Option<(u64, Option<u64>)>,
}

/// Where to go on, and with what.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Resume {
    offset: u64,
    line: u64,
    /// The hash of the beginning of the file.
    head: u64,
    /// The hash of what stands before the offset.
    tail: u64,
    state: serde_json::Value,
    /// The agent's last message: its length and beginning.
    answer: Option<(usize, String)>,
}

/// A reader that goes on where another one stopped.
pub(super) struct Resumed {
    pub(super) offset: u64,
    pub(super) line: u64,
    pub(super) reader: LineReader,
    pub(super) answer: Option<Answer>,
}

/// Where a reader stopped.
pub(super) struct Stop {
    pub(super) offset: u64,
    pub(super) line: u64,
    pub(super) state: serde_json::Value,
    pub(super) answer: Option<Answer>,
}

impl Looks {
    /// Looks at a file, and at what is read with it: the log of a database, the folder of messages.
    pub(super) fn at(path: &Path, metadata: &Metadata) -> Self {
        let beside = super::opencode::messages_of_file(path).or_else(|| {
            let mut log = path.as_os_str().to_owned();
            log.push("-wal");
            Some(PathBuf::from(log))
        });
        let beside = beside
            .and_then(|beside| std::fs::metadata(beside).ok())
            .map(|metadata| (metadata.len(), modified(&metadata)));
        Looks {
            size: metadata.len(),
            modified: modified(metadata),
            beside,
        }
    }
}

fn modified(metadata: &Metadata) -> Option<u64> {
    let at = metadata.modified().ok()?;
    let since = at.duration_since(UNIX_EPOCH).ok()?;
    u64::try_from(since.as_nanos()).ok()
}

impl Cursor {
    /// A cursor for a file that is read anew when it changes.
    pub(super) fn whole(looks: Looks, host: Option<Host>) -> Self {
        Cursor {
            version: VERSION,
            looks,
            host,
            resume: None,
        }
    }

    /// A cursor for a file that grows. Nothing where the file cannot be read any more.
    pub(super) fn growing(looks: Looks, host: Host, file: &mut File, stop: Stop) -> Self {
        let resume = samples(file, stop.offset).ok().map(|(head, tail)| Resume {
            offset: stop.offset,
            line: stop.line,
            head,
            tail,
            state: stop.state,
            answer: stop.answer.map(|answer| (answer.chars, answer.start)),
        });
        Cursor {
            resume,
            ..Cursor::whole(looks, Some(host))
        }
    }

    /// The host that the file was read as; none where it was no transcript.
    pub fn host(&self) -> Option<Host> {
        self.host
    }

    /// Whether a file looks as it did, so that nothing in it is new.
    pub(super) fn is_at_end_of(&self, looks: &Looks, wanted: Option<Host>) -> bool {
        self.is_of(wanted) && self.looks == *looks && looks.modified.is_some()
    }

    /// How to go on in a file; nothing where it is another file by now.
    pub(super) fn resume(&self, file: &mut File, wanted: Option<Host>) -> Option<Resumed> {
        let resume = self.resume.as_ref().filter(|_| self.is_of(wanted))?;
        let size = file.metadata().ok()?.len();
        if size < resume.offset {
            return None;
        }
        let (head, tail) = samples(file, resume.offset).ok()?;
        if (head, tail) != (resume.head, resume.tail) {
            return None;
        }
        let mut reader: LineReader = serde_json::from_value(resume.state.clone()).ok()?;
        reader.wake();
        Some(Resumed {
            offset: resume.offset,
            line: resume.line,
            reader,
            answer: resume
                .answer
                .clone()
                .map(|(chars, start)| Answer { chars, start }),
        })
    }

    fn is_of(&self, wanted: Option<Host>) -> bool {
        self.version == VERSION && (wanted.is_none() || wanted == self.host)
    }
}

/// The hashes of the beginning of a file and of what stands before `offset`.
fn samples(file: &mut File, offset: u64) -> io::Result<(u64, u64)> {
    let length = SAMPLE.min(offset);
    let mut hash_at = |position| {
        let mut bytes = Vec::new();
        file.seek(SeekFrom::Start(position))?;
        file.by_ref().take(length).read_to_end(&mut bytes)?;
        Ok::<_, io::Error>(digest::short(&bytes))
    };
    Ok((hash_at(0)?, hash_at(offset - length)?))
}
