//! `aizo keywords`: the keywords in use.

use std::io::{self, Write};

use serde::Serialize;

use super::Context;
use crate::present::{Align, Answer, Page, Table, to_json};
use crate::storage::KeywordCount;

/// Arguments of `keywords`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:
  aizo keywords --sort alpha --json")]
pub struct Args {
    /// The order
    #[arg(long, value_enum, default_value_t = Sort::Count)]
    sort: Sort,
}

/// How keywords are sorted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Sort {
    /// Most used first
    Count,
    /// By name
    Alpha,
}

/// The keywords.
#[derive(Debug, Serialize)]
#[serde(transparent)]
pub struct Reply(Vec<KeywordCount>);

/// Runs `keywords`.
///
/// # Errors
/// What the store reports.
pub fn run(args: &Args, context: &Context) -> anyhow::Result<Reply> {
    let counts = context.read(|view| Ok(view.keyword_counts()?))?;
    let stored = counts.is_some();
    let mut counts = counts.unwrap_or_default();
    if counts.is_empty() {
        context.note(if stored {
            "no entry has keywords"
        } else {
            "nothing is stored yet"
        });
    }
    if args.sort == Sort::Count {
        counts.sort_by(|a, b| {
            b.entries
                .cmp(&a.entries)
                .then_with(|| a.keyword.cmp(&b.keyword))
        });
    }
    Ok(Reply(counts))
}

impl Answer for Reply {
    fn text(&self, page: &mut Page<'_>) -> io::Result<()> {
        let mut table = Table::new(&[("KEYWORD", Align::Left), ("ENTRIES", Align::Right)]);
        for count in &self.0 {
            table.row(&[count.keyword.clone(), count.entries.to_string()]);
        }
        page.table(&table)
    }

    fn json(&self, out: &mut dyn Write) -> io::Result<()> {
        to_json(self, out)
    }
}
