//! Changing what is stored, and taking it back: `update`, `tag`, `apply`, `touch`, `remove`, `clear`,
//! `config`, `history`, `why`, `undo`.

use rstest::rstest;
use serde_json::{Value, json};

use crate::common::Home;

/// Two ordinary entries (1 and 3), a hard limit (2), something in review (1), and the clock two days on.
fn profile() -> Home {
    let home = Home::new();
    home.ok(&[
        "add",
        "concise code",
        "asked twice",
        "--keywords",
        "lean,brevity",
        "--scenarios",
        "coding,writing",
    ]);
    home.ok(&["add", "force-push", "lost a day", "--score", "0.5"]);
    home.ok(&["add", "dark mode", "uses it", "--score", "5"]);
    home.ok(&[
        "add", "emojis", "seen", "--score", "1", "--source", "analysis",
    ]);
    home.at("2026-12-02T12:00:00+00:00")
}

fn entry(home: &Home, item: &str) -> Value {
    home.json(&["show", item])
}

fn results(home: &Home, arguments: &[&str]) -> Vec<String> {
    let outcomes: Vec<Value> = home.json(arguments);
    outcomes
        .iter()
        .map(|one| one["result"].as_str().expect("a text").to_owned())
        .collect()
}

/// The number of the newest change.
fn newest_change(home: &Home) -> String {
    let lines: Vec<Value> = home.json(&["history", "--limit", "1"]);
    lines[0]["change"].to_string()
}

#[test]
fn a_list_of_ids_with_a_word_in_it_says_which_is_none() {
    let home = Home::new();
    home.ok(&["add", "alpha", "-"]);
    home.ok(&["add", "beta", "-"]);
    for verb in ["apply", "touch", "remove"] {
        let run = home.run(&[verb, "1", "2", "abc"]);
        assert_eq!(run.code, 1, "{run:?}");
        assert!(
            run.stderr
                .contains("no entry is named “1 2 abc”, and “abc” is no id"),
            "{run:?}"
        );
        assert!(run.stderr.contains("can only be given as ids"), "{run:?}");
    }
}

#[rstest]
#[case::item(&["--new-item", "short code"], "item", json!("short code"))]
#[case::reason(&["--reason", "asked thrice"], "reason", json!("asked thrice"))]
#[case::score(&["--score", "0.5"], "base_score", json!(0.5))]
#[case::keywords(&["--keywords", "Git, push"], "keywords", json!(["git", "push"]))]
#[case::scenarios(&["--scenarios", "writing,review"], "scenarios", json!(["review", "writing"]))]
#[case::no_keywords(&["--keywords", ""], "keywords", json!([]))]
#[case::no_keywords_at_all(&["--keywords"], "keywords", json!([]))]
#[case::no_scenarios(&["--scenarios", ""], "scenarios", json!([]))]
fn update_sets_just_what_is_given(
    #[case] options: &[&str],
    #[case] field: &str,
    #[case] value: Value,
) {
    let home = profile();
    let mut expected = entry(&home, "1");
    let outcome: Value = home.json(&[&["update", "concise", "code"], options].concat());
    assert_eq!(outcome["result"], "updated");
    let mut found = entry(&home, "1");
    assert_eq!(found[field], value);
    for name in [
        field,
        "band",
        "hard_limit",
        "score_exponent",
        "effective_weight",
    ] {
        found[name] = Value::Null;
        expected[name] = Value::Null;
    }
    // The decay clock stands still too: an edit is no observation.
    found["decay_coefficient"] = expected["decay_coefficient"].clone();
    assert_eq!(found, expected);
}

#[test]
fn update_takes_its_options_before_the_words_too() {
    let home = profile();
    home.ok(&["update", "--keywords", "lean", "dark", "mode"]);
    assert_eq!(entry(&home, "3")["keywords"], json!(["lean"]));
    home.ok(&["update", "--score", "6", "dark", "mode"]);
    assert_eq!(entry(&home, "3")["base_score"], 6.0);
}

#[test]
fn update_lifts_a_limit_and_says_from_where_to_where() {
    let home = profile();
    let text = home.ok(&["update", "force-push", "--score", "6"]);
    assert_eq!(
        text,
        "updated: force-push  (score 0.5 → 6.0, habit, id 2, change 5)\n  it is no hard limit any more, and stops no agent; to put it back: aizo undo 5\n"
    );
}

