//! Chooses what fits into a block, hard limits first, and words it: statements, one line each, and a last line that says what
//! was left out.

use super::format::{Format, Room};
use super::managed::{Origin, sum};
use super::{BEGIN, END};
use crate::model::Preference;
use crate::recall::Hit;
use crate::recall::context::{
    CLOSE, Group, LeftOut, OPEN, SHORTEST_REASON, breaks_out, fenced, harmless, shorten,
};
use crate::redact::redact;

/// What may stand in the block.
#[derive(Debug, Clone, Copy)]
pub struct Offer<'o> {
    /// All hard limits in force, the most important first.
    pub limits: &'o [Hit],
    /// The others, the most important first.
    pub others: &'o [Hit],
    /// How many more are stored; none where nobody counted.
    pub unseen: Option<usize>,
    /// The folder of the files about single entries, as a link in the file names it.
    pub folder: Option<&'o str>,
}

/// What stands between the two markers of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    format: Format,
    has_files: bool,
    lines: Vec<Line>,
    left_out: LeftOut,
    is_empty: bool,
}

/// What is said of one entry.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Line {
    id: i64,
    group: Group,
    item: String,
    reason: String,
    link: Option<String>,
}

/// Chooses what fits. `newline` is the length of a line end in the file.
pub fn compose(format: Format, offer: Offer<'_>, room: Room, newline: usize) -> Block {
    let mut block = Block {
        format,
        has_files: offer.folder.is_some(),
        lines: Vec::new(),
        left_out: LeftOut::default(),
        is_empty: offer.limits.is_empty() && offer.others.is_empty() && offer.unseen == Some(0),
    };
    if block.is_empty {
        return block;
    }
    let mut left = Left::new(&block, room, newline);
    // All limits before the reason of one; then the others, each with its reason.
    let mut limits = Vec::new();
    for hit in offer.limits {
        let line = Line::of(&hit.preference, offer.folder);
        if left.take(&line) {
            limits.push((line, &hit.preference));
        }
    }
    let limits_left_out = offer.limits.len() - limits.len();
    let mut says_all = true;
    for (mut line, limit) in limits {
        says_all &= left.say_reason(&mut line, limit);
        block.lines.push(line);
    }
    for hit in offer.others {
        let mut line = Line::of(&hit.preference, offer.folder);
        if left.take(&line) {
            left.say_reason(&mut line, &hit.preference);
            block.lines.push(line);
        }
    }
    let offered = offer.limits.len() + offer.others.len();
    block.left_out = LeftOut {
        shows_limits: limits_left_out < offer.limits.len(),
        limits: limits_left_out,
        // An index is short by its nature, and says where the rest is.
        reasons_of_limits: !says_all && format != Format::MemoryMd,
        all: offer
            .unseen
            .map(|unseen| unseen + offered - block.lines.len()),
    };
    block.lines.sort_by_key(|line| line.group);
    block
}

impl Block {
    /// How many entries it names.
    pub fn entries(&self) -> usize {
        self.lines.len()
    }

    /// The numbers of the entries that it names.
    pub fn ids(&self) -> impl Iterator<Item = i64> + '_ {
        self.lines.iter().map(|line| line.id)
    }

    /// Entries that are stored and not in it; none where nobody counted.
    pub fn left_out(&self) -> Option<usize> {
        self.left_out.all
    }

    /// Hard limits among them.
    pub fn limits_left_out(&self) -> usize {
        self.left_out.limits
    }

    /// Whether there is nothing to say.
    pub fn is_empty(&self) -> bool {
        self.is_empty
    }

    /// The block with its markers, up to the end of the last one.
    pub fn text(&self, origin: Origin) -> String {
        let mut text = String::new();
        if !self.is_empty {
            text.push_str(&format!("{OPEN}\n\n## {}\n", self.format.title()));
            let introduction = self.format.introduction(self.has_files);
            if !introduction.is_empty() {
                text.push_str(&format!("\n{introduction}\n"));
            }
            if self.format == Format::IdentityMd {
                text.push('\n');
            }
            for group in Group::ALL {
                let lines: Vec<&Line> =
                    self.lines.iter().filter(|one| one.group == group).collect();
                if !lines.is_empty() {
                    write_group(self.format, group, &lines, &mut text);
                }
            }
            let last = self.left_out.sentence();
            if !last.is_empty() {
                text.push_str(&format!("\n{last}\n"));
            }
            text.push_str(&format!("\n{CLOSE}\n"));
        }
        let remark = "what is changed in here is overwritten";
        between_markers(self.format.name(), origin, remark, &text)
    }
}

/// A text between the two lines that make a block of it, up to the end of the last one.
pub(super) fn between_markers(name: &str, origin: Origin, remark: &str, body: &str) -> String {
    let (words, sum) = (origin.words(), sum(body));
    format!(
        "<!-- {BEGIN} {name}{words} sum={sum} (written by aizo export; {remark}) -->\n{body}<!-- {END} -->"
    )
}

