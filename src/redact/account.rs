//! Numbers of cards and bank accounts, and in quotes e-mail addresses and phone numbers.

use super::scan::is_escape;
use super::steps::Steps;
use super::{Found, Secret};

/// What stands before a number that is no card: `order 4111…`, `#4111…`.
const NUMBERS_OF_THINGS: &[&str] = &[
    "order",
    "id",
    "no.",
    "number",
    "invoice",
    "ticket",
    "isbn",
    "订单",
    "订单号",
    "编号",
    "单号",
];

/// Words after which a number is that of a phone.
const CALLS: &[&str] = &[
    "tel",
    "phone",
    "call",
    "mobile",
    "cell",
    "whatsapp",
    "telefon",
    "handy",
    "fax",
    "téléphone",
    "teléfono",
    "телефон",
    "电话",
    "電話",
    "手机",
    "手機",
    "微信",
    "전화",
];

/// The digits of a number that begins at a place, the lengths of its groups, and where it ends.
struct Digits {
    digits: Vec<u8>,
    groups: Vec<usize>,
    end: usize,
}

/// Reads digits with single separators between.
fn digits(text: &str, start: usize, separators: &[u8], most: usize) -> Digits {
    let bytes = text.as_bytes();
    let mut read = Digits {
        digits: Vec::new(),
        groups: vec![0],
        end: start,
    };
    let mut at = start;
    while let Some(&byte) = bytes.get(at) {
        if byte.is_ascii_digit() && read.digits.len() < most {
            read.digits.push(byte - b'0');
            if let Some(group) = read.groups.last_mut() {
                *group += 1;
            }
            at += 1;
            read.end = at;
        } else if separators.contains(&byte)
            && read.end == at
            && bytes.get(at + 1).is_some_and(u8::is_ascii_digit)
        {
            read.groups.push(0);
            at += 1;
        } else {
            break;
        }
    }
    read
}

/// Whether nothing that belongs to a number or word stands around a range.
fn stands_alone(text: &str, start: usize, end: usize) -> bool {
    let bytes = text.as_bytes();
    let before = start
        .checked_sub(1)
        .filter(|&at| !is_escape(bytes, at))
        .map(|at| bytes[at]);
    let after = bytes.get(end).copied();
    let joined = |byte: Option<u8>| byte.is_some_and(|b| b.is_ascii_alphanumeric() || b == b'_');
    let decimal = matches!(after, Some(b'.' | b'-' | b'/' | b','))
        && bytes.get(end + 1).is_some_and(u8::is_ascii_digit);
    !joined(before)
        && !joined(after)
        && !matches!(before, Some(b'.' | b'-' | b'/' | b'#'))
        && !decimal
}

/// Whether one of some words stands shortly before a place.
fn follows(text: &str, at: usize, words: &[&str]) -> bool {
    let mut from = at.saturating_sub(24);
    while !text.is_char_boundary(from) {
        from += 1;
    }
    let before = text[from..at].to_lowercase();
    let before = before.trim_end_matches([' ', ':', '：', '#', '+', '(', '.']);
    words
        .iter()
        .any(|word| before.ends_with(word.trim_end_matches('.')))
}

/// A payment card that begins here.
pub(super) fn card(text: &str, start: usize) -> Option<Found> {
    let bytes = text.as_bytes();
    if !matches!(bytes[start], b'2'..=b'6') || !bytes.get(start + 3)?.is_ascii_digit() {
        return None;
    }
    let read = digits(text, start, b" -", 19);
    let number = read
        .digits
        .iter()
        .take(4)
        .fold(0_u32, |sum, &d| sum * 10 + u32::from(d));
    let length = read.digits.len();
    let known = match number {
        4000..=4999 | 5100..=5599 | 2221..=2720 | 6011 | 6440..=6599 | 3528..=3589 => length == 16,
        3400..=3499 | 3700..=3799 => length == 15,
        3000..=3059 | 3600..=3699 | 3800..=3899 => length == 14,
        6200..=6299 => (16..=19).contains(&length),
        _ => false,
    };
    let in_groups = matches!(
        read.groups.as_slice(),
        [_] | [4, 4, 4, 4] | [4, 6, 5] | [4, 6, 4] | [4, 4, 4, 4, 1..=3] | [6, 13]
    );
    (known
        && in_groups
        && check_digit(&read.digits)
        && stands_alone(text, start, read.end)
        && !follows(text, start, NUMBERS_OF_THINGS))
    .then_some(Found {
        range: start..read.end,
        kind: Secret::CardNumber,
    })
}

/// Whether the last digit is the one that the others ask for.
fn check_digit(digits: &[u8]) -> bool {
    let sum: u32 = digits
        .iter()
        .rev()
        .enumerate()
        .map(|(index, &digit)| match (index % 2, u32::from(digit) * 2) {
            (0, _) => u32::from(digit),
            (_, twice) if twice > 9 => twice - 9,
            (_, twice) => twice,
        })
        .sum();
    sum.is_multiple_of(10)
}

