//! Whatever fails in between, and whoever else does the same, nothing is there twice or missing.

use futures::future::join_all;
use test_support::{Fault, Forwarder, Value, gateway, json, shard_of, shards};

use super::{Journalled, like, start};

/// The targets that are there, in order.
async fn targets(site: &Journalled) -> Vec<String> {
    let rows = site.rows().await;
    let mark = |entry: &Value| entry["mark"].as_str().map(str::to_owned);
    let marks = rows.iter().filter_map(|(_, _, entry)| mark(entry));
    marks
        .map(|mark| mark.trim_start_matches("like:").to_owned())
        .collect()
}

fn numbers(range: std::ops::Range<usize>) -> Vec<String> {
    range.map(|number| number.to_string()).collect()
}

async fn send(site: &Journalled, range: std::ops::Range<usize>) {
    for chunk in numbers(range).chunks(500) {
        let likes: Vec<Value> = chunk.iter().map(|target| like("a", target)).collect();
        site.send(json!(likes)).await;
    }
}

#[tokio::test]
async fn what_was_written_and_not_taken_from_the_outbox_is_written_once() {
    let forwarder = Forwarder::to(&gateway().url());
    let mut site = start(|worker| worker.store(&forwarder.url()));
    let takes =
        |request: &test_support::Recorded| String::from_utf8_lossy(&request.body).contains("XDEL");
    let mut sent = 0;
    for fault in [
        Fault::CutBefore,
        Fault::CutAfter,
        Fault::HalfAnswer,
        Fault::Answer(502, "Bad Gateway".to_owned()),
    ] {
        send(&site, sent..sent + 7).await;
        sent += 7;
        let failing = fault.clone();
        forwarder.fail(move |request| takes(request).then(|| failing.clone()));
        site.wrangler.minute().await;
        assert_eq!(targets(&site).await, numbers(0..sent), "{fault:?}");
        let answer = site.client.get("/v1/journal").await;
        // Whether the store took them away is known or not.
        let waits = !site.waiting().is_empty();
        assert_eq!(answer.status, if waits { 503 } else { 200 }, "{fault:?}");
        forwarder.heal();
        site.wrangler.minute().await;
        assert_eq!(targets(&site).await, numbers(0..sent), "{fault:?}");
        assert_eq!(site.waiting(), [""; 0]);
    }
}

#[tokio::test]
async fn what_comes_back_into_the_outbox_is_not_written_again() {
    let mut site = start(|worker| worker);
    send(&site, 0..20).await;
    let before = site.outbox();
    site.wrangler.minute().await;
    let rows = site.rows().await;
    assert_eq!((rows.len(), site.waiting().len()), (20, 0));
    site.put_back(&before);
    send(&site, 20..30).await;
    assert_eq!(site.waiting().len(), 30);
    site.wrangler.minute().await;
    let again = site.rows().await;
    assert_eq!(again[..20], rows);
    assert_eq!(targets(&site).await, numbers(0..30));
    assert_eq!(site.waiting(), [""; 0]);
}

#[tokio::test]
async fn many_at_once_and_more_than_one_batch_write_each_once_in_order() {
    let mut site = start(|worker| worker);
    send(&site, 0..2500).await;
    let reads = join_all((0..6).map(|_| site.client.get("/v1/journal?limit=5000")));
    let (reads, (), ()) = futures::join!(reads, site.wrangler.minute(), async {
        send(&site, 2500..3000).await
    });
    for answer in reads {
        // All that had been done when it was asked; maybe more.
        let entries = answer.assert_status(200).body["entries"].as_array();
        assert!(entries.is_some_and(|entries| entries.len() >= 2500));
    }
    site.wrangler.minute().await;
    assert_eq!(targets(&site).await, numbers(0..3000));
    assert_eq!(site.waiting(), [""; 0]);
    let last = site.after(2999).await;
    assert_eq!(last.len(), 1);
}

#[tokio::test]
async fn a_database_that_fails_loses_nothing() {
    let mut site = start(|worker| worker);
    send(&site, 0..3).await;
    site.wrangler
        .sql("ALTER TABLE journal RENAME TO away")
        .await;
    site.wrangler.minute().await;
    site.client.get("/v1/journal").await.assert_status(503);
    send(&site, 3..5).await;
    site.erase("nobody").await;
    assert_eq!(site.waiting().len(), 6);
    site.wrangler.logs("JOURNAL: ").await;
    site.wrangler
        .sql("ALTER TABLE away RENAME TO journal")
        .await;
    site.wrangler.minute().await;
    assert_eq!(targets(&site).await, numbers(0..5));
    assert_eq!(site.waiting(), [""; 0]);
}

#[tokio::test]
async fn of_several_shards_each_has_its_order_and_all_are_written() {
    let mut site = start(|worker| worker);
    let user = |number: usize| format!("u{number}");
    let of = |target: &str| {
        let like = |number| json!({"user": user(number), "action": "like", "target": target});
        (0..60).map(like).collect::<Vec<_>>()
    };
    for target in ["1", "2"] {
        site.send(json!(of(target))).await;
    }
    let entries = site.after(0).await;
    assert_eq!(entries.len(), 120);
    for shard in 0..shards() {
        let here = entries.iter().filter(|entry| entry["shard"] == shard);
        let found: Vec<_> = here
            .clone()
            .map(|entry| (entry["user"].clone(), entry["mark"].clone()))
            .collect();
        let users = || (0..60).map(user).filter(|user| shard_of(user) == shard);
        let of = |mark: &'static str| users().map(move |user| (json!(user), json!(mark)));
        let expected: Vec<_> = of("like:1").chain(of("like:2")).collect();
        assert_eq!(found, expected, "shard {shard}");
        let here: Vec<_> = here.cloned().collect();
        let asked = site.client.get(&format!("/v1/journal?shard={shard}")).await;
        assert_eq!(asked.assert_status(200).body["entries"], json!(here));
        let outbox = site.store.key_on(shard, "o");
        assert_eq!(site.store.run::<i64>("XLEN", &[&outbox]), 0);
    }
    // What waits on one shard is brought there for who asks about it, and not about another.
    site.send(like("a", "3")).await;
    let home = shard_of("42");
    let outbox = site.store.key_on(home, "o");
    for (shard, found, left) in [((home + 1) % 64, 0, 1), (home, 1, 0)] {
        let path = format!("/v1/journal?shard={shard}&after={}", entries.len());
        let asked = site.client.get(&path).await;
        let told = asked.assert_status(200).body["entries"].as_array();
        assert_eq!(told.map(Vec::len), Some(found), "{}", asked.text);
        assert_eq!(asked.body["next"], json!(null));
        assert_eq!(site.store.run::<i64>("XLEN", &[&outbox]), left);
    }
}
