//! Conversion of JSON values to arguments.

use serde_json::Value;

use crate::support::{Gateway, failed, ok};

async fn echo(gateway: &Gateway, argument: &str) -> (u16, Value) {
    gateway.post("/", format!(r#"["ECHO",{argument}]"#)).await
}

#[tokio::test]
async fn numbers_keep_literal_text() {
    let gateway = Gateway::start().await;
    for literal in [
        "12345678901234567890",
        "1.0",
        "-0",
        "1e5",
        "1E+400",
        "0.1000",
        "-9223372036854775808",
    ] {
        assert_eq!(echo(&gateway, literal).await, ok(literal));
    }
}

#[tokio::test]
async fn booleans_become_words() {
    let gateway = Gateway::start().await;
    assert_eq!(echo(&gateway, "true").await, ok("true"));
    assert_eq!(echo(&gateway, "false").await, ok("false"));
}

#[tokio::test]
async fn escapes_and_unicode_become_utf8() {
    let gateway = Gateway::start().await;
    for (argument, text) in [
        (r#""""#, ""),
        (r#""\"\\\/\b\f\n\r\t""#, "\"\\/\u{8}\u{c}\n\r\t"),
        (r#""\u0000\u001f""#, "\u{0}\u{1f}"),
        (r#""h\u00e9 \ud83d\ude00 é 😀""#, "hé 😀 é 😀"),
        (r#""\ud800""#, "\u{fffd}"),
        (r#""a\udfff\ud800b\ud7ff""#, "a\u{fffd}\u{fffd}b\u{d7ff}"),
    ] {
        assert_eq!(echo(&gateway, argument).await, ok(text), "{argument}");
    }
}

#[tokio::test]
async fn null_and_nested_arguments_return_400() {
    let gateway = Gateway::start().await;
    for (argument, error) in [
        ("null", "ERR null args are not supported"),
        ("[1]", "ERR unsupported arg type: \"[\": json.Delim"),
        ("{\"a\":1}", "ERR unsupported arg type: \"{\": json.Delim"),
    ] {
        assert_eq!(echo(&gateway, argument).await, failed(400, error));
        let batch = format!(r#"[["ECHO",1],["ECHO",{argument}]]"#);
        assert_eq!(
            gateway.post("/pipeline", batch.clone()).await,
            failed(400, error)
        );
        assert_eq!(gateway.post("/multi-exec", batch).await, failed(400, error));
    }
}

#[tokio::test]
async fn body_with_invalid_utf8_returns_400() {
    let gateway = Gateway::start().await;
    let response = gateway.post("/", b"[\"ECHO\",\"\xff\"]".to_vec()).await;
    assert_eq!(response, failed(400, "ERR failed to parse command"));
}
