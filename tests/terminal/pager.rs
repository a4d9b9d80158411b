//! What is longer than the screen.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use rstest::rstest;
use serde_json::json;

use super::{Ends, Shown, WIDE, command};
use crate::common::Home;

/// A home with more entries than a screen has rows.
fn long() -> Home {
    let home = Home::new();
    let lines: Vec<String> = (0..60)
        .map(|number| {
            json!({"item": format!("entry {number}"), "reason": "an ordinary one"}).to_string()
        })
        .collect();
    let run = home.run_with_input(&["add", "--stdin"], lines.join("\n").as_bytes());
    assert_eq!(run.code, 0, "{run:?}");
    home
}

/// A program in the home folder.
fn program(home: &Home, name: &str, script: &str) -> PathBuf {
    let path = home.write(name, format!("#!/bin/sh\n{script}\n").as_bytes());
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("it is ours");
    path
}

/// A pager that says how it was called, and then what it was given.
fn pager(home: &Home) -> PathBuf {
    program(
        home,
        "my pager",
        "printf 'PAGED'; printf ' [%s]' \"$@\"; printf ' %s %s\\n' \"$LESS\" \"$LESSCHARSET\"; cat",
    )
}

/// Runs a long list on a screen of 50 rows.
fn paged(home: &Home, arguments: &[&str], variables: &[(&str, &str)]) -> Shown {
    let mut run = command(home, arguments);
    run.envs(variables.iter().copied());
    WIDE.run(run)
}

#[test]
fn what_is_longer_than_the_screen_goes_through_the_pager() {
    let home = long();
    let quoted = format!("'{}' -x \"a 'b' c\"", pager(&home).display());
    let shown = paged(&home, &["show"], &[("PAGER", &quoted)]);
    assert_eq!(shown.code, 0, "{shown:?}");
    let (first, rest) = shown.screen.split_once('\n').expect("lines");
    assert_eq!(first, "PAGED [-x] [a 'b' c] FRX utf-8");
    assert_eq!(rest.lines().count(), 61, "{rest}");
    assert!(rest.starts_with("\u{1b}[1m"), "less shows colours: {rest}");
    // What the person has told the pager stands.
    let shown = paged(
        &home,
        &["show"],
        &[
            ("PAGER", &quoted),
            ("LESS", "-S"),
            ("LESSCHARSET", "latin1"),
        ],
    );
    assert!(shown.screen.contains("-S latin1\n"), "{shown:?}");
    // Of two pagers, aizo's own; what fits needs none.
    let shown = paged(
        &home,
        &["show"],
        &[("PAGER", "/nowhere"), ("AIZO_PAGER", &quoted)],
    );
    assert!(shown.screen.starts_with("PAGED"), "{shown:?}");
    let shown = paged(&home, &["top", "48"], &[("PAGER", &quoted)]);
    assert_eq!(shown.screen.lines().count(), 49, "{shown:?}");
    assert!(!shown.screen.contains("PAGED"), "{shown:?}");
    let shown = paged(&home, &["top", "49"], &[("PAGER", &quoted)]);
    assert!(shown.screen.starts_with("PAGED"), "{shown:?}");
}

#[rstest]
#[case::the_flag(&["show", "--no-pager"], &[])]
#[case::none(&["show"], &[("AIZO_PAGER", "")])]
#[case::no_pager(&["show"], &[("PAGER", "")])]
#[case::cat(&["show"], &[("AIZO_PAGER", "cat")])]
#[case::dumb(&["show"], &[("TERM", "dumb")])]
#[case::json(&["show", "--json"], &[])]
fn no_pager_where_none_is_wanted(#[case] arguments: &[&str], #[case] variables: &[(&str, &str)]) {
    let home = long();
    let own = format!("'{}'", pager(&home).display());
    let mut all = vec![("PAGER", own.as_str())];
    all.extend(variables);
    let shown = paged(&home, arguments, &all);
    assert_eq!(shown.code, 0, "{shown:?}");
    assert!(!shown.screen.contains("PAGED"), "{shown:?}");
    assert!(shown.screen.lines().count() > 60, "{shown:?}");
}

