//! `ACHIEVEMENTS`, `/v1/achievements` and `achievement.earned`.

use test_support::{Value, json, peer, peers};

use super::{HookApp, contents, start_with};
use crate::bodies::{activity, dated, each, like, undo, with};
use crate::clock::{day, noon, period};
use crate::events::Event;
use crate::problem::{field_error, problem};

/// A deployment whose first run of cron is over: what comes from now on sends messages.
async fn start(achievements: Value) -> HookApp {
    let app = start_with(|worker| {
        let rules = json!({"vote": {"points": 2}});
        let worker = worker.json("RULES", rules).var("BOARD_MAX_AGE", "0");
        worker.json("ACHIEVEMENTS", achievements)
    });
    assert_eq!(app.minute().await, []);
    app
}

fn voter() -> Value {
    json!({"voter": {"name": "Voter", "count": "vote", "steps": [1, 3]}})
}

fn vote(user: &str, target: u32) -> Value {
    activity(user, "vote", &target.to_string())
}

/// The instant of an activity, so many seconds after the hour before now.
fn instant(second: i64) -> String {
    let now = jiff::Timestamp::now().as_second();
    let at = jiff::Timestamp::from_second(now - 3600 + second).expect("an instant");
    at.to_string()
}

impl HookApp {
    async fn vote(&self, user: &str, targets: &[u32]) {
        let votes: Vec<Value> = targets.iter().map(|target| vote(user, *target)).collect();
        self.send_activity(json!(votes)).await.assert_status(200);
    }

    /// Reads the achievement of a user in a deployment that has one.
    async fn achievement(&self, user: &str) -> Value {
        let page = self.read(&format!("/v1/users/{user}/achievements")).await;
        page["achievements"][0].clone()
    }

    /// Reads which steps of a user's only achievement are earned, and the value.
    async fn progress(&self, user: &str) -> (Vec<bool>, Value) {
        let mut achievement = self.achievement(user).await;
        let steps = achievement["steps"].as_array().expect("steps").iter();
        let earned = steps.map(|step| !step["at"].is_null()).collect();
        (earned, achievement["value"].take())
    }

    /// Reads the number of members with each step of the first achievement.
    async fn members(&self) -> Vec<Value> {
        let page = self.read("/v1/achievements").await;
        each(&page["achievements"][0]["steps"], "/members")
    }
}

fn earned(user: &str, step: u32) -> (Value, Value) {
    let achievement = json!({"id": "voter", "name": "Voter", "step": step});
    (
        json!("achievement.earned"),
        json!({"user": {"id": user}, "achievement": achievement}),
    )
}

#[tokio::test]
async fn step_is_earned_once_at_its_activity() {
    let app = start(voter()).await;
    let log = app.worker.log();
    assert!(!log.contains("error"), "empty journal: {log}");
    let user = &peer("42");
    let at: Vec<String> = (0..3).map(instant).collect();
    for (target, at) in (0..).zip(&at) {
        let vote = with(vote(user, target), json!({"at": at}));
        app.counted(vote).await;
    }
    let messages = app.minute().await;
    assert_eq!(contents(&messages), [earned(user, 1), earned(user, 3)]);
    let timestamps = messages.iter().map(|message| &message.body["timestamp"]);
    let timestamps: Vec<&Value> = timestamps.collect();
    assert_eq!(timestamps, [&at[0], &at[2]]);
    let expected = json!({
        "user": {"id": user},
        "achievements": [{"id": "voter", "name": "Voter", "description": "", "icon": "star",
            "steps": [{"value": 1, "at": at[0]}, {"value": 3, "at": at[2]}], "value": 3, "next": null}],
    });
    let path = format!("/v1/users/{user}/achievements");
    assert_eq!(app.read(&path).await, expected);
    assert_eq!(app.members().await, [1, 1]);
    let card = app.read(&format!("/v1/users/{user}/card")).await;
    assert_eq!(card["achievements"], 1);
    app.vote(user, &[3, 4]).await;
    assert_eq!(app.minute().await, []);
    assert_eq!(app.progress(user).await, (vec![true, true], json!(5)));
}

