//! A hard limit gives way only to who knew it.

use super::*;

#[test]
fn a_raise_that_did_not_know_a_limit_is_held_and_named() {
    let (mut a, mut b) = (store(), store());
    add(&mut a, "tabs", 6.0);
    meet(&mut a, &mut b);
    rescore(&mut a, "tabs", 0.5);
    rescore(&mut b, "tabs", 9.0);
    let received = receive(&mut b, lines(&a));
    let uid = entry(&b, "tabs").expect("it is there").uid;
    assert_eq!(received.held.len(), 1);
    assert_eq!(received.held[0].uid, uid);
    assert_eq!(received.held[0].wanted, Some(9.0));
    assert_eq!(score(&b, "tabs"), Some(0.5));
    // Who knows the limit lifts it, here and everywhere.
    rescore(&mut b, "tabs", 7.0);
    meet(&mut a, &mut b);
    assert_eq!(score(&a, "tabs"), Some(7.0));
}

#[test]
fn two_devices_that_forbid_the_same_do_not_lift_each_other_s_limit() {
    let (mut a, mut b) = (store(), store());
    add(&mut a, "tabs", 0.5);
    add(&mut b, "tabs", 0.5);
    rescore(&mut b, "tabs", 8.0);
    meet(&mut a, &mut b);
    assert_eq!(score(&b, "tabs"), Some(0.5));
    rescore(&mut b, "tabs", 8.0);
    meet(&mut a, &mut b);
    assert_eq!(score(&a, "tabs"), Some(8.0));
}

#[test]
fn a_limit_comes_back_to_a_device_that_removed_it_without_knowing() {
    let (mut a, mut b) = (store(), store());
    add(&mut a, "tabs", 6.0);
    meet(&mut a, &mut b);
    let id = entry(&b, "tabs").expect("it is there").id;
    remove(&mut b, "tabs");
    rescore(&mut a, "tabs", 0.5);
    meet(&mut a, &mut b);
    let back = entry(&b, "tabs").expect("it is there");
    assert_eq!((back.base_score.value(), back.id), (0.5, id));
    remove(&mut b, "tabs");
    meet(&mut a, &mut b);
    assert_eq!(entry(&a, "tabs"), None);
}

#[test]
fn a_limit_that_was_confirmed_meanwhile_is_not_lifted() {
    let (mut a, mut b) = (store(), store());
    add(&mut a, "tabs", 0.5);
    meet(&mut a, &mut b);
    rescore(&mut a, "tabs", 7.0);
    add(&mut b, "tabs", 0.5);
    meet(&mut a, &mut b);
    assert_eq!(score(&a, "tabs"), Some(0.5));
    rescore(&mut a, "tabs", 7.0);
    meet(&mut a, &mut b);
    assert_eq!(score(&b, "tabs"), Some(7.0));
}

#[rstest]
#[case::seen_again(true)]
#[case::set(false)]
fn what_speaks_against_a_limit_does_not_become_its_reason(#[case] is_seen: bool) {
    let (mut a, mut b) = (store(), store());
    add(&mut a, "tabs", 6.0);
    meet(&mut a, &mut b);
    let values = EntryValues {
        base_score: Some(0.5),
        reason: Some("never again".to_owned()),
        ..EntryValues::default()
    };
    set(&mut a, "tabs", &values);
    if is_seen {
        let nice = Observation {
            reason: "they are nice".to_owned(),
            ..seen("tabs", Some(9.0))
        };
        write(&mut b, |transaction| add_to(transaction, &nice));
    } else {
        let nice = EntryValues {
            base_score: Some(9.0),
            reason: Some("they are nice".to_owned()),
            ..EntryValues::default()
        };
        set(&mut b, "tabs", &nice);
    }
    meet(&mut a, &mut b);
    let limit = entry(&b, "tabs").expect("it is there");
    assert_eq!(
        (limit.base_score.value(), limit.reason.as_str()),
        (0.5, "never again")
    );
}

#[test]
fn what_a_limit_withstood_is_told_once() {
    let (mut a, mut b) = (store(), store());
    add(&mut a, "tabs", 6.0);
    meet(&mut a, &mut b);
    rescore(&mut a, "tabs", 0.5);
    rescore(&mut b, "tabs", 9.0);
    assert_eq!(receive(&mut b, lines(&a)).held.len(), 1);
    assert_eq!(receive(&mut a, lines(&b)).held.len(), 1);
    set(
        &mut a,
        "tabs",
        &EntryValues {
            reason: Some("otherwise".to_owned()),
            ..EntryValues::default()
        },
    );
    let received = receive(&mut b, lines(&a));
    assert_eq!(received.difference.entries.len(), 1);
    assert_eq!(received.held, []);
}

#[test]
fn a_copied_store_lifts_a_limit_of_the_time_before_it_had_its_name() {
    let mut a = store();
    add(&mut a, "tabs", 0.5);
    let mut b = copy(&a);
    add(&mut a, "of the first", 5.0);
    let of_a = lines(&a);
    let name = write(&mut b, |transaction| {
        transaction.leave_name(&of_a, More::Nothing)
    });
    assert!(name.is_some());
    rescore(&mut b, "tabs", 7.0);
    is_in_order(&b);
    meet(&mut a, &mut b);
    assert_eq!(score(&a, "tabs"), Some(7.0));
}

/// What does not know a limit and would make it forbid less, or something else.
fn spoil() -> EntryValues {
    EntryValues {
        item: Some("use trash".to_owned()),
        reason: Some("handy, use it".to_owned()),
        keywords: Some("trash".to_owned()),
        pattern: Some(Some("trash-put".to_owned())),
        ..EntryValues::default()
    }
}

