//! Bodies that are too large, and bodies that are not declared as JSON.

use test_support::{Method, json};

use super::case::{Case, post, put};
use crate::bodies::like;
use crate::problem::{body_too_large, invalid_request, too_many_items, unsupported_media_type};

const MAX_BYTES: usize = 256 * 1024;

pub fn cases() -> Vec<Case> {
    let like = like("42", "q");
    let profiles = json!(vec![json!({"id": "42"}); 501]);
    let mut cases = vec![
        post(&json!(vec![&like; 501]), too_many_items()),
        put("/v1/users", &profiles, too_many_items()),
    ];
    let like = like.to_string();
    let routes = [
        (Method::POST, "/v1/activity"),
        (Method::PUT, "/v1/users/42"),
        (Method::PUT, "/v1/users"),
    ];
    for (method, path) in routes {
        let case = |problem| Case::new(method.clone(), path, problem);
        let undeclared = || case(unsupported_media_type()).json(like.clone());
        cases.push(case(body_too_large()).json(" ".repeat(MAX_BYTES + 1)));
        cases.push(undeclared().without_header("content-type"));
        cases.push(undeclared().with_header("content-type", "text/plain"));
    }
    let media_types = [
        "application/x-www-form-urlencoded",
        "application/json5",
        "text/json",
        "multipart/form-data; boundary=application/json",
        "application/problem+json",
        "",
    ];
    cases.extend(media_types.map(|media_type| {
        Case::new(Method::POST, "/v1/activity", unsupported_media_type())
            .json(like.clone())
            .with_header("content-type", media_type)
    }));
    cases
}

/// Bodies to send in chunks, so that their length is unknown until they end.
pub fn chunked_cases() -> Vec<Case> {
    let case = |problem, body: String| Case::new(Method::POST, "/v1/activity", problem).json(body);
    let object = invalid_request("An activity is a JSON object.");
    vec![
        case(body_too_large(), " ".repeat(MAX_BYTES + 1)),
        case(body_too_large(), " ".repeat(4 * MAX_BYTES)),
        case(object, format!("7{}", " ".repeat(MAX_BYTES - 1))),
        case(unsupported_media_type(), "{}".to_owned()).with_header("content-type", "text/plain"),
    ]
}
