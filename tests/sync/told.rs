//! What is told of a change is what has happened: by `sync`, by `undo` of what came, and where a hard limit goes.

use serde_json::{Value, json};

use super::{Server, score, sync};
use crate::common::Home;

/// Two devices that know the same two entries.
fn two(server: &Server) -> (Home, Home) {
    let (a, b) = server.two();
    a.ok(&["add", "first", "of two", "--score", "6"]);
    a.ok(&["add", "vim", "the editor", "--score", "6"]);
    for home in [&a, &b] {
        sync(home);
    }
    (a, b)
}

fn id(home: &Home, item: &str) -> Value {
    home.json::<Value>(&["show", item])["id"].clone()
}

#[test]
fn an_undo_of_what_another_device_removed_is_told_as_one_with_the_score_that_was_here() {
    let server = Server::new();
    let (a, b) = two(&server);
    let known = id(&b, "vim");
    a.ok(&["remove", "vim"]);
    b.ok(&["update", "vim", "--score", "8"]);
    sync(&a);
    let text = b.ok(&["sync"]);
    assert!(text.contains("removed: vim (8.0)"), "{text}");
    let history = b.ok(&["history"]);
    let line = history.lines().find(|line| line.contains(" remove "));
    let line = line.expect("it is there");
    assert!(line.contains("score 8.0; on device"), "{history}");
    // What came later is named.
    let bare = b.run(&["undo", "--json"]);
    let failure: Value = serde_json::from_str(&bare.stderr).expect("an error");
    let number = line.split_whitespace().next().expect("a number");
    assert_eq!(
        failure["error"]["hint"],
        format!("undo that one first: aizo undo {number}")
    );
    let told = b.ok(&["undo", number]);
    let undone = format!("undone: remove (change {number}): vim  (score 8.0)");
    assert!(told.starts_with(&undone), "{told}");
    assert!(!told.contains("not undone"), "{told}");
    assert_eq!((score(&b, "vim"), id(&b, "vim")), (Some(8.0), known));
    sync(&b);
    sync(&a);
    assert_eq!(score(&a, "vim"), Some(8.0));
    // The older one is free now.
    b.ok(&["undo"]);
    assert_eq!(score(&b, "vim"), Some(6.0));
}

#[test]
fn what_came_and_changed_nothing_and_what_changed_beside_the_score_are_told() {
    let server = Server::new();
    let (a, b) = two(&server);
    a.ok(&["update", "vim", "--score", "3"]);
    b.ok(&["update", "vim", "--score", "9"]);
    a.ok(&["update", "first", "--reason", "another one"]);
    sync(&a);
    let text = b.ok(&["sync"]);
    assert!(text.contains("changed: first (6.0: reason)"), "{text}");
    assert!(
        text.contains("stays as it is here: vim (9.0); another device had 3.0"),
        "{text}"
    );
    let text = a.ok(&["sync"]);
    assert!(text.contains("changed: vim (3.0 → 9.0)"), "{text}");
    // What is unknown here and gone there is nothing to tell.
    a.ok(&["add", "brief", "for a moment"]);
    a.ok(&["remove", "brief"]);
    sync(&a);
    let text = b.ok(&["sync"]);
    assert!(!text.contains("brief"), "{text}");
}

#[test]
fn wherever_a_hard_limit_goes_it_is_told() {
    const LIFTED: &str = "it is no hard limit any more, and stops no agent";
    let server = Server::new();
    let (a, b) = two(&server);
    let limit = &["add", "force-push", "never", "--score", "0.5"];
    a.ok(limit);
    sync(&a);
    sync(&b);
    let text = a.ok(&["update", "force-push", "--score", "5"]);
    assert!(
        text.contains(&format!("{LIFTED}; to put it back: aizo undo")),
        "{text}"
    );
    sync(&a);
    let text = b.ok(&["sync"]);
    assert!(
        text.contains(&format!("force-push (0.5 → 5.0); {LIFTED}")),
        "{text}"
    );
    a.ok(&["undo"]);
    let removed: Vec<Value> = a.json(&["remove", "force-push"]);
    let hint = removed[0]["hint"].as_str().expect("a hint");
    assert!(
        hint.starts_with(&format!("{LIFTED}; to take it back: aizo undo")),
        "{hint}"
    );
    sync(&a);
    a.ok(&["add", "eval", "never", "--score", "1"]);
    let text = a.ok(&["undo"]);
    assert!(text.contains(LIFTED), "{text}");
    // An ordinary one goes without a word of it, and so does what makes a limit stricter.
    let kept: Value = a.json(&["update", "vim", "--score", "3"]);
    assert_eq!(kept["hint"], json!(null));
    a.ok(&["add", "rm", "never", "--score", "1"]);
    let kept: Value = a.json(&["update", "rm", "--score", "0"]);
    assert_eq!(kept["hint"], json!(null));
}
