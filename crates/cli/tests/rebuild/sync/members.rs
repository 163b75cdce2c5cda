//! Members who are accounts of others, erased, frozen or excluded.

use test_support::{Value, json};

use super::forum::{Forum, user};
use super::{Source, assert_ends};
use crate::TestResult;
use crate::cli::succeed;
use crate::content::content;
use crate::journal_app::JournalApp;

fn start() -> JournalApp {
    JournalApp::start(|worker| {
        let worker = content(worker, 1).var("BOARD_MAX_AGE", "0");
        worker.json("FAIR_PLAY", json!({}))
    })
}

async fn score(app: &JournalApp, id: u64) -> Value {
    let path = format!("/v1/ranking/all/users/{}", user(id));
    app.api.get(&path).await.body["score"].clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn sync_respects_what_members_are() -> TestResult {
    let (app, source) = (start(), Source::new()?);
    let mut forum = Forum::new(6);
    for author in [1, 2] {
        forum.add_topic(author);
    }
    for (member, topic) in [(3, 1), (4, 2), (5, 1)] {
        forum.add_reply(topic, member);
    }
    forum.like(5, 2);
    forum.like(3, 1);
    source.discourse(&app, &forum, &[])?.assert_code(0);

    let path = format!("/v1/users/{}", user(5));
    app.delete(&path).await;
    let path = format!("/v1/users/{}/account", user(3));
    app.put(&path, &json!({"of": user(4)})).await;
    app.moderate(&user(6), false, true).await;
    let decision = json!({"state": "excluded", "from": "2020-01-01T00:00:00Z", "reason": "Ring"});
    app.decide_case(json!([user(1), user(2)]), decision).await;
    // One person likes a post with both accounts.
    for (member, post) in [(4, 1), (3, 2), (6, 1), (1, 2)] {
        forum.like(member, post);
    }
    let same = "refused by rules: 1 frozen, 1 pair-cap\n2 activities of erased users: erased stays erased\n";
    let compared = source.discourse(&app, &forum, &["--compare"])?;
    let missing = "missing: discourse:3 like discourse:post:2\n";
    assert_eq!(compared.stdout, format!("{missing}{same}1 differ\n"));
    let healed = source.discourse(&app, &forum, &["--heal"])?.assert_code(0);
    let is_same = healed.stdout.ends_with(&format!("{same}0 differ\n"));
    assert!(is_same, "{healed:?}");
    let scores = [score(&app, 4).await, score(&app, 5).await];
    assert_eq!(scores, [5, 0]);
    let erased = app.api.get(&format!("/v1/users/{}", user(5))).await;
    erased.assert_status(404);

    // The record of the like precedes the join: only a recount takes it to the member, who can undo it.
    let likes = &mut forum.likes;
    likes.retain(|(member, post), _| *post != 1 || *member == 6);
    let compared = source.discourse(&app, &forum, &["--compare"])?;
    let pending = "1 activity of accounts from before they were joined: recount --accounts first\n";
    assert_eq!(compared.stdout, format!("{same}{pending}0 differ\n"));
    let rules = source.write("rules.json", r#"{"like":{"points":2}}"#)?;
    let recount = ["recount", "--accounts", "--rules", &rules];
    succeed(&app, &[&recount[..], &["--apply", "--yes"]].concat())?;
    let compared = source.discourse(&app, &forum, &["--compare"])?;
    assert_ends(&compared, 4, "1 differ");
    assert_ends(&source.discourse(&app, &forum, &["--heal"])?, 0, "0 differ");
    // The replies of both, and the like of the other post.
    assert_eq!(score(&app, 4).await, json!(8));
    Ok(())
}

/// Ids of members, and types.
#[tokio::test(flavor = "multi_thread")]
async fn sync_maps_users_and_types() -> TestResult {
    let (app, source) = (start(), Source::new()?);
    let mut forum = Forum::new(3);
    forum.add_topic(1);
    forum.add_reply(1, 2);
    forum.like(3, 1);
    let mapping =
        r#"{"users": {"discourse:2": "42"}, "site": "https://forum.example.com", "events": {}}"#;
    let mapping = source.write("mapping.json", mapping)?;
    let map = ["--users", &mapping, "--map=like=bookmark", "--map=topic="];
    let synced = source.discourse(&app, &forum, &map)?.assert_code(0);
    assert_eq!(synced.stderr, "2 rows of the type topic left out\n");
    let board = app.api.get("/v1/ranking/all").await;
    let entries = board.body["entries"].as_array().into_iter().flatten();
    let scores = entries.map(|entry| json!([entry["user"]["id"], entry["score"]]));
    let expected = json!([["42", 3], ["discourse:3", 2]]);
    assert_eq!(scores.collect::<Value>(), expected);
    let compare = [&map[..], &["--compare"]].concat();
    assert_ends(&source.discourse(&app, &forum, &compare)?, 0, "0 differ");
    let target = app.api.get("/v1/targets/discourse:topic:1").await;
    assert_eq!(target.body["url"], "https://forum.example.com/t/topic-1/1");
    // The member keeps the profile of the site.
    app.api.get("/v1/users/42").await.assert_status(404);
    Ok(())
}
