//! `doctor`: each finding comes from a real fault, and is gone after its advice or `--fix`.

mod hosts;
mod store;
mod sync;

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
