//! `/v1/cases`: members whose giving their activity does not explain.

use futures::future::join_all;
use test_support::{Answer, Method, Value, WorkerBuilder, depth, json};

use crate::app::TestApp;
use crate::bodies::{activity, dated, each, like, rows, undo, with};
use crate::client::Client;
use crate::clock::{ago, ahead, day};
use crate::problem::{field_error, problem};

const PATH: &str = "/v1/cases";
const UNKNOWN: &str = "case_0000000000000000";

/// Starts a deployment with one shard, whose entries do not wait.
fn start(configure: impl FnOnce(WorkerBuilder) -> WorkerBuilder) -> TestApp {
    TestApp::with(|worker| {
        let worker = worker.var("CONTENT_PERIODS", "all").journal();
        let worker = worker.var(
            "SERVICE_KEYS",
            "test-service-key,named@admin:moderation-key,activity:other",
        );
        configure(worker.var("SHARDS", "1").json("FAIR_PLAY", json!({})))
    })
}

/// Registers so many posts of each author, such as `a-0`.
async fn register(app: &TestApp, authors: &[&str], posts: u32) {
    let mut targets = Vec::new();
    for author in authors {
        for number in 0..posts {
            targets.push(json!({"id": format!("{author}-{number}"), "author": author}));
        }
    }
    for targets in targets.chunks(50) {
        app.write("/v1/targets", &json!(targets)).await;
    }
}

async fn send(app: &TestApp, activities: &[Value]) {
    for activities in activities.chunks(50) {
        let response = app.send_activity(json!(activities)).await;
        response.assert_status(200);
    }
}

/// Likes posts of authors, each by each other one.
async fn exchange(app: &TestApp, authors: &[&str], posts: std::ops::Range<u32>) {
    let mut likes = Vec::new();
    for giver in authors {
        for receiver in authors.iter().filter(|receiver| *receiver != giver) {
            likes.extend(
                posts
                    .clone()
                    .map(|post| like(giver, &format!("{receiver}-{post}"))),
            );
        }
    }
    send(app, &likes).await;
}

/// Fills a community in which three members like each other's posts, six each.
async fn start_with_ring(configure: impl FnOnce(WorkerBuilder) -> WorkerBuilder) -> TestApp {
    let app = start(configure);
    let community = ["p", "q", "r", "s", "t", "u", "v", "w", "x", "y"];
    register(&app, &community, 1).await;
    register(&app, &["a", "b", "c"], 9).await;
    exchange(&app, &community, 0..1).await;
    exchange(&app, &["a", "b", "c"], 0..6).await;
    app.worker.minute().await;
    app
}

async fn post(app: &Client) -> Answer {
    app.send(Method::POST, "/v1/cases/search", "", &[]).await
}

async fn search(app: &TestApp) -> Value {
    let answer = post(app).await;
    answer.assert_status(200);
    answer.body
}

fn searched(opened: u32, updated: u32) -> Value {
    json!({"complete": true, "opened": opened, "updated": updated, "cut": []})
}

/// Reads the rows of the table.
async fn gifts(app: &TestApp) -> Value {
    let statement = "SELECT giver, receiver, SUM(gifts) AS gifts, SUM(points) AS points, MAX(burst) AS burst \
        FROM gifts WHERE receiver <> '' GROUP BY giver, receiver HAVING SUM(gifts) <> 0 ORDER BY giver, receiver";
    app.worker.sql(statement).await
}

fn gift(giver: &str, receiver: &str, number: u32, burst: u32) -> Value {
    json!({"giver": giver, "receiver": receiver, "gifts": number, "points": 2 * number, "burst": burst})
}

