//! `POST /v1/activity`: content.

use test_support::{Method, Value, json};

use super::problem::{ID, Problem, fault, faults, invalid, not_undoable, unknown_action};
use super::row::{Row, post};

const ACTION: &str = "must be the name of an action";
const AT: &str = "must be an RFC 3339 date and time such as 2026-11-20T08:00:00Z";
const FIELDS: &str = "is not known; known are user, action, target, undo, at, groups";
const TARGET: &str = "must be a text of 1 to 512 bytes";
const UNDO: &str = "must be true or false";

/// A like with one field set to something else.
fn like(field: &str, value: Value) -> Value {
    let mut like = json!({"user": "42", "action": "like", "target": "q"});
    like[field] = value;
    like
}

/// A like without a field.
fn like_without(field: &str) -> Value {
    let mut like = like("undo", json!(false));
    like.as_object_mut().expect("an object").remove(field);
    like
}

fn one(field: &str, value: Value, detail: &str) -> Row {
    post(&like(field, value), fault(field, detail))
}

pub fn rows() -> Vec<Row> {
    let mut rows = bodies();
    rows.extend(users());
    rows.extend(targets());
    rows.extend(details());
    rows
}

fn bodies() -> Vec<Row> {
    let raw = |body: &[u8], problem| Row::new(Method::POST, "/v1/activity", problem).json(body);
    let syntax =
        |body: &[u8], told: &str| raw(body, invalid(format!("The body is not JSON: {told}.")));
    let object = || invalid("An activity is a JSON object.");
    let required = [("user", ID), ("action", ACTION), ("target", TARGET)];
    vec![
        syntax(b"", "EOF while parsing a value at line 1 column 0"),
        syntax(b"{", "EOF while parsing an object at line 1 column 1"),
        syntax(b"like", "expected value at line 1 column 1"),
        syntax(
            b"{\"user\":\"42\"} {}",
            "trailing characters at line 1 column 15",
        ),
        syntax(b"{'user':'42'}", "key must be a string at line 1 column 2"),
        syntax(b"{\"user\":\"\xff\"}", "it is not plain UTF-8"),
        // A byte more would be U+FFFD itself; and a byte order mark is not left out in silence.
        syntax(b"{\"user\":\"\xef\xbf\"}", "it is not plain UTF-8"),
        // What a lenient reader puts in its place is as long.
        syntax(b"{\"user\":\"\xf0\x9f\x98\"}", "it is not plain UTF-8"),
        syntax(b"\xef\xbb\xbf{}", "it is not plain UTF-8"),
        syntax(
            b"{\"user\":\"\\ud800\"}",
            "unexpected end of hex escape at line 1 column 16",
        ),
        syntax(b"[NaN]", "expected value at line 1 column 2"),
        raw(b"null", object()),
        raw(b"\"like\"", object()),
        raw(b"7", object()),
        raw(b"true", object()),
        raw(b"{}", faults(&required)),
        post(&like("targets", json!("q")), fault("targets", FIELDS)),
        post(
            &like("a/b~c", json!(1)),
            fault_at("a/b~c", "/a~1b~0c", FIELDS),
        ),
        post(&like("User", json!("42")), fault("User", FIELDS)),
    ]
}

/// A fault of a field whose name a pointer escapes.
fn fault_at(_field: &str, pointer: &str, detail: &str) -> Problem {
    fault(pointer.trim_start_matches('/'), detail)
}

fn users() -> Vec<Row> {
    let users = [
        json!(null),
        json!(true),
        json!(4.2),
        json!(1e30),
        json!(["42"]),
        json!({"id": "42"}),
        json!(""),
        json!("."),
        json!(".."),
        json!("4 2"),
        json!("42\n"),
        json!("é"),
        json!("a/b"),
        json!("a#b"),
        json!("a,b"),
        json!("{42}"),
        json!("a*"),
        json!("42\u{0}"),
        json!("u".repeat(65)),
    ];
    let mut rows = vec![post(&like_without("user"), fault("user", ID))];
    rows.extend(users.into_iter().map(|user| one("user", user, ID)));
    rows
}

