//! Conversion of JSON values to arguments.

use serde_json::Value;

use crate::support::{Gateway, failed, ok};

async fn echo(gateway: &Gateway, argument: &str) -> (u16, Value) {
    gateway.post("/", format!(r#"["ECHO",{argument}]"#)).await
}

#[tokio::test]
async fn booleans_become_words() {
    let gateway = Gateway::start().await;
    assert_eq!(echo(&gateway, "true").await, ok("true"));
    assert_eq!(echo(&gateway, "false").await, ok("false"));
}

#[tokio::test]
async fn null_and_nested_arguments_return_400() {
    let gateway = Gateway::start().await;
    for (argument, error) in [
        ("null", "ERR null args are not supported"),
        ("[1]", "ERR unsupported arg type: \"[\": json.Delim"),
        ("{\"a\":1}", "ERR unsupported arg type: \"{\": json.Delim"),
    ] {
        responds!(echo(&gateway, argument) => failed(400, error));
        let batch = format!(r#"[["ECHO",1],["ECHO",{argument}]]"#);
        responds!(gateway.post("/pipeline", batch.clone()) => failed(400, error));
        assert_eq!(gateway.post("/multi-exec", batch).await, failed(400, error));
    }
}

#[tokio::test]
async fn body_with_invalid_utf8_returns_400() {
    let gateway = Gateway::start().await;
    let response = gateway.post("/", b"[\"ECHO\",\"\xff\"]".to_vec()).await;
    assert_eq!(response, failed(400, "ERR failed to parse command"));
}
