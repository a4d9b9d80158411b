//! Transcripts are read: each host's own shapes with the turns expected of them, broken files, cursors, detection.

use std::fs;
use std::io::{Cursor as Memory, Write};
use std::path::{Path, PathBuf};

use aizo::capture::{
    self, CaptureError, Cursor, Event, History, Host, Note, ProblemKind, Reading, Surroundings,
};
use aizo::model::{Turn, TurnKind};
use tempfile::TempDir;

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/data/transcripts")
        .join(name)
}

/// The turns that stand at the end of a reading.
fn collect(turns: &mut Vec<Turn>) -> impl FnMut(Event) {
    |event| match event {
        Event::Turn(turn) => turns.push(turn),
        Event::Withdrawn { key } => {
            let before = turns.len();
            turns.retain(|turn| turn.key != key);
            assert_eq!(turns.len() + 1, before, "{key} was handed out once before");
        }
        Event::Read { .. } => {}
    }
}

fn read(path: &Path, cursor: Option<&Cursor>) -> (Reading, Vec<Turn>) {
    let mut turns = Vec::new();
    let reading = capture::read_file(path, cursor, None, &mut collect(&mut turns))
        .unwrap_or_else(|error| panic!("{error}"));
    (reading, turns)
}

fn texts(turns: &[Turn]) -> Vec<&str> {
    turns.iter().map(|turn| turn.text.as_str()).collect()
}

fn kinds(reading: &Reading) -> Vec<(ProblemKind, u64, &str)> {
    let problems = reading.problems.iter();
    problems
        .map(|problem| (problem.kind, problem.count, problem.first_place.as_str()))
        .collect()
}

/// A turn with the fields that `expected` names.
fn as_expected(turn: &Turn, expected: &serde_json::Value) -> serde_json::Value {
    let mut seen = serde_json::Map::new();
    for name in expected.as_object().expect("an object").keys() {
        let value = match name.as_str() {
            "text" => turn.text.clone(),
            "kind" => match turn.kind {
                TurnKind::Typed => "typed".to_owned(),
                TurnKind::Standing => "standing".to_owned(),
                TurnKind::Choice { .. } => "choice".to_owned(),
            },
            "question" => match &turn.kind {
                TurnKind::Choice { question } => question.clone(),
                _ => String::new(),
            },
            "key" => turn.key.clone(),
            "at" => turn.at.clone().map(|at| at.0).unwrap_or_default(),
            "session" => turn.session.clone(),
            "place" => turn.place.clone(),
            "answer" => turn.answer.clone().map(|one| one.start).unwrap_or_default(),
            other => panic!("no turn has a field {other}"),
        };
        seen.insert(name.clone(), value.into());
    }
    seen.into()
}

fn compare(name: &str, turns: &[Turn], expected: &Path) {
    let expected: Vec<serde_json::Value> = fs::read_to_string(expected)
        .unwrap_or_else(|error| panic!("{}: {error}", expected.display()))
        .lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{name}: {error}")))
        .collect();
    let seen: Vec<serde_json::Value> = turns
        .iter()
        .zip(&expected)
        .map(|(turn, expected)| as_expected(turn, expected))
        .collect();
    assert_eq!(seen, expected, "{name}: {:#?}", texts(turns));
    assert_eq!(turns.len(), expected.len(), "{name}: {:#?}", texts(turns));
}

/// The turns that are expected of a file: they lie beside it.
fn expected_of(path: &Path) -> PathBuf {
    let whole = PathBuf::from(format!("{}.expected.jsonl", path.display()));
    if whole.exists() {
        whole
    } else {
        path.with_extension("expected.jsonl")
    }
}

const HOSTS: [(&str, Host); 9] = [
    ("claude-code", Host::ClaudeCode),
    ("codex", Host::Codex),
    ("openclaw", Host::OpenClaw),
    ("gemini", Host::Gemini),
    ("copilot", Host::Copilot),
    ("cursor", Host::Cursor),
    ("chatgpt", Host::ChatGpt),
    ("claude-ai", Host::ClaudeAi),
    ("text", Host::Text),
];

/// All recorded files that can be read as they lie there.
fn recorded() -> Vec<(PathBuf, Host)> {
    let mut all = Vec::new();
    for (folder, host) in HOSTS {
        let files = capture::files(&[data(folder)]).expect("the folder is there");
        let own = files.into_iter().filter(|path| {
            let name = path.to_string_lossy();
            !name.contains(".expected.") && !name.ends_with(".sql")
        });
        all.extend(own.map(|path| (path, host)));
    }
    assert!(all.len() > 25);
    all
}

