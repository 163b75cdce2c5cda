//! `GET /v1/events`: running and settling events, then coming ones, then final ones.

use super::{Event, State};
use crate::calendar::Instant;
use serde_json::{Value, json};

/// Renders the events: the next one to end or to begin first, and of the final ones the last.
#[must_use]
pub fn render_list(events: &[Event], now: Instant) -> String {
    let key = |event: &Event| match event.state(now) {
        State::Running | State::Settling => (0, event.to.0),
        State::Coming => (1, event.from.0),
        State::Final => (2, -event.to.0),
    };
    let mut sorted: Vec<&Event> = Vec::new();
    for event in events {
        let place = |other: &&Event| (key(other), &other.id) < (key(event), &event.id);
        sorted.insert(sorted.partition_point(place), event);
    }
    let views: Vec<Value> = sorted.iter().map(|event| event.view(now)).collect();
    json!({ "events": views }).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_listed_by_state() {
        let event = |id: &str, hours: [i64; 3]| {
            let [from, to, last] = hours.map(|hour| Instant(hour * 3_600_000).to_string());
            let fields = json!({"title": id, "from": from, "to": to, "final_at": last});
            Event::from_stored(id, &fields.to_string()).unwrap()
        };
        let events = [
            event("past", [1, 2, 3]),
            event("later-past", [1, 3, 4]),
            event("coming", [20, 21, 24]),
            event("soon", [11, 31, 34]),
            event("running", [9, 12, 15]),
            event("settling", [7, 9, 12]),
            event("b", [9, 12, 15]),
        ];
        let list = render_list(&events, Instant(10 * 3_600_000));
        let list: Value = serde_json::from_str(&list).unwrap();
        let ids = list["events"].as_array().unwrap().iter();
        let ids: Vec<&str> = ids.map(|event| event["id"].as_str().unwrap()).collect();
        assert_eq!(
            ids,
            [
                "settling",
                "b",
                "running",
                "soon",
                "coming",
                "later-past",
                "past"
            ]
        );
    }
}
