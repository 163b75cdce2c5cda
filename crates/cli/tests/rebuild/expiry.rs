//! Rebuild of expired, archived and erased data.

use test_support::{Forwarder, Value, json, peers};

use crate::TestResult;
use crate::app::{day, like, noon};
use crate::cli::{assert_verified, rebuild};
use crate::interruption::kill_before_swap;
use crate::journal_app::JournalApp;
use crate::stored::redis_command;

const DAY: i64 = 86_400_000;

/// Moves all journal entries into the past.
pub async fn age(app: &JournalApp, days: i64) {
    let update = format!(
        "UPDATE journal SET entry = json_set(entry, '$.now', CAST(json_extract(entry, '$.now') - {} AS TEXT)) \
         WHERE entry <> '{{}}'",
        days * DAY
    );
    app.sql(&update).await;
}

/// Keys get the rest of their lifetime by the journal, and expired keys are deleted. The index of the rebuilt data still finds all data to erase.
#[tokio::test(flavor = "multi_thread")]
async fn rebuilt_keys_keep_their_lifetimes() -> TestResult {
    // The span of an undo record depends on its date, so all moves must stay within one span.
    let today = jiff::Timestamp::now().as_millisecond() / DAY;
    let board_days = if (today - 9) % 31 < 2 { 12 } else { 10 };
    let keep_days = json!({"day": board_days, "week": 20});
    let app = JournalApp::start(|worker| worker.json("KEEP_DAYS", keep_days));
    app.send(like("ada", "p", 0)).await;
    app.send(like("bob", "p", 0)).await;
    let mut undo = like("bob", "p", 0);
    undo["undo"] = json!(true);
    app.send(undo).await;
    let ttl = |key: &str| -> Result<i64, redis::RedisError> {
        redis_command(&mut app.redis(), &["PTTL", &app.key_of("ada", key)])
    };
    let today = day(0);
    let (board, group_board) = (format!("bd:{today}"), format!("bd:{today}:eu"));
    app.lose_data().await?;
    age(&app, board_days - 1).await;
    rebuild(&app, &[])?;
    for key in [&board, &group_board] {
        let ttl = ttl(key)?;
        assert!(
            (DAY - 3_600_000..=DAY + 3_600_000).contains(&ttl),
            "{key} {ttl}"
        );
    }
    let records_ttl = (400 - board_days) * DAY..(403 - board_days) * DAY;
    assert!(records_ttl.contains(&ttl("m:ada")?));
    assert_eq!(ttl("ba:all")?, -1);
    assert_verified(&app)?;

    // According to the journal the board has expired, but the key has not.
    age(&app, 2).await;
    assert_verified(&app)?;
    for loses_data in [false, true] {
        if loses_data {
            app.lose_data().await?;
        }
        rebuild(&app, &[])?;
        assert_eq!([ttl(&board)?, ttl(&group_board)?], [-2, -2]);
        assert_verified(&app)?;
    }
    let index = app.key_of("ada", "i");
    let entries: Vec<String> = redis_command(&mut app.redis(), &["ZRANGE", &index, "0", "-1"])?;
    assert!(
        !entries.iter().any(|entry| entry.starts_with("d:")),
        "{entries:?}"
    );
    let path = "/v1/ranking/all/users/ada";
    let standing = app.without_cache().api.get(path).await;
    assert_eq!(standing.body["score"], 2);
    app.delete("/v1/users/ada").await;
    let standing = app.without_cache().api.get(path).await;
    assert_eq!(standing.body["rank"], Value::Null);
    Ok(())
}

/// Activity that was counted after the board had been archived and deleted counts on other boards only.
#[tokio::test(flavor = "multi_thread")]
async fn archived_board_is_not_rebuilt() -> TestResult {
    let app = JournalApp::start(|worker| worker);
    let [ada, bob] = peers(["ada", "bob"]);
    app.send(like(&ada, "p", 3000)).await;
    let name = format!("d:{}", day(3000));
    let (board, archived) = (app.key(&format!("b{name}")), app.key("a"));
    let mut redis = app.redis();
    redis_command::<i64>(&mut redis, &["DEL", &board])?;
    redis_command::<i64>(&mut redis, &["SADD", &archived, &name])?;
    app.send(like(&bob, "p", 3000)).await;
    assert_eq!(redis_command::<i64>(&mut redis, &["EXISTS", &board])?, 0);
    let before: Vec<String> = redis_command(&mut redis, &["SMEMBERS", &archived])?;

    assert_verified(&app)?;
    rebuild(&app, &[])?;
    let path = format!("/v1/ranking/day?date={}", day(3000));
    let board = app.without_cache().api.get(&path).await;
    assert_eq!(board.body["total"], 0);
    let all = app.without_cache().api.get("/v1/ranking/all").await;
    assert_eq!(all.body["total"], 2);
    assert_eq!(
        redis_command::<Vec<String>>(&mut redis, &["SMEMBERS", &archived])?,
        before
    );
    Ok(())
}

/// Users are erased while a rebuild is interrupted, after their data was replayed.
#[tokio::test(flavor = "multi_thread")]
async fn erased_users_are_not_rebuilt() -> TestResult {
    let app = JournalApp::start(|worker| worker);
    app.fill().await;
    app.lose_data().await?;
    // The run stops before the swap.
    let forwarder = Forwarder::to(&app.store());
    kill_before_swap(&app, &forwarder).await?;
    let data = format!("{:?}", app.data()?);
    assert!(
        data.contains("2m:ada") && data.contains("2m:many"),
        "{data}"
    );

    app.delete("/v1/users/many").await;
    app.delete("/v1/users/ada").await;
    // Activity after the erasure is kept.
    let later = json!({"user": "ada", "action": "like", "target": "later"});
    app.send(later).await;
    let output = rebuild(&app, &[])?;
    let keys = app.data()?;
    let data = format!("{keys:?}");
    assert!(!data.contains("many"), "{output}");
    let keys: Vec<_> = keys.keys().filter(|key| key.ends_with(":ada")).collect();
    assert_eq!(keys.len(), 2, "{keys:?}");
    assert!(!data.contains("Ada \\\"the first"), "{output}");
    let path = "/v1/ranking/all/users/ada";
    let standing = app.without_cache().api.get(path).await;
    assert_eq!(standing.body["score"], 2);
    let delayed = json!({"user": "many", "action": "visit", "target": "/", "at": noon(1)});
    assert_eq!(app.send(delayed).await.body["outcome"], "stale");
    assert_verified(&app)
}
