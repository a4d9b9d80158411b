//! Recall by meaning and its index: what a task finds, how the index follows every write, and that it finds
//! exactly what a plain scan of the rows would.

use std::collections::{BTreeMap, BTreeSet};

use aizo::merge::{Observation, observe};
use aizo::model::{Band, Origin, Preference, Score};
use aizo::recall::{Folded, Hit, Meaning, Request, ScenarioFilter, Sort, Verdict, Words};
use aizo::scoring::Decay;
use aizo::storage::{StorageError, Store};
use chrono::{DateTime, Duration, Utc};
use rstest::rstest;
use serde_json::{Value, json};

use crate::common::{Home, NOW};

fn with(lines: &[Value]) -> Home {
    let home = Home::new();
    store(&home, lines);
    home
}

fn store(home: &Home, lines: &[Value]) {
    let lines: Vec<String> = lines.iter().map(Value::to_string).collect();
    let run = home.run_with_input(&["add", "--stdin"], lines.join("\n").as_bytes());
    assert_eq!(run.code, 0, "{run:?}");
}

fn item_of(entry: &Value) -> String {
    entry["item"].as_str().expect("a text").to_owned()
}

/// The items of a list, in its order.
fn items(home: &Home, arguments: &[&str]) -> Vec<String> {
    let entries: Vec<Value> = home.json(arguments);
    entries.iter().map(item_of).collect()
}

/// A profile as people have it, in two languages.
fn profile() -> Home {
    with(&[
        json!({"item": "allergic to shellfish", "reason": "checks every menu", "score": 0.5,
               "keywords": ["food", "dining"]}),
        json!({"item": "concise code", "reason": "asked twice for a shorter version", "score": 9}),
        json!({"item": "long meetings", "reason": "they eat the whole afternoon", "score": 3}),
        json!({"item": "window seat", "reason": "likes to look out of the plane", "score": 8}),
        json!({"item": "dark mode", "reason": "bright screens hurt the eyes", "score": 6}),
        json!({"item": "喜欢靠窗", "reason": "坐飞机喜欢看外面", "score": 7.5}),
        json!({"item": "不吃香菜", "reason": "受不了那个味道", "score": 1}),
    ])
}

#[rstest]
#[case::the_promise("book a table for Friday", "allergic to shellfish")]
#[case::of_the_readme("find a restaurant for Friday", "allergic to shellfish")]
#[case::from_chinese("推荐一家餐厅", "allergic to shellfish")]
#[case::chinese("推荐一家餐厅", "不吃香菜")]
#[case::english("book a flight to Tokyo", "window seat")]
#[case::into_chinese("book a flight", "喜欢靠窗")]
#[case::as_several_words("cheap airline tickets", "window seat")]
fn a_task_finds_what_it_names_in_other_words(#[case] task: &str, #[case] item: &str) {
    let home = profile();
    let found: Vec<Value> = home.json(&["recall", task]);
    let entry = found
        .iter()
        .find(|entry| entry["item"] == item)
        .unwrap_or_else(|| panic!("“{task}” finds only {:?}", items(&home, &["recall", task])));
    assert_eq!(entry["match"], "related");
    let silent = home.run(&["recall", "--exact", task, "--json"]);
    assert_eq!((silent.code, silent.stdout.as_str()), (0, "[]\n"));
    assert!(silent.stderr.contains("nothing matched"), "{silent:?}");
}

#[rstest]
#[case("what is the capital of Peru")]
#[case("solve this integral")]
#[case("how many grams are in an ounce")]
#[case("秘鲁的首都是哪里")]
fn an_idle_question_finds_nothing(#[case] question: &str) {
    let run = profile().run(&["recall", question, "--json"]);
    assert_eq!((run.code, run.stdout.as_str()), (0, "[]\n"), "{run:?}");
    assert!(run.stderr.contains("nothing matched"), "{run:?}");
}

/// Three that hold the word, one hard limit that it concerns all the same, and one that it does not.
fn restaurants() -> Home {
    with(&[
        json!({"item": "restaurant with a terrace", "reason": "for the sun", "score": 9}),
        json!({"item": "restaurant near the office", "reason": "short walks", "score": 8}),
        json!({"item": "any restaurant by the sea", "reason": "for the view", "score": 7}),
        json!({"item": "seafood dishes", "reason": "allergic: food, dining, menus", "score": 0.5}),
        json!({"item": "force-push to main", "reason": "lost a day to it", "score": 0.2}),
    ])
}

#[test]
fn meaning_comes_after_words_and_only_when_asked() {
    let home = profile();
    store(
        &home,
        &[json!({"item": "book a flight early", "reason": "it is cheaper", "score": 5})],
    );
    assert_eq!(
        items(&home, &["recall", "book a flight"]),
        ["book a flight early"]
    );
    let both = items(&home, &["recall", "--related", "book a flight"]);
    assert_eq!(both[0], "book a flight early", "words go before meaning");
    assert!(both[1..].contains(&"window seat".to_owned()), "{both:?}");
    let exact = items(&home, &["recall", "--exact", "book a flight"]);
    assert_eq!(exact, ["book a flight early"]);
    assert_eq!(
        home.run(&["recall", "--exact", "--related", "x"]).code,
        2,
        "one or the other"
    );
}

#[test]
fn json_says_how_each_entry_was_found_and_how_much_it_concerns_the_query() {
    let home = profile();
    home.ok(&["tag", "dark mode", "--add", "screens"]);
    home.ok(&["update", "concise code", "--scenarios", "deploying"]);
    let found = |arguments: &[&str], item: &str| -> (Value, Option<f64>, Value) {
        let entries: Vec<Value> = home.json(arguments);
        let entry = entries
            .iter()
            .find(|entry| entry["item"] == item)
            .unwrap_or_else(|| panic!("{arguments:?}: {entries:?}"));
        let relevance = entry["relevance"].as_f64();
        assert!(
            relevance.is_none_or(|relevance| (0.0..=1.0).contains(&relevance)),
            "{entry}"
        );
        (entry["match"].clone(), relevance, entry["matched"].clone())
    };

    let (how, relevance, matched) = found(&["recall", "concise", "code"], "concise code");
    assert_eq!(
        (how, matched),
        ("keyword".into(), json!(["concise", "code"]))
    );
    assert!(
        relevance.is_some_and(|relevance| relevance > 0.5),
        "its own words"
    );

    let (how, relevance, matched) = found(&["recall", "light mode please"], "dark mode");
    assert_eq!((how, matched), ("related".into(), json!(["mode"])));
    assert!(relevance.is_some_and(|relevance| relevance >= 0.2));

    let (how, _, matched) = found(&["recall", "--scenario", "deploying"], "concise code");
    assert_eq!((how, matched), ("scenario".into(), json!(["deploying"])));

    let limits = ["recall", "mode", "--with-limits"];
    let (how, _, matched) = found(&limits, "不吃香菜");
    assert_eq!((how, matched), ("limit".into(), json!([])));

    let (how, relevance, matched) = found(&["recall"], "concise code");
    assert_eq!((how, relevance, matched), (Value::Null, None, json!([])));
}

