//! Values that a name in front of them calls a password, a key, a token or a secret: `password = …`, `"api_key": "…"`,
//! `Authorization: Bearer …`, `--password …`, `my password is …`, `密码：…`.

use super::judge::{entropy, is_password, is_random, is_stand_in};
use super::steps::Steps;
use super::{Found, Secret};
use crate::model::beginning;

/// The longest name and the longest value that are looked at, in bytes.
const LONGEST_NAME: usize = 64;
const LONGEST_VALUE: usize = 512;
/// So much of a command is looked at for the program that an option belongs to.
const LONGEST_COMMAND: usize = 1_024;
/// Steps for looking at it.
const FOR_A_COMMAND: usize = 128;
/// Steps for what may be a name.
const FOR_A_NAME: usize = 16;

/// How names end, folded and without the signs in them, and what they name.
const NAMES: &[(&str, Secret)] = &[
    ("password", Secret::Password),
    ("passwd", Secret::Password),
    ("passphrase", Secret::Password),
    ("passcode", Secret::Password),
    ("pwd", Secret::Password),
    ("passwort", Secret::Password),
    ("kennwort", Secret::Password),
    ("contraseña", Secret::Password),
    ("contrasena", Secret::Password),
    ("motdepasse", Secret::Password),
    ("mdp", Secret::Password),
    ("senha", Secret::Password),
    ("palavrapasse", Secret::Password),
    ("wachtwoord", Secret::Password),
    ("hasło", Secret::Password),
    ("haslo", Secret::Password),
    ("parola", Secret::Password),
    ("şifre", Secret::Password),
    ("lösenord", Secret::Password),
    ("пароль", Secret::Password),
    ("пароля", Secret::Password),
    ("密码", Secret::Password),
    ("密碼", Secret::Password),
    ("口令", Secret::Password),
    ("パスワード", Secret::Password),
    ("비밀번호", Secret::Password),
    ("암호", Secret::Password),
    ("المرور", Secret::Password),
    ("पासवर्ड", Secret::Password),
    ("apikey", Secret::ApiKey),
    ("accesskey", Secret::ApiKey),
    ("accesskeyid", Secret::ApiKey),
    ("secretkey", Secret::ApiKey),
    ("accountkey", Secret::ApiKey),
    ("storagekey", Secret::ApiKey),
    ("authkey", Secret::ApiKey),
    ("signingkey", Secret::ApiKey),
    ("encryptionkey", Secret::ApiKey),
    ("masterkey", Secret::ApiKey),
    ("secretkeybase", Secret::ApiKey),
    ("subscriptionkey", Secret::ApiKey),
    ("privatekey", Secret::PrivateKey),
    ("密钥", Secret::ApiKey),
    ("密鑰", Secret::ApiKey),
    ("秘钥", Secret::ApiKey),
    ("金鑰", Secret::ApiKey),
    ("apiキー", Secret::ApiKey),
    ("token", Secret::AccessToken),
    ("令牌", Secret::AccessToken),
    ("トークン", Secret::AccessToken),
    ("bearer", Secret::AccessToken),
    ("sessionid", Secret::AccessToken),
    ("secret", Secret::Other),
    ("credential", Secret::Other),
    ("credentials", Secret::Other),
    ("sharedaccesssignature", Secret::Other),
];

/// The last two bytes of every name, of `is` and `是` that may stand behind it, and of `value`, so that most words are given up
/// at once.
const ENDINGS: [[u8; 2]; NAMES.len() + 9] = {
    let more = [
        *b"ss",
        *b"pw",
        *b"ig",
        *b"on",
        *b"is",
        [0x98, 0xAF],
        *b"ey",
        *b"th",
        *b"ue",
    ];
    let mut all = [[0; 2]; NAMES.len() + 9];
    let mut index = 0;
    while index < NAMES.len() {
        let name = NAMES[index].0.as_bytes();
        all[index] = [name[name.len() - 2], name[name.len() - 1]];
        index += 1;
    }
    while index < all.len() {
        all[index] = more[index - NAMES.len()];
        index += 1;
    }
    all
};

/// Which bytes are the last of a name.
const LAST: [bool; 256] = {
    let mut last = [false; 256];
    let mut index = 0;
    while index < ENDINGS.len() {
        last[ENDINGS[index][1] as usize] = true;
        index += 1;
    }
    last
};

/// Which bytes may stand between a name and its value.
const BETWEEN: [bool; 256] = {
    let mut between = [false; 256];
    let signs = b" \t\"'`*])\\:0123456789";
    let mut index = 0;
    while index < signs.len() {
        between[signs[index] as usize] = true;
        index += 1;
    }
    between
};

