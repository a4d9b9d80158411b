//! `aizo sync import`: what somebody else has published, into review. Nothing of it acts by itself, and what was decided
//! about once is not asked again.

use std::collections::HashSet;
use std::io::{self, Write};
use std::path::Path;

use serde::Serialize;

use super::Rehearsal;
use super::pull::change;
use crate::commands::Context;
use crate::commands::entries::count;
use crate::error::Failure;
use crate::model::{
    Change, Evidence, Origin, Preference, ProposalValues, Speaker, Stamp, Subject, TextError,
    check_text, item_key, join_keywords, stable_name,
};
use crate::poison::suspicion;
use crate::present::{Answer, Page, Progress, to_json};
use crate::redact::redact;
use crate::storage::Transaction;
use crate::sync::{Profile, Published, Remote, Repository, published, shown};

/// More than that nobody reads through at once.
const MOST: usize = 500;
/// The longest name, in bytes: as long as a label may be.
const LONGEST_NAME: usize = 64;
/// Names that stand for something else.
const TAKEN: [&str; 4] = ["manual", "analysis", "import", "mcp"];

/// Arguments of `sync import`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The address of a repository, a folder, or a file of entries
    from: String,
    /// Whose it is; the label of what comes from there
    #[arg(long = "as", value_name = "NAME")]
    name: String,
    /// The branch of a repository
    #[arg(long, value_name = "NAME", default_value = "main")]
    branch: String,
    #[command(flatten)]
    rehearsal: Rehearsal,
}

/// What `sync import` replies.
#[derive(Debug, Serialize)]
pub(super) struct Reply {
    result: &'static str,
    dry_run: bool,
    name: String,
    from: String,
    /// What waits in review now.
    proposed: Vec<Proposed>,
    /// What was proposed before, or is in the profile already.
    known: usize,
    /// What found no place: say it again when the others are decided.
    left_out: usize,
    /// Files that could not be read to their end.
    unread: Vec<String>,
}

#[derive(Debug, Serialize)]
struct Proposed {
    proposal: i64,
    item: String,
    score: f64,
}

pub(super) fn run(args: &Args, context: &Context) -> anyhow::Result<Reply> {
    let name = check_name(&context.without_secrets(&args.name))?;
    let (profile, stopped) = load(args, context)?;
    let from = shown(&args.from);
    let dry_run = args.rehearsal.dry_run;
    let mut reply = change(context, dry_run, |transaction| {
        let mut reply = Reply {
            result: "imported",
            dry_run,
            name: name.clone(),
            from: from.clone(),
            proposed: Vec::new(),
            known: 0,
            left_out: 0,
            unread: Vec::new(),
        };
        let mut waiting: HashSet<(String, Option<u64>)> = transaction
            .view()
            .proposals()?
            .into_iter()
            .map(|waits| (item_key(&waits.item), waits.score.map(f64::to_bits)))
            .collect();
        for one in &profile {
            let this = (item_key(&one.item), Some(one.score.value().to_bits()));
            if waiting.contains(&this) || is_known(transaction, &name, one)? {
                reply.known += 1;
            } else if reply.proposed.len() >= MOST {
                reply.left_out += 1;
            } else {
                reply
                    .proposed
                    .extend(propose(transaction, &name, &from, one)?);
                waiting.insert(this);
            }
        }
        Ok(reply)
    })?;
    reply.unread = stopped
        .into_iter()
        .map(|(file, place)| format!("{file}, line {}: {}", place.line, place.why))
        .collect();
    Ok(reply)
}

fn check_name(name: &str) -> anyhow::Result<String> {
    let name = check_text("name", name)?;
    if name.len() > LONGEST_NAME {
        return Err(TextError::TooLong {
            field: "name",
            bytes: name.len(),
            most: LONGEST_NAME,
        }
        .into());
    }
    if TAKEN.contains(&name.to_lowercase().as_str()) {
        return Err(
            Failure::usage(format!("`{name}` stands for something else"))
                .hint("name whose profile it is: --as ada")
                .into(),
        );
    }
    Ok(name)
}

