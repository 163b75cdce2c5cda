//! `/v1/users/{user}/account`: several users who count as one member.

use test_support::{Fault, Value, WorkerBuilder, json, shards, until};

use crate::app::TestApp;
use crate::bodies::{activity, each, ids, like, rows, undo, with};
use crate::problem::problem;
use crate::token::sign;

/// Makes users accounts of member 9.
async fn join(app: &TestApp, users: &[&str]) {
    for user in users {
        let response = app.put(&path(user), &json!({"of": "9"})).await;
        response.assert(200, account(user, "9"));
    }
}

fn path(user: &str) -> String {
    format!("/v1/users/{user}/account")
}

fn account(user: &str, of: impl Into<Value>) -> Value {
    let of: Value = of.into();
    let mut account = json!({"user": {"id": user}, "account_of": of, "accounts": []});
    if of != Value::Null {
        account["past"] = json!("left-out");
    }
    account
}

async fn points(app: &TestApp, user: &str) -> Value {
    let board = app.read("/v1/ranking/all").await;
    let mut entries = board["entries"].as_array().unwrap().iter();
    let entry = entries.find(|entry| entry["user"]["id"] == user);
    entry.map_or(json!(0), |entry| entry["score"].clone())
}

/// The call for the account names the member; the call for the member has the accounts that the Worker knows.
#[tokio::test]
async fn account_takes_one_request_more() {
    let (app, forwarder) = TestApp::behind_forwarder(|worker| worker);
    join(&app, &["42"]).await;
    for user in ["42", "9", "5"] {
        app.count(user, "like", &format!("loads-{user}")).await;
    }
    for (user, requests) in [("42", 2), ("9", 1), ("5", 1)] {
        forwarder.reset();
        app.count(user, "like", &format!("of-{user}")).await;
        // Exact ranks over shards take a request.
        let ranked = usize::from(shards() > 1);
        assert_eq!(forwarder.count(), requests + ranked, "{user}");
    }
}

/// A target that belongs to an account is one of the member's own.
#[tokio::test]
async fn own_accounts_are_own_targets() {
    let app = TestApp::with(|worker| worker.var("CONTENT_PERIODS", "all").cron());
    for (author, target) in [("42", "post-42"), ("9", "post-9"), ("5", "post-5")] {
        let target = format!("/v1/targets/{target}");
        app.write(&target, &json!({"author": author})).await;
    }
    app.minute().await;
    join(&app, &["42", "77"]).await;
    for own in [
        activity("9", "follow", "42"),
        activity("42", "follow", "9"),
        activity("42", "follow", "77"),
        like("9", "post-42"),
        like("42", "post-9"),
        like("77", "post-42"),
    ] {
        let refused = app.outcome(own, "capped").await;
        assert_eq!(refused["reason"], "own-target");
    }
    app.count("42", "like", "post-5").await;
    assert_eq!(points(&app, "9").await, 2);
}

/// The member receives what others give to an account.
#[tokio::test]
async fn member_receives_for_account() {
    let app = TestApp::with(|worker| worker.var("CONTENT_PERIODS", "all").cron());
    let target = json!({"author": "42"});
    app.write("/v1/targets/post", &target).await;
    app.minute().await;
    join(&app, &["42"]).await;
    app.set_name("42", "Ada").await;
    app.count("5", "like", "post").await;
    app.count("6", "follow", "42").await;
    let authors = async || {
        app.minute().await;
        let board = app.read("/v1/authors/all").await;
        rows(&board["entries"], ["/user/id", "/score"])
    };
    let both = async || (authors().await == json!([["9", 4]])).then_some(());
    until("both activities", both).await;
    app.outcome(undo(like("5", "post")), "undone").await;
    let undone = async || (authors().await == json!([["9", 2]])).then_some(());
    until("the undo", undone).await;
}

/// Every route answers for the member, and says so.
#[tokio::test]
async fn reads_of_account_answer_for_member() {
    let app = TestApp::start();
    app.count("9", "like", "a").await;
    app.set_name("9", "Ada").await;
    join(&app, &["42"]).await;
    for route in [
        "/v1/users/{}",
        "/v1/users/{}/activity",
        "/v1/users/{}/points",
        "/v1/users/{}/points?refused=true",
        "/v1/users/{}/done?action=like&targets=a,b",
        "/v1/users/{}/standings",
        "/v1/users/{}/card",
        "/v1/users/{}/moderation",
        "/v1/ranking/all/users/{}",
    ] {
        let mut member = app.read(&route.replace("{}", "9")).await;
        let found = app.read(&route.replace("{}", "42")).await;
        member["account_of"] = json!("9");
        assert_eq!(found, member, "{route}");
    }
    let page = app.get("/u/42").await;
    assert!(page.text.contains("Ada"), "{}", page.text);
}

