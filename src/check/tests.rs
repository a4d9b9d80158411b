//! A check as a whole: what denies, what only asks, and what it costs.

use std::time::{Duration, Instant};

use proptest::prelude::*;
use rstest::rstest;

use super::*;
use crate::model::{Score, Stamp};

/// A limit that the user stated.
pub(super) fn limit(id: i64, item: &str, patterns: &[&str]) -> Preference {
    let at = Stamp("2026-11-30T12:00:00+00:00".to_owned());
    Preference {
        id,
        uid: format!("u{id}"),
        item: item.to_owned(),
        reason: "said so".to_owned(),
        keywords: Vec::new(),
        scenarios: Vec::new(),
        base_score: Score::clamped(0.5),
        source: "manual".to_owned(),
        origin: Origin::User,
        added_at: at.clone(),
        last_seen: at,
        touch_count: 0,
        patterns: patterns.iter().map(|&pattern| pattern.to_owned()).collect(),
    }
}

#[rstest]
#[case(
    Input::command("git push --force origin main"),
    Some(Certainty::Pattern)
)]
#[case(Input::command("git push -f"), Some(Certainty::Pattern))]
#[case(Input::command("git push -f origin feature"), None)]
#[case(Input::command("git push origin main"), None)]
#[case(Input::text("I would force-push to main"), Some(Certainty::Words))]
#[case(
    Input::text("I would git push --force origin main to be done"),
    Some(Certainty::Words)
)]
#[case(
    Input::text("Next: `git push --force origin main`"),
    Some(Certainty::Pattern)
)]
#[case(
    Input::edit(Some("deploy.sh"), "git push --force origin main"),
    Some(Certainty::Words)
)]
fn a_detector_denies_what_is_run_and_asks_about_what_is_said(
    #[case] input: Input<'_>,
    #[case] certainty: Option<Certainty>,
) {
    let entries = [limit(1, "never force-push to main", &["@force-push"])];
    let found = check(&entries, &input);
    assert_eq!(
        found.findings.first().map(|finding| finding.certainty),
        certainty
    );
    assert_eq!(found.is_violated(), certainty == Some(Certainty::Pattern));
    assert!(found.findings.len() < 2);
}

#[test]
fn the_branches_that_a_detector_is_given_stand_above_those_of_the_item() {
    let entries = [limit(1, "force-push to main", &["@force-push:release/*"])];
    let violated = |command| check(&entries, &Input::command(command)).is_violated();
    assert!(violated("git push -f origin release/2"));
    assert!(!violated("git push -f origin main"));
}

#[rstest]
#[case(Origin::User, Certainty::Pattern)]
#[case(Origin::Agent, Certainty::Words)]
#[case(Origin::Analysis, Certainty::Words)]
#[case(Origin::Import, Certainty::Words)]
fn only_what_the_user_stated_denies(#[case] origin: Origin, #[case] certainty: Certainty) {
    let entries = [Preference {
        origin,
        ..limit(1, "todo", &["TODO"])
    }];
    let found = check(&entries, &Input::text("a TODO"));
    assert_eq!(found.findings[0].certainty, certainty);
    assert_eq!(found.findings[0].pattern.as_deref(), Some("TODO"));
}

#[test]
fn a_pattern_that_cannot_be_used_is_told_and_its_entry_still_asks() {
    let entries = [limit(4, "emojis", &["(", "✨"])];
    let found = check(&entries, &Input::text("an emoji"));
    assert_eq!(found.unusable.len(), 1);
    assert_eq!((found.unusable[0].id, found.unusable[0].pattern), (4, "("));
    assert_eq!(found.findings[0].certainty, Certainty::Words);
    assert!(!found.is_violated());
}

