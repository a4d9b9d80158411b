//! A pattern as it is attached to an entry: the name of a detector, or a regular expression. What is refused is refused
//! when it is attached; what another program wrote is reported, and never fails a check.

use std::fmt;
use std::ops::Range;

use memchr::memmem;
use regex_lite::{Regex, RegexBuilder};

use super::detector::{Bounds, Detector, Seen, first_done, first_sure};
use super::git::Branches;
use super::matter::{Kind, Matter};
use super::spelled::Spelled;
use crate::redact;

/// The longest pattern, in bytes.
const LONGEST: usize = 1_000;
/// The most patterns that an entry has.
pub const MOST_PATTERNS: usize = 16;
/// The most memory that a compiled expression takes: what it takes is also what each character costs.
const LARGEST: usize = 1 << 16;
/// So many matches in a command are looked at, where the first ones are only looked for.
const MOST_MATCHES: usize = 8;

/// Says why a pattern is refused, and what to try.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct PatternError {
    /// What is wrong with it.
    pub message: String,
    /// What to try.
    pub hint: String,
}

fn refused(message: impl Into<String>, hint: impl Into<String>) -> PatternError {
    PatternError {
        message: message.into(),
        hint: hint.into(),
    }
}

impl PatternError {
    /// Says that an expression takes too long on a text.
    pub(super) fn slow(text: &str, bytes: usize) -> Self {
        refused(
            format!(
                "`{text}` takes too long on a text of {bytes} bytes and was not looked for in all of it"
            ),
            match text.starts_with('@') {
                true => "check the text in parts",
                false => "check the text in parts, or make the expression smaller",
            },
        )
    }
}

/// A pattern, ready to look.
#[derive(Debug)]
pub enum Pattern {
    /// A detector, and the branches that it was given.
    Detector(Detector, Option<Branches>),
    /// A regular expression.
    Regex(Box<Expression>),
}

/// A regular expression, and a text that must stand in whatever it matches.
#[derive(Debug)]
pub struct Expression {
    regex: Regex,
    needs: Option<Needle>,
    /// How many states it has at most: so many steps a byte of the text may take.
    states: u64,
}

fn compiled(text: &str, limit: usize) -> Result<Regex, regex_lite::Error> {
    RegexBuilder::new(text)
        .multi_line(true)
        .crlf(true)
        .size_limit(limit)
        .nest_limit(50)
        .build()
}

/// How many states an expression has at most: two for each of its signs. Where it counts repetitions, the memory that it
/// takes tells.
fn states_of(text: &str) -> u64 {
    const A_STATE: usize = 32;
    if !text.contains('{') {
        return 2 * text.len() as u64 + 8;
    }
    let smaller = [LARGEST >> 6, LARGEST >> 4, LARGEST >> 2];
    let fits = |limit: &usize| compiled(text, *limit).is_ok();
    let size = smaller.into_iter().find(fits).unwrap_or(LARGEST);
    (size / A_STATE) as u64
}

/// What must stand in a match.
#[derive(Debug, PartialEq, Eq)]
struct Needle {
    text: String,
    ignores_case: bool,
}

