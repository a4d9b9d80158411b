//! `aizo install` and `aizo uninstall` as whole processes, on a zoo of settings files for every host: what others wrote stays byte
//! for byte, twice is as once, and uninstalling gives back what was there.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use rstest::rstest;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::common::{Home, Run, read, write};

/// Every host, and the settings files that it may have before aizo comes.
const HOSTS: [(&str, &[&str]); 8] = [
    ("claude-code", &[".claude/settings.json", ".claude.json"]),
    ("codex", &[".codex/hooks.json", ".codex/config.toml"]),
    ("opencode", &[".config/opencode/opencode.json"]),
    ("openclaw", &[".openclaw/openclaw.json"]),
    ("gemini", &[".gemini/settings.json"]),
    ("copilot", &[".copilot/mcp-config.json"]),
    ("cursor", &[".cursor/hooks.json", ".cursor/mcp.json"]),
    (
        "windsurf",
        &[
            ".codeium/windsurf/hooks.json",
            ".codeium/windsurf/mcp_config.json",
        ],
    ),
];

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(dead_code)]
struct Reply {
    dry_run: bool,
    scope: String,
    files: Vec<File>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(dead_code)]
struct File {
    agent: String,
    parts: Vec<String>,
    path: PathBuf,
    result: String,
    reason: Option<String>,
    diff: String,
    backup: Option<PathBuf>,
    target: Option<PathBuf>,
}

/// The files of the zoo with this ending, and whether they can be read.
fn zoo(ending: &str, broken: bool) -> Vec<(String, Vec<u8>)> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/install");
    let mut files: Vec<(String, Vec<u8>)> = fs::read_dir(folder)
        .expect("the zoo is in the repository")
        .map(|entry| entry.expect("a file").path())
        .filter(|path| path.extension().is_some_and(|one| one == ending))
        .map(|path| {
            let name = path.file_name().expect("a name").to_string_lossy();
            (name.into_owned(), fs::read(&path).expect("a file"))
        })
        .filter(|(name, _)| name.starts_with("broken-") == broken)
        .collect();
    files.sort();
    assert!(files.len() > 3, "the zoo has animals");
    files
}

/// Everything below a folder: files with their bytes, folders and links with none.
fn tree(folder: &Path) -> BTreeMap<PathBuf, Option<Vec<u8>>> {
    fn gather(folder: &Path, found: &mut BTreeMap<PathBuf, Option<Vec<u8>>>) {
        for entry in fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            let is_folder = path.symlink_metadata().expect("it is there").is_dir();
            if is_folder {
                gather(&path, found);
            }
            found.insert(path.clone(), fs::read(&path).ok());
        }
    }
    let mut found = BTreeMap::new();
    gather(folder, &mut found);
    found
}

/// What `--list` says of a host.
fn listed(home: &Home, host: &str) -> Value {
    let all: Value = home.json(&["install", "--list"]);
    let all = all.as_array().expect("a list");
    let one = all.iter().find(|one| one["agent"] == host);
    one.expect("every host is listed").clone()
}

fn everything(host: &str) -> Value {
    json!({ "agent": host, "found": true, "hooks": true, "mcp": true, "skill": true })
}

#[test]
fn every_host_gives_back_every_file_as_it_was() {
    for (host, files) in HOSTS {
        for ending in ["json", "toml"] {
            let places: Vec<&&str> = files.iter().filter(|file| file.ends_with(ending)).collect();
            if places.is_empty() {
                continue;
            }
            for (name, bytes) in zoo(ending, false) {
                let home = Home::new();
                for place in &places {
                    write(&home.path().join(place), &bytes);
                }
                let before = tree(home.path());
                let place = format!("{host}, {name}");
                home.ok(&["install", host]);
                let installed = tree(home.path());
                for place in &places {
                    let now = &installed[&home.path().join(place)];
                    assert_ne!(now.as_ref(), Some(&bytes), "{host}, {name}: {place}");
                }
                assert_eq!(listed(&home, host), everything(host), "{place}");
                let again: Reply = home.json(&["install", host]);
                assert!(
                    again.files.iter().all(|file| file.result == "unchanged"),
                    "{place}: {again:?}"
                );
                assert!(
                    tree(home.path()) == installed,
                    "{place}: twice is not as once"
                );
                home.ok(&["uninstall", host]);
                let after = tree(home.path());
                for (path, bytes) in &before {
                    assert!(
                        after.get(path) == Some(bytes),
                        "{place}: {} is\n{}",
                        path.display(),
                        String::from_utf8_lossy(after[path].as_deref().unwrap_or_default())
                    );
                }
                assert!(
                    after.keys().eq(before.keys()),
                    "{place}: left over: {:?}",
                    after
                        .keys()
                        .filter(|path| !before.contains_key(*path))
                        .collect::<Vec<_>>()
                );
            }
        }
    }
}

#[test]
fn where_nothing_was_nothing_is_left() {
    for (host, _) in HOSTS {
        let home = Home::new();
        home.ok(&["install", host]);
        assert_eq!(listed(&home, host), everything(host));
        home.ok(&["uninstall", host]);
        assert_eq!(tree(home.path()).len(), 0, "{host}");
    }
    let home = Home::new();
    for (host, _) in HOSTS {
        home.ok(&["install", host]);
    }
    let installed = tree(home.path());
    let reply: Reply = home.json(&["install", "--all"]);
    assert!(reply.files.iter().all(|file| file.result == "unchanged"));
    assert!(tree(home.path()) == installed);
    home.ok(&["uninstall", "--all"]);
    assert_eq!(tree(home.path()).len(), 0);
}

#[test]
fn each_part_can_be_left_out() {
    for (option, part) in [
        ("--no-hooks", "hooks"),
        ("--no-mcp", "mcp"),
        ("--no-skill", "skill"),
    ] {
        for (host, _) in HOSTS {
            let home = Home::new();
            home.ok(&["install", host, option]);
            let mut wanted = everything(host);
            wanted[part] = json!(false);
            assert_eq!(listed(&home, host), wanted, "{host} {option}");
            home.ok(&["install", host]);
            assert_eq!(listed(&home, host), everything(host), "{host} {option}");
            home.ok(&["uninstall", host]);
            assert_eq!(tree(home.path()).len(), 0, "{host} {option}");
        }
    }
}

/// The text that a difference makes of another.
fn patched(before: &str, diff: &str) -> String {
    let old: Vec<&str> = before.split_inclusive('\n').collect();
    let mut lines = diff.split_inclusive('\n').skip(2).peekable();
    let (mut new, mut at) = (String::new(), 0);
    while let Some(line) = lines.next() {
        let (sign, rest) = line.split_at(1);
        let is_last = lines.peek().is_some_and(|next| next.starts_with('\\'));
        let rest = if is_last {
            rest.trim_end_matches('\n')
        } else {
            rest
        };
        match sign {
            "@" => {
                let range = line.split(' ').nth(1).expect("a range");
                let (first, count) = range[1..].split_once(',').expect("two numbers");
                let first: usize = first.parse().expect("a number");
                let first = first - usize::from(count != "0");
                new.extend(old[at..first].iter().copied());
                at = first;
            }
            " " => {
                assert_eq!(rest, old[at]);
                new.push_str(rest);
                at += 1;
            }
            "-" => {
                assert_eq!(rest, old[at]);
                at += 1;
            }
            "+" => new.push_str(rest),
            _ => assert!(line.starts_with("\\ No newline")),
        }
    }
    new.extend(old[at..].iter().copied());
    new
}

#[test]
fn a_dry_run_changes_nothing_and_shows_exactly_what_would_change() {
    let skill = concat!(env!("CARGO_MANIFEST_DIR"), "/skills/aizo-sop.md");
    let lines = read(Path::new(skill)).lines().count();
    for (host, files) in HOSTS {
        for ending in ["json", "toml"] {
            for (name, bytes) in zoo(ending, false) {
                let home = Home::new();
                let places = files.iter().filter(|file| file.ends_with(ending));
                places.for_each(|place| write(&home.path().join(place), &bytes));
                let before = tree(home.path());
                let shown: Reply = home.json(&["install", host, "--dry-run"]);
                let text = home.ok(&["install", host, "--dry-run"]);
                assert!(tree(home.path()) == before, "{host}, {name}");
                let (table, differences) = text.split_once("\n\n").expect("a table comes first");
                assert!(table.starts_with("AGENT"), "{host}, {name}");
                assert_eq!(table.lines().count(), 1 + shown.files.len(), "{text}");
                let together: String = shown
                    .files
                    .iter()
                    .map(|file| match file.parts.as_slice() {
                        [part] if part == "skill" => "+ SKILL.md, 240 lines\n",
                        _ => file.diff.as_str(),
                    })
                    .collect();
                let together = together.replace("240", &lines.to_string());
                assert_eq!(differences, together, "{host}, {name}");
                home.ok(&["install", host]);
                for file in shown.files {
                    let old = before
                        .get(&file.path)
                        .cloned()
                        .flatten()
                        .unwrap_or_default();
                    let old = String::from_utf8(old).expect("it can be read");
                    assert_eq!(
                        patched(&old, &file.diff),
                        read(&file.path),
                        "{host}, {name}"
                    );
                }
                let installed = tree(home.path());
                let shown: Reply = home.json(&["uninstall", host, "--dry-run"]);
                assert!(shown.dry_run && shown.files.iter().any(|file| !file.diff.is_empty()));
                assert!(tree(home.path()) == installed, "{host}, {name}");
            }
        }
    }
}

#[test]
fn a_file_that_cannot_be_read_is_left_alone_and_named_with_its_line() {
    for (host, files) in HOSTS {
        for place in files {
            let ending = place.rsplit('.').next().expect("an ending");
            for (name, bytes) in zoo(ending, true) {
                let home = Home::new();
                let path = home.path().join(place);
                write(&path, &bytes);
                let before = tree(home.path());
                let (_, line) = name.split_once(".line-").expect("a line in the name");
                let line = line.split('.').next().expect("a number");
                let run = home.run(&["install", host]);
                let wanted = format!("{}, line {line}: ", path.display());
                assert_eq!((run.code, run.stdout.as_str()), (1, ""), "{host}, {name}");
                assert!(run.stderr.contains(&wanted), "{host}, {name}: {run:?}");
                assert!(tree(home.path()) == before, "{host}, {name}");
            }
        }
    }
}

