//! `doctor`: each finding comes from a real fault, and is gone after its advice or `--fix`.

use std::fs;
use std::path::{Path, PathBuf};

use rstest::rstest;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::common::{Home, Run, binary};

#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Doctor {
    store: PathBuf,
    checks: Vec<String>,
    errors: usize,
    warnings: usize,
    notes: usize,
    findings: Vec<Finding>,
    fixed: Vec<Fixed>,
    settings: Vec<Value>,
    env_files: Vec<Value>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Finding {
    check: String,
    level: String,
    what: String,
    why: String,
    hint: String,
    fixable: bool,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Fixed {
    check: String,
    what: String,
}

impl Doctor {
    fn of(run: Run) -> Self {
        let reply: Doctor =
            serde_json::from_str(&run.stdout).unwrap_or_else(|error| panic!("{error}: {run:?}"));
        let written = serde_json::to_string_pretty(&reply).expect("it was JSON before");
        assert_eq!(format!("{written}\n"), run.stdout);
        assert_eq!(run.code, i32::from(reply.errors > 0), "{run:?}");
        for finding in &reply.findings {
            let says_all = [&finding.what, &finding.why, &finding.hint];
            assert!(says_all.iter().all(|text| !text.is_empty()), "{finding:?}");
        }
        reply
    }

    /// What one check has found.
    fn by(&self, check: &str) -> Vec<&Finding> {
        self.findings
            .iter()
            .filter(|one| one.check == check)
            .collect()
    }
}

fn doctor(home: &Home) -> Doctor {
    Doctor::of(home.run(&["doctor", "--json"]))
}

fn fix(home: &Home) -> Doctor {
    Doctor::of(home.run(&["doctor", "--fix", "--json"]))
}

/// The one thing that a check finds.
fn found(home: &Home, check: &str) -> Finding {
    let mut reply = doctor(home);
    assert_eq!(reply.by(check).len(), 1, "{check}: {:#?}", reply.findings);
    reply.findings.retain(|one| one.check == check);
    reply.findings.remove(0)
}

fn is_gone(home: &Home, check: &str) {
    let reply = doctor(home);
    assert!(reply.by(check).is_empty(), "{:#?}", reply.findings);
}

/// Finds one thing, which `--fix` puts right and says so.
fn is_fixed(home: &Home, check: &str, level: &str, what: &str) {
    let finding = found(home, check);
    assert_eq!(
        (finding.level.as_str(), finding.fixable),
        (level, true),
        "{finding:?}"
    );
    assert!(finding.what.contains(what), "{finding:?}");
    let fixed = fix(home);
    assert!(
        fixed.fixed.iter().any(|one| one.check == check),
        "{fixed:#?}"
    );
    assert!(fixed.by(check).is_empty(), "{fixed:#?}");
    is_gone(home, check);
}

/// A few entries and a copy of them.
fn profile() -> Home {
    let home = Home::new();
    home.ok(&["add", "concise code", "asked twice", "--keywords", "lean"]);
    home.ok(&["add", "long meetings", "complained", "--score", "2"]);
    home.ok(&["add", "cites sources", "asked where from", "--score", "8"]);
    home.ok(&["backup"]);
    home
}

#[test]
fn where_nothing_is_wrong_only_the_clock_of_the_tests_is_found() {
    let home = profile();
    let before = home.rows();
    let reply = doctor(&home);
    let checks: Vec<&str> = reply
        .findings
        .iter()
        .map(|one| one.check.as_str())
        .collect();
    assert_eq!(checks, ["fixed_clock"], "{:#?}", reply.findings);
    assert_eq!((reply.errors, reply.warnings, reply.notes), (0, 1, 0));
    assert!(reply.checks.len() > 20);
    let mut command = home.command(&["doctor"]);
    let run = Run::of(command.env_remove("AIZO_NOW").output());
    assert_eq!(run.code, 0, "{run:?}");
    assert!(run.stdout.ends_with("checks, nothing found\n"), "{run:?}");
    assert_eq!(fix(&home).fixed, []);
    assert_eq!(home.rows(), before);
    // Before anything is stored there is nothing to be wrong.
    let reply = doctor(&Home::new());
    assert_eq!(reply.findings.len(), 1, "{:#?}", reply.findings);
}

#[cfg(unix)]
#[rstest]
#[case::folder("", 0o755, 0o700)]
#[case::store("preferences.db", 0o644, 0o600)]
#[case::said("aizo.log", 0o664, 0o600)]
#[case::keys(".env", 0o640, 0o600)]
#[case::copy("backups/preferences.db.20261130T120000Z.bak", 0o604, 0o600)]
fn what_others_may_read_is_taken_from_them(
    #[case] name: &str,
    #[case] mode: u32,
    #[case] after: u32,
) {
    use std::os::unix::fs::PermissionsExt;
    let home = profile();
    let path = match name {
        "" => home.aizo(),
        name => home.aizo().join(name),
    };
    if !path.exists() {
        fs::write(&path, "AIZO_COLOR=never\n").expect("it writes");
    }
    fs::set_permissions(&path, fs::Permissions::from_mode(mode)).expect("it is set");
    let reply = doctor(&home);
    let open = reply.by("modes");
    let finding = open
        .iter()
        .find(|one| one.hint.ends_with(&format!("'{}'", path.display())));
    let finding = finding.unwrap_or_else(|| panic!("{open:?}"));
    assert!(finding.what.contains(&format!("({mode:o})")), "{finding:?}");
    assert!(
        finding.hint.starts_with("chmod ") && finding.fixable,
        "{finding:?}"
    );
    let fixed = fix(&home);
    assert!(
        fixed.fixed.iter().any(|one| one.check == "modes"),
        "{fixed:?}"
    );
    is_gone(&home, "modes");
    let now = fs::metadata(&path)
        .expect("it is there")
        .permissions()
        .mode();
    assert_eq!(now & 0o777, after);
}

#[cfg(unix)]
#[test]
fn what_a_link_leads_to_is_named_and_left_to_the_person() {
    use std::os::unix::fs::PermissionsExt;
    let home = profile();
    let target = home.write("elsewhere.env", b"AIZO_COLOR=never\n");
    fs::set_permissions(&target, fs::Permissions::from_mode(0o644)).expect("it is set");
    std::os::unix::fs::symlink(&target, home.aizo().join(".env")).expect("a link");
    let finding = found(&home, "modes");
    assert!(!finding.fixable, "{finding:?}");
    assert!(finding.hint.contains("elsewhere.env"), "{finding:?}");
    assert_eq!(fix(&home).fixed, []);
    let mode = fs::metadata(&target)
        .expect("it is there")
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o644);
}

