//! `aizo top`: the strongest entries.

use super::Context;
use super::entries::{Entries, Filter, list, parse_limit};
use crate::recall::Request;

/// Arguments of `top`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  aizo top 20 --json
  aizo top --type preference,style --scenario writing")]
pub struct Args {
    /// How many; hard limits take their places first
    #[arg(value_name = "N", default_value = "10", value_parser = parse_limit, allow_negative_numbers = true)]
    number: usize,
    #[command(flatten)]
    filter: Filter,
}

/// Runs `top`.
///
/// # Errors
/// What the store reports.
pub fn run(args: &Args, context: &Context) -> anyhow::Result<Entries> {
    let request = Request {
        limit: Some(args.number),
        ..args.filter.request(context)
    };
    list(context, &request)
}
