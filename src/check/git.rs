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
mod tests {
    use super::*;
    use crate::check::budget::Budget;
    use crate::check::invocation::invocations;
    use rstest::rstest;

    fn forces(script: &str, item: &str) -> bool {
        let branches = Branches::named_in(item);
        invocations(script, true, &Budget::default())
            .iter()
            .any(|run| is_force_push(run, &branches))
    }

    #[rstest]
    #[case("git push --force")]
    #[case("git push -f")]
    #[case("git push -uf origin HEAD")]
    #[case("git push --force origin main")]
    #[case("git push origin main --force")]
    #[case("git push --force-with-lease")]
    #[case("git push --force-with-lease=main:abc origin main")]
    #[case("git push --force-w origin main")]
    #[case("git push origin +main")]
    #[case("git push origin +HEAD:main")]
    #[case("git push origin +refs/heads/x:refs/heads/main")]
    #[case("git push -f origin x:heads/main")]
    #[case("git -C ../dir push -f")]
    #[case("git -c user.name=x --no-pager push -f origin main")]
    #[case("cd repo && git push -f")]
    #[case("true; git push -f")]
    #[case("sh -c 'git push -f origin main'")]
    #[case("bash -lc \"cd x; git push --force\"")]
    #[case("GIT_SSH=x git push -f")]
    #[case("env A=1 git push -f")]
    #[case("sudo -u me git push -f origin main")]
    #[case("/usr/bin/git push -f")]
    #[case("git push --mirror")]
    #[case("git push --force --all")]
    #[case("git push -f origin \"$BRANCH\"")]
    #[case("git push -f origin $(git branch --show-current)")]
    #[case("git push -o ci.skip -f origin main")]
    #[case("git push \\\n  --force origin main")]
    #[case("if x; then git push -f; fi")]
    #[case("echo \"$(git push -f)\"")]
    #[case("git push -f origin main feature")]
    #[case("git push -n --no-dry-run -f")]
    #[case("git send-pack --force origin main")]
    fn a_force_push_is_seen(#[case] script: &str) {
        assert!(forces(script, "force-push"), "to any branch");
        assert!(forces(script, "never force-push to main"), "to main");
    }

    #[rstest]
    #[case("git push")]
    #[case("git push origin main")]
    #[case("git push -u origin main")]
    #[case("git push --follow-tags")]
    #[case("git push --force-if-includes")]
    #[case("git push --no-force")]
    #[case("git push --force --dry-run")]
    #[case("git push -fn origin main")]
    #[case("git push --dry -f origin main")]
    #[case("git push -n -f origin main")]
    #[case("git push --help -f")]
    #[case("git help push")]
    #[case("man git-push -f")]
    #[case("git push -f --no-force origin main")]
    #[case("git push origin :main")]
    #[case("git push -o force origin main")]
    #[case("git push origin force")]
    #[case("git fetch -f")]
    #[case("git checkout -f main")]
    #[case("git commit -m 'git push -f'")]
    #[case("git log --grep='push --force'")]
    #[case("echo git push -f")]
    #[case("echo 'git push -f; git push --force'")]
    #[case("# git push -f")]
    #[case("grep -rn 'git push --force' .")]
    #[case("docker push -f x")]
    #[case("cat <<EOF\ngit push -f\nEOF")]
    #[case("git branch -f main")]
    fn what_looks_like_one_is_not(#[case] script: &str) {
        assert!(!forces(script, "force-push"));
    }