#[test]
fn what_is_in_the_way_is_named() {
    for (text, line) in [
        ("{\n\"hooks\": []}", 2),
        ("{\"hooks\":\n null}", 2),
        ("{\"hooks\": {\n\n\"Stop\": {}}}", 3),
        ("{\"hooks\": \"none\"}", 1),
    ] {
        let home = Home::new();
        write(&home.path().join(".claude/settings.json"), text.as_bytes());
        let run = home.run(&["install", "claude-code", "--json"]);
        assert_eq!(run.code, 1);
        assert!(run.stderr.contains(&format!("line {line}: `")), "{run:?}");
        assert_eq!(tree(home.path()).len(), 2);
    }
}

#[test]
fn one_host_that_cannot_be_served_does_not_keep_the_others() {
    let home = Home::new();
    write(&home.path().join(".claude/settings.json"), b"{");
    let run = home.run(&["install", "claude-code", "cursor"]);
    assert_eq!(run.code, 1);
    assert!(run.stderr.contains("settings.json, line 1"), "{run:?}");
    assert_eq!(run.stdout.matches("claude-code").count(), 1, "{run:?}");
    assert_eq!(listed(&home, "cursor"), everything("cursor"));
    assert!(!home.path().join(".claude.json").exists());
}

#[cfg(unix)]
mod unix {
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::process::{Command, Stdio};

    use super::*;
    use crate::common::binary;

    #[test]
    fn a_link_is_followed_and_stays_one() {
        let home = Home::new();
        let real = home.path().join("dotfiles/claude.json");
        write(&real, b"{\n}\n");
        let link = home.path().join(".claude/settings.json");
        fs::create_dir(home.path().join(".claude")).expect("a folder");
        symlink("../dotfiles/claude.json", &link).expect("a link");
        let before = tree(home.path());
        home.ok(&["install", "claude-code"]);
        assert!(link.symlink_metadata().expect("it is there").is_symlink());
        assert!(read(&real).contains("hook claude-code"));
        home.ok(&["uninstall", "claude-code"]);
        assert!(tree(home.path()) == before);
        // One that leads nowhere yet.
        fs::remove_file(&real).expect("gone");
        home.ok(&["install", "claude-code"]);
        assert!(link.symlink_metadata().expect("it is there").is_symlink());
        assert!(read(&real).contains("hook claude-code"));
        home.ok(&["uninstall", "claude-code"]);
        assert!(link.symlink_metadata().expect("it is there").is_symlink() && !real.exists());
    }

    #[test]
    fn a_file_that_is_closed_stays_closed_and_rights_are_kept() {
        let home = Home::new();
        let file = home.path().join(".claude/settings.json");
        write(&file, b"{}");
        let rights = |mode| fs::set_permissions(&file, fs::Permissions::from_mode(mode));
        rights(0o444).expect("closed");
        let run = home.run(&["install", "claude-code", "--json"]);
        assert_eq!((run.code, run.stdout.as_str()), (1, ""));
        assert!(
            run.stderr.contains("read-only") && run.stderr.contains("settings.json"),
            "{run:?}"
        );
        assert_eq!(tree(home.path()).len(), 2);
        rights(0o600).expect("open");
        home.ok(&["install", "claude-code"]);
        let mode = fs::metadata(&file)
            .expect("it is there")
            .permissions()
            .mode();
        assert_eq!(mode & 0o777, 0o600);
    }

    #[test]
    fn a_copy_is_kept_for_the_person_alone() {
        let home = Home::new();
        let file = home.path().join(".claude/settings.json");
        write(&file, b"{\"secret\": 1}");
        let reply: Reply = home.json(&["install", "claude-code"]);
        let backup = reply.files[0].backup.clone().expect("a copy");
        assert_eq!(read(&backup), "{\"secret\": 1}");
        let mode = |path: &Path| fs::metadata(path).expect("there").permissions().mode() & 0o777;
        assert_eq!(mode(&backup), 0o600);
        assert_eq!(mode(backup.parent().expect("a folder")), 0o700);
        assert_eq!(mode(&home.aizo()), 0o700);
        // Taking it out where somebody has written meanwhile keeps both copies.
        let changed = read(&file).replace("\"secret\": 1", "\"secret\": 2");
        fs::write(&file, &changed).expect("written");
        let reply: Reply = home.json(&["uninstall", "claude-code"]);
        assert_eq!(read(&file), "{\"secret\": 2}");
        let second = reply
            .files
            .iter()
            .find_map(|file| file.backup.clone())
            .expect("a copy");
        assert_eq!(read(&second), changed);
        assert_eq!(read(&backup), "{\"secret\": 1}");
    }