#[tokio::test]
async fn ring_is_one_case_until_dismissed() {
    let app = start_with_ring(|worker| worker).await;
    let empty = json!({"cases": [], "next": null, "search": null});
    app.assert_get(PATH, empty).await;
    assert_eq!(search(&app).await, searched(1, 0));
    let page = app.read(PATH).await;
    let found = &page["cases"][0];
    let case = json!({"id": found["id"], "kind": "ring", "state": "open", "score": 29.143, "gifts": 36, "days": 30,
        "share": 1.0, "members": ["a", "b", "c"], "found": found["found"], "updated": found["found"], "decision": null});
    let fairness = json!({"days": 30, "gifts": 126, "top_givers_share": 0.786, "gini": 0.055, "mutual_share": 1.0});
    let expected = json!({"cases": [case], "next": null, "search": {"at": found["found"], "fairness": fairness}});
    assert_eq!(page, expected);
    assert_eq!(search(&app).await, searched(0, 1));

    let path = path_of(found);
    let details = app.read(&path).await;
    assert_eq!(details["pairs"].as_array().unwrap().len(), 6);
    let today = day(0).to_string();
    let pair = json!({"giver": "a", "receiver": "b", "gifts": 6, "points": 12, "expected": 1.143, "share_given": 0.5,
        "share_received": 0.5, "burst": 6, "days": 1, "first": today, "last": today});
    assert!(
        details["pairs"].as_array().unwrap().contains(&pair),
        "{details}"
    );
    let latest = details["latest"].as_array().unwrap();
    assert_eq!(latest.len(), 20);
    let (giver, receiver) = (latest[0]["giver"].as_str().unwrap(), &latest[0]["receiver"]);
    assert!(
        ["a", "b", "c"].contains(&giver)
            && latest[0]["target"]
                .as_str()
                .unwrap()
                .starts_with(receiver.as_str().unwrap())
    );

    let losses = details["losses"].as_array().unwrap();
    let losses_of = |user: &str| {
        let is_user = |loss: &&Value| loss["user"]["id"] == user;
        losses.iter().filter(is_user).cloned().collect::<Vec<_>>()
    };
    // Each has liked 12 posts, and has received as many likes; others have 18 points or fewer.
    let on = |board: &str, kind: &str, before: u32| json!({"board": board, "kind": kind, "user": {"id": "a"}, "score": [before, 0], "rank": [1, null]});
    let mut expected: Vec<Value> = ["day", "week", "month", "year", "all"]
        .map(|board| on(board, "members", 24))
        .to_vec();
    expected.push(on("all", "authors", 24));
    assert_eq!(losses_of("a"), expected);

    let key = app.with_key("moderation-key");
    let decision = json!({"state": "dismissed", "reason": "A team"});
    let answer = key.put(&path, &decision).await;
    answer.assert_status(200);
    let stored = &answer.body["decision"];
    assert_eq!(
        *stored,
        json!({"reason": "A team", "actor": {"key": "named"}, "at": stored["at"], "public_reason": false,
            "from": null, "until": null, "past": null})
    );
    assert_eq!(answer.body["state"], "dismissed");
    assert_eq!(
        app.read(&format!("{PATH}?state=open")).await["cases"],
        json!([])
    );
    assert_eq!(search(&app).await, searched(0, 0));
    // Half as many gifts more open it again.
    exchange(&app, &["a", "b", "c"], 6..9).await;
    app.worker.minute().await;
    assert_eq!(search(&app).await, searched(1, 0));
    let page = app.read(&format!("{PATH}?state=open&limit=1")).await;
    let expected = (&json!(54), &found["id"]);
    assert_eq!((&page["cases"][0]["gifts"], &page["next"]), expected);
    let next = format!("{PATH}?after={}", found["id"].as_str().unwrap());
    assert_eq!(app.read(&next).await["cases"], json!([]));
}

/// The registration of a post may be on another shard, whose entries come later.
#[tokio::test]
async fn entries_of_several_shards_wait_five_minutes() {
    let app = start_with_ring(|worker| worker.var("SHARDS", "8")).await;
    assert_eq!(search(&app).await, searched(0, 0));
    assert_eq!(gifts(&app).await, json!([]));
    let age = "UPDATE journal SET entry = json_set(entry, '$.now', CAST(entry ->> 'now' - 300000 AS TEXT))";
    app.worker.sql(age).await;
    assert_eq!(search(&app).await, searched(1, 0));
    let expected = json!(["a", "b", "c"]);
    assert_eq!(app.read(PATH).await["cases"][0]["members"], expected);
}