#[test]
fn every_host_is_read_as_expected() {
    for (path, host) in recorded() {
        let (reading, turns) = read(&path, None);
        let name = path.display().to_string();
        compare(&name, &turns, &expected_of(&path));
        if !name.ends_with("notes.md") {
            assert_eq!(reading.host, Some(host), "{name}");
        }
        assert_eq!(reading.problems, [], "{name}");
        assert!(turns.iter().all(|turn| turn.agent == host.name()), "{name}");
    }
}

#[test]
fn a_stream_a_packed_file_and_a_file_of_another_name_say_the_same() {
    let folder = TempDir::new().expect("a folder");
    for (path, _) in recorded() {
        let bytes = fs::read(&path).expect("it was recorded");
        let name = path.display().to_string();
        let expected = expected_of(&path);
        let stem = path.file_stem().expect("a name").to_string_lossy();
        // Sessions may be named after the file.
        let misleading = folder.path().join(format!("{stem}.chatgpt.png"));
        fs::write(&misleading, &bytes).expect("a file");
        compare(&name, &read(&misleading, None).1, &expected);
        let zst = folder.path().join(format!("{stem}.x"));
        fs::write(&zst, zstd(&bytes)).expect("a file");
        compare(&name, &read(&zst, None).1, &expected);
        let mut from_stream = Vec::new();
        capture::read_stream(
            &mut Memory::new(gzip(&bytes)),
            None,
            &mut collect(&mut from_stream),
        )
        .expect("a stream");
        let (_, from_file) = read(&path, None);
        assert_eq!(texts(&from_stream), texts(&from_file), "{name}");
        let _ = fs::remove_file(&misleading);
    }
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).expect("memory");
    encoder.finish().expect("memory")
}

fn zstd(bytes: &[u8]) -> Vec<u8> {
    let level = ruzstd::encoding::CompressionLevel::Fastest;
    ruzstd::encoding::compress_to_vec(bytes, level)
}

/// Builds a database from the statements recorded for it.
fn database(folder: &Path, name: &str) -> (PathBuf, rusqlite::Connection) {
    let path = folder.join("some.db");
    let connection = rusqlite::Connection::open(&path).expect("a database");
    let sql = fs::read_to_string(data(name)).expect("it was recorded");
    connection
        .execute_batch(&sql)
        .expect("the statements are right");
    (path, connection)
}

#[test]
fn databases_are_read_and_nothing_is_written_beside_them() {
    for (name, host) in [
        ("opencode/first.sql", Host::OpenCode),
        ("opencode/second.sql", Host::OpenCode),
        ("openclaw/database.sql", Host::OpenClaw),
    ] {
        let folder = TempDir::new().expect("a folder");
        let (path, connection) = database(folder.path(), name);
        if host == Host::OpenClaw {
            let event = br#"{"type":"message","id":"e2","parentId":"e1","message":{"role":"user","content":"packed words"}}"#;
            connection
                .execute(
                    "INSERT INTO transcript_events VALUES('d1', 3, NULL, ?1)",
                    [zstd(event)],
                )
                .expect("a row");
        }
        drop(connection);
        let (reading, turns) = read(&path, None);
        compare(name, &turns, &data(name).with_extension("expected.jsonl"));
        assert_eq!((reading.host, reading.problems), (Some(host), vec![]));
        assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 1);
        let (again, turns) = read(&path, reading.cursor.as_ref());
        assert_eq!((again.note, turns.len()), (Some(Note::Unchanged), 0));
        // From a stream it goes through a temporary file.
        let mut from_stream = Vec::new();
        let mut stream = Memory::new(fs::read(&path).expect("a file"));
        capture::read_stream(&mut stream, None, &mut collect(&mut from_stream)).expect("a stream");
        compare(
            name,
            &from_stream,
            &data(name).with_extension("expected.jsonl"),
        );
    }
}

#[test]
fn a_database_is_read_while_its_program_writes_it() {
    let folder = TempDir::new().expect("a folder");
    let (path, connection) = database(folder.path(), "opencode/first.sql");
    let mode: String = connection
        .query_row("PRAGMA journal_mode=WAL", [], |row| row.get(0))
        .expect("a mode");
    assert_eq!(mode, "wal");
    let (_, before) = read(&path, None);
    connection
        .execute_batch(
            "INSERT INTO message VALUES('msg_4b','ses_1',1,'{\"role\":\"user\"}');
             INSERT INTO part VALUES('prt_4b','msg_4b','ses_1','{\"type\":\"text\",\"text\":\"in the log\"}');",
        )
        .expect("rows");
    let list = || -> Vec<_> {
        let files = fs::read_dir(folder.path()).expect("a folder");
        let mut files: Vec<_> = files
            .map(|file| {
                let file = file.expect("a file");
                let bytes = fs::read(file.path()).expect("a file");
                (file.file_name(), bytes)
            })
            .collect();
        files.sort();
        files
    };
    let files = list();
    let (reading, after) = read(&path, None);
    assert_eq!(texts(&after)[before.len()..], ["in the log"]);
    assert!(
        list() == files,
        "not a byte beside the database has changed"
    );
    connection
        .execute(
            "UPDATE part SET data = replace(data, 'in the log', 'changed')",
            [],
        )
        .expect("an update");
    assert!(read(&path, reading.cursor.as_ref()).1.len() == after.len());
}