#[test]
fn a_name_that_is_taken_is_refused_naming_both() {
    let home = profile();
    let before = home.rows();
    let run = home.run(&["update", "dark mode", "--new-item", "Concise  CODE"]);
    assert_eq!((run.code, run.stdout.as_str()), (1, ""));
    assert!(run.stderr.contains("“Concise  CODE”"), "{run:?}");
    assert!(run.stderr.contains("“concise code”"), "{run:?}");
    // An item is data: a command to be pasted quotes it so that no shell reads it.
    assert!(run.stderr.contains("aizo remove 'concise code'"), "{run:?}");
    assert_eq!(home.rows(), before);
    // Its own name in another spelling is no other entry.
    home.ok(&["update", "dark mode", "--new-item", "Dark Mode"]);
    assert_eq!(entry(&home, "3")["item"], "Dark Mode");
}

#[rstest]
#[case::score(&["update", "concise code", "--score", "9"])]
#[case::keywords(&["update", "concise code", "--keywords", "lean,brevity"])]
#[case::scenarios(&["update", "concise code", "--scenarios", "writing,coding"])]
#[case::tag(&["tag", "concise code", "LEAN"])]
#[case::tag_remove(&["tag", "concise code", "--remove", "absent"])]
fn what_is_so_already_writes_nothing_and_says_so(#[case] arguments: &[&str]) {
    let home = profile();
    let (before, newest) = (home.rows(), newest_change(&home));
    let outcome: Value = home.json(arguments);
    assert_eq!(outcome["change"], Value::Null, "{outcome}");
    assert!(outcome["hint"].is_string(), "{outcome}");
    assert_eq!((home.rows(), newest_change(&home)), (before, newest));
}

#[rstest]
#[case::added(&["short", "BREVITY"], json!(["lean", "brevity", "short"]))]
#[case::added_by_name(&["--add", "a,b", "c"], json!(["lean", "brevity", "a", "b", "c"]))]
#[case::replaced(&["--replace", "short"], json!(["short"]))]
#[case::cleared(&["--replace"], json!([]))]
#[case::removed(&["--remove", "Lean"], json!(["brevity"]))]
fn tag_changes_keywords(#[case] options: &[&str], #[case] keywords: Value) {
    let home = profile();
    home.ok(&[&["tag", "concise code"], options].concat());
    assert_eq!(entry(&home, "1")["keywords"], keywords);
}

#[test]
fn tag_without_keywords_is_wrong_usage() {
    let run = profile().run(&["tag", "concise code"]);
    assert_eq!(run.code, 2);
    assert!(run.stderr.contains("no keyword is given"), "{run:?}");
}

#[test]
fn apply_says_of_each_what_became_of_it() {
    let home = profile();
    assert_eq!(
        results(&home, &["apply", "1", "2", "99"]),
        ["touched", "touched", "not_found"]
    );
    assert_eq!(results(&home, &["apply", "1"]), ["cooldown"]);
    assert_eq!(entry(&home, "1")["touch_count"], 1);
    assert_eq!(entry(&home, "1")["last_seen"], "2026-12-02T12:00:00+00:00");
    let run = home.run(&["apply", "98", "99"]);
    assert_eq!((run.code, run.stdout.as_str()), (1, ""));
    let home = home.at("2026-12-03T00:00:00+00:00");
    assert_eq!(results(&home, &["touch", "concise", "code"]), ["touched"]);
    assert_eq!(
        results(&home, &["touch", "3", "1"]),
        ["touched", "cooldown"]
    );
    assert_eq!(entry(&home, "1")["touch_count"], 2);
}

#[test]
fn a_time_in_the_future_may_be_touched() {
    let home = profile().at("2026-06-01T00:00:00+00:00");
    let future = |home: &Home| -> Value {
        let info: Value = home.json(&["info"]);
        info["future_times"].clone()
    };
    assert_eq!(future(&home), json!([1, 2, 3]));
    assert_eq!(results(&home, &["touch", "concise code"]), ["touched"]);
    assert_eq!(entry(&home, "1")["last_seen"], "2026-06-01T00:00:00+00:00");
    assert_eq!(future(&home), json!([2, 3]));
}

#[test]
fn several_are_removed_at_once_and_come_back_at_once() {
    let home = profile();
    let before = home.rows();
    assert_eq!(
        results(&home, &["remove", "1,3", "99"]),
        ["removed", "removed", "not_found"]
    );
    let left: Vec<Value> = home.json(&["show"]);
    assert_eq!(left.len(), 1);
    home.ok(&["undo"]);
    assert_eq!(home.rows(), before);
}

#[rstest]
#[case(&["remove", "1", "#1"])]
#[case(&["remove", "1", "1"])]
#[case(&["apply", "1", "#1"])]
fn one_entry_under_two_names_is_one(#[case] arguments: &[&str]) {
    let home = profile();
    let before = home.rows();
    assert_eq!(results(&home, arguments).len(), 1);
    home.ok(&["undo"]);
    assert_eq!(home.rows(), before);
}