#[test]
fn what_ended_runs_have_left_is_removed() {
    let home = profile();
    let left = [
        home.write(".aizo/backups/.aizo-backup-x7f", b"half"),
        home.write(".aizo/.aizo-a1b2c3.tmp", b"half"),
    ];
    let others = home.write(".aizo/.aizo-mine.tmp", b"mine");
    assert_eq!(doctor(&home).by("unfinished").len(), 2);
    fix(&home);
    is_gone(&home, "unfinished");
    assert!(left.iter().all(|path| !path.exists()) && others.exists());
}

#[test]
fn what_does_not_count_in_env_files_is_said() {
    let home = profile();
    home.write(
        ".env",
        b"AIZO_API_URL=https://evil.example\nAIZO_COLOR=never\n",
    );
    let finding = found(&home, "env_files");
    assert!(
        finding.what.starts_with("AIZO_API_URL in ./.env"),
        "{finding:?}"
    );
    fs::remove_file(home.path().join(".env")).expect("it was there");
    is_gone(&home, "env_files");
    home.write(".aizo/.env", b"AIZO_COLOUR=never\nAIZO_COLOR=never\n");
    let finding = found(&home, "unknown_settings");
    assert!(
        finding.what.contains("AIZO_COLOUR (~/.aizo/.env)"),
        "{finding:?}"
    );
    home.write(".aizo/.env", b"AIZO_COLOR='never\n");
    let finding = found(&home, "env_files");
    assert_eq!(finding.level, "warning", "{finding:?}");
    home.write(".aizo/.env", b"AIZO_COLOR=never\n");
    is_gone(&home, "env_files");
    is_gone(&home, "unknown_settings");
    let text = home.ok(&["doctor"]);
    assert!(
        text.contains("AIZO_COLOR is never (~/.aizo/.env)"),
        "{text}"
    );
}

