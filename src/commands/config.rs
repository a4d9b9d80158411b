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

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Show the decay settings
    Show,
    /// Set the days after which the fading part of a weight has halved (0.01 to 36500)
    SetHalfLife {
        /// Days
        #[arg(allow_negative_numbers = true)]
        days: f64,
    },
    /// Set what the decay coefficient never falls below (0 to below 1)
    SetFloor {
        /// The floor
        #[arg(allow_negative_numbers = true)]
        floor: f64,
    },
}

/// The decay settings, and what was changed.
#[derive(Debug, Serialize)]
pub struct Reply {
    #[serde(flatten)]
    decay: Decay,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    before: Option<Decay>,
    #[serde(skip_serializing_if = "Option::is_none")]
    change: Option<i64>,
}

/// Runs `config`.
///
/// # Errors
/// A value out of range.
pub fn run(args: &Args, context: &Context) -> anyhow::Result<Reply> {
    let (field, value) = match args.action {
        Action::Show => {
            let decay = context.read(|view| Ok(view.decay()?))?.unwrap_or_default();
            return Ok(Reply {
                decay,
                result: None,
                before: None,
                change: None,
            });
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
        Ok(Reply {
            decay: transaction.view().decay()?,
            result: Some("updated"),
            before: Some(before),
            change: applied.line,
        })
    })
}

impl Answer for Reply {
    fn text(&self, page: &mut Page<'_>) -> io::Result<()> {
        page.pairs(&[
            ("half-life", format!("{} days", self.decay.half_life_days)),
            ("floor", self.decay.floor.to_string()),
        ])
    }

    fn json(&self, out: &mut dyn Write) -> io::Result<()> {
        to_json(self, out)
    }
}
