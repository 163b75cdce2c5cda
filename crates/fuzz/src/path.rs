//! Properties of paths and queries: accepted values are within their limits in any encoding.

use std::sync::LazyLock;

use activity_rank::journal::JournalRequest;
use activity_rank::routes::table;
use activity_rank_core::activity::DoneRequest;
use activity_rank_core::board::{
    BoardId, BoardKind, BoardRequest, ComparisonRequest, PageRequest, StandingRequest,
    StandingsRequest, WinnersRequest,
};
use activity_rank_core::calendar::{Calendar, Date, Instant, Period, Utc};
use activity_rank_core::card::{CardFormat, CardRequest};
use activity_rank_core::config::{Config, Vars};
use activity_rank_core::content::ListRequest;
use activity_rank_core::digest::DigestRequest;
use activity_rank_core::error::Error;
use activity_rank_core::history::HistoryRequest;
use activity_rank_core::moderation::AuditRequest;
use activity_rank_core::path::normal_form;
use activity_rank_core::point_changes::PointsRequest;
use activity_rank_core::query::Query;
use activity_rank_core::stats::StatsRequest;
use activity_rank_core::webhook::{DeliveriesRequest, checked_id};
use activity_rank_store::boards::{
    RelatedBoards, call, friends_call, standings_call, winners_call,
};
use activity_rank_store::keys::Keys;
use activity_rank_store::redis::{Command, Pipeline};
use activity_rank_store::stats::totals_call;
use activity_rank_store::{erasure, history, moderation};
use percent_encoding::{NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use serde_json::json;
use unicode_normalization::UnicodeNormalization;

use super::{checked_arguments, is_id};

/// 2026-11-20T08:00:00Z, a Friday
const NOW: Instant = Instant(1_795_161_600_000);

static KEYS: LazyLock<Keys> = LazyLock::new(|| Keys::new("ar", 0, 1));

static CONFIG: LazyLock<Config> = LazyLock::new(|| {
    let vars = json!({"UPSTASH_REDIS_REST_URL": "https://store", "UPSTASH_REDIS_REST_TOKEN": "token",
        "PERIODS": "day,month,all"});
    Config::parse(
        &Vars::new(vars.as_object().expect("a table").clone()),
        Utc::named,
    )
    .expect("valid")
});

/// Parses any text as a path with a query, both as the URL of a request and as the target of a visit.
pub fn check(input: &[u8]) {
    let Ok(text) = str::from_utf8(input) else {
        return;
    };
    check_visited_path(text);
    let (path, query) = text.split_once('?').unwrap_or((text, ""));
    check_query(query);
    check_route(path, query);
}

/// Returns the normal form of a visit's target, and asserts that other spellings of it have it too.
pub fn check_visited_path(target: &str) -> Option<String> {
    let form = normal_form(target, to_nfc)?;
    assert!(
        form.is_ascii() && form.starts_with('/'),
        "{target:?}: {form:?}"
    );
    assert!(form == "/" || !form.ends_with('/'), "{target:?}: {form:?}");
    assert!(
        !form.contains(['?', '#', '\\', ' ']) && !form.contains("//"),
        "{target:?}: {form:?}"
    );
    // It may escape each byte of the target, but nothing else makes it longer.
    assert!(form.len() <= 3 * target.len(), "{target:?}: {form:?}");
    let lower = form.replace("%2F", "%2f");
    for link in [
        form.clone(),
        lower,
        format!(" {form} "),
        format!("{form}/"),
        format!("{form}?a=/#/"),
        format!("{form}#?/"),
        format!("/.{form}/./a/../"),
        format!("/{form}"),
        form.replace('/', "\\"),
    ] {
        assert_eq!(normal_form(&link, to_nfc).as_ref(), Some(&form), "{link:?}");
    }
    Some(form)
}

/// Returns a text in Unicode Normalization Form C.
pub fn to_nfc(text: &str) -> String {
    text.nfc().collect()
}

fn check_route(path: &str, query: &str) {
    let (route, [first, second]) = match table::find(path) {
        Ok(found) => found,
        Err(error) => return assert_eq!(error.status(), 404, "{path:?}"),
    };
    let segments = route.pattern.split('/');
    let mut values = [&first, &second].into_iter();
    let rendered: Vec<String> = segments
        .map(|segment| match segment.starts_with('{') {
            true => encoded(values.next().expect("a value")),
            false => segment.to_owned(),
        })
        .collect();
    let rendered = rendered.join("/");
    let (found, reparsed) = table::find(&rendered).expect("a route");
    assert_eq!(
        (found.pattern, &reparsed),
        (route.pattern, &[first.clone(), second.clone()]),
        "{path:?}"
    );
    // An encoded slash does not separate segments.
    let slashes = |path: &str| path.matches('/').count();
    assert_eq!(slashes(path), slashes(&rendered), "{path:?}");
    for method in ["GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "get", ""] {
        let allowed = route.allow().split(", ").any(|name| name == method);
        assert_eq!(route.handler(method).is_ok(), allowed, "{method} {path:?}");
    }
    let kind = kind_of(route.pattern);
    match route.pattern {
        // The page has no query, so its query is used for a board.
        "/" => check_board(BoardKind::Members, "day", "42", query),
        "/v1/ranking/{period}"
        | "/v1/ranking/{period}/live"
        | "/v1/ranking/{period}/winners"
        | "/v1/ranking/{period}/users"
        | "/v1/content/{period}"
        | "/v1/content/{period}/live"
        | "/v1/authors/{period}"
        | "/v1/authors/{period}/live"
        | "/v1/events/{event}/ranking"
        | "/v1/events/{event}/live"
        | "/v1/events/{event}/ranking/users" => check_board(kind, &first, "42", query),
        "/v1/ranking/{period}/users/{user}"
        | "/v1/content/{period}/targets/{target}"
        | "/v1/authors/{period}/users/{user}"
        | "/v1/events/{event}/ranking/users/{user}" => check_board(kind, &first, &second, query),
        "/v1/users/{user}"
        | "/v1/users/{user}/activity"
        | "/v1/users/{user}/moderation"
        | "/v1/users/{user}/adjustments" => check_users(&first, query),
        "/v1/users/{user}/card" => check_card(CardFormat::Json, &first, query),
        "/v1/users/{user}/card.svg" => check_card(CardFormat::Card, &first, query),
        "/v1/users/{user}/badge.svg" => check_card(CardFormat::Badge, &first, query),
        "/v1/users/{user}/done" => check_done(&first, query),
        "/v1/users/{user}/standings" => check_standings(&first, query),
        "/v1/users/{user}/targets" => check_list(&first, query),
        "/v1/users/{user}/points" => {
            let calendar = Calendar::new("UTC", Box::new(Utc));
            let page = PointsRequest::parse(&first, query, today(), &calendar);
            assert_documented_error("", page.as_ref().err());
            assert!(page.is_err() || is_id(&first), "{first:?}");
        }
        "/v1/moderation" => check_audit_log(query),
        "/v1/journal" => check_journal(query),
        "/v1/webhooks/deliveries" => {
            let page = DeliveriesRequest::parse(query);
            assert_documented_error("", page.as_ref().err());
            assert!(page.is_err() || page.is_ok_and(|page| (1..=100).contains(&page.limit)));
        }
        "/v1/webhooks/deliveries/{id}/retry" => assert_eq!(
            checked_id(&first).is_ok(),
            first.len() == 36 && checked_id(&first).as_ref() == Ok(&first)
        ),
        "/v1/stats" => check_stats(query),
        "/v1/digest/{week}" => check_digest(&first),
        _ => {}
    }
}

/// Returns the kind of the boards of a path.
fn kind_of(path: &str) -> BoardKind {
    BoardKind::from_path(path.split('/').nth(2).unwrap_or_default())
}

fn encoded(text: &str) -> String {
    utf8_percent_encode(text, NON_ALPHANUMERIC).to_string()
}

/// Asserts that each parameter is within its range, even if the query as a whole is refused.
fn check_query(text: &str) {
    let today = today();
    let known = ["limit", "date", "group", "ids"];
    let mut query = Query::parse(text, &known);
    assert!(
        (1..=100).contains(&query.integer("limit", 1..=100, 30)),
        "{text:?}"
    );
    assert!(query.date(today) <= today, "{text:?}");
    assert!(query.group().is_none_or(|group| is_id(&group)), "{text:?}");
    let ids = query.ids();
    let is_repeated = |(index, id): (usize, &String)| ids[..index].contains(id);
    assert!(
        ids.len() <= 100 && ids.iter().all(|id| is_id(id)),
        "{text:?}"
    );
    assert!(!ids.iter().enumerate().any(is_repeated), "{text:?}");
    if query.finish().is_ok() {
        let count = text.split('&').filter(|pair| !pair.is_empty()).count();
        assert!(count <= known.len(), "{text:?}");
    }
}

/// Asserts that a list of targets is limited, and continues after an instant and a member.
fn check_list(user: &str, query: &str) {
    let Ok(request) = ListRequest::parse(user, query) else {
        return;
    };
    assert!(is_id(&request.user), "{user:?}");
    assert!((1..=100).contains(&request.limit), "{query:?}");
    assert!(
        request.after.is_empty() || request.after.contains('-'),
        "{query:?}"
    );
    assert_eq!(ListRequest::parse(user, &reversed(query)), Ok(request));
}

/// Returns the query in reverse order, which must mean the same.
fn reversed(query: &str) -> String {
    query.split('&').rev().collect::<Vec<_>>().join("&")
}

fn check_board(kind: BoardKind, period: &str, user: &str, query: &str) {
    let (config, today) = (&*CONFIG, today());
    let board = PageRequest::parse(kind, period, query, config, today);
    assert_documented_error(period, board.as_ref().err());
    if let Ok(board) = &board {
        check_board_id(board.board());
        let arguments = checked_arguments("ar", &Pipeline::new(vec![board_command(board)]));
        let number = |index: usize| arguments[0][index].parse::<u32>().expect("a number");
        let (offset, limit) = (number(0), number(1));
        assert_numbers_are_digits(query);
        assert!((1..=100).contains(&limit) && offset <= 100_000, "{query:?}");
        assert_eq!(
            PageRequest::parse(kind, period, &reversed(query), config, today).as_ref(),
            Ok(board)
        );
        // The normal form, which is the cache key, has the same meaning.
        let normal = board.normal_form();
        let (_, normal_query) = normal.split_once('?').expect("a query");
        let (name, date) = match board.board.event() {
            Some(event) => (event, String::new()),
            None => (
                board.board.period.name(),
                format!("&date={}", board.board.date),
            ),
        };
        let normal_query = format!("{normal_query}{date}");
        let reparsed = PageRequest::parse(kind, name, &normal_query, config, today);
        assert_eq!(reparsed.as_ref(), Ok(board), "{query:?}");
        assert_eq!(reparsed.map(|reparsed| reparsed.normal_form()), Ok(normal));
    }
    let live = PageRequest::parse_live(kind, period, query, config, today);
    assert_documented_error(period, live.as_ref().err());
    if let Ok(live) = &live {
        check_board_id(live.board());
        assert!((1..=100).contains(&live.limit()), "{query:?}");
        // The URL for the Durable Object has the same meaning.
        let url = live.live_normal_form();
        let (path, live_query) = url.split_once('?').expect("a query");
        let (route, [value, _]) = table::find(path).expect("a route");
        assert!(route.pattern.ends_with("/live"), "{path:?}");
        assert_eq!((kind_of(route.pattern), value.as_str()), (kind, period));
        let reparsed = PageRequest::parse_live(kind, period, live_query, config, today);
        assert_eq!(reparsed.as_ref(), Ok(live), "{query:?}");
    }
    let winners = WinnersRequest::parse(period, query, config, today);
    assert_documented_error(period, winners.as_ref().err());
    if let Ok(winners) = &winners {
        let arguments = checked_arguments("ar", &Pipeline::new(vec![winners_call(&KEYS, winners)]));
        assert_eq!(arguments[0], ["3"]);
        let normal = winners.normal_form();
        assert!(
            normal.starts_with(&format!("/v1/ranking/{period}/")),
            "{query:?}"
        );
    }
    let standing = StandingRequest::parse(kind, period, user, query, config, today);
    assert_documented_error(period, standing.as_ref().err());
    if let Ok(standing) = &standing {
        check_board_id(standing.board());
        assert!(is_id(user), "{user:?}");
        let arguments = checked_arguments("ar", &Pipeline::new(vec![board_command(standing)]));
        assert_eq!(arguments[0][0], user);
    }
    let comparison = ComparisonRequest::parse(kind, period, query, config, today);
    assert_documented_error(period, comparison.as_ref().err());
    if let Ok(comparison) = &comparison {
        check_board_id(comparison.board());
        if let Some(user) = &comparison.followed_by {
            let call = friends_call(
                config,
                &KEYS,
                comparison.board(),
                user,
                &RelatedBoards::default(),
            );
            let arguments = checked_arguments("ar", &Pipeline::new(vec![call]));
            assert!(is_id(user) && arguments[0] == [user.as_str()], "{query:?}");
            return;
        }
        let arguments = checked_arguments("ar", &Pipeline::new(vec![board_command(comparison)]));
        assert!((1..=100).contains(&arguments[0].len()), "{query:?}");
        assert!(arguments[0].iter().all(|id| is_id(id)), "{query:?}");
    }
}

fn board_command(request: &dyn BoardRequest) -> Command {
    let previous = request.previous_board();
    let related = RelatedBoards {
        previous: previous.as_ref(),
        known: &[],
        all_time: false,
    };
    call(&CONFIG, &KEYS, request.board(), &request.query(), &related)
}

fn assert_numbers_are_digits(query: &str) {
    for (name, value) in query.split('&').filter_map(|pair| pair.split_once('=')) {
        let value: Vec<u8> = percent_decode_str(value).collect();
        let digits = !value.is_empty() && value.iter().all(u8::is_ascii_digit);
        assert!(digits || !["limit", "offset"].contains(&name), "{query:?}");
    }
}

fn check_board_id(board: &BoardId) {
    assert!(CONFIG.periods.contains(&board.period));
    assert!(board.date <= today());
    assert_eq!(Date::parse(&board.date.to_string()), Some(board.date));
    assert!(board.group.as_deref().is_none_or(is_id));
}

fn assert_documented_error(period: &str, error: Option<&Error>) {
    match error {
        None | Some(Error::InvalidRequest(..)) => {}
        // A disabled period.
        Some(Error::NotFound(_)) => assert!(Period::parse(period).is_some(), "{period:?}"),
        Some(other) => panic!("{other:?}"),
    }
}

fn check_users(user: &str, query: &str) {
    let history = HistoryRequest::parse(user, query, &CONFIG, today());
    assert_documented_error("", history.as_ref().err());
    if let Ok(history) = history {
        assert!(is_id(user), "{user:?}");
        // The profile, and the two spans of 31 days.
        let commands = Pipeline::new(history::commands(&KEYS, &history));
        assert_eq!(checked_arguments("ar", &commands).len(), 3);
    }
    if is_id(user) {
        let call = erasure::call(&CONFIG, &KEYS, "v4", user, None, NOW);
        let arguments = checked_arguments("ar", &Pipeline::new(vec![call]));
        assert_eq!(arguments[0][2], user);
    }
}

/// Asserts that the standings of a user are on a limited number of boards.
fn check_done(user: &str, query: &str) {
    let to_nfc = |text: &str| text.nfc().collect();
    let done = DoneRequest::parse(user, query, &CONFIG.rules, NOW, to_nfc);
    assert_documented_error("", done.as_ref().err());
    if let Ok(done) = done {
        assert!(is_id(user), "{user:?}");
        assert!((1..=100).contains(&done.targets.len()), "{query:?}");
        assert!(done.targets.iter().all(|target| !target.is_empty()));
    }
}

fn check_standings(user: &str, query: &str) {
    let standings = StandingsRequest::parse(user, query, &CONFIG, today(), Vec::new());
    assert_documented_error("", standings.as_ref().err());
    if let Ok(standings) = standings {
        assert!(is_id(user), "{user:?}");
        standings.boards.iter().for_each(check_board_id);
        assert!(
            standings.boards.len() <= 10 * CONFIG.periods.len(),
            "{query:?}"
        );
        let call = standings_call(&CONFIG, &KEYS, &standings, 0);
        let arguments = checked_arguments("ar", &Pipeline::new(vec![call]));
        assert_eq!(arguments[0][0], user);
        let reversed =
            StandingsRequest::parse(user, &reversed(query), &CONFIG, today(), Vec::new());
        assert_eq!(reversed, Ok(standings));
    }
}

/// Asserts that the normal form of a card, which is the cache key, has the same meaning.
fn check_card(format: CardFormat, user: &str, query: &str) {
    let card = CardRequest::parse(format, user, query, &CONFIG, today());
    assert_documented_error("", card.as_ref().err());
    if let Ok(card) = card {
        assert!(is_id(user), "{user:?}");
        assert!(card.picture_type().is_some() || query.trim_matches('&').is_empty());
        let normal = card.normal_form();
        let (path, normal_query) = normal.split_once('?').unwrap_or((&normal, ""));
        let (route, [value, _]) = table::find(path).expect("a route");
        assert_eq!((route.pattern, value.as_str()), (format.pattern(), user));
        let reparsed = CardRequest::parse(format, user, normal_query, &CONFIG, today());
        assert_eq!(reparsed.map(|card| card.normal_form()), Ok(normal));
    }
}

fn check_audit_log(query: &str) {
    let audit = AuditRequest::parse(query);
    assert_documented_error("", audit.as_ref().err());
    if let Ok(audit) = audit {
        let arguments = checked_arguments(
            "ar",
            &Pipeline::new(vec![moderation::audit_call(&KEYS, &audit, 0)]),
        );
        let [from, limit] = arguments[0].as_slice() else {
            panic!("{arguments:?}");
        };
        let id = |from: &str| from.chars().all(|c| c.is_ascii_digit() || c == '-');
        assert!(
            from == "+" || from.strip_prefix('(').is_some_and(id),
            "{query:?}"
        );
        assert!(
            (1..=100).contains(&limit.parse::<u32>().expect("a number")),
            "{query:?}"
        );
    }
}

/// Asserts that the week has begun, and that the normal form has the same meaning.
fn check_digest(week: &str) {
    let digest = DigestRequest::parse(week, &CONFIG, today());
    assert_documented_error("", digest.as_ref().err());
    if let Ok(digest) = digest {
        assert!(digest.first <= today(), "{week:?}");
        assert_eq!(digest.normal_form(), format!("/v1/digest/{week}"));
    }
}

/// Asserts that the days are in order and limited, and that the normal form has the same meaning.
fn check_stats(query: &str) {
    let stats = StatsRequest::parse(query, today());
    assert_documented_error("", stats.as_ref().err());
    if let Ok(stats) = stats {
        assert!(stats.from <= stats.to && stats.to <= today(), "{query:?}");
        assert!(stats.to.days_since(stats.from) < 366, "{query:?}");
        let normal = stats.normal_form();
        let (_, normal_query) = normal.split_once('?').expect("a query");
        assert_eq!(StatsRequest::parse(normal_query, today()), Ok(stats));
        let boards = stats.boards(&CONFIG);
        let call = totals_call(&KEYS, &boards);
        checked_arguments("ar", &Pipeline::new(vec![call]));
    }
}

fn check_journal(query: &str) {
    let page = JournalRequest::parse(query);
    assert_documented_error("", page.as_ref().err());
    if let Ok(page) = page {
        let values = page.statement(&CONFIG).values;
        let (after, limit) = (&values[1], &values[2]);
        assert!(after.as_u64() <= Some(u64::from(u32::MAX)), "{query:?}");
        let limit = limit.as_u64().expect("a number");
        assert!((1..=5000).contains(&limit), "{query:?}");
    }
}

fn today() -> Date {
    Date::from_local_millis(NOW.0)
}