    #[test]
    fn what_is_being_written_is_for_those_who_may_read_it_later() {
        let home = Home::new();
        let file = home.path().join(".claude.json");
        write(&file, b"{\"token\": 1}");
        fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).expect("closed");
        let secrets = [
            home.path().to_path_buf(),
            home.aizo(),
            home.aizo().join("backups"),
        ];
        let look = || {
            for entry in secrets.iter().filter_map(|folder| folder.read_dir().ok()) {
                for entry in entry.flatten() {
                    let Ok(metadata) = entry.metadata() else {
                        continue;
                    };
                    let mode = metadata.permissions().mode();
                    assert!(metadata.is_dir() || mode & 0o077 == 0, "{entry:?}");
                }
            }
        };
        std::thread::scope(|scope| {
            let installing = scope.spawn(|| home.ok(&["install", "claude-code"]));
            while !installing.is_finished() {
                look();
            }
        });
        look();
        home.ok(&["install", "claude-code"]);
        assert!(read(&file).contains("aizo"));
    }

    #[test]
    fn what_an_ended_run_left_is_swept_and_nothing_else() {
        for task in ["install", "uninstall"] {
            let home = Home::new();
            write(&home.path().join(".claude.json"), b"{}");
            home.ok(&["install", "codex"]);
            if task == "uninstall" {
                home.ok(&["install", "claude-code"]);
            }
            let left = [".aizo-Ab12Cd.tmp", ".aizo/.aizo-Ab12Cd.tmp"];
            let foreign = [".aizo-config", ".aizo-my.tmp", "x.tmp"];
            for name in left.iter().chain(&foreign) {
                write(&home.path().join(name), b"{\"token\": 1}");
            }
            let held = fs::File::create(home.path().join(".aizo-Held00.tmp")).expect("a file");
            held.lock().expect("a lock");
            home.ok(&[task, "claude-code"]);
            for name in left {
                assert!(!home.path().join(name).exists(), "{task}: {name}");
            }
            for name in foreign {
                assert!(home.path().join(name).exists(), "{task}: {name}");
            }
            // Another run is writing it.
            assert!(home.path().join(".aizo-Held00.tmp").exists(), "{task}");
        }
    }

    /// A path that cannot be written into settings would lead elsewhere.
    #[test]
    fn a_path_that_is_no_text_is_refused() {
        use std::ffi::OsStr;
        use std::os::unix::ffi::OsStrExt;
        for variable in ["HOME", "AIZO_HOME", "CLAUDE_CONFIG_DIR"] {
            let home = Home::new();
            let folder = home.path().join(OsStr::from_bytes(b"a\xffb"));
            if fs::create_dir(&folder).is_err() {
                // Not every file system has such names.
                continue;
            }
            let mut command = home.command(&["install", "claude-code"]);
            let run = Run::of(command.env(variable, &folder).output());
            assert_eq!(
                (run.code, run.stdout.as_str()),
                (1, ""),
                "{variable}: {run:?}"
            );
            assert!(run.stderr.contains("not UTF-8"), "{variable}: {run:?}");
            assert_eq!(tree(home.path()).len(), 1, "{variable}");
        }
    }

    /// Installs where no file may be longer than some kilobytes: the skill is the last to be written, and is longer.
    fn with_short_files(home: &Home, before: &str) -> Run {
        with_files_up_to(home, 16, before, "claude-code")
    }

    /// Installs where no file may be longer than so many half kilobytes. Who writes more is ended, unless `before` says
    /// otherwise.
    fn with_files_up_to(home: &Home, most: u64, before: &str, host: &str) -> Run {
        let program = binary().display().to_string();
        let script = format!("{before} ulimit -f {most}; exec '{program}' install {host}");
        let mut shell = Command::new("/bin/sh");
        shell.args(["-c", &script]).env_clear();
        Run::of(
            shell
                .env("HOME", home.path())
                .current_dir(home.path())
                .output(),
        )
    }

    #[test]
    fn what_was_written_before_a_failure_is_written_back() {
        let home = Home::new();
        write(&home.path().join(".claude.json"), b"{\n  \"a\": 1\n}\n");
        let before = tree(home.path());
        let run = with_short_files(&home, "trap '' XFSZ;");
        assert_eq!((run.code, run.stdout.as_str()), (1, ""), "{run:?}");
        assert!(run.stderr.contains("SKILL.md"), "{run:?}");
        assert!(
            tree(home.path()) == before,
            "{:?}",
            tree(home.path()).keys()
        );
    }

    #[test]
    fn what_a_run_did_that_was_ended_can_be_taken_back() {
        let home = Home::new();
        write(&home.path().join(".claude.json"), b"{\n  \"a\": 1\n}\n");
        let before = tree(home.path());
        let run = with_short_files(&home, "");
        assert_ne!(run.code, 0, "{run:?}");
        let is_new = |path: &PathBuf| path.extension().is_some_and(|ending| ending == "tmp");
        assert!(tree(home.path()).keys().any(is_new));
        home.ok(&["uninstall", "claude-code"]);
        let left = tree(home.path());
        assert!(!left.keys().any(is_new), "{:?}", left.keys());
        assert_eq!(
            read(&home.path().join(".claude.json")),
            "{\n  \"a\": 1\n}\n"
        );
        home.ok(&["install", "claude-code"]);
        home.ok(&["uninstall", "claude-code"]);
        let left = tree(home.path());
        assert!(left == before, "{:?}", left.keys());
    }

    /// An upgrade that was ended before, between or after its files: what was written is told from what was not.
    #[test]
    fn an_upgrade_that_was_ended_can_be_gone_on_with_and_taken_back() {
        for host in ["claude-code", "opencode", "cursor"] {
            for next in ["install", "uninstall"] {
                let home = Home::new();
                // The first file of opencode is aizo's alone; of the others the second is too long to be written.
                let long = format!("{{\n  \"a\": \"{}\"\n}}\n", "x".repeat(100_000));
                home.write(".claude/settings.json", b"{\n  \"a\": 1\n}\n");
                home.write(".claude.json", long.as_bytes());
                home.write(".cursor/mcp.json", long.as_bytes());
                let (mut install, program) = with_programs(&home, false);
                let before = tree(home.path());
                assert_eq!(Run::of(install.args(["install", host]).output()).code, 0);
                let plugin = home.path().join(".config/opencode/plugins/aizo.js");
                let most = match fs::metadata(&plugin) {
                    Ok(plugin) => (plugin.len() - 1) / 512,
                    Err(_) => 64,
                };
                let run = with_files_up_to(&home, most, "", host);
                assert_ne!(run.code, 0, "{host}: {run:?}");
                let record: Value = serde_json::from_str(&home.read(".aizo/installed.json"))
                    .expect("a whole record");
                let is_pending = |file: &Value| {
                    let earlier = &file["earlier"];
                    [&earlier["edits"], &earlier["wholes"]]
                        .iter()
                        .any(|one| one.as_array().is_some_and(|all| !all.is_empty()))
                };
                let files = record["files"].as_array().expect("files");
                assert!(files.iter().any(is_pending), "{host}: {record}");
                if next == "install" {
                    let reply: Reply = home.json(&["install", host]);
                    let is_done = |file: &File| ["changed", "unchanged"].contains(&&*file.result);
                    assert!(reply.files.iter().all(is_done), "{reply:?}");
                    let old = program.display().to_string();
                    for (path, bytes) in tree(home.path()) {
                        let text = String::from_utf8_lossy(bytes.as_deref().unwrap_or_default());
                        let is_ours = path.starts_with(home.aizo()) || path == program;
                        assert!(is_ours || !text.contains(&old), "{}", path.display());
                    }
                    let record = home.read(".aizo/installed.json");
                    assert!(!record.contains(&old), "{record}");
                }
                home.ok(&["uninstall", host]);
                let left = tree(home.path());
                assert!(left == before, "{host}, {next}: {:?}", left.keys());
            }
        }
    }

    /// A folder that nobody can write in, or a file where a folder belongs.
    #[test]
    fn an_agent_gets_all_or_nothing() {
        for (host, way) in [
            ("claude-code", ".claude/skills"),
            ("codex", ".agents"),
            ("opencode", ".config/opencode/plugins"),
            ("cursor", ".agents/skills"),
        ] {
            for is_file in [true, false] {
                let home = Home::new();
                let way = home.path().join(way);
                write(&home.path().join(".cursor/mcp.json"), b"{}");
                if is_file {
                    write(&way, b"");
                } else {
                    fs::create_dir_all(&way).expect("a folder");
                    fs::set_permissions(&way, fs::Permissions::from_mode(0o500)).expect("closed");
                    // The administrator writes everywhere.
                    if fs::write(way.join("x"), "").is_ok() {
                        continue;
                    }
                }
                let before = tree(home.path());
                let run = home.run(&["install", host]);
                assert_eq!((run.code, run.stdout.as_str()), (1, ""), "{host}: {run:?}");
                assert!(run.stderr.contains(&way.display().to_string()), "{run:?}");
                assert!(
                    tree(home.path()) == before,
                    "{host}: {:?}",
                    tree(home.path()).keys()
                );
            }
        }
    }

    /// aizo in a folder of the home, and whether it is found by its name.
    fn with_programs(home: &Home, named: bool) -> (Command, PathBuf) {
        let folder = home.path().join("my programs");
        fs::create_dir_all(&folder).expect("a folder");
        let program = folder.join("aizo");
        if !program.exists() {
            symlink(binary(), &program).expect("a link");
        }
        let mut command = Command::new(&program);
        command
            .current_dir(home.path())
            .env_clear()
            .env("HOME", home.path())
            .env(
                "PATH",
                if named {
                    folder.as_path()
                } else {
                    Path::new("/nowhere")
                },
            );
        (command, program)
    }

    /// Every command of hooks that stands in a home.
    fn commands(home: &Home) -> Vec<String> {
        fn gather(value: &Value, found: &mut Vec<String>) {
            match value {
                Value::Object(members) => {
                    for (name, value) in members {
                        match value.as_str() {
                            Some(text) if name == "command" && text.contains(" hook ") => {
                                found.push(text.to_owned());
                            }
                            _ => gather(value, found),
                        }
                    }
                }
                Value::Array(values) => values.iter().for_each(|one| gather(one, found)),
                _ => {}
            }
        }
        let mut found = Vec::new();
        for (path, bytes) in tree(home.path()) {
            if path.extension().is_some_and(|one| one == "json") && !path.starts_with(home.aizo()) {
                let value = serde_json::from_slice(&bytes.expect("a file")).expect("JSON");
                gather(&value, &mut found);
            }
        }
        found.sort();
        found.dedup();
        found
    }

    fn shell(home: &Home, command: &str, path: &str, input: &[u8]) -> Run {
        home.feed(
            Command::new("/bin/sh")
                .args(["-c", command])
                .env_clear()
                .env("HOME", home.path())
                .env("PATH", path)
                .stdin(Stdio::piped()),
            input,
        )
    }

    #[rstest]
    #[case(true)]
    #[case(false)]
    fn an_entry_does_no_harm_when_aizo_is_gone(#[case] named: bool) {
        for (host, _) in HOSTS.iter().filter(|(host, _)| !host.starts_with("open")) {
            let home = Home::new();
            let (mut install, program) = with_programs(&home, named);
            let run = Run::of(install.args(["install", host]).output());
            assert_eq!(run.code, 0, "{run:?}");
            fs::remove_file(&program).expect("gone");
            let commands = commands(&home);
            assert!(!commands.is_empty(), "{host}");
            for command in commands {
                assert_eq!(command.contains("my programs"), !named, "{command}");
                assert!(!command.contains(env!("CARGO_PKG_VERSION")), "{command}");
                let run = shell(&home, &command, "", b"{}");
                assert_eq!(
                    (run.code, run.stdout.as_str(), run.stderr.as_str()),
                    (0, "", ""),
                    "{command}"
                );
            }
        }
    }

    #[rstest]
    #[case(true)]
    #[case(false)]
    fn an_entry_answers_its_host(#[case] named: bool) {
        let calls = fs::read_to_string(concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/tests/data/hooks/calls.jsonl"
        ))
        .expect("the calls are in the repository");
        let calls: Vec<Value> = calls
            .lines()
            .map(|line| serde_json::from_str(line).expect("a call"))
            .collect();
        for (host, _) in HOSTS.iter().filter(|(host, _)| !host.starts_with("open")) {
            let home = Home::new();
            home.ok(&[
                "add",
                "force-push to main",
                "never force-push to main",
                "--score",
                "0.5",
                "--pattern",
                "@force-push",
            ]);
            let (mut install, program) = with_programs(&home, named);
            assert_eq!(Run::of(install.args(["install", host]).output()).code, 0);
            let refused = calls.iter().find(|call| {
                call["host"] == *host
                    && (call["out"].to_string().contains("DENY") || call["err"] == "DENY")
            });
            let refused = refused.unwrap_or_else(|| panic!("{host} refuses something"));
            let command = commands(&home)
                .into_iter()
                .find(|command| *host != "copilot" || command.contains("preToolUse"))
                .expect("a command");
            let path = if named {
                program.parent().expect("a folder").display().to_string()
            } else {
                String::new()
            };
            let run = shell(
                &home,
                &command,
                &path,
                refused["sent"].to_string().as_bytes(),
            );
            let code = refused["code"].as_i64().unwrap_or(0);
            assert_eq!(i64::from(run.code), code, "{host}: {run:?}");
            assert!(
                (run.stdout + &run.stderr).contains("This breaks a hard limit"),
                "{host}: {command}"
            );
        }
    }

    #[test]
    fn another_path_takes_the_place_of_the_earlier_one() {
        for (host, files) in HOSTS {
            let home = Home::new();
            let comments = zoo("json", false)
                .into_iter()
                .find(|(name, _)| name == "comments.json")
                .expect("it is in the zoo");
            for file in files.iter().filter(|file| file.ends_with("json")) {
                write(&home.path().join(file), &comments.1);
            }
            let (mut install, program) = with_programs(&home, false);
            let before = tree(home.path());
            assert_eq!(Run::of(install.args(["install", host]).output()).code, 0);
            let old = program.display().to_string();
            let holds = |text: &str| {
                tree(home.path()).iter().any(|(path, bytes)| {
                    !path.starts_with(home.aizo())
                        && !path.ends_with("aizo")
                        && String::from_utf8_lossy(bytes.as_deref().unwrap_or_default())
                            .contains(text)
                })
            };
            assert!(holds(&old), "{host}");
            home.ok(&["install", host]);
            assert!(
                !holds(&old) && holds(&binary().display().to_string()),
                "{host}"
            );
            home.ok(&["uninstall", host]);
            assert!(tree(home.path()) == before, "{host}");
        }
    }

    #[test]
    fn a_program_of_another_name_is_settled_too() {
        for (host, files) in HOSTS {
            let home = Home::new();
            for file in files.iter().filter(|file| file.ends_with("json")) {
                home.write(file, b"{\n  \"version\": 1\n}\n");
            }
            let program = home.path().join("my tools/memory");
            fs::create_dir_all(program.parent().expect("a folder")).expect("a folder");
            symlink(binary(), &program).expect("a link");
            let before = tree(home.path());
            let run = |arguments: &[&str]| {
                let mut command = Command::new(&program);
                command.current_dir(home.path()).env_clear();
                let run = Run::of(command.env("HOME", home.path()).args(arguments).output());
                assert_eq!(run.code, 0, "{host}: {run:?}");
                run.stdout
            };
            run(&["install", host]);
            let again: Reply =
                serde_json::from_str(&run(&["install", host, "--json"])).expect("a reply");
            let is_there = |file: &File| file.result == "unchanged";
            assert!(again.files.iter().all(is_there), "{again:?}");
            // Somebody has changed an entry since.
            for file in files.iter().filter(|file| file.ends_with("hooks.json")) {
                let changed = home.read(file).replacen("memory", "sub/memory", 1);
                home.write(file, changed.as_bytes());
            }
            run(&["uninstall", host]);
            for (path, bytes) in &before {
                let left = fs::read(path).ok();
                let json = |bytes: &Option<Vec<u8>>| {
                    let bytes = bytes.as_deref().unwrap_or_default();
                    serde_json::from_slice::<Value>(bytes).ok()
                };
                assert_eq!(json(&left), json(bytes), "{host}: {}", path.display());
            }
            assert!(!home.aizo().exists(), "{host}");
        }
    }

    /// A repository comes from anybody.
    #[test]
    fn a_link_of_a_project_may_not_lead_out_of_it_and_others_are_named() {
        for (link, leads_to) in [(".claude/settings.json", "own.json"), (".claude", "folder")] {
            let home = Home::new();
            let own = home.write("own.json", b"{}");
            fs::create_dir(home.path().join("folder")).expect("a folder");
            let project = home.path().join("project");
            fs::create_dir_all(project.join(".claude")).expect("a folder");
            let link = project.join(link);
            let _as_a_folder = fs::remove_dir(&link);
            symlink(home.path().join(leads_to), &link).expect("a link");
            let before = tree(home.path());
            for task in ["install", "uninstall"] {
                let mut command = home.command(&[task, "claude-code", "--project"]);
                let run = Run::of(command.current_dir(&project).output());
                assert_eq!((run.code, run.stdout.as_str()), (1, ""), "{run:?}");
                assert!(run.stderr.contains("outside of the project"), "{run:?}");
                assert!(tree(home.path()) == before, "{task}");
            }
            assert_eq!(read(&own), "{}");
        }
        // Within the project, or for the person, a link is followed and told.
        let home = Home::new();
        let real = home.write("project/shared/claude.json", b"{}");
        let project = home.path().join("project");
        fs::create_dir(project.join(".claude")).expect("a folder");
        let link = project.join(".claude/settings.json");
        symlink("../shared/claude.json", &link).expect("a link");
        fs::create_dir(home.path().join(".claude")).expect("a folder");
        symlink(&link, home.path().join(".claude/settings.json")).expect("a link");
        let real = real.canonicalize().expect("it is there");
        for arguments in [
            ["install", "claude-code", "--project", "--dry-run"].as_slice(),
            &["install", "claude-code", "--dry-run"],
        ] {
            let mut command = home.command(arguments);
            let run = Run::of(command.current_dir(&project).output());
            assert!(
                run.stdout.contains(&format!(" -> {}", real.display())),
                "{run:?}"
            );
            let mut command = home.command(&[arguments, &["--json"]].concat());
            let run = Run::of(command.current_dir(&project).output());
            let reply: Reply = serde_json::from_str(&run.stdout).expect("a reply");
            let targets: Vec<&PathBuf> = reply
                .files
                .iter()
                .filter_map(|file| file.target.as_ref())
                .collect();
            assert_eq!(targets, [&real], "{reply:?}");
        }
    }

    /// Runs a script in node with the plugin of a host. A person's machine may be without node, that of the checks may not.
    fn node(home: &Home, plugin: &Path, script: &str) -> Option<String> {
        let output = Command::new("node")
            .args(["--input-type=module", "-e", script])
            .current_dir(home.path())
            .env("HOME", home.path())
            .env("PLUGIN", plugin)
            .output();
        let output = match output {
            Err(_) if std::env::var_os("CI").is_none() => return None,
            output => output.expect("node is there where everything is tested"),
        };
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        Some(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    #[test]
    fn the_plugins_ask_aizo_and_say_nothing_when_it_is_gone() {
        let home = Home::new();
        home.ok(&[
            "add",
            "force-push to main",
            "never do it",
            "--score",
            "0.5",
            "--pattern",
            "@force-push",
        ]);
        let copy = |host: &str, name: &str| {
            let (mut install, _) = with_programs(&home, false);
            assert_eq!(Run::of(install.args(["install", host]).output()).code, 0);
            // As a module, whatever the folder says.
            let module = home.path().join(format!("{host}.mjs"));
            fs::copy(home.path().join(name), &module).expect("a copy");
            module
        };
        let opencode = copy("opencode", ".config/opencode/plugins/aizo.js");
        let openclaw = copy("openclaw", ".openclaw/extensions/aizo/index.js");
        let as_opencode = r#"
            const plugin = (await import(process.env.PLUGIN)).default;
            const hooks = await plugin({});
            await hooks["chat.message"]({ sessionID: "s" }, { parts: [{ type: "text", text: "hello" }] });
            const output = { system: [] };
            await hooks["experimental.chat.system.transform"]({ sessionID: "s" }, output);
            const refused = await hooks["tool.execute.before"]({ tool: "bash", sessionID: "s" },
                { args: { command: "git push --force origin main" } }).then(() => "", (error) => error.message);
            await hooks["tool.execute.before"]({ tool: "bash", sessionID: "s" }, { args: { command: "ls" } });
            await hooks.event({ event: { type: "session.idle", properties: { sessionID: "s" } } });
            const seen = [];
            plugin.setup({ tool: { hook: (name, f) => seen.push([name, f]) }, session: { hook: (name, f) => seen.push([name, f]) } });
            const e = { sessionID: "t", system: [], tool: "shell", input: { command: "git push -f origin main" } };
            const later = [];
            for (const [name, f] of seen) later.push(name, await Promise.resolve().then(() => f(e)).then(() => "", (error) => error.message));
            console.log(JSON.stringify({ system: output.system, refused, later, second: e.system.length }));
        "#;
        let as_openclaw = r#"
            const plugin = (await import(process.env.PLUGIN)).default;
            const on = {};
            plugin.register({ on: (name, f) => (on[name] = f) });
            const ctx = { sessionId: "s" };
            console.log(JSON.stringify({
                context: await on.before_prompt_build({ prompt: "hello" }, ctx),
                refused: await on.before_tool_call({ toolName: "exec", params: { command: "git push --force origin main" } }, ctx),
                allowed: await on.before_tool_call({ toolName: "exec", params: { command: "ls" } }, ctx),
                end: await on.agent_end({}, ctx),
            }));
        "#;
        let Some(said) = node(&home, &opencode, as_opencode) else {
            return;
        };
        let said: Value = serde_json::from_str(&said).expect("JSON");
        assert!(
            said["system"][0]
                .as_str()
                .is_some_and(|text| text.contains("force-push")),
            "{said}"
        );
        assert!(
            said["refused"]
                .as_str()
                .is_some_and(|text| text.contains("hard limit")),
            "{said}"
        );
        assert_eq!(said["second"], 1, "{said}");
        assert!(
            said["later"][3]
                .as_str()
                .is_some_and(|text| text.contains("hard limit")),
            "{said}"
        );
        let said = node(&home, &openclaw, as_openclaw).expect("node");
        let said: Value = serde_json::from_str(&said).expect("JSON");
        assert!(said["context"].to_string().contains("force-push"), "{said}");
        assert_eq!(said["refused"]["block"], true, "{said}");
        assert_eq!(said.get("allowed"), None, "{said}");

        fs::remove_file(home.path().join("my programs/aizo")).expect("gone");
        let said = node(&home, &opencode, as_opencode).expect("node");
        assert_eq!(
            serde_json::from_str::<Value>(&said).expect("JSON"),
            json!({ "system": [], "refused": "", "later": ["context", "", "execute.before", ""], "second": 0 })
        );
        let said = node(&home, &openclaw, as_openclaw).expect("node");
        assert_eq!(said.trim(), "{}");
    }
}

/// What somebody else writes in between stays, and aizo's goes all the same.
#[test]
fn what_was_written_after_aizo_came_stays() {
    let home = Home::new();
    let file = home.path().join(".claude/settings.json");
    write(&file, b"{\n  \"a\": 1\n}\n");
    home.ok(&["install", "claude-code"]);
    // Elsewhere in the file.
    let elsewhere = read(&file).replace("\"a\": 1,", "\"a\": 1, \"more\": [1, 2],");
    fs::write(&file, elsewhere).expect("written");
    home.ok(&["uninstall", "claude-code"]);
    assert_eq!(read(&file), "{\n  \"a\": 1, \"more\": [1, 2]\n}\n");

    // In the midst of what aizo wrote.
    write(&file, b"{\n  \"a\": 1\n}\n");
    home.ok(&["install", "claude-code"]);
    let own = r#"{ "hooks": [{ "type": "command", "command": "say done" }] }, // mine"#;
    let midst = read(&file).replace("\"Stop\": [", &format!("\"Stop\": [\n      {own}"));
    fs::write(&file, midst).expect("written");
    home.ok(&["uninstall", "claude-code"]);
    let left = read(&file);
    assert!(
        left.contains("say done") && !left.contains("aizo"),
        "{left}"
    );
    assert_eq!(left.matches("\"Stop\"").count(), 1, "{left}");
    assert!(!left.contains("PreToolUse"), "{left}");

    // The whole file, laid out anew by its host.
    for (host, files) in HOSTS {
        let home = Home::new();
        let (_, foreign) = zoo("json", false)
            .into_iter()
            .find(|(name, _)| name == "foreign.json")
            .expect("it is in the zoo");
        let files = files.iter().filter(|file| file.ends_with("json"));
        let files: Vec<PathBuf> = files.map(|file| home.path().join(file)).collect();
        files.iter().for_each(|file| write(file, &foreign));
        home.ok(&["install", host]);
        for file in &files {
            let value: Value = serde_json::from_str(&read(file)).expect("JSON");
            fs::write(file, value.to_string()).expect("written");
        }
        let again: Reply = home.json(&["install", host]);
        assert!(
            again.files.iter().all(|file| file.result == "unchanged"),
            "{again:?}"
        );
        home.ok(&["uninstall", host]);
        for file in &files {
            let left: Value = serde_json::from_str(&read(file)).expect("JSON");
            let before: Value = serde_json::from_slice(&foreign).expect("JSON");
            assert_eq!(left, before, "{host}");
        }
    }
}

#[test]
fn without_its_record_aizo_goes_by_what_is_its_own() {
    for (host, files) in HOSTS {
        for (ending, animal) in [("json", "foreign.json"), ("toml", "comments.toml")] {
            let home = Home::new();
            let (_, foreign) = zoo(ending, false)
                .into_iter()
                .find(|(name, _)| name == animal)
                .expect("it is in the zoo");
            let files = files.iter().filter(|file| file.ends_with(ending));
            files.for_each(|file| write(&home.path().join(file), &foreign));
            let before = tree(home.path());
            home.ok(&["install", host]);
            fs::remove_dir_all(home.aizo()).expect("gone");
            home.ok(&["uninstall", host]);
            let after = tree(home.path());
            for (path, bytes) in before {
                assert!(
                    after[&path] == bytes,
                    "{host}: {}: {}",
                    path.display(),
                    read(&path)
                );
            }
            let left = listed(&home, host);
            assert_eq!(
                (&left["hooks"], &left["mcp"], &left["skill"]),
                (&json!(false), &json!(false), &json!(false)),
                "{host}"
            );
        }
    }
}

#[test]
fn an_entry_made_by_hand_stays_and_is_not_doubled() {
    let home = Home::new();
    let settings = br#"{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "aizo hook claude-code"}]}]}}"#;
    let servers =
        br#"{"mcpServers": {"aizo": {"command": "/opt/aizo", "args": ["mcp", "--db", "x"]}}}"#;
    write(&home.path().join(".claude/settings.json"), settings);
    write(&home.path().join(".claude.json"), servers);
    let before = tree(home.path());
    let reply: Reply = home.json(&["install", "claude-code"]);
    let kept = reply.files.iter().find(|file| file.result == "kept");
    assert!(kept.is_some_and(|file| file.reason.is_some()), "{reply:?}");
    let written = read(&home.path().join(".claude/settings.json"));
    let value: Value = serde_json::from_str(&written).expect("JSON");
    assert_eq!(value["hooks"]["Stop"].as_array().map(Vec::len), Some(1));
    assert_eq!(
        value["hooks"]["PreToolUse"].as_array().map(Vec::len),
        Some(1)
    );
    let installed = tree(home.path());
    home.ok(&["install", "claude-code"]);
    assert!(tree(home.path()) == installed);
    home.ok(&["uninstall", "claude-code"]);
    assert!(tree(home.path()) == before);
    // A skill of one's own, too.
    let skill = home.path().join(".claude/skills/aizo-sop/SKILL.md");
    write(&skill, b"mine");
    home.ok(&["install", "claude-code"]);
    home.ok(&["uninstall", "claude-code"]);
    assert_eq!(read(&skill), "mine");
}

#[test]
fn the_server_that_is_written_answers() {
    let home = Home::new();
    home.ok(&["install", "cursor"]);
    let servers: Value =
        serde_json::from_str(&read(&home.path().join(".cursor/mcp.json"))).expect("JSON");
    let server = &servers["mcpServers"]["aizo"];
    let mut command = std::process::Command::new(server["command"].as_str().expect("a command"));
    let arguments = server["args"].as_array().expect("a list");
    command
        .args(arguments.iter().filter_map(Value::as_str))
        .env_clear()
        .env("HOME", home.path());
    let hello = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "t", "version": "1" }
    } });
    let run = home.feed(&mut command, format!("{hello}\n").as_bytes());
    assert!(run.stdout.contains("serverInfo"), "{run:?}");
}

