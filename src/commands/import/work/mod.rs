//! What becomes of each piece of a file in the store. Everything happens in one transaction; before its first change the store
//! is copied.
//!
//! | file | does |
//! |---|---|
//! | `own.rs` | the rows of aizo's own format and of stores |
//! | `history.rs` | the changes that another store has seen |
//! | `foreign.rs` | lists of entries, and texts about a person |
//! | `waiting.rs` | what waits for a person, once |

mod foreign;
mod history;
mod own;
mod waiting;

use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::PathBuf;

use super::reply::{self, Reply, RowResult as Outcome};
use crate::check::{MOST_PATTERNS, Typed};
use crate::commands::limits::Limits;
use crate::merge::OnConflict;
use crate::model::{
    Change, Effect, Evidence, Op, Origin, Preference, Score, Speaker, Stamp, Subject,
};
use crate::portable::{Entry, Format, Found, Piece, Reading, Row, Settings, Trust, Voice};
use crate::scoring::Decay;
use crate::storage::Transaction;
pub(super) use own::{EARLIER, HELD};
use waiting::WaitsAs;
pub(super) use waiting::{FORGOTTEN, REJECTED};

/// What a copy of the store is named after.
const OCCASION: &str = "before-import";
/// The longest quote that is kept of a text, in characters.
const LONGEST_QUOTE: usize = 300;

/// What is asked for, and what the file is.
#[derive(Debug, Clone)]
pub(super) struct Terms {
    pub format: Format,
    pub trust: Trust,
    pub on_conflict: OnConflict,
    pub review: bool,
    pub accept: bool,
    pub file: String,
}

/// The taking over of one file.
pub(super) struct Work<'w, 't> {
    transaction: &'w mut Transaction<'t>,
    terms: &'w Terms,
    rows: reply::Rows,
    /// Observations of foreign files that the store has ever seen.
    seen: BTreeSet<String>,
    /// Proposals that wait or were decided, and whether they were rejected.
    known: HashMap<String, bool>,
    waiting: HashSet<WaitsAs>,
    limits: Vec<String>,
    /// The hard limits of the store; read when they are needed.
    in_force: Option<Limits>,
    /// Hard limits that are in force only once a person has accepted them.
    limits_waiting: Vec<String>,
    settings: Option<&'static str>,
    history: Option<&'static str>,
    /// Why the history is left out.
    history_why: Option<&'static str>,
    /// Whether the store had nothing, so that there is nothing to be kept.
    was_empty: bool,
    kept_as: Option<PathBuf>,
}

impl<'w, 't> Work<'w, 't> {
    pub(super) fn begin(
        transaction: &'w mut Transaction<'t>,
        terms: &'w Terms,
    ) -> anyhow::Result<Self> {
        let was_empty = transaction.view().is_untouched()?;
        let mut work = Work {
            transaction,
            terms,
            rows: reply::Rows::default(),
            seen: BTreeSet::new(),
            known: HashMap::new(),
            waiting: HashSet::new(),
            limits: Vec::new(),
            in_force: None,
            limits_waiting: Vec::new(),
            settings: None,
            history: None,
            history_why: None,
            was_empty,
            kept_as: None,
        };
        work.look_around()?;
        Ok(work)
    }

    /// Looks at what the store has seen and at what waits in it.
    fn look_around(&mut self) -> anyhow::Result<()> {
        let view = self.transaction.view();
        self.seen = view.imported_before()?;
        self.known = view.known_proposals()?;
        let waiting = view.proposals()?;
        let waiting = waiting.iter();
        self.waiting = waiting
            .map(|one| waiting::waits_as(&one.item, one.score))
            .collect();
        Ok(())
    }

    /// Takes over one piece.
    pub(super) fn take(&mut self, found: Found) -> anyhow::Result<()> {
        let line = found.line;
        match found.piece {
            Piece::Row(Row::Entry(entry)) => self.row(line, *entry),
            Piece::Row(Row::Proposal(proposal)) => self.proposal(line, *proposal),
            Piece::Row(Row::Settings(settings)) => self.settings(line, settings),
            // They were taken over before the rows.
            Piece::Row(Row::Change(_)) => Ok(()),
            Piece::Statement(statement) => self.statement(line, statement),
            Piece::Told(told) => self.told(line, told),
            Piece::Other(why) => {
                self.rows.push(reply::Row::left_out(line, None, why));
                Ok(())
            }
            Piece::Bad(why) => self.unreadable(line, why),
        }
    }

