//! Accepted and rejected JSON texts, and the pointers of errors.

use super::{Items, JsonError, MAX_DEPTH, MAX_ITEMS, read, read_items};
use proptest::prelude::*;
use serde_json::{Value, json};

fn error(text: &str) -> JsonError {
    read(text.as_bytes()).expect_err(text)
}

fn repeated(pointer: &str) -> JsonError {
    JsonError::RepeatedField(pointer.to_owned())
}

#[test]
fn repeated_field_is_rejected_at_any_depth() {
    for (text, pointer) in [
        (r#"{"a":1,"a":1}"#, "/a"),
        (r#"{"a":1,"b":2,"a":3}"#, "/a"),
        (r#"{"a":1,"\u0061":2}"#, "/a"),
        (r#"{"":1,"":2}"#, "/"),
        (r#"[7,{"a":{"b/c":[],"b/c":[]}}]"#, "/1/a/b~1c"),
        (r#"{"x~":[0,0,{"a":1,"a":1}]}"#, "/x~0/2/a"),
        // The syntax error after the repeated field is not reached.
        (r#"{"a":1,"a":"#, "/a"),
    ] {
        assert_eq!(error(text), repeated(pointer), "{text}");
    }
    // Equal names in different objects, and different names.
    for text in [
        r#"[{"a":1},{"a":1}]"#,
        r#"{"a":{"a":{"a":1}}}"#,
        r#"{"a":1,"A":1,"á":1}"#,
    ] {
        assert!(read(text.as_bytes()).is_ok(), "{text}");
    }
}

#[test]
fn deep_nesting_is_rejected_before_its_end() {
    let arrays = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    let objects = |depth: usize| format!("{}0{}", "{\"a\":".repeat(depth), "}".repeat(depth));
    assert!(read(arrays(MAX_DEPTH).as_bytes()).is_ok());
    assert!(read(objects(MAX_DEPTH).as_bytes()).is_ok());
    for (text, pointer) in [
        (arrays(MAX_DEPTH + 1), "/0".repeat(MAX_DEPTH)),
        (objects(MAX_DEPTH + 1), "/a".repeat(MAX_DEPTH)),
        (arrays(100_000), "/0".repeat(MAX_DEPTH)),
        ("[".repeat(100_000), "/0".repeat(MAX_DEPTH)),
        ("{\"a\":".repeat(10_000), "/a".repeat(MAX_DEPTH)),
        (
            arrays(MAX_DEPTH).replace("[]", "[7,{}]"),
            "/0".repeat(MAX_DEPTH - 1) + "/1",
        ),
    ] {
        assert_eq!(error(&text), JsonError::TooDeep(pointer));
    }
}

#[test]
fn array_length_is_limited() {
    let array = |items: usize| format!("[{}0]", "0,".repeat(items - 1));
    assert!(read(array(MAX_ITEMS).as_bytes()).is_ok());
    assert_eq!(error(&array(MAX_ITEMS + 1)), JsonError::TooLong);
    // An unclosed array.
    let unclosed = format!("[{}", "0,".repeat(MAX_ITEMS + 1));
    assert_eq!(error(&unclosed), JsonError::TooLong);
    assert_eq!(
        error(&format!(r#"{{"groups":{}}}"#, array(MAX_ITEMS + 1))),
        JsonError::TooLong
    );
}

#[test]
fn syntax_errors_match_serde_json() {
    for text in [
        "",
        "{",
        "like",
        "{} {}",
        "{'a':1}",
        "[NaN]",
        "[1,]",
        "[1e999,]",
        "{\"\\ud800\"}",
    ] {
        let message = serde_json::from_str::<Value>(text)
            .expect_err(text)
            .to_string();
        assert_eq!(error(text), JsonError::Syntax(message));
    }
    for text in [&b"\"\xff\""[..], b"[1e999,\"\xff\"]"] {
        assert!(matches!(read(text), Err(JsonError::Syntax(_))));
    }
}

#[test]
fn bad_value_fails_its_item_alone() {
    let (text, number) = (
        "must not have half of a surrogate pair, such as \\ud83d alone",
        "must not have a number beyond the range of 64-bit floating point",
    );
    for (item, pointer, detail) in [
        (r#"{"a":["\ud83d x"]}"#, "/a/0", text),
        (r#"{"\udc00":1}"#, "", text),
        (r#""\ud83d""#, "", text),
        (r#"{"a":-1e999}"#, "/a", number),
    ] {
        let bad = JsonError::Value(pointer.to_owned(), detail);
        assert_eq!(error(item), bad);
        let array = format!(r#" [1, {item} , {{"a":2}}]"#);
        let items = vec![Ok(json!(1)), Err(bad.into()), Ok(json!({"a": 2}))];
        assert_eq!(read_items(array.as_bytes()), Ok(Items::Array(items)));
        // Other errors are of the whole array.
        let array = format!(r#"[{item},{{"a":1,"a":1}}]"#);
        assert_eq!(read_items(array.as_bytes()), Err(repeated("/1/a")));
        let array = format!("[{item}{}]", ",0".repeat(MAX_ITEMS));
        assert_eq!(read_items(array.as_bytes()), Err(JsonError::TooLong));
    }
}

/// Generates JSON within the limits of depth and length. Names are unique: fields come from a map.
fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(MAX_DEPTH as u32 - 1, 64, 8, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..8).prop_map(Value::from),
            prop::collection::vec((any::<String>(), inner), 0..8)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn valid_json_parses_as_in_serde_json(value in any_json(), pretty: bool) {
        let text = if pretty {
            serde_json::to_string_pretty(&value)
        } else {
            serde_json::to_string(&value)
        }.expect("JSON");
        let expected: Value = serde_json::from_str(&text).expect("JSON");
        prop_assert_eq!(read(text.as_bytes()), Ok(expected));
    }

    #[test]
    fn repeated_field_is_found_in_any_json(value in any_json(), name: String) {
        let field = format!("{}:null", json!(name));
        let text = format!(r#"{{"in":{value},"out":[{{{field},{field}}}]}}"#);
        let part = name.replace('~', "~0").replace('/', "~1");
        prop_assert_eq!(read(text.as_bytes()), Err(repeated(&format!("/out/0/{part}"))));
    }

    #[test]
    fn accepted_bytes_are_valid_in_serde_json(bytes: Vec<u8>) {
        let expected: Option<Value> = serde_json::from_slice(&bytes).ok();
        prop_assert!(read(&bytes).is_err() || read(&bytes).ok() == expected);
    }
}