    #[rstest]
    #[case("git push origin main", Some(Aim::Named))]
    #[case("git push -u origin main", Some(Aim::Named))]
    #[case("git push origin HEAD:main", Some(Aim::Named))]
    #[case("git push origin :main", Some(Aim::Named))]
    #[case("git push --all", Some(Aim::Named))]
    #[case("git push origin HEAD main", Some(Aim::Named))]
    #[case("git push origin HEAD", Some(Aim::Unknown))]
    #[case("git push origin @", Some(Aim::Unknown))]
    #[case("git push origin \"$BRANCH\"", Some(Aim::Unknown))]
    #[case("git push origin $(git branch --show-current)", Some(Aim::Unknown))]
    #[case("git push origin 'refs/heads/*'", Some(Aim::Unknown))]
    #[case("git push origin 'refs/heads/*:refs/heads/*'", Some(Aim::Unknown))]
    #[case("git push origin :", Some(Aim::Unknown))]
    #[case("git push", None)]
    #[case("git push origin", None)]
    #[case("git push origin feature", None)]
    #[case("git push origin main:feature", None)]
    #[case("git push origin HEAD:feature", None)]
    #[case("git push origin v1.0 --tags", None)]
    #[case("git push --dry-run origin main", None)]
    #[case("git push -n origin main", None)]
    #[case("git push -n origin HEAD", None)]
    #[case("git pull origin main", None)]
    fn a_push_to_main_is_seen(#[case] script: &str, #[case] aim: Option<Aim>) {
        let branches = Branches::named_in("push to main");
        let found = invocations(script, true, &Budget::default());
        let aims = found.iter().filter_map(|run| aim_of(run, &branches));
        assert_eq!(aims.collect::<Vec<_>>(), Vec::from_iter(aim));
    }

    #[rstest]
    #[case("push to main", true)]
    #[case("push directly to main", true)]
    #[case("never commit to master or main", true)]
    #[case("push straight to the main branch", true)]
    #[case("直接改 main 分支", true)]
    #[case("直接推送到 main", true)]
    #[case("push to main without a review", false)]
    #[case("push to main on Fridays", false)]
    #[case("push to users", false)]
    #[case("commit secrets to main", false)]
    #[case("merge to main", false)]
    #[case("deploy to production", false)]
    #[case("改 main 函数", false)]
    #[case("没有评审就推送到 main 分支", false)]
    fn a_rule_about_pushing_has_no_condition(#[case] item: &str, #[case] is: bool) {
        assert_eq!(is_rule_about_pushing(item), is);
    }

    #[rstest]
    #[case("git push -f origin feature")]
    #[case("git push --force origin HEAD:feature/main")]
    #[case("git push origin +feature main")]
    #[case("git push -f origin main-fix")]
    #[case("git push -f origin main:feature")]
    #[case("git push -f --tags")]
    #[case("git push -f origin v1.0")]
    fn another_named_branch_is_not_main(#[case] script: &str) {
        assert!(!forces(script, "never force-push to main"));
        assert!(forces(script, "never force-push"));
    }

    #[rstest]
    #[case("force-push to main", &["main"])]
    #[case("never force-push to main or master", &["main", "master"])]
    #[case("force-push on main/master", &["main", "master"])]
    #[case("no force pushes to release branches", &["release"])]
    #[case("force-push to release/*", &["release/*"])]
    #[case("force-push the `deploy` branch", &["deploy"])]
    #[case("不要强制推送到 main 分支", &["main"])]
    #[case("强推主分支", &[])]
    #[case("deploy 分支禁止强推", &["deploy"])]
    #[case("force-push", &[])]
    #[case("force-push to main again", &["main"])]
    #[case("force-push to `main`.", &["main"])]
    #[case("force-push to main when it is red", &["main"])]
    #[case("no force pushes to main, master, and release branches", &["main", "master", "release"])]
    #[case("main 上禁止强推", &["main"])]
    #[case("force-push to the main repo", &[])]
    #[case("force-push to the main/dev repos", &[])]
    #[case("never force-push on dev machines", &[])]
    #[case("force-push to production servers", &[])]
    #[case("force-push to the \"main\" repository", &[])]
    #[case("不要对 main 仓库强推", &[])]
    #[case("force-push to shared branches", &[])]
    #[case("force-push to the remote", &[])]
    #[case("never force-push on Fridays", &[])]
    #[case("never force-push to people who review", &[])]
    #[case("git push --force", &[])]
    fn an_item_names_its_branches(#[case] item: &str, #[case] wanted: &[&str]) {
        assert_eq!(Branches::named_in(item).0, wanted);
    }

    #[rstest]
    #[case("release/*", "release/1.2", true)]
    #[case("release", "release/1.2", true)]
    #[case("release", "releases", false)]
    #[case("Main", "main", true)]
    #[case("main,dev", "dev", true)]
    fn branches_are_compared_by_their_names(
        #[case] listed: &str,
        #[case] branch: &str,
        #[case] has: bool,
    ) {
        assert_eq!(Branches::listed(listed).has(branch), has);
    }
}
