//! What an agent is about to do to the limits themselves. The command line speaks for the user, and an agent has it at hand:
//! what lifts a limit, or takes away what it rests on, is for the person to decide.

use clap::error::ErrorKind;
use clap::{CommandFactory, Parser};

use super::verdict::shown;
use crate::capture::hook::Planned;
use crate::check::{Called, calls_of, may_write_to};
use crate::commands::{Cli, Command, Context, Later, resolve};

/// This many changes are named in one question.
const MOST_NAMED: usize = 3;

/// A change of what is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Change {
    /// The command of aizo that makes it.
    verb: String,
    /// The words that name the entry; none where it may be about any.
    named: Option<Vec<String>>,
}

/// The question that an action raises because it may change a hard limit itself.
pub(super) fn question(planned: &Planned, context: &Context) -> anyhow::Result<Option<String>> {
    if touches_the_store(planned, context) {
        return Ok(Some(
            "This may change the file that holds the user's hard limits. Only the user decides about them."
                .to_owned(),
        ));
    }
    let changes = match planned {
        Planned::Command(command) => calls_of("aizo", command)
            .iter()
            .filter_map(Change::of)
            .collect(),
        Planned::Memory { verb, item } => vec![Change {
            verb: (*verb).to_owned(),
            named: Some(vec![item.clone()]),
        }],
        Planned::Edit { .. } | Planned::Text(_) => Vec::new(),
    };
    let mut sentences: Vec<String> = Vec::new();
    for change in changes {
        let sentence = change.sentence(context)?;
        sentences.extend(sentence.filter(|sentence| !sentences.contains(sentence)));
    }
    sentences.truncate(MOST_NAMED);
    Ok((!sentences.is_empty()).then(|| sentences.join("\n")))
}

/// Whether an action writes to the store, or to the folder that it lies in, past aizo.
fn touches_the_store(planned: &Planned, context: &Context) -> bool {
    const FOLDER: &str = "/.aizo";
    let mut paths = vec![FOLDER.to_owned()];
    paths.push(context.settings.db.display().to_string());
    let home = context.settings.home.iter();
    paths.extend(home.map(|home| home.display().to_string()));
    match planned {
        Planned::Command(command) => may_write_to(&paths, command),
        Planned::Edit {
            path, text, old, ..
        } => {
            let is_there = path
                .as_ref()
                .is_some_and(|file| paths.iter().any(|path| file.contains(path.as_str())));
            // The settings of a host, without the call that asks aizo.
            is_there || old.contains("aizo hook") && !text.contains("aizo hook")
        }
        Planned::Text(_) | Planned::Memory { .. } => false,
    }
}

impl Change {
    /// The change that a call of aizo makes, where it is one that can weaken a limit.
    fn of(call: &Called) -> Option<Self> {
        let words = std::iter::once("aizo").chain(call.words.iter().map(String::as_str));
        let cli = match Cli::try_parse_from(words) {
            Ok(cli) => cli,
            Err(error) => return Self::of_what_is_no_call(call, error.kind()),
        };
        let (verb, named) = match &cli.command {
            Command::Update(Later(args)) => ("update", Some(args.named().to_vec())),
            Command::Tag(Later(args)) if args.takes_away() => {
                ("tag", Some(vec![args.named().to_owned()]))
            }
            Command::Remove(Later(args)) => ("remove", Some(args.named().to_vec())),
            Command::Forget(Later(args)) => ("forget", Some(args.named().to_vec())),
            Command::Clear(_) => ("clear", None),
            Command::Restore(_) => ("restore", None),
            Command::Undo(_) => ("undo", None),
            Command::Review(Later(args)) if args.decides() => ("review", None),
            Command::Import(Later(args)) if args.replaces() => ("import", None),
            Command::Uninstall(_) => ("uninstall", None),
            Command::Sync(Later(args)) if args.names_a_repository() => ("sync", None),
            _ => return None,
        };
        Some(Change {
            verb: verb.to_owned(),
            // What is named in another store, or only when the command runs, is not known here.
            named: named.filter(|_| cli.global.db.is_none() && call.is_known),
        })
    }

