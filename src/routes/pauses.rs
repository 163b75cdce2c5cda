//! `/v1/users/{user}/pause`: days on which a user's streaks rest.

use crate::app::RequestContext;
use crate::request::Body;
use crate::response::Response;
use activity_rank_core::caller::Caller;
use activity_rank_core::config::Scope;
use activity_rank_core::error::Error;
use activity_rank_core::pause::{Pause, Pauses};
use activity_rank_store::pauses;

/// `GET` of a user's pauses.
pub async fn get(
    context: RequestContext<'_>,
    user: &str,
    caller: Caller,
) -> Result<Response, Error> {
    let user = context.request.path_user(user)?;
    caller.must_be(&user, Scope::Profiles)?;
    let pauses = pauses::read(context.deployment, &user).await?;
    Ok(Response::json_text(pauses.render(&user)))
}

/// `PUT` of a pause.
pub async fn put(
    context: RequestContext<'_>,
    user: &str,
    caller: Caller,
    body: Body<'_>,
) -> Result<Response, Error> {
    context.request.reject_parameters()?;
    let today = context.today();
    let (user, pause) = Pause::parse(user, &body.json()?, today)?;
    let add = |pauses: &mut Pauses| pauses.add(pause, today);
    let pauses = change(context, &user, &caller, &add).await?;
    Ok(Response::json_text(pauses.render(&user)))
}

/// `DELETE` of a user's pauses, or of one: a pause that has begun ends.
pub async fn delete(
    context: RequestContext<'_>,
    user: &str,
    caller: Caller,
) -> Result<Response, Error> {
    let (user, from) = Pause::parse_end(user, &context.request.query)?;
    let today = context.today();
    let end = |pauses: &mut Pauses| {
        pauses.end(from, today);
        Ok(())
    };
    change(context, &user, &caller, &end).await?;
    Ok(Response::no_content())
}

async fn change(
    context: RequestContext<'_>,
    user: &str,
    caller: &Caller,
    change: &dyn Fn(&mut Pauses) -> Result<(), Error>,
) -> Result<Pauses, Error> {
    caller.must_be(user, Scope::Profiles)?;
    let at = (context.today(), context.request.now);
    let actor = caller.actor();
    pauses::change(context.deployment, user, at, actor.as_ref(), change).await
}
