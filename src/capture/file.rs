//! Reads one file or stream, whatever it is: container, format, reader, cursor.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write as _};
use std::path::Path;

use super::archive::Archive;
use super::cursor::{Cursor, Looks, Resumed, Stop};
use super::detect::{Form, Format, detect};
use super::elements::{Elements, State};
use super::lines::Lines;
use super::outbox::Outbox;
use super::problem::{ProblemKind, Problems};
use super::reader::LineReader;
use super::unpack::{Container, Damage, MAGIC, unpack, up_to_damage};
use super::{
    CaptureError, Event, Host, Note, Reading, chatgpt, claude_ai, cursor_agent, gemini,
    openclaw_database, opencode, text,
};
use crate::storage::foreign::Foreign;

/// Reads a file, from where `cursor` stands if it is still the same file. `agent` names the host where the caller
/// knows it; else the content tells.
///
/// # Errors
/// A file that cannot be opened or read. A file that is no transcript is an answer, not an error.
pub fn read_file(
    path: &Path,
    cursor: Option<&Cursor>,
    agent: Option<Host>,
    sink: &mut dyn FnMut(Event),
) -> Result<Reading, CaptureError> {
    let unreadable = |cause| CaptureError::unreadable(path, cause);
    let metadata = std::fs::metadata(path).map_err(unreadable)?;
    if metadata.is_dir() {
        // In a list of files it stands for a folder that could not be listed.
        std::fs::read_dir(path).map_err(unreadable)?;
        return Err(unreadable(io::Error::from(io::ErrorKind::IsADirectory)));
    }
    if !metadata.is_file() {
        // Opening a pipe would wait for its other end.
        return Ok(Reading::nothing(Note::NotATranscript));
    }
    let looks = Looks::at(path, &metadata);
    if let Some(cursor) = cursor.filter(|cursor| cursor.is_at_end_of(&looks, agent)) {
        return Ok(Reading {
            host: cursor.host(),
            cursor: Some(cursor.clone()),
            ..Reading::nothing(Note::Unchanged)
        });
    }
    let mut file = File::open(path).map_err(unreadable)?;
    let container = container_of(&mut file).map_err(unreadable)?;
    let mut job = Job {
        path: Some(path),
        session: name_of(path),
        agent,
        sink,
    };
    if container == Container::Plain
        && let Some(resumed) = cursor.and_then(|cursor| cursor.resume(&mut file, agent))
        && let Some(host) = cursor.and_then(Cursor::host)
    {
        return job.go_on(file, host, resumed, looks).map_err(unreadable);
    }
    match container {
        Container::Database => {
            let mut reading = job.database(path)?;
            reading.bytes = metadata.len();
            reading.cursor = Some(Cursor::whole(looks, reading.host));
            Ok(reading)
        }
        Container::Zip => {
            let mut reading = job.archive(file).map_err(unreadable)?;
            reading.cursor = Some(Cursor::whole(looks, reading.host));
            Ok(reading)
        }
        _ => {
            let (mut reading, stop) = job.packed_file(&file, container)?;
            reading.cursor = Some(match (stop, reading.host) {
                (Some(stop), Some(host)) if container == Container::Plain => {
                    Cursor::growing(looks, host, &mut file, stop)
                }
                _ => Cursor::whole(looks, reading.host),
            });
            Ok(reading)
        }
    }
}

/// Reads a stream, of which nothing is known.
///
/// # Errors
/// A stream that fails.
pub fn read_stream(
    stream: &mut dyn Read,
    agent: Option<Host>,
    sink: &mut dyn FnMut(Event),
) -> Result<Reading, CaptureError> {
    let mut job = Job {
        path: None,
        session: "stdin".to_owned(),
        agent,
        sink,
    };
    job.stream(stream)
}

/// One reading.
struct Job<'j> {
    path: Option<&'j Path>,
    /// A name for conversations that have none.
    session: String,
    agent: Option<Host>,
    sink: &'j mut dyn FnMut(Event),
}

/// What was read, and where a reader of lines stopped.
type Outcome = (Reading, Option<Stop>);

