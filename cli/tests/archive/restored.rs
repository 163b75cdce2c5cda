//! A site that was restored is the site that was exported.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use serde_json::Map;
use test_support::{Gateway, RedisOptions, RedisServer, Value, json, key_of, redis, shard_of};

use crate::command::{Place, exported, restored, run};
use crate::content::{Held, ask, content};
use crate::site::{Site, like, noon};
use crate::{Tested, answers, content as held, start};

/// What is done to a site later, and tells by its outcome what the site remembers.
fn later() -> Vec<(&'static str, Value)> {
    let undo = |user: &str, action: &str, target: &str| json!({"user": user, "action": action, "target": target, "undo": true});
    vec![
        ("duplicate", like("ada", "p0", 0)),
        ("duplicate", like("ada", "p3000", 3000)),
        (
            "duplicate",
            json!({"user": "ada", "action": "visit", "target": "/"}),
        ),
        (
            "duplicate",
            json!({"user": "many", "action": "visit", "target": "/699"}),
        ),
        (
            "duplicate",
            json!({"user": "many", "action": "bookmark", "target": "/699"}),
        ),
        // Taken back before, and now a delayed copy of it.
        ("stale", like("cyd", "p12", 12)),
        ("stale", like("cyd", "never", 1)),
        ("undone", undo("ada", "like", "p12")),
        ("nothing-to-undo", undo("ada", "like", "p12")),
        ("undone", undo("bob", "like", "p3000")),
        (
            "capped",
            json!({"user": "bob", "action": "wave", "target": "w2"}),
        ),
        ("undone", undo("many", "bookmark", "/3")),
        // A new equal ranks behind those who were there.
        (
            "counted",
            json!({"user": "new", "action": "like", "target": "/m", "groups": ["eu"], "at": noon(0)}),
        ),
        ("counted", like("eve", "later", 12)),
    ]
}

async fn goes_on_alike(site: &Site, copy: &Site) -> Tested {
    for (outcome, activity) in later() {
        let (first, second) = (
            site.send(activity.clone()).await,
            copy.send(activity.clone()).await,
        );
        assert_eq!(first.body["outcome"], outcome, "{activity}: {}", first.text);
        assert_eq!(first.body, second.body, "{activity}");
    }
    let back = json!({"id": "case-1", "undo": true, "reason": "Appeal"});
    let shown = json!({"hidden": false, "frozen": false, "reason": "Over"});
    let path = "/v1/users/fay/adjustments";
    for one in [site, copy] {
        one.api.post(path, &back).await.assert_status(200);
        let path = "/v1/users/bob/moderation";
        one.api.put(path, &shown).await.assert_status(200);
        one.api.delete("/v1/users/dan").await.assert_status(204);
    }
    let [mut first, mut second] = [answers::all(site).await, answers::all(copy).await];
    // The audit list tells when each did it.
    first.retain(|(path, _)| !path.starts_with("/v1/moderation"));
    second.retain(|(path, _)| !path.starts_with("/v1/moderation"));
    answers::assert_same(&second, &first);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_site_in_another_redis_answers_and_goes_on_the_same() -> Tested {
    let site = start();
    site.fill().await;
    let folder = tempfile::tempdir()?;
    let file = exported(&site.place, folder.path())?;
    let expected = content(&mut redis().connection(), &site.place.prefix)?;

    let server = RedisServer::spawn(RedisOptions::default());
    let gateway = Gateway::spawn(&server.url());
    let place = Place {
        store: gateway.url(),
        prefix: site.place.prefix.clone(),
    };
    restored(&place, &file)?;
    held::assert_same(
        &content(&mut server.connection(), &place.prefix)?,
        &expected,
    );
    let copy = Site::on(&place);
    answers::assert_same(&answers::all(&copy).await, &answers::all(&site).await);
    goes_on_alike(&site, &copy).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_site_under_another_prefix_answers_and_goes_on_the_same() -> Tested {
    let site = start();
    site.fill().await;
    let folder = tempfile::tempdir()?;
    let file = exported(&site.place, folder.path())?;
    let place = Place {
        prefix: format!("{}-copy", site.place.prefix),
        ..site.place.clone()
    };
    restored(&place, &file)?;
    let mut redis = redis().connection();
    let expected = content(&mut redis, &site.place.prefix)?;
    held::assert_same(&content(&mut redis, &place.prefix)?, &expected);
    let text = fs::read_to_string(&file)?;
    let again = fs::read_to_string(exported(&place, folder.path())?)?;
    assert_eq!(said(&again)?, said(&text)?);
    let copy = Site::on(&place);
    answers::assert_same(&answers::all(&copy).await, &answers::all(&site).await);
    goes_on_alike(&site, &copy).await
}

#[tokio::test(flavor = "multi_thread")]
async fn who_was_erased_is_known_and_what_is_on_its_way_elsewhere_stays() -> Tested {
    let site = start();
    site.send(like("ada", "p", 0)).await;
    let mut redis = redis().connection();
    let expected = content(&mut redis, &site.place.prefix)?;
    let key = |name: &str| key_of(&site.place.prefix, "gone", name);
    // SHA-1 of "gone", erased two days ago.
    let (hash, at) = ("a6dfdeaa3a44a4c52d44284847d7160892b4017e", noon(2));
    let at: jiff::Timestamp = at.parse()?;
    let at = at.as_millisecond().to_string();
    let _: i64 = ask(&mut redis, &["HSET", &key("e"), hash, &at])?;
    let _: String = ask(&mut redis, &["XADD", &key("o"), "*", "did", "count"])?;
    let _: i64 = ask(&mut redis, &["SADD", &key("a"), &key("ba:all")])?;
    let _: i64 = ask(&mut redis, &["ZADD", &key("~ba:all"), "5", "#"])?;
    let _: i64 = ask(&mut redis, &["HSET", &key("r"), "phase", "replay"])?;
    let folder = tempfile::tempdir()?;
    let file = exported(&site.place, folder.path())?;
    let place = Place {
        prefix: format!("{}-copy", site.place.prefix),
        ..site.place.clone()
    };
    restored(&place, &file)?;
    let mut found = content(&mut redis, &place.prefix)?;
    let erased = BTreeMap::from([(hash.to_owned(), at)]);
    let tombstones = format!("{}}}e", shard_of("gone"));
    assert_eq!(found.remove(&tombstones), Some((Held::Hash(erased), -1)));
    held::assert_same(&found, &expected);
    let copy = Site::on(&place);
    for (user, back, outcome) in [("gone", 3, "stale"), ("gone", 1, "counted")] {
        let answer = copy.send(like(user, "late", back)).await;
        assert_eq!(answer.body["outcome"], outcome, "{back}");
    }

    let rebuilding = "rebuilding v2 shards=1 decimals=2 timezone=UTC";
    let _: String = ask(&mut redis, &["SET", &key("s"), rebuilding])?;
    let refused = run(&site.place, &["export"])?;
    assert_eq!(refused.code, Some(2), "{refused:?}");
    assert!(refused.stderr.contains("a rebuild under the prefix"));
    Ok(())
}

/// What a file says, by the parts of each key: where a long key is cut into lines, and in which order
/// its values come, is up to the store. The first line is left out.
fn said(text: &str) -> Result<BTreeMap<String, BTreeSet<String>>, serde_json::Error> {
    let mut said: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
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
        said.entry(key).or_default().extend(values);
    }
    Ok(said)
}
