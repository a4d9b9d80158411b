//! Stores and files made up at random: what goes out comes back, and what is no profile is refused.

use super::*;

/// A text as people and programs write them.
fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z]{1,8}( [a-z]{1,8}){0,3}",
        "\\PC{1,40}",
        "[\"'\\\\{}\\[\\],:;\u{4e2d}\u{6587}é👩‍💻 a-z]{1,20}",
    ]
    .prop_filter("a text says something", |text| !text.trim().is_empty())
    // What does would wait for a person in the second store.
    .prop_filter("it does not speak to the model", |text| {
        aizo::poison::suspicion(text).is_none()
    })
}

#[derive(Debug, Clone)]
struct Typed {
    item: String,
    reason: String,
    score: f64,
    keywords: Vec<String>,
    scenarios: Vec<String>,
    source: String,
}

fn typed() -> impl Strategy<Value = Typed> {
    (
        text(),
        text(),
        prop_oneof![Just(0.0), Just(0.5), Just(1.5), 0.0..10.0_f64],
        prop::collection::vec("[a-z\u{4e2d}\u{6587}]{1,6}", 0..4),
        prop::collection::vec("[a-z]{1,6}", 0..3),
        prop_oneof![
            Just("manual"),
            Just("analysis"),
            Just("import"),
            Just("desk")
        ],
    )
        .prop_map(|(item, reason, score, keywords, scenarios, source)| Typed {
            item,
            reason,
            score,
            keywords,
            scenarios,
            source: source.to_owned(),
        })
}

/// A store that was written at random: entries typed, seen again, renamed, touched, removed and brought back, and rows of
/// another program.
fn random_store(all: &[Typed], odd: &[(String, String, f64)], days: u32) -> Home {
    let home = Home::new();
    let lines: Vec<String> = all
        .iter()
        .map(|one| {
            serde_json::json!({
                "item": one.item, "reason": one.reason, "score": one.score, "keywords": one.keywords,
                "scenarios": one.scenarios, "source": one.source,
            })
            .to_string()
        })
        .collect();
    // A text that may not enter refuses the whole: each has its own run.
    for line in &lines {
        home.run_with_input(&["add", "--stdin"], format!("{line}\n").as_bytes());
    }
    let home = home.at(&format!("2026-12-{:02}T10:00:00.123456789Z", 1 + days));
    for line in lines.iter().step_by(3) {
        home.run_with_input(&["add", "--stdin"], format!("{line}\n").as_bytes());
    }
    home.run(&["touch", "1"]);
    home.run(&[
        "update",
        "2",
        "--reason",
        "another reason",
        "--score",
        "7.25",
    ]);
    home.run(&["remove", "3"]);
    home.run(&["undo"]);
    home.run(&["config", "set-half-life", &format!("{}", 10 + days)]);
    for (index, (item, keywords, score)) in odd.iter().enumerate() {
        let connection = rusqlite::Connection::open(home.db()).expect("the store opens");
        connection
            .execute(
                "INSERT OR IGNORE INTO preferences (item, reason, keywords, base_score, source, added_at, last_seen, touch_count)
                 VALUES (?1, '', ?2, ?3, 'manual', ?4, 'not a time', -3)",
                rusqlite::params![format!("odd {index} {item}"), keywords, score, "yesterday"],
            )
            .expect("the row is taken");
    }
    home
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]

    #[test]
    fn exporting_importing_and_exporting_again_gives_the_same_bytes(
        all in prop::collection::vec(typed(), 1..8),
        odd in prop::collection::vec(("[a-z]{1,8}", "([a-z]{1,4}[, ]{0,3}){0,4}", -3.0..14.0_f64), 0..3),
        days in 0..20_u32,
        form in prop_oneof![Just("jsonl"), Just("json")],
    ) {
        let from = random_store(&all, &odd, days);
        let form = ["--format", form];
        let exported = export(&from, &form);
        let to = Home::new();
        let path = file(&to, "p", &exported);
        let reply = import(&to, &[&path]);
        prop_assert!(reply.own && reply.counts.unreadable == 0, "{reply:?}");
        prop_assert_eq!(&export(&to, &form), &exported);
        let rows = to.rows();
        let again = import(&to, &[&path]);
        prop_assert!(again.changes_nothing(), "{again:?}");
        prop_assert_eq!(to.rows(), rows);
        // With its history, where no other program has written past it.
        if odd.is_empty() {
            let whole = export(&from, &["--history"]);
            let third = Home::new();
            let path = file(&third, "p", &whole);
            let reply = import(&third, &[&path]);
            prop_assert_eq!(reply.history.as_deref(), Some("taken_over"));
            prop_assert_eq!(export(&third, &["--history"]), whole);
        }
    }
}

#[test]
fn nothing_that_is_no_profile_is_more_than_refused() {
    // Pieces of every format, cut and glued at random places; a fixed seed, so that a failure comes again.
    let samples: Vec<Vec<u8>> = [
        "entries.json",
        "mem0.json",
        "mcp-memory.jsonl",
        "CLAUDE.md",
        "chatgpt-user.json",
    ]
    .iter()
    .map(|name| std::fs::read(sample(name)).expect("it is there"))
    .chain([export(&profile(), &["--history"]).into_bytes()])
    .collect();
    let mut seed = 20_261_130_u64;
    let mut next = |most: usize| {
        seed = seed
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(seed >> 33).expect("31 bits") % most.max(1)
    };
    for _ in 0..40 {
        let (first, second) = (&samples[next(samples.len())], &samples[next(samples.len())]);
        let mut bytes = first[..next(first.len())].to_vec();
        bytes.extend(&second[next(second.len())..]);
        for _ in 0..next(4) {
            let at = next(bytes.len());
            if let Some(byte) = bytes.get_mut(at) {
                *byte = u8::try_from(next(256)).expect("a byte");
            }
        }
        let home = Home::new();
        let path = file(&home, "p", &bytes);
        let run: Run = home.run(&["import", &path]);
        assert!(
            run.code == 0 || run.code == 1,
            "{run:?}\n{}",
            String::from_utf8_lossy(&bytes)
        );
        assert!(!run.stderr.contains("panicked"), "{run:?}");
        if run.code == 0 {
            let again = import(&home, &[&path]);
            assert!(
                again.change.is_none(),
                "{again:?}\n{}",
                String::from_utf8_lossy(&bytes)
            );
        }
    }
}
