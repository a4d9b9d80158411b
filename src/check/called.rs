//! The calls of one program in a command line, for whoever knows what its arguments mean.

use super::invocation::Invocation;
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
    let is_it = |word: &Word| super::invocation::name_of(&word.text) == program;
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

/// Whether a command line runs this program and nothing else.
pub fn calls_only(program: &str, command: &str) -> bool {
    let matter = Matter::new(&Input::command(command));
    if !matter.is_short_command() || !matter.bare().contains(program) {
        return false;
    }
    let runs = matter.runs();
    !runs.is_empty() && runs.iter().all(|run| run.invocation.program == program)
}

/// Whether a command line may write into a file of which the path holds one of these texts: it names the file, and a program
/// beside it that does more than read.
pub fn may_write_to(paths: &[String], command: &str) -> bool {
    let matter = Matter::new(&Input::command(command));
    let names = |text: &str| paths.iter().any(|path| text.contains(path.as_str()));
    // Most commands name none.
    let is_target = |behind: &str| {
        let target = behind.trim_start_matches(['>', '|', '&', ' ', '"', '\'']);
        names(target.split_whitespace().next().unwrap_or_default())
    };
    let touches = |words: &[Word]| words.iter().any(|word| names(&word.text));
    let writes =
        |run: &Invocation| run.is_unread() || touches(&run.arguments) && !reading::only_reads(run);
    names(matter.bare())
        && (command.split('>').skip(1).any(is_target)
            || matter.runs().iter().any(|run| writes(&run.invocation)))
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

    #[rstest]
    #[case("aizo check --command 'npm install'", true)]
    #[case("cd /x; aizo recall npm", false)]
    #[case("aizo recall npm | aizo check -", true)]
    #[case("aizo why \"$(npm install)\"", false)]
    #[case("npm install", false)]
    #[case("", false)]
    fn a_command_line_is_of_one_program_alone(#[case] command: &str, #[case] is_alone: bool) {
        assert_eq!(calls_only("aizo", command), is_alone);
    }

    #[rstest]
    #[case("rm ~/.aizo/preferences.db", true)]
    #[case("mv ~/.aizo ~/.aizo.bak", true)]
    #[case("sqlite3 ~/.aizo/preferences.db 'delete from preferences'", true)]
    #[case("bash -c 'rm -r ~/.aizo'", true)]
    #[case("ls -l ~/.aizo; cat ~/.aizo/aizo.log", false)]
    #[case("echo > ~/.aizo/preferences.db", true)]
    #[case("cat ~/.aizo/aizo.log > log", false)]
    #[case("rm -r build", false)]
    fn what_writes_to_a_file_is_told_from_what_reads_it(
        #[case] command: &str,
        #[case] writes: bool,
    ) {
        assert_eq!(may_write_to(&["/.aizo".to_owned()], command), writes);
    }

    #[test]
    fn what_is_made_when_the_command_runs_is_not_known() {
        let known = |command: &str| calls_of("aizo", command)[0].is_known;
        assert!(known("aizo remove 1"));
        assert!(!known("aizo remove \"$(cat id)\""));
    }
}
