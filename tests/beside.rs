//! What changes beside the thing that a command names is told, a hard limit that is lost by name.

use rstest::rstest;

use crate::common::Home;
use crate::stores::replays_to_the_same_tables;
use crate::sync::Server;

const LOST: &str = "hard limit lost: “shellfish” (0.0); to make it one again: aizo add 'shellfish' REASON --score 0.0";
const CHANGED: &str = "also changed: “tea” (8.0) is gone";

/// Lets the journal know nothing of two entries, as where a part of it was lost: the next fold takes them.
fn lose_lines(home: &Home) {
    home.ok(&["add", "shellfish", "allergic", "--score", "0"]);
    home.ok(&["add", "tea", "every day", "--score", "8"]);
    home.ok(&["add", "tabs", "in code"]);
    home.outside(
        "DELETE FROM journal WHERE uid IN
             (SELECT uid FROM preferences WHERE item IN ('shellfish', 'tea'))",
    );
}

#[rstest]
#[case::a_forgetting(false, &["forget", "tabs"])]
#[case::a_forgetting_where_it_is_synced(true, &["forget", "tabs"])]
#[case::an_undo(true, &["undo"])]
#[case::the_first_change_after_another_program(true, &["add", "coffee", "black"])]
fn what_changes_beside_the_thing_that_is_named_is_told(
    #[case] is_synced: bool,
    #[case] arguments: &[&str],
) {
    let server = Server::new();
    let home = if is_synced {
        server.home()
    } else {
        Home::new()
    };
    if is_synced {
        home.ok(&["sync"]);
    }
    lose_lines(&home);
    if arguments[0] == "add" {
        home.outside("UPDATE preferences SET reason = 'by hand' WHERE item = 'tabs'");
    }
    let run = home.run(arguments);
    assert_eq!(run.code, 0, "{run:?}");
    assert!(run.stderr.contains(LOST), "{run:?}");
    assert!(run.stderr.contains(CHANGED), "{run:?}");
    assert!(!run.stderr.contains("tabs"), "{run:?}");
    replays_to_the_same_tables(&home);
    // What is said is what makes it one again.
    home.ok(&["add", "shellfish", "allergic", "--score", "0.0"]);
    let again = home.run(&["add", "water", "cold"]);
    assert!(!again.stderr.contains("lost"), "{again:?}");
    let shown: serde_json::Value = home.json(&["show", "shellfish"]);
    assert_eq!(shown["hard_limit"], true);
}
