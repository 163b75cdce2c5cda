//! To others, a hidden member looks like one that never existed, on every route: status, headers, body, the units of the
//! read limit and the requests to the store.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};

use test_support::{Answer, Forwarder, Method, Value, depth, json, until};

use crate::app::TestApp;
use crate::bodies::{activity, like, undo, with};
use crate::client::Client;
use crate::document::{document, fits};
use crate::events::Event;
use crate::live::board_reads;
use crate::token::sign::{SECRET, claims, hs256};

/// Reads that an address may send in a minute.
const LIMIT: usize = 3;

/// Members of the same length, so that responses have the same: two hidden ones, an account of each, one erased, and one that
/// never existed.
const HIDDEN: [&str; 2] = ["moderated-1", "opted-out-1"];
const ACCOUNTS: [&str; 2] = ["account-of1", "account-of2"];
const ERASED: &str = "the-erased1";
const UNKNOWN: &str = "the-unknown";

/// Routes about one member: `{}` is the member.
const READS: [&str; 40] = [
    "/v1/users/{}",
    "/v1/users/{}?a=1",
    "/v1/users/{}/activity",
    "/v1/users/{}/activity?days=7",
    "/v1/users/{}/activity?days=0",
    "/v1/users/{}/activity?year=2026",
    "/v1/users/{}/points",
    "/v1/users/{}/points?refused=true",
    "/v1/users/{}/done?action=follow&targets=friend",
    "/v1/users/{}/standings",
    "/v1/users/{}/standings?friends=true",
    "/v1/users/{}/targets",
    "/v1/users/{}/targets?limit=1&after=x",
    "/v1/users/{}/achievements",
    "/v1/users/{}/achievements/commenter/credential",
    "/v1/users/{}/card",
    "/v1/users/{}/card?period=all",
    "/v1/users/{}/card.svg",
    "/u/{}/share.svg",
    "/u/{}/2026",
    "/v1/users/{}/badge.svg",
    "/v1/users/{}/moderation",
    "/v1/users/{}/account",
    "/v1/users/{}/pause",
    "/u/{}",
    "/v1/ranking/day/users/{}",
    "/v1/ranking/all/users/{}?around=25&movement=true",
    "/v1/ranking/all/users/{}?group=eu&around=1",
    "/v1/ranking/all/users?ids={}",
    "/v1/ranking/week/users?ids=shown,{}&movement=true",
    "/v1/ranking/all/users?ids={},shown&group=eu",
    "/v1/ranking/all/users?followed_by={}",
    "/v1/authors/day/users/{}",
    "/v1/authors/all/users/{}?around=2",
    "/v1/events/cup/ranking/users/{}?around=2",
    "/v1/events/cup/ranking/users?ids=shown,{}",
    "/v1/events/cup/ranking/users?followed_by={}",
    "/v1/targets/by-{}",
    "/v1/targets/{}",
    "/v1/targets/by-{}/moderation",
];

/// Boards and lists of all members.
const LISTS: [&str; 21] = [
    "/v1/achievements",
    "/v1/ranking/day?movement=true",
    "/v1/ranking/all?group=eu",
    "/v1/ranking/week/winners",
    "/v1/ranking/all/users/shown?around=25",
    "/v1/ranking/day/users/shown?around=25&movement=true",
    "/v1/authors/day",
    "/v1/authors/all/users/shown?around=25",
    "/v1/content/day",
    "/v1/content/all/targets/of-shown?around=25",
    "/v1/content/hot",
    "/v1/events",
    "/v1/rules",
    "/v1/events/cup",
    "/v1/events/cup/ranking",
    "/v1/events/cup/ranking/users/shown?around=25",
    "/v1/digest/2026-W01",
    "/v1/feed.atom",
    "/v1/feed.json",
    "/v1/users/shown/targets",
    "/v1/users/shown/card",
];

/// Live boards.
const STREAMS: [&str; 6] = [
    "/v1/ranking/day/live",
    "/v1/ranking/day/live?movement=true",
    "/v1/ranking/all/live?group=eu",
    "/v1/authors/day/live",
    "/v1/content/day/live",
    "/v1/events/cup/live",
];

