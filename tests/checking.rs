//! `aizo check` as a whole process: exit codes, JSON, where the text comes from, what cannot be read; and patterns on
//! their way through add, update, undo, review, analyze and older stores.

use std::fs;

use rstest::rstest;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::common::{Chat, Home};
use crate::stores::replays_to_the_same_tables;

/// A profile with limits of every kind.
fn profile() -> Home {
    let home = Home::new();
    for (item, score, patterns) in [
        ("force-push to main", "0.5", &["@force-push"][..]),
        ("emojis in texts", "1", &["@emoji"]),
        ("todo notes", "1", &[r"\bTODO\b"]),
        ("passive voice", "2.5", &[r"\bwas done\b"]),
        ("allergic to shellfish", "0.5", &[]),
        ("short answers", "9", &["(?i)long"]),
    ] {
        let mut arguments = vec!["add", item, "said so", "--score", score];
        for pattern in patterns {
            arguments.extend(["--pattern", pattern]);
        }
        home.ok(&arguments);
    }
    home
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Reply {
    violated: bool,
    checked: usize,
    violations: Vec<Violation>,
    unusable_patterns: Vec<Unusable>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Violation {
    id: i64,
    item: String,
    reason: String,
    keywords: Vec<String>,
    scenarios: Vec<String>,
    base_score: f64,
    source: String,
    band: String,
    hard_limit: bool,
    origin: String,
    certainty: String,
    detector: Option<String>,
    pattern: Option<String>,
    #[serde(rename = "match")]
    found: Option<String>,
    start: Option<usize>,
    end: Option<usize>,
    line: Option<usize>,
    column: Option<usize>,
    matched: Vec<String>,
    relevance: Option<f64>,
    lift: String,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Unusable {
    id: i64,
    item: String,
    pattern: String,
    error: String,
}

fn check(home: &Home, arguments: &[&str]) -> (i32, Reply) {
    let mut all = vec!["check", "--json"];
    all.extend(arguments);
    let run = home.run(&all);
    let reply: Reply =
        serde_json::from_str(&run.stdout).unwrap_or_else(|error| panic!("{error}: {run:?}"));
    // Nothing is left out and the order is the documented one.
    let again = serde_json::to_string_pretty(&reply).expect("it writes");
    assert_eq!(again + "\n", run.stdout);
    assert_eq!(run.code == 3, reply.violated, "{run:?}");
    (run.code, reply)
}

#[rstest]
#[case(&["--command", "git push --force origin main"], 3)]
#[case(&["--command", "git push -f"], 3)]
#[case(&["--command", "cd x && sh -c 'git push -f'"], 3)]
#[case(&["--command", "X='push --force'; git $X"], 3)]
#[case(&["--command", "g\"\"it pu\\\nsh -f"], 3)]
#[case(&["--command", "echo 'git push -f' | sh"], 3)]
#[case(&["--command", "git push -f --dry-run"], 0)]
#[case(&["--command", "alias p='git push -f'; p"], 0)]
#[case(&["--command", "git push -f origin feature"], 0)]
#[case(&["--command", "git status"], 0)]
#[case(&["--command", "-x"], 0)]
#[case(&["done ✨"], 3)]
#[case(&["done", "©"], 0)]
#[case(&["a TODO here"], 3)]
#[case(&["it was done"], 0)]
#[case(&["it was done", "--all"], 3)]
#[case(&["a long answer", "--all"], 0)]
#[case(&["nothing of the kind"], 0)]
fn the_exit_code_says_whether_a_limit_is_violated(#[case] arguments: &[&str], #[case] code: i32) {
    let (found, reply) = check(&profile(), arguments);
    assert_eq!(found, code, "{reply:?}");
}

#[rstest]
#[case("alias p='git push -f'; p")]
#[case("git config alias.x 'push -f'")]
#[case("nice nice nice nice nice nice nice nice nice nice nice ls")]
fn what_cannot_be_told_for_certain_asks(#[case] command: &str) {
    let (code, reply) = check(&profile(), &["--command", command]);
    assert_eq!(code, 0);
    let found = &reply.violations[0];
    assert_eq!(
        (found.certainty.as_str(), found.pattern.as_deref()),
        ("words", Some("@force-push"))
    );
}

#[test]
fn a_violation_has_the_entry_the_match_the_place_and_the_way_out() {
    let home = profile();
    let text = "一行\ngit push origin +HEAD:main";
    let (_, reply) = check(&home, &["--command", text]);
    let found = &reply.violations[0];
    assert_eq!(
        (found.item.as_str(), found.certainty.as_str(), found.id),
        ("force-push to main", "pattern", 1)
    );
    assert_eq!(found.detector.as_deref(), Some("force-push"));
    assert_eq!(found.pattern.as_deref(), Some("@force-push"));
    assert_eq!(found.found.as_deref(), Some("git push origin +HEAD:main"));
    assert_eq!((found.line, found.column), (Some(2), Some(1)));
    let (start, end) = (found.start.expect("a place"), found.end.expect("a place"));
    assert_eq!(&text[start..end], "git push origin +HEAD:main");
    assert_eq!(found.lift, "aizo update 'force-push to main' --score N");
    assert_eq!(reply.checked, 4);
    // The way out works.
    home.ok(&["update", "force-push to main", "--score", "5"]);
    assert_eq!(check(&home, &["--command", text]).0, 0);
}

#[test]
fn each_answer_names_its_way() {
    let home = profile();
    let (code, reply) = check(&home, &["a plan to force-push to main, and an emoji ✨"]);
    let ways: Vec<(&str, &str)> = reply
        .violations
        .iter()
        .map(|found| (found.item.as_str(), found.certainty.as_str()))
        .collect();
    assert_eq!(code, 3);
    assert_eq!(ways[0], ("emojis in texts", "pattern"));
    assert_eq!(ways[1], ("force-push to main", "words"));
    assert_eq!(reply.violations[1].matched, ["force-push", "main"]);
    home.ok(&[
        "update",
        "allergic to shellfish",
        "--reason",
        "checks every menu",
        "--keywords",
        "food,dining",
    ]);
    let (code, reply) = check(&home, &["find a restaurant for Friday"]);
    assert_eq!(code, 0);
    let near = reply
        .violations
        .iter()
        .find(|found| found.item == "allergic to shellfish");
    let near = near.expect("it is near in meaning");
    assert_eq!(near.certainty, "may_concern");
    assert!(near.relevance.is_some_and(|relevance| relevance > 0.2));
}

#[test]
fn the_text_form_says_what_how_where_and_why() {
    let home = profile();
    let run = home.run(&["check", "--command", "git push -f"]);
    assert_eq!(run.code, 3);
    assert_eq!(
        run.stdout,
        "violated: force-push to main  (hard limit 0.5, id 1)\n\
         \u{20} @force-push: “git push -f” (line 1, column 1)\n\
         \u{20} reason: said so\n\
         \u{20} to lift it: aizo update 'force-push to main' --score N\n"
    );
    let run = home.run(&["check", "--command", "ls"]);
    assert_eq!(
        (run.code, run.stdout.as_str()),
        (0, "nothing found (4 entries checked)\n")
    );
}

#[test]
fn a_text_comes_by_a_pipe_a_dash_or_a_file() {
    let home = profile();
    let exit =
        |arguments: &[&str], input: &str| home.run_with_input(arguments, input.as_bytes()).code;
    assert_eq!(exit(&["check"], "a TODO"), 3);
    assert_eq!(exit(&["check", "-"], "a TODO"), 3);
    assert_eq!(exit(&["check", "--command", "-"], "git push -f"), 3);
    assert_eq!(exit(&["check"], ""), 0);
    let file = home.path().join("draft.md");
    fs::write(&file, "one\ntwo TODO\n").expect("it writes");
    let path = file.display().to_string();
    assert_eq!(exit(&["check", "--file", &path], ""), 3);
    fs::write(&file, b"\xff TODO").expect("it writes");
    assert_eq!(exit(&["check", "--file", &path], ""), 3);
}

#[test]
fn the_name_of_a_file_is_checked_as_a_text_and_said_to_be_one() {
    let home = profile();
    home.write("draft.md", b"a TODO");
    let run = home.run(&["check", "draft.md"]);
    assert_eq!(run.code, 0, "{run:?}");
    assert!(
        run.stderr.contains("hint: aizo check --file 'draft.md'"),
        "{run:?}"
    );
    for arguments in [
        &["check", "draft.txt"][..],
        &["check", "look", "at", "draft.md"],
        &["check", "--command", "draft.md"],
    ] {
        let run = home.run(arguments);
        assert!(!run.stderr.contains("--file"), "{run:?}");
    }
}

#[rstest]
#[case(&["add", "--help"])]
#[case(&["update", "--help"])]
#[case(&["recall", "--help"])]
fn help_says_which_numbers_a_score_may_be(#[case] arguments: &[&str]) {
    let help = Home::new().ok(arguments);
    assert!(help.contains("score <0-10>"), "{help}");
}

#[test]
fn a_text_in_which_secrets_take_too_long_to_find_is_told_and_asks() {
    let home = Home::new();
    home.ok(&[
        "add",
        "commit secrets",
        "said so",
        "--score",
        "0",
        "--pattern",
        "@secret",
    ]);
    let check = |text: &str| home.run_with_input(&["check", "--json"], text.as_bytes());
    let long = "sk-".repeat(700_000);
    let run = check(&long);
    assert_eq!(run.code, 1, "{}", run.stderr);
    let reply: Reply = serde_json::from_str(&run.stdout).expect("what was found is there");
    assert_eq!(reply.violations[0].certainty, "words");
    assert_eq!(reply.unusable_patterns[0].pattern, "@secret");
    let key = format!("ghp_{}", &"Ab3dE6gH9jK2mN5pQ8sT".repeat(2)[..36]);
    assert_eq!(check(&format!("{key} {long}")).code, 3);
    assert_eq!(check(&long[..3_000]).code, 0);
}

#[test]
fn of_a_patch_only_the_added_lines_count() {
    let home = profile();
    let patch = |old: &str, new: &str| {
        format!("diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-{old}\n+{new}\n")
    };
    let exit = |text: String| home.run_with_input(&["check"], text.as_bytes()).code;
    assert_eq!(exit(patch("a TODO", "done")), 0);
    assert_eq!(exit(patch("done", "a TODO")), 3);
}

#[test]
fn what_cannot_be_checked_is_an_error_and_never_nothing() {
    let home = profile();
    let run = home.run(&["check", "--file", "missing.md"]);
    assert_eq!((run.code, run.stdout.as_str()), (1, ""));
    assert!(run.stderr.contains("missing.md"), "{run:?}");
    let run = home.run(&["check", "--file", "."]);
    assert_eq!((run.code, run.stdout.as_str()), (1, ""), "{run:?}");
    let run = home.run(&["check", "x", "--command", "y"]);
    assert_eq!(run.code, 2, "{run:?}");
    let long = vec![b'x'; 9 * 1024 * 1024];
    let run = home.run_with_input(&["check"], &long);
    assert_eq!((run.code, run.stdout.as_str()), (1, ""));
    assert!(run.stderr.contains("nothing was checked"), "{run:?}");

    let mut bytes = fs::read(home.db()).expect("it reads");
    bytes[..16].copy_from_slice(b"no database here");
    fs::write(home.db(), bytes).expect("it writes");
    let run = home.run(&["check", "a TODO", "--json"]);
    assert_eq!((run.code, run.stdout.as_str()), (1, ""));
    assert!(run.stderr.contains("not_a_store"), "{run:?}");
}

#[cfg(unix)]
#[test]
fn a_pipe_and_a_device_are_refused_and_hold_nobody() {
    let home = profile();
    let pipe = home.path().join("pipe");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.expect("it runs").success());
    for file in [
        &*pipe.display().to_string(),
        "/dev/zero",
        "/dev/null",
        "/proc/self/status",
    ] {
        let run = home.run(&["check", "--file", file]);
        if file.starts_with("/proc") && !std::path::Path::new(file).exists() {
            continue;
        }
        assert_eq!((run.code, run.stdout.as_str()), (1, ""), "{run:?}");
        assert!(run.stderr.contains("no plain file"), "{run:?}");
    }
}

#[cfg(unix)]
#[test]
fn what_is_no_text_is_checked_as_far_as_it_is_one() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let home = profile();
    let run = |arguments: &[&str], last: &[u8]| {
        let mut command = home.command(arguments);
        home.feed(command.arg(OsStr::from_bytes(last)), b"")
    };
    for (arguments, last) in [
        (&["check", "--command"][..], &b"git push -f \xff"[..]),
        (&["check"], b"\xff a TODO"),
    ] {
        let run = run(arguments, last);
        assert_eq!(run.code, 3, "{run:?}");
    }
    let named = run(&["check", "--file"], b"\xff");
    assert_eq!((named.code, named.stdout.as_str()), (1, ""), "{named:?}");
}

#[test]
fn an_empty_home_says_that_nothing_is_stored_and_stays_empty() {
    let home = Home::new();
    let run = home.run(&["check", "a TODO"]);
    assert_eq!(run.code, 0);
    assert!(run.stderr.contains("nothing is stored yet"), "{run:?}");
    assert!(!home.aizo().exists());
}

#[test]
fn checking_changes_nothing() {
    let home = profile();
    let before = (home.rows(), fs::read(home.db()).expect("it reads"));
    for arguments in [
        &["check", "a TODO ✨"][..],
        &["check", "x", "--all", "--json"],
    ] {
        home.run(arguments);
    }
    assert_eq!(home.rows(), before.0);
    assert_eq!(fs::read(home.db()).expect("it reads"), before.1);
}

#[test]
fn a_repository_cannot_swap_the_limits() {
    let home = profile();
    fs::write(home.path().join(".env"), "AIZO_DB_PATH=other.db\n").expect("it writes");
    let run = home.run(&["check", "a TODO"]);
    assert_eq!(run.code, 3, "{run:?}");
    assert!(run.stderr.contains("is not read here"), "{run:?}");
}

#[test]
fn a_secret_in_the_text_is_not_repeated() {
    let home = Home::new();
    home.ok(&[
        "add",
        "commit secrets",
        "never",
        "--score",
        "0",
        "--pattern",
        "@secret",
    ]);
    let key = format!("ghp_{}", &"Ab3dE6gH9jK2mN5pQ8sT".repeat(2)[..36]);
    let run = home.run(&["check", &format!("token: {key}"), "--json"]);
    assert_eq!(run.code, 3, "{run:?}");
    assert!(!run.stdout.contains(&key) && !run.stderr.contains(&key));
}

#[rstest]
#[case(&["add", "a", "b", "--pattern", "("], "not a regular expression")]
#[case(&["add", "a", "b", "--pattern", "x*"], "empty text")]
#[case(&["add", "a", "b", "--pattern", "@force"], "no detector")]
#[case(&["update", "todo notes", "--pattern", "["], "not a regular expression")]
fn a_bad_pattern_is_refused_with_what_to_try(#[case] arguments: &[&str], #[case] said: &str) {
    let home = profile();
    let before = home.rows();
    let run = home.run(arguments);
    assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{run:?}");
    assert!(
        run.stderr.contains(said) && run.stderr.contains("hint: "),
        "{run:?}"
    );
    assert_eq!(home.rows(), before);
}

#[test]
fn a_bad_line_of_stdin_is_named() {
    let home = Home::new();
    let lines = "{\"item\": \"a\", \"reason\": \"b\", \"pattern\": \"x,y\"}\n\
                 {\"item\": \"c\", \"reason\": \"d\", \"pattern\": [\"(\"]}\n";
    let run = home.run_with_input(&["add", "--stdin"], lines.as_bytes());
    assert_eq!(run.code, 2);
    assert!(run.stderr.contains("line 2"), "{run:?}");
    let first = lines.lines().next().expect("there is one");
    let run = home.run_with_input(&["add", "--stdin"], first.as_bytes());
    assert_eq!(run.code, 0, "{run:?}");
    let entry: Value = home.json(&["show", "a"]);
    assert_eq!(entry["pattern"], json!(["x,y"]));
}

#[test]
fn patterns_are_shown_united_replaced_cleared_and_taken_back() {
    let home = Home::new();
    let patterns = || -> Value {
        let entry: Value = home.json(&["show", "emojis"]);
        entry["pattern"].clone()
    };
    let run = home.run(&["add", "emojis", "no", "--score", "1", "--pattern", "emoji"]);
    assert!(run.stderr.contains("the detector @emoji"), "{run:?}");
    home.ok(&[
        "add",
        "emojis",
        "no",
        "--pattern",
        "a,b",
        "--pattern",
        "@emoji",
    ]);
    assert_eq!(patterns(), json!(["@emoji", "a,b"]));
    let shown = home.ok(&["show", "emojis"]);
    assert!(shown.contains("@emoji") && shown.contains("a,b"), "{shown}");
    assert!(home.ok(&["why", "emojis"]).contains("@emoji"));
    home.ok(&["update", "emojis", "--pattern", "x", "--pattern", "y"]);
    assert_eq!(patterns(), json!(["x", "y"]));
    home.ok(&["update", "emojis", "--pattern"]);
    assert_eq!(patterns(), json!([]));
    replays_to_the_same_tables(&home);
    home.ok(&["undo"]);
    assert_eq!(patterns(), json!(["x", "y"]));
    home.ok(&["undo"]);
    home.ok(&["undo"]);
    assert_eq!(patterns(), json!(["@emoji"]));
    home.ok(&["remove", "emojis"]);
    home.ok(&["undo"]);
    assert_eq!(patterns(), json!(["@emoji"]));
    replays_to_the_same_tables(&home);
}

#[test]
fn an_entry_gets_no_more_patterns_than_it_may_have_and_all_that_it_has_count() {
    let home = Home::new();
    let mut arguments = vec!["add", "shouting", "said so", "--score", "0.5"];
    let patterns: Vec<String> = (1..=16).map(|number| format!("loud{number}x")).collect();
    for pattern in &patterns {
        arguments.extend(["--pattern", pattern]);
    }
    home.ok(&arguments);
    let before = home.rows();
    let run = home.run(&["add", "shouting", "again", "--pattern", "loud17x"]);
    assert_eq!(run.code, 2, "{run:?}");
    assert!(
        run.stderr
            .contains("would have 17 patterns; 16 is the most")
            && run.stderr.contains("aizo update 'shouting' --pattern"),
        "{run:?}"
    );
    assert_eq!(home.rows(), before);
    home.ok(&["add", "shouting", "again", "--pattern", "loud16x"]);
    home.outside("UPDATE preferences SET pattern = pattern || char(10) || 'loud17x'");
    assert_eq!(check(&home, &["so loud17x"]).0, 3);
    home.ok(&["add", "shouting", "once more", "--pattern", "loud17x"]);
}

#[test]
fn only_what_the_user_stated_denies_and_inferred_patterns_stay_out_of_it() {
    let home = profile();
    home.ok(&[
        "add",
        "todo notes",
        "again",
        "--score",
        "1",
        "--source",
        "analysis",
        "--pattern",
        "FIXME",
    ]);
    assert_eq!(check(&home, &["FIXME"]).0, 0);
    // What waits keeps its pattern until a person decides.
    home.ok(&[
        "add",
        "hacks",
        "seen",
        "--score",
        "0.5",
        "--source",
        "analysis",
        "--pattern",
        "HACK",
    ]);
    assert_eq!(check(&home, &["HACK"]).0, 0);
    let waiting: Value = home.json(&["review"]);
    assert_eq!(waiting[0]["pattern"], json!(["HACK"]));
    home.ok(&["review", "accept", "1"]);
    assert_eq!(check(&home, &["HACK"]).0, 3);
    replays_to_the_same_tables(&home);
}

#[test]
fn a_pattern_of_another_program_that_is_none_is_told_and_the_others_are_looked_for() {
    let home = profile();
    home.outside("UPDATE preferences SET pattern = '(' WHERE item = 'todo notes'");
    let (code, reply) = check(&home, &["todo notes, and git"]);
    assert_eq!(code, 1, "not as if nothing was");
    assert_eq!(check(&home, &["todo notes ✨"]).0, 3);
    assert_eq!(reply.unusable_patterns.len(), 1);
    assert_eq!(reply.violations[0].certainty, "words");
    let run = home.run(&["check", "todo notes"]);
    assert!(run.stderr.contains("cannot be used"), "{run:?}");
    home.outside("UPDATE preferences SET pattern = x'ff00' WHERE item = 'emojis in texts'");
    home.outside("UPDATE preferences SET pattern = 7 WHERE item = 'passive voice'");
    let run = home.run(&["check", "x"]);
    assert_eq!(
        (run.code, run.stdout.as_str()),
        (1, "nothing found (4 entries checked)\n")
    );
    assert!(
        run.stderr
            .contains("not checked for certain: “todo notes” (id 3)"),
        "{run:?}"
    );
    home.ok(&["touch", "todo notes"]);
    replays_to_the_same_tables(&home);
    // What was adopted can be taken back.
    let history: Vec<Value> = home.json(&["history", "todo notes"]);
    let adopted = history
        .iter()
        .find(|line| line["op"] == "adopt")
        .expect("it was adopted");
    assert_eq!(adopted["before"]["pattern"], r"\bTODO\b");
    home.ok(&["undo", &adopted["change"].to_string()]);
    assert_eq!(check(&home, &["a TODO"]).0, 3);
}

#[test]
fn what_takes_too_long_is_told_and_ends_with_an_error_and_what_was_found() {
    let home = profile();
    home.ok(&[
        "add",
        "slow things",
        "said so",
        "--score",
        "1",
        "--pattern",
        "x[^y]{0,700}z",
    ]);
    let long = "x".repeat(3_000_000);
    let check = |text: &str| home.run_with_input(&["check", "--json"], text.as_bytes());
    let run = check(&long);
    assert_eq!(run.code, 1, "{}", run.stderr);
    let reply: Reply = serde_json::from_str(&run.stdout).expect("what was found is there");
    assert_eq!(reply.unusable_patterns[0].item, "slow things");
    assert_eq!(reply.violations[0].item, "slow things");
    assert_eq!(reply.violations[0].certainty, "words");
    let last = run.stderr.lines().last().expect("it says why");
    let error: Value = serde_json::from_str(last).expect("it is JSON");
    assert_eq!(
        error["error"]["message"],
        "not checked for certain: “slow things” (id 7)"
    );
    // What is certain all the same is no less so.
    let run = check(&format!("{long} TODO"));
    assert_eq!(run.code, 3, "{}", run.stderr);
    assert!(
        run.stderr.contains("“slow things” (id 7) was not checked"),
        "{}",
        run.stderr
    );
}

#[test]
fn a_secret_in_a_pattern_is_not_stored() {
    let home = profile();
    let key = format!("ghp_{}", &"Ab3dE6gH9jK2mN5pQ8sT".repeat(2)[..36]);
    let run = home.run(&["update", "todo notes", "--pattern", &key]);
    assert_eq!(run.code, 2);
    assert!(!run.stderr.contains(&key), "{run:?}");
    home.outside(&format!(
        "UPDATE preferences SET pattern = 'x' || char(10) || '{key}' WHERE item = 'todo notes'"
    ));
    home.ok(&["touch", "emojis in texts"]);
    let entry: Value = home.json(&["show", "todo notes"]);
    assert_eq!(entry["pattern"], json!(["x"]));
    replays_to_the_same_tables(&home);
}

#[test]
fn a_ban_in_a_conversation_brings_its_detector() {
    let home = Home::new();
    let chat = Chat::new("s")
        .user("Never force-push to main.")
        .assistant("Understood.")
        .user("Never run rm -rf, whatever happens!")
        .assistant("Understood.")
        .user("提交信息里绝对不要用表情符号。")
        .assistant("好的。")
        .user("I love concise code.")
        .write(&home, "chat.jsonl");
    home.ok(&["analyze", &chat]);
    let entries: Vec<Value> = home.json(&["show"]);
    let mut patterns: Vec<&str> = entries
        .iter()
        .flat_map(|entry| entry["pattern"].as_array().expect("a list"))
        .filter_map(Value::as_str)
        .collect();
    patterns.sort_unstable();
    assert_eq!(
        patterns,
        ["@emoji", "@force-push", "@rm-rf"],
        "{entries:#?}"
    );
    for (command, code) in [
        ("git push --force origin main", 3),
        ("git push --force origin feature", 0),
        ("sudo rm -Rf /tmp/x", 3),
        ("git commit -m '✨ new'", 3),
        ("rm file", 0),
    ] {
        assert_eq!(check(&home, &["--command", command]).0, code, "{command}");
    }
}

#[test]
fn a_store_of_the_time_before_patterns_opens_and_its_journal_still_replays() {
    let home = Home::with_store("aizo-2.0.0-without-patterns.db");
    let before: Vec<Value> = {
        let connection = rusqlite::Connection::open(home.db()).expect("it opens");
        let mut statement = connection
            .prepare("SELECT item, base_score, uid FROM preferences ORDER BY id")
            .expect("it is right");
        let rows = statement.query_map([], |row| {
            Ok(json!([
                row.get::<_, String>(0)?,
                row.get::<_, f64>(1)?,
                row.get::<_, String>(2)?
            ]))
        });
        rows.expect("it runs")
            .map(|row| row.expect("it reads"))
            .collect()
    };
    assert_eq!(before.len(), 3);
    let (code, reply) = check(&home, &["--command", "git push --force origin main"]);
    assert_eq!((code, reply.checked), (0, 1));
    assert_eq!(
        reply.violations[0].certainty, "words",
        "its keyword is in it"
    );
    replays_to_the_same_tables(&home);
    let entries: Vec<Value> = home.json(&["show"]);
    assert!(entries.iter().all(|entry| entry["pattern"] == json!([])));
    home.ok(&["update", "force-push to main", "--pattern", "@force-push"]);
    assert_eq!(check(&home, &["--command", "git push -f"]).0, 3);
    // What was removed before comes back, and so does the time without a pattern.
    home.ok(&["undo"]);
    assert_eq!(check(&home, &["--command", "git push -f"]).0, 0);
    let history: Vec<Value> = home.json(&["history"]);
    let removal = history
        .iter()
        .find(|line| line["op"] == "remove")
        .expect("one was removed");
    home.ok(&["undo", &removal["change"].to_string()]);
    home.ok(&["show", "tabs"]);
    replays_to_the_same_tables(&home);
}

#[test]
fn a_program_without_the_column_can_still_write() {
    let home = profile();
    // Just what the version before does: its number is the same, and it names its columns.
    home.outside(
        "INSERT INTO preferences (item, reason, keywords, base_score, added_at, last_seen)
             VALUES ('written before', 'elsewhere', 'old', 0.5, '2026-11-29T00:00:00+00:00', '2026-11-29T00:00:00+00:00');
         UPDATE preferences SET base_score = 0.2 WHERE item = 'force-push to main';",
    );
    let (_, reply) = check(&home, &["--command", "git push -f"]);
    assert_eq!((reply.violated, reply.checked), (true, 5));
    home.ok(&["touch", "written before"]);
    let history: Vec<Value> = home.json(&["history", "force-push to main"]);
    let adopted = history
        .iter()
        .find(|line| line["op"] == "adopt")
        .expect("it was adopted");
    assert_eq!(
        adopted["after"],
        json!({"base_score": 0.2}),
        "and nothing else"
    );
    replays_to_the_same_tables(&home);
}

#[test]
fn what_is_piped_in_before_its_program_is_shown_with_it() {
    let home = Home::new();
    home.ok(&[
        "add",
        "force-push",
        "r",
        "--score",
        "0.5",
        "--pattern",
        "@force-push",
    ]);
    for command in [
        "echo -f | xargs git push",
        "echo main | xargs git push -f origin",
        "printf '%s\\n' --force | xargs git push origin; rm -rf /",
    ] {
        let run = home.run(&["check", "--command", command]);
        assert!(matches!(run.code, 0 | 3), "{run:?}");
        assert!(run.stdout.contains("force-push"), "{run:?}");
    }
}

#[test]
fn a_long_command_made_of_what_looks_like_secrets_is_shown_in_part() {
    let home = Home::new();
    home.ok(&[
        "add",
        "force-push",
        "r",
        "--score",
        "0.5",
        "--pattern",
        "@force-push",
    ]);
    let command = format!("git push -f origin main # {}", "sk-".repeat(60_000));
    let run = home.run_with_input(&["check", "-", "--json"], command.as_bytes());
    assert!(run.stdout.contains("force-push"), "{run:?}");
    assert!(run.stdout.len() < 4_000, "{}", run.stdout.len());
}

#[rstest]
#[case::run("rm -rf target", "violated")]
#[case::looked_for("rg 'rm -rf' src", "may concern")]
#[case::looked_for_by_another("grep -rn 'rm -rf' .", "may concern")]
#[case::in_a_comment("ls # rm -rf target", "may concern")]
fn what_is_only_looked_for_is_not_asked_about(#[case] command: &str, #[case] how: &str) {
    let home = Home::new();
    home.ok(&[
        "add",
        "clean rebuilds",
        "slow",
        "--score",
        "0",
        "--pattern",
        "rm -rf",
    ]);
    let run = home.run(&["check", "--command", command]);
    assert!(
        run.stdout.starts_with(&format!("{how}: clean rebuilds")),
        "{run:?}"
    );
}
