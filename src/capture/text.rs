//! Conversations kept as plain text or Markdown: who speaks is told by a sign at the beginning of a line.

use std::io::{self, Read};

use super::lines::Lines;
use super::moment;
use super::outbox::{Outbox, Said};
use super::problem::ProblemKind;
use crate::model::{Stamp, TurnKind};

/// What people are called.
const PERSON: [&str; 12] = [
    "user",
    "human",
    "you",
    "you said",
    "me",
    "用户",
    "用戶",
    "我",
    "我说",
    "ユーザー",
    "사용자",
    "나",
];
/// What agents are called. Words that also head a list in notes (`Model:`) are not among them.
const AGENT: [&str; 9] = [
    "assistant",
    "ai",
    "claude",
    "claude said",
    "chatgpt",
    "chatgpt said",
    "助手",
    "アシスタント",
    "어시스턴트",
];
/// What SpecStory calls them besides.
const SPECSTORY_AGENT: &str = "agent";
/// What neither of them said.
const OTHER: [&str; 4] = ["system", "tool", "系统", "システム"];

/// The longest message that is kept, in bytes: nobody types more.
const LONGEST_MESSAGE: usize = 4 << 20;

/// How a file says who speaks. A file has one way; the signs of the others are text in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Style {
    /// `User: …` and `Assistant: …`
    Prefix,
    /// `## User` and `## Assistant`
    Heading,
    /// `**You:** …` and `**Claude:** …`
    Bold,
    /// `_**User (2026-11-02 09:00:00Z)**_` and `_**Agent (…)**_`
    SpecStory,
    /// `#### …`, as aider writes what was typed.
    Aider,
}

const STYLES: [Style; 5] = [
    Style::SpecStory,
    Style::Aider,
    Style::Bold,
    Style::Heading,
    Style::Prefix,
];

/// Who speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Voice {
    Person,
    Agent,
    Other,
}

/// A line that begins a message.
#[derive(Debug, PartialEq)]
struct Sign<'l> {
    voice: Voice,
    rest: &'l str,
    at: Option<Stamp>,
}

impl Style {
    /// Who begins to speak in a line, where one does.
    fn sign(self, line: &str) -> Option<Sign<'_>> {
        match self {
            Style::Prefix => prefix(line),
            Style::Heading => {
                let title = line.strip_prefix('#')?.trim_start_matches('#');
                let title = title.strip_prefix(' ')?.trim();
                let name = title.trim_matches(['*', '_', ':', '：', ' ']);
                Some(Sign {
                    voice: voice(name)?,
                    rest: "",
                    at: None,
                })
            }
            Style::Bold => {
                let (name, rest) = line.strip_prefix("**")?.split_once("**")?;
                let (name, rest) = match name.trim_end().strip_suffix([':', '：']) {
                    Some(name) => (name, rest),
                    None => (name, rest.trim_start().strip_prefix([':', '：'])?),
                };
                Some(Sign {
                    voice: voice(name)?,
                    rest: rest.trim_start(),
                    at: None,
                })
            }
            Style::SpecStory => {
                let inside = line.trim_end().strip_prefix("_**")?.strip_suffix("**_")?;
                let (name, more) = inside.split_once(" (").unwrap_or((inside, ""));
                let more = more.trim_end_matches(')');
                let agent = name.eq_ignore_ascii_case(SPECSTORY_AGENT);
                Some(Sign {
                    voice: if agent { Voice::Agent } else { voice(name)? },
                    rest: "",
                    at: moment::of_text(more),
                })
            }
            Style::Aider => {
                let typed = line == "####" || line.starts_with("#### ");
                let note = line.starts_with("> ") || line.starts_with("# aider chat started");
                if typed {
                    let rest = line.trim_start_matches('#').trim();
                    Some(Sign {
                        voice: Voice::Person,
                        rest,
                        at: None,
                    })
                } else {
                    note.then_some(Sign {
                        voice: Voice::Other,
                        rest: "",
                        at: None,
                    })
                }
            }
        }
    }
}

fn prefix(line: &str) -> Option<Sign<'_>> {
    const LONGEST_NAME: usize = 40;
    let (at, colon) = line
        .char_indices()
        .take_while(|(at, _)| *at < LONGEST_NAME)
        .find(|(_, c)| matches!(c, ':' | '：'))?;
    Some(Sign {
        voice: voice(&line[..at])?,
        rest: line[at + colon.len_utf8()..].trim_start(),
        at: None,
    })
}

fn voice(name: &str) -> Option<Voice> {
    let name = name.trim().to_lowercase();
    let is = |names: &[&str]| names.contains(&name.as_str());
    if is(&PERSON) {
        Some(Voice::Person)
    } else if is(&AGENT) {
        Some(Voice::Agent)
    } else {
        is(&OTHER).then_some(Voice::Other)
    }
}

/// Watches lines until they show a style: both sides have to speak, so that notes are not taken for a chat.
#[derive(Default)]
pub(super) struct Watch {
    seen: [[bool; 2]; STYLES.len()],
    fence: Fence,
    is_aider: bool,
}

impl Watch {
    /// Takes the next line, and says in which style the file is once that is known.
    pub(super) fn line(&mut self, line: &str) -> Option<Style> {
        if self.fence.holds(line) {
            return None;
        }
        self.is_aider |= line.starts_with("# aider chat started at");
        for (style, seen) in STYLES.into_iter().zip(&mut self.seen) {
            let Some(sign) = style.sign(line) else {
                continue;
            };
            match (style, sign.voice) {
                // Anybody writes headings of the fourth rank; the title tells that aider did.
                (Style::Aider, Voice::Person) if self.is_aider => return Some(style),
                (Style::Aider, _) | (_, Voice::Other) => {}
                (_, Voice::Person) => seen[0] = true,
                (_, Voice::Agent) => seen[1] = true,
            }
            if seen[0] && seen[1] {
                return Some(style);
            }
        }
        None
    }
}

