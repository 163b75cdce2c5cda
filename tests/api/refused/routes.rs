//! Unknown paths, and methods that a path does not support.

use test_support::Method;

use super::case::{Case, get};
use crate::problem::{method_not_allowed, unknown_path};

/// Paths that no route has.
const UNKNOWN: &str = "
    /nowhere /v1 /v1/ /v2/activity /v1/activity/ /V1/activity //v1/activity /v1/ranking /v1/ranking/day/
    /v1/ranking/day/7 /v1/ranking/day/users/42/around /v1/users/42/ /v1/users/42/likes
    /v1/users/42/activity/2026-11-20 /healthz/ /v1/users/42/card/ /u /u/42/2026/11 /try/ /admin/
    /index.html /admin.html /favicon.ico
";

pub fn cases() -> Vec<Case> {
    let methods = [
        (Method::GET, "/v1/activity", "POST"),
        (Method::PUT, "/v1/activity", "POST"),
        (Method::DELETE, "/v1/activity", "POST"),
        (Method::PATCH, "/v1/activity", "POST"),
        (Method::OPTIONS, "/v1/activity", "POST"),
        (Method::POST, "/v1/ranking/day", "GET, HEAD"),
        (Method::DELETE, "/v1/ranking/day/users/42", "GET, HEAD"),
        (Method::PUT, "/v1/ranking/day/users", "GET, HEAD"),
        (Method::POST, "/v1/users/42/activity", "GET, HEAD"),
        (Method::POST, "/v1/users/42/standings", "GET, HEAD"),
        (Method::POST, "/v1/users/42", "GET, HEAD, PUT, DELETE"),
        (Method::PATCH, "/v1/users/42", "GET, HEAD, PUT, DELETE"),
        (Method::GET, "/v1/users", "PUT"),
        (Method::DELETE, "/v1/users", "PUT"),
        (Method::POST, "/healthz", "GET, HEAD"),
        (Method::PUT, "/openapi.json", "GET, HEAD"),
        (Method::POST, "/", "GET, HEAD"),
        (Method::POST, "/u/42", "GET, HEAD"),
        (Method::POST, "/u/42/2026", "GET, HEAD"),
        (Method::POST, "/try", "GET, HEAD"),
        (Method::POST, "/admin", "GET, HEAD"),
        (Method::POST, "/gallery", "GET, HEAD"),
        (Method::POST, "/docs", "GET, HEAD"),
        (Method::POST, "/v1/users/42/card", "GET, HEAD"),
        (Method::POST, "/v1/status", "GET, HEAD"),
        (Method::POST, "/metrics", "GET, HEAD"),
    ];
    let paths = UNKNOWN.split_whitespace();
    let paths = paths.map(|path| get(path, unknown_path()));
    let methods = methods
        .into_iter()
        .map(|(method, path, allow)| Case::new(method, path, method_not_allowed(allow)));
    paths.chain(methods).collect()
}