/// Registers targets, in one request and so at one instant.
async fn register(app: &TestApp, targets: &[(&str, &str)]) {
    let body = targets.iter();
    let body = body.map(|(id, author)| json!({"id": id, "author": author}));
    let body = json!(body.collect::<Vec<_>>());
    app.write("/v1/targets", &body).await;
}

/// The pages of the list have targets of one instant of several lists, each once.
#[tokio::test]
async fn member_lists_targets_of_accounts() {
    let app = TestApp::with(|worker| worker.var("CONTENT_PERIODS", "all").cron());
    register(&app, &[("a", "9"), ("b", "42"), ("c", "9"), ("d", "77")]).await;
    register(&app, &[("e", "42"), ("f", "5"), ("g", "42"), ("h", "9")]).await;
    app.minute().await;
    let list = async |user: &str, limit: usize| {
        let path = format!("/v1/users/{user}/targets");
        let pages = app.pages(&path, "after", limit).await;
        let ids = pages.iter();
        let ids = ids.filter_map(|entry| entry["target"]["id"].as_str());
        ids.collect::<String>()
    };
    assert_eq!(list("9", 30).await, "hca");
    join(&app, &["42", "77"]).await;
    for limit in [1, 2, 3, 7, 30] {
        assert_eq!(list("9", limit).await, "hgedcba", "{limit}");
        assert_eq!(list("42", limit).await, "hgedcba", "{limit}");
    }
    app.delete(&path("42")).await.assert_status(204);
    assert_eq!(list("9", 2).await, "hdca");
    assert_eq!(list("42", 2).await, "geb");
}

/// Items about the same target take effect in their order, whichever accounts of the member send them.
#[tokio::test]
async fn array_keeps_order_among_accounts() {
    let app = TestApp::start();
    join(&app, &["42", "77"]).await;
    let outcomes = async |items: Value| {
        let response = app.send_activity(items).await;
        each(&response.body["results"], "/outcome")
    };
    let expected = [
        "counted",
        "undone",
        "counted",
        "duplicate",
        "counted",
        "undone",
    ];
    // The isolate knows the accounts of the member from the second array on.
    for round in 0..3 {
        let target = format!("a{round}");
        let like = |user: &str| like(user, &target);
        let items = json!([
            like("42"),
            undo(like("9")),
            like("9"),
            like("77"),
            activity("5", "like", &target),
            undo(like("42")),
        ]);
        assert_eq!(outcomes(items).await, expected, "{round}");
        let items = json!([like("42"), undo(like("77")), like("42"), like("77")]);
        let accounts_alone = ["counted", "undone", "counted", "duplicate"];
        assert_eq!(outcomes(items).await, accounts_alone, "{round}");
        let items = json!([like("9"), undo(like("77")), like("9"), undo(like("42"))]);
        let later = ["duplicate", "undone", "counted", "undone"];
        assert_eq!(outcomes(items).await, later, "{round}");
    }
    assert_eq!(points(&app, "9").await, json!(0));
}

/// A comparison of an account shows its member, once for all ids of the member.
#[tokio::test]
async fn comparison_of_account_shows_member() {
    let app = TestApp::start();
    app.count("5", "publish", "a").await;
    app.count("9", "like", "a").await;
    join(&app, &["42", "77"]).await;
    let row = |position: u32, score: u32, id: &str| json!({"position": position, "rank": position, "score": score, "user": {"id": id}});
    let compare = async |query: &str| {
        let board = app.read(&format!("/v1/ranking/all/users?{query}")).await;
        (board["account_of"].clone(), board["entries"].clone())
    };
    let both = json!([row(1, 10, "5"), row(2, 2, "9")]);
    assert_eq!(compare("ids=5,9").await, (Value::Null, both.clone()));
    let of = json!({"42": "9", "77": "9"});
    assert_eq!(compare("ids=42,5,9,77").await, (of, both.clone()));
    let of = json!({"42": "9"});
    assert_eq!(compare("ids=5,42").await, (of.clone(), both.clone()));
    // A comparison of friends does so too, for the member and for each account.
    app.count("42", "follow", "5").await;
    let friends = json!([row(1, 10, "5"), row(2, 4, "9")]);
    let expected = (of.clone(), friends.clone());
    assert_eq!(compare("followed_by=42").await, expected);
    assert_eq!(compare("followed_by=9").await, (Value::Null, friends));
    app.count("5", "follow", "42").await;
    let friends = json!([row(1, 12, "5"), row(2, 4, "9")]);
    assert_eq!(compare("followed_by=5").await, (of, friends));
    app.moderate("9", true, false).await;
    let unknown = json!({"position": null, "rank": null, "score": 0, "user": {"id": "42"}});
    let entries = json!([row(1, 12, "5"), unknown]);
    assert_eq!(compare("ids=42,5").await, (Value::Null, entries));
}

