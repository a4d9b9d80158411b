//! What was forgotten on one device, and what another one still says of it.

use super::*;

#[test]
fn what_is_forgotten_on_one_device_has_no_words_left_on_another() {
    let (mut a, mut b) = (store(), store());
    add(&mut a, "secret thing", 6.0);
    meet(&mut a, &mut b);
    // Lines of others that nobody has seen yet when it is forgotten.
    rescore(&mut b, "secret thing", 0.5);
    let late = lines(&b);
    forget(&mut a, "secret thing");
    let (mut c, of_a) = (store(), lines(&a));
    for store in [&mut b, &mut c] {
        receive(store, of_a.clone());
        receive(store, late.clone());
        assert_eq!(entry(store, "secret thing"), None);
        assert_eq!(holding(store, "secret"), 0);
        is_in_order(store);
        assert!(
            store
                .view()
                .owed()
                .expect("it reads")
                .contains(&Owed::Files)
        );
    }
    assert_eq!(holding(&a, "secret"), 0);
    // Who says it again is heard.
    add(&mut b, "secret thing", 7.0);
    meet(&mut a, &mut b);
    assert_eq!(score(&a, "secret thing"), Some(7.0));
    is_in_order(&a);
}

#[test]
fn what_two_devices_have_said_of_a_thing_is_forgotten_as_one() {
    let (mut a, mut b) = (store(), store());
    add(&mut a, "tabs", 6.0);
    add(&mut b, "ＴＡＢＳ", 7.0);
    meet(&mut a, &mut b);
    forget(&mut b, "tabs");
    meet(&mut a, &mut b);
    for store in [&a, &b] {
        assert_eq!(entry(store, "tabs"), None);
        assert_eq!((holding(store, "tabs"), holding(store, "ｔａｂｓ")), (0, 0));
        is_in_order(store);
    }
}

#[test]
fn what_another_device_has_said_before_goes_too_but_for_a_hard_limit_and_what_was_said_later() {
    let (mut a, mut b) = (store(), store());
    add(&mut b, "tabs", 7.0);
    add(&mut b, "emojis", 0.5);
    let early = lines(&b);
    let later = now() + TimeDelta::hours(1);
    for item in ["tabs", "emojis", "meetings"] {
        add(&mut a, item, 6.0);
        try_write(&mut a, later, |transaction| {
            forget_in(transaction, item, false)
        })
        .expect("it forgets");
    }
    let received = receive(&mut a, early);
    assert!(received.forgotten.contains("tabs"), "{received:?}");
    assert_eq!((score(&a, "tabs"), score(&a, "emojis")), (None, Some(0.5)));
    let of_a = lines(&a);
    try_write(&mut b, later, |transaction| transaction.receive(of_a)).expect("it receives");
    add(&mut b, "tabs", 8.0);
    meet(&mut a, &mut b);
    assert_eq!(score(&a, "tabs"), Some(8.0));
    is_in_order(&a);
    is_in_order(&b);
}

#[test]
fn the_words_for_it_go_from_what_else_speaks_of_it() {
    let (mut a, mut b) = (store(), store());
    let told = "I am allergic to shellfish and hate long meetings";
    for (item, score) in [("allergic to shellfish", 0.5), ("long meetings", 2.0)] {
        let seen = Observation {
            reason: told.to_owned(),
            ..seen(item, Some(score))
        };
        write(&mut a, |transaction| add_to(transaction, &seen));
    }
    set(
        &mut a,
        "long meetings",
        &EntryValues {
            reason: Some("more than an hour".to_owned()),
            ..EntryValues::default()
        },
    );
    meet(&mut a, &mut b);
    let mut c = copy(&a);
    forget(&mut c, "allergic to shellfish");
    assert_eq!(holding(&c, "shellfish"), 3);
    write(&mut b, |transaction| {
        forget_in(transaction, "allergic to shellfish", true)
    });
    meet(&mut a, &mut b);
    for store in [&a, &b] {
        assert_eq!(holding(store, "shellfish"), 0);
        let stays = entry(store, "long meetings").expect("it stays");
        assert_eq!(stays.reason, "more than an hour");
        let evidence = store.view().evidence(stays.id).expect("it reads");
        assert_eq!((evidence.len(), evidence[0].quote.as_str()), (1, ""));
        is_in_order(store);
    }
}

