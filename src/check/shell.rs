//! Reads a shell line as a shell would, as far as it matters for what is run: words without their quotes, the simple
//! commands between operators, and those inside `$(…)`, backticks and parentheses. Comments, redirections and the
//! bodies of here-documents are no arguments.
//!
//! It is written here because a splitter of words alone (such as the crate `shlex`, against which it is tested) knows
//! neither operators nor the places that an answer has to name.

mod line;
mod quotes;

use std::ops::Range;

use line::{Line, Open, Target, Waiting};
pub use quotes::unescaped;

/// Deeper nesting is read as plain text.
const DEEPEST: usize = 24;

/// So many bytes of a `${…}` are searched for its end.
const LONGEST_VARIABLE: usize = 1 << 10;

/// A word of a command.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Word {
    /// Without quotes and backslashes.
    pub text: String,
    /// Where it stands.
    pub range: Range<usize>,
    /// Whether its value is known only when it runs: it holds a variable or a substitution.
    pub is_dynamic: bool,
    /// What of it a shell replaces, and where in `text` that stands.
    pub marks: Vec<(usize, Mark)>,
    /// The elements of an array that it assigns: the commands of which they are the words.
    pub elements: Option<Range<usize>>,
}

/// Something in a word that a shell replaces.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Mark {
    /// An unquoted `{`, `,` or `}`.
    Brace(char),
    /// `$name`, `${name}`, `${name[@]}`, `${name:-default}`.
    Variable(Variable),
    /// `$(…)`, backticks: what these commands write. `<(…)` as well, as a file.
    Output {
        commands: Range<usize>,
        is_quoted: bool,
        is_file: bool,
    },
}

/// A variable in a word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Variable {
    /// How many bytes of the text it takes.
    pub length: usize,
    pub name: String,
    /// Whether it holds the name of the one that is meant: `${!name}`.
    pub is_name: bool,
    pub elements: Elements,
    /// What is made of its value.
    pub change: Option<Box<Change>>,
    pub is_quoted: bool,
}

/// Which elements of a variable are meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Elements {
    All,
    /// The one with this number; of what is no array the first is all.
    One(usize),
    /// One that only the run tells.
    Any,
}

/// What is made of the value of a variable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// `${name:-word}`, `${name:=word}`: this where it holds nothing. The second sets it too.
    Default { word: Word, sets: bool },
    /// `${name:+word}`: this where it holds something.
    Instead(Word),
    /// What is not a word of its own: the sign, and what stands behind it.
    Sign(&'static str, String),
}

impl Mark {
    /// The commands whose output is put in.
    pub fn commands(&self) -> Option<Range<usize>> {
        match self {
            Mark::Output { commands, .. } => Some(commands.clone()),
            _ => None,
        }
    }
}

impl Change {
    /// The word in it.
    pub fn word(&self) -> Option<&Word> {
        match self {
            Change::Default { word, .. } | Change::Instead(word) => Some(word),
            Change::Sign(..) => None,
        }
    }
}

/// A simple command.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Simple {
    /// The name and the arguments.
    pub words: Vec<Word>,
    /// What comes on its standard input from a here-document or here-string.
    pub input: Option<Box<Word>>,
    /// The commands whose output it reads.
    pub piped_from: Range<usize>,
    /// Whether it runs only where what stands before it went well, or did not.
    pub is_conditional: bool,
    /// Whether it runs in a shell of its own, so that what it sets is not set behind it.
    pub is_apart: bool,
    /// Whether it only begins a function: `name()`.
    pub is_function: bool,
    /// How deep it is nested.
    pub depth: usize,
    /// Whether its words are the elements of an array, and nothing is run.
    pub is_data: bool,
    /// Whether its output goes to a file.
    pub writes: bool,
    /// The file, where it is the command's own.
    pub target: Option<Box<str>>,
    /// Where it begins and ends.
    pub range: Range<usize>,
}

/// What a script holds.
#[derive(Debug, Default)]
pub struct Parsed {
    /// Its simple commands, the inner ones before the one that they stand in.
    pub commands: Vec<Simple>,
    /// Its comments, in order.
    pub comments: Vec<Range<usize>>,
    /// Whether nothing was nested too deep to be read.
    pub is_whole: bool,
}

