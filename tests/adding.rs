//! `add` and `review`: what becomes of an observation, and what is refused at the door.

use rstest::rstest;
use serde_json::Value;

use crate::common::Home;

const LATER: &str = "2026-12-02T12:00:00+00:00";

fn entry(home: &Home, item: &str) -> Value {
    home.json(&["show", item])
}

/// A home with one entry of this score, and the clock two days on.
fn with_entry(score: &str) -> Home {
    let home = Home::new();
    home.ok(&["add", "emojis", "first", "--score", score]);
    home.at(LATER)
}

#[test]
fn names_that_may_not_be_meant_are_stored_and_said() {
    let home = Home::new();
    let run = home.run(&["add", "concise code", "-", "--scenarios", "codign,touring"]);
    assert_eq!(run.code, 0, "{run:?}");
    assert_eq!(
        run.stderr.matches("no known scenario").count(),
        1,
        "{run:?}"
    );
    assert!(run.stderr.contains("did you mean “coding”?"), "{run:?}");
    let run = home.run(&["recall", "--scenario", "codign"]);
    assert!(run.stderr.contains("did you mean “coding”?"), "{run:?}");
    let run = home.run(&["add", "不吃香菜", "-", "--score", "0.5"]);
    assert!(run.stderr.contains("name the thing (“吃香菜”)"), "{run:?}");
    let run = home.run(&["add", "no emojis", "-", "--score", "9"]);
    assert_eq!(run.stderr, "");
    let lines = br#"{"item": "never shout", "reason": "-", "score": 2, "scenarios": "desing"}"#;
    let run = home.run_with_input(&["add", "--stdin"], lines);
    assert!(run.stderr.contains("(“shout”)"), "{run:?}");
    assert!(run.stderr.contains("did you mean “design”?"), "{run:?}");
}

#[rstest]
#[case::ordinary_meets_a_score("6", &["--score", "9"], "merged", 7.8)]
#[case::ordinary_meets_no_score("6", &[], "merged", 6.0)]
#[case::ordinary_meets_an_inferred_score("6", &["--score", "9", "--source", "analysis"], "merged", 7.8)]
#[case::ordinary_meets_a_limit("6", &["--score", "0.5"], "limited", 0.5)]
#[case::ordinary_meets_the_highest_limit("6", &["--score", "1.5"], "limited", 1.5)]
#[case::limit_meets_a_score("0.5", &["--score", "9"], "kept", 0.5)]
#[case::limit_meets_the_lowest_ordinary_score("1.5", &["--score", "1.51"], "kept", 1.5)]
#[case::limit_meets_no_score("0.5", &[], "kept", 0.5)]
#[case::limit_meets_an_inferred_score("0.5", &["--score", "9", "--source", "analysis"], "kept", 0.5)]
#[case::limit_meets_a_limit("0.5", &["--score", "1.5"], "merged", 1.1)]
#[case::limit_meets_an_inferred_limit("0.5", &["--score", "1.5", "--source", "import"], "merged", 1.1)]
fn adding_again_follows_the_table(
    #[case] stored: &str,
    #[case] options: &[&str],
    #[case] result: &str,
    #[case] score: f64,
) {
    let home = with_entry(stored);
    let outcome: Value = home.json(&[&["add", "Emojis", "second"], options].concat());
    assert_eq!(outcome["result"], result);
    assert_eq!(outcome["score_after"], score);
    let entry = entry(&home, "emojis");
    assert_eq!(entry["base_score"], score);
    assert_eq!(entry["last_seen"], LATER);
    assert_eq!(entry["item"], "emojis", "the first spelling stays");
    assert_eq!(entry["evidence"].as_array().map(Vec::len), Some(2));
    // What speaks against a limit is evidence, and never becomes the limit's own reason.
    // Nor does what somebody inferred take the place of what the user said.
    let speaks_against = result == "kept" && options.contains(&"--score");
    let is_inferred = options.contains(&"--source");
    let reason = if speaks_against || is_inferred {
        "first"
    } else {
        "second"
    };
    assert_eq!(entry["reason"], reason);
}

#[rstest]
#[case::inferred("analysis")]
#[case::imported("import")]
fn a_limit_that_the_user_did_not_state_waits(#[case] source: &str) {
    let home = with_entry("6");
    let before = entry(&home, "emojis");
    let add = [
        "add",
        "emojis",
        "none, please",
        "--score",
        "0.5",
        "--source",
        source,
    ];
    let outcome: Value = home.json(&add);
    assert_eq!(outcome["result"], "pending");
    assert_eq!(
        (&outcome["score_before"], &outcome["score_after"]),
        (&6.0.into(), &6.0.into())
    );
    assert_eq!(entry(&home, "emojis"), before, "the entry is as it was");

    // The same again does not queue up.
    let again: Value = home.json(&add);
    assert_eq!(
        (&again["result"], &again["id"]),
        (&"pending".into(), &outcome["id"])
    );
    let waiting: Vec<Value> = home.json(&["review"]);
    assert_eq!(waiting.len(), 1);
    assert!(
        home.ok(&["add", "new", "r", "--score", "1", "--source", source])
            .contains("aizo review")
    );
    assert_eq!(home.run(&["show", "new"]).code, 1);
}

