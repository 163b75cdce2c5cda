//! A restored deployment behaves like the exported one.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use serde_json::Map;
use test_support::{Gateway, RedisOptions, RedisServer, Value, json, key_of, redis, shard_of};

use crate::app::{Endpoint, TestApp, like, noon};
use crate::cli::{export, restore, run};
use crate::stored::{StoredValue, assert_same, read_data, redis_command};
use crate::{TestResult, responses, start};

/// Returns activities, each with the outcome that the data of [`TestApp::fill`] leads to.
fn later_activities() -> Vec<(&'static str, Value)> {
    let activity = |user: &str, action: &str, target: &str| json!({"user": user, "action": action, "target": target});
    let undo = |user: &str, action: &str, target: &str| json!({"user": user, "action": action, "target": target, "undo": true});
    vec![
        ("duplicate", like("ada", "p0", 0)),
        ("duplicate", like("ada", "p3000", 3000)),
        ("duplicate", activity("ada", "visit", "/")),
        ("duplicate", activity("many", "visit", "/699")),
        ("duplicate", activity("many", "bookmark", "/699")),
        // Delayed copies of undone likes.
        ("stale", like("cyd", "p12", 12)),
        ("stale", like("cyd", "never", 1)),
        ("undone", undo("ada", "like", "p12")),
        ("nothing-to-undo", undo("ada", "like", "p12")),
        ("undone", undo("bob", "like", "p3000")),
        ("capped", activity("bob", "wave", "w2")),
        ("undone", undo("many", "bookmark", "/3")),
        // Ties with restored users and ranks after them.
        (
            "counted",
            json!({"user": "new", "action": "like", "target": "/m", "groups": ["eu"], "at": noon(0)}),
        ),
        ("counted", like("eve", "later", 12)),
    ]
}

