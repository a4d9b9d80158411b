//! Reads a shell line as a shell would, as far as it matters for what is run: words without their quotes, the simple
//! commands between operators, and those inside `$(…)`, backticks and parentheses. Comments, redirections and the
//! bodies of here-documents are no arguments.
//!
//! It is written here because a splitter of words alone (such as the crate `shlex`, against which it is tested) knows
//! neither operators nor the places that an answer has to name.

use std::ops::Range;

/// Deeper nesting is read as plain text.
const DEEPEST: usize = 24;

/// A word of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Word {
    /// Without quotes and backslashes.
    pub text: String,
    /// Where it stands.
    pub range: Range<usize>,
    /// Whether its value is known only when it runs: it holds a variable or a substitution.
    pub is_dynamic: bool,
}

/// A simple command.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Simple {
    /// The name and the arguments.
    pub words: Vec<Word>,
    /// What comes on its standard input from a here-document or here-string.
    pub input: Option<Word>,
    /// Where it begins and ends.
    pub range: Range<usize>,
}

/// The simple commands of a script, the inner ones before the one that they stand in.
pub fn parse(text: &str) -> Vec<Simple> {
    let mut reader = Reader {
        text,
        at: 0,
        depth: 0,
        found: Vec::new(),
    };
    reader.list(None);
    reader.found
}

/// What a redirection makes of the next word.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Target {
    File,
    HereString,
    HereDocument { strip_tabs: bool },
}

/// A here-document whose body comes after the line.
struct Waiting {
    delimiter: String,
    strip_tabs: bool,
    /// The command that reads it; known when the command ends.
    owner: Option<usize>,
}

/// A word that is being read.
#[derive(Default)]
struct Open {
    text: String,
    start: usize,
    end: usize,
    has_begun: bool,
    is_dynamic: bool,
    is_quoted: bool,
}

impl Open {
    fn push(&mut self, c: char, range: Range<usize>) {
        self.text.push(c);
        self.reach(range);
    }

    fn reach(&mut self, range: Range<usize>) {
        if !self.has_begun {
            self.start = range.start;
            self.has_begun = true;
        }
        self.end = range.end;
    }
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
    depth: usize,
    found: Vec<Simple>,
}

