//! `GET /v1/token`: the user of a user token.

use crate::app::RequestContext;
use crate::response::Response;
use activity_rank_core::caller::Caller;
use activity_rank_core::config::Scope;
use activity_rank_core::error::Error;
use serde_json::json;

/// Returns id and groups of the caller's token.
pub fn get(context: RequestContext<'_>, caller: &Caller) -> Result<Response, Error> {
    context.request.reject_parameters()?;
    let Caller::User(Ok(member)) = caller else {
        caller.must_be("", Scope::Activity)?;
        return Err(Error::Forbidden("Only user tokens have a user.".to_owned()));
    };
    let body = json!({"user": member.id, "groups": member.groups});
    Ok(Response::json(&body))
}