impl Line {
    fn of(preference: &Preference, folder: Option<&str>) -> Self {
        Line {
            id: preference.id,
            group: Group::of(preference.band()),
            item: plain(&preference.item),
            reason: String::new(),
            link: folder.map(|folder| link(folder, &super::file_name(preference))),
        }
    }

    fn text(&self, format: Format) -> String {
        let named = match (&self.link, format) {
            (Some(link), _) => format!("[{}]({link})", in_brackets(&self.item)),
            (None, Format::MemoryMd) => format!("{} ({})", quoted(&self.item), self.id),
            _ => quoted(&self.item),
        };
        if self.reason.is_empty() {
            format!("- {named}\n")
        } else {
            format!("- {named}: {}\n", self.reason)
        }
    }
}

/// A text that can break out of nothing and brings nothing in: on one line, without secrets, without tags, and without what
/// hosts take for the name of a file to be read.
pub(super) fn plain(text: &str) -> String {
    let text = harmless(&redact(text).text);
    let mut kept = String::with_capacity(text.len());
    let mut before = ' ';
    for c in text.chars() {
        // In an address by mail something stands before it.
        let names = c == '@' && !before.is_alphanumeric();
        kept.push(if names { '＠' } else { c });
        before = c;
    }
    kept
}

/// An item that is followed by a colon and its reason.
fn quoted(item: &str) -> String {
    fenced(item, item.contains([':', '：']))
}

fn in_brackets(item: &str) -> String {
    item.replace('\\', "\\\\")
        .replace('[', "\\[")
        .replace(']', "\\]")
}

fn link(folder: &str, name: &str) -> String {
    let path = match folder.trim_end_matches('/') {
        "" if folder.is_empty() => name.to_owned(),
        folder => format!("{folder}/{name}"),
    };
    let path = harmless(&path);
    if path.contains(|c: char| c.is_whitespace() || "()<>".contains(c)) {
        format!("<{}>", path.replace('<', "%3C").replace('>', "%3E"))
    } else {
        path
    }
}

fn write_group(format: Format, group: Group, lines: &[&Line], text: &mut String) {
    let heading = format.heading(group);
    if format == Format::IdentityMd {
        let items: Vec<String> = lines
            .iter()
            .map(|line| fenced(&line.item, breaks_out(&line.item)))
            .collect();
        text.push_str(&format!("- **{heading}:** {}\n", items.join(SEPARATOR)));
        return;
    }
    text.push_str(&format!("\n### {heading}\n"));
    text.extend(lines.iter().map(|line| line.text(format)));
}

/// Stands between two items on a card.
const SEPARATOR: &str = "; ";

/// What room is left in a block.
struct Left {
    format: Format,
    room: Room,
    newline: usize,
    groups: Vec<Group>,
}

impl Left {
    /// The room beside the markers and a last line of the greatest length.
    fn new(block: &Block, room: Room, newline: usize) -> Self {
        const MANY: usize = 999_999;
        let longest = Block {
            left_out: LeftOut {
                shows_limits: true,
                limits: MANY,
                reasons_of_limits: true,
                all: Some(MANY * 2),
            },
            ..block.clone()
        };
        let mut left = Left {
            format: block.format,
            room,
            newline,
            groups: Vec::new(),
        };
        let frame = left.measure(&format!("{}\n", longest.text(Origin::LONGEST)));
        left.room = room.beside(frame);
        left
    }

    fn measure(&self, text: &str) -> Room {
        let lines = text.matches('\n').count();
        Room {
            lines,
            bytes: text.len() + lines * (self.newline - 1),
        }
    }

    /// Takes the room for a line, and for its heading when it is the first of its group.
    fn take(&mut self, line: &Line) -> bool {
        let written = |lines: &[&Line]| {
            let mut text = String::new();
            write_group(self.format, line.group, lines, &mut text);
            self.measure(&text)
        };
        let mut cost = written(&[line]);
        if self.groups.contains(&line.group) {
            cost = cost.beside(written(&[]));
            cost.bytes += SEPARATOR.len();
        }
        if cost.lines > self.room.lines || cost.bytes > self.room.bytes {
            return false;
        }
        self.room = self.room.beside(cost);
        if !self.groups.contains(&line.group) {
            self.groups.push(line.group);
        }
        true
    }

    /// Says as much of a reason as there is room for, and whether that is all.
    fn say_reason(&mut self, line: &mut Line, preference: &Preference) -> bool {
        let Some(most) = self.format.longest_reason(line.group) else {
            return true;
        };
        let whole = plain(&preference.reason);
        let room = self.room.bytes.saturating_sub(": ".len()).min(most);
        if whole.is_empty() {
            return true;
        }
        if room < whole.len() && room < SHORTEST_REASON {
            return false;
        }
        (line.reason, _) = shorten(&whole, room);
        self.room.bytes -= line.reason.len() + ": ".len();
        line.reason == whole
    }
}