impl Pattern {
    /// Reads a stored pattern.
    ///
    /// # Errors
    /// A detector that is not known, an expression that is none, or that is too large.
    pub fn parse(text: &str) -> Result<Self, PatternError> {
        if let Some(name) = text.strip_prefix('@') {
            let (name, given) = match name.split_once(':') {
                Some((name, given)) => (name, Some(given)),
                None => (name, None),
            };
            let detector = Detector::named(name).ok_or_else(|| no_such_detector(name))?;
            let branches = match (detector, given) {
                (_, None) => None,
                (Detector::ForcePush | Detector::Push, Some(names)) if !names.trim().is_empty() => {
                    Some(Branches::listed(names))
                }
                _ => {
                    return Err(refused(
                        format!("`{text}` has something behind the name that is not understood"),
                        "only the pushes take more: @force-push:main,release/* or @push:main",
                    ));
                }
            };
            return Ok(Pattern::Detector(detector, branches));
        }
        if text.len() > LONGEST {
            return Err(refused(
                format!(
                    "the pattern has {} bytes; {LONGEST} is the most",
                    text.len()
                ),
                "several shorter ones do the same: --pattern A --pattern B",
            ));
        }
        let regex = compiled(text, LARGEST)
            .map_err(|error| {
                refused(
                    format!("`{text}` is not a regular expression that can be used: {error}"),
                    "put a backslash before . * + ? ( ) [ ] { } | ^ $ that stand for themselves; look-around and \
                     back-references are not known",
                )
            })?;
        if regex.is_match("") {
            return Err(refused(
                format!("`{text}` matches an empty text, so it would forbid everything"),
                "say what must be there: `x+` instead of `x*`",
            ));
        }
        Ok(Pattern::Regex(Box::new(Expression {
            needs: needle(text),
            states: states_of(text),
            regex,
        })))
    }

    /// The first thing that it finds. `bounds` are those of the item that it belongs to.
    pub(super) fn find(&self, matter: &Matter<'_>, bounds: &Bounds) -> Option<Seen> {
        match self {
            Pattern::Detector(detector, None) => detector.find(matter, bounds),
            Pattern::Detector(detector, Some(branches)) => {
                let bounds = Bounds {
                    branches: branches.clone(),
                    ..bounds.clone()
                };
                detector.find(matter, &bounds)
            }
            Pattern::Regex(expression) => expression.find(matter, bounds),
        }
    }

    /// The most steps that looking for it once takes, where it is an expression.
    pub(super) fn work(&self, matter: &Matter<'_>) -> u64 {
        match self {
            Pattern::Detector(..) => 0,
            Pattern::Regex(expression) => expression.work(matter),
        }
    }

    /// The detector, where it is one.
    pub fn detector(&self) -> Option<Detector> {
        match self {
            Pattern::Detector(detector, _) => Some(*detector),
            Pattern::Regex(_) => None,
        }
    }
}

impl Expression {
    fn find(&self, matter: &Matter<'_>, bounds: &Bounds) -> Option<Seen> {
        let in_text = || {
            let all = self.regex.find_iter(&matter.text).take(MOST_MATCHES);
            let all = all.map(|found| {
                let range = found.range();
                let is_sure = bounds.reading || is_acted_on(matter, &range);
                Seen::new(range, is_sure)
            });
            first_done(all, MOST_MATCHES)
        };
        let in_text = self.may_be_in(matter).then(in_text).flatten();
        let is_sure = in_text.as_ref().is_some_and(|seen| seen.is_sure);
        let spelled = (!is_sure).then(|| self.in_a_program(matter)).flatten();
        let found = first_sure(in_text.into_iter().chain(spelled));
        found.or_else(|| {
            let path = self.path(matter)?;
            Some(Seen {
                path: Some(path),
                ..Seen::new(0..0, true)
            })
        })
    }

    /// What it says of a program that is run, however that is written: `npm  install`, `"npm" install`.
    fn in_a_program(&self, matter: &Matter<'_>) -> Option<Seen> {
        first_sure(self.spelled(matter).filter_map(|spelled| {
            let found = self.regex.find(&spelled.text)?;
            // What stands in an argument is found where it is written.
            let is_of_program = found.start() < spelled.name;
            is_of_program.then(|| Seen::new(spelled.range.clone(), spelled.is_sure))
        }))
    }