#[tokio::test]
async fn cron_searches_once_a_day() {
    let app = start_with_ring(|worker| worker).await;
    app.worker.tick().await;
    let page = app.read(PATH).await;
    assert_eq!(page["cases"].as_array().unwrap().len(), 1);
    app.worker.sql("UPDATE gifts_read SET at = 0").await;
    app.worker.tick().await;
    let at = &app.read(PATH).await["search"]["at"];
    assert_eq!(at, "1970-01-01T00:00:00Z");
    // On the next day it searches again.
    app.worker.sql("UPDATE gifts_read SET day = day - 1").await;
    app.worker.tick().await;
    assert_ne!(app.read(PATH).await["search"]["at"], "1970-01-01T00:00:00Z");
}

#[tokio::test]
async fn erased_member_is_in_no_case() {
    let app = start_with_ring(|worker| worker).await;
    assert_eq!(search(&app).await, searched(1, 0));
    app.erase("a").await;
    app.worker.minute().await;
    assert_eq!(app.read(PATH).await["cases"], json!([]));
    let rows = app
        .worker
        .sql("SELECT * FROM gifts WHERE 'a' IN (giver, receiver)")
        .await;
    assert_eq!(rows, json!([]));
    search(&app).await;
    let page = app.get(PATH).await.text;
    assert!(!page.contains("\"a\""), "{page}");
}

#[tokio::test]
async fn gifts_are_of_authors_and_followed_members() {
    let app = start(|worker| worker);
    app.put_profile("9", json!({"name": "Nine"})).await;
    register(&app, &["9"], 2).await;
    app.write("/v1/targets", &json!([{"id": "none"}])).await;
    let comment = json!({"user": "42", "action": "comment", "target": "c-1", "on": "9-0"});
    let activities = [
        like("42", "9-0"),
        like("42", "9-1"),
        like("43", "9-1"),
        like("42", "none"),
        like("42", "unknown"),
        activity("9", "comment", "9-0"),
        activity("42", "visit", "/"),
        comment,
        activity("44", "follow", "9"),
    ];
    send(&app, &activities).await;
    app.worker.minute().await;
    assert_eq!(search(&app).await, searched(0, 0));
    let mut commented = gift("42", "9", 3, 3);
    commented["points"] = json!(7);
    let followed = app
        .worker
        .sql("SELECT points FROM gifts WHERE giver = '44' AND receiver = '9'")
        .await;
    let mut follow = gift("44", "9", 1, 1);
    follow["points"] = followed[0]["points"].clone();
    let expected = json!([commented, gift("43", "9", 1, 1), follow]);
    assert_eq!(gifts(&app).await, expected);
    let own = app
        .worker
        .sql("SELECT gifts FROM gifts WHERE giver = '42' AND receiver = ''")
        .await;
    assert_eq!(own, json!([{"gifts": 6}]));
    // An undo takes back on the day of the activity.
    app.outcome(undo(like("43", "9-1")), "undone").await;
    app.outcome(undo(like("43", "9-1")), "nothing-to-undo")
        .await;
    app.worker.minute().await;
    search(&app).await;
    assert_eq!(gifts(&app).await, json!([commented, follow]));
}

/// The accounts have given each other nothing then.
#[tokio::test]
async fn accounts_are_their_member() {
    let app = start_with_ring(|worker| worker).await;
    for account in ["b", "c"] {
        let body = json!({"of": "a"});
        app.write(&format!("/v1/users/{account}/account"), &body)
            .await;
    }
    app.worker.minute().await;
    assert_eq!(search(&app).await, searched(0, 0));
    let page = app.read(PATH).await;
    assert_eq!(page["search"]["fairness"]["gifts"], 90);
}

