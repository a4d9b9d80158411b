//! The laws of the formulas, as properties over the whole range of their arguments.

use proptest::prelude::*;

use super::*;
use crate::model::{Origin, Stamp};

fn score() -> impl Strategy<Value = Score> {
    (0.0..=10.0f64).prop_map(Score::clamped)
}

fn decay() -> impl Strategy<Value = Decay> {
    (0.01..=36_500.0f64, 0.0..1.0f64)
        .prop_map(|(half_life, floor)| Decay::new(half_life, floor).expect("both are in range"))
}

fn entry(score: f64, added_at: &str, last_seen: &str) -> Preference {
    Preference {
        id: 1,
        uid: "u".into(),
        item: "concise code".into(),
        reason: "asked twice".into(),
        keywords: vec![],
        scenarios: vec![],
        base_score: Score::new(score).expect("a score"),
        source: "manual".into(),
        origin: Origin::User,
        added_at: Stamp(added_at.into()),
        last_seen: Stamp(last_seen.into()),
        touch_count: 0,
        patterns: Vec::new(),
    }
}

#[test]
fn a_strong_dislike_is_as_strong_as_the_like_opposite_and_a_habit_is_weakest() {
    let at = |score: f64| strength(Score::new(score).expect("a score"), 0.5);
    assert!((at(2.0) - at(8.0)).abs() < 1e-12);
    assert!(at(2.0) > at(7.0) && at(2.0) > at(3.0) && at(3.9) > at(5.5));
}

proptest! {
    #[test]
    fn strength_treats_both_ends_alike_and_never_rises_with_age(
        s in score(), d in decay(), a in 0.0..40_000.0f64, b in 0.0..40_000.0f64,
    ) {
        let (young, old) = if a <= b { (a, b) } else { (b, a) };
        let opposite = Score::clamped(10.0 - s.value());
        let strong = strength(s, d.coefficient(young));
        prop_assert!((strong - strength(opposite, d.coefficient(young))).abs() < 1e-9);
        prop_assert!(strength(s, d.coefficient(old)) <= strong);
    }

    #[test]
    fn a_weight_never_rises_with_age(s in score(), d in decay(), a in 0.0..40_000.0f64, b in 0.0..40_000.0f64) {
        let (young, old) = if a <= b { (a, b) } else { (b, a) };
        prop_assert!(weight(s, d.coefficient(old)) <= weight(s, d.coefficient(young)));
    }

    #[test]
    fn a_weight_stays_between_its_floor_and_its_score(s in score(), d in decay(), age in 0.0..40_000.0f64) {
        let w = weight(s, d.coefficient(age));
        let lowest = d.floor.powf(exponent(s)) * s.value();
        prop_assert!(w <= s.value());
        prop_assert!(w >= lowest - 1e-12, "{w} < {lowest}");
    }

    #[test]
    fn a_higher_score_never_weighs_less(a in score(), b in score(), d in decay(), age in 0.0..40_000.0f64) {
        let (low, high) = if a <= b { (a, b) } else { (b, a) };
        let c = d.coefficient(age);
        prop_assert!(weight(low, c) <= weight(high, c) + 1e-12);
    }

    #[test]
    fn smoothing_stays_between(a in score(), b in score()) {
        let s = smooth(a, b).value();
        prop_assert!(s >= a.value().min(b.value()) && s <= a.value().max(b.value()));
    }

    #[test]
    fn two_limits_smooth_to_a_limit(a in 0.0..=1.5f64, b in 0.0..=1.5f64) {
        prop_assert!(smooth(Score::clamped(a), Score::clamped(b)).is_hard_limit());
    }

    #[test]
    fn always_never_fades(d in decay(), age in 0.0..40_000.0f64) {
        prop_assert_eq!(weight(Score::MAX, d.coefficient(age)), 10.0);
    }

    #[test]
    fn never_weighs_nothing(d in decay(), age in 0.0..40_000.0f64) {
        prop_assert_eq!(weight(Score::MIN, d.coefficient(age)), 0.0);
    }
}

#[test]
fn one_half_life_halves_the_part_that_fades() {
    let d = Decay::default();
    assert!((d.coefficient(30.0) - 0.55).abs() < 1e-12);
    assert_eq!(d.coefficient(0.0), 1.0);
}

#[test]
fn seven_years_old_is_at_its_floor_and_still_there() {
    let now = "2026-11-30T00:00:00Z".parse().expect("a time");
    let old = entry(
        5.0,
        "2019-11-30T00:00:00+00:00",
        "2019-11-30T00:00:00+00:00",
    );
    let w = weigh(&old, &Decay::default(), now);
    assert!((w.coefficient - 0.1).abs() < 1e-9);
    assert!((w.effective - 5.0 * 0.1f64.sqrt()).abs() < 1e-6);
}

#[test]
fn a_time_in_the_future_is_age_zero() {
    let now = "2026-11-30T00:00:00Z".parse().expect("a time");
    let ahead = entry(5.0, "2026-01-01T00:00:00Z", "2031-01-01T00:00:00Z");
    assert_eq!(weigh(&ahead, &Decay::default(), now).effective, 5.0);
}

#[test]
fn an_unreadable_time_falls_back_to_added_at_and_then_to_the_floor() {
    let now = "2026-11-30T00:00:00Z".parse().expect("a time");
    assert_eq!(
        age_days(&entry(5.0, "2026-11-20T00:00:00Z", "not a time"), now),
        10.0
    );
    let lost = entry(5.0, "yesterday", "not a time");
    assert_eq!(weigh(&lost, &Decay::default(), now).coefficient, 0.1);
}

#[test]
fn settings_out_of_range_are_refused() {
    for half_life in [0.0, 0.009, -1.0, 36_501.0, f64::NAN, f64::INFINITY] {
        assert!(Decay::new(half_life, 0.1).is_err(), "{half_life}");
    }
    for floor in [-0.1, 1.0, f64::NAN] {
        assert!(Decay::new(30.0, floor).is_err(), "{floor}");
    }
    assert!(Decay::new(0.01, 0.0).is_ok() && Decay::new(36_500.0, 0.999).is_ok());
}

proptest! {
    #[test]
    fn what_comes_begins_now_never_rises_and_ends_as_late_as_asked(
        score in score(),
        decay in decay(),
        seen in prop::sample::select(vec!["2020-01-01T00:00:00Z", "2026-11-30T00:00:00Z", "2027-03-01T00:00:00Z", "nonsense"]),
    ) {
        let now = Stamp("2026-12-01T00:00:00Z".into()).moment().expect("a time");
        let entry = entry(score.value(), seen, seen);
        let year = TimeDelta::days(365);
        let fade = fade(&entry, &decay, now, year, 13);
        prop_assert_eq!(fade.len(), 13);
        prop_assert_eq!(fade[0], weigh(&entry, &decay, now).effective);
        prop_assert_eq!(fade[12], weigh(&entry, &decay, now + year).effective);
        prop_assert!(fade.windows(2).all(|pair| pair[1] <= pair[0]));
    }
}

#[test]
fn one_moment_is_now() {
    let entry = entry(10.0, "2026-11-30T00:00:00Z", "2026-11-30T00:00:00Z");
    let now = entry.added_at.moment().expect("a time");
    let year = TimeDelta::days(365);
    assert_eq!(fade(&entry, &Decay::default(), now, year, 1), [10.0]);
    assert!(fade(&entry, &Decay::default(), now, year, 0).is_empty());
}