/// Routes of operators, and routes whose responses have no members.
const WITHOUT_MEMBERS: [&str; 24] = [
    "/",
    "/admin",
    "/docs",
    "/gallery",
    "/healthz",
    "/metrics",
    "/openapi.json",
    "/site.webmanifest",
    "/status",
    "/try",
    "/v1/cases",
    "/v1/cases/{id}",
    "/v1/content/counts",
    "/v1/issuer",
    "/v1/issuer/keys",
    "/v1/issuer/keys/{key}",
    "/v1/journal",
    "/v1/moderation",
    "/v1/rules/preview",
    "/v1/stats",
    "/v1/status",
    "/v1/syncs",
    "/v1/token",
    "/v1/webhooks/deliveries",
];

/// Fills a deployment. All members but the unknown one have a profile, followers and points on every board.
async fn start() -> (TestApp, Forwarder) {
    let (app, forwarder) = TestApp::behind_forwarder(|worker| {
        let worker = worker.var("JWT_SECRET", SECRET).journal().live();
        let worker = worker.var("CONTENT_PERIODS", "day,all");
        let worker = worker.var("ALLOWED_ORIGINS", "https://community.example");
        worker.limit("READ_LIMIT", u32::try_from(LIMIT).expect("a limit"))
    });
    let mut event = Event::new("cup");
    event.begin(&app, &mut app.store()).await;
    for user in ["shown"].into_iter().chain(HIDDEN).chain([ERASED]) {
        let profile = json!({"name": format!("Name of {user}"), "public_activity": true});
        app.put_profile(user, profile).await;
        let target = json!([{"id": format!("of-{user}"), "author": user}]);
        app.write("/v1/targets", &target).await;
        for (action, target) in [("follow", "friend"), ("comment", "c"), ("publish", "p")] {
            let body = json!({"user": user, "action": action, "target": target});
            let body = with(body, json!({"groups": ["eu"]}));
            app.counted(body).await;
        }
        app.counted(like("reader", &format!("of-{user}"))).await;
        app.count("reader", "follow", user).await;
    }
    // Only a hidden author differs from these targets without one.
    for (account, member) in ACCOUNTS.into_iter().zip(HIDDEN) {
        let path = format!("/v1/users/{account}/account");
        app.write(&path, &json!({"of": member})).await;
    }
    let without_posts = [UNKNOWN, ACCOUNTS[0], ACCOUNTS[1]];
    let authors = HIDDEN.into_iter().chain([ERASED]).chain(without_posts);
    for user in authors {
        let mut target = json!({"id": format!("by-{user}"), "title": "A post"});
        if !without_posts.contains(&user) {
            target["author"] = json!(user);
        }
        app.write("/v1/targets", &json!([target])).await;
    }
    app.worker.minute().await;
    app.moderate(HIDDEN[0], true, false).await;
    let body = json!({"name": "Name of a member", "hidden": true, "public_activity": true});
    app.put_profile(HIDDEN[1], body).await;
    app.erase(ERASED).await;
    // Targets on other shards lose their author after the response.
    app.worker.minute().await;
    (app, forwarder)
}

/// Returns an address that has sent nothing.
fn new_address() -> String {
    static LAST: AtomicUsize = AtomicUsize::new(0);
    let number = LAST.fetch_add(1, Ordering::Relaxed);
    format!("198.51.{}.{}", number / 250, number % 250)
}

/// What a caller can tell of a response: all of it, without the id of the member, and what it cost.
#[derive(Debug, PartialEq)]
struct Seen {
    status: u16,
    headers: BTreeMap<String, String>,
    text: String,
    /// Units of the read limit.
    units: usize,
    store_requests: usize,
}

/// Returns the headers of a response. The hash of a body with the member's id is another one.
fn headers_of(answer: &Answer, member: &str) -> BTreeMap<String, String> {
    let headers = answer
        .headers
        .iter()
        .filter(|(name, _)| !["x-request-id", "date"].contains(&name.as_str()));
    let text = |name: &str, value: &str| match name {
        "etag" => "a tag".to_owned(),
        _ => value.replace(member, "{}"),
    };
    headers
        .map(|(name, value)| {
            let value = value.to_str().expect("a text");
            (name.as_str().to_owned(), text(name.as_str(), value))
        })
        .collect()
}

