//! Bars on standard error, for who waits.

use std::process::Command;

use serde_json::json;

use super::{Ends, Terminal, WIDE, bar_and_answer, columns, command};
use crate::common::{Chat, Home};

#[test]
fn an_import_that_takes_time_shows_a_bar_that_is_gone_afterwards() {
    let home = Home::new();
    let lines: Vec<String> = (0..6000)
        .map(|number| {
            json!({"item": format!("entry {number}"), "reason": "an ordinary one"}).to_string()
        })
        .collect();
    let file = home
        .write("many.jsonl", lines.join("\n").as_bytes())
        .display()
        .to_string();
    let import = ["import", "--accept", "--no-pager", file.as_str()];
    let shown = WIDE.run_with(command(&home, &import), Ends::NotStdout);
    assert_eq!(shown.code, 0, "{shown:?}");
    assert!(
        !shown.piped.contains('\u{1b}') && !shown.piped.is_empty(),
        "{shown:?}"
    );
    let (bar, after) = bar_and_answer(&shown.screen);
    let drawn: Vec<&str> = bar
        .split('%')
        .filter_map(|part| part.split(' ').next_back())
        .collect();
    assert!(
        bar.contains('█') && drawn.len() > 3,
        "it moves on: {shown:?}"
    );

    assert!(!after.contains(['%', '█']), "{shown:?}");
    let narrow = Terminal {
        columns: 20,
        rows: 10,
    };
    let again = Home::new();
    let shown = narrow.run_with(command(&again, &import), Ends::NotStdout);
    let (bar, _) = bar_and_answer(&shown.screen);
    assert!(bar.contains('%'), "{shown:?}");
    let drawn = bar
        .split(['\r', '\n'])
        .map(|line| columns(line.trim_start_matches("\u{1b}[2K")));
    assert!(drawn.max() <= Some(20), "{shown:?}");
    for (options, variables) in [(&["--json"][..], &[][..]), (&[], &[("TERM", "dumb")])] {
        let quiet = Home::new();
        let mut run = command(&quiet, &[&import[..], options].concat());
        run.envs(variables.iter().copied());
        let shown = WIDE.run_with(run, Ends::NotStdout);
        assert_eq!(shown.code, 0, "{shown:?}");
        assert!(!shown.screen.contains(['\u{1b}', '%']), "{shown:?}");
    }
}

#[test]
fn an_analysis_that_takes_time_shows_how_far_it_is_in_a_long_file_too() {
    let home = Home::new();
    let long = "what an agent says at length ".repeat(500);
    let chat = (0..300).fold(Chat::new("s"), |chat, turn| {
        chat.user(&format!(
            "I never use tabs in file {turn}, and I like short answers"
        ))
        .assistant(&long)
    });
    chat.write(&home, "chat.jsonl");
    let run = command(&home, &["analyze", "--dry-run", "chat.jsonl"]);
    let shown = WIDE.run_with(run, Ends::NotStdout);
    assert_eq!(shown.code, 0, "{shown:?}");
    let (bar, after) = bar_and_answer(&shown.screen);
    let halfway = (10..90).any(|percent| bar.contains(&format!(" {percent}%")));
    assert!(halfway, "{shown:?}");
    assert!(!after.contains('%'), "{shown:?}");
    assert!(!shown.piped.contains('\u{1b}'), "{shown:?}");
}

#[test]
fn a_sync_shows_what_it_does_while_it_does_it() {
    let home = Home::new();
    home.ok(&["add", "tabs", "uses them"]);
    let made = Command::new("git")
        .args([
            "init",
            "--bare",
            "--quiet",
            "--initial-branch=main",
            "server.git",
        ])
        .current_dir(home.path())
        .status();
    assert!(made.expect("git is there").success());
    let url = home.path().join("server.git").display().to_string();
    let shown = WIDE.run_with(command(&home, &["sync", "init", &url]), Ends::NotStdout);
    assert_eq!(shown.code, 0, "{shown:?}");
    assert!(shown.screen.contains("fetching"), "{shown:?}");
    let shown = WIDE.run_with(command(&home, &["sync"]), Ends::NotStdout);
    assert_eq!(shown.code, 0, "{shown:?}");
    let (bar, after) = bar_and_answer(&shown.screen);
    assert!(bar.contains("fetching"), "{shown:?}");
    assert!(!after.contains('%'), "{shown:?}");
    let shown = WIDE.run_with(command(&home, &["sync", "--json"]), Ends::NotStdout);
    assert_eq!(shown.screen, "", "{shown:?}");
}
