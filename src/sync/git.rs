//! Calls the git of this machine: with arguments, never through a shell, and with nothing of the surroundings that could
//! make it do something else. Only how it gets to a server is the user's own: addresses, keys and logins.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use chrono::{DateTime, Utc};

use super::remote::shown;
use crate::error::{Failure, Kind};

/// What of the environment stays: how to reach a server.
const KEPT: &[&str] = &[
    "GIT_SSH",
    "GIT_SSH_COMMAND",
    "GIT_SSH_VARIANT",
    "GIT_ASKPASS",
    "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_SYSTEM",
    "GIT_CONFIG_NOSYSTEM",
    "GIT_EXEC_PATH",
    "GIT_PROXY_COMMAND",
    "GIT_SSL_CAINFO",
    "GIT_SSL_NO_VERIFY",
];

/// What holds whatever the user's own settings are.
const SETTINGS: &[&str] = &[
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.autocrlf=false",
    "core.logAllRefUpdates=false",
    "commit.gpgSign=false",
    "push.gpgSign=false",
    "push.followTags=false",
    "push.recurseSubmodules=no",
    "fetch.recurseSubmodules=no",
    "fetch.writeCommitGraph=false",
    "transfer.fsckObjects=true",
    "gc.autoDetach=false",
    "maintenance.autoDetach=false",
    "http.lowSpeedLimit=1",
    "http.lowSpeedTime=30",
    "advice.detachedHead=false",
];

/// Ways to a repository; the others run programs that an address names.
const PROTOCOLS: &str = "file:git:http:https:ssh";

/// Who writes the commits.
const AUTHOR: &str = "aizo";
const AUTHOR_EMAIL: &str = "aizo@localhost";

/// Asks nobody anything.
const SSH: &str = "ssh -o BatchMode=yes";
/// Gives up in time, also where a network dies in the middle. Of an option that is there already the first one counts.
const SSH_IN_TIME: &str = "-o ConnectTimeout=20 -o ServerAliveInterval=15 -o ServerAliveCountMax=3";

/// The git of this machine, for one repository.
#[derive(Debug, Clone)]
pub(super) struct Git {
    folder: PathBuf,
    now: DateTime<Utc>,
    /// Where the list of a commit's files is kept.
    index: Option<String>,
}

impl Git {
    pub(super) fn new(folder: &Path, now: DateTime<Utc>) -> Self {
        Git {
            folder: folder.to_path_buf(),
            now,
            index: None,
        }
    }

    /// The same with a list of its own for what is to be committed.
    pub(super) fn with_index(&self, index: &str) -> Self {
        Git {
            index: Some(index.to_owned()),
            ..self.clone()
        }
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new("git");
        for (name, _) in std::env::vars_os() {
            let is_odd = name
                .to_str()
                .is_some_and(|name| name.starts_with("GIT_") && !KEPT.contains(&name));
            if is_odd {
                command.env_remove(name);
            }
        }
        let date = format!("@{} +0000", self.now.timestamp().max(0));
        command
            .env("GIT_TERMINAL_PROMPT", "0")
            .env("GCM_INTERACTIVE", "never")
            .env("GIT_ALLOW_PROTOCOL", PROTOCOLS)
            .env("GIT_NO_REPLACE_OBJECTS", "1")
            .env("GIT_PAGER", "cat")
            .env("GIT_EDITOR", "true")
            .env("GIT_ATTR_NOSYSTEM", "1")
            .env("GIT_AUTHOR_NAME", AUTHOR)
            .env("GIT_AUTHOR_EMAIL", AUTHOR_EMAIL)
            .env("GIT_AUTHOR_DATE", &date)
            .env("GIT_COMMITTER_NAME", AUTHOR)
            .env("GIT_COMMITTER_EMAIL", AUTHOR_EMAIL)
            .env("GIT_COMMITTER_DATE", &date)
            .env("LC_ALL", "C")
            .env_remove("LANGUAGE")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        if let Some(index) = &self.index {
            command.env("GIT_INDEX_FILE", index);
        }
        for setting in SETTINGS {
            command.args(["-c", setting]);
        }
        command.arg("--git-dir").arg(&self.folder).args(arguments);
        command
    }

    /// Runs git, and gives how it ended.
    pub(super) fn ended(&self, arguments: &[&str], input: &[u8]) -> Result<Output, Failure> {
        run(self.command(arguments), input)
    }

    /// Runs git where a server is spoken to, with settings that stand in no list of processes.
    pub(super) fn ended_far(
        &self,
        arguments: &[&str],
        settings: &[(String, String)],
    ) -> Result<Output, Failure> {
        let mut command = self.command(arguments);
        if let Some(ssh) = self.ssh()? {
            command.env("GIT_SSH_COMMAND", format!("{ssh} {SSH_IN_TIME}"));
        }
        command.env("GIT_CONFIG_COUNT", settings.len().to_string());
        for (number, (name, value)) in settings.iter().enumerate() {
            command
                .env(format!("GIT_CONFIG_KEY_{number}"), name)
                .env(format!("GIT_CONFIG_VALUE_{number}"), value);
        }
        run(command, b"")
    }

