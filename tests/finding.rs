//! `recall`, `top` and `show`: what is found, in which order, and what a list says about what it left out.

#[allow(
    dead_code,
    reason = "what is learned from reasons and keywords is of no concern here"
)]
#[path = "../benches/practice.rs"]
mod practice;

use aizo::model::item_key;
use rstest::rstest;
use serde_json::{Value, json};

use crate::common::Home;

/// Stores entries of these items, each with its score.
fn with(entries: &[(&str, f64)]) -> Home {
    let home = Home::new();
    store(&home, entries);
    home
}

fn store(home: &Home, entries: &[(&str, f64)]) {
    let lines: Vec<String> = entries
        .iter()
        .map(|(item, score)| json!({"item": item, "reason": "-", "score": score}).to_string())
        .collect();
    let run = home.run_with_input(&["add", "--stdin"], lines.join("\n").as_bytes());
    assert_eq!(run.code, 0, "{run:?}");
}

/// The items of a list, in its order.
fn items(home: &Home, arguments: &[&str]) -> Vec<String> {
    let entries: Vec<Value> = home.json(arguments);
    let item = |entry: &Value| entry["item"].as_str().expect("a text").to_owned();
    entries.iter().map(item).collect()
}

/// One entry on every boundary and one inside every band.
fn bands() -> Home {
    with(&[
        ("s0", 0.0),
        ("s1.5", 1.5),
        ("s1.6", 1.6),
        ("s4", 4.0),
        ("s5", 5.0),
        ("s6.5", 6.5),
        ("s7", 7.0),
        ("s10", 10.0),
    ])
}

#[rstest]
#[case("taboo", &["s1.5", "s0"])]
#[case("aversion", &["s4", "s1.6"])]
#[case("habit", &["s6.5", "s5", "s4"])]
#[case("style", &["s10", "s7", "s6.5"])]
#[case("preference", &["s10", "s7"])]
#[case("limit", &["s1.5", "s0"])]
#[case("hard", &["s1.5", "s0"])]
#[case("dislike", &["s4", "s1.6"])]
#[case("hate", &["s4", "s1.6"])]
#[case("neutral", &["s6.5", "s5", "s4"])]
#[case("pref", &["s10", "s7"])]
#[case("like", &["s10", "s7"])]
#[case("LOVE", &["s10", "s7"])]
#[case("taboo,hate", &["s4", "s1.6", "s1.5", "s0"])]
fn a_type_finds_its_closed_range_under_every_name(#[case] name: &str, #[case] found: &[&str]) {
    let home = bands();
    assert_eq!(items(&home, &["recall", "--type", name]), found);
    assert_eq!(items(&home, &["recall", "--score-band", name]), found);
    assert_eq!(items(&home, &["top", "-t", name]), found);
}

#[test]
fn types_add_up_and_options_may_follow_the_words() {
    let home = bands();
    let both = ["s6.5", "s5", "s4", "s1.5", "s0"];
    assert_eq!(items(&home, &["recall", "--type", "taboo,habit"]), both);
    assert_eq!(
        items(&home, &["recall", "-t", "taboo", "-t", "habit"]),
        both
    );
    store(&home, &[("short code", 9.0), ("long code", 0.5)]);
    assert_eq!(
        items(&home, &["recall", "code", "--type", "taboo"]),
        ["long code"]
    );
    assert_eq!(
        items(&home, &["recall", "--type", "taboo", "code"]),
        ["long code"]
    );
    assert_eq!(
        items(&home, &["recall", "long", "--limit", "3", "code"]),
        ["long code"]
    );
}

#[test]
fn finding_nothing_says_that_limits_are_in_force_all_the_same() {
    let home = Home::new();
    home.ok(&["add", "force-push to main", "never", "--score", "0.5"]);
    for arguments in [
        &["recall", "--exact", "gardening"][..],
        &["recall", "--exact", "gardening", "--json"],
        &["top", "--scenario", "design"],
    ] {
        let run = home.run(arguments);
        assert_eq!(run.code, 0, "{run:?}");
        assert!(
            run.stderr
                .contains("1 hard limit is in force: aizo recall --with-limits shows it"),
            "{run:?}"
        );
    }
    let shown: Vec<Value> = home.json(&["recall", "--exact", "gardening", "--with-limits"]);
    assert_eq!(shown.len(), 1);
}