#[test]
fn clear_asks_first_and_removes_nothing_where_nobody_answers() {
    let home = profile();
    let before = home.rows();
    for input in ["", "yes\n"] {
        let run = home.run_with_input(&["clear"], input.as_bytes());
        assert_eq!((run.code, run.stdout.as_str()), (2, ""));
        assert!(run.stderr.contains("aizo clear --yes"), "{run:?}");
    }
    assert_eq!(home.rows(), before);
    let text = home.ok(&["clear", "--yes"]);
    assert!(
        text.starts_with("cleared: 3 entries (1 hard limit among them)"),
        "{text}"
    );
    assert_eq!(home.ok(&["show", "--json"]), "[]\n");
    assert_eq!(home.ok(&["review", "--json"]), "[]\n");
}

#[test]
fn keywords_are_counted_most_used_first_or_by_name() {
    let home = profile();
    home.ok(&["tag", "dark mode", "lean", "zen"]);
    let names = |options: &[&str]| -> Vec<(String, i64)> {
        let rows: Vec<Value> = home.json(&[&["keywords"], options].concat());
        rows.iter()
            .map(|row| {
                let name = row["keyword"].as_str().expect("a text").to_owned();
                (name, row["entries"].as_i64().expect("a number"))
            })
            .collect()
    };
    let row = |name: &str, entries| (name.to_owned(), entries);
    let (brevity, lean, zen) = (row("brevity", 1), row("lean", 2), row("zen", 1));
    let by_count = [lean.clone(), brevity.clone(), zen.clone()];
    assert_eq!(names(&[]), by_count);
    assert_eq!(names(&["--sort", "count"]), by_count);
    assert_eq!(names(&["--sort", "alpha"]), [brevity, lean, zen]);
}

#[rstest]
#[case("set-half-life", "0.01", true)]
#[case("set-half-life", "36500", true)]
#[case("set-half-life", "0", false)]
#[case("set-half-life", "0.009", false)]
#[case("set-half-life", "36500.1", false)]
#[case("set-half-life", "-30", false)]
#[case("set-half-life", "inf", false)]
#[case("set-half-life", "nan", false)]
#[case("set-floor", "0", true)]
#[case("set-floor", "0.999", true)]
#[case("set-floor", "1", false)]
#[case("set-floor", "-0.1", false)]
#[case("set-floor", "inf", false)]
#[case("set-floor", "nan", false)]
fn decay_settings_have_bounds(#[case] action: &str, #[case] value: &str, #[case] taken: bool) {
    let home = Home::new();
    let run = home.run(&["config", action, value]);
    assert_eq!(run.code, if taken { 0 } else { 2 }, "{run:?}");
    let decay: Value = home.json(&["config", "show"]);
    let (field, usual) = match action {
        "set-floor" => ("floor", 0.1),
        _ => ("half_life_days", 30.0),
    };
    let expected = if taken {
        value.parse().expect("a number")
    } else {
        usual
    };
    assert_eq!(decay[field], expected);
}

#[test]
fn a_setting_that_is_changed_says_from_where_to_where() {
    let home = Home::new();
    let text = home.ok(&["config", "set-half-life", "14"]);
    assert!(text.contains("30") && text.contains("14"), "{text}");
    let text = home.ok(&["config", "set-half-life", "14"]);
    assert!(text.contains("so already"), "{text}");
}