impl Reader<'_> {
    fn next(&self) -> Option<char> {
        self.text[self.at..].chars().next()
    }

    fn starts_with(&self, what: &str) -> bool {
        self.text[self.at..].starts_with(what)
    }

    /// Reads commands up to `close` (`)` or a backtick), or to the end.
    fn list(&mut self, close: Option<char>) {
        self.depth += 1;
        let mut simple = Simple::default();
        let mut word = Open::default();
        let mut target: Option<Target> = None;
        let mut waiting: Vec<Waiting> = Vec::new();
        while let Some(c) = self.next() {
            let start = self.at;
            let after = start + c.len_utf8();
            if Some(c) == close {
                self.at = after;
                break;
            }
            match c {
                '\\' => {
                    self.at = after;
                    match self.next() {
                        Some('\n') => self.at += 1,
                        Some(escaped) => {
                            self.at += escaped.len_utf8();
                            word.is_quoted = true;
                            word.push(escaped, start..self.at);
                        }
                        None => word.push('\\', start..after),
                    }
                }
                '\'' => self.single(&mut word),
                '"' => self.double(&mut word),
                '$' => self.dollar(&mut word),
                '`' if self.depth < DEEPEST && self.text[after..].contains('`') => {
                    self.at = after;
                    self.list(Some('`'));
                    word.is_dynamic = true;
                    word.reach(start..self.at);
                }
                '<' | '>' => {
                    if word.has_begun
                        && !word.is_quoted
                        && word.text.bytes().all(|byte| byte.is_ascii_digit())
                    {
                        // `2>`: the number of a stream.
                        word = Open::default();
                    }
                    self.end_word(&mut word, &mut simple, &mut target, &mut waiting);
                    target = Some(self.redirection(&mut word));
                    if word.has_begun {
                        // `<(…)` is a word itself.
                        target = None;
                    }
                }
                '&' if self.text[after..].starts_with('>') => {
                    self.end_word(&mut word, &mut simple, &mut target, &mut waiting);
                    self.at = after;
                    target = Some(self.redirection(&mut word));
                }
                '\n' => {
                    self.at = after;
                    self.end_word(&mut word, &mut simple, &mut target, &mut waiting);
                    self.end_command(&mut simple, &mut waiting);
                    target = None;
                    self.bodies(&mut waiting);
                }
                ';' | '&' | '|' | ')' => {
                    self.at = after;
                    self.end_word(&mut word, &mut simple, &mut target, &mut waiting);
                    self.end_command(&mut simple, &mut waiting);
                    target = None;
                }
                '(' if self.depth < DEEPEST => {
                    self.at = after;
                    self.end_word(&mut word, &mut simple, &mut target, &mut waiting);
                    self.end_command(&mut simple, &mut waiting);
                    target = None;
                    self.list(Some(')'));
                }
                '#' if !word.has_begun => {
                    let rest = &self.text[self.at..];
                    self.at += rest.find('\n').unwrap_or(rest.len());
                }
                c if c.is_whitespace() => {
                    self.at = after;
                    self.end_word(&mut word, &mut simple, &mut target, &mut waiting);
                }
                c => {
                    self.at = after;
                    word.push(c, start..after);
                }
            }
        }
        self.end_word(&mut word, &mut simple, &mut target, &mut waiting);
        self.end_command(&mut simple, &mut waiting);
        self.depth -= 1;
    }

    fn end_word(
        &mut self,
        word: &mut Open,
        simple: &mut Simple,
        target: &mut Option<Target>,
        waiting: &mut Vec<Waiting>,
    ) {
        if !word.has_begun {
            return;
        }
        let word = std::mem::take(word);
        let word = Word {
            text: word.text,
            range: word.start..word.end,
            is_dynamic: word.is_dynamic,
        };
        if simple.words.is_empty() && simple.input.is_none() {
            simple.range.start = word.range.start;
        }
        simple.range.end = word.range.end;
        match target.take() {
            None => simple.words.push(word),
            Some(Target::File) => {}
            Some(Target::HereString) => simple.input = Some(word),
            Some(Target::HereDocument { strip_tabs }) => waiting.push(Waiting {
                delimiter: word.text,
                strip_tabs,
                owner: None,
            }),
        }
    }

    fn end_command(&mut self, simple: &mut Simple, waiting: &mut [Waiting]) {
        let simple = std::mem::take(simple);
        if simple.words.is_empty() {
            return;
        }
        for body in waiting {
            body.owner.get_or_insert(self.found.len());
        }
        self.found.push(simple);
    }

    /// Reads the bodies of the here-documents that the line before has announced.
    fn bodies(&mut self, waiting: &mut Vec<Waiting>) {
        for body in waiting.drain(..) {
            let start = self.at;
            let mut end = start;
            while self.at < self.text.len() {
                let rest = &self.text[self.at..];
                let length = rest.find('\n').map_or(rest.len(), |at| at + 1);
                let line = rest[..length].trim_end_matches(['\n', '\r']);
                let line = if body.strip_tabs {
                    line.trim_start_matches('\t')
                } else {
                    line
                };
                self.at += length;
                if line == body.delimiter {
                    break;
                }
                end = self.at;
            }
            if let Some(simple) = body.owner.and_then(|owner| self.found.get_mut(owner)) {
                simple.input = Some(Word {
                    text: self.text[start..end].to_owned(),
                    range: start..end,
                    is_dynamic: false,
                });
            }
        }
    }

    /// Reads `<`, `>` and what belongs to it; a substitution that comes as a file becomes part of the word.
    fn redirection(&mut self, word: &mut Open) -> Target {
        let start = self.at;
        for (sign, target) in [
            ("<<<", Target::HereString),
            ("<<-", Target::HereDocument { strip_tabs: true }),
            ("<<", Target::HereDocument { strip_tabs: false }),
        ] {
            if self.starts_with(sign) {
                self.at += sign.len();
                return target;
            }
        }
        if (self.starts_with("<(") || self.starts_with(">(")) && self.depth < DEEPEST {
            self.at += 2;
            self.list(Some(')'));
            word.is_dynamic = true;
            word.reach(start..self.at);
            return Target::File;
        }
        self.at += 1;
        while self
            .next()
            .is_some_and(|c| matches!(c, '>' | '&' | '|' | '<'))
        {
            self.at += 1;
        }
        Target::File
    }

    /// Reads `'…'`. A quote that nobody closes is an apostrophe.
    fn single(&mut self, word: &mut Open) {
        let start = self.at;
        let inner = start + 1;
        match self.text[inner..].find('\'') {
            Some(length) => {
                word.text.push_str(&self.text[inner..inner + length]);
                self.at = inner + length + 1;
                word.is_quoted = true;
                word.reach(start..self.at);
            }
            None => {
                self.at = inner;
                word.push('\'', start..inner);
            }
        }
    }

    /// Reads `"…"`, in which substitutions are run.
    fn double(&mut self, word: &mut Open) {
        let start = self.at;
        if !closes(&self.text[start + 1..]) {
            self.at += 1;
            word.push('"', start..start + 1);
            return;
        }
        self.at += 1;
        word.is_quoted = true;
        while let Some(c) = self.next() {
            let at = self.at;
            match c {
                '"' => {
                    self.at += 1;
                    break;
                }
                '\\' => {
                    self.at += 1;
                    match self.next() {
                        Some('\n') => self.at += 1,
                        Some(escaped) => {
                            if !matches!(escaped, '$' | '`' | '"' | '\\') {
                                word.text.push('\\');
                            }
                            word.text.push(escaped);
                            self.at += escaped.len_utf8();
                        }
                        None => word.text.push('\\'),
                    }
                }
                '$' => self.dollar(word),
                '`' if self.depth < DEEPEST => {
                    self.at += 1;
                    self.list(Some('`'));
                    word.is_dynamic = true;
                }
                c => {
                    self.at += c.len_utf8();
                    word.text.push(c);
                }
            }
            debug_assert!(self.at > at);
        }
        word.reach(start..self.at);
    }

    /// Reads `$name`, `${…}`, `$(…)`, `$'…'`.
    fn dollar(&mut self, word: &mut Open) {
        let start = self.at;
        if self.starts_with("$(") && self.depth < DEEPEST {
            self.at += 2;
            self.list(Some(')'));
            word.is_dynamic = true;
            word.reach(start..self.at);
        } else if self.starts_with("${") {
            let rest = &self.text[start..];
            let length = rest.find('}').map_or(rest.len(), |at| at + 1);
            self.at += length;
            word.text.push_str(&rest[..length]);
            word.is_dynamic = true;
            word.reach(start..self.at);
        } else if self.starts_with("$'") && !word.is_quoted {
            self.at += 1;
            word.reach(start..self.at);
            self.single(word);
        } else {
            self.at += 1;
            let names = |c: char| c.is_alphanumeric() || matches!(c, '_' | '@' | '*' | '?' | '#');
            word.is_dynamic |= self.next().is_some_and(names);
            word.push('$', start..self.at);
        }
    }
}

/// Whether a double quote is closed.
fn closes(rest: &str) -> bool {
    let mut escaped = false;
    rest.bytes().any(|byte| {
        let is_end = byte == b'"' && !escaped;
        escaped = byte == b'\\' && !escaped;
        is_end
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rstest::rstest;

    fn commands(text: &str) -> Vec<Vec<String>> {
        parse(text)
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
        let found = parse("bash -s <<-'END' && b\n\trm -rf x\n\tEND\nc");
        assert_eq!(found.len(), 3);
        let input = found[0].input.as_ref().expect("it has a body");
        assert_eq!(input.text, "\trm -rf x\n");
    }

    proptest! {
        #[test]
        fn anything_is_read_to_its_end_and_places_lie_within(text in "[ -~\\n'\"`$(){}\\\\<>;é表]{0,60}") {
            for simple in parse(&text) {
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
}
