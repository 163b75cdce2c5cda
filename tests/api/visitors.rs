//! Readers without an account: `POST /v1/visitors`, their activity, and the numbers that buttons show.

use std::collections::BTreeSet;

use futures::future::join_all;
use test_support::{
    Answer, Fault, Forwarder, Gateway, Method, RedisOptions, RedisServer, Value, WorkerBuilder,
    json, until,
};

use crate::app::TestApp;
use crate::bodies::{activity, dated, each, like, undo, with};
use crate::client::{Client, JSON};
use crate::clock::{day, noon};
use crate::problem::{field_error, problem};
use crate::store::take_commands;
use crate::token::sign::{SECRET, claims, encoded, hmac, hs256};

const KEY: &str = "another secret of thirty-two bytes";

/// The visitors of an address and day.
const PER_ADDRESS: usize = 5;

fn start() -> TestApp {
    TestApp::with(visitors)
}

fn visitors(worker: WorkerBuilder) -> WorkerBuilder {
    let rules = json!({"helpful": {"points": 1, "received": 0}, "wave": {"points": 1}});
    let worker = worker.var("CONTENT_PERIODS", "day,all").cron();
    let worker = worker.json("RULES", rules).var("JWT_SECRET", SECRET);
    let worker = worker.var("BOARD_MAX_AGE", "0").var("VISITOR_KEY", KEY);
    worker.var("VISITORS", "like,helpful")
}

/// Requests a visitor from an address.
async fn request_visitor(app: &Client, address: &str, body: Value) -> Answer {
    let headers = [JSON, &[("cf-connecting-ip", address)]].concat();
    let client = app.without_key();
    client
        .send(Method::POST, "/v1/visitors", body.to_string(), &headers)
        .await
}

/// A visitor and a client with the visitor's token.
struct Visitor {
    id: String,
    token: String,
    client: Client,
}

impl Visitor {
    async fn new(app: &Client, address: &str) -> Self {
        let response = request_visitor(app, address, json!({})).await;
        Self::of(app, response.assert_status(200))
    }

    fn of(app: &Client, response: &Answer) -> Self {
        let text = |name: &str| response.body[name].as_str().expect("text").to_owned();
        let token = text("token");
        Self {
            id: text("visitor"),
            client: app.with_key(&token),
            token,
        }
    }

    async fn counted(&self, action: &str, target: &str) -> Value {
        self.outcome(action, target, "counted").await
    }

    async fn outcome(&self, action: &str, target: &str, expected: &str) -> Value {
        let sent = activity(&self.id, action, target);
        self.client.outcome(sent, expected).await
    }
}

async fn register(app: &Client, target: &str) {
    let (path, body) = (format!("/v1/targets/{target}"), json!({"author": "9"}));
    app.write(&path, &body).await;
}

/// Returns the response with the numbers of targets, after every receiver has received.
async fn counts(app: &TestApp, query: &str) -> Value {
    let mut store = app.store();
    until("all receivers", async || {
        app.minute().await;
        (store.waiting() == 0).then_some(())
    })
    .await;
    let path = format!("/v1/content/counts{query}");
    app.without_key().read(&path).await["targets"].clone()
}

fn numbers(target: &str, counts: Value) -> Value {
    json!([{"target": target, "counts": counts}])
}

/// Asserts that no board of members or authors has anybody.
async fn assert_no_members(app: &TestApp) {
    for path in ["/v1/ranking/all", "/v1/ranking/day", "/v1/authors/all"] {
        assert_eq!(app.read(path).await["entries"], json!([]), "{path}");
    }
}

const OFF: &str = "This deployment has no visitors: VISITORS is not set.";

#[tokio::test]
async fn visitors_are_off_by_default() {
    let app = TestApp::with(|worker| worker.var("CONTENT_PERIODS", "all").without("VISITORS"));
    let off = problem("not-found", OFF);
    request_visitor(&app, "192.0.2.1", json!({}))
        .await
        .assert(404, off.clone());
    let response = app.get("/v1/content/counts?targets=post-7").await;
    response.assert(404, off);
    let key = app.with_key(&format!("visitor:{}.{}", "A".repeat(22), "A".repeat(43)));
    let response = key.send_activity(like("42", "post-7")).await;
    response.assert_status(401);
}

