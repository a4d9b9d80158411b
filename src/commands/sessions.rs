//! `aizo sessions`: the conversations that were analysed.

use std::io::{self, Write};

use serde::Serialize;

use super::Context;
use super::entries::count;
use crate::error::Failure;
use crate::present::{Align, Answer, Page, Table, to_json};
use crate::storage::AnalysedSession;

/// Arguments of `sessions`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  aizo sessions
  aizo sessions forget 3
  aizo sessions forget --all

What was forgotten is analysed again by the next run; what was learned from it stays, and is not learned twice.")]
pub struct Args {
    #[command(subcommand)]
    action: Option<Action>,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// List them, newest first (the default)
    List,
    /// Forget that they were analysed
    Forget {
        /// Numbers from the list
        #[arg(value_name = "ID", required_unless_present = "all", value_parser = parse_id)]
        ids: Vec<i64>,
        /// All of them
        #[arg(long, conflicts_with = "ids")]
        all: bool,
    },
}

fn parse_id(text: &str) -> Result<i64, String> {
    text.parse()
        .map_err(|_| format!("a number from aizo sessions, not `{text}`"))
}

/// A conversation in JSON.
#[derive(Debug, Serialize)]
struct Session {
    id: i64,
    analyzed_at: String,
    agent: Option<String>,
    session: String,
    turns: i64,
    extracted: i64,
}

impl From<AnalysedSession> for Session {
    fn from(known: AnalysedSession) -> Self {
        let (agent, session) = match known.name.split_once('/') {
            Some((agent, session)) => (Some(agent.to_owned()), session.to_owned()),
            None => (None, known.name),
        };
        Session {
            id: known.id,
            analyzed_at: known.analyzed_at,
            agent,
            session,
            turns: known.turns,
            extracted: known.extracted,
        }
    }
}

/// What `sessions` replies.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub enum Reply {
    /// The list.
    #[serde(skip)]
    List(Listed),
    /// How many were forgotten.
    Forgotten {
        /// What was done.
        result: &'static str,
        /// How many.
        forgotten: usize,
    },
}

/// The conversations, newest first.
#[derive(Debug, Serialize)]
#[serde(transparent)]
pub struct Listed(Vec<Session>);

/// Runs `sessions`.
///
/// # Errors
/// None of the numbers is in the list.
pub fn run(args: &Args, context: &Context) -> anyhow::Result<Reply> {
    let (ids, all) = match &args.action {
        None | Some(Action::List) => {
            let known = context
                .read(|view| Ok(view.analysed_sessions()?))?
                .unwrap_or_default();
            if known.is_empty() {
                context.note("no conversation was analysed yet: aizo analyze --all --dry-run says what would be learned");
            }
            let list = known.into_iter().map(Session::from).collect();
            return Ok(Reply::List(Listed(list)));
        }
        Some(Action::Forget { ids, all }) => (ids, *all),
    };
    let forgotten = if context.has_store()? {
        context.write(|transaction| {
            let known = transaction.view().analysed_sessions()?;
            let ids: Vec<i64> = if all {
                known.iter().map(|session| session.id).collect()
            } else {
                ids.clone()
            };
            Ok(transaction.forget_sessions(&ids)?)
        })?
    } else {
        0
    };
    if forgotten == 0 && !all {
        return Err(Failure::new(
            crate::error::Kind::NotFound,
            "none of these conversations was analysed",
        )
        .hint("aizo sessions lists those that were")
        .into());
    }
    Ok(Reply::Forgotten {
        result: "forgotten",
        forgotten,
    })
}

impl Answer for Reply {
    fn text(&self, page: &mut Page<'_>) -> io::Result<()> {
        let sessions = match self {
            Reply::Forgotten { forgotten, .. } => {
                return page.line(&format!(
                    "forgotten: {}",
                    count(*forgotten, "conversation", "conversations")
                ));
            }
            Reply::List(Listed(sessions)) => sessions,
        };
        let mut table = Table::new(&[
            ("ID", Align::Right),
            ("ANALYSED", Align::Short),
            ("AGENT", Align::Short),
            ("CONVERSATION", Align::Left),
            ("TURNS", Align::Right),
            ("LEARNED", Align::Right),
        ]);
        for session in sessions {
            table.row(&[
                session.id.to_string(),
                session
                    .analyzed_at
                    .chars()
                    .take(16)
                    .collect::<String>()
                    .replace('T', " "),
                session.agent.clone().unwrap_or_default(),
                session.session.clone(),
                session.turns.to_string(),
                session.extracted.to_string(),
            ]);
        }
        page.table(&table)
    }

    fn json(&self, out: &mut dyn Write) -> io::Result<()> {
        match self {
            Reply::List(list) => to_json(list, out),
            forgotten => to_json(forgotten, out),
        }
    }
}
