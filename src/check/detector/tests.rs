use super::*;
use crate::check::matter::Input;
use rstest::rstest;

#[rstest]
#[case("no emojis in commit messages", &["emoji"])]
#[case("emojis", &["emoji"])]
#[case("use emojis in commit messages", &["emoji"])]
#[case("commit messages with emojis", &["emoji"])]
#[case("emoji in code or docs", &["emoji"])]
#[case("在提交信息里用表情符号", &["emoji"])]
#[case("提交信息里加 emoji", &["emoji"])]
#[case("不要用表情", &["emoji"])]
#[case("em dashes", &["em-dash"])]
#[case("em-dashes in my texts", &["em-dash"])]
#[case("用破折号", &["em-dash"])]
#[case("force-push to main", &["force-push"])]
#[case("never force-push to main", &["force-push"])]
#[case("force push", &["force-push"])]
#[case("git push --force on shared branches", &["force-push"])]
#[case("run `git push -f`", &["force-push"])]
#[case("强制推送到 main 分支", &["force-push"])]
#[case("对 main 分支强推", &["force-push"])]
#[case("run rm -rf", &["rm-rf"])]
#[case("rm -rf anything outside of build", &["rm-rf"])]
#[case("执行 rm -rf", &["rm-rf"])]
#[case("push to main", &["push"])]
#[case("push directly to main", &["push"])]
#[case("直接改 main 分支", &["push"])]
#[case("commit secrets", &["secret"])]
#[case("hardcode API keys in code", &["secret"])]
#[case("print my access tokens", &["secret"])]
#[case("在代码里硬编码密码", &["secret"])]
#[case("提交密钥", &["secret"])]
#[case("in code, hardcode my tokens", &["secret"])]
fn an_item_names_its_detector(#[case] item: &str, #[case] wanted: &[&str]) {
    let named: Vec<&str> = Detector::named_by(item)
        .into_iter()
        .map(Detector::name)
        .collect();
    assert_eq!(named, wanted);
}

#[rstest]
#[case("touch the emoji picker")]
#[case("emoji picker changes without a test")]
#[case("delete the emoji table")]
#[case("dashes")]
#[case("force-push protection rules being changed")]
#[case("rm files without asking")]
#[case("tokens of the design system")]
#[case("use design tokens")]
#[case("use tokens")]
#[case("use my tokens")]
#[case("the passwords")]
#[case("secret santa")]
#[case("primary keys named id")]
#[case("use keys as labels")]
#[case("keyboard shortcuts")]
#[case("forced pushes of buttons")]
#[case("面部表情分析")]
#[case("allergic to shellfish")]
fn an_item_that_only_sounds_alike_names_none(#[case] item: &str) {
    assert_eq!(Detector::named_by(item), []);
}

fn seen(detector: Detector, input: &Input<'_>, item: &str) -> Option<bool> {
    let found = detector.find(&Matter::new(input), &Bounds::of(item));
    found.map(|seen| seen.is_sure)
}

#[rstest]
#[case(Input::command("git commit -m '✨ new'"), Some(true))]
#[case(Input::command("echo '✨ new'"), None)]
#[case(Input::command("echo '✨' && git commit -m '🎉'"), Some(true))]
#[case(Input::command("git commit -F - <<EOF\n✨ new\nEOF"), Some(true))]
#[case(
    Input::command("git commit -m \"$(cat <<'EOF'\nI don't ✨\nEOF\n)\""),
    Some(true)
)]
#[case(Input::command("git commit -m x && cat <<EOF\n✨\nEOF"), None)]
#[case(Input::command("echo 'git commit -m ✨' > x.sh"), Some(false))]
#[case(Input::command("alias c='git commit'; c -m '✨'"), Some(false))]
#[case(Input::text("✨ new"), Some(false))]
#[case(Input::edit(Some("src/main.rs"), "// ✨"), None)]
#[case(Input::edit(Some(".git/COMMIT_EDITMSG"), "✨"), Some(true))]
fn a_rule_about_commit_messages_looks_at_them(
    #[case] input: Input<'_>,
    #[case] sure: Option<bool>,
) {
    assert_eq!(
        seen(Detector::Emoji, &input, "no emojis in commit messages"),
        sure
    );
}

