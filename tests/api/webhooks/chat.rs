//! Messages to channels of Discord and Slack. A server of the test stands in for both.

use test_support::{Value, json};

use super::{receiver, start_with};
use crate::bodies::{dated, like};
use crate::clock::{day, noon};

const NAME: &str = "<@1> *Ada* & @everyone";

/// Returns what a channel receives, sorted.
async fn messages(url: &str) -> Vec<Value> {
    let server = receiver();
    let app = start_with(|worker| {
        let worker = worker.json("LEVELS", json!({"First *": 1}));
        let worker = worker.json("WEBHOOKS", json!([{ "url": url }]));
        worker.var("CHAT_SERVER", &server.url())
    });
    app.put_profile("42", json!({ "name": NAME })).await;
    app.counted(dated(like("42", "p"), noon(1))).await;
    let adjustment = json!({"id": "case", "points": -1, "reason": "Bought"});
    app.adjust("b_c", &adjustment).await.assert_status(200);
    app.moderate("b_c", true, false).await;
    app.erase("b_c").await;
    app.worker.minute().await;
    let body = |body: &[u8]| serde_json::from_slice(body).expect("JSON");
    let requests = server.requests();
    let (_, path) = url.split_once(".com").expect("a path");
    assert!(requests.iter().all(|request| request.path == path));
    assert!(
        requests
            .iter()
            .all(|request| !request.headers.contains_key("webhook-signature"))
    );
    let mut messages: Vec<Value> = requests.iter().map(|request| body(&request.body)).collect();
    messages.sort_by_key(Value::to_string);
    messages
}

#[tokio::test]
async fn discord_receives_texts_without_mentions() {
    let name = r"\<\@1\> \*Ada\* \& \@everyone";
    let texts = [
        "Moderation: a member was erased.".to_owned(),
        format!("Most active members of the day {}:\n1. {name}: 2", day(1)),
        format!("{name} has reached the level First \\*."),
    ];
    let message =
        |text: &String| json!({"content": text, "allowed_mentions": {"parse": []}, "flags": 4});
    let expected: Vec<Value> = texts.iter().map(message).collect();
    assert_eq!(
        messages("https://discord.com/api/webhooks/1/s3cret").await,
        expected
    );
}

#[tokio::test]
async fn slack_receives_escaped_texts() {
    let name = "&lt;@1&gt; *Ada* &amp; @everyone";
    let texts = [
        format!("{name} has reached the level First *."),
        "Moderation: a member was erased.".to_owned(),
        format!("Most active members of the day {}:\n1. {name}: 2", day(1)),
    ];
    let message = |text: &String| json!({"text": text, "mrkdwn": false, "unfurl_links": false, "unfurl_media": false});
    let expected: Vec<Value> = texts.iter().map(message).collect();
    assert_eq!(
        messages("https://hooks.slack.com/services/T/B/s3cret").await,
        expected
    );
}
