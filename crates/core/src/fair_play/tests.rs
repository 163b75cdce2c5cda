//! Findings of small windows, and their cases. The search on the database has the planted groups.

use super::*;
use crate::calendar::Date;
use crate::webhook::to_json;
use serde_json::{Value, json};

fn pair(giver: &str, receiver: &str, gifts: u32) -> Pair {
    Pair {
        giver: giver.to_owned(),
        receiver: receiver.to_owned(),
        gifts,
        steps: u64::from(gifts) * 25,
        days: 2,
        dates: (20_000, 20_030),
        burst: 1,
        joint: 0,
    }
}

/// A window with a pair that gives in both directions, among others.
fn window(gifts: u32) -> Window {
    let member = |user: &str| Member {
        user: user.to_owned(),
        given: gifts + 2,
        received: gifts + 2,
        activities: gifts + 10,
        first: None,
    };
    Window {
        days: 30,
        gifts: 1000,
        pairs: vec![pair("a", "b", gifts), pair("b", "a", gifts)],
        members: vec![member("a"), member("b")],
    }
}

fn findings(gifts: u32) -> Vec<Finding> {
    detect(&[window(gifts)], &FairPlay::default())
}

#[test]
fn case_holds_pairs_with_counts_and_shares() {
    let findings = findings(8);
    let changes = changes(&findings, &[], &[], &FairPlay::default(), 1);
    let changes: Value = serde_json::from_str(&to_json(&changes)).unwrap();
    let first = Date::numbered(20_000).unwrap().to_string();
    let last = Date::numbered(20_030).unwrap().to_string();
    let facts = |giver: &str, receiver: &str| {
        json!({"giver": giver, "receiver": receiver, "gifts": 8, "points": 20, "expected": 0.1, "share_given": 0.8,
            "share_received": 0.8, "burst": 1, "days": 2, "first": first, "last": last})
    };
    let facts = json!({"days": 30, "share": 0.8, "pairs": [facts("a", "b"), facts("b", "a")]});
    let id = changes[0][0].as_str().unwrap();
    assert_eq!(checked_id(id), Ok(id.to_owned()));
    assert_eq!(
        changes,
        json!([[id, true, "ring", 12.64, 16, ["a", "b"], facts]])
    );
}

const ID: &str = "case_0000000000000001";

/// Returns whether a finding changes the known case, instead of a new one, and whether it opens.
fn change(finding: Finding, members: &[&str], state: KnownState) -> Option<(bool, bool)> {
    let known = KnownCase {
        id: ID.to_owned(),
        state,
        members: members.iter().map(|user| (*user).to_owned()).collect(),
    };
    let windows = [
        window(8),
        Window {
            days: 90,
            ..window(30)
        },
    ];
    let findings = [finding];
    let changes = changes(&findings, &windows, &[known], &FairPlay::default(), 0);
    let change = changes.first()?;
    Some((change.0 == ID, change.1))
}

fn finding(gifts: u32) -> Finding {
    findings(gifts).remove(0)
}

#[test]
fn same_members_are_one_case() {
    let found = |members| change(finding(8), members, KnownState::Open);
    assert_eq!(found(&["a", "b", "c"]), Some((true, false)));
    assert_eq!(found(&["a", "c"]), Some((false, true)));
}

fn dismissed(days: u32, pairs: &[(&str, &str, u32)]) -> KnownState {
    let pair = |(giver, receiver, gifts): &(&str, &str, u32)| {
        ((*giver).to_owned(), (*receiver).to_owned(), *gifts, 20_010)
    };
    KnownState::Dismissed(DismissedFacts {
        days,
        gifts: pairs.iter().map(|pair| u64::from(pair.2)).sum(),
        pairs: pairs.iter().map(pair).collect(),
    })
}

#[test]
fn dismissed_case_opens_with_half_as_many_new_gifts() {
    let found = |gifts, pairs: &[_]| change(finding(gifts), &["a", "b"], dismissed(30, pairs));
    let both = [("a", "b", 8), ("b", "a", 8)];
    assert_eq!(found(8, &both), None);
    assert_eq!(found(11, &both), None);
    assert_eq!(found(12, &both), Some((true, true)));
    // As many gifts, of another pair.
    assert_eq!(
        found(8, &[("a", "b", 8), ("b", "c", 8)]),
        Some((true, true))
    );
}

/// The window of 90 days has 30 gifts of each pair, that of 30 days 8.
#[test]
fn dismissed_case_is_compared_in_its_window() {
    let pairs = |gifts| [("a", "b", gifts), ("b", "a", gifts)];
    let longer = || Finding {
        days: 90,
        ..finding(30)
    };
    let found = |finding, days, gifts| change(finding, &["a", "b"], dismissed(days, &pairs(gifts)));
    assert_eq!(found(longer(), 30, 8), None);
    assert_eq!(found(longer(), 30, 5), Some((true, true)));
    assert_eq!(found(longer(), 90, 30), None);
    assert_eq!(found(longer(), 90, 20), Some((true, true)));
    assert_eq!(found(finding(8), 90, 30), None);
}

#[test]
fn later_burst_opens_dismissed_burst() {
    let burst = |first| {
        let mut burst = finding(8);
        burst.kind = Kind::Burst;
        for facts in &mut burst.pairs {
            facts.pair.dates.0 = first;
        }
        let pairs = [("a", "b", 8), ("b", "a", 8)];
        change(burst, &["a", "b"], dismissed(30, &pairs))
    };
    assert_eq!([burst(20_010), burst(20_011)], [None, Some((true, true))]);
}

/// The pairs have gifts until the day 20,030.
#[test]
fn excluded_case_takes_no_other_finding() {
    let found = |members, end| change(finding(8), members, KnownState::Excluded(end));
    assert_eq!(found(&["a", "b"], None), None);
    assert_eq!(found(&["a", "b", "c"], Some(20_030)), None);
    assert_eq!(found(&["a", "b"], Some(20_029)), Some((false, true)));
    assert_eq!(found(&["a", "c"], None), Some((false, true)));
}

/// The id of the members is that of the exclusion.
#[test]
fn finding_after_exclusion_has_another_id() {
    let findings = findings(8);
    let ids = |known: &[KnownCase]| {
        let changes = changes(&findings, &[], known, &FairPlay::default(), 0);
        changes
            .into_iter()
            .map(|change| (change.0, change.1))
            .collect::<Vec<_>>()
    };
    let first = ids(&[]);
    let known = |(id, _): &(String, bool), state| KnownCase {
        id: id.clone(),
        state,
        members: findings[0].members.clone(),
    };
    let excluded = known(&first[0], KnownState::Excluded(Some(20_000)));
    let second = ids(std::slice::from_ref(&excluded));
    assert_ne!(first, second);
    let open = known(&second[0], KnownState::Open);
    assert_eq!(ids(&[excluded, open]), [(second[0].0.clone(), false)]);
}

#[test]
fn thresholds_decide() {
    assert_eq!(findings(4), []);
    assert_eq!(findings(5).len(), 1);
    let strict = FairPlay {
        ring_share: 90,
        ..FairPlay::default()
    };
    assert_eq!(detect(&[window(8)], &strict), []);
    let mut small = window(8);
    small.gifts = 20;
    assert_eq!(detect(&[small], &FairPlay::default()), []);
}