#[test]
fn a_table_made_by_hand_stays_too() {
    let home = Home::new();
    let file = home.path().join(".codex/config.toml");
    let own = "[mcp_servers.aizo]\ncommand = \"/opt/aizo\"\n[mcp_servers.aizo.env]\nA = \"1\"\n";
    write(&file, own.as_bytes());
    home.ok(&["install", "codex"]);
    assert_eq!(read(&file), own);
    home.ok(&["uninstall", "codex"]);
    assert_eq!(read(&file), own);
}

/// Who has changed an entry of aizo's keeps the change while aizo is there, and is rid of the entry when it goes.
#[test]
fn an_entry_that_was_changed_since_is_kept_and_goes_with_aizo() {
    let home = Home::new();
    let settings = home.path().join(".claude/settings.json");
    let servers = home.path().join(".claude.json");
    let table = home.path().join(".codex/config.toml");
    write(&settings, b"{\n  \"a\": 1\n}\n");
    write(&servers, b"{\n  \"a\": 1\n}\n");
    write(&table, b"a = 1\n");
    home.ok(&["install", "claude-code", "codex"]);
    for (file, from, to) in [
        (&settings, "\"timeout\": 10", "\"timeout\": 7"),
        (&servers, "[\"mcp\"]", "[\"mcp\", \"--db\", \"x\"]"),
        (
            &table,
            "[\"mcp\"]\n",
            "[\"mcp\"]\n\n[mcp_servers.aizo.env]\nA = \"1\"\n\n[b]\nc = 1\n",
        ),
    ] {
        let changed = read(file).replacen(from, to, 1);
        assert_ne!(changed, read(file));
        fs::write(file, changed).expect("written");
    }
    let before = tree(home.path());
    home.ok(&["install", "claude-code", "codex"]);
    assert!(
        tree(home.path()).iter().all(|(path, bytes)| {
            path.starts_with(home.aizo()) || before.get(path) == Some(bytes)
        })
    );
    home.ok(&["uninstall", "claude-code", "codex"]);
    assert_eq!(read(&settings), "{\n  \"a\": 1\n}\n");
    assert_eq!(read(&servers), "{\n  \"a\": 1\n}\n");
    assert_eq!(read(&table), "a = 1\n\n[b]\nc = 1\n");
}

