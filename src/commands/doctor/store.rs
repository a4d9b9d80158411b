//! The store as a file: whether it is whole, whether the index and the journal say what the rows say, and its clock.

use chrono::TimeDelta;

use super::finding::{FIX, Finding, Fix};
use super::named_ids;
use crate::commands::entries::count;
use crate::commands::{Context, lost};
use crate::storage::View;

type Findings = anyhow::Result<Vec<Finding>>;

/// So much of what is damaged is listed.
const MOST_PROBLEMS: usize = 5;
/// A clock may be behind by so many minutes.
const CLOCKS_APART: i64 = 5;

/// What SQLite finds damaged.
pub(super) fn integrity(context: &Context, view: &View<'_>) -> Findings {
    let problems = view.problems(MOST_PROBLEMS)?;
    if problems.is_empty() {
        return Ok(Vec::new());
    }
    let why = "what is damaged may be missing in what an agent is told, hard limits among it";
    let hint = put_back(context);
    let findings = problems.into_iter().map(|problem| {
        let what = format!("the store is damaged: {problem}");
        Finding::error(what, why, hint.clone())
    });
    Ok(findings.collect())
}

/// How the newest copy that is sound is put back.
pub(super) fn put_back(context: &Context) -> String {
    match lost::put_back(context) {
        Some(command) => format!("{command} --dry-run"),
        None => "there is no sound copy; aizo export FILE saves what can be read".to_owned(),
    }
}

/// What is found where nothing can be read.
pub(super) fn missing(context: &Context) -> Option<Finding> {
    let why = "agents are told nothing, and no limit is kept";
    if let Some(what) = lost::what(context) {
        return Some(Finding::error(what, why, lost::remedy(context)));
    }
    lost::is_installed(context).then(|| {
        let what = "agents call aizo, and nothing is stored yet";
        let hint =
            "aizo add ITEM REASON; where there was a store: aizo restore FILE, or aizo import FILE";
        Finding::note(what, why, hint)
    })
}

/// An index that is of another version or lost a part, or holds something else than the rows.
pub(super) fn index(_context: &Context, view: &View<'_>) -> Findings {
    let why = "recall, context and check may miss what is stored";
    if !view.has_index()? {
        let what = "the search index is not of this version, or not whole";
        let why = "every request looks at all rows until something is written";
        return Ok(vec![Finding::note(what, why, FIX).with_fix(Fix::Index)]);
    }
    let stale = view.stale_in_index()?;
    if stale.is_empty() {
        return Ok(Vec::new());
    }
    let ids: Vec<i64> = stale.into_iter().collect();
    let what = format!(
        "the search index holds something else than {}: {}",
        count(ids.len(), "entry", "entries"),
        named_ids(&ids)
    );
    Ok(vec![Finding::error(what, why, FIX).with_fix(Fix::Index)])
}

/// Rows that are not what the journal makes of them.
pub(super) fn journal(context: &Context, view: &View<'_>) -> Findings {
    let mut difference = view.against_journal()?;
    let mut findings = Vec::new();
    let limits = difference.entries.extract_if(.., |one| one.loses_a_limit());
    for one in limits.collect::<Vec<_>>() {
        let what = format!(
            "“{}” is a hard limit in the journal, and the store has it no more as one",
            one.item
        );
        let why = "nobody has lifted it, and no agent keeps to it";
        findings.push(Finding::error(what, why, put_back(context)));
    }
    let weaker = difference.entries.extract_if(.., |one| one.is_weaker);
    for one in weaker.collect::<Vec<_>>() {
        let what = format!(
            "“{}” is a hard limit that forbids less than the journal says",
            one.item
        );
        let why = "nobody has changed it, and no agent keeps to what is missing";
        findings.push(Finding::error(what, why, put_back(context)));
    }
    let why = "undo, history and sync go by the journal, and would bring back what it holds";
    if !difference.entries.is_empty() {
        let names: Vec<String> = difference
            .entries
            .iter()
            .map(|one| format!("“{}”", one.item))
            .collect();
        let what = format!(
            "{} not what the journal says: {}",
            match names.len() {
                1 => "1 entry is".to_owned(),
                many => format!("{many} entries are"),
            },
            super::listed(&names)
        );
        let uids = difference.entries.into_iter().map(|one| one.uid).collect();
        findings.push(Finding::error(what, why, FIX).with_fix(Fix::Adopt(uids)));
    }
    if !difference.proposals.is_empty() || difference.decay {
        let what = "what waits in review, or how fast things fade, is not what the journal says";
        findings.push(Finding::error(what, why, put_back(context)));
    }
    Ok(findings)
}

/// Rows that another program has written.
pub(super) fn outside(_context: &Context, view: &View<'_>) -> Findings {
    let waiting = usize::try_from(view.totals()?.outside).unwrap_or_default();
    if waiting == 0 {
        return Ok(Vec::new());
    }
    let what = format!(
        "another program has written {}",
        count(waiting, "row", "rows")
    );
    let why = "it counts already; the next change takes it into the journal, where undo finds it";
    let fix = Fix::Adopt(Vec::new());
    Ok(vec![Finding::note(what, why, FIX).with_fix(fix)])
}

/// A clock that is behind what was written already.
pub(super) fn clock(context: &Context, view: &View<'_>) -> Findings {
    let now = context.settings.now;
    let Some(latest) = view.latest_time()? else {
        return Ok(Vec::new());
    };
    let ahead = latest - now;
    if ahead <= TimeDelta::minutes(CLOCKS_APART) {
        return Ok(Vec::new());
    }
    let what = format!(
        "the newest change is of {}, {} after the clock of this machine",
        latest.format("%Y-%m-%d %H:%M UTC"),
        match ahead.num_days() {
            0 => count(
                usize::try_from(ahead.num_minutes()).unwrap_or_default(),
                "minute",
                "minutes"
            ),
            days => count(usize::try_from(days).unwrap_or_default(), "day", "days"),
        }
    );
    let why = "what is changed until then is put after it in the order of a sync; nothing is lost";
    let hint = "set the clock of the machine that is wrong; `date` shows this one's";
    Ok(vec![Finding::warning(what, why, hint)])
}

/// Entries whose score is no number.
pub(super) fn scores(_context: &Context, view: &View<'_>) -> Findings {
    let ids = view.unreadable_scores()?;
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let what = format!(
        "the score of {} is no number: {}",
        count(ids.len(), "entry", "entries"),
        named_ids(&ids)
    );
    let why =
        "another program has written it; until the next change the last one that was known counts";
    let fix = Fix::Adopt(Vec::new());
    Ok(vec![Finding::warning(what, why, FIX).with_fix(fix)])
}
