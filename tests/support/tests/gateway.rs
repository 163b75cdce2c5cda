//! The gateway under the harness, and the forwarder in front of it.

use std::time::Duration;

use test_support::{Answer, Api, Fault, Forwarder, Gateway, Method, TOKEN, gateway, json, redis};

async fn set(api: &Api, key: &str, value: &str) -> reqwest::Result<Answer> {
    let body = json!([["SET", key, value]]).to_string();
    let json = &[("content-type", "application/json")];
    api.try_send(Method::POST, "/pipeline", body, json).await
}

fn stored(key: &str) -> Option<String> {
    let mut connection = redis().connection();
    ::redis::cmd("GET").arg(key).query(&mut connection).unwrap()
}

#[tokio::test]
async fn a_private_gateway_comes_back_from_a_kill_on_its_port() {
    let mut gateway = Gateway::spawn(&redis().url());
    let (url, api) = (gateway.url(), Api::new(&gateway.url()).with_key(TOKEN));

    gateway.kill();
    assert!(set(&api, "support:kill", "a").await.is_err());
    gateway.restart();

    assert_eq!(gateway.url(), url);
    let answer = set(&api, "support:kill", "b").await.unwrap();
    answer.assert(200, json!([{ "result": "OK" }]));
    assert_eq!(stored("support:kill").as_deref(), Some("b"));
}

#[tokio::test]
async fn the_forwarder_hands_on_and_records() {
    let forwarder = Forwarder::to(&gateway().url());
    let api = Api::new(&forwarder.url()).with_key(TOKEN);

    let answer = set(&api, "support:record", "1").await.unwrap();
    answer.assert(200, json!([{ "result": "OK" }]));

    assert_eq!(forwarder.count(), 1);
    assert_eq!(forwarder.requests()[0].path, "/pipeline");
    assert_eq!(
        forwarder.requests()[0].commands(),
        [["SET", "support:record", "1"]]
    );
    forwarder.reset();
    assert_eq!(forwarder.count(), 0);
}

#[tokio::test]
async fn a_cut_before_reaches_nothing_and_a_cut_after_everything() {
    let forwarder = Forwarder::to(&gateway().url());
    let api = Api::new(&forwarder.url()).with_key(TOKEN);

    forwarder.fail_next(Fault::CutBefore);
    assert!(set(&api, "support:before", "1").await.is_err());
    assert_eq!(stored("support:before"), None);

    for (fault, key) in [
        (Fault::CutAfter, "support:after"),
        (Fault::HalfAnswer, "support:half"),
    ] {
        forwarder.fail_next(fault);
        assert!(set(&api, key, "1").await.is_err());
        assert_eq!(stored(key).as_deref(), Some("1"));
    }
    set(&api, "support:before", "1")
        .await
        .unwrap()
        .assert_status(200);
}

#[tokio::test]
async fn a_hang_gives_no_answer_and_tells_nobody() {
    let forwarder = Forwarder::to(&gateway().url());
    let api = Api::new(&forwarder.url()).with_key(TOKEN);
    let faults = [
        (Fault::HangBefore, "support:hang-before", None),
        (Fault::HangAfter, "support:hang-after", Some("1")),
        (Fault::HangInAnswer, "support:hang-in", Some("1")),
    ];
    for (fault, key, expected) in faults {
        forwarder.fail_next(fault);
        let patience = Duration::from_millis(300);
        let answer = tokio::time::timeout(patience, set(&api, key, "1")).await;
        assert!(answer.is_err(), "{key} was answered");
        assert_eq!(stored(key).as_deref(), expected);
    }
}

#[tokio::test]
async fn a_made_up_answer_takes_the_place_of_the_store() {
    let forwarder = Forwarder::to(&gateway().url());
    let api = Api::new(&forwarder.url()).with_key(TOKEN);
    forwarder.fail(|_| Some(Fault::Answer(502, "<html>".to_owned())));
    let answer = set(&api, "support:made-up", "1").await.unwrap();
    assert_eq!((answer.status, answer.text.as_str()), (502, "<html>"));
    assert_eq!(stored("support:made-up"), None);
    forwarder.heal();
    set(&api, "support:made-up", "1")
        .await
        .unwrap()
        .assert_status(200);
}