fn load(args: &Args, context: &Context) -> anyhow::Result<Profile> {
    let now = context.settings.now;
    let path = Path::new(&args.from);
    let is_git = path.is_dir() && !path.join("devices").is_dir();
    if path.exists() && !is_git {
        return Ok(published(path, now)?);
    }
    let remote = Remote::parse(&args.from, &args.branch)?;
    let folder = tempfile::tempdir()?;
    let progress = Progress::new(1, !context.is_quiet());
    progress.name("fetching");
    let repository = Repository::open(&folder.path().join("repository.git"), &remote, now)?;
    Ok(repository.published()?)
}

/// What names a proposal: whose it is, and all that a person decides about. Another score or reason is another proposal.
fn uid_of(name: &str, one: &Published) -> String {
    let score = one.score.value().to_string();
    stable_name(&["published", name, &item_key(&one.item), &one.reason, &score])
}

/// Whether it was proposed before, whatever became of it, or is in the profile as it is.
fn is_known(transaction: &Transaction<'_>, name: &str, one: &Published) -> anyhow::Result<bool> {
    let view = transaction.view();
    // What was forgotten has another name since.
    if view.has_line(&view.free_name(Subject::Proposal(uid_of(name, one)))?)? {
        return Ok(true);
    }
    let own = view.entry_by_key(&item_key(&one.item))?;
    let is_same = |own: &Preference| own.base_score == one.score;
    Ok(own.as_ref().is_some_and(is_same))
}

/// Puts one into review; nothing where its texts may not enter the store.
fn propose(
    transaction: &mut Transaction<'_>,
    name: &str,
    from: &str,
    one: &Published,
) -> anyhow::Result<Option<Proposed>> {
    let Ok(item) = check_text("item", &one.item) else {
        return Ok(None);
    };
    let reason = match one.reason.as_str() {
        "" => format!("published by {name}"),
        reason => match check_text("reason", reason) {
            Ok(reason) => reason,
            Err(_) => return Ok(None),
        },
    };
    let uid = uid_of(name, one);
    let at = Stamp::at(transaction.now());
    let evidence = Evidence {
        uid: stable_name(&["observed", &uid]),
        at: at.clone(),
        quote: one.reason.clone(),
        speaker: Speaker::Agent,
        origin: Origin::Import,
        source: name.to_owned(),
        score: Some(one.score.value()),
        agent: None,
        session: None,
        place: Some(redact(from).text.into_owned()),
        confidence: None,
        cues: None,
    };
    let told = [&item, &reason].map(String::as_str).join("\n");
    let why = match (suspicion(&told), one.score.is_hard_limit()) {
        (Some(why), _) => why.to_owned(),
        (None, true) => format!("a hard limit of {name}"),
        (None, false) => format!("published by {name}"),
    };
    let values = ProposalValues {
        item: item.clone(),
        reason,
        keywords: join_keywords(&one.keywords),
        scenarios: join_keywords(&one.scenarios),
        score: Some(one.score.value()),
        source: name.to_owned(),
        origin: Origin::Import,
        proposed_at: at,
        why,
        evidence: serde_json::to_string(&evidence)?,
        pattern: None,
    };
    let applied = transaction.apply(&Change::propose(uid, &values))?;
    Ok(Some(Proposed {
        proposal: applied.id,
        item,
        score: one.score.value(),
    }))
}

impl Answer for Reply {
    fn text(&self, page: &mut Page<'_>) -> io::Result<()> {
        let would = if self.dry_run { "would be " } else { "" };
        page.line(&format!(
            "{would}proposed: {} of {}; {} known already",
            count(self.proposed.len(), "thing", "things"),
            self.name,
            self.known
        ))?;
        if self.left_out > 0 {
            page.line(&format!(
                "{} more found no place: decide about these, then say it again",
                self.left_out
            ))?;
        }
        for place in &self.unread {
            page.wrapped(&format!("not read to its end: {place}"))?;
        }
        if self.proposed.is_empty() || self.dry_run {
            return Ok(());
        }
        page.line("  they wait for you: aizo review")
    }

    fn json(&self, out: &mut dyn Write) -> io::Result<()> {
        to_json(self, out)
    }
}
