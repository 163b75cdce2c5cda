//! `POST /v1/events/{event}/recount`: an event is counted again from the journal.

use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan};
use test_support::{Answer, Value, json, peers};

use super::{Event, start as start_without_journal};
use crate::bodies::{dated, like, with};
use crate::journal::{JournalApp, start_with};
use crate::problem::problem;

fn start() -> JournalApp {
    start_with(|worker| worker.var("BOARD_MAX_AGE", "0").var("SETTLE_MINUTES", "0"))
}

impl Event {
    /// Returns the path of the recount.
    fn recount(&self) -> String {
        format!("{}/recount", self.path())
    }

    async fn recounted(&self, app: &JournalApp) -> Answer {
        let response = app.post(&self.recount(), &self.body()).await;
        response.assert_status(200);
        assert_eq!(response.body["state"], "recounted", "{}", response.body);
        response
    }
}

fn comment(user: &str, target: &str) -> Value {
    json!({"user": user, "action": "comment", "target": target})
}

#[tokio::test]
async fn recount_needs_the_journal() {
    let app = start_without_journal();
    let event = Event::new("hackathon");
    let detail = "A recount needs the journal: JOURNAL is not bound.";
    let response = app.post(&event.recount(), &event.body()).await;
    response.assert(404, problem("not-found", detail));
}

#[tokio::test]
async fn event_of_the_past_counts_what_the_journal_has() {
    let app = start();
    let [a, b, c] = &peers(["a", "b", "c"]);
    let event = Event::between("hackathon", -30_000, -5_000);
    for (user, target, at) in [
        (a, "1", -1),
        (a, "2", 0),
        (b, "1", 1_000),
        (b, "2", 24_999),
        (c, "1", 25_000),
        (c, "2", 2_000),
    ] {
        app.outcome(dated(like(user, target), event.at(at)), "counted")
            .await;
    }
    app.outcome(dated(comment(c, "3"), event.at(3_000)), "counted")
        .await;
    app.outcome(with(like(b, "2"), json!({"undo": true})), "undone")
        .await;
    let response = app.post(&event.recount(), &event.body()).await;
    response.assert_status(200);
    let board = app.read(&event.ranking()).await;
    let view = board["event"].clone();
    assert_eq!(view["state"], "final");
    let journal_from = response.body["journal_from"].clone();
    let answer = json!({"event": view, "state": "recounted", "journal_from": journal_from});
    assert_eq!(response.body, answer);
    event.assert_rows(&app, &[(c, 5), (a, 2), (b, 2)]).await;
    // The event is final: late activity leaves it alone.
    app.outcome(dated(like(a, "4"), event.at(4_000)), "counted")
        .await;
    event.assert_rows(&app, &[(c, 5), (a, 2), (b, 2)]).await;
}

#[tokio::test]
async fn preview_shows_changes_and_makes_none() {
    let app = start();
    let [a, b, c] = &peers(["a", "b", "c"]);
    let event = Event::new("hackathon");
    event.put(&app).await;
    for (user, action) in [(a, "like"), (b, "comment"), (c, "like")] {
        let activity = json!({"user": user, "action": action, "target": "1"});
        app.outcome(dated(activity, event.at(0)), "counted").await;
    }
    event.assert_rows(&app, &[(b, 3), (a, 2), (c, 2)]).await;
    let path = format!("{}?preview=true", event.recount());
    let changed = with(event.body(), json!({"actions": {"like": 4}}));
    let response = app.post(&path, &changed).await;
    response.assert_status(200);
    let changes = json!([
        {"user": {"id": a}, "before": {"rank": 2, "score": 2}, "after": {"rank": 1, "score": 4}},
        {"user": {"id": c}, "before": {"rank": 3, "score": 2}, "after": {"rank": 2, "score": 4}},
        {"user": {"id": b}, "before": {"rank": 1, "score": 3}, "after": null},
    ]);
    let mut view = app.read(&event.path()).await;
    view["actions"] = json!({"like": 4});
    let answer = json!({"event": view, "state": "preview", "journal_from": response.body["journal_from"],
        "total": {"before": 3, "after": 2}, "changes": changes});
    assert_eq!(response.body, answer);
    event.assert_rows(&app, &[(b, 3), (a, 2), (c, 2)]).await;
    let response = app.post(&event.recount(), &changed).await;
    assert_eq!(response.body["state"], "recounted");
    event.assert_rows(&app, &[(a, 4), (c, 4)]).await;
    // The next activity counts by the new definition.
    app.outcome(dated(like(c, "2"), event.at(0)), "counted")
        .await;
    app.outcome(dated(comment(b, "2"), event.at(0)), "counted")
        .await;
    event.assert_rows(&app, &[(c, 8), (a, 4)]).await;
}