#[test]
fn explain_shows_the_sum_that_json_gives() {
    let home = profile();
    let text = home.ok(&["recall", "light mode please", "--explain"]);
    let line = text
        .lines()
        .find(|line| line.contains("dark mode"))
        .expect("it is found");
    let sum = line.split("related: ").nth(1).expect("how it was found");
    assert!(sum.ends_with("(mode)"), "{line}");
    let numbers: Vec<f64> = sum
        .split_whitespace()
        .filter_map(|word| word.parse().ok())
        .collect();
    let [whole, meaning, words] = numbers[..] else {
        panic!("a sum of two: {line}");
    };
    assert!((whole - meaning - words).abs() < 0.011, "{line}");
    let entries: Vec<Value> = home.json(&["recall", "light mode please"]);
    let entry = entries
        .iter()
        .find(|entry| entry["item"] == "dark mode")
        .expect("it is found");
    let relevance = entry["relevance"].as_f64().expect("a number");
    assert!((relevance - whole).abs() < 0.006, "{line} {entry}");
    let everything = home.ok(&["recall", "--explain"]);
    assert!(!everything.contains(" = meaning"), "{everything}");
}

#[test]
fn a_list_is_sorted_as_asked() {
    let home = restaurants();
    let keys = |order: Option<&str>| -> Vec<(f64, f64)> {
        let mut arguments = vec!["recall", "restaurant", "--related"];
        arguments.extend(order.map(|_| "--sort"));
        arguments.extend(order);
        let entries: Vec<Value> = home.json(&arguments);
        assert_eq!(entries.len(), 4, "{entries:?}");
        let key = |entry: &Value| {
            (
                entry["effective_weight"].as_f64().expect("a number"),
                entry["relevance"].as_f64().expect("a number"),
            )
        };
        entries.iter().map(key).collect()
    };
    let falls = |key: fn(&(f64, f64)) -> f64, keys: &[(f64, f64)]| {
        keys.windows(2).all(|pair| key(&pair[0]) >= key(&pair[1]))
    };
    assert!(falls(|key| key.0, &keys(Some("weight"))));
    assert!(falls(|key| key.1, &keys(Some("relevance"))));
    assert!(
        falls(|key| key.0, &keys(None)[..3]),
        "words first, by weight"
    );
}

#[test]
fn a_hard_limit_that_the_query_means_takes_the_place_of_the_weakest() {
    let home = restaurants();
    let terrace = "restaurant with a terrace";
    let office = "restaurant near the office";
    for (limit, found) in [
        (
            "4",
            &[
                terrace,
                office,
                "any restaurant by the sea",
                "seafood dishes",
            ][..],
        ),
        ("3", &[terrace, office, "seafood dishes"]),
        ("2", &[terrace, "seafood dishes"]),
        ("1", &["seafood dishes"]),
    ] {
        let arguments = ["recall", "restaurant", "--limit", limit];
        assert_eq!(items(&home, &arguments), found);
        assert_eq!(home.run(&arguments).stderr, "", "nothing is missing");
    }
    assert_eq!(
        items(&home, &["recall", "--exact", "restaurant", "--limit", "1"]),
        [terrace],
        "without meaning it does not concern the query"
    );
}

#[test]
fn a_hard_limit_that_is_only_somewhat_related_is_counted_when_it_is_cut() {
    let home = with(&[
        json!({"item": "window seat", "reason": "likes to look out of the plane", "score": 8}),
        json!({"item": "喜欢靠窗", "reason": "坐飞机喜欢看外面", "score": 1}),
    ]);
    assert_eq!(items(&home, &["recall", "book a flight"]).len(), 2);
    let run = home.run(&["recall", "book a flight", "--limit", "1"]);
    assert!(
        run.stdout.contains("喜欢靠窗") || run.stderr.contains("1 hard limit"),
        "a limit that was found is shown or counted: {run:?}"
    );
}

#[test]
fn with_limits_asks_for_all_of_them_and_says_which_found_no_place() {
    let home = restaurants();
    let all = ["recall", "restaurant", "--with-limits"];
    assert_eq!(items(&home, &all).len(), 5);
    let two = ["recall", "restaurant", "--with-limits", "--limit", "2"];
    assert_eq!(
        items(&home, &two),
        ["seafood dishes", "force-push to main"],
        "as they weigh"
    );
    let run = home.run(&["recall", "restaurant", "--with-limits", "--limit", "1"]);
    assert!(
        run.stdout.contains("force-push"),
        "the lowest stays: {run:?}"
    );
    assert!(run.stderr.contains("1 hard limit"), "{run:?}");
    assert!(run.stderr.contains("aizo recall --type taboo"), "{run:?}");
}

#[test]
fn the_lowest_score_says_when_it_hides_a_limit_that_the_query_means() {
    let home = restaurants();
    for arguments in [
        &["recall", "restaurant", "--min-score", "5"][..],
        &["recall", "somewhere to eat seafood", "--min-score", "5"],
    ] {
        let run = home.run(arguments);
        assert!(!run.stdout.contains("seafood dishes"), "{run:?}");
        assert!(run.stderr.contains("hides 1 hard limit"), "{run:?}");
    }
}

#[test]
fn opposites_stay_two_entries() {
    let home = Home::new();
    for (item, score) in [
        ("likes long meetings", "9"),
        ("hates long meetings", "2"),
        ("long meetings", "0.5"),
        ("no long meetings", "8"),
    ] {
        let outcome: Value = home.json(&["add", item, "said so", "--score", score]);
        assert_eq!(outcome["result"], "added", "{item}");
    }
    assert_eq!(items(&home, &["recall", "long meetings"]).len(), 4);
}

#[test]
fn relevance_depends_on_what_is_stored_and_not_on_the_numbers_ever_given_out() {
    let fresh = profile();
    let old = Home::new();
    old.ok(&["add", "x", "y"]);
    old.ok(&["remove", "x"]);
    old.outside("UPDATE sqlite_sequence SET seq = 900000 WHERE name = 'preferences'");
    let entries: Vec<Value> = fresh.json(&["show"]);
    store(&old, &entries);
    for task in ["book a flight", "推荐一家餐厅", "light mode please"] {
        let found = |home: &Home| -> Vec<(String, Value)> {
            let entries: Vec<Value> = home.json(&["recall", task]);
            entries
                .iter()
                .map(|entry| (item_of(entry), entry["relevance"].clone()))
                .collect()
        };
        assert_eq!(found(&old), found(&fresh), "{task}");
    }
}

#[rstest]
#[case::alone(0)]
#[case::behind_some(3)]
#[case::behind_many(90)]
fn closer_ones_that_a_filter_keeps_out_hide_nothing(#[case] closer: usize) {
    let home = Home::new();
    let mut lines: Vec<Value> = (0..closer)
        .map(|number| {
            json!({"item": format!("good restaurant number {number}"), "reason": "books a table there", "score": 9})
        })
        .collect();
    lines.push(
        json!({"item": "noisy restaurants", "reason": "cannot hear the others at dinner", "score": 3,
               "scenarios": ["evening"]}),
    );
    store(&home, &lines);
    for narrowed in [["--type", "aversion"], ["--scenario", "evening"]] {
        let arguments = [&["recall", "book us a restaurant"], &narrowed[..]].concat();
        assert_eq!(items(&home, &arguments), ["noisy restaurants"]);
    }
}

