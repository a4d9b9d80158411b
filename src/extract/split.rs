//! Splits a turn into the sentences that the person said, and leaves out what is only shown: code, quotations, pasted
//! blocks.

use super::tokens::is_character;

/// A sentence of a turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sentence {
    /// Its first byte in the turn.
    pub start: usize,
    /// The byte after it.
    pub end: usize,
    /// How its surroundings make it look.
    pub setting: Setting,
}

/// Where a sentence stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Setting {
    /// It is an item of a list.
    pub in_list: bool,
    /// It stands below a line that ends in a colon.
    pub below_colon: bool,
    /// It is a line of a block that looks pasted: several lines below a colon, log lines, mail headers.
    pub pasted: bool,
}

/// The sentences of a turn, and whether anything was left out as code or quotation.
pub fn sentences(text: &str) -> (Vec<Sentence>, bool) {
    let mut found = Vec::new();
    let mut shown = false;
    let mut fence: Option<&str> = None;
    let mut below_colon = false;
    let mut pasted = false;
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let begin = start;
        start += line.len();
        let trimmed = line.trim();
        let marker = ["```", "~~~"]
            .into_iter()
            .find(|marker| trimmed.starts_with(marker));
        if let Some(open) = fence {
            if marker == Some(open) {
                fence = None;
            }
            continue;
        }
        if let Some(marker) = marker {
            shown = true;
            // A fence may open and close on one line.
            if !trimmed[marker.len()..].contains(marker) {
                fence = Some(marker);
            }
            continue;
        }
        if trimmed.starts_with('>') {
            shown = true;
            continue;
        }
        if trimmed.is_empty() {
            below_colon = false;
            pasted = false;
            continue;
        }
        pasted |= looks_pasted(trimmed);
        let in_list = trimmed.starts_with(['-', '*', '•', '·'])
            && trimmed.chars().nth(1).is_some_and(char::is_whitespace)
            || is_numbered(trimmed);
        let setting = Setting {
            in_list,
            below_colon,
            pasted: pasted || line.starts_with("    ") || line.starts_with('\t'),
        };
        split_line(text, begin, begin + line.len(), setting, &mut found);
        if trimmed.ends_with([':', '：']) {
            below_colon = true;
        }
    }
    (found, shown)
}

/// Lines that no person types: headers of mails, log lines, diffs.
fn looks_pasted(line: &str) -> bool {
    const HEADERS: [&str; 8] = [
        "From:",
        "To:",
        "Subject:",
        "Date:",
        "Cc:",
        "diff --git",
        "@@ ",
        "---",
    ];
    let first = line.split_whitespace().next().unwrap_or_default();
    let is_time = first.len() >= 5
        && first.contains(':')
        && first
            .chars()
            .all(|c| c.is_ascii_digit() || ":.-T+Z[]".contains(c));
    HEADERS.iter().any(|header| line.starts_with(header))
        || is_time
        || matches!(
            first.trim_end_matches(':').trim_matches(['[', ']']),
            "error" | "warning" | "warn" | "WARN" | "ERROR" | "WARNING" | "INFO" | "Traceback"
        ) && line.contains(' ')
}

fn is_numbered(line: &str) -> bool {
    let digits = line.chars().take_while(char::is_ascii_digit).count();
    digits > 0 && digits < 3 && line[digits..].starts_with(['.', ')', '、'])
}

/// Cuts one line at the ends of its sentences.
fn split_line(text: &str, begin: usize, end: usize, setting: Setting, found: &mut Vec<Sentence>) {
    let line = &text[begin..end];
    let mut from = 0;
    let mut inside: Option<char> = None;
    let mut characters = line.char_indices().peekable();
    while let Some((at, c)) = characters.next() {
        // A sentence does not end inside a quotation.
        match (inside, closing(c)) {
            (Some(close), _) if c == close => inside = None,
            (None, Some(close)) if line[at + c.len_utf8()..].contains(close) => {
                inside = Some(close)
            }
            _ => {}
        }
        if inside.is_some() || !".!?。！？；;…".contains(c) {
            continue;
        }
        let next = characters.peek().map(|&(_, next)| next);
        if next.is_some_and(|next| ".!?。！？…)）\"”」'*".contains(next)) {
            continue;
        }
        let wide = "。！？；".contains(c) || next.is_some_and(is_character);
        if wide || next.is_none_or(char::is_whitespace) {
            let stop = at + c.len_utf8();
            push(text, begin + from, begin + stop, setting, found);
            from = stop;
        }
    }
    push(text, begin + from, end, setting, found);
}

/// What closes a quotation that a character opens. An apostrophe opens nothing: it stands in words.
fn closing(c: char) -> Option<char> {
    Some(match c {
        '"' => '"',
        '“' => '”',
        '„' => '“',
        '«' => '»',
        '「' => '」',
        '『' => '』',
        _ => return None,
    })
}

fn push(text: &str, start: usize, end: usize, setting: Setting, found: &mut Vec<Sentence>) {
    let piece = &text[start..end];
    let start = start + (piece.len() - piece.trim_start().len());
    let end = start + piece.trim().len();
    if text[start..end].chars().any(char::is_alphanumeric) {
        found.push(Sentence {
            start,
            end,
            setting,
        });
    }
}

/// The parts of a sentence that are somebody else's words: quotations of more than a name. Byte ranges.
pub fn quotations(sentence: &str) -> Vec<(usize, usize)> {
    const A_NAME: usize = 12;
    let mut found = Vec::new();
    let mut characters = sentence.char_indices();
    while let Some((at, c)) = characters.next() {
        let Some(close) = closing(c) else { continue };
        let from = at + c.len_utf8();
        let Some(length) = sentence[from..].find(close) else {
            continue;
        };
        let inside = &sentence[from..from + length];
        let wide = inside.chars().filter(|&c| is_character(c)).count();
        let words = inside.split_whitespace().count();
        if words > 3 || wide > A_NAME || words + wide > 7 {
            found.push((from, from + length));
        }
        while characters
            .clone()
            .next()
            .is_some_and(|(next, _)| next < from + length + close.len_utf8())
        {
            characters.next();
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    fn split(text: &str) -> Vec<&str> {
        let (found, _) = sentences(text);
        found.iter().map(|one| &text[one.start..one.end]).collect()
    }

    #[rstest]
    #[case("Fix it. Use v1.2.3 of next.js! ok?", &["Fix it.", "Use v1.2.3 of next.js!", "ok?"])]
    #[case("把 bug 修了。以后先跑测试！好吗", &["把 bug 修了。", "以后先跑测试！", "好吗"])]
    #[case("look:\n```\nnever do this\n```\nwhy", &["look:", "why"])]
    #[case("> always test\n\nhow", &["how"])]
    #[case("he said \"Stop. Now.\" and left", &["he said \"Stop. Now.\" and left"])]
    #[case("...!!", &[])]
    fn sentences_are_found(#[case] text: &str, #[case] expected: &[&str]) {
        assert_eq!(split(text), expected);
    }

    #[test]
    fn long_quotations_are_somebody_elses_words() {
        let sentence = "the sign says \"do not feed the ducks ever\" and \"no\"";
        let found = quotations(sentence);
        assert_eq!(found.len(), 1);
        assert_eq!(
            &sentence[found[0].0..found[0].1],
            "do not feed the ducks ever"
        );
    }
}
