//! Whatever is sent, the answer is JSON and the next request is served.

use proptest::prelude::*;
use reqwest::Method;
use serde_json::json;
use tokio::runtime::Runtime;

use crate::support::{Gateway, ask};

/// The paths of the endpoints, and one command that takes anything.
const PATHS: [&str; 4] = ["/", "/pipeline", "/multi-exec", "/eval/return%20%23ARGV/0"];

#[test]
fn any_body_on_any_endpoint_is_answered_in_json() {
    let runtime = Runtime::new().unwrap();
    let gateway = runtime.block_on(Gateway::start());
    let body = prop_oneof![
        any::<Vec<u8>>(),
        r#"\[(\["(ECHO|EVALSHA|\PC{0,4})"(,"\PC{0,9}"|,[0-9]{1,3}|,null|,\[\]){0,3}\],?){0,3}\]"#
            .prop_map(String::into_bytes),
        prop::collection::vec(any::<String>(), 0..4)
            .prop_map(|strings| json!([strings]).to_string().into_bytes()),
    ];
    proptest!(ProptestConfig::with_cases(300), |(path in prop::sample::select(&PATHS[..]), body in body)| {
        let (status, answer) = runtime.block_on(async { ask(gateway.request(Method::POST, path).body(body)).await.json() });
        prop_assert!(matches!(status, 200 | 400), "{} {}", status, answer);
        let slots = answer.as_array().cloned().unwrap_or_else(|| vec![answer.clone()]);
        for slot in slots {
            let keys: Vec<_> = slot.as_object().into_iter().flat_map(|slot| slot.keys()).collect();
            prop_assert!(keys == ["result"] || keys == ["error"], "{}", answer);
        }
        let next = runtime.block_on(gateway.single(json!(["PING"])));
        prop_assert_eq!(next, (200, json!({"result": "PONG"})));
    });
}
