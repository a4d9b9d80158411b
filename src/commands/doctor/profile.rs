//! What is stored: what an agent is told of it, what is said twice or against itself, and which limits do not hold.

use chrono::TimeDelta;

use super::finding::Finding;
use super::{Profile, listed, named, named_ids};
use crate::check::{Detector, Pattern};
use crate::commands::Context;
use crate::commands::context::USUAL_BUDGET;
use crate::commands::entries::count;
use crate::merge::Relation;
use crate::model::{Band, Preference, Score};
use crate::recall::Request;
use crate::recall::context::{Block, Budget, Form};
use crate::storage::View;

type Findings = anyhow::Result<Vec<Finding>>;

/// So many of a kind are told one by one.
const MOST_TOLD: usize = 5;
/// What waits for so many days waits for long.
const LONG: i64 = 14;

/// Hard limits that take more room than an agent gives them.
pub(super) fn oversized(context: &Context, view: &View<'_>) -> Findings {
    let limits = Request {
        bands: vec![Band::Taboo],
        ..Request::default()
    };
    let limits = view.find(&limits, context.settings.now)?.hits;
    let form = Form::Prose;
    let told = Block::compose(&limits, &[], Some(0), USUAL_BUDGET, form);
    let hint =
        "aizo recall --type taboo lists them; aizo update ID --reason TEXT says one in fewer words";
    if told.limits_left_out > 0 {
        let what = format!(
            "{} not fit into what an agent is told ({} characters)",
            match told.limits_left_out {
                1 => "1 hard limit does".to_owned(),
                many => format!("{many} hard limits do"),
            },
            USUAL_BUDGET.characters
        );
        let why = "an agent hears of those only when its task concerns them";
        return Ok(vec![Finding::error(what, why, hint)]);
    }
    let endless = Budget {
        tokens: usize::MAX,
        ..USUAL_BUDGET
    };
    let whole = Block::compose(&limits, &[], Some(0), endless, form);
    let tokens = whole.estimated_tokens(form);
    if tokens <= USUAL_BUDGET.tokens {
        return Ok(Vec::new());
    }
    let what = format!(
        "the hard limits alone take about {tokens} of the {} tokens that an agent is told",
        USUAL_BUDGET.tokens
    );
    let why = "their reasons are shortened, and little else finds room";
    Ok(vec![Finding::warning(what, why, hint)])
}

/// Entries that are one thing said twice.
pub(super) fn duplicates(_context: &Context, profile: &Profile) -> Vec<Finding> {
    let found = of_relation(profile, Relation::Twice);
    let why = "both are told, and their scores move apart";
    let finding = |(a, b): (&Preference, &Preference)| {
        let (keep, drop) = if stays(a, b) { (a, b) } else { (b, a) };
        let what = format!("{} and {} may be one thing", said(keep), said(drop));
        Finding::note(what, why, format!("if so: aizo remove {}", drop.id))
    };
    told(found, why, "may be one thing", finding)
}

/// Entries that say the opposite of each other.
pub(super) fn contradictions(_context: &Context, profile: &Profile) -> Vec<Finding> {
    let found = of_relation(profile, Relation::Opposite);
    let why = "an agent is told both, and can keep to one at most";
    let finding = |(a, b): (&Preference, &Preference)| {
        let what = format!("{} and {} contradict each other", said(a), said(b));
        let hint = format!(
            "aizo remove the one that does not hold: aizo remove {}, or aizo remove {}",
            a.id, b.id
        );
        Finding::warning(what, why, hint)
    };
    told(found, why, "contradict each other", finding)
}

type Both<'e> = (&'e Preference, &'e Preference);

fn of_relation(profile: &Profile, relation: Relation) -> Vec<Both<'_>> {
    let wanted = profile
        .pairs
        .iter()
        .filter(|pair| pair.relation == relation);
    let entries = &profile.entries;
    wanted
        .map(|pair| (&entries[pair.first], &entries[pair.second]))
        .collect()
}

/// Tells the first ones one by one, and how many more there are.
fn told<'e>(
    found: Vec<Both<'e>>,
    why: &str,
    what: &str,
    finding: impl Fn(Both<'e>) -> Finding,
) -> Vec<Finding> {
    let more = found.len().saturating_sub(MOST_TOLD);
    let mut findings: Vec<Finding> = found.into_iter().take(MOST_TOLD).map(finding).collect();
    if let (1.., Some(level)) = (more, findings.first().map(|first| first.level)) {
        let what = format!("{} more {what}", count(more, "pair", "pairs"));
        let hint = "aizo doctor shows the next ones once these are settled";
        findings.push(Finding {
            level,
            ..Finding::note(what, why, hint)
        });
    }
    findings
}

/// Which of two entries stays: a limit, else the one that was seen last.
fn stays(a: &Preference, b: &Preference) -> bool {
    let rank = |entry: &Preference| (entry.is_hard_limit(), entry.last_seen.moment());
    rank(a) >= rank(b)
}

/// `“tabs” (id 3, 9)`.
fn said(entry: &Preference) -> String {
    format!("“{}” (id {}, {})", entry.item, entry.id, entry.base_score)
}

