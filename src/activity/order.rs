//! The order of an array, told by instants too.

use super::Ruled;
use crate::error::Error;

/// Dates what is done and taken back in one array a millisecond apart, the last one now.
///
/// The script takes items in array order whatever their instants, but an array whose answer was
/// lost may be counted again, dated: a like that its own undo follows must then be older than it.
pub fn date_in_order(items: &mut [Result<Ruled, Error>]) {
    if !items.iter().flatten().any(|(activity, _)| activity.undo) {
        return;
    }
    for place in (0..items.len()).rev() {
        let (before, after) = items.split_at_mut(place + 1);
        let Some(Ok((one, _))) = before.last_mut() else {
            continue;
        };
        let next = after.iter().flatten().map(|(next, _)| next).find(|next| {
            (&next.target, &next.user, &next.action) == (&one.target, &one.user, &one.action)
                && !next.dated
        });
        if let Some(next) = next.filter(|_| !one.dated) {
            one.at.0 = next.at.0 - i64::from(next.undo != one.undo);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::activity::Activity;
    use crate::calendar::Instant;
    use crate::config::{Once, Rule};

    const RULE: Rule = Rule {
        points: 2,
        once: Once::Standing,
        undo: true,
        service_only: false,
        daily_cap: None,
        cooldown: None,
    };

    fn item(target: &str, undo: bool, at: Option<i64>) -> Result<Ruled, Error> {
        let activity = Activity {
            user: "42".to_owned(),
            action: "like".to_owned(),
            target: target.to_owned(),
            undo,
            at: Instant(at.unwrap_or(1000)),
            dated: at.is_some(),
            held: false,
            groups: Vec::new(),
        };
        Ok((activity, RULE))
    }

    fn instants(mut items: Vec<Result<Ruled, Error>>) -> Vec<i64> {
        date_in_order(&mut items);
        items.iter().flatten().map(|(item, _)| item.at.0).collect()
    }

    #[test]
    fn what_is_done_and_taken_back_again_and_again_ends_now() {
        let items = [false, false, true, true, false].map(|undo| item("a", undo, None));
        assert_eq!(instants(items.into()), [998, 998, 999, 999, 1000]);
    }

    #[test]
    fn other_targets_and_what_is_dated_stay_as_they_are() {
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
    fn without_an_undo_all_of_it_happens_now() {
        let items = vec![item("a", false, None), item("a", false, None)];
        assert_eq!(instants(items), [1000, 1000]);
    }
}