#[test]
fn a_store_that_only_this_place_knows_is_said() {
    let home = profile();
    home.write(".env", b"AIZO_DB_PATH=project.db\n");
    home.ok(&["add", "x", "y"]);
    let finding = found(&home, "other_store");
    assert!(finding.what.contains("./.env names"), "{finding:?}");
    // It looks at what agents are told, and so do the commands that it advises.
    assert_eq!(doctor(&home).store, home.db());
    home.ok(&["backup"]);
    assert!(home.aizo().join("backups").exists());
    assert!(!home.path().join("backups").exists());
    let copy: Value = home.json(&["backup", "mine.db"]);
    let exported: Value = home.json(&["export", "--format", "json"]);
    assert_eq!(
        copy["entries"].as_u64().map(|many| many as usize),
        exported["entries"].as_array().map(Vec::len)
    );
    fs::remove_file(home.path().join(".env")).expect("it was there");
    is_gone(&home, "other_store");
}

#[test]
fn scenarios_that_do_not_count_are_said() {
    let home = profile();
    home.write(
        ".aizo/scenarios.yaml",
        b"scenarios:\n  coding:\n    description: code\n    keywords: [code]\n    colour: red\n",
    );
    let finding = found(&home, "scenarios");
    assert!(finding.what.contains("line 5"), "{finding:?}");
    home.write(".aizo/scenarios.yaml", b"scenarios: [\n");
    let finding = found(&home, "scenarios");
    assert!(finding.what.contains("stand in"), "{finding:?}");
    fs::remove_file(home.aizo().join("scenarios.yaml")).expect("it was there");
    is_gone(&home, "scenarios");
}

#[test]
fn damage_is_found_and_the_newest_copy_named() {
    let home = profile();
    // A page of an index that a list of everything does not need.
    let page: i64 = {
        let store = rusqlite::Connection::open(home.db()).expect("it opens");
        store
            .query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
            .expect("it is written back");
        store
            .query_row(
                "SELECT rootpage FROM sqlite_schema WHERE name = 'idx_preference_scenarios_scenario'",
                [],
                |row| row.get(0),
            )
            .expect("there is one")
    };
    let mut bytes = fs::read(home.db()).expect("it reads");
    let at = usize::try_from((page - 1) * 4096).expect("a place");
    bytes[at..at + 4096].fill(0);
    fs::write(home.db(), bytes).expect("it writes");
    let reply = doctor(&home);
    let damage = reply.by("integrity");
    assert!(
        !damage.is_empty() && reply.errors > 0,
        "{:#?}",
        reply.findings
    );
    assert!(damage[0].hint.contains("aizo restore '"), "{damage:?}");
    home.ok(&["restore", "preferences.db.20261130T120000Z.bak", "--yes"]);
    is_gone(&home, "integrity");
    assert_eq!(doctor(&home).errors, 0);
}

#[test]
fn a_store_that_cannot_be_read_is_a_finding_too() {
    let home = profile();
    for ending in ["-wal", "-shm"] {
        let _none_is_fine = fs::remove_file(format!("{}{ending}", home.db().display()));
    }
    fs::write(home.db(), b"this was a store once, and is none any more").expect("it writes");
    let finding = found(&home, "store");
    assert_eq!(finding.level, "error");
    assert!(finding.hint.contains("aizo restore '"), "{finding:?}");
    home.ok(&["restore", "preferences.db.20261130T120000Z.bak", "--yes"]);
    is_gone(&home, "store");
}