#[tokio::test]
async fn concurrent_runs_earn_a_step_once() {
    let app = start(voter()).await;
    let user = &peer("42");
    app.vote(user, &[0, 1, 2]).await;
    let other = app.worker.beside();
    tokio::join!(app.worker.minute(), other.minute());
    let mut messages = super::take(&app.receiver);
    messages.extend(app.minute().await);
    assert_eq!(contents(&messages), [earned(user, 1), earned(user, 3)]);
    assert_eq!(app.progress(user).await, (vec![true, true], json!(3)));
}

#[tokio::test]
async fn undone_activity_leaves_an_earned_step() {
    let app = start(voter()).await;
    let user = &peer("42");
    app.vote(user, &[0, 1, 2]).await;
    app.minute().await;
    app.outcome(undo(vote(user, 0)), "undone").await;
    assert_eq!(app.minute().await, []);
    assert_eq!(app.progress(user).await, (vec![true, true], json!(2)));
    app.vote(user, &[5]).await;
    assert_eq!(app.minute().await, []);

    // A message names a step that the member has, not how often it was reached.
    let user = &peer("7");
    app.vote(user, &[0]).await;
    app.outcome(undo(vote(user, 0)), "undone").await;
    app.vote(user, &[0]).await;
    assert_eq!(contents(&app.minute().await), [earned(user, 1)]);
}

/// An award is not revoked.
#[tokio::test]
async fn undone_activity_revokes_a_step() {
    let mut achievements = voter();
    achievements["voter"]["revoke"] = json!(true);
    let app = start(achievements).await;
    let user = &peer("42");
    app.vote(user, &[0, 1, 2]).await;
    app.minute().await;
    app.outcome(undo(vote(user, 0)), "undone").await;
    assert_eq!(app.minute().await, []);
    assert_eq!(app.progress(user).await, (vec![true, false], json!(2)));
    assert_eq!(app.members().await, [1, 0]);
    app.vote(user, &[5]).await;
    assert_eq!(contents(&app.minute().await), [earned(user, 3)]);

    let user = &peer("7");
    app.vote(user, &[0]).await;
    let award = json!({"step": 3, "reason": "Helped"});
    app.write(&path(user), &award).await;
    app.outcome(undo(vote(user, 0)), "undone").await;
    app.minute().await;
    assert_eq!(app.progress(user).await, (vec![false, true], json!(0)));
}

/// Returns the path of a user's only achievement.
fn path(user: &str) -> String {
    format!("/v1/users/{user}/achievements/voter")
}

/// Returns the entries of the audit log about a user, without ids and instants.
async fn audit(app: &HookApp, user: &str) -> Vec<Value> {
    let mut log = app.read("/v1/moderation").await;
    let entries = log["entries"].as_array_mut().expect("entries");
    entries.retain(|entry| entry["user"]["id"] == user);
    for entry in &mut *entries {
        let entry = entry.as_object_mut().expect("an entry");
        entry.retain(|name, _| !["id", "at", "actor", "user"].contains(&name.as_str()));
    }
    entries.clone()
}