/// Whether a name could end before a place, by its last bytes.
fn may_be_named(bytes: &[u8], at: usize) -> bool {
    let least = at.saturating_sub(LONGEST_NAME);
    let between = bytes[least..at]
        .iter()
        .rev()
        .take_while(|byte| BETWEEN[usize::from(**byte)]);
    let end = at - between.count();
    let Some([before, last]) = end.checked_sub(2).and_then(|from| bytes.get(from..end)) else {
        return false;
    };
    let (before, last) = (before.to_ascii_lowercase(), last.to_ascii_lowercase());
    // Letters of other scripts may be capitals, which fold to other bytes.
    LAST[usize::from(last)] && ENDINGS.contains(&[before, last])
        || last >= 0xC0
        || before >= 0xC0 && last >= 0x80
}

/// What a folded name calls its value; nothing when it is no name of a secret.
pub(super) fn kind_of_name(name: &str) -> Option<Secret> {
    let bare: String = name.chars().filter(|c| c.is_alphanumeric()).collect();
    let bare = bare.trim_end_matches(|c: char| c.is_ascii_digit());
    let exact = match bare {
        "pass" | "pw" => Some(Secret::Password),
        "sig" => Some(Secret::Other),
        "auth" if name == "_auth" => Some(Secret::Other),
        _ if name.ends_with("_pass") || name.ends_with("-pass") => Some(Secret::Password),
        _ => None,
    };
    exact.or_else(|| {
        NAMES
            .iter()
            .find(|(ending, _)| bare.ends_with(ending))
            .map(|(_, kind)| *kind)
    })
}

/// The name that ends before a place, its signs and quotes left out, and the one word before it when it is
/// `key` or `token` (`API key:`).
fn name_before(text: &str, at: usize) -> &str {
    const AROUND: [char; 11] = [' ', '\t', '"', '\'', '`', '*', ']', ')', '\\', ':', '”'];
    let mut from = at.saturating_sub(LONGEST_NAME);
    while !text.is_char_boundary(from) {
        from += 1;
    }
    let mut before = text[from..at].trim_end_matches(AROUND);
    // `my password is: …`, `密码是：…`
    if let Some(name) = before
        .strip_suffix(" is")
        .or_else(|| before.strip_suffix('是'))
    {
        before = name.trim_end_matches(AROUND);
    }
    // A bracket with a remark between: `密码（wifi）：`.
    let start = |text: &str| {
        text.char_indices()
            .rev()
            .find(|&(_, c)| !(c.is_alphanumeric() || matches!(c, '_' | '-' | '.') || is_joining(c)))
            .map_or(0, |(at, c)| at + c.len_utf8())
    };
    let word = start(before);
    if matches!(
        before[word..].to_ascii_lowercase().as_str(),
        "key" | "passe" | "キー"
    ) {
        let gap = before[..word].trim_end_matches(' ');
        let mut first = start(gap);
        if before[word..].eq_ignore_ascii_case("passe") {
            first = start(gap[..first].trim_end_matches(' '));
        }
        return &before[first..];
    }
    &before[word..]
}

/// Marks that stand over or under letters and are part of a word.
fn is_joining(c: char) -> bool {
    matches!(c as u32, 0x0300..=0x036F | 0x0900..=0x097F | 0x064B..=0x0652)
}

/// The value of the name that ends before `sign`; it begins at or after `from`.
pub(super) fn at(text: &str, sign: usize, from: usize, steps: &Steps<'_>) -> Option<Found> {
    if !may_be_named(text.as_bytes(), sign) {
        return None;
    }
    steps.take(FOR_A_NAME)?;
    let name = name_before(text, sign);
    let lower = name.to_lowercase();
    if lower.ends_with("authorization") {
        return authorization(text, from, steps);
    }
    // `PASSWORD=…` in a file of settings, where letters alone may be a password.
    let is_setting = text.as_bytes()[sign] == b'='
        && name.bytes().any(|b| b.is_ascii_uppercase())
        && !name.bytes().any(|b| b.is_ascii_lowercase());
    let kind = kind_of_name(&lower)
        .or_else(|| kind_of_setting(&lower).filter(|_| is_setting))
        .or_else(|| kind_of_pair(text, sign, &lower))?;
    let spoken = matches!(text[sign..from].chars().next(), Some('是' | '为' | '為'));
    value(text, from, kind, is_setting && !spoken, steps)
}

/// What the name of a setting calls its value that ends in `_KEY`: `OPENAI_KEY`. Some keys are no secrets.
fn kind_of_setting(name: &str) -> Option<Secret> {
    const NO_SECRETS: [&str; 9] = [
        "cache",
        "gpg",
        "host",
        "primary",
        "foreign",
        "partition",
        "sort",
        "pub",
        "index",
    ];
    let owner = name.strip_suffix("_key")?;
    let is_secret = !NO_SECRETS.iter().any(|word| owner.contains(word));
    is_secret.then_some(Secret::ApiKey)
}