#[rstest]
#[case::a_text("UPDATE search SET item = 'something else' WHERE rowid = 2")]
#[case::a_score("UPDATE recall_index SET score = 9 WHERE id = 2")]
#[case::a_row("DELETE FROM recall_index WHERE id = 2")]
#[case::a_vector(
    "UPDATE vectors SET vector = (SELECT vector FROM vectors WHERE id = 1) WHERE id = 2"
)]
#[case::a_limit("INSERT INTO limit_vectors SELECT * FROM vectors WHERE id = 2")]
#[case::a_sketch("UPDATE sketches SET bits = zeroblob(length(bits))")]
#[case::one_too_many("INSERT INTO recall_index VALUES (-7, 5, 0)")]
fn an_index_that_says_something_else_is_made_anew(#[case] sql: &str) {
    let home = profile();
    home.outside(sql);
    is_fixed(
        &home,
        "index",
        "error",
        "the search index holds something else",
    );
    assert_eq!(doctor(&home).errors, 0);
    assert!(
        home.ok(&["recall", "--exact", "meetings"])
            .contains("long meetings")
    );
}

#[test]
fn an_index_of_another_version_is_made_anew() {
    let home = profile();
    home.outside("UPDATE schema_meta SET value = '0-0' WHERE key = 'index_recipe'");
    is_fixed(&home, "index", "note", "not of this version");
}

/// Writes into a store while nobody notes it.
fn unnoticed(home: &Home, sql: &str) {
    let store = rusqlite::Connection::open(home.db()).expect("it opens");
    let triggers: Vec<(String, String)> = store
        .prepare("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'")
        .and_then(|mut statement| {
            statement
                .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
                .collect()
        })
        .expect("they read");
    for (name, _) in &triggers {
        store
            .execute_batch(&format!("DROP TRIGGER {name}"))
            .expect("it goes");
    }
    store.execute_batch(sql).expect("it writes");
    for (_, sql) in &triggers {
        store.execute_batch(sql).expect("it comes back");
    }
}

#[rstest]
#[case::a_score("UPDATE preferences SET base_score = 3 WHERE id = 3")]
#[case::a_limit("UPDATE preferences SET base_score = 0.5 WHERE id = 1")]
#[case::gone("PRAGMA foreign_keys = on; DELETE FROM preferences WHERE id = 2")]
#[case::evidence("DELETE FROM evidence WHERE preference_id = 1")]
#[case::a_tag("INSERT INTO preference_scenarios VALUES (1, 'coding')")]
fn rows_that_are_not_what_the_journal_says_are_taken_into_it(#[case] sql: &str) {
    let home = profile();
    unnoticed(&home, sql);
    let rows = |home: &Home| -> Vec<Value> {
        let mut rows: Vec<Value> = home.json(&["show"]);
        rows.sort_by_key(|row| row["id"].as_i64());
        rows
    };
    let before = rows(&home);
    is_fixed(&home, "journal", "error", "not what the journal says");
    assert_eq!(rows(&home), before, "no entry was changed");
    crate::stores::replays_to_the_same_tables(&home);
}

#[rstest]
#[case::gone("PRAGMA foreign_keys = on; DELETE FROM preferences WHERE item = 'force-push'")]
#[case::raised("UPDATE preferences SET base_score = 9 WHERE item = 'force-push'")]
fn a_hard_limit_that_nobody_has_lifted_is_told_and_never_taken_as_lifted(#[case] sql: &str) {
    let home = profile();
    home.ok(&["add", "force-push", "never", "--score", "0"]);
    unnoticed(&home, sql);
    let before: Vec<Value> = home.json(&["history"]);
    let told = found(&home, "journal");
    assert_eq!(told.level, "error");
    assert!(
        told.what
            .contains("“force-push” is a hard limit in the journal")
    );
    home.run(&["doctor", "--fix"]);
    assert_eq!(found(&home, "journal"), told);
    let after: Vec<Value> = home.json(&["history"]);
    assert_eq!(after, before);
}

#[test]
fn what_another_program_wrote_is_taken_in() {
    let home = profile();
    home.outside("UPDATE preferences SET base_score = 'high', reason = 'another' WHERE id = 1");
    let scores = found(&home, "scores");
    assert_eq!(scores.level, "warning");
    is_gone(&home, "journal");
    is_fixed(&home, "outside", "note", "1 row");
    is_gone(&home, "scores");
    let entry: Value = home.json(&["show", "1"]);
    assert_eq!(
        (&entry["base_score"], &entry["reason"]),
        (&9.0.into(), &"another".into())
    );
    let history: Vec<Value> = home.json(&["history", "1"]);
    assert_eq!(history[0]["op"], "adopt");
}