#[test]
fn what_speaks_against_a_limit_is_the_users_to_say() {
    let home = Home::new();
    home.ok(&["add", "shellfish", "allergic", "--score", "0.5"]);
    for source in ["analysis", "import"] {
        let inferred = ["add", "order shellfish", source, "--source", source];
        let outcome: Value = home.json(&inferred);
        assert_eq!(outcome["result"], "pending");
    }
    let own: Value = home.json(&["add", "shellfish soup", "my own word"]);
    assert_eq!(own["result"], "added");
    assert_eq!(
        own["hint"],
        "the hard limit “shellfish” (id 1) stays in force: aizo update 1 --score 5 lifts it"
    );
    let disliked: Value = home.json(&["add", "shellfish pie", "bad", "--score", "2"]);
    assert_eq!(disliked["hint"], Value::Null);
    let lines = "{\"item\": \"crab\", \"reason\": \"ill\", \"score\": 0.5}\n\
                 {\"item\": \"crab cakes\", \"reason\": \"good\"}\n";
    let run = home.run_with_input(&["add", "--stdin", "--json"], lines.as_bytes());
    assert!(run.stdout.contains("hard limit “crab”"), "{run:?}");
}

#[test]
fn review_accepts_as_the_user_and_rejects_without_a_trace_in_the_profile() {
    let home = with_entry("6");
    for (item, score) in [("emojis", "0.5"), ("beeps", "1"), ("blinking", "0")] {
        home.ok(&[
            "add", item, "seen", "--score", score, "--source", "analysis",
        ]);
    }
    let accepted: Vec<Value> = home.json(&["review", "accept", "1", "2"]);
    let results: Vec<&Value> = accepted.iter().map(|one| &one["result"]).collect();
    assert_eq!(results, ["limited", "added"]);
    assert_eq!(entry(&home, "emojis")["base_score"], 0.5);
    assert_eq!(entry(&home, "beeps")["hard_limit"], true);
    assert_eq!(entry(&home, "beeps")["origin"], "user");
    let rejected: Vec<Value> = home.json(&["review", "reject", "3", "77"]);
    let results: Vec<&Value> = rejected.iter().map(|one| &one["result"]).collect();
    assert_eq!(results, ["rejected", "not_found"]);
    assert_eq!(home.run(&["show", "blinking"]).code, 1);
    assert_eq!(home.ok(&["review", "--json"]), "[]\n");
}

#[test]
fn a_proposal_named_twice_is_decided_once() {
    let home = Home::new();
    home.ok(&[
        "add", "beeps", "seen", "--score", "1", "--source", "analysis",
    ]);
    let run = home.run(&["review", "accept", "1", "1", "--json"]);
    assert_eq!(run.code, 0, "{run:?}");
    let entry = entry(&home, "beeps");
    assert_eq!(entry["evidence"].as_array().map(Vec::len), Some(1));
}

#[test]
fn adding_again_loses_nothing() {
    let home = Home::new();
    home.ok(&[
        "add",
        "tabs",
        "first",
        "--keywords",
        "indent,style",
        "--scenarios",
        "coding",
    ]);
    home.ok(&[
        "add",
        "tabs",
        "second",
        "--keywords",
        "STYLE,width",
        "--scenarios",
        "writing",
    ]);
    home.ok(&["add", "tabs", ""]);
    let entry = entry(&home, "tabs");
    assert_eq!(
        entry["keywords"],
        serde_json::json!(["indent", "style", "width"])
    );
    assert_eq!(entry["scenarios"], serde_json::json!(["coding", "writing"]));
    assert_eq!(entry["reason"], "second", "an empty reason replaces none");
    let history: Vec<Value> = home.json(&["history", "tabs"]);
    assert_eq!(
        history[1]["before"]["reason"], "first",
        "the old one stays in the journal"
    );
}

#[test]
fn a_new_entry_without_a_score_gets_nine_and_the_label_manual() {
    let home = Home::new();
    home.ok(&["add", "tabs", "uses them"]);
    let entry = entry(&home, "tabs");
    assert_eq!(
        (&entry["base_score"], &entry["source"]),
        (&9.0.into(), &"manual".into())
    );
    let run = home.run(&["add", "spaces", " "]);
    assert_eq!(run.code, 2);
    assert_eq!(run.stderr, "error: the reason is empty\n");
}