#[test]
fn min_score_is_strict_and_says_which_limits_it_hides() {
    let home = bands();
    let run = home.run(&["recall", "--min-score", "4", "--json"]);
    assert!(run.stderr.contains("hides 2 hard limits"), "{run:?}");
    assert_eq!(
        items(&home, &["recall", "--min-score", "4"]),
        ["s10", "s7", "s6.5", "s5", "s4"]
    );
    // It raises the lower end of each type; a type wholly below it drops out.
    let two_types = ["recall", "--type", "hate,like", "--min-score", "4"];
    assert_eq!(items(&home, &two_types), ["s10", "s7", "s4"]);
    assert_eq!(home.run(&two_types).stderr, "", "no limit was asked for");
    let nothing = home.run(&["recall", "--type", "taboo", "--min-score", "2", "--json"]);
    assert_eq!((nothing.code, nothing.stdout.as_str()), (0, "[]\n"));
    assert!(nothing.stderr.contains("nothing matched"), "{nothing:?}");
    assert!(!nothing.stderr.contains("in force"), "{nothing:?}");
    assert!(
        nothing.stderr.contains("hides 2 hard limits"),
        "{nothing:?}"
    );
    let all = home.run(&["top", "--min-score", "0"]);
    assert_eq!(all.stderr, "", "nothing is hidden");
    assert!(
        home.run(&["top", "--min-score", "1"])
            .stderr
            .contains("hides 1 hard limit:")
    );
}

#[test]
fn hard_limits_are_inside_every_limit() {
    let home = Home::new();
    home.ok(&["add", "force-push", "lost a day", "--score", "0.5"]);
    let names: Vec<String> = (0..100).map(|number| format!("habit {number}")).collect();
    let ordinary: Vec<(&str, f64)> = names.iter().map(|name| (name.as_str(), 9.0)).collect();
    store(&home, &ordinary);
    let check = |home: &Home| {
        for (arguments, rows) in [
            (&["recall", "--limit", "5"][..], 5),
            (&["recall", "--limit", "1"], 1),
            (&["top", "3"], 3),
            (&["top"], 10),
            (&["top", "--type", "taboo"], 1),
        ] {
            let found = items(home, arguments);
            assert_eq!(found.len(), rows, "{arguments:?}");
            assert_eq!(
                found.last().map(String::as_str),
                Some("force-push"),
                "{arguments:?}"
            );
        }
    };
    check(&home);
    home.ok(&["clear", "--yes"]);
    assert!(items(&home, &["recall"]).is_empty());
    home.ok(&["undo"]);
    check(&home);
    // Years later too.
    check(&home.at("2040-01-01T00:00:00+00:00"));
}

#[rstest]
#[case(&["recall", "--limit", "1"])]
#[case(&["top", "1"])]
fn a_limit_without_a_place_is_counted_and_the_way_to_it_told(#[case] arguments: &[&str]) {
    let home = bands();
    let run = home.run(arguments);
    assert!(run.stderr.contains("1 hard limit"), "{run:?}");
    assert!(run.stderr.contains("aizo recall --type taboo"), "{run:?}");
    assert_eq!(items(&home, arguments), ["s0"], "the lowest score stays");
    if arguments[0] == "top" {
        assert!(
            !run.stderr.contains("--limit"),
            "top has no such option: {run:?}"
        );
    }
}

#[test]
fn the_strongest_comes_first_then_the_newest() {
    let home = with(&[("old eight", 8.0), ("old ten", 10.0)]).at("2027-03-01T12:00:00+00:00");
    store(
        &home,
        &[("new eight", 8.0), ("new seven", 7.9), ("new ten", 10.0)],
    );
    assert_eq!(
        items(&home, &["recall"]),
        ["new ten", "old ten", "new eight", "new seven", "old eight"]
    );
}

#[test]
fn no_touch_says_that_it_does_nothing() {
    let run = bands().run(&["recall", "--no-touch"]);
    assert_eq!(run.code, 0);
    assert!(run.stderr.contains("--no-touch does nothing"), "{run:?}");
}

#[test]
fn touch_refreshes_once_in_twelve_hours_what_was_found() {
    let home = with(&[("tabs", 5.0), ("tea", 5.0)]).at("2026-11-30T23:59:59+00:00");
    let seen = |home: &Home| {
        let entry: Value = home.json(&["show", "tabs"]);
        (entry["last_seen"].clone(), entry["touch_count"].clone())
    };
    home.ok(&["recall", "tabs", "--touch"]);
    assert_eq!(seen(&home), ("2026-11-30T12:00:00+00:00".into(), 0.into()));
    let home = home.at("2026-12-01T00:00:00+00:00");
    let run = home.run(&["recall", "tabs", "--touch"]);
    assert_eq!(seen(&home), ("2026-12-01T00:00:00+00:00".into(), 1.into()));
    let tea: Value = home.json(&["show", "tea"]);
    assert_eq!(tea["touch_count"], 0);
    home.ok(&["recall", "--touch"]);
    assert_eq!(seen(&home).1, 1);
    // The list is the answer; that something was written is said beside it.
    assert!(!run.stderr.is_empty(), "a write is never silent: {run:?}");
}