#[tokio::test]
async fn burst_of_likes_is_a_case() {
    let app = start_with_ring(|worker| worker).await;
    register(&app, &["z"], 12).await;
    let likes = (0..12).map(|post| like("p", &format!("z-{post}")));
    let likes: Vec<Value> = likes.collect();
    send(&app, &likes).await;
    app.worker.minute().await;
    search(&app).await;
    let page = app.read(PATH).await;
    assert_eq!(each(&page["cases"], "/kind"), ["ring", "burst"]);
    assert_eq!(page["cases"][1]["members"], json!(["p", "z"]));
}

#[tokio::test]
async fn only_service_keys_with_admin_see_cases() {
    let app = start(|worker| worker);
    let other = app.with_key("other");
    other.get(PATH).await.assert_status(403);
    for path in [PATH.to_owned(), format!("{PATH}/{UNKNOWN}")] {
        app.without_key().get(&path).await.assert_status(401);
    }
    post(&app.without_key()).await.assert_status(401);
    let unknown = problem("not-found", "No case has this id.");
    let decision = json!({"state": "dismissed", "reason": "r"});
    let path = format!("{PATH}/{UNKNOWN}");
    app.get(&path).await.assert(404, unknown.clone());
    app.put(&path, &decision).await.assert(404, unknown);
    let invalid = json!({"state": "closed", "reason": "r"});
    let detail = "must be one of open, dismissed, excluded";
    let response = app.put(&path, &invalid).await;
    response.assert(400, field_error("state", detail).body());
}

#[tokio::test]
async fn losses_rank_members_among_what_remains() {
    let app = start(|worker| worker);
    register(&app, &["a", "b"], 2).await;
    exchange(&app, &["a", "b"], 0..2).await;
    let mut comments = Vec::new();
    for (user, count) in [("a", 4), ("b", 4), ("c", 5), ("d", 4)] {
        let comment = |number| activity(user, "comment", &format!("{user}-{number}"));
        comments.extend((0..count).map(comment));
    }
    send(&app, &comments).await;
    app.worker.minute().await;
    search(&app).await;
    let case = open(&app, &["a", "b"]).await;
    let details = app.read(&path_of(&case)).await;
    // Both fall below the 15 points of c, and to the 12 of d.
    let loss = |user: &str| json!({"board": "all", "kind": "members", "user": {"id": user}, "score": [16, 12], "rank": [1, 2]});
    let losses = details["losses"].as_array().unwrap();
    let is_on_board = |loss: &&Value| loss["board"] == "all" && loss["kind"] == "members";
    let found: Vec<&Value> = losses.iter().filter(is_on_board).collect();
    assert_eq!(found, [&loss("a"), &loss("b")]);
}

/// Returns the path of a case.
fn path_of(case: &Value) -> String {
    format!("{PATH}/{}", case["id"].as_str().unwrap())
}

/// Opens the case of members.
async fn open(app: &Client, members: &[&str]) -> Value {
    let body = json!({"members": members, "reason": "Said by members"});
    let answer = app.post(PATH, &body).await;
    answer.assert_status(200);
    answer.body
}

/// Decides a case. Returns the decision.
async fn decide(app: &Client, case: &Value, decision: Value) -> Value {
    let answer = app.put(&path_of(case), &decision).await;
    answer.assert_status(200);
    assert_eq!(answer.body["state"], decision["state"]);
    answer.body["decision"].clone()
}

fn excluded(from: &str, until: impl Into<Value>) -> Value {
    json!({"state": "excluded", "reason": "A ring", "public_reason": true, "from": from, "until": until.into()})
}

