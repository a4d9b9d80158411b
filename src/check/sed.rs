//! What the script of `sed` holds: what it writes in place of what it finds, and what it runs.

use super::shell::Word;

/// The texts that the scripts of `sed` add; none where that is not plain to see.
pub fn added_by(arguments: &[Word]) -> Option<String> {
    let scripts = Scripts::among(arguments);
    let mut added = String::new();
    if scripts.has_file || scripts.texts.is_empty() {
        return None;
    }
    for script in scripts.texts {
        read(script, &mut added)?;
    }
    Some(added)
}

/// What a script runs.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Run {
    /// Lines of a shell, and whether each is run for certain.
    pub lines: Vec<(String, bool)>,
    /// Whether the lines that it reads are run.
    pub takes_input: bool,
    /// What is not followed, in which commands may stand.
    pub rest: Option<String>,
}

/// What the scripts of `sed` run.
pub fn run_by(arguments: &[Word]) -> Run {
    let mut run = Run::default();
    for script in Scripts::among(arguments).texts {
        run.read(script);
    }
    run
}

impl Run {
    /// Reads a script, as far as it is followed.
    fn read(&mut self, script: &str) {
        let mut rest = script;
        loop {
            rest = rest.trim_start_matches([' ', '\t', '\n', ';', '{', '}']);
            if rest.is_empty() {
                return;
            }
            let Some(behind) = self.command(rest) else {
                self.rest = Some(rest.to_owned());
                return;
            };
            rest = behind;
        }
    }

    /// Reads a command, and gives what follows it.
    fn command<'t>(&mut self, text: &'t str) -> Option<&'t str> {
        let rest = without_addresses(text)?;
        let is_always = !text[..text.len() - rest.len()].contains('/');
        let command = rest.chars().next()?;
        let rest = &rest[command.len_utf8()..];
        let (line, behind) = rest.split_once('\n').unwrap_or((rest, ""));
        Some(match command {
            's' | 'y' => {
                let sign = rest.chars().next().filter(|sign| !sign.is_alphanumeric())?;
                let rest = until(&rest[sign.len_utf8()..], sign)?.1;
                let (replacement, flags) = until(rest, sign)?;
                let end = flags.find(|c: char| !c.is_ascii_alphanumeric());
                let (flags, rest) = flags.split_at(end.unwrap_or(flags.len()));
                if command == 's' && flags.contains('e') {
                    self.lines.push((replacement.to_owned(), false));
                }
                match flags.contains('w') {
                    true => rest.split_once('\n').map_or("", |(_, behind)| behind),
                    false => rest,
                }
            }
            'e' => {
                match line.trim() {
                    "" => self.takes_input = true,
                    line => self.lines.push((line.to_owned(), is_always)),
                }
                behind
            }
            'a' | 'i' | 'c' => text_end(rest),
            'r' | 'R' | 'w' | 'W' | '#' => behind,
            ':' | 'b' | 't' | 'T' | 'v' => {
                let end = rest.find([';', '\n', '}']).unwrap_or(rest.len());
                &rest[end..]
            }
            'q' | 'Q' | 'l' | 'L' => {
                rest.trim_start_matches(|c: char| c == ' ' || c.is_ascii_digit())
            }
            'd' | 'D' | 'p' | 'P' | 'n' | 'N' | 'g' | 'G' | 'h' | 'H' | 'x' | 'z' | 'F' | '{'
            | '}' | '=' => rest,
            _ => return None,
        })
    }
}

/// What follows a text that is added; a backslash takes the end of a line along.
fn text_end(text: &str) -> &str {
    let mut lines = text.split_inclusive('\n');
    let mut length = 0;
    for line in lines.by_ref() {
        length += line.len();
        if !line.trim_end_matches('\n').ends_with('\\') {
            break;
        }
    }
    &text[length..]
}

/// The scripts among the words of `sed`.
#[derive(Default)]
struct Scripts<'w> {
    texts: Vec<&'w str>,
    /// Whether one comes from a file.
    has_file: bool,
}

impl<'w> Scripts<'w> {
    fn among(arguments: &'w [Word]) -> Self {
        let mut scripts = Scripts::default();
        let mut first = None;
        let mut words = arguments.iter().map(|word| word.text.as_str());
        while let Some(text) = words.next() {
            if let Some(option) = text.strip_prefix('-').filter(|option| !option.is_empty()) {
                match script_of(option, &mut words) {
                    Some(script) => scripts.texts.extend(script),
                    None => scripts.has_file = true,
                }
            } else if !text.is_empty() {
                // An empty word is what BSD's `-i` takes.
                first = first.or(Some(text));
            }
        }
        if scripts.texts.is_empty() && !scripts.has_file {
            scripts.texts.extend(first);
        }
        scripts
    }
}

/// The script that an option gives, if it gives one; none where it comes from a file.
fn script_of<'w>(
    option: &'w str,
    words: &mut impl Iterator<Item = &'w str>,
) -> Option<Option<&'w str>> {
    if let Some(long) = option.strip_prefix('-') {
        let (name, value) = match long.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (long, None),
        };
        return match name {
            "expression" => value.or_else(|| words.next()).map(Some),
            "file" => None,
            _ => Some(None),
        };
    }
    for (at, letter) in option.char_indices() {
        match letter {
            'e' if at + 1 < option.len() => return Some(Some(&option[at + 1..])),
            'e' => return words.next().map(Some),
            'f' => return None,
            // The rest is the ending of a copy.
            'i' => return Some(None),
            _ => {}
        }
    }
    Some(None)
}

