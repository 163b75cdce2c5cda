//! JSON values → the bytes of arguments.

use serde_json::json;

use crate::support::Gateway;

async fn echoed(gateway: &Gateway, argument: &str) -> (u16, serde_json::Value) {
    gateway.post("/", format!(r#"["ECHO",{argument}]"#)).await
}

#[tokio::test]
async fn a_number_keeps_its_literal_text() {
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
        assert_eq!(
            echoed(&gateway, literal).await,
            (200, json!({ "result": literal }))
        );
    }
}

#[tokio::test]
async fn a_boolean_is_its_word() {
    let gateway = Gateway::start().await;
    assert_eq!(
        echoed(&gateway, "true").await,
        (200, json!({"result": "true"}))
    );
    assert_eq!(
        echoed(&gateway, "false").await,
        (200, json!({"result": "false"}))
    );
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
        assert_eq!(
            echoed(&gateway, argument).await,
            (200, json!({ "result": text })),
            "{argument}"
        );
    }
}

#[tokio::test]
async fn null_and_nested_arguments_are_refused() {
    let gateway = Gateway::start().await;
    for (argument, error) in [
        ("null", "ERR null args are not supported"),
        ("[1]", "ERR unsupported arg type: \"[\": json.Delim"),
        ("{\"a\":1}", "ERR unsupported arg type: \"{\": json.Delim"),
    ] {
        assert_eq!(
            echoed(&gateway, argument).await,
            (400, json!({ "error": error }))
        );
        let batch = format!(r#"[["ECHO",1],["ECHO",{argument}]]"#);
        assert_eq!(
            gateway.post("/pipeline", batch.clone()).await,
            (400, json!({ "error": error }))
        );
        assert_eq!(
            gateway.post("/multi-exec", batch).await,
            (400, json!({ "error": error }))
        );
    }
}

#[tokio::test]
async fn a_body_that_is_not_utf8_is_refused() {
    let gateway = Gateway::start().await;
    let answer = gateway.post("/", b"[\"ECHO\",\"\xff\"]".to_vec()).await;
    assert_eq!(
        answer,
        (400, json!({"error": "ERR failed to parse command"}))
    );
}