/// Hard limits without a pattern.
pub(super) fn limits(_context: &Context, profile: &Profile) -> Vec<Finding> {
    let bare = |entry: &&Preference| entry.is_hard_limit() && entry.patterns.is_empty();
    let (known, others): (Vec<&Preference>, Vec<&Preference>) = profile
        .entries
        .iter()
        .filter(bare)
        .partition(|entry| !Detector::named_by(&entry.item).is_empty());
    let why = "at a hook it only asks, where all its words stand in a command or a message, and refuses nothing";
    let mut findings: Vec<Finding> = known
        .iter()
        .map(|entry| {
            let what = format!(
                "the hard limit “{}” has no pattern, and there is one for it",
                entry.item
            );
            let detectors = Detector::named_by(&entry.item);
            let patterns: Vec<String> = detectors
                .iter()
                .map(|detector| format!("--pattern @{}", detector.name()))
                .collect();
            let hint = format!("aizo update {} {}", entry.id, patterns.join(" "));
            Finding::warning(what, why, hint)
        })
        .take(MOST_TOLD)
        .collect();
    let others: Vec<&Preference> = known.into_iter().skip(MOST_TOLD).chain(others).collect();
    if !others.is_empty() {
        let what = format!(
            "{} no pattern: {}",
            match others.len() {
                1 => "1 hard limit has".to_owned(),
                many => format!("{many} hard limits have"),
            },
            named(&others)
        );
        let hint = "where it can be told by a text, give it one: aizo update ID --pattern REGEX";
        findings.push(Finding::note(what, why, hint));
    }
    findings
}

/// Hard limits with a pattern that cannot be used.
pub(super) fn patterns(_context: &Context, profile: &Profile) -> Vec<Finding> {
    let why = "what it forbids is not refused; the limit asks by its words at most";
    let limits = profile.entries.iter().filter(|entry| entry.is_hard_limit());
    let broken = limits.flat_map(|entry| {
        let errors = entry.patterns.iter().map(|text| Pattern::parse(text).err());
        errors.flatten().map(move |error| (entry, error))
    });
    broken
        .map(|(entry, error)| {
            let what = format!("the hard limit “{}”: {error}", entry.item);
            let hint = format!("aizo update {} --pattern REGEX ({})", entry.id, error.hint);
            Finding::error(what, why, hint)
        })
        .collect()
}

/// What has waited for long.
pub(super) fn review(context: &Context, view: &View<'_>) -> Findings {
    let now = context.settings.now;
    let is_old = |at: chrono::DateTime<chrono::Utc>| now - at > TimeDelta::days(LONG);
    let waiting = view.proposals()?.into_iter();
    let old: Vec<_> = waiting
        .filter(|one| one.proposed_at.moment().is_some_and(is_old))
        .collect();
    if old.is_empty() {
        return Ok(Vec::new());
    }
    let is_limit =
        |score: Option<f64>| score.is_some_and(|score| Score::clamped(score).is_hard_limit());
    let limits = old.iter().filter(|one| is_limit(one.score)).count();
    let names: Vec<String> = old.iter().map(|one| format!("“{}”", one.item)).collect();
    let what = format!(
        "{} in review for more than {LONG} days: {}",
        match old.len() {
            1 => "1 proposal waits".to_owned(),
            many => format!("{many} proposals wait"),
        },
        listed(&names)
    );
    Ok(vec![if limits > 0 {
        let why = "hard limits are among it, and hold only once you accept them";
        Finding::warning(what, why, "aizo review")
    } else {
        Finding::note(
            what,
            "an agent is told nothing of it until you decide",
            "aizo review",
        )
    }])
}

/// Entries whose times tell no age.
pub(super) fn times(context: &Context, profile: &Profile) -> Vec<Finding> {
    let now = context.settings.now;
    let seen = |entry: &&Preference| entry.last_seen.moment();
    let entries = || profile.entries.iter();
    let future: Vec<i64> = entries()
        .filter(|entry| seen(entry).is_some_and(|seen| seen > now))
        .map(|entry| entry.id)
        .collect();
    let none: Vec<i64> = entries()
        .filter(|entry| seen(entry).is_none())
        .map(|entry| entry.id)
        .collect();
    let of = |ids: Vec<i64>, what: &str, why: &str| {
        let names: Vec<String> = ids
            .iter()
            .take(super::MOST_NAMED)
            .map(i64::to_string)
            .collect();
        let many = match ids.len() {
            1 => "1 entry is".to_owned(),
            many => format!("{many} entries are"),
        };
        let what = format!("{many} {what}: {}", named_ids(&ids));
        let finding = Finding::note(what, why, format!("aizo touch {}", names.join(" ")));
        (!ids.is_empty()).then_some(finding)
    };
    let future = of(
        future,
        "last seen in the future",
        "they count as new until then",
    );
    let none = of(
        none,
        "of a time that cannot be read",
        "they count from when they were added, or as very old",
    );
    future.into_iter().chain(none).collect()
}
