//! What `restore` replies, and how it looks.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::compare::{Comparison, Moved};
use crate::commands::entries::count;
use crate::model::{Preference, Score, quoted};
use crate::present::{Answer, Page, to_json};
use crate::storage::{Restored, Staged, Totals};

/// So many entries are named in the text.
const MOST_SHOWN: usize = 20;

/// What `restore` replies.
#[derive(Debug, Serialize)]
pub struct Reply {
    result: &'static str,
    pub(super) dry_run: bool,
    file: PathBuf,
    /// The schema of the file, where it is an earlier one.
    brought_from: Option<i64>,
    /// What is stored afterwards.
    entries: usize,
    hard_limits: usize,
    waiting_for_review: i64,
    changes: i64,
    /// Why what was stored could not be read.
    pub(super) unreadable: Option<String>,
    #[serde(flatten)]
    pub(super) comparison: Comparison,
    /// What of the file was forgotten here, and does not come back.
    stays_forgotten: Vec<Stays>,
    copy: Option<PathBuf>,
    hint: Option<String>,
}

/// Something of the file that was forgotten here.
#[derive(Debug, Serialize)]
struct Stays {
    item: String,
    hard_limit: bool,
}

impl Reply {
    pub(super) fn new(
        file: &Path,
        staged: &Staged,
        totals: Totals,
        coming: &[Preference],
        comparison: Comparison,
    ) -> Self {
        Reply {
            result: "restored",
            dry_run: false,
            file: file.to_path_buf(),
            brought_from: staged.brought_from(),
            entries: coming.len(),
            hard_limits: coming.iter().filter(|entry| entry.is_hard_limit()).count(),
            waiting_for_review: totals.proposals,
            changes: totals.changes,
            unreadable: None,
            comparison,
            stays_forgotten: staged
                .stays_forgotten()
                .iter()
                .map(|one| Stays {
                    item: one.item.clone(),
                    hard_limit: one.is_hard_limit,
                })
                .collect(),
            copy: None,
            hint: None,
        }
    }

    /// The reply once it is done.
    pub(super) fn after(mut self, restored: Restored) -> Self {
        self.hint = restored.kept.as_deref().map(|kept| {
            if restored.put_aside {
                format!(
                    "what was there could not be read; it is kept as {}",
                    kept.display()
                )
            } else {
                let kept = quoted(&kept.display().to_string());
                format!("to take it back: aizo restore {kept}")
            }
        });
        self.copy = restored.kept;
        self
    }
}

impl Answer for Reply {
    fn text(&self, page: &mut Page<'_>) -> io::Result<()> {
        let would = if self.dry_run { "would be " } else { "" };
        page.line(&format!(
            "{would}restored from {}: {} ({} among them)",
            self.file.display(),
            count(self.entries, "entry", "entries"),
            count(self.hard_limits, "hard limit", "hard limits"),
        ))?;
        if let Some(schema) = self.brought_from {
            page.line(&format!(
                "  the file has schema {schema} and is brought up to date"
            ))?;
        }
        if let Some(why) = &self.unreadable {
            page.line(&format!("  {why}; what goes cannot be said"))?;
        }
        let comparison = &self.comparison;
        let moved = |one: &Moved| format!("{}{}", one.item, scores(one));
        list(page, "hard limit lost", &comparison.limits.lost, moved)?;
        list(
            page,
            "hard limit weakened",
            &comparison.limits.weakened,
            moved,
        )?;
        list(page, "stays forgotten", &self.stays_forgotten, |one| {
            let limit = if one.hard_limit {
                " (a hard limit)"
            } else {
                ""
            };
            format!("{}{limit}", one.item)
        })?;
        list(page, "comes", &comparison.coming, moved)?;
        list(page, "goes", &comparison.going, moved)?;
        list(page, "changes", &comparison.changing, moved)?;
        match &self.hint {
            Some(hint) => page.line(&format!("  {hint}")),
            None => Ok(()),
        }
    }

    fn json(&self, out: &mut dyn Write) -> io::Result<()> {
        to_json(self, out)
    }
}

fn list<T>(
    page: &mut Page<'_>,
    what: &str,
    all: &[T],
    line: impl Fn(&T) -> String,
) -> io::Result<()> {
    for one in all.iter().take(MOST_SHOWN) {
        page.line(&format!("  {what}: {}", line(one)))?;
    }
    match all.len().saturating_sub(MOST_SHOWN) {
        0 => Ok(()),
        more => page.line(&format!("  {what}: {more} more")),
    }
}

/// ` (0.5 → 9)`.
fn scores(moved: &Moved) -> String {
    let shown = Score::clamped;
    match (moved.score_before, moved.score_after) {
        (Some(before), Some(after)) if before != after => {
            format!(" ({} → {})", shown(before), shown(after))
        }
        (Some(score), _) | (None, Some(score)) => format!(" ({})", shown(score)),
        (None, None) => String::new(),
    }
}
