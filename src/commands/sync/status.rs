//! `aizo sync status`: what is known without the network.

use std::collections::BTreeSet;
use std::io::{self, Write};

use serde::Serialize;

use super::Place;
use super::note::Note;
use crate::commands::Context;
use crate::commands::entries::count;
use crate::commands::history::short_device;
use crate::present::{Align, Answer, Page, Table, to_json};
use crate::sync::{Remote, Repository, shown};

/// What `sync status` replies.
#[derive(Debug, Serialize)]
pub(super) struct Reply {
    /// Whether a repository is named.
    set_up: bool,
    url: Option<String>,
    branch: Option<String>,
    device: Option<String>,
    /// Lines that were not pushed yet.
    to_push: usize,
    devices: Vec<Device>,
}

/// A device that lines are known of.
#[derive(Debug, Serialize)]
struct Device {
    device: String,
    this: bool,
    /// Its lines in the journal.
    lines: usize,
    /// Whether its file in the repository is here to its end, as it was fetched last.
    complete: bool,
}

pub(super) fn run(context: &Context) -> anyhow::Result<Reply> {
    let place = Place::of(context);
    let Some(remote) = Remote::load(&place.settings())? else {
        context.note("no repository is named for a sync yet: aizo sync init URL");
        return Ok(Reply {
            set_up: false,
            url: None,
            branch: None,
            device: None,
            to_push: 0,
            devices: Vec::new(),
        });
    };
    let tree = Repository::at(&place.repository(), &remote, context.settings.now).tree()?;
    let stored = context.read(|view| {
        Ok((
            view.device()?,
            view.lines_by_device()?,
            Note::of(view)?.unwrap_or_default(),
        ))
    })?;
    let (device, lines, note) = stored.unwrap_or_default();
    let names: BTreeSet<&String> = lines.keys().chain(tree.devices.keys()).collect();
    let devices = names.into_iter().map(|name| {
        let blob = tree.devices.get(name);
        Device {
            this: *name == device,
            lines: lines.get(name).copied().unwrap_or(0),
            complete: blob.is_none_or(|blob| note.knows(name, blob)),
            device: name.clone(),
        }
    });
    let there = |name: &String| match tree.devices.contains_key(name) {
        true => note.lines(name),
        false => 0,
    };
    let unpushed = lines
        .iter()
        .map(|(name, here)| here.saturating_sub(there(name)));
    Ok(Reply {
        set_up: true,
        url: Some(shown(&remote.url)),
        branch: Some(remote.branch.clone()),
        to_push: unpushed.sum(),
        devices: devices.collect(),
        device: (!device.is_empty()).then_some(device),
    })
}

impl Answer for Reply {
    fn text(&self, page: &mut Page<'_>) -> io::Result<()> {
        let (Some(url), Some(branch)) = (&self.url, &self.branch) else {
            return Ok(());
        };
        page.line(&format!(
            "{url} ({branch}), as it was when it was fetched last"
        ))?;
        page.line(&match self.to_push {
            0 => "nothing waits to be pushed".to_owned(),
            many => format!("{} to push: aizo sync", count(many, "line", "lines")),
        })?;
        let mut table = Table::new(&[
            ("DEVICE", Align::Short),
            ("LINES", Align::Right),
            ("", Align::Left),
        ]);
        for device in &self.devices {
            let about = match (device.this, device.complete) {
                (true, _) => "this one",
                (false, true) => "",
                (false, false) => "has more that is not here: aizo sync pull",
            };
            table.row(&[
                short_device(&device.device),
                device.lines.to_string(),
                about.to_owned(),
            ]);
        }
        page.table(&table)
    }

    fn json(&self, out: &mut dyn Write) -> io::Result<()> {
        to_json(self, out)
    }
}
