use super::*;
use proptest::prelude::*;
use rstest::rstest;

fn commands(text: &str) -> Vec<Vec<String>> {
    parse(text)
        .commands
        .into_iter()
        .map(|simple| simple.words.into_iter().map(|word| word.text).collect())
        .collect()
}

// Commands stand between bars, and words between slashes.
#[rstest]
#[case("git push -f", "git/push/-f")]
#[case("a&&b;c||d|e&f", "a|b|c|d|e|f")]
#[case("a 'b; c' \"d && e\" f\\;g", "a/b; c/d && e/f;g")]
#[case("a # b; c\nd", "a|d")]
#[case("a b#c", "a/b#c")]
#[case("a 2>&1 >log <in b", "a/b")]
#[case("a &>log b", "a/b")]
#[case("a \"$(b c)\" `d`", "b/c|d|a//")]
#[case("(cd x; a) && b", "cd/x|a|b")]
#[case("a \\\n  b", "a/b")]
#[case("cat <<EOF\nrm -rf x\nEOF\nb", "cat|b")]
#[case("diff <(a) <(b)", "a|b|diff//")]
#[case("don't git push", "don't/git/push")]
#[case("a \"b", "a/\"b")]
#[case("x $'a b'", "x/a b")]
#[case("提交 '变 更'", "提交/变 更")]
#[case("", "")]
#[case(";;)(`", "`")]
fn a_line_is_read_as_a_shell_reads_it(#[case] text: &str, #[case] wanted: &str) {
    let found: Vec<String> = commands(text).iter().map(|words| words.join("/")).collect();
    assert_eq!(found.join("|"), wanted);
}

#[test]
fn a_here_document_belongs_to_its_command() {
    let found = parse("bash -s <<-'END' && b\n\trm -rf x\n\tEND\nc").commands;
    assert_eq!(found.len(), 3);
    let input = found[0].input.as_ref().expect("it has a body");
    assert_eq!(input.text, "\trm -rf x\n");
}

proptest! {
    #[test]
    fn anything_is_read_to_its_end_and_places_lie_within(text in "[ -~\\n'\"`$(){}\\\\<>;é表]{0,60}") {
        for simple in parse(&text).commands {
            for word in simple.words {
                prop_assert!(text.get(word.range).is_some());
            }
        }
    }

    #[test]
    fn one_command_has_the_words_that_a_splitter_finds(text in "[a-z '\"\\\\=/-]{0,40}") {
        if let Some(words) = shlex::split(&text) {
            let ours = commands(&text);
            prop_assert!(ours.len() <= 1);
            let ours = ours.into_iter().next().unwrap_or_default();
            prop_assert_eq!(ours, words);
        }
    }
}
