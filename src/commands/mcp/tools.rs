//! The tools: which there are, and which verb each calls.

use serde_json::{Map, Value, json};

use super::arguments::{Arguments, missing};
use super::{MOST_CHARACTERS, USUAL_TOKENS};
use crate::check::Input;
use crate::commands::add::{Said, store};
use crate::commands::asker::Asker;
use crate::commands::check::{LONGEST, beginning, look};
use crate::commands::entries::Filter;
use crate::commands::update::Fields;
use crate::commands::{Context, apply, context, recall, remove, update, why};
use crate::error::Failure;
use crate::mcp::{Hints, Tool};
use crate::model::{Band, EntryValues};
use crate::present::Answer;
use crate::recall::context::{Budget, Form};
use crate::recall::{Meaning, Request, Sort};

/// Names, descriptions, hints and schemas. A text that begins with `#` stands for the fragment of that name.
const LIST: &str = include_str!("tools.json");
/// So many entries are found where nobody says how many.
const USUAL_ENTRIES: usize = 20;

/// Calls a verb.
pub(super) type Run = fn(&mut Arguments, &Context) -> anyhow::Result<Value>;

/// The verb behind a tool.
pub(super) fn named(tool: &str) -> Option<Run> {
    Some(match tool {
        "preference_context" => for_task,
        "preference_recall" => find,
        "preference_add" => add,
        "preference_apply" => mark,
        "preference_check" => check,
        "preference_update" => set,
        "preference_remove" => take_away,
        "preference_why" => explain,
        _ => return None,
    })
}

/// Every tool.
pub(super) fn all() -> Vec<Tool> {
    let list: Value = serde_json::from_str(LIST).expect("the list is JSON");
    let fragments = &list["fragments"];
    let text = |tool: &Value, field: &str| tool[field].as_str().unwrap_or_default().to_owned();
    let schema = |tool: &Value, field: &str| match whole(&tool[field], fragments) {
        Value::Object(schema) => schema,
        _ => Map::new(),
    };
    let hint = |tool: &Value, field: &str| tool["hints"][field].as_bool().unwrap_or_default();
    let tools = list["tools"].as_array().map_or(&[][..], Vec::as_slice);
    tools
        .iter()
        .map(|tool| Tool {
            name: text(tool, "name"),
            title: text(tool, "title"),
            description: text(tool, "description"),
            input: schema(tool, "input"),
            output: schema(tool, "output"),
            hints: Hints {
                reads_only: hint(tool, "reads_only"),
                destroys: hint(tool, "destroys"),
                settles: hint(tool, "settles"),
            },
        })
        .collect()
}

/// A schema with its fragments in place.
fn whole(schema: &Value, fragments: &Value) -> Value {
    match schema {
        Value::String(name) => match name.strip_prefix('#') {
            Some(name) => whole(&fragments[name], fragments),
            None => schema.clone(),
        },
        Value::Array(list) => list.iter().map(|part| whole(part, fragments)).collect(),
        Value::Object(map) => map
            .iter()
            .map(|(name, part)| (name.clone(), whole(part, fragments)))
            .collect(),
        _ => schema.clone(),
    }
}

/// What a verb replies, as `--json` prints it.
pub(super) fn value_of(answer: &dyn Answer) -> anyhow::Result<Value> {
    let mut text = Vec::new();
    answer.json(&mut text)?;
    Ok(serde_json::from_slice(&text)?)
}

fn for_task(arguments: &mut Arguments, context: &Context) -> anyhow::Result<Value> {
    let task = arguments.text("task")?.unwrap_or_default();
    let scenario = named_scenario(arguments)?;
    let budget = Budget {
        tokens: arguments.count("budget")?.unwrap_or(USUAL_TOKENS),
        characters: MOST_CHARACTERS,
    };
    let task = beginning(task.trim(), context::LONGEST_TASK);
    let reply = context::for_task(task, scenario.as_deref(), budget, Form::Prose, context)?;
    value_of(&reply)
}

fn named_scenario(arguments: &mut Arguments) -> Result<Option<String>, Failure> {
    let named = arguments.text("scenario")?;
    Ok(named
        .map(|name| name.trim().to_owned())
        .filter(|name| !name.is_empty()))
}

fn find(arguments: &mut Arguments, context: &Context) -> anyhow::Result<Value> {
    arguments.under(&[("words", "query"), ("type", "types")]);
    let text = arguments.text("query")?.unwrap_or_default();
    let bands = arguments.list("types")?.unwrap_or_default();
    let bands: Vec<Band> = bands
        .split(',')
        .filter(|name| !name.trim().is_empty())
        .map(|name| name.parse().map_err(Failure::usage))
        .collect::<Result<_, Failure>>()?;
    let filter = Filter {
        bands,
        scenario: named_scenario(arguments)?,
        min_score: arguments.score("min_score")?,
    };
    let (exact, related) = (arguments.flag("exact")?, arguments.flag("related")?);
    let sort = arguments.text("sort")?;
    let how = Request {
        limit: Some(arguments.count("limit")?.unwrap_or(USUAL_ENTRIES)),
        meaning: match (exact, related) {
            (true, true) => {
                let both = Failure::usage("`exact` and `related` exclude each other");
                return Err(both.hint("give one of them").into());
            }
            (true, _) => Meaning::Off,
            (_, true) => Meaning::Also,
            _ => Meaning::Fallback,
        },
        with_limits: arguments.flag("with_limits")?,
        sort: match sort.as_deref().map(str::trim) {
            None | Some("" | "usual") => Sort::Usual,
            Some("weight") => Sort::Weight,
            Some("relevance") => Sort::Relevance,
            Some(other) => {
                let wrong = Failure::usage(format!("`sort` is weight or relevance, not `{other}`"));
                return Err(wrong.hint("leave it out for the usual order").into());
            }
        },
        ..filter.request(context)
    };
    let entries = value_of(&recall::find(text, how, context)?)?;
    Ok(json!({"entries": entries}))
}