/// Whether the index is what it would be if it were made anew.
fn index_is_as_if_made_anew(home: &Home) {
    let dump = || -> Vec<String> {
        let connection = rusqlite::Connection::open(home.db()).expect("the store opens");
        let mut rows = Vec::new();
        for query in [
            "SELECT rowid || '|' || item || '|' || reason || '|' || keywords || '|' || stems FROM search ORDER BY rowid",
            "SELECT id || '|' || score || '|' || seen FROM recall_index ORDER BY id",
            "SELECT id || '|' || hex(vector) FROM vectors ORDER BY id",
            "SELECT id || '|' || hex(vector) FROM limit_vectors ORDER BY id",
            // A block whose entries are all gone stays, empty.
            "SELECT block || '|' || hex(bits) FROM sketches WHERE bits != zeroblob(length(bits)) ORDER BY block",
        ] {
            let mut statement = connection.prepare(query).expect("the tables are there");
            let found = statement
                .query_map([], |row| row.get::<_, String>(0))
                .expect("the query runs");
            rows.extend(found.map(|row| row.expect("a text")));
        }
        rows
    };
    let kept = dump();
    home.outside("UPDATE schema_meta SET value = '0-x' WHERE key = 'index_recipe'");
    // Changes nothing, but opens the store to write.
    home.run(&["remove", "there is no such entry"]);
    let recipe: String = rusqlite::Connection::open(home.db())
        .and_then(|connection| {
            connection.query_row(
                "SELECT value FROM schema_meta WHERE key = 'index_recipe'",
                [],
                |row| row.get(0),
            )
        })
        .expect("the recipe is there");
    assert_ne!(recipe, "0-x", "a writer brings the index up to date");
    assert_eq!(dump(), kept);
}

#[test]
fn the_index_follows_every_write() {
    let home = Home::new();
    let words = |query: &str| items(&home, &["recall", "--exact", query]);
    let meant = |query: &str| items(&home, &["recall", query]);
    let none: [&str; 0] = [];

    home.ok(&["add", "window seat", "on a plane", "--score", "8"]);
    assert_eq!(words("window"), ["window seat"]);
    assert_eq!(meant("book a flight"), ["window seat"]);

    home.ok(&[
        "update",
        "window seat",
        "--new-item",
        "ripe pears",
        "--reason",
        "sweet fruit",
    ]);
    assert_eq!(words("window"), none);
    assert_eq!(words("pears"), ["ripe pears"]);
    assert_eq!(meant("book a flight"), none);
    assert_eq!(meant("buy some apples"), ["ripe pears"]);

    home.ok(&["tag", "ripe pears", "--add", "orchard"]);
    assert_eq!(words("orchard"), ["ripe pears"]);
    home.ok(&["tag", "ripe pears", "--remove", "orchard"]);
    assert_eq!(words("orchard"), none);
    home.ok(&["undo"]);
    assert_eq!(words("orchard"), ["ripe pears"]);
    index_is_as_if_made_anew(&home);

    home.ok(&["remove", "ripe pears"]);
    assert_eq!(words("pears"), none);
    assert_eq!(meant("buy some apples"), none);
    home.ok(&["undo"]);
    assert_eq!(words("pears"), ["ripe pears"]);
    assert_eq!(meant("buy some apples"), ["ripe pears"]);

    home.ok(&["clear", "--yes"]);
    assert_eq!(words("pears"), none);
    index_is_as_if_made_anew(&home);
    home.ok(&["undo"]);
    assert_eq!(words("pears"), ["ripe pears"]);

    home.ok(&[
        "add",
        "beeping",
        "in libraries",
        "--score",
        "1",
        "--source",
        "analysis",
    ]);
    assert_eq!(words("beeping"), none, "what waits is not recalled");
    home.ok(&["review", "accept", "1"]);
    assert_eq!(words("beeping"), ["beeping"]);

    store(
        &home,
        &[json!({"item": "green tea", "reason": "绿茶", "score": 7})],
    );
    assert_eq!(words("绿茶"), ["green tea"]);
    // The score moves it without new words.
    home.ok(&["update", "green tea", "--score", "0.5"]);
    assert_eq!(
        items(&home, &["recall", "--limit", "1", "--type", "taboo"]),
        ["green tea"]
    );
    index_is_as_if_made_anew(&home);
}

const WHEN: &str = "'2026-11-01T00:00:00+00:00', '2026-11-01T00:00:00+00:00'";

#[rstest]
#[case::inserted(
    "INSERT INTO preferences (item, reason, base_score, added_at, last_seen)
     VALUES ('zebra stripes on the wing', 'likes to see them from a plane seat', 8.0, {when})"
)]
#[case::updated(
    "UPDATE preferences SET item = 'zebra stripes on the wing', reason = 'likes to see them from a plane seat'
     WHERE item = 'dark mode'"
)]
#[case::replaced(
    "INSERT OR REPLACE INTO preferences (id, item, reason, base_score, added_at, last_seen)
     VALUES (5, 'zebra stripes on the wing', 'likes to see them from a plane seat', 8.0, {when})"
)]
fn what_another_program_wrote_is_found_by_words_and_by_meaning_at_once(#[case] sql: &str) {
    let item = "zebra stripes on the wing".to_owned();
    let home = profile();
    home.outside(&sql.replace("{when}", WHEN));
    let bytes = std::fs::read(home.db()).expect("the store is there");
    let check = || {
        for words in ["zebra", "stripes zeb", "WINGS"] {
            assert_eq!(
                items(&home, &["recall", "--exact", words]),
                [item.as_str()],
                "{words}"
            );
            let limited = ["recall", "--exact", words, "--limit", "1"];
            assert_eq!(items(&home, &limited), [item.as_str()], "{words}");
        }
        assert!(items(&home, &["recall", "book a flight"]).contains(&item));
    };
    check();
    assert!(
        std::fs::read(home.db()).expect("it is there") == bytes,
        "reading writes nothing"
    );
    home.ok(&["add", "unrelated", "later", "--score", "5"]);
    assert_eq!(found_by_plain_sqlite(&home, "zebra").len(), 1);
    check();
    index_is_as_if_made_anew(&home);
}

#[test]
fn what_another_program_wrote_is_as_relevant_before_our_next_write_as_after_it() {
    let home = profile();
    home.outside(&format!(
        "INSERT INTO preferences (item, reason, base_score, added_at, last_seen)
         VALUES ('zebra stripes on the wing', 'likes to see them from a plane seat', 8.0, {WHEN})"
    ));
    let found = || -> Vec<(String, Value, Value)> {
        let entries: Vec<Value> = home.json(&["recall", "book a zebra flight"]);
        let carried = |entry: &Value| {
            (
                item_of(entry),
                entry["relevance"].clone(),
                entry["matched"].clone(),
            )
        };
        entries.iter().map(carried).collect()
    };
    let before = found();
    home.ok(&["touch", "concise code"]);
    let after = found();
    assert!(!after.is_empty());
    assert_eq!(before, after);
}

