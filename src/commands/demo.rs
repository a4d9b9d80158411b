//! `aizo demo`: a tour on a throwaway profile. It runs the commands that it shows, as a user would, in a
//! folder of its own that is removed at the end.

use std::io::{self, Write};
use std::path::Path;

use chrono::{TimeDelta, Utc};
use clap::Parser;
use serde::Serialize;

use super::{Cli, Context, Reply as CommandReply};
use crate::present::{Answer, Page, Style, to_json};
use crate::settings::{ProviderValues, Settings};

/// Arguments of `demo`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:
  aizo demo

Nothing of yours is read or written.")]
pub struct Args {}

/// A chat to learn from, and how it is called on the command line.
const CHAT: &str = include_str!("demo_chat.md");
const CHAT_NAME: &str = "chat.md";

/// What in that chat says nothing lasting about the person, and why it does not.
const LEFT_ALONE: [(&str, &str); 7] = [
    ("Fix the typo in line 12.", "a task"),
    ("Skip the tests just this once.", "for once"),
    ("What does this error mean?", "a question"),
    ("My colleague prefers tabs.", "somebody else"),
    ("The guide says \"always use semicolons\".", "a quotation"),
    ("把这个文件改个名字。", "a task"),
    ("谢谢，辛苦了！", "thanks"),
];

