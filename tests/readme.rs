//! The READMEs against the program: their commands run, their tables and numbers are what the program
//! computes, and the two languages say the same.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use aizo::commands::Cli;
use aizo::error::Kind;
use aizo::model::{Band, Score};
use aizo::recall::{LEAST, LEAST_ACROSS_SCRIPTS, SURE};
use aizo::scenarios::Scenarios;
use aizo::scoring::{Decay, exponent, smooth, weight};
use clap::CommandFactory;
use serde_json::Value;

use crate::common::Home;
use crate::common::pages::{
    Block, blocks, codes, commands, numbers, prose, table, tables, text_of,
};

const ENGLISH: &str = "README.md";
const CHINESE: &str = "README.zh.md";
const BOTH: [&str; 2] = [ENGLISH, CHINESE];

#[cfg(unix)]
mod session {
    use aizo::recall::context::OPEN;

    use super::*;
    use crate::common::pages::session::run;

    #[test]
    fn every_command_of_the_readme_runs_in_an_empty_home() {
        for file in BOTH {
            let home = Home::new();
            let text = text_of(file);
            assert!(blocks(&text, "sh").len() > 5, "{file} shows its commands");
            let session = run(&home, file, &text, None);
            let ended = session.run;
            assert_eq!(ended.code, 0, "{file}: {}", ended.stderr);
            assert!(ended.stderr.ends_with("every block ran\n"), "{file}");
            let printed: String = session.printed.into_iter().map(|one| one.text).collect();
            assert!(
                text.matches("# finds “").count() + text.matches("# 找到 “").count() > 1,
                "{file} shows what is found by meaning"
            );
            let contexts: Vec<Block> = blocks(&text, "text")
                .into_iter()
                .filter(|block| block.text.starts_with(OPEN))
                .collect();
            assert_eq!(contexts.len(), 1, "{file} shows a context");
            assert!(
                printed.contains(&contexts[0].text),
                "{file}, line {}: no command printed this",
                contexts[0].line
            );

            let stored = rusqlite::Connection::open(home.db()).expect("the blocks made a store");
            let queries: Vec<String> = blocks(&text, "sql")
                .into_iter()
                .map(|block| block.text)
                .chain(codes(&prose(&text)))
                .filter(|code| code.starts_with("SELECT "))
                .collect();
            assert_eq!(queries.len(), 2, "{file}");
            for query in queries {
                let mut statement = stored
                    .prepare(&query)
                    .unwrap_or_else(|error| panic!("{file}, {query}: {error}"));
                let mut found = statement.query([]).expect("the query starts");
                let first = found.next().expect("the query runs");
                assert!(first.is_some(), "{file}, {query}: nothing found");
            }
        }
    }

    #[test]
    fn a_block_that_fails_is_named() {
        let text = "a\n```sh\naizo info\n```\n\n```sh\naizo nonsense\n```\n";
        let ended = run(&Home::new(), "X.md", text, None).run;
        assert_ne!(ended.code, 0);
        assert!(
            ended.stderr.contains("failed in X.md, line 6"),
            "{}",
            ended.stderr
        );
        assert!(!ended.stderr.contains("every block ran"));
    }
}

#[test]
fn both_languages_show_the_same_commands_in_the_same_order() {
    let english = commands(&text_of(ENGLISH));
    assert_eq!(english, commands(&text_of(CHINESE)));
    assert!(english.contains(&"cargo run --release -- demo".to_owned()));
    assert!(english.contains(&"cargo test".to_owned()));
    for line in english {
        assert!(
            !line.starts_with("$ "),
            "{line} cannot be pasted into a shell"
        );
    }
}

#[test]
fn both_languages_have_the_same_outline_and_the_same_tables() {
    let outline = |file| -> Vec<usize> {
        prose(&text_of(file))
            .lines()
            .filter(|line| line.starts_with('#'))
            .map(|line| line.chars().take_while(|&c| c == '#').count())
            .collect()
    };
    assert_eq!(outline(ENGLISH), outline(CHINESE));
    let fences = |file| -> Vec<String> {
        ["sh", "json", "yaml", "sql", "text"]
            .into_iter()
            .flat_map(|language| blocks(&text_of(file), language))
            .map(|block| block.language)
            .collect()
    };
    assert_eq!(fences(ENGLISH), fences(CHINESE));
    // What stands in backticks in a table is a name of the program, in any language.
    let names = |file| -> Vec<Vec<String>> {
        tables(&text_of(file))
            .concat()
            .iter()
            .map(|row| codes(&row.join("|")))
            .collect()
    };
    for (index, (english, chinese)) in names(ENGLISH).iter().zip(names(CHINESE)).enumerate() {
        assert_eq!(english, &chinese, "table row {index}");
    }
    assert_eq!(names(ENGLISH).len(), names(CHINESE).len());
    let figures = |file| -> Vec<Vec<f64>> {
        tables(&text_of(file))
            .concat()
            .iter()
            .map(|row| numbers(&row.join("|")))
            .collect()
    };
    assert_eq!(figures(ENGLISH), figures(CHINESE));
}