async fn assert_same_behavior(app: &TestApp, copy: &TestApp) -> TestResult {
    responses::assert_same(
        &responses::read_all(copy).await,
        &responses::read_all(app).await,
    );
    for (outcome, activity) in later_activities() {
        let (first, second) = (
            app.send(activity.clone()).await,
            copy.send(activity.clone()).await,
        );
        assert_eq!(first.body["outcome"], outcome, "{activity}: {}", first.text);
        assert_eq!(first.body, second.body, "{activity}");
    }
    let undo = json!({"id": "case-1", "undo": true, "reason": "Appeal"});
    let unhide = json!({"hidden": false, "frozen": false, "reason": "Over"});
    for app in [app, copy] {
        let path = "/v1/users/fay/adjustments";
        app.api.post(path, &undo).await.assert_status(200);
        let path = "/v1/users/bob/moderation";
        app.api.put(path, &unhide).await.assert_status(200);
        app.api.delete("/v1/users/dan").await.assert_status(204);
    }
    let [mut first, mut second] = [
        responses::read_all(app).await,
        responses::read_all(copy).await,
    ];
    // The instants of the audit log differ.
    first.retain(|(path, _)| !path.starts_with("/v1/moderation"));
    second.retain(|(path, _)| !path.starts_with("/v1/moderation"));
    responses::assert_same(&second, &first);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn copy_in_another_redis_behaves_the_same() -> TestResult {
    let app = start();
    app.fill().await;
    let folder = tempfile::tempdir()?;
    let file = export(&app.endpoint, folder.path())?;
    let expected = read_data(&mut redis().connection(), &app.endpoint.prefix)?;

    let server = RedisServer::spawn(RedisOptions::default());
    let gateway = Gateway::spawn(&server.url());
    let endpoint = Endpoint {
        store: gateway.url(),
        prefix: app.endpoint.prefix.clone(),
    };
    restore(&endpoint, &file)?;
    let found = read_data(&mut server.connection(), &endpoint.prefix)?;
    assert_same(&found, &expected);
    let copy = TestApp::on(&endpoint);
    assert_same_behavior(&app, &copy).await
}

/// Returns the endpoint of a copy: another prefix in the same store.
fn copy_of(endpoint: &Endpoint) -> Endpoint {
    Endpoint {
        prefix: format!("{}-copy", endpoint.prefix),
        ..endpoint.clone()
    }
}

/// The copy also exports to the same file, with `--force`.
#[tokio::test(flavor = "multi_thread")]
async fn copy_under_another_prefix_behaves_the_same() -> TestResult {
    let app = start();
    app.fill().await;
    let folder = tempfile::tempdir()?;
    let file = export(&app.endpoint, folder.path())?;
    let endpoint = copy_of(&app.endpoint);
    restore(&endpoint, &file)?;
    let mut redis = redis().connection();
    let expected = read_data(&mut redis, &app.endpoint.prefix)?;
    assert_same(&read_data(&mut redis, &endpoint.prefix)?, &expected);
    let text = fs::read_to_string(&file)?;
    let path = file.to_string_lossy();
    let refused = run(&endpoint, &["export", "--output", &path])?;
    let error = format!("error: {path} exists: add --force to overwrite it\n");
    assert_eq!((refused.code, refused.stderr), (Some(2), error));
    assert_eq!(fs::read_to_string(&file)?, text);
    let args = ["export", "--output", &path, "--force", "--json"];
    let exported = run(&endpoint, &args)?;
    let again = fs::read_to_string(&file)?;
    let summary = format!("{{\"lines\":{}}}\n", again.lines().count());
    assert_eq!((exported.code, exported.stdout), (Some(0), summary));
    assert_eq!(values_by_key(&again)?, values_by_key(&text)?);
    let copy = TestApp::on(&endpoint);
    assert_same_behavior(&app, &copy).await
}

/// The outbox, the set of archived boards and the state of a rebuild are not exported. Data that is
/// locked by a rebuild is not exported at all.
#[tokio::test(flavor = "multi_thread")]
async fn tombstones_are_exported_outbox_is_not() -> TestResult {
    let app = start();
    app.send(like("ada", "p", 0)).await;
    let mut redis = redis().connection();
    let expected = read_data(&mut redis, &app.endpoint.prefix)?;
    let key = |name: &str| key_of(&app.endpoint.prefix, "gone", name);
    // SHA-1 of "gone", erased two days ago.
    let (hash, at) = ("a6dfdeaa3a44a4c52d44284847d7160892b4017e", noon(2));
    let at: jiff::Timestamp = at.parse()?;
    let at = at.as_millisecond().to_string();
    let _: i64 = redis_command(&mut redis, &["HSET", &key("e"), hash, &at])?;
    let _: String = redis_command(&mut redis, &["XADD", &key("o"), "*", "did", "count"])?;
    let _: i64 = redis_command(&mut redis, &["SADD", &key("a"), "a:all"])?;
    let _: i64 = redis_command(&mut redis, &["ZADD", &key("~ba:all"), "5", "#"])?;
    let _: i64 = redis_command(&mut redis, &["HSET", &key("r"), "phase", "replay"])?;
    let _: i64 = redis_command(&mut redis, &["HSET", &key("j"), "late", "1"])?;
    let folder = tempfile::tempdir()?;
    let file = export(&app.endpoint, folder.path())?;
    let endpoint = copy_of(&app.endpoint);
    restore(&endpoint, &file)?;
    let mut found = read_data(&mut redis, &endpoint.prefix)?;
    let erased = BTreeMap::from([(hash.to_owned(), at)]);
    let tombstones = format!("{}}}e", shard_of("gone"));
    assert_eq!(
        found.remove(&tombstones),
        Some((StoredValue::Hash(erased), -1))
    );
    assert_same(&found, &expected);
    let copy = TestApp::on(&endpoint);
    for (days_ago, outcome) in [(3, "stale"), (1, "counted")] {
        let response = copy.send(like("gone", "late", days_ago)).await;
        assert_eq!(response.body["outcome"], outcome, "{days_ago}");
    }

    let rebuilding = "rebuilding v4 generation=1 shards=1 decimals=2 timezone=UTC";
    let _: i64 = redis_command(&mut redis, &["HSET", &key("p"), "\t", rebuilding])?;
    let rejected = run(&app.endpoint, &["export"])?;
    assert_eq!(rejected.code, Some(2), "{rejected:?}");
    assert!(rejected.stderr.contains("a rebuild under the prefix"));
    Ok(())
}

/// Returns the values of a file by the parts of their key. The order of values and the split of long
/// keys into lines depend on the store. The first line is left out.
fn values_by_key(text: &str) -> Result<BTreeMap<String, BTreeSet<String>>, serde_json::Error> {
    let mut values_by_key: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for line in text.lines().skip(1) {
        let mut parts: Map<String, Value> = serde_json::from_str(line)?;
        parts.retain(|name, _| name != "lines");
        let values: Vec<Value> = ["scores", "actions", "marks"]
            .iter()
            .filter_map(|name| parts.remove(*name))
            .collect();
        let values = values.iter().flat_map(|values| match values {
            Value::Object(members) => members
                .iter()
                .map(|(name, value)| format!("{name} {value}"))
                .collect(),
            Value::Array(items) => items.iter().map(Value::to_string).collect(),
            other => vec![other.to_string()],
        });
        let key = Value::Object(parts).to_string();
        values_by_key.entry(key).or_default().extend(values);
    }
    Ok(values_by_key)
}