#[test]
fn the_tree_of_files_is_read_by_conversation() {
    let files = capture::files(&[data("opencode/storage")]).expect("the tree is there");
    assert_eq!(files, [data("opencode/storage/session/p/ses_9.json")]);
    let (reading, turns) = read(&files[0], None);
    assert_eq!(texts(&turns), ["old tree, still read"]);
    assert_eq!(
        (turns[0].key.as_str(), turns[0].session.as_str()),
        ("msg_91", "ses_9")
    );
    assert_eq!(reading.host, Some(Host::OpenCode));
    let (other, _) = read(&data("opencode/storage/message/ses_9/msg_91.json"), None);
    assert_eq!(other.note, Some(Note::NotATranscript));
}

/// An archive of these members, packed by turns with and without compression.
fn zip(members: &[(&str, Vec<u8>)]) -> Vec<u8> {
    let (mut archive, mut list) = (Vec::new(), Vec::new());
    for (number, (name, content)) in members.iter().enumerate() {
        let method = if number % 2 == 0 { 8u16 } else { 0 };
        let packed = if method == 8 {
            let level = flate2::Compression::fast();
            let mut encoder = flate2::write::DeflateEncoder::new(Vec::new(), level);
            encoder.write_all(content).expect("memory");
            encoder.finish().expect("memory")
        } else {
            content.clone()
        };
        let mut checksum = flate2::Crc::new();
        checksum.update(content);
        let mut common = vec![20, 0, 0, 0];
        common.extend(method.to_le_bytes());
        common.extend([0; 4]);
        for size in [checksum.sum(), packed.len() as u32, content.len() as u32] {
            common.extend(size.to_le_bytes());
        }
        common.extend((name.len() as u16).to_le_bytes());
        common.extend([0; 2]);
        let start = archive.len() as u32;
        list.extend(
            [
                b"PK\x01\x02\x14\x00".as_slice(),
                &common,
                &[0; 10],
                &start.to_le_bytes(),
            ]
            .concat(),
        );
        list.extend(name.as_bytes());
        archive.extend([b"PK\x03\x04".as_slice(), &common, name.as_bytes(), &packed].concat());
    }
    let (start, count) = (archive.len() as u32, (members.len() as u16).to_le_bytes());
    archive.extend(&list);
    let sizes = [(list.len() as u32).to_le_bytes(), start.to_le_bytes()].concat();
    archive.extend(
        [
            b"PK\x05\x06\0\0\0\0".as_slice(),
            &count,
            &count,
            &sizes,
            &[0; 2],
        ]
        .concat(),
    );
    archive
}

#[test]
fn a_downloaded_export_is_read_as_it_is() {
    let folder = TempDir::new().expect("a folder");
    for (host, name) in [("chatgpt", Host::ChatGpt), ("claude-ai", Host::ClaudeAi)] {
        let path = folder.path().join(format!("{host}.bin"));
        let members = [
            ("data/conversations-001.json", "one.json"),
            ("data/conversations-000.json", "conversations.json"),
            ("user.json", "conversations.json"),
        ];
        let members: Vec<(&str, Vec<u8>)> = members
            .iter()
            .map(|(member, file)| (*member, fs::read(data(host).join(file)).expect("a file")))
            .collect();
        fs::write(&path, zip(&members)).expect("a file");
        let (reading, turns) = read(&path, None);
        let (_, mut expected) = read(&data(host).join("conversations.json"), None);
        expected.extend(read(&data(host).join("one.json"), None).1);
        assert_eq!(texts(&turns), texts(&expected));
        assert_eq!((reading.host, reading.note), (Some(name), None));
        // An archive that was cut while it was downloaded.
        let bytes = fs::read(&path).expect("a file");
        fs::write(&path, &bytes[..bytes.len() / 2]).expect("a file");
        let (reading, turns) = read(&path, None);
        assert_eq!((reading.note, turns.len()), (Some(Note::NotATranscript), 0));
        assert_eq!(kinds(&reading)[0].0, ProblemKind::Damaged);
    }
}