#[test]
fn the_thresholds_of_meaning_are_the_ones_that_hold() {
    for file in BOTH {
        // Elsewhere the same figures stand for other things.
        let prose = prose(&text_of(file));
        let paragraph = prose
            .split("\n\n")
            .map(str::trim_start)
            .find(|paragraph| paragraph.starts_with("`relevance` "))
            .expect("a paragraph on relevance");
        for threshold in [LEAST, LEAST_ACROSS_SCRIPTS, SURE] {
            let shown = format!("{threshold:.2}");
            assert!(paragraph.contains(&shown), "{file} does not show {shown}");
        }
    }
}

#[test]
fn the_command_table_names_every_command_and_only_options_that_exist() {
    let mut tree = Cli::command();
    tree.build();
    let global: BTreeSet<String> = long_options(&tree);
    let exist: BTreeMap<String, BTreeSet<String>> = tree
        .get_subcommands()
        .filter(|command| !command.is_hide_set() && command.get_name() != "help")
        .map(|command| {
            let options = std::iter::once(command)
                .chain(command.get_subcommands())
                .flat_map(long_options)
                .collect();
            (command.get_name().to_owned(), options)
        })
        .collect();
    for (file, head) in [(ENGLISH, "command"), (CHINESE, "命令")] {
        let text = text_of(file);
        let mut named = BTreeSet::new();
        for row in table(&text, head) {
            let usage = codes(&row[0]).remove(0);
            let name = usage.split(' ').next().unwrap_or_default().to_owned();
            let known = exist
                .get(&name)
                .unwrap_or_else(|| panic!("{file}: there is no command {name}"));
            for option in codes(&row[2]) {
                assert!(
                    known.contains(&option) && !global.contains(&option),
                    "{file}: {name} has no {option}"
                );
            }
            assert!(named.insert(name.clone()), "{file}: {name} stands twice");
        }
        let missing: Vec<&String> = exist.keys().filter(|name| !named.contains(*name)).collect();
        assert!(missing.is_empty(), "{file} does not name {missing:?}");
        for option in global.iter().filter(|&name| name != "--help") {
            assert!(
                option == "--version" || text.contains(option.as_str()),
                "{file}: {option}"
            );
        }
    }
}

fn long_options(command: &clap::Command) -> BTreeSet<String> {
    command
        .get_arguments()
        .filter_map(|argument| argument.get_long())
        .map(|name| format!("--{name}"))
        .collect()
}

#[test]
fn the_decay_table_is_what_the_formulas_give() {
    let decay = Decay::default();
    let days = [
        0.0,
        decay.half_life_days,
        3.0 * decay.half_life_days,
        f64::INFINITY,
    ];
    for file in BOTH {
        let shown = table(&text_of(file), "d(t)");
        assert_eq!(shown.len(), days.len(), "{file}");
        for (row, age) in shown.iter().zip(days) {
            if age.is_finite() {
                assert_eq!(numbers(&row[0]).first(), Some(&age), "{file}: {row:?}");
            }
            let coefficient = decay.coefficient(age);
            assert_eq!(row[1], format!("{coefficient:.3}"), "{file}: {row:?}");
            for (cell, score) in row[2..].iter().zip([0.0, 5.0, 9.0, 10.0]) {
                let score = Score::new(score).expect("it is a score");
                let computed = format!("{:.2}", weight(score, coefficient));
                assert_eq!(*cell, computed, "{file}: {row:?}");
            }
        }
    }
}