#[test]
fn stdin_takes_json_lines_as_editors_and_agents_write_them() {
    let home = Home::new();
    let lines = "\u{feff}{\"item\":\"tabs\",\"reason\":\"r\",\"score\":5,\"keywords\":[\"a\",\"b\"]}\r\n\
                 \r\n\
                 {\"item\":\"tea\",\"reason\":\"r\",\"base_score\":8,\"keywords\":\"c, d\",\"scenarios\":\"writing\"}\r\n\
                 {\"item\":\"never\",\"reason\":\"r\",\"score\":0.5,\"source\":\"analysis\",\"mood\":1}\n\
                 {\"item\":\"last\",\"reason\":\"no line end\"}";
    let run = home.run_with_input(&["add", "--stdin", "--json"], lines.as_bytes());
    assert_eq!(run.code, 0, "{run:?}");
    let outcomes: Vec<Value> = serde_json::from_str(&run.stdout).expect("one array");
    let results: Vec<&Value> = outcomes.iter().map(|one| &one["result"]).collect();
    assert_eq!(results, ["added", "added", "pending", "added"]);
    assert_eq!(
        run.stderr,
        "the field `mood` is not known and was ignored (1 line)\n"
    );
    assert_eq!(
        entry(&home, "tabs")["keywords"],
        serde_json::json!(["a", "b"])
    );
    let tea = entry(&home, "tea");
    assert_eq!(tea["keywords"], serde_json::json!(["c", "d"]));
    assert_eq!(
        (&tea["base_score"], &tea["scenarios"][0]),
        (&8.0.into(), &"writing".into())
    );
}

#[test]
fn null_on_a_line_means_not_given() {
    let home = Home::new();
    home.ok(&["add", "tabs", "first"]);
    let line = "{\"item\":\"tabs\",\"reason\":null,\"score\":null,\"keywords\":null,\
                \"scenarios\":null,\"source\":null}\n";
    let run = home.run_with_input(&["add", "--stdin"], line.as_bytes());
    assert_eq!(run.code, 0, "{run:?}");
    assert_eq!(entry(&home, "tabs")["reason"], "first");
}

#[rstest]
#[case::no_json("tabs, r")]
#[case::no_object("[1]")]
#[case::cut_short("{\"item\":\"x\"")]
#[case::two_values("{\"item\":\"x\",\"reason\":\"r\"} {}")]
#[case::no_item("{\"reason\":\"r\"}")]
#[case::empty_item("{\"item\":\" \",\"reason\":\"r\"}")]
#[case::no_reason_for_a_new_item("{\"item\":\"x\"}")]
#[case::score_out_of_range("{\"item\":\"x\",\"reason\":\"r\",\"score\":11}")]
#[case::score_in_quotes("{\"item\":\"x\",\"reason\":\"r\",\"score\":\"9\"}")]
#[case::two_scores("{\"item\":\"x\",\"reason\":\"r\",\"score\":1,\"base_score\":9}")]
#[case::hidden_character("{\"item\":\"x\\u0000y\",\"reason\":\"r\"}")]
#[case::keyword_number("{\"item\":\"x\",\"reason\":\"r\",\"keywords\":5}")]
fn one_bad_line_refuses_all_and_is_named(#[case] bad: &str) {
    let home = Home::new();
    let good = "{\"item\":\"tabs\",\"reason\":\"r\"}";
    let lines = format!("{good}\n{good}\n{bad}\n{good}\n");
    let run = home.run_with_input(&["add", "--stdin"], lines.as_bytes());
    assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{run:?}");
    assert!(run.stderr.starts_with("error: line 3: "), "{run:?}");
    assert!(
        !run.stderr.contains("untagged"),
        "in words for people: {run:?}"
    );
    assert_eq!(home.ok(&["show", "--json"]), "[]\n");
}

#[test]
fn bytes_that_are_no_text_are_refused_with_their_line() {
    let home = Home::new();
    let run = home.run_with_input(
        &["add", "--stdin"],
        b"{\"item\":\"tabs\",\"reason\":\"r\"}\n{\"item\":\"\xff\xfe\",\"reason\":\"r\"}\n",
    );
    assert_eq!(run.code, 2, "{run:?}");
    assert!(run.stderr.contains("line 2"), "{run:?}");
    assert_eq!(home.ok(&["show", "--json"]), "[]\n");
}