/// A block of code between fences, in which no line is a sign.
#[derive(Default)]
struct Fence(Option<(char, usize)>);

impl Fence {
    /// Whether a line stands in a block, or begins or ends one.
    fn holds(&mut self, line: &str) -> bool {
        let text = line.trim_start();
        let indented = line.len() - text.len() > 3;
        let sign = text.chars().next().filter(|c| matches!(c, '`' | '~'));
        let length = sign.map_or(0, |sign| text.chars().take_while(|c| *c == sign).count());
        let is_fence = length >= 3 && !indented;
        match (self.0, sign) {
            (None, Some(sign)) if is_fence => {
                // A span of code on one line is no fence.
                if sign == '`' && text[length..].contains('`') {
                    return false;
                }
                self.0 = Some((sign, length));
                true
            }
            (None, _) => false,
            (Some((open, least)), _) => {
                if is_fence
                    && sign == Some(open)
                    && length >= least
                    && text[length..].trim().is_empty()
                {
                    self.0 = None;
                }
                true
            }
        }
    }
}

/// A message that is being read.
struct Message {
    voice: Voice,
    text: String,
    place: String,
    at: Option<Stamp>,
}

/// Reads a file in that style.
pub(super) fn read(stream: &mut dyn Read, style: Style, out: &mut Outbox<'_>) -> io::Result<u64> {
    let mut lines = Lines::new(stream);
    let mut fence = Fence::default();
    let mut message: Option<Message> = None;
    while let Some(line) = lines.next()? {
        if line.too_long {
            out.problems.met(ProblemKind::TooLong, line.place());
            continue;
        }
        let mut bytes = line.bytes;
        if line.number == 1
            && let Some(rest) = bytes.strip_prefix(b"\xEF\xBB\xBF")
        {
            out.problems.met(ProblemKind::ByteOrderMark, line.place());
            bytes = rest;
        }
        if std::str::from_utf8(bytes).is_err() {
            out.problems.met(ProblemKind::BadUtf8, line.place());
        }
        let text = String::from_utf8_lossy(bytes);
        let sign = if fence.holds(&text) {
            None
        } else {
            style.sign(&text)
        };
        match sign {
            Some(sign) => {
                let goes_on = style == Style::Aider
                    && message
                        .as_ref()
                        .is_some_and(|message| message.voice == sign.voice);
                if !goes_on {
                    hand_out(message.take(), style, out);
                    message = Some(Message {
                        voice: sign.voice,
                        text: String::new(),
                        place: line.place(),
                        at: sign.at,
                    });
                }
                push(&mut message, sign.rest);
            }
            // Aider marks every line that was typed, so that any other line is the agent's.
            None if style == Style::Aider => {
                let is_agent = |message: &Message| message.voice == Voice::Agent;
                if !message.as_ref().is_some_and(is_agent) && !text.trim().is_empty() {
                    hand_out(message.take(), style, out);
                    message = Some(Message {
                        voice: Voice::Agent,
                        text: String::new(),
                        place: line.place(),
                        at: None,
                    });
                }
                push(&mut message, &text);
            }
            None => push(&mut message, &text),
        }
    }
    hand_out(message, style, out);
    Ok(lines.position())
}

fn push(message: &mut Option<Message>, line: &str) {
    if let Some(message) = message
        && message.text.len() + line.len() <= LONGEST_MESSAGE
    {
        message.text.push_str(line);
        message.text.push('\n');
    }
}

fn hand_out(message: Option<Message>, style: Style, out: &mut Outbox<'_>) {
    let Some(message) = message else { return };
    let mut text = message.text.trim();
    if matches!(style, Style::SpecStory | Style::Heading | Style::Bold) {
        // A line is drawn between messages.
        text = text.strip_suffix("\n---").unwrap_or(text).trim_end();
    }
    match message.voice {
        Voice::Agent => out.answered(text),
        Voice::Other => {}
        // A command to aider is no word to the agent.
        Voice::Person if style == Style::Aider && text.starts_with('/') && !text.contains('\n') => {
        }
        Voice::Person => {
            out.say(Said {
                id: None,
                text: text.to_owned(),
                kind: TurnKind::Typed,
                at: message.at,
                session: String::new(),
                place: message.place,
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn style(text: &str) -> Option<Style> {
        let mut watch = Watch::default();
        text.lines().find_map(|line| watch.line(line))
    }

    #[test]
    fn a_chat_is_told_from_notes() {
        for (text, expected) in [
            ("User: use pnpm\nAssistant: ok", Some(Style::Prefix)),
            ("用户：用 pnpm\n助手：好", Some(Style::Prefix)),
            (
                "You said:\nuse pnpm\nChatGPT said:\nok",
                Some(Style::Prefix),
            ),
            (
                "## User\n\nuse pnpm\n\n## Assistant\n\nok",
                Some(Style::Heading),
            ),
            ("**You:** use pnpm\n\n**Claude:** ok", Some(Style::Bold)),
            (
                "_**User**_\n\nuse pnpm\n\n_**Agent (x 2026-11-02)**_",
                Some(Style::SpecStory),
            ),
            (
                "# aider chat started at 2026-11-02 09:00:00\n\n#### use pnpm",
                Some(Style::Aider),
            ),
            ("User: the person who uses it\nAdmin: the other one", None),
            ("#### A heading\n> a quote\n", None),
            ("```\nUser: a\nAssistant: b\n```\n", None),
        ] {
            assert_eq!(style(text), expected, "{text}");
        }
    }
}
