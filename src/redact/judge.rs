//! Tells a value that somebody made up by chance from words, names, numbers and stand-ins.

/// Words that stand where a secret would.
const STAND_INS: &[&str] = &[
    "your",
    "example",
    "sample",
    "placeholder",
    "changeme",
    "change-me",
    "change_me",
    "redacted",
    "dummy",
    "insert",
    "replace",
    "todo",
    "fixme",
    "foobar",
    "secret_here",
    "key_here",
    "key-here",
    "token_here",
    "mein_",
    "tu_",
    "votre",
];

/// Words that say something about a value instead of being one.
const SAID_OF_IT: &[&str] = &[
    "required",
    "optional",
    "true",
    "false",
    "null",
    "none",
    "nil",
    "undefined",
    "string",
    "text",
    "empty",
    "unset",
    "missing",
    "invalid",
    "valid",
    "wrong",
    "expired",
    "hidden",
    "password",
    "passwd",
    "pass",
    "pwd",
    "pw",
    "secret",
    "token",
    "key",
    "apikey",
    "api_key",
    "user",
    "username",
    "test",
    "default",
    "unknown",
    "disabled",
    "enabled",
    "never",
    "always",
    "sha1",
    "sha256",
    "sha512",
    "sha-256",
    "md5",
    "argon2",
    "argon2id",
    "bcrypt",
    "scrypt",
    "pbkdf2",
    "base64",
    "utf8",
    "utf-8",
    "aes256",
    "aes-256",
    "oauth2",
    "hs256",
    "rs256",
    "es256",
    "int64",
    "int32",
    "uint8",
    "n/a",
    "readonly",
];

/// Whether a text stands in for a secret: a variable, a blank to fill in, dots or crosses.
pub(super) fn is_stand_in(value: &str) -> bool {
    let bytes = value.as_bytes();
    let Some(&first) = bytes.first() else {
        return true;
    };
    if matches!(first, b'<' | b'[' | b'{' | b'(') {
        return true;
    }
    if first == b'$' {
        // `$NAME`, `${NAME}`, `$(command)`; a password may begin with a dollar sign too.
        let name = &bytes[1..];
        if name.first().is_some_and(|b| matches!(b, b'{' | b'('))
            || name
                .iter()
                .all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || *b == b'_')
            || name
                .iter()
                .all(|b| b.is_ascii_alphabetic() || *b == b'_' || *b == b'.')
        {
            return true;
        }
    }
    if first == b'%' && bytes.len() > 2 && bytes.ends_with(b"%") {
        return true;
    }
    if value.contains("...") || value.contains('…') || value.contains("${") || value.contains("{{")
    {
        return true;
    }
    // xxxx, ****, 0000, sk-xxxxxxxx: hardly any different characters.
    let mut seen = [false; 256];
    for &byte in bytes {
        seen[usize::from(byte.to_ascii_lowercase())] = true;
    }
    let different = seen.iter().filter(|seen| **seen).count();
    if different <= 2 || bytes.len() >= 16 && different <= 4 {
        return true;
    }
    let lower = value.to_ascii_lowercase();
    lower.contains("xxxx")
        || lower.contains("****")
        || STAND_INS.iter().any(|word| lower.contains(word))
        || SAID_OF_IT.contains(&lower.as_str())
}

/// Whether a text is a place or a time, or something that is asked for elsewhere.
pub(super) fn is_elsewhere(value: &str) -> bool {
    let is_path = ["/", "./", "../", "~/", "C:\\"]
        .iter()
        .any(|start| value.starts_with(start))
        && value
            .bytes()
            .skip(2)
            .any(|b| b == b'/' || b == b'\\' || b == b'.');
    let is_moment = value.bytes().filter(u8::is_ascii_digit).count() >= 6
        && value
            .bytes()
            .all(|b| b.is_ascii_digit() || b"TZ:-+./".contains(&b))
        && value.bytes().any(|b| !b.is_ascii_digit());
    let is_call = value.contains('(')
        && value
            .bytes()
            .next()
            .is_some_and(|b| b.is_ascii_alphabetic())
        && value.split('(').next().is_some_and(is_name);
    is_path || is_moment || is_call || value.contains("://")
}

