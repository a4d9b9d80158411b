//! What is wrong with a sync, as far as it shows without the network and without changing anything: for whoever looks after
//! an installation.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use super::Place;
use crate::commands::Context;
use crate::error::{Failure, Kind};
use crate::model::JournalLine;
use crate::storage::View;
use crate::sync::{Remote, Repository, Stopped, Tree, read};

/// What is wrong.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::commands) enum Trouble {
    /// The file that names the repository, git, or the repository as it was fetched last.
    Failed { message: String, hint: String },
    /// The repository that is named is a folder that is not there.
    RemoteGone(PathBuf),
    /// Somebody else writes under the name of this device.
    OtherWriter,
    /// The file of a device cannot be read to its end.
    Stopped { device: String, place: Stopped },
    /// So many lines wait to be pushed, the first of them since this time.
    Unpushed { lines: usize, since: String },
}

/// Whether a repository is named.
pub(in crate::commands) fn is_set_up(context: &Context) -> bool {
    Place::of(context).settings().exists()
}

/// Looks at what a sync would work with.
///
/// # Errors
/// What the store reports.
pub(in crate::commands) fn examine(
    context: &Context,
    view: &View<'_>,
) -> anyhow::Result<Vec<Trouble>> {
    let place = Place::of(context);
    let remote = match Remote::load(&place.settings()) {
        Ok(Some(remote)) => remote,
        Ok(None) => return Ok(Vec::new()),
        Err(failure) => return Ok(vec![Trouble::from(failure)]),
    };
    let mut troubles: Vec<Trouble> = gone(&remote.url)
        .map(Trouble::RemoteGone)
        .into_iter()
        .collect();
    if !place.repository().join("HEAD").exists() {
        // The next sync makes it.
        return Ok(troubles);
    }
    let repository = Repository::at(&place.repository(), &remote, context.settings.now);
    match repository.tree() {
        Ok(tree) => troubles.extend(files(context, view, &repository, &tree)?),
        Err(failure) => troubles.push(Trouble::from(failure)),
    }
    Ok(troubles)
}

impl From<Failure> for Trouble {
    fn from(failure: Failure) -> Self {
        let hint = match failure.kind {
            // What lies here can be fetched again.
            Kind::Sync => failure.hint.unwrap_or_else(|| "aizo sync".to_owned()),
            _ => failure.hint.unwrap_or_default(),
        };
        Trouble::Failed {
            message: failure.message,
            hint,
        }
    }
}

/// The folder that an address names, where it is not there.
fn gone(url: &str) -> Option<PathBuf> {
    let path = Path::new(url.strip_prefix("file://").unwrap_or(url));
    (path.is_absolute() && !path.exists()).then(|| path.to_path_buf())
}

fn files(
    context: &Context,
    view: &View<'_>,
    repository: &Repository,
    tree: &Tree,
) -> anyhow::Result<Vec<Trouble>> {
    let own = view.device()?;
    let mut troubles = Vec::new();
    let mut published: Vec<JournalLine> = Vec::new();
    for (device, blob) in &tree.devices {
        let known = match *device == own {
            true => HashSet::new(),
            false => view.times_of(device)?,
        };
        let bytes = match repository.read(blob) {
            Ok(bytes) => bytes,
            Err(failure) => {
                troubles.push(Trouble::from(failure));
                continue;
            }
        };
        let reading = read(device, &bytes, &known, context.settings.now);
        if let Some(place) = reading.stopped {
            let device = device.clone();
            troubles.push(Trouble::Stopped { device, place });
        }
        if *device == own {
            published = reading.lines;
        }
    }
    troubles.extend(own_lines(&published, &view.lines_of(&own)?));
    Ok(troubles)
}

/// What the file of this device tells beside its journal: it is where the journal was once.
fn own_lines(published: &[JournalLine], own: &[JournalLine]) -> Option<Trouble> {
    fn name(line: &JournalLine) -> (&str, &str, &str) {
        (&line.hlc, &line.batch, line.subject.uid())
    }
    let known: HashSet<_> = own.iter().map(name).collect();
    if published.iter().any(|line| !known.contains(&name(line))) {
        return Some(Trouble::OtherWriter);
    }
    let pushed: HashSet<_> = published.iter().map(name).collect();
    let mut waiting = own.iter().filter(|line| !pushed.contains(&name(line)));
    let first = waiting.next()?;
    Some(Trouble::Unpushed {
        since: first.at.0.clone(),
        lines: 1 + waiting.count(),
    })
}
