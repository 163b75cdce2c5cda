//! A site of three shards, in one file.

use std::fs;

use test_support::{Fault, Forwarder, Value, gateway, json, redis, shard_among};

use crate::command::{Place, exported, run};
use crate::content::{ask, assert_same, content};
use crate::site::{Site, builder};
use crate::{Tested, answers};

const SHARDS: u32 = 3;

/// A service over so many shards.
fn over(shards: u32, place: &Place) -> Site {
    let worker = builder().var("PREFIX", &place.prefix).store(&place.store);
    let worker = worker.json("SHARDS", json!(shards)).start();
    Site::of(worker.api(), place.clone(), worker)
}

/// A prefix that nobody else has.
fn place(name: &str) -> Place {
    Place {
        store: gateway().url(),
        prefix: format!("y{}-{name}", std::process::id()),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn it_is_the_same_when_it_was_restored_and_with_another_number_it_is_refused() -> Tested {
    let site = over(SHARDS, &place("whole"));
    site.fill().await;
    let folder = tempfile::tempdir()?;
    let file = exported(&site.place, folder.path())?;
    let text = fs::read_to_string(&file)?;
    let first: Value = serde_json::from_str(text.lines().next().unwrap_or_default())?;
    assert_eq!(first["shards"], SHARDS);
    for line in text.lines() {
        let line: Value = serde_json::from_str(line)?;
        // What is one user's says whose it is, and nothing else.
        let kind = line["kind"].as_str().unwrap_or_default();
        let of_user = [
            "profile",
            "flags",
            "history",
            "marks",
            "day-marks",
            "undo-memory",
        ];
        assert!(
            !of_user.contains(&kind) || line["shard"].is_null(),
            "{line}"
        );
    }

    let copied = place("copy");
    let restored = run(&copied, &["restore", &file.to_string_lossy()])?;
    assert_eq!(restored.code, Some(0), "{restored:?}");
    assert!(
        restored.stdout.ends_with(" lines over 3 shards\n"),
        "{restored:?}"
    );
    let mut redis = redis().connection();
    let expected = content(&mut redis, &site.place.prefix)?;
    assert_same(&content(&mut redis, &copied.prefix)?, &expected);
    let copy = over(SHARDS, &copied);
    answers::assert_same(&answers::all(&copy).await, &answers::all(&site).await);

    for other in [1, 2] {
        let answer = over(other, &copied).api.get("/v1/ranking/all").await;
        answer.assert_status(500);
        let told = format!(
            "SHARDS: is {other}, but the data under PREFIX {} was written with 3; set SHARDS back \
             to 3, or choose another PREFIX to start anew",
            copied.prefix
        );
        assert_eq!(answer.body["detail"], told);
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn broken_off_between_two_shards_it_goes_on_and_writes_none_that_is_done() -> Tested {
    let site = over(SHARDS, &place("broken"));
    site.fill().await;
    let folder = tempfile::tempdir()?;
    let file = exported(&site.place, folder.path())?;
    let path = file.to_string_lossy();
    let copied = place("broken-copy");
    let forwarder = Forwarder::to(&copied.store);
    let behind = Place {
        store: forwarder.url(),
        ..copied.clone()
    };
    // The last shard has its stamp, the one before does not get it.
    let stamp = format!("{{{}:1}}s", copied.prefix);
    forwarder.fail(move |request| {
        let text = String::from_utf8_lossy(&request.body);
        let stamps = text.contains("\"EVAL\"") && text.contains("\"SET\"");
        (stamps && text.contains(&stamp)).then_some(Fault::CutBefore)
    });
    let broken = run(&behind, &["restore", &path, "--retries", "0"])?;
    assert_eq!(broken.code, Some(3), "{broken:?}");
    let mut redis = redis().connection();
    for (shard, begins) in [(0, "restoring "), (1, "restoring "), (2, "v2 shards=3 ")] {
        let key = format!("{{{}:{shard}}}s", copied.prefix);
        let held: String = ask(&mut redis, &["GET", &key])?;
        assert!(held.starts_with(begins), "{shard}: {held}");
    }
    let copy = over(SHARDS, &copied);
    copy.api.get("/v1/ranking/all").await.assert_status(500);
    let refused = run(&copied, &["export"])?;
    assert!(
        refused.stderr.contains("has not been finished"),
        "{refused:?}"
    );
    let refused = run(&copied, &["restore", &path])?;
    assert!(refused.stderr.contains("add --continue"), "{refused:?}");

    let profiles = format!("{{{}:2}}p", copied.prefix);
    let _: i64 = ask(&mut redis, &["HSET", &profiles, "new", "{}"])?;
    let done = run(&copied, &["restore", "--continue", &path])?;
    assert_eq!((done.code, done.stderr.as_str()), (Some(0), ""));
    let _: i64 = ask(&mut redis, &["HDEL", &profiles, "new"])?;
    let expected = content(&mut redis, &site.place.prefix)?;
    assert_same(&content(&mut redis, &copied.prefix)?, &expected);
    copy.api.get("/v1/ranking/all").await.assert_status(200);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_one_site_on_all_of_its_shards_is_not_exported() -> Tested {
    let site = over(SHARDS, &place("odd"));
    let mut names = (0..).map(|number| format!("s{number}"));
    let name = names.find(|name| shard_among(name, SHARDS) == 2);
    let name = name.unwrap_or_default();
    site.send(json!({"user": name, "action": "like", "target": "p"}))
        .await;
    let mut redis = redis().connection();
    let prefix = &site.place.prefix;
    let key = |shard: u32, name: &str| format!("{{{prefix}:{shard}}}{name}");

    let stray = key(1, &format!("m:{name}"));
    let _: i64 = ask(&mut redis, &["HSET", &stray, "Lq", "2041795132800000"])?;
    let refused = run(&site.place, &["export"])?;
    assert_eq!(refused.code, Some(3), "{refused:?}");
    let told = format!("{stray} is of a user of shard 2");
    assert!(refused.stderr.contains(&told), "{refused:?}");
    let _: i64 = ask(&mut redis, &["DEL", &stray])?;

    let stamp: String = ask(&mut redis, &["GET", &key(1, "s")])?;
    let other = stamp.replace("decimals=2", "decimals=0");
    let _: String = ask(&mut redis, &["SET", &key(1, "s"), &other])?;
    let refused = run(&site.place, &["export"])?;
    assert_eq!(refused.code, Some(2), "{refused:?}");
    assert!(
        refused.stderr.contains("are of more than one site"),
        "{refused:?}"
    );
    let _: i64 = ask(&mut redis, &["DEL", &key(1, "s")])?;
    let refused = run(&site.place, &["export"])?;
    assert_eq!(refused.code, Some(2), "{refused:?}");
    let told = format!("shard 1 of 3 under the prefix {prefix} has no stamp");
    assert!(refused.stderr.contains(&told), "{refused:?}");
    // An empty prefix has no keys of any shard.
    let _: i64 = ask(&mut redis, &["DEL", &key(0, "s")])?;
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("none.jsonl");
    let lines = [
        r#"{"kind":"export","version":2,"prefix":"ar","instant":"2026-11-20T08:00:00Z","shards":1,"decimals":0,"timezone":"UTC"}"#,
        r#"{"kind":"end","lines":1}"#,
    ];
    fs::write(&file, lines.join("\n"))?;
    let refused = run(&site.place, &["restore", &file.to_string_lossy()])?;
    assert_eq!(refused.code, Some(2), "{refused:?}");
    assert!(refused.stderr.contains("is not empty"), "{refused:?}");
    Ok(())
}