/// What the command line calls some of the arguments.
const ON_THE_COMMAND_LINE: [(&str, &str); 3] = [
    ("pattern", "patterns"),
    ("keyword", "keywords"),
    ("scenario", "scenarios"),
];

fn add(arguments: &mut Arguments, context: &Context) -> anyhow::Result<Value> {
    arguments.under(&ON_THE_COMMAND_LINE);
    arguments.only(&[
        "item",
        "reason",
        "score",
        "keywords",
        "scenarios",
        "patterns",
        "quote",
    ])?;
    let agent = agent(arguments, context)?;
    let said = Said {
        item: arguments.needed("item")?,
        reason: match arguments.text("reason")? {
            Some(reason) if !reason.trim().is_empty() => reason,
            _ => agent.quote().unwrap_or_default().to_owned(),
        },
        keywords: arguments.list("keywords")?.unwrap_or_default(),
        scenarios: arguments.list("scenarios")?.unwrap_or_default(),
        patterns: arguments.texts("patterns")?.unwrap_or_default(),
        score: arguments.score("score")?,
    };
    value_of(&store(said.by_agent(&agent, context)?, context)?)
}

fn agent(arguments: &mut Arguments, context: &Context) -> anyhow::Result<Asker> {
    let quote = arguments.quote()?;
    Ok(Asker::agent(quote.as_deref(), context)?)
}

fn mark(arguments: &mut Arguments, context: &Context) -> anyhow::Result<Value> {
    arguments.only(&["ids"])?;
    let ids = arguments.texts("ids")?.unwrap_or_default();
    if ids.is_empty() {
        return Err(missing("ids").into());
    }
    let asker = Asker::Agent { quote: None };
    let outcomes = value_of(&apply::mark(&ids, &asker, context)?)?;
    Ok(json!({"outcomes": outcomes}))
}

fn check(arguments: &mut Arguments, context: &Context) -> anyhow::Result<Value> {
    let all = arguments.flag("all")?;
    let (text, command) = (arguments.text("text")?, arguments.text("command")?);
    let input = match (&text, &command) {
        (Some(text), None) => Input::text(text),
        (None, Some(command)) => Input::command(command),
        (None, None) => return Err(missing("command").hint(ONE_OF_THEM).into()),
        (Some(_), Some(_)) => {
            let both = Failure::usage("`text` and `command` exclude each other");
            return Err(both.hint(ONE_OF_THEM).into());
        }
    };
    if input.text.len() as u64 > LONGEST {
        let long = format!("more than {} MiB; nothing was checked", LONGEST >> 20);
        return Err(Failure::usage(long).hint("check it in parts").into());
    }
    if input.text.trim().is_empty() {
        context.note("the text is empty");
    }
    value_of(&look(context, &input, all)?)
}

const ONE_OF_THEM: &str =
    "give `command` for a command line that is about to run, `text` for a plan, a patch or a draft";

fn set(arguments: &mut Arguments, context: &Context) -> anyhow::Result<Value> {
    arguments.under(&ON_THE_COMMAND_LINE);
    arguments.only(&[
        "item",
        "new_item",
        "reason",
        "score",
        "keywords",
        "scenarios",
        "patterns",
        "quote",
    ])?;
    let agent = agent(arguments, context)?;
    let item = arguments.needed("item")?;
    let given = |text: Option<String>| text.filter(|text| !text.trim().is_empty());
    let fields = Fields {
        item: given(arguments.text("new_item")?),
        reason: given(arguments.text("reason")?),
        score: arguments.score("score")?,
        keywords: arguments.list("keywords")?,
        scenarios: arguments.list("scenarios")?,
        patterns: arguments.texts("patterns")?,
    };
    let values = fields.values(context)?;
    if values == EntryValues::default() {
        return Err(Failure::usage("nothing to set")
            .hint("give one of new_item, reason, score, keywords, scenarios, patterns")
            .into());
    }
    value_of(&update::set(&[item], &values, &agent, context)?)
}

fn take_away(arguments: &mut Arguments, context: &Context) -> anyhow::Result<Value> {
    arguments.only(&["item", "quote"])?;
    let agent = agent(arguments, context)?;
    let item = arguments.needed("item")?;
    let outcomes = value_of(&remove::take_away(&[item], &agent, context)?)?;
    Ok(json!({"outcomes": outcomes}))
}

fn explain(arguments: &mut Arguments, context: &Context) -> anyhow::Result<Value> {
    let item = arguments.needed("item")?;
    value_of(&why::explain(&[item], context)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::Detector;

    #[test]
    fn every_detector_is_named() {
        for detector in Detector::ALL {
            assert!(
                LIST.contains(&format!("@{}", detector.name())),
                "{detector:?}"
            );
        }
    }
}
