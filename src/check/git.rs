//! Whether a program that is run overwrites what is on a server: `git push` with force, and to which branch. And what an
//! item says about which branches it means.

use super::expand::UNREAD;
use super::invocation::{GIT_VALUED, Invocation};
use super::shell::Word;

/// Branches that have these names need no further word to be taken for branches.
const USUAL_BRANCHES: &[&str] = &[
    "main",
    "master",
    "trunk",
    "develop",
    "development",
    "dev",
    "production",
    "prod",
    "staging",
    "stable",
    "gh-pages",
];

/// Words behind "to" and before "branch" that name none.
const NO_BRANCHES: &[&str] = &[
    "a",
    "all",
    "an",
    "any",
    "anything",
    "anywhere",
    "branch",
    "branches",
    "bitbucket",
    "codeberg",
    "default",
    "each",
    "every",
    "everyone",
    "everything",
    "git",
    "github",
    "gitlab",
    "it",
    "many",
    "my",
    "of",
    "on",
    "open",
    "or",
    "origin",
    "other",
    "others",
    "our",
    "private",
    "protected",
    "public",
    "published",
    "remote",
    "remotes",
    "repo",
    "repos",
    "repositories",
    "repository",
    "server",
    "servers",
    "shared",
    "some",
    "somebody",
    "someone",
    "that",
    "the",
    "their",
    "them",
    "these",
    "this",
    "those",
    "upstream",
    "us",
    "your",
];

/// The branches that a rule is about.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Branches(Vec<String>);

impl Branches {
    /// Reads names that were given outright: `main,release/*`.
    pub fn listed(names: &str) -> Self {
        let names = names.split([',', ' ']).filter(|name| !name.is_empty());
        Branches(names.map(str::to_lowercase).collect())
    }

    /// Reads which branches an item names; none is all of them.
    pub fn named_in(item: &str) -> Self {
        // What an item excepts, or only mentions as well, must not turn the rule round.
        const EXCEPTS: [&str; 11] = [
            "except",
            "but ",
            "unless",
            "other than",
            " even ",
            "apart from",
            "besides",
            "除了",
            "除非",
            "以外",
            "以外は",
        ];
        let lower = item.to_lowercase();
        if EXCEPTS.iter().any(|word| lower.contains(word)) {
            return Branches::default();
        }
        let words = names_in(&lower);
        let mut names = Vec::new();
        for (index, (word, after_it)) in words.iter().enumerate() {
            let before = index.checked_sub(1).map_or("", |at| words[at].0);
            let after = words.get(index + 1).map_or("", |(after, _)| *after);
            let parts: Vec<&str> = word.split('/').collect();
            if parts.iter().all(|part| USUAL_BRANCHES.contains(part)) {
                if !goes_on_as_another_thing(after_it, after) {
                    names.extend(parts.into_iter().map(str::to_owned));
                }
                continue;
            }
            // "To" alone may lead to anybody; what is not surely a branch must not narrow a rule.
            let is_placed = matches!(before, "to" | "onto") && matches!(after, "" | "and" | "or")
                || before == "branch"
                || matches!(after, "branch" | "branches")
                || has_branch_sign_behind(&lower, word);
            let is_name = word.starts_with(|c: char| c.is_ascii_alphabetic())
                && !NO_BRANCHES.contains(word)
                && !word.contains("push");
            if is_placed && is_name {
                names.push((*word).to_owned());
            }
        }
        Branches(names)
    }

    /// Whether a branch is one of them, or lies below one: `release/1.2` below `release`.
    fn has(&self, branch: &str) -> bool {
        let branch = branch.to_lowercase();
        self.0.iter().any(|name| match name.strip_suffix('*') {
            Some(beginning) => branch.starts_with(beginning),
            None => branch
                .strip_prefix(name.as_str())
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('/')),
        })
    }
}

/// The words of a text that may be names of branches, each with what stands behind it.
fn names_in(text: &str) -> Vec<(&str, &str)> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '/' | '.' | '*');
    let mut words = Vec::new();
    let mut rest = text;
    while let Some(start) = rest.find(is_part) {
        rest = &rest[start..];
        let end = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
        let word = rest[..end].trim_matches(['.', '/', '-']);
        // A full stop at its end is not its own.
        let kept = rest[..end].trim_end_matches(['.', '/', '-']).len();
        if !word.is_empty() {
            words.push((word, &rest[kept..]));
        }
        rest = &rest[end..];
    }
    words
}

