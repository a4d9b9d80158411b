//! The options of a program as they stand in a command line.

use super::assignment;
use crate::check::shell::Word;

/// An option, and what it is given.
pub(super) struct Flag {
    /// With its hyphens; of several letters in one word each by itself.
    pub(super) name: String,
    pub(super) value: Option<Word>,
}

/// The options at the beginning of a program's words, and what is left behind them, their values, assignments and `--`.
pub(super) fn options<'w>(words: &'w [Word], valued: &[&str]) -> (Vec<Flag>, &'w [Word]) {
    let mut flags = Vec::new();
    let mut at = 0;
    while let Some(word) = words.get(at) {
        let text = word.text.as_str();
        at += 1;
        if text == "--" {
            break;
        }
        if assignment(word).is_some() {
            continue;
        }
        let is_option = text.len() > 1 && text.starts_with('-');
        if !is_option && !valued.contains(&text) {
            at -= 1;
            break;
        }
        if valued.contains(&text) {
            flags.push(Flag {
                name: text.to_owned(),
                value: words.get(at).cloned(),
            });
            at += 1;
        } else if text.starts_with("--") {
            let (name, value) = match text.split_once('=') {
                Some((name, value)) => (name, Some(value)),
                None => (text, None),
            };
            flags.push(Flag {
                name: name.to_owned(),
                value: value.map(|value| Word {
                    text: value.to_owned(),
                    ..word.clone()
                }),
            });
        } else {
            for (index, letter) in text.char_indices().skip(1) {
                let name = format!("-{letter}");
                let behind = &text[index + letter.len_utf8()..];
                if !valued.contains(&name.as_str()) {
                    flags.push(Flag { name, value: None });
                    continue;
                }
                let value = if behind.is_empty() {
                    at += 1;
                    words.get(at - 1).cloned()
                } else {
                    Some(Word {
                        text: behind.to_owned(),
                        ..word.clone()
                    })
                };
                flags.push(Flag { name, value });
                break;
            }
        }
    }
    (flags, words.get(at..).unwrap_or_default())
}

/// What is left behind the options, their values, assignments and `--`.
pub fn after_options<'w>(words: &'w [Word], valued: &[&str]) -> &'w [Word] {
    options(words, valued).1
}

/// The value of an option, wherever it stands.
pub(super) fn value_of(words: &[Word], short: &str, long: &[&str]) -> Option<Word> {
    let mut valued = long.to_vec();
    valued.push(short);
    values_of(words, &valued).into_iter().next()
}

/// The values of options, wherever they stand.
pub(super) fn values_of(words: &[Word], valued: &[&str]) -> Vec<Word> {
    let mut found = Vec::new();
    let mut rest = words;
    loop {
        let (flags, behind) = options(rest, valued);
        let own = flags
            .into_iter()
            .filter(|flag| valued.contains(&flag.name.as_str()));
        found.extend(own.filter_map(|flag| flag.value));
        match behind.split_first() {
            Some((_, behind)) => rest = behind,
            None => return found,
        }
    }
}

/// What `env -S` splits to words, and what stands behind it.
pub(super) fn split_string(words: &[Word]) -> Option<(String, &[Word])> {
    const VALUED: &[&str] = &["-u", "-C", "--unset", "--chdir", "-S", "--split-string"];
    let mut rest = words;
    // One option at a time: what is split stands in place of the option.
    while let Some(word) = rest.first() {
        // A hyphen alone is an option of `env`.
        let is_option = word.text.starts_with('-') && word.text != "--";
        if !is_option && assignment(word).is_none() {
            return None;
        }
        let one = options(&rest[..1], VALUED).0;
        let splits = |flag: &&Flag| matches!(flag.name.as_str(), "-S" | "--split-string");
        let takes_next = one
            .last()
            .is_some_and(|flag| flag.value.is_none() && VALUED.contains(&flag.name.as_str()));
        let behind = rest.get(1 + usize::from(takes_next)..).unwrap_or_default();
        if let Some(flag) = one.iter().find(splits) {
            let text = match &flag.value {
                Some(value) => value.text.clone(),
                None => rest.get(1)?.text.clone(),
            };
            return Some((text, behind));
        }
        rest = behind;
    }
    None
}
