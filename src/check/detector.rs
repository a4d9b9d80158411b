//! The detectors: what a regular expression cannot tell, under a name. And which of them an item names by itself.

use std::ops::Range;

use super::git::{self, Aim, Branches};
use super::matter::{Kind, Matter, Run};
use super::prose::Medium;
use super::{dash, emoji, remove};

/// A detector.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Detector {
    /// Characters that are shown as pictures.
    Emoji,
    /// Em dashes, and spaced hyphens that stand for them.
    EmDash,
    /// `git push` with force.
    ForcePush,
    /// `rm` with recursion and force.
    RmRf,
    /// `git push` to the branches that the item names, or to main and master.
    Push,
    /// Keys, tokens, passwords.
    Secret,
}

/// What an entry is about, as far as it narrows a detector.
#[derive(Debug, Clone, Default)]
pub struct Bounds {
    /// Branches that a push is forbidden to.
    pub branches: Branches,
    /// Whether only the messages of commits are meant.
    pub commits: bool,
    /// Whether only code is meant.
    pub code: bool,
    /// Whether looking at something is forbidden, and not only doing something with it.
    pub reading: bool,
}

/// So many things in a command are looked at that may be only looked for.
pub const MOST_LOOKED_FOR: usize = 64;

impl Bounds {
    /// Reads an item.
    pub fn of(item: &str) -> Self {
        let lower = item.to_lowercase();
        let has = |words: &[&str]| words.iter().any(|word| lower.contains(word));
        let commits = has(&["commit", "提交", "コミット", "커밋", "коммит"]);
        let code = has(&["code", "代码", "コード", "코드", "код"]);
        // Where other places are named too, the rule is not about messages of commits alone.
        let elsewhere = code
            || has(&[
                "doc", "comment", "file", "readme", "text", "answer", "repl", "mail", "文档",
                "注释", "文件", "回答",
            ]);
        Bounds {
            branches: Branches::named_in(item),
            commits: commits && !elsewhere,
            code: !commits && code,
            reading: has(READING_PARTS)
                || lower
                    .split(|c: char| !c.is_alphanumeric())
                    .any(|word| READING.contains(&word)),
        }
    }
}

/// Words of an item that forbids to look at something.
const READING: &[&str] = &[
    "read",
    "reading",
    "open",
    "opening",
    "access",
    "accessing",
    "view",
    "viewing",
    "look",
    "looking",
    "touch",
    "touching",
    "print",
    "printing",
    "cat",
    "dump",
    "expose",
    "leak",
];
/// The same in languages without spaces between words.
const READING_PARTS: &[&str] = &[
    "读", "看", "打开", "访问", "碰", "読", "見", "開", "읽", "열람",
];

/// Something that a detector found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seen {
    /// Where.
    pub range: Range<usize>,
    /// What may be shown of it, where it may not be shown itself.
    pub shown: Option<&'static str>,
    /// The name of a file that it stands in, where it is not in the text.
    pub path: Option<String>,
    /// Whether it is there for certain, and not only spoken of.
    pub is_sure: bool,
    /// Whether nothing is done with it: it is looked for, taken away, or stands in a comment.
    pub is_idle: bool,
}

impl Seen {
    pub fn new(range: Range<usize>, is_sure: bool) -> Self {
        Seen {
            range,
            shown: None,
            path: None,
            is_sure,
            is_idle: false,
        }
    }

    fn surely(self) -> Self {
        Seen {
            is_sure: true,
            ..self
        }
    }

    fn unsurely(self) -> Self {
        Seen {
            is_sure: false,
            ..self
        }
    }
}

/// The first one that is sure, or else the first one.
pub fn first_sure(mut all: impl Iterator<Item = Seen>) -> Option<Seen> {
    let first = all.next()?;
    Some(if first.is_sure {
        first
    } else {
        all.find(|seen| seen.is_sure).unwrap_or(first)
    })
}

/// The first one that something is done with, which is sure, of the first so many; or else the first one, which is idle where
/// those are all.
pub fn first_done(all: impl Iterator<Item = Seen>, most: usize) -> Option<Seen> {
    let mut count = 0;
    let counted = all.take(most).inspect(|_| count += 1);
    let found = first_sure(counted)?;
    Some(Seen {
        is_idle: !found.is_sure && count < most,
        ..found
    })
}