#[tokio::test]
async fn visitor_counts_for_content_alone() {
    let app = start();
    register(&app, "post-7").await;
    let visitor = Visitor::new(&app, "192.0.2.1").await;
    // The target receives nothing later, so the answer must not be that the activity counted.
    let unregistered = visitor
        .client
        .send_activity(like(&visitor.id, "post-8"))
        .await;
    let detail = "The target is not registered: register it with PUT /v1/targets. Activity of readers without an \
        account counts for its target alone.";
    unregistered.assert(404, problem("not-found", detail));
    register(&app, "post-8").await;
    visitor.counted("like", "post-8").await;
    visitor.outcome("like", "post-8", "duplicate").await;
    app.delete("/v1/targets/post-8").await.assert_status(204);
    let counted = visitor.counted("like", "post-7").await;
    assert_eq!(counted, json!({"outcome": "counted", "points": 2}));
    visitor.outcome("like", "post-7", "duplicate").await;
    app.count("42", "like", "post-7").await;
    let number = |like: u32| numbers("post-7", json!({"helpful": 0, "like": like}));
    assert_eq!(counts(&app, "?targets=post-7").await, number(2));
    let board = app.read("/v1/content/all").await;
    assert_eq!(board["entries"][0]["score"], 4);
    // The author receives the points of the member alone.
    let authors = app.read("/v1/authors/all").await;
    assert_eq!(authors["entries"][0]["score"], 2);
    let members = app.read("/v1/ranking/all").await;
    let expected = json!([{"rank": 1, "score": 2, "user": {"id": "42"}}]);
    assert_eq!(members["entries"], expected);

    let done = format!("/v1/users/{}/done?action=like&targets=post-7", visitor.id);
    let state = |done| json!({"action": "like", "targets": [{"target": "post-7", "done": done}]});
    visitor.client.assert_get(&done, state(true)).await;
    let sent = undo(like(&visitor.id, "post-7"));
    let undone = visitor.client.outcome(sent.clone(), "undone").await;
    assert_eq!(undone, json!({"outcome": "undone", "points": -2}));
    visitor.client.outcome(sent, "nothing-to-undo").await;
    visitor.client.assert_get(&done, state(false)).await;
    assert_eq!(counts(&app, "?targets=post-7").await, number(1));
    app.outcome(undo(like("42", "post-7")), "undone").await;
    assert_eq!(counts(&app, "?targets=post-7").await, number(0));
    assert_no_members(&app).await;
}

/// An action without received points leaves the boards of content alone.
#[tokio::test]
async fn action_without_points_is_counted() {
    let app = start();
    register(&app, "post-7").await;
    register(&app, "post-8").await;
    let visitor = Visitor::new(&app, "192.0.2.1").await;
    visitor.counted("helpful", "post-7").await;
    app.count("42", "helpful", "post-7").await;
    app.count("42", "like", "post-8").await;
    let helpful = |number: u32| json!({"helpful": number});
    let only = "?actions=helpful&targets=post-7,none";
    let expected = json!([
        {"target": "post-7", "counts": helpful(2)},
        {"target": "none", "counts": helpful(0)},
    ]);
    assert_eq!(counts(&app, only).await, expected);
    let board = app.read("/v1/content/all").await;
    assert_eq!(board["total"], 1);
    let mut most = counts(&app, "").await;
    let most = most.as_array_mut().expect("targets");
    most.sort_by_key(|row| row["target"].to_string());
    let expected = json!([
        {"target": "post-7", "counts": {"helpful": 2, "like": 0}},
        {"target": "post-8", "counts": {"helpful": 0, "like": 1}},
    ]);
    assert_eq!(json!(most), expected);
    for user in [&*visitor.id, "42"] {
        app.outcome(undo(activity(user, "helpful", "post-7")), "undone")
            .await;
    }
    assert_eq!(
        counts(&app, "?actions=helpful&targets=post-7").await,
        numbers("post-7", helpful(0))
    );
}

