//! The candidates that a language model finds: asked over the network, or a model of the person's own by way of a printed
//! prompt.

use std::collections::{HashMap, HashSet};
use std::io::Read;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::listen::{Listened, Wanted, listen};
use super::reply::ModelUse;
use super::{Args, Reply, settle};
use crate::commands::Context;
use crate::commands::entries::count;
use crate::error::{Failure, Kind};
use crate::llm::{self, Answer, Limits, LlmError, Prompt, Provider, Raw, Said};
use crate::model::Turn;
use crate::present::{self, Progress};
use crate::redact::{Scope, redact_in};

/// The most items that a prompt may name.
const MOST_ITEMS: usize = 2_000;

/// What a printed prompt was about, until its answer comes: the files and the names of the turns, not what was said.
#[derive(Serialize, Deserialize)]
struct Printed {
    files: Vec<PathBuf>,
    agent: Option<String>,
    since: Option<String>,
    turns: Vec<String>,
}

/// The model that is to be asked, if one is.
pub(super) fn provider(args: &Args, context: &Context) -> anyhow::Result<Option<Provider>> {
    let values = |name: &str| context.settings.provider.get(name);
    if args.no_llm {
        return Ok(None);
    }
    if args.llm {
        return Ok(Some(Provider::required(values)?));
    }
    match Provider::from_lookup(values) {
        Ok(provider) => Ok(provider),
        Err(error @ LlmError::NoKey { .. }) => {
            context.note(format!("{error}: the built-in reader does it"));
            Ok(None)
        }
        Err(error) => Err(error.into()),
    }
}

/// Asks a model about the turns that were not heard before.
pub(super) fn find(
    provider: &Provider,
    listened: &mut Listened,
    context: &Context,
) -> anyhow::Result<()> {
    let (said, items, prompts) = questions(listened, context)?;
    if prompts.is_empty() {
        return Ok(());
    }
    let tokens: usize = prompts.iter().map(|prompt| prompt.estimated_tokens).sum();
    let requests = match prompts.len() {
        1 => "one request".to_owned(),
        many => format!("{many} requests"),
    };
    present::say(&format!(
        "sending {} (about {tokens} tokens, {requests}) to {}",
        count(said.len(), "turn", "turns"),
        provider.describe(),
    ));
    let progress = Progress::new(prompts.len() as u64, !context.is_quiet());
    progress.name("waiting for the model");
    let extraction = llm::extract(provider, &prompts, &mut |done, _| {
        progress.advance(u64::from(done > 0));
    })?;
    drop(progress);
    if extraction.cut > 0 {
        context.note(format!(
            "{} of {} answers were cut off: raise AIZO_MAX_TOKENS",
            extraction.cut,
            prompts.len()
        ));
    }
    take(
        listened,
        &extraction.answer,
        &said,
        &items,
        &provider.describe(),
    );
    Ok(())
}

/// What a model would be asked, word for word.
pub(super) fn shown(listened: &Listened, context: &Context) -> anyhow::Result<String> {
    let (_, _, prompts) = questions(listened, context)?;
    let shown: Vec<String> = prompts.iter().map(Prompt::shown).collect();
    Ok(shown.join("\n"))
}

/// The turns that were not heard before, the items that are stored, and what is asked.
fn questions(
    listened: &Listened,
    context: &Context,
) -> anyhow::Result<(Vec<Said>, Vec<String>, Vec<Prompt>)> {
    let known = context.read(|view| {
        let keys = listened.turns.iter().map(|(turn, _)| turn.key.as_str());
        let heard = view.heard(keys)?;
        let items: Vec<String> = view
            .preferences()?
            .into_iter()
            .rev()
            .take(MOST_ITEMS)
            .map(|entry| entry.item)
            .collect();
        Ok((heard, items))
    })?;
    let (heard, items) = known.unwrap_or((HashSet::new(), Vec::new()));
    let said: Vec<Said> = listened
        .turns
        .iter()
        .enumerate()
        .filter(|(_, (turn, _))| !heard.contains(&turn.key))
        .map(|(index, (turn, _))| Said {
            number: listened.number(index),
            text: turn.text.clone(),
        })
        .collect();
    let prompts = llm::prompts(&said, &items, Limits::default());
    Ok((said, items, prompts))
}

/// An element of an answer without secrets, before its words are folded: many are known by their capitals.
fn without_secrets(raw: &Raw) -> Raw {
    let clean = |text: &String| redact_in(text, Scope::Quote).text.into_owned();
    Raw {
        quote: clean(&raw.quote),
        item: clean(&raw.item),
        keywords: raw.keywords.iter().map(clean).collect(),
        scenarios: raw.scenarios.iter().map(clean).collect(),
        ..raw.clone()
    }
}

