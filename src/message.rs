//! A message of the queue: an array of dated activities in the form of `POST /v1/activity`. If a
//! member sent them, it is the field `activities` of an object with `"member": true`.
//!
//! A message from the dead-letter queue can be sent again by hand, and is parsed like any other
//! input.

use activity_rank_core::CLOCK_TOLERANCE;
use activity_rank_core::activity::{Activity, ActivityReader, RuledActivity};
use activity_rank_core::calendar::Instant;
use activity_rank_core::error::Error;
use activity_rank_core::json;
use serde::Serialize;
use serde_json::Value;

/// Maximum size of a message in bytes: a queue accepts 128,000 including its own data.
const MAX_BYTES: usize = 120_000;

const MEMBER_START: &str = "{\"member\":true,\"activities\":[";
const MEMBER_END: &str = "]}";

/// Writes the activities of one caller in their order, as several messages if they do not fit in one.
#[must_use]
pub fn write(activities: &[&Activity]) -> Vec<String> {
    let (start, end) = match activities.first() {
        Some(first) if first.by_member => (MEMBER_START, MEMBER_END),
        Some(_) | None => ("[", "]"),
    };
    let mut messages: Vec<String> = Vec::new();
    for activity in activities {
        let item = write_item(activity);
        match messages.last_mut() {
            Some(text) if text.len() + item.len() + 1 + end.len() <= MAX_BYTES => text.push(','),
            Some(_) | None => messages.push(start.to_owned()),
        }
        if let Some(text) = messages.last_mut() {
            text.push_str(&item);
        }
    }
    for text in &mut messages {
        text.push_str(end);
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
    #[serde(skip_serializing_if = "is_false")]
    source_gone: bool,
    at: String,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    groups: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    on: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    author: Option<&'a str>,
}

fn is_false(value: &bool) -> bool {
    !value
}

fn write_item(activity: &Activity) -> String {
    let Activity {
        user,
        action,
        target,
        undo,
        source_gone,
        at,
        dated: _,
        queued: _,
        by_member: _,
        groups,
        on,
        author,
    } = activity;
    let item = Item {
        user,
        action,
        target,
        undo: *undo,
        source_gone: *source_gone,
        at: at.to_string(),
        groups,
        on: on.as_deref(),
        author: author.as_deref(),
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
    reader: ActivityReader<'_>,
) -> Result<Vec<Result<RuledActivity, Error>>, Error> {
    let invalid = || Error::invalid("A message is a JSON array.");
    let (items, by_member) = match json::read(text.as_bytes())? {
        Value::Array(items) => (items, false),
        Value::Object(mut fields) => match fields.remove("activities") {
            Some(Value::Array(items)) => (items, fields.contains_key("member")),
            Some(_) | None => return Err(invalid()),
        },
        _ => return Err(invalid()),
    };
    let reader = ActivityReader {
        // The instant may be ahead of the clock that accepted it, which may be ahead of this one.
        now: Instant(reader.now.0 + CLOCK_TOLERANCE),
        ..reader
    };
    let parse = |item| match reader.read_queued(item, by_member) {
        Ok(ruled) => Ok(Ok(ruled)),
        Err(error @ (Error::InvalidRequest(..) | Error::TooLarge(_))) => Err(error),
        Err(error) => Ok(Err(error)),
    };
    items.iter().map(parse).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use activity_rank_core::caller::Caller;
    use activity_rank_core::config::{Rules, Scopes, Vars};
    use activity_rank_core::score::Layout;
    use proptest::prelude::*;
    use serde_json::{Map, json};

    const NOW: Instant = Instant(1_795_132_800_000);

    fn rules(rules: Value) -> Rules {
        let vars = [("RULES".to_owned(), rules)];
        let vars = Vars::new(Map::from_iter(vars));
        Rules::parse(&vars, Layout::DEFAULT, &|_| Ok(NOW)).unwrap()
    }

    fn activity(action: &str, target: &str) -> Activity {
        Activity {
            user: "42".to_owned(),
            action: action.to_owned(),
            target: target.to_owned(),
            undo: false,
            source_gone: false,
            at: Instant(NOW.0 - 7),
            dated: true,
            queued: true,
            by_member: false,
            groups: Vec::new(),
            on: None,
            author: None,
        }
    }

    fn reader(rules: &Rules) -> ActivityReader<'_> {
        ActivityReader {
            rules,
            now: NOW,
            to_nfc: str::to_owned,
        }
    }

    fn read_back(texts: &[String]) -> Vec<Activity> {
        let rules = rules(json!({}));
        let read = |text: &String| parse(text, reader(&rules)).unwrap();
        let items = texts.iter().flat_map(read);
        items.map(|item| item.unwrap().0).collect()
    }

    #[test]
    fn written_message_parses_back_equal() {
        let undo = Activity {
            undo: true,
            groups: vec!["eu".to_owned(), "us".to_owned()],
            on: Some("post-7".to_owned()),
            author: Some("9".to_owned()),
            ..activity("like", "a \"quoted\" one ✓")
        };
        let long = activity("comment", &"\"".repeat(512));
        let path = activity("visit", &format!("/{}", "%E5%AD%97".repeat(170)));
        let all = [undo, long, path, activity("visit", "/")];
        for by_member in [false, true] {
            let all = all.clone().map(|activity| Activity {
                by_member,
                ..activity
            });
            assert_eq!(read_back(&write(&all.iter().collect::<Vec<_>>())), all);
        }
    }

    proptest! {
        /// A request that the API accepts does not spoil the message of its activity.
        #[test]
        fn queued_activity_is_read_back(
            user in "[A-Za-z0-9_.:@|-]{1,64}",
            action in prop::sample::select(&["visit", "like", "comment", "publish"][..]),
            target in "(/[a-z./%\\u{301}字?#]{0,180}|.{1,20})",
            undo: bool,
            at in -62_135_510_400_000i64..=NOW.0 + CLOCK_TOLERANCE,
            groups in prop::collection::vec("[A-Za-z0-9_.:@|-]{1,64}", 0..5),
            on in prop::option::of(".{1,20}"),
            author in prop::option::of("[a-z.]{1,9}"),
        ) {
            let rules = rules(json!({"like": {"on": true}, "comment": {"on": true}}));
            let mut body = json!({
                "user": user, "action": action, "target": target, "undo": undo, "at": Instant(at).to_string(), "groups": groups,
            });
            for (field, text) in [("on", on), ("author", author)] {
                if let Some(text) = text {
                    body[field] = json!(text);
                }
            }
            if let Ok((activity, _)) = reader(&rules).read(&body, &Caller::Service(Scopes::ALL.into())) {
                let texts = write(&[&activity]);
                let read = parse(&texts[0], reader(&rules)).unwrap();
                let read: Vec<Activity> = read.into_iter().map(|item| item.unwrap().0).collect();
                prop_assert_eq!(read, [Activity { queued: true, ..activity }]);
            }
        }
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
        let items = parse(&texts[0], reader(&now)).unwrap();
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
            let read = parse(text, reader(&now));
            assert!(matches!(read, Err(Error::InvalidRequest(..))), "{text}");
        }
    }
}