/// The audit log names the account, in each join and leave.
#[tokio::test]
async fn account_that_leaves_counts_for_itself() {
    let app = TestApp::start();
    join(&app, &["42"]).await;
    app.count("42", "like", "a").await;
    app.delete(&path("42")).await.assert_status(204);
    app.delete(&path("42")).await.assert_status(204);
    app.assert_get(&path("42"), account("42", Value::Null))
        .await;
    app.outcome(undo(like("42", "a")), "nothing-to-undo").await;
    app.count("42", "like", "a").await;
    app.outcome(like("9", "a"), "duplicate").await;
    for user in ["42", "9"] {
        assert_eq!(points(&app, user).await, 2, "{user}");
    }
    // It gets a new number when it joins again.
    join(&app, &["42"]).await;
    app.outcome(like("42", "a"), "duplicate").await;

    let log = app.read("/v1/moderation").await;
    let entries = rows(&log["entries"], ["/action", "/user/id"]);
    let expected = json!([["join", "42"], ["detach", "42"], ["join", "42"]]);
    assert_eq!(entries, expected);
}

#[tokio::test]
async fn chains_and_second_members_are_conflicts() {
    let app = TestApp::start();
    join(&app, &["42"]).await;
    join(&app, &["42"]).await;
    let stored = app.store().snapshot();
    let another = "One of them is an account of another member: take that back first.";
    let owns = "The account has accounts: take these back first.";
    for (user, of, detail) in [("42", "7", another), ("5", "42", another), ("9", "7", owns)] {
        let response = app.put(&path(user), &json!({"of": of})).await;
        response.assert(409, problem("account-conflict", detail));
    }
    // Nothing but the last number of user 7 is new.
    let account = account("7", Value::Null);
    app.assert_get(&path("7"), account).await;
    assert_eq!(app.store().snapshot().len(), stored.len());
    for user in 0..19 {
        join(&app, &[&format!("u{user}")]).await;
    }
    let response = app.put(&path("last"), &json!({"of": "9"})).await;
    let detail = "A member has at most 20 accounts.";
    response.assert(409, problem("account-conflict", detail));
    app.delete(&path("u3")).await.assert_status(204);
    join(&app, &["last"]).await;
}

/// Decisions of moderators and of the member hold for all accounts.
#[tokio::test]
async fn hidden_and_frozen_hold_for_accounts() {
    let app = TestApp::start();
    join(&app, &["42"]).await;
    app.count("42", "like", "a").await;
    let state = json!({"account_of": "9", "user": {"id": "9"}, "hidden": true, "frozen": true});
    app.moderate("42", true, true).await.assert(200, state);
    assert_eq!(app.read("/v1/ranking/all").await["total"], 0);
    let missing = problem("not-found", "The user 42 has no profile.");
    let visitor = app.without_key();
    visitor.get("/v1/users/42").await.assert(404, missing);
    app.send_activity(like("42", "b")).await.assert_status(403);
    app.moderate("9", false, false).await;
    app.put_profile("42", json!({"name": "Ada", "hidden": true}))
        .await;
    assert_eq!(app.read("/v1/ranking/all").await["total"], 0);
    app.put_profile("9", json!({"name": "Ada", "hidden": false}))
        .await;
    let named = json!({"account_of": "9", "id": "9", "name": "Ada"});
    app.assert_get("/v1/users/42", named).await;
    let adjustment = json!({"id": "1", "points": 5, "reason": "A test"});
    app.adjust("42", &adjustment).await.assert_status(200);
    assert_eq!(points(&app, "9").await, 7);
}

