//! A store that refuses single writes of an activity that others receive points for, or that hides or deletes a target.

use test_support::{Fault, Refusal, json};

use super::moderation::{delete, two_targets};
use super::{assert_boards, content, deliver, deliver_all};
use crate::app::TestApp;
use crate::bodies::{activity, each, like, undo, with};

/// Each refused write changes nothing, or an array is counted item by item; a retry counts all. If the store also refuses
/// to restore the values before, a retry counts nothing twice.
#[tokio::test]
async fn retry_completes_refused_writes() {
    let (app, forwarder) = TestApp::behind_forwarder(content);
    let array = json!([
        with(like("42", "post-7"), json!({"author": "9"})),
        activity("43", "comment", "post-6"),
        undo(like("44", "post-6")),
        activity("44", "follow", "9"),
    ]);
    let before = json!([
        with(like("44", "post-6"), json!({"author": "8"})),
        activity("9", "visit", "/"),
    ]);
    let mut store = app.store();
    let response = app.send_activity(like("42", "claim")).await;
    response.assert_status(200);
    let boards = async |app: &TestApp| {
        let mut boards = Vec::new();
        for path in ["/v1/content/all", "/v1/authors/all", "/v1/ranking/all"] {
            let mut rows = super::rows(app, path).await;
            // A retry is a later arrival at equal scores.
            rows.sort();
            boards.push(rows);
        }
        boards
    };
    store.clear();
    app.send_activity(before.clone()).await.assert_status(200);
    deliver(&app).await;
    app.send_activity(array.clone()).await.assert_status(200);
    let expected = boards(&app).await;
    assert_eq!(expected[1], [("8".into(), 3), ("9".into(), 4)]);
    store.clear();
    app.send_activity(before.clone()).await.assert_status(200);
    deliver(&app).await;
    let without_undo = json!([array[0], array[1], array[3]]);
    app.send_activity(without_undo).await.assert_status(200);
    let most = boards(&app).await;
    let mut refused = 0;
    for number in 1..=60 {
        for refusal in [Refusal::Only(number), Refusal::From(number)] {
            store.clear();
            app.send_activity(before.clone()).await.assert_status(200);
            deliver_all(&app).await;
            forwarder.fail(move |_| Some(Fault::RefuseWrites(refusal)));
            let response = app.send_activity(array.clone()).await;
            forwarder.heal();
            refused += usize::from(response.status != 200);
            app.send_activity(array.clone()).await.assert_status(200);
            let found = boards(&app).await;
            let context = format!("{refusal:?}: {}", response.text);
            if matches!(refusal, Refusal::Only(_)) {
                assert_eq!(found, expected, "{context}");
            }
            // A store that also refuses to restore the values before keeps them from some boards, for an undo on some:
            // none counts twice.
            for (rows, most) in found.iter().zip(&most) {
                let is_possible = |(id, score): &(String, i64)| {
                    let most = most.iter().find(|(known, _)| known == id);
                    most.is_some_and(|(_, most)| score <= most)
                };
                assert!(rows.iter().all(is_possible), "{context}: {found:?}");
            }
        }
    }
    assert!(refused > 10, "{refused}");
}

/// Each refused write leaves a change that the next request completes.
#[tokio::test]
async fn retry_completes_refused_moderation() {
    let (app, forwarder) = TestApp::behind_forwarder(content);
    two_targets(&app).await;
    let mut store = app.store();
    app.moderate_target("post-7", true).await;
    app.moderate_target("post-7", false).await;
    delete(&app, "post-7").await;
    let mut refused = 0;
    for number in 1..=16 {
        for refusal in [Refusal::Only(number), Refusal::From(number)] {
            store.clear();
            two_targets(&app).await;
            deliver_all(&app).await;
            for hidden in [true, false] {
                let body = json!({"hidden": hidden, "reason": "A test"});
                let path = "/v1/targets/post-7/moderation";
                forwarder.fail(move |_| Some(Fault::RefuseWrites(refusal)));
                refused += usize::from(app.put(path, &body).await.status != 200);
                forwarder.heal();
                app.write(path, &body).await;
                let expected = [("post-7", 4), ("post-8", 2)];
                let expected = &expected[usize::from(hidden)..];
                assert_boards(&app, expected, &[("9", 6)]).await;
            }
            forwarder.fail(move |_| Some(Fault::RefuseWrites(refusal)));
            refused += usize::from(delete(&app, "post-7").await != 204);
            forwarder.heal();
            assert_eq!(delete(&app, "post-7").await, 204);
            assert_boards(&app, &[("post-8", 2)], &[("9", 6)]).await;
            let log = app.read("/v1/moderation").await;
            let actions = each(&log["entries"], "/action");
            assert_eq!(actions, ["delete", "unhide", "hide"], "{refusal:?}");
        }
    }
    assert!(refused > 20, "{refused}");
}
