//! The repository of the sync.

use super::*;

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
