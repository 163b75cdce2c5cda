//! Invalid content of `POST /v1/activity`.

use test_support::{Method, Value, json};

use super::case::{Case, post};
use crate::bodies::{self, activity, undo, with};
use crate::problem::{
    ID, Problem, field_error, field_errors, invalid_request, not_undoable, unknown_action,
};

const ACTION: &str = "must be the name of an action";
const AT: &str = "must be an RFC 3339 date and time with an offset such as 2026-11-20T08:00:00Z";
const FIELDS: &str =
    "is unknown; expected one of user, action, target, undo, source_gone, at, groups, on, author";
const CONTROL: &str = "must not contain control characters";
const DOTS: &str = "must not be '.' or '..'";
const FUTURE: &str = "must not be more than 60 seconds in the future";
const MISSING: &str = "is missing";
const NULL: &str = "must not be null";
const TARGET: &str = "must be a text of 1 to 512 bytes";
const UNDO: &str = "must be true or false";

/// A like with one field replaced.
fn like(field: &str, value: Value) -> Value {
    with(bodies::like("42", "q"), json!({field: value}))
}

/// A like without a required field, and with null in its place.
fn incomplete_likes(field: &str) -> Vec<Case> {
    let mut without = like("undo", json!(false));
    without.as_object_mut().expect("an object").remove(field);
    let without = post(&without, field_error(field, MISSING));
    vec![without, bad_like(field, json!(null), NULL)]
}

/// A like with one invalid field.
fn bad_like(field: &str, value: Value, detail: &str) -> Case {
    post(&like(field, value), field_error(field, detail))
}

/// Likes with each of these invalid values of a field.
fn bad_likes(field: &str, values: &Value, detail: &str) -> Vec<Case> {
    let values = values.as_array().expect("values").iter();
    let case = |value: &Value| bad_like(field, value.clone(), detail);
    values.map(case).collect()
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
    let required = ["user", "action", "target"].map(|field| (field, MISSING));
    vec![
        raw(b"", invalid_request("The body is empty.")),
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
        raw(
            b"{\"user\":\"\\ud800\"}",
            field_error(
                "user",
                "must not have half of a surrogate pair, such as \\ud83d alone",
            ),
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
    let users = json!([true, 4.2, 1e30, ["42"], {"id": "42"}, "", ".", "..", "4 2", "42\n", "é", "a/b", "a#b",
        "a,b", "{42}", "a*", "42\u{0}", "u".repeat(65)]);
    let mut cases = incomplete_likes("user");
    cases.extend(bad_likes("user", &users, ID));
    cases
}

fn targets() -> Vec<Case> {
    let long = |target: String| {
        let detail = format!("must be 1 to 512 bytes, not {}", target.len());
        bad_like("target", json!(target), &detail)
    };
    let mut cases = incomplete_likes("target");
    cases.extend([
        bad_like("target", json!(""), "must be 1 to 512 bytes, not 0"),
        long("x".repeat(513)),
        long("é".repeat(257)),
    ]);
    cases.extend(bad_likes("target", &json!([7, ["q"]]), TARGET));
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
    // All invalid instants are in the tests of `core::calendar`.
    let times = json!([
        1_795_161_600,
        null,
        "",
        "yesterday",
        "2026-11-20T08:00:00",
        "0001-01-01T23:59:59Z"
    ]);
    let mut cases = vec![
        bad_like("at", json!("9999-12-31T23:59:59Z"), FUTURE),
        bad_like("at", json!(crate::clock::ahead(300)), FUTURE),
    ];
    cases.extend(bad_likes("at", &times, AT));
    cases
}

fn other_fields() -> Vec<Case> {
    let groups = "must be a list of group ids";
    let each = format!("each {ID}");
    let lists = json!([["e u"], ["eu", ""], [".."], [7], ["g".repeat(65)]]);
    let mut cases = incomplete_likes("action");
    cases.extend([
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
        bad_like("on", json!("\n"), CONTROL),
        bad_like("on", json!(".."), DOTS),
        post(&with_author("."), field_error("target", DOTS)),
    ]);
    for (field, values, detail) in [
        ("action", json!([7]), ACTION),
        ("undo", json!(["true", 1, null]), UNDO),
        ("groups", json!(["eu", null, {"eu": true}]), groups),
        ("groups", lists, &each),
        ("on", json!([7]), TARGET),
        ("on", json!([null]), NULL),
        ("author", json!(["a b"]), ID),
        ("author", json!([null]), NULL),
    ] {
        cases.extend(bad_likes(field, &values, detail));
    }
    cases
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