#[test]
fn a_clock_that_is_behind_is_said() {
    let home = profile().at("2028-01-01T00:00:00Z");
    home.ok(&["add", "from the future", "r"]);
    let home = home.at("2026-12-01T00:00:00Z");
    let finding = found(&home, "clock");
    assert!(finding.what.contains("396 days"), "{finding:?}");
    let times = found(&home, "times");
    assert_eq!(times.hint, "aizo touch 4");
    home.ok(&["touch", "4"]);
    is_gone(&home, "times");
    let home = home.at("2028-01-01T00:00:01Z");
    is_gone(&home, "clock");
}

#[test]
fn a_time_that_cannot_be_read_is_said() {
    let home = profile();
    home.outside("UPDATE preferences SET last_seen = 'yesterday' WHERE id = 2");
    let finding = found(&home, "times");
    assert!(finding.what.contains("cannot be read: id 2"), "{finding:?}");
    home.ok(&["touch", "2"]);
    is_gone(&home, "times");
}

#[test]
fn an_old_copy_and_none_are_said() {
    let home = Home::new();
    home.ok(&["add", "concise code", "asked twice"]);
    assert!(found(&home, "copies").what.starts_with("there is no copy"));
    home.ok(&["backup"]);
    is_gone(&home, "copies");
    let home = home.at("2027-03-01T12:00:00Z");
    assert!(found(&home, "copies").what.contains("91 days old"));
    home.ok(&["backup"]);
    is_gone(&home, "copies");
}

#[test]
fn limits_that_take_too_much_room_are_said() {
    let home = Home::new();
    let add = |from: usize, to: usize| {
        let reason = "it went wrong more than once, cost a whole day each time, and nobody wants to see it again";
        let lines: String = (from..to)
            .map(|number| format!("{{\"item\":\"the forbidden thing number {number} of this long list\",\"reason\":\"{reason}\",\"score\":0.5}}\n"))
            .collect();
        assert_eq!(
            home.run_with_input(&["add", "--stdin"], lines.as_bytes())
                .code,
            0
        );
    };
    add(0, 30);
    let finding = found(&home, "context");
    assert_eq!(finding.level, "warning", "{finding:?}");
    add(30, 300);
    let finding = found(&home, "context");
    assert_eq!(finding.level, "error", "{finding:?}");
    assert!(finding.what.contains("do not fit"), "{finding:?}");
    home.ok(&["clear", "--yes"]);
    is_gone(&home, "context");
}

#[test]
fn what_is_said_twice_and_against_itself_is_found() {
    let home = profile();
    home.ok(&["add", "concise codes!", "again", "--score", "7"]);
    home.ok(&["add", "not citing sources", "changed", "--score", "9"]);
    home.ok(&["add", "meetings, long", "fun", "--score", "9"]);
    let twice = found(&home, "duplicates");
    assert!(
        twice.what.contains("“concise code”") && twice.level == "note",
        "{twice:?}"
    );
    let reply = doctor(&home);
    let against = reply.by("contradictions");
    assert_eq!(against.len(), 2, "{against:?}");
    assert_eq!(against[0].level, "warning");
    assert!(against[0].what.contains("“long meetings”"), "{against:?}");
    assert!(
        against[1].what.contains("“not citing sources”"),
        "{against:?}"
    );
    for (finding, id) in [(&twice, "4"), (against[0], "6"), (against[1], "5")] {
        assert!(
            finding.hint.contains(&format!("aizo remove {id}")),
            "{finding:?}"
        );
        home.ok(&["remove", id]);
    }
    is_gone(&home, "duplicates");
    is_gone(&home, "contradictions");
}