#[test]
fn the_worked_example_is_what_the_formulas_give() {
    let decay = Decay::default();
    let score = Score::new(8.5).expect("it is a score");
    let coefficient = decay.coefficient(90.0);
    let lower = smooth(score, Score::new(4.0).expect("it is a score"));
    let expected = [
        format!("0.9 / 8 = {coefficient:.4}\n"),
        format!("(10 − 8.5) / 10 = {:.2}\n", exponent(score)),
        format!(
            "8.5 · {coefficient:.4}^{:.2} = {:.2}\n",
            exponent(score),
            weight(score, coefficient)
        ),
        format!("0.4 · 8.5 + 0.6 · 4 = {:.2} ", lower.value()),
        format!("w = {:.2}\n", weight(lower, decay.coefficient(0.0))),
    ];
    for file in BOTH {
        let shown: String = blocks(&text_of(file), "text")
            .into_iter()
            .map(|block| block.text)
            .collect();
        for line in &expected {
            assert!(shown.contains(line), "{file} does not show {line:?}");
        }
        let text = text_of(file);
        let days = format!("{}", decay.half_life_days);
        assert!(
            text.contains(&format!("is {days} days")) || text.contains(&format!("默认 {days} 天"))
        );
    }
}

#[test]
fn the_bands_table_agrees_with_the_bands() {
    /// Checks that the ends in `[4, 6.5)` answer as their brackets say.
    fn check(interval: &str, place: &str, holds: impl Fn(Score) -> bool) {
        let ends = numbers(interval);
        let [low, high] = ends[..] else {
            panic!("{place}: {interval} is no interval");
        };
        let score = |value| Score::new(value).expect("the ends are scores");
        assert_eq!(holds(score(low)), interval.starts_with('['), "{place}");
        assert_eq!(holds(score(high)), interval.ends_with(']'), "{place}");
        assert!(holds(score(f64::midpoint(low, high))), "{place}");
        assert!(low == 0.0 || !holds(score(low - 0.01)), "{place}");
        assert!(high == 10.0 || !holds(score(high + 0.01)), "{place}");
    }

    for (file, head) in [(ENGLISH, "band"), (CHINESE, "分段")] {
        let shown = table(&text_of(file), head);
        assert_eq!(shown.len(), Band::ALL.len(), "{file}");
        for (row, band) in shown.iter().zip(Band::ALL) {
            let place = format!("{file}, {band}");
            let names = codes(&format!("{}{}", row[0], row[2]));
            assert_eq!(names, band.names(), "{place}");
            check(&row[1], &place, |score| band.contains(score));
            check(&row[3], &place, |score| score.band() == band);
        }
    }
}

#[test]
fn the_table_of_re_adding_is_what_add_replies() {
    let stated = ["--score", "0.5"];
    let inferred = ["--score", "0.5", "--source", "analysis"];
    let incoming: [&[&str]; 3] = [&["--score", "8"], &stated, &inferred];
    let stored: [Option<&str>; 3] = [None, Some("6"), Some("1")];
    for (file, head) in [(ENGLISH, "what comes in"), (CHINESE, "新来的")] {
        let shown = table(&text_of(file), head);
        assert_eq!(shown.len(), incoming.len(), "{file}");
        for (row, options) in shown.iter().zip(incoming) {
            for (cell, before) in row[1..].iter().zip(stored) {
                let home = Home::new();
                if let Some(score) = before {
                    home.ok(&["add", "tabs", "because", "--score", score]);
                }
                let mut arguments = vec!["add", "tabs", "again"];
                arguments.extend(options);
                let reply: Value = home.json(&arguments);
                assert_eq!(
                    reply["result"],
                    codes(cell)[0].as_str(),
                    "{file}: {arguments:?} on {before:?}"
                );
            }
        }
    }
}

#[test]
fn the_json_examples_are_what_the_program_prints() {
    let early = Home::new().at("2026-09-01T09:00:00+00:00");
    early.ok(&[
        "add",
        "active voice",
        "praised direct writing",
        "--score",
        "8.5",
        "--keywords",
        "tone,direct",
        "--scenarios",
        "writing",
    ]);
    let late = early.at("2026-11-30T09:00:00+00:00");
    let entries: Value = late.json(&["recall", "voice"]);
    let missing = late.run(&["show", "activ", "voice", "--json"]);
    let error = missing.stderr.lines().last().unwrap_or_default();
    assert_eq!(entries[0]["match"], "keyword");
    let printed = [
        entries[0].clone(),
        late.json(&["add", "active voice", "less sure", "--score", "4"]),
        serde_json::from_str(error).expect("an error is JSON"),
    ];
    for file in BOTH {
        let shown = blocks(&text_of(file), "json");
        assert_eq!(shown.len(), printed.len(), "{file}");
        for (block, printed) in shown.iter().zip(&printed) {
            let shown: Value = serde_json::from_str(&block.text).expect("the block is JSON");
            assert_same(&shown, printed, &format!("{file}, line {}", block.line));
        }
        let explained: BTreeSet<String> = tables(&text_of(file))
            .concat()
            .iter()
            .flat_map(|row| codes(&row[0]))
            .collect();
        let fields = printed[0].as_object().expect("an entry is an object");
        for field in fields.keys() {
            assert!(
                explained.contains(field),
                "{file} does not explain the field {field}"
            );
        }
    }
}