#[test]
fn an_entry_is_shown_by_its_words_or_its_number() {
    let home = with(&[("concise code", 9.0), ("404", 8.0), ("2", 7.0)]);
    let shown = |words: &[&str]| -> Value {
        let entry: Value = home.json(&[&["show"], words].concat());
        entry["id"].clone()
    };
    assert_eq!(shown(&["concise code"]), 1);
    assert_eq!(shown(&["Concise", "CODE"]), 1);
    assert_eq!(shown(&["1"]), 1);
    assert_eq!(shown(&["#1"]), 1);
    assert_eq!(shown(&["404"]), 2, "a name goes before a number");
    assert_eq!(shown(&["2"]), 3, "a name goes before a number");
    assert_eq!(shown(&["#2"]), 2, "a number sign means the number");
}

#[rstest]
#[case::mistyped("concise coed", "did you mean “concise code”?")]
#[case::a_part("concise", "did you mean “concise code”?")]
#[case::nothing_like_it("zebra", "aizo show lists the entries")]
#[case::removed("long meetings", "it was removed by change 2: aizo undo 2")]
fn a_name_that_is_not_there_comes_with_the_nearest(#[case] typed: &str, #[case] hint: &str) {
    let home = with(&[("concise code", 9.0)]);
    store(&home, &[("long meetings", 3.0)]);
    home.ok(&["remove", "long meetings"]);
    for command in ["show", "why", "touch", "remove"] {
        let run = home.run(&[command, typed]);
        assert_eq!(run.code, 1, "{run:?}");
        let hint = hint
            .replace("change 2", "change 3")
            .replace("undo 2", "undo 3");
        assert!(run.stderr.contains(&hint), "{run:?}");
    }
}

/// Entries that a scenario finds in each of its ways, and some that it must not.
fn tagged() -> Home {
    let home = Home::new();
    let lines = [
        json!({"item": "by tag", "reason": "-", "score": 9, "scenarios": ["deploying"]}),
        json!({"item": "by alias", "reason": "-", "score": 8, "scenarios": ["Shipping"]}),
        json!({"item": "by keyword", "reason": "the repo is clean", "score": 7}),
        json!({"item": "by its own keywords", "reason": "-", "score": 6, "keywords": ["repo"]}),
        json!({"item": "the report", "reason": "no whole word", "score": 5}),
        json!({"item": "other tag", "reason": "-", "score": 4, "scenarios": ["gardening"]}),
        json!({"item": "上线前先备份", "reason": "-", "score": 3}),
    ]
    .map(|line| line.to_string());
    assert_eq!(
        home.run_with_input(&["add", "--stdin"], lines.join("\n").as_bytes())
            .code,
        0
    );
    std::fs::write(
        home.aizo().join("scenarios.yaml"),
        "scenarios:\n  deploying:\n    keywords: [repo, 上线]\n    aliases: [shipping]\n",
    )
    .expect("the folder is writable");
    home
}

#[rstest]
#[case::its_name("deploying")]
#[case::any_case("DEPLOYING")]
#[case::its_alias("shipping")]
fn a_scenario_finds_by_tag_alias_and_whole_keyword(#[case] name: &str) {
    let found = [
        "by tag",
        "by alias",
        "by keyword",
        "by its own keywords",
        "上线前先备份",
    ];
    let home = tagged();
    assert_eq!(items(&home, &["recall", "--scenario", name]), found);
    assert_eq!(items(&home, &["top", "--scenario", name]), found);
    let narrowed = ["recall", "by", "--scenario", name, "--type", "like"];
    assert_eq!(items(&home, &narrowed), found[..3]);
}

#[test]
fn an_unknown_scenario_says_so_and_finds_what_is_tagged_with_it() {
    let home = tagged();
    let run = home.run(&["recall", "--scenario", "gardening", "--json"]);
    assert!(run.stderr.contains("“gardening”"), "{run:?}");
    assert_eq!(
        items(&home, &["recall", "--scenario", "gardening"]),
        ["other tag"]
    );
    let run = home.run(&["recall", "--scenario", "juggling", "--json"]);
    assert_eq!((run.code, run.stdout.as_str()), (0, "[]\n"));
    assert!(run.stderr.contains("“juggling”"), "{run:?}");
    assert!(run.stderr.contains("nothing matched"), "{run:?}");
}