/// A line of Claude Code with a person's turn.
fn typed(id: &str, text: &str) -> String {
    format!(
        r#"{{"type":"user","uuid":"{id}","parentUuid":null,"isSidechain":false,"sessionId":"s","timestamp":"2026-11-02T09:00:00Z","message":{{"role":"user","content":"{text}"}}}}"#
    )
}

#[test]
fn a_broken_file_is_survived_and_its_damage_counted_and_named() {
    use ProblemKind::{
        BadUtf8, ByteOrderMark, CutLine, GluedRecords, LoneSurrogate, NotJson, NumberedLine,
        TooLong, ZeroBytes,
    };
    let mut file: Vec<u8> = Vec::new();
    file.extend(b"\xEF\xBB\xBF");
    file.extend(typed("u1", "bom").as_bytes());
    file.extend(b"\r\n\0\0\0\0");
    file.extend(typed("u2", "zeros").as_bytes());
    file.extend(b"\n\0\0\0\0\n");
    file.extend(format!("{}{}\n", typed("u3", "glued one"), typed("u4", "glued two")).as_bytes());
    file.extend(format!("  17\t{}\n", typed("u5", "numbered")).as_bytes());
    file.extend(format!("{}\n", typed("u6", "half \\ud83d pair")).as_bytes());
    file.extend(format!("{}\n", typed("u7", "whole \\ud83d\\ude00 pair")).as_bytes());
    file.extend(
        typed("u8", "bad ")
            .replace("bad ", "bad \u{1}")
            .replace('\u{1}', "X")
            .as_bytes(),
    );
    let at = file
        .iter()
        .rposition(|byte| *byte == b'X')
        .expect("it is there");
    file[at] = 0xFF;
    file.extend(b"\nthis is no record\n\n");
    file.extend(b"{\"type\":\"user\",\"uuid\":\"cut");
    file.extend(format!("{}\n", typed("u9", "after a cut record")).as_bytes());
    file.extend(b"{\"type\":\"assistant\",\"uuid\":\"long\",\"x\":\"");
    file.extend(std::iter::repeat_n(b'y', 33 << 20));
    file.extend(b"\"}\n");
    file.extend(format!("{}\n", typed("u10", "after a long line")).as_bytes());
    file.extend(&typed("u11", "not finished").as_bytes()[..150]);
    let folder = TempDir::new().expect("a folder");
    let path = folder.path().join("broken");
    fs::write(&path, &file).expect("a file");
    let (reading, turns) = read(&path, None);
    assert_eq!(
        texts(&turns),
        [
            "bom",
            "zeros",
            "glued one",
            "glued two",
            "numbered",
            "half \u{fffd} pair",
            "whole 😀 pair",
            "bad \u{fffd}",
            "after a cut record",
            "after a long line"
        ]
    );
    assert_eq!(
        kinds(&reading),
        [
            (ByteOrderMark, 1, "line 1"),
            (ZeroBytes, 2, "line 2"),
            (GluedRecords, 1, "line 4"),
            (NumberedLine, 1, "line 5"),
            (LoneSurrogate, 1, "line 6"),
            (BadUtf8, 1, "line 8"),
            (NotJson, 2, "line 9"),
            (TooLong, 1, "line 12"),
            (CutLine, 1, "line 14"),
        ]
    );
    assert_eq!(reading.host, Some(Host::ClaudeCode));
    let message = reading.problems[1].to_string();
    assert_eq!(message, "line 2: zero bytes (and once more)");
}

#[test]
fn no_damage_ends_the_program() {
    // A different piece of every recorded file is lost, doubled or overwritten each time.
    let mut seed = 1u32;
    let mut next = move |below: usize| {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (seed >> 8) as usize % below.max(1)
    };
    for (path, host) in recorded() {
        let whole = fs::read(&path).expect("it was recorded");
        for round in 0..60 {
            let mut bytes = whole.clone();
            let at = next(bytes.len());
            let end = (at + next(40)).min(bytes.len());
            match round % 4 {
                0 => drop(bytes.drain(at..end)),
                1 => bytes[at..end].fill([0, 0xFF, b'"', b'{'][next(4)]),
                2 => bytes.truncate(at),
                _ => {
                    let piece = bytes[at..end].to_vec();
                    bytes.splice(at..at, piece);
                }
            }
            let agent = (round % 2 == 0).then_some(host);
            capture::read_stream(&mut Memory::new(bytes), agent, &mut |_| {})
                .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        }
    }
}