#[tokio::test]
async fn invalid_requests_are_refused() {
    let app = start();
    let actions = "each must be one of like, helpful";
    for (query, field, detail) in [
        ("actions=wave", "actions", actions),
        ("actions=", "actions", actions),
        ("targets=a,a", "targets", "must not repeat a target: a"),
        (
            "limit=1",
            "limit",
            "is unknown; expected one of actions, targets",
        ),
    ] {
        let response = app.get(&format!("/v1/content/counts?{query}")).await;
        response.assert(400, field_error(field, detail).body());
    }
    let many = vec!["a"; 101].join(",");
    let response = app.get(&format!("/v1/content/counts?targets={many}")).await;
    let detail = "must be at most 100 targets, not 101";
    response.assert(400, field_error("targets", detail).body());

    let unknown = field_error("turnstile", "is unknown; this route has no parameters");
    for (body, expected) in [
        (json!({"turnstile": "a"}), unknown.body()),
        (
            json!([]),
            problem("invalid-request", "A visitor is a JSON object."),
        ),
    ] {
        request_visitor(&app, "192.0.2.1", body)
            .await
            .assert(400, expected);
    }
    let response = app.send(Method::POST, "/v1/visitors", "{}", &[]).await;
    response.assert_status(415);
    let response = app.get("/v1/visitors").await;
    response.assert_status(405);
}

#[tokio::test]
async fn visitor_may_send_own_actions_only() {
    let app = start();
    register(&app, "post-7").await;
    let visitor = Visitor::new(&app, "192.0.2.1").await;
    let other = Visitor::new(&app, "192.0.2.1").await;
    let own = "A visitor may send activity, and read what of it counts.";
    let liked = || like(&visitor.id, "post-7");
    for (sent, detail) in [
        (like(&other.id, "post-7"), own),
        (like("42", "post-7"), own),
        (
            activity(&visitor.id, "wave", "post-7"),
            "Visitors may not send the action wave.",
        ),
        (
            activity(&visitor.id, "publish", "post-9"),
            "Visitors may not send the action publish.",
        ),
        (
            dated(liked(), noon(1)),
            "Only trusted services may send `at`.",
        ),
        (
            with(liked(), json!({"groups": ["eu"]})),
            "Only trusted services may send `groups`.",
        ),
        (
            with(liked(), json!({"author": "9"})),
            "Only trusted services may send `author`.",
        ),
    ] {
        let response = visitor.client.send_activity(sent).await;
        response.assert(403, problem("forbidden", detail));
    }
    let path = |rest: &str| format!("/v1/users/{}{rest}", visitor.id);
    let client = &visitor.client;
    let forbidden = |detail| problem("forbidden", detail);
    let response = client.delete(&path("")).await;
    response.assert(403, forbidden("Only trusted services may do this."));
    let response = client.get(&path("/account")).await;
    response.assert(403, forbidden(own));
    let response = client.delete(&path("/pause")).await;
    response.assert(403, forbidden(own));
    // A visitor has no profile, no points of a moderator, and no targets.
    let detail = "must not be the id of a visitor";
    let response = client.put(&path(""), &json!({"name": "Ada"})).await;
    response.assert(400, field_error("user", detail).body());
    let response = app.put(&path("/account"), &json!({"of": "42"})).await;
    response.assert(400, field_error("user", detail).body());
    let adjustment = json!({"id": "a", "points": 5, "reason": "A test"});
    let response = app.adjust(&visitor.id, &adjustment).await;
    response.assert(400, field_error("user", detail).body());
    let target = json!({"author": visitor.id});
    let response = app.put("/v1/targets/post-8", &target).await;
    response.assert(400, field_error("author", detail).body());
    // Activity that a service sends for a visitor is on no board either, and registers nothing.
    app.count(&visitor.id, "publish", "post-9").await;
    app.count(&visitor.id, "wave", "post-7").await;
    app.count(&visitor.id, "follow", "9").await;
    app.get("/v1/targets/post-9").await.assert_status(404);
    let expected = numbers("post-7", json!({"like": 0}));
    assert_eq!(counts(&app, "?actions=like&targets=post-7").await, expected);
    assert_no_members(&app).await;
}

/// Neither kind of token is valid as the other one, even if both have one secret.
#[tokio::test]
async fn other_tokens_prove_no_visitor() {
    let app = TestApp::with(|worker| visitors(worker).var("VISITOR_KEY", SECRET));
    let visitor = Visitor::new(&app, "192.0.2.1").await;
    let (id, signature) = visitor.token.split_once('.').expect("a signature");
    assert_eq!(id, visitor.id);
    assert_eq!(signature, encoded(hmac(SECRET)(id.as_bytes())));
    let other = format!("visitor:{}", "A".repeat(22));
    let invalid = "The signature of the visitor's token is invalid.";
    let malformed = "This is neither a known service key nor a user token.";
    let short = encoded(hmac(SECRET)(b"visitor:A"));
    for (token, detail) in [
        (format!("{other}.{signature}"), invalid),
        (format!("{id}."), invalid),
        (format!("{id}.%"), invalid),
        (
            format!("{id}.{}", encoded(hmac(KEY)(id.as_bytes()))),
            invalid,
        ),
        (id.to_owned(), malformed),
        (format!("visitor:A.{short}"), malformed),
    ] {
        let response = app.with_key(&token).send_activity(like(id, "a")).await;
        response.assert(401, problem("unauthenticated", detail));
    }
    let member = app.with_key(&hs256(&claims(id)));
    let response = member.send_activity(like(id, "a")).await;
    let detail = "The user id of this user token must not be the id of a visitor.";
    response.assert(403, problem("forbidden", detail));
}

