//! `PUT /v1/events/{event}`: the definition of an event.

use super::{Event, prizes};
use crate::activity::read_groups;
use crate::calendar::{Date, Instant};
use crate::config::{ADJUST, Config};
use crate::error::{Error, FieldErrors};
use crate::id;
use crate::profile::{check_link, optional};
use crate::score::Points;
use crate::text;
use serde_json::{Map, Value, json};

/// The most days of an event.
const MAX_DAYS: i64 = 366;

const MAX_TITLE_CHARACTERS: usize = 200;

const FIELDS: [&str; 7] = ["title", "from", "to", "url", "actions", "groups", "prizes"];

const INSTANT: &str =
    "must be an RFC 3339 date and time with an offset such as 2026-11-20T08:00:00Z";

const LATE: &str =
    "must be so early that the event is final, SETTLE_MINUTES later, before the year 10000";

impl Event {
    /// Parses a request body; the id comes from the path.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidRequest`] lists every invalid field.
    pub fn parse(event: &str, body: &Value, config: &Config) -> Result<Self, Error> {
        let Value::Object(fields) = body else {
            return Err(Error::invalid("An event is a JSON object."));
        };
        let mut errors = FieldErrors::default();
        errors.reject_unknown(fields.keys(), &FIELDS);
        let id = errors.check("/event", id::checked(event));
        let check_title = |title: &str| text::check(title, MAX_TITLE_CHARACTERS);
        let title = optional(fields, "title", check_title);
        let title = title.and_then(|title| title.ok_or_else(|| "is required".to_owned()));
        let title = errors.check("/title", title);
        let from = errors.check("/from", read_instant(fields, "from"));
        let to = read_instant(fields, "to").and_then(|to| check_end(from, to, config));
        let to = errors.check("/to", to);
        let url = errors.check("/url", optional(fields, "url", check_link));
        let actions = errors.check("/actions", read_actions(fields.get("actions"), config));
        let groups = errors.check("/groups", read_groups(fields.get("groups")));
        let prizes = errors.check("/prizes", prizes::read(fields.get("prizes")));
        let event = || {
            let (title, from, to) = (title?, from?, to?);
            let (url, actions, groups, prizes) = (url?, actions?, groups?, prizes?);
            let final_at = Instant(to.0 + config.settling);
            let mut json = json!({
                "title": title, "from": from.to_string(), "to": to.to_string(), "final_at": final_at.to_string(),
            });
            let mut fields = std::mem::take(json.as_object_mut()?);
            let mut add = |name: &str, value: Value| fields.insert(name.to_owned(), value);
            if let Some(url) = url {
                add("url", json!(url));
            }
            if let Some(actions) = actions {
                add("actions", Value::Object(actions));
            }
            if !groups.is_empty() {
                add("groups", json!(groups));
            }
            if !prizes.is_empty() {
                add("prizes", json!(prizes));
            }
            Some(Self {
                id: id?,
                from,
                to,
                final_at,
                fields,
            })
        };
        errors.finish(event())
    }
}

fn read_instant(fields: &Map<String, Value>, name: &str) -> Result<Instant, String> {
    let text = fields.get(name).and_then(Value::as_str);
    text.and_then(Instant::parse)
        .ok_or_else(|| INSTANT.to_owned())
}

/// Checks that an end follows the start, and that the event is final at an instant that can be stored.
fn check_end(from: Option<Instant>, to: Instant, config: &Config) -> Result<Instant, String> {
    match from {
        _ if !Instant(to.0 + config.settling).is_readable() => Err(LATE.to_owned()),
        Some(from) if to <= from => Err("must be after from".to_owned()),
        Some(from) if to.0 - from.0 > MAX_DAYS * Date::MILLIS => {
            Err(format!("must be at most {MAX_DAYS} days after from"))
        }
        Some(_) | None => Ok(to),
    }
}

