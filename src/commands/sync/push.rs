//! `aizo sync push`: puts the journal of this device into its file, and gives it to the repository.

use std::collections::BTreeMap;
use std::time::Duration;

use super::Sync;
use super::note::{Note, Seen};
use super::reply::{Pulled, Reply, Sent};
use crate::commands::entries::count;
use crate::commands::history::short_device;
use crate::error::{Failure, Kind};
use crate::storage::{Owed, View};
use crate::sync::{
    PROFILE_FILE, Pushed, Tree, append, file_name, mend, profile, standing_files, without,
};

/// How often somebody else may be faster.
const TRIES: u32 = 8;

/// What is to be in the repository.
struct Plan {
    device: String,
    /// By path.
    files: BTreeMap<String, Vec<u8>>,
    /// How many lines of each device are in its file then.
    lines: BTreeMap<String, usize>,
    /// How many of them were not there.
    new: usize,
    /// Whether the files lose what was forgotten, and the line that says last what that is.
    forgets: Option<i64>,
    /// Files with something in them that nobody here can read: what was forgotten may be in it.
    unread: Vec<String>,
}

impl Sync<'_> {
    /// Pushes what is new here. Where others have pushed meanwhile, their lines are taken over first.
    pub(super) fn push(&self, reply: &mut Reply) -> anyhow::Result<()> {
        self.progress.name("comparing");
        let is_behind = self.context.read(|view| Ok(view.has_outside_changes()?))?;
        if is_behind == Some(true) && !self.dry_run {
            // What another program wrote becomes a line first.
            self.context.write(|_| Ok(()))?;
        }
        let mut tree = self.repository.tree()?;
        self.progress.advance(1);
        for attempt in 1..=TRIES {
            // What is known to be there is here before anything is put on it.
            self.take_over_before(&tree, reply)?;
            let plan = self.context.read(|view| self.plan(view, &tree))?;
            let Some((plan, files)) = plan.map(|plan| self.kept(plan, &tree)).transpose()? else {
                reply.pushed = Some(Sent::default());
                return Ok(());
            };
            let mut sent = Sent {
                lines: plan.new,
                files: files.keys().cloned().collect(),
                commit: None,
            };
            if self.dry_run {
                reply.pushed = Some(sent);
                return Ok(());
            }
            if files.is_empty() {
                reply.pushed = Some(sent);
                return self.have_forgotten(&plan);
            }
            let message = format!("{} of {}", count(plan.new, "line", "lines"), plan.device);
            let commit = self.repository.commit(&tree, &files, &message)?;
            self.progress.name("pushing");
            match self.repository.push(&commit)? {
                Pushed::Done => {
                    self.remember(&plan, &files)?;
                    sent.commit = Some(commit);
                    reply.pushed = Some(sent);
                    return self.have_forgotten(&plan);
                }
                Pushed::Rejected if attempt < TRIES => {
                    pause(attempt);
                    tree = self.repository.fetch()?;
                }
                Pushed::Rejected => {}
            }
        }
        Err(Failure::new(
            Kind::Sync,
            "others push all the time, and were always faster",
        )
        .hint("nothing is lost: aizo sync push")
        .into())
    }

    /// The branch holds nothing any more that was forgotten; what it held before lies here still.
    fn have_forgotten(&self, plan: &Plan) -> anyhow::Result<()> {
        let Some(known) = plan.forgets else {
            return Ok(());
        };
        for device in &plan.unread {
            self.context.note(format!(
                "forgetting is not finished: the file of device {} holds what this aizo cannot read",
                short_device(device)
            ));
        }
        self.context.write(|transaction| {
            transaction.owe(&[Owed::Checkout])?;
            match plan.unread.is_empty() {
                true => Ok(transaction.pay(&[Owed::Files], known)?),
                false => Ok(()),
            }
        })?;
        self.shed()
    }

    fn take_over_before(&self, tree: &Tree, reply: &mut Reply) -> anyhow::Result<()> {
        if self.dry_run && reply.pulled.is_some() {
            return Ok(());
        }
        let pulled = self.take_over(tree)?;
        if pulled != Pulled::default() {
            reply.pulled.get_or_insert_default().add(pulled);
        }
        Ok(())
    }

    /// What the files should hold, as far as they may differ from it: those whose lines are fewer than here, and our own
    /// where somebody has changed it. All of one state of the store.
    fn plan(&self, view: &View<'_>, tree: &Tree) -> anyhow::Result<Plan> {
        let note = Note::of(view)?.unwrap_or_default();
        let own = view.device()?;
        let mut plan = Plan {
            files: BTreeMap::new(),
            lines: BTreeMap::new(),
            new: 0,
            device: own.clone(),
            forgets: match view.owed()?.contains(&Owed::Files) {
                true => Some(view.forgettings()?),
                false => None,
            },
            unread: Vec::new(),
        };
        for (device, here) in view.lines_by_device()? {
            let blob = tree.devices.get(&device);
            let there = blob.map_or(0, |_| note.lines(&device));
            let is_known = blob.is_some_and(|blob| note.knows(&device, blob));
            if here <= there && (is_known || device != own) {
                continue;
            }
            let (mut made, mut odd) = (Vec::new(), None);
            view.each_line_of(&device, |line| match line.check() {
                Ok(()) => append(&mut made, line),
                Err(why) => drop(odd.get_or_insert((line.seq, why))),
            })?;
            if let Some((number, why)) = odd {
                return Err(Failure::new(
                    Kind::Sync,
                    format!("change {number} is none that others can read, and nothing was pushed: {why}"),
                )
                .hint("another program may have written it; aizo doctor looks at the store")
                .into());
            }
            let bytes = match blob {
                Some(blob) if device != own && blob.is_too_long() => None,
                Some(blob) if device != own => mend(&device, &self.repository.read(blob)?, &made),
                _ => Some(made),
            };
            if let Some(bytes) = bytes {
                plan.files.insert(file_name(&device), bytes);
                plan.lines.insert(device, here);
                plan.new += here.saturating_sub(there);
            }
        }
        if plan.forgets.is_some() {
            self.forget_in_files(view, tree, &note, &mut plan)?;
        }
        if plan.files.is_empty() {
            return Ok(plan);
        }
        for (path, text) in standing_files() {
            plan.files.insert(path.to_owned(), text.into_bytes());
        }
        let text = profile(view.preferences()?);
        plan.files
            .insert(PROFILE_FILE.to_owned(), text.into_bytes());
        Ok(plan)
    }

    /// Takes out of the files what was forgotten; who wrote them does the same as soon as they know of it.
    fn forget_in_files(
        &self,
        view: &View<'_>,
        tree: &Tree,
        note: &Note,
        plan: &mut Plan,
    ) -> anyhow::Result<()> {
        let forgotten = view.forgotten()?;
        for (device, blob) in &tree.devices {
            if blob.is_too_long() {
                plan.unread.push(device.clone());
                continue;
            }
            let path = file_name(device);
            let stored = self.repository.read(blob)?;
            let bytes = plan.files.get(&path).unwrap_or(&stored);
            let (left, is_read) = without(device, bytes, &forgotten);
            if !is_read {
                plan.unread.push(device.clone());
            }
            if left == stored {
                continue;
            }
            plan.files.insert(path, left);
            // What was not read to its end is read again.
            if note.knows(device, blob) {
                plan.lines
                    .entry(device.clone())
                    .or_insert_with(|| note.lines(device));
            }
        }
        Ok(())
    }

    /// Keeps the files of a plan in the repository, and gives those that differ from what is there.
    fn kept(&self, plan: Plan, tree: &Tree) -> anyhow::Result<(Plan, BTreeMap<String, String>)> {
        let mut differing = BTreeMap::new();
        for (path, bytes) in &plan.files {
            let oid = self.repository.keep(bytes)?;
            let blobs = tree.devices.iter();
            let there = blobs
                .map(|(device, blob)| (file_name(device), &blob.oid))
                .chain(
                    tree.others
                        .iter()
                        .map(|(path, blob)| (path.clone(), &blob.oid)),
                )
                .find(|(there, _)| there == path);
            if there.is_none_or(|(_, there)| *there != oid) {
                differing.insert(path.clone(), oid);
            }
        }
        Ok((plan, differing))
    }

    /// Remembers the files that were written.
    fn remember(&self, plan: &Plan, files: &BTreeMap<String, String>) -> anyhow::Result<()> {
        self.context.write(|transaction| {
            let mut note = Note::of(&transaction.view())?.unwrap_or_default();
            for (device, lines) in &plan.lines {
                if let Some(oid) = files.get(&file_name(device)) {
                    let seen = Seen {
                        oid: oid.clone(),
                        lines: *lines,
                    };
                    note.0.insert(device.clone(), seen);
                }
            }
            Ok(transaction.set_sync_note(&note.text())?)
        })
    }
}

/// Waits a little, and not as long as the others.
fn pause(attempt: u32) {
    let millis = 20 * attempt + std::process::id() % 100;
    std::thread::sleep(Duration::from_millis(u64::from(millis)));
}