/// Whether the word behind the name of a usual branch makes it the name of something else: "the main repo", "dev machines".
fn goes_on_as_another_thing(text: &str, next: &str) -> bool {
    // Words that go on with the sentence.
    const JOINING: &[&str] = &[
        "again", "after", "always", "and", "any", "anymore", "are", "as", "at", "because",
        "before", "branch", "branches", "but", "by", "can", "directly", "during", "either", "even",
        "ever", "except", "for", "from", "has", "here", "i", "if", "in", "is", "it", "itself",
        "must", "never", "no", "nor", "not", "now", "of", "on", "only", "or", "please", "should",
        "since", "so", "straight", "than", "that", "the", "then", "there", "through", "to",
        "today", "too", "under", "unless", "until", "via", "was", "we", "whatever", "when",
        "whenever", "which", "while", "who", "will", "with", "without", "you",
    ];
    // In languages without spaces between words.
    const THINGS: &[&str] = &[
        "仓库",
        "代码库",
        "项目",
        "机器",
        "服务器",
        "主机",
        "环境",
        "集群",
        "函数",
        "方法",
        "文件",
        "リポジトリ",
        "サーバー",
        "環境",
        "マシン",
        "関数",
        "저장소",
        "서버",
        "환경",
        "함수",
    ];
    let text = text.trim_start_matches([' ', '`', '"', '\'', '”', '」']);
    if !text.starts_with(|c: char| c.is_alphanumeric()) {
        return false;
    }
    if text.starts_with(|c: char| c.is_ascii()) {
        return !JOINING.contains(&next) && !USUAL_BRANCHES.contains(&next);
    }
    THINGS.iter().any(|thing| text.starts_with(thing))
}

/// `main 分支`, `main ブランチ`, `main 브랜치`.
fn has_branch_sign_behind(text: &str, word: &str) -> bool {
    text.match_indices(word).any(|(at, _)| {
        let rest = text[at + word.len()..].trim_start();
        ["分支", "ブランチ", "브랜치"]
            .iter()
            .any(|sign| rest.starts_with(sign))
    })
}

/// Options of `git push` that take the next word as their value.
const PUSH_VALUED: &[&str] = &["-o", "--push-option", "--receive-pack", "--exec", "--repo"];

/// The command of git and what it is given.
pub fn subcommand(run: &Invocation) -> Option<(&str, &[Word])> {
    if run.program != "git" {
        return None;
    }
    let rest = super::invocation::after_options(&run.arguments, GIT_VALUED);
    let (name, arguments) = rest.split_first()?;
    Some((name.text.as_str(), arguments))
}

/// A `git push`, as far as its words tell.
#[derive(Default)]
struct Push<'r> {
    forced: bool,
    /// Whether all branches are pushed.
    everything: bool,
    only_tags: bool,
    /// Whether nothing is pushed: it only tells what would be, or how it is used.
    is_idle: bool,
    /// Whether an option names the repository.
    has_repository: bool,
    /// The references that are named.
    references: Vec<Reference<'r>>,
}

/// Something that a push names.
struct Reference<'r> {
    /// Whether it stands behind a `+`, which forces it.
    plus: bool,
    /// The branch on the server.
    target: &'r str,
    /// Whether only the shell, or git, knows which branch that is.
    is_unknown: bool,
}

impl<'r> Reference<'r> {
    fn of(word: &'r Word) -> Self {
        let (plus, name) = match word.text.strip_prefix('+') {
            Some(name) => (true, name),
            None => (false, word.text.as_str()),
        };
        // `source:target`; one without a target has the same name there.
        let target = name.rsplit_once(':').map_or(name, |(_, target)| target);
        let target = target.strip_prefix("refs/").unwrap_or(target);
        let target = target.strip_prefix("heads/").unwrap_or(target);
        let is_unknown = word.is_dynamic
            || target.is_empty()
            || target.contains(['*', '$'])
            || matches!(target, "HEAD" | "@");
        Reference {
            plus,
            target,
            is_unknown,
        }
    }
}

impl<'r> Push<'r> {
    fn of(run: &'r Invocation) -> Option<Self> {
        let Some(("push" | "send-pack", arguments)) = subcommand(run) else {
            return None;
        };
        let mut push = Push::default();
        let mut places: Vec<&Word> = Vec::new();
        let mut words = arguments.iter();
        let mut only_places = false;
        while let Some(word) = words.next() {
            let text = word.text.as_str();
            let takes_next = if only_places || !text.starts_with('-') || text == "-" {
                places.push(word);
                false
            } else if text == "--" {
                only_places = true;
                false
            } else if let Some(long) = text.strip_prefix("--") {
                push.long(long);
                PUSH_VALUED.contains(&text)
            } else {
                push.short(&text[1..])
            };
            if takes_next {
                words.next();
            }
        }
        let references = places
            .get(usize::from(!push.has_repository)..)
            .unwrap_or_default();
        push.references = references.iter().map(|word| Reference::of(word)).collect();
        (!push.is_idle).then_some(push)
    }

