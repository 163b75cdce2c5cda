//! A site that counts while it is rebuilt.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use test_support::{Value, json, until};

use crate::Tested;
use crate::command::{rebuilt, run, verified};
use crate::journalled::Journalled;
use crate::random::Random;
use crate::site::{day, noon};

/// Likes that stand, by user.
type Likes = BTreeMap<String, BTreeSet<String>>;

/// Likes new things, takes some back, and likes again what it liked before; all of it is taken, now
/// or from the queue.
async fn go_on(
    site: &Journalled,
    writer: u64,
    mut likes: Likes,
    done: &AtomicBool,
) -> (Likes, u64) {
    let (mut random, mut queued, mut number) = (Random::new(writer), 0, 0);
    while !done.load(Ordering::Relaxed) {
        let mut items = Vec::new();
        for _ in 0..5 {
            let user = format!("w{writer}-{}", random.below(20));
            let standing = likes.entry(user.clone()).or_default();
            number += 1;
            let like = |target: &str| json!({"user": user, "action": "like", "target": target});
            let any = random.below(standing.len().max(1) as u64) as usize;
            match (random.below(10), standing.iter().nth(any).cloned()) {
                (0 | 1, Some(target)) => items.push(like(&target)),
                (2 | 3, Some(target)) => {
                    let mut undo = like(&target);
                    undo["undo"] = json!(true);
                    standing.remove(&target);
                    items.push(undo);
                }
                _ => {
                    let target = format!("{number}");
                    items.push(like(&target));
                    standing.insert(target);
                }
            }
        }
        let answer = site.send(json!(items)).await;
        for result in answer.body["results"].as_array().into_iter().flatten() {
            assert!(result["error"].is_null(), "{result}");
            queued += u64::from(result["outcome"] == "queued");
        }
    }
    (likes, queued)
}

async fn score(site: &Journalled, user: &str) -> Option<u64> {
    let answer = site.api.get(&format!("/v1/ranking/all/users/{user}")).await;
    answer.body["score"].as_u64()
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_lost_or_doubled_of_what_is_written_meanwhile() -> Tested {
    let site = Arc::new(Journalled::start(|worker| worker.queued(100)));
    site.fill().await;
    Random::new(1).activities(&site.api, 3000).await;
    let mut likes: Vec<Likes> = Vec::new();
    for writer in 0..3 {
        let done = AtomicBool::new(false);
        let some = go_on(&site, writer, Likes::new(), &done);
        let enough = async {
            let path = "/v1/ranking/all/users/w0-0";
            until("likes", async || {
                let _ = site.api.get(path).await;
                (site.content().ok()?.len() > 200).then_some(())
            })
            .await;
            done.store(true, Ordering::Relaxed);
        };
        let ((some, _), ()) = tokio::join!(some, enough);
        likes.push(some);
    }
    site.lose().await?;

    let done = Arc::new(AtomicBool::new(false));
    let writers: Vec<_> = (0..3)
        .zip(likes)
        .map(|(writer, likes)| {
            let (site, done) = (site.clone(), done.clone());
            tokio::spawn(async move { go_on(&site, writer, likes, &done).await })
        })
        .collect();
    let told = {
        let site = site.clone();
        tokio::task::spawn_blocking(move || {
            // It is compared while it goes on.
            let found = run(&site, &["verify"])?;
            assert_eq!(found.code, Some(1), "{found:?}");
            rebuilt(&site, &[])
        })
        .await??
    };
    done.store(true, Ordering::Relaxed);
    let mut queued = 0;
    for writer in writers {
        let (likes, waited) = writer.await?;
        queued += waited;
        for (user, standing) in likes {
            let expected = 2 * standing.len() as u64;
            until(&format!("{expected} points of {user}"), async || {
                (score(&site, &user).await == Some(expected)).then_some(())
            })
            .await;
        }
    }
    assert!(queued > 0, "nothing was held back\n{told}");
    let (code, told) = verified(&site)?;
    assert_eq!(code, Some(0), "{told}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_busy_site_is_verified_without_a_difference() -> Tested {
    let site = Arc::new(Journalled::start(|worker| worker));
    site.fill().await;
    Random::new(2).activities(&site.api, 1000).await;
    let done = Arc::new(AtomicBool::new(false));
    let writer = tokio::spawn({
        let (site, done) = (site.clone(), done.clone());
        async move { go_on(&site, 9, Likes::new(), &done).await }
    });
    for _ in 0..3 {
        let site = site.clone();
        let (code, told) = tokio::task::spawn_blocking(move || verified(&site)).await??;
        assert_eq!(code, Some(0), "{told}");
    }
    done.store(true, Ordering::Relaxed);
    writer.await?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_counted_again_after_a_loss_counts_once_where_it_first_did() -> Tested {
    let site = Journalled::start(|worker| worker);
    let like = |user: &str, target: &str| json!({"user": user, "action": "like", "target": target});
    let mut early = like("ada", "p");
    early["at"] = json!(noon(5));
    site.send(early).await;
    site.send(like("bob", "p")).await;
    site.send(like("bob", "q")).await;
    site.lose().await?;
    for again in [like("ada", "p"), like("bob", "p")] {
        assert_eq!(site.send(again).await.body["outcome"], "counted");
    }
    let mut undo = like("bob", "q");
    undo["undo"] = json!(true);
    assert_eq!(site.send(undo).await.body["outcome"], "nothing-to-undo");

    // Today's board has points of ada that the journal has on another: that is no loss.
    let told = rebuilt(&site, &[])?;
    assert!(
        told.contains("\nof 2 users something was counted again"),
        "{told}"
    );
    let reader = site.reader();
    let entries = async |date: i64| -> Value {
        let path = format!("/v1/ranking/day?date={}", day(date));
        reader.api.get(&path).await.body["entries"].clone()
    };
    let of = |user: &str| json!([{"rank": 1, "score": 2, "user": {"id": user}}]);
    assert_eq!(entries(5).await, of("ada"));
    assert_eq!(entries(0).await, of("bob"));
    let (code, told) = verified(&site)?;
    assert_eq!(code, Some(0), "{told}");
    Ok(())
}
