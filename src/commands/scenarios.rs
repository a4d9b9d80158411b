//! `aizo scenarios`: the kinds of task. `init` and `edit` are the only ones that write their file.

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde::Serialize;

use super::Context;
use crate::error::{Failure, Kind};
use crate::model::{item_key, quoted, split_words};
use crate::present::{Align, Answer, Page, Table, to_json};
use crate::scenarios::TEMPLATE;
use crate::storage::make_private_folder;

/// Arguments of `scenarios`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  aizo scenarios
  aizo scenarios init
  aizo scenarios edit")]
pub struct Args {
    #[command(subcommand)]
    action: Option<Action>,
}

impl Args {
    /// Whether they are listed, and nothing is written.
    pub(super) fn lists(&self) -> bool {
        matches!(self.action, None | Some(Action::List))
    }
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// List configured and used scenarios (the default)
    List,
    /// Print the path of the file
    Path,
    /// Write the built-in scenarios to the file, to be changed there
    Init,
    /// Open the file in $VISUAL or $EDITOR
    Edit,
}

#[derive(Debug, Serialize)]
struct Row {
    name: String,
    description: String,
    aliases: Vec<String>,
    keywords: Vec<String>,
    /// How many entries are tagged with it.
    entries: usize,
    /// Whether it is built in or in the file; the others are only used by entries.
    configured: bool,
}

#[derive(Debug, Serialize)]
struct File {
    path: PathBuf,
    exists: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<&'static str>,
}

/// What `scenarios` replies.
pub struct Reply(Content);

enum Content {
    List(Vec<Row>),
    File(File),
}

/// Runs `scenarios`.
///
/// # Errors
/// A file that exists already, cannot be written, or an editor that fails.
pub fn run(args: &Args, context: &Context) -> anyhow::Result<Reply> {
    let content = match args.action {
        None | Some(Action::List) => Content::List(list(context)?),
        Some(Action::Path) => Content::File(File::at(context.scenarios_path()?, None)),
        Some(Action::Init) => {
            let path = context.scenarios_path()?;
            init(&path)?;
            Content::File(File::at(path, Some("written")))
        }
        Some(Action::Edit) => {
            let path = context.scenarios_path()?;
            if !path.exists() {
                init(&path)?;
            }
            edit(&path, context.settings.editor.as_deref())?;
            // Says what is wrong with the file now.
            context.scenarios();
            Content::File(File::at(path, Some("edited")))
        }
    };
    Ok(Reply(content))
}

fn list(context: &Context) -> anyhow::Result<Vec<Row>> {
    let scenarios = context.scenarios();
    let mut tags = context
        .read(|view| Ok(view.scenario_tags()?))?
        .unwrap_or_default();
    let mut rows = Vec::new();
    for known in &scenarios.list {
        let names = scenarios.names_of(&known.name);
        let mut entries = BTreeSet::new();
        tags.retain(|tag, ids| {
            let is_this = names.contains(&item_key(tag));
            if is_this {
                entries.extend(ids.iter().copied());
            }
            !is_this
        });
        rows.push(Row {
            name: known.name.clone(),
            description: known.description.clone(),
            aliases: known.aliases.clone(),
            keywords: known.keywords.clone(),
            entries: entries.len(),
            configured: true,
        });
    }
    rows.extend(tags.into_iter().map(|(name, ids)| Row {
        name,
        description: String::new(),
        aliases: Vec::new(),
        keywords: Vec::new(),
        entries: ids.len(),
        configured: false,
    }));
    Ok(rows)
}

fn init(path: &Path) -> anyhow::Result<()> {
    let fault = |error: io::Error| {
        let message = format!("cannot write {}: {error}", path.display());
        Failure::new(Kind::Io, message).hint("check that the folder exists and may be written")
    };
    if let Some(folder) = path.parent()
        && !folder.exists()
    {
        make_private_folder(folder).map_err(fault)?;
    }
    match fs::File::create_new(path) {
        Ok(mut file) => Ok(file.write_all(TEMPLATE.as_bytes()).map_err(fault)?),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            let message = format!("{} exists already and was not changed", path.display());
            Err(Failure::new(Kind::Conflict, message)
                .hint("aizo scenarios edit")
                .into())
        }
        Err(error) => Err(fault(error).into()),
    }
}

/// Runs the user's editor, which may be a command with arguments.
fn edit(path: &Path, editor: Option<&str>) -> anyhow::Result<()> {
    let editor = editor.unwrap_or(if cfg!(windows) { "notepad" } else { "vi" });
    let failure = |detail: String| {
        Failure::new(Kind::Failed, format!("the editor `{editor}` {detail}")).hint(format!(
            "set VISUAL or EDITOR, or edit {} yourself",
            quoted(&path.display().to_string())
        ))
    };
    let words = split_words(editor).unwrap_or_default();
    let [program, arguments @ ..] = words.as_slice() else {
        let detail = "is no program and its arguments, and no shell is started for it";
        return Err(failure(detail.to_owned()).into());
    };
    let status = Command::new(program)
        .args(arguments)
        .arg(path)
        .status()
        .map_err(|error| failure(format!("cannot be started: {error}")))?;
    if status.success() {
        Ok(())
    } else {
        Err(failure(format!("ended with {status}")).into())
    }
}

impl File {
    fn at(path: PathBuf, result: Option<&'static str>) -> Self {
        File {
            exists: path.exists(),
            path,
            result,
        }
    }
}

impl Answer for Reply {
    fn text(&self, page: &mut Page<'_>) -> io::Result<()> {
        let rows = match &self.0 {
            Content::File(file) => {
                let path = file.path.display();
                return page.line(&match file.result {
                    Some(result) => format!("{result}: {path}"),
                    None => path.to_string(),
                });
            }
            Content::List(rows) => rows,
        };
        let mut table = Table::new(&[
            ("SCENARIO", Align::Short),
            ("ENTRIES", Align::Right),
            ("ALIASES", Align::Left),
            ("KEYWORDS", Align::Left),
        ]);
        for row in rows {
            table.row(&[
                row.name.clone(),
                row.entries.to_string(),
                row.aliases.join(", "),
                if row.configured {
                    row.keywords.join(", ")
                } else {
                    "(not configured: no keywords)".to_owned()
                },
            ]);
        }
        page.table(&table)
    }

    fn json(&self, out: &mut dyn Write) -> io::Result<()> {
        match &self.0 {
            Content::List(rows) => to_json(rows, out),
            Content::File(file) => to_json(file, out),
        }
    }
}