#[test]
fn an_export_with_damage_gives_what_is_whole() {
    let folder = TempDir::new().expect("a folder");
    let path = folder.path().join("conversations.json");
    let whole = fs::read_to_string(data("chatgpt/conversations.json")).expect("it was recorded");
    let broken = whole.replace("Be brief.", "Be brief \\udead.");
    fs::write(&path, &broken[..broken.len() - 40]).expect("a file");
    let (reading, turns) = read(&path, None);
    assert!(texts(&turns).contains(&"What is this? Be brief \u{fffd}."));
    assert_eq!(
        kinds(&reading),
        [
            (ProblemKind::LoneSurrogate, 1, "conversation 1"),
            (ProblemKind::Damaged, 1, "conversation 2")
        ]
    );
}

#[test]
fn an_export_is_one_long_line() {
    let folder = TempDir::new().expect("a folder");
    let path = folder.path().join("conversations.json");
    let recorded = fs::read_to_string(data("chatgpt/conversations.json")).expect("a file");
    let one = recorded.trim().trim_matches(['[', ']']).replace('\n', "");
    let padding = format!(r#"{{"mapping":{{}},"padding":"{}"}}"#, "x".repeat(9 << 20));
    let many = [padding.as_str(); 4].join(",");
    fs::write(&path, format!("[{many},{one}]")).expect("a file");
    let (reading, turns) = read(&path, None);
    assert_eq!((reading.host, turns.len()), (Some(Host::ChatGpt), 5));
    let mut stream = fs::File::open(&path).expect("a file");
    let reading = capture::read_stream(&mut stream, None, &mut |_| {}).expect("a stream");
    assert_eq!((reading.turns, reading.problems), (5, vec![]));
}

#[test]
fn a_cursor_reads_only_what_is_new() {
    let folder = TempDir::new().expect("a folder");
    let path = folder.path().join("session.jsonl");
    let append = |text: &str| {
        let mut file = fs::OpenOptions::new()
            .append(true)
            .create(true)
            .open(&path)
            .expect("a file");
        file.write_all(text.as_bytes()).expect("a file");
    };
    let answer = r#"{"type":"assistant","uuid":"a1","parentUuid":"u1","sessionId":"s","message":{"content":[{"type":"text","text":"an answer"}]}}"#;
    append(&format!("{}\n{answer}\n", typed("u1", "one")));
    let (first, turns) = read(&path, None);
    assert_eq!((texts(&turns), first.continued), (vec!["one"], false));

    let (unchanged, turns) = read(&path, first.cursor.as_ref());
    assert_eq!(
        (unchanged.note, unchanged.bytes, turns.len()),
        (Some(Note::Unchanged), 0, 0)
    );
    assert_eq!(unchanged.cursor, first.cursor);

    // The host is still writing the last line.
    let second = typed("u2", "two").replace("\"parentUuid\":null", "\"parentUuid\":\"a1\"");
    append(&second[..100]);
    let (cut, turns) = read(&path, first.cursor.as_ref());
    assert_eq!((cut.continued, turns.len()), (true, 0));
    assert_eq!(kinds(&cut), [(ProblemKind::CutLine, 1, "line 3")]);

    append(&format!("{}\n", &second[100..]));
    let (whole, turns) = read(&path, cut.cursor.as_ref());
    assert_eq!((whole.continued, texts(&turns)), (true, vec!["two"]));
    assert_eq!(
        (turns[0].place.as_str(), turns[0].session.as_str()),
        ("line 3", "s")
    );
    assert_eq!(
        turns[0].answer.as_ref().map(|answer| answer.start.as_str()),
        Some("an answer")
    );

    // A cursor survives being stored.
    let stored = serde_json::to_string(&whole.cursor).expect("JSON");
    assert!(stored.len() < 2_000, "{stored}");
    let stored: Option<Cursor> = serde_json::from_str(&stored).expect("it was stored");

    // The person goes back to before the second turn, which was handed out in an earlier run.
    append(&format!(
        "{}\n",
        second.replace("u2", "u3").replace("two", "three")
    ));
    let mut events = Vec::new();
    let reading = capture::read_file(&path, stored.as_ref(), None, &mut |event| {
        events.push(event)
    })
    .expect("a file");
    assert_eq!(
        events[0],
        Event::Withdrawn {
            key: "u2".to_owned()
        }
    );
    assert!(matches!(&events[1], Event::Turn(turn) if turn.text == "three"));
    assert_eq!((reading.turns, reading.withdrawn), (1, 1));

    // Truncated, and replaced by a file that is longer: read anew.
    fs::write(&path, format!("{}\n", typed("u9", "new"))).expect("a file");
    let (anew, turns) = read(&path, reading.cursor.as_ref());
    assert_eq!((anew.continued, texts(&turns)), (false, vec!["new"]));
    let longer: String = (0..20)
        .map(|n| typed(&format!("v{n}"), "other") + "\n")
        .collect();
    fs::write(&path, longer).expect("a file");
    let (anew, turns) = read(&path, anew.cursor.as_ref());
    assert_eq!((anew.continued, turns.len()), (false, 20));
}

#[test]
fn a_last_line_without_an_end_is_read_and_read_again() {
    let folder = TempDir::new().expect("a folder");
    let path = folder.path().join("session.jsonl");
    fs::write(&path, typed("u1", "one")).expect("a file");
    let (first, turns) = read(&path, None);
    assert_eq!((texts(&turns), first.problems.len()), (vec!["one"], 0));
    fs::write(&path, typed("u1", "one") + "\n" + &typed("u2", "two")).expect("a file");
    let (_, turns) = read(&path, first.cursor.as_ref());
    let keys: Vec<&str> = turns.iter().map(|turn| turn.key.as_str()).collect();
    assert_eq!(keys, ["u1", "u2"]);
}

#[test]
fn wherever_a_run_stops_the_next_one_goes_on() {
    // Every recorded file of lines, cut after every line: two runs say what one says.
    let folder = TempDir::new().expect("a folder");
    for (path, _) in recorded() {
        let Ok(text) = fs::read_to_string(&path) else {
            continue;
        };
        let (whole, expected) = read(&path, None);
        let grows = whole.cursor.is_some_and(|cursor| {
            serde_json::to_value(&cursor).is_ok_and(|cursor| !cursor["resume"].is_null())
        });
        let name = path.display().to_string();
        if !grows {
            continue;
        }
        let stem = path.file_name().expect("a name");
        let copy = folder.path().join(stem);
        let ends: Vec<usize> = text.match_indices('\n').map(|(at, _)| at + 1).collect();
        for end in ends {
            for cut in [end, end.saturating_sub(9)] {
                if !text.is_char_boundary(cut) {
                    continue;
                }
                fs::write(&copy, &text[..cut]).expect("a file");
                let mut turns = Vec::new();
                let mut sink = |event| match event {
                    Event::Turn(turn) => {
                        turns.retain(|known: &Turn| known.key != turn.key);
                        turns.push(turn);
                    }
                    Event::Withdrawn { key } => turns.retain(|turn| turn.key != key),
                    Event::Read { .. } => {}
                };
                let first = capture::read_file(&copy, None, None, &mut sink).expect("a file");
                fs::write(&copy, &text).expect("a file");
                capture::read_file(&copy, first.cursor.as_ref(), None, &mut sink).expect("a file");
                assert_eq!(texts(&turns), texts(&expected), "{name} cut at {cut}");
                let keys = |turns: &[Turn]| turns.iter().map(|t| t.key.clone()).collect::<Vec<_>>();
                assert_eq!(keys(&turns), keys(&expected), "{name} cut at {cut}");
            }
        }
    }
}

#[test]
fn a_fork_repeats_its_turns_under_their_keys() {
    let folder = TempDir::new().expect("a folder");
    let fork = folder.path().join("fork.jsonl");
    let parent = fs::read_to_string(data("codex/event.jsonl")).expect("it was recorded");
    let meta = r#"{"timestamp":"2026-10-05T10:00:00.000Z","type":"session_meta","payload":{"id":"c9","forked_from_id":"c1","source":"cli"}}"#;
    let more = r#"{"timestamp":"2026-10-05T10:09:00.000Z","type":"event_msg","payload":{"type":"user_message","message":"only here"}}"#;
    let repeated = parent.replace("2026-10-01", "2026-10-05");
    fs::write(&fork, format!("{meta}\n{repeated}{more}\n")).expect("a file");
    let (_, of_parent) = read(&data("codex/event.jsonl"), None);
    let (_, of_fork) = read(&fork, None);
    assert_eq!(of_fork.len(), of_parent.len() + 1);
    for (one, other) in of_parent.iter().zip(&of_fork) {
        assert_eq!(one.key, other.key);
    }
    assert!(of_fork.iter().all(|turn| turn.session == "c9"));
}

#[test]
fn what_is_no_conversation_is_an_answer_and_what_cannot_be_read_an_error() {
    let folder = TempDir::new().expect("a folder");
    let path = |name: &str| folder.path().join(name);
    let cases: [(&str, Vec<u8>); 9] = [
        ("empty.jsonl", vec![]),
        ("notes.txt", b"User: only one side\nUser: and again\n".to_vec()),
        ("claude.json", br#"{"model":"opus","hooks":{}}"#.to_vec()),
        ("list.json", b"[1,2,3]".to_vec()),
        ("history.jsonl", br#"{"display":"x","timestamp":1,"project":"/a"}"#.to_vec()),
        ("binary", (0..200_000u32).map(|n| ((n * 7919) >> 3) as u8).collect()),
        ("a.zip", b"PK\x03\x04 and no more".to_vec()),
        ("a.db", b"SQLite format 3\0".to_vec()),
        ("prose.md", b"# A page\n\nIt shows `{\"role\":\"user\",\"content\":\"x\"}`:\n\n{\"role\":\"user\",\"content\":\"x\"}\n\nas a record.\n".to_vec()),
    ];
    for (name, bytes) in cases {
        fs::write(path(name), bytes).expect("a file");
        let mut turns = Vec::new();
        let reading = capture::read_file(&path(name), None, None, &mut collect(&mut turns));
        if name == "a.db" {
            let message = reading.expect_err("it is damaged").to_string();
            assert!(message.contains("a.db"), "{message}");
            continue;
        }
        let reading = reading.unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(
            (reading.note, turns.len()),
            (Some(Note::NotATranscript), 0),
            "{name}"
        );
        let (again, _) = read(&path(name), reading.cursor.as_ref());
        assert_eq!(again.note, Some(Note::Unchanged), "{name}");
    }
    let gone = capture::read_file(&path("gone"), None, None, &mut |_| {}).expect_err("it is gone");
    assert!(matches!(&gone, CaptureError::Missing { path } if path.ends_with("gone")));
    assert!(capture::files(&[path("gone")]).is_err());
    let unknown = "word"
        .parse::<Host>()
        .expect_err("no such agent")
        .to_string();
    assert!(unknown.starts_with("there is no agent “word” (known: claude-code, codex"));
    let (reading, _) = read(&data("codex/subagent.jsonl"), None);
    assert_eq!(reading.note, Some(Note::Subagent));
}

#[cfg(unix)]
#[test]
fn folders_are_walked_in_order_without_going_round_in_circles() {
    let folder = TempDir::new().expect("a folder");
    let root = folder.path();
    for name in [
        "b/2.jsonl",
        "b/1.jsonl",
        "b/1.jsonl.zst",
        "a/s/subagents/agent-1.jsonl",
        "a/x.db",
        "a/x.db-wal",
    ] {
        let path = root.join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, "x").expect("a file");
    }
    std::os::unix::fs::symlink(root, root.join("a/up")).expect("a link");
    std::os::unix::fs::symlink(root.join("b/1.jsonl"), root.join("c.jsonl")).expect("a link");
    std::os::unix::fs::symlink(root.join("nowhere"), root.join("d.jsonl")).expect("a link");
    let found = capture::files(&[root.to_path_buf(), root.join("b")]).expect("the folder is there");
    let names: Vec<_> = found
        .iter()
        .map(|path| {
            path.strip_prefix(root)
                .expect("under it")
                .display()
                .to_string()
        })
        .collect();
    assert_eq!(names, ["a/x.db", "b/1.jsonl", "b/2.jsonl"]);
}

#[test]
fn histories_are_found_by_variables_and_home() {
    let folder = TempDir::new().expect("a folder");
    let home = folder.path();
    let claude = home.join("elsewhere/projects/-home-a/s1.jsonl");
    let files = [
        claude.clone(),
        home.join("elsewhere/projects/-home-a/s1/subagents/agent-1.jsonl"),
        home.join(".claude/projects/-home-a/hidden.jsonl"),
        home.join(".codex/sessions/2026/11/02/rollout-1.jsonl"),
        home.join(".local/share/opencode/opencode.db"),
        home.join(".local/share/opencode/storage/session/p/ses_1.json"),
        home.join(".openclaw/agents/main/sessions/o1.jsonl"),
        home.join(".gemini/tmp/abc/chats/session-1.jsonl"),
        home.join(".copilot/session-state/p1/events.jsonl"),
        home.join(".cursor/projects/a/agent-transcripts/1.jsonl"),
    ];
    for path in &files {
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, "x").expect("a file");
    }
    let elsewhere = home.join("elsewhere").display().to_string();
    let variable = move |name: &str| (name == "CLAUDE_CONFIG_DIR").then(|| elsewhere.clone());
    let found = capture::histories(&Surroundings {
        home: Some(home.to_path_buf()),
        variable: &variable,
    });
    let of = |host: Host| {
        let history = found.iter().find(|history| history.host == host);
        history
            .map(|history: &History| history.paths.clone())
            .unwrap_or_default()
    };
    assert_eq!(of(Host::ClaudeCode), [claude]);
    assert_eq!(of(Host::Codex), [home.join(".codex/sessions")]);
    assert_eq!(
        of(Host::OpenCode),
        [home.join(".local/share/opencode/opencode.db")]
    );
    assert_eq!(
        of(Host::Copilot),
        [home.join(".copilot/session-state/p1/events.jsonl")]
    );
    assert_eq!(found.len(), 7);
    let nowhere = Surroundings {
        home: None,
        variable: &|_| None,
    };
    assert_eq!(capture::histories(&nowhere), []);
}

/// Writes a history as Claude Code does, most of it what tools returned, until it is `size` bytes long. Returns how
/// many turns a person has in it.
fn large_history(path: &Path, size: u64) -> u64 {
    let mut file = std::io::BufWriter::new(fs::File::create(path).expect("a file"));
    let output = "the user always says \\\"use pnpm\\\" }{ and more\\n".repeat(120);
    let (mut written, mut turns, mut parent) = (0, 0, "null".to_owned());
    while written < size {
        turns += 1;
        let mut lines = vec![format!(
            r#"{{"parentUuid":{parent},"isSidechain":false,"type":"user","message":{{"role":"user","content":"turn {turns}: never do that again"}},"uuid":"u{turns}","timestamp":"2026-11-02T09:00:00Z","sessionId":"s"}}"#
        )];
        parent = format!("\"u{turns}\"");
        for step in 0..12 {
            lines.push(format!(
                r#"{{"parentUuid":{parent},"isSidechain":false,"type":"assistant","message":{{"role":"assistant","content":[{{"type":"text","text":"step {step} of it"}},{{"type":"tool_use","id":"t","name":"Read","input":{{"file_path":"/a"}}}}]}},"uuid":"a{turns}-{step}","timestamp":"2026-11-02T09:00:00Z","sessionId":"s"}}"#
            ));
            lines.push(format!(
                r#"{{"parentUuid":"a{turns}-{step}","isSidechain":false,"type":"user","message":{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"t","content":"{output}"}}]}},"uuid":"r{turns}-{step}","timestamp":"2026-11-02T09:00:00Z","sessionId":"s","toolUseResult":{{"stdout":"x"}}}}"#
            ));
            parent = format!("\"r{turns}-{step}\"");
        }
        for line in lines {
            written += line.len() as u64 + 1;
            writeln!(file, "{line}").expect("a file");
        }
    }
    file.flush().expect("a file");
    turns
}

/// The most memory that this process had, in bytes; nothing where the system does not tell.
fn peak_memory() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    let kilobytes: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kilobytes << 10)
}

