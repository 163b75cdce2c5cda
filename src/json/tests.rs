//! What is taken, what is refused, and where it is.

use super::{MOST_DEPTH, MOST_ITEMS, Refused, read};
use proptest::prelude::*;
use serde_json::{Value, json};

fn refused(text: &str) -> Refused {
    read(text.as_bytes()).expect_err(text)
}

fn repeated(pointer: &str) -> Refused {
    Refused::Repeated(pointer.to_owned())
}

#[test]
fn a_field_that_is_there_twice_is_refused_wherever_it_is() {
    for (text, pointer) in [
        (r#"{"a":1,"a":1}"#, "/a"),
        (r#"{"a":1,"b":2,"a":3}"#, "/a"),
        (r#"{"a":1,"\u0061":2}"#, "/a"),
        (r#"{"":1,"":2}"#, "/"),
        (r#"[7,{"a":{"b/c":[],"b/c":[]}}]"#, "/1/a/b~1c"),
        (r#"{"x~":[0,0,{"a":1,"a":1}]}"#, "/x~0/2/a"),
        // Not JSON behind it: nothing is read that far.
        (r#"{"a":1,"a":"#, "/a"),
    ] {
        assert_eq!(refused(text), repeated(pointer), "{text}");
    }
    // Equal fields of different objects, and fields that differ.
    for text in [
        r#"[{"a":1},{"a":1}]"#,
        r#"{"a":{"a":{"a":1}}}"#,
        r#"{"a":1,"A":1,"á":1}"#,
    ] {
        assert!(read(text.as_bytes()).is_ok(), "{text}");
    }
}

#[test]
fn what_is_nested_too_deep_is_refused_before_its_end_is_looked_for() {
    let lists = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    let objects = |depth: usize| format!("{}0{}", "{\"a\":".repeat(depth), "}".repeat(depth));
    assert!(read(lists(MOST_DEPTH).as_bytes()).is_ok());
    assert!(read(objects(MOST_DEPTH).as_bytes()).is_ok());
    for (text, pointer) in [
        (lists(MOST_DEPTH + 1), "/0".repeat(MOST_DEPTH)),
        (objects(MOST_DEPTH + 1), "/a".repeat(MOST_DEPTH)),
        (lists(100_000), "/0".repeat(MOST_DEPTH)),
        ("[".repeat(100_000), "/0".repeat(MOST_DEPTH)),
        ("{\"a\":".repeat(10_000), "/a".repeat(MOST_DEPTH)),
        (
            lists(MOST_DEPTH).replace("[]", "[7,{}]"),
            "/0".repeat(MOST_DEPTH - 1) + "/1",
        ),
    ] {
        assert_eq!(refused(&text), Refused::Deep(pointer));
    }
}

#[test]
fn a_list_is_as_long_as_is_taken_and_no_longer() {
    let list = |items: usize| format!("[{}0]", "0,".repeat(items - 1));
    assert!(read(list(MOST_ITEMS).as_bytes()).is_ok());
    assert_eq!(refused(&list(MOST_ITEMS + 1)), Refused::Long);
    // Without an end.
    let open = format!("[{}", "0,".repeat(MOST_ITEMS + 1));
    assert_eq!(refused(&open), Refused::Long);
    assert_eq!(
        refused(&format!(r#"{{"groups":{}}}"#, list(MOST_ITEMS + 1))),
        Refused::Long
    );
}

#[test]
fn what_is_not_json_is_told_as_serde_json_tells_it() {
    for text in [
        "",
        "{",
        "like",
        "{} {}",
        "{'a':1}",
        "\"\\ud800\"",
        "[NaN]",
        "[1,]",
        "1e999",
    ] {
        let told = serde_json::from_str::<Value>(text)
            .expect_err(text)
            .to_string();
        assert_eq!(refused(text), Refused::Syntax(told));
    }
    assert!(matches!(read(b"\"\xff\""), Err(Refused::Syntax(_))));
}

/// Any JSON that is neither deep nor long; its fields differ, because they are a map's.
fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(MOST_DEPTH as u32 - 1, 64, 8, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..8).prop_map(Value::from),
            prop::collection::vec((any::<String>(), inner), 0..8)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

/// The same text with the first field of the first object in it repeated.
fn with_a_field_twice(text: &str, name: &str) -> String {
    let field = format!("{}:null", json!(name));
    text.replacen('{', &format!("{{{field},{field},"), 1)
        .replace(",}", "}")
}

proptest! {
    #[test]
    fn without_a_field_twice_it_is_what_serde_json_reads(value in any_json(), pretty: bool) {
        let text = if pretty {
            serde_json::to_string_pretty(&value)
        } else {
            serde_json::to_string(&value)
        }.expect("JSON");
        let theirs: Value = serde_json::from_str(&text).expect("JSON");
        prop_assert_eq!(read(text.as_bytes()), Ok(theirs));
    }

    #[test]
    fn a_field_twice_is_found_in_any_json(value in any_json(), name: String) {
        let text = json!({"in": value, "out": [{}]}).to_string();
        let text = text.strip_suffix("[{}]}").expect("its end");
        let text = format!("{text}{}}}", with_a_field_twice("[{}]", &name));
        let part = name.replace('~', "~0").replace('/', "~1");
        prop_assert_eq!(read(text.as_bytes()), Err(repeated(&format!("/out/0/{part}"))));
    }

    #[test]
    fn whatever_the_bytes_it_takes_no_more_than_serde_json(bytes: Vec<u8>) {
        let theirs: Option<Value> = serde_json::from_slice(&bytes).ok();
        prop_assert!(read(&bytes).is_err() || read(&bytes).ok() == theirs);
    }
}
