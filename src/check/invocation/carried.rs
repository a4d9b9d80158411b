//! Options, settings and variables whose value is a command.

use std::ops::Range;

use super::options::values_of;
use super::{Reading, Surroundings};
use crate::check::expand::Scope;
use crate::check::shell::Word;

/// How a command stands in a value.
#[derive(Clone, Copy)]
enum Form {
    /// The value is a line of a shell.
    Line,
    /// The line stands behind this: `exec=line`, `ProxyCommand line`.
    Behind(&'static str),
    /// The line stands behind an exclamation mark.
    Shout,
}

/// Options of a program whose value is a command.
struct Carrier {
    program: &'static str,
    /// A plus is any word that begins with one, and none is any word.
    options: &'static [&'static str],
    form: Form,
    /// Whether it is run for certain, and not only where it comes to that.
    is_sure: bool,
}

/// An option whose command is run.
const fn runs(program: &'static str, options: &'static [&'static str], form: Form) -> Carrier {
    Carrier {
        program,
        options,
        form,
        is_sure: true,
    }
}

/// An option whose command is run where it comes to that.
const fn may_run(program: &'static str, options: &'static [&'static str]) -> Carrier {
    Carrier {
        program,
        options,
        form: Form::Line,
        is_sure: false,
    }
}

static CARRIERS: &[Carrier] = &[
    runs(
        "tar",
        &["--to-command", "--use-compress-program", "-I"],
        Form::Line,
    ),
    runs("tar", &["--checkpoint-action"], Form::Behind("exec=")),
    may_run(
        "tar",
        &[
            "--info-script",
            "--new-volume-script",
            "--rsh-command",
            "-F",
        ],
    ),
    runs("rsync", &["-e", "--rsh"], Form::Line),
    may_run("rsync", &["--rsync-path"]),
    runs("ssh", &["-o"], Form::Behind("proxycommand")),
    runs("ssh", &["-o"], Form::Behind("localcommand")),
    runs("ssh", &["-o"], Form::Behind("knownhostscommand")),
    runs("scp", &["-o"], Form::Behind("proxycommand")),
    may_run("scp", &["-S"]),
    runs("sftp", &["-o"], Form::Behind("proxycommand")),
    may_run("sftp", &["-S"]),
    runs("split", &["--filter"], Form::Line),
    may_run("sort", &["--compress-program"]),
    may_run("zip", &["-TT", "--unzip-command"]),
    may_run("rg", &["--pre"]),
    may_run("man", &["-P", "--pager"]),
    runs("npm", &["-c", "--call"], Form::Line),
    runs("npx", &["-c", "--call"], Form::Line),
    runs("nodemon", &["-x", "--exec"], Form::Line),
    runs("nc", &["-c", "--sh-exec", "-e", "--exec"], Form::Line),
    runs("ncat", &["-c", "--sh-exec", "-e", "--exec"], Form::Line),
    runs("socat", &[""], Form::Behind("system:")),
    runs("socat", &[""], Form::Behind("exec:")),
    runs("vim", &["-c", "--cmd", "+"], Form::Shout),
    runs("nvim", &["-c", "--cmd", "+"], Form::Shout),
    runs("vi", &["-c", "--cmd", "+"], Form::Shout),
    runs("view", &["-c", "--cmd", "+"], Form::Shout),
    runs("ex", &["-c", "--cmd", "+"], Form::Shout),
    runs("less", &["+"], Form::Shout),
    runs(
        "gdb",
        &["-ex", "--ex", "-eval-command", "--eval-command"],
        Form::Behind("shell"),
    ),
    runs(
        "gdb",
        &["-ex", "--ex", "-eval-command", "--eval-command"],
        Form::Shout,
    ),
    runs("git rebase", &["-x", "--exec"], Form::Line),
    runs(
        "git filter-branch",
        &[
            "--commit-filter",
            "--env-filter",
            "--index-filter",
            "--msg-filter",
            "--parent-filter",
            "--setup",
            "--tag-name-filter",
            "--tree-filter",
        ],
        Form::Line,
    ),
    may_run("git difftool", &["-x", "--extcmd"]),
    may_run("git grep", &["-O", "--open-files-in-pager"]),
    may_run("git clone", &["-u", "--upload-pack"]),
    may_run("git fetch", &["--upload-pack"]),
    may_run("git pull", &["--upload-pack"]),
    may_run("git ls-remote", &["--upload-pack", "--exec"]),
    may_run("git push", &["--receive-pack", "--exec"]),
    may_run("git archive", &["--exec"]),
    may_run(
        "git send-email",
        &["--sendmail-cmd", "--to-cmd", "--cc-cmd", "--header-cmd"],
    ),
];

/// Settings of git whose value is a command: how they begin and end.
const SETTINGS: &[(&str, &str)] = &[
    ("browser.", ".cmd"),
    ("core.askpass", ""),
    ("core.editor", ""),
    ("core.fsmonitor", ""),
    ("core.gitproxy", ""),
    ("core.pager", ""),
    ("core.sshcommand", ""),
    ("credential.", "helper"),
    ("diff.", ".command"),
    ("diff.", ".textconv"),
    ("diff.external", ""),
    ("difftool.", ".cmd"),
    ("filter.", ".clean"),
    ("filter.", ".process"),
    ("filter.", ".smudge"),
    ("gpg.", "program"),
    ("interactive.difffilter", ""),
    ("man.", ".cmd"),
    ("merge.", ".driver"),
    ("mergetool.", ".cmd"),
    ("pager.", ""),
    ("remote.", ".receivepack"),
    ("remote.", ".uploadpack"),
    ("sendemail.", "cmd"),
    ("sequence.editor", ""),
    ("submodule.", ".update"),
    ("trailer.", ".cmd"),
    ("trailer.", ".command"),
    ("uploadpack.packobjectshook", ""),
];

/// Variables whose value is a command: how they begin and end.
const VARIABLES: &[(&str, &str)] = &[
    ("", "EDITOR"),
    ("", "PAGER"),
    ("", "ASKPASS"),
    ("BROWSER", ""),
    ("FCEDIT", ""),
    ("GIT_EXTERNAL_DIFF", ""),
    ("GIT_PROXY_COMMAND", ""),
    ("GIT_SSH", ""),
    ("GIT_SSH_COMMAND", ""),
    ("LESSCLOSE", ""),
    ("LESSOPEN", ""),
    ("PROMPT_COMMAND", ""),
    ("RSYNC_RSH", ""),
    ("VISUAL", ""),
];

/// Variables that hold a setting of git: the value alone, or with its name.
const SETTING_VARIABLES: &[&str] = &["GIT_CONFIG_VALUE_", "GIT_CONFIG_PARAMETERS"];

impl Reading<'_> {
    /// The commands in the options of a program.
    pub(super) fn carried(
        &mut self,
        program: &str,
        arguments: &[Word],
        at: &Surroundings<'_>,
        scope: &mut Scope,
    ) {
        let carriers = CARRIERS.iter().filter(|carrier| carrier.program == program);
        for carrier in carriers {
            let at = at.deeper().without_input();
            let at = if carrier.is_sure { at } else { at.unsure() };
            for value in values(arguments, carrier.options) {
                if let Some(line) = carrier.form.line_in(&value.text) {
                    self.script(line, Some(&value.range), &at, scope);
                }
            }
        }
    }

    /// The command in a setting of git.
    pub(super) fn carried_by_setting(
        &mut self,
        key: &str,
        value: &str,
        place: &Range<usize>,
        at: &Surroundings<'_>,
        scope: &mut Scope,
    ) {
        if stands_in(SETTINGS, key) {
            let line = value.trim_start().trim_start_matches('!');
            let at = at.deeper().without_input().unsure();
            self.script(line, Some(place), &at, scope);
        }
    }

    /// The command in a variable, which a program runs where it comes to that.
    pub(super) fn carried_by_variable(
        &mut self,
        name: &str,
        value: &str,
        place: &Range<usize>,
        at: &Surroundings<'_>,
        scope: &mut Scope,
    ) {
        if value.is_empty() {
            return;
        }
        let at = at.deeper().without_input().unsure();
        if SETTING_VARIABLES
            .iter()
            .any(|known| name.starts_with(known))
        {
            let value = value.trim_matches('\'');
            let value = value.split_once('=').map_or(value, |(_, value)| value);
            let value = value.trim_matches('\'');
            self.script(value.trim_start_matches('!'), Some(place), &at, scope);
            self.script(&format!("git {value}"), Some(place), &at, scope);
        } else if stands_in(VARIABLES, name) {
            self.script(value, Some(place), &at, scope);
        }
    }
}

impl Form {
    /// The line of a shell in a value.
    fn line_in(self, value: &str) -> Option<&str> {
        match self {
            Form::Line => Some(value),
            Form::Behind(sign) => {
                let start = value.get(..sign.len())?;
                let line = value[sign.len()..].trim_start_matches(['=', ' ', '"']);
                start.eq_ignore_ascii_case(sign).then_some(line)
            }
            Form::Shout => value.trim_start_matches([':', ' ']).strip_prefix('!'),
        }
    }
}

/// Whether a name begins and ends as one of a table; one that has no end there is the whole name, or all before a dot.
fn stands_in(table: &[(&str, &str)], name: &str) -> bool {
    table
        .iter()
        .any(|(start, end)| match name.strip_prefix(start) {
            Some(rest) if end.is_empty() => rest.is_empty() || start.ends_with('.'),
            Some(rest) => rest.ends_with(end),
            None => false,
        })
}

/// The values that a program is given: by an option, behind a plus, or as any word.
fn values(arguments: &[Word], options: &[&str]) -> Vec<Word> {
    let mut found = values_of(arguments, options);
    let others = arguments.iter().filter_map(|word| {
        let text = match word.text.strip_prefix('+') {
            Some(text) if options.contains(&"+") => text,
            _ if options.contains(&"") => word.text.as_str(),
            _ => return None,
        };
        Some(Word {
            text: text.to_owned(),
            ..word.clone()
        })
    });
    found.extend(others);
    found
}