#[tokio::test]
async fn address_limit_holds_under_racing() {
    let app = start();
    let requests = (0..4 * PER_ADDRESS).map(|_| request_visitor(&app, "192.0.2.7", json!({})));
    let responses = join_all(requests).await;
    let (issued, refused): (Vec<&Answer>, Vec<&Answer>) = responses
        .iter()
        .partition(|response| response.status == 200);
    let ids: BTreeSet<String> = issued
        .iter()
        .map(|response| response.body["visitor"].to_string())
        .collect();
    assert_eq!((issued.len(), ids.len()), (PER_ADDRESS, PER_ADDRESS));
    let detail = "This address has had all of its visitors of the day.";
    for response in refused {
        response.assert(429, problem("rate-limited", detail));
        let seconds = response.header("retry-after").expect("a time").parse();
        assert!((1..=86_400).contains(&seconds.expect("seconds")));
    }
    // Another address has visitors of its own; a /64 network of IPv6 is one address.
    Visitor::new(&app, "192.0.2.8").await;
    for last in 1..=PER_ADDRESS {
        Visitor::new(&app, &format!("2001:db8::{last}")).await;
    }
    let response = request_visitor(&app, "2001:db8::ffff", json!({})).await;
    response.assert_status(429);
    let mut store = app.store();
    let keys = store.full_keys();
    let numbers: Vec<&String> = keys.iter().filter(|key| key.contains("}V:")).collect();
    assert_eq!(numbers.len(), 3);
    for key in numbers {
        assert!(!key.contains("192.0.2") && !key.contains("db8"), "{key}");
        let seconds: i64 = store.run("TTL", &[key]);
        assert!((86_400..=172_800).contains(&seconds), "{seconds}");
    }
}

/// A stand-in for Turnstile accepts one token, once, from one address.
#[tokio::test]
async fn turnstile_checks_new_visitors() {
    let server = Forwarder::to("http://127.0.0.1:1");
    let app = TestApp::with(|worker| {
        let worker = visitors(worker).var("TURNSTILE_SECRET", "the key of the widget");
        worker.var("TURNSTILE_URL", &format!("{}/siteverify", server.url()))
    });
    let mut is_new = true;
    server.fail(move |request| {
        let form: BTreeSet<&[u8]> = request.body.split(|byte| *byte == b'&').collect();
        let expected: [&[u8]; 3] = [
            b"secret=the+key+of+the+widget",
            b"response=good",
            b"remoteip=192.0.2.1",
        ];
        let accepted = request.path == "/siteverify" && form == expected.into() && is_new;
        is_new &= !accepted;
        let body = match accepted {
            true => json!({"success": true, "hostname": "blog.example", "error-codes": []}),
            false => json!({"success": false, "error-codes": ["invalid-input-response"]}),
        };
        Some(Fault::Respond(200, body.to_string()))
    });
    let token = |text: &str| json!({"turnstile": text});
    let missing = field_error("turnstile", "must be the token of a Turnstile widget");
    let long = token(&"a".repeat(2049));
    for body in [json!({}), token(""), json!({"turnstile": 7}), long] {
        let response = request_visitor(&app, "192.0.2.1", body).await;
        response.assert(400, missing.body());
    }
    let refused = problem("forbidden", "Turnstile did not accept the token.");
    let bad = request_visitor(&app, "192.0.2.1", token("bad")).await;
    bad.assert(403, refused.clone());
    let response = request_visitor(&app, "192.0.2.1", token("good")).await;
    let visitor = Visitor::of(&app, response.assert_status(200));
    register(&app, "post-7").await;
    visitor.counted("like", "post-7").await;
    let again = request_visitor(&app, "192.0.2.1", token("good")).await;
    again.assert(403, refused);
    let detail = "Nothing was changed. Retrying the request is safe.";
    for fault in [
        Fault::CutBefore,
        Fault::Respond(500, String::new()),
        Fault::Respond(200, "<html>".to_owned()),
    ] {
        server.fail(move |_| Some(fault.clone()));
        let response = request_visitor(&app, "192.0.2.1", token("good")).await;
        response.assert(503, problem("turnstile-unavailable", detail));
        assert_eq!(response.header("retry-after"), Some("1"));
    }
}