#[test]
fn what_two_hosts_share_stays_until_the_last_one_goes() {
    let home = Home::new();
    let skill = home.path().join(".agents/skills/aizo-sop/SKILL.md");
    home.ok(&["install", "codex", "cursor"]);
    home.ok(&["uninstall", "opencode"]);
    home.ok(&["uninstall", "codex"]);
    assert!(skill.exists());
    assert_eq!(listed(&home, "cursor"), everything("cursor"));
    home.ok(&["uninstall", "cursor"]);
    assert_eq!(tree(home.path()).len(), 0);
}

#[test]
fn the_skill_is_the_one_of_the_repository() {
    let home = Home::new();
    home.ok(&["install", "claude-code", "codex"]);
    let ours = fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/skills/aizo-sop.md"));
    let ours = ours.expect("the skill is there");
    for folder in [".claude", ".agents"] {
        let path = home.path().join(folder).join("skills/aizo-sop/SKILL.md");
        assert_eq!(fs::read(path).expect("a skill"), ours);
    }
}

#[test]
fn a_project_gets_what_others_can_use_too() {
    for (host, _) in HOSTS {
        let home = Home::new();
        let project = home.path().join("my project");
        fs::create_dir(&project).expect("a folder");
        let aizo = |arguments: &[&str]| {
            let run = Run::of(home.command(arguments).current_dir(&project).output());
            assert_eq!(run.code, 0, "{run:?}");
            run.stdout
        };
        aizo(&["install", host, "--project"]);
        let written = tree(&project);
        assert!(written.len() > 3, "{host}: {written:?}");
        for (path, bytes) in &written {
            let text = String::from_utf8_lossy(bytes.as_deref().unwrap_or_default());
            let own = home.path().display().to_string();
            assert!(
                !text.contains(&own) && !text.contains("target"),
                "{}",
                path.display()
            );
        }
        assert!(
            tree(home.path())
                .keys()
                .all(|path| { path.starts_with(&project) || path.starts_with(home.aizo()) })
        );
        let again = aizo(&["install", host, "--project", "--json"]);
        let again: Reply = serde_json::from_str(&again).expect("a reply");
        assert!(
            again.files.iter().all(|file| file.result == "unchanged"),
            "{again:?}"
        );
        // What is installed for the person is another matter.
        home.ok(&["uninstall", host]);
        assert!(tree(&project) == written);
        aizo(&["uninstall", host, "--project"]);
        assert_eq!(tree(home.path()).len(), 1, "{host}");
    }
}

#[test]
fn new_hooks_are_said_to_begin_with_a_session() {
    let home = Home::new();
    let says = |arguments: &[&str]| {
        home.run(arguments)
            .stderr
            .contains("a new session calls aizo")
    };
    assert!(!says(&["install", "claude-code", "--dry-run"]));
    assert!(!says(&["install", "claude-code", "--no-hooks"]));
    assert!(says(&["install", "claude-code"]));
    assert!(!says(&["install", "claude-code"]), "nothing is new");
    assert!(says(&["install", "codex"]));
}

#[test]
fn hosts_are_found_by_their_folders() {
    let home = Home::new();
    fs::create_dir(home.path().join(".cursor")).expect("a folder");
    fs::create_dir_all(home.path().join(".codeium/windsurf")).expect("a folder");
    let run = Run::of(home.command(&["install", "--all"]).env("PATH", "").output());
    assert_eq!(run.code, 0, "{run:?}");
    assert!(home.path().join(".cursor/hooks.json").exists());
    assert!(home.path().join(".codeium/windsurf/hooks.json").exists());
    assert!(!home.path().join(".gemini").exists() && !home.path().join(".claude").exists());
    let empty = Home::new();
    let run = Run::of(
        empty
            .command(&["install", "--all", "--json"])
            .env("PATH", "")
            .output(),
    );
    assert_eq!(run.code, 0);
    assert!(run.stderr.contains("no agent is found"), "{run:?}");
    let reply: Reply = serde_json::from_str(&run.stdout).expect("a reply");
    assert!(reply.files.is_empty() && tree(empty.path()).is_empty());
}

#[rstest]
#[case(&["install"], 2)]
#[case(&["uninstall"], 2)]
#[case(&["install", "emacs"], 2)]
#[case(&["install", "--all", "codex"], 2)]
#[case(&["install", "--list", "--all"], 2)]
fn a_wrong_line_is_refused(#[case] arguments: &[&str], #[case] code: i32) {
    let home = Home::new();
    let run = home.run(arguments);
    assert_eq!((run.code, run.stdout.as_str()), (code, ""), "{run:?}");
    assert!(tree(home.path()).is_empty());
}