#[test]
fn a_change_of_something_forgotten_cannot_be_taken_back() {
    let mut a = store();
    add(&mut a, "tabs", 6.0);
    add(&mut a, "spaces", 6.0);
    write(&mut a, |transaction| {
        for item in ["tabs", "spaces"] {
            let uid = transaction
                .view()
                .entry_by_key(item)?
                .expect("it is there")
                .uid;
            transaction.apply(&Change::delete(
                Op::Clear,
                Subject::Entry(uid),
                Origin::User,
            ))?;
        }
        Ok(())
    });
    forget(&mut a, "tabs");
    let refused = |store: &mut Store, number| {
        let refused = try_write(store, now(), |transaction| transaction.undo(number));
        matches!(refused, Err(StorageError::CannotUndo { .. }))
    };
    // What made it, and the forgetting itself.
    assert!(refused(&mut a, 1) && refused(&mut a, 5));
    assert!(matches!(
        try_write(&mut a, now(), |transaction| transaction.undo_last(1)),
        Err(StorageError::CannotUndo { .. })
    ));
    let undoing = write(&mut a, |transaction| transaction.undo(3));
    assert_eq!((undoing.done.len(), undoing.left.len()), (1, 1));
    assert_eq!((score(&a, "tabs"), score(&a, "spaces")), (None, Some(6.0)));
    is_in_order(&a);
}

/// An entry with a reason.
fn explain(store: &mut Store, item: &str, reason: &str, seconds: i64) {
    let uid = entry(store, item).expect("it is there").uid;
    let values = EntryValues {
        reason: Some(reason.to_owned()),
        ..EntryValues::default()
    };
    let change = Change::set_entry(Op::Update, &uid, Origin::User, &values);
    try_write(store, now() + TimeDelta::seconds(seconds), |transaction| {
        transaction.apply(&change)
    })
    .expect("it sets");
}

#[test]
fn a_device_that_did_not_know_does_not_bring_the_words_back_with_what_it_saw_before() {
    let (mut a, mut b) = (store(), store());
    let told = "I am allergic to shellfish";
    for (item, score) in [
        ("allergic to shellfish", 2.0),
        ("long meetings", 2.0),
        ("late dinners", 2.0),
    ] {
        let seen = Observation {
            reason: told.to_owned(),
            ..seen(item, Some(score))
        };
        write(&mut a, |transaction| add_to(transaction, &seen));
    }
    meet(&mut a, &mut b);
    write(&mut a, |transaction| {
        forget_in(transaction, "allergic to shellfish", true)
    });
    assert_eq!(holding(&a, "shellfish"), 0);
    // Later, and without knowing: a text that stood before, and an entry that went and came back with it.
    explain(&mut b, "long meetings", "more than an hour", 60);
    remove(&mut b, "late dinners");
    write(&mut b, |transaction| transaction.undo_last(1));
    let of_b = lines(&b);
    meet(&mut a, &mut b);
    for store in [&mut a, &mut b] {
        receive(store, of_b.clone());
        assert_eq!(holding(store, "shellfish"), 0);
        let stays = entry(store, "long meetings").expect("it stays");
        assert_eq!(stays.reason, "more than an hour");
        assert!(entry(store, "late dinners").is_some());
        is_in_order(store);
        knows_nothing_forgotten(store);
    }
    // Who knows that it was forgotten keeps what was said since.
    explain(&mut b, "long meetings", "they are long", 70);
    meet(&mut a, &mut b);
    write(&mut b, |transaction| transaction.undo_last(1));
    meet(&mut a, &mut b);
    let back = entry(&a, "long meetings").expect("it stays");
    assert_eq!(back.reason, "more than an hour");
    remove(&mut b, "long meetings");
    write(&mut b, |transaction| transaction.undo_last(1));
    meet(&mut a, &mut b);
    let back = entry(&a, "long meetings").expect("it stays");
    assert_eq!(back.reason, "more than an hour");
}

