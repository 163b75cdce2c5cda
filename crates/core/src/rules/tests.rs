use super::*;
use crate::calendar::Utc;
use crate::config::{Config, Once, Rule, Vars};
use serde_json::{Value, json};

const RULE: Rule = Rule {
    points: 2,
    once: Once::Standing,
    undo: true,
    service_only: false,
    daily_cap: Some(9),
    member_cap: None,
    pair_cap: None,
    cooldown: None,
    own: true,
    on: false,
    received: 0,
};

fn timeline(lines: &[&str]) -> Timeline {
    Timeline::parse(lines.iter().copied())
}

/// Returns points and daily cap of `like` at an instant.
fn like(timeline: &Timeline, at: i64) -> (u64, Option<u64>) {
    let rule = timeline.rule("like", Instant(at), RULE);
    (rule.points, rule.daily_cap)
}

#[test]
fn lines_are_read_back() {
    for line in [
        "#1 1795132800000 0 like.points=3,like.daily_cap=-,comment.received=0",
        "#2 1795132800000 1 -",
    ] {
        assert_eq!(Version::parse(line).unwrap().line(), line);
    }
    for line in [
        "1 2 0 -",
        "#1 2 0",
        "#1 2 0 like.once=3",
        "#1 2 0 like.points",
        "#1 2 0 like.points=x",
        "#x 2 0 -",
        "hackathon 1 2 3 4 - -",
    ] {
        assert_eq!(Version::parse(line), None, "{line}");
    }
}

#[test]
fn later_version_changes_only_what_it_names() {
    let rules = timeline(&[
        "#2 20 0 like.daily_cap=-",
        "#1 10 0 like.points=3,wave.points=9",
    ]);
    for (at, expected) in [
        (9, (2, Some(9))),
        (10, (3, Some(9))),
        (19, (3, Some(9))),
        (20, (3, None)),
    ] {
        assert_eq!(like(&rules, at), expected, "{at}");
    }
}

#[test]
fn versions_of_one_instant_apply_by_number() {
    let rules = timeline(&["#2 10 0 like.points=4", "#1 10 0 like.points=3"]);
    assert_eq!(like(&rules, 10), (4, Some(9)));
}

#[test]
fn taken_back_version_ends_and_others_hold_on() {
    let lines = [
        "#1 10 0 like.points=3",
        "#2 20 0 like.points=4,like.daily_cap=5",
        "#3 30 0 like.daily_cap=6",
        "#4 40 2 -",
        "#5 50 4 -",
        "#6 60 1 -",
        "#7 60 5 -",
    ];
    let rules = timeline(&lines);
    for (at, expected) in [
        (20, (4, Some(5))),
        (30, (4, Some(6))),
        (40, (3, Some(6))),
        (50, (4, Some(6))),
        (60, (2, Some(6))),
    ] {
        assert_eq!(like(&rules, at), expected, "{at}");
    }
    let around = |number: usize| {
        let version = Version::parse(lines[number - 1]).unwrap();
        rules
            .around(&version, "like", RULE)
            .map(|rule| (rule.points, rule.daily_cap))
    };
    assert_eq!(around(2), [(3, Some(9)), (4, Some(5))]);
    assert_eq!(around(4), [(4, Some(6)), (3, Some(6))]);
    assert_eq!(around(7), [(4, Some(6)), (2, Some(6))]);
    let removed = Version::parse("#8 35 0 like.points=8").unwrap();
    let [before, after] = rules.around(&removed, "like", RULE);
    assert_eq!((before.points, after.points), (4, 8));
}

#[test]
fn definitions_keep_versions_beside_events() {
    use crate::event::Definitions;
    let line = "#1 10 0 like.points=3";
    let definitions = Definitions::new("7\none 1 2 3 4 - -").changed("#1", Some(line), Instant(2));
    assert_eq!(definitions.text(), format!("8\none 1 2 3 4 - -\n{line}"));
    assert_eq!(definitions.rules().collect::<Vec<_>>(), [line]);
    assert_eq!(definitions.events().count(), 1);
    let later = definitions.changed("two", Some("two 5 6 7 8 - -"), Instant(100_000_000));
    assert_eq!(later.text(), format!("100000000\n{line}\ntwo 5 6 7 8 - -"));
    let overlaid = later.overlaid(&[("two".to_owned(), "two 0 6 7 8 - -".to_owned())]);
    assert_eq!(
        overlaid.text(),
        format!("100000000\n{line}\ntwo 0 6 7 8 - -")
    );
    assert_eq!(
        later.changed("#1", None, Instant(0)).text(),
        "100000001\ntwo 5 6 7 8 - -"
    );
}

/// `like` gives others points by the default rules, `wave` does not.
#[test]
fn pair_cap_needs_received_points() {
    let vars = json!({
        "UPSTASH_REDIS_REST_URL": "https://store",
        "UPSTASH_REDIS_REST_TOKEN": "token",
        "CONTENT_PERIODS": "all",
        "RULES": {"wave": {"points": 1}},
    });
    let config = Config::parse(&Vars::new(vars.as_object().unwrap().clone()), Utc::named).unwrap();
    let is_valid = |rules: Value| {
        let body = json!({"rules": rules, "reason": "A test"});
        Publication::parse(&body, &config, Instant(0)).is_ok()
    };
    let wave = json!({"wave": {"pair_cap": 4}});
    let like = json!({"like": {"pair_cap": 4, "received": 0}});
    let both = json!({"wave": {"pair_cap": 4, "received": 1}, "like": {"pair_cap": 4}});
    assert_eq!([wave, like, both].map(is_valid), [false, false, true]);
}