impl Job<'_> {
    fn outbox(&mut self, host: Host) -> Outbox<'_> {
        Outbox::new(host, self.session.clone(), &mut *self.sink)
    }

    /// Goes on in a file that has grown.
    fn go_on(
        &mut self,
        mut file: File,
        host: Host,
        resumed: Resumed,
        looks: Looks,
    ) -> io::Result<Reading> {
        file.seek(SeekFrom::Start(resumed.offset))?;
        let mut out = self.outbox(host);
        out.set_answer(resumed.answer);
        let mut lines = Lines::resume(&file, resumed.offset, resumed.line);
        let mut reader = resumed.reader;
        let stop = reader.read(&mut lines, &mut out)?;
        let bytes = lines.position() - resumed.offset;
        let mut reading = finish(out, bytes, reader.note());
        reading.continued = true;
        reading.cursor = Some(Cursor::growing(looks, host, &mut file, stop));
        Ok(reading)
    }

    /// Reads a file that is plain or compressed.
    fn packed_file(&mut self, file: &File, container: Container) -> Result<Outcome, CaptureError> {
        let path = self.path.unwrap_or(Path::new(""));
        let unreadable = |cause| CaptureError::unreadable(path, cause);
        let damage = Damage::default();
        let mut open = || -> io::Result<Box<dyn Read + '_>> {
            let mut file = file;
            file.seek(SeekFrom::Start(0))?;
            Ok(unpack(file, container, &damage))
        };
        if container != Container::Plain {
            let mut head = Vec::new();
            open()
                .and_then(|stream| stream.take(MAGIC as u64).read_to_end(&mut head))
                .map_err(unreadable)?;
            if matches!(Container::of(&head), Container::Database | Container::Zip) {
                let mut stream = open().map_err(unreadable)?;
                return Ok((self.spooled(&mut stream)?, None));
            }
        }
        let look = detect(&mut open, self.agent).map_err(unreadable)?;
        let Some(format) = look.format else {
            return Ok((Reading::nothing(Note::NotATranscript), None));
        };
        let mut stream = open().map_err(unreadable)?;
        let (mut reading, stop) = self.read(format, &mut stream).map_err(unreadable)?;
        if damage.is_met() {
            reading.problems.push(damaged("the end"));
        }
        Ok((reading, stop))
    }

    /// Reads a plain stream in that format.
    fn read(&mut self, format: Format, stream: &mut dyn Read) -> io::Result<Outcome> {
        let path = self.path;
        let mut out = self.outbox(format.host);
        match format.form {
            Form::Lines => {
                let Some(mut reader) = LineReader::of(format.host) else {
                    return Ok((Reading::nothing(Note::NotATranscript), None));
                };
                if format.host == Host::OpenClaw
                    && path.is_some_and(openclaw_database::is_listed_as_automatic)
                {
                    reader.set_note(Note::NoConversation);
                }
                let mut lines = Lines::new(stream);
                let stop = reader.read(&mut lines, &mut out)?;
                let bytes = lines.position();
                Ok((finish(out, bytes, reader.note()), Some(stop)))
            }
            Form::Document => {
                let (bytes, note) = document(format.host, stream, path, &mut out)?;
                Ok((finish(out, bytes, note), None))
            }
            Form::Text(style) => {
                let bytes = text::read(stream, style, &mut out)?;
                Ok((finish(out, bytes, None), None))
            }
            Form::CursorText => {
                let bytes = cursor_agent::read_text(stream, &mut out)?;
                Ok((finish(out, bytes, None), None))
            }
        }
    }

    /// Reads another program's database.
    fn database(&mut self, path: &Path) -> Result<Reading, CaptureError> {
        let database = Foreign::open(path)?;
        let host = if opencode::is_opencode(&database)? {
            Host::OpenCode
        } else if openclaw_database::is_openclaw(&database)? {
            Host::OpenClaw
        } else {
            return Ok(Reading::nothing(Note::NotATranscript));
        };
        if self.agent.is_some_and(|agent| agent != host) {
            return Ok(Reading::nothing(Note::NotATranscript));
        }
        let mut out = self.outbox(host);
        match host {
            Host::OpenCode => opencode::read_database(&database, &mut out)?,
            _ => openclaw_database::read_database(&database, &mut out)?,
        }
        Ok(finish(out, 0, None))
    }

    /// Reads the conversations of a downloaded export.
    fn archive(&mut self, file: File) -> io::Result<Reading> {
        let mut whole = Reading::nothing(Note::NotATranscript);
        let mut problems = Problems::default();
        let Some(mut archive) = Archive::open(file)? else {
            whole.problems.push(damaged("the list of its files"));
            return Ok(whole);
        };
        for member in archive.members.clone() {
            let name = &member.name;
            let damage = Damage::default();
            let Some(content) = archive.content(&member)? else {
                problems.met(ProblemKind::Damaged, name);
                continue;
            };
            let mut content = up_to_damage(content, &damage);
            let reading = self.plain_stream(&mut *content, Vec::new())?;
            drop(content);
            if damage.is_met() {
                problems.met(ProblemKind::Damaged, name);
            }
            if reading.host.is_none() {
                continue;
            }
            whole.host = whole.host.or(reading.host);
            whole.turns += reading.turns;
            whole.withdrawn += reading.withdrawn;
            whole.sessions += reading.sessions;
            whole.bytes += reading.bytes;
            whole.note = None;
            whole
                .problems
                .extend(reading.problems.into_iter().map(|mut problem| {
                    problem.first_place = format!("{name}, {}", problem.first_place);
                    problem
                }));
        }
        whole.problems.extend(problems.into_vec());
        Ok(whole)
    }

    /// Reads a stream that can be read only once.
    fn stream(&mut self, mut stream: &mut dyn Read) -> Result<Reading, CaptureError> {
        let failed = |cause| CaptureError::Stream { cause };
        let mut head = Vec::new();
        Read::take(&mut stream, MAGIC as u64)
            .read_to_end(&mut head)
            .map_err(failed)?;
        let container = Container::of(&head);
        match container {
            Container::Database | Container::Zip => {
                self.spooled(&mut head.as_slice().chain(stream))
            }
            Container::Gzip | Container::Zstd => {
                let damage = Damage::default();
                let mut inner = unpack(head.as_slice().chain(stream), container, &damage);
                let mut head = Vec::new();
                Read::take(&mut inner, MAGIC as u64)
                    .read_to_end(&mut head)
                    .map_err(failed)?;
                if matches!(Container::of(&head), Container::Database | Container::Zip) {
                    return self.spooled(&mut head.as_slice().chain(inner));
                }
                let mut reading = self.plain_stream(&mut *inner, head).map_err(failed)?;
                if damage.is_met() {
                    reading.problems.push(damaged("the end"));
                }
                Ok(reading)
            }
            Container::Plain => self.plain_stream(stream, head).map_err(failed),
        }
    }

    /// Reads a plain stream, of which `head` was read before: it is kept until it tells what the whole is.
    fn plain_stream(
        &mut self,
        mut stream: &mut dyn Read,
        mut head: Vec<u8>,
    ) -> io::Result<Reading> {
        const FIRST_LOOK: usize = 1 << 20;
        const LONGEST_LOOK: usize = 64 << 20;
        let mut wanted = FIRST_LOOK;
        let format = loop {
            let more = (wanted - head.len()) as u64;
            Read::take(&mut stream, more).read_to_end(&mut head)?;
            let ended = head.len() < wanted;
            let look = detect(&mut || Ok(Box::new(head.as_slice())), self.agent)?;
            if look.is_final || ended || wanted >= LONGEST_LOOK {
                break look.format;
            }
            wanted *= 2;
        };
        let Some(format) = format else {
            return Ok(Reading::nothing(Note::NotATranscript));
        };
        let (reading, _) = self.read(format, &mut head.as_slice().chain(stream))?;
        Ok(reading)
    }

    /// Reads what needs a file of its own, from a temporary one that only its owner can read.
    fn spooled(&mut self, stream: &mut dyn Read) -> Result<Reading, CaptureError> {
        let failed = |cause| CaptureError::Stream { cause };
        let mut file = tempfile::NamedTempFile::new().map_err(failed)?;
        io::copy(stream, &mut file)
            .and_then(|_| file.flush())
            .map_err(failed)?;
        let mut opened = file.reopen().map_err(failed)?;
        match container_of(&mut opened).map_err(failed)? {
            Container::Database => self.database(file.path()),
            _ => self.archive(opened).map_err(failed),
        }
    }
}

