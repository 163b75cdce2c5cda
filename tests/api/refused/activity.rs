//! Invalid content of `POST /v1/activity`.

use test_support::{Method, Value, json};

use super::case::{Case, post};
use crate::bodies::{self, activity, undo, with};
use crate::problem::{
    ID, Problem, field_error, field_errors, invalid_request, not_undoable, unknown_action,
};

const ACTION: &str = "must be the name of an action";
const AT: &str = "must be an RFC 3339 date and time such as 2026-11-20T08:00:00Z";
const FIELDS: &str =
    "is unknown; expected one of user, action, target, undo, source_gone, at, groups, on, author";
const CONTROL: &str = "must not contain control characters";
const DOTS: &str = "must not be '.' or '..'";
const FUTURE: &str = "must not be more than 60 seconds in the future";
const TARGET: &str = "must be a text of 1 to 512 bytes";
const UNDO: &str = "must be true or false";

/// A like with one field replaced.
fn like(field: &str, value: Value) -> Value {
    with(bodies::like("42", "q"), json!({field: value}))
}

/// A like without a required field.
fn incomplete_like(field: &str, detail: &str) -> Case {
    let mut like = like("undo", json!(false));
    like.as_object_mut().expect("an object").remove(field);
    post(&like, field_error(field, detail))
}

/// A like with one invalid field.
fn bad_like(field: &str, value: Value, detail: &str) -> Case {
    post(&like(field, value), field_error(field, detail))
}

pub fn cases() -> Vec<Case> {
    let mut cases = bodies();
    cases.extend(users());
    cases.extend(targets());
    cases.extend(times());
    cases.extend(other_fields());
    cases
}

fn bodies() -> Vec<Case> {
    let raw = |body: &[u8], problem| Case::new(Method::POST, "/v1/activity", problem).json(body);
    let syntax = |body: &[u8], error: &str| {
        let problem = invalid_request(format!("The body is not JSON: {error}."));
        raw(body, problem)
    };
    let encoding = |body| syntax(body, "it is not valid UTF-8");
    let object = || invalid_request("An activity is a JSON object.");
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
        encoding(b"{\"user\":\"\xff\"}"),
        // The first two bytes of U+FFFD.
        encoding(b"{\"user\":\"\xef\xbf\"}"),
        // As long as the U+FFFD that a lenient decoder puts in its place.
        encoding(b"{\"user\":\"\xf0\x9f\x98\"}"),
        // A lenient decoder drops the byte order mark.
        encoding(b"\xef\xbb\xbf{}"),
        syntax(
            b"{\"user\":\"\\ud800\"}",
            "unexpected end of hex escape at line 1 column 16",
        ),
        syntax(b"[NaN]", "expected value at line 1 column 2"),
        raw(b"null", object()),
        raw(b"\"like\"", object()),
        raw(b"7", object()),
        raw(b"true", object()),
        raw(b"{}", field_errors(&required)),
        bad_like("targets", json!("q"), FIELDS),
        // A JSON pointer escapes `/` as `~1` and `~` as `~0`.
        post(&like("a/b~c", json!(1)), field_error("a~1b~0c", FIELDS)),
        bad_like("User", json!("42"), FIELDS),
    ]
}

fn users() -> Vec<Case> {
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
    let mut cases = vec![incomplete_like("user", ID)];
    cases.extend(users.map(|user| bad_like("user", user, ID)));
    cases
}

fn targets() -> Vec<Case> {
    let long = |target: String| {
        let detail = format!("must be 1 to 512 bytes, not {}", target.len());
        bad_like("target", json!(target), &detail)
    };
    let mut cases = vec![
        incomplete_like("target", TARGET),
        bad_like("target", json!(null), TARGET),
        bad_like("target", json!(7), TARGET),
        bad_like("target", json!(["q"]), TARGET),
        bad_like("target", json!(""), "must be 1 to 512 bytes, not 0"),
        long("x".repeat(513)),
        long("é".repeat(257)),
    ];
    let controls = ["a\nb", "\u{0}", "a\u{7f}", "a\u{85}"];
    cases.extend(controls.map(|target| bad_like("target", json!(target), CONTROL)));
    let path = "of a visit must be a path beginning with /";
    let visits = ["about", "https://example.com/about", "?a=/", " "];
    cases.extend(visits.map(|target| {
        let visit = activity("42", "visit", target);
        post(&visit, field_error("target", path))
    }));
    cases
}