fn targets() -> Vec<Row> {
    let control = "must not contain control characters";
    let path = "of a visit must be a path beginning with /";
    let visit = |target: &str| {
        let visit = json!({"user": "42", "action": "visit", "target": target});
        post(&visit, fault("target", path))
    };
    vec![
        post(&like_without("target"), fault("target", TARGET)),
        one("target", json!(null), TARGET),
        one("target", json!(7), TARGET),
        one("target", json!(["q"]), TARGET),
        one("target", json!(""), "must be 1 to 512 bytes, not 0"),
        one(
            "target",
            json!("x".repeat(513)),
            "must be 1 to 512 bytes, not 513",
        ),
        one(
            "target",
            json!("é".repeat(257)),
            "must be 1 to 512 bytes, not 514",
        ),
        one("target", json!("a\nb"), control),
        one("target", json!("\u{0}"), control),
        one("target", json!("a\u{7f}"), control),
        one("target", json!("a\u{85}"), control),
        visit("about"),
        visit("https://example.com/about"),
        visit("?a=/"),
        visit(" /"),
    ]
}

fn details() -> Vec<Row> {
    let groups = "must be a list of group ids";
    let each = format!("each {ID}");
    vec![
        post(&like_without("action"), fault("action", ACTION)),
        one("action", json!(7), ACTION),
        one("action", json!(null), ACTION),
        one("undo", json!("true"), UNDO),
        one("undo", json!(1), UNDO),
        one("undo", json!(null), UNDO),
        one("at", json!(1_795_161_600), AT),
        one("at", json!(null), AT),
        one("at", json!(""), AT),
        one("at", json!("yesterday"), AT),
        one("at", json!("2026-11-20"), AT),
        one("at", json!("2026-11-20T08:00:00"), AT),
        one("at", json!("2026-11-20 08:00:00Z"), AT),
        one("at", json!("2026-11-20T08:00Z"), AT),
        one("at", json!("2026-11-20T08:00:00.Z"), AT),
        one("at", json!("2026-11-20T08:00:00+0800"), AT),
        one("at", json!("2026-02-29T08:00:00Z"), AT),
        one("at", json!("0001-01-01T23:59:59Z"), AT),
        one("at", json!("0000-06-01T08:00:00Z"), AT),
        one("at", json!("2026-13-01T08:00:00Z"), AT),
        one("at", json!("2026-11-20T24:00:00Z"), AT),
        one("at", json!("2026-11-20T08:60:00Z"), AT),
        one("at", json!("2026-11-20T08:00:00+24:00"), AT),
        one("at", json!("+002026-11-20T08:00:00Z"), AT),
        one(
            "at",
            json!("9999-12-31T23:59:59Z"),
            "must not be more than 60 seconds in the future",
        ),
        one(
            "at",
            json!(crate::clock::ahead(300)),
            "must not be more than 60 seconds in the future",
        ),
        one("groups", json!("eu"), groups),
        one("groups", json!(null), groups),
        one("groups", json!({"eu": true}), groups),
        one(
            "groups",
            json!(["a", "b", "c", "d", "e"]),
            "must be at most 4 groups",
        ),
        one(
            "groups",
            json!(["eu", "us", "eu"]),
            "must not repeat a group: eu",
        ),
        one("groups", json!(["e u"]), &each),
        one("groups", json!(["eu", ""]), &each),
        one("groups", json!([".."]), &each),
        one("groups", json!([7]), &each),
        one("groups", json!(["g".repeat(65)]), &each),
    ]
}

/// Well-formed, but no rule allows it; content that is wrong too is told first.
pub fn ruled() -> Vec<Row> {
    let undo = |action: &str| json!({"user": "42", "action": action, "target": "/p", "undo": true});
    let overflow = "The score on one of its boards cannot hold these points.";
    let full = json!({"user": "42", "action": "jackpot", "target": "q"});
    vec![
        post(&like("action", json!("dance")), unknown_action()),
        post(&like("action", json!("")), unknown_action()),
        post(&like("action", json!("Like")), unknown_action()),
        post(&like("action", json!("~like")), unknown_action()),
        post(&undo("visit"), not_undoable("visit")),
        post(&undo("once"), not_undoable("once")),
        post(&undo("dance"), unknown_action()),
        post(&full, Problem::new("score-overflow", overflow)),
    ]
}
