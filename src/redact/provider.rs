//! Keys and tokens of known services, by how they begin and what follows.

use super::judge::{is_key_body, is_stand_in, is_words};
use super::scan::{is_word, word_end};
use super::steps::Steps;
use super::{Found, Secret};

/// So many bytes of a key tell whether it is one.
const LONGEST_JUDGED: usize = 512;
/// A byte of the rest is looked at by so much faster.
const JUDGED_FASTER: usize = 8;
/// Steps for looking whether a key begins with a prefix.
const FOR_A_PREFIX: usize = 1;

/// What the body behind a prefix is made of.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Body {
    /// Letters, digits, `_` and `-`, at least so many.
    Word(usize),
    /// The same, in parts joined by dots.
    Dotted(usize),
    /// Capital letters and digits, exactly so many.
    Capitals(usize),
    /// Hexadecimal digits, exactly so many; a number may follow a `-`.
    Hex(usize),
}

use Body::{Capitals, Dotted, Hex, Word};
use Secret::{AccessToken, ApiKey, Other, PrivateKey};

/// How the keys of services begin.
const SERVICES: &[(&str, Body, Secret)] = &[
    ("sk-ant-", Word(16), ApiKey),
    ("sk-proj-", Word(16), ApiKey),
    ("sk-svcacct-", Word(16), ApiKey),
    ("sk-admin-", Word(16), ApiKey),
    ("sk-or-v1-", Word(32), ApiKey),
    ("sk-", Word(20), ApiKey),
    ("sk_live_", Word(16), ApiKey),
    ("sk_test_", Word(16), ApiKey),
    ("rk_live_", Word(16), ApiKey),
    ("rk_test_", Word(16), ApiKey),
    ("pk_live_", Word(16), ApiKey),
    ("pk_test_", Word(16), ApiKey),
    ("whsec_", Word(24), Other),
    ("ghp_", Word(30), AccessToken),
    ("gho_", Word(30), AccessToken),
    ("ghu_", Word(30), AccessToken),
    ("ghs_", Word(30), AccessToken),
    ("ghr_", Word(30), AccessToken),
    ("github_pat_", Word(22), AccessToken),
    ("glpat-", Dotted(20), AccessToken),
    ("gldt-", Word(20), AccessToken),
    ("glrt-", Dotted(20), AccessToken),
    ("AKIA", Capitals(16), ApiKey),
    ("ASIA", Capitals(16), ApiKey),
    ("AIza", Word(35), ApiKey),
    ("GOCSPX-", Word(24), Other),
    ("ya29.", Dotted(30), AccessToken),
    ("xoxa-", Word(10), AccessToken),
    ("xoxb-", Word(10), AccessToken),
    ("xoxp-", Word(10), AccessToken),
    ("xoxo-", Word(10), AccessToken),
    ("xoxr-", Word(10), AccessToken),
    ("xoxs-", Word(10), AccessToken),
    ("xoxe-", Word(10), AccessToken),
    ("xapp-", Word(20), AccessToken),
    ("npm_", Word(30), AccessToken),
    ("pypi-", Word(40), AccessToken),
    ("hf_", Word(30), AccessToken),
    ("gsk_", Word(40), ApiKey),
    ("xai-", Word(40), ApiKey),
    ("pplx-", Word(32), ApiKey),
    ("r8_", Word(32), ApiKey),
    ("SG.", Dotted(40), ApiKey),
    ("SK", Hex(32), ApiKey),
    ("dop_v1_", Hex(64), AccessToken),
    ("doo_v1_", Hex(64), AccessToken),
    ("dor_v1_", Hex(64), AccessToken),
    ("shpat_", Word(30), AccessToken),
    ("shpca_", Word(30), AccessToken),
    ("shppa_", Word(30), AccessToken),
    ("shpss_", Word(30), Other),
    ("dapi", Hex(32), AccessToken),
    ("lin_api_", Word(32), ApiKey),
    ("lin_oauth_", Word(32), AccessToken),
    ("secret_", Word(40), ApiKey),
    ("ntn_", Word(36), ApiKey),
    ("hvs.", Dotted(20), AccessToken),
    ("hvb.", Dotted(20), AccessToken),
    ("AGE-SECRET-KEY-1", Word(50), PrivateKey),
    ("b3BlbnNzaC1rZXktdjE", Word(20), PrivateKey),
    ("GOOG1", Capitals(56), ApiKey),
    ("LTAI", Word(16), ApiKey),
    ("AKID", Word(32), ApiKey),
    ("dckr_pat_", Word(24), AccessToken),
    ("tskey-", Word(20), ApiKey),
    ("sbp_", Hex(40), AccessToken),
    ("figd_", Word(36), AccessToken),
    ("glsa_", Word(32), AccessToken),
    ("glc_", Word(32), AccessToken),
    ("NRAK-", Word(24), ApiKey),
    ("PMAK-", Word(32), ApiKey),
    ("sntrys_", Word(32), AccessToken),
    ("sntryu_", Word(32), AccessToken),
    ("pscale_tkn_", Word(32), AccessToken),
    ("pscale_pw_", Word(32), Secret::Password),
    ("dp.pt.", Dotted(40), AccessToken),
    ("pul-", Hex(40), AccessToken),
    ("rubygems_", Hex(48), ApiKey),
    ("ATATT3", Word(40), AccessToken),
    ("lsv2_pt_", Word(32), ApiKey),
    ("nfp_", Word(36), AccessToken),
    ("sq0atp-", Word(22), AccessToken),
    ("sq0csp-", Word(40), Other),
    ("EAACEdEose0cBA", Word(20), AccessToken),
    ("pat-na1-", Word(30), AccessToken),
    ("xkeysib-", Word(60), ApiKey),
    ("rnd_", Word(24), ApiKey),
    ("phx_", Word(32), ApiKey),
    ("tvly-", Word(24), ApiKey),
    ("fc-", Hex(32), ApiKey),
    ("nvapi-", Word(40), ApiKey),
    ("csk-", Word(40), ApiKey),
    ("jina_", Word(40), ApiKey),
    ("e2b_", Hex(40), ApiKey),
    ("re_", Word(30), ApiKey),
    ("key-", Hex(32), ApiKey),
    ("fm2_", Word(40), AccessToken),
    ("ops_eyJ", Word(40), AccessToken),
    ("ATCTT3", Word(40), AccessToken),
    ("HRKU-", Word(36), ApiKey),
    ("pat-eu1-", Word(30), AccessToken),
    ("dp.st.", Dotted(40), AccessToken),
    ("dp.ct.", Dotted(40), AccessToken),
    ("sk.eyJ", Dotted(40), AccessToken),
    ("glptt-", Word(20), AccessToken),
    ("glcbt-", Word(20), AccessToken),
    ("glimt-", Word(20), AccessToken),
    ("glft-", Word(20), AccessToken),
    ("gloas-", Word(40), Other),
    ("GR1348941", Word(20), AccessToken),
    ("aio_", Word(28), ApiKey),
];