#[test]
fn what_another_program_removed_is_found_no_more() {
    let home = profile();
    home.outside("DELETE FROM preferences WHERE item = 'window seat'");
    let gone = || {
        let no: [&str; 0] = [];
        assert_eq!(items(&home, &["recall", "--exact", "window"]), no);
        assert_eq!(
            items(&home, &["recall", "--exact", "window", "--limit", "1"]),
            no
        );
        assert_eq!(items(&home, &["recall", "book a flight"]), ["喜欢靠窗"]);
        assert_eq!(items(&home, &["top", "1"]).len(), 1);
    };
    gone();
    home.ok(&["add", "unrelated", "later", "--score", "5"]);
    gone();
    assert!(found_by_plain_sqlite(&home, "window").is_empty());
}

/// The ids that a program without anything of ours finds.
fn found_by_plain_sqlite(home: &Home, expression: &str) -> Vec<i64> {
    let connection = rusqlite::Connection::open(home.db()).expect("the store opens");
    let mut statement = connection
        .prepare("SELECT rowid FROM search WHERE search MATCH ?1")
        .expect("the table is there");
    let found = statement
        .query_map([expression], |row| row.get(0))
        .expect("the expression is read");
    found.map(|id| id.expect("a number")).collect()
}

#[test]
fn the_store_can_be_searched_without_this_program() {
    let home = profile();
    assert_eq!(found_by_plain_sqlite(&home, "code"), [2]);
    assert_eq!(found_by_plain_sqlite(&home, "CODE OR wind*"), [2, 4]);
    assert_eq!(found_by_plain_sqlite(&home, "\"香 菜\""), [7]);
}

/// Questions of every kind, with what each is answered.
fn answers(home: &Home) -> Vec<(String, Vec<Value>)> {
    let mut answers = Vec::new();
    for arguments in [
        &["recall"][..],
        &["recall", "code"],
        &["recall", "code", "--limit", "1"],
        &["recall", "--limit", "2"],
        &["top", "3", "--type", "like,hate"],
        &["recall", "seat on a plane", "--related"],
        &["recall", "book a flight"],
        &["recall", "推荐一家餐厅"],
        &["recall", "find a restaurant for Friday", "--limit", "1"],
        &["recall", "the capital of Peru"],
        &["recall", "--scenario", "coding"],
        &["recall", "--scenario", "coding", "--limit", "1"],
        &["recall", "code", "--with-limits", "--min-score", "1"],
    ] {
        answers.push((format!("{arguments:?}"), home.json(arguments)));
    }
    answers
}

#[rstest]
#[case::of_another_recipe("UPDATE schema_meta SET value = '0-x' WHERE key = 'index_recipe'")]
#[case::of_no_recipe("DELETE FROM schema_meta WHERE key = 'index_recipe'")]
#[case::gone("DROP TABLE search")]
#[case::without_vectors("DROP TABLE vectors")]
#[case::without_vectors_of_limits("DROP TABLE limit_vectors")]
#[case::without_sketches("DROP TABLE sketches")]
#[case::without_order("DROP INDEX recall_order")]
#[case::all_gone(
    "DROP TABLE search; DROP TABLE recall_index; DROP TABLE sketches;
     DELETE FROM schema_meta WHERE key = 'index_recipe'"
)]
#[case::of_another_recipe_and_shape(
    "DROP TABLE search; DROP TABLE recall_index; CREATE TABLE recall_index (something);
     UPDATE schema_meta SET value = '9-x' WHERE key = 'index_recipe'"
)]
fn a_stale_index_is_read_around_and_made_anew_by_the_next_write(#[case] sql: &str) {
    let home = profile();
    let before = answers(&home);
    home.outside(sql);
    let bytes = std::fs::read(home.db()).expect("the store is there");
    let names = |answers: &[(String, Vec<Value>)]| -> Vec<(String, Vec<(String, Value)>)> {
        answers
            .iter()
            .map(|(question, entries)| {
                let entry = |entry: &Value| (item_of(entry), entry["match"].clone());
                (question.clone(), entries.iter().map(entry).collect())
            })
            .collect()
    };
    assert_eq!(names(&answers(&home)), names(&before));
    let now = std::fs::read(home.db()).expect("it is there");
    assert!(now == bytes, "reading does not write");
    home.ok(&["add", "unrelated", "later", "--score", "5"]);
    home.ok(&["undo"]);
    assert_eq!(found_by_plain_sqlite(&home, "code"), [2]);
    assert_eq!(answers(&home), before);
}

#[test]
fn relevance_is_the_same_number_whether_the_index_is_stale_or_not() {
    let home = profile();
    store(
        &home,
        &[
            json!({"item": "plane spotting", "reason": "with a plane app", "score": 5}),
            json!({"item": "tall buildings", "reason": "saw one from a plane", "score": 5}),
        ],
    );
    store(
        &home,
        &[
            json!({"item": "C++ templates", "reason": "hard to read", "score": 4}),
            json!({"item": "C style casts", "reason": "and C macros", "score": 3}),
            json!({"item": ".NET services", "reason": "runs them at work", "score": 7}),
            json!({"item": "a net for the goal", "reason": "football", "score": 6}),
        ],
    );
    let questions = [
        "a seat on a plane please",
        "rewrite the C++ templates as .NET services",
        "C or C++",
        "a new net",
    ];
    let ask = || -> Vec<Vec<Value>> {
        let ask = |question| home.json(&["recall", question, "--related"]);
        questions.into_iter().map(ask).collect()
    };
    let before = ask();
    let found: Vec<(String, Value)> = before[1]
        .iter()
        .map(|entry| (item_of(entry), entry["matched"].clone()))
        .collect();
    let carried = |item: &str, by: &[&str]| found.contains(&(item.to_owned(), json!(by)));
    assert!(
        carried("C++ templates", &["C++", "templates"])
            && carried(".NET services", &[".NET", "services"]),
        "{found:?}"
    );
    home.outside("UPDATE schema_meta SET value = '0-x' WHERE key = 'index_recipe'");
    assert_eq!(ask(), before);
}

#[test]
fn a_limited_list_is_the_beginning_of_the_whole_one_whatever_the_times() {
    let home = Home::new();
    let lines: Vec<Value> = (1..=6)
        .map(|number| json!({"item": format!("rule {number}"), "reason": "-", "score": 10}))
        .collect();
    store(&home, &lines);
    home.outside(
        "UPDATE preferences SET last_seen = 'long ago', added_at = '2026-11-29T00:00:00+00:00' WHERE id = 2;
         UPDATE preferences SET last_seen = '2031-01-01T00:00:00+00:00' WHERE id = 3;
         UPDATE preferences SET last_seen = '', added_at = '' WHERE id = 4;
         UPDATE preferences SET last_seen = '2026-11-01T00:00:00+08:00' WHERE id = 5;",
    );
    home.ok(&[
        "add",
        "one more",
        "so that they are adopted",
        "--score",
        "5",
    ]);
    for words in [&[][..], &["rule"]] {
        let whole = items(&home, &[&["recall"], words].concat());
        for limit in 1..=6 {
            let limit_text = limit.to_string();
            let limited = [&["recall", "--limit", &limit_text], words].concat();
            assert_eq!(items(&home, &limited), whole[..limit], "{limited:?}");
        }
    }
}