/// The first secret.
fn find_secret(matter: &Matter<'_>) -> Option<Seen> {
    let secrets = matter.secrets().found.iter().take(MOST_LOOKED_FOR);
    first_sure(secrets.map(|(range, kind)| Seen {
        shown: Some(kind.mark()),
        ..Seen::new(range.clone(), matter.is_done(range))
    }))
}

impl Detector {
    /// Every detector.
    pub const ALL: [Detector; 6] = [
        Detector::Emoji,
        Detector::EmDash,
        Detector::ForcePush,
        Detector::RmRf,
        Detector::Push,
        Detector::Secret,
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Detector::Emoji => "emoji",
            Detector::EmDash => "em-dash",
            Detector::ForcePush => "force-push",
            Detector::RmRf => "rm-rf",
            Detector::Push => "push",
            Detector::Secret => "secret",
        }
    }

    /// The detector of a name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|known| known.name() == name)
    }

    /// The first thing that it finds, sure ones before those that are only spoken of.
    pub(super) fn find(self, matter: &Matter<'_>, bounds: &Bounds) -> Option<Seen> {
        match self {
            Detector::Emoji | Detector::EmDash => self.find_sign(matter, bounds),
            Detector::ForcePush | Detector::RmRf | Detector::Push => self.find_run(matter, bounds),
            Detector::Secret => find_secret(matter),
        }
    }

    /// Whether it looks at the whole text, and not only as far as there are steps.
    pub(super) fn looks_at_all(self, matter: &Matter<'_>) -> bool {
        self != Detector::Secret || matter.secrets().is_whole
    }

    /// The signs in a part of a text.
    fn signs<'m>(
        self,
        matter: &'m Matter<'_>,
        within: Range<usize>,
    ) -> impl Iterator<Item = Range<usize>> + 'm {
        let mut left = within;
        std::iter::from_fn(move || {
            let found = match self {
                Detector::Emoji => emoji::find(&matter.text, left.clone()),
                _ => dash::find(matter, left.clone()),
            }?;
            left.start = found.end;
            Some(found)
        })
    }

    fn find_sign(self, matter: &Matter<'_>, bounds: &Bounds) -> Option<Seen> {
        let whole = || self.signs(matter, 0..matter.text.len());
        let done = || {
            let signs = whole().map(|range| {
                let is_done = matter.is_done(&range);
                Seen::new(range, is_done)
            });
            first_done(signs, MOST_LOOKED_FOR)
        };
        let asks = || whole().next().map(|range| Seen::new(range, false));
        let first_of = |parts: &[Range<usize>]| {
            let mut signs = parts
                .iter()
                .flat_map(|part| self.signs(matter, part.clone()));
            signs.next().map(|range| Seen::new(range, true))
        };
        if bounds.commits {
            let is_message = || {
                matter
                    .path
                    .is_some_and(|path| path.ends_with("COMMIT_EDITMSG"))
            };
            return match matter.kind {
                Kind::Command => {
                    let messages = matter.commit_messages();
                    let unsure = || first_of(&messages.unsure).map(Seen::unsurely);
                    first_of(&messages.sure).or_else(unsure)
                }
                Kind::Edit => asks().filter(|_| is_message()).map(Seen::surely),
                // It may be one.
                Kind::Text => asks(),
            };
        }
        if bounds.code {
            return match (matter.kind, matter.medium()) {
                (Kind::Command, _) => done().map(Seen::unsurely),
                (_, Some(Medium::Code)) => asks().map(Seen::surely),
                (Kind::Edit, Some(Medium::Prose)) => first_of(matter.code()),
                _ => first_of(matter.code()).or_else(asks),
            };
        }
        done()
    }

    fn find_run(self, matter: &Matter<'_>, bounds: &Bounds) -> Option<Seen> {
        // Most texts hold neither; a command may put it together, and those that people write are read in no time.
        const SHORT: usize = 256 << 10;
        let signs: &[&str] = match self {
            Detector::RmRf => &["rm", "remove-item", "rec", "/q", "$", "`", "{"],
            _ => &["push", "$", "`", "{"],
        };
        let is_read = matter.kind == Kind::Command && matter.text.len() <= SHORT;
        if !is_read && !signs.iter().any(|sign| matter.bare().contains(sign)) {
            return None;
        }
        let hits = matter.runs().iter().filter_map(|run| {
            let is_sure = self.is_run_by(run, bounds)?;
            Some(Seen::new(
                run.invocation.range.clone(),
                is_sure && run.is_sure,
            ))
        });
        first_sure(hits)
    }

    /// Whether a program does it, and if so, whether that is sure from its words.
    fn is_run_by(self, run: &Run, bounds: &Bounds) -> Option<bool> {
        let run = &run.invocation;
        let branches = &bounds.branches;
        let (is_sure, may_be) = match self {
            Detector::RmRf => (remove::is_rm_rf(run), remove::may_remove(run)),
            Detector::Push => {
                let aim = git::aim_of(run, branches);
                let may_be = aim.is_some() || git::may_push(run);
                (aim == Some(Aim::Named), may_be)
            }
            _ => (git::is_force_push(run, branches), git::may_push(run)),
        };
        (is_sure || may_be).then_some(is_sure)
    }

    /// The detectors that an item names: those of the things that it forbids, and not of what it only mentions.
    pub fn named_by(item: &str) -> Vec<Self> {
        Self::ALL
            .into_iter()
            .filter(|detector| detector.is_named_by(item))
            .collect()
    }

    /// How the thing is called.
    fn things(self) -> &'static [&'static str] {
        match self {
            Detector::Emoji => &[
                "emojis",
                "emoji",
                "表情符号",
                "表情",
                "絵文字",
                "이모지",
                "эмодзи",
                "émojis",
            ],
            Detector::EmDash => &[
                "em dashes",
                "em-dashes",
                "em dash",
                "em-dash",
                "emdashes",
                "emdash",
                "—",
                "破折号",
                "ダッシュ",
                "тире",
                "gedankenstriche",
                "gedankenstrich",
            ],
            Detector::ForcePush => &[
                "force-pushing",
                "force pushing",
                "force-pushes",
                "force pushes",
                "force-push",
                "force push",
                "forcepush",
                "push --force-with-lease",
                "push --force",
                "push -f",
                "push with --force",
                "push with force",
                "强制推送",
                "强推",
                "強制プッシュ",
                "強制push",
                "강제 푸시",
            ],
            Detector::RmRf => &["rm -rf", "rm -fr", "rm -r -f", "rm-rf", "rm -rf"],
            // What it is called is a sentence: see `is_rule_about_pushing`.
            Detector::Push => &[],
            Detector::Secret => &[
                "secrets",
                "secret",
                "api keys",
                "api key",
                "api-keys",
                "api tokens",
                "credentials",
                "passwords",
                "password",
                "access tokens",
                "tokens",
                "token",
                "private keys",
                "private key",
                "keys",
                "密钥",
                "密码",
                "口令",
                "令牌",
                "凭证",
                "凭据",
                "パスワード",
                "秘密鍵",
                "비밀번호",
                "пароли",
                "секреты",
                "passwörter",
            ],
        }
    }

    /// Words that may stand before the thing without changing what is forbidden.
    fn leads(self) -> &'static [&'static str] {
        match self {
            Detector::Emoji | Detector::EmDash => &[
                "put",
                "putting",
                "add",
                "adding",
                "include",
                "including",
                "insert",
                "write",
                "writing",
                "send",
                "with",
                "加",
                "添加",
                "放",
                "写",
                "带",
                "发",
                "出现",
                "有",
                "里",
                "中",
                "的",
            ],
            Detector::Push => &[],
            Detector::ForcePush | Detector::RmRf => &[
                "run",
                "running",
                "execute",
                "executing",
                "call",
                "do",
                "doing",
                "type",
                "git",
                "command",
                "sudo",
                "执行",
                "运行",
                "跑",
                "做",
                "进行",
            ],
            Detector::Secret => KEEPING,
        }
    }

    /// Whether a text, in small letters, begins with the thing.
    pub(super) fn begins(self, text: &str) -> bool {
        self.things().iter().any(|thing| text.starts_with(thing))
    }

    fn is_named_by(self, item: &str) -> bool {
        if self == Detector::Push {
            return git::is_rule_about_pushing(item) && !Detector::ForcePush.is_named_by(item);
        }
        let lower = item.trim().to_lowercase();
        let lower = lower.trim_end_matches(['.', '!', '。', '！']);
        let (rest, is_kept) = self.without_leads(lower);
        // Keys and tokens are many things; only what is done with them makes them secrets.
        let begins = (self != Detector::Secret || is_kept)
            && self.things().iter().any(|thing| {
                rest.strip_prefix(thing).is_some_and(|after| {
                    let is_word = !(thing.is_ascii()
                        && after
                            .starts_with(|c: char| c.is_alphanumeric() || matches!(c, '-' | '_')));
                    is_word && self.may_follow(after)
                })
            });
        begins || self.is_named_at_the_end_of(lower)
    }

    /// Whether an item ends with the thing, behind words that forbid it.
    fn is_named_at_the_end_of(self, item: &str) -> bool {
        self.things().iter().any(|thing| {
            let Some(before) = item.strip_suffix(thing) else {
                return false;
            };
            let is_spoken_plainly =
                !thing.is_ascii() && matches!(self, Detector::ForcePush | Detector::RmRf);
            if is_spoken_plainly {
                return true;
            }
            let trimmed = |text: &str| text.trim_end_matches([' ', '`']).len();
            let mut rest = &before[..trimmed(before)];
            let whole = rest.len();
            while let Some(lead) = OFTEN.iter().find(|lead| ends_with_word(rest, lead)) {
                let shorter = &rest[..rest.len() - lead.len()];
                rest = &shorter[..trimmed(shorter)];
            }
            let is_own = self.leads().iter().any(|lead| ends_with_word(rest, lead));
            is_own || self != Detector::Secret && rest.len() < whole
        })
    }

    /// What is left behind the words that may stand before the thing, and whether one of them is this detector's own.
    fn without_leads(self, text: &str) -> (&str, bool) {
        let mut rest = text;
        let mut has_own = false;
        loop {
            rest = rest.trim_start_matches([' ', '`', '"', '“', '「', ':', ',', '，']);
            if self.things().iter().any(|thing| rest.starts_with(thing)) && self != Detector::Secret
            {
                return (rest, has_own);
            }
            let mut leads = self.leads().iter().chain(OFTEN).enumerate();
            let found = leads.find_map(|(index, lead)| {
                let after = rest.strip_prefix(lead)?;
                let is_word = !(lead.is_ascii()
                    && after.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '-' | '_')));
                is_word.then_some((after, index < self.leads().len()))
            });
            let Some((after, is_own)) = found else {
                return (rest, has_own);
            };
            has_own |= is_own;
            rest = after;
        }
    }

    /// Whether the thing itself is meant, given what follows: "emojis in commits", and not "emoji picker".
    fn may_follow(self, after: &str) -> bool {
        const PLACES: &[&str] = &[
            "in", "on", "to", "into", "onto", "at", "anywhere", "within", "inside", "for", "from",
            "ever", "again", "with", "without", "when", "while", "as", "or", "and", "please",
            "unless", "against", "any", "anymore", "where", "over", "via", "main", "master",
        ];
        if self == Detector::RmRf {
            return true;
        }
        let after = after.trim_start_matches(['`', '"', '”', '」']);
        let Some(first) = after.trim_start().chars().next() else {
            return true;
        };
        if !first.is_alphanumeric() || !first.is_ascii() {
            return true;
        }
        let word = after.split_whitespace().next().unwrap_or_default();
        PLACES.contains(&word.trim_matches(|c: char| !c.is_alphanumeric()))
    }
}

/// Words that may stand before any of the things.
const OFTEN: &[&str] = &[
    "never", "no", "not", "don't", "don’t", "do not", "please", "ever", "any", "more", "use",
    "using", "the", "a", "an", "my", "your", "our", "不要", "别", "不", "请", "禁止", "绝不",
    "绝对", "再", "用", "使用", "任何", "千万",
];

/// What is done with a secret that is to stay one.
const KEEPING: &[&str] = &[
    "commit",
    "committing",
    "check in",
    "hardcode",
    "hard-code",
    "hardcoding",
    "hardcoded",
    "push",
    "paste",
    "pasting",
    "print",
    "printing",
    "log",
    "logging",
    "share",
    "post",
    "put",
    "include",
    "expose",
    "leak",
    "write",
    "store",
    "plaintext",
    "提交",
    "硬编码",
    "写",
    "打印",
    "泄露",
    "粘贴",
    "上传",
    "明文",
];

fn ends_with_word(text: &str, word: &str) -> bool {
    text.strip_suffix(word)
        .is_some_and(|before| !(word.is_ascii() && before.ends_with(|c: char| c.is_alphanumeric())))
}

#[cfg(test)]
mod tests;
