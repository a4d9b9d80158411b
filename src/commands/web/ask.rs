//! What the page asks: the words of a command. It gets what the command prints with `--json`, so that there is no second way to
//! read or to change the store, and none around what a command refuses.

use clap::Parser;
use serde_json::json;

use super::server::Server;
use crate::commands::{Cli, Command, Later, Reply, run, wrong_usage};
use crate::error::{Failure, Kind, Report};
use crate::web::Response;

/// A command of the page has fewer words than this.
const MOST_WORDS: usize = 64;

/// What a command does to the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Effect {
    Reads,
    Writes,
}

/// What a command does, where the page may run it: nothing that waits for standard input, opens other files or the network, or
/// cannot be undone.
fn effect(command: &Command) -> Option<Effect> {
    let writes = |does: bool| Some(if does { Effect::Writes } else { Effect::Reads });
    match command {
        Command::Show(_)
        | Command::Top(_)
        | Command::Why(_)
        | Command::History(_)
        | Command::Keywords(_)
        | Command::Info(_) => Some(Effect::Reads),
        Command::Recall(Later(args)) => writes(args.touches()),
        Command::Review(Later(args)) => writes(args.decides()),
        Command::Context(Later(args)) if args.names_the_task() => Some(Effect::Reads),
        Command::Scenarios(Later(args)) if args.lists() => Some(Effect::Reads),
        Command::Config(Later(args)) if args.shows() => Some(Effect::Reads),
        Command::Sync(Later(args)) if args.asks_for_status() => Some(Effect::Reads),
        Command::Doctor(Later(args)) if !args.fixes() => Some(Effect::Reads),
        Command::Add(Later(args)) if !args.reads_standard_input() => Some(Effect::Writes),
        Command::Update(_)
        | Command::Tag(_)
        | Command::Touch(_)
        | Command::Remove(_)
        | Command::Undo(_) => Some(Effect::Writes),
        _ => None,
    }
}

/// Runs the command, and gives its answer with the moment it was true and what there is to say beside it.
pub(super) fn answer(words: Vec<String>, server: &Server) -> Response {
    let context = match server.context() {
        Ok(context) => context,
        Err(failure) => return refused(&failure.into(), &[]),
    };
    let mut body = b"{\"answer\":".to_vec();
    let done = command(words, server.writes)
        .and_then(|command| run(command, &context))
        .and_then(|reply| match reply {
            // That doctor has found something is an answer.
            Reply::Answer(answer) | Reply::Difference(answer) => Ok(answer.json(&mut body)?),
            _ => Err(not_for_the_page().into()),
        });
    let notes = context.take_notes();
    if let Err(error) = done {
        return refused(&error, &notes);
    }
    let now = context.settings.now.to_rfc3339();
    body.extend(format!(",\"now\":{},\"notes\":{}}}", json!(now), json!(notes)).bytes());
    Response::json(200, body)
}

/// Reads the words, as far as the page may say them.
fn command(words: Vec<String>, may_write: bool) -> anyhow::Result<Command> {
    if words.len() > MOST_WORDS {
        return Err(Failure::usage("these are too many words for a command of the page").into());
    }
    let words = std::iter::once("aizo".to_owned()).chain(words);
    let cli = Cli::try_parse_from(words).map_err(|error| wrong_usage(&error))?;
    match effect(&cli.command) {
        Some(_) if cli.global.db.is_some() => Err(Failure::usage("the page shows one store")
            .hint("aizo --db FILE web shows another one")
            .into()),
        Some(Effect::Writes) if !may_write => Err(Failure::new(
            Kind::ReadOnly,
            "the page only reads; nothing was changed",
        )
        .hint("aizo web --write lets it change things")
        .into()),
        Some(_) => Ok(cli.command),
        None => Err(not_for_the_page().into()),
    }
}

fn not_for_the_page() -> Failure {
    Failure::usage("the page does not run this command").hint("say it on the command line")
}