/// What a value is called that stands beside its name: `name: DB_PASSWORD, value: …`, `key="ApiKey" value="…"`.
fn kind_of_pair(text: &str, sign: usize, name: &str) -> Option<Secret> {
    const BETWEEN: &[char] = &[' ', '\t', '\r', '\n', '"', '\'', ',', ':', '=', '-'];
    if name != "value" {
        return None;
    }
    let mut from = sign.saturating_sub(2 * LONGEST_NAME);
    while !text.is_char_boundary(from) {
        from += 1;
    }
    let before = text[from..sign].trim_end_matches(BETWEEN);
    let end = before.len().checked_sub(name.len())?;
    let before = before.get(..end)?.trim_end_matches(BETWEEN);
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    let beside = before.trim_end_matches(is_part).len();
    let (label, beside) = before.split_at(beside);
    let label = label.trim_end_matches(BETWEEN);
    let is_named = ["name", "key"].iter().any(|word| {
        let start = label.len().checked_sub(word.len());
        start
            .and_then(|start| label.get(start..))
            .is_some_and(|end| end.eq_ignore_ascii_case(word))
    });
    is_named.then(|| kind_of_name(&beside.to_lowercase()))?
}

/// The value of a constant of PHP, of which the bracket is here: `define('DB_PASSWORD', '…')`.
pub(super) fn defined(text: &str, bracket: usize, steps: &Steps<'_>) -> Option<Found> {
    steps.take(FOR_A_NAME)?;
    let rest = beginning(&text[bracket + 1..], 2 * LONGEST_NAME);
    let comma = rest.find(',')?;
    let name = rest[..comma].trim_matches([' ', '"', '\'']);
    let kind = kind_of_name(&name.to_lowercase())?;
    let is_quoted = rest[comma + 1..].trim_start().starts_with(['"', '\'']);
    let from = bracket + 1 + comma + 1;
    is_quoted.then(|| value(text, from, kind, true, steps))?
}

/// `Authorization: Bearer …`
fn authorization(text: &str, from: usize, steps: &Steps<'_>) -> Option<Found> {
    let rest = &text[from..];
    let start = from + (rest.len() - rest.trim_start_matches([' ', '"', '\'', '`']).len());
    let scheme = ["bearer ", "basic ", "token ", "apikey ", "digest "]
        .iter()
        .find(|scheme| {
            text.get(start..start + scheme.len())
                .is_some_and(|there| there.eq_ignore_ascii_case(scheme))
        })?;
    bearer(text, start + scheme.len(), 8, steps)
}

/// The credentials that begin at a place.
fn bearer(text: &str, from: usize, least: usize, steps: &Steps<'_>) -> Option<Found> {
    let length = text[from..]
        .bytes()
        .take_while(|b| b.is_ascii_alphanumeric() || b"-._~+/=".contains(b))
        .count();
    steps.take(length)?;
    let value = text[from..from + length].trim_end_matches('.');
    let upper = value.bytes().any(|b| b.is_ascii_uppercase());
    let lower = value.bytes().any(|b| b.is_ascii_lowercase());
    let digit = value.bytes().any(|b| b.is_ascii_digit());
    (value.len() >= least
        && (digit && (upper || lower) || upper && lower && value.len() >= 12)
        && !is_stand_in(value)
        && entropy(value) >= 2.5)
        .then_some(Found {
            range: from..from + value.len(),
            kind: Secret::AccessToken,
        })
}

/// Words after which a value stands without a sign: `Bearer …`, `password is …`.
pub(super) fn word(text: &str, start: usize, end: usize, steps: &Steps<'_>) -> Option<Found> {
    let word = &text[start..end];
    match word {
        "Bearer" | "bearer" | "BEARER" => {
            let found = bearer(text, end + 1, 16, steps)?;
            is_random(&text[found.range.clone()]).then_some(found)
        }
        "is" | "ist" | "est" | "es" | "to" | "was" => {
            if !may_be_named(text.as_bytes(), start) {
                return None;
            }
            steps.take(FOR_A_NAME)?;
            let name = name_before(text, start).to_lowercase();
            value(text, end, kind_of_name(&name)?, false, steps)
        }
        // `ENV API_KEY …` of an image, `setenv API_KEY …` of a shell.
        "ENV" | "setenv" => {
            steps.take(FOR_A_NAME)?;
            let rest = beginning(&text[end + 1..], LONGEST_NAME);
            let (name, _) = rest.split_once(' ')?;
            let is_name = name
                .bytes()
                .all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_');
            let lower = name.to_lowercase();
            let kind = kind_of_name(&lower).or_else(|| kind_of_setting(&lower));
            value(
                text,
                end + 1 + name.len(),
                kind.filter(|_| is_name)?,
                true,
                steps,
            )
        }
        "token" | "Token" => {
            let found = bearer(text, end + 1, 32, steps)?;
            is_random(&text[found.range.clone()]).then_some(found)
        }
        _ => None,
    }
}