/// Of 200 visitors, 50 repeat, clear their storage, and send at the same time.
#[tokio::test]
async fn cheating_crowd_stays_within_limits() {
    const HONEST: usize = 150;
    const CHEATS: usize = 50;
    let app = start();
    register(&app, "post-7").await;
    let honest = async |number: usize| {
        let visitor = Visitor::new(&app, &format!("198.51.100.{number}")).await;
        visitor.counted("like", "post-7").await;
    };
    let cheat = async |number: usize| {
        let address = format!("203.0.113.{number}");
        let requests = (0..PER_ADDRESS + 2).map(|_| request_visitor(&app, &address, json!({})));
        let issued = join_all(requests).await;
        let issued = issued.iter().filter(|response| response.status == 200);
        let visitors: Vec<Visitor> = issued.map(|response| Visitor::of(&app, response)).collect();
        let likes = visitors.iter().flat_map(|visitor| [visitor; 3]);
        let likes = likes.map(|visitor| visitor.client.send_activity(like(&visitor.id, "post-7")));
        let outcomes = join_all(likes).await;
        let counted = outcomes.iter();
        let counted = counted.filter(|one| one.body["outcome"] == "counted");
        assert_eq!(counted.count(), PER_ADDRESS);
    };
    for first in (0..HONEST).step_by(10) {
        join_all((first..first + 10).map(honest)).await;
    }
    for first in (0..CHEATS).step_by(5) {
        join_all((first..first + 5).map(cheat)).await;
    }
    let expected = json!({"like": HONEST + CHEATS * PER_ADDRESS});
    let expected = numbers("post-7", expected);
    assert_eq!(counts(&app, "?actions=like&targets=post-7").await, expected);
    assert_no_members(&app).await;
}

/// Members are in the numbers of the site, have achievements and cases, and reach levels. Visitors are none.
#[tokio::test]
async fn journal_counts_no_visitor_as_member() {
    let achievements = json!({
        "liker": {"name": "Liker", "count": "like", "steps": [1]},
        "liked": {"name": "Liked", "received": true, "steps": [1]},
        "faithful": {"name": "Faithful", "streak": "days", "steps": [1]},
    });
    let app = TestApp::with(|worker| {
        let worker = visitors(worker).var("SHARDS", "1").journal();
        let worker = worker.var("VISITORS_PER_ADDRESS", "100");
        let worker = worker.json("FAIR_PLAY", json!({}));
        worker.json("ACHIEVEMENTS", achievements)
    });
    for target in ["post-7", "post-8"] {
        register(&app, target).await;
    }
    app.count("42", "like", "post-7").await;
    let mut ids = Vec::new();
    for _ in 0..10 {
        let visitor = Visitor::new(&app, "192.0.2.1").await;
        for target in ["post-7", "post-8"] {
            visitor.counted("like", target).await;
        }
        let sent = undo(like(&visitor.id, "post-8"));
        visitor.client.outcome(sent, "undone").await;
        ids.push(visitor.id);
    }
    app.worker.minute().await;
    app.worker.tick().await;

    // Each entry of a visitor is on no board.
    let journal = app.read("/v1/journal?limit=5000").await;
    let entries = journal["entries"].as_array().expect("entries");
    for id in &ids {
        let likes = entries.iter().filter(|entry| entry["user"] == **id);
        let fields = |entry: &Value| {
            let fields = ["did", "mark", "kinds", "groups", "applied"];
            fields.map(|name| entry[name].as_str().expect("text").to_owned())
        };
        let found: Vec<[String; 5]> = likes.map(fields).collect();
        let entry = |did, target| [did, target, "", "", "0"].map(str::to_owned);
        let expected = [
            entry("count", "like:post-7"),
            entry("count", "like:post-8"),
            entry("undo", "like:post-8"),
        ];
        assert_eq!(found, expected);
    }
    // Their activity counts in the numbers of the site, without points.
    let stats = app.read(&format!("/v1/stats?from={}", day(0))).await;
    let today = json!({"date": day(0).to_string(), "active": 1, "new": 1, "activities": 11, "points": 2,
        "actions": {"like": {"count": 11, "points": 2}}});
    assert_eq!(stats["days"], json!([today]));
    let achievements = app.read("/v1/achievements").await;
    for achievement in achievements["achievements"].as_array().expect("a list") {
        let earned = json!([{"value": 1, "members": 1}]);
        assert_eq!(achievement["steps"], earned, "{achievement}");
    }
    let searched = app.send(Method::POST, "/v1/cases/search", "", &[]).await;
    let none = json!({"complete": true, "opened": 0, "updated": 0, "cut": []});
    searched.assert(200, none);
    for (table, column, members) in [
        ("gifts", "giver", json!(["42"])),
        ("achievement_tallies", "member", json!(["42", "9"])),
        ("achievements_earned", "member", json!(["42", "9"])),
    ] {
        let sql = format!("SELECT DISTINCT {column} AS id FROM {table} ORDER BY id");
        let rows = app.worker.sql(&sql).await;
        assert_eq!(json!(each(&rows, "/id")), members, "{table}");
    }
}