    /// The programs that it may be in.
    fn spelled<'m>(&'m self, matter: &'m Matter<'_>) -> impl Iterator<Item = &'m Spelled> {
        let is_command = matter.kind == Kind::Command;
        let all = if is_command { matter.spelled() } else { &[] };
        all.iter().filter(|spelled| match &self.needs {
            Some(needle) if needle.ignores_case => {
                spelled.text.to_ascii_lowercase().contains(&needle.text)
            }
            Some(needle) => spelled.text.contains(&needle.text),
            None => true,
        })
    }

    /// The file that is written to and whose path or name it matches.
    fn path(&self, matter: &Matter<'_>) -> Option<String> {
        let matches = |path: &&&str| {
            let name = path.rsplit(['/', '\\']).next().unwrap_or_default();
            self.regex.is_match(path)
                || self.regex.is_match(name)
                || path.contains('\\') && self.regex.is_match(&path.replace('\\', "/"))
        };
        matter
            .paths
            .iter()
            .find(matches)
            .map(|path| (*path).to_owned())
    }

    fn may_be_in(&self, matter: &Matter<'_>) -> bool {
        let Some(needle) = &self.needs else {
            return true;
        };
        let text = if needle.ignores_case {
            matter.lower()
        } else {
            &matter.text
        };
        memmem::find(text.as_bytes(), needle.text.as_bytes()).is_some()
    }

    /// How many steps it takes at most.
    fn work(&self, matter: &Matter<'_>) -> u64 {
        let names = matter.paths.iter().map(|path| path.len()).sum::<usize>();
        let text = if self.may_be_in(matter) {
            matter.text.len()
        } else {
            0
        };
        let times = match matter.kind {
            Kind::Command => MOST_MATCHES,
            Kind::Text | Kind::Edit => 1,
        };
        let spelled = self.spelled(matter).map(|spelled| spelled.text.len());
        ((names + text) as u64)
            .saturating_mul(times as u64)
            .saturating_add(spelled.sum::<usize>() as u64)
            .saturating_mul(self.states)
    }
}

/// Whether something is done with what stands at a place of a command, and it is not only looked for or taken away. What a
/// pattern says of the program itself is done.
fn is_acted_on(matter: &Matter<'_>, range: &Range<usize>) -> bool {
    matter.kind != Kind::Command || matter.is_done(range) || !matter.is_given(range)
}

fn no_such_detector(name: &str) -> PatternError {
    let known: Vec<String> = Detector::ALL
        .iter()
        .map(|detector| format!("@{}", detector.name()))
        .collect();
    let near = Detector::ALL
        .iter()
        .map(|detector| (strsim::damerau_levenshtein(name, detector.name()), detector))
        .min_by_key(|(distance, _)| *distance)
        .filter(|(distance, _)| *distance <= 3);
    let meant = near.map_or_else(String::new, |(_, detector)| {
        format!("did you mean @{}? ", detector.name())
    });
    refused(
        format!("`@{name}` is no detector"),
        format!(
            "{meant}there are {}; an expression that begins with @ is written [@]…",
            known.join(", ")
        ),
    )
}

/// What was typed as patterns, as it is stored, and what to say about it.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Typed {
    /// As they are stored.
    pub patterns: Vec<String>,
    /// Detectors that were named without an `@`.
    pub bare: Vec<Detector>,
}

impl Typed {
    /// Reads what was typed; empty ones are left out. The bare name of a detector is that detector.
    ///
    /// # Errors
    /// What [`Pattern::parse`] refuses, one that holds a secret, too many.
    pub fn read<'t>(typed: impl IntoIterator<Item = &'t str>) -> Result<Self, PatternError> {
        let mut read = Typed::default();
        for text in typed {
            let text = text.trim();
            if text.is_empty() {
                continue;
            }
            let stored = match Detector::named(text) {
                Some(detector) => {
                    read.bare.push(detector);
                    format!("@{text}")
                }
                None => text.to_owned(),
            };
            if stored.contains(['\n', '\r']) {
                return Err(refused(
                    "a pattern is one line",
                    "a line end is written \\n, and several patterns are given one by one",
                ));
            }
            if !redact::find(&stored).is_empty() {
                return Err(refused(
                    "the pattern holds what looks like a secret; aizo stores none",
                    "@secret finds secrets by their form; else describe it by classes: key-[a-z0-9]+",
                ));
            }
            Pattern::parse(&stored)?;
            if !read.patterns.contains(&stored) {
                read.patterns.push(stored);
            }
        }
        if read.patterns.len() > MOST_PATTERNS {
            return Err(refused(
                format!(
                    "{} patterns; {MOST_PATTERNS} is the most that an entry has",
                    read.patterns.len()
                ),
                "join some by |",
            ));
        }
        Ok(read)
    }
}

