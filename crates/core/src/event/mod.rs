//! Events: boards from one instant to another, with rules of their own where wanted.
//!
//! An activity counts in an event by the event's definition at its instant. After its end an event settles: queued and
//! late activity still counts. Then it is final.

mod definition;
mod definitions;
mod list;
mod prizes;

pub use definitions::{CountedEvent, Definitions, FINAL_KEPT, MAX_OPEN, MAX_RUNNING, RULES_MARKER};
pub use list::render_list;

use crate::calendar::Instant;
use crate::error::Error;
use crate::id;
use crate::json;
use serde::Serialize;
use serde_json::{Map, Value, json};

/// The letter in the place of those of periods, in records and in the journal: an adjustment of the board of the event that
/// is in the place of the groups.
pub const LETTER: &str = "e";

/// The most events of a deployment.
pub const MAX_EVENTS: usize = 1000;

/// The state of an event at an instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// It has not begun.
    Coming,
    /// Activity counts.
    Running,
    /// It has ended, and activity of before its end still counts.
    Settling,
    /// Nothing counts any more.
    Final,
}

/// An event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// Its id.
    pub id: String,
    /// The first instant.
    pub from: Instant,
    /// The first instant after it.
    pub to: Instant,
    /// The instant from which nothing counts any more.
    pub final_at: Instant,
    /// Its definition as requests and responses contain it, with `final_at`.
    fields: Map<String, Value>,
}

impl Event {
    /// Parses the event of a path.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidRequest`].
    pub fn checked_id(event: &str) -> Result<String, Error> {
        id::checked(event).map_err(|detail| Error::field("/event", detail))
    }

    /// Parses a stored event; `None` if the text is not one.
    #[must_use]
    pub fn from_stored(id: &str, text: &str) -> Option<Self> {
        let Ok(Value::Object(fields)) = json::read(text.as_bytes()) else {
            return None;
        };
        let instant = |name: &str| Instant::parse(fields.get(name)?.as_str()?);
        Some(Self {
            id: id.to_owned(),
            from: instant("from")?,
            to: instant("to")?,
            final_at: instant("final_at")?,
            fields,
        })
    }

    /// Returns the text that [`Self::from_stored`] parses.
    #[must_use]
    pub fn stored(&self) -> String {
        serde_json::to_string(&self.fields).unwrap_or_default()
    }

    /// Returns the state at an instant.
    #[must_use]
    pub fn state(&self, now: Instant) -> State {
        if now < self.from {
            State::Coming
        } else if now < self.to {
            State::Running
        } else if now < self.final_at {
            State::Settling
        } else {
            State::Final
        }
    }

