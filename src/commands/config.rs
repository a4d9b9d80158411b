//! `aizo config`: how fast things fade.

use std::io::{self, Write};

use serde::Serialize;

use super::Context;
use crate::model::{Change, Effect, Op, Origin, Subject, Values};
use crate::present::{Answer, Page, to_json};
use crate::scoring::Decay;

/// Arguments of `config`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  aizo config show
  aizo config set-half-life 14
  aizo config set-floor 0.2")]
pub struct Args {
    #[command(subcommand)]
    action: Action,
}

impl Args {
    /// Whether they are shown, and nothing is changed.
    pub(super) fn shows(&self) -> bool {
        matches!(self.action, Action::Show)
    }
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Show the decay settings
    Show,
    /// Set the days after which the fading part of a weight has halved (0.01 to 36500)
    SetHalfLife {
        /// Days
        #[arg(allow_negative_numbers = true, value_parser = parse_number)]
        days: f64,
    },
    /// Set what the decay coefficient never falls below (0 to below 1)
    SetFloor {
        /// The floor
        #[arg(allow_negative_numbers = true, value_parser = parse_number)]
        floor: f64,
    },
}

fn parse_number(text: &str) -> Result<f64, String> {
    text.trim()
        .parse()
        .map_err(|_| format!("a number, not `{text}`"))
}

/// What `config` replies.
pub enum Reply {
    /// The settings.
    Show(Decay),
    /// What was changed.
    Set(Updated),
}

/// The settings after a change.
#[derive(Debug, Serialize)]
pub struct Updated {
    #[serde(flatten)]
    decay: Decay,
    result: &'static str,
    before: Decay,
    change: Option<i64>,
    hint: Option<String>,
}

/// Runs `config`.
///
/// # Errors
/// A value out of range.
pub fn run(args: &Args, context: &Context) -> anyhow::Result<Reply> {
    let (field, value) = match args.action {
        Action::Show => {
            let decay = context.read(|view| Ok(view.decay()?))?.unwrap_or_default();
            return Ok(Reply::Show(decay));
        }
        Action::SetHalfLife { days } => ("half_life_days", days),
        Action::SetFloor { floor } => ("floor", floor),
    };
    let usual = Decay::default();
    match args.action {
        Action::SetHalfLife { days } => Decay::new(days, usual.floor)?,
        _ => Decay::new(usual.half_life_days, value)?,
    };
    context.write(|transaction| {
        let before = transaction.view().decay()?;
        let mut values = Values::new();
        values.insert(field.to_owned(), value.into());
        let applied = transaction.apply(&Change {
            op: Op::Config,
            subject: Subject::Decay,
            origin: Origin::User,
            effect: Effect::Set(values),
            evidence: Vec::new(),
        })?;
        Ok(Reply::Set(Updated {
            decay: transaction.view().decay()?,
            result: "updated",
            before,
            change: applied.line,
            hint: Some(match applied.line {
                Some(change) => format!("to take it back: aizo undo {change}"),
                None => "it was so already".to_owned(),
            }),
        }))
    })
}

impl Answer for Reply {
    fn text(&self, page: &mut Page<'_>) -> io::Result<()> {
        let updated = match self {
            Reply::Show(decay) => {
                return page.pairs(&[
                    ("half-life", format!("{} days", decay.half_life_days)),
                    ("floor", decay.floor.to_string()),
                ]);
            }
            Reply::Set(updated) => updated,
        };
        let (before, after) = (&updated.before, &updated.decay);
        let change = updated
            .change
            .map_or_else(String::new, |change| format!("  (change {change})"));
        page.line(&if before.floor == after.floor {
            let (before, after) = (before.half_life_days, after.half_life_days);
            format!("updated: half-life {before} → {after} days{change}")
        } else {
            format!("updated: floor {} → {}{change}", before.floor, after.floor)
        })?;
        match &updated.hint {
            Some(hint) => page.line(&format!("  {hint}")),
            None => Ok(()),
        }
    }

    fn json(&self, out: &mut dyn Write) -> io::Result<()> {
        match self {
            Reply::Show(decay) => to_json(decay, out),
            Reply::Set(updated) => to_json(updated, out),
        }
    }
}