/// Reads a script, as long as its commands are those that are known here.
fn read(script: &str, added: &mut String) -> Option<()> {
    let mut rest = script;
    loop {
        rest = rest.trim_start_matches([' ', '\t', '\n', ';']);
        if rest.is_empty() {
            return Some(());
        }
        rest = without_addresses(rest)?;
        let command = rest.chars().next()?;
        rest = &rest[command.len_utf8()..];
        match command {
            's' => {
                let sign = rest.chars().next().filter(|sign| !sign.is_alphanumeric())?;
                rest = until(&rest[sign.len_utf8()..], sign)?.1;
                let (replacement, flags) = until(rest, sign)?;
                added.push_str(replacement);
                added.push('\n');
                let end = flags.find([';', '\n', ' ', '}']).unwrap_or(flags.len());
                // `e` runs what comes out, and `w` writes it somewhere.
                if flags[..end].contains(['e', 'w']) {
                    return None;
                }
                rest = &flags[end..];
            }
            'd' | 'D' | 'p' | 'P' | 'q' | 'n' | 'N' | 'g' | 'G' | 'h' | 'H' | 'x' | '=' => {}
            _ => return None,
        }
    }
}

/// What follows the lines that a command is for: `3`, `$`, `/x/`, `/x/,/y/`, `2!`.
fn without_addresses(text: &str) -> Option<&str> {
    let mut rest = text;
    loop {
        rest = rest.trim_start_matches(|c: char| {
            c.is_ascii_digit() || matches!(c, '$' | ',' | '!' | '~' | '+' | ' ')
        });
        let Some(after) = rest.strip_prefix('/') else {
            return Some(rest);
        };
        rest = until(after, '/')?.1.trim_start_matches(['I', 'M']);
    }
}

/// The text up to a sign that no backslash stands before, and what follows it.
fn until(text: &str, sign: char) -> Option<(&str, &str)> {
    let mut is_escaped = false;
    let end = text.find(|c| {
        let is_end = c == sign && !is_escaped;
        is_escaped = c == '\\' && !is_escaped;
        is_end
    })?;
    Some((&text[..end], &text[end + sign.len_utf8()..]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case(&["-i", "s/a/b/", "file"], Some("b\n"))]
    #[case(&["-i.old", "-ne", "s/a/b/", "-es/c/d/", "file"], Some("b\nd\n"))]
    #[case(&["--expression=s/a/b/", "file"], Some("b\n"))]
    #[case(&["-i", "", "s=a=b=", "d"], Some("b\n"))]
    #[case(&["-f", "script", "file"], None)]
    #[case(&["-i"], None)]
    fn the_script_is_told_from_the_files(#[case] words: &[&str], #[case] wanted: Option<&str>) {
        let words = words.iter().map(|text| Word {
            text: (*text).to_owned(),
            ..Word::default()
        });
        assert_eq!(added_by(&words.collect::<Vec<_>>()).as_deref(), wanted);
    }

    #[rstest]
    #[case(&["1erm -rf x", "f"], &[("rm -rf x", true)], false)]
    #[case(&["-n", "/x/ e git push -f", "f"], &[("git push -f", false)], false)]
    #[case(&["s/.*/rm -rf &/e"], &[("rm -rf &", false)], false)]
    #[case(&["s/a/b/;y/a/b/;$!d;1e ls", "f"], &[("ls", true)], false)]
    #[case(&["-e", "1i\\\nerm", "-e", "e ls"], &[("ls", true)], false)]
    #[case(&["a text\ne ls"], &[("ls", true)], false)]
    #[case(&["e"], &[], true)]
    #[case(&[":a;N;$!ba;s/\n/ /g"], &[], false)]
    #[case(&["s/e/E/gI;/x/{s/a/b/;p};q5"], &[], false)]
    #[case(&["-i.e", "1d", "e"], &[], false)]
    #[case(&["k ls"], &[], false)]
    fn a_script_runs_commands(
        #[case] words: &[&str],
        #[case] lines: &[(&str, bool)],
        #[case] takes_input: bool,
    ) {
        let words = words.iter().map(|text| Word {
            text: (*text).to_owned(),
            ..Word::default()
        });
        let run = run_by(&words.collect::<Vec<_>>());
        let found: Vec<(&str, bool)> = run.lines.iter().map(|(line, is)| (&**line, *is)).collect();
        assert_eq!((&found[..], run.takes_input), (lines, takes_input));
    }

    #[rstest]
    #[case("s/a/b/", Some("b\n"))]
    #[case("s/a//g; s|b|c/d|", Some("\nc/d\n"))]
    #[case("/x/d", Some(""))]
    #[case("1,/x\\/y/s/a/b/; $!d", Some("b\n"))]
    #[case("s/a/b/e", None)]
    #[case("s/a/b/w file", None)]
    #[case("a text", None)]
    #[case("1i\\\ntext", None)]
    #[case("y/abc/xyz/", None)]
    #[case("s/a", None)]
    fn a_script_says_what_it_adds(#[case] script: &str, #[case] wanted: Option<&str>) {
        let mut added = String::new();
        let read = read(script, &mut added).map(|()| added);
        assert_eq!(read.as_deref(), wanted);
    }
}