#[test]
fn the_built_in_scenarios_work_without_a_file() {
    let home = Home::new();
    home.ok(&["add", "short functions", "likes them"]);
    home.ok(&["add", "写代码前先问", "要求过两次"]);
    home.ok(&["add", "green tea", "in the morning"]);
    let found = items(&home, &["recall", "--scenario", "coding"]);
    assert!(found.contains(&"写代码前先问".to_owned()), "{found:?}");
    assert!(!found.contains(&"green tea".to_owned()), "{found:?}");
    assert_eq!(items(&home, &["recall", "--scenario", "编程"]), found);
    assert!(
        !home.aizo().join("scenarios.yaml").exists(),
        "reading writes no file"
    );
}

#[test]
fn what_other_languages_take_for_an_operator_is_plain_text() {
    let home = with(&[
        ("100% coverage", 9.0),
        ("snake_case names", 8.0),
        ("say \"please\"", 7.0),
        ("tabs OR spaces", 6.0),
        ("it's fine", 5.0),
        ("x* is a glob", 4.0),
    ]);
    for (query, found) in [
        ("%", "100% coverage"),
        ("100%", "100% coverage"),
        ("_", "snake_case names"),
        ("\"", "say \"please\""),
        ("\"please\"", "say \"please\""),
        ("OR", "tabs OR spaces"),
        ("tabs OR spaces", "tabs OR spaces"),
        ("it's", "it's fine"),
        ("*", "x* is a glob"),
    ] {
        assert_eq!(items(&home, &["recall", query]), [found], "{query}");
    }
    for query in [
        "tabs AND spaces",
        "NEAR(tabs)",
        "item:tabs",
        "tabs NOT names",
        "';--",
    ] {
        let found = home.run(&["recall", "--exact", "--json", "--", query]);
        assert_eq!((found.code, found.stdout.as_str()), (0, "[]\n"), "{query}");
    }
}

#[rstest]
#[case::beginning_of_the_last_word("verb", "verbose comments", true)]
#[case::only_the_last("verb comments", "verbose comments", false)]
#[case::no_end_of_a_word("bose", "verbose comments", false)]
#[case::any_order("comments verb", "verbose comments", true)]
#[case::accents("ECOLE", "École", true)]
#[case::typed_accents("école", "Ecole", true)]
#[case::full_width("ｃｏｄｅ", "concise code", true)]
#[case::chinese_beginning("设备", "设备名称", true)]
#[case::chinese_inside("名称", "设备名称", true)]
#[case::chinese_apart("设名", "设备名称", false)]
#[case::latin_among_chinese("gen", "用gen生成代码", true)]
#[case::chinese_after_latin("生成", "用gen生成代码", true)]
#[case::plus_signs("C++", "modern C++ only", true)]
#[case::not_the_bare_letter("C++", "C and Rust", false)]
#[case::leading_dot(".NET", "avoid .NET here", true)]
#[case::not_the_bare_word(".NET", "the net is down", false)]
#[case::hyphen("force-push", "never force push", true)]
#[case::emoji("🚀", "no 🚀 in commits", true)]
fn a_query_finds(#[case] query: &str, #[case] item: &str, #[case] found: bool) {
    let home = with(&[(item, 9.0)]);
    let recalled = items(&home, &["recall", "--exact", query]);
    assert_eq!(recalled.len(), usize::from(found));
    // The words of a query may come as one argument or as several.
    let words: Vec<&str> = query.split(' ').collect();
    let apart = [&["recall", "--exact"], words.as_slice()].concat();
    assert_eq!(items(&home, &apart).len(), usize::from(found));
}

#[test]
fn reason_and_keywords_are_searched_too() {
    let home = Home::new();
    home.ok(&[
        "add",
        "tabs",
        "for indentation",
        "--keywords",
        "white space",
    ]);
    for query in ["indent", "white", "tabs for space"] {
        assert_eq!(items(&home, &["recall", query]), ["tabs"], "{query}");
    }
}

#[test]
fn what_is_learned_from_is_not_what_is_measured_with() {
    let measured = practice::measured();
    let learned = practice::practice();
    assert!(learned.tasks.len() > 4_000 && measured.len() > 1_000);
    assert!(
        learned
            .tasks
            .iter()
            .any(|task| task.is_idle && task.called.is_empty())
    );
    let items = learned
        .preferences
        .iter()
        .map(|preference| &preference.item);
    let tasks = learned.tasks.iter().map(|task| &task.text);
    let both: Vec<&String> = items
        .chain(tasks)
        .filter(|text| measured.contains(&item_key(text)))
        .collect();
    assert!(both.is_empty(), "{both:?}");
}
