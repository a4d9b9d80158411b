//! What programs make of a text that they read, where that is plain to see: `tr`, and `sed` that replaces.

use crate::check::shell::{Word, unescaped};

/// The most signs of a set.
const MOST_SIGNS: usize = 256;

/// The text that `tr` makes of another one; none where that is not followed.
pub fn translated(text: &str, arguments: &[Word]) -> Option<String> {
    match arguments {
        [option, set] if option.text == "-d" => {
            let set = signs_of(set)?;
            Some(text.chars().filter(|c| !set.contains(c)).collect())
        }
        [from, to] if !from.text.starts_with('-') => {
            let (from, to) = (signs_of(from)?, signs_of(to)?);
            let last = to.last()?;
            let made = |c: char| {
                let at = from.iter().rposition(|one| *one == c)?;
                Some(*to.get(at).unwrap_or(last))
            };
            Some(text.chars().map(|c| made(c).unwrap_or(c)).collect())
        }
        _ => None,
    }
}

/// The text that `sed` makes of another one by replacing a text that stands for itself; none where that is not followed.
pub fn edited(text: &str, arguments: &[Word]) -> Option<String> {
    let [script] = arguments else {
        return None;
    };
    let (sign, rest) = script.text.strip_prefix('s').and_then(|rest| {
        let sign = rest.chars().next()?;
        Some((sign, &rest[sign.len_utf8()..]))
    })?;
    let [old, new, flags] = rest.split(sign).collect::<Vec<_>>()[..] else {
        return None;
    };
    let is_plain = |text: &str| !text.contains(['.', '*', '[', ']', '^', '$', '\\', '&', '\n']);
    let times = match flags {
        "" => 1,
        "g" => usize::MAX,
        _ => return None,
    };
    if script.is_dynamic || old.is_empty() || !is_plain(old) || !is_plain(new) {
        return None;
    }
    let lines = text.split_inclusive('\n');
    Some(lines.map(|line| line.replacen(old, new, times)).collect())
}

/// The signs of a set: `abc`, `a-z`, `\n`, `[:upper:]`.
fn signs_of(word: &Word) -> Option<Vec<char>> {
    let set = match word.text.as_str() {
        "[:lower:]" => "a-z",
        "[:upper:]" => "A-Z",
        "[:digit:]" => "0-9",
        "[:space:]" => " \\t\\n\\v\\f\\r",
        other => other,
    };
    if word.is_dynamic || set.contains("[:") || set.contains(['[', ']', '*']) {
        return None;
    }
    let set = unescaped(set);
    let mut signs = Vec::new();
    let mut rest = set.chars();
    while let Some(from) = rest.next() {
        let mut ahead = rest.clone();
        match (ahead.next(), ahead.next()) {
            (Some('-'), Some(to)) => {
                signs.extend((from..=to).take(MOST_SIGNS));
                rest = ahead;
            }
            _ => signs.push(from),
        }
        if signs.len() > MOST_SIGNS {
            return None;
        }
    }
    (!signs.is_empty()).then_some(signs)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case("My App", &["s/ /-/g"], Some("My-App"))]
    #[case("a a\na", &["s|a|b|"], Some("b a\nb"))]
    #[case("a.txt", &["s/\\.txt$//"], None)]
    #[case("a", &["-E", "s/a/b/"], None)]
    #[case("a", &["s/a/b/e"], None)]
    #[case("a", &["1d"], None)]
    fn a_text_is_edited(#[case] text: &str, #[case] words: &[&str], #[case] wanted: Option<&str>) {
        assert_eq!(edited(text, &words_of(words)).as_deref(), wanted);
    }

    fn words_of(texts: &[&str]) -> Vec<Word> {
        let words = texts.iter().map(|text| Word {
            text: (*text).to_owned(),
            ..Word::default()
        });
        words.collect()
    }

    #[rstest]
    #[case("a,b", &[",", " "], Some("a b"))]
    #[case("a,b", &[",", "\\n"], Some("a\nb"))]
    #[case("Feature", &["A-Z", "a-z"], Some("feature"))]
    #[case("Feature", &["[:upper:]", "[:lower:]"], Some("feature"))]
    #[case("sn -sg y", &["n-za-m", "a-z"], Some("fa -ft l"))]
    #[case("abc", &["abc", "x"], Some("xxx"))]
    #[case("a\r\n", &["-d", "\\r"], Some("a\n"))]
    #[case("a", &["-s", " "], None)]
    #[case("a", &["-cd", "a"], None)]
    #[case("a", &["[=a=]", "b"], None)]
    fn a_text_is_translated(
        #[case] text: &str,
        #[case] words: &[&str],
        #[case] wanted: Option<&str>,
    ) {
        assert_eq!(translated(text, &words_of(words)).as_deref(), wanted);
    }
}
