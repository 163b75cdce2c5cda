//! A message of the queue: an array of dated activities in the form of `POST /v1/activity`.
//!
//! A message from the dead-letter queue can be sent again by hand, and is parsed like any other
//! input.

use activity_rank_core::CLOCK_TOLERANCE;
use activity_rank_core::activity::{Activity, RuledActivity, read_item};
use activity_rank_core::calendar::Instant;
use activity_rank_core::caller::Caller;
use activity_rank_core::config::{Rules, Scopes};
use activity_rank_core::error::Error;
use activity_rank_core::json;
use serde::Serialize;
use serde_json::Value;

/// Maximum size of a message in bytes: a queue accepts 128,000 including its own data.
const MAX_BYTES: usize = 120_000;

/// Writes activities in their order, as several messages if they do not fit in one.
#[must_use]
pub fn write(activities: &[&Activity]) -> Vec<String> {
    let mut messages: Vec<String> = Vec::new();
    for activity in activities {
        let item = write_item(activity);
        match messages.last_mut() {
            Some(text) if text.len() + item.len() + 2 <= MAX_BYTES => text.push(','),
            Some(_) | None => messages.push("[".to_owned()),
        }
        if let Some(text) = messages.last_mut() {
            text.push_str(&item);
        }
    }
    for text in &mut messages {
        text.push(']');
    }
    messages
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

fn write_item(activity: &Activity) -> String {
    let Activity {
        user,
        action,
        target,
        undo,
        at,
        dated: _,
        queued: _,
        groups,
    } = activity;
    // Parsing the path of a visit removes a final slash, so one that belongs to the normal form needs
    // another after it.
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

/// Parses a message: each activity with its current rule, or why no rule allows it.
///
/// # Errors
///
/// [`Error::InvalidRequest`] for a text that [`write()`] did not write.
pub fn parse(
    text: &str,
    rules: &Rules,
    now: Instant,
) -> Result<Vec<Result<RuledActivity, Error>>, Error> {
    let Value::Array(items) = json::read(text.as_bytes())? else {
        return Err(Error::invalid("A message is a JSON array."));
    };
    // The instant may be ahead of the clock that accepted it, which may be ahead of this one.
    let now = Instant(now.0 + CLOCK_TOLERANCE);
    // The caller was authenticated when the activity was accepted.
    let trusted = Caller::Service(Scopes::ALL);
    let parse = |item: &Value| match read_item(item, &trusted, rules, now) {
        Ok((activity, _)) if !activity.dated => Err(Error::field("/at", "must be there")),
        Ok((activity, rule)) => Ok(Ok((
            Activity {
                queued: true,
                ..activity
            },
            rule,
        ))),
        Err(error @ (Error::InvalidRequest(..) | Error::TooLarge(_))) => Err(error),
        Err(error) => Ok(Err(error)),
    };
    items.iter().map(parse).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use activity_rank_core::config::Vars;
    use serde_json::{Map, json};

    const NOW: Instant = Instant(1_795_132_800_000);

    fn rules(rules: Value) -> Rules {
        let vars = [("RULES".to_owned(), rules)];
        Rules::parse(&Vars::new(Map::from_iter(vars)), 0).unwrap()
    }

    fn activity(action: &str, target: &str) -> Activity {
        Activity {
            user: "42".to_owned(),
            action: action.to_owned(),
            target: target.to_owned(),
            undo: false,
            at: Instant(NOW.0 - 7),
            dated: true,
            queued: true,
            groups: Vec::new(),
        }
    }

    fn read_back(texts: &[String]) -> Vec<Activity> {
        let rules = rules(json!({}));
        let read = |text: &String| parse(text, &rules, NOW).unwrap();
        let items = texts.iter().flat_map(read);
        items.map(|item| item.unwrap().0).collect()
    }

    #[test]
    fn written_message_parses_back_equal() {
        let undo = Activity {
            undo: true,
            groups: vec!["eu".to_owned(), "us".to_owned()],
            ..activity("like", "a \"quoted\" one ✓")
        };
        let long = activity("comment", &"\"".repeat(512));
        let visits = ["/", "/a", "/a/", "/a//"].map(|path| activity("visit", path));
        let all: Vec<_> = [undo, long].into_iter().chain(visits).collect();
        assert_eq!(read_back(&write(&all.iter().collect::<Vec<_>>())), all);
    }

    #[test]
    fn message_holds_only_given_fields() {
        assert_eq!(
            write(&[&activity("like", "post-7")]),
            [
                r#"[{"user":"42","action":"like","target":"post-7","at":"2026-11-19T23:59:59.993Z"}]"#
            ]
        );
        assert_eq!(write(&[]), [""; 0]);
    }

    #[test]
    fn many_activities_split_in_order() {
        let target = |number: usize| format!("{}{number}", "\"".repeat(500));
        let all: Vec<_> = (0..500)
            .map(|number| activity("like", &target(number)))
            .collect();
        let texts = write(&all.iter().collect::<Vec<_>>());
        assert!(texts.len() > 1 && texts.iter().all(|text| text.len() <= MAX_BYTES));
        assert_eq!(read_back(&texts), all);
    }

    #[test]
    fn refused_items_differ_from_invalid_message() {
        let undo = Activity {
            undo: true,
            ..activity("like", "b")
        };
        let (dance, like) = (activity("dance", "a"), activity("like", "c"));
        let texts = write(&[&dance, &undo, &like]);
        let now = rules(json!({"like": {"undo": false}}));
        let items = parse(&texts[0], &now, NOW).unwrap();
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
            let read = parse(text, &now, NOW);
            assert!(matches!(read, Err(Error::InvalidRequest(..))), "{text}");
        }
    }
}
