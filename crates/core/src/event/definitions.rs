//! The definitions of events and of the versions of the rules, as the counting script reads them.
//!
//! A field of the hash of users of each shard holds them: a number that grows with every change, then a line for each
//! version of the rules, see `rules` of this crate, and for each event, until it has been final for a day: `hackathon 1795132800000 1795305600000 1795316400000 1827038400 comment=5 eu,us`: the event;
//! its first instant, the first instant after it and the instant from which it is final, Unix ms; the expiry of its
//! board, Unix s; the actions that count with their points in smallest steps, and the groups whose activity counts, `-`
//! for all.

use super::Event;
use crate::CLOCK_TOLERANCE;
use crate::calendar::Instant;
use crate::config::Config;
use serde_json::Value;
use std::collections::BTreeSet;

/// Milliseconds for which the definitions keep a final event, at least: cron archives it and makes a message about it
/// meanwhile.
pub const FINAL_KEPT: i64 = 24 * 3_600_000;

/// The most events that run at a time.
pub const MAX_RUNNING: usize = 20;

/// The most events that are not final: every counting call reads their definitions.
pub const MAX_OPEN: usize = 100;

/// The first character of the line of a version of the rules, and of its field in the hash of events. No event has it in its
/// id.
pub const RULES_MARKER: char = '#';

/// The definitions of a shard.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Definitions {
    text: String,
}

/// An event that activity may count in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CountedEvent<'a> {
    /// Its id.
    pub id: &'a str,
    /// The first instant.
    pub from: Instant,
    /// The first instant after it.
    pub to: Instant,
    /// The instant from which nothing counts any more.
    pub final_at: Instant,
    /// The expiry of its board, Unix s.
    pub expiry: i64,
    line: &'a str,
}

impl<'a> CountedEvent<'a> {
    /// Returns whether an activity or an undo that arrives at this instant can change the event's board.
    #[must_use]
    pub fn is_open(&self, now: Instant) -> bool {
        self.from.0 <= now.0 + CLOCK_TOLERANCE && now < self.final_at
    }

    /// Returns the points of an activity of an instant in smallest steps, `points` unless the event has its own; `None` if
    /// the activity does not count.
    #[must_use]
    pub fn points(&self, at: Instant, action: &str, groups: &[String], points: i64) -> Option<i64> {
        let [_, _, actions, counted_groups] = self.counts();
        let mut own_points = actions.split(',').filter_map(|own| own.split_once('='));
        let points = match actions {
            "-" => Some(points),
            _ => own_points
                .find(|(own, _)| *own == action)
                .and_then(|(_, points)| points.parse().ok()),
        };
        let is_counted = |group: &str| groups.iter().any(|counted| counted == group);
        let has_group = counted_groups == "-" || counted_groups.split(',').any(is_counted);
        points.filter(|_| has_group && self.from <= at && at < self.to)
    }

    /// Returns what counts: the words of `from`, `to`, actions and groups.
    #[must_use]
    pub fn counts(&self) -> [&'a str; 4] {
        let mut words = self.line.split(' ').skip(1);
        let mut next = |skipped| words.nth(skipped).unwrap_or("-");
        [next(0), next(0), next(2), next(0)]
    }
}

impl Definitions {
    /// Returns the definitions of a field's text; an empty text stands for none.
    #[must_use]
    pub fn new(text: &str) -> Self {
        let text = text.to_owned();
        Self { text }
    }

    /// Returns the text of the field.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the number, or an empty text.
    #[must_use]
    pub fn number(&self) -> &str {
        self.text
            .split_once('\n')
            .map_or(self.text.as_str(), |(number, _)| number)
    }

    fn lines(&self) -> impl Iterator<Item = &str> {
        self.text.split('\n').skip(1)
    }

    /// Returns the lines of versions of the rules.
    pub fn rules(&self) -> impl Iterator<Item = &str> {
        self.lines().filter(|line| line.starts_with(RULES_MARKER))
    }

