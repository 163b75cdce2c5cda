//! Snapshots of the current boards for a key-value store: which boards, in which values.

mod state;
mod value;

pub use state::{State, ValueState};
pub use value::{StoredRow, Top, answer, content_of, encode};

use super::{BoardId, BoardKind};
use crate::calendar::{Date, Instant, Period};
use crate::config::Config;
use crate::event::{Definitions, Event};

/// Boards of groups in the snapshots, at most.
pub const GROUP_BOARDS: usize = 20;

/// Boards of events in the snapshots, at most; and no more than a value takes.
const EVENT_BOARDS: usize = 20;

/// Rows of all boards of a value, if it has several boards: 419 bytes for each.
const ROWS_PER_VALUE: u32 = 50_000;

/// A group and a period, whose current board is in the snapshots.
pub type GroupPeriod = (String, Period);

/// The boards of the snapshots, divided by the values that contain them: first the boards of all users, then the boards
/// of groups, then the boards of events.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The boards of each value.
    pub values: Vec<Vec<BoardId>>,
    /// The number of values, from the first on, with boards of all users. It depends on the configuration alone.
    pub calendar_values: usize,
    /// The number of values, from the first on, without boards of events.
    pub period_values: usize,
}

impl Plan {
    /// Returns the plan for a day, and for events as [`chosen_events`] returns them.
    #[must_use]
    pub fn new(config: &Config, date: Date, groups: &[GroupPeriod], events: &str) -> Self {
        let count = boards_per_value(config);
        let mut values = Vec::new();
        let mut add = |boards: &[BoardId]| {
            values.extend(boards.chunks(count).map(<[_]>::to_vec));
            values.len()
        };
        let calendar_values = add(&calendar_boards(config, date));
        let period_values = add(&group_boards(groups, date));
        let events = events.split(' ').skip(1).map(str::to_owned);
        add(&events.map(BoardId::for_event).collect::<Vec<_>>());
        Self {
            values,
            calendar_values,
            period_values,
        }
    }

    /// Returns the numbers of the values that contain any of some boards, whatever their day: a value has the boards of
    /// the day before until it is written again.
    pub fn values_of(&self, wanted: &[&BoardId]) -> impl Iterator<Item = usize> {
        let is_wanted = |board: &BoardId| {
            let is_same = |other: &&BoardId| {
                (other.kind, other.period, &other.group) == (board.kind, board.period, &board.group)
            };
            wanted.iter().any(is_same)
        };
        let values = self.values.iter().enumerate();
        values.filter_map(move |(number, boards)| boards.iter().any(is_wanted).then_some(number))
    }
}

/// Returns the number of boards in a value.
fn boards_per_value(config: &Config) -> usize {
    (ROWS_PER_VALUE / config.snapshot_members).max(1) as usize
}

/// Returns the events whose boards are in the snapshots: the number of the definitions, then running events, then
/// settling events, as many as one value takes. A blank precedes each of them. Empty without an event.
#[must_use]
pub fn chosen_events(config: &Config, definitions: &Definitions, now: Instant) -> String {
    let limit = EVENT_BOARDS.min(boards_per_value(config));
    let (mut running, mut settling) = (Vec::new(), Vec::new());
    for event in definitions.events() {
        if event.from <= now && now < event.to {
            running.push(event.id);
        } else if event.to <= now && now < event.final_at {
            settling.push(event.id);
        }
    }
    running.extend(settling);
    running.truncate(limit);
    match running.is_empty() {
        true => String::new(),
        false => format!("{} {}", definitions.number(), running.join(" ")),
    }
}

/// Returns the boards of all users on a day: of members, of content, of authors.
#[must_use]
pub fn calendar_boards(config: &Config, date: Date) -> Vec<BoardId> {
    let mut boards = Vec::new();
    for (kind, periods) in [
        (BoardKind::Members, &config.periods),
        (BoardKind::Content, &config.content_periods),
        (BoardKind::Authors, &config.content_periods),
    ] {
        boards.extend(periods.iter().map(|period| BoardId {
            kind,
            period: *period,
            date,
            group: None,
        }));
    }
    boards
}

fn group_boards(groups: &[GroupPeriod], date: Date) -> Vec<BoardId> {
    let board = |(group, period): &GroupPeriod| BoardId {
        kind: BoardKind::Members,
        period: *period,
        date,
        group: Some(group.clone()),
    };
    groups.iter().map(board).collect()
}

/// Parses a list of groups: lines of a group, a blank and a period. Other lines are ignored.
#[must_use]
pub fn parse_groups(text: &str) -> Vec<GroupPeriod> {
    let parse = |line: &str| {
        let (group, period) = line.split_once(' ')?;
        Some((group.to_owned(), Period::parse(period)?))
    };
    text.lines().filter_map(parse).collect()
}

/// Returns a list of events that may follow a list of groups: lines of an event, a blank and its definition.
#[must_use]
pub fn render_events(events: &[Event]) -> String {
    let line = |event: &Event| format!("{} {}\n", event.id, event.stored());
    events.iter().map(line).collect()
}

