//! Finds secrets in a text and puts a readable mark in their place: keys and tokens of known services by their
//! form, passwords and other secrets by what stands before them, private keys, addresses with a password, card
//! and account numbers. Pure: one pass over the bytes, and the matchers run only where something begins that
//! they know. Nothing is built at the start.
//!
//! A secret that looks like ordinary words and stands alone cannot be told from them, and stays.

mod account;
mod address;
mod assigned;
mod judge;
mod pem;
mod provider;
mod scan;
mod steps;

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::ops::Range;

use steps::Steps;

/// What kind of secret was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Secret {
    /// A key of a service, known by its form or by its name.
    ApiKey,
    /// A token that stands for a signed-in person or program.
    AccessToken,
    /// The private half of a pair of keys.
    PrivateKey,
    /// A password or pass phrase.
    Password,
    /// Something that is called a secret.
    Other,
    /// The number of a payment card.
    CardNumber,
    /// An international bank account number.
    BankAccount,
    /// An e-mail address; looked for in quotes alone.
    Email,
    /// A phone number; looked for in quotes alone.
    Phone,
}

impl Secret {
    /// Every kind.
    pub const ALL: [Secret; 9] = [
        Secret::ApiKey,
        Secret::AccessToken,
        Secret::PrivateKey,
        Secret::Password,
        Secret::Other,
        Secret::CardNumber,
        Secret::BankAccount,
        Secret::Email,
        Secret::Phone,
    ];

    /// What stands in its place.
    pub fn mark(self) -> &'static str {
        match self {
            Secret::ApiKey => "[redacted API key]",
            Secret::AccessToken => "[redacted access token]",
            Secret::PrivateKey => "[redacted private key]",
            Secret::Password => "[redacted password]",
            Secret::Other => "[redacted secret]",
            Secret::CardNumber => "[redacted card number]",
            Secret::BankAccount => "[redacted account number]",
            Secret::Email => "[redacted e-mail]",
            Secret::Phone => "[redacted phone number]",
        }
    }

    /// How a sentence names one of them.
    pub fn one(self) -> &'static str {
        match self {
            Secret::ApiKey => "an API key",
            Secret::AccessToken => "an access token",
            Secret::PrivateKey => "a private key",
            Secret::Password => "a password",
            Secret::Other => "a secret",
            Secret::CardNumber => "a card number",
            Secret::BankAccount => "an account number",
            Secret::Email => "an e-mail address",
            Secret::Phone => "a phone number",
        }
    }
}

/// How much is looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// Secrets.
    Any,
    /// Secrets, and what names or reaches a person: for words that were taken from a conversation.
    Quote,
}

/// A text without its secrets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redacted<'t> {
    /// The text; borrowed when nothing was found.
    pub text: Cow<'t, str>,
    /// What was found, in the order of the text.
    pub found: Vec<Secret>,
}

/// A secret and its place.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Found {
    range: Range<usize>,
    kind: Secret,
}

/// How often a text is read again after something was replaced. Twice is enough for all that is known.
const MOST_ROUNDS: usize = 8;

/// Replaces every secret in a text.
pub fn redact(text: &str) -> Redacted<'_> {
    redact_in(text, Scope::Any)
}

/// Replaces everything in a text that the scope looks for. What comes out holds nothing more to replace.
pub fn redact_in(text: &str, scope: Scope) -> Redacted<'_> {
    let mut result = Redacted {
        text: Cow::Borrowed(text),
        found: Vec::new(),
    };
    for _ in 0..MOST_ROUNDS {
        let found = disjoint(scan::scan(&result.text, scope, &without_end()));
        if found.is_empty() {
            break;
        }
        let text = without(&result.text, &found, |_| "");
        result.found.extend(found.iter().map(|found| found.kind));
        result.text = Cow::Owned(text);
    }
    result
}

/// Replaces every secret in a text and keeps every line end, so that it has the lines that it had.
pub fn redact_lines(text: &str) -> String {
    let mut text = text.to_owned();
    for _ in 0..MOST_ROUNDS {
        let found = disjoint(scan::scan(&text, Scope::Any, &without_end()));
        if found.is_empty() {
            break;
        }
        text = without(&text, &found, |secret| {
            secret.matches('\n').collect::<String>()
        });
    }
    text
}

/// The text with a mark in the place of each secret, and behind it what is kept of the secret.
fn without<K: AsRef<str>>(text: &str, found: &[Found], kept: impl Fn(&str) -> K) -> String {
    let mut clean = String::with_capacity(text.len() + 32);
    let mut at = 0;
    for Found { range, kind } in found {
        clean.push_str(&text[at..range.start]);
        clean.push_str(kind.mark());
        clean.push_str(kept(&text[range.clone()]).as_ref());
        at = range.end;
    }
    clean.push_str(&text[at..]);
    clean
}

/// Where the secrets of a text are, in order.
pub fn find(text: &str) -> Vec<(Range<usize>, Secret)> {
    places(scan::scan(text, Scope::Any, &without_end()))
}

/// The same as far as there are steps, and whether all of the text was looked at. `spend` takes so many of them, and says whether
/// they were there.
pub fn find_within(
    text: &str,
    spend: &dyn Fn(usize) -> bool,
) -> (Vec<(Range<usize>, Secret)>, bool) {
    let steps = Steps::new(spend);
    let found = scan::scan(text, Scope::Any, &steps);
    (places(found), steps.are_left())
}

/// As many steps as it takes.
fn without_end() -> Steps<'static> {
    Steps::new(&|_| true)
}

fn places(found: Vec<Found>) -> Vec<(Range<usize>, Secret)> {
    let apart = disjoint(found).into_iter();
    apart.map(|found| (found.range, found.kind)).collect()
}

/// Says what was replaced, for a person; nothing when nothing was.
pub fn sentence(found: impl IntoIterator<Item = Secret>) -> Option<String> {
    let kinds: BTreeSet<Secret> = found.into_iter().collect();
    let names: Vec<&str> = kinds.into_iter().map(Secret::one).collect();
    let (last, others) = names.split_last()?;
    Some(if others.is_empty() {
        format!("{last} was replaced by a mark; aizo stores no secrets")
    } else {
        format!(
            "{} and {last} were replaced by marks; aizo stores no secrets",
            others.join(", ")
        )
    })
}

/// Makes one of those that overlap; the longest says what it is, and of two the one that knows the form.
fn disjoint(mut found: Vec<Found>) -> Vec<Found> {
    found.sort_by_key(|one| (one.range.start, one.range.end));
    let mut apart: Vec<(Found, usize)> = Vec::new();
    for one in found {
        let length = one.range.len();
        match apart.last_mut() {
            Some((last, longest)) if one.range.start < last.range.end => {
                if length >= *longest {
                    last.kind = last.kind.min(one.kind);
                    *longest = length;
                }
                last.range.end = last.range.end.max(one.range.end);
            }
            _ => apart.push((one, length)),
        }
    }
    apart.into_iter().map(|(one, _)| one).collect()
}

#[cfg(test)]
mod tests;
