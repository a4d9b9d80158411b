//! Every parser over its corpus and over mutations of it: none may panic, whatever comes. Short and the same each time; in a
//! long run as many as fit. `tests/fuzz` does the same with coverage.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use super::parsers::{ALL, Parser};
use super::random::{Random, seed};
use super::scene::files;
use super::{minutes, say};

/// The longest input that is made.
const LONGEST: usize = 1 << 14;

fn data(folder: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/data")
        .join(folder)
}

/// What a parser begins with: its corpus, and what other tests have of its kind.
fn corpus(name: &str) -> Vec<Vec<u8>> {
    let mut found = files(&data("fuzz").join(name));
    assert!(!found.is_empty(), "{name} has a corpus");
    match name {
        "transcripts" => found.extend(files(&data("transcripts"))),
        "imports" => found.extend(files(&data("import"))),
        _ => {}
    }
    let mut corpus: Vec<Vec<u8>> = found
        .iter()
        .map(|path| fs::read(path).expect("it reads"))
        .map(|mut bytes| {
            bytes.truncate(LONGEST);
            bytes
        })
        .collect();
    if name == "hooks" {
        let calls = fs::read_to_string(data("hooks/calls.jsonl")).expect("it reads");
        corpus.extend(calls.lines().filter_map(|line| {
            let call: serde_json::Value = serde_json::from_str(line).ok()?;
            Some(call["sent"].to_string().into_bytes())
        }));
    }
    corpus
}

/// Pieces that mean something to one parser or another.
const PIECES: &[&[u8]] = &[
    b"\"",
    b"\\",
    b"{",
    b"}",
    b"[",
    b"]",
    b":",
    b",",
    b"\n",
    b"\r\n",
    b"\0",
    b"'",
    b"`",
    b"$(",
    b")",
    b"<<EOF\n",
    b"#",
    b"- ",
    b"&&",
    b"|",
    b";",
    b"%",
    b"null",
    b"true",
    b"-1",
    b"1e999",
    b"9223372036854775808",
    b"\\u0000",
    b"\\ud800",
    "\u{feff}".as_bytes(),
    "\u{200b}".as_bytes(),
    "\u{202e}".as_bytes(),
    "é".as_bytes(),
    "红".as_bytes(),
    "👩‍💻".as_bytes(),
    b"\xff",
    b"\xc3",
    b"\xed\xa0\x80",
    b"git push --force",
    b"rm -rf /",
    b"@secret",
    b"<system>",
    b"&anchor",
    b"*anchor",
    b"!!binary",
    b"---\n",
    b"\t",
    b"sudo ",
    b"eval ",
    b"xargs ",
    b"2026-11-30T12:00:00Z",
];

/// Another input that is made of one.
fn mutated(corpus: &[Vec<u8>], random: &mut Random) -> Vec<u8> {
    let mut bytes = random.one_of(corpus).clone();
    for _ in 0..1 + random.below(5) {
        let at = random.below(bytes.len() + 1);
        let end = (at + random.below(1 + bytes.len() / 4)).min(bytes.len());
        match random.below(9) {
            0 => drop(bytes.drain(at..end)),
            1 => {
                if let Some(byte) = bytes.get_mut(at) {
                    *byte ^= 1 << random.below(8);
                }
            }
            2 => {
                if let Some(byte) = bytes.get_mut(at) {
                    *byte = random.byte();
                }
            }
            3 | 4 => drop(bytes.splice(at..at, random.one_of(PIECES).iter().copied())),
            5 => drop(bytes.splice(at..end, random.one_of(PIECES).iter().copied())),
            6 => {
                let part = bytes[at..end].to_vec();
                let times = 1 + random.below(8);
                drop(bytes.splice(at..at, part.repeat(times)));
            }
            7 => {
                let other = random.one_of(corpus);
                let from = random.below(other.len() + 1);
                bytes.truncate(at);
                bytes.extend(&other[from..]);
            }
            // Deep nesting, and long runs of one thing.
            _ => {
                let piece = random.one_of(PIECES);
                let times = 1 + random.below(300);
                drop(bytes.splice(at..at, piece.repeat(times)));
            }
        }
        bytes.truncate(LONGEST);
    }
    bytes
}

/// Whether a parser returns; if not, what it said.
fn survives(parser: Parser, bytes: &[u8]) -> Result<(), String> {
    std::panic::catch_unwind(|| parser(bytes)).map_err(|panic| {
        let text = panic.downcast_ref::<String>().cloned();
        text.or_else(|| panic.downcast_ref::<&str>().map(|&text| text.to_owned()))
            .unwrap_or_default()
    })
}

/// Runs a parser over its corpus, and then so many mutations, or in a long run as many as fit into the time.
fn beat(name: &str, short: u64) {
    let (_, parser) = ALL
        .iter()
        .find(|(known, _)| *known == name)
        .expect("there is one");
    let corpus = corpus(name);
    let seed = seed();
    let mut random = Random::new(seed);
    let mut executed = 0_u64;
    let mut crashes: BTreeMap<String, String> = BTreeMap::new();
    let keep = |bytes: &[u8], said: String, crashes: &mut BTreeMap<String, String>| {
        crashes
            .entry(said)
            .or_insert_with(|| bytes.escape_ascii().to_string());
    };
    for bytes in &corpus {
        executed += 1;
        if let Err(said) = survives(*parser, bytes) {
            keep(bytes, said, &mut crashes);
        }
    }
    for _ in super::rounds(short) {
        let bytes = mutated(&corpus, &mut random);
        if minutes().is_some() {
            // What ends the whole process is found there.
            let place = std::env::temp_dir().join(format!("aizo-beating-{name}"));
            fs::write(place, &bytes).expect("it writes");
        }
        executed += 1;
        if let Err(said) = survives(*parser, &bytes) {
            keep(&bytes, said, &mut crashes);
        }
    }
    say(
        "mutations",
        &format!(
            "{name}: {executed} executed, {} crashes (seed {seed})",
            crashes.len()
        ),
    );
    assert!(crashes.is_empty(), "{name}, seed {seed}: {crashes:#?}");
}

#[test]
fn no_transcript_makes_it_panic() {
    beat("transcripts", 120);
}

#[test]
fn nothing_that_a_host_sends_makes_it_panic() {
    beat("hooks", 200);
}

#[test]
fn no_file_of_scenarios_makes_it_panic() {
    beat("scenarios", 200);
}

#[test]
fn no_file_to_import_makes_it_panic() {
    beat("imports", 120);
}

#[test]
fn no_file_of_a_sync_makes_it_panic() {
    beat("sync_lines", 600);
}

#[test]
fn no_query_makes_it_panic() {
    beat("queries", 600);
}

#[test]
fn no_command_that_is_checked_makes_it_panic() {
    beat("commands", 200);
}

#[test]
fn no_text_makes_it_panic() {
    beat("texts", 400);
}

#[test]
fn every_parser_has_a_target_for_cargo_fuzz() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fuzz");
    let manifest = fs::read_to_string(folder.join("Cargo.toml")).expect("it reads");
    for (name, _) in ALL {
        let target =
            fs::read_to_string(folder.join(format!("targets/{name}.rs"))).expect("it reads");
        assert!(target.contains(&format!("parsers::{name}(")), "{name}");
        assert!(
            manifest.contains(&format!("path = \"targets/{name}.rs\"")),
            "{name}"
        );
    }
}
