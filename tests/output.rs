//! What is printed where: pipes, colours, narrow terminals, hostile text, and where settings come from.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

use rstest::rstest;
use serde_json::{Value, json};
use unicode_width::UnicodeWidthStr;

use crate::common::{Home, Run};

/// Enough entries to fill a pipe.
fn many() -> Home {
    let home = Home::new();
    let lines: Vec<String> = (0..1500)
        .map(|number| {
            json!({"item": format!("entry {number}"), "reason": "a reason of ordinary length"})
                .to_string()
        })
        .collect();
    let run = home.run_with_input(&["add", "--stdin"], lines.join("\n").as_bytes());
    assert_eq!(run.code, 0);
    home
}

fn one() -> Home {
    let home = Home::new();
    home.ok(&["add", "tabs", "uses them"]);
    home
}

fn run(command: &mut Command) -> Run {
    Run::of(command.output())
}

#[rstest]
#[case(&["show"], 1)]
#[case(&["show", "--json"], 1)]
#[case(&["show"], 0)]
#[case(&["recall", "entry", "--json"], 0)]
fn a_reader_that_goes_away_ends_it_quietly(#[case] arguments: &[&str], #[case] lines: usize) {
    let home = many();
    let mut child = home
        .command(arguments)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary starts");
    let out = child.stdout.take().expect("stdout is piped");
    let mut reader = BufReader::with_capacity(64, out);
    for _ in 0..lines {
        let mut line = String::new();
        reader.read_line(&mut line).expect("there is a line");
        assert!(!line.is_empty());
    }
    drop(reader);
    let run = Run::of(child.wait_with_output());
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
}

#[cfg(target_os = "linux")]
#[rstest]
#[case(&["show"])]
#[case(&["show", "--json"])]
#[case(&["completions", "bash"])]
#[case(&["man"])]
#[case(&["--help"])]
fn an_answer_that_cannot_be_written_is_an_error_of_one_line(#[case] arguments: &[&str]) {
    let full = fs::File::options()
        .write(true)
        .open("/dev/full")
        .expect("Linux has it");
    let run = run(one().command(arguments).stdout(full));
    assert_eq!(run.code, 1, "{run:?}");
    assert_eq!(run.stderr.lines().count(), 1, "{run:?}");
    assert!(
        run.stderr
            .contains("cannot write the answer to standard output"),
        "{run:?}"
    );
}

#[rstest]
#[case::a_pipe(&[], &[], false)]
#[case::asked_for(&["--color", "always"], &[], true)]
#[case::asked_for_by_a_variable(&[], &[("AIZO_COLOR", "always")], true)]
#[case::forced(&[], &[("CLICOLOR_FORCE", "1")], true)]
#[case::forbidden(&[], &[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")], false)]
#[case::empty_is_not_set(&[], &[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "")], true)]
#[case::flag_over_force(&["--color", "never"], &[("CLICOLOR_FORCE", "1")], false)]
#[case::flag_over_no_color(&["--color", "always"], &[("NO_COLOR", "1")], true)]
#[case::flag_over_variable(&["--color", "never"], &[("AIZO_COLOR", "always")], false)]
#[case::json_never(&["--json", "--color", "always"], &[], false)]
fn colour_is_for_those_who_want_it(
    #[case] options: &[&str],
    #[case] variables: &[(&str, &str)],
    #[case] coloured: bool,
) {
    let home = one();
    for command in [&["show"][..], &["why", "tabs"], &["history"]] {
        let run = run(home
            .command(&[command, options].concat())
            .envs(variables.iter().copied()));
        assert_eq!(run.code, 0, "{run:?}");
        assert_eq!(
            run.stdout.contains('\u{1b}'),
            coloured,
            "{command:?}: {run:?}"
        );
        assert_eq!(run.stderr, "");
    }
}

#[test]
fn help_and_errors_are_plain_in_pipes() {
    let home = one();
    for arguments in [
        &["--help"][..],
        &["add", "--help"],
        &["nope"],
        &["show", "nope"],
    ] {
        let run = home.run(arguments);
        assert!(
            !format!("{}{}", run.stdout, run.stderr).contains('\u{1b}'),
            "{run:?}"
        );
    }
}