/// How large the large history is, in megabytes, where it is not two gigabytes.
const LARGE: &str = "CAPTURE_TEST_MEGABYTES";

/// A process of its own, since the others of this one need memory too.
#[test]
fn a_large_file_is_read_in_flat_memory() {
    let this = std::env::current_exe().expect("the path of the tests");
    let run = std::process::Command::new(this)
        .args([
            "--exact",
            "--ignored",
            "capture::two_gigabytes_are_read_in_flat_memory",
        ])
        .env(LARGE, "48")
        .output()
        .expect("the tests can be run");
    assert!(
        run.status.success(),
        "{}",
        String::from_utf8_lossy(&run.stdout)
    );
}

/// How fast they are read: `cargo test --release --test all -- --ignored two_gigabytes --nocapture`
#[test]
#[ignore = "writes 2 GB; run with: cargo test --release -- --ignored two_gigabytes"]
#[allow(clippy::print_stderr)]
fn two_gigabytes_are_read_in_flat_memory() {
    let megabytes = std::env::var(LARGE).ok().and_then(|size| size.parse().ok());
    let size = megabytes.unwrap_or(2048u64) << 20;
    let folder = TempDir::new().expect("a folder");
    let path = folder.path().join("large.jsonl");
    let expected = large_history(&path, size);
    let before = peak_memory();
    let began = std::time::Instant::now();
    let mut turns = 0;
    let mut told = 0;
    let reading = capture::read_file(&path, None, None, &mut |event| match event {
        Event::Turn(turn) => {
            turns += 1;
            assert!(turn.text.starts_with("turn ") && turn.answer.is_some() == (turns > 1));
        }
        Event::Withdrawn { key } => panic!("{key} was not taken back"),
        Event::Read { bytes } => told += bytes,
    })
    .expect("a file");
    let speed = size as f64 / 1e6 / began.elapsed().as_secs_f64();
    assert_eq!((turns, reading.problems.len()), (expected, 0));
    assert!(reading.bytes >= size);
    assert!(
        told <= reading.bytes && told + (2 << 20) > reading.bytes,
        "{told}"
    );
    if let (Some(before), Some(after)) = (before, peak_memory()) {
        let more = (after - before) >> 10;
        eprintln!("{speed:.0} MB/s, {more} KB more memory");
        // The records that may be gone back to, and one message for each turn: no text of them.
        assert!(more < (16 << 10) + size / 100_000, "{more} KB more");
    }
}
