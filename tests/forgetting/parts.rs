//! A part of a name erases nothing unasked, and what is left in others can be taken out afterwards.

use std::fs;
use std::path::Path;

use rstest::rstest;
use serde_json::Value;

use super::{assert_clean, error, forget, traces};
use crate::common::Home;
use crate::stores::replays_to_the_same_tables;

#[rstest]
#[case(&["thing"], "Secret thing (id 1, 1 change, 1 observation)")]
#[case(&["force"], "force-push to main (id 2, a hard limit, 1 change, 1 observation)")]
// A number that is no id, and a name of what was removed.
#[case(&["7"], "phone 7 (id 3, 1 change, 1 observation)")]
#[case(&["meetings"], "long meetings (removed earlier, 2 changes, 1 observation)")]
// What was said of another one.
#[case(&["pollen", "--all-evidence"], "words in gardens (id 5: reason, 1 quote)")]
fn what_is_no_whole_item_is_erased_only_with_a_yes(#[case] words: &[&str], #[case] would_go: &str) {
    let home = Home::new();
    home.ok(&["add", "Secret thing", "because"]);
    home.ok(&["add", "force-push to main", "because", "--score", "0.5"]);
    home.ok(&["add", "phone 7", "because"]);
    home.ok(&["add", "long meetings", "because"]);
    home.ok(&["add", "gardens", "full of pollen"]);
    home.ok(&["remove", "long meetings"]);
    let before = fs::read(home.db()).expect("the store reads");
    let run = home.run(&[&["forget", "--json"], words].concat());
    let failure = error(&run);
    assert_eq!(run.code, 2, "{failure}");
    let message = failure["message"].as_str().expect("a text");
    assert!(message.contains(would_go), "{message}");
    assert_eq!(failure["hint"], format!("aizo forget '{}' --yes", words[0]));
    assert_eq!(fs::read(home.db()).expect("the store reads"), before);
    let told = forget(&home, &[words, &["--dry-run"]].concat());
    assert_eq!(told.forgotten.len() + told.erased.len(), 1, "{told:?}");
    let told = forget(&home, &[words, &["--yes"]].concat());
    assert_eq!(told.forgotten.len() + told.erased.len(), 1, "{told:?}");
    replays_to_the_same_tables(&home);
}

#[rstest]
#[case("SECRET  thing")]
#[case("1")]
#[case("#1")]
fn the_whole_item_and_an_id_take_no_yes(#[case] named: &str) {
    let home = Home::new();
    home.ok(&["add", "Secret thing", "because"]);
    assert_eq!(forget(&home, &[named]).forgotten.len(), 1);
}

/// A home in which another entry, and a copy of the store, speak of a thing.
fn spoken_of() -> Home {
    let home = Home::new();
    home.ok(&["add", "Qzxvorn", "because"]);
    home.ok(&["add", "other", "goes with qzxvorn", "--score", "6"]);
    home.ok(&["backup"]);
    home
}

#[test]
fn what_is_left_in_others_goes_with_the_command_that_is_told() {
    let home = spoken_of();
    let command = "what was said of others goes with: aizo forget 'Qzxvorn' --all-evidence";
    let rehearsed = forget(&home, &["Qzxvorn", "--dry-run"]);
    assert_eq!(rehearsed.hint.as_deref(), Some(command));
    let told = forget(&home, &["Qzxvorn"]);
    assert_eq!(told.mentioned.len(), 1, "{told:?}");
    assert!(told.hint.is_some_and(|hint| hint.starts_with(command)));
    assert!(!traces(&home.aizo(), &["qzxvorn"]).is_empty());
    // Without the option it is named again; with it nobody is asked, since it is a whole name.
    let failure = error(&home.run(&["forget", "Qzxvorn", "--json"]));
    assert_eq!(failure["hint"], "aizo forget 'Qzxvorn' --all-evidence");
    let told = forget(&home, &["Qzxvorn", "--all-evidence"]);
    assert!(
        told.forgotten.is_empty() && told.mentioned.is_empty(),
        "{told:?}"
    );
    assert_eq!(
        (told.erased[0].item.as_str(), told.erased[0].quotes),
        ("other", 1)
    );
    assert_clean(&home, &["qzxvorn"]);
    replays_to_the_same_tables(&home);
    let other: Value = home.json(&["show", "other"]);
    assert_eq!(other["reason"], "");
    let again = error(&home.run(&["forget", "Qzxvorn", "--all-evidence", "--json"]));
    assert_eq!(again["kind"], "not_found");
}

#[test]
fn an_entry_whose_item_holds_a_forgotten_name_stays_and_is_named() {
    let home = spoken_of();
    home.ok(&["add", "holidays with qzxvorn", "because"]);
    let told = forget(&home, &["Qzxvorn"]);
    let hint = told.hint.expect("a hint");
    assert!(
        hint.contains(
            "; an item, keywords and a pattern go only with what has them: aizo forget 3;"
        ),
        "{hint}"
    );
    forget(&home, &["Qzxvorn", "--all-evidence"]);
    assert_eq!(
        home.json::<Value>(&["show", "3"])["item"],
        "holidays with qzxvorn"
    );
    forget(&home, &["3"]);
    assert_clean(&home, &["qzxvorn"]);
}

#[test]
fn of_a_copy_it_is_told_that_others_in_it_still_speak_of_it() {
    let home = spoken_of();
    let holds = |path: &Path| !traces(path.parent().expect("a folder"), &["qzxvorn"]).is_empty();
    let told = forget(&home, &["Qzxvorn"]);
    let [copy] = &told.copies[..] else {
        panic!("{told:?}")
    };
    assert_eq!(
        copy.reason.as_deref(),
        Some("other entries in it still speak of it")
    );
    assert!(holds(&copy.path));
    let told = forget(&home, &["Qzxvorn", "--all-evidence"]);
    let [copy] = &told.copies[..] else {
        panic!("{told:?}")
    };
    assert_eq!((copy.result.as_str(), &copy.reason), ("rewritten", &None));
    assert!(!holds(&copy.path));
}