/// Which prefixes have a byte at each of their first places, a bit for each of them, so that a word is given up at once at most
/// of its places.
static BEGINS: [[u128; 256]; 2] = {
    let mut begins = [[0; 256]; 2];
    let mut index = 0;
    while index < SERVICES.len() {
        let prefix = SERVICES[index].0.as_bytes();
        begins[0][prefix[0] as usize] |= 1 << index;
        begins[1][prefix[1] as usize] |= 1 << index;
        index += 1;
    }
    begins
};

/// The services whose keys may begin at a place, a bit for each.
fn candidates(bytes: &[u8], at: usize) -> u128 {
    let of = |place: usize| {
        let byte = bytes.get(at + place).copied().unwrap_or_default();
        BEGINS[place][usize::from(byte)]
    };
    of(0) & of(1)
}

/// Where a part of a word begins in which a key could stand: not in the middle of letters, except after an
/// escape like `%3D`.
fn begins_a_part(bytes: &[u8], start: usize, at: usize) -> bool {
    at == start
        || !bytes[at - 1].is_ascii_alphanumeric()
        || at == start + 2 && start > 0 && bytes[start - 1] == b'%'
}

/// Keys in a long word. What is found is followed to its end, also where that lies in another word.
pub(super) fn in_word(
    text: &str,
    start: usize,
    end: usize,
    steps: &Steps<'_>,
    found: &mut Vec<Found>,
) {
    let bytes = text.as_bytes();
    let mut at = start;
    while at + 8 < end {
        if (candidates(bytes, at) != 0 || bytes[at] == b'e')
            && begins_a_part(bytes, start, at)
            && let Some(one) =
                service(text, at, end, steps).or_else(|| signed(text, at, end, steps))
        {
            at = one.range.end;
            found.push(one);
        } else {
            at += 1;
        }
    }
    if at == start || found.last().is_none_or(|one| one.range.end < start) {
        found.extend(chat_bot(text, start, end));
    }
}

/// Keys whose prefix ends in a dot, or holds one.
pub(super) fn dotted(text: &str, start: usize, end: usize, steps: &Steps<'_>) -> Option<Found> {
    let word = &text[start..end];
    if !word.ends_with(['G', 's', 'b', '9', 'p', 'k']) {
        return None;
    }
    ["SG", "hvs", "hvb", "ya29", "dp", "sk"]
        .iter()
        .filter(|prefix| word.ends_with(**prefix))
        .map(|prefix| end - prefix.len())
        .find(|&at| begins_a_part(text.as_bytes(), start, at))
        .and_then(|at| service(text, at, end, steps))
}