#[rstest]
#[case::empty("", "the item is empty")]
#[case::blank(" \t\n", "the item is empty")]
#[case::escape("a\u{1b}[31mb", "U+001B")]
#[case::bell("a\u{7}", "U+0007")]
#[case::c1_control("a\u{9b}31m", "U+009B")]
#[case::bidi_override("a\u{202e}b", "U+202E")]
#[case::bidi_isolate("a\u{2066}b", "U+2066")]
#[case::zero_width_space("a\u{200b}b", "U+200B")]
#[case::byte_order_mark("a\u{feff}b", "U+FEFF")]
#[case::tag_character("a\u{e0041}", "U+E0041")]
fn an_item_that_hides_something_is_refused(#[case] item: &str, #[case] said: &str) {
    let home = Home::new();
    let run = home.run(&["add", item, "r"]);
    assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{run:?}");
    assert!(run.stderr.contains(said), "{run:?}");
    assert!(!home.db().exists(), "nothing is made for nothing");
}

#[rstest]
#[case::reason(&["add", "tabs", "a\u{202e}b"])]
#[case::keyword(&["add", "tabs", "r", "--keywords", "ok,a\u{200b}b"])]
#[case::scenario(&["add", "tabs", "r", "--scenarios", "a\u{1b}b"])]
#[case::source(&["add", "tabs", "r", "--source", "a\u{7}b"])]
fn every_other_text_is_checked_too(#[case] arguments: &[&str]) {
    let home = Home::new();
    assert_eq!(home.run(arguments).code, 2);
    assert!(!home.db().exists());
}

#[test]
fn a_text_may_have_four_kibibytes_and_no_more() {
    let home = Home::new();
    let (fits, too_long) = ("界".repeat(1365) + "x", "x".repeat(4097));
    home.ok(&["add", &fits, &fits]);
    for arguments in [["add", &too_long, "r"], ["add", "tabs", &too_long]] {
        let run = home.run(&arguments);
        assert_eq!(run.code, 2, "{run:?}");
        assert!(
            run.stderr.contains("4097 bytes; 4096 is the most"),
            "{run:?}"
        );
    }
    let entries: Vec<Value> = home.json(&["show"]);
    assert_eq!(entries.len(), 1);
}

#[rstest]
#[case("11")]
#[case("-1")]
#[case("-0.01")]
#[case("NaN")]
#[case("inf")]
#[case("7,5")]
#[case("")]
fn a_score_is_a_number_from_zero_to_ten(#[case] score: &str) {
    let home = Home::new();
    for command in [
        vec!["add", "tabs", "r", "--score", score],
        vec!["update", "tabs", "--score", score],
        vec!["recall", "--min-score", score],
    ] {
        let run = home.run(&command);
        assert_eq!(run.code, 2, "{run:?}");
        assert!(run.stderr.contains("a number from 0 to 10"), "{run:?}");
    }
    assert!(!home.db().exists());
}

#[rstest]
#[case(&["recall", "--limit"])]
#[case(&["top"])]
#[case(&["history", "--limit"])]
#[case(&["undo", "--last"])]
fn a_limit_is_a_whole_number_above_zero(#[case] command: &[&str]) {
    for number in ["0", "-1", "1.5", "ten"] {
        let run = Home::new().run(&[command, &[number]].concat());
        assert_eq!(run.code, 2, "{run:?}");
        assert!(run.stderr.contains("a whole number above 0"), "{run:?}");
    }
}

#[test]
fn typed_line_ends_and_tabs_become_spaces() {
    let home = Home::new();
    home.ok(&["add", "  tabs\tand\nlines\r\n", "said\nso"]);
    let entry = entry(&home, "tabs and lines");
    assert_eq!(
        (&entry["item"], &entry["reason"]),
        (&"tabs and lines".into(), &"said so".into())
    );
}

#[rstest]
#[case::case("Dark Mode", "dark mode")]
#[case::spaces("dark mode", " dark   mode ")]
#[case::accented_capital("École", "éCOLE")]
#[case::decomposed("\u{e9}cole", "e\u{301}cole")]
#[case::full_width("code", "ｃｏｄｅ")]
#[case::sharp_s("straße", "STRASSE")]
#[case::final_sigma("ΟΔΟΣ", "οδος")]
#[case::ideographic_space("简洁 回答", "简洁　回答")]
fn items_that_read_the_same_are_one_entry(#[case] first: &str, #[case] second: &str) {
    let home = Home::new();
    home.ok(&["add", first, "r"]);
    let outcome: Value = home.json(&["add", second, "r"]);
    assert_eq!(
        (&outcome["result"], &outcome["id"]),
        (&"merged".into(), &1.into())
    );
    assert_eq!(entry(&home, second)["item"], first);
}

#[rstest]
#[case::accent("ecole", "école")]
#[case::hyphen("e-mail", "email")]
#[case::symbol("c", "c++")]
#[case::emoji("👩‍💻", "👩")]
fn items_that_read_differently_are_two(#[case] first: &str, #[case] second: &str) {
    let home = Home::new();
    home.ok(&["add", first, "r"]);
    let outcome: Value = home.json(&["add", second, "r"]);
    assert_eq!(
        (&outcome["result"], &outcome["id"]),
        (&"added".into(), &2.into())
    );
}