fn finish(out: Outbox<'_>, bytes: u64, note: Option<Note>) -> Reading {
    Reading {
        host: Some(out.host),
        turns: out.turns,
        withdrawn: out.withdrawn,
        sessions: out.sessions(),
        bytes,
        continued: false,
        problems: out.problems.into_vec(),
        cursor: None,
        note,
    }
}

/// Reads a document object by object.
fn document(
    host: Host,
    stream: &mut dyn Read,
    path: Option<&Path>,
    out: &mut Outbox<'_>,
) -> io::Result<(u64, Option<Note>)> {
    let mut elements = Elements::new(stream);
    let mut chatgpt = chatgpt::Reader::default();
    let mut note = None;
    while let Some(element) = elements.next()? {
        let place = format!("conversation {}", element.number);
        match element.state {
            State::TooLong => out.problems.met(ProblemKind::TooLong, place),
            State::Cut => out.problems.met(ProblemKind::Damaged, place),
            State::Whole => match host {
                Host::ChatGpt => chatgpt.conversation(element.bytes, &place, out),
                Host::ClaudeAi => claude_ai::conversation(element.bytes, &place, out),
                Host::Gemini => {
                    let mut reader = gemini::Reader::new();
                    reader.read(element.bytes, &place, out);
                    note = reader.note;
                }
                Host::OpenCode => {
                    note = path.and_then(|path| opencode::read_tree(path, element.bytes, out));
                }
                _ => {}
            },
        }
        out.is_at(elements.position());
    }
    Ok((elements.position(), note))
}

fn damaged(place: &str) -> super::Problem {
    super::Problem {
        kind: ProblemKind::Damaged,
        count: 1,
        first_place: place.to_owned(),
    }
}

fn container_of(file: &mut File) -> io::Result<Container> {
    let mut head = Vec::with_capacity(MAGIC);
    Read::take(&mut *file, MAGIC as u64).read_to_end(&mut head)?;
    file.seek(SeekFrom::Start(0))?;
    Ok(Container::of(&head))
}

/// A name for the conversation of a file that has none inside: the file's, or its folder's where hosts give all files
/// the same name.
fn name_of(path: &Path) -> String {
    let stem = |path: &Path| {
        let name = path
            .file_name()
            .map(|name| name.to_string_lossy().into_owned());
        let name = name.unwrap_or_default();
        name.split('.').next().unwrap_or_default().to_owned()
    };
    let name = stem(path);
    match path.parent() {
        Some(folder) if ["events", "conversation", "transcript"].contains(&name.as_str()) => {
            stem(folder)
        }
        _ => name,
    }
}