#[tokio::test]
async fn award_by_hand_is_earned_once() {
    let app = start(voter()).await;
    let user = &peer("42");
    let award = json!({"step": 3, "reason": "Helped"});
    let answer = app.put(&path(user), &award).await;
    answer.assert_status(200);
    let steps = answer.body["achievements"][0]["steps"].clone();
    let at = &steps[0]["at"];
    assert_eq!(
        answer.body,
        json!({"user": {"id": user}, "achievements": [{"id": "voter", "name": "Voter", "description": "", "icon": "star",
            "steps": [{"value": 1, "at": at, "by": "moderator"}, {"value": 3, "at": at, "by": "moderator"}],
            "value": 0, "next": null}]})
    );
    let response = app.put(&path(user), &award).await;
    response.assert(200, answer.body.clone());
    let expected = [earned(user, 1), earned(user, 3)];
    assert_eq!(contents(&app.minute().await), expected);
    app.vote(user, &[0, 1, 2]).await;
    assert_eq!(app.minute().await, []);
    assert_eq!(app.achievement(user).await["steps"], steps);
    assert_eq!(app.members().await, [1, 1]);
    let entry = json!({"action": "award", "reason": "Helped", "achievement": {"id": "voter", "steps": [1, 3]}});
    assert_eq!(audit(&app, user).await, [entry]);
}

#[tokio::test]
async fn withdrawn_step_does_not_come_back() {
    let app = start(json!({"voter": {"name": "Voter", "count": "vote", "steps": [1, 3, 5]}})).await;
    let user = &peer("42");
    app.vote(user, &[0, 1, 2]).await;
    app.minute().await;
    let reason = format!("{}?reason=Votes+bought", path(user));
    for _ in 0..2 {
        app.delete(&reason).await.assert_status(204);
    }
    assert_eq!(app.progress(user).await, (vec![false; 3], json!(3)));
    assert_eq!(app.members().await, [0, 0, 0]);
    let restart = "UPDATE achievements_read SET version = ''";
    app.worker.sql(restart).await;
    app.outcome(undo(vote(user, 0)), "undone").await;
    app.vote(user, &[0]).await;
    assert_eq!(app.minute().await, []);
    assert_eq!(app.progress(user).await, (vec![false; 3], json!(3)));
    // A later step is earned as before.
    app.vote(user, &[3, 4]).await;
    assert_eq!(contents(&app.minute().await), [earned(user, 5)]);
    assert_eq!(app.progress(user).await.0, [false, false, true]);
    let response = app.delete(&format!("{}?step=5", path(user))).await;
    response.assert_status(204);
    // An award has the steps before it, and the message about the step was sent before.
    let award = json!({"step": 5, "reason": "Appeal granted"});
    app.write(&path(user), &award).await;
    assert_eq!(app.progress(user).await.0, [true, true, true]);
    assert_eq!(app.minute().await, []);
    let entry = |action: &str, steps: Value| json!({"action": action, "achievement": {"id": "voter", "steps": steps}});
    let expected = [
        with(
            entry("award", json!([1, 3, 5])),
            json!({"reason": "Appeal granted"}),
        ),
        entry("withdraw", json!([5])),
        with(
            entry("withdraw", json!([1, 3])),
            json!({"reason": "Votes bought"}),
        ),
    ];
    assert_eq!(audit(&app, user).await, expected);
}

#[tokio::test]
async fn invalid_awards_are_refused() {
    let app = start(voter()).await;
    let (user, reason) = (&peer("42"), json!({"reason": "Helped"}));
    let field = |field: &str, detail: &str| field_error(field, detail).body();
    let step = with(reason.clone(), json!({"step": 2}));
    for (path, body, status, expected) in [
        (path(user), step, 400, field("step", "must be one of 1, 3")),
        (
            path(user),
            json!({}),
            400,
            field("reason", "must be a text of 1 to 500 characters"),
        ),
        (
            format!("/v1/users/{user}/achievements/other"),
            reason.clone(),
            404,
            problem("not-found", "There is no achievement other."),
        ),
    ] {
        app.put(&path, &body).await.assert(status, expected);
    }
    let withdrawal = format!("{}?step=x", path(user));
    let expected = field("step", "must be the value of a step");
    app.delete(&withdrawal).await.assert(400, expected);
    let response = app.without_key().put(&path(user), &reason).await;
    response.assert_status(401);
    assert_eq!(audit(&app, user).await, Vec::<Value>::new());
}

