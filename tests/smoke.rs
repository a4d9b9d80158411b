//! The shortest way through: store, find, explain, take back.

use crate::common::Home;

#[test]
fn what_is_added_is_found_explained_and_taken_back() {
    let home = Home::new();
    home.ok(&["add", "concise code", "asked twice"]);
    assert!(home.ok(&["recall", "code"]).contains("concise code"));
    assert!(home.ok(&["why", "concise", "code"]).contains("asked twice"));
    home.ok(&["undo"]);
    let run = home.run(&["recall", "code", "--json"]);
    assert_eq!((run.code, run.stdout.as_str()), (0, "[]\n"));
}