#[test]
fn places_are_those_of_the_text_that_was_given() {
    let entries = [limit(1, "todo", &["TODO"])];
    let text = "一\nzwei TODO";
    let found = check(&entries, &Input::text(text));
    let place = found.findings[0].place.clone().expect("it has one");
    assert_eq!((place.line, place.column), (2, 6));
    assert_eq!(&text[place.range], "TODO");

    let patch = "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-TODO\n+a TODO\n";
    let found = check(&entries, &Input::text(patch));
    let place = found.findings[0].place.clone().expect("it has one");
    assert_eq!((place.line, place.column), (5, 4));
    assert_eq!(&patch[place.range], "TODO");
    let removed = "--- a/x\n+++ b/x\n@@ -1 +0,0 @@\n-TODO\n";
    assert!(!check(&entries, &Input::text(removed)).is_violated());
}

#[rstest]
#[case(Input::edit(Some("/home/a/secrets.env"), "A=1"), true)]
#[case(Input::edit(Some("C:\\a\\secrets.env"), "A=1"), true)]
#[case(Input::edit(Some("secrets_env"), "A=1"), false)]
#[case(Input::edit(Some("a.rs"), "open(\"secrets.env\")"), true)]
#[case(
    Input::patch("*** Begin Patch\n*** Update File: x/secrets.env\n@@\n+A=1\n*** End Patch"),
    true
)]
#[case(
    Input::text("--- a/secrets.env\n+++ b/secrets.env\n@@ -1 +1 @@\n-a\n+b\n"),
    true
)]
#[case(Input { path: Some("secrets.env"), ..Input::text("A=1") }, false)]
fn an_expression_looks_at_the_path_of_an_edit_too(#[case] input: Input<'_>, #[case] is: bool) {
    for pattern in [r"secrets\.env", r"(^|.*[/\\\s\x22])secrets\.env"] {
        let entries = [limit(1, "touch the production file", &[pattern, "@emoji"])];
        assert_eq!(check(&entries, &input).is_violated(), is, "{pattern}");
    }
}

#[test]
fn a_file_that_is_named_is_shown_and_detectors_look_at_the_text_alone() {
    let entries = [limit(1, "touch it", &["@emoji", "^secrets\\.env$"])];
    let found = check(&entries, &Input::edit(Some("✨/secrets.env"), "x"));
    assert_eq!(found.findings.len(), 1);
    assert_eq!(found.findings[0].found.as_deref(), Some("✨/secrets.env"));
    assert_eq!(found.findings[0].place, None);
}

#[test]
fn an_expression_that_takes_too_long_asks_and_hides_no_detector() {
    let entries = [
        limit(1, "slow things", &[r"x[^y]{0,700}z"]),
        limit(2, "emojis", &["@emoji"]),
        limit(3, "todo", &["TODO"]),
    ];
    let text = format!("{}✨ TODO", "x".repeat(3_000_000));
    let found = check(&entries, &Input::text(&text));
    let how: Vec<(i64, Certainty)> = found
        .findings
        .iter()
        .map(|finding| (finding.entry.id, finding.certainty))
        .collect();
    assert_eq!(
        how,
        [
            (2, Certainty::Pattern),
            (3, Certainty::Pattern),
            (1, Certainty::Words)
        ]
    );
    assert!(found.unusable[0].is_slow);
    // On a text of the usual size it is looked for.
    assert!(check(&entries, &Input::text("xaz")).unusable.is_empty());
}

#[rstest]
#[case("git log --grep 'push main'", 0)]
#[case("grep -rn 'push to main' .", 0)]
#[case("git status && ls main && cat push.md", 0)]
#[case("deploy --push main", 1)]
#[case("cat push.md > main", 1)]
fn the_words_of_an_entry_do_not_ask_about_what_only_reads(
    #[case] command: &str,
    #[case] asks: usize,
) {
    let entries = [limit(1, "push main", &["@push"])];
    assert_eq!(
        check(&entries, &Input::command(command)).findings.len(),
        asks
    );
}

