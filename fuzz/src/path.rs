//! Paths and queries: what is taken lies within its limits, whatever way it was written.

use std::sync::LazyLock;

use activity_rank::calendar::{Date, Instant, Period};
use activity_rank::config::{Config, Vars};
use activity_rank::error::Error;
use activity_rank::http::route::Route;
use activity_rank::id::visited_path;
use activity_rank::journal::Page;
use activity_rank::moderation::AuditQuery;
use activity_rank::query::Query;
use activity_rank::ranking::{Board, Comparison, Question, StandingQuery, Which, Winners, command};
use activity_rank::redis::{Command, Pipeline};
use activity_rank::users::{Erasure, History};
use percent_encoding::{NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use serde_json::json;

use super::ids::is_id;
use super::keys;

/// 2026-11-20T08:00:00Z, a Friday
const NOW: Instant = Instant(1_795_161_600_000);

static CONFIG: LazyLock<Config> = LazyLock::new(|| {
    let vars = json!({"UPSTASH_REDIS_REST_URL": "https://store", "UPSTASH_REDIS_REST_TOKEN": "token",
        "PERIODS": "day,month,all"});
    Config::read(&Vars::new(vars.as_object().expect("a table").clone())).expect("valid")
});

/// Reads any text as a path, with a query behind a `?`, as both the URL of a request and the
/// target of a visit.
pub fn check(input: &[u8]) {
    let Ok(text) = str::from_utf8(input) else {
        return;
    };
    if text.starts_with('/') {
        visited(text);
    }
    let (path, query) = text.split_once('?').unwrap_or((text, ""));
    parsed(query);
    routed(path, query);
}

/// The normal form of a visit's target: one for all ways to link to a page.
pub fn visited(target: &str) -> &str {
    let form = visited_path(target);
    assert!(
        target.starts_with(form) && form.starts_with('/'),
        "{target:?}: {form:?}"
    );
    assert!(!form.contains(['?', '#']), "{target:?}: {form:?}");
    // One slash at the end is dropped and no more: `/a//` is another page than `/a/`.
    for link in ["/", "/?a=/", "/#/"] {
        let link = format!("{form}{link}");
        assert_eq!(visited_path(&link), form, "{link:?}");
    }
    if form == "/" || !form.ends_with('/') {
        for link in ["", "?", "#", "?/#a"] {
            let link = format!("{form}{link}");
            assert_eq!(visited_path(&link), form, "{link:?}");
        }
    }
    form
}

fn routed(path: &str, query: &str) {
    let route = match Route::of(path) {
        Ok(route) => route,
        Err(error) => return assert_eq!(error.status(), 404, "{path:?}"),
    };
    let written = match &route {
        Route::Page => "/".to_owned(),
        Route::Docs => "/docs".to_owned(),
        Route::Health => "/healthz".to_owned(),
        Route::OpenApi => "/openapi.json".to_owned(),
        Route::Activity => "/v1/activity".to_owned(),
        Route::Ranking(period) => format!("/v1/ranking/{}", encoded(period)),
        Route::Winners(period) => format!("/v1/ranking/{}/winners", encoded(period)),
        Route::Live(period) => format!("/v1/ranking/{}/live", encoded(period)),
        Route::Comparison(period) => format!("/v1/ranking/{}/users", encoded(period)),
        Route::Standing(period, user) => {
            format!("/v1/ranking/{}/users/{}", encoded(period), encoded(user))
        }
        Route::Profiles => "/v1/users".to_owned(),
        Route::Profile(user) => format!("/v1/users/{}", encoded(user)),
        Route::History(user) => format!("/v1/users/{}/activity", encoded(user)),
        Route::Verdict(user) => format!("/v1/users/{}/moderation", encoded(user)),
        Route::Adjustments(user) => format!("/v1/users/{}/adjustments", encoded(user)),
        Route::Audit => "/v1/moderation".to_owned(),
        Route::Journal => "/v1/journal".to_owned(),
    };
    assert_eq!(Route::of(&written), Ok(route.clone()), "{path:?}");
    // An encoded slash parts nothing.
    let slashes = |path: &str| path.matches('/').count();
    assert_eq!(slashes(path), slashes(&written), "{path:?}");
    for method in ["GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "get", ""] {
        let listed = route.allow().split(", ").any(|known| known == method);
        assert_eq!(route.check(method).is_ok(), listed, "{method} {path:?}");
    }
    match &route {
        Route::Ranking(period)
        | Route::Winners(period)
        | Route::Live(period)
        | Route::Comparison(period) => ranking(period, "42", query),
        Route::Standing(period, user) => ranking(period, user, query),
        Route::Profile(user)
        | Route::History(user)
        | Route::Verdict(user)
        | Route::Adjustments(user) => users(user, query),
        Route::Audit => audit(query),
        Route::Journal => journal(query),
        // The page takes none; here its query stands for that of a board.
        Route::Page => ranking("day", "42", query),
        Route::Health | Route::OpenApi | Route::Docs | Route::Activity | Route::Profiles => {}
    }
}

fn encoded(text: &str) -> String {
    utf8_percent_encode(text, NON_ALPHANUMERIC).to_string()
}

/// Each parameter keeps to its range also where the query as a whole is refused.
fn parsed(text: &str) {
    let today = today();
    let known = ["limit", "date", "group", "ids"];
    let mut query = Query::parse(text, &known);
    assert!(
        (1..=100).contains(&query.whole("limit", 1..=100, 30)),
        "{text:?}"
    );
    assert!(query.date(today) <= today, "{text:?}");
    assert!(query.group().is_none_or(|group| is_id(&group)), "{text:?}");
    let ids = query.ids();
    let repeated = |(place, id): (usize, &String)| ids[..place].contains(id);
    assert!(
        ids.len() <= 100 && ids.iter().all(|id| is_id(id)),
        "{text:?}"
    );
    assert!(!ids.iter().enumerate().any(repeated), "{text:?}");
    if query.finish().is_ok() {
        let given = text.split('&').filter(|pair| !pair.is_empty()).count();
        assert!(given <= known.len(), "{text:?}");
    }
}

/// What is taken is taken the same in any order.
fn reversed(query: &str) -> String {
    query.split('&').rev().collect::<Vec<_>>().join("&")
}

fn ranking(period: &str, user: &str, query: &str) {
    let (config, today) = (&*CONFIG, today());
    let board = Board::read(period, query, config, today);
    refused_as_documented(period, board.as_ref().err());
    if let Ok(board) = &board {
        which(&board.which);
        let arguments = keys::all_under("ar", &Pipeline::new(vec![question(board)]));
        let number = |place: usize| arguments[0][place].parse::<u32>().expect("a number");
        let (offset, limit) = (number(0), number(1));
        numbers_are_digits(query);
        assert!((1..=100).contains(&limit) && offset <= 100_000, "{query:?}");
        assert_eq!(
            Board::read(period, &reversed(query), config, today).as_ref(),
            Ok(board)
        );
        // The words under which the answer is cached ask the same question.
        let normal = board.normal_form();
        let (_, question) = normal.split_once('?').expect("a query");
        let question = format!("{question}&date={}", board.which.date);
        let again = Board::read(board.which.period.name(), &question, config, today);
        assert_eq!(again.as_ref(), Ok(board), "{query:?}");
        assert_eq!(again.map(|again| again.normal_form()), Ok(normal));
    }
    let live = Board::watched(period, query, config, today);
    refused_as_documented(period, live.as_ref().err());
    if let Ok(live) = &live {
        which(&live.which);
        assert!((1..=100).contains(&live.limit()), "{query:?}");
        // The object is asked the same question.
        let asked = live.live_form();
        let (path, asked) = asked.split_once('?').expect("a query");
        assert_eq!(Route::of(path), Ok(Route::Live(period.to_owned())));
        let again = Board::watched(period, asked, config, today);
        assert_eq!(again.as_ref(), Ok(live), "{query:?}");
    }
    let winners = Winners::read(period, query, config, today);
    refused_as_documented(period, winners.as_ref().err());
    if let Ok(winners) = &winners {
        let arguments = keys::all_under("ar", &Pipeline::new(vec![winners.command(config, 0)]));
        assert_eq!(arguments[0], ["3"]);
        let normal = winners.normal_form();
        assert!(
            normal.starts_with(&format!("/v1/ranking/{period}/")),
            "{query:?}"
        );
    }
    let standing = StandingQuery::read(period, user, query, config, today);
    refused_as_documented(period, standing.as_ref().err());
    if let Ok(standing) = &standing {
        which(&standing.which);
        assert!(is_id(user), "{user:?}");
        let arguments = keys::all_under("ar", &Pipeline::new(vec![question(standing)]));
        assert_eq!(arguments[0][0], user);
    }
    let comparison = Comparison::read(period, query, config, today);
    refused_as_documented(period, comparison.as_ref().err());
    if let Ok(comparison) = &comparison {
        which(&comparison.which);
        let arguments = keys::all_under("ar", &Pipeline::new(vec![question(comparison)]));
        assert!((1..=100).contains(&arguments[0].len()), "{query:?}");
        assert!(arguments[0].iter().all(|id| is_id(id)), "{query:?}");
    }
}

fn question(question: &dyn Question) -> Command {
    command(&CONFIG, question.which(), &question.lookup(), 0)
}

fn numbers_are_digits(query: &str) {
    for (name, value) in query.split('&').filter_map(|pair| pair.split_once('=')) {
        let value: Vec<u8> = percent_decode_str(value).collect();
        let digits = !value.is_empty() && value.iter().all(u8::is_ascii_digit);
        assert!(digits || !["limit", "offset"].contains(&name), "{query:?}");
    }
}

fn which(which: &Which) {
    assert!(CONFIG.periods.contains(&which.period));
    assert!(which.date <= today());
    assert_eq!(Date::parse(&which.date.to_string()), Some(which.date));
    assert!(which.group.as_deref().is_none_or(is_id));
}

fn refused_as_documented(period: &str, error: Option<&Error>) {
    match error {
        None | Some(Error::InvalidRequest(..)) => {}
        // Switched off.
        Some(Error::NotFound(_)) => assert!(Period::parse(period).is_some(), "{period:?}"),
        Some(other) => panic!("{other:?}"),
    }
}

fn users(user: &str, query: &str) {
    let history = History::read(user, query, today());
    refused_as_documented("", history.as_ref().err());
    if let Ok(history) = history {
        assert!(is_id(user), "{user:?}");
        // The profile, and the two spans that 31 days lie in.
        let commands = Pipeline::new(history.commands(&CONFIG.keys_of(user)));
        assert_eq!(keys::all_under("ar", &commands).len(), 3);
    }
    let erasure = Erasure::read(user, query, NOW);
    refused_as_documented("", erasure.as_ref().err());
    if let Ok(erasure) = erasure {
        assert!(
            is_id(user) && query.chars().all(|c| c == '&'),
            "{user:?} {query:?}"
        );
        let names = ["{ar:0}bd:2026-11-20", "2026-11-20"].map(str::to_owned);
        let arguments =
            keys::all_under("ar", &Pipeline::new(vec![erasure.command(&names, &CONFIG)]));
        assert_eq!(arguments[0][2], user);
    }
}

fn audit(query: &str) {
    let audit = AuditQuery::read(query);
    refused_as_documented("", audit.as_ref().err());
    if let Ok(audit) = audit {
        let arguments = keys::all_under("ar", &Pipeline::new(vec![audit.command(&CONFIG, 0)]));
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

fn journal(query: &str) {
    let page = Page::read(query);
    refused_as_documented("", page.as_ref().err());
    if let Ok(page) = page {
        let statement = json!(page.statement(&CONFIG));
        let (after, limit) = (&statement[1][1], &statement[1][2]);
        assert!(after.as_u64() <= Some(u64::from(u32::MAX)), "{query:?}");
        let limit = limit.as_u64().expect("a number");
        assert!((1..=5000).contains(&limit), "{query:?}");
    }
}

fn today() -> Date {
    Date::of_local_millis(NOW.0)
}