fn is_whole(store: &Store) {
    let limit = entry(store, "rm -rf").expect("it is there");
    assert_eq!(limit.base_score.value(), 0.5);
    assert_eq!(limit.reason, "it deleted my thesis");
    assert!(limit.patterns.contains(&"@rm-rf".to_owned()), "{limit:?}");
    assert!(limit.keywords.contains(&"tone".to_owned()), "{limit:?}");
    is_in_order(store);
}

#[rstest]
#[case::the_limit_was_first(0, 60)]
#[case::the_limit_came_later(60, 0)]
fn a_limit_keeps_what_it_forbids_where_somebody_did_not_know_it(
    #[case] of_a: i64,
    #[case] of_b: i64,
) {
    let (mut a, mut b) = (store(), store());
    let said = Observation {
        patterns: vec!["@rm-rf".to_owned()],
        reason: "it deleted my thesis".to_owned(),
        ..seen("rm -rf", Some(5.0))
    };
    write(&mut a, |transaction| add_to(transaction, &said));
    meet(&mut a, &mut b);
    let uid = entry(&a, "rm -rf").expect("it is there").uid;
    let limit = EntryValues {
        base_score: Some(0.5),
        ..EntryValues::default()
    };
    for (store, values, seconds) in [(&mut a, limit, of_a), (&mut b, spoil(), of_b)] {
        let change = Change::set_entry(Op::Update, &uid, Origin::User, &values);
        try_write(store, now() + TimeDelta::seconds(seconds), |transaction| {
            transaction.apply(&change)
        })
        .expect("it sets");
    }
    let mut told: Vec<&str> = receive(&mut a, lines(&b))
        .held
        .into_iter()
        .flat_map(|held| held.fields)
        .collect();
    told.sort_unstable();
    assert_eq!(told, ["item", "keywords", "pattern", "reason"]);
    meet(&mut a, &mut b);
    is_whole(&a);
    // Who knows it may.
    set(&mut b, "rm -rf", &spoil());
    meet(&mut a, &mut b);
    let limit = entry(&a, "use trash").expect("it is there");
    assert_eq!(
        (limit.reason.as_str(), limit.keywords.as_slice()),
        ("handy, use it", ["trash".to_owned()].as_slice())
    );
    assert_eq!(limit.patterns, ["trash-put"]);
}

#[test]
fn a_limit_that_comes_back_by_its_old_name_is_one_with_what_has_it_meanwhile() {
    let (mut a, mut b) = (store(), store());
    add(&mut a, "rm -rf", 5.0);
    meet(&mut a, &mut b);
    let other = EntryValues {
        item: Some("use trash".to_owned()),
        ..EntryValues::default()
    };
    set(&mut b, "rm -rf", &other);
    add(&mut b, "rm -rf", 9.0);
    let limit = EntryValues {
        base_score: Some(0.5),
        ..EntryValues::default()
    };
    let uid = entry(&a, "rm -rf").expect("it is there").uid;
    let change = Change::set_entry(Op::Update, &uid, Origin::User, &limit);
    try_write(&mut a, now() + TimeDelta::seconds(60), |transaction| {
        transaction.apply(&change)
    })
    .expect("it sets");
    meet(&mut a, &mut b);
    assert_eq!(score(&b, "rm -rf"), Some(0.5));
    is_in_order(&b);
}

#[rstest]
#[case::nothing("")]
#[case::hidden("\u{200b}")]
#[case::joiners("\u{200d} \u{fe0f}")]
fn an_entry_does_not_lose_its_name(#[case] item: &str) {
    let (mut a, mut b) = (store(), store());
    add(&mut a, "shellfish", 0.5);
    meet(&mut a, &mut b);
    let renamed = EntryValues {
        item: Some("lobster".to_owned()),
        ..EntryValues::default()
    };
    set(&mut b, "shellfish", &renamed);
    let mut of_b = lines(&b);
    for after in of_b.iter_mut().filter_map(|line| line.after.as_mut()) {
        if after.get("item").is_some_and(|stored| stored == "lobster") {
            after.insert("item".to_owned(), item.into());
        }
    }
    receive(&mut a, of_b);
    assert_eq!(score(&a, "shellfish"), Some(0.5));
    is_in_order(&a);
}

#[test]
fn another_program_takes_no_name_away() {
    let mut a = store();
    add(&mut a, "shellfish", 0.5);
    let emptied = a.connection.execute("UPDATE preferences SET item = ''", []);
    emptied.expect("it runs");
    write(&mut a, |_| Ok(()));
    assert_eq!(score(&a, "shellfish"), Some(0.5));
    is_in_order(&a);
}

#[test]
fn counts_of_any_size_are_told_apart() {
    let (mut a, mut b) = (store(), store());
    add(&mut a, "tabs", 5.0);
    meet(&mut a, &mut b);
    let uid = entry(&a, "tabs").expect("it is there").uid;
    for (store, count) in [(&mut a, 1 << 60), (&mut b, (1 << 60) + 1)] {
        let values = EntryValues {
            touch_count: Some(count),
            ..EntryValues::default()
        };
        let change = Change::set_entry(Op::Touch, &uid, Origin::User, &values);
        write(store, |transaction| transaction.apply(&change));
        let one_more = EntryValues {
            touch_count: Some(count + 1),
            ..EntryValues::default()
        };
        let change = Change::set_entry(Op::Touch, &uid, Origin::User, &one_more);
        write(store, |transaction| transaction.apply(&change));
    }
    meet(&mut a, &mut b);
    is_in_order(&a);
    is_in_order(&b);
}