#[test]
fn limits_without_a_pattern_and_with_a_broken_one_are_found() {
    let home = profile();
    home.ok(&["add", "emojis in commit messages", "r", "--score", "0.5"]);
    home.ok(&["add", "allergic to shellfish", "r", "--score", "0"]);
    let reply = doctor(&home);
    let limits = reply.by("limits");
    assert_eq!(limits.len(), 2, "{limits:?}");
    assert_eq!(
        (limits[0].level.as_str(), limits[1].level.as_str()),
        ("warning", "note")
    );
    assert_eq!(limits[0].hint, "aizo update 4 --pattern @emoji");
    assert!(
        limits[1].what.contains("allergic to shellfish"),
        "{limits:?}"
    );
    home.ok(&["update", "4", "--pattern", "@emoji"]);
    home.ok(&["update", "5", "--pattern", "shrimp|crab"]);
    is_gone(&home, "limits");
    home.outside("UPDATE preferences SET pattern = 'shrimp|(' WHERE id = 5");
    let finding = found(&home, "patterns");
    assert_eq!(finding.level, "error");
    assert!(
        finding.what.contains("allergic to shellfish"),
        "{finding:?}"
    );
    home.ok(&["update", "5", "--pattern", "shrimp"]);
    is_gone(&home, "patterns");
}

#[test]
fn what_waits_for_long_is_said() {
    let home = profile();
    home.ok(&[
        "add", "beeps", "inferred", "--score", "1", "--source", "analysis",
    ]);
    is_gone(&home, "review");
    let home = home.at("2026-12-20T12:00:00Z");
    let finding = found(&home, "review");
    assert_eq!(finding.level, "warning", "a limit waits");
    assert!(finding.what.contains("“beeps”"), "{finding:?}");
    home.ok(&["review", "accept", "1"]);
    is_gone(&home, "review");
}

#[test]
fn what_went_wrong_at_hooks_of_late_is_said() {
    let home = profile();
    home.write(
        ".aizo/aizo.log",
        b"2026-11-01T00:00:00Z hook codex: long ago\n\
          2026-11-29T00:00:00Z hook codex: nobody was asked, since the host cannot ask at this event: may it?\n\
          2026-11-29T01:00:00Z hook codex: the store is locked\n\
          2026-11-29T02:00:00Z hook codex: it is no JSON\n\
          2026-11-30T02:00:00Z hook codex: it is no JSON\n",
    );
    let finding = found(&home, "log");
    assert!(
        finding
            .what
            .contains("it is no JSON (2026-11-30 02:00 UTC, 2 times)"),
        "{finding:?}"
    );
    fs::remove_file(home.aizo().join("aizo.log")).expect("it was there");
    is_gone(&home, "log");
    // What a real hook writes is found.
    home.run_with_input(&["hook", "codex"], b"this is no JSON");
    assert_eq!(found(&home, "log").level, "warning");
}

/// The program under another path.
#[cfg(unix)]
fn program_at(home: &Home, name: &str) -> PathBuf {
    let path = home.path().join(name);
    fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
    fs::copy(binary(), &path).expect("it copies");
    path
}

#[cfg(unix)]
fn install(home: &Home, program: &Path, agents: &[&str]) {
    let model = home.command(&[]);
    for attempt in 0.. {
        let mut command = std::process::Command::new(program);
        command
            .arg("install")
            .args(agents)
            .env_clear()
            .current_dir(home.path());
        for (name, value) in model.get_envs() {
            command.env(name, value.expect("they are set"));
        }
        match command.output() {
            // A process that another test starts while the copy is written holds it open for a moment.
            Err(error)
                if error.kind() == std::io::ErrorKind::ExecutableFileBusy && attempt < 100 =>
            {
                std::thread::sleep(std::time::Duration::from_millis(20));
            }
            output => {
                let run = Run::of(output);
                assert_eq!(run.code, 0, "{run:?}");
                return;
            }
        }
    }
}