#[tokio::test]
async fn recount_keeps_the_definition_without_a_new_one() {
    let app = start();
    let [a] = &peers(["a"]);
    let event = Event::new("hackathon").with(json!({"actions": {"like": 7}, "groups": ["eu"]}));
    let answer = app.post(&event.recount(), &json!({})).await;
    answer.assert(404, problem("not-found", "There is no event hackathon."));
    event.put(&app).await;
    let like = |target: &str, group: &str| {
        dated(
            with(like(a, target), json!({"groups": [group]})),
            event.at(0),
        )
    };
    app.outcome(like("1", "eu"), "counted").await;
    app.outcome(like("2", "us"), "counted").await;
    let answer = app.post(&event.recount(), &json!({})).await;
    assert_eq!(answer.body["event"], app.read(&event.path()).await);
    event.assert_rows(&app, &[(a, 7)]).await;
}

#[tokio::test]
async fn recounted_board_lacks_hidden_and_erased_users() {
    let app = start();
    let [a, b, c] = &peers(["a", "b", "c"]);
    let event = Event::between("hackathon", -30_000, -5_000);
    for user in [a, b, c] {
        app.outcome(dated(like(user, "1"), event.at(0)), "counted")
            .await;
    }
    let preview = format!("{}?preview=true", event.recount());
    app.moderate(a, true, false).await;
    let answer = app.post(&preview, &event.body()).await;
    assert_eq!(answer.body["total"], json!({"before": 0, "after": 2}));
    // The next recount continues where the preview stopped.
    app.erase(b).await;
    event.recounted(&app).await;
    event.assert_rows(&app, &[(c, 2)]).await;
    app.moderate(a, false, false).await;
    event.assert_rows(&app, &[(a, 2), (c, 2)]).await;
}

/// The board to be is in the index, so an erasure removes the user from it, and cron archives only boards that count.
#[tokio::test]
async fn erased_user_leaves_the_board_of_a_preview() {
    let app = start();
    let [a, b] = &peers(["a", "b"]);
    let event = Event::between("hackathon", -30_000, -5_000);
    for user in [a, b] {
        app.outcome(dated(like(user, "1"), event.at(0)), "counted")
            .await;
    }
    let preview = format!("{}?preview=true", event.recount());
    app.post(&preview, &event.body()).await.assert_status(200);
    let mut store = app.store();
    let board = store.key_of(a, "bE::\thackathon");
    let mut members = || store.run::<Vec<String>>("ZRANGE", &[&board, "0", "-1"]);
    let mut both = members();
    both.retain(|member| member != "#");
    both.sort();
    assert_eq!(both, [a.as_str(), b]);
    app.erase(b).await;
    app.minute().await;
    let mut left = members();
    left.retain(|member| member != "#");
    assert_eq!(left, [a.as_str()]);
    event.recounted(&app).await;
    event.assert_rows(&app, &[(a, 2)]).await;
    let index = store.key_of(a, "i");
    let names: Vec<String> = store.run("ZRANGE", &[&index, "0", "-1"]);
    assert!(!names.iter().any(|name| name.contains('\t')), "{names:?}");
}

/// Each of many erasures took a pass over the whole board.
#[tokio::test]
async fn erasures_after_a_preview_are_recounted() {
    let app = start();
    let [a] = &peers(["a"]);
    let event = Event::between("hackathon", -30_000, -5_000);
    let users: Vec<String> = (0..40).map(|number| format!("{a}-{number}")).collect();
    for user in users.iter().chain([a]) {
        app.outcome(dated(like(user, "1"), event.at(0)), "counted")
            .await;
    }
    let preview = format!("{}?preview=true", event.recount());
    app.post(&preview, &event.body()).await.assert_status(200);
    for user in &users {
        app.erase(user).await;
    }
    event.recounted(&app).await;
    event.assert_rows(&app, &[(a, 2)]).await;
}

#[tokio::test]
async fn activity_during_a_recount_counts_once() {
    let app = start();
    let users = peers(["a", "b", "c", "d"]);
    let event = Event::new("hackathon");
    event.put(&app).await;
    let send = async {
        for target in 0..40 {
            for user in &users {
                let like = like(user, &target.to_string());
                app.outcome(dated(like.clone(), event.at(0)), "counted")
                    .await;
                if target % 4 == 0 {
                    let undo = with(like, json!({"undo": true}));
                    app.outcome(dated(undo, event.at(0)), "undone").await;
                }
            }
        }
    };
    let recount = async {
        for points in 3..9 {
            let body = with(event.body(), json!({"actions": {"like": points}}));
            let answer = app.post(&event.recount(), &body).await;
            assert_eq!(answer.body["state"], "recounted", "{}", answer.body);
        }
    };
    tokio::join!(send, recount);
    let [a, b, c, d] = &users;
    let rows = [a, b, c, d].map(|user| (user.as_str(), 8 * 30));
    event.assert_rows(&app, &rows).await;
}

