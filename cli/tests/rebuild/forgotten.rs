//! What a site had forgotten, or put away, stays so.

use test_support::{Value, json, peers};

use crate::Tested;
use crate::command::{rebuilt, verified};
use crate::content::ask;
use crate::journalled::Journalled;
use crate::site::{day, like};

const DAY: i64 = 86_400_000;

/// Moves all that was done so many days into the past.
async fn age(site: &Journalled, days: i64) {
    let moved = format!(
        "UPDATE journal SET entry = json_set(entry, '$.now', CAST(json_extract(entry, '$.now') - {} AS TEXT)) \
         WHERE entry <> '{{}}'",
        days * DAY
    );
    site.sql(&moved).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_written_long_ago_lives_as_long_as_it_would_have() -> Tested {
    // An undo is remembered by the span of days in which it was done: what moves into the past here
    // moves within one.
    let today = jiff::Timestamp::now().as_millisecond() / DAY;
    let kept = if (today - 9) % 31 < 2 { 12 } else { 10 };
    let keep = json!({"day": kept, "week": 20});
    let site = Journalled::start(|worker| worker.json("KEEP_DAYS", keep));
    site.send(like("ada", "p", 0)).await;
    site.send(like("bob", "p", 0)).await;
    let mut undo = like("bob", "p", 0);
    undo["undo"] = json!(true);
    site.send(undo).await;
    let left = |key: &str| -> Result<i64, redis::RedisError> {
        ask(&mut site.redis(), &["PTTL", &site.key_of("ada", key)])
    };
    let today = day(0);
    let (board, week) = (format!("bd:{today}"), format!("bd:{today}:eu"));
    site.lose().await?;
    age(&site, kept - 1).await;
    rebuilt(&site, &[])?;
    for key in [&board, &week] {
        let left = left(key)?;
        assert!(
            (DAY - 3_600_000..=DAY + 3_600_000).contains(&left),
            "{key} {left}"
        );
    }
    let marks = (400 - kept) * DAY..(402 - kept) * DAY;
    assert!(marks.contains(&left("m:ada")?));
    assert_eq!(left("ba:all")?, -1);
    assert_eq!(verified(&site)?.0, Some(0));

    // A key that is there keeps its expiry, whatever the journal says.
    age(&site, 2).await;
    rebuilt(&site, &[])?;
    assert!(left(&board)? > 0);
    assert_eq!(verified(&site)?.0, Some(0));

    site.lose().await?;
    rebuilt(&site, &[])?;
    assert_eq!([left(&board)?, left(&week)?], [-2, -2]);
    assert_eq!(verified(&site)?.0, Some(0));
    let index = site.key_of("ada", "i");
    let names: Vec<String> = ask(&mut site.redis(), &["ZRANGE", &index, "0", "-1"])?;
    assert!(
        !names
            .iter()
            .any(|name| name.contains("bd:") || name.contains('~')),
        "{names:?}"
    );
    let standing = site.reader().api.get("/v1/ranking/all/users/ada").await;
    assert_eq!(standing.body["score"], 2);
    // All that is left is erased, although the index was made anew.
    site.api.delete("/v1/users/ada").await.assert_status(204);
    let standing = site.reader().api.get("/v1/ranking/all/users/ada").await;
    assert_eq!(standing.body["rank"], Value::Null);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_board_that_was_archived_and_gone_is_not_made_anew() -> Tested {
    let site = Journalled::start(|worker| worker);
    let [ada, bob] = peers(["ada", "bob"]);
    site.send(like(&ada, "p", 3000)).await;
    let (old, archived) = (site.key(&format!("bd:{}", day(3000))), site.key("a"));
    let mut redis = site.redis();
    ask::<i64>(&mut redis, &["DEL", &old])?;
    ask::<i64>(&mut redis, &["SADD", &archived, &old])?;
    site.send(like(&bob, "p", 3000)).await;
    assert_eq!(ask::<i64>(&mut redis, &["EXISTS", &old])?, 0);
    let held: Vec<String> = ask(&mut redis, &["SMEMBERS", &archived])?;

    // What bob did counted elsewhere; what was on the board is kept elsewhere.
    let (code, told) = verified(&site)?;
    assert_eq!(code, Some(0), "{told}");
    rebuilt(&site, &[])?;
    let board = site
        .reader()
        .api
        .get(&format!("/v1/ranking/day?date={}", day(3000)))
        .await;
    assert_eq!(board.body["total"], 0);
    let all = site.reader().api.get("/v1/ranking/all").await;
    assert_eq!(all.body["total"], 2);
    assert_eq!(
        ask::<Vec<String>>(&mut redis, &["SMEMBERS", &archived])?,
        held
    );
    Ok(())
}
