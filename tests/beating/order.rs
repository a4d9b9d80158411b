//! What is said to be done is on the disk by then: as the system sees it, by `strace`.

use std::fs;
use std::process::Command;

use super::say;
use super::scene::{DEEDS, Scene};

/// A call that the system saw.
#[derive(Debug, PartialEq)]
enum Call {
    /// Something was written to a file of the store.
    Write(String),
    /// A file of the store was synced.
    Sync(String),
    /// The answer was written.
    Answer,
}

fn parse(line: &str, store: &str) -> Option<Call> {
    // `123 fdatasync(4</home/.aizo/preferences.db-wal>) = 0`
    let call = line.trim_start_matches(|c: char| c.is_ascii_digit() || c == ' ');
    let (name, rest) = call.split_once('(')?;
    let (number, rest) = rest.split_once('<')?;
    let (file, _) = rest.split_once('>')?;
    let is_write = matches!(name, "write" | "pwrite64" | "writev");
    if is_write && number == "1" {
        return Some(Call::Answer);
    }
    if !file.starts_with(store) || file.ends_with("-shm") {
        return None;
    }
    match name {
        _ if is_write => Some(Call::Write(file.to_owned())),
        "fsync" | "fdatasync" if line.ends_with("= 0") => Some(Call::Sync(file.to_owned())),
        _ => None,
    }
}

fn works() -> bool {
    let tried = Command::new("strace")
        .args(["-o", "/dev/null", "true"])
        .output();
    tried.is_ok_and(|output| output.status.success())
}

#[test]
fn nothing_is_said_to_be_done_before_it_is_on_the_disk() {
    if !works() {
        say("order", "skipped: there is no strace, or it may not trace");
        return;
    }
    let scene = Scene::new(false);
    let mut looked_at = 0;
    for deed in DEEDS
        .iter()
        .filter(|deed| !deed.syncs && !deed.name.starts_with("backup"))
    {
        scene.reset();
        let trace = scene.home.path().join("trace");
        let model = scene.command(deed);
        let mut command = Command::new("strace");
        command
            .args(["-f", "-y", "-s", "16", "-e"])
            .arg("trace=write,pwrite64,writev,fsync,fdatasync")
            .arg("-o")
            .arg(&trace)
            .arg(model.get_program())
            .args(model.get_args())
            .current_dir(scene.home.path())
            .env_clear();
        for (name, value) in model.get_envs() {
            if let Some(value) = value {
                command.env(name, value);
            }
        }
        let run = scene.home.feed(&mut command, deed.input.as_bytes());
        assert_eq!(run.code, 0, "{}: {run:?}", deed.name);
        let text = fs::read_to_string(&trace).expect("the trace reads");
        let store = scene.home.db().display().to_string();
        let calls: Vec<Call> = text
            .lines()
            .filter_map(|line| parse(line, &store))
            .collect();
        let answer = calls.iter().position(|call| *call == Call::Answer);
        let answer = answer.unwrap_or_else(|| panic!("{}: no answer: {text}", deed.name));
        let mut open: Vec<&str> = Vec::new();
        for call in &calls[..answer] {
            match call {
                Call::Write(file) if !open.contains(&file.as_str()) => open.push(file),
                Call::Sync(file) => open.retain(|one| one != file),
                _ => {}
            }
        }
        assert_eq!(
            open,
            [] as [&str; 0],
            "{}: not synced before the answer: {calls:#?}",
            deed.name
        );
        let has_written = calls[..answer]
            .iter()
            .any(|call| matches!(call, Call::Write(_)));
        // doctor removes what was left, and writes nothing.
        assert!(
            has_written || deed.name == "doctor",
            "{}: it writes before it answers",
            deed.name
        );
        looked_at += 1;
    }
    say(
        "order",
        &format!("{looked_at} commands synced before they answered"),
    );
}
