//! What agents' hosts call, and their log.

use super::*;

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

#[test]
fn what_went_wrong_is_told_until_it_counts_as_seen() {
    let home = profile();
    home.write(
        ".aizo/aizo.log.1",
        b"2026-11-28T00:00:00Z hook codex: something else\n",
    );
    home.run_with_input(&["hook", "codex"], b"this is no JSON");
    let told = doctor(&home);
    let told = told.by("log");
    assert_eq!(told.len(), 2, "{told:#?}");
    assert!(
        told.iter()
            .all(|one| one.fixable && one.hint.contains("aizo doctor --fix"))
    );
    let fixed = fix(&home).fixed;
    let seen = fixed.iter().filter(|one| one.check == "log");
    assert_eq!(seen.count(), 1, "{fixed:#?}");
    is_gone(&home, "log");
    home.run_with_input(&["hook", "codex"], b"this is no JSON");
    assert_eq!(doctor(&home).by("log").len(), 1, "what came since is new");
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