#[cfg(unix)]
#[test]
fn what_hosts_call_is_this_program() {
    let agents = [
        "claude-code",
        "codex",
        "opencode",
        "openclaw",
        "gemini",
        "copilot",
        "cursor",
        "windsurf",
    ];
    let home = profile();
    install(&home, &binary(), &agents);
    is_gone(&home, "hosts");
    // It calls another one.
    let other = program_at(&home, "it's/other/aizo");
    install(&home, &other, &agents);
    let reply = doctor(&home);
    let elsewhere = reply.by("hosts");
    assert!(
        elsewhere.iter().all(|one| one.level == "warning"),
        "{elsewhere:#?}"
    );
    for agent in agents {
        let told = elsewhere
            .iter()
            .filter(|one| one.hint.ends_with(&format!("aizo install {agent}")));
        assert_eq!(told.count(), 2, "{agent}: hooks and server: {elsewhere:#?}");
    }
    // It calls nothing.
    fs::remove_file(&other).expect("it was there");
    let reply = doctor(&home);
    let nowhere = reply.by("hosts");
    assert_eq!(nowhere.len(), 16, "{nowhere:#?}");
    assert!(
        nowhere.iter().all(|one| one.level == "error"),
        "{nowhere:#?}"
    );
    assert!(
        nowhere[0]
            .what
            .contains("it's/other/aizo, which is not there"),
        "{nowhere:#?}"
    );
    install(&home, &binary(), &agents);
    is_gone(&home, "hosts");
    home.ok(&["uninstall", "--all"]);
    is_gone(&home, "hosts");
}

#[cfg(unix)]
#[test]
fn what_was_left_after_an_uninstall_by_hand_is_found() {
    let home = profile();
    let other = program_at(&home, "old/aizo");
    install(&home, &other, &["codex", "--no-mcp"]);
    // Somebody removes the program and aizo's folder, and not the entries.
    fs::remove_file(&other).expect("it was there");
    fs::remove_file(home.aizo().join("installed.json")).expect("it was there");
    let finding = found(&home, "hosts");
    assert_eq!(finding.level, "error");
    assert!(finding.what.contains(".codex/hooks.json"), "{finding:?}");
    assert!(finding.hint.contains("aizo uninstall codex"), "{finding:?}");
}

#[cfg(unix)]
#[test]
fn what_somebody_took_out_or_removed_is_said() {
    let home = profile();
    install(&home, &binary(), &["claude-code", "--no-mcp"]);
    let settings = home.path().join(".claude/settings.json");
    let text = fs::read_to_string(&settings).expect("it reads");
    fs::write(&settings, "{}\n").expect("it writes");
    let finding = found(&home, "hosts");
    assert!(
        finding.what.contains("not all of it") && finding.level == "warning",
        "{finding:?}"
    );
    fs::write(&settings, "{").expect("it writes");
    let finding = found(&home, "hosts");
    assert!(
        finding.what.contains("settings.json, line 1"),
        "{finding:?}"
    );
    fs::write(&settings, &text).expect("it writes");
    is_gone(&home, "hosts");
    fs::remove_file(&settings).expect("it was there");
    let finding = found(&home, "hosts");
    assert!(
        finding.what.contains("is gone") && finding.level == "note",
        "{finding:?}"
    );
    home.ok(&["uninstall", "claude-code"]);
    is_gone(&home, "hosts");
}

#[cfg(unix)]
#[test]
fn entries_of_ones_own_are_no_fault() {
    let home = profile();
    let call = format!("{} hook codex", binary().display());
    let entry =
        serde_json::json!({"hooks": {"Stop": [{"hooks": [{"type": "command", "command": call}]}]}});
    home.write(".codex/hooks.json", entry.to_string().as_bytes());
    is_gone(&home, "hosts");
    let entry = entry
        .to_string()
        .replace(&binary().display().to_string(), "/no/such/aizo");
    home.write(".codex/hooks.json", entry.as_bytes());
    assert_eq!(found(&home, "hosts").level, "error");
}

/// A bare repository in a home.
fn server(home: &Home) -> PathBuf {
    let path = home.path().join("server.git");
    let made = std::process::Command::new("git")
        .args(["init", "--bare", "--quiet", "--initial-branch", "main"])
        .arg(&path)
        .status();
    assert!(made.is_ok_and(|status| status.success()));
    path
}

