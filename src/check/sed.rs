//! What `sed` writes that its script holds: what stands in place of what it finds.

use super::shell::Word;

/// The texts that the scripts of `sed` add; none where that is not plain to see.
pub fn added_by(arguments: &[Word]) -> Option<String> {
    let mut added = String::new();
    let mut first = None;
    let mut is_read = false;
    let mut words = arguments.iter().map(|word| word.text.as_str());
    while let Some(text) = words.next() {
        if let Some(option) = text.strip_prefix('-').filter(|option| !option.is_empty()) {
            if let Some(script) = script_of(option, &mut words)? {
                read(script, &mut added)?;
                is_read = true;
            }
        } else if !text.is_empty() {
            // An empty word is what BSD's `-i` takes.
            first = first.or(Some(text));
        }
    }
    if !is_read {
        read(first?, &mut added)?;
    }
    Some(added)
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