/// The event begins half an hour before the last change of the clocks and ends half an hour after it. In autumn both
/// are the same time of day, with different offsets.
#[tokio::test]
async fn event_across_change_of_clocks_is_exact() {
    let app = start_with(|worker| {
        let worker = worker.var("BOARD_MAX_AGE", "0").var("SETTLE_MINUTES", "0");
        worker.var("TIMEZONE", "Europe/Berlin")
    });
    let zone = TimeZone::get("Europe/Berlin").expect("a zone");
    let change = zone.preceding(Timestamp::now()).next().expect("a change");
    let (from, to) = (
        change.timestamp() - 30.minutes(),
        change.timestamp() + 30.minutes(),
    );
    let local = |at: Timestamp| {
        let zoned = at.to_zoned(zone.clone());
        zoned.strftime("%Y-%m-%dT%H:%M:%S%:z").to_string()
    };
    let event = Event {
        id: "night",
        from,
        to,
        fields: json!({"from": local(from), "to": local(to)}),
    };
    let [a] = &peers(["a"]);
    for (target, at) in [
        ("before", event.at(-1)),
        ("first", event.at(0)),
        ("last", event.after(-1)),
        ("after", event.after(0)),
    ] {
        app.outcome(dated(like(a, target), at), "counted").await;
    }
    let answer = event.recounted(&app).await;
    let found = ["from", "to"].map(|name| answer.body["event"][name].clone());
    assert_eq!(found, [json!(from.to_string()), json!(to.to_string())]);
    event.assert_rows(&app, &[(a, 4)]).await;
}

/// The entries are copies of a real one.
#[tokio::test]
async fn recount_continues_where_a_request_stopped() {
    let app = start();
    let [a] = &peers(["a"]);
    let event = Event::between("hackathon", -30_000, -5_000);
    app.outcome(dated(like(a, "1"), event.at(0)), "counted")
        .await;
    app.read("/v1/journal").await;
    let copy = "INSERT INTO journal (site, shard, id, user, entry) SELECT site, shard, journal.id || key, \
        user, entry FROM journal, json_each('[' || substr(replace(hex(zeroblob(30000)), '0', ',1'), 2) || ']') \
        WHERE entry ->> 'did' = 'count'";
    app.sql(copy).await;
    let counting = app.post(&event.recount(), &event.body()).await;
    counting.assert_status(202);
    let mut answer = counting.body;
    assert_eq!(answer["state"], "counting");
    let recounted = event.recounted(&app).await;
    answer["state"] = json!("recounted");
    answer["event"]["final_at"] = recounted.body["event"]["final_at"].clone();
    assert_eq!(recounted.body, answer);
    event.assert_rows(&app, &[(a, 2 * 60_001)]).await;
}

#[tokio::test]
async fn adjustments_of_the_event_are_kept() {
    let app = start();
    let [a, b] = &peers(["a", "b"]);
    let event = Event::between("hackathon", -30_000, 600_000);
    for user in [a, b] {
        app.outcome(dated(like(user, "1"), event.at(0)), "counted")
            .await;
    }
    event.recounted(&app).await;
    let adjust = async |user: &str, body: Value| {
        let path = format!("/v1/users/{user}/adjustments");
        app.post(&path, &body).await.assert_status(200);
    };
    let adjustment = |id: &str, points: i64| json!({"id": id, "points": points, "reason": "Jury", "event": "hackathon"});
    adjust(a, adjustment("1", 10)).await;
    adjust(b, adjustment("2", -5)).await;
    adjust(b, adjustment("3", 7)).await;
    adjust(b, json!({"id": "3", "undo": true, "reason": "Mistake"})).await;
    event.assert_rows(&app, &[(a, 12)]).await;
    let body = with(event.body(), json!({"actions": {"like": 5}}));
    let answer = app.post(&event.recount(), &body).await;
    assert_eq!(answer.body["state"], "recounted");
    // The adjustments count as they were applied: b had only 2 points to lose.
    event.assert_rows(&app, &[(a, 15), (b, 3)]).await;
    adjust(b, json!({"id": "2", "undo": true, "reason": "Mistake"})).await;
    event.assert_rows(&app, &[(a, 15), (b, 5)]).await;
}

#[tokio::test]
async fn recount_requires_the_scope_admin() {
    let app = start_with(|worker| worker.var("SERVICE_KEYS", "full,activity:a"));
    let client = app.with_key("a");
    let event = Event::new("hackathon");
    let response = client.post(&event.recount(), &event.body()).await;
    response.assert(
        403,
        problem("forbidden", "This service key lacks the scope admin."),
    );
    let list = app.with_key("full").read("/v1/events").await;
    assert_eq!(list, json!({"events": []}));
}
