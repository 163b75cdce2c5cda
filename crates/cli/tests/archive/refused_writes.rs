//! Restores on a store that refuses writes in the middle of a script, which Redis does not roll back.

use std::sync::atomic::Ordering;

use test_support::{Forwarder, json, redis};

use crate::app::{Endpoint, like};
use crate::cli::{export, restore, run};
use crate::refusals::{Refusals, assert_refused, refuse};
use crate::stored::{assert_same, read_data, redis_command};
use crate::{TestResult, start};

/// After each refused write the restore fails, the service rejects the data, and `--continue` completes
/// it.
#[tokio::test(flavor = "multi_thread")]
async fn restore_resumes_after_refused_write() -> TestResult {
    let app = start();
    for (user, days_ago) in [("ada", 0), ("bob", 12), ("ada", 12)] {
        app.send(like(user, "x", days_ago)).await;
    }
    let put = async |path: &str, body| app.api.put(path, &body).await.assert_status(200).status;
    put("/v1/users/ada", json!({"name": "Ada", "hidden": true})).await;
    let hide = json!({"hidden": true, "frozen": true, "reason": "Spam"});
    put("/v1/users/bob/moderation", hide).await;
    app.send(like("cyd", "x", 0)).await;
    app.api.delete("/v1/users/cyd").await.assert_status(204);
    let folder = tempfile::tempdir()?;
    let file = export(&app.endpoint, folder.path())?;
    let path = file.to_string_lossy();
    let mut redis = redis().connection();
    let expected = read_data(&mut redis, &app.endpoint.prefix)?;

    let forwarder = Forwarder::to(&app.endpoint.store);
    let endpoint = Endpoint {
        store: forwarder.url(),
        ..Endpoint::unused("refused")
    };
    let mut refusals = Refusals::new();
    while let Some(refused) = refusals.next() {
        let context = format!("{refused:?}");
        let calls = refuse(&forwarder, refused);
        let refused = run(&endpoint, &["restore", &path])?;
        forwarder.heal();
        let has_failed = refused.code != Some(0);
        refusals.record(has_failed, calls.load(Ordering::Relaxed));
        if has_failed {
            assert_refused(&refused, &context);
            // The first write is the claim: without it the prefix is still empty.
            match read_data(&mut redis, &endpoint.prefix)?.is_empty() {
                true => restore(&endpoint, &file)?,
                false => {
                    let resumed = run(&endpoint, &["restore", "--continue", &path])?;
                    assert_eq!(resumed.code, Some(0), "{context}: {resumed:?}");
                }
            }
        }
        let found = read_data(&mut redis, &endpoint.prefix)?;
        assert_same(&found, &expected);
        let pattern = format!("{{{}:*", endpoint.prefix);
        let keys: Vec<String> = redis_command(&mut redis, &["KEYS", &pattern])?;
        for key in &keys {
            let _: u64 = redis_command(&mut redis, &["DEL", key])?;
        }
    }
    refusals.assert_failed(40);
    Ok(())
}
