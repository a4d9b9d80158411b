//! Finds emojis: characters that are shown as pictures. A copyright sign, a digit, an arrow or a check mark is none
//! until the sign follows that asks for the picture.

use std::ops::Range;

/// Characters that are pictures by themselves (`Emoji_Presentation`, Unicode 16; the last block is kept for more).
const PICTURES: &[(u32, u32)] = &[
    (0x231A, 0x231B),
    (0x23E9, 0x23EC),
    (0x23F0, 0x23F0),
    (0x23F3, 0x23F3),
    (0x25FD, 0x25FE),
    (0x2614, 0x2615),
    (0x2648, 0x2653),
    (0x267F, 0x267F),
    (0x2693, 0x2693),
    (0x26A1, 0x26A1),
    (0x26AA, 0x26AB),
    (0x26BD, 0x26BE),
    (0x26C4, 0x26C5),
    (0x26CE, 0x26CE),
    (0x26D4, 0x26D4),
    (0x26EA, 0x26EA),
    (0x26F2, 0x26F3),
    (0x26F5, 0x26F5),
    (0x26FA, 0x26FA),
    (0x26FD, 0x26FD),
    (0x2705, 0x2705),
    (0x270A, 0x270B),
    (0x2728, 0x2728),
    (0x274C, 0x274C),
    (0x274E, 0x274E),
    (0x2753, 0x2755),
    (0x2757, 0x2757),
    (0x2795, 0x2797),
    (0x27B0, 0x27B0),
    (0x27BF, 0x27BF),
    (0x2B1B, 0x2B1C),
    (0x2B50, 0x2B50),
    (0x2B55, 0x2B55),
    (0x1F004, 0x1F004),
    (0x1F0CF, 0x1F0CF),
    (0x1F18E, 0x1F18E),
    (0x1F191, 0x1F19A),
    (0x1F201, 0x1F201),
    (0x1F21A, 0x1F21A),
    (0x1F22F, 0x1F22F),
    (0x1F232, 0x1F236),
    (0x1F238, 0x1F23A),
    (0x1F250, 0x1F251),
    (0x1F300, 0x1F320),
    (0x1F32D, 0x1F335),
    (0x1F337, 0x1F37C),
    (0x1F37E, 0x1F393),
    (0x1F3A0, 0x1F3CA),
    (0x1F3CF, 0x1F3D3),
    (0x1F3E0, 0x1F3F0),
    (0x1F3F4, 0x1F3F4),
    (0x1F3F8, 0x1F43E),
    (0x1F440, 0x1F440),
    (0x1F442, 0x1F4FC),
    (0x1F4FF, 0x1F53D),
    (0x1F54B, 0x1F54E),
    (0x1F550, 0x1F567),
    (0x1F57A, 0x1F57A),
    (0x1F595, 0x1F596),
    (0x1F5A4, 0x1F5A4),
    (0x1F5FB, 0x1F64F),
    (0x1F680, 0x1F6C5),
    (0x1F6CC, 0x1F6CC),
    (0x1F6D0, 0x1F6D2),
    (0x1F6D5, 0x1F6D7),
    (0x1F6DC, 0x1F6DF),
    (0x1F6EB, 0x1F6EC),
    (0x1F6F4, 0x1F6FC),
    (0x1F7E0, 0x1F7EB),
    (0x1F7F0, 0x1F7F0),
    (0x1F90C, 0x1F93A),
    (0x1F93C, 0x1F945),
    (0x1F947, 0x1F9FF),
    (0x1FA70, 0x1FAFF),
];

const TEXT_SIGN: char = '\u{FE0E}';
const PICTURE_SIGN: char = '\u{FE0F}';
const KEYCAP: char = '\u{20E3}';
const JOINER: char = '\u{200D}';

fn is_picture(c: char) -> bool {
    let code = c as u32;
    code >= 0x231A
        && PICTURES
            .binary_search_by(|&(from, to)| {
                if to < code {
                    std::cmp::Ordering::Less
                } else if from > code {
                    std::cmp::Ordering::Greater
                } else {
                    std::cmp::Ordering::Equal
                }
            })
            .is_ok()
}

/// Characters that are a picture when the sign for it follows.
fn may_be_picture(c: char) -> bool {
    matches!(c as u32,
        0xA9 | 0xAE | 0x203C | 0x2049 | 0x2122 | 0x2139 | 0x2194..=0x21AA | 0x231A..=0x23FA | 0x24C2
        | 0x25AA..=0x27BF | 0x2934..=0x2935 | 0x2B05..=0x2B55 | 0x3030 | 0x303D | 0x3297 | 0x3299
        | 0x1F000..=0x1FAFF)
}

fn is_flag_letter(c: char) -> bool {
    matches!(c as u32, 0x1F1E6..=0x1F1FF)
}

/// What may follow a picture and changes it.
fn is_modifier(c: char) -> bool {
    matches!(c as u32, 0x1F3FB..=0x1F3FF | 0xE0020..=0xE007F) || matches!(c, PICTURE_SIGN | KEYCAP)
}