impl fmt::Display for Typed {
    /// As a reply says it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.patterns.join("  "))
    }
}

/// The longest text that must stand in whatever an expression matches; none where that is not plain to see. It makes no
/// difference to what is found: looking for it is only faster.
fn needle(pattern: &str) -> Option<Needle> {
    let (rest, ignores_case) = match pattern.strip_prefix("(?i)") {
        Some(rest) => (rest, true),
        None => (pattern, false),
    };
    if rest.contains("(?") || ignores_case && !rest.is_ascii() {
        return None;
    }
    let mut best = String::new();
    let mut run = String::new();
    let keep = |run: &mut String, best: &mut String| {
        if run.len() > best.len() {
            best.clone_from(run);
        }
        run.clear();
    };
    let mut characters = rest.chars().peekable();
    while let Some(c) = characters.next() {
        match c {
            '|' => return None,
            '(' => {
                keep(&mut run, &mut best);
                let mut depth = 1;
                while depth > 0 {
                    match characters.next()? {
                        '\\' => drop(characters.next()),
                        '(' => depth += 1,
                        ')' => depth -= 1,
                        // A bracket may hide a parenthesis.
                        '[' => return None,
                        _ => {}
                    }
                }
            }
            '[' => {
                keep(&mut run, &mut best);
                if characters.peek() == Some(&'^') {
                    characters.next();
                }
                let mut is_first = true;
                loop {
                    match characters.next()? {
                        '\\' => drop(characters.next()),
                        '[' => return None,
                        ']' if !is_first => break,
                        _ => {}
                    }
                    is_first = false;
                }
            }
            '?' | '*' => {
                run.pop();
                keep(&mut run, &mut best);
            }
            '{' => {
                run.pop();
                keep(&mut run, &mut best);
                while characters.next()? != '}' {}
            }
            '+' | '.' | '^' | '$' => keep(&mut run, &mut best),
            '\\' => match characters.next()? {
                'x' | 'u' | 'U' | 'p' | 'P' => return None,
                'b' | 'B' if characters.peek() == Some(&'{') => return None,
                escaped if escaped.is_ascii_alphanumeric() => keep(&mut run, &mut best),
                '<' | '>' => keep(&mut run, &mut best),
                escaped => run.push(escaped),
            },
            c => run.push(c),
        }
    }
    keep(&mut run, &mut best);
    finish(best, ignores_case)
}

