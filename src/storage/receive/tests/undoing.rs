//! What is taken back on one device, and what others have said meanwhile.

use serde_json::Value;

use super::*;

#[test]
fn an_undo_takes_back_what_was_done_here_and_anything_by_its_number() {
    let (mut a, mut b) = (store(), store());
    add(&mut a, "tabs", 6.0);
    add(&mut b, "spaces", 6.0);
    meet(&mut a, &mut b);
    rescore(&mut a, "tabs", 8.0);
    meet(&mut a, &mut b);
    write(&mut b, |transaction| transaction.undo_last(1));
    assert_eq!(score(&b, "spaces"), None);
    let nothing = try_write(&mut b, now(), |transaction| transaction.undo_last(1));
    assert!(matches!(nothing, Err(StorageError::NothingToUndo)));
    let journal = b.view().journal(None, 99).expect("it reads");
    let theirs = journal.iter().find(|line| {
        let score = line
            .after
            .as_ref()
            .and_then(|after| after.get("base_score"));
        line.op == Op::Update && score.and_then(Value::as_f64) == Some(8.0)
    });
    let number = theirs.expect("it came").seq;
    write(&mut b, |transaction| transaction.undo(number));
    meet(&mut a, &mut b);
    assert_eq!((score(&a, "tabs"), score(&a, "spaces")), (Some(6.0), None));
}

#[test]
fn an_entry_that_is_one_with_another_keeps_its_history_and_can_come_back() {
    let (mut a, mut b) = (store(), store());
    add(&mut a, "tabs", 6.0);
    add(&mut b, "ＴＡＢＳ", 9.0);
    let received = receive(&mut b, lines(&a));
    let told = &received.difference.entries[0];
    assert_eq!(
        (told.how, told.before, told.after),
        (How::Changed, Some(9.0), Some(7.8))
    );
    meet(&mut a, &mut b);
    let united = entry(&b, "tabs").expect("it is there");
    assert_eq!((united.base_score.value(), united.id), (7.8, 1));
    assert_eq!(entry(&a, "tabs").map(|entry| entry.id), Some(1));
    let history = |store: &Store, uid: &str| {
        let subject = Subject::Entry(uid.to_owned());
        store
            .view()
            .journal(Some(&subject), 99)
            .expect("it reads")
            .len()
    };
    assert_eq!(history(&b, &united.uid), 2);
    remove(&mut b, "tabs");
    let undone = write(&mut b, |transaction| transaction.undo_last(1)).done;
    let back = entry(&b, "tabs").expect("it is there");
    assert_eq!(undone[0].id, Some(back.id));
    assert_eq!(b.view().evidence(back.id).expect("it reads").len(), 2);
    meet(&mut a, &mut b);
    is_in_order(&a);
    is_in_order(&b);
}

#[test]
fn an_edit_that_did_not_know_of_a_removal_is_there_when_it_is_taken_back() {
    let (mut a, mut b) = (store(), store());
    add(&mut a, "tabs", 6.0);
    meet(&mut a, &mut b);
    remove(&mut a, "tabs");
    let values = EntryValues {
        reason: Some("edited meanwhile".to_owned()),
        ..EntryValues::default()
    };
    set(&mut b, "tabs", &values);
    meet(&mut a, &mut b);
    assert_eq!(entry(&b, "tabs"), None);
    write(&mut a, |transaction| transaction.undo_last(1));
    meet(&mut a, &mut b);
    let back = entry(&b, "tabs").expect("it is there");
    assert_eq!(back.reason, "edited meanwhile");
}

#[rstest]
#[case(6.0, 9.0)]
#[case(0.5, 9.0)]
#[case(0.5, 0.5)]
fn an_undo_of_an_addition_leaves_what_another_device_has_added(
    #[case] taken_back: f64,
    #[case] stays: f64,
) {
    let (mut a, mut b) = (store(), store());
    add(&mut a, "tabs", taken_back);
    add(&mut b, "ＴＡＢＳ", stays);
    write(&mut a, |transaction| transaction.undo_last(1));
    meet(&mut a, &mut b);
    let left = entry(&a, "tabs").expect("it is there");
    assert_eq!(left.is_hard_limit(), stays < 2.0);
    assert_eq!(a.view().evidence(left.id).expect("it reads").len(), 1);
    // Where both take it back, nothing is left.
    let (mut a, mut b) = (store(), store());
    add(&mut a, "tabs", taken_back);
    add(&mut b, "ＴＡＢＳ", stays);
    for store in [&mut a, &mut b] {
        write(store, |transaction| transaction.undo_last(1));
    }
    meet(&mut a, &mut b);
    assert_eq!(entry(&a, "tabs"), None);
}

