//! The file of one device: its journal, a line each, in the order of their times.

use std::collections::{BTreeMap, HashSet};

use chrono::{DateTime, Utc};

use super::line::{self, Unreadable};
use crate::merge::forgotten::Forgotten;
use crate::model::{Hlc, JournalLine, is_device_name};

/// Longer lines are not read.
const LONGEST_LINE: usize = 16 << 20;

/// What a file says.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Reading {
    /// The lines that were not known.
    pub lines: Vec<JournalLine>,
    /// How many lines could be read, the known ones among them.
    pub many: usize,
    /// Where the reading ended before the file did.
    pub stopped: Option<Stopped>,
}

impl Reading {
    /// What a file says that is too long to be read.
    pub fn too_long() -> Self {
        Reading {
            stopped: Some(Stopped {
                line: 1,
                why: "the file is too long".to_owned(),
                newer: false,
                waiting: 0,
            }),
            ..Reading::default()
        }
    }

    /// Whether the reading ended at what a later version has written.
    pub fn has_newer(&self) -> bool {
        self.stopped.as_ref().is_some_and(|place| place.newer)
    }
}

/// Where a file cannot be read any further. What follows waits: the lines of a device are taken in their order or not at
/// all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stopped {
    /// The line, from 1.
    pub line: usize,
    /// What is wrong with it.
    pub why: String,
    /// Whether a later version of aizo can read it.
    pub newer: bool,
    /// How many lines wait.
    pub waiting: usize,
}

/// The device that a path of the repository belongs to.
pub fn device_of(path: &str) -> Option<&str> {
    let device = path.strip_prefix("devices/")?.strip_suffix(".jsonl")?;
    is_device_name(device).then_some(device)
}

/// The path of a device's file.
pub fn file_name(device: &str) -> String {
    format!("devices/{device}.jsonl")
}

/// Adds a line to the file of its device.
pub fn append(file: &mut Vec<u8>, line: JournalLine) {
    file.extend(line::write(&line.cleaned()).into_bytes());
    file.push(b'\n');
}

/// The lines of a file that are whole. The last one may be cut.
fn whole_lines(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    let end = bytes.iter().rposition(|&byte| byte == b'\n').unwrap_or(0);
    let lines = bytes[..end].split(|&byte| byte == b'\n');
    lines
        .map(|line| line.strip_suffix(b"\r").unwrap_or(line))
        .filter(|line| !line.is_empty())
}

/// Reads the file of a device. Lines whose times are `known` are passed over.
pub fn read(device: &str, bytes: &[u8], known: &HashSet<String>, now: DateTime<Utc>) -> Reading {
    let mut reading = Reading::default();
    let mut last = Hlc::default();
    let mut lines = whole_lines(bytes);
    while let Some(text) = lines.next() {
        match next(device, text, known, last, now) {
            Ok((time, line)) => {
                last = time;
                reading.many += 1;
                reading.lines.extend(line);
            }
            Err(unreadable) => {
                let newer = matches!(unreadable, Unreadable::Newer(_));
                let (Unreadable::Newer(why) | Unreadable::Damaged(why)) = unreadable;
                reading.stopped = Some(Stopped {
                    line: reading.many + 1,
                    why,
                    newer,
                    waiting: 1 + lines.count(),
                });
                break;
            }
        }
    }
    reading
}

/// One line: its time, and the line itself where it is not known.
fn next(
    device: &str,
    text: &[u8],
    known: &HashSet<String>,
    last: Hlc,
    now: DateTime<Utc>,
) -> Result<(Hlc, Option<JournalLine>), Unreadable> {
    let damaged = |why: &str| Unreadable::Damaged(why.to_owned());
    if text.len() > LONGEST_LINE {
        return Err(damaged("it is too long"));
    }
    let text = std::str::from_utf8(text).map_err(|_| damaged("it is no UTF-8"))?;
    let (time, line) = match line::time_of(text).filter(|time| known.contains(*time)) {
        Some(time) => (time.to_owned(), None),
        None => {
            let line = line::read(device, text)?;
            let is_new = !known.contains(&line.hlc);
            (line.hlc.clone(), is_new.then_some(line))
        }
    };
    let time: Hlc = time.parse().map_err(Unreadable::Damaged)?;
    if time <= last {
        return Err(damaged("its time is not after that of the line before"));
    }
    if time.is_out_of_reach(now) {
        return Err(damaged("its clock is more than a hundred years ahead"));
    }
    Ok((time, line))
}