#[test]
fn a_secret_is_never_repeated() {
    let key = format!("ghp_{}", "Ab3dE6gH9jK2mN5pQ8sT".repeat(2)[..36].to_owned());
    let entries = [
        limit(1, "commit secrets", &["@secret"]),
        limit(2, "exports", &["export .*"]),
    ];
    let text = format!("export GITHUB_TOKEN={key}");
    let found = check(&entries, &Input::text(&text));
    assert_eq!(found.findings.len(), 2);
    for finding in found.findings {
        let shown = finding.found.expect("it is shown");
        assert!(
            shown.contains("[redacted") && !shown.contains(&key),
            "{shown}"
        );
    }
}

#[rstest]
#[case("Bearer .{20}", "curl -H 'Authorization: Bearer {key}' host")]
#[case(".{30}host", "curl -H 'Authorization: Bearer {key}' host")]
#[case("[a-z]+_[A-Za-z0-9]{6}", "token: {key}")]
#[case("6gH9.{4}", "token: {key}")]
fn a_part_of_a_secret_is_not_shown_either(#[case] pattern: &str, #[case] text: &str) {
    let key = format!("ghp_{}", &"Ab3dE6gH9jK2mN5pQ8sT".repeat(2)[..36]);
    let entries = [limit(1, "calls", &[pattern])];
    let text = text.replace("{key}", &key);
    for input in [Input::text(&text), Input::command(&text)] {
        let found = check(&entries, &input);
        let shown = found.findings[0].found.clone().expect("it is shown");
        assert!(shown.contains("[redacted"), "{shown}");
        let is_part = |at: usize| shown.contains(&key[at..at + 4]);
        assert!(!(0..key.len() - 4).any(is_part), "{shown}");
    }
}

#[rstest]
#[case("grep -rn TODO src", Some(Certainty::Words))]
#[case("cd src && rg TODO | head -3; cargo build", Some(Certainty::Words))]
#[case("sed -i 's/TODO//' x", Some(Certainty::Words))]
#[case("sed -i 's/x/TODO/' x", Some(Certainty::Pattern))]
#[case("grep TODO x && echo TODO > y", Some(Certainty::Pattern))]
#[case(
    "apply_patch <<E\n*** Begin Patch\n*** Update File: x\n-TODO\n+done\n*** End Patch\nE",
    Some(Certainty::Words)
)]
#[case(
    "apply_patch <<E\n*** Begin Patch\n*** Update File: x\n-done\n+TODO\n*** End Patch\nE",
    Some(Certainty::Pattern)
)]
#[case("git commit -m TODO", Some(Certainty::Pattern))]
#[case("ls # TODO", Some(Certainty::Words))]
#[case("command -v TODO", Some(Certainty::Words))]
#[case("TODO # x", Some(Certainty::Pattern))]
#[case("grep -rn DONE src", None)]
fn what_is_only_looked_for_does_not_deny(
    #[case] command: &str,
    #[case] certainty: Option<Certainty>,
) {
    let entries = [limit(1, "todo notes", &[r"\bTODO\b"])];
    let found = check(&entries, &Input::command(command));
    let first = found.findings.first();
    assert_eq!(first.map(|finding| finding.certainty), certainty);
}

#[rstest]
#[case(r"\bnpm (install|i)\b", "npm  install x", Some(true))]
#[case(r"\bnpm (install|i)\b", "npm\tinstall", Some(true))]
#[case(r"\bnpm (install|i)\b", "npm \\\n  install x", Some(true))]
#[case(r"\bnpm (install|i)\b", "\"npm\" 'install' x", Some(true))]
#[case(r"\bnpm (install|i)\b", "N=npm; $N i x", Some(true))]
#[case("^npm install", "cd web && npm install", Some(true))]
#[case("(?i)NPM INSTALL", "n''pm install", Some(true))]
#[case("git reset --hard", "git -C x reset --hard", Some(true))]
#[case("git reset --hard", "git --no-pager reset '--hard'", Some(true))]
#[case(r"\bnpm (install|i)\b", "alias n=npm; n install", Some(false))]
#[case(r"\bnpm (install|i)\b", "grep 'npm  install' x", None)]
#[case(r"\bnpm (install|i)\b", "foo npm  install", None)]
#[case(r"\bnpm (install|i)\b", "npm run install", None)]
fn an_expression_looks_at_a_program_as_it_is_run(
    #[case] pattern: &str,
    #[case] command: &str,
    #[case] sure: Option<bool>,
) {
    let entries = [limit(1, "some thing", &[pattern])];
    let found = check(&entries, &Input::command(command));
    let first = found.findings.first();
    assert_eq!(first.map(|one| one.certainty == Certainty::Pattern), sure);
}