#[test]
fn lines_stay_within_a_narrow_terminal() {
    let home = Home::new();
    let long = "说话简洁一点不要长篇大论，代码里也不要写太多注释，文档另外写";
    for (item, reason) in [
        ("简洁的回答和简短的代码注释", long),
        (
            "👩‍💻 pairing with 🚀 rockets and 🎉 parties",
            "likes it 👍🏽 every single day of the week",
        ),
        (
            "internationalization_of_everything_at_once",
            "oneveryveryverylongwordwithoutanyspaces",
        ),
    ] {
        home.ok(&[
            "add",
            item,
            reason,
            "--keywords",
            long,
            "--scenarios",
            "编程",
        ]);
    }
    home.ok(&[
        "add",
        "不要表情符号不要感叹号",
        long,
        "--score",
        "1",
        "--source",
        "analysis",
    ]);
    let mut too_wide = Vec::new();
    for arguments in [
        &["show"][..],
        &["recall"],
        &["top"],
        &["show", "1"],
        &["why", "2"],
        &["why", "3"],
        &["history"],
        &["keywords"],
        &["scenarios"],
        &["review"],
    ] {
        for columns in [40, 60] {
            let run = run(home.command(arguments).env("COLUMNS", columns.to_string()));
            assert_eq!(run.code, 0, "{run:?}");
            let wide = run.stdout.lines().filter(|line| line.width() > columns);
            too_wide.extend(wide.map(|line| format!("{arguments:?} in {columns}: {line}")));
        }
    }
    assert!(too_wide.is_empty(), "{}", too_wide.join("\n"));
}

#[test]
fn nothing_is_lost_on_a_narrow_terminal() {
    let home = Home::new();
    home.ok(&[
        "add",
        "简洁的回答和简短的代码注释",
        "说话简洁一点不要长篇大论，代码里也不要写太多注释",
    ]);
    let text = run(home.command(&["show"]).env("COLUMNS", "40")).stdout;
    let written: String = text.split_whitespace().collect();
    for piece in ["简洁的回答", "注释", "说话简洁一点", "9.0", "preference"] {
        assert!(written.contains(piece), "{piece}: {text}");
    }
}