#[test]
fn what_a_conversation_wrote_does_not_take_a_limit_of_another_device_with_it() {
    let (mut a, mut b) = (store(), store());
    let evidence = Evidence {
        session: Some("s1".to_owned()),
        ..nameless("e1".to_owned())
    };
    let said = Observation {
        evidence: Some(evidence),
        ..seen("tabs", Some(6.0))
    };
    write(&mut a, |transaction| add_to(transaction, &said));
    meet(&mut a, &mut b);
    rescore(&mut b, "tabs", 0.0);
    meet(&mut a, &mut b);
    let undoing = write(&mut a, |transaction| transaction.undo_session("s1"));
    assert_eq!((undoing.done.len(), undoing.left.len()), (0, 1));
    meet(&mut a, &mut b);
    assert_eq!(score(&b, "tabs"), Some(0.0));
    // Without the limit it goes.
    rescore(&mut b, "tabs", 6.0);
    meet(&mut a, &mut b);
    write(&mut a, |transaction| transaction.undo_session("s1"));
    meet(&mut a, &mut b);
    assert_eq!(entry(&b, "tabs"), None);
}

/// What a conversation said of an item.
fn said(session: &str, item: &str, score: f64) -> Observation {
    Observation {
        evidence: Some(heard(session, item.len() as i64)),
        ..seen(item, Some(score))
    }
}

fn listen(store: &mut Store, seconds: i64, all: &[Observation]) {
    try_write(store, now() + TimeDelta::seconds(seconds), |transaction| {
        all.iter().try_for_each(|one| add_to(transaction, one))
    })
    .expect("it adds");
}

/// Three stores: the first two have forbidden an item, and the third knows only the first one's limit. Then the first one
/// takes back what its conversation said.
fn two_limits_of_which_one_is_taken_back(more: &[Observation]) -> [Store; 3] {
    let [mut a, mut b, mut c] = [store(), store(), store()];
    listen(&mut a, 0, &[&[said("s1", "tabs", 0.5)], more].concat());
    meet(&mut a, &mut c);
    listen(&mut b, 1, &[seen("ＴＡＢＳ", Some(0.5))]);
    meet(&mut a, &mut b);
    let undoing = try_write(&mut a, now() + TimeDelta::seconds(2), |transaction| {
        transaction.undo_session("s1")
    })
    .expect("it takes back");
    // What somebody else has said of it stands, and that is told.
    assert_eq!((undoing.done.len(), undoing.left.len()), (0, 1));
    assert_eq!(score(&a, "tabs"), Some(0.5));
    [a, b, c]
}

#[test]
fn what_is_taken_back_takes_no_limit_of_another_device_with_it() {
    let others = [said("s2", "spaces", 6.0)];
    for more in [&[], &others[..]] {
        let [mut a, mut b, mut c] = two_limits_of_which_one_is_taken_back(more);
        // Who does not know the limit that stands cannot lift it.
        let uid = entry(&c, "tabs").expect("it is there").uid;
        let values = EntryValues {
            base_score: Some(8.0),
            ..EntryValues::default()
        };
        let change = Change::set_entry(Op::Update, &uid, Origin::User, &values);
        try_write(&mut c, now() + TimeDelta::hours(1), |transaction| {
            transaction.apply(&change)
        })
        .expect("it sets");
        meet(&mut a, &mut c);
        meet(&mut a, &mut b);
        assert_eq!(score(&b, "tabs"), Some(0.5));
        let left = entry(&b, "tabs").expect("it is there");
        let evidence = b.view().evidence(left.id).expect("it reads");
        assert!(
            evidence.iter().all(|one| one.session.is_none()),
            "{evidence:?}"
        );
        assert_eq!(evidence.len(), 1);
        for store in [&a, &b] {
            is_in_order(store);
        }
    }
}