/// Whether a text is a name in code: `config.secret`, `user_password`, `self.token2`.
fn is_name(value: &str) -> bool {
    value
        .split(['.', ':'])
        .all(|part| part.is_empty() || is_words(part))
}

/// Whether a text is made of words and small numbers with signs between: `rotate-every-90-days`, `utf8`, `v1.2.3`.
pub(super) fn is_words(value: &str) -> bool {
    value
        .split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|part| !part.is_empty())
        .all(|part| {
            let letters = part.bytes().take_while(u8::is_ascii_alphabetic).count();
            let digits = part
                .bytes()
                .skip(letters)
                .take_while(u8::is_ascii_digit)
                .count();
            let rest = part.len() - letters - digits;
            if digits == 0 {
                is_word_of_letters(part)
            } else if letters == 0 {
                digits <= 4
                    && rest <= 3
                    && part.bytes().skip(digits).all(|b| b.is_ascii_alphabetic())
            } else {
                rest == 0 && digits <= 4 && is_word_of_letters(&part[..letters])
            }
        })
}

/// Whether letters read as a word, or as some written together (`nextToken`): few changes of case, and vowels.
fn is_word_of_letters(part: &str) -> bool {
    let bytes = part.as_bytes();
    let changes = bytes
        .windows(2)
        .filter(|pair| pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase())
        .count();
    part.len() <= 32 && changes * 4 <= part.len().max(4)
}

/// The average information in a character, in bits.
pub(super) fn entropy(value: &str) -> f64 {
    let mut counts = [0_u32; 256];
    for byte in value.bytes() {
        counts[usize::from(byte)] += 1;
    }
    let all = value.len().max(1) as f64;
    counts
        .iter()
        .filter(|&&count| count > 0)
        .map(|&count| {
            let share = f64::from(count) / all;
            -share * share.log2()
        })
        .sum()
}

/// Whether the body behind the prefix of a known service is a real one.
pub(super) fn is_key_body(body: &str) -> bool {
    !is_stand_in(body) && !is_words(body) && entropy(body) >= 2.5
}

/// Whether a value that is called a key, token or secret is one: long enough, with digits, and no words.
pub(super) fn is_random(value: &str) -> bool {
    value.len() >= 12
        && value.bytes().any(|b| b.is_ascii_digit())
        && value.bytes().any(|b| b.is_ascii_alphabetic())
        && !is_stand_in(value)
        && !is_elsewhere(value)
        && !is_words(value)
        && entropy(value) >= 2.8
}

/// Whether a value that is called a password is one. `plain` says that letters alone may be one, since the
/// value stands in quotes or in a file of settings.
pub(super) fn is_password(value: &str, plain: bool) -> bool {
    if value.len() < 5 || value.contains(' ') || is_stand_in(value) || is_elsewhere(value) {
        return false;
    }
    let digits = value.bytes().filter(u8::is_ascii_digit).count();
    let letters = value.chars().filter(|c| c.is_alphabetic()).count();
    let strong = value
        .bytes()
        .filter(|b| b"!@#$%^&*+=?~|\\".contains(b))
        .count();
    if digits == value.len() {
        return digits >= 6;
    }
    if value.starts_with('@') && letters + 1 == value.len() {
        return false;
    }
    // `8-12`, `1.5`, `20%`: a number, and no letter.
    if letters == 0 {
        return strong > 0 && digits >= 4 && value.len() >= 8;
    }
    // `8-characters`, `12chars`
    if value.bytes().next().is_some_and(|b| b.is_ascii_digit())
        && value.to_ascii_lowercase().contains("char")
    {
        return false;
    }
    let inner_strong = strong > usize::from(value.ends_with(['!', '?']));
    let inner_digit = digits > 0 && letters > 0;
    if inner_digit && value.len() < 6 && strong == 0 {
        return false;
    }
    inner_digit || inner_strong || plain && value.len() >= 6 && !is_call_or_member(value)
}

fn is_call_or_member(value: &str) -> bool {
    value.contains(['.', '(', '/', ':'])
        || super::assigned::kind_of_name(&value.to_lowercase()).is_some()
}