    /// The change that words may make which are no whole call: the rest may come when the command runs.
    fn of_what_is_no_call(call: &Called, error: ErrorKind) -> Option<Self> {
        const CAN: [&str; 13] = [
            "update",
            "tag",
            "remove",
            "rm",
            "delete",
            "forget",
            "clear",
            "restore",
            "undo",
            "review",
            "import",
            "uninstall",
            "sync",
        ];
        if matches!(error, ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) {
            return None;
        }
        let commands = Cli::command();
        let mut verbs = call.words.iter().filter_map(|word| {
            let command = commands.find_subcommand(word)?;
            Some(command.get_name().to_owned())
        });
        let verb = match verbs.next() {
            Some(verb) => Some(verb).filter(|verb| CAN.contains(&verb.as_str())),
            None => (!call.is_known).then(|| "…".to_owned()),
        };
        Some(Change {
            verb: verb?,
            named: None,
        })
    }

    /// The change as a person is told of it; nothing where no hard limit is concerned.
    fn sentence(&self, context: &Context) -> anyhow::Result<Option<String>> {
        let verb = &self.verb;
        let Some(words) = &self.named else {
            return Ok(Some(shown(&format!(
                "This may lift or change hard limits of the user (aizo {verb}). Only the user decides about them."
            ))));
        };
        let found = context.read(|view| Ok(resolve::several(view, words).unwrap_or_default()))?;
        let limits = found.unwrap_or_default().into_iter();
        let limits: Vec<String> = limits
            .filter_map(|named| named.entry)
            .filter(|entry| entry.is_hard_limit())
            .map(|entry| entry.item)
            .collect();
        Ok((!limits.is_empty()).then(|| {
            shown(&format!(
                "This changes a hard limit of the user: {} (aizo {verb}). Only the user decides about it.",
                limits.join("; ")
            ))
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case("aizo update 1 --score 9", &["update 1"])]
    #[case("aizo update force-push to main --score 9", &["update force-push to main"])]
    #[case("aizo --json rm 1 2", &["remove 1 2"])]
    #[case("aizo tag x --remove y; aizo tag x y", &["tag x"])]
    #[case("aizo forget 3 --yes", &["forget 3"])]
    #[case("aizo clear --yes && aizo undo", &["clear", "undo"])]
    #[case("aizo review accept --all", &["review"])]
    #[case("aizo review; aizo review list", &[])]
    #[case("aizo import x.jsonl --on-conflict replace", &["import"])]
    #[case("aizo import x.jsonl; aizo import y --on-conflict skip", &[])]
    #[case("aizo uninstall --all", &["uninstall"])]
    #[case("aizo restore old.db --yes", &["restore"])]
    #[case("aizo sync init https://example.org/theirs.git", &["sync"])]
    #[case("aizo sync; aizo sync pull; aizo sync status", &[])]
    #[case("aizo --db x update 1 --score 9", &["update"])]
    #[case("aizo update \"$(cat id)\" --score 9", &["update"])]
    #[case("cat ids | xargs aizo remove", &["remove"])]
    #[case("aizo \"$(cat verb)\" 1", &["…"])]
    #[case("aizo add \"$(cat item)\" why --score \"$(cat score)\"", &[])]
    #[case("aizo update --help", &[])]
    #[case("aizo recall update; aizo add remove 'said so'", &[])]
    #[case("npx aizo update 1 --score 9", &["update 1"])]
    fn what_may_weaken_a_limit_is_known_by_its_command(
        #[case] command: &str,
        #[case] wanted: &[&str],
    ) {
        let calls = calls_of("aizo", command);
        let found: Vec<String> = calls
            .iter()
            .filter_map(Change::of)
            .map(|change| {
                let named = change.named.unwrap_or_default();
                [&[change.verb][..], &named].concat().join(" ")
            })
            .collect();
        assert_eq!(found, wanted);
    }
}