/// Puts lines back that the file of another device has lost, from the file as it would be made here, and takes out what is no
/// line at all; what a later version can read stays. Nothing comes back where lines would follow what was taken out that are
/// not known here: they wait for it.
pub fn mend(device: &str, bytes: &[u8], made_here: &[u8]) -> Option<Vec<u8>> {
    let mut all: BTreeMap<String, String> = BTreeMap::new();
    for text in whole_lines(made_here) {
        let text = std::str::from_utf8(text).ok()?;
        all.insert(line::time_of(text)?.to_owned(), text.to_owned());
    }
    let (known, mut is_damaged) = (all.len(), false);
    for text in whole_lines(bytes) {
        let text = std::str::from_utf8(text).ok();
        match text.and_then(|text| Some((line::time_for_all(device, text)?, text))) {
            Some((time, text)) => drop(all.insert(time, text.to_owned())),
            None => is_damaged = true,
        }
    }
    if is_damaged && all.len() > known {
        return None;
    }
    let mut mended = Vec::new();
    for text in all.into_values() {
        mended.extend(text.into_bytes());
        mended.push(b'\n');
    }
    Some(mended)
}

/// The file of a device without what was forgotten, and whether all of it could be read. Lines that this version cannot read
/// stay as they are.
pub fn without(device: &str, bytes: &[u8], forgotten: &Forgotten) -> (Vec<u8>, bool) {
    let (mut left, mut is_read) = (Vec::with_capacity(bytes.len()), true);
    for text in bytes.split_inclusive(|&byte| byte == b'\n') {
        let whole = text
            .strip_suffix(b"\n")
            .map(|text| text.strip_suffix(b"\r").unwrap_or(text));
        let line = whole
            .and_then(|text| std::str::from_utf8(text).ok())
            .and_then(|text| line::read(device, text).ok());
        is_read &= line.is_some() || whole.is_some_and(<[u8]>::is_empty);
        match line.map(|line| (forgotten.blank(line.clone()), line)) {
            Some((blank, line)) if blank != line => {
                left.extend(line::write(&blank).into_bytes());
                left.push(b'\n');
            }
            _ => left.extend_from_slice(text),
        }
    }
    (left, is_read)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Op, Origin, Stamp, Subject};
    use rstest::rstest;
    use serde_json::json;

    fn now() -> DateTime<Utc> {
        "2026-11-30T12:00:00Z".parse().expect("a time")
    }

    fn line(number: u64) -> JournalLine {
        JournalLine {
            seq: 0,
            batch: format!("b{number}"),
            at: Stamp("2026-11-30T12:00:00+00:00".into()),
            hlc: format!("{:016x}", 0x0193_0000_0000_0000 + number),
            device: "d".into(),
            op: Op::Add,
            subject: Subject::Entry(format!("e{number}")),
            origin: Origin::User,
            before: None,
            after: json!({"item": format!("item {number}")})
                .as_object()
                .cloned(),
            added: Vec::new(),
            removed: Vec::new(),
            undoes: None,
            seen: BTreeMap::new(),
            local_id: None,
        }
    }

    fn compose(lines: impl Iterator<Item = JournalLine>) -> Vec<u8> {
        let mut file = Vec::new();
        lines.for_each(|line| append(&mut file, line));
        file
    }

    fn file(numbers: impl Iterator<Item = u64>) -> Vec<u8> {
        compose(numbers.map(line))
    }

    fn read_all(bytes: &[u8]) -> Reading {
        read("d", bytes, &HashSet::new(), now())
    }

    #[test]
    fn a_file_comes_back_as_its_lines() {
        let reading = read_all(&file(1..4));
        assert_eq!(reading.lines, [line(1), line(2), line(3)]);
        assert_eq!((reading.many, reading.stopped), (3, None));
        let known = HashSet::from([line(1).hlc, line(2).hlc]);
        let reading = read("d", &file(1..4), &known, now());
        assert_eq!((reading.lines, reading.many), (vec![line(3)], 3));
        assert_eq!(read_all(b""), Reading::default());
    }

    #[test]
    fn a_line_that_is_cut_is_not_there_yet() {
        let whole = file(1..4);
        for end in 0..whole.len() {
            let reading = read_all(&whole[..end]);
            assert_eq!(reading.stopped, None, "{end}");
            assert_eq!(
                reading.many,
                whole[..end].iter().filter(|b| **b == b'\n').count()
            );
        }
    }

    #[rstest]
    #[case::conflict(b"<<<<<<< HEAD".as_slice(), false)]
    #[case::no_text(b"\xff\xfe", false)]
    #[case::newer(b"{\"v\":9,\"hlc\":\"0193000000000009\"}", true)]
    fn what_follows_a_line_that_cannot_be_read_waits(#[case] odd: &[u8], #[case] newer: bool) {
        let bytes = [&file(1..3), odd, b"\n", &file(3..6)].concat();
        let reading = read_all(&bytes);
        assert_eq!(reading.lines, [line(1), line(2)]);
        let stopped = reading.stopped.expect("it ends early");
        assert_eq!(
            (stopped.line, stopped.newer, stopped.waiting),
            (3, newer, 4)
        );
    }

    #[test]
    fn times_run_forwards_and_stay_within_reach() {
        let reading = read_all(&[file(3..4), file(2..4)].concat());
        assert_eq!(reading.lines, [line(3)]);
        let far = JournalLine {
            hlc: "ffffffffffffffff".into(),
            ..line(9)
        };
        let reading = read_all(&compose([line(1), far].into_iter()));
        assert_eq!(reading.lines, [line(1)]);
        assert_eq!(reading.stopped.map(|stopped| stopped.line), Some(2));
    }

    #[test]
    fn a_file_that_lost_lines_gets_them_back_and_keeps_what_nobody_here_can_read() {
        let newer = b"{\"v\":1,\"hlc\":\"0193000000000009\",\"op\":\"later\"}\n";
        let torn = [&file(1..3), newer.as_slice(), b"{\"v\":1,\"hl"].concat();
        let mended = mend("d", &torn, &file(1..6));
        assert_eq!(mended, Some([&file(1..6), newer.as_slice()].concat()));
    }

    #[test]
    fn what_is_no_line_goes_where_all_others_are_known() {
        let cut = [&file(2..3)[..60], b"\n"].concat();
        let spoilt = [file(1..2), b"<<<<<<< HEAD\n".to_vec(), cut, file(3..4)].concat();
        let made_here = file(1..4);
        assert_eq!(mend("d", &spoilt, &made_here).as_ref(), Some(&made_here));
        let more = [spoilt, file(4..5)].concat();
        assert_eq!(mend("d", &more, &made_here), None);
    }

    #[test]
    fn a_file_loses_what_was_forgotten_and_nothing_else() {
        let forget = JournalLine {
            op: Op::Forget,
            subject: line(2).subject,
            after: None,
            ..line(9)
        };
        let newer = b"{\"v\":1,\"hlc\":\"0193000000000009\",\"op\":\"later\"}\n";
        let bytes = [&file(1..4), newer.as_slice(), b"{\"v\":1,\"hl"].concat();
        let (left, is_read) = without("d", &bytes, &Forgotten::of([&forget]));
        assert!(!is_read);
        let text = String::from_utf8(left.clone()).expect("it is text");
        assert!(!text.contains("item 2") && text.contains("item 1") && text.contains("item 3"));
        assert!(text.ends_with("\"op\":\"later\"}\n{\"v\":1,\"hl"));
        assert_eq!(read_all(&left).many, 3);
        assert_eq!(without("d", &left, &Forgotten::of([&forget])).0, left);
        let (_, is_read) = without("d", &file(1..4), &Forgotten::of([&forget]));
        assert!(is_read);
    }

    #[rstest]
    #[case("devices/0193f2a4c1d27e8fa0b1c2d3e4f50617.jsonl", true)]
    #[case("devices/../../etc/passwd.jsonl", false)]
    #[case("devices/0193F2A4C1D27E8FA0B1C2D3E4F50617.jsonl", false)]
    #[case("devices/x/0193f2a4c1d27e8fa0b1c2d3e4f50617.jsonl", false)]
    #[case("devices/0193f2a4c1d27e8fa0b1c2d3e4f50617.jsonl.bak", false)]
    #[case("0193f2a4c1d27e8fa0b1c2d3e4f50617.jsonl", false)]
    fn a_device_has_one_path(#[case] path: &str, #[case] is_one: bool) {
        let device = device_of(path);
        assert_eq!(device.is_some(), is_one);
        if let Some(device) = device {
            assert_eq!(file_name(device), path);
        }
    }
}