#[rstest]
#[case::it_waits_here_when_the_forgetting_comes(true)]
#[case::it_comes_after_it(false)]
fn what_waits_in_review_is_forgotten_as_well(#[case] waits: bool) {
    let (mut a, mut b) = (store(), store());
    add(&mut a, "tabs", 6.0);
    meet(&mut a, &mut b);
    for item in ["tabs", "spaces"] {
        let change = Change::propose(new_uid(), &proposal(item, 3.0, now()));
        write(&mut b, |transaction| transaction.apply(&change));
    }
    let later = now() + TimeDelta::hours(1);
    try_write(&mut a, later, |transaction| {
        forget_in(transaction, "tabs", false)
    })
    .expect("it forgets");
    let store = if waits {
        receive(&mut b, lines(&a));
        &b
    } else {
        receive(&mut a, lines(&b));
        &a
    };
    assert_eq!(holding(store, "tabs"), 0);
    assert_eq!(store.view().count_proposals().expect("it counts"), 1);
    is_in_order(store);
    meet(&mut a, &mut b);
    // What is said of it later waits again.
    let change = Change::propose(new_uid(), &proposal("tabs", 3.0, later));
    try_write(&mut b, later, |transaction| transaction.apply(&change)).expect("it proposes");
    meet(&mut a, &mut b);
    assert_eq!(a.view().count_proposals().expect("it counts"), 2);
}

#[test]
fn a_bare_undo_is_not_in_the_way_of_what_another_device_forgot() {
    let (mut a, mut b) = (store(), store());
    let later = now() + TimeDelta::hours(1);
    add(&mut a, "tabs", 6.0);
    add(&mut b, "spaces", 6.0);
    add(&mut b, "ＴＡＢＳ", 6.0);
    // A line of which a text is all there is.
    explain(&mut b, "spaces", "because of tabs", 1);
    try_write(&mut a, later, |transaction| {
        forget_in(transaction, "tabs", false)
    })
    .expect("it forgets");
    receive(&mut b, lines(&a));
    receive(&mut a, lines(&b));
    try_write(&mut a, later, |transaction| {
        forget_in(transaction, "because of tabs", true)
    })
    .expect("it forgets");
    let uid = entry(&b, "spaces").expect("it is there").uid;
    let erasure = crate::merge::forgotten::Erasure {
        subject: Subject::Entry(uid),
        texts: serde_json::json!({"reason": ""})
            .as_object()
            .cloned()
            .expect("an object"),
        observations: Vec::new(),
    };
    try_write(&mut a, later, |transaction| {
        transaction.forget(&[], &[erasure])
    })
    .expect("it forgets");
    meet(&mut a, &mut b);
    let undoing = write(&mut b, |transaction| transaction.undo_last(1));
    assert_eq!(undoing.done.len(), 1);
    assert_eq!(entry(&b, "spaces"), None);
}

#[test]
fn what_is_owed_is_struck_only_by_who_did_all_of_it() {
    let mut a = store();
    add(&mut a, "tabs", 6.0);
    add(&mut a, "spaces", 6.0);
    forget(&mut a, "tabs");
    let known = a.view().forgettings().expect("it counts");
    // Meanwhile somebody else forgets more.
    forget(&mut a, "spaces");
    write(&mut a, |transaction| transaction.pay(&Owed::ALL, known));
    assert!(!a.view().owed().expect("it reads").is_empty());
    let known = a.view().forgettings().expect("it counts");
    write(&mut a, |transaction| transaction.pay(&Owed::ALL, known));
    assert!(a.view().owed().expect("it reads").is_empty());
}

#[test]
fn words_that_were_forgotten_are_not_written_again_where_the_same_conversation_is_read() {
    let (mut a, mut b) = (store(), store());
    let told = || Observation {
        evidence: Some(Evidence {
            quote: "no shellfish and no long meetings".to_owned(),
            ..heard("s1", 1)
        }),
        ..seen("long meetings", Some(2.0))
    };
    add(&mut a, "shellfish", 2.0);
    write(&mut a, |transaction| add_to(transaction, &told()));
    write(&mut a, |transaction| {
        forget_in(transaction, "shellfish", true)
    });
    receive(&mut b, lines(&a));
    let id = entry(&b, "long meetings").expect("it came").id;
    remove(&mut b, "long meetings");
    write(&mut b, |transaction| add_to(transaction, &told()));
    assert_ne!(entry(&b, "long meetings").expect("it is there").id, id);
    assert_eq!(holding(&b, "shellfish"), 0);
    is_in_order(&b);
}