/// Sends a request about a member from an address of its own, and the rest of the address's reads after it.
async fn see(
    client: &Client,
    forwarder: &Forwarder,
    (method, path, body): (&Method, &str, &Value),
    member: &str,
) -> Seen {
    let address = new_address();
    let mut headers = vec![
        ("cf-connecting-ip", address.as_str()),
        ("origin", "https://community.example"),
    ];
    let mut text = String::new();
    if !body.is_null() {
        headers.push(("content-type", "application/json"));
        text = body.to_string().replace("{}", member);
    }
    forwarder.reset();
    let path = path.replace("{}", member);
    let answer = client.send(method.clone(), &path, text, &headers).await;
    let store_requests = forwarder.count();
    let mut left = 0;
    for _ in 0..LIMIT {
        // Counted, and then refused without a request to the store.
        let invalid = "/v1/ranking/day?limit=0";
        let anonymous = client.without_key();
        let rest = anonymous.send(Method::GET, invalid, "", &headers[..1]);
        if rest.await.status != 400 {
            break;
        }
        left += 1;
    }
    Seen {
        status: answer.status,
        headers: headers_of(&answer, member),
        text: answer.text.replace(member, "{}"),
        units: LIMIT - left,
        store_requests,
    }
}

/// Asserts to so many callers that a request about each hidden member, and of the erased one, looks like that of the
/// unknown one. A request about an account does too, but takes more requests to the store.
async fn assert_alike(
    app: &TestApp,
    forwarder: &Forwarder,
    request: (&Method, &str, &Value),
    count: usize,
) {
    let callers = [
        ("another member", app.with_key(&hs256(&claims("reader")))),
        ("anonymous", app.without_key()),
        ("an invalid token", app.with_key("a.b.c")),
    ];
    for (caller, client) in callers.into_iter().take(count) {
        let mut unknown = see(&client, forwarder, request, UNKNOWN).await;
        // Both ways of hiding in turn: the path decides.
        let one = request.1.len() % 2;
        let few = [HIDDEN[one], ACCOUNTS[1 - one], ERASED];
        let all = [HIDDEN[0], HIDDEN[1], ACCOUNTS[0], ACCOUNTS[1], ERASED];
        for member in depth(&few[..], &all).iter().copied() {
            let mut seen = see(&client, forwarder, request, member).await;
            // The limiter may begin a new minute between two reads, and shards may need a first request.
            for _ in 0..2 {
                if ACCOUNTS.contains(&member) {
                    seen.store_requests = unknown.store_requests;
                }
                if seen == unknown {
                    break;
                }
                unknown = see(&client, forwarder, request, UNKNOWN).await;
                seen = see(&client, forwarder, request, member).await;
            }
            let place = format!("{caller}, {} {} of {member}", request.0, request.1);
            assert_eq!(seen, unknown, "{place}");
        }
    }
}

#[tokio::test]
async fn hidden_member_reads_like_an_unknown_one() {
    let (app, forwarder) = start().await;
    for path in READS {
        for (method, callers) in [(Method::GET, depth(2, 3)), (Method::HEAD, depth(1, 3))] {
            let request = (&method, path, &Value::Null);
            assert_alike(&app, &forwarder, request, callers).await;
        }
    }
}