/// An international bank account number that begins here.
pub(super) fn bank_account(text: &str, start: usize, steps: &Steps<'_>) -> Option<Found> {
    let bytes = text.as_bytes();
    let head = bytes.get(start..start + 4)?;
    if !(head[0].is_ascii_uppercase()
        && head[1].is_ascii_uppercase()
        && head[2].is_ascii_digit()
        && head[3].is_ascii_digit())
    {
        return None;
    }
    let mut body = Vec::new();
    let mut best = None;
    let mut at = start;
    while let Some(&byte) = bytes.get(at) {
        if (byte.is_ascii_uppercase() || byte.is_ascii_digit()) && body.len() < 34 {
            body.push(byte);
        } else if !(byte == b' ' && body.len() % 4 == 0) {
            break;
        }
        at += 1;
        if body.len() >= 15 && byte != b' ' && stands_alone(text, start, at) {
            steps.take(body.len())?;
            best = Some(at).filter(|_| is_account(&body)).or(best);
        }
    }
    best.map(|end| Found {
        range: start..end,
        kind: Secret::BankAccount,
    })
}

fn is_account(body: &[u8]) -> bool {
    let digits = body.iter().filter(|b| b.is_ascii_digit()).count();
    let rest = body[4..]
        .iter()
        .chain(&body[..4])
        .fold(0_u32, |rest, &byte| {
            if byte.is_ascii_digit() {
                (rest * 10 + u32::from(byte - b'0')) % 97
            } else {
                (rest * 100 + u32::from(byte - b'A') + 10) % 97
            }
        });
    digits >= 8 && rest == 1
}

/// An e-mail address around an `@`.
pub(super) fn email(text: &str, at: usize) -> Option<Found> {
    let bytes = text.as_bytes();
    let local = bytes[..at]
        .iter()
        .rev()
        .take_while(|b| b.is_ascii_alphanumeric() || b"._%+-".contains(b))
        .count();
    let start = at - local;
    let length = bytes[at + 1..]
        .iter()
        .take_while(|b| b.is_ascii_alphanumeric() || b".-".contains(b))
        .count();
    let domain = text[at + 1..at + 1 + length].trim_end_matches(['.', '-']);
    let (name, ending) = domain.rsplit_once('.')?;
    let files = [
        "png", "jpg", "jpeg", "svg", "gif", "webp", "css", "js", "ts", "py", "rs",
    ];
    (local > 0
        && &text[start..at] != "git"
        && !name.is_empty()
        && ending.len() >= 2
        && ending.bytes().all(|b| b.is_ascii_alphabetic())
        && !files.contains(&ending))
    .then_some(Found {
        range: start..at + 1 + domain.len(),
        kind: Secret::Email,
    })
}

/// A phone number that begins here: with a country code, in the shapes of North America and China, or any that
/// is announced as one.
pub(super) fn phone(text: &str, start: usize) -> Option<Found> {
    let bytes = text.as_bytes();
    let international = bytes[start] == b'+';
    let bracket = bytes[start] == b'(';
    let mut cleaned = start;
    if international || bracket {
        cleaned += 1;
    }
    if !bytes.get(cleaned)?.is_ascii_digit() {
        return None;
    }
    let mut count = 0;
    let mut groups = vec![0];
    let mut end = cleaned;
    let mut at = cleaned;
    while let Some(&byte) = bytes.get(at) {
        if byte.is_ascii_digit() && count < 15 {
            count += 1;
            if let Some(group) = groups.last_mut() {
                *group += 1;
            }
            end = at + 1;
        } else if b" -./()".contains(&byte) && at < end + 2 {
            if groups.last() != Some(&0) {
                groups.push(0);
            }
        } else {
            break;
        }
        at += 1;
    }
    groups.retain(|&group| group > 0);
    let before = start.checked_sub(1).map(|at| bytes[at]);
    if before.is_some_and(|b| b.is_ascii_alphanumeric() || b"_.-/+(".contains(&b))
        || bytes
            .get(end)
            .is_some_and(|b| b.is_ascii_alphanumeric() || b"_:".contains(b))
    {
        return None;
    }
    let chinese = count == 11
        && bytes[cleaned] == b'1'
        && matches!(bytes[cleaned + 1], b'3'..=b'9')
        && matches!(groups.as_slice(), [11] | [3, 4, 4]);
    let american = matches!(groups.as_slice(), [3, 3, 4] | [1, 3, 3, 4]);
    let announced = count >= 6 && follows(text, start, CALLS);
    (international && count >= 8 || chinese || american || announced).then_some(Found {
        range: start..end,
        kind: Secret::Phone,
    })
}