#[tokio::test]
async fn erasure_erases_accounts_and_their_links() {
    let app = TestApp::start();
    join(&app, &["account-1", "account-2", "account-3"]).await;
    app.count("account-1", "like", "a").await;
    app.count("account-2", "like", "b").await;
    app.delete("/v1/users/account-1").await.assert_status(204);
    assert_eq!(app.store().traces("account-1"), [""; 0]);
    assert_eq!(points(&app, "9").await, 4);
    app.count("account-1", "like", "a").await;
    app.delete("/v1/users/9").await.assert_status(204);
    assert_eq!(app.store().traces("account-2"), [""; 0]);
    assert_eq!(app.store().traces("account-3"), [""; 0]);
    assert_eq!(ids(&app.read("/v1/ranking/all").await), ["account-1"]);
}

/// A join that ended after its first half has left a user in the list of the member who is no account.
#[tokio::test]
async fn erasure_spares_users_who_are_no_accounts() {
    let app = TestApp::start();
    join(&app, &["42"]).await;
    app.count("5", "like", "a").await;
    let mut store = app.store();
    let users = store.key_of("9", "p");
    let flags: String = store.run("HGET", &[&users, "!9"]);
    let listed = format!("{flags} 2=5");
    store.run::<i64>("HSET", &[&users, "!9", &listed]);
    app.delete("/v1/users/9").await.assert_status(204);
    assert_eq!(ids(&app.read("/v1/ranking/all").await), ["5"]);
    assert_eq!(app.store().traces("42"), [""; 0]);
}

/// The store fails between the halves; the same request again completes what the first one has begun.
#[tokio::test]
async fn leave_that_failed_is_completed() {
    for erases in [false, true] {
        let (app, forwarder) = TestApp::behind_forwarder(|worker| worker);
        join(&app, &["42"]).await;
        let mut first = None;
        forwarder.fail(move |request| {
            let is_verb = |word: &Value| word == "detach" || word == "remove";
            let mut words = request.commands().into_iter().flatten();
            let verb = words.find(is_verb)?;
            let first = first.get_or_insert_with(|| verb.clone());
            (*first != verb).then_some(Fault::CutBefore)
        });
        let rest = if erases { "" } else { "/account" };
        let address = format!("/v1/users/42{rest}");
        app.delete(&address).await.assert_status(503);
        forwarder.heal();
        app.delete(&address).await.assert_status(204);
        assert_eq!(
            app.read(&path("9")).await["accounts"],
            json!([]),
            "{address}"
        );
        if erases {
            assert_eq!(app.store().traces("42"), [""; 0]);
        }
    }
}

/// A moderator freezes or hides the member after the first half: the same request again completes the second one.
#[tokio::test]
async fn leave_that_failed_is_completed_after_moderation() {
    for (hidden, frozen) in [(false, true), (true, false)] {
        let (app, forwarder) = TestApp::behind_forwarder(member_accounts);
        join(&app, &["42"]).await;
        forwarder.fail(|request| {
            let mut words = request.commands().into_iter().flatten();
            words
                .any(|word| word == "detach")
                .then_some(Fault::CutBefore)
        });
        let member = app.with_key(&token("42"));
        member.delete(&path("42")).await.assert_status(503);
        forwarder.heal();
        app.moderate("9", hidden, frozen).await;
        member.delete(&path("42")).await.assert_status(204);
        app.assert_get(&path("42"), account("42", Value::Null))
            .await;
        app.assert_get(&path("9"), account("9", Value::Null)).await;
    }
}

#[tokio::test]
async fn members_join_by_both_tokens() {
    let app = TestApp::with(member_accounts);
    let (member, account_user, other) = (
        app.with_key(&token("9")),
        app.with_key(&token("42")),
        app.with_key(&token("5")),
    );
    let join = |token: &str| json!({"of": "9", "token": token});
    for (caller, key, status) in [
        (&member, token("5"), 400),
        (&member, "x".to_owned(), 400),
        (&member, String::new(), 400),
        (&account_user, token("42"), 400),
        (&other, token("42"), 403),
    ] {
        let response = caller.put(&path("42"), &join(&key)).await;
        response.assert_status(status);
    }
    for (caller, key) in [(&member, token("42")), (&account_user, token("9"))] {
        let joined = caller.put(&path("42"), &join(&key)).await;
        joined.assert(200, account("42", "9"));
    }
    account_user.count("42", "like", "a").await;
    // The account reads what is the member's own.
    let history = account_user.read("/v1/users/42/activity").await;
    assert_eq!(history["days"][0]["points"], 2);
    other.delete(&path("42")).await.assert_status(403);
    member.delete(&path("42")).await.assert_status(204);
    account_user.write(&path("42"), &join(&token("9"))).await;
    account_user.delete(&path("42")).await.assert_status(204);
}