#[tokio::test]
async fn writes_reveal_no_hidden_member() {
    let (app, forwarder) = start().await;
    let adjustment = json!({"id": "a", "points": 1, "reason": "A test"});
    let member_like = json!({"user": "{}", "action": "like", "target": "q"});
    let writes = [
        (Method::PUT, "/v1/users/{}", json!({"name": "Eve"})),
        (Method::PUT, "/v1/users/{}", json!({"hidden": false})),
        (
            Method::PUT,
            "/v1/users",
            json!([{"id": "{}", "name": "Eve"}]),
        ),
        (Method::DELETE, "/v1/users/{}", Value::Null),
        (
            Method::PUT,
            "/v1/users/{}/moderation",
            json!({"hidden": false, "frozen": false, "reason": "A test"}),
        ),
        (Method::POST, "/v1/users/{}/adjustments", adjustment),
        (Method::POST, "/v1/activity", member_like.clone()),
        (Method::POST, "/v1/activity", json!([member_like])),
        (
            Method::POST,
            "/v1/activity",
            undo(activity("reader", "follow", "new-{}")),
        ),
        (Method::POST, "/v1/activity", undo(like("reader", "new-{}"))),
        (Method::PUT, "/v1/targets/by-{}", json!({"author": "{}"})),
    ];
    for (method, path, body) in writes {
        assert_alike(&app, &forwarder, (&method, path, &body), depth(2, 3)).await;
    }
}

#[tokio::test]
async fn lists_name_no_hidden_member() {
    let (app, _forwarder) = start().await;
    for path in LISTS {
        let address = new_address();
        let headers = [("cf-connecting-ip", address.as_str())];
        let anonymous = app.without_key();
        let response = anonymous.send(Method::GET, path, "", &headers).await;
        response.assert_status(200);
        assert!(response.text.len() > 2, "{path}");
        assert_no_name(path, &response.text);
    }
}

/// Activity of a hidden member changes no board and sends no event.
#[tokio::test]
async fn live_boards_omit_hidden_members() {
    let (app, forwarder) = start().await;
    let mut streams = Vec::new();
    for path in STREAMS {
        let address = new_address();
        let headers = [("cf-connecting-ip", address.as_str())];
        let mut stream = app.worker.api().stream(path, &headers).await;
        let board = stream.event().await;
        assert_no_name(path, &board.data);
        let score = score_of_shown(&board);
        assert!(score.is_number(), "{path}: {}", board.data);
        streams.push((path, stream, score));
    }
    forwarder.reset();
    let comment = |user: &str, target: &str| {
        with(activity(user, "comment", target), json!({"groups": ["eu"]}))
    };
    for user in HIDDEN {
        app.counted(comment(user, "d")).await;
    }
    // The boards of the day, of the group and of the event.
    let done = async || (board_reads(&forwarder).len() >= 3).then_some(());
    until("reads of three boards", done).await;
    let changes = json!([comment("shown", "d"), undo(like("reader", "of-shown"))]);
    let changed = app.post("/v1/activity", &changes).await;
    changed.assert_status(200);
    for (path, mut stream, score) in streams {
        // An event about the comments of hidden members would precede this one.
        let board = stream.event().await;
        assert_no_name(path, &board.data);
        assert_ne!(score_of_shown(&board), score, "{path}: {}", board.data);
    }
}

/// Returns the score of `shown`, or of its target, on a live board.
fn score_of_shown(board: &test_support::Event) -> Value {
    let board = board.json();
    let entries = board["entries"].as_array().expect("entries");
    let is_shown =
        |entry: &&Value| entry["user"]["id"] == "shown" || entry["target"]["id"] == "of-shown";
    entries
        .iter()
        .find(is_shown)
        .map_or(Value::Null, |entry| entry["score"].clone())
}

#[test]
fn tables_list_every_read() {
    let listed = READS.into_iter().chain(LISTS).chain(STREAMS);
    let listed = listed.map(|path| path.split('?').next().unwrap_or(path));
    let listed: Vec<&str> = listed.collect();
    let reads = document().paths();
    let reads = reads.filter(|(_, item)| item.get("get").is_some());
    for (template, _) in reads {
        let is_listed = listed.iter().any(|path| fits(template, path));
        assert!(
            is_listed != WITHOUT_MEMBERS.contains(&template),
            "{template}"
        );
    }
}

/// Asserts that a text names no hidden or erased member, except in the ids of targets.
#[track_caller]
fn assert_no_name(path: &str, text: &str) {
    for member in HIDDEN.into_iter().chain([ERASED]) {
        let named = text.replace(&format!("of-{member}"), "");
        let named = named.replace(&format!("by-{member}"), "");
        assert!(!named.contains(member), "{member} in {path}: {text}");
    }
}
