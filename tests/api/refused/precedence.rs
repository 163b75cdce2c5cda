//! Requests with several errors: the first failing check determines the response.
//!
//! The checks run in this order: path and method, body size, media type, authentication, content,
//! rules.

use test_support::Method;

use super::case::{Case, get, post};
use crate::bodies::{activity, undo};
use crate::problem::{
    ID, body_too_large, field_error, method_not_allowed, unauthenticated, unknown_path,
    unsupported_media_type,
};

pub fn cases() -> Vec<Case> {
    let large = || "{".repeat(256 * 1024 + 1);
    let no_key = || unauthenticated("Send the header Authorization: Bearer <service key>.");
    let anonymous = |case: Case| case.without_header("authorization");
    let plain = |case| anonymous(case).with_header("content-type", "text/plain");
    let path = "/v1/activity";
    vec![
        plain(Case::new(Method::POST, "/nowhere", unknown_path()).json(large())),
        plain(Case::new(Method::PUT, path, method_not_allowed("POST")).json(large())),
        plain(Case::new(Method::POST, path, body_too_large()).json(large())),
        plain(Case::new(Method::PUT, "/v1/users/4%202", body_too_large()).json(large())),
        plain(Case::new(Method::POST, path, unsupported_media_type()).json("{")),
        plain(Case::new(Method::PUT, "/v1/users?dry=1", unsupported_media_type()).json("{")),
        anonymous(Case::new(Method::POST, path, no_key()).json("{")),
        anonymous(Case::new(Method::POST, "/v1/activity?dry=1", no_key()).json("{}")),
        anonymous(Case::new(Method::PUT, "/v1/users/4%202", no_key()).json("7")),
        anonymous(Case::new(Method::DELETE, "/v1/users/4%202", no_key())),
        anonymous(get("/v1/users/4%202/activity?days=0", no_key())),
        post(&activity("4 2", "dance", "q"), field_error("user", ID)),
        post(
            &undo(activity("42", "visit", "q")),
            field_error("target", "of a visit must be a path beginning with /"),
        ),
        get(
            "/v1/ranking/year?limit=0",
            field_error("limit", "must be an integer from 1 to 100"),
        ),
    ]
}