    /// Returns the events in the order of their definitions.
    pub fn events(&self) -> impl Iterator<Item = CountedEvent<'_>> {
        let lines = self.lines().filter(|line| !line.starts_with(RULES_MARKER));
        lines.filter_map(|line| {
            let mut words = line.split(' ');
            let id = words.next()?;
            let mut number = || words.next()?.parse().ok();
            Some(CountedEvent {
                id,
                from: Instant(number()?),
                to: Instant(number()?),
                final_at: Instant(number()?),
                expiry: number()?,
                line,
            })
        })
    }

    /// Returns an event.
    #[must_use]
    pub fn event(&self, id: &str) -> Option<CountedEvent<'_>> {
        let mut events = self.events();
        events.find(|event| event.id == id)
    }

    /// Returns the instant from which an event is final; `None` for one that they do not have.
    #[must_use]
    pub fn final_at(&self, id: &str) -> Option<Instant> {
        self.event(id).map(|event| event.final_at)
    }

    /// Returns the definitions after a change at an instant: with this line of an event or of a version of the rules, or
    /// without it. Events that have been final for a day are left out.
    #[must_use]
    pub fn changed(&self, name: &str, line: Option<&str>, now: Instant) -> Self {
        let last = self.number().parse().unwrap_or(0);
        let number = now.0.max(last + 1).to_string();
        let is_kept = |line: &&str| {
            let event = self.event(name_of(line));
            event.is_none_or(|event| now.0 < event.final_at.0 + FINAL_KEPT)
        };
        self.with_lines(number, &[(name, line)], is_kept)
    }

    /// Returns the definitions with those of some events, by their ids and lines, in the place of the stored ones.
    #[must_use]
    pub fn overlaid(&self, lines: &[(String, String)]) -> Self {
        let number = match self.number() {
            "" if !lines.is_empty() => "0",
            number => number,
        };
        let lines = lines.iter();
        let lines: Vec<(&str, Option<&str>)> = lines
            .map(|(event, line)| (event.as_str(), Some(line.as_str())))
            .collect();
        self.with_lines(number.to_owned(), &lines, |_| true)
    }

    /// Returns definitions with a number, the kept lines, and some by their names in the place of the stored ones.
    fn with_lines(
        &self,
        number: String,
        changed: &[(&str, Option<&str>)],
        is_kept: impl Fn(&&str) -> bool,
    ) -> Self {
        let is_other = |line: &&str| changed.iter().all(|(name, _)| *name != name_of(line));
        let kept = self.lines().filter(is_other).filter(is_kept);
        let mut text = number;
        for line in kept.chain(changed.iter().filter_map(|(_, line)| *line)) {
            text = format!("{text}\n{line}");
        }
        Self { text }
    }

    /// Returns the line of an event.
    #[must_use]
    pub fn line_of(&self, id: &str) -> Option<&str> {
        self.event(id).map(|event| event.line)
    }

    /// Returns whether there is a line of an event or a version.
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        self.lines().any(|line| name_of(line) == name)
    }

    /// Returns the names of the events and versions whose lines only one of both definitions has.
    #[must_use]
    pub fn differences<'a>(&'a self, other: &'a Self) -> BTreeSet<&'a str> {
        let lines: [BTreeSet<&str>; 2] = [self, other].map(|one| one.lines().collect());
        let [own, others] = &lines;
        own.symmetric_difference(others)
            .map(|line| name_of(line))
            .collect()
    }

    /// Returns the number of events that are not final at an instant.
    #[must_use]
    pub fn open(&self, now: Instant) -> usize {
        self.events().filter(|event| now < event.final_at).count()
    }

    /// Returns the most events that run at one instant.
    #[must_use]
    pub fn most_running(&self) -> usize {
        let running = |at: Instant| {
            let events = self.events();
            events
                .filter(|event| event.from <= at && at < event.to)
                .count()
        };
        let most = self.events().map(|event| running(event.from));
        most.max().unwrap_or(0)
    }
}

/// Returns the first word of a line.
fn name_of(line: &str) -> &str {
    line.split_once(' ').map_or(line, |(name, _)| name)
}

