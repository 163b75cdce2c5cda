//! The instants of an array's items.

use super::RuledActivity;
use crate::config::Rules;
use crate::error::Error;

/// Dates an activity and its undo in one array a millisecond apart; the last item is dated now.
///
/// The counting script applies the items of an array in order, regardless of their instants. If the
/// response is lost, the array may be counted again from the queue, where instants decide. An
/// activity must then be older than the undo after it. It counts by the rule of its new instant.
pub fn date_in_order(items: &mut [Result<RuledActivity, Error>], rules: &Rules) {
    if !items.iter().flatten().any(|(activity, _)| activity.undo) {
        return;
    }
    for index in (0..items.len()).rev() {
        let (before, after) = items.split_at_mut(index + 1);
        let Some(Ok((item, rule))) = before.last_mut() else {
            continue;
        };
        let next = after.iter().flatten().map(|(next, _)| next).find(|next| {
            (&next.target, &next.user, &next.action) == (&item.target, &item.user, &item.action)
                && !next.dated
        });
        if let Some(next) = next.filter(|_| !item.dated) {
            item.at.0 = next.at.0 - i64::from(next.undo != item.undo);
            if let Some(dated) = rules.get(&item.action, item.at) {
                *rule = *dated;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::activity::Activity;
    use crate::calendar::Instant;
    use crate::config::{Once, Rule, Vars};
    use crate::score::Layout;
    use serde_json::{Value, json};

    const RULE: Rule = Rule {
        points: 2,
        once: Once::Standing,
        undo: true,
        service_only: false,
        daily_cap: None,
        pair_cap: None,
        member_cap: None,
        cooldown: None,
        own: true,
        on: true,
        received: 0,
    };

    fn item(target: &str, undo: bool, at: Option<i64>) -> Result<RuledActivity, Error> {
        let activity = Activity {
            user: "42".to_owned(),
            action: "like".to_owned(),
            target: target.to_owned(),
            undo,
            source_gone: false,
            at: Instant(at.unwrap_or(1000)),
            dated: at.is_some(),
            queued: false,
            by_member: false,
            groups: Vec::new(),
            on: None,
            author: None,
        };
        Ok((activity, RULE))
    }

    fn instants(mut items: Vec<Result<RuledActivity, Error>>) -> Vec<i64> {
        date_in_order(&mut items, &rules(json!({})));
        items.iter().flatten().map(|(item, _)| item.at.0).collect()
    }

    fn rules(rules: Value) -> Rules {
        let vars = Vars::new([("RULES".to_owned(), rules)].into_iter().collect());
        Rules::parse(&vars, Layout::DEFAULT, &|_| Ok(Instant(0))).unwrap()
    }

    /// An item and its undo on both sides of the instant from which a rule applies.
    #[test]
    fn earlier_item_counts_by_rule_of_its_instant() {
        let dated = json!([{}, {"from": "1970-01-01T00:00:01Z", "points": 9}]);
        let rules = rules(json!({ "like": dated }));
        let mut items = [false, true].map(|undo| item("a", undo, None));
        date_in_order(&mut items, &rules);
        let points = items.map(|item| item.unwrap().1.points);
        assert_eq!(points, [2, 2]);
    }

    #[test]
    fn alternating_undos_are_a_millisecond_apart() {
        let items = [false, false, true, true, false].map(|undo| item("a", undo, None));
        assert_eq!(instants(items.into()), [998, 998, 999, 999, 1000]);
    }

    #[test]
    fn other_targets_and_dated_items_are_unchanged() {
        let items = vec![
            item("a", false, None),
            item("b", false, None),
            item("a", false, Some(7)),
            Err(Error::invalid("")),
            item("a", true, Some(7)),
            item("a", true, None),
        ];
        assert_eq!(instants(items), [999, 1000, 7, 7, 1000]);
    }

    #[test]
    fn items_without_undo_are_unchanged() {
        let items = vec![item("a", false, None), item("a", false, None)];
        assert_eq!(instants(items), [1000, 1000]);
    }
}