/// Dinners of every weight, and things that have nothing to do with them.
fn dinners() -> Vec<Draft> {
    const DISHES: [&str; 24] = [
        "noodles",
        "pizza",
        "curry",
        "sushi",
        "tapas",
        "dumplings",
        "salad",
        "soup",
        "steak",
        "risotto",
        "pasta",
        "tacos",
        "ramen",
        "falafel",
        "paella",
        "burgers",
        "oysters",
        "goulash",
        "dessert",
        "cheese",
        "bread",
        "wine",
        "beer",
        "tea",
    ];
    let mut dice = Dice(0x1357_9BDF_0246_8ACE);
    let mut drafts = Vec::new();
    for (number, dish) in DISHES.into_iter().enumerate() {
        drafts.push(Draft {
            item: format!("{dish} at a restaurant"),
            reason: [
                "for dinner",
                "with friends",
                "on Fridays",
                "when eating out",
            ][number % 4]
                .into(),
            keywords: Vec::new(),
            scenarios: Vec::new(),
            score: 2.0 + f64::from(u32::try_from(dice.below(81)).expect("it fits")) / 10.0,
            age: i64::try_from(dice.below(200_000)).expect("it fits"),
        });
    }
    drafts
}

#[test]
fn a_limited_list_by_meaning_is_the_beginning_of_the_whole_one() {
    let store = in_memory(&dinners());
    for sort in [Sort::Usual, Sort::Weight, Sort::Relevance] {
        let request = Request {
            sort,
            ..Request::for_text("book a table for Friday")
        };
        let whole = answer_of(&store, &request).ids;
        assert_eq!(whole.len(), 10, "more than ten are related");
        for limit in 1..=10 {
            let request = Request {
                limit: Some(limit),
                ..request.clone()
            };
            let given = answer_of(&store, &request).ids;
            assert_eq!(given, whole[..limit], "{sort:?}, {limit}");
        }
    }
}

/// A hundred and fifty hard limits that concern dinners, a hundred entries that hold the word, and the dinners.
#[test]
fn what_cannot_be_in_an_answer_hides_nothing_and_the_index_answers_as_a_scan_does() {
    let home = Home::new();
    let mut lines: Vec<Value> = (0..150)
        .map(|number| {
            let reason = "never book a table for a restaurant dinner there";
            json!({"item": format!("restaurant dinner {number}"), "reason": reason,
                   "score": f64::from(number % 16) / 10.0})
        })
        .collect();
    lines.extend((0..100).map(|number| {
        json!({"item": format!("reservation {number}"), "reason": "book a table in a restaurant on Friday",
               "score": 5})
    }));
    lines.extend(
        dinners()
            .iter()
            .map(|draft| json!({"item": draft.item, "reason": draft.reason, "score": draft.score})),
    );
    store(&home, &lines);
    let questions: [&[&str]; 9] = [
        &["recall", "book us a nice restaurant"],
        &["recall", "restaurant Friday", "--related"],
        &[
            "recall",
            "table restaurant Friday",
            "--related",
            "--sort",
            "weight",
        ],
        &[
            "recall",
            "table restaurant Friday",
            "--related",
            "--limit",
            "160",
        ],
        &["recall", "a nice restaurant please", "--limit", "3"],
        &["recall", "a nice restaurant please", "--limit", "170"],
        &["recall", "a nice restaurant please", "--type", "like"],
        &["recall", "a nice restaurant please", "--min-score", "6"],
        &["recall", "a nice restaurant please", "--type", "taboo"],
    ];
    let ask = || -> Vec<(Vec<Value>, String)> {
        questions
            .into_iter()
            .map(|question| {
                let run = home.run(&[question, &["--json"]].concat());
                let entries = serde_json::from_str(&run.stdout).expect("a list");
                let notes = run
                    .stderr
                    .lines()
                    .filter(|line| !line.contains("the index"));
                (entries, notes.collect())
            })
            .collect()
    };
    let indexed = ask();
    home.outside("UPDATE schema_meta SET value = '0-x' WHERE key = 'index_recipe'");
    let scanned = ask();
    for ((question, indexed), scanned) in questions.iter().zip(&indexed).zip(&scanned) {
        let names = |(entries, notes): &(Vec<Value>, String)| {
            (
                entries.iter().map(item_of).collect::<Vec<_>>(),
                notes.clone(),
            )
        };
        assert_eq!(names(indexed), names(scanned), "{question:?}");
        assert_eq!(indexed, scanned, "{question:?}");
    }
    let ordinary = |index: usize| {
        let entries = indexed[index].0.iter();
        entries
            .filter(|entry| entry["hard_limit"] == false && entry["match"] == "related")
            .count()
    };
    assert_eq!(ordinary(0), 10, "the limits leave ten places");
    assert_eq!(
        ordinary(1),
        10,
        "the entries that hold the word leave ten places"
    );
    assert!(ordinary(7) > 0, "those that score too low leave places");
}

#[test]
fn the_word_index_stays_in_few_parts() {
    let home = Home::new();
    for number in 0..60 {
        home.ok(&["add", &format!("entry {number}"), "one at a time"]);
    }
    let parts: i64 = rusqlite::Connection::open(home.db())
        .and_then(|connection| {
            connection.query_row("SELECT count(DISTINCT segid) FROM search_idx", [], |row| {
                row.get(0)
            })
        })
        .expect("the table is there");
    assert!(parts <= 6, "{parts} parts");
}

#[test]
fn the_tokenizer_of_the_index_cuts_words_where_we_do() {
    let connection = rusqlite::Connection::open_in_memory().expect("a database in memory");
    connection
        .execute_batch(include_str!("../src/storage/index.sql"))
        .and_then(|()| {
            connection.execute_batch(
                "CREATE VIRTUAL TABLE pieces USING fts5vocab('search', 'instance'); BEGIN;",
            )
        })
        .expect("the tables are made");
    let mut insert = connection
        .prepare("INSERT INTO search (rowid, item) VALUES (?1, ?2)")
        .expect("the table is there");
    let mut ours = BTreeMap::new();
    for c in '\0'..=char::MAX {
        let pieces = Folded::new(&format!("a{c}b")).pieces().to_vec();
        if pieces != ["a", "b"] {
            let row = (u32::from(c), pieces.join(" "));
            insert.execute(row).expect("it is stored");
            ours.insert(u32::from(c), pieces);
        }
    }
    let mut theirs: BTreeMap<u32, Vec<String>> = BTreeMap::new();
    let mut select = connection
        .prepare("SELECT doc, term FROM pieces ORDER BY doc, offset")
        .expect("the table is there");
    let mut rows = select.query([]).expect("it is read");
    while let Some(row) = rows.next().expect("it is read") {
        let doc = row.get(0).expect("a number");
        theirs
            .entry(doc)
            .or_default()
            .push(row.get(1).expect("a text"));
    }
    let wrong: Vec<String> = ours
        .iter()
        .filter(|(c, pieces)| theirs.get(c).map(Vec::len) != Some(pieces.len()))
        .map(|(c, pieces)| format!("U+{c:04X}: {pieces:?}, {:?}", theirs.get(c)))
        .collect();
    assert!(wrong.is_empty(), "{}: {}", wrong.len(), wrong.join("\n"));
}

