//! What programs rely on: with `--json` one value on standard output in every case, the documented fields
//! in the documented order, and on an error an empty standard output, one JSON line, and an exit code.
//!
//! The types are declared again here with unknown fields denied, and each reply must come back byte for
//! byte when it is written from them: a field that is added, renamed, left out or moved fails here first.

use rstest::rstest;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::common::{Home, NOW, Run};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    id: i64,
    item: String,
    reason: String,
    keywords: Vec<String>,
    scenarios: Vec<String>,
    base_score: f64,
    source: String,
    added_at: String,
    last_seen: String,
    touch_count: i64,
    score_exponent: f64,
    decay_coefficient: f64,
    effective_weight: f64,
    band: String,
    hard_limit: bool,
    origin: String,
    #[serde(rename = "match")]
    how: Option<String>,
    relevance: Option<f64>,
    matched: Vec<String>,
    pattern: Vec<String>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Evidence {
    at: String,
    quote: String,
    speaker: String,
    origin: String,
    source: String,
    score: Option<f64>,
    agent: Option<String>,
    session: Option<String>,
    place: Option<String>,
    confidence: Option<f64>,
    cues: Option<String>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Outcome {
    result: String,
    id: Option<i64>,
    proposal: Option<i64>,
    item: String,
    score_before: Option<f64>,
    score_after: Option<f64>,
    change: Option<i64>,
    hint: Option<String>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    change: i64,
    batch: String,
    at: String,
    op: String,
    kind: String,
    item: Option<String>,
    id: Option<i64>,
    origin: String,
    device: String,
    undone: bool,
    undoes: Option<i64>,
    before: Option<Map<String, Value>>,
    after: Option<Map<String, Value>>,
    observed_score: Option<f64>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Why {
    entry: Entry,
    evidence: Vec<Evidence>,
    history: Vec<Line>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Undone {
    change: i64,
    op: String,
    kind: String,
    id: Option<i64>,
    item: Option<String>,
    score_before: Option<f64>,
    score_after: Option<f64>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Left {
    change: i64,
    op: String,
    kind: String,
    item: Option<String>,
    why: String,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Undo {
    result: String,
    undone: Vec<Undone>,
    left: Vec<Left>,
    change: Option<i64>,
    hint: Option<String>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Cleared {
    result: String,
    removed: usize,
    hard_limits: usize,
    proposals: usize,
    sessions: usize,
    copy: Option<String>,
    change: Option<i64>,
    hint: Option<String>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Proposal {
    id: i64,
    item: String,
    reason: String,
    keywords: Vec<String>,
    scenarios: Vec<String>,
    score: Option<f64>,
    source: String,
    origin: String,
    proposed_at: String,
    why: String,
    evidence: Option<Evidence>,
    pattern: Vec<String>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Keyword {
    keyword: String,
    entries: usize,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Scenario {
    name: String,
    description: String,
    aliases: Vec<String>,
    keywords: Vec<String>,
    entries: usize,
    configured: bool,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ScenarioFile {
    path: String,
    exists: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<String>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Decay {
    half_life_days: f64,
    floor: f64,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct DecaySet {
    half_life_days: f64,
    floor: f64,
    result: String,
    before: Decay,
    change: Option<i64>,
    hint: Option<String>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Bands {
    taboo: usize,
    aversion: usize,
    habit: usize,
    style: usize,
    preference: usize,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Setting {
    name: String,
    value: String,
    source: String,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct EnvFile {
    path: String,
    state: String,
    taken: Vec<String>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Info {
    version: String,
    path: String,
    exists: bool,
    size_bytes: u64,
    schema: i64,
    entries: i64,
    bands: Bands,
    decay: Decay,
    decay_repaired: bool,
    evidence: i64,
    changes: i64,
    waiting_for_review: i64,
    sessions: i64,
    outside_changes: i64,
    future_times: Vec<i64>,
    unreadable_times: Vec<i64>,
    unreadable_scores: Vec<i64>,
    settings: Vec<Setting>,
    env_files: Vec<EnvFile>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Chapter {
    title: String,
    steps: Vec<Step>,
    left_alone: Vec<LeftAlone>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct LeftAlone {
    text: String,
    because: String,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Step {
    command: String,
    days_later: i64,
    text: String,
    notes: Vec<String>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Failure {
    error: FailureBody,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct FailureBody {
    kind: String,
    message: String,
    hint: Option<String>,
}

/// Reads a reply that is one pretty-printed value of this type and nothing else.
fn one<T: Serialize + DeserializeOwned>(text: &str) -> T {
    let value: T = serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"));
    let written = serde_json::to_string_pretty(&value).expect("it was JSON before");
    assert_eq!(format!("{written}\n"), text);
    value
}

fn reply<T: Serialize + DeserializeOwned>(home: &Home, arguments: &[&str]) -> T {
    one(&home.ok(&[arguments, &["--json"]].concat()))
}

/// A failed run's one line for programs.
fn failure(run: &Run) -> FailureBody {
    assert_eq!(run.stdout, "", "{run:?}");
    let line = run.stderr.lines().last().expect("an error says something");
    let failure: Failure =
        serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {run:?}"));
    assert_eq!(
        serde_json::to_string(&failure).expect("it was JSON before"),
        line
    );
    failure.error
}

/// An ordinary entry, a hard limit, and something in review.
fn profile() -> Home {
    let home = Home::new();
    home.ok(&[
        "add",
        "concise code",
        "asked twice",
        "--keywords",
        "lean,brevity",
        "--scenarios",
        "coding",
    ]);
    home.ok(&["add", "force-push", "lost a day to it", "--score", "0.5"]);
    home.ok(&[
        "add",
        "emojis",
        "seen in a chat",
        "--score",
        "0.5",
        "--source",
        "analysis",
    ]);
    home
}

#[test]
fn an_entry_has_the_documented_fields_first_and_in_order() {
    let home = profile();
    let listed: Vec<Map<String, Value>> = home.json(&["recall", "concise"]);
    let names: Vec<&str> = listed[0].keys().map(String::as_str).collect();
    assert_eq!(
        names,
        [
            "id",
            "item",
            "reason",
            "keywords",
            "scenarios",
            "base_score",
            "source",
            "added_at",
            "last_seen",
            "touch_count",
            "score_exponent",
            "decay_coefficient",
            "effective_weight",
            "band",
            "hard_limit",
            "origin",
            "match",
            "relevance",
            "matched",
            "pattern",
        ]
    );
}

#[rstest]
#[case::recall(&["recall"], 2)]
#[case::recall_one(&["recall", "concise"], 1)]
#[case::recall_none(&["recall", "nowhere"], 0)]
#[case::top(&["top"], 2)]
#[case::top_one(&["top", "--type", "taboo"], 1)]
#[case::top_none(&["top", "--type", "habit"], 0)]
#[case::show(&["show"], 2)]
fn a_list_is_an_array_of_entries_however_many(#[case] arguments: &[&str], #[case] many: usize) {
    let entries: Vec<Entry> = reply(&profile(), arguments);
    assert_eq!(entries.len(), many);
}

#[test]
fn an_entry_is_complete_and_its_numbers_follow_the_formulas() {
    let home = profile().at("2026-12-30T12:00:00+00:00");
    let entries: Vec<Entry> = reply(&home, &["recall", "concise"]);
    let coefficient = 0.1 + 0.9 * 0.5;
    let weight = entries[0].effective_weight;
    assert!((weight - 9.0 * f64::powf(coefficient, 0.1)).abs() < 1e-9);
    assert!((entries[0].decay_coefficient - coefficient).abs() < 1e-9);
    assert_eq!(
        entries[0],
        Entry {
            id: 1,
            item: "concise code".into(),
            reason: "asked twice".into(),
            keywords: vec!["lean".into(), "brevity".into()],
            scenarios: vec!["coding".into()],
            base_score: 9.0,
            source: "manual".into(),
            added_at: NOW.into(),
            last_seen: NOW.into(),
            touch_count: 0,
            score_exponent: 0.1,
            decay_coefficient: entries[0].decay_coefficient,
            effective_weight: weight,
            band: "preference".into(),
            hard_limit: false,
            origin: "user".into(),
            how: Some("keyword".into()),
            relevance: entries[0].relevance,
            matched: vec!["concise".into()],
            pattern: Vec::new(),
        }
    );
}

#[rstest]
#[case::no_store(Home::new(), "nothing is stored yet")]
#[case::nothing_matched(profile(), "nothing matched")]
fn finding_nothing_is_an_empty_list_and_says_which_nothing(#[case] home: Home, #[case] said: &str) {
    let existed = home.db().exists();
    let run = home.run(&["recall", "zebra", "--json"]);
    assert_eq!((run.code, run.stdout.as_str()), (0, "[]\n"));
    assert!(run.stderr.contains(said), "{run:?}");
    assert_eq!(home.db().exists(), existed, "reading makes no store");
}

#[test]
fn an_emptied_store_says_that_nothing_is_stored() {
    let home = profile();
    home.ok(&["clear", "--yes"]);
    for arguments in [["show", "--json"], ["top", "--json"], ["recall", "--json"]] {
        let run = home.run(&arguments);
        assert_eq!((run.code, run.stdout.as_str()), (0, "[]\n"));
        assert!(run.stderr.contains("nothing is stored"), "{run:?}");
    }
    assert_eq!(home.ok(&["keywords", "--json"]), "[]\n");
    assert_eq!(home.ok(&["review", "--json"]), "[]\n");
}

#[test]
fn every_reading_command_has_an_answer_before_anything_is_stored() {
    let home = Home::new();
    for list in ["recall", "top", "show", "keywords", "history", "review"] {
        let run = home.run(&[list, "--json"]);
        assert_eq!((run.code, run.stdout.as_str()), (0, "[]\n"), "{list}");
        assert!(!run.stderr.is_empty(), "{list} says why it is empty");
    }
    let info: Info = reply(&home, &["info"]);
    assert_eq!((info.exists, info.entries), (false, 0));
    let decay: Decay = reply(&home, &["config", "show"]);
    assert_eq!(decay.half_life_days, 30.0);
    let scenarios: Vec<Scenario> = reply(&home, &["scenarios"]);
    assert!(scenarios.iter().all(|scenario| scenario.configured));
    let cleared: Cleared = reply(&home, &["clear", "--yes"]);
    assert_eq!((cleared.removed, cleared.change), (0, None));
}

#[test]
fn adding_from_an_empty_input_is_an_empty_list_and_said() {
    let home = Home::new();
    let run = home.run_with_input(&["add", "--stdin", "--json"], b"");
    assert_eq!((run.code, run.stdout.as_str()), (0, "[]\n"));
    assert!(!run.stderr.is_empty(), "a write is never silent: {run:?}");
}

#[test]
fn show_and_why_add_the_evidence_to_the_entry() {
    let home = profile();
    let mut shown: Map<String, Value> = home.json(&["show", "concise", "code"]);
    let evidence = shown.shift_remove("evidence").expect("evidence is there");
    let evidence: Vec<Evidence> = serde_json::from_value(evidence).expect("it is evidence");
    let entry: Entry = serde_json::from_value(shown.into()).expect("the rest is an entry");
    let why: Why = reply(&home, &["why", "concise", "code"]);
    assert_eq!((&why.entry, &why.evidence), (&entry, &evidence));
    assert_eq!(
        evidence,
        [Evidence {
            at: NOW.into(),
            quote: "asked twice".into(),
            speaker: "user".into(),
            origin: "user".into(),
            source: "manual".into(),
            score: None,
            agent: None,
            session: None,
            place: None,
            confidence: None,
            cues: None,
        }]
    );
    assert_eq!(why.history.len(), 1);
    assert_eq!(
        (why.history[0].op.as_str(), why.history[0].change),
        ("add", 1)
    );
}

/// What is typed, and result, id, score before and after.
type Written<'w> = (
    &'w [&'w str],
    &'w str,
    Option<i64>,
    Option<f64>,
    Option<f64>,
);

#[test]
fn every_single_write_says_what_it_did_to_the_score() {
    let home = profile().at("2026-12-02T12:00:00+00:00");
    let cases: &[Written<'_>] = &[
        (
            &["add", "tabs", "says so"],
            "added",
            Some(3),
            None,
            Some(9.0),
        ),
        (
            &["add", "tabs", "", "--score", "6"],
            "merged",
            Some(3),
            Some(9.0),
            Some(7.2),
        ),
        (
            &["add", "tabs", "no", "--score", "1"],
            "limited",
            Some(3),
            Some(7.2),
            Some(1.0),
        ),
        (
            &["add", "tabs", "yes", "--score", "9"],
            "kept",
            Some(3),
            Some(1.0),
            Some(1.0),
        ),
        (
            &["add", "beeps", "no", "--score", "1", "--source", "import"],
            "pending",
            None,
            None,
            None,
        ),
        (
            &["update", "tabs", "--score", "8"],
            "updated",
            Some(3),
            Some(1.0),
            Some(8.0),
        ),
        (
            &["tag", "tabs", "indent"],
            "updated",
            Some(3),
            Some(8.0),
            Some(8.0),
        ),
    ];
    for (arguments, result, id, before, after) in cases {
        let outcome: Outcome = reply(&home, arguments);
        assert_eq!(
            (
                outcome.result.as_str(),
                outcome.id,
                outcome.score_before,
                outcome.score_after
            ),
            (*result, *id, *before, *after),
            "{arguments:?}"
        );
        assert!(outcome.change.is_some(), "{arguments:?} can be undone");
        let waits = (*result == "pending").then_some(2);
        assert_eq!(outcome.proposal, waits, "{arguments:?}");
    }
}

#[test]
fn every_write_to_several_entries_is_an_array_also_for_one() {
    let home = profile().at("2026-12-02T12:00:00+00:00");
    let cases: &[(&[&str], &[&str])] = &[
        (&["touch", "concise", "code"], &["touched"]),
        (
            &["apply", "1", "2", "99"],
            &["cooldown", "touched", "not_found"],
        ),
        (&["review", "accept", "1"], &["added"]),
        (&["remove", "1", "2"], &["removed", "removed"]),
        (&["remove", "emojis"], &["removed"]),
    ];
    for (arguments, results) in cases {
        let outcomes: Vec<Outcome> = reply(&home, arguments);
        let found: Vec<&str> = outcomes.iter().map(|one| one.result.as_str()).collect();
        assert_eq!(found, *results, "{arguments:?}");
    }
    let run = home.run_with_input(
        &["add", "--stdin", "--json"],
        b"{\"item\":\"tea\",\"reason\":\"r\"}\n{\"item\":\"tea\",\"score\":8}\n",
    );
    let outcomes: Vec<Outcome> = one(&run.stdout);
    assert_eq!(outcomes[0].result, "added");
    assert_eq!(
        (outcomes[1].score_before, outcomes[1].score_after),
        (Some(9.0), Some(8.4))
    );
    assert_eq!(outcomes[0].id, outcomes[1].id);
}

#[test]
fn removing_tells_the_score_that_was() {
    let outcomes: Vec<Outcome> = reply(&profile(), &["remove", "force-push"]);
    assert_eq!(
        outcomes,
        [Outcome {
            result: "removed".into(),
            proposal: None,
            id: Some(2),
            item: "force-push".into(),
            score_before: Some(0.5),
            score_after: None,
            change: Some(4),
            hint: Some(
                "it is no hard limit any more, and stops no agent; to take it back: aizo undo 4"
                    .into()
            ),
        }]
    );
}

#[test]
fn a_limit_that_is_kept_says_how_to_lift_it() {
    let home = profile();
    let again = ["add", "force-push", "it went well", "--score", "9"];
    let outcome: Outcome = reply(&home, &again);
    assert_eq!(outcome.result, "kept");
    let hint = outcome.hint.expect("it says how to lift it");
    assert!(
        hint.contains("aizo update 'force-push' --score N"),
        "{hint}"
    );
    let text = home.ok(&again);
    assert!(text.starts_with("kept: force-push"), "{text}");
    assert!(
        text.contains("aizo update 'force-push' --score N"),
        "{text}"
    );
    let lifted: Outcome = reply(&home, &["update", "force-push", "--score", "9"]);
    assert_eq!(
        (lifted.score_before, lifted.score_after),
        (Some(0.5), Some(9.0))
    );
}

#[test]
fn review_lists_what_waits_with_evidence_of_the_same_shape_as_elsewhere() {
    let waiting: Vec<Proposal> = reply(&profile(), &["review"]);
    assert_eq!(waiting.len(), 1);
    assert_eq!(
        (waiting[0].item.as_str(), waiting[0].score),
        ("emojis", Some(0.5))
    );
    let evidence = waiting[0].evidence.as_ref().expect("it rests on something");
    assert_eq!(
        (evidence.quote.as_str(), evidence.origin.as_str()),
        ("seen in a chat", "analysis")
    );
}

#[test]
fn history_and_undo_name_changes() {
    let home = profile();
    home.ok(&["update", "force-push", "--score", "0"]);
    let undo: Undo = reply(&home, &["undo"]);
    assert_eq!(
        undo,
        Undo {
            result: "undone".into(),
            undone: vec![Undone {
                change: 4,
                op: "update".into(),
                kind: "entry".into(),
                id: Some(2),
                item: Some("force-push".into()),
                score_before: Some(0.0),
                score_after: Some(0.5),
            }],
            left: Vec::new(),
            change: Some(5),
            hint: Some("to take this back: aizo undo 5".into()),
        }
    );
    let lines: Vec<Line> = reply(&home, &["history"]);
    let told: Vec<(i64, &str, bool, Option<i64>)> = lines
        .iter()
        .map(|line| (line.change, line.op.as_str(), line.undone, line.undoes))
        .collect();
    assert_eq!(
        told,
        [
            (5, "undo", false, Some(4)),
            (4, "update", true, None),
            (3, "propose", false, None),
            (2, "add", false, None),
            (1, "add", false, None),
        ]
    );
}

#[test]
fn clear_counts_what_it_removed() {
    let home = profile();
    let cleared: Cleared = reply(&home, &["clear", "--yes"]);
    let copy = "backups/preferences.db.20261130T120000Z.before-clear.bak";
    assert_eq!(
        cleared,
        Cleared {
            result: "cleared".into(),
            removed: 2,
            hard_limits: 1,
            proposals: 1,
            sessions: 0,
            copy: Some(home.aizo().join(copy).display().to_string()),
            change: Some(4),
            hint: Some("to take it back: aizo undo 4".into()),
        }
    );
}

#[test]
fn the_other_commands_keep_their_fields_too() {
    let home = profile();
    let info: Info = reply(&home, &["info"]);
    assert_eq!(
        (info.entries, info.waiting_for_review, info.evidence),
        (2, 1, 2)
    );
    assert_eq!((info.bands.taboo, info.bands.preference), (1, 1));
    let keywords: Vec<Keyword> = reply(&home, &["keywords"]);
    assert_eq!(keywords.len(), 2);
    let scenarios: Vec<Scenario> = reply(&home, &["scenarios", "list"]);
    assert_eq!(
        (scenarios[0].name.as_str(), scenarios[0].entries),
        ("coding", 1)
    );
    let file: ScenarioFile = reply(&home, &["scenarios", "path"]);
    assert_eq!((file.exists, file.result), (false, None));
    let file: ScenarioFile = reply(&home, &["scenarios", "init"]);
    assert_eq!(
        (file.exists, file.result.as_deref()),
        (true, Some("written"))
    );
    let set: DecaySet = reply(&home, &["config", "set-half-life", "14"]);
    assert_eq!(
        (set.half_life_days, set.before.half_life_days),
        (14.0, 30.0)
    );
    let tour: Vec<Chapter> = reply(&home, &["demo"]);
    assert!(tour.iter().all(|chapter| !chapter.steps.is_empty()));
    let info: Info = reply(&home, &["info"]);
    assert_eq!(info.entries, 2, "the demo touches nothing");
}

#[test]
fn a_setting_that_is_so_already_has_no_change() {
    let set: DecaySet = reply(&Home::new(), &["config", "set-half-life", "30"]);
    assert_eq!(set.change, None);
}

#[rstest]
#[case(&["show", "zebra"])]
#[case(&["why", "zebra"])]
#[case(&["history", "zebra"])]
#[case(&["update", "zebra", "--score", "3"])]
#[case(&["tag", "zebra", "striped"])]
#[case(&["touch", "zebra"])]
#[case(&["apply", "98", "99"])]
#[case(&["remove", "zebra"])]
#[case(&["undo", "99"])]
#[case(&["review", "accept", "99"])]
#[case(&["review", "reject", "99"])]
#[case(&["review", "edit", "99", "--score", "3"])]
fn naming_only_what_is_not_there_fails_with_1(#[case] arguments: &[&str]) {
    for home in [Home::new(), profile()] {
        let existed = home.db().exists();
        let run = home.run(&[arguments, &["--json"]].concat());
        assert_eq!(run.code, 1, "{run:?}");
        assert_eq!(failure(&run).kind, "not_found");
        assert_eq!(home.db().exists(), existed, "failing makes no store");
    }
}

#[rstest]
#[case::no_command(&[])]
#[case::unknown_command(&["recal"])]
#[case::unknown_option(&["show", "--nope"])]
#[case::missing_argument(&["add", "tabs"])]
#[case::conflict(&["recall", "--touch", "--no-touch"])]
#[case::no_number(&["recall", "--limit", "many"])]
#[case::no_score(&["add", "tabs", "r", "--score", "11"])]
#[case::no_type(&["recall", "--type", "meh"])]
#[case::no_choice(&["keywords", "--sort", "size"])]
#[case::nothing_to_set(&["update", "concise", "code"])]
#[case::nobody_to_ask(&["clear"])]
#[case::out_of_range(&["config", "set-floor", "1"])]
#[case::no_such_page(&["man", "nope"])]
#[case::no_shell(&["completions", "nope"])]
fn wrong_usage_fails_with_2(#[case] arguments: &[&str]) {
    let home = profile();
    let run = home.run(&[arguments, &["--json"]].concat());
    assert_eq!(run.code, 2, "{run:?}");
    let failure = failure(&run);
    assert_eq!(failure.kind, "usage");
    assert!(!failure.message.is_empty() && !failure.message.contains("Usage:"));
    let text = home.run(arguments);
    assert_eq!((text.code, text.stdout.as_str()), (2, ""), "{text:?}");
    assert!(!text.stderr.is_empty());
}

#[test]
fn a_store_that_is_none_is_told_apart_from_an_empty_one() {
    let home = Home::new();
    let folder = home.path().to_str().expect("a temporary path is UTF-8");
    let run = home.run(&["recall", "--db", folder, "--json"]);
    assert_eq!(run.code, 1, "{run:?}");
    let found = failure(&run);
    assert_eq!(found.kind, "not_a_store");
    assert!(found.message.contains(folder), "{found:?}");

    std::fs::write(
        home.path().join("notes.txt"),
        "buy milk and bread, then call home\n",
    )
    .expect("the folder is writable");
    let run = home.run(&["recall", "--db", "notes.txt", "--json"]);
    assert_eq!((run.code, failure(&run).kind.as_str()), (1, "not_a_store"));
}

#[test]
fn an_error_in_text_is_one_line_and_its_hint_another() {
    let run = profile().run(&["show", "concise", "coed"]);
    assert_eq!((run.code, run.stdout.as_str()), (1, ""));
    assert_eq!(
        run.stderr,
        "error: no entry is named “concise coed”\nhint: did you mean “concise code”?\n"
    );
}