/// An award to an account is one of its member.
#[tokio::test]
async fn account_awards_go_to_the_member() {
    let app = start(voter()).await;
    let [user, member] = &["42", "9"].map(peer);
    let account = format!("/v1/users/{user}/account");
    app.write(&account, &json!({"of": member})).await;
    app.write(&path(user), &json!({"reason": "Helped"})).await;
    app.minute().await;
    assert_eq!(app.progress(member).await.0, [true, false]);
}

#[tokio::test]
async fn erased_member_has_no_steps() {
    let app = start(voter()).await;
    let [erased, other] = &["42", "7"].map(peer);
    app.vote(erased, &[0, 1, 2]).await;
    app.vote(other, &[0]).await;
    app.minute().await;
    app.moderate(erased, true, false).await;
    let path = format!("{}?step=3", path(erased));
    app.delete(&path).await.assert_status(204);
    app.minute().await;
    app.erase(erased).await;
    app.minute().await;
    let rows = "SELECT member FROM achievement_tallies UNION ALL SELECT member FROM achievements_earned \
        UNION ALL SELECT member FROM achievement_hidden";
    let expected = json!([{"member": other}, {"member": other}]);
    assert_eq!(app.worker.sql(rows).await, expected);
    let restart = "UPDATE achievements_read SET version = ''";
    app.worker.sql(restart).await;
    app.minute().await;
    assert_eq!(app.worker.sql(rows).await, expected);
    assert_eq!(app.progress(erased).await, (vec![false, false], json!(0)));
    app.vote(erased, &[8]).await;
    app.minute().await;
    assert_eq!(app.progress(erased).await, (vec![true, false], json!(1)));
}

#[tokio::test]
async fn hidden_member_is_not_counted() {
    let app = start(voter()).await;
    let [hidden, other] = &["42", "7"].map(peer);
    app.vote(hidden, &[0, 1, 2]).await;
    app.vote(other, &[0]).await;
    app.minute().await;
    app.moderate(hidden, true, false).await;
    app.minute().await;
    assert_eq!(app.members().await, [1, 0]);
    let path = format!("/v1/users/{hidden}/achievements");
    let public = app.without_key().read(&path).await;
    assert_eq!(public["achievements"][0]["steps"][0]["at"], Value::Null);
    assert_eq!(app.progress(hidden).await, (vec![true, true], json!(3)));
    app.moderate(hidden, false, false).await;
    app.minute().await;
    assert_eq!(app.members().await, [2, 1]);
}

/// The past sends no messages, and what was earned stays.
#[tokio::test]
async fn changed_definition_is_evaluated_from_the_start() {
    let app = start(voter()).await;
    let user = &peer("42");
    app.vote(user, &[0, 1, 2]).await;
    app.minute().await;
    for table in ["achievements_earned", "deliveries"] {
        app.worker.sql(&format!("DELETE FROM {table}")).await;
    }
    app.worker
        .sql("UPDATE achievements_read SET version = 'other'")
        .await;
    assert_eq!(app.minute().await, []);
    assert_eq!(app.progress(user).await, (vec![true, true], json!(3)));
}

#[tokio::test]
async fn recount_changes_earlier_points() {
    let app = start(json!({"points": {"name": "Points", "points": true, "steps": [5, 9]}})).await;
    let user = &peer("42");
    app.vote(user, &[0, 1, 2]).await;
    app.minute().await;
    assert_eq!(app.progress(user).await, (vec![true, false], json!(6)));
    let rules = json!({"vote": [[null, {"points": 3, "received": 0}]]}).to_string();
    let entry = json!({"did": "rules", "now": "0", "rules": rules}).to_string();
    let insert = format!(
        "INSERT INTO journal (site, shard, id, user, entry) SELECT site, shard, '9-0', '', '{entry}' FROM journal LIMIT 1"
    );
    app.worker.sql(&insert).await;
    assert_eq!(app.minute().await, []);
    assert_eq!(app.progress(user).await, (vec![true, true], json!(9)));
    app.outcome(undo(vote(user, 0)), "undone").await;
    app.minute().await;
    assert_eq!(app.progress(user).await.0, [true, true]);
}

