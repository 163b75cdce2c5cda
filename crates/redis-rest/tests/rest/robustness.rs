//! Every body gets a JSON response, and the gateway then serves the next request.

use proptest::prelude::*;
use reqwest::Method;
use serde_json::json;
use tokio::runtime::Runtime;

use crate::support::{Gateway, ok, send};

/// The endpoints, and a command that accepts any argument.
const PATHS: [&str; 4] = ["/", "/pipeline", "/multi-exec", "/eval/return%20%23ARGV/0"];

#[test]
fn any_body_returns_json() {
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
        let (status, response) = runtime.block_on(async { send(gateway.request(Method::POST, path).body(body)).await.json() });
        prop_assert!(matches!(status, 200 | 400), "{} {}", status, response);
        let results = response.as_array().cloned().unwrap_or_else(|| vec![response.clone()]);
        for result in results {
            let keys: Vec<_> = result.as_object().into_iter().flat_map(|result| result.keys()).collect();
            prop_assert!(keys == ["result"] || keys == ["error"], "{}", response);
        }
        let next = runtime.block_on(gateway.single(json!(["PING"])));
        prop_assert_eq!(next, ok("PONG"));
    });
}