#[test]
fn no_query_is_an_error() {
    let home = profile();
    let long_word = "x".repeat(10_000);
    let many_words = "never again ".repeat(900);
    let different_words: String = (0..1_500).map(|number| format!("w{number} ")).collect();
    let long_chinese = "推荐一家餐厅".repeat(600);
    let quotes = "\"".repeat(5_000);
    let brackets = "((((".repeat(500);
    let symbols = "=".repeat(100_000);
    for query in [
        "AND",
        "OR",
        "NOT",
        "NEAR",
        "NEAR(code seat, 2)",
        "code AND",
        "AND code",
        "code OR OR seat",
        "NOT code",
        "a NOT b NOT c",
        "item:code",
        "stems : code",
        "{item reason} : code",
        "{item",
        "}",
        "-item : code",
        "^code",
        "^",
        "code*",
        "*",
        "**",
        "* code",
        "code + seat",
        "+",
        "\"",
        "\"\"",
        "\"code",
        "code\"",
        "'",
        "';--",
        "'; DROP TABLE search; --",
        "(",
        ")",
        "()",
        "((code)",
        ":",
        "::",
        "\\",
        "%",
        "_",
        "?",
        "?1",
        "$1",
        "@x",
        ":x",
        "#1",
        "--",
        "-",
        "1e999",
        "NaN",
        "null",
        ",",
        ".",
        "…",
        "🚀",
        "👩‍💻",
        "🇫🇷",
        "☃️",
        "🅰",
        "مرحبا بالعالم",
        "שלום \"עולם\"",
        "\u{202e}edoc",
        "\u{200f}",
        "\u{301}",
        "\u{301}\u{308}\u{20dd}",
        "e\u{301}\u{301}\u{301}",
        "\u{94d}",
        "\u{200d}",
        "\u{200b}",
        "\u{feff}",
        "\u{fe0f}",
        "\u{ad}",
        "\u{e000}",
        "a \u{e000} b",
        "\u{fffd}",
        "\u{ffff}",
        "\u{10ffff}",
        "\u{1}",
        "\u{7}code\u{1b}[31m",
        "\u{7f}",
        "\u{9b}",
        "\n",
        "\t\r\n",
        "code\nseat",
        " ",
        "",
        "ﷺ",
        "İ",
        "ß",
        "ﬃ",
        "㍿",
        "ｶﾞ",
        "゛",
        "𰻞𰻞面",
        "𞤀𞤣",
        "हिन्दी",
        "ภาษาไทย",
        "Ⅷ½²",
        &long_word,
        &many_words,
        &different_words,
        &long_chinese,
        &quotes,
        &brackets,
        &symbols,
    ] {
        let shown: String = query.chars().take(40).collect();
        let run = home.run(&["recall", "--json", "--limit", "2", "--", query]);
        assert_eq!(run.code, 0, "{shown:?}: {}", run.stderr);
        let found: Vec<Value> = serde_json::from_str(&run.stdout)
            .unwrap_or_else(|error| panic!("{shown:?}: {error}: {}", run.stdout));
        assert!(found.len() <= 2, "{shown:?}");
        let what = if found.is_empty() {
            "nothing matched\n2 hard limits are in force: aizo recall --with-limits shows them\n"
        } else {
            ""
        };
        assert_eq!(run.stderr, what, "{shown:?}");
    }
}

#[rstest]
#[case::an_accent("\u{301}")]
#[case::accents("\u{301} \u{308}")]
#[case::a_control("\u{7}")]
#[case::a_joiner("\u{200d}")]
fn a_query_of_nothing_that_can_be_looked_for_is_no_request_for_everything(#[case] query: &str) {
    let home = profile();
    let no: [&str; 0] = [];
    assert_eq!(items(&home, &["recall", query]), no);
    assert_eq!(items(&home, &["recall", "--exact", query]), no);
}

// These are letters for Unicode and for us, and symbols for SQLite's tokenizer: U+1F150 to U+1F189.
#[rstest]
#[case("🅰")]
#[case("🅿")]
#[case("🅐")]
fn a_letter_in_a_frame_is_found_like_any_other(#[case] letter: &str) {
    let item = format!("sign {letter} at the door");
    let home = with(&[json!({"item": item, "reason": "-", "score": 9})]);
    for query in [letter.to_owned(), format!("sign {letter}")] {
        assert_eq!(
            items(&home, &["recall", "--exact", &query]),
            [item.as_str()]
        );
    }
}

/// Numbers that look random and are the same in each run.
struct Dice(u64);

impl Dice {
    fn below(&mut self, most: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).expect("it fits") % most
    }

    fn pick<'w>(&mut self, among: &[&'w str]) -> &'w str {
        among[self.below(among.len())]
    }
}

fn now() -> DateTime<Utc> {
    NOW.parse().expect("a time")
}

/// An entry for a store in memory.
struct Draft {
    item: String,
    reason: String,
    keywords: Vec<String>,
    scenarios: Vec<String>,
    score: f64,
    /// When it was last seen, in minutes before now.
    age: i64,
}

fn in_memory(drafts: &[Draft]) -> Store {
    let mut store = Store::in_memory(now()).expect("a store in memory");
    store
        .write(now(), |transaction| {
            for draft in drafts {
                let seen = Observation {
                    item: draft.item.clone(),
                    reason: draft.reason.clone(),
                    keywords: draft.keywords.clone(),
                    scenarios: draft.scenarios.clone(),
                    patterns: Vec::new(),
                    score: Some(Score::clamped(draft.score)),
                    source: "manual".into(),
                    origin: Origin::User,
                    quote: None,
                    evidence: None,
                };
                let at = now() - Duration::minutes(draft.age);
                let merge = observe(None, &seen, at, || transaction.new_uid());
                transaction.apply(&merge.change)?;
            }
            Ok::<_, StorageError>(())
        })
        .expect("every draft is stored");
    store
}

/// What a list should be, computed from the rows alone: those that answer, those that only the lowest score
/// hides, and the decay they fade with.
struct Oracle {
    rows: Vec<Preference>,
    decay: Decay,
}

#[derive(Debug, PartialEq)]
struct Answer {
    ids: Vec<i64>,
    limits_cut: usize,
    limits_hidden: usize,
}