fn member_accounts(worker: WorkerBuilder) -> WorkerBuilder {
    let worker = worker.var("JWT_SECRET", sign::SECRET);
    worker.var("MEMBER_ACCOUNTS", "true")
}

fn token(user: &str) -> String {
    sign::hs256(&sign::claims(user))
}

fn moderated() -> Value {
    let detail =
        "One of these users is frozen or hidden by a moderator: their accounts cannot be changed.";
    problem("forbidden", detail)
}

/// Activity that a moderator has stopped would count again for the other user.
#[tokio::test]
async fn moderated_members_do_not_join() {
    let app = TestApp::with(member_accounts);
    for (moderated_user, hidden, frozen) in
        [("42", false, true), ("9", false, true), ("42", true, false)]
    {
        app.moderate(moderated_user, hidden, frozen).await;
        for (caller, other) in [("42", "9"), ("9", "42")] {
            let body = json!({"of": "9", "token": token(other)});
            let response = app.with_key(&token(caller)).put(&path("42"), &body).await;
            response.assert(403, moderated());
        }
        for user in ["42", "9"] {
            app.assert_get(&path(user), account(user, Value::Null))
                .await;
        }
        app.moderate(moderated_user, false, false).await;
    }
    app.moderate("42", false, true).await;
    join(&app, &["42"]).await;
}

/// The account would count for itself again, and the member would lose it.
#[tokio::test]
async fn moderated_members_do_not_leave() {
    let app = TestApp::with(member_accounts);
    let list =
        json!({"user": {"id": "9"}, "account_of": null, "accounts": ["42"], "past": "left-out"});
    for (moderated_user, hidden, frozen) in
        [("9", false, true), ("9", true, false), ("42", false, true)]
    {
        if moderated_user == "42" {
            app.moderate("42", hidden, frozen).await;
        }
        join(&app, &["42"]).await;
        if moderated_user == "9" {
            app.moderate("9", hidden, frozen).await;
        }
        for caller in ["42", "9"] {
            let response = app.with_key(&token(caller)).delete(&path("42")).await;
            response.assert(403, moderated());
        }
        app.assert_get(&path("9"), list.clone()).await;
        app.assert_get(&path("42"), account("42", "9")).await;
        app.delete(&path("42")).await.assert_status(204);
        app.moderate(moderated_user, false, false).await;
    }
}

/// The first activity of an account, with a name in its token, creates no profile.
#[tokio::test]
async fn only_services_join_without_member_accounts() {
    let app = TestApp::with(|worker| worker.var("JWT_SECRET", sign::SECRET));
    join(&app, &["42"]).await;
    let claims = with(sign::claims("42"), json!({"name": "Ada"}));
    let sender = app.with_key(&sign::hs256(&claims));
    sender.count("42", "like", "a").await;
    app.delete(&path("42")).await.assert_status(204);
    let missing = problem("not-found", "The user 42 has no profile.");
    app.get("/v1/users/42").await.assert(404, missing);

    let member = app.with_key(&token("9"));
    let body = json!({"of": "9", "token": token("42")});
    member.put(&path("42"), &body).await.assert_status(403);
    join(&app, &["42"]).await;
    member.delete(&path("42")).await.assert_status(403);
    let response = app.put(&path("9"), &json!({"of": 9})).await;
    response.assert_status(400);
    let invalid = with(json!({"of": "9"}), json!({"to": "7"}));
    app.put(&path("42"), &invalid).await.assert_status(400);
}

/// A join that ended after its first half has left an account of another member in the list.
#[tokio::test]
async fn targets_leave_out_account_of_another_member() {
    let app = TestApp::with(|worker| worker.var("CONTENT_PERIODS", "all").cron());
    register(&app, &[("a", "9"), ("b", "42"), ("c", "77")]).await;
    app.minute().await;
    join(&app, &["42"]).await;
    let of = json!({"of": "5"});
    app.write(&path("77"), &of).await;
    let mut store = app.store();
    let users = store.key_of("9", "p");
    let flags: String = store.run("HGET", &[&users, "!9"]);
    store.run::<i64>("HSET", &[&users, "!9", &format!("{flags} 2=77")]);
    let page = app.read("/v1/users/9/targets").await;
    assert_eq!(page["account_of"], Value::Null);
    assert_eq!(each(&page["entries"], "/target/id"), ["b", "a"]);
}