#[test]
fn a_limit_among_three_goes_back_to_the_milder_score_only_when_no_limit_is_left() {
    let [mut a, mut b, mut c] = [store(), store(), store()];
    listen(&mut a, 0, &[said("s1", "tabs", 0.5)]);
    listen(&mut b, 1, &[said("s2", "tabs", 6.0)]);
    listen(&mut c, 2, &[said("s3", "tabs", 0.5)]);
    meet(&mut a, &mut b);
    meet(&mut a, &mut c);
    write(&mut a, |transaction| transaction.undo_session("s1"));
    assert_eq!(score(&a, "tabs"), Some(0.5));
    // The entry goes by another name where it is taken back next.
    write(&mut a, |transaction| transaction.undo_session("s3"));
    assert_eq!(score(&a, "tabs"), Some(6.0));
    write(&mut a, |transaction| transaction.undo_session("s2"));
    assert_eq!(score(&a, "tabs"), None);
    meet(&mut a, &mut b);
    meet(&mut a, &mut c);
    assert_eq!(tables(&b), tables(&c));
    is_in_order(&a);
}

#[test]
fn what_is_taken_back_in_turn_counts_again() {
    let (mut a, mut b) = (store(), store());
    listen(&mut a, 0, &[said("s1", "tabs", 6.0)]);
    listen(&mut b, 1, &[said("s2", "tabs", 7.0)]);
    meet(&mut a, &mut b);
    write(&mut a, |transaction| transaction.undo_session("s1"));
    let last = a.view().journal(None, 1).expect("it reads")[0].seq;
    let _what_stands_is_told = write(&mut a, |transaction| transaction.undo(last));
    write(&mut a, |transaction| transaction.undo_session("s2"));
    assert!(score(&a, "tabs").is_some());
    meet(&mut a, &mut b);
    is_in_order(&a);
}

#[test]
fn an_addition_that_two_devices_take_back_is_taken_back_once() {
    let [mut a, mut b, mut c] = [store(), store(), store()];
    listen(&mut a, 0, &[said("s1", "tabs", 0.5)]);
    listen(&mut b, 1, &[said("s2", "tabs", 0.5)]);
    meet(&mut a, &mut b);
    meet(&mut a, &mut c);
    for store in [&mut a, &mut c] {
        write(store, |transaction| transaction.undo_session("s1"));
    }
    meet(&mut a, &mut c);
    meet(&mut a, &mut b);
    assert_eq!(score(&b, "tabs"), Some(0.5));
}

#[test]
fn an_entry_that_two_devices_brought_back_was_made_once() {
    let (mut a, mut b) = (store(), store());
    add(&mut a, "tabs", 6.0);
    let made = a.view().journal(None, 1).expect("it reads")[0].seq;
    meet(&mut a, &mut b);
    for store in [&mut a, &mut b] {
        remove(store, "tabs");
        write(store, |transaction| transaction.undo_last(1));
    }
    meet(&mut a, &mut b);
    assert_eq!(score(&a, "tabs"), Some(6.0));
    let undoing = write(&mut a, |transaction| transaction.undo(made));
    assert_eq!((undoing.done.len(), undoing.left.len()), (1, 0));
    meet(&mut a, &mut b);
    assert_eq!((score(&a, "tabs"), score(&b, "tabs")), (None, None));
}

#[test]
fn a_command_that_was_taken_back_in_part_can_be_taken_back_to_its_end() {
    let mut a = store();
    listen(
        &mut a,
        0,
        &[said("s1", "tabs", 6.0), said("s2", "spaces", 6.0)],
    );
    write(&mut a, |transaction| transaction.undo_session("s1"));
    assert_eq!((score(&a, "tabs"), score(&a, "spaces")), (None, Some(6.0)));
    let undone = a.view().undone_batches().expect("it reads");
    assert!(undone.is_empty(), "{undone:?}");
    write(&mut a, |transaction| transaction.undo_last(1));
    assert_eq!(score(&a, "spaces"), None);
    assert_eq!(a.view().undone_batches().expect("it reads").len(), 1);
}