#[rstest]
#[case(Ends::NotStdin)]
#[case(Ends::NotStdout)]
fn no_pager_where_nobody_could_press_a_key(#[case] ends: Ends) {
    let home = long();
    let mut run = command(&home, &["show"]);
    run.env("PAGER", format!("'{}'", pager(&home).display()));
    let shown = WIDE.run_with(run, ends);
    assert_eq!(shown.code, 0, "{shown:?}");
    let text = match ends {
        Ends::NotStdout => &shown.piped,
        _ => &shown.screen,
    };
    assert_eq!(text.lines().count(), 61, "{shown:?}");
    assert!(!text.contains("PAGED"), "{shown:?}");
    assert_eq!(
        text.contains('\u{1b}'),
        ends != Ends::NotStdout,
        "{shown:?}"
    );
}

#[test]
fn a_project_names_no_pager() {
    let home = long();
    let own = pager(&home);
    let line = format!("AIZO_PAGER=\"'{}'\"\n", own.display());
    fs::write(home.path().join(".env"), &line).expect("writable");
    let shown = paged(&home, &["show"], &[("PAGER", "cat")]);
    assert!(!shown.screen.contains("PAGED"), "{shown:?}");
    assert_eq!(shown.screen.lines().count(), 61, "{shown:?}");
    fs::remove_file(home.path().join(".env")).expect("it is there");
    fs::write(home.aizo().join(".env"), &line).expect("writable");
    let shown = paged(&home, &["show"], &[("PAGER", "cat")]);
    assert!(
        shown.screen.starts_with("PAGED"),
        "the person's own does: {shown:?}"
    );
}

#[rstest]
#[case::shell("less; touch seen", "no shell is started")]
#[case::substitution("less $(touch seen)", "no shell is started")]
#[case::pipe("cat | touch seen", "no shell is started")]
#[case::redirection("cat > seen", "no shell is started")]
#[case::a_quote("'less", "no shell is started")]
#[case::blank("''", "cannot be started")]
#[case::missing("/nowhere/less -R", "cannot be started")]
fn a_pager_that_cannot_be_started_is_told_and_nothing_is_lost(
    #[case] named: &str,
    #[case] why: &str,
) {
    let home = long();
    let shown = paged(&home, &["show"], &[("PAGER", named)]);
    assert_eq!(shown.code, 0, "{shown:?}");
    assert!(!home.path().join("seen").exists(), "{named}");
    let (told, rest) = shown.screen.split_once('\n').expect("lines");
    assert!(
        told.starts_with("the pager `") && told.contains(why),
        "{shown:?}"
    );
    assert_eq!(rest.lines().count(), 61, "{shown:?}");
}

#[test]
fn a_pager_that_ends_early_is_no_error() {
    let home = long();
    let first = program(&home, "first", "head -n 1");
    let shown = paged(&home, &["show"], &[("PAGER", &first.display().to_string())]);
    assert_eq!(shown.code, 0, "{shown:?}");
    assert_eq!(shown.screen.lines().count(), 1, "{shown:?}");
}

#[test]
fn the_pager_takes_the_place_of_the_program() {
    // An interrupt that ended the program would leave the pager behind, with the terminal in its hands.
    let home = long();
    let number = program(&home, "number", "echo $$");
    let shown = paged(
        &home,
        &["show"],
        &[("PAGER", &number.display().to_string())],
    );
    assert_eq!(shown.screen, format!("{}\n", shown.process));
}

#[test]
fn without_a_pager_at_all_the_text_is_printed() {
    let home = long();
    let mut run = command(&home, &["show"]);
    run.env("PATH", home.path());
    let shown = WIDE.run(run);
    assert_eq!(shown.code, 0, "{shown:?}");
    assert_eq!(shown.screen.lines().count(), 61, "{shown:?}");
}

#[test]
fn less_shows_a_screen_of_chinese_and_ends_with_q() {
    if !Path::new("/usr/bin/less").exists() {
        return;
    }
    let home = long();
    home.ok(&["add", "简洁的代码", "要求过两次", "--score", "10"]);
    let mut run = command(&home, &["show"]);
    run.env("LANG", "C");
    let shown = WIDE.run(run);
    assert_eq!(shown.code, 0, "{shown:?}");
    assert!(shown.screen.contains("简洁的代码"), "{shown:?}");
    let seen = shown.screen.matches("entry ").count();
    assert!((40..60).contains(&seen), "one screen of it: {seen}");
}
