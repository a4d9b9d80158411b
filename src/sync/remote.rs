//! Which repository a store is synced with: two words in a file beside it.

use std::fs;
use std::io;
use std::path::Path;

use serde_json::{Value, json};

use crate::error::{Failure, Kind};
use crate::files::{Readers, replace};
use crate::model::is_hidden;

const LONGEST: usize = 2048;

/// A repository and the branch in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remote {
    /// Its address, as git takes it.
    pub url: String,
    /// The branch.
    pub branch: String,
}

impl Remote {
    /// Takes an address and a branch as they were typed. The path of a folder here is made one that holds everywhere.
    ///
    /// # Errors
    /// What git would take for something else than an address and a branch.
    pub fn parse(url: &str, branch: &str) -> Result<Self, Failure> {
        let url = url.trim();
        let is_odd = |c: char| is_hidden(c) || c.is_control();
        if url.is_empty() || url.starts_with('-') || url.len() > LONGEST || url.chars().any(is_odd)
        {
            return Err(Failure::usage("that is no address of a repository").hint(
                "for example git@github.com:me/aizo.git, https://…, or the path of a bare repository",
            ));
        }
        let is_name = |name: &str| {
            name.chars()
                .all(|c| c.is_alphanumeric() || "+-.".contains(c))
        };
        if url.split_once("::").is_some_and(|(name, _)| is_name(name)) {
            return Err(Failure::usage(format!("`{url}` would run a program"))
                .hint("addresses of git, ssh, http, https and of files are spoken"));
        }
        if !is_branch(branch) {
            return Err(Failure::usage(format!("`{branch}` is no name of a branch")));
        }
        let here = fs::canonicalize(url).ok().filter(|path| path.is_dir());
        let here = here.and_then(|path| path.to_str().map(str::to_owned));
        Ok(Remote {
            url: here.unwrap_or_else(|| url.to_owned()),
            branch: branch.to_owned(),
        })
    }

    /// Reads the file; nothing where there is none.
    ///
    /// # Errors
    /// It cannot be read, or is damaged.
    pub fn load(path: &Path) -> Result<Option<Self>, Failure> {
        let damaged = || {
            Failure::new(Kind::Sync, format!("{} is damaged", path.display()))
                .hint("remove it, and set the sync up again: aizo sync init URL")
        };
        let text = match fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => {
                let message = format!("cannot read {}: {error}", path.display());
                return Err(Failure::new(Kind::Io, message));
            }
        };
        let value: Value = serde_json::from_str(&text).map_err(|_| damaged())?;
        let field = |name: &str| value.get(name).and_then(Value::as_str).ok_or_else(damaged);
        Remote::parse(field("url")?, field("branch")?).map(Some)
    }

    /// Writes the file.
    ///
    /// # Errors
    /// What the file system reports.
    pub fn save(&self, path: &Path) -> Result<(), Failure> {
        let text = format!("{:#}\n", json!({"url": self.url, "branch": self.branch}));
        replace(path, text.as_bytes(), Readers::Owner).map_err(|error| {
            Failure::new(
                Kind::Io,
                format!("cannot write {}: {error}", path.display()),
            )
        })
    }
}

fn is_branch(name: &str) -> bool {
    let is_part = |part: &str| {
        !part.is_empty()
            && !part.starts_with(['.', '-'])
            && !part.ends_with('.')
            && !part.ends_with(".lock")
            && !part.contains("..")
            && part
                .chars()
                .all(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | '+'))
    };
    name.len() <= 200 && name.split('/').all(is_part)
}

/// An address as people may see it: without the login in it.
pub fn shown(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else {
        return url.to_owned();
    };
    let host = rest.find('/').unwrap_or(rest.len());
    match rest[..host].rfind('@') {
        Some(at) => format!("{scheme}://{}", &rest[at + 1..]),
        None => url.to_owned(),
    }
}

