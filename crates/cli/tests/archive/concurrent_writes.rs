//! Export while the service writes.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use test_support::{json, redis, rest};

use crate::app::{Endpoint, MANY, TestApp};
use crate::cli::{export, restore};
use crate::stored::{StoredValue, read_data};
use crate::{TestResult, start};

const ORDERS: i64 = 1 << 30;

/// The order counter of every restored board exceeds all restored order numbers, so new activity
/// ranks after equal points.
#[tokio::test(flavor = "multi_thread")]
async fn order_counter_exceeds_exported_orders() -> TestResult {
    let app = Arc::new(start());
    app.fill().await;
    let done = Arc::new(AtomicBool::new(false));
    let writer = tokio::spawn({
        let (app, done) = (app.clone(), done.clone());
        async move {
            let mut sent = 0;
            while !done.load(Ordering::Relaxed) {
                sent += 1;
                let user = format!("u{}", sent % MANY);
                let like = json!({"user": user, "action": "like", "target": format!("live{sent}")});
                app.send(like).await;
            }
            sent
        }
    });
    let folder = tempfile::tempdir()?;
    let endpoint = app.endpoint.clone();
    let to = folder.path().to_owned();
    let file = tokio::task::spawn_blocking(move || export(&endpoint, &to)).await??;
    done.store(true, Ordering::Relaxed);
    assert!(writer.await? > 10, "no writes during the export");

    let endpoint = Endpoint {
        prefix: format!("{}-live", app.endpoint.prefix),
        ..app.endpoint.clone()
    };
    restore(&endpoint, &file)?;
    let mut boards = 0;
    for (key, (value, _)) in read_data(&mut redis().connection(), &endpoint.prefix)? {
        let StoredValue::Sorted(scores) = value else {
            continue;
        };
        if rest(&key) == "i" {
            continue;
        }
        let (mut counter, mut latest) = (None, 0);
        for (member, score) in scores {
            let score: i64 = score.parse()?;
            if member == "#" {
                counter = Some(score);
            } else {
                latest = latest.max(ORDERS - 1 - score.abs() % ORDERS);
            }
        }
        assert!(
            counter.is_some_and(|next| next > latest),
            "{key}: {counter:?}, {latest}"
        );
        boards += 1;
    }
    assert!(boards > 20, "{boards} boards");
    let copy = TestApp::on(&endpoint);
    let like = json!({"user": "late", "action": "like", "target": "after"});
    assert_eq!(copy.send(like).await.body["outcome"], "counted");
    Ok(())
}