fn refused(error: &anyhow::Error, notes: &[String]) -> Response {
    let report = Report::of(error);
    let status = match report.kind {
        Kind::Usage => 400,
        Kind::ReadOnly => 403,
        Kind::NotFound => 404,
        Kind::Conflict => 409,
        Kind::Locked => 503,
        _ => 500,
    };
    let body = json!({"error": report, "notes": notes});
    Response::json(status, body.to_string().into_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(words: &[&str], may_write: bool) -> Option<Kind> {
        let words = words.iter().map(|&word| word.to_owned()).collect();
        let error = command(words, may_write).err()?;
        Some(Report::of(&error).kind)
    }

    #[test]
    fn what_reads_is_run_and_what_writes_only_where_it_may() {
        for words in [
            &["show"][..],
            &["top", "20000"],
            &["why", "--", "--db"],
            &["history", "--limit=100"],
            &["recall", "--scenario=coding"],
            &["context", "--format=json", "--", ""],
            &["context", "--", "--write"],
            &["review"],
            &["review", "list"],
            &["scenarios"],
            &["config", "show"],
            &["sync", "status"],
            &["doctor"],
            &["info"],
            &["keywords"],
        ] {
            assert_eq!(kind(words, false), None, "{words:?}");
        }
        for words in [
            &["add", "--score=1", "--", "a", "b"][..],
            &["update", "--score=1", "--", "a"],
            &["tag", "a", "b"],
            &["touch", "a"],
            &["remove", "a"],
            &["undo"],
            &["undo", "3"],
            &["recall", "--touch", "a"],
            &["review", "accept", "1"],
            &["review", "reject", "--all"],
            &["review", "edit", "1", "--score=2"],
        ] {
            assert_eq!(kind(words, true), None, "{words:?}");
            assert_eq!(kind(words, false), Some(Kind::ReadOnly), "{words:?}");
        }
    }

    /// A panic would end the server: whatever words come, and whatever they are put together of, there is an answer.
    #[test]
    fn no_words_end_the_server() {
        let folder = tempfile::tempdir().expect("a folder");
        let server = Server {
            gate: crate::web::Gate::new(2342, "key".to_owned()),
            db: folder.path().join("preferences.db"),
            scenarios: None,
            writes: true,
            ticket: None,
        };
        let verbs = [
            "show",
            "top",
            "why",
            "history",
            "keywords",
            "info",
            "recall",
            "review",
            "context",
            "scenarios",
            "config",
            "sync",
            "doctor",
            "add",
            "update",
            "tag",
            "touch",
            "remove",
            "undo",
        ];
        let odd = [
            "",
            "-",
            "--",
            "--json",
            "--db",
            "--limit=-1",
            "--limit=99999999999999999999",
            "--score=nan",
            "--score=1e999",
            "--scenario=",
            "--scenario=\u{202e}",
            "0",
            "-1",
            "9223372036854775807",
            "\0",
            "\u{feff}",
            "👨\u{200d}👩",
            "爱憎",
            "a,b",
            "%s",
            "' OR 1=1 --",
            "*\"",
            "list",
            "show",
            "accept",
            "edit",
            "status",
            "--keywords",
            "--pattern=(",
            "--pattern=@",
            "--format=json",
            "--budget=0",
            "--since=x",
            "--explain",
        ];
        let long = "x".repeat(60_000);
        let mut tried = 0;
        for verb in verbs {
            for (at, one) in odd.iter().chain([&long.as_str()]).enumerate() {
                let other = odd[(at * 7 + verb.len()) % odd.len()];
                for words in [
                    vec![verb, one],
                    vec![verb, one, other],
                    vec![one, verb],
                    vec![verb, "--", one, other],
                ] {
                    let words = words.into_iter().map(str::to_owned).collect();
                    answer(words, &server);
                    tried += 1;
                }
            }
        }
        assert!(tried > 2000, "{tried}");
    }

    #[test]
    fn everything_else_is_refused_whatever_it_may() {
        for words in [
            &[][..],
            &["show", "--db", "/tmp/other.db"],
            &["--db=/tmp/other.db", "show"],
            &["show", "--help"],
            &["--version"],
            &["web"],
            &["mcp"],
            &["hook", "claude-code"],
            &["clear", "--yes"],
            &["add", "--stdin"],
            &["context"],
            &["context", "-"],
            &["analyze", "--all"],
            &["export", "/tmp/x.jsonl"],
            &["import", "/etc/passwd"],
            &["check", "--file", "/etc/passwd"],
            &["install", "--all"],
            &["scenarios", "edit"],
            &["scenarios", "init"],
            &["config", "set-floor", "0.2"],
            &["sync"],
            &["sync", "pull"],
            &["doctor", "--fix"],
            &["sync", "init", "x"],
            &["sessions", "forget", "--all"],
            &["demo"],
            &["man"],
            &["nonsense"],
        ] {
            assert_eq!(kind(words, true), Some(Kind::Usage), "{words:?}");
        }
        assert_eq!(kind(&["show"; MOST_WORDS + 1], true), Some(Kind::Usage));
    }
}
