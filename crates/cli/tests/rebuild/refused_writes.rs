//! Rebuilds on a store that refuses writes in the middle of a script, which Redis does not roll back.

use std::sync::atomic::Ordering;

use test_support::{Forwarder, json, rest};

use crate::TestResult;
use crate::app::{like, noon};
use crate::cli::{assert_verified, command_at, finish, rebuild, succeed};
use crate::journal_app::JournalApp;
use crate::observed::{sorted_values, without_repeat};
use crate::recount::{RecountFile, recounts};
use crate::refusals::{Refusals, Refused, assert_refused, refuse};
use crate::stored::{StoredData, StoredValue};

/// Tolerance of expiries in ms.
const HOUR: i64 = 3_600_000;

/// Starts a service with boards of content.
fn start() -> JournalApp {
    JournalApp::start(|worker| worker.var("CONTENT_PERIODS", "all"))
}

/// Changes of every kind: each becomes an entry of the journal.
async fn fill(app: &JournalApp) {
    for target in ["x", "y", "z"] {
        let path = format!("/v1/targets/{target}");
        app.put(&path, &json!({"author": "eve"})).await;
    }
    for (user, target) in [("ada", "x"), ("bob", "x"), ("ada", "y"), ("cyd", "x")] {
        app.send(like(user, target, 0)).await;
    }
    app.act("ada", "visit", "/").await;
    let mut undo = like("ada", "y", 0);
    undo["undo"] = json!(true);
    app.send(undo).await;
    app.send(like("ada", "y", 0)).await;
    app.put("/v1/users/ada", &json!({"name": "Ada"})).await;
    let bob = json!({"name": "Bob", "hidden": true});
    app.put("/v1/users/bob", &bob).await;
    app.moderate("ada", true, true).await;
    for (field, value) in [("points", json!(-1)), ("undo", json!(true))] {
        let adjustment = json!({"id": "case-1", "reason": "Case", field: value});
        app.adjust("ada", adjustment).await;
    }
    let hide = json!({"hidden": true, "reason": "Spam"});
    app.put("/v1/targets/x/moderation", &hide).await;
    app.send(like("dan", "z", 0)).await;
    for path in ["/v1/targets/z", "/v1/users/cyd", "/v1/targets/y"] {
        app.delete(path).await;
    }
    let mut undo = like("dan", "z", 0);
    undo["undo"] = json!(true);
    app.send(undo).await;
    app.wait_for_receivers().await;
}

/// Returns the comparable part of a value: members of the index, boards by rank, active records without
/// repeats, and the audit log with users instead of numbers and without ids. A retry uses other
/// numbers and ids, and repeats activities.
fn comparable(data: &StoredData, key: &str) -> Vec<String> {
    let value = &data[key].0;
    let subjects = key.replace(rest(key), "w");
    let user_of = |number: &str| match data.get(&subjects) {
        Some((StoredValue::Hash(details), _)) => details.get(&format!("s{number}")),
        Some(_) | None => None,
    };
    let mut lines: Vec<String> = match (rest(key), value.clone()) {
        ("i", StoredValue::Sorted(entries)) => entries.into_iter().map(|entry| entry.0).collect(),
        (name, StoredValue::Sorted(scores)) => return sorted_values(name, scores),
        ("p", StoredValue::Hash(fields)) => {
            let line = |(field, value): (String, String)| {
                if !field.starts_with('!') {
                    return format!("{field} {value}");
                }
                let (letters, number) = value.split_once(',').unwrap_or((&value, ""));
                format!("{field} {letters} {:?}", user_of(number))
            };
            fields.into_iter().map(line).collect()
        }
        ("w", StoredValue::Hash(details)) => {
            let details = details.into_iter();
            let details = details.filter(|(field, _)| field != "subjects");
            details.map(|(_, detail)| detail).collect()
        }
        (name, StoredValue::Hash(fields)) => {
            let line = |(field, value): (String, String)| match name.starts_with("m:") {
                true => format!("{field} {}", without_repeat(&value)),
                false => format!("{field} {value}"),
            };
            fields.into_iter().map(line).collect()
        }
        (_, StoredValue::Stream(entries, _)) => {
            let line = |(_, mut fields): (String, Vec<String>)| {
                let user = user_of(&fields[3]).cloned();
                fields[3] = user.unwrap_or_default();
                fields.join(" ")
            };
            return entries.into_iter().map(line).collect();
        }
        (_, StoredValue::Text(text)) => vec![text],
        (_, StoredValue::Set(members)) => members.into_iter().collect(),
    };
    lines.sort();
    lines
}