#[tokio::test]
async fn moderator_opens_case_of_members() {
    let app = start_with_ring(|worker| worker).await;
    search(&app).await;
    let case = open(&app, &["c", "p"]).await;
    let decision = json!({"reason": "Said by members", "actor": null, "at": case["found"], "public_reason": false,
        "from": null, "until": null, "past": null});
    let expected = json!({"id": case["id"], "kind": "manual", "state": "open", "score": 0.0, "gifts": 0, "days": 90,
        "share": 0.0, "members": ["c", "p"], "found": case["found"], "updated": case["found"], "decision": decision});
    assert_eq!(case, expected);
    let case = open(&app, &["q", "p"]).await;
    let expected = (&json!(2), &json!(["p", "q"]));
    assert_eq!((&case["gifts"], &case["members"]), expected);
    let known = open(&app, &["b", "c", "a"]).await;
    let expected = (&json!("ring"), &json!(36));
    assert_eq!((&known["kind"], &known["gifts"]), expected);
    for (body, pointer) in [
        (json!({"members": ["a"], "reason": "x"}), "members"),
        (json!({"members": ["a", "a"], "reason": "x"}), "members"),
        (json!({"members": ["a", "a b"], "reason": "x"}), "members"),
        (json!({"members": ["a", "b"]}), "reason"),
        (
            json!({"members": ["a", "b"], "reason": "x", "kind": "ring"}),
            "kind",
        ),
    ] {
        let answer = app.post(PATH, &body).await;
        answer.assert_status(400);
        let expected = format!("/{pointer}");
        assert_eq!(answer.body["errors"][0]["pointer"], expected, "{body}");
    }
}

/// A search has given the case with the id of two members a third one.
#[tokio::test]
async fn case_by_hand_has_exactly_the_named_members() {
    let app = start_with_ring(|worker| worker).await;
    let first = open(&app, &["a", "b"]).await;
    assert_eq!(search(&app).await, searched(0, 1));
    let page = app.read(PATH).await;
    let found = (&page["cases"][0]["id"], &page["cases"][0]["members"]);
    assert_eq!(found, (&first["id"], &json!(["a", "b", "c"])));
    let second = open(&app, &["a", "b"]).await;
    assert_ne!(second["id"], first["id"]);
    assert_eq!(second["members"], json!(["a", "b"]));
    for (members, known) in [(vec!["a", "b"], &second), (vec!["a", "b", "c"], &first)] {
        assert_eq!(open(&app, &members).await["id"], known["id"]);
    }
}

#[tokio::test]
async fn unchanged_exclusion_opens_no_case() {
    let app = start_with_ring(|worker| worker).await;
    search(&app).await;
    let case = app.read(PATH).await["cases"][0].clone();
    decide(&app, &case, excluded(&ago(60), Value::Null)).await;
    // Activity of before the exclusion.
    app.worker.sql("UPDATE cases SET decided_gifts = 1").await;
    assert_eq!(search(&app).await, searched(0, 0));
    assert_eq!(app.read(PATH).await["cases"].as_array().unwrap().len(), 1);
}

/// A repeated decision has no second entry.
#[tokio::test]
async fn decisions_are_in_audit_log() {
    let app = start(|worker| worker);
    let case = open(&app, &["a", "b"]).await;
    let key = app.with_key("moderation-key");
    for (state, reason) in [
        ("dismissed", "A team"),
        ("dismissed", "A team"),
        ("open", "Again"),
    ] {
        decide(&key, &case, json!({"state": state, "reason": reason})).await;
    }
    let log = app.read("/v1/moderation").await;
    let mut entries = rows(
        &log["entries"],
        ["/action", "/user/id", "/reason", "/actor"],
    );
    entries
        .as_array_mut()
        .unwrap()
        .sort_by_key(Value::to_string);
    let actor = json!({"key": "named"});
    let entry = |action: &str, user: &str, reason: &str| json!([action, user, reason, actor]);
    let expected = json!([
        entry("dismiss", "a", "A team"),
        entry("dismiss", "b", "A team"),
        entry("reopen", "a", "Again"),
        entry("reopen", "b", "Again")
    ]);
    assert_eq!(entries, expected);
}