/// Takes over what of an answer holds against the text.
fn take(
    listened: &mut Listened,
    answer: &Answer,
    said: &[Said],
    items: &[String],
    model: &str,
) -> ModelUse {
    let preferences: Vec<Raw> = answer.preferences.iter().map(without_secrets).collect();
    let checked = llm::check(&preferences, said, items, model);
    let mut used = ModelUse {
        model: model.to_owned(),
        kept: 0,
        dropped: checked.dropped.total() + answer.malformed,
        invented_quotes: checked.dropped.invented_quote,
    };
    for (index, candidate) in checked.kept {
        let number = said[index].number;
        let Some(place) = (0..listened.turns.len()).find(|&at| listened.number(at) == number)
        else {
            continue;
        };
        let (turn, file) = &listened.turns[place];
        listened.heard.add(turn, file, candidate);
        used.kept += 1;
    }
    listened.model = Some(used.clone());
    used
}

fn printed_path(context: &Context) -> anyhow::Result<PathBuf> {
    let home = context.settings.home.as_ref().ok_or_else(|| {
        Failure::new(Kind::Io, "cannot find the home folder").hint("set HOME or AIZO_HOME")
    })?;
    Ok(home.join("printed-prompt.json"))
}

/// Prints what a model would be asked, and remembers which files it is about.
pub(super) fn print_prompt(args: &Args, context: &Context) -> anyhow::Result<Vec<u8>> {
    let wanted = Wanted::of(args, context)?;
    let Some(files) = &wanted.files else {
        return Err(
            Failure::usage("--print-prompt needs files: the answer is held against them")
                .hint("aizo analyze --print-prompt PATH…")
                .into(),
        );
    };
    let files = files
        .iter()
        .map(|(file, _)| std::path::absolute(file))
        .collect::<Result<_, _>>()?;
    let listened = listen(
        &Wanted {
            again: true,
            ..wanted
        },
        true,
        context,
    )?;
    let text = shown(&listened, context)?;
    if text.is_empty() {
        context.note("nothing new was said in these files");
        return Ok(Vec::new());
    }
    let printed = Printed {
        files,
        agent: args.agent.clone(),
        since: args.since.clone(),
        turns: listened
            .turns
            .iter()
            .map(|(turn, _)| turn.key.clone())
            .collect(),
    };
    let path = printed_path(context)?;
    if let Some(folder) = path.parent() {
        crate::storage::make_private_folder(folder)?;
        let mut file = tempfile::NamedTempFile::new_in(folder)?;
        serde_json::to_writer(&mut file, &printed)?;
        file.persist(&path)?;
    }
    Ok(text.into_bytes())
}

/// Leaves only the turns that the prompt had, under its numbers. What was said since then waits for the next run.
fn keep_asked(listened: &mut Listened, asked: &[String]) {
    let mut turns: HashMap<String, (Turn, String)> = std::mem::take(&mut listened.turns)
        .into_iter()
        .map(|one| (one.0.key.clone(), one))
        .collect();
    let mut kept = Vec::new();
    let mut numbers = Vec::new();
    for (number, key) in asked.iter().enumerate() {
        if let Some(one) = turns.remove(key) {
            kept.push(one);
            numbers.push(number + 1);
        }
    }
    if !turns.is_empty() {
        listened.cursors.clear();
    }
    for key in turns.keys() {
        listened.heard.leave_for_later(key);
    }
    listened.turns = kept;
    listened.numbers = numbers;
}

/// Takes a model's answer to a printed prompt.
pub(super) fn from_answer(file: &Path, args: &Args, context: &Context) -> anyhow::Result<Reply> {
    let mut text = String::new();
    if file == Path::new("-") {
        std::io::stdin().read_to_string(&mut text)?;
    } else {
        text = std::fs::read_to_string(file).map_err(|error| {
            Failure::new(Kind::Io, format!("cannot read {}: {error}", file.display()))
        })?;
    }
    let answer = llm::parse_answer(&text).map_err(|error| {
        Failure::new(Kind::Failed, error.to_string())
            .hint("the answer must be the JSON that the prompt asks for")
    })?;
    let path = printed_path(context)?;
    let printed: Printed = std::fs::read(&path)
        .ok()
        .and_then(|bytes| serde_json::from_slice(&bytes).ok())
        .ok_or_else(|| {
            Failure::usage("no prompt was printed that this could be the answer to")
                .hint("aizo analyze --print-prompt PATH…")
        })?;
    let wanted = Wanted::of(
        &Args {
            paths: printed.files.clone(),
            agent: printed.agent.clone(),
            since: printed.since.clone(),
            ..Args::none()
        },
        context,
    )?;
    let mut listened = listen(
        &Wanted {
            again: true,
            ..wanted
        },
        true,
        context,
    )?;
    keep_asked(&mut listened, &printed.turns);
    let (said, items, _) = questions(&listened, context)?;
    take(&mut listened, &answer, &said, &items, "a model of your own");
    if args.dry_run {
        return settle::rehearse(listened, args.review, context);
    }
    let reply = settle::write(listened, args.review, context)?;
    let _gone_already = std::fs::remove_file(path);
    Ok(reply)
}