#[test]
fn a_table_is_aligned_for_wide_characters() {
    let home = Home::new();
    home.ok(&["add", "简洁", "要求过", "--score", "9"]);
    home.ok(&["add", "tabs", "uses them", "--score", "5"]);
    insta::assert_snapshot!(home.ok(&["show"]), @"
    ID  SCORE  WEIGHT  BAND        ITEM  REASON
     1    9.0    9.00  preference  简洁  要求过
     2    5.0    5.00  habit       tabs  uses them
    ");
}

/// Whether a terminal would obey some of it, or show it as something that it is not.
fn obeyed(text: &str) -> bool {
    text.chars().any(|c| {
        c != '\n'
            && (c.is_control()
                || matches!(c, '\u{200b}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}'))
    })
}

#[test]
fn what_other_programs_stored_is_harmless_in_text_and_json() {
    let evil = "evil\u{1b}[31m\u{9b}2J\r\n\u{202e}txt\u{200b}.exe\u{7}";
    let home = one();
    rusqlite::Connection::open(home.db())
        .expect("the store opens")
        .execute(
            "INSERT INTO preferences (item, reason, keywords, base_score, source, added_at, last_seen)
             VALUES (?1, ?1, ?1, 9, ?1, ?1, ?1)",
            [evil],
        )
        .expect("the documented columns are there");
    let entry: Value = home.json(&["show", "2"]);
    assert_eq!(entry["item"], evil, "JSON gives back what is stored");
    assert_eq!(entry["reason"], evil);
    let mut obeyed_runs = Vec::new();
    for arguments in [
        &["show"][..],
        &["recall", "evil"],
        &["top"],
        &["keywords"],
        &["show", "2"],
        &["why", "2"],
        &["info"],
        // An error that repeats what was typed, and one that proposes the stored name.
        &["show", "a\u{202e}b\u{9b}c"],
        &["show", "evil"],
        &["update", "1", "--new-item", evil],
        &["touch", "2"],
        &["history"],
        &["tag", "2", "--replace"],
        &["remove", "2"],
        &["undo"],
    ] {
        for run in [
            home.run(arguments),
            home.run(&[arguments, &["--json"]].concat()),
        ] {
            if obeyed(&run.stdout) || obeyed(&run.stderr) {
                obeyed_runs.push(format!("{arguments:?}: {run:?}"));
            }
        }
    }
    assert!(obeyed_runs.is_empty(), "{}", obeyed_runs.join("\n"));
}

/// The path of the store in force.
fn store_in_force(command: &mut Command) -> String {
    let run = run(command);
    assert_eq!(run.code, 0, "{run:?}");
    let info: Value = serde_json::from_str(&run.stdout).expect("it is JSON");
    let path = info["path"].as_str().expect("a text");
    Path::new(path)
        .file_name()
        .map(|name| name.to_string_lossy().into_owned())
        .expect("it names a file")
}

#[test]
fn the_nearest_setting_wins() {
    let home = Home::new();
    let info = ["info", "--json"];
    assert_eq!(store_in_force(&mut home.command(&info)), "preferences.db");
    fs::create_dir(home.aizo()).expect("an empty home");
    fs::write(home.aizo().join(".env"), "AIZO_DB_PATH=~/home.db\n").expect("writable");
    assert_eq!(store_in_force(&mut home.command(&info)), "home.db");
    fs::write(home.path().join(".env"), "AIZO_DB_PATH=\"local.db\"\n").expect("writable");
    assert_eq!(store_in_force(&mut home.command(&info)), "local.db");
    assert_eq!(
        store_in_force(home.command(&info).env("AIZO_DB_PATH", "variable.db")),
        "variable.db"
    );
    let flag = ["info", "--json", "--db", "flag.db"];
    assert_eq!(
        store_in_force(home.command(&flag).env("AIZO_DB_PATH", "variable.db")),
        "flag.db"
    );
}

#[test]
fn a_projects_own_file_may_name_a_store_and_nothing_more() {
    let home = Home::new();
    fs::write(
        home.path().join(".env"),
        "AIZO_DB_PATH=local.db\nAIZO_NOW=2001-01-01T00:00:00Z\nAIZO_HOME=elsewhere\n\
         AIZO_LOCK_TIMEOUT_MS=nonsense\nOPENAI_API_KEY=sk-0123456789abcdef\nAIZO_COLOR=always\n",
    )
    .expect("writable");
    let run = home.run(&["add", "tabs", "r"]);
    assert_eq!(run.code, 0, "{run:?}");
    assert_eq!(run.stderr, "using the store local.db (from ./.env)\n");
    assert!(home.path().join("local.db").exists());
    assert!(!home.aizo().join("preferences.db").exists());
    let info: Value = home.json(&["info"]);
    let taken = &info["env_files"][0]["taken"];
    assert_eq!(*taken, json!(["AIZO_COLOR", "AIZO_DB_PATH"]));
    assert!(!info.to_string().contains("elsewhere"), "{info}");
    assert!(!info.to_string().contains("2001"), "{info}");
    assert!(
        home.ok(&["show"]).contains('\u{1b}'),
        "a display setting is taken"
    );
}

#[test]
fn keys_are_masked_and_their_place_is_told() {
    let home = Home::new();
    fs::create_dir(home.aizo()).expect("an empty home");
    fs::write(
        home.aizo().join(".env"),
        "ANTHROPIC_API_KEY=sk-ant-secret-cdef\nUNRELATED=left-alone\n",
    )
    .expect("writable");
    for arguments in [&["info"][..], &["info", "--json"]] {
        let run = run(home
            .command(arguments)
            .env("OPENAI_API_KEY", "short-secret")
            .env("AIZO_LLM_API_KEY", "another-secret-key")
            .env("AIZO_SYNC_TOKEN", "token-secret-token")
            .env("AIZO_SYNC_PASSWORD", "password-secret"));
        assert_eq!(run.code, 0, "{run:?}");
        assert!(!run.stdout.contains("secret"), "{run:?}");
        assert!(run.stdout.contains("…cdef"), "{run:?}");
        assert!(!run.stdout.contains("left-alone"), "{run:?}");
    }
    assert!(home.ok(&["info"]).contains("(~/.aizo/.env)"));
}

#[test]
fn a_settings_file_that_cannot_be_read_is_told_without_its_content() {
    let home = Home::new();
    fs::create_dir(home.aizo()).expect("an empty home");
    fs::write(
        home.aizo().join(".env"),
        "ANTHROPIC API KEY sk-ant-secret\nAIZO_DB_PATH=~/named.db\n",
    )
    .expect("writable");
    let run = home.run(&["info", "--json"]);
    assert_eq!(run.code, 0, "{run:?}");
    assert!(run.stderr.contains(".env"), "{run:?}");
    assert!(!format!("{run:?}").contains("sk-ant-secret"), "{run:?}");
    assert!(
        run.stdout.contains("named.db"),
        "the other lines count: {run:?}"
    );
}

#[test]
fn the_home_can_be_moved_and_a_tilde_is_the_users_own() {
    let home = Home::new();
    let moved = home.path().join("moved");
    assert_eq!(
        run(home.command(&["add", "a", "r"]).env("AIZO_HOME", &moved)).code,
        0
    );
    assert!(moved.join("preferences.db").exists());
    assert_eq!(
        run(home.command(&["add", "a", "r"]).env("AIZO_HOME", "~/tilde")).code,
        0
    );
    assert!(home.path().join("tilde/preferences.db").exists());
    assert_eq!(
        run(home
            .command(&["add", "a", "r"])
            .env("AIZO_DB_PATH", "~/named.db"))
        .code,
        0
    );
    assert!(home.path().join("named.db").exists());
    home.ok(&["add", "a", "r", "--db", "~/flag.db"]);
    assert!(home.path().join("flag.db").exists());
    assert!(!home.path().join("~").exists());
    assert!(!home.aizo().exists());
}

#[test]
fn a_home_that_is_missing_is_an_error_of_one_line_that_names_it() {
    let home = Home::new();
    let missing = home.path().join("missing").join("deeper");
    for variable in ["HOME", "AIZO_HOME"] {
        let run = run(home
            .command(&["add", "tabs", "r"])
            .env("USERPROFILE", &missing)
            .env(variable, &missing));
        assert_eq!(
            (run.code, run.stdout.as_str()),
            (1, ""),
            "{variable}: {run:?}"
        );
        let told: Vec<&str> = run.stderr.lines().collect();
        assert!(told[0].starts_with("error: "), "{run:?}");
        assert!(told[0].contains(&missing.display().to_string()), "{run:?}");
        assert!(
            told[1..].iter().all(|line| line.starts_with("hint: ")),
            "{run:?}"
        );
        assert!(
            !home.path().join("missing").exists(),
            "it is not for aizo to make"
        );
    }
    let run = run(home
        .command(&["recall", "--json"])
        .env("AIZO_HOME", &missing));
    assert_eq!((run.code, run.stdout.as_str()), (0, "[]\n"), "{run:?}");
}

#[rstest]
#[case("bash")]
#[case("elvish")]
#[case("fish")]
#[case("powershell")]
#[case("zsh")]
fn there_is_a_completion_script_for(#[case] shell: &str) {
    let run = Home::new().run(&["completions", shell]);
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    assert!(run.stdout.contains("recall") && run.stdout.contains("no-touch"));
}

/// Every command that the help lists.
fn commands(home: &Home) -> Vec<String> {
    let help = home.ok(&["--help"]);
    let (_, list) = help.split_once("Commands:").expect("the help lists them");
    list.lines()
        .skip(1)
        .take_while(|line| !line.trim().is_empty())
        .filter(|line| line.starts_with("  ") && !line.starts_with("   "))
        .filter_map(|line| line.split_whitespace().next())
        .filter(|name| *name != "help")
        .map(str::to_owned)
        .collect()
}

#[test]
fn every_command_has_help_with_an_example_and_a_manual_page() {
    let home = Home::new();
    let names = commands(&home);
    assert!(names.len() > 20, "{names:?}");
    for name in &names {
        let help = home.ok(&[name, "--help"]);
        assert!(
            help.contains("Example") && help.contains(&format!("aizo {name}")),
            "{help}"
        );
        let page = home.ok(&["man", name]);
        assert!(page.contains(".TH") && page.contains("aizo"), "{name}");
    }
    let page = home.ok(&["man"]);
    assert!(
        names.iter().all(|name| page.contains(name.as_str())),
        "{page}"
    );
    assert!(home.ok(&["--help"]).contains("Example"));
}
