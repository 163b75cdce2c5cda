//! The gateway and the forwarder of the harness.

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
async fn killed_gateway_restarts_on_its_port() {
    let mut gateway = Gateway::spawn(&redis().url());
    let (url, api) = (gateway.url(), Api::new(&gateway.url()).with_key(TOKEN));

    gateway.kill();
    assert!(set(&api, "support:kill", "a").await.is_err());
    gateway.restart();

    assert_eq!(gateway.url(), url);
    let response = set(&api, "support:kill", "b").await.unwrap();
    response.assert(200, json!([{ "result": "OK" }]));
    assert_eq!(stored("support:kill").as_deref(), Some("b"));
}

#[tokio::test]
async fn forwarder_forwards_and_records() {
    let forwarder = Forwarder::to(&gateway().url());
    let api = Api::new(&forwarder.url()).with_key(TOKEN);

    let response = set(&api, "support:record", "1").await.unwrap();
    response.assert(200, json!([{ "result": "OK" }]));

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
async fn cut_before_stores_nothing_and_cut_after_stores() {
    let forwarder = Forwarder::to(&gateway().url());
    let api = Api::new(&forwarder.url()).with_key(TOKEN);

    forwarder.fail_next(Fault::CutBefore);
    assert!(set(&api, "support:before", "1").await.is_err());
    assert_eq!(stored("support:before"), None);

    for (fault, key) in [
        (Fault::CutAfter, "support:after"),
        (Fault::PartialResponse, "support:half"),
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
async fn hang_never_responds() {
    let forwarder = Forwarder::to(&gateway().url());
    let api = Api::new(&forwarder.url()).with_key(TOKEN);
    let faults = [
        (Fault::HangBefore, "support:hang-before", None),
        (Fault::HangAfter, "support:hang-after", Some("1")),
        (Fault::HangInResponse, "support:hang-in", Some("1")),
    ];
    for (fault, key, expected) in faults {
        forwarder.fail_next(fault);
        let timeout = Duration::from_millis(300);
        let response = tokio::time::timeout(timeout, set(&api, key, "1")).await;
        assert!(response.is_err(), "{key} got a response");
        assert_eq!(stored(key).as_deref(), expected);
    }
}

#[tokio::test]
async fn injected_response_replaces_the_store() {
    let forwarder = Forwarder::to(&gateway().url());
    let api = Api::new(&forwarder.url()).with_key(TOKEN);
    forwarder.fail(|_| Some(Fault::Respond(502, "<html>".to_owned())));
    let response = set(&api, "support:injected", "1").await.unwrap();
    assert_eq!((response.status, response.text.as_str()), (502, "<html>"));
    assert_eq!(stored("support:injected"), None);
    forwarder.heal();
    set(&api, "support:injected", "1")
        .await
        .unwrap()
        .assert_status(200);
}