/// Options of commands: `--password …`, `-pX…` of a database's client, `-u name:password`.
pub(super) fn option(text: &str, start: usize, end: usize, steps: &Steps<'_>) -> Option<Found> {
    let bytes = text.as_bytes();
    let word = &text[start..end];
    if let Some(name) = word.strip_prefix("--")
        && bytes.get(end) == Some(&b' ')
    {
        if name == "user" {
            return user_and_password(text, end + 1, steps);
        }
        return value(text, end, kind_of_name(name)?, false, steps);
    }
    if (word == "-u") && bytes.get(end) == Some(&b' ') {
        return user_and_password(text, end + 1, steps);
    }
    let is_spaced = bytes.get(end) == Some(&b' ');
    let spaced = SPACED
        .iter()
        .filter(|(_, option)| is_spaced && word == *option);
    let joined = JOINED
        .iter()
        .filter(|(_, option)| word.len() > 4 && word.starts_with(option));
    let mut known = spaced
        .map(|(client, _)| (client, end))
        .chain(joined.map(|(client, option)| (client, start + option.len())))
        .peekable();
    known.peek()?;
    steps.take(FOR_A_COMMAND)?;
    let near = beginning(&text[..start], start.saturating_sub(LONGEST_COMMAND)).len();
    let line = text[near..start].rsplit('\n').next().unwrap_or_default();
    let (_, from) = known.find(|(client, _)| line.contains(**client))?;
    value(text, from, Secret::Password, true, steps)
}

/// Programs whose option is followed by a password.
const SPACED: &[(&str, &str)] = &[
    ("sshpass", "-p"),
    ("docker login", "-p"),
    ("podman login", "-p"),
    ("mongosh", "-p"),
    ("redis-cli", "-a"),
    ("sqlcmd", "-P"),
    ("ldapsearch", "-w"),
    ("keytool", "-storepass"),
    ("keytool", "-keypass"),
    ("zip", "-P"),
];
/// Programs whose password is written together with the option.
const JOINED: &[(&str, &str)] = &[
    ("mysql", "-p"),
    ("mariadb", "-p"),
    ("sshpass", "-p"),
    ("7z", "-p"),
];

fn user_and_password(text: &str, from: usize, steps: &Steps<'_>) -> Option<Found> {
    steps.take(FOR_A_NAME)?;
    let rest = beginning(&text[from..], LONGEST_VALUE);
    let length = rest.find(char::is_whitespace).unwrap_or(rest.len());
    let (user, _) = rest[..length].split_once(':')?;
    if user.contains('/') {
        return None;
    }
    value(text, from + user.len() + 1, Secret::Password, true, steps)
}

/// The value that begins at or after a place, if it is one of this kind.
fn value(text: &str, from: usize, kind: Secret, plain: bool, steps: &Steps<'_>) -> Option<Found> {
    const BEFORE: [char; 12] = [
        ' ', '\t', '=', '>', '*', ':', '：', '“', '「', '『', '＝', '\\',
    ];
    let rest = &text[from..];
    let mut start = from + (rest.len() - rest.trim_start_matches(BEFORE).len());
    steps.take(start - from)?;
    let opened = text[start..].chars().next()?;
    let quoted = matches!(opened, '"' | '\'' | '`');
    if quoted {
        start += 1;
    }
    let rest = &text[start..];
    let length = rest
        .char_indices()
        .take_while(|(at, _)| *at < LONGEST_VALUE)
        .find(|&(_, c)| {
            if quoted {
                c == opened || matches!(c, '\n' | '\r' | '\\' | '[')
            } else {
                c.is_whitespace()
                    || matches!(
                        c,
                        '"' | '\'' | '`' | ',' | ';' | ')' | ']' | '}' | '<' | '>' | '['
                    )
                    || matches!(
                        c,
                        '。' | '，' | '；' | '）' | '”' | '」' | '』' | '、' | '！' | '？' | '…'
                    )
                    || c == '&' && kind != Secret::Password
            }
        })
        .map_or(rest.len().min(LONGEST_VALUE), |(at, _)| at);
    steps.take(length)?;
    let mut length = length;
    while !rest.is_char_boundary(length) {
        length -= 1;
    }
    let mut value = &rest[..length];
    if !quoted {
        value = value.trim_end_matches(['.', ':', '*', '\\', '，']);
        // `password: hunter2这样` ends where the other script begins.
        if let Some(other) = value.find(|c: char| ('\u{2E80}'..'\u{FF00}').contains(&c)) {
            value = &value[..other];
        }
    }
    let is_one = match kind {
        Secret::Password => is_password(value, plain || quoted),
        _ => is_random(value),
    };
    is_one.then(|| Found {
        range: start..start + value.len(),
        kind,
    })
}
