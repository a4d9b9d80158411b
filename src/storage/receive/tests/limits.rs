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