/// Returns each event in a list, with its definition. [`parse_groups`] ignores these lines.
pub fn listed_events(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let lines = text.lines().filter_map(|line| line.split_once(' '));
    lines.filter(|(_, json)| json.starts_with('{'))
}

/// Returns a list of groups as [`parse_groups`] parses it.
#[must_use]
pub fn render_groups(groups: &[GroupPeriod]) -> String {
    let line = |(group, period): &GroupPeriod| format!("{group} {}\n", period.name());
    groups.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calendar::Utc;
    use crate::config::Vars;
    use serde_json::json;

    fn config(members: u32) -> Config {
        let vars = json!({
            "UPSTASH_REDIS_REST_URL": "https://store", "UPSTASH_REDIS_REST_TOKEN": "token",
            "PERIODS": "day,all", "CONTENT_PERIODS": "all", "SNAPSHOT_MEMBERS": members,
        });
        Config::parse(&Vars::new(vars.as_object().unwrap().clone()), Utc::named).unwrap()
    }

    fn names(members: u32) -> (Vec<String>, usize) {
        let groups = parse_groups("eu all\nT:x day\nnone\nx century\n");
        let date = Date::parse("2026-11-20").unwrap();
        let plan = Plan::new(&config(members), date, &groups, "1795132800000 a b");
        let board_names = |boards: &Vec<BoardId>| {
            let names: Vec<String> = boards.iter().map(BoardId::name).collect();
            names.join(" ")
        };
        (
            plan.values.iter().map(board_names).collect(),
            plan.calendar_values,
        )
    }

    #[test]
    fn boards_of_all_users_come_first() {
        let groups = "a:all:eu d:2026-11-20:T:x";
        let boards = "d:2026-11-20 a:all Ta:all Aa:all";
        let events = "E::a E::b";
        let values = [boards, groups, events].map(str::to_owned);
        assert_eq!(names(1000), (values.to_vec(), 1));
        let pairs = ["d:2026-11-20 a:all", "Ta:all Aa:all", groups, events].map(str::to_owned);
        assert_eq!(names(25_000), (pairs.to_vec(), 2));
        let single = boards
            .split(' ')
            .chain(groups.split(' '))
            .chain(events.split(' '))
            .map(str::to_owned);
        assert_eq!(names(25_001), (single.collect(), 4));
    }

    #[test]
    fn boards_are_found_whatever_their_day() {
        let date = Date::parse("2026-11-20").unwrap();
        let plan = Plan::new(&config(100_000), date, &parse_groups("eu day"), "1 eu");
        let board = |kind, period, group: Option<&str>| BoardId {
            kind,
            period,
            date: date.plus(-1),
            group: group.map(str::to_owned),
        };
        for (kind, period, group, value) in [
            (BoardKind::Members, Period::Day, None, Some(0)),
            (BoardKind::Members, Period::Day, Some("eu"), Some(4)),
            (BoardKind::Authors, Period::All, None, Some(3)),
            (BoardKind::Members, Period::All, Some("eu"), None),
            (BoardKind::Content, Period::Day, None, None),
        ] {
            let board = board(kind, period, group);
            assert_eq!(plan.values_of(&[&board]).next(), value, "{board:?}");
        }
        for (event, value) in [("eu", Some(5)), ("us", None)] {
            let board = BoardId::for_event(event.to_owned());
            assert_eq!(plan.values_of(&[&board]).next(), value, "{event}");
        }
    }

    #[test]
    fn running_events_come_before_settling_ones() {
        let definitions = Definitions::new(
            "7\nsettling 1 2 9 0 - -\nrunning 1 5 9 0 - -\ncoming 4 5 9 0 - -\nfinal 1 2 3 0 - -\nlast 2 4 5 0 - -",
        );
        for (members, now, expected) in [
            (1000, 3, "7 running last settling"),
            (25_000, 3, "7 running last"),
            (100_000, 3, "7 running"),
            (1000, 0, ""),
            (1000, 9, ""),
        ] {
            let events = chosen_events(&config(members), &definitions, Instant(now));
            assert_eq!(events, expected, "{members} {now}");
        }
    }

    #[test]
    fn list_has_groups_and_events() {
        let json = r#"{"title":"a day","from":"2026-11-20T00:00:00Z","to":"2026-11-21T00:00:00Z","final_at":"2026-11-21T03:00:00Z"}"#;
        let event = Event::from_stored("day", json).unwrap();
        let groups = parse_groups("eu day\n{ all\n");
        let list = render_groups(&groups) + &render_events(std::slice::from_ref(&event));
        assert_eq!(parse_groups(&list), groups);
        let listed: Vec<_> = listed_events(&list)
            .map(|(id, json)| Event::from_stored(id, json))
            .collect();
        assert_eq!(listed, [Some(event)]);
    }
}