#[tokio::test]
async fn streak_fills_with_late_activity() {
    let app = start(json!({"streak": {"name": "Streak", "streak": "days", "steps": [2, 3]}})).await;
    let user = &peer("42");
    let day = |back: i64| {
        let at = jiff::Timestamp::now().as_second() - back * 86_400;
        let at = jiff::Timestamp::from_second(at).expect("an instant");
        let at = at.to_string();
        with(vote(user, back as u32), json!({"at": at}))
    };
    app.counted(day(0)).await;
    app.counted(day(2)).await;
    app.minute().await;
    assert_eq!(app.progress(user).await, (vec![false, false], json!(1)));
    app.counted(day(1)).await;
    app.minute().await;
    assert_eq!(app.progress(user).await, (vec![true, true], json!(3)));
    app.outcome(undo(day(1)), "undone").await;
    app.minute().await;
    assert_eq!(app.progress(user).await, (vec![true, true], json!(1)));
}

/// A pause of today counts no day: activity does. The missed day before has a freeze.
#[tokio::test]
async fn streak_has_freezes_and_pauses() {
    let streak = json!({"streak": {"name": "Streak", "streak": "days", "steps": [2, 3]}});
    let app = start_with(|worker| {
        let rules = json!({"vote": {"points": 2}});
        let worker = worker.json("RULES", rules).json("ACHIEVEMENTS", streak);
        worker.json("STREAK_FREEZES", json!(1))
    });
    assert_eq!(app.minute().await, []);
    let user = &peer("42");
    let today = day(0).to_string();
    let pause = json!({"from": today, "until": today});
    app.write(&format!("/v1/users/{user}/pause"), &pause).await;
    for back in [3, 1] {
        let vote = with(vote(user, back as u32), json!({"at": noon(back)}));
        app.counted(vote).await;
    }
    app.minute().await;
    assert_eq!(app.progress(user).await, (vec![true, false], json!(2)));
    app.vote(user, &[0]).await;
    app.minute().await;
    assert_eq!(app.progress(user).await, (vec![true, true], json!(3)));
}

#[tokio::test]
async fn anniversary_comes_with_time() {
    let app =
        start(json!({"voter": {"name": "Voter", "member_since": "years", "steps": [1, 3]}})).await;
    let user = &peer("42");
    app.vote(user, &[0]).await;
    assert_eq!(app.minute().await, []);
    assert_eq!(app.progress(user).await, (vec![false, false], json!(0)));
    // The member's first activity was a year ago, less the minute that passes since the last run.
    let year = "(strftime('%s', 'now') - strftime('%s', 'now', '-1 years')) * 1000";
    for sql in [
        format!("UPDATE achievement_tallies SET value = value - {year}"),
        "UPDATE achievements_read SET at = at - 86400000".to_owned(),
    ] {
        app.worker.sql(&sql).await;
    }
    assert_eq!(contents(&app.minute().await), [earned(user, 1)]);
    assert_eq!(app.progress(user).await, (vec![true, false], json!(1)));
    assert_eq!(app.minute().await, []);
}