#[rstest]
#[case("recursive searches", "grep -r", "grep -rn x src")]
#[case("sudo", r"\bsudo\b", "sudo cat x")]
#[case("read the production file", r"prod\.env", "cat prod.env")]
#[case("不要读 prod.env", r"prod\.env", "cat prod.env")]
fn a_pattern_about_reading_denies_it(
    #[case] item: &str,
    #[case] pattern: &str,
    #[case] command: &str,
) {
    let entries = [limit(1, item, &[pattern])];
    assert!(check(&entries, &Input::command(command)).is_violated());
}

#[rstest]
#[case("never force-push without asking me", "@force-push", Certainty::Words)]
#[case(
    "force-push to any branch except mine",
    "@force-push",
    Certainty::Words
)]
#[case("rm -rf anything outside of build", "@rm-rf", Certainty::Words)]
#[case("未经同意强制推送", "@force-push", Certainty::Words)]
#[case("force-push, without exception", "@force-push", Certainty::Pattern)]
#[case("rm -rf anything", "@rm-rf", Certainty::Pattern)]
// Whoever writes an expression says what it is certain of.
#[case("force-push without asking", "push -f", Certainty::Pattern)]
fn under_a_condition_a_detector_asks(
    #[case] item: &str,
    #[case] pattern: &str,
    #[case] certainty: Certainty,
) {
    if let Some(name) = pattern.strip_prefix('@') {
        assert_eq!(
            Detector::named_by(item).first().map(|named| named.name()),
            Some(name)
        );
    }
    let entries = [limit(1, item, &[pattern])];
    let found = check(
        &entries,
        &Input::command("git push -f origin main; rm -rf build"),
    );
    assert_eq!(found.findings[0].certainty, certainty);
}

proptest! {
    #[test]
    fn whatever_is_checked_has_an_answer_and_places_lie_within(
        text in "(git |push |-f|rm |-rf |echo |sed -i |s/é/✨/|cat |tee |sh |sudo |for f in |do |done|<<E\\n|E\\n|> x|\\$f|\\$\\(|[é✨ '\"`{},;|&()\\n=-]){0,14}",
    ) {
        let entries = [
            limit(1, "emojis in code", &["@emoji", "@em-dash", "[é✨]+"]),
            limit(2, "push to main", &["@push", "@force-push", "@rm-rf", "@secret", "."]),
        ];
        for input in [Input::command(&text), Input::text(&text), Input::edit(Some("a.md"), &text)] {
            for finding in check(&entries, &input).findings {
                if let Some(place) = finding.place {
                    prop_assert!(text.get(place.range).is_some());
                }
            }
        }
    }
}

