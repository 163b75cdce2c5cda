//! The headers of every response.

use crate::request::Request;
use crate::response::Response;

/// Adds the headers that every response has.
#[must_use]
pub fn add(response: Response, request: &Request) -> Response {
    let response = response
        .with("x-request-id", request.id.as_str())
        .with("x-content-type-options", "nosniff");
    if request.is_secure() {
        // Without includeSubDomains: the Worker does not own other hosts of the domain.
        response.with("strict-transport-security", "max-age=31536000")
    } else {
        response
    }
}