/// The simple commands of a script.
pub fn parse(text: &str) -> Parsed {
    let mut reader = Reader {
        text,
        at: 0,
        depth: 0,
        is_whole: true,
        found: Vec::new(),
        comments: Vec::new(),
        waiting: Vec::new(),
        documents: Vec::new(),
        readers: Vec::new(),
    };
    reader.list(None, 0..0, false);
    reader.hand_out_documents();
    Parsed {
        commands: reader.found,
        comments: reader.comments,
        is_whole: reader.is_whole,
    }
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
    depth: usize,
    is_whole: bool,
    found: Vec<Simple>,
    comments: Vec<Range<usize>>,
    /// The here-documents that were announced and whose bodies are to come, at whatever depth.
    waiting: Vec<Waiting>,
    /// The bodies that were read.
    documents: Vec<Option<Word>>,
    /// Commands and groups, and the documents that they read.
    readers: Vec<(Range<usize>, usize)>,
}

impl Reader<'_> {
    fn next(&self) -> Option<char> {
        self.text[self.at..].chars().next()
    }

    fn starts_with(&self, what: &str) -> bool {
        self.text[self.at..].starts_with(what)
    }

    /// Whether something may be nested here; that it may not is remembered.
    fn may_nest(&mut self) -> bool {
        self.is_whole &= self.depth < DEEPEST;
        self.depth < DEEPEST
    }

    /// Reads commands up to `close` (`)` or a backtick), or to the end; the first of them reads what `piped_from` writes.
    /// Gives which commands they are.
    fn list(
        &mut self,
        close: Option<char>,
        piped_from: Range<usize>,
        is_apart: bool,
    ) -> Range<usize> {
        self.depth += 1;
        let first = self.found.len();
        let mut line = Line::new(piped_from, is_apart, first);
        while let Some(c) = self.next() {
            if Some(c) == close {
                self.at += c.len_utf8();
                break;
            }
            self.part(c, &mut line);
        }
        self.end_word(&mut line);
        self.end_command(&mut line);
        self.depth -= 1;
        first..self.found.len()
    }

    /// Reads what begins with a character.
    fn part(&mut self, c: char, line: &mut Line) {
        let start = self.at;
        let after = start + c.len_utf8();
        match c {
            '\\' => self.backslash(&mut line.word),
            '\'' => self.single(&mut line.word),
            '"' => self.double(&mut line.word),
            '$' => self.dollar(&mut line.word, false),
            // PowerShell goes on with the next line.
            '`' if !line.word.has_begun && self.text[after..].starts_with(['\n', '\r']) => {
                self.at = after;
                self.skip_line_end();
            }
            '`' if self.text[after..].contains('`') && self.may_nest() => {
                self.at = after;
                self.output(Some('`'), &mut line.word, false, false);
                line.word.reach(start..self.at);
            }
            '<' | '>' => self.redirected(line),
            '&' if self.text[after..].starts_with('>') => {
                self.end_word(line);
                self.at = after;
                line.target = Some(self.redirection(&mut line.word));
            }
            '\n' => {
                self.at = after;
                self.end_word(line);
                if self.end_command(line) {
                    line.simple.is_conditional = false;
                }
                line.target = None;
                self.bodies();
            }
            ';' | '&' | '|' | ')' => self.operator(c, line),
            '(' if line.word.has_begun && line.word.assigns() && self.may_nest() => {
                self.at = after;
                self.elements(&mut line.word);
                line.word.reach(start..self.at);
            }
            '(' if self.may_nest() => {
                self.at = after;
                self.group(line);
            }
            '{' | ',' | '}' => {
                self.at = after;
                line.word.mark(Mark::Brace(c));
                line.word.push(c, start..after);
            }
            '#' if !line.word.has_begun => {
                let rest = &self.text[self.at..];
                self.at += rest.find('\n').unwrap_or(rest.len());
                self.comments.push(start..self.at);
            }
            c if c.is_whitespace() => {
                self.at = after;
                self.end_word(line);
            }
            c => {
                self.at = after;
                line.word.push(c, start..after);
            }
        }
    }

    /// Reads a backslash and what it makes plain.
    fn backslash(&mut self, word: &mut Open) {
        let start = self.at;
        self.at += 1;
        match self.next() {
            _ if self.skip_line_end() => {}
            Some(escaped) => {
                self.at += escaped.len_utf8();
                word.is_quoted = true;
                word.push(escaped, start..self.at);
            }
            None => word.push('\\', start..self.at),
        }
    }

    /// Reads `<` or `>`, and ends the word before it.
    fn redirected(&mut self, line: &mut Line) {
        let word = &line.word;
        if word.has_begun && !word.is_quoted && word.text.bytes().all(|byte| byte.is_ascii_digit())
        {
            // `2>`: the number of a stream.
            line.word = Open::default();
        }
        self.end_word(line);
        let is_read = line.target == Some(Target::File);
        line.target = Some(self.redirection(&mut line.word));
        if !line.word.has_begun {
            return;
        }
        // `<(…)` is a word itself; in `< <(…)` what it writes is read.
        line.target = is_read.then_some(Target::HereString);
        if let Some((
            _,
            Mark::Output {
                is_quoted, is_file, ..
            },
        )) = line.word.marks.last_mut()
        {
            (*is_quoted, *is_file) = (true, !is_read);
        }
    }

    /// Reads what stands between commands.
    fn operator(&mut self, c: char, line: &mut Line) {
        self.at += 1;
        let is_twice = matches!(c, '&' | '|') && self.text[self.at..].starts_with(c);
        self.at += usize::from(is_twice);
        self.end_word(line);
        let has_ended = self.end_command(line);
        line.target = None;
        line.simple.is_conditional = is_twice;
        if c == '|' && !is_twice {
            // `|&` takes what goes wrong along.
            self.at += usize::from(self.text[self.at..].starts_with('&'));
            line.simple.piped_from = line.last.clone();
        } else if has_ended || c != ')' {
            line.simple.piped_from = 0..0;
        }
    }

    /// Reads the elements of an array.
    fn elements(&mut self, word: &mut Open) {
        let elements = self.list(Some(')'), 0..0, true);
        let depth = self.depth + 1;
        for one in &mut self.found[elements.clone()] {
            one.is_data |= one.depth == depth;
        }
        word.elements = Some(elements);
    }

    /// Reads commands in parentheses; behind a name they are none, and it begins a function.
    fn group(&mut self, line: &mut Line) {
        self.end_word(line);
        line.simple.is_function = (1..3).contains(&line.simple.words.len())
            && self.text[self.at..].trim_start().starts_with(')');
        let piped_from = line.simple.piped_from.clone();
        self.end_command(line);
        line.target = None;
        let group = self.list(Some(')'), piped_from, true);
        line.last = group.clone();
        line.group = Some(group);
    }

    /// Passes over the end of a line behind a backslash.
    fn skip_line_end(&mut self) -> bool {
        let length = ["\n", "\r\n"]
            .into_iter()
            .find(|end| self.starts_with(end))
            .map_or(0, str::len);
        self.at += length;
        length > 0
    }

    /// Reads commands whose output becomes part of a word.
    fn output(&mut self, close: Option<char>, word: &mut Open, is_quoted: bool, is_file: bool) {
        let commands = self.list(close, 0..0, true);
        word.mark(Mark::Output {
            commands,
            is_quoted,
            is_file,
        });
        word.is_dynamic = true;
    }

    fn end_word(&mut self, line: &mut Line) {
        if !line.word.has_begun {
            return;
        }
        let word = std::mem::take(&mut line.word);
        let is_literal = word.is_quoted;
        let word = Word {
            text: word.text,
            range: word.start..word.end,
            is_dynamic: word.is_dynamic,
            // A brace alone is a word of the shell.
            marks: if word.end - word.start == 1 {
                Vec::new()
            } else {
                word.marks
            },
            elements: word.elements,
        };
        let simple = &mut line.simple;
        if simple.words.is_empty() && simple.input.is_none() {
            simple.range.start = word.range.start;
        }
        simple.range.end = word.range.end;
        match line.target.take() {
            None => simple.words.push(word),
            Some(Target::File) => {}
            Some(Target::Out) => {
                // Another stream, or nowhere.
                let is_stream = word.text.bytes().all(|byte| byte.is_ascii_digit())
                    || matches!(
                        word.text.as_str(),
                        "-" | "/dev/null" | "/dev/stdout" | "/dev/stderr"
                    );
                if !is_stream {
                    simple.writes = true;
                    simple.target = Some(word.text.into());
                }
            }
            Some(Target::HereString) => simple.input = Some(Box::new(word)),
            Some(Target::HereDocument { strip_tabs }) => {
                let document = self.documents.len();
                self.documents.push(None);
                self.waiting.push(Waiting {
                    delimiter: word.text,
                    strip_tabs,
                    is_literal,
                    document,
                });
                line.document = Some(document);
            }
        }
    }

    /// Keeps the command that ends here, if there is one. What is redirected behind a group is redirected for all of it.
    fn end_command(&mut self, line: &mut Line) -> bool {
        let group = line.group.take();
        let document = line.document.take();
        if line.simple.words.is_empty() {
            if let Some(group) = group {
                if std::mem::take(&mut line.simple.writes) {
                    for one in &mut self.found[group.clone()] {
                        one.writes = true;
                    }
                }
                self.readers
                    .extend(document.map(|document| (group, document)));
            }
            return false;
        }
        let mut simple = line.next();
        simple.depth = self.depth;
        line.last = self.found.len()..self.found.len() + 1;
        self.readers
            .extend(document.map(|document| (line.last.clone(), document)));
        self.found.push(simple);
        true
    }

    /// Reads the bodies of the here-documents that the line before has announced.
    fn bodies(&mut self) {
        for body in std::mem::take(&mut self.waiting) {
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
            self.documents[body.document] = Some(Word {
                text: self.text[start..end].to_owned(),
                range: start..end,
                ..Word::default()
            });
            if !body.is_literal {
                self.substitutions(start..end);
            }
        }
    }

    /// Reads the commands whose output is put into a part of the text that is otherwise only data.
    fn substitutions(&mut self, part: Range<usize>) {
        let (text, at) = (self.text, self.at);
        self.text = &text[..part.end];
        self.at = part.start;
        while let Some(c) = self.next() {
            let is_command = self.starts_with("$(");
            let is_quoted = c == '`' && self.text[self.at + 1..].contains('`');
            if (is_command || is_quoted) && self.may_nest() {
                self.at += if is_command { 2 } else { 1 };
                self.list(Some(if is_command { ')' } else { '`' }), 0..0, true);
                continue;
            }
            self.at += c.len_utf8();
            if c == '\\' {
                self.at += self.next().map_or(0, char::len_utf8);
            }
        }
        (self.text, self.at) = (text, at);
    }

    /// Gives each command the here-document that it reads; of a group the last one that has nothing else to read.
    fn hand_out_documents(&mut self) {
        for (of, document) in std::mem::take(&mut self.readers) {
            let is_alone = of.len() == 1;
            let mut commands = self.found[of].iter_mut().rev();
            let reader = commands
                .find(|simple| is_alone || simple.piped_from.is_empty() && simple.input.is_none());
            if let Some(simple) = reader
                && let Some(body) = self.documents[document].take()
            {
                simple.input = Some(Box::new(body));
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
        if (self.starts_with("<(") || self.starts_with(">(")) && self.may_nest() {
            self.at += 2;
            self.output(Some(')'), word, true, true);
            word.reach(start..self.at);
            return Target::File;
        }
        let mut writes = self.starts_with(">");
        self.at += 1;
        while let Some(c @ ('>' | '&' | '|' | '<')) = self.next() {
            writes |= c == '>';
            self.at += 1;
        }
        if writes { Target::Out } else { Target::File }
    }
}

#[cfg(test)]
mod tests;