/// A like, a repetition and an undo. The number of likes changes after the response, with what others receive.
#[tokio::test]
async fn member_pays_no_command_for_visitors() {
    let server = RedisServer::spawn(RedisOptions::default());
    let gateway = Gateway::spawn(&server.url());
    let mut redis = server.connection();
    let mut costs = Vec::new();
    for setting in ["false", "like,helpful"] {
        let forwarder = Forwarder::to(&gateway.url());
        let app = TestApp::with(|worker| {
            let worker = visitors(worker).var("VISITORS", setting).var("SHARDS", "1");
            worker.store(&forwarder.url())
        });
        register(&app, "post-7").await;
        // Only what counts reaches the store: receivers follow after the response, at any time.
        forwarder.fail(|request| {
            let counts = String::from_utf8_lossy(&request.body).contains("like:");
            let refused = Fault::Respond(200, "[{\"error\":\"ERR A test\"}]".to_owned());
            (!counts).then_some(refused)
        });
        app.count("42", "like", "loads").await;
        let done = async || (forwarder.under_way() == 0).then_some(());
        until("the end of all requests", done).await;
        take_commands(&mut redis);
        let mut cost = Vec::new();
        for (sent, outcome) in [
            (like("42", "post-7"), "counted"),
            (like("42", "post-7"), "duplicate"),
            (undo(like("42", "post-7")), "undone"),
        ] {
            app.outcome(sent, outcome).await;
            cost.push(take_commands(&mut redis));
        }
        costs.push(cost);
    }
    assert_eq!(costs[0], costs[1]);
}

/// `member_cap` of the rule limits what a visitor gives in a day.
#[tokio::test]
async fn daily_cap_of_members_limits_visitors() {
    let app = TestApp::with(|worker| {
        visitors(worker).json(
            "RULES",
            json!({"like": {"member_cap": 4}, "helpful": {"points": 1}}),
        )
    });
    for number in 0..6 {
        register(&app, &format!("post-{number}")).await;
    }
    let visitor = Visitor::new(&app, "192.0.2.1").await;
    let likes = (0..6).map(|number| {
        let sent = like(&visitor.id, &format!("post-{number}"));
        visitor.client.send_activity(sent)
    });
    let outcomes = join_all(likes).await;
    let of = |name: &str| {
        let found = outcomes.iter().filter(|one| one.body["outcome"] == name);
        found.count()
    };
    assert_eq!((of("counted"), of("capped")), (2, 4));
}

#[tokio::test]
async fn erased_visitor_leaves_no_trace() {
    let app = start();
    register(&app, "post-7").await;
    let visitor = Visitor::new(&app, "192.0.2.1").await;
    visitor.counted("like", "post-7").await;
    let number = |like: u32| numbers("post-7", json!({"like": like}));
    let query = "?actions=like&targets=post-7";
    assert_eq!(counts(&app, query).await, number(1));
    assert!(!app.store().traces(&visitor.id).is_empty());
    app.erase(&visitor.id).await;
    assert_eq!(app.store().traces(&visitor.id), [""; 0]);
    // The target keeps its number, as after the erasure of a member.
    assert_eq!(counts(&app, query).await, number(1));
}
