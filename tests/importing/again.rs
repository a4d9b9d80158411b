//! What comes back by a file after it was forgotten, or became one with something else: it is there, and stays there.

use super::*;
use crate::stores::replays_to_the_same_tables;
use crate::sync::{Server, meet};

const FORGOTTEN: &str = "it was forgotten here before";

/// Whether the store, and whatever is made of its journal, has an item as a hard limit.
fn is_limit(home: &Home, item: &str) -> bool {
    replays_to_the_same_tables(home);
    items(home)
        .iter()
        .any(|(known, score, _)| known == item && *score <= 1.5)
}

#[test]
fn a_hard_limit_that_was_forgotten_and_is_imported_stays() {
    let home = Home::new();
    home.ok(&["add", "shellfish", "allergic", "--score", "0"]);
    let path = file(&home, "p.jsonl", export(&home, &[]));
    home.ok(&["add", "tabs", "in code"]);
    home.ok(&["forget", "shellfish", "--yes"]);
    let rehearsed = import(&home, &["--dry-run", &path]);
    let reply = import(&home, &[&path]);
    assert_eq!(reply.hard_limits, ["shellfish"]);
    assert_eq!(reply.rows[0].why.as_deref(), Some(FORGOTTEN));
    assert_eq!(
        (&rehearsed.hard_limits, &rehearsed.counts),
        (&reply.hard_limits, &reply.counts)
    );
    assert!(is_limit(&home, "shellfish"));
    assert!(import(&home, &[&path]).changes_nothing());
    home.ok(&["forget", "tabs"]);
    assert!(is_limit(&home, "shellfish"));
    // It may be forgotten again, and come back again.
    home.ok(&["forget", "shellfish", "--yes"]);
    let told = home.ok(&["import", &path]);
    assert!(told.contains("forgotten here before"), "{told}");
    assert!(is_limit(&home, "shellfish"));
}

#[test]
fn a_hard_limit_that_another_device_has_forgotten_is_in_force_where_it_is_imported_later() {
    let server = Server::new();
    let (a, b, c) = (server.home(), server.home(), server.home());
    a.ok(&[
        "add",
        "force push",
        "never",
        "--score",
        "0",
        "--pattern",
        "git push --force",
    ]);
    meet(&[&a, &b, &c]);
    let path = file(&c, "old.jsonl", export(&c, &[]));
    b.ok(&["forget", "force push", "--yes"]);
    meet(&[&a, &b, &c]);
    assert_eq!(import(&c, &[&path]).hard_limits, ["force push"]);
    c.ok(&["add", "q", "q"]);
    c.ok(&["undo"]);
    meet(&[&a, &b, &c]);
    for home in [&a, &b, &c] {
        assert!(is_limit(home, "force push"));
        let run = home.run(&["check", "--command", "git push --force"]);
        assert_eq!(run.code, 3, "{run:?}");
    }
}

#[test]
fn a_hard_limit_under_a_name_that_became_another_s_is_in_force_where_it_is_imported() {
    let server = Server::new();
    let (a, b) = (server.home(), server.home());
    let mut paths = Vec::new();
    for home in [&a, &b] {
        home.ok(&["add", "peanuts", "allergic", "--score", "0"]);
        paths.push(export(home, &[]));
    }
    meet(&[&a, &b]);
    b.outside("UPDATE preferences SET item = 'nuts' WHERE item = 'peanuts'");
    for (number, text) in paths.iter().enumerate() {
        let path = file(&b, &format!("{number}.jsonl"), text);
        import(&b, &[&path]);
    }
    assert!(is_limit(&b, "peanuts") && is_limit(&b, "nuts"));
    b.ok(&["add", "q", "q"]);
    b.ok(&["undo"]);
    assert!(is_limit(&b, "peanuts") && is_limit(&b, "nuts"));
    meet(&[&a, &b]);
    assert!(is_limit(&a, "peanuts") && is_limit(&a, "nuts"));
}

#[rstest]
#[case::a_habit("# Rules\n\n- Prefer quiet restaurants.\n")]
#[case::a_hard_limit("# Rules\n\n- Never force-push to main.\n")]
fn what_was_forgotten_while_it_waited_is_proposed_again_where_it_is_said_again(#[case] text: &str) {
    let home = Home::new();
    let path = file(&home, "rules.md", text);
    assert_eq!(
        import(&home, &[&path]).results(),
        results(&[("pending", 1)])
    );
    let waits = || {
        waiting(&home)[0]["item"]
            .as_str()
            .expect("it waits")
            .to_owned()
    };
    let item = waits();
    for _ in 0..2 {
        home.ok(&["forget", &item, "--yes"]);
        assert!(waiting(&home).is_empty());
        let rehearsed = import(&home, &["--dry-run", &path]);
        let reply = import(&home, &[&path]);
        assert_eq!(reply.results(), results(&[("pending", 1)]));
        assert_eq!(rehearsed.results(), reply.results());
        let why = reply.rows[0].why.as_deref().unwrap_or_default();
        assert!(why.ends_with(FORGOTTEN), "{why}");
        assert_eq!(waits(), item);
        replays_to_the_same_tables(&home);
        assert!(import(&home, &[&path]).changes_nothing());
    }
    // What is rejected then is not proposed once more.
    let id = waiting(&home)[0]["id"].to_string();
    home.ok(&["review", "reject", &id]);
    let reply = import(&home, &[&path]);
    assert!(reply.changes_nothing());
    assert_eq!(
        reply.rows[0].why.as_deref(),
        Some("it was rejected in aizo review")
    );
}

#[test]
fn what_waits_in_an_export_waits_again_after_it_was_forgotten() {
    let home = Home::new();
    let rules = file(
        &home,
        "rules.md",
        "# Rules\n\n- Prefer quiet restaurants.\n",
    );
    import(&home, &[&rules]);
    let path = file(&home, "p.jsonl", export(&home, &[]));
    let item = waiting(&home)[0]["item"]
        .as_str()
        .expect("it waits")
        .to_owned();
    for _ in 0..2 {
        home.ok(&["forget", &item, "--yes"]);
        assert_eq!(
            import(&home, &[&path]).results(),
            results(&[("pending", 1)])
        );
        replays_to_the_same_tables(&home);
        assert!(import(&home, &[&path]).changes_nothing());
    }
}

#[test]
fn what_somebody_has_published_is_asked_again_after_it_was_forgotten() {
    let server = Server::new();
    let (ada, home) = (server.home(), Home::new());
    ada.ok(&["add", "tabs", "in code", "--score", "8"]);
    ada.ok(&["sync"]);
    let ask = || -> Value { home.json(&["sync", "import", &server.url(), "--as", "ada"]) };
    let proposed = |reply: &Value| reply["proposed"].as_array().map_or(0, Vec::len);
    assert_eq!(proposed(&ask()), 1);
    for _ in 0..2 {
        home.ok(&["forget", "tabs", "--yes"]);
        assert_eq!(proposed(&ask()), 1);
        replays_to_the_same_tables(&home);
        assert_eq!(proposed(&ask()), 0);
    }
    let id = waiting(&home)[0]["id"].to_string();
    home.ok(&["review", "reject", &id]);
    assert_eq!(proposed(&ask()), 0);
}
