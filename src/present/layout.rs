//! How wide text is on a terminal, where its lines break, and how the columns of a table share the width.

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

use crate::model::is_plain;

/// Punctuation that does not begin a line.
const NOT_FIRST: &str = "、。，．・：；？！ー…々〉》」』】〕〗）］｝”’ぁぃぅぇぉっゃゅょゎァィゥェォッャュョヮヵヶ,.:;?!)]}%";
/// Brackets that do not end one.
const NOT_LAST: &str = "〈《「『【〔〖（［｛“‘([{";

/// The columns that a text takes: those of its graphemes one by one, since a terminal joins no letters.
pub(super) fn width(text: &str) -> usize {
    if is_plain(text) {
        return text.len();
    }
    text.graphemes(true).map(UnicodeWidthStr::width).sum()
}

/// Breaks a text into lines of at most so many columns: at spaces, between characters of scripts that write none, and
/// within a word that is longer than a line; never within what is read as one character.
pub(super) fn wrap(text: &str, most: usize) -> Vec<&str> {
    if width(text) <= most {
        return vec![text];
    }
    let mut lines = Vec::new();
    let (mut start, mut used) = (0, 0);
    // Where the line may end, and where the next one would begin.
    let mut gap = None;
    let mut before = "";
    for (at, grapheme) in text.grapheme_indices(true) {
        if grapheme == " " {
            if at == start {
                start += 1;
            } else {
                gap = Some((at, at + 1));
                used += 1;
            }
        } else {
            if at > start && may_part(before, grapheme) {
                gap = Some((at, at));
            }
            let columns = grapheme.width();
            while at > start && used + columns > most {
                let (end, next) = gap.take().unwrap_or((at, at));
                lines.push(text[start..end].trim_end());
                start = next;
                used = width(&text[start..at]);
            }
            used += columns;
        }
        before = grapheme;
    }
    let rest = text[start..].trim_end();
    if !rest.is_empty() {
        lines.push(rest);
    }
    lines
}

/// Whether a line may end between two characters without a space: where one of them is a whole word, as in Chinese and
/// Japanese, and no punctuation would be torn off. Korean has spaces.
fn may_part(before: &str, after: &str) -> bool {
    let is_word = |grapheme: &str| {
        grapheme.width() > 1
            && !grapheme
                .starts_with(|c| matches!(c, '\u{1100}'..='\u{11ff}' | '\u{ac00}'..='\u{d7af}'))
    };
    before != " "
        && (is_word(before) || is_word(after))
        && !before.starts_with(|c| NOT_LAST.contains(c))
        && !after.starts_with(|c| NOT_FIRST.contains(c))
}

/// Shares a width among columns: whoever needs less than an equal part gets what it needs, the others the rest.
pub(super) fn share(needs: &[usize], width: usize) -> Vec<usize> {
    let mut given = vec![0; needs.len()];
    let mut modest_first: Vec<usize> = (0..needs.len()).collect();
    modest_first.sort_by_key(|&column| needs[column]);
    let mut left = width;
    for (done, &column) in modest_first.iter().enumerate() {
        given[column] = needs[column].min(left / (needs.len() - done));
        left -= given[column];
    }
    given
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("tabs", 4)]
    #[case("简洁", 4)]
    #[case("カタカナ", 8)]
    #[case("ｶﾅ", 2)]
    #[case("한국어", 6)]
    #[case("e\u{301}", 1)]
    #[case("👩‍💻", 2)]
    #[case("👍🏽", 2)]
    #[case("🇨🇳", 2)]
    #[case("لا", 2)]
    fn a_text_takes_the_columns_of_its_characters(#[case] text: &str, #[case] columns: usize) {
        assert_eq!(width(text), columns);
    }

    #[rstest]
    #[case::at_spaces("uses tabs  and two spaces", 10, &["uses tabs", "and two", "spaces"])]
    #[case::chinese_anywhere("说话简洁一点", 5, &["说话", "简洁", "一点"])]
    #[case::no_comma_first("说话简洁，一点", 8, &["说话简", "洁，一点"])]
    #[case::no_bracket_last("他说「好」吧", 6, &["他说", "「好」", "吧"])]
    #[case::mixed("用 rustfmt 格式化代码", 12, &["用 rustfmt", "格式化代码"])]
    #[case::korean_at_spaces("짧은 답변을 좋아한다", 12, &["짧은 답변을", "좋아한다"])]
    #[case::a_word_too_long("a /home/ada/notes", 8, &["a", "/home/ad", "a/notes"])]
    #[case::a_family_stays_together("👩‍👩‍👧👩‍👩‍👧", 3, &["👩‍👩‍👧", "👩‍👩‍👧"])]
    #[case::an_accent_stays_on_its_letter("e\u{301}e\u{301}e\u{301}", 2, &["e\u{301}e\u{301}", "e\u{301}"])]
    #[case::wider_than_the_line("简洁", 1, &["简", "洁"])]
    #[case::spaces_alone("          ", 4, &[])]
    fn lines_break_where_a_reader_would(
        #[case] text: &str,
        #[case] most: usize,
        #[case] lines: &[&str],
    ) {
        assert_eq!(wrap(text, most), lines);
    }

    #[rstest]
    #[case(&[3, 30, 30], 33, &[3, 15, 15])]
    #[case(&[40, 10], 30, &[20, 10])]
    #[case(&[4, 5], 80, &[4, 5])]
    #[case(&[9, 9], 3, &[1, 2])]
    #[case(&[], 3, &[])]
    fn columns_share_the_width(
        #[case] needs: &[usize],
        #[case] width: usize,
        #[case] given: &[usize],
    ) {
        assert_eq!(share(needs, width), given);
    }

    proptest! {
        #[test]
        fn wrapping_loses_nothing_but_spaces_and_fits(text in "[ -~简洁，「」한é👩‍💻👍🏽🇨🇳\u{301}]{0,60}", most in 2usize..30) {
            let lines = wrap(&text, most);
            let bare = |text: &str| text.replace(' ', "");
            prop_assert_eq!(bare(&lines.concat()), bare(&text));
            for line in lines {
                let is_one = line.graphemes(true).count() == 1;
                prop_assert!(width(line) <= most || is_one, "{:?}", line);
            }
        }
    }
}
