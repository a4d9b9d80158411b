//! Addresses that carry a password, and addresses that are a secret as a whole.

use super::judge::is_stand_in;
use super::steps::Steps;
use super::{Found, Secret};
use crate::model::beginning;

/// The longest address that is looked at, in bytes.
const LONGEST_ADDRESS: usize = 2_048;

/// Kinds of addresses whose passwords are often written without escaping.
const DATABASES: &[&str] = &[
    "postgres",
    "postgresql",
    "mysql",
    "mariadb",
    "mongodb",
    "mongodb+srv",
    "redis",
    "rediss",
    "amqp",
    "amqps",
    "mssql",
    "sqlserver",
    "clickhouse",
    "cockroachdb",
    "oracle",
    "nats",
    "kafka",
    "ftp",
    "sftp",
    "smtp",
    "smtps",
    "ldap",
    "ldaps",
];

/// Addresses to which anybody who knows them can write.
const HOOKS: &[&str] = &[
    "hooks.slack.com/services/",
    "discord.com/api/webhooks/",
    "discordapp.com/api/webhooks/",
    "oapi.dingtalk.com/robot/send?access_token=",
    "open.feishu.cn/open-apis/bot/v2/hook/",
];

/// The password in the address whose `://` is here.
pub(super) fn with_password(text: &str, colon: usize, steps: &Steps<'_>) -> Option<Found> {
    let from = colon + "://".len();
    let rest = beginning(&text[from..], LONGEST_ADDRESS);
    let whole = || {
        let ends = |c: char| {
            c.is_whitespace() || c.is_control() || matches!(c, '"' | '\'' | '`' | '<' | '>' | '\\')
        };
        let whole = rest.find(ends).map_or(rest, |end| &rest[..end]);
        steps.take(whole.len()).map(|()| whole)
    };
    if let Some(hook) = HOOKS.iter().find(|hook| rest.starts_with(**hook)) {
        let token = whole()?[hook.len()..].trim_end_matches(['.', ',', ')', ';']);
        return (token.len() >= 20 && !is_stand_in(token)).then(|| Found {
            range: from + hook.len()..from + hook.len() + token.len(),
            kind: Secret::AccessToken,
        });
    }
    let before = text[..colon]
        .bytes()
        .rev()
        .take_while(|b| b.is_ascii_alphanumeric() || b"+-.".contains(b))
        .count();
    let scheme = text[colon - before..colon].to_ascii_lowercase();
    let authority = rest.find(['/', '?', '#']).map_or(rest, |end| &rest[..end]);
    let part = if authority.contains('@') {
        let whole = whole()?;
        beginning(whole, authority.len())
    } else if DATABASES.iter().any(|name| scheme.ends_with(name)) {
        whole()?
    } else {
        return None;
    };
    let (person, _) = part.rsplit_once('@')?;
    let (user, password) = person.split_once(':')?;
    // A path, and no password: `mongodb://host:27017/a@b`.
    let is_port = password
        .split('/')
        .next()
        .is_some_and(|port| port.bytes().all(|b| b.is_ascii_digit()))
        && password.contains('/');
    (!password.is_empty() && !is_port && !user.contains('/') && !is_stand_in(password)).then(|| {
        Found {
            range: from + user.len() + 1..from + person.len(),
            kind: Secret::Password,
        }
    })
}
