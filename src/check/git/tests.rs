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