#[test]
fn a_sync_whose_repository_is_gone_is_found() {
    let home = profile();
    let server = server(&home);
    home.ok(&["sync", "init", server.to_str().expect("a plain path")]);
    home.ok(&["sync"]);
    is_gone(&home, "sync");
    let away = home.path().join("away.git");
    fs::rename(&server, &away).expect("it moves");
    let finding = found(&home, "sync");
    assert_eq!(finding.level, "error");
    assert!(finding.what.contains("server.git"), "{finding:?}");
    fs::rename(&away, &server).expect("it moves");
    is_gone(&home, "sync");
    let settings = home.aizo().join("sync/sync.json");
    let text = fs::read(&settings).expect("it reads");
    fs::write(&settings, "{").expect("it writes");
    assert!(found(&home, "sync").what.contains("damaged"));
    fs::write(&settings, text).expect("it writes");
    is_gone(&home, "sync");
}

#[test]
fn what_waits_to_be_pushed_for_long_is_said() {
    let home = profile();
    let server = server(&home);
    home.ok(&["sync", "init", server.to_str().expect("a plain path")]);
    home.ok(&["sync"]);
    home.ok(&["add", "later", "r"]);
    is_gone(&home, "sync");
    let home = home.at("2026-12-20T12:00:00Z");
    let finding = found(&home, "sync");
    assert!(
        finding
            .what
            .contains("1 change was not pushed since 2026-11-30"),
        "{finding:?}"
    );
    home.ok(&["sync"]);
    is_gone(&home, "sync");
}

#[test]
fn a_copied_store_that_writes_under_the_same_name_is_found() {
    let home = profile();
    let server = server(&home);
    let url = server.to_str().expect("a plain path").to_owned();
    home.ok(&["sync", "init", &url]);
    home.ok(&["sync"]);
    // The store before the last change comes back, after that was pushed.
    home.ok(&[
        "backup",
        home.path().join("old.db").to_str().expect("a plain path"),
    ]);
    home.ok(&["add", "pushed", "r"]);
    home.ok(&["sync"]);
    let run = home.run(&["restore", "old.db"]);
    assert_eq!(run.code, 0, "{run:?}");
    assert!(
        run.stderr.contains("comes back with the next aizo sync"),
        "{run:?}"
    );
    let finding = found(&home, "sync");
    assert!(finding.what.contains("another store writes"), "{finding:?}");
    home.ok(&["sync"]);
    is_gone(&home, "sync");
    assert!(home.ok(&["show"]).contains("pushed"));
}

#[test]
fn lines_that_wait_for_a_later_version_are_said() {
    let home = profile();
    let server = server(&home);
    let url = server.to_str().expect("a plain path").to_owned();
    home.ok(&["sync", "init", &url]);
    home.ok(&["sync"]);
    let git = |arguments: &[&str]| {
        let output = std::process::Command::new("git")
            .args(["-c", "user.name=x", "-c", "user.email=x@localhost", "-C"])
            .arg(home.path().join("work"))
            .args(arguments)
            .output()
            .expect("git runs");
        assert!(output.status.success(), "{output:?}");
    };
    let cloned = std::process::Command::new("git")
        .args(["clone", "--quiet", &url])
        .arg(home.path().join("work"))
        .status();
    assert!(cloned.is_ok_and(|status| status.success()));
    let file = "devices/0193f2a4c1d27e8fa0b1c2d3e4f50617.jsonl";
    home.write(
        &format!("work/{file}"),
        b"{\"v\":99,\"hlc\":\"0193f2a4c1d20000\",\"op\":\"dream\"}\n",
    );
    git(&["add", "."]);
    git(&["commit", "--quiet", "-m", "later"]);
    git(&["push", "--quiet"]);
    home.ok(&["sync"]);
    let finding = found(&home, "sync");
    assert_eq!(finding.level, "warning");
    assert!(finding.what.contains("a later aizo"), "{finding:?}");
    home.write(&format!("work/{file}"), b"<<<<<<< HEAD\n");
    git(&["commit", "--quiet", "-am", "conflict"]);
    git(&["push", "--quiet"]);
    home.ok(&["sync"]);
    let finding = found(&home, "sync");
    assert_eq!(finding.level, "error", "{finding:?}");
    git(&["rm", "--quiet", file]);
    git(&["commit", "--quiet", "-m", "gone"]);
    git(&["push", "--quiet"]);
    home.ok(&["sync"]);
    is_gone(&home, "sync");
}