fn finish(best: String, ignores_case: bool) -> Option<Needle> {
    const SHORTEST: usize = 2;
    (best.len() >= SHORTEST).then(|| Needle {
        text: if ignores_case {
            best.to_ascii_lowercase()
        } else {
            best
        },
        ignores_case,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::matter::Input;
    use proptest::prelude::*;
    use rstest::rstest;

    fn finds(pattern: &str, text: &str) -> Option<String> {
        let matter = Matter::new(&Input::text(text));
        let seen = Pattern::parse(pattern)
            .expect("a pattern")
            .find(&matter, &Bounds::default())?;
        Some(text[seen.range].to_owned())
    }

    #[rstest]
    #[case(r"\bTODO\b", "a TODO here", Some("TODO"))]
    #[case(r"\bTODO\b", "TODOS", None)]
    #[case("(?i)lorem ipsum", "Lorem Ipsum", Some("Lorem Ipsum"))]
    #[case("^rm ", "cd x\nrm y", Some("rm "))]
    #[case("^rm ", "cd x\r\nrm y", Some("rm "))]
    #[case("x$", "a x\r\nb", Some("x"))]
    #[case("x.*y", "x\r\ny", None)]
    #[case("console\\.log", "x; console.log(1)", Some("console.log"))]
    #[case("[表情]{2}", "不要用表情", Some("表情"))]
    #[case("@everyone|@here", "hi @here", None)]
    #[case("[@](everyone|here)", "hi @here", Some("@here"))]
    fn an_expression_finds(#[case] pattern: &str, #[case] text: &str, #[case] found: Option<&str>) {
        if pattern.starts_with('@') {
            assert!(Pattern::parse(pattern).is_err());
        } else {
            assert_eq!(finds(pattern, text).as_deref(), found);
        }
    }

    #[rstest]
    #[case("(", "not a regular expression")]
    #[case("a**b(", "not a regular expression")]
    #[case("(?=x)y", "not a regular expression")]
    #[case(r"(a)\1", "not a regular expression")]
    #[case("a*", "empty text")]
    #[case("^", "empty text")]
    #[case("x|", "empty text")]
    #[case(r"(\w{1000}){1000}", "not a regular expression")]
    #[case("@force", "no detector")]
    #[case("@emoji:x", "not understood")]
    #[case("@force-push:", "not understood")]
    #[case("@", "no detector")]
    fn what_cannot_be_used_is_refused_with_a_hint(#[case] pattern: &str, #[case] message: &str) {
        let error = Pattern::parse(pattern).expect_err("it is refused");
        assert!(error.message.contains(message), "{error:?}");
        assert!(!error.hint.is_empty());
    }

    #[test]
    fn typed_patterns_become_stored_ones() {
        let typed =
            Typed::read([" force-push ", "@emoji", "a,b", "", "a,b"]).expect("they are fine");
        assert_eq!(typed.patterns, ["@force-push", "@emoji", "a,b"]);
        assert_eq!(typed.bare, [Detector::ForcePush]);
        let long = "x".repeat(LONGEST + 1);
        assert!(Typed::read([long.as_str()]).is_err());
        assert!(Typed::read(["a\nb"]).is_err());
        let many: Vec<String> = (0..=MOST_PATTERNS)
            .map(|number| format!("p{number}"))
            .collect();
        assert!(Typed::read(many.iter().map(String::as_str)).is_err());
        let error = Pattern::parse("@emojis").expect_err("it is no detector");
        assert!(error.hint.contains("did you mean @emoji?"), "{error:?}");
    }

    #[rstest]
    #[case("git push", Some("git push"))]
    #[case("(?i)Git PUSH", Some("git push"))]
    #[case("colou?r", Some("colo"))]
    #[case("ab+c", Some("ab"))]
    #[case("a|b", None)]
    #[case("(foo|bar)bazz", Some("bazz"))]
    #[case(r"foo\.bar\d", Some("foo.bar"))]
    #[case(r"\x41bcd", None)]
    #[case("[abc]+xyz", Some("xyz"))]
    #[case("xy{2}zz", Some("zz"))]
    #[case("(?s)ab", None)]
    #[case("a", None)]
    fn what_must_stand_in_a_match(#[case] pattern: &str, #[case] text: Option<&str>) {
        assert_eq!(needle(pattern).map(|needle| needle.text).as_deref(), text);
    }

    proptest! {
        #[test]
        fn looking_for_a_needle_first_changes_nothing(
            pattern in "(\\(\\?i\\))?([ab]{1,3}|[ab][?*+]|\\(ab?\\)|\\[ab\\]|\\\\.|a\\{2\\}|\\|){1,5}",
            text in "[abAB.]{0,20}",
        ) {
            if let (Ok(regex), Some(needle)) = (Regex::new(&pattern), needle(&pattern))
                && regex.is_match(&text)
            {
                let text = if needle.ignores_case { text.to_ascii_lowercase() } else { text };
                prop_assert!(text.contains(&needle.text), "{pattern} {needle:?} {text}");
            }
        }
    }
}
