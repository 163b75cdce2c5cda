//! Invalid content of `PUT` and `DELETE /v1/users/{user}` and of `PUT /v1/users`.

use test_support::{Method, Value, json};

use super::case::{Case, put};
use crate::clock::day;
use crate::problem::{ID, NO_PARAMETERS, field_error, field_errors, invalid_request};

const CONTROL: &str = "must not contain control characters";
const FIELDS: &str = "is unknown; expected one of name, avatar, url, hidden, public_activity";
const FLAG: &str = "must be true or false";
const LINK: &str = "must be a link that begins with https://";
const NAME: &str = "must be 1 to 80 characters";
const VISIBLE: &str = "must contain a visible character";
const SEPARATOR: &str = "must not contain line or paragraph separators";
const DIRECTION: &str = "must not contain bidirectional embeddings, overrides or isolates";
const USER_INFORMATION: &str = "must not contain user information before the host";
const TEXT: &str = "must be a text";

/// A profile of one field, which is invalid.
fn bad_profile(field: &str, value: Value, detail: &str) -> Case {
    let problem = field_error(field, detail);
    put("/v1/users/42", &json!({field: value}), problem)
}

pub fn cases() -> Vec<Case> {
    let object = || invalid_request("A profile is a JSON object.");
    let array = || invalid_request("Profiles are a JSON array.");
    let syntax = |at| invalid_request(format!("The body is not JSON: EOF while parsing {at}."));
    let unknown = || field_error("dry", NO_PARAMETERS);
    let user = "/v1/users/42";
    let mut cases = vec![
        put(user, &json!([]), object()),
        put(user, &json!("Ada"), object()),
        put(user, &json!(null), object()),
        put("/v1/users", &json!({"id": "42"}), array()),
        put("/v1/users", &json!("42"), array()),
        put("/v1/users?dry=1", &json!([]), unknown()),
        put("/v1/users/42?dry=1", &json!({}), unknown()),
        Case::new(Method::DELETE, "/v1/users/42?dry=1", unknown()),
        Case::new(Method::POST, "/v1/activity?dry=1", unknown()).json("{}"),
        Case::new(Method::PUT, user, syntax("an object at line 1 column 1")).json("{"),
        Case::new(
            Method::PUT,
            "/v1/users",
            syntax("a list at line 1 column 1"),
        )
        .json("["),
        bad_profile(
            "url",
            json!(format!("https://example.com/{}", "x".repeat(2048))),
            "must be at most 2048 bytes",
        ),
        put(
            "/v1/users/4%202",
            &json!({"name": "", "avatar": 1, "url": "x", "age": 3}),
            field_errors(&[
                ("age", FIELDS),
                ("user", ID),
                ("name", NAME),
                ("avatar", TEXT),
                ("url", LINK),
            ]),
        ),
    ];
    for (field, values, detail) in [
        ("id", json!(["42"]), FIELDS),
        ("email", json!(["ada@example.com"]), FIELDS),
        ("hidden", json!([null, "true"]), FLAG),
        ("public_activity", json!([1]), FLAG),
        ("name", json!([null, 7]), TEXT),
        ("name", json!(["", "é".repeat(81)]), NAME),
        ("name", json!(["   ", "\u{200B}\u{FE0F}\u{3164}"]), VISIBLE),
        ("name", json!(["A\u{2028}da", "A\u{2029}da"]), SEPARATOR),
        ("name", json!(["\u{202E}adA", "A\u{2066}da"]), DIRECTION),
        ("name", json!(["A\u{7}", "A\nB"]), CONTROL),
        ("url", json!([["https://example.com/"]]), TEXT),
    ] {
        let values = values.as_array().expect("values").iter();
        cases.extend(values.map(|value| bad_profile(field, value.clone(), detail)));
    }
    let until = |until: i64| {
        let day = |ahead: i64| day(-ahead).to_string();
        json!({"from": day(5), "until": day(until)})
    };
    let last = format!("must be a day from {} to {}", day(-5), day(-96));
    let path = "/v1/users/42/pause";
    cases.extend([
        put(
            path,
            &json!([]),
            invalid_request("A pause is a JSON object."),
        ),
        put(path, &until(4), field_error("until", &last)),
        put(path, &until(97), field_error("until", &last)),
        put(&format!("{path}?dry=1"), &until(5), unknown()),
        Case::new(Method::GET, format!("{path}?dry=1"), unknown()),
        Case::new(
            Method::DELETE,
            format!("{path}?from=2026-02-30"),
            field_error("from", "must be a day such as 2026-11-20"),
        ),
        put(
            "/v1/users/4%202/pause",
            &json!({"from": day(1).to_string(), "to": 1}),
            field_errors(&[
                ("to", "is unknown; expected one of from, until"),
                ("user", ID),
                (
                    "from",
                    &format!("must be a day from {} to {}", day(0), day(-366)),
                ),
                (
                    "until",
                    &format!("must be a day from {} to {}", day(0), day(-366 - 91)),
                ),
            ]),
        ),
    ]);
    let links = [
        "",
        "http://example.com/",
        "javascript:alert(1)",
        "//example.com/",
        "https://",
        "https:///a",
        "https://?a",
        "HTTPS://example.com/",
        "https://example.com/a b",
        "https://example.com/\"",
        "https://example.com/<",
        "https://example.com/\n",
        " https://example.com/",
        "data:,x",
        "https://[",
        "https://example.com/a]",
    ];
    for field in ["avatar", "url"] {
        cases.extend(links.map(|link| bad_profile(field, json!(link), LINK)));
        let links = ["https://good.example@bad.example/", "https://a:b@c"];
        cases.extend(links.map(|link| bad_profile(field, json!(link), USER_INFORMATION)));
    }
    for id in ["4%202", "%FF", "a%2Fb"] {
        let path = format!("/v1/users/{id}");
        cases.push(put(&path, &json!({"name": "Ada"}), field_error("user", ID)));
        cases.push(Case::new(Method::DELETE, path, field_error("user", ID)));
    }
    cases
}