/// The same fields in the same order, numbers to the ninth decimal.
fn assert_same(shown: &Value, printed: &Value, place: &str) {
    match (shown, printed) {
        (Value::Object(a), Value::Object(b)) => {
            assert!(
                a.keys().eq(b.keys()),
                "{place}: {:?}",
                b.keys().collect::<Vec<_>>()
            );
            for (key, value) in a {
                let place = format!("{place}, {key}");
                if key == "relevance" {
                    // It has three decimals, and the last bits may differ between machines.
                    let numbers = value.as_f64().zip(b[key].as_f64());
                    let is_near = numbers.is_some_and(|(a, b)| (a - b).abs() < 0.0015);
                    assert!(is_near, "{place}: {value} and {}", b[key]);
                } else {
                    assert_same(value, &b[key], &place);
                }
            }
        }
        (Value::Number(a), Value::Number(b)) => {
            let (a, b) = (a.as_f64(), b.as_f64());
            let apart = a.zip(b).map(|(a, b)| (a - b).abs());
            assert!(apart.is_some_and(|d| d < 1e-9), "{place}: {a:?} and {b:?}");
        }
        _ => assert_eq!(shown, printed, "{place}"),
    }
}

#[test]
fn every_setting_is_named_and_no_other() {
    let source = text_of("src/settings.rs");
    let exist: BTreeSet<String> = source
        .lines()
        .filter_map(|line| line.strip_prefix("pub const AIZO_"))
        .filter_map(|rest| rest.split_once(':'))
        .map(|(name, _)| format!("AIZO_{name}"))
        .collect();
    assert!(exist.contains(aizo::settings::AIZO_DB_PATH));
    for file in BOTH {
        let text = text_of(file);
        let named: BTreeSet<String> = text
            .split(|c: char| !c.is_ascii_uppercase() && c != '_')
            .filter(|word| word.starts_with("AIZO_"))
            .map(str::to_owned)
            .collect();
        assert_eq!(named, exist, "{file}");
        assert!(text.contains("`NO_COLOR`"), "{file}");
    }
}

#[test]
fn the_built_in_scenarios_are_listed_with_their_aliases() {
    let built_in: Vec<Vec<String>> = Scenarios::built_in()
        .list
        .into_iter()
        .map(|scenario| {
            let mut names = vec![scenario.name];
            names.extend(scenario.aliases);
            names
        })
        .collect();
    for (file, head) in [(ENGLISH, "scenario"), (CHINESE, "场景")] {
        let shown: Vec<Vec<String>> = table(&text_of(file), head)
            .iter()
            .map(|row| codes(&row.join("|")))
            .collect();
        assert_eq!(shown, built_in, "{file}");
        for block in blocks(&text_of(file), "yaml") {
            let read = Scenarios::parse(&block.text, Path::new(file)).expect("the example is read");
            assert_eq!(read.warnings, [], "{file}, line {}", block.line);
            assert!(!read.list.is_empty());
        }
    }
}

#[test]
fn the_error_table_gives_each_kind_its_exit_code() {
    use Kind::{
        Conflict, Damaged, DiskFull, Failed, Io, Locked, Model, Newer, NotAStore, NotFound,
        ReadOnly, Scenarios, Sync, Usage,
    };
    let all = [
        Usage, NotFound, Conflict, NotAStore, Newer, Locked, ReadOnly, DiskFull, Damaged,
        Scenarios, Io, Model, Sync, Failed,
    ];
    // A new kind does not compile until it stands here, and then in the list above.
    let number = |kind: Kind| match kind {
        Usage | NotFound | Conflict | NotAStore | Newer | Locked | ReadOnly | DiskFull
        | Damaged | Scenarios | Io | Model | Sync | Failed => kind.exit_code(),
    };
    let exist: BTreeMap<String, u8> = all
        .into_iter()
        .map(|kind| {
            let name = serde_json::to_value(kind).expect("a kind is a word");
            (
                name.as_str().expect("a kind is a word").to_owned(),
                number(kind),
            )
        })
        .collect();
    for file in BOTH {
        let mut shown = BTreeMap::new();
        for row in table(&text_of(file), "`kind`") {
            let code: u8 = row[2].parse().expect("the last cell is a code");
            shown.extend(codes(&row[0]).into_iter().map(|kind| (kind, code)));
        }
        assert_eq!(shown, exist, "{file}");
    }
}