    /// What is told in the end.
    pub(super) fn finish(self, reading: &Reading) -> Reply {
        Reply {
            dry_run: false,
            file: self.terms.file.clone(),
            format: reading.format,
            own: matches!(self.terms.trust, Trust::Whole),
            rows: self.rows,
            hard_limits: self.limits,
            limits_waiting: self.limits_waiting,
            settings: self.settings,
            history: self.history,
            history_why: self.history_why,
            problems: reading.problems.clone(),
            kept_as: self.kept_as,
            change: self.transaction.change_number(),
        }
    }

    /// How fast things fade: as in the file, where nobody has said here how.
    fn settings(&mut self, line: u64, settings: Settings) -> anyhow::Result<()> {
        let stored = self.transaction.view().decay()?;
        let wanted = match Decay::new(settings.half_life_days, settings.floor) {
            Ok(wanted) => wanted,
            Err(error) => return self.unreadable(line, error.to_string()),
        };
        let is_free = stored == Decay::default() || self.terms.on_conflict == OnConflict::Replace;
        self.settings = Some(if stored == wanted {
            "unchanged"
        } else if self.terms.trust != Trust::Whole || self.terms.review || !is_free {
            "kept"
        } else {
            self.keep_copy()?;
            self.transaction.apply(&Change {
                op: Op::Config,
                subject: Subject::Decay,
                origin: Origin::User,
                effect: Effect::Set(wanted.values()),
                evidence: Vec::new(),
            })?;
            "changed"
        });
        Ok(())
    }

    fn unreadable(&mut self, line: u64, why: String) -> anyhow::Result<()> {
        self.rows.push(reply::Row::unreadable(line, why));
        Ok(())
    }

    fn unchanged(&mut self, line: u64, item: &str) -> anyhow::Result<()> {
        let row = reply::Row::named(line, Outcome::Unchanged, item);
        self.rows.push(row);
        Ok(())
    }

    /// Who stands behind what is taken over from a file that says nothing that holds.
    fn origin(&self) -> Origin {
        if self.terms.accept {
            Origin::User
        } else {
            Origin::Import
        }
    }

    fn observed(&self, uid: String, quote: &str, voice: Voice, at: Option<Stamp>) -> Evidence {
        let now = self.transaction.now();
        let at = at.and_then(|at| at.moment()).map_or(now, |at| at.min(now));
        Evidence {
            uid,
            at: Stamp::at(at),
            quote: quote.chars().take(LONGEST_QUOTE).collect(),
            speaker: match voice {
                Voice::ThePerson => Speaker::User,
                Voice::AboutThePerson => Speaker::Agent,
            },
            origin: Origin::Import,
            source: self.terms.format.name().to_owned(),
            score: None,
            agent: None,
            session: None,
            place: Some(self.terms.file.clone()),
            confidence: None,
            cues: None,
        }
    }

    /// Notes that an entry has become a hard limit.
    fn in_force(&mut self, entry: &Preference) {
        self.limits.push(entry.item.clone());
        if let Some(limits) = &mut self.in_force {
            limits.add(entry.id, &entry.item, &entry.keywords, Score::MIN);
        }
    }

    /// Reads the hard limits of the store, where they are not known.
    fn know_limits(&mut self) -> anyhow::Result<&Limits> {
        let limits = match self.in_force.take() {
            Some(limits) => limits,
            None => Limits::of(&self.transaction.view())?,
        };
        Ok(self.in_force.insert(limits))
    }

    /// Copies the store before its first change.
    fn keep_copy(&mut self) -> anyhow::Result<()> {
        if self.kept_as.is_none() && !self.was_empty {
            self.kept_as = self.transaction.keep_copy(OCCASION)?;
        }
        Ok(())
    }
}

/// The entry without patterns that cannot be used.
fn usable(mut entry: Entry) -> Entry {
    let typed = entry.patterns.iter().filter_map(|pattern| {
        let typed = Typed::read([pattern.as_str()]).ok()?;
        typed.patterns.into_iter().next()
    });
    entry.patterns = typed.take(MOST_PATTERNS).collect();
    entry
}