#[test]
fn a_plugin_for_claude_code_has_the_layout_that_it_reads() {
    let home = Home::new();
    let folder = home.path().join("a plugin");
    let at = folder.display().to_string();
    home.ok(&["install", "--as-plugin", &at, "--dry-run"]);
    assert!(!folder.exists());
    home.ok(&["install", "--as-plugin", &at]);
    let names: Vec<String> = tree(&folder)
        .into_iter()
        .filter(|(_, bytes)| bytes.is_some())
        .map(|(path, _)| {
            let name = path
                .strip_prefix(&folder)
                .expect("within")
                .to_string_lossy();
            name.replace('\\', "/")
        })
        .collect();
    assert_eq!(
        names,
        [
            ".claude-plugin/marketplace.json",
            ".claude-plugin/plugin.json",
            ".mcp.json",
            "hooks/hooks.json",
            "skills/aizo-sop/SKILL.md"
        ]
    );
    let json =
        |name: &str| -> Value { serde_json::from_str(&read(&folder.join(name))).expect("JSON") };
    let about = json(".claude-plugin/plugin.json");
    let is_plain = |name: &str| name.chars().all(|c| c.is_ascii_lowercase() || c == '-');
    assert!(about["name"].as_str().is_some_and(is_plain));
    assert_eq!(about["version"], env!("CARGO_PKG_VERSION"));
    let known = [
        "name",
        "version",
        "description",
        "homepage",
        "repository",
        "license",
        "keywords",
    ];
    assert!(
        about
            .as_object()
            .expect("an object")
            .keys()
            .all(|key| known.contains(&key.as_str()))
    );
    let market = json(".claude-plugin/marketplace.json");
    assert!(market["name"].is_string() && market["owner"]["name"].is_string());
    assert_eq!(market["plugins"][0]["name"], about["name"]);
    assert_eq!(market["plugins"][0]["source"], "./");
    let events = [
        "SessionStart",
        "UserPromptSubmit",
        "PreToolUse",
        "Stop",
        "PreCompact",
        "SessionEnd",
    ];
    let hooks = json("hooks/hooks.json");
    let hooks = hooks["hooks"].as_object().expect("an object");
    assert_eq!(hooks.len(), events.len());
    for (event, groups) in hooks {
        assert!(events.contains(&event.as_str()), "{event}");
        for group in groups.as_array().expect("a list") {
            for hook in group["hooks"].as_array().expect("a list") {
                assert_eq!(hook["type"], "command");
                let command = hook["command"].as_str().expect("a command");
                assert!(
                    command.contains("aizo hook claude-code")
                        && !command.contains('/'.to_string().as_str().repeat(2).as_str())
                );
                assert!(
                    hook["timeout"]
                        .as_u64()
                        .is_some_and(|seconds| seconds <= 30)
                );
            }
        }
    }
    assert_eq!(
        json(".mcp.json")["mcpServers"]["aizo"],
        json!({ "command": "aizo", "args": ["mcp"] })
    );
    // Once more is as once; a folder of somebody else is left alone.
    let before = tree(&folder);
    home.ok(&["install", "--as-plugin", &at]);
    assert!(tree(&folder) == before);
    write(&home.path().join("other/file"), b"x");
    let run = home.run(&["install", "--as-plugin", "other"]);
    assert_eq!(run.code, 1, "{run:?}");
    assert_eq!(tree(&home.path().join("other")).len(), 1);
}

#[cfg(unix)]
#[test]
fn of_a_plugin_that_fails_half_way_it_is_told_what_was_written() {
    let home = Home::new();
    home.write("p/.claude-plugin/plugin.json", b"{\"name\": \"aizo\"}");
    home.write("p/hooks/.aizo-Ab12Cd.tmp", b"left");
    // It is written already, as another file.
    let link = home.path().join("p/.mcp.json");
    std::os::unix::fs::symlink("hooks/hooks.json", link).expect("a link");
    let run = home.run(&["install", "--as-plugin", "p", "--json"]);
    assert_eq!(run.code, 1, "{run:?}");
    assert!(run.stderr.contains("was changed meanwhile"), "{run:?}");
    let reply: Reply = serde_json::from_str(&run.stdout).expect("a reply");
    let results: Vec<&str> = reply
        .files
        .iter()
        .map(|file| file.result.as_str())
        .collect();
    assert_eq!(results, ["changed", "created", "created", "failed"]);
    assert!(reply.files[3].reason.is_some() && reply.files[3].target.is_some());
    assert!(!home.path().join("p/hooks/.aizo-Ab12Cd.tmp").exists());
}

/// A guard of one's own in the group of aizo's command is not aizo's.
#[test]
fn of_a_group_only_the_command_that_calls_aizo_goes() {
    let guard = r#"{"type": "command", "command": "guard aizo"}"#;
    let ours = r#"{"type": "command", "command": "aizo hook claude-code"}"#;
    let group = |commands: &[&str]| {
        format!(
            r#"{{"hooks": {{"PreToolUse": [{{"matcher": "Bash", "hooks": [{}]}}]}}, "a": 1}}"#,
            commands.join(", ")
        )
    };
    let json = |text: &str| serde_json::from_str::<Value>(text).expect("JSON");
    for commands in [
        [guard, ours].as_slice(),
        &[ours, guard],
        &[guard, ours, guard],
        &[ours, guard, ours],
    ] {
        let rest: Vec<&str> = commands
            .iter()
            .copied()
            .filter(|one| *one != ours)
            .collect();
        let home = Home::new();
        let file = home.write(".claude/settings.json", b"{}");
        home.ok(&["install", "claude-code"]);
        write(&file, group(commands).as_bytes());
        home.ok(&["uninstall", "claude-code"]);
        assert_eq!(json(&read(&file)), json(&group(&rest)));
    }
    // Nobody else's: the group goes with it.
    let home = Home::new();
    let file = home.write(".claude/settings.json", b"{}");
    home.ok(&["install", "claude-code"]);
    write(&file, group(&[ours]).as_bytes());
    home.ok(&["uninstall", "claude-code"]);
    assert_eq!(json(&read(&file)), json!({ "a": 1 }));
    // Made by hand before aizo came, it stays.
    write(&file, group(&[guard, ours]).as_bytes());
    home.ok(&["install", "claude-code"]);
    home.ok(&["uninstall", "claude-code"]);
    assert_eq!(read(&file), group(&[guard, ours]));
    // Put into the group that aizo made, it stays alone.
    write(&file, b"{\"a\": 1}");
    home.ok(&["install", "claude-code"]);
    let mut value = json(&read(&file));
    let commands = value["hooks"]["PreToolUse"][0]["hooks"].as_array_mut();
    commands.expect("a list").insert(0, json(guard));
    fs::write(&file, format!("{value:#}")).expect("written");
    home.ok(&["uninstall", "claude-code"]);
    assert_eq!(
        json(&read(&file)),
        json!({ "a": 1, "hooks": { "PreToolUse": [{ "hooks": [json(guard)] }] } })
    );
}

/// Settings that were brought from another machine may have aizo's entry at some events already.
#[test]
fn an_entry_that_was_there_before_stays_though_aizo_writes_the_same() {
    for (host, files) in HOSTS {
        let Some(name) = files
            .iter()
            .find(|name| name.ends_with("hooks.json") || name.ends_with(".claude/settings.json"))
        else {
            continue;
        };
        for touch in ["nothing", "layout", "entry"] {
            let home = Home::new();
            let file = home.path().join(name);
            home.ok(&["install", host]);
            let mut value: Value = serde_json::from_str(&read(&file)).expect("JSON");
            home.ok(&["uninstall", host]);
            let events = value["hooks"].as_object_mut().expect("events");
            let first = events.keys().next().cloned().expect("an event");
            events.retain(|event, _| *event == first);
            let before = format!("{value:#}\n");
            write(&file, before.as_bytes());
            home.ok(&["install", host]);
            let mut installed: Value = serde_json::from_str(&read(&file)).expect("JSON");
            let events = installed["hooks"].as_object_mut().expect("events");
            assert!(events.len() > 1, "{host}");
            match touch {
                "layout" => fs::write(&file, installed.to_string()).expect("written"),
                "entry" => {
                    // All but what was there has been taken out by hand.
                    events.retain(|event, _| *event == first);
                    fs::write(&file, installed.to_string()).expect("written");
                }
                _ => {}
            }
            home.ok(&["uninstall", host]);
            let left: Value = serde_json::from_str(&read(&file)).expect("JSON");
            assert_eq!(left, value, "{host}, {touch}");
            if touch == "nothing" {
                assert_eq!(read(&file), before, "{host}");
            }
        }
    }
}

/// What is recorded is what is undone, wherever the settings are looked for today.
#[test]
fn what_is_recorded_is_taken_out_where_it_was_put() {
    let home = Home::new();
    let file = home.path().join(".config/opencode/opencode.json");
    write(&file, b"{\n  \"a\": 1\n}\n");
    home.ok(&["install", "opencode"]);
    let later = home.path().join(".config/opencode/opencode.jsonc");
    write(&later, b"{}");
    home.ok(&["uninstall", "opencode"]);
    assert_eq!(read(&file), "{\n  \"a\": 1\n}\n");
    assert_eq!(read(&later), "{}");
    assert!(!home.aizo().exists());

    for is_laid_out_anew in [false, true] {
        let home = Home::new();
        let moved = home.path().join("moved");
        let foreign = "{\n  \"a\": 1\n}\n";
        for name in ["settings.json", ".claude.json"] {
            write(&moved.join(name), foreign.as_bytes());
        }
        let mut install = home.command(&["install", "claude-code"]);
        let run = Run::of(install.env("CLAUDE_CONFIG_DIR", &moved).output());
        assert_eq!(run.code, 0, "{run:?}");
        if is_laid_out_anew {
            for name in ["settings.json", ".claude.json"] {
                let value: Value = serde_json::from_str(&read(&moved.join(name))).expect("JSON");
                fs::write(moved.join(name), value.to_string()).expect("written");
            }
        }
        home.ok(&["uninstall", "claude-code"]);
        for name in ["settings.json", ".claude.json"] {
            let left: Value = serde_json::from_str(&read(&moved.join(name))).expect("JSON");
            assert_eq!(left, json!({ "a": 1 }));
        }
        assert!(!home.aizo().join("installed.json").exists());
        assert!(!moved.join("skills").exists());
    }
}

#[test]
fn an_agent_that_failed_stands_in_the_table_of_all() {
    for (task, done) in [("install", "created"), ("uninstall", "removed")] {
        for is_dry in [true, false] {
            let home = Home::new();
            fs::create_dir(home.path().join(".cursor")).expect("a folder");
            if task == "uninstall" {
                home.ok(&["install", "cursor"]);
            }
            let broken = home.path().join(".claude/settings.json");
            write(&broken, b"{");
            let mut arguments = vec![task, "--all", "--json"];
            arguments.extend(is_dry.then_some("--dry-run"));
            let run = Run::of(home.command(&arguments).env("PATH", "").output());
            assert_eq!(run.code, 1, "{run:?}");
            let reply: Reply = serde_json::from_str(&run.stdout).expect("a reply");
            let failed: Vec<&File> = reply
                .files
                .iter()
                .filter(|one| one.result == "failed")
                .collect();
            let [failed] = failed.as_slice() else {
                panic!("{reply:?}");
            };
            assert_eq!(
                (failed.agent.as_str(), &failed.path),
                ("claude-code", &broken)
            );
            let reason = failed.reason.as_deref().unwrap_or_default();
            assert!(reason.contains("line 1"), "{reason}");
            assert!(run.stderr.contains("line 1"), "{run:?}");
            assert!(
                reply
                    .files
                    .iter()
                    .any(|one| one.agent == "cursor" && one.result == done)
            );
        }
    }
    // Also where there is no other.
    let home = Home::new();
    write(&home.path().join(".claude/settings.json"), b"{");
    let run = Run::of(home.command(&["install", "--all"]).env("PATH", "").output());
    assert_eq!(run.code, 1, "{run:?}");
    assert!(run.stdout.contains("failed"), "{run:?}");
    assert_eq!(tree(home.path()).len(), 2);
}