#[test]
fn the_exit_codes_are_the_ones_that_happen() {
    let home = Home::new();
    home.ok(&["add", "tabs", "because"]);
    let runs: [(&[&str], i32); 10] = [
        (&["recall", "nothing-like-it"], 0),
        (&["apply", "1"], 0),
        (&["apply", "1", "99"], 0),
        (&["apply", "98", "99"], 1),
        (&["show", "nothing-like-it"], 1),
        (&["recall", "--nonsense"], 2),
        (&["add", "tabs", "because", "--score", "11"], 2),
        (&["nonsense"], 2),
        (
            &["add", "emojis", "no", "--score", "1", "--pattern", "@emoji"],
            0,
        ),
        (&["check", "done ✨"], 3),
    ];
    let mut happen = BTreeSet::new();
    for (arguments, code) in runs {
        assert_eq!(home.run(arguments).code, code, "{arguments:?}");
        happen.insert(code);
    }
    for (file, head) in [(ENGLISH, "code"), (CHINESE, "退出码")] {
        let text = text_of(file);
        let section = text
            .rsplit_once("\n## Exit codes\n")
            .or_else(|| text.rsplit_once("\n## 退出码\n"))
            .map(|(_, rest)| rest)
            .expect("there is a section on exit codes");
        let shown: BTreeSet<i32> = table(section, head)
            .iter()
            .map(|row| row[0].parse().expect("the first cell is a code"))
            .collect();
        assert_eq!(shown, happen, "{file}");
    }
}

#[test]
fn the_store_table_names_the_columns_that_exist() {
    let home = Home::new();
    home.ok(&["add", "tabs", "because"]);
    let stored = rusqlite::Connection::open(home.db()).expect("there is a store");
    for (file, head) in [(ENGLISH, "table"), (CHINESE, "表")] {
        let shown = table(&text_of(file), head);
        assert!(shown.len() > 5, "{file}");
        for row in shown {
            let name = codes(&row[0]).remove(0);
            let columns: Vec<String> = stored
                .prepare("SELECT name FROM pragma_table_info(?1) ORDER BY cid")
                .and_then(|mut statement| {
                    statement
                        .query_map([&name], |row| row.get(0))
                        .and_then(Iterator::collect)
                })
                .expect("the columns can be listed");
            assert_eq!(codes(&row[1]), columns, "{file}: {name}");
        }
    }
}

#[test]
fn the_table_of_checks_names_those_that_doctor_makes() {
    let reply: Value = Home::new().json(&["doctor"]);
    let checks = reply["checks"].as_array().expect("a list");
    let exist: BTreeSet<&str> = checks.iter().filter_map(Value::as_str).collect();
    for (file, head) in [(ENGLISH, "check"), (CHINESE, "检查项")] {
        let shown: Vec<String> = table(&text_of(file), head)
            .iter()
            .flat_map(|row| codes(&row[0]))
            .collect();
        let named: BTreeSet<&str> = shown.iter().map(String::as_str).collect();
        assert_eq!(named, exist, "{file}");
        assert_eq!(named.len(), shown.len(), "{file}: one stands twice");
    }
}

#[test]
fn the_version_is_not_contradicted() {
    let version = env!("CARGO_PKG_VERSION");
    for file in BOTH {
        let text = text_of(file);
        let needs = text.find("Rust").map(|at| numbers(&text[at..])[0]);
        let stated: f64 = env!("CARGO_PKG_RUST_VERSION").parse().expect("a number");
        assert_eq!(needs, Some(stated), "{file}");
        for word in text.split(|c: char| !c.is_ascii_digit() && c != '.') {
            let word = word.trim_matches('.');
            if word.split('.').count() == 3 {
                assert!(
                    [version, "1.0.0", "0.3.0"].contains(&word),
                    "{file} speaks of {word}"
                );
            }
        }
    }
    let changes = text_of("docs/CHANGELOG.md");
    let newest = changes.lines().find(|line| line.starts_with("## "));
    assert_eq!(newest, Some(format!("## {version}").as_str()));
}