/// The burst is older than a week, and an account of the member gave later.
#[tokio::test]
async fn case_shows_gifts_of_older_burst_and_of_accounts() {
    let app = start_with_ring(|worker| worker).await;
    register(&app, &["z"], 14).await;
    let likes = |user: &'static str, posts: std::ops::Range<u32>, at: String| {
        let like = move |post| dated(like(user, &format!("z-{post}")), at.clone());
        posts.map(like).collect::<Vec<Value>>()
    };
    let old = ago(20 * 86_400);
    send(&app, &likes("p", 0..11, old.clone())).await;
    send(&app, &likes("account", 11..14, ago(3600))).await;
    app.write("/v1/users/account/account", &json!({"of": "p"}))
        .await;
    app.worker.minute().await;
    search(&app).await;
    let page = app.read(PATH).await;
    let mut cases = page["cases"].as_array().unwrap().iter();
    let case = cases.find(|case| case["kind"] == "burst").unwrap();
    assert_eq!(case["members"], json!(["p", "z"]));
    let details = app.read(&path_of(case)).await;
    assert_eq!(each(&details["latest"], "/giver"), ["p"; 14]);
    assert_eq!(details["latest"][13]["at"], seconds(&old));
}

#[tokio::test]
async fn excluded_members_give_each_other_nothing() {
    for shards in [1, 8] {
        let app = start(|worker| worker.json("SHARDS", json!(shards)));
        register(&app, &["a", "b", "c"], 4).await;
        let case = open(&app, &["a", "b"]).await;
        let (from, until) = (ago(3600), ahead(3600));
        let decision = decide(&app, &case, excluded(&from, until.as_str())).await;
        let expected = (&json!(seconds(&from)), &json!(seconds(&until)));
        assert_eq!((&decision["from"], &decision["until"]), expected);
        let expected = (&json!("pending"), &json!(true));
        assert_eq!((&decision["past"], &decision["public_reason"]), expected);
        let outcome = async |activity: Value| {
            let answer = app.post("/v1/activity", &activity).await;
            answer.assert_status(200);
            answer
                .body
                .get("reason")
                .unwrap_or(&answer.body["outcome"])
                .clone()
        };
        assert_eq!(outcome(like("a", "b-0")).await, "pair-cap");
        assert_eq!(outcome(like("b", "a-0")).await, "pair-cap");
        assert_eq!(outcome(activity("a", "comment", "b-1")).await, "pair-cap");
        // Others, and activity before the span, count.
        assert_eq!(outcome(like("a", "c-0")).await, "counted");
        assert_eq!(outcome(like("c", "a-0")).await, "counted");
        assert_eq!(outcome(dated(like("a", "b-2"), ago(7200))).await, "counted");
        assert_eq!(outcome(undo(like("a", "b-2"))).await, "undone");
        // An account of an excluded member is that member.
        app.write("/v1/users/x/account", &json!({"of": "b"})).await;
        register(&app, &["x"], 1).await;
        assert_eq!(outcome(like("a", "x-0")).await, "pair-cap");
        assert_eq!(outcome(like("x", "a-1")).await, "pair-cap");
        let points = app.read("/v1/users/a/points").await;
        assert_eq!(points["exclusions"], json!([{"reason": "A ring"}]));
        let points = app.read("/v1/users/c/points").await;
        assert_eq!(points.get("exclusions"), None);
        // The same exclusion with another reason.
        for reason in ["A ring of two", "A ring"] {
            let mut again = excluded(&from, until.as_str());
            again["reason"] = json!(reason);
            decide(&app, &case, again).await;
            let points = app.read("/v1/users/a/points").await;
            assert_eq!(points["exclusions"], json!([{ "reason": reason }]));
        }
        let log = app.read("/v1/moderation").await;
        let mut actions = each(&log["entries"], "/action");
        actions.retain(|action| action == "exclude");
        assert_eq!(actions.len(), 2, "{log}");

        let decision = decide(
            &app,
            &case,
            json!({"state": "dismissed", "reason": "A mistake"}),
        )
        .await;
        let expected = (&Value::Null, &Value::Null);
        assert_eq!((&decision["from"], &decision["until"]), expected);
        assert_eq!(app.read("/v1/users/a/points").await.get("exclusions"), None);
        assert_eq!(outcome(like("a", "b-0")).await, "counted");
        assert_eq!(outcome(like("x", "a-1")).await, "counted");
    }
}