#[rstest]
#[case(Input::edit(Some("src/main.rs"), "// ✨"), Some(true))]
#[case(Input::edit(Some("docs/notes.md"), "✨"), None)]
#[case(
    Input::edit(Some("docs/notes.md"), "✨\n```rust\n// ✨\n```"),
    Some(true)
)]
#[case(Input::edit(Some("Makefile"), "# ✨"), Some(false))]
#[case(Input::edit(None, "✨"), Some(false))]
#[case(Input::text("✨ new"), Some(false))]
#[case(Input::text("a `✨` here"), Some(true))]
#[case(Input { path: Some("a.rs"), ..Input::text("// ✨") }, Some(true))]
#[case(
    Input::patch("*** Begin Patch\n*** Update File: a.rs\n+✨\n*** End Patch"),
    Some(true)
)]
#[case(
    Input::patch("*** Begin Patch\n*** Update File: a.md\n+✨\n*** End Patch"),
    None
)]
#[case(
    Input::patch(
        "*** Begin Patch\n*** Update File: a.md\n+✨\n*** Update File: a.rs\n*** End Patch"
    ),
    Some(false)
)]
#[case(Input::command("echo '✨'"), Some(false))]
fn a_rule_about_code_looks_at_code(#[case] input: Input<'_>, #[case] sure: Option<bool>) {
    assert_eq!(seen(Detector::Emoji, &input, "no emojis in code"), sure);
}

#[test]
fn a_push_to_somewhere_asks() {
    let seen = |command| seen(Detector::Push, &Input::command(command), "push to main");
    assert_eq!(seen("git push origin main"), Some(true));
    assert_eq!(seen("git push origin HEAD"), Some(false));
    assert_eq!(seen("git push"), None);
}

#[test]
fn a_dash_outside_of_the_message_does_not_hide_the_one_in_it() {
    let command = Input::command("echo 'a — b'; git commit -m 'c -- d'");
    let item = "em dashes in commit messages";
    assert_eq!(seen(Detector::EmDash, &command, item), Some(true));
}

#[rstest]
#[case(Detector::Emoji, Input::command("echo '✨'"), Some(true))]
#[case(Detector::Emoji, Input::edit(Some("a.rs"), "// ✨"), Some(true))]
#[case(Detector::RmRf, Input::text("I would use rm -rf x"), Some(false))]
#[case(Detector::RmRf, Input::text("rm -rf x"), Some(true))]
#[case(
    Detector::RmRf,
    Input::text(
        "I would use rm -rf x
rm -rf x"
    ),
    Some(true)
)]
#[case(
    Detector::RmRf,
    Input::edit(
        Some("Makefile"),
        "clean:
	rm -rf build"
    ),
    Some(false)
)]
#[case(Detector::RmRf, Input::text("nothing of the kind"), None)]
fn what_is_only_spoken_of_is_not_sure(
    #[case] detector: Detector,
    #[case] input: Input<'_>,
    #[case] sure: Option<bool>,
) {
    assert_eq!(seen(detector, &input, "some item"), sure);
}

#[test]
fn a_secret_is_found_and_not_shown() {
    let key = format!("sk-ant-api03-{}", "Ab3dE6gH9jK2mN5pQ8sT".repeat(4));
    let text = format!("export KEY={key}");
    let matter = Matter::new(&Input::text(&text));
    let seen = Detector::Secret
        .find(&matter, &Bounds::default())
        .expect("it is one");
    assert!(text[seen.range].contains(&key[..20]));
    assert!(
        seen.shown
            .is_some_and(|shown| shown.starts_with("[redacted"))
    );
    for text in ["the password is long", "api key rotation", "token = nil"] {
        let matter = Matter::new(&Input::text(text));
        assert_eq!(
            Detector::Secret.find(&matter, &Bounds::default()),
            None,
            "{text}"
        );
    }
}
