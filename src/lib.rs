//! activity-rank: counts what members of a site do and ranks the most active.

use worker::{Context, Env, Request, Response, Result, event};

/// Answers every HTTP request.
///
/// # Errors
///
/// None: every failure is answered as a problem document.
#[event(fetch)]
pub async fn fetch(_request: Request, _env: Env, _context: Context) -> Result<Response> {
    Response::ok("activity-rank")
}