    /// Reads a long option.
    fn long(&mut self, option: &str) {
        let name = option.split('=').next().unwrap_or_default();
        match name {
            "help" => self.is_idle = true,
            _ if name.len() > 1 && "dry-run".starts_with(name) => self.is_idle = true,
            "no-dry-run" => self.is_idle = false,
            "no-force" | "no-force-with-lease" => self.forced = false,
            "force" => self.forced = true,
            "all" | "branches" => self.everything = true,
            "tags" => self.only_tags = true,
            "repo" => self.has_repository = true,
            // Git takes the beginning of an option for the whole, where it is the only one.
            _ if name.len() > 6 && "force-with-lease".starts_with(name) => self.forced = true,
            _ if name.len() > 1 && "mirror".starts_with(name) => {
                (self.forced, self.everything) = (true, true);
            }
            _ => {}
        }
    }

    /// Reads short options, and says whether the next word is the value of the last one.
    fn short(&mut self, flags: &str) -> bool {
        for (at, flag) in flags.char_indices() {
            match flag {
                'n' | 'h' => self.is_idle = true,
                'f' => self.forced = true,
                'o' => return at + 1 == flags.len(),
                _ => {}
            }
        }
        false
    }
}

/// Whether a program pushes with force to one of the branches. Which one a bare `git push -f` overwrites is not to be
/// seen from here: it may be any.
pub fn is_force_push(run: &Invocation, branches: &Branches) -> bool {
    let Some(push) = Push::of(run) else {
        return false;
    };
    let concerns_all = branches.0.is_empty();
    if push.references.is_empty() {
        return push.forced && (concerns_all || push.everything || !push.only_tags);
    }
    if push.forced && push.everything {
        return true;
    }
    push.references.iter().any(|reference| {
        (push.forced || reference.plus)
            && (concerns_all || reference.is_unknown || branches.has(reference.target))
    })
}

/// How a push concerns branches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Aim {
    /// It names one of them.
    Named,
    /// It names something that may be one of them.
    Unknown,
}

/// How a program pushes to the branches, or to main and master where none is named. Where a bare `git push` goes is not to
/// be seen from here.
pub fn aim_of(run: &Invocation, branches: &Branches) -> Option<Aim> {
    let usual = Branches(vec!["main".to_owned(), "master".to_owned()]);
    let branches = if branches.0.is_empty() {
        &usual
    } else {
        branches
    };
    let push = Push::of(run)?;
    let names_one =
        |reference: &Reference<'_>| !reference.is_unknown && branches.has(reference.target);
    if push.everything || push.references.iter().any(names_one) {
        Some(Aim::Named)
    } else {
        let mut references = push.references.iter();
        references
            .any(|reference| reference.is_unknown)
            .then_some(Aim::Unknown)
    }
}

/// Whether a program of which not all was looked at may be a push.
pub fn may_push(run: &Invocation) -> bool {
    run.is_unread()
        && (run.is_unknown()
            || run.program == "git"
                && subcommand(run).is_none_or(|(name, _)| {
                    matches!(name, "push" | "send-pack") || name.contains(['$', '`', UNREAD])
                }))
}

/// Whether an item forbids to push to a branch, or to commit to it or change it, without any condition.
pub fn is_rule_about_pushing(item: &str) -> bool {
    let lower = item.to_lowercase();
    if !lower.is_ascii() {
        const VERBS: [&str; 12] = [
            "改",
            "推",
            "提交",
            "动",
            "修改",
            "push",
            "commit",
            "プッシュ",
            "コミット",
            "変更",
            "푸시",
            "커밋",
        ];
        const CONDITIONS: [&str; 12] = [
            "没有", "未经", "前", "时", "除", "强", "函数", "方法", "文件", "関数", "なし", "없이",
        ];
        return !Branches::named_in(&lower).0.is_empty()
            && VERBS.iter().any(|verb| lower.contains(verb))
            && !CONDITIONS.iter().any(|word| lower.contains(word));
    }
    const LEADS: [&str; 9] = [
        "never", "don't", "do", "not", "ever", "please", "git", "directly", "straight",
    ];
    const VERBS: [&str; 6] = [
        "push",
        "pushing",
        "pushes",
        "commit",
        "committing",
        "commits",
    ];
    const OBJECTS: [&str; 9] = [
        "directly", "straight", "anything", "code", "changes", "commits", "work", "things", "stuff",
    ];
    const REST: [&str; 9] = [
        "branch", "branches", "directly", "ever", "again", "or", "and", "please", "itself",
    ];
    let mut words = lower
        .split(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '\'' | '-' | '_')))
        .filter(|word| !word.is_empty())
        .skip_while(|word| LEADS.contains(word));
    if !words.next().is_some_and(|word| VERBS.contains(&word)) {
        return false;
    }
    let mut words = words.skip_while(|word| OBJECTS.contains(word));
    if !words
        .next()
        .is_some_and(|word| matches!(word, "to" | "on" | "into" | "onto"))
    {
        return false;
    }
    let mut words = words.skip_while(|word| *word == "the");
    words
        .next()
        .is_some_and(|word| USUAL_BRANCHES.contains(&word))
        && words.all(|word| REST.contains(&word) || USUAL_BRANCHES.contains(&word))
}

#[cfg(test)]
mod tests;