impl Event {
    /// Returns its line in the definitions.
    #[must_use]
    pub fn line(&self, config: &Config) -> String {
        let list = |name: &str, text: &dyn Fn(&str, &Value) -> Option<String>| {
            let items = match self.fields.get(name) {
                Some(Value::Object(items)) => items
                    .iter()
                    .filter_map(|(name, item)| text(name, item))
                    .collect(),
                Some(Value::Array(items)) => {
                    items.iter().filter_map(|item| text("", item)).collect()
                }
                _ => vec!["-".to_owned()],
            };
            items.join(",")
        };
        let action = |name: &str, points: &Value| {
            let steps = config.layout.steps(points.as_f64()?)?;
            Some(format!("{name}={steps}"))
        };
        let actions = list("actions", &action);
        let groups = list("groups", &|_, group| Some(group.as_str()?.to_owned()));
        let kept = i64::try_from(config.keep.event_seconds()).unwrap_or(i64::MAX / 1000);
        let expiry = self.final_at.0.div_euclid(1000) + kept;
        let (from, to, final_at) = (self.from.0, self.to.0, self.final_at.0);
        format!(
            "{} {from} {to} {final_at} {expiry} {actions} {groups}",
            self.id
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::tests::config;
    use serde_json::json;

    fn event(id: &str, hours: [i64; 2], more: &Value) -> Event {
        let instant = |hour: i64| Instant(1_795_132_800_000 + hour * 3_600_000);
        let [from, to] = hours.map(instant);
        let mut body = json!({"title": id, "from": from.to_string(), "to": to.to_string()});
        let fields = body.as_object_mut().unwrap();
        fields.extend(more.as_object().unwrap().clone());
        Event::parse(id, &body, &config()).unwrap()
    }

    #[test]
    fn definitions_have_a_line_for_each_open_event() {
        let config = config();
        let more = json!({"actions": {"comment": 0.5, "publish": 20}, "groups": ["eu", "us"]});
        let one = event("one", [0, 48], &more);
        let two = event("two", [1, 2], &json!({}));
        let now = Instant(1_795_132_800_000);
        let first = Definitions::default().changed("one", Some(&one.line(&config)), now);
        let second = first.changed("two", Some(&two.line(&config)), now);
        let line =
            "one 1795132800000 1795305600000 1795316400000 1826938800 comment=5,publish=200 eu,us";
        assert_eq!(first.text(), format!("1795132800000\n{line}"));
        assert_eq!(
            second.text(),
            format!(
                "1795132800001\n{line}\ntwo 1795136400000 1795140000000 1795150800000 1826773200 - -"
            )
        );
        assert_eq!(second.number(), "1795132800001");
        assert_eq!(
            (first.most_running(), second.most_running()),
            (1, 2),
            "they overlap"
        );
        let points = |id, at, action, group: &str| {
            let event = second.event(id).unwrap();
            event.points(Instant(at), action, &[group.to_owned()], 7)
        };
        for (id, at, action, group, expected) in [
            ("one", 1_795_132_800_000, "comment", "us", Some(5)),
            ("one", 1_795_132_799_999, "comment", "us", None),
            ("one", 1_795_305_600_000, "comment", "us", None),
            ("one", 1_795_132_800_000, "like", "us", None),
            ("one", 1_795_132_800_000, "comment", "asia", None),
            ("two", 1_795_136_400_000, "like", "asia", Some(7)),
        ] {
            let found = points(id, at, action, group);
            assert_eq!(found, expected, "{id} {at} {action} {group}");
        }
        assert_eq!(second.open(now), 2);
        assert_eq!(second.open(Instant(1_795_150_800_000)), 1);
        let day_later = 1_795_150_800_000 + FINAL_KEPT;
        let after = second.changed("one", None, Instant(day_later));
        assert_eq!(
            after.text(),
            day_later.to_string(),
            "the other event is final"
        );
        assert_eq!(after.events().count(), 0);
        let ids: Vec<&str> = second.events().map(|event| event.id).collect();
        assert_eq!(ids, ["one", "two"]);
        let counts = second.events().map(|event| event.counts());
        let counted = [
            "1795132800000",
            "1795305600000",
            "comment=5,publish=200",
            "eu,us",
        ];
        assert_eq!(
            counts.collect::<Vec<_>>(),
            [counted, ["1795136400000", "1795140000000", "-", "-"]]
        );
    }

    #[test]
    fn overlaid_definitions_precede_stored_ones() {
        let (one, two) = ("one 1 2 3 4 - -", "two 5 6 7 8 - eu");
        let stored = Definitions::new(&format!("9\n{one}\n{two}"));
        assert_eq!(stored.line_of("two"), Some(two));
        assert_eq!(stored.line_of("three"), None);
        let lines = [("one".to_owned(), "one 0 2 3 4 - -".to_owned())];
        let overlaid = stored.overlaid(&lines);
        assert_eq!(overlaid.text(), format!("9\n{two}\none 0 2 3 4 - -"));
        assert_eq!(stored.overlaid(&[]), stored);
        assert_eq!(
            Definitions::default().overlaid(&lines).text(),
            "0\none 0 2 3 4 - -"
        );
        assert_eq!(Definitions::default().overlaid(&[]), Definitions::default());
    }

    #[test]
    fn final_instant_is_that_of_the_event() {
        let second = Definitions::new("7\none 1 2 3 4 - -\ntwo 5 6 1795150800000 8 - -");
        assert_eq!(second.final_at("two"), Some(Instant(1_795_150_800_000)));
        assert_eq!(second.final_at("tw"), None);
    }

    #[test]
    fn event_is_open_until_it_is_final() {
        let definitions = Definitions::new("7\none 100000 200000 300000 400 - -");
        let event = definitions.events().next().unwrap();
        for (now, open) in [
            (39_999, false),
            (40_000, true),
            (299_999, true),
            (300_000, false),
        ] {
            assert_eq!(event.is_open(Instant(now)), open, "{now}");
        }
    }
}