#[test]
fn runs_at_once_record_all_that_they_do() {
    for _ in 0..3 {
        let home = Home::new();
        let at_once = |task: &str| {
            let children: Vec<_> = HOSTS
                .iter()
                .map(|(host, _)| {
                    let mut command = home.command(&[task, host]);
                    command.stdout(std::process::Stdio::null());
                    command.spawn().expect("it starts")
                })
                .collect();
            for mut child in children {
                assert!(child.wait().expect("it ends").success());
            }
        };
        at_once("install");
        let record: Value =
            serde_json::from_str(&read(&home.aizo().join("installed.json"))).expect("JSON");
        let record = record["files"].to_string();
        for (host, _) in HOSTS {
            assert!(
                record.contains(&format!("[\"{host}\""))
                    || record.contains(&format!(",\"{host}\"")),
                "{host}"
            );
            assert_eq!(listed(&home, host), everything(host));
        }
        at_once("uninstall");
        assert_eq!(tree(home.path()).len(), 0);
    }
}

/// What cannot be undone yet is still recorded, and is undone later.
#[test]
fn what_cannot_be_taken_out_stays_recorded() {
    let home = Home::new();
    let file = home.path().join(".claude/settings.json");
    write(&file, b"{\n  \"a\": 1\n}\n");
    home.ok(&["install", "claude-code"]);
    let installed = read(&file);
    fs::write(&file, &installed[..installed.len() - 3]).expect("written");
    let run = home.run(&["uninstall", "claude-code"]);
    assert_eq!(run.code, 1, "{run:?}");
    assert!(read(&home.aizo().join("installed.json")).contains("hook claude-code"));
    // Something else has taken the place in which the entries were.
    let value: Value = serde_json::from_str(&installed).expect("JSON");
    let moved = json!({ "a": 1, "hooks": [value["hooks"]] });
    fs::write(&file, moved.to_string()).expect("written");
    let run = home.run(&["uninstall", "claude-code"]);
    assert_eq!(run.code, 1, "{run:?}");
    assert!(run.stdout.contains("still there"), "{run:?}");
    let record = read(&home.aizo().join("installed.json"));
    assert!(!home.path().join(".claude.json").exists());
    fs::write(&file, &installed).expect("written");
    home.ok(&["uninstall", "claude-code"]);
    assert_eq!(read(&file), "{\n  \"a\": 1\n}\n");
    // A run that was ended before it could forget is said again.
    write(&home.aizo().join("installed.json"), record.as_bytes());
    home.ok(&["uninstall", "claude-code"]);
    assert_eq!(read(&file), "{\n  \"a\": 1\n}\n");
    assert!(!home.aizo().join("installed.json").exists());
}

/// However the servers are written, aizo's is not doubled, and goes.
#[test]
fn a_table_of_servers_in_any_spelling_gives_back_what_was_there() {
    let table = |home: &Home| home.path().join(".codex/config.toml");
    for own in [
        "[\"mcp_servers\".\"ai\\u007ao\"]\ncommand = \"/opt/aizo\"\n",
        "[\"mcp\\u005fservers\"]\n'aizo' = { command = \"/opt/aizo\" }\n",
        "mcp_servers = { aizo = { command = \"/opt/aizo\" } }\n",
    ] {
        let home = Home::new();
        write(&table(&home), own.as_bytes());
        home.ok(&["install", "codex"]);
        assert_eq!(read(&table(&home)), own);
        home.ok(&["uninstall", "codex"]);
        assert_eq!(read(&table(&home)), own);
    }
    for before in [
        "mcp_servers = {}\nb = 1\n",
        "\"mcp\\u005fservers\" = { other = { command = \"x\" } }\nb = 1\n",
    ] {
        let home = Home::new();
        let file = table(&home);
        write(&file, before.as_bytes());
        home.ok(&["install", "codex"]);
        // Laid out anew by somebody.
        let spaced = read(&file)
            .replace("{ ", "{")
            .replace(" }", "}")
            .replace(" = ", "=");
        assert!(spaced.contains("{command="), "{spaced}");
        fs::write(&file, &spaced).expect("written");
        let again: Reply = home.json(&["install", "codex"]);
        assert!(
            again.files.iter().all(|file| file.result == "unchanged"),
            "{again:?}"
        );
        assert_eq!(read(&file), spaced);
        home.ok(&["uninstall", "codex"]);
        let bare = |text: &str| text.split_whitespace().collect::<String>();
        assert_eq!(bare(&read(&file)), bare(before));
        assert!(!home.aizo().join("installed.json").exists());
    }
}

/// What aizo writes for a host, as a person's own: brought from another machine, or written as the README says.
fn as_ones_own(host: &str) -> Home {
    let model = Home::new();
    model.ok(&["install", host]);
    let home = Home::new();
    for (path, bytes) in tree(model.path()) {
        let place = path.strip_prefix(model.path()).expect("within");
        if let (Some(bytes), false) = (bytes, path.starts_with(model.aizo())) {
            write(&home.path().join(place), &bytes);
        }
    }
    home
}

#[test]
fn however_often_it_is_said_uninstall_leaves_what_a_person_made() {
    for (host, _) in HOSTS {
        for left_out in ["--no-hooks", "--no-mcp", "--no-skill"] {
            let home = as_ones_own(host);
            let before = tree(home.path());
            home.ok(&["install", host, left_out]);
            for arguments in [
                ["uninstall", host],
                ["uninstall", host],
                ["uninstall", "--all"],
            ] {
                let reply: Reply = home.json(&arguments);
                for file in &reply.files {
                    assert_eq!(file.result, "kept", "{host} {left_out}: {file:?}");
                    assert!(file.reason.is_some(), "{file:?}");
                }
                let mut left = tree(home.path());
                left.retain(|path, _| !path.starts_with(home.aizo()));
                assert!(left == before, "{host} {left_out}");
            }
            assert_eq!(listed(&home, host), everything(host));
            // What a person takes away is not missed.
            for path in before.keys().filter(|path| path.is_file()) {
                fs::remove_file(path).expect("gone");
            }
            home.ok(&["uninstall", "--all"]);
            assert!(!home.aizo().exists(), "{host} {left_out}");
        }
    }
}

#[test]
fn what_is_recorded_for_others_says_nothing_of_an_entry_of_ones_own() {
    for (host, files) in HOSTS {
        let home = as_ones_own(host);
        let other = if host == "codex" {
            "claude-code"
        } else {
            "codex"
        };
        home.ok(&["install", other]);
        let before: Vec<String> = files.iter().map(|file| home.read(file)).collect();
        for _ in 0..2 {
            let reply: Reply = home.json(&["uninstall", "--all"]);
            let kept = |file: &&File| file.agent == host && file.result == "kept";
            let kept: Vec<&File> = reply.files.iter().filter(kept).collect();
            assert!(kept.len() >= files.len(), "{host}: {reply:?}");
            assert!(kept.iter().all(|file| file.reason.is_some()), "{host}");
            let after: Vec<String> = files.iter().map(|file| home.read(file)).collect();
            assert_eq!(after, before, "{host}");
        }
    }
}

/// Where nothing is recorded at all, only what aizo writes goes, to the letter.
#[test]
fn without_a_record_an_entry_with_anything_of_ones_own_stays() {
    for (host, file, own) in [
        (
            "claude-code",
            ".claude.json",
            r#"{"mcpServers": {"aizo": {"command": "/opt/aizo", "args": ["mcp", "--db", "x"], "env": {"A": "1"}}}}"#,
        ),
        (
            "claude-code",
            ".claude/settings.json",
            r#"{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "aizo hook claude-code"}]}]}}"#,
        ),
        (
            "cursor",
            ".cursor/hooks.json",
            r#"{"version": 1, "hooks": {"stop": [{"command": "aizo hook cursor", "timeout": 3}]}}"#,
        ),
        (
            "codex",
            ".codex/config.toml",
            "[mcp_servers.aizo]\ncommand = \"/opt/aizo\"\nargs = [\"mcp\"]\n",
        ),
    ] {
        for is_installed_between in [false, true] {
            let home = Home::new();
            let path = home.write(file, own.as_bytes());
            if is_installed_between {
                home.ok(&["install", host]);
                home.ok(&["uninstall", host]);
            }
            let reply: Reply = home.json(&["uninstall", host]);
            let told = reply.files.iter().find(|told| told.path == path);
            let told = told.expect("it is named");
            assert_eq!(
                (told.result.as_str(), &read(&path)),
                ("kept", &own.to_owned())
            );
            assert!(told.reason.is_some());
        }
    }
    // What stood around aizo's entry may have stood there before.
    for (host, file, outer) in [
        ("cursor", ".cursor/mcp.json", "mcpServers"),
        ("claude-code", ".claude/settings.json", "hooks"),
    ] {
        let home = Home::new();
        let before = format!("{{\n  \"{outer}\": {{}}\n}}\n");
        let path = home.write(file, before.as_bytes());
        home.ok(&["install", host]);
        fs::remove_dir_all(home.aizo()).expect("gone");
        home.ok(&["uninstall", host]);
        assert_eq!(read(&path), before);
    }
}

#[cfg(unix)]
#[test]
fn an_agent_that_has_nothing_takes_nothing_from_a_file_that_two_share() {
    let home = Home::new();
    home.write(".cursor/mcp.json", b"{}");
    fs::create_dir_all(home.path().join(".codeium/windsurf")).expect("a folder");
    let link = home.path().join(".codeium/windsurf/mcp_config.json");
    std::os::unix::fs::symlink("../../.cursor/mcp.json", link).expect("a link");
    home.ok(&["install", "cursor"]);
    let before = home.read(".cursor/mcp.json");
    home.ok(&["uninstall", "windsurf"]);
    assert_eq!(home.read(".cursor/mcp.json"), before);
    assert_eq!(listed(&home, "cursor"), everything("cursor"));
}