/// The key of a service that begins here, in a word that ends at `end`.
fn service(text: &str, at: usize, end: usize, steps: &Steps<'_>) -> Option<Found> {
    let bytes = text.as_bytes();
    let rest = &bytes[at..];
    let mut left = candidates(bytes, at);
    while left != 0 {
        let (prefix, body, kind) = &SERVICES[left.trailing_zeros() as usize];
        left &= left - 1;
        steps.take(FOR_A_PREFIX)?;
        if !rest.starts_with(prefix.as_bytes()) {
            continue;
        }
        let from = at + prefix.len();
        let end_in = |bytes: &[u8]| match body {
            Dotted(_) => dotted_end(bytes, from),
            _ if *kind == PrivateKey => armoured_end(bytes, from),
            _ => end.min(bytes.len()),
        };
        let part = &text[from..end_in(&bytes[..bytes.len().min(from + LONGEST_JUDGED)])];
        steps.take(part.len())?;
        let fits = match *body {
            // Short prefixes are those of words too: `sk-learn`, `hf_transfer`.
            Word(least) | Dotted(least) => part.len() >= least && is_key_body(part),
            Capitals(length) => {
                part.len() == length
                    && part
                        .bytes()
                        .all(|b| b.is_ascii_uppercase() || b.is_ascii_digit())
                    && !is_stand_in(part)
            }
            Hex(length) => {
                let (digits, number) = part.split_once('-').unwrap_or((part, ""));
                digits.len() == length
                    && digits.bytes().all(|b| b.is_ascii_hexdigit())
                    && number.bytes().all(|b| b.is_ascii_digit())
                    && !is_stand_in(digits)
            }
        };
        if fits {
            let end = end_in(bytes);
            steps.take((end - from) / JUDGED_FASTER)?;
            return Some(Found {
                range: at..end,
                kind: *kind,
            });
        }
    }
    None
}

/// Where words that are joined by dots end.
fn dotted_end(bytes: &[u8], from: usize) -> usize {
    let mut end = word_end(bytes, from);
    while bytes.get(end) == Some(&b'.') && bytes.get(end + 1).is_some_and(|b| is_word(*b)) {
        end = word_end(bytes, end + 1);
    }
    end
}

/// Where letters of base 64 end.
fn armoured_end(bytes: &[u8], from: usize) -> usize {
    let letters = bytes[from..].iter();
    from + letters
        .take_while(|b| is_word(**b) || b"+/=".contains(b))
        .count()
}

/// A signed token: parts of base 64 joined by dots, the first of which is the JSON text `{"…`. A cut off one
/// still holds what was signed.
fn signed(text: &str, at: usize, end: usize, steps: &Steps<'_>) -> Option<Found> {
    let bytes = text.as_bytes();
    let second = end + 1;
    if !text[at..].starts_with("eyJ") || end - at < 12 || bytes.get(end) != Some(&b'.') {
        return None;
    }
    let near = &bytes[..bytes.len().min(second + LONGEST_JUDGED)];
    let close = word_end(near, second.min(bytes.len()));
    steps.take(close - second)?;
    if close - second < 8 || !text[second..].starts_with("eyJ") && bytes.get(close) != Some(&b'.') {
        return None;
    }
    let close = dotted_end(bytes, second);
    steps.take((close - second) / JUDGED_FASTER)?;
    Some(Found {
        range: at..close,
        kind: AccessToken,
    })
}

/// The token of a Discord bot: its number in base 64, a time, and a signature.
fn chat_bot(text: &str, start: usize, end: usize) -> Option<Found> {
    let bytes = text.as_bytes();
    if !matches!(bytes[start], b'M' | b'N' | b'O')
        || !(23..=28).contains(&(end - start))
        || bytes.get(end) != Some(&b'.')
    {
        return None;
    }
    let middle = word_end(bytes, end + 1);
    if !(6..=7).contains(&(middle - end - 1)) || bytes.get(middle) != Some(&b'.') {
        return None;
    }
    let close = word_end(bytes, middle + 1);
    let whole = &text[start..close];
    (close - middle > 27 && !is_words(whole) && !is_stand_in(whole)).then_some(Found {
        range: start..close,
        kind: AccessToken,
    })
}

/// The token of a Telegram bot: its number, a colon, and 35 characters.
pub(super) fn bot_token(text: &str, start: usize, end: usize) -> Option<Found> {
    let bytes = text.as_bytes();
    if !(8..=10).contains(&(end - start))
        || bytes.get(end) != Some(&b':')
        || !bytes[start..end].iter().all(u8::is_ascii_digit)
    {
        return None;
    }
    let close = word_end(bytes, end + 1);
    let body = &text[end + 1..close];
    (34..=36).contains(&body.len()).then_some(())?;
    is_key_body(body).then_some(Found {
        range: start..close,
        kind: AccessToken,
    })
}