/// The first emoji in a part of a text, with all that is joined to it.
pub fn find(text: &str, within: Range<usize>) -> Option<Range<usize>> {
    let from = within.start;
    let rest = &text[within];
    if rest.is_ascii() {
        return None;
    }
    let mut characters = rest.char_indices().peekable();
    while let Some((at, c)) = characters.next() {
        let next = characters.peek().map(|(_, c)| *c);
        let begins = match c {
            '0'..='9' | '#' | '*' => {
                let after = &rest[at + 1..];
                after.starts_with(KEYCAP) || after.starts_with("\u{FE0F}\u{20E3}")
            }
            _ if c.is_ascii() => false,
            _ if is_flag_letter(c) => next.is_some_and(is_flag_letter),
            _ if is_picture(c) => next != Some(TEXT_SIGN),
            _ => next == Some(PICTURE_SIGN) && may_be_picture(c),
        };
        if begins {
            return Some(from + at..from + at + length(&rest[at..]));
        }
    }
    None
}

/// How long the emoji is that a text begins with: modifiers, the second letter of a flag, and what is joined.
fn length(text: &str) -> usize {
    let mut end = 0;
    let mut joined = true;
    let mut letters = 0;
    for (at, c) in text.char_indices() {
        let goes_on = if is_flag_letter(c) {
            letters += 1;
            letters <= 2 && (joined || letters == 2)
        } else {
            joined || is_modifier(c) || c == JOINER
        };
        if !goes_on {
            break;
        }
        joined = c == JOINER;
        end = at + c.len_utf8();
    }
    end
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rstest::rstest;

    #[rstest]
    #[case("feat: ✨ new", "✨")]
    #[case("done 🎉", "🎉")]
    #[case("I ❤\u{FE0F} it", "❤\u{FE0F}")]
    #[case("\u{A9}\u{FE0F}", "\u{A9}\u{FE0F}")]
    #[case("step 1\u{FE0F}\u{20E3}", "1\u{FE0F}\u{20E3}")]
    #[case("#\u{20E3}", "#\u{20E3}")]
    #[case("made in 🇯🇵🇨🇳", "🇯🇵")]
    #[case("👩\u{200D}💻 here", "👩\u{200D}💻")]
    #[case("👍🏽!", "👍🏽")]
    #[case("👨\u{200D}👩\u{200D}👧\u{200D}👦", "👨\u{200D}👩\u{200D}👧\u{200D}👦")]
    #[case("🏳\u{FE0F}\u{200D}🌈", "🏳\u{FE0F}\u{200D}🌈")]
    #[case(
        "🏴\u{E0067}\u{E0062}\u{E0065}\u{E006E}\u{E0067}\u{E007F}",
        "🏴\u{E0067}\u{E0062}\u{E0065}\u{E006E}\u{E0067}\u{E007F}"
    )]
    #[case("完成✅了", "✅")]
    #[case("⚠\u{FE0F} 注意", "⚠\u{FE0F}")]
    #[case("готово 🚀", "🚀")]
    #[case("🫠", "🫠")]
    #[case("⭐", "⭐")]
    fn an_emoji_is_found(#[case] text: &str, #[case] emoji: &str) {
        let range = find(text, 0..text.len()).expect("there is one");
        assert_eq!(&text[range], emoji);
    }

    #[rstest]
    #[case("© 2026, ® and ™")]
    #[case("#1 of 10 * 3")]
    #[case("x → y ← z ↔ w")]
    #[case("✓ ✔ ✗ ☑ ☐ ★ ☆ • ■ ● ▶ ♥ ☺")]
    #[case("1\u{FE0F}")]
    #[case("⌚\u{FE0E}")]
    #[case(":) ;-) :tada:")]
    #[case("中文，日本語、한국어 العربية हिन्दी")]
    #[case("½ × ÷ ± ≤ ∞ √ ∑ — … “”")]
    #[case("㊗ ㊙ 〰 〽")]
    #[case("Ⓜ ℹ ‼ ⁉")]
    #[case("می\u{200C}خواهم")]
    #[case("🇯 alone")]
    #[case("│ ├── └─ ╭╮")]
    #[case("")]
    fn what_is_no_picture_is_not(#[case] text: &str) {
        assert_eq!(find(text, 0..text.len()), None);
    }

    #[test]
    fn the_table_is_in_order() {
        assert!(PICTURES.windows(2).all(|pair| pair[0].1 < pair[1].0));
        assert!(PICTURES.iter().all(|(from, to)| from <= to));
    }

    proptest! {
        #[test]
        fn what_is_found_lies_in_the_text_and_is_not_empty(text in "[a1#🇯✨❤\u{200D}\u{FE0F}\u{20E3}👍🏽中]{0,12}") {
            if let Some(range) = find(&text, 0..text.len()) {
                prop_assert!(!range.is_empty());
                prop_assert!(text.get(range).is_some());
            }
        }
    }
}