/// One stop of the tour: what is said, and the commands that show it, each with the day it is typed on.
struct Stop {
    title: &'static str,
    commands: &'static [(i64, &'static [&'static str])],
}

const TOUR: &[Stop] = &[
    Stop {
        title: "1. An agent hears what you like, and writes it down",
        commands: &[
            (
                0,
                &[
                    "add",
                    "concise code",
                    "asked twice for a shorter version",
                    "--keywords",
                    "brevity,lean",
                    "--scenarios",
                    "coding",
                ],
            ),
            (
                0,
                &[
                    "add",
                    "active voice",
                    "praised direct writing",
                    "--score",
                    "8.5",
                    "--scenarios",
                    "writing",
                ],
            ),
            (
                0,
                &[
                    "add",
                    "uses dark mode",
                    "mentioned a dark theme",
                    "--score",
                    "5",
                ],
            ),
            (
                0,
                &[
                    "add",
                    "简洁的回答",
                    "多次要求回答简短",
                    "--score",
                    "9.2",
                    "--keywords",
                    "简短",
                ],
            ),
            (
                0,
                &[
                    "add",
                    "long meetings",
                    "dislikes meetings over 30 minutes",
                    "--score",
                    "3.2",
                ],
            ),
            (
                0,
                &[
                    "add",
                    "force-push to main",
                    "lost a day to it: never again",
                    "--score",
                    "0.5",
                    "--scenarios",
                    "coding",
                    "--keywords",
                    "git",
                ],
            ),
        ],
    },
    Stop {
        title: "2. Before a task, it asks for what matters here",
        commands: &[
            (0, &["recall", "--scenario", "coding"]),
            (0, &["recall", "write a short function", "--explain"]),
            (0, &["context", "push the fix to the repository"]),
            (1, &["apply", "1", "6"]),
        ],
    },
    Stop {
        title: "3. A hard limit keeps its place, however short the list, and nothing averages it away",
        commands: &[
            (0, &["recall", "--limit", "2"]),
            (
                0,
                &[
                    "add",
                    "force-push to main",
                    "it was fine this time",
                    "--score",
                    "9",
                ],
            ),
        ],
    },
    Stop {
        title: "4. Ninety days later, weak things have faded, strong ones hardly; a limit is still a limit",
        commands: &[(0, &["top", "6"]), (90, &["top", "6"])],
    },
    Stop {
        title: "5. Every entry says why it exists, and every change can be taken back",
        commands: &[
            (90, &["remove", "long", "meetings"]),
            (90, &["undo"]),
            (90, &["why", "concise code"]),
        ],
    },
    Stop {
        title: "6. It reads your chats with agents, English and Chinese, and learns what you said about yourself",
        commands: &[
            (91, &["analyze", CHAT_NAME]),
            (91, &["why", "深色主题"]),
            // What was read once is not learned again.
            (91, &["analyze", CHAT_NAME]),
        ],
    },
];

/// One command of the tour and what it printed.
#[derive(Debug, Serialize)]
struct Step {
    command: String,
    days_later: i64,
    text: String,
    notes: Vec<String>,
}

#[derive(Debug, Serialize)]
struct Chapter {
    title: &'static str,
    steps: Vec<Step>,
    /// What of the chat taught nothing.
    left_alone: Vec<LeftAlone>,
}

/// Something that was said and not learned from.
#[derive(Debug, Serialize)]
struct LeftAlone {
    text: &'static str,
    because: &'static str,
}

/// The tour.
#[derive(Debug, Serialize)]
#[serde(transparent)]
pub struct Reply(Vec<Chapter>);

/// Runs `demo`.
///
/// # Errors
/// No place for a temporary folder, or a command of the tour that fails, which is a bug.
pub fn run(_args: &Args, context: &Context) -> anyhow::Result<Reply> {
    let folder = tempfile::tempdir()?;
    let chat = folder.path().join(CHAT_NAME);
    std::fs::write(&chat, CHAT)?;
    let begin = context.settings.now.with_timezone(&Utc);
    let mut chapters = Vec::new();
    for stop in TOUR {
        let mut steps = Vec::new();
        let mut left_alone = Vec::new();
        for (days, words) in stop.commands {
            let settings = || Settings {
                provider: ProviderValues::default(),
                db: folder.path().join("preferences.db"),
                home: Some(folder.path().to_path_buf()),
                now: begin + TimeDelta::days(*days),
                color: context.settings.color,
                pager: None,
                lock_timeout: context.settings.lock_timeout,
                all: Vec::new(),
                files: Vec::new(),
                columns: None,
                editor: None,
                notes: Vec::new(),
            };
            steps.push(step(Context::with(settings()), *days, words, &chat)?);
            if words.contains(&CHAT_NAME) {
                left_alone = what_taught_nothing(&Context::with(settings()))?;
            }
        }
        chapters.push(Chapter {
            title: stop.title,
            steps,
            left_alone,
        });
    }
    Ok(Reply(chapters))
}

/// The listed sentences of the chat, without those that something was learned from after all.
fn what_taught_nothing(context: &Context) -> anyhow::Result<Vec<LeftAlone>> {
    let quotes = context.read(|view| {
        let mut quotes = Vec::new();
        for entry in view.preferences()? {
            quotes.extend(view.evidence(entry.id)?.into_iter().map(|seen| seen.quote));
        }
        let waiting = view.proposals()?.into_iter();
        quotes.extend(
            waiting
                .filter_map(|one| one.evidence)
                .map(|seen| seen.quote),
        );
        Ok(quotes)
    })?;
    let quotes = quotes.unwrap_or_default();
    let taught = |text: &str| {
        quotes
            .iter()
            .any(|quote| !quote.is_empty() && text.contains(quote))
    };
    Ok(LEFT_ALONE
        .into_iter()
        .filter(|(text, _)| !taught(text))
        .map(|(text, because)| LeftAlone { text, because })
        .collect())
}

fn step(context: Context, days_later: i64, words: &[&str], chat: &Path) -> anyhow::Result<Step> {
    let path = chat.display().to_string();
    let run = words.iter().map(|&word| match word {
        CHAT_NAME => path.as_str(),
        _ => word,
    });
    let cli = Cli::try_parse_from(std::iter::once("aizo").chain(run))?;
    let mut text = Vec::new();
    match super::run(cli.command, &context) {
        Ok(
            CommandReply::Answer(answer)
            | CommandReply::Violation(answer)
            | CommandReply::Difference(answer)
            | CommandReply::Incomplete(answer, _),
        ) => {
            let style = Style {
                color: false,
                width: None,
                terminal: false,
            };
            answer.text(&mut Page::new(&mut text, style))?;
        }
        Ok(CommandReply::Raw(bytes)) => text = bytes,
        Err(error) => return Err(error.context(typed(words))),
    }
    Ok(Step {
        command: typed(words),
        days_later,
        // The throwaway folder has a name that means nothing to anybody.
        text: String::from_utf8_lossy(&text).replace(&path, CHAT_NAME),
        notes: context.take_notes(),
    })
}

/// A command as a person types it.
fn typed(words: &[&str]) -> String {
    let words: Vec<String> = words
        .iter()
        .map(|word| {
            if word.contains([' ', ':']) {
                format!("\"{word}\"")
            } else {
                (*word).to_owned()
            }
        })
        .collect();
    format!("aizo {}", words.join(" "))
}

impl Answer for Reply {
    fn text(&self, page: &mut Page<'_>) -> io::Result<()> {
        page.line("A tour of aizo on a throwaway profile. Nothing of yours is read or written.")?;
        for chapter in &self.0 {
            page.line("")?;
            page.heading(chapter.title)?;
            for step in &chapter.steps {
                page.line("")?;
                let later = match step.days_later {
                    0 => String::new(),
                    1 => "   # a day later".to_owned(),
                    days => format!("   # {days} days later"),
                };
                page.faint(&format!("$ {}{later}", step.command))?;
                for line in step.text.lines() {
                    page.line(line)?;
                }
                for note in &step.notes {
                    page.faint(note)?;
                }
            }
            if !chapter.left_alone.is_empty() {
                page.line("")?;
                page.line("left alone, because they say nothing lasting about you:")?;
            }
            for one in &chapter.left_alone {
                page.line(&format!("  “{}”  ({})", one.text, one.because))?;
            }
        }
        page.line("")?;
        page.line("Your own profile begins with: aizo add ITEM REASON")
    }

    fn json(&self, out: &mut dyn Write) -> io::Result<()> {
        to_json(self, out)
    }
}