#[test]
fn every_pattern_that_is_stored_is_looked_for() {
    let many: Vec<String> = (0..40).map(|number| format!("p{number}q")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    let entries = [limit(1, "many", &many)];
    assert!(check(&entries, &Input::text("p39q")).is_violated());
}

#[test]
fn the_steps_of_all_expressions_are_counted_together_and_the_cheapest_come_first() {
    let slow = r"x[^y]{0,700}z";
    let entries = [
        limit(1, "one", &[slow]),
        limit(2, "two", &[slow, "b+q"]),
        limit(3, "three", &[slow]),
    ];
    // Enough for two of the three.
    let text = format!("{}bq", "x".repeat(60_000));
    let found = check(&entries, &Input::text(&text));
    let unusable: Vec<i64> = found.unusable.iter().map(|unusable| unusable.id).collect();
    assert_eq!(unusable, [3]);
    assert_eq!(found.findings[0].entry.id, 2);
    assert!(found.is_violated());
    let again = check(&entries, &Input::text(&text));
    assert_eq!(found, again);
}

#[test]
fn the_surest_comes_first_and_each_entry_once_for_a_pattern() {
    let entries = [
        limit(1, "emoji", &[]),
        limit(2, "fixme", &["FIXME", "@emoji"]),
    ];
    let found = check(&entries, &Input::text("an emoji ✨ FIXME"));
    let order: Vec<(i64, Certainty)> = found
        .findings
        .iter()
        .map(|finding| (finding.entry.id, finding.certainty))
        .collect();
    assert_eq!(
        order,
        [
            (2, Certainty::Pattern),
            (2, Certainty::Pattern),
            (1, Certainty::Words)
        ]
    );
}

/// The shortest of three times that a check takes.
fn time(entries: &[Preference], input: &Input<'_>) -> Duration {
    let times = (0..3).map(|_| {
        let start = Instant::now();
        check(entries, input);
        start.elapsed()
    });
    times.min().expect("three were measured")
}

#[test]
fn a_text_that_was_made_to_be_slow_is_not() {
    const LENGTH: usize = 32_000;
    let patterns = [
        "@emoji",
        "@em-dash",
        "@force-push",
        "@rm-rf",
        "@secret",
        "(a+)+b",
        "x.{0,100}y",
    ];
    let entries = [
        limit(1, "deploy branch", &patterns),
        limit(2, "em dashes in commit messages", &["@em-dash"]),
    ];
    let inputs = |text: &'static str| {
        [
            Input::text(text),
            Input::command(text),
            Input::edit(None, text),
        ]
    };
    let repeated = |part: &str, length: usize| -> &'static str {
        String::leak(part.repeat(length / part.len()))
    };
    let plain = inputs(repeated("some plain words.\n", LENGTH)).map(|input| time(&entries, &input));
    for part in [
        "```\n",
        "` ",
        "\"",
        "'",
        "$(",
        "`",
        "(",
        "\\",
        "<<E\n",
        "${",
        "${${}",
        "a -- b ",
        "git push -f 'x ",
        "git commit -m 'a b' ",
        "git commit -m 'a b'\n",
        "x='a' && ",
        "$(echo $X $(echo $X))",
        "<(a)$(echo x y)",
        "} | cat\n",
        "rm -rf `",
        "eval ",
        "find -exec ",
        "foo sudo ",
        "🇯",
        "@@ -1\n+",
        "a",
    ] {
        let few = inputs(repeated(part, LENGTH / 16));
        let many = inputs(repeated(part, LENGTH));
        for ((few, many), plain) in few.iter().zip(&many).zip(plain) {
            let (short, long) = (time(&entries, few), time(&entries, many));
            // As a ratio of one run: a machine may be slow. What grows with the square takes 256 times as long.
            assert!(
                long < (short * 100).max(plain * 6),
                "{part:?} as {:?}: {short:?}, then {long:?}",
                many.kind
            );
        }
    }
}

#[test]
fn fifty_limits_on_ten_kilobytes_cost_little_more_than_reading_the_words() {
    let text = "The quick brown fox jumps over the lazy dog, and `git push origin x` is run.\n"
        .repeat(130);
    let entries: Vec<Preference> = (0..50)
        .map(|id| {
            let own = format!(r"(?i)\bword{id}\s+never\b");
            let detector = format!("@{}", Detector::ALL[id % 5].name());
            limit(id as i64, &format!("some thing {id}"), &[&own, &detector])
        })
        .collect();
    let input = Input::text(&text);
    let (one, fifty) = (time(&entries[..1], &input), time(&entries, &input));
    // As a ratio of one run: a machine may be slow. Each limit read by itself would be fifty.
    assert!(fifty < one * 25, "{one:?} for one, {fifty:?} for fifty");
}