/// An address as git is told it where everybody on this machine can read it, and the settings that tell it the login aside.
pub(super) fn spoken(url: &str) -> (String, Vec<(String, String)>) {
    let plain = shown(url);
    let Some((scheme, rest)) = url.split_once("://").filter(|_| plain != url) else {
        return (plain, Vec::new());
    };
    let host = &plain[scheme.len() + 3..];
    let login = &rest[..rest.len() - host.len() - 1];
    let (user, password) = match login.split_once(':') {
        Some((user, password)) => (user, Some(password)),
        None => (login, None),
    };
    if !scheme.to_ascii_lowercase().starts_with("http") {
        return (format!("{scheme}://{user}@{host}"), Vec::new());
    }
    let user = decoded(user);
    let settings = match password.map(decoded) {
        Some(password) => {
            let login = base64(&[user.as_slice(), b":", &password].concat());
            vec![
                ("http.extraHeader", format!("Authorization: Basic {login}")),
                // Wherever a server sends one to, the login does not go.
                ("http.followRedirects", "false".to_owned()),
            ]
        }
        None => vec![(
            "credential.username",
            String::from_utf8_lossy(&user).into_owned(),
        )],
    };
    let settings = settings.into_iter();
    (
        plain,
        settings
            .map(|(name, value)| (name.to_owned(), value))
            .collect(),
    )
}

/// What stands for itself and after a `%` in a part of an address.
fn decoded(text: &str) -> Vec<u8> {
    let (mut bytes, mut rest) = (Vec::new(), text.as_bytes());
    while let Some((&first, more)) = rest.split_first() {
        let digits = more.get(..2).filter(|_| first == b'%');
        let code = digits
            .and_then(|digits| std::str::from_utf8(digits).ok())
            .and_then(|digits| u8::from_str_radix(digits, 16).ok());
        bytes.push(code.unwrap_or(first));
        rest = if code.is_some() { &more[2..] } else { more };
    }
    bytes
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for three in bytes.chunks(3) {
        let bits = (0..3).fold(0, |bits, place| {
            bits << 8 | usize::from(three.get(place).copied().unwrap_or(0))
        });
        for place in 0..4 {
            let digit = DIGITS[bits >> (18 - 6 * place) & 63];
            text.push(if place <= three.len() {
                digit.into()
            } else {
                '='
            });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case("git@github.com:me/aizo.git", true)]
    #[case("ssh://git@host:22/me/aizo.git", true)]
    #[case("https://host/me/aizo.git", true)]
    #[case("ssh://git@[::1]/me/aizo.git", true)]
    #[case("--upload-pack=touch /tmp/x", false)]
    #[case("-u", false)]
    #[case("ext::sh -c 'touch /tmp/x'", false)]
    #[case("", false)]
    #[case("https://host/a\u{0}b", false)]
    #[case("https://host/a\nb", false)]
    fn an_address_is_nothing_else(#[case] url: &str, #[case] is_one: bool) {
        assert_eq!(Remote::parse(url, "main").is_ok(), is_one);
    }

    #[rstest]
    #[case("main", true)]
    #[case("notes/aizo-2", true)]
    #[case("-d", false)]
    #[case("a..b", false)]
    #[case("a.lock", false)]
    #[case("a b", false)]
    #[case("a:b", false)]
    #[case("/a", false)]
    #[case("", false)]
    fn a_branch_is_nothing_else(#[case] name: &str, #[case] is_one: bool) {
        assert_eq!(Remote::parse("host:me", name).is_ok(), is_one);
    }

    #[rstest]
    #[case(
        "https://me:a%40b@host:8/a.git",
        "https://host:8/a.git",
        Some("Authorization: Basic bWU6YUBi")
    )]
    #[case(
        "https://me:pass@host",
        "https://host",
        Some("Authorization: Basic bWU6cGFzcw==")
    )]
    #[case(
        "HTTP://m:100%@host/",
        "HTTP://host/",
        Some("Authorization: Basic bToxMDAl")
    )]
    #[case("https://token@host/a@b", "https://host/a@b", Some("token"))]
    #[case("ssh://git:secret@host/a.git", "ssh://git@host/a.git", None)]
    #[case("ssh://git@[::1]/a.git", "ssh://git@[::1]/a.git", None)]
    #[case("git@host:me/a.git", "git@host:me/a.git", None)]
    #[case("/home/me@work/a.git", "/home/me@work/a.git", None)]
    fn a_login_is_told_aside(#[case] url: &str, #[case] seen: &str, #[case] aside: Option<&str>) {
        let (spoken, settings) = spoken(url);
        let told = settings.first().map(|(_, value)| value.as_str());
        assert_eq!((spoken.as_str(), told), (seen, aside));
    }

    #[rstest]
    #[case("https://me:secret@host/a.git", "https://host/a.git")]
    #[case("https://token@host", "https://host")]
    #[case("https://host/a@b", "https://host/a@b")]
    #[case("git@host:me/a.git", "git@host:me/a.git")]
    fn nobody_is_shown_a_login(#[case] url: &str, #[case] seen: &str) {
        assert_eq!(shown(url), seen);
    }
}