/// A place is that of the board when it settled: later activity changes the board, but no achievement.
#[tokio::test]
async fn places_on_a_closed_board_count_once() {
    let podium = json!({"name": "Podium", "place": "day", "within": 2, "steps": [1, 2]});
    let app = start(json!({"podium": podium})).await;
    let users = peers(["a", "b", "c"]);
    // The first run has read yesterday's board, which was empty.
    let forget = "DELETE FROM journal WHERE id GLOB '0-0 *'";
    app.worker.sql(forget).await;
    for (rank, user) in users.iter().enumerate() {
        for target in rank..users.len() {
            let vote = dated(vote(user, target as u32), noon(1));
            app.counted(vote).await;
        }
    }
    let places = async || {
        let mut earned = Vec::new();
        for user in &users {
            earned.push(app.progress(user).await);
        }
        earned
    };
    let messages = app.minute().await;
    let bodies = messages.iter().map(|message| &message.body);
    let earned = bodies.filter(|body| body["type"] == "achievement.earned");
    let end = &period("day", day(1))["end"];
    let named = earned.map(|body| (&body["data"]["user"]["id"], &body["timestamp"]));
    let named: Vec<_> = named.collect();
    assert_eq!(named, [(&json!(users[0]), end), (&json!(users[1]), end)]);
    let first = (vec![true, false], json!(1));
    let none = (vec![false, false], json!(0));
    let expected = [first.clone(), first, none];
    assert_eq!(places().await, expected);
    for target in 10..20 {
        let vote = dated(vote(&users[2], target), noon(1));
        app.counted(vote).await;
    }
    for sql in ["UPDATE achievements_read SET version = ''", "SELECT 1"] {
        app.worker.sql(sql).await;
        app.minute().await;
        assert_eq!(places().await, expected);
    }
    app.erase(&users[0]).await;
    app.minute().await;
    let rows = "SELECT user FROM journal WHERE id GLOB '0-0 * ?' ORDER BY n";
    let expected = json!([{"user": ""}, {"user": users[1]}]);
    assert_eq!(app.worker.sql(rows).await, expected);
    let expected = (vec![false, false], json!(0));
    assert_eq!(app.progress(&users[0]).await, expected);
}

#[tokio::test]
async fn won_events_are_counted() {
    let receiver = super::receiver();
    let app = crate::app::TestApp::with(|worker| {
        let winner = json!({"winner": {"name": "Winner", "events": true}});
        let worker = worker.journal().json("ACHIEVEMENTS", winner);
        worker.var("SETTLE_MINUTES", "0").var("BOARD_MAX_AGE", "0")
    });
    let app = HookApp { app, receiver };
    let mut event = Event::new("hackathon");
    event.put(&app).await;
    let [first, second] = &peers(["a", "b"]);
    for (user, target) in [(first, "1"), (first, "2"), (second, "1")] {
        let like = dated(like(user, target), event.at(0));
        app.counted(like).await;
    }
    event.end(&mut app.store());
    for _ in 0..2 {
        app.minute().await;
        assert_eq!(app.progress(first).await, (vec![true], json!(1)));
        assert_eq!(app.progress(second).await, (vec![false], json!(0)));
    }
    let at = &app.achievement(first).await["steps"][0]["at"];
    assert_eq!(*at, app.read(&event.path()).await["final_at"]);
}

#[tokio::test]
async fn evaluation_has_a_bounded_cost() {
    let app = start(voter()).await;
    app.vote(&peer("42"), &[0, 1, 2]).await;
    app.minute().await;
    let cost = app.worker.metered_minute().await;
    assert!(cost.queries <= 12, "{cost:?}");
    let status = app.read("/v1/status").await;
    assert_eq!(status["achievements"], json!({"behind": 0}));
}

#[tokio::test]
async fn texts_are_in_the_requested_language() {
    let name = json!({"en": "Voter", "de": "Wähler"});
    let app = start(
        json!({"voter": {"name": name, "description": "Votes.", "icon": "heart", "count": "vote"}}),
    )
    .await;
    let expected = |name: &str| {
        json!({"achievements": [{"id": "voter", "name": name, "description": "Votes.", "icon": "heart",
            "steps": [{"value": 1, "members": 0}]}]})
    };
    assert_eq!(
        app.read("/v1/achievements?lang=de").await,
        expected("Wähler")
    );
    assert_eq!(app.read("/v1/achievements").await, expected("Voter"));
    app.get("/v1/achievements?lang=d").await.assert_status(400);
}
