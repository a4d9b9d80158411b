//! Every parser of what comes from outside, each as a function of bytes that must return: for `mutations.rs`, and for the
//! targets of `tests/fuzz`, which take this file as it is.

use std::collections::HashSet;
use std::path::Path;
use std::sync::OnceLock;

use aizo::capture::hook::{Call, Caller, Moment, Planned};
use aizo::capture::{self, Event, Host};
use aizo::check::{self, Input, Pattern};
use aizo::extract;
use aizo::merge::forgotten::Forgotten;
use aizo::model::{Origin, Preference, Score, Stamp};
use aizo::poison;
use aizo::portable::{self, Format, Piece};
use aizo::recall::Request;
use aizo::redact;
use aizo::scenarios::Scenarios;
use aizo::sync;

/// A parser.
pub type Parser = fn(&[u8]);

/// Every parser, with the name of its target and of its corpus.
pub const ALL: [(&str, Parser); 8] = [
    ("transcripts", transcripts),
    ("hooks", hooks),
    ("scenarios", scenarios),
    ("imports", imports),
    ("sync_lines", sync_lines),
    ("queries", queries),
    ("commands", commands),
    ("texts", texts),
];

/// A transcript of any host, and what was said in it.
pub fn transcripts(bytes: &[u8]) {
    for host in std::iter::once(None).chain(Host::all().map(Some)) {
        let mut heard = 0;
        let mut sink = |event: Event| {
            if let Event::Turn(turn) = event
                && host.is_none()
            {
                heard += extract::candidates(&turn).len();
            }
        };
        let mut stream = bytes;
        let _a_transcript_or_none = capture::read_stream(&mut stream, host, &mut sink);
    }
}

/// What a host sends at its events, and a check of what it is about to do.
pub fn hooks(bytes: &[u8]) {
    let sent = String::from_utf8_lossy(bytes);
    for (caller, _) in Caller::ALL {
        for event in [None, Some("PreToolUse"), Some("beforeShellExecution")] {
            let Ok(call) = Call::read(caller, event, &sent) else {
                continue;
            };
            let Moment::Tool(planned) = call.moment else {
                continue;
            };
            for planned in planned {
                match planned {
                    Planned::Command(text) => check_it(&Input::command(&text)),
                    Planned::Text(text) => check_it(&Input::message(&text)),
                    Planned::Edit { path, text, .. } => {
                        check_it(&Input::edit(path.as_deref(), &text))
                    }
                    Planned::Memory { .. } => {}
                }
            }
        }
    }
}

/// The file of the kinds of task.
pub fn scenarios(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    if let Ok(read) = Scenarios::parse(&text, Path::new("scenarios.yaml")) {
        let _one_or_none = read.nearest("write a test for the parser");
        let _one_or_none = read.find("coding");
    }
}

/// A file that is imported, whatever it is taken for.
pub fn imports(bytes: &[u8]) {
    for wanted in [
        None,
        Some(Format::Aizo),
        Some(Format::Entries),
        Some(Format::Mem0),
        Some(Format::McpMemory),
        Some(Format::Chatgpt),
        Some(Format::Rules),
    ] {
        let head = &bytes[..bytes.len().min(1 << 16)];
        let Ok(look) = portable::look(head, wanted) else {
            continue;
        };
        let mut stream = bytes;
        let mut heard = 0;
        let _read_or_refused = portable::read(&mut stream, look, &mut |found| {
            if let Piece::Told(told) = &found.piece {
                heard += portable::candidates(told).len();
            }
        });
    }
}

/// The device whose file is read: that of the corpus.
const DEVICE: &str = "0123456789abcdef0123456789abcdef";

/// The file of a device in the repository of a sync.
pub fn sync_lines(bytes: &[u8]) {
    let now = "2026-11-30T12:00:00Z".parse().expect("a time");
    let known = HashSet::new();
    let read = sync::read(DEVICE, bytes, &known, now);
    let forgotten = Forgotten::of(&read.lines);
    let left = sync::without(DEVICE, bytes, &forgotten);
    assert!(left.0.len() <= bytes.len() + 1024 * (1 + read.many));
    let mut written = Vec::new();
    for line in read.lines {
        sync::append(&mut written, line);
    }
    // What was read is what is written.
    let again = sync::read(DEVICE, &written, &known, now);
    assert!(again.stopped.is_none(), "{:?}", again.stopped);
    let _mended_or_not = sync::mend(DEVICE, bytes, &written);
}

/// The words of a search.
pub fn queries(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let request = Request::for_text(&text);
    for entry in entries() {
        let _found_or_not = request.judge(entry);
        let _related_or_not = request.may_be_related(entry);
    }
}

/// A command line, a patch, a file and a plan that are checked, and the pattern of a limit.
pub fn commands(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    check_it(&Input::command(&text));
    check_it(&Input::text(&text));
    let (path, rest) = text.split_once('\n').unwrap_or(("Makefile", &text));
    check_it(&Input::edit(Some(path), rest));
    if let Ok(pattern) = Pattern::parse(path) {
        let _one_or_none = pattern.detector();
    }
}

/// Any text that is about to be stored or shown.
pub fn texts(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let clean = redact::redact(&text);
    let again = redact::redact(&clean.text);
    assert_eq!(again.text, clean.text, "what is clean stays as it is");
    let line_ends = |text: &str| text.matches('\n').count();
    assert_eq!(line_ends(&redact::redact_lines(&text)), line_ends(&text));
    let _why_or_not = poison::suspicion(&text);
    let cut = capture::marker::cut(&text);
    assert!(cut.len() <= text.len());
    let _shorter = capture::marker::cut_private(&text);
}

fn check_it(input: &Input<'_>) {
    let found = check::check(entries(), input);
    assert_eq!(found.checked, entries().len());
}

/// What is looked for.
fn entries() -> &'static [Preference] {
    static ENTRIES: OnceLock<Vec<Preference>> = OnceLock::new();
    ENTRIES.get_or_init(|| {
        let limits: [(&str, &str, f64); 6] = [
            ("force-push to main", "@force-push", 0.0),
            ("rm -rf", "@rm-rf", 0.5),
            ("emojis in code", "@emoji", 1.0),
            ("secrets", "@secret\n@push", 0.5),
            ("no TODO", r"\bTODO\b|(a|b)*c{2,5}", 1.5),
            ("红烧肉", "", 8.0),
        ];
        let entry = |(id, (item, pattern, score)): (i64, &(&str, &str, f64))| Preference {
            id,
            uid: format!("e{id}"),
            item: (*item).to_owned(),
            reason: "lost a day to it".to_owned(),
            keywords: vec!["git".to_owned()],
            scenarios: vec!["coding".to_owned()],
            base_score: Score::clamped(*score),
            source: "manual".to_owned(),
            origin: Origin::User,
            added_at: Stamp("2026-11-30T12:00:00+00:00".to_owned()),
            last_seen: Stamp("2026-11-30T12:00:00+00:00".to_owned()),
            touch_count: 0,
            patterns: pattern.lines().map(str::to_owned).collect(),
        };
        (1..).zip(&limits).map(entry).collect()
    })
}