/// An object that was there goes with nothing of aizo's, whoever has laid out the file since.
#[test]
fn an_empty_object_that_was_there_stays() {
    for (host, file, before) in [
        (
            "claude-code",
            ".claude/settings.json",
            json!({ "hooks": {} }),
        ),
        ("claude-code", ".claude.json", json!({ "mcpServers": {} })),
        (
            "cursor",
            ".cursor/hooks.json",
            json!({ "version": 1, "hooks": { "stop": [] } }),
        ),
        (
            "openclaw",
            ".openclaw/openclaw.json",
            json!({ "mcp": { "servers": {} } }),
        ),
        (
            "codex",
            ".codex/hooks.json",
            json!({ "hooks": {}, "a": "\"hooks\":" }),
        ),
        (
            "opencode",
            ".config/opencode/opencode.json",
            json!({ "a": 1 }),
        ),
    ] {
        let home = Home::new();
        let path = home.write(file, before.to_string().as_bytes());
        home.ok(&["install", host]);
        let installed: Value = serde_json::from_str(&read(&path)).expect("JSON");
        fs::write(&path, format!("{installed:#}")).expect("written");
        home.ok(&["uninstall", host]);
        let left: Value = serde_json::from_str(&read(&path)).expect("JSON");
        assert_eq!(left, before, "{host}");
    }
}

#[test]
fn a_list_says_yes_only_where_all_is_there_and_goes_on_where_something_cannot_be_read() {
    // One of the three files of its hooks is somebody else's, whichever.
    let parts = ["openclaw.plugin.json", "package.json", "index.js"];
    for part in parts {
        let home = Home::new();
        home.ok(&["install", "openclaw"]);
        home.write(&format!(".openclaw/extensions/aizo/{part}"), b"mine");
        let mut wanted = everything("openclaw");
        wanted["hooks"] = json!(false);
        assert_eq!(listed(&home, "openclaw"), wanted, "{part}");
    }
    let home = Home::new();
    home.write(".claude/skills/aizo-sop/SKILL.md", b"mine");
    assert_eq!(listed(&home, "claude-code")["skill"], json!(false));

    home.ok(&["install", "cursor"]);
    fs::create_dir_all(home.path().join(".codex/hooks.json")).expect("a folder");
    home.write(".gemini/settings.json", b"{");
    let run = home.run(&["install", "--list"]);
    assert_eq!((run.code, run.stdout.lines().count()), (0, 1 + HOSTS.len()));
    assert!(run.stderr.contains("hooks.json is not a file"), "{run:?}");
    assert!(run.stderr.contains("settings.json, line 1: "), "{run:?}");
    assert_eq!(listed(&home, "cursor"), everything("cursor"));
}

#[test]
fn no_secret_of_others_is_shown() {
    let home = Home::new();
    let token = "ghp_Ab12Cd34Ef56Gh78Ij90Kl12Mn34Op56Qr78";
    let servers = format!(
        "{{\n  \"mcpServers\": {{\n    \"git\": {{\n      \"env\": {{\"GITHUB_TOKEN\": \"{token}\"}}\n    }}\n  }}\n}}\n"
    );
    let path = home.write(".cursor/mcp.json", servers.as_bytes());
    for arguments in [
        ["install", "cursor", "--dry-run"].as_slice(),
        &["install", "cursor"],
        &["uninstall", "cursor", "--dry-run"],
        &["uninstall", "cursor"],
    ] {
        let text = home.ok(&[arguments, &["--json"]].concat());
        assert!(text.contains("GITHUB_TOKEN"), "{text}");
        assert!(!text.contains(token), "{text}");
        assert!(read(&path).contains(token));
    }
    assert_eq!(read(&path), servers);
}

/// aizo's entries with nothing of others beside them.
fn with_more(text: &str, more: &str) -> String {
    text.replacen('{', &format!("{{\n  {more},"), 1)
}

#[test]
fn a_file_that_a_person_has_filled_is_copied_before_it_is_written_again() {
    let home = Home::new();
    home.ok(&["install", "cursor"]);
    let path = home.path().join(".cursor/mcp.json");
    let filled = with_more(&read(&path), "\"mine\": 1");
    fs::write(&path, &filled).expect("written");
    let reply: Reply = home.json(&["uninstall", "cursor"]);
    let told = reply.files.iter().find(|file| file.path == path);
    let copy = told.and_then(|file| file.backup.clone()).expect("a copy");
    assert_eq!(read(&copy), filled);
    assert_eq!(
        serde_json::from_str::<Value>(&read(&path)).expect("JSON"),
        json!({ "mine": 1 })
    );
}

#[test]
fn a_copy_that_is_gone_is_made_anew_and_one_that_cannot_go_is_said() {
    let home = Home::new();
    let path = home.write(".cursor/mcp.json", b"{\n  \"a\": 1\n}\n");
    let reply: Reply = home.json(&["install", "cursor"]);
    let backup = |reply: &Reply| {
        let told = reply.files.iter().find(|file| file.path == path);
        told.and_then(|file| file.backup.clone())
    };
    let copy = backup(&reply).expect("a copy");
    // Somebody has taken out the entry, and tidied up.
    fs::remove_file(&copy).expect("gone");
    fs::write(&path, "{\n  \"b\": 1\n}\n").expect("written");
    let reply: Reply = home.json(&["install", "cursor"]);
    let copy = backup(&reply).expect("a copy");
    assert_eq!(read(&copy), "{\n  \"b\": 1\n}\n");

    fs::remove_file(&copy).expect("gone");
    fs::create_dir(&copy).expect("a folder");
    let run = home.run(&["uninstall", "cursor", "--json"]);
    assert_eq!(run.code, 1, "{run:?}");
    assert!(run.stderr.contains("is not a file"), "{run:?}");
    let reply: Reply = serde_json::from_str(&run.stdout).expect("a reply");
    let told = reply.files.iter().find(|file| file.path == path);
    assert_eq!(told.map(|file| file.result.as_str()), Some("changed"));
    assert_eq!(read(&path), "{\n  \"b\": 1\n}\n");
    assert!(!home.aizo().join("installed.json").exists());
}

mod law {
    use aizo::capture::hook::Caller;
    use aizo::install::{
        Content, Machine, Outcome, Program, Scope, Step, install, pieces, uninstall,
    };
    use proptest::prelude::*;

    /// What may stand between two tokens.
    fn gap() -> impl Strategy<Value = String> {
        prop_oneof![
            6 => Just(String::new()),
            4 => Just(" ".to_owned()),
            3 => Just("\n  ".to_owned()),
            2 => Just("\r\n\t".to_owned()),
            1 => Just(" /* c, } */ ".to_owned()),
            1 => Just(" // a line\n".to_owned()),
        ]
    }

    fn name() -> impl Strategy<Value = String> {
        prop_oneof![
            Just("hooks".to_owned()),
            Just("mcpServers".to_owned()),
            Just("Stop".to_owned()),
            Just("sessionStart".to_owned()),
            Just("version".to_owned()),
            "[a-z \\u00e9]{0,4}",
        ]
    }

    /// An object or an array in any layout; objects alone below `hooks`, so that nothing is in the way.
    fn object(depth: u32) -> BoxedStrategy<String> {
        let value = if depth == 0 {
            prop_oneof![
                Just("1.50".to_owned()),
                Just("\"a // b\"".to_owned()),
                Just("null".to_owned())
            ]
            .boxed()
        } else {
            prop_oneof![
                2 => object(depth - 1),
                1 => (gap(), gap()).prop_map(|(a, b)| format!("[{a}]{b}")),
                1 => (object(depth - 1), gap(), any::<bool>())
                    .prop_map(|(one, gap, comma)| format!("[{gap}{one}{}]", if comma { "," } else { "" })),
                1 => Just("true".to_owned()),
            ]
            .boxed()
        };
        let member = (gap(), name(), gap(), gap(), value, gap())
            .prop_map(|(a, name, b, c, value, d)| format!("{a}\"{name}\"{b}:{c}{value}{d}"));
        (
            proptest::collection::vec(member, 0..4),
            gap(),
            any::<bool>(),
        )
            .prop_map(|(members, gap, comma)| {
                let comma = if comma && !members.is_empty() {
                    ","
                } else {
                    ""
                };
                format!("{{{}{comma}{gap}}}", members.join(","))
            })
            .boxed()
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]
        #[test]
        fn what_is_put_in_can_be_taken_out(text in (gap(), object(3), gap()).prop_map(|(a, b, c)| a + &b + &c)) {
            let machine = Machine {
                home: "/home/ada".into(),
                variable: &|_| None,
                exists: &|_| false,
                windows: false,
            };
            for (host, _) in Caller::ALL {
                for piece in pieces(host, &Scope::User, &machine, &Program::by_name(false)) {
                    if !matches!(piece.content, Content::Json(..)) {
                        continue;
                    }
                    let mut step = Step {
                        host,
                        scope: "user".to_owned(),
                        path: piece.file.clone(),
                        program: Program::by_name(false),
                        pieces: vec![piece],
                        bytes: Some(text.clone().into_bytes()),
                        record: None,
                        has_records: true,
                    };
                    // Something else may stand where an entry belongs.
                    let Ok(outcome) = install(&mut step) else {
                        continue;
                    };
                    prop_assert_eq!(outcome, Outcome::Changed);
                    let installed = step.bytes.clone();
                    prop_assert_eq!(install(&mut step), Ok(Outcome::Unchanged));
                    prop_assert_eq!(&step.bytes, &installed);
                    // Without the record what was foreign is there as well, and nothing of aizo's is.
                    let mut bare = Step {
                        bytes: installed,
                        record: None,
                        has_records: false,
                        ..step.clone()
                    };
                    prop_assert!(uninstall(&mut step).is_ok());
                    prop_assert_eq!(step.bytes.as_deref(), Some(text.as_bytes()));
                    prop_assert!(uninstall(&mut bare).is_ok());
                    let left = String::from_utf8(bare.bytes.unwrap_or_default()).expect("a text");
                    prop_assert!(!left.contains("aizo"), "{}", left);
                }
            }
        }
    }
}

#[test]
fn the_help_says_what_the_list_of_commands_says() {
    let home = Home::new();
    let list = home.ok(&["--help"]);
    for name in ["install", "uninstall"] {
        let help = home.ok(&[name, "--help"]);
        let about = help.lines().next().expect("a line");
        assert!(list.contains(&format!(" {about}\n")), "{about}");
        assert!(help.contains("--dry-run") && help.contains("Examples:"));
    }
}
