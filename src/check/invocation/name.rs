//! Programs under other names: a copy or a link that the same script makes, a pattern that a shell completes.

use super::{Reading, Surroundings, may_begin, name_of};
use crate::check::expand::{Scope, Script, is_pattern, matches};
use crate::check::shell::Word;

/// Programs that a pattern in the place of one is held against.
const COMPLETED: &[&str] = &[
    "rm", "git", "sh", "bash", "dash", "zsh", "env", "sudo", "busybox", "find", "xargs",
];

/// Other names of programs.
const OTHER_NAMES: &[(&str, &[&str])] = &[
    ("bsdtar", &["tar"]),
    ("genv", &["env"]),
    ("gfind", &["find"]),
    ("git-push", &["git", "push"]),
    ("git-send-pack", &["git", "push"]),
    ("grm", &["rm"]),
    ("gsed", &["sed"]),
    ("gtar", &["tar"]),
    ("gtimeout", &["timeout"]),
    ("gxargs", &["xargs"]),
    ("hub", &["git"]),
    ("yadm", &["git"]),
];

/// Options of what copies that take the next word as their value.
const VALUED: &[&str] = &["-g", "-m", "-o", "-S"];

impl Reading<'_> {
    /// Keeps the name that a command gives to a program: `ln -s /bin/rm x`.
    pub(super) fn name_program(
        &mut self,
        program: &str,
        arguments: &[Word],
        at: &Surroundings<'_>,
        scope: &mut Scope,
    ) {
        let Some((source, target)) = renamed(program, arguments) else {
            return;
        };
        let (name, new) = (name_of(source), name_of(target));
        if may_begin(source) && !new.is_empty() && new != name {
            // Elsewhere it may be a file that is only called so.
            let is_program = source == name || source.contains("bin/");
            scope.name_program(&new, source, at.is_sure && at.is_certain && is_program);
        }
    }

    /// Reads a command under the name that its program has besides; says whether that is all that it is.
    pub(super) fn by_another_name(
        &mut self,
        commands: &Script<'_>,
        words: &[Word],
        at: &Surroundings<'_>,
        scope: &mut Scope,
    ) -> bool {
        let Some((first, arguments)) = words.split_first() else {
            return false;
        };
        let mut read = |names: &[&str], at: &Surroundings<'_>, scope: &mut Scope| {
            let mut command: Vec<Word> = Vec::new();
            command.extend(names.iter().map(|name| Word {
                text: (*name).to_owned(),
                range: first.range.clone(),
                ..Word::default()
            }));
            command.extend_from_slice(arguments);
            self.run(commands, &command, &at.deeper(), scope);
        };
        let name = name_of(&first.text);
        if let Some((program, is_sure)) = scope.program(&name) {
            let program = program.to_owned();
            let at = if is_sure { *at } else { at.unsure() };
            read(&[program.as_str()], &at, scope);
            return is_sure;
        }
        if let Some((_, command)) = OTHER_NAMES.iter().find(|(other, _)| *other == name) {
            read(command, at, scope);
            return true;
        }
        if !arguments.is_empty() && is_pattern(&name) {
            let completed = COMPLETED.iter().filter(|program| matches(&name, program));
            for program in completed {
                read(&[*program], &at.unsure(), scope);
            }
        }
        false
    }
}

/// The file that a command copies, moves or links, and its new name.
fn renamed<'w>(program: &str, arguments: &'w [Word]) -> Option<(&'w str, &'w str)> {
    let texts: Vec<&str> = arguments.iter().map(|word| word.text.as_str()).collect();
    match program {
        "hash" => match texts[..] {
            ["-p", source, target] => Some((source, target)),
            _ => None,
        },
        "dd" => {
            let of = |sign| texts.iter().find_map(|text| text.strip_prefix(sign));
            Some((of("if=")?, of("of=")?))
        }
        "cp" | "mv" | "ln" | "link" | "install" => {
            let mut files = Vec::new();
            let mut texts = texts.into_iter();
            while let Some(text) = texts.next() {
                if !text.starts_with('-') {
                    files.push(text);
                } else if VALUED.contains(&text) {
                    texts.next();
                }
            }
            match files[..] {
                [source, target] => Some((source, target)),
                _ => None,
            }
        }
        _ => None,
    }
}
