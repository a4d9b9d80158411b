//! Whether a program that is run overwrites what is on a server: `git push` with force, and to which branch. And what an
//! item says about which branches it means.

use super::invocation::Invocation;
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
        let words: Vec<&str> = lower
            .split(|c: char| {
                !(c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '/' | '.' | '*'))
            })
            .map(|word| word.trim_matches(['.', '/', '-']))
            .filter(|word| !word.is_empty())
            .collect();
        let mut names = Vec::new();
        for (index, word) in words.iter().enumerate() {
            let before = index.checked_sub(1).map_or("", |at| words[at]);
            let after = words.get(index + 1).copied().unwrap_or_default();
            let parts: Vec<&str> = word.split('/').collect();
            if parts.iter().all(|part| USUAL_BRANCHES.contains(part)) {
                names.extend(parts.into_iter().map(str::to_owned));
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

/// `main 分支`, `main ブランチ`, `main 브랜치`.
fn has_branch_sign_behind(text: &str, word: &str) -> bool {
    text.match_indices(word).any(|(at, _)| {
        let rest = text[at + word.len()..].trim_start();
        ["分支", "ブランチ", "브랜치"]
            .iter()
            .any(|sign| rest.starts_with(sign))
    })
}

/// Options of `git` itself that take the next word as their value.
const GLOBAL_VALUED: &[&str] = &[
    "-C",
    "-c",
    "--git-dir",
    "--work-tree",
    "--namespace",
    "--super-prefix",
    "--config-env",
    "--attr-source",
];

/// Options of `git push` that take the next word as their value.
const PUSH_VALUED: &[&str] = &["-o", "--push-option", "--receive-pack", "--exec", "--repo"];

/// The command of git and what it is given.
pub fn subcommand(run: &Invocation) -> Option<(&str, &[Word])> {
    if run.program != "git" {
        return None;
    }
    let rest = super::invocation::after_options(&run.arguments, GLOBAL_VALUED);
    let (name, arguments) = rest.split_first()?;
    Some((name.text.as_str(), arguments))
}

/// Whether a program pushes with force to one of the branches. Which one a bare `git push -f` overwrites is not to be
/// seen from here: it may be any.
pub fn is_force_push(run: &Invocation, branches: &Branches) -> bool {
    let Some(("push", arguments)) = subcommand(run) else {
        return false;
    };
    let (mut forced, mut everything, mut only_tags) = (false, false, false);
    let mut places: Vec<&Word> = Vec::new();
    let mut has_repository = false;
    let mut words = arguments.iter();
    let mut only_places = false;
    while let Some(word) = words.next() {
        let text = word.text.as_str();
        if only_places || !text.starts_with('-') || text == "-" {
            places.push(word);
        } else if text == "--" {
            only_places = true;
        } else if let Some(long) = text.strip_prefix("--") {
            let name = long.split('=').next().unwrap_or_default();
            match name {
                "no-force" | "no-force-with-lease" => forced = false,
                "force" => forced = true,
                "all" | "branches" => everything = true,
                "tags" => only_tags = true,
                "repo" => has_repository = true,
                // Git takes the beginning of an option for the whole, where it is the only one.
                _ if name.len() > 6 && "force-with-lease".starts_with(name) => forced = true,
                _ if name.len() > 1 && "mirror".starts_with(name) => {
                    (forced, everything) = (true, true);
                }
                _ => {}
            }
            if PUSH_VALUED.contains(&text) {
                words.next();
            }
        } else {
            for (at, flag) in text.char_indices().skip(1) {
                match flag {
                    'f' => forced = true,
                    'o' => {
                        if at + 1 == text.len() {
                            words.next();
                        }
                        break;
                    }
                    _ => {}
                }
            }
        }
    }
    let references = places
        .get(usize::from(!has_repository)..)
        .unwrap_or_default();
    let concerns_all = branches.0.is_empty();
    if references.is_empty() {
        return forced && (concerns_all || everything || !only_tags);
    }
    if forced && everything {
        return true;
    }
    references.iter().any(|word| {
        let (plus, name) = match word.text.strip_prefix('+') {
            Some(name) => (true, name),
            None => (false, word.text.as_str()),
        };
        if !(forced || plus) {
            return false;
        }
        // `source:target`; one without a target has the same name there.
        let target = name.rsplit_once(':').map_or(name, |(_, target)| target);
        let target = target.strip_prefix("refs/").unwrap_or(target);
        let target = target.strip_prefix("heads/").unwrap_or(target);
        let is_unknown = word.is_dynamic
            || target.is_empty()
            || target.contains(['*', '$'])
            || matches!(target, "HEAD" | "@");
        concerns_all || is_unknown || branches.has(target)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::invocation::invocations;
    use rstest::rstest;

    fn forces(script: &str, item: &str) -> bool {
        let branches = Branches::named_in(item);
        invocations(script)
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
