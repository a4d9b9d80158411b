//! An entry that is there already with other values.

use super::*;

/// A store that has `tabs` with another score, and the file that comes.
fn gone_apart(stored: &str, comes: &str) -> (Home, String) {
    let from = Home::new();
    from.ok(&[
        "add",
        "tabs",
        "from the file",
        "--score",
        comes,
        "--keywords",
        "indent",
    ]);
    let exported = export(&from, &[]);
    let to = Home::new();
    to.ok(&["add", "tabs", "of this store", "--score", stored]);
    let path = file(&to, "p.jsonl", exported);
    (to, path)
}

#[rstest]
#[case("6", "9", "merge", "merged", 7.8)]
#[case("6", "9", "skip", "skipped", 6.0)]
#[case("6", "9", "replace", "replaced", 9.0)]
#[case("0.5", "9", "merge", "kept", 0.5)]
#[case("0.5", "9", "replace", "kept", 0.5)]
#[case("9", "0.5", "merge", "limited", 0.5)]
#[case("9", "0.5", "replace", "limited", 0.5)]
#[case("9", "0.5", "skip", "skipped", 9.0)]
#[case("0.5", "1.5", "merge", "kept", 0.5)]
#[case("1.5", "0.5", "merge", "merged", 0.5)]
#[case("0.5", "1.5", "replace", "kept", 0.5)]
#[case("1.5", "0.5", "replace", "replaced", 0.5)]
fn a_conflict_is_settled_as_was_asked(
    #[case] stored: &str,
    #[case] comes: &str,
    #[case] policy: &str,
    #[case] result: &str,
    #[case] score: f64,
) {
    let (home, path) = gone_apart(stored, comes);
    let before = home.rows();
    let arguments = [path.as_str(), "--on-conflict", policy];
    let reply = import(&home, &arguments);
    assert_eq!(reply.rows[0].result, result);
    assert_eq!(items(&home)[0].1, score);
    let again = import(&home, &arguments);
    assert!(again.change.is_none(), "{again:?}");
    assert_eq!(items(&home)[0].1, score);
    if reply.change.is_some() {
        home.ok(&["undo"]);
        assert_eq!(home.rows(), before);
    }
}

#[test]
fn an_earlier_state_of_an_entry_does_not_disturb_it_and_a_later_one_stands() {
    let old = Home::new();
    old.ok(&["add", "tabs", "first", "--score", "8"]);
    let earlier = file(&old, "earlier.jsonl", export(&old, &[]));
    let other = Home::new();
    import(&other, &[&earlier]);
    let old = old.at("2026-12-09T00:00:00Z");
    old.ok(&["add", "tabs", "second", "--score", "4"]);
    let later = file(&old, "later.jsonl", export(&old, &[]));
    let reply = import(&other, &[&later]);
    assert_eq!(reply.rows[0].result, "replaced");
    assert_eq!(export(&other, &[]), export(&old, &[]));
    assert!(import(&old, &[&earlier]).changes_nothing());
}

#[test]
fn an_entry_that_was_renamed_is_known_by_its_name() {
    let home = Home::new();
    home.ok(&["add", "tabs", "because"]);
    let path = file(&home, "p.jsonl", export(&home, &[]));
    home.ok(&["update", "tabs", "--new-item", "tabulators"]);
    let reply = import(&home, &[&path, "--on-conflict", "replace"]);
    assert_eq!(reply.rows[0].result, "replaced");
    assert_eq!(items(&home)[0].0, "tabs");
    // Another entry has taken the item meanwhile.
    home.ok(&["update", "tabs", "--new-item", "tabulators"]);
    home.ok(&["add", "tabs", "another", "--score", "3"]);
    let reply = import(&home, &[&path, "--on-conflict", "replace"]);
    assert_eq!(reply.counts.unreadable, 0, "{reply:?}");
    let names: Vec<String> = items(&home).into_iter().map(|(item, ..)| item).collect();
    assert_eq!(names, ["tabs", "tabulators"]);
}

#[test]
fn an_earlier_export_does_not_take_back_what_was_set_since() {
    let home = profile();
    let path = file(&home, "p.jsonl", export(&home, &[]));
    home.ok(&["update", "concise code", "--score", "3"]);
    home.ok(&["update", "force-push to main", "--score", "5"]);
    home.ok(&["tag", "passive voice", "prose"]);
    let before = home.rows();
    let run = home.run(&["import", &path]);
    assert!(
        run.stdout
            .contains("3 have changed here since: --on-conflict replace takes the file's"),
        "{run:?}"
    );
    assert!(import(&home, &[&path]).changes_nothing());
    assert_eq!(home.rows(), before);
    let reply = import(&home, &[&path, "--on-conflict", "replace"]);
    assert_eq!(reply.hard_limits, ["force-push to main"]);
    assert_eq!(
        reply.results(),
        results(&[("limited", 1), ("replaced", 2), ("unchanged", 2)])
    );
    assert_eq!(
        export(&home, &[]),
        std::fs::read_to_string(&path).expect("it is there")
    );
}
