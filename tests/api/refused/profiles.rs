//! `PUT` and `DELETE /v1/users/{user}`, `PUT /v1/users`: content.

use test_support::{Method, Value, json};

use super::problem::{ID, fault, faults, invalid};
use super::row::{Row, put};

const FIELDS: &str = "is not known; known are name, avatar, url, hidden";
const LINK: &str = "must be a link that begins with https://";
const NAME: &str = "must be 1 to 80 characters";
const NONE: &str = "is not known: there are no parameters here";
const TEXT: &str = "must be a text";

fn one(field: &str, value: Value, detail: &str) -> Row {
    put("/v1/users/42", &json!({field: value}), fault(field, detail))
}

pub fn rows() -> Vec<Row> {
    let object = || invalid("A profile is a JSON object.");
    let array = || invalid("Profiles are a JSON array.");
    let user = "/v1/users/42";
    let mut rows = vec![
        put(user, &json!([]), object()),
        put(user, &json!("Ada"), object()),
        put(user, &json!(null), object()),
        put("/v1/users", &json!({"id": "42"}), array()),
        put("/v1/users", &json!("42"), array()),
        put("/v1/users?dry=1", &json!([]), fault("dry", NONE)),
        put("/v1/users/42?dry=1", &json!({}), fault("dry", NONE)),
        Row::new(Method::DELETE, "/v1/users/42?dry=1", fault("dry", NONE)),
        Row::new(Method::POST, "/v1/activity?dry=1", fault("dry", NONE)).json("{}"),
        Row::new(
            Method::PUT,
            user,
            invalid("The body is not JSON: EOF while parsing an object at line 1 column 1."),
        )
        .json("{"),
        Row::new(
            Method::PUT,
            "/v1/users",
            invalid("The body is not JSON: EOF while parsing a list at line 1 column 1."),
        )
        .json("["),
        one("id", json!("42"), FIELDS),
        one("email", json!("ada@example.com"), FIELDS),
        one("hidden", json!(null), "must be true or false"),
        one("hidden", json!("true"), "must be true or false"),
        one("name", json!(null), TEXT),
        one("name", json!(7), TEXT),
        one("name", json!(""), NAME),
        one("name", json!("   "), NAME),
        one("name", json!("é".repeat(81)), NAME),
        one(
            "name",
            json!("A\u{7}"),
            "must not contain control characters",
        ),
        one("name", json!("A\nB"), "must not contain control characters"),
        one("url", json!(["https://example.com/"]), TEXT),
        one(
            "url",
            json!(format!("https://example.com/{}", "x".repeat(2048))),
            "must be at most 2048 bytes",
        ),
        put(
            "/v1/users/4%202",
            &json!({"name": "", "avatar": 1, "url": "x", "age": 3}),
            faults(&[
                ("age", FIELDS),
                ("user", ID),
                ("name", NAME),
                ("avatar", TEXT),
                ("url", LINK),
            ]),
        ),
    ];
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
        rows.extend(links.map(|link| one(field, json!(link), LINK)));
    }
    for id in ["4%202", "%FF", "a%2Fb"] {
        let path = format!("/v1/users/{id}");
        rows.push(put(&path, &json!({"name": "Ada"}), fault("user", ID)));
        rows.push(Row::new(Method::DELETE, path, fault("user", ID)));
    }
    rows
}