/// Parses the actions that count and their points.
fn read_actions(
    value: Option<&Value>,
    config: &Config,
) -> Result<Option<Map<String, Value>>, String> {
    let Some(value) = value else {
        return Ok(None);
    };
    let (layout, fields) = (config.layout, value.as_object());
    let fields = fields.filter(|fields| !fields.is_empty());
    let fields = fields.ok_or("must be an object of one action or more with their points")?;
    let mut actions = Map::new();
    for (action, points) in fields {
        if action == ADJUST || !config.rules.actions().any(|known| known == action) {
            let known: Vec<&str> = config.rules.actions().collect();
            return Err(format!(
                "no rule has the action '{action}'; expected {}",
                known.join(", ")
            ));
        }
        let max = layout.max_points();
        let steps = points.as_f64().and_then(|points| layout.steps(points));
        let steps = steps.filter(|steps| (1.0..=max as f64).contains(steps));
        let steps = steps.ok_or_else(|| {
            let (max, decimals) = (max / layout.unit(), layout.decimals);
            format!("'{action}' must be more than 0 and at most {max} points, with at most {decimals} decimals")
        })?;
        let points = Points::new(steps as u64, layout.decimals);
        actions.insert(action.clone(), json!(points));
    }
    Ok(Some(actions))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::Definitions;
    use crate::event::tests::config;
    use proptest::prelude::*;

    proptest! {
        /// Near the last instant that RFC 3339 can express, an event is read back or refused.
        #[test]
        fn stored_event_is_read_back(hours in -24i64..24, length in 1i64..9000, minutes in 0i64..43_201) {
            let config = Config { settling: minutes * 60_000, ..config() };
            let to = Instant(253_402_300_800_000 + hours * 3_600_000 - config.settling);
            let from = Instant(to.0 - length * 3_600_000);
            let body = json!({"title": "t", "from": from.to_string(), "to": to.to_string()});
            match Event::parse("e", &body, &config) {
                Ok(event) => prop_assert_eq!(Event::from_stored("e", &event.stored()), Some(event)),
                Err(_) => prop_assert!(hours >= 0 || length > MAX_DAYS * 24, "{body}"),
            }
        }

        /// The definition, and its line for the counting script.
        #[test]
        fn every_field_of_stored_event_is_read_back(
            id in "[A-Za-z0-9_.:@|-]{1,64}",
            title in "[ -~\u{a0}-\u{24ff}]{1,30}",
            url in prop::option::of("https://.{1,20}"),
            points in prop::option::of([-1.0f64..1e7, 0.0..10.0]),
            rounded: bool,
            groups in prop::collection::vec("[A-Za-z0-9_.:@|-]{1,3}", 0..5),
            ranks in prop::collection::vec((0u32..300, 0u32..300), 0..4),
        ) {
            let config = config();
            let mut body = json!({
                "title": title, "from": "2026-11-20T00:00:00Z", "to": "2026-11-22T00:00:00Z", "groups": groups,
                "prizes": [],
            });
            if let Some(url) = url {
                body["url"] = json!(url);
            }
            if let Some([like, comment]) = points {
                let step = |points: f64| if rounded { (points * 10.0).round() / 10.0 } else { points };
                body["actions"] = json!({"like": step(like), "comment": step(comment)});
            }
            let mut rank = 0;
            for (skipped, length) in ranks {
                let (first, last) = (rank + skipped, rank + skipped + length);
                let ranks = if length == 0 { first.to_string() } else { format!("{first}-{last}") };
                body["prizes"].as_array_mut().unwrap().push(json!({"ranks": ranks, "title": title}));
                rank = last + 1;
            }
            let Ok(event) = Event::parse(&id, &body, &config) else {
                return Ok(());
            };
            prop_assert_eq!(Event::from_stored(&id, &event.stored()), Some(event.clone()));
            let definitions = Definitions::default().changed(&id, Some(&event.line(&config)), Instant(1_795_132_800_000));
            let counted = definitions.event(&id).unwrap();
            prop_assert_eq!((counted.from, counted.to, counted.final_at), (event.from, event.to, event.final_at));
            let [_, _, actions, counted_groups] = counted.counts();
            let listed = if groups.is_empty() { "-".to_owned() } else { groups.join(",") };
            prop_assert_eq!(counted_groups, listed);
            let steps = actions.split(',').filter_map(|part| part.split_once('='));
            for (action, steps) in steps {
                let points = event.fields["actions"][action].as_f64().unwrap();
                prop_assert_eq!(config.layout.steps(points), steps.parse().ok());
            }
            prop_assert_eq!(actions == "-", body.get("actions").is_none());
        }
    }

    fn complete() -> Value {
        json!({
            "title": "Hackathon", "from": "2026-11-20T08:00:00+08:00", "to": "2026-11-22T00:00:00Z",
            "url": "https://example.com/hackathon", "actions": {"comment": 5, "publish": 20.5},
            "groups": ["eu"], "prizes": [{"ranks": "1", "title": "A book"}, {"ranks": "2-10", "title": "A sticker"}],
        })
    }

    fn detail(change: impl FnOnce(&mut Value)) -> Value {
        let mut body = complete();
        change(&mut body);
        let error = Event::parse("hackathon", &body, &config()).unwrap_err();
        let problem = serde_json::to_value(error.problem()).unwrap();
        problem["errors"].clone()
    }

    #[test]
    fn definition_is_parsed() {
        let event = Event::parse("hackathon", &complete(), &config()).unwrap();
        assert_eq!(event.from.to_string(), "2026-11-20T00:00:00Z");
        let mut stored = complete();
        stored["from"] = json!("2026-11-20T00:00:00Z");
        stored["final_at"] = json!("2026-11-22T03:00:00Z");
        assert_eq!(Value::Object(event.fields), stored);
        let mut least =
            json!({"title": "t", "from": "2026-11-20T00:00:00Z", "to": "2026-11-20T00:00:00.001Z"});
        let event = Event::parse("e", &least, &config()).unwrap();
        least["final_at"] = json!("2026-11-20T03:00:00.001Z");
        assert_eq!(Value::Object(event.fields), least);
    }

    #[test]
    fn invalid_fields_are_listed() {
        let error = |pointer: &str, detail: &str| json!([{"pointer": pointer, "detail": detail}]);
        let actions = "must be an object of one action or more with their points";
        let https = "must be a link that begins with https://";
        let days = "must be at most 366 days after from";
        let unknown = "is unknown; expected one of title, from, to, url, actions, groups, prizes";
        for (field, value, detail_of) in [
            ("title", json!(""), "must be 1 to 200 characters"),
            ("title", json!(1), "must be a text"),
            ("from", json!("2026-11-20"), INSTANT),
            ("from", json!("2026-11-20T08:00:00"), INSTANT),
            ("to", json!(null), INSTANT),
            ("to", json!("2026-11-20T00:00:00Z"), "must be after from"),
            ("to", json!("9999-12-31T21:00:00Z"), LATE),
            ("to", json!("9999-12-31T23:59:59-00:01"), INSTANT),
            ("to", json!("2027-11-21T00:00:00.001Z"), days),
            ("url", json!("http://example.com"), https),
            ("actions", json!({}), actions),
            ("actions", json!(["like"]), actions),
            ("groups", json!("eu"), "must be a list of group ids"),
            ("name", json!("x"), unknown),
        ] {
            let found = detail(|body| body[field] = value.clone());
            let expected = error(&format!("/{field}"), detail_of);
            assert_eq!(found, expected, "{field}: {value}");
        }
        let found = detail(|body| body["actions"] = json!({"sing": 1}));
        let found = found[0]["detail"].as_str().unwrap();
        assert!(found.starts_with("no rule has the action 'sing'; expected "));
        for points in [json!(0), json!(-1), json!(0.05), json!("5"), json!(1e9)] {
            let found = detail(|body| body["actions"] = json!({"like": points}));
            let expected =
                "'like' must be more than 0 and at most 838860 points, with at most 1 decimals";
            assert_eq!(found, error("/actions", expected), "{points}");
        }
    }
}