impl Oracle {
    fn of(store: &Store) -> Self {
        Oracle {
            rows: store.view().preferences().expect("they are read"),
            decay: store.view().decay().expect("it is read"),
        }
    }

    /// The rows that hold the words and belong to the scenario of a request, whatever their scores.
    fn candidates(&self, request: &Request) -> BTreeSet<i64> {
        let bare = Request {
            bands: Vec::new(),
            min_score: None,
            ..request.clone()
        };
        self.rows
            .iter()
            .filter(|row| matches!(bare.judge(row), Verdict::Yes(_)))
            .map(|row| row.id)
            .collect()
    }

    /// The answer, written down as the design says it.
    fn answer(&self, request: &Request, candidates: &BTreeSet<i64>) -> Answer {
        let (mut limits, mut rest) = (Vec::new(), Vec::new());
        let mut limits_hidden = 0;
        for row in &self.rows {
            if !candidates.contains(&row.id) || !request.has_band(row.base_score) {
                continue;
            }
            if request.is_too_low(row.base_score) {
                limits_hidden += usize::from(row.is_hard_limit());
                continue;
            }
            let hit = Hit::new(row.clone(), None, &self.decay, now());
            if row.is_hard_limit() {
                limits.push(hit);
            } else {
                rest.push(hit);
            }
        }
        let seen = |hit: &Hit| hit.preference.last_seen.moment();
        let by_weight = |a: &Hit, b: &Hit| {
            b.weight
                .effective
                .total_cmp(&a.weight.effective)
                .then_with(|| seen(b).cmp(&seen(a)))
                .then_with(|| a.preference.id.cmp(&b.preference.id))
        };
        limits.sort_by(|a, b| {
            let score = |hit: &Hit| hit.preference.base_score.value();
            score(a)
                .total_cmp(&score(b))
                .then_with(|| seen(b).cmp(&seen(a)))
                .then_with(|| a.preference.id.cmp(&b.preference.id))
        });
        rest.sort_by(by_weight);
        let all = limits.len();
        let limit = request.limit.unwrap_or(usize::MAX);
        limits.truncate(limit);
        let limits_cut = all - limits.len();
        rest.truncate(limit - limits.len());
        limits.extend(rest);
        limits.sort_by(by_weight);
        Answer {
            ids: limits.iter().map(|hit| hit.preference.id).collect(),
            limits_cut,
            limits_hidden,
        }
    }
}

fn answer_of(store: &Store, request: &Request) -> Answer {
    let selection = store
        .view()
        .find(request, now())
        .expect("no request is an error");
    Answer {
        ids: selection.hits.iter().map(|hit| hit.preference.id).collect(),
        limits_cut: selection.limits_cut,
        limits_hidden: selection.limits_hidden,
    }
}

/// Words of many scripts, with and without symbols; some are in no older Unicode.
const VOCABULARY: &[&str] = &[
    "code",
    "codes",
    "coding",
    "verbose",
    "verb",
    "report",
    "repo",
    "testing",
    "flaky",
    "tests",
    "don't",
    "C++",
    "C#",
    ".NET",
    "next.js",
    "100%",
    "snake_case",
    "force-push",
    "#tag",
    "@me",
    "$50",
    "a/b",
    "x=1",
    "École",
    "naïve",
    "Straße",
    "ﬁle",
    "ｃｏｄｅ",
    "İstanbul",
    "ısı",
    "Ångström",
    "œuvre",
    "Ⅷ",
    "½",
    "①",
    "设备名称",
    "推荐一家餐厅",
    "代码",
    "用gen生成代码",
    "不要emoji",
    "𰻞𰻞面",
    "々",
    "〇",
    "コーヒー",
    "ｺｰﾋｰ",
    "日本語のコメント",
    "パン",
    "ハン",
    "短い",
    "짧은",
    "대답을",
    "한국어",
    "комментарии",
    "йод",
    "Ὀδυσσεύς",
    "σοφός",
    "السلام",
    "قَلَم",
    "שלום",
    "हिन्दी",
    "क्या",
    "ภาษาไทย",
    "தமிழ்",
    "Ꮳꮃꭹ",
    "ქართული",
    "ᲥᲐᲠᲗ",
    "𞤀𞤣𞤤𞤢𞤥",
    "𐓏𐓘𐓻",
    "Աշտարակ",
    "አማርኛ",
    "🚀",
    "👩‍💻",
    "🇫🇷",
    "☃",
    "—",
    "…",
    "&",
];

fn text_of(dice: &mut Dice, most: usize) -> String {
    let words: Vec<&str> = (0..=dice.below(most))
        .map(|_| dice.pick(VOCABULARY))
        .collect();
    // Not every script puts spaces between words.
    words.join(if dice.below(5) == 0 { "" } else { " " })
}

fn query_of(dice: &mut Dice) -> String {
    let word = dice.pick(VOCABULARY);
    let characters: Vec<char> = word.chars().collect();
    match dice.below(6) {
        0 | 1 => word.to_owned(),
        2 => word.to_uppercase(),
        3 => characters[..=dice.below(characters.len())].iter().collect(),
        4 => characters[dice.below(characters.len())..].iter().collect(),
        _ => format!("{word} {}", text_of(dice, 2)),
    }
}

#[test]
fn words_find_exactly_what_a_scan_of_the_rows_finds_in_every_script() {
    let mut dice = Dice(0x2545_F491_4F6C_DD1D);
    let drafts: Vec<Draft> = (0..300)
        .map(|number| Draft {
            item: format!("{} {number}", text_of(&mut dice, 3)),
            reason: text_of(&mut dice, 3),
            keywords: (0..dice.below(3)).map(|_| text_of(&mut dice, 2)).collect(),
            scenarios: Vec::new(),
            score: [0.0, 0.5, 1.5, 1.6, 4.0, 5.5, 6.5, 7.0, 9.0, 10.0][dice.below(10)],
            age: i64::try_from(dice.below(400_000)).expect("it fits"),
        })
        .collect();
    let store = in_memory(&drafts);
    let oracle = Oracle::of(&store);
    let mut queries: BTreeSet<String> = VOCABULARY.iter().map(|&word| word.to_owned()).collect();
    while queries.len() < 220 {
        queries.insert(query_of(&mut dice));
    }
    let mut wrong = Vec::new();
    let mut found = 0;
    for query in queries {
        let request = Request {
            meaning: Meaning::Off,
            ..Request::for_text(&query)
        };
        let candidates = oracle.candidates(&request);
        found += usize::from(!candidates.is_empty());
        for limit in [None, Some(1), Some(3), Some(10)] {
            let request = Request {
                limit,
                ..request.clone()
            };
            let right = oracle.answer(&request, &candidates);
            let given = answer_of(&store, &request);
            if given != right {
                wrong.push(format!(
                    "{query:?} --limit {limit:?}: {given:?}, not {right:?}"
                ));
            }
        }
    }
    assert!(found > 150, "most queries find something: {found}");
    assert!(
        wrong.is_empty(),
        "{} wrong: {}",
        wrong.len(),
        wrong.join("\n")
    );
}