    /// Returns why the definition cannot take the place of another one without a recount; `None` if it can.
    ///
    /// Before the start everything may change, later the end while it lies ahead, and what does not count: title, URL
    /// and prizes.
    #[must_use]
    pub fn refusal(&self, before: Option<&Self>, now: Instant) -> Option<&'static str> {
        let counting = |event: &Self| {
            let part = |name: &str| event.fields.get(name).cloned();
            (event.from, part("actions"), part("groups"))
        };
        match before {
            Some(before) if before.state(now) == State::Final => {
                Some("The event is final: its definition does not change any more.")
            }
            Some(before) if before.from <= now => {
                let moved = self.to != before.to && (before.to <= now || self.to <= now);
                if counting(self) != counting(before) || moved {
                    Some(
                        "The event has begun: only title, url, prizes and an end that lies ahead can change.",
                    )
                } else {
                    None
                }
            }
            Some(_) | None => {
                (self.from <= now).then_some("An event begins in the future: from has passed.")
            }
        }
    }

    /// Returns the event as a recount at an instant defines it: all activity of before counts, so it is not final
    /// earlier.
    #[must_use]
    pub fn recounted(mut self, settling: i64, now: Instant) -> Self {
        self.final_at = Instant(now.0.max(self.to.0 + settling));
        let final_at = self.final_at.to_string();
        self.fields.insert("final_at".to_owned(), json!(final_at));
        self
    }

    /// Returns the last rank that has a prize; 0 if there are none.
    #[must_use]
    pub fn last_prize(&self) -> u32 {
        let prizes = self.fields.get("prizes").and_then(Value::as_array);
        let last = prizes.and_then(|prizes| prizes.last()?.get("ranks")?.as_str());
        let rank = last.and_then(|ranks| ranks.rsplit('-').next()?.parse().ok());
        rank.unwrap_or(0)
    }

    /// Returns the event as responses show it.
    #[must_use]
    pub fn view(&self, now: Instant) -> Value {
        let mut fields = self.fields.clone();
        fields.insert("id".to_owned(), json!(self.id));
        fields.insert("state".to_owned(), json!(self.state(now)));
        Value::Object(fields)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calendar::Utc;
    use crate::config::{Config, Vars};

    /// Returns a configuration with a decimal.
    pub(super) fn config() -> Config {
        let vars = json!({"UPSTASH_REDIS_REST_URL": "https://store",
            "UPSTASH_REDIS_REST_TOKEN": "token", "POINT_DECIMALS": 1});
        Config::parse(&Vars::new(vars.as_object().unwrap().clone()), Utc::named).unwrap()
    }

    const HOUR: i64 = 3_600_000;

    fn event(change: impl FnOnce(&mut Value)) -> Event {
        let mut fields = json!({
            "title": "Hackathon", "from": Instant(10 * HOUR).to_string(), "to": Instant(20 * HOUR).to_string(),
            "final_at": Instant(23 * HOUR).to_string(), "groups": ["eu"],
            "prizes": [{"ranks": "1", "title": "A book"}, {"ranks": "2-10", "title": "A sticker"}],
        });
        change(&mut fields);
        Event::from_stored("hackathon", &fields.to_string()).unwrap()
    }

    #[test]
    fn states_begin_to_the_millisecond() {
        let event = event(|_| ());
        for (now, state) in [
            (10 * HOUR - 1, State::Coming),
            (10 * HOUR, State::Running),
            (20 * HOUR - 1, State::Running),
            (20 * HOUR, State::Settling),
            (23 * HOUR - 1, State::Settling),
            (23 * HOUR, State::Final),
        ] {
            assert_eq!(event.state(Instant(now)), state, "{now}");
        }
    }

    #[test]
    fn changes_after_the_start_are_refused() {
        let before = event(|_| ());
        let to = |hour: i64| event(|fields| fields["to"] = json!(Instant(hour * HOUR).to_string()));
        let titled = event(|fields| fields["title"] = json!("New"));
        let other_groups = event(|fields| fields["groups"] = json!(["us"]));
        let begun = Some(
            "The event has begun: only title, url, prizes and an end that lies ahead can change.",
        );
        for (hour, after, refusal) in [
            (9, &other_groups, None),
            (9, &to(30), None),
            (10, &other_groups, begun),
            (10, &titled, None),
            (15, &to(16), None),
            (15, &to(30), None),
            (15, &to(15), begun),
            (20, &to(30), begun),
            (22, &titled, None),
            (
                23,
                &titled,
                Some("The event is final: its definition does not change any more."),
            ),
        ] {
            let now = Instant(hour * HOUR);
            assert_eq!(after.refusal(Some(&before), now), refusal, "{hour}");
        }
        let passed = Some("An event begins in the future: from has passed.");
        assert_eq!(before.refusal(None, Instant(10 * HOUR)), passed);
        assert_eq!(before.refusal(None, Instant(10 * HOUR - 1)), None);
    }

    #[test]
    fn other_texts_are_no_event() {
        for text in ["", "[]", "{}", r#"{"from":"x","to":"y","final_at":"z"}"#] {
            assert_eq!(Event::from_stored("e", text), None, "{text}");
        }
        let event = event(|_| ());
        let again = Event::from_stored("hackathon", &event.stored());
        assert_eq!(again.as_ref(), Some(&event));
        let view = event.view(Instant(0));
        assert_eq!(view["state"], "coming");
        assert_eq!(view["id"], "hackathon");
        assert_eq!(event.last_prize(), 10);
    }
}