/// Asserts that all values are equal, and expiries nearly so.
#[track_caller]
fn assert_same(found: &StoredData, expected: &StoredData, context: &str) {
    let keys = |data: &StoredData| data.keys().cloned().collect::<Vec<_>>();
    assert_eq!(keys(found), keys(expected), "{context}");
    for (key, (_, expiry)) in expected {
        let values = [found, expected].map(|data| comparable(data, key));
        assert_eq!(values[0], values[1], "{context}: {key}");
        let (_, found) = found[key];
        let is_near = (*expiry < 0) == (found < 0) && (expiry - found).abs() <= HOUR;
        assert!(is_near, "{context}: {key} expires at {found}");
    }
}

/// Refuses writes of a command, and runs it again after each. `before` precedes each run, and `check` follows it with
/// whether the store has refused something.
async fn refuse_writes(
    app: &JournalApp,
    args: &[&str],
    least: usize,
    before: impl AsyncFn() -> TestResult,
    check: impl AsyncFn(&Refused, bool) -> TestResult,
) -> TestResult {
    let forwarder = Forwarder::to(&app.store());
    let mut refusals = Refusals::new();
    while let Some(refused) = refusals.next() {
        before().await?;
        let calls = refuse(&forwarder, refused);
        let run = finish(command_at(app, &forwarder.url(), args))?;
        forwarder.heal();
        let has_failed = run.code != Some(0);
        refusals.record(has_failed, calls.load(Ordering::Relaxed));
        if has_failed {
            let context = format!("{refused:?}");
            assert_refused(&run, &context);
            println!("{context}");
            succeed(app, args)?;
        }
        check(&refused, has_failed).await?;
    }
    refusals.assert_failed(least);
    Ok(())
}

/// After each refused write of each script, the same rebuild completes with the data of an undisturbed
/// one.
#[tokio::test(flavor = "multi_thread")]
async fn rebuild_resumes_after_refused_write() -> TestResult {
    let app = start();
    fill(&app).await;
    app.lose_data().await?;
    rebuild(&app, &[])?;
    assert_verified(&app)?;
    let expected = app.data()?;
    let lose = async || Ok(app.lose_data().await?);
    let check = async |refused: &Refused, _| {
        assert_same(&app.data()?, &expected, &format!("{refused:?}"));
        Ok(())
    };
    refuse_writes(&app, &["rebuild"], 40, lose, check).await
}

/// The journal has each completed recount once: the swap adds its entry.
async fn refuse_recounts(file: &RecountFile) -> TestResult {
    let app = JournalApp::start(|worker| worker.json("SHARDS", json!(1)));
    for user in ["ada", "bob"] {
        app.send(like(user, "x", 0)).await;
    }
    let drained = async || {
        app.api.get("/v1/journal").await.assert_status(200);
        let mut data = app.data()?;
        // Whether the entry of the recount was drained before the end of the swap.
        data.retain(|key, _| rest(key) != "j");
        redis::RedisResult::Ok(data)
    };
    file.apply(&app)?;
    let expected = drained().await?;
    // Each entry of a recount adds writes to the next replay.
    let forget = "DELETE FROM journal WHERE (entry ->> 'did' = 'rules' OR entry ->> 'recount' = '1') \
        AND n > (SELECT MIN(n) FROM journal WHERE entry ->> 'did' = 'rules' OR entry ->> 'recount' = '1')";
    let check = async |refused: &Refused, has_failed| {
        let context = format!("{refused:?}");
        assert_same(&drained().await?, &expected, &context);
        let found = recounts(&app).await - 1;
        // The store may have refused to remove the entry of a swap that it has refused.
        let is_twice = has_failed && refused.and_later && found == 2;
        assert!(found == 1 || is_twice, "{context}: {found}");
        app.sql(forget).await;
        Ok(())
    };
    let args = file.args(&["--apply", "--yes"]);
    refuse_writes(&app, &args, 20, async || Ok(()), check).await?;
    assert_verified(&app)
}

#[tokio::test(flavor = "multi_thread")]
async fn recount_resumes_after_refused_write() -> TestResult {
    refuse_recounts(&RecountFile::new(&json!({"like": {"points": 5}}))?).await
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "soak"]
async fn recount_of_an_event_resumes_after_refused_write() -> TestResult {
    let definition = json!({"title": "Season", "from": noon(1), "to": noon(-1)});
    refuse_recounts(&RecountFile::for_event("season", &definition)?).await
}

/// A refused write never changes what `verify` finds, nor the data.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "soak"]
async fn verify_resumes_after_refused_write() -> TestResult {
    let app = start();
    fill(&app).await;
    assert_verified(&app)?;
    let expected = app.data()?;
    let check = async |refused: &Refused, _| {
        assert_same(&app.data()?, &expected, &format!("{refused:?}"));
        Ok(())
    };
    refuse_writes(&app, &["verify"], 40, async || Ok(()), check).await
}