/// Four thousand entries; words and tags in one, a few, many and nearly all of them.
fn thousands() -> Vec<Draft> {
    let mut dice = Dice(0x9E37_79B9_7F4A_7C15);
    (0..4_000_usize)
        .map(|number| {
            // 7 and 4,000 have no common factor, so each place comes up once.
            let place = number * 7 % 4_000;
            let mut words = Vec::new();
            words.extend((place == 17).then_some("unique"));
            words.extend((place % 100 == 3).then_some("forty"));
            words.extend((place < 1_500).then_some("many"));
            words.extend((place >= 100).then_some("nearly"));
            words.extend((place % 50 == 1).then_some("a++"));
            let mut scenarios = Vec::new();
            scenarios.extend((place % 200 == 9).then(|| "Rare".to_owned()));
            scenarios.extend((place % 2 == 1).then(|| "wide".to_owned()));
            Draft {
                item: format!("n{number}"),
                reason: words.join(" "),
                keywords: Vec::new(),
                scenarios,
                score: match dice.below(40) {
                    0 => [0.0, 0.5, 1.5][dice.below(3)],
                    1..=20 => f64::from(u32::try_from(dice.below(101)).expect("it fits")) / 10.0,
                    _ => [1.6, 4.0, 6.5, 7.0, 9.0, 10.0][dice.below(6)],
                },
                // Some in the future, some at the same time.
                age: i64::try_from(dice.below(60)).expect("it fits") * 7_000 - 7_000,
            }
        })
        .collect()
}

#[test]
fn a_limited_list_of_thousands_is_what_sorting_all_of_them_gives() {
    let store = in_memory(&thousands());
    let oracle = Oracle::of(&store);
    let scenario = |names: &[&str], keywords: &[&str]| {
        let owned = |texts: &[&str]| {
            texts
                .iter()
                .map(|&text| text.to_owned())
                .collect::<Vec<_>>()
        };
        Some(ScenarioFilter::new(&owned(names), &owned(keywords)))
    };
    let questions = [
        ("", None),
        ("unique", None),
        ("forty", None),
        ("many", None),
        ("nearly", None),
        ("a++", None),
        ("++", None),
        ("absent", None),
        ("", scenario(&["rare"], &[])),
        ("", scenario(&["wide"], &[])),
        ("", scenario(&["rare"], &["forty", "unique"])),
        ("", scenario(&["rare"], &["++"])),
        ("", scenario(&["none"], &["nearly"])),
    ];
    let filters: [(&[Band], Option<f64>); 6] = [
        (&[], None),
        (&[Band::Preference], None),
        (&[Band::Habit, Band::Taboo], None),
        (&[], Some(9.5)),
        (&[Band::Aversion, Band::Style], Some(3.0)),
        (&[], Some(1.0)),
    ];
    let mut wrong = BTreeMap::new();
    for (words, scenario) in questions {
        let question = Request {
            text: words.to_owned(),
            words: Words::query(words),
            scenario,
            meaning: Meaning::Off,
            ..Request::default()
        };
        let candidates = oracle.candidates(&question);
        for (bands, min_score) in filters {
            for limit in [1, 7, 130] {
                let request = Request {
                    bands: bands.to_vec(),
                    min_score: min_score.map(Score::clamped),
                    limit: Some(limit),
                    ..question.clone()
                };
                let right = oracle.answer(&request, &candidates);
                let given = answer_of(&store, &request);
                if given != right {
                    let asked = (words, request.scenario.is_some(), bands, min_score, limit);
                    wrong.insert(format!("{asked:?}"), (given, right));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} wrong: {wrong:#?}", wrong.len());
}

#[test]
fn words_and_a_kind_of_task_bring_what_both_name_and_the_limits_of_the_kind() {
    let home = with(&[
        json!({"item": "tidy code", "reason": "-", "score": 9, "scenarios": ["shipping"]}),
        json!({"item": "old code", "reason": "-", "score": 8}),
        json!({"item": "deploys on Fridays", "reason": "-", "score": 1, "scenarios": ["shipping"]}),
        json!({"item": "shouting", "reason": "-", "score": 0}),
    ]);
    let asked = ["recall", "code", "--scenario", "shipping"];
    assert_eq!(items(&home, &asked), ["tidy code", "deploys on Fridays"]);
    let one = ["recall", "code", "--scenario", "shipping", "--limit", "1"];
    assert_eq!(items(&home, &one), ["deploys on Fridays"]);
}

#[test]
fn two_thousand_hostile_queries_are_no_error_and_end_soon() {
    use aizo::recall::{Meaning, Request};
    use aizo::storage::{Location, Store};

    let home = Home::new();
    for (item, reason) in [
        ("concise code", "asked twice"),
        ("C++ and .NET", "100% of the time"),
        ("设备名称", "用gen生成代码"),
        ("no 🚀 in commits", "said so"),
    ] {
        home.ok(&["add", item, reason]);
    }
    let now = "2026-11-30T12:00:00Z".parse().expect("a time");
    let location = Location {
        path: home.db(),
        patience: std::time::Duration::from_secs(5),
    };
    let store = Store::open_for_reading(&location, now)
        .expect("the store opens")
        .expect("there is one");
    let operators = [
        "\"", "'", "*", "^", "(", ")", "{", "}", ":", "-", "+", "AND", "OR", "NOT", "NEAR(", ";--",
        "%", "_", "\\", "\0", "\u{202e}", "\u{200b}", "\u{feff}", "\u{301}", "\n", "code", "设备",
        "C++", "item:", "stems :",
    ];
    let mut state = 0x2545_F491_4F6C_DD1D_u64;
    let mut random = |below: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state % below
    };
    let begin = std::time::Instant::now();
    for number in 0..2_000u32 {
        let mut query = String::new();
        match number % 4 {
            // Operators and words in any order.
            0 | 1 => {
                for _ in 0..=random(8) {
                    let index = usize::try_from(random(operators.len() as u64)).expect("an index");
                    query.push_str(operators[index]);
                    if random(2) == 0 {
                        query.push(' ');
                    }
                }
            }
            // A few characters of each block of Unicode in turn.
            2 => {
                let block = (number / 4) * 0x110000 / 500;
                query.extend((0..8).filter_map(|offset| char::from_u32(block + offset * 7)));
            }
            // Something long: up to 100 kB.
            _ => {
                let index = usize::try_from(random(operators.len() as u64)).expect("an index");
                let length = if number % 100 == 3 { 100_000 } else { 2_000 };
                while query.len() < length {
                    query.push_str(operators[index]);
                    query.push(' ');
                }
            }
        }
        for meaning in [Meaning::Off, Meaning::Also] {
            let request = Request {
                meaning,
                limit: Some(3),
                ..Request::for_text(&query)
            };
            let found = store.view().find(&request, now);
            assert!(
                found.is_ok_and(|found| found.hits.len() <= 3),
                "{query:.80?}"
            );
        }
    }
    // Bounded, not fast: a query that runs away would take longer by itself.
    assert!(begin.elapsed() < std::time::Duration::from_secs(300));
}