/// Whichever decision was the last, activity counts as the case says.
#[tokio::test]
async fn decisions_at_once_agree_with_what_counts() {
    let app = start(|worker| worker);
    register(&app, &["b"], depth(4, 20)).await;
    let case = open(&app, &["a", "b"]).await;
    let path = path_of(&case);
    for round in 0..depth(4, 20) {
        let dismissed = json!({"state": "dismissed", "reason": "A team"});
        let decisions = [excluded(&ago(3600), Value::Null), dismissed];
        let puts = decisions.iter().cycle().take(6);
        let answers = join_all(puts.map(|decision| app.put(&path, decision))).await;
        assert!(answers.iter().any(|answer| answer.status == 200));
        let is_excluded = app.read(&path).await["state"] == "excluded";
        let answer = app
            .post("/v1/activity", &like("a", &format!("b-{round}")))
            .await;
        let is_capped = answer.body["reason"] == "pair-cap";
        assert_eq!(is_capped, is_excluded, "round {round}: {}", answer.body);
    }
}

#[tokio::test]
async fn account_has_no_exclusions() {
    let app = start(|worker| worker);
    let case = open(&app, &["a", "b"]).await;
    let from = ago(60);
    decide(&app, &case, excluded(&from, Value::Null)).await;
    let answer = app.put("/v1/users/a/account", &json!({"of": "z"})).await;
    let detail = "A case excludes the account: take that back first.";
    answer.assert(409, problem("account-conflict", detail));
    app.write("/v1/users/y/account", &json!({"of": "z"})).await;
    let case = open(&app, &["a", "y"]).await;
    let path = path_of(&case);
    let answer = app.put(&path, &excluded(&from, Value::Null)).await;
    let detail = "One of them is an account of another member.";
    answer.assert(409, problem("account-conflict", detail));
    // Nothing has changed for the other one.
    let log = app.read("/v1/moderation").await;
    let entries = log["entries"].as_array().unwrap().iter();
    let excluded = entries.filter(|entry| entry["action"] == "exclude");
    let users: Vec<&Value> = excluded.map(|entry| &entry["user"]["id"]).collect();
    assert_eq!(users, ["b", "a"], "{log}");
    assert_eq!(app.read(&path).await["state"], "open");
}

#[tokio::test]
async fn invalid_decisions_are_refused() {
    let app = start(|worker| worker);
    let case = open(&app, &["a", "b"]).await;
    let path = path_of(&case);
    for (change, pointer) in [
        (json!({"from": null}), "from"),
        (json!({"from": "2026-11-20"}), "from"),
        (json!({"from": "1969-11-20T08:00:00Z"}), "from"),
        (json!({"until": "2026-11-20T08:00:00Z"}), "until"),
        (json!({"until": 5}), "until"),
        (json!({"public_reason": 1}), "public_reason"),
        (json!({"state": "open"}), "from"),
        (json!({"state": "closed"}), "state"),
        (json!({"reason": ""}), "reason"),
        (json!({"members": []}), "members"),
    ] {
        let body = with(excluded("2026-11-20T08:00:00Z", Value::Null), change);
        let answer = app.put(&path, &body).await;
        answer.assert_status(400);
        let expected = format!("/{pointer}");
        assert_eq!(answer.body["errors"][0]["pointer"], expected, "{body}");
    }
    assert_eq!(app.read(&path).await["state"], "open");
}

/// Returns an instant as responses have it.
fn seconds(instant: &str) -> String {
    format!("{}Z", instant.get(..19).unwrap_or_default())
}