    /// The ssh that is called, where it is one that knows the usual options.
    fn ssh(&self) -> Result<Option<String>, Failure> {
        let own = std::env::var("GIT_SSH_COMMAND");
        let own = match (own, std::env::var_os("GIT_SSH")) {
            (Ok(own), _) => own,
            (Err(_), Some(_)) => return Ok(None),
            (Err(_), None) => {
                let set = self.ended(&["config", "--get", "core.sshCommand"], b"")?;
                String::from_utf8_lossy(&set.stdout).trim().to_owned()
            }
        };
        let program = own.split_whitespace().next().map(Path::new);
        Ok(match program.map(Path::file_name) {
            None => Some(SSH.to_owned()),
            Some(name) => (name == Some("ssh".as_ref())).then_some(own),
        })
    }

    /// Runs git where it has to succeed, and gives what it prints.
    pub(super) fn run(&self, arguments: &[&str], input: &[u8]) -> Result<Vec<u8>, Failure> {
        let output = self.ended(arguments, input)?;
        if output.status.success() {
            return Ok(output.stdout);
        }
        let what = arguments.first().copied().unwrap_or_default();
        Err(
            Failure::new(Kind::Sync, format!("git {what}: {}", said(&output))).hint(format!(
                "{} may be removed, and is made anew; nothing is lost by that",
                self.folder.display()
            )),
        )
    }

    /// The same for a short text.
    pub(super) fn line(&self, arguments: &[&str], input: &[u8]) -> Result<String, Failure> {
        let bytes = self.run(arguments, input)?;
        Ok(String::from_utf8_lossy(&bytes).trim().to_owned())
    }
}

fn run(mut command: Command, input: &[u8]) -> Result<Output, Failure> {
    if input.is_empty() {
        return command.output().map_err(|error| cannot_start(&error));
    }
    let mut child = command
        .stdin(Stdio::piped())
        .spawn()
        .map_err(|error| cannot_start(&error))?;
    let pipe = child.stdin.take();
    std::thread::scope(|scope| {
        // Git may print before it has read everything.
        scope.spawn(move || {
            if let Some(mut pipe) = pipe {
                let _it_says_itself_why = pipe.write_all(input);
            }
        });
        child
            .wait_with_output()
            .map_err(|error| cannot_start(&error))
    })
}

fn cannot_start(error: &io::Error) -> Failure {
    if error.kind() == io::ErrorKind::NotFound {
        return Failure::new(Kind::Sync, "git is not installed, or not on the PATH")
            .hint("install git; nothing was changed");
    }
    Failure::new(Kind::Sync, format!("cannot run git: {error}"))
}

/// What git said, in a line.
pub(super) fn said(output: &Output) -> String {
    const MOST: usize = 400;
    let text = String::from_utf8_lossy(&output.stderr);
    let lines: Vec<&str> = text
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty() && !line.starts_with("hint:"))
        .collect();
    let text = crate::model::strip_hidden(&lines.join("; "));
    let text = crate::model::beginning(&text, MOST);
    if text.is_empty() {
        return format!("it ended with {}", output.status);
    }
    text.to_owned()
}

/// A failure to speak to a server, sorted by what the person can do.
pub(super) fn far_failure(output: &Output, url: &str) -> Failure {
    let text = said(output).replace(url, &shown(url));
    let lower = text.to_lowercase();
    let says = |any: &[&str]| any.iter().any(|words| lower.contains(words));
    let hint = if says(&[
        "could not resolve",
        "couldn't connect",
        "failed to connect",
        "connection refused",
        "connection timed out",
        "network is unreachable",
        "no route to host",
        "temporary failure",
        "operation timed out",
        "operation too slow",
    ]) {
        "it cannot be reached now; nothing is lost, say it again later"
    } else if says(&[
        "authentication failed",
        "could not read username",
        "could not read password",
        "terminal prompts disabled",
        "permission denied",
        "host key verification",
        "access denied",
        "403",
    ]) {
        "aizo asks for no login: let git log in by itself (ssh-agent, a credential helper), and try: git ls-remote URL"
    } else if says(&[
        "not found",
        "does not exist",
        "not appear to be a git repository",
    ]) {
        "there is no such repository, or it is not yours to read: aizo sync status shows the address"
    } else if says(&["not allowed"]) {
        "addresses of git, ssh, http, https and of files are spoken"
    } else {
        "try it by hand: git ls-remote URL"
    };
    Failure::new(Kind::Sync, format!("{}: {text}", shown(url))).hint(hint)
}