fn times() -> Vec<Case> {
    let times = [
        "",
        "yesterday",
        "2026-11-20",
        "2026-11-20T08:00:00",
        "2026-11-20 08:00:00Z",
        "2026-11-20T08:00Z",
        "2026-11-20T08:00:00.Z",
        "2026-11-20T08:00:00+0800",
        "2026-02-29T08:00:00Z",
        "0001-01-01T23:59:59Z",
        "0000-06-01T08:00:00Z",
        "2026-13-01T08:00:00Z",
        "2026-11-20T24:00:00Z",
        "2026-11-20T08:60:00Z",
        "2026-11-20T08:00:00+24:00",
        "+002026-11-20T08:00:00Z",
    ];
    let mut cases = vec![
        bad_like("at", json!(1_795_161_600), AT),
        bad_like("at", json!(null), AT),
        bad_like("at", json!("9999-12-31T23:59:59Z"), FUTURE),
        bad_like("at", json!(crate::clock::ahead(300)), FUTURE),
    ];
    cases.extend(times.map(|at| bad_like("at", json!(at), AT)));
    cases
}

fn other_fields() -> Vec<Case> {
    let groups = "must be a list of group ids";
    let each = format!("each {ID}");
    vec![
        incomplete_like("action", ACTION),
        bad_like("action", json!(7), ACTION),
        bad_like("action", json!(null), ACTION),
        bad_like("undo", json!("true"), UNDO),
        bad_like("undo", json!(1), UNDO),
        bad_like("undo", json!(null), UNDO),
        bad_like("groups", json!("eu"), groups),
        bad_like("groups", json!(null), groups),
        bad_like("groups", json!({"eu": true}), groups),
        bad_like(
            "groups",
            json!(["a", "b", "c", "d", "e"]),
            "must be at most 4 groups",
        ),
        bad_like(
            "groups",
            json!(["eu", "us", "eu"]),
            "must not repeat a group: eu",
        ),
        bad_like("groups", json!(["e u"]), &each),
        bad_like("groups", json!(["eu", ""]), &each),
        bad_like("groups", json!([".."]), &each),
        bad_like("groups", json!([7]), &each),
        bad_like("groups", json!(["g".repeat(65)]), &each),
        bad_like("on", json!(7), TARGET),
        bad_like("on", json!(null), TARGET),
        bad_like("on", json!("\n"), CONTROL),
        bad_like("on", json!(".."), DOTS),
        bad_like("author", json!("a b"), ID),
        bad_like("author", json!(null), ID),
        post(&with_author("."), field_error("target", DOTS)),
    ]
}

/// A like that registers its target.
fn with_author(target: &str) -> Value {
    with(bodies::like("42", target), json!({"author": "9"}))
}

/// Well-formed activities that no rule allows.
pub fn rule_cases() -> Vec<Case> {
    let undo = |action: &str| undo(activity("42", action, "/p"));
    let overflow = "The score on one of the boards would exceed its maximum.";
    vec![
        post(&like("action", json!("dance")), unknown_action()),
        post(&like("action", json!("")), unknown_action()),
        post(&like("action", json!("Like")), unknown_action()),
        post(&like("action", json!("~like")), unknown_action()),
        post(&undo("visit"), not_undoable("visit")),
        post(&undo("once"), not_undoable("once")),
        post(&undo("dance"), unknown_action()),
        post(
            &like("action", json!("jackpot")),
            Problem::new("score-overflow", overflow),
        ),
    ]
}
