//! The calls of one program in a command line, for whoever knows what its arguments mean.

use super::matter::{Input, Matter};
use super::reading;
use super::shell::Word;

/// A call of a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Called {
    /// The words behind its name.
    pub words: Vec<String>,
    /// Whether each of them is known, and none is made when the command runs.
    pub is_known: bool,
}

impl Called {
    fn with(words: &[Word]) -> Self {
        Called {
            words: words.iter().map(|word| word.text.clone()).collect(),
            is_known: words.iter().all(|word| !word.is_dynamic),
        }
    }
}

/// The calls of a program: by its name, or by its name among the words of another program that may run it.
pub fn calls_of(program: &str, command: &str) -> Vec<Called> {
    let matter = Matter::new(&Input::command(command));
    // Most commands do not name it; one may be put together.
    if ![program, "$", "`", "{"]
        .iter()
        .any(|sign| matter.bare().contains(sign))
    {
        return Vec::new();
    }
    let is_it = |word: &Word| super::invocation::name_of(word) == program;
    matter
        .runs()
        .iter()
        .filter_map(|run| {
            let words = &run.invocation.arguments;
            if run.invocation.program == program {
                return Some(Called::with(words));
            }
            let at = words.iter().position(is_it)?;
            (!reading::only_reads(&run.invocation)).then(|| Called::with(&words[at + 1..]))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case("aizo update 1 --score 9", &["update 1 --score 9"])]
    #[case("cd x && /usr/bin/aizo clear --yes; ls", &["clear --yes"])]
    #[case("sudo env A=b aizo undo", &["undo"])]
    #[case("bash -c 'aizo remove \"long meetings\"'", &["remove long meetings"])]
    #[case("npx -y aizo undo", &["undo"])]
    #[case("a=aizo; $a undo", &["undo"])]
    #[case("cat ids | xargs aizo remove", &["remove"])]
    #[case("aizo recall x | grep aizo", &["recall x"])]
    #[case("echo aizo clear", &[])]
    #[case("git commit -m 'aizo clear'", &[])]
    fn a_program_is_called(#[case] command: &str, #[case] wanted: &[&str]) {
        let calls = calls_of("aizo", command);
        let found: Vec<String> = calls.iter().map(|call| call.words.join(" ")).collect();
        assert_eq!(found, wanted);
    }

    #[test]
    fn what_is_made_when_the_command_runs_is_not_known() {
        let known = |command: &str| calls_of("aizo", command)[0].is_known;
        assert!(known("aizo remove 1"));
        assert!(!known("aizo remove \"$(cat id)\""));
    }
}