#[test]
fn history_is_newest_first_and_remembers_what_is_gone() {
    let home = profile();
    home.ok(&["update", "dark mode", "--score", "6"]);
    home.ok(&["remove", "dark mode"]);
    let ops = |arguments: &[&str]| -> Vec<String> {
        let lines: Vec<Value> = home.json(&[&["history"], arguments].concat());
        lines.iter().map(|line| line["op"].to_string()).collect()
    };
    assert_eq!(
        ops(&["Dark", "Mode"]),
        ["\"remove\"", "\"update\"", "\"add\""]
    );
    assert_eq!(ops(&["--limit", "2"]), ["\"remove\"", "\"update\""]);
    insta::assert_snapshot!(home.ok(&["history", "dark mode"]), @"
    CHANGE  WHEN (UTC)        WHAT    ITEM       HOW
         6  2026-12-02 12:00  remove  dark mode  score 6.0
         5  2026-12-02 12:00  update  dark mode  score 5.0 → 6.0
         3  2026-11-30 12:00  add     dark mode  score 5.0
    ");
}

#[test]
fn why_shows_the_words_and_the_way_of_the_score() {
    let home = profile();
    home.ok(&["add", "dark mode", "at night too", "--score", "9"]);
    let why: Value = home.json(&["why", "dark", "mode"]);
    let quotes: Vec<&Value> = why["evidence"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|one| &one["quote"])
        .collect();
    assert_eq!(quotes, ["uses it", "at night too"]);
    assert_eq!(why["history"][0]["before"]["base_score"], 5.0);
    assert_eq!(why["history"][0]["after"]["base_score"], 7.4);
    let text = home.ok(&["why", "dark", "mode"]);
    for part in ["“uses it”", "“at night too”", "score 5.0 → 7.4"] {
        assert!(text.contains(part), "{text}");
    }
}

#[rstest]
#[case::add(&["add", "tea", "in the morning", "--keywords", "k"])]
#[case::merge(&["add", "dark mode", "again", "--score", "8", "--keywords", "k", "--scenarios", "s"])]
#[case::limit(&["add", "dark mode", "never", "--score", "0.5"])]
#[case::keep(&["add", "force-push", "went well", "--score", "9"])]
#[case::propose(&["add", "beeps", "seen", "--score", "1", "--source", "analysis"])]
#[case::accept(&["review", "accept", "1"])]
#[case::reject(&["review", "reject", "1"])]
#[case::edit(&["review", "edit", "1", "--item", "sounds", "--score", "3", "--scenarios", "coding"])]
#[case::update_item(&["update", "concise code", "--new-item", "short code"])]
#[case::update_reason(&["update", "concise code", "--reason", "other"])]
#[case::update_score(&["update", "force-push", "--score", "9"])]
#[case::update_lists(&["update", "concise code", "--keywords", "a", "--scenarios", ""])]
#[case::tag(&["tag", "concise code", "--replace", "a"])]
#[case::touch(&["touch", "concise code"])]
#[case::apply(&["apply", "1", "2", "3"])]
#[case::recall_touch(&["recall", "--touch"])]
#[case::remove(&["remove", "1", "2"])]
#[case::clear(&["clear", "--yes"])]
#[case::half_life(&["config", "set-half-life", "14"])]
#[case::floor(&["config", "set-floor", "0.5"])]
fn undo_gives_back_every_byte_and_can_itself_be_undone(#[case] arguments: &[&str]) {
    let home = profile();
    // The settings have a row only once they were set, and a session stands for analysed ones.
    home.ok(&["config", "set-floor", "0.2"]);
    let connection = rusqlite::Connection::open(home.db()).expect("the store opens");
    connection
        .execute(
            "INSERT INTO sessions (id, analyzed_at, extracted) VALUES (7, '2026-11-01T00:00:00+00:00', 3)",
            [],
        )
        .expect("the table is there");
    drop(connection);
    home.ok(&["update", "dark mode", "--score", "5.5"]);

    let before = home.rows();
    home.ok(arguments);
    let after = home.rows();
    assert_ne!(after, before, "it changes something");
    let undo: Value = home.json(&["undo"]);
    assert_eq!(home.rows(), before, "taken back");
    home.ok(&["undo", &undo["change"].to_string()]);
    assert_eq!(home.rows(), after, "and done again");
    home.ok(&["undo"]);
    assert_eq!(home.rows(), before, "and taken back again");
}

#[test]
fn the_first_setting_can_be_taken_back() {
    let home = profile();
    let before = home.rows();
    home.ok(&["config", "set-half-life", "14"]);
    home.ok(&["undo"]);
    let decay: Value = home.json(&["config", "show"]);
    assert_eq!(decay["half_life_days"], 30.0);
    assert_eq!(home.rows(), before);
}

#[test]
fn many_lines_from_standard_input_are_one_change() {
    let home = profile();
    let before = home.rows();
    let lines = "{\"item\":\"tea\",\"reason\":\"r\"}\n{\"item\":\"dark mode\",\"score\":1}\n";
    assert_eq!(
        home.run_with_input(&["add", "--stdin"], lines.as_bytes())
            .code,
        0
    );
    home.ok(&["undo"]);
    assert_eq!(home.rows(), before);
}

#[test]
fn undo_walks_back_one_by_one_or_several_at_once() {
    let home = profile();
    let start = home.rows();
    home.ok(&["update", "dark mode", "--score", "6"]);
    let first = home.rows();
    home.ok(&["update", "dark mode", "--score", "7"]);
    home.ok(&["remove", "dark mode"]);
    let end = home.rows();

    home.ok(&["undo"]);
    home.ok(&["undo"]);
    assert_eq!(home.rows(), first);
    home.ok(&["undo"]);
    assert_eq!(home.rows(), start);

    home.ok(&["update", "dark mode", "--score", "6"]);
    home.ok(&["update", "dark mode", "--score", "7"]);
    home.ok(&["remove", "dark mode"]);
    assert_eq!(home.rows(), end);
    let undo: Value = home.json(&["undo", "--last", "3"]);
    assert_eq!(undo["undone"].as_array().map(Vec::len), Some(3));
    assert_eq!(home.rows(), start);
    // It was one command, so it is one change to take back.
    home.ok(&["undo", &undo["change"].to_string()]);
    assert_eq!(home.rows(), end);
}

#[test]
fn undo_is_refused_where_a_later_change_touched_the_same_fields() {
    let home = profile();
    home.ok(&["update", "dark mode", "--score", "6"]);
    home.ok(&["update", "dark mode", "--reason", "other"]);
    home.ok(&["update", "dark mode", "--score", "7"]);
    let before = home.rows();
    let run = home.run(&["undo", "5"]);
    assert_eq!((run.code, run.stdout.as_str()), (1, ""));
    assert!(run.stderr.contains("change 7 (update)"), "{run:?}");
    assert!(run.stderr.contains("“dark mode”"), "{run:?}");
    assert!(run.stderr.contains("aizo undo 7"), "{run:?}");
    assert_eq!(home.rows(), before);
    // Another field is nobody's business.
    home.ok(&["undo", "6"]);
    assert_eq!(entry(&home, "3")["reason"], "uses it");
    // Once the later one is taken back, the way is free.
    home.ok(&["undo", "7"]);
    home.ok(&["undo", "5"]);
    assert_eq!(entry(&home, "3")["base_score"], 5.0);
    let run = home.run(&["undo", "5"]);
    assert_eq!(run.code, 1);
    assert!(run.stderr.contains("undone already"), "{run:?}");
}

#[test]
fn an_undo_is_no_licence_to_overwrite_what_came_after_it() {
    let home = profile();
    home.ok(&["update", "dark mode", "--score", "6"]);
    home.ok(&["undo", "5"]);
    home.ok(&["update", "dark mode", "--score", "7"]);
    let run = home.run(&["undo", "6"]);
    assert_eq!(run.code, 1, "{run:?}");
    assert!(run.stderr.contains("change 7 (update)"), "{run:?}");
    assert_eq!(entry(&home, "3")["base_score"], 7.0);
}

#[test]
fn an_added_entry_that_was_used_since_is_not_taken_away() {
    let home = profile();
    home.ok(&["touch", "dark mode"]);
    let run = home.run(&["undo", "3"]);
    assert_eq!(run.code, 1);
    assert!(run.stderr.contains("change 5 (touch)"), "{run:?}");
    assert_eq!(entry(&home, "3")["touch_count"], 1);
}

#[test]
fn a_removed_entry_does_not_come_back_beside_its_successor() {
    let home = profile();
    home.ok(&["remove", "dark mode"]);
    home.ok(&["add", "Dark Mode", "new life"]);
    let before = home.rows();
    let run = home.run(&["undo", "5"]);
    assert_eq!((run.code, run.stdout.as_str()), (1, ""), "{run:?}");
    assert!(
        run.stderr.contains("change 5"),
        "which undo failed: {run:?}"
    );
    assert!(
        run.stderr.contains("“Dark Mode”"),
        "what is in its way: {run:?}"
    );
    assert!(
        !run.stderr.contains("choose another name"),
        "nothing to choose: {run:?}"
    );
    assert_eq!(home.rows(), before);
    home.ok(&["undo", "6"]);
    home.ok(&["undo", "5"]);
    assert_eq!(entry(&home, "3")["item"], "dark mode");
}

#[test]
fn nothing_to_undo_is_said() {
    let home = Home::new();
    let run = home.run(&["undo"]);
    assert_eq!(
        (run.code, run.stderr.as_str()),
        (1, "error: there is nothing to undo\n")
    );
    home.ok(&["add", "tabs", "r"]);
    home.ok(&["undo"]);
    let run = home.run(&["undo"]);
    assert_eq!(
        (run.code, run.stderr.as_str()),
        (1, "error: there is nothing to undo\n")
    );
}

#[test]
fn undo_for_more_than_there_is_says_how_many() {
    let home = Home::new();
    home.ok(&["add", "tabs", "r"]);
    let undo: Value = home.json(&["undo", "--last", "9"]);
    assert_eq!(undo["undone"].as_array().map(Vec::len), Some(1));
}
