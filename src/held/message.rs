//! A message of the queue: an array of dated activities, as `POST /v1/activity` takes them.
//!
//! So what ends in the dead-letter queue can be sent again by hand, and is read like anything else
//! that comes from outside.

use crate::CLOCK_TOLERANCE;
use crate::activity::{Activity, Ruled, read_item};
use crate::calendar::Instant;
use crate::caller::Caller;
use crate::config::{Rules, Scopes};
use crate::error::Error;
use crate::json;
use serde::Serialize;
use serde_json::Value;

/// The largest message made, in bytes; a queue takes 128,000 with what it adds.
const MOST_BYTES: usize = 120_000;

/// Writes activities, in their order; more than one text where they are many.
#[must_use]
pub fn messages(activities: &[&Activity]) -> Vec<String> {
    let mut texts: Vec<String> = Vec::new();
    for activity in activities {
        let item = write(activity);
        match texts.last_mut() {
            Some(text) if text.len() + item.len() + 2 <= MOST_BYTES => text.push(','),
            Some(_) | None => texts.push("[".to_owned()),
        }
        if let Some(text) = texts.last_mut() {
            text.push_str(&item);
        }
    }
    for text in &mut texts {
        text.push(']');
    }
    texts
}

/// One activity of a message.
#[derive(Serialize)]
struct Item<'a> {
    user: &'a str,
    action: &'a str,
    target: &'a str,
    #[serde(skip_serializing_if = "is_false")]
    undo: bool,
    at: String,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    groups: &'a [String],
}

fn is_false(undo: &bool) -> bool {
    !undo
}

fn write(activity: &Activity) -> String {
    let Activity {
        user,
        action,
        target,
        undo,
        at,
        dated: _,
        held: _,
        groups,
    } = activity;
    // Of a visited path a last slash is dropped when it is read, also one that was last but one.
    let slash = action == "visit" && target != "/" && target.ends_with('/');
    let item = Item {
        user,
        action,
        target: &format!("{target}{}", if slash { "/" } else { "" }),
        undo: *undo,
        at: at.to_string(),
        groups,
    };
    serde_json::to_string(&item).unwrap_or_default()
}

/// Reads a message, each activity with the rule it counts by now, or why none does.
///
/// # Errors
///
/// [`Error::InvalidRequest`] where it is not one that [`messages`] wrote.
pub fn read(text: &str, rules: &Rules, now: Instant) -> Result<Vec<Result<Ruled, Error>>, Error> {
    let Value::Array(items) = json::read(text.as_bytes())? else {
        return Err(Error::invalid("A message is a JSON array."));
    };
    // It may be dated as far ahead as its sender's clock, accepted by one ahead of this.
    let now = Instant(now.0 + CLOCK_TOLERANCE);
    // Who sent it was asked when it was accepted.
    let anybody = Caller::Service(Scopes::ALL);
    let read = |item: &Value| match read_item(item, &anybody, rules, now) {
        Ok((activity, _)) if !activity.dated => Err(Error::fault("/at", "must be there")),
        Ok((activity, rule)) => Ok(Ok((
            Activity {
                held: true,
                ..activity
            },
            rule,
        ))),
        Err(error @ (Error::InvalidRequest(..) | Error::TooLarge(_))) => Err(error),
        Err(error) => Ok(Err(error)),
    };
    items.iter().map(read).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Vars;
    use serde_json::{Map, json};

    const NOW: Instant = Instant(1_795_132_800_000);

    fn rules(rules: Value) -> Rules {
        let vars = [("RULES".to_owned(), rules)];
        Rules::read(&Vars::new(Map::from_iter(vars)), 0).unwrap()
    }

    fn activity(action: &str, target: &str) -> Activity {
        Activity {
            user: "42".to_owned(),
            action: action.to_owned(),
            target: target.to_owned(),
            undo: false,
            at: Instant(NOW.0 - 7),
            dated: true,
            held: true,
            groups: Vec::new(),
        }
    }

    fn read_back(texts: &[String]) -> Vec<Activity> {
        let rules = rules(json!({}));
        let read = |text: &String| read(text, &rules, NOW).unwrap();
        let items = texts.iter().flat_map(read);
        items.map(|item| item.unwrap().0).collect()
    }

    #[test]
    fn what_is_written_is_read_the_same() {
        let undo = Activity {
            undo: true,
            groups: vec!["eu".to_owned(), "us".to_owned()],
            ..activity("like", "a \"quoted\" one ✓")
        };
        let long = activity("comment", &"\"".repeat(512));
        let visits = ["/", "/a", "/a/", "/a//"].map(|path| activity("visit", path));
        let all: Vec<_> = [undo, long].into_iter().chain(visits).collect();
        assert_eq!(read_back(&messages(&all.iter().collect::<Vec<_>>())), all);
    }

    #[test]
    fn a_message_says_so_much_and_no_more() {
        assert_eq!(
            messages(&[&activity("like", "post-7")]),
            [
                r#"[{"user":"42","action":"like","target":"post-7","at":"2026-11-19T23:59:59.993Z"}]"#
            ]
        );
        assert_eq!(messages(&[]), [""; 0]);
    }

    #[test]
    fn many_activities_are_several_messages_in_order() {
        let target = |number: usize| format!("{}{number}", "\"".repeat(500));
        let all: Vec<_> = (0..500)
            .map(|number| activity("like", &target(number)))
            .collect();
        let texts = messages(&all.iter().collect::<Vec<_>>());
        assert!(texts.len() > 1 && texts.iter().all(|text| text.len() <= MOST_BYTES));
        assert_eq!(read_back(&texts), all);
    }

    #[test]
    fn what_no_rule_allows_any_more_is_told_apart_from_what_is_no_message() {
        let undo = Activity {
            undo: true,
            ..activity("like", "b")
        };
        let (dance, like) = (activity("dance", "a"), activity("like", "c"));
        let texts = messages(&[&dance, &undo, &like]);
        let now = rules(json!({"like": {"undo": false}}));
        let items = read(&texts[0], &now, NOW).unwrap();
        let [
            Err(Error::UnknownAction(_)),
            Err(Error::NotUndoable(_)),
            Ok(_),
        ] = items.as_slice()
        else {
            panic!("{items:?}");
        };
        for text in [
            "",
            "{}",
            "[",
            "[7]",
            r#"[{"user":"42","action":"like","target":"a"}]"#,
            r#"[{"user":"42","action":"like","target":"a","at":"2027-01-01T00:00:00Z"}]"#,
            r#"[{"user":"42","action":"like","target":"a","at":"2026-11-20T00:00:00Z","token":"x"}]"#,
        ] {
            let read = read(text, &now, NOW);
            assert!(matches!(read, Err(Error::InvalidRequest(..))), "{text}");
        }
    }
}
