//! `/v1/achievements` and `/v1/users/{user}/achievements`.

use super::users::may_see_hidden;
use crate::app::RequestContext;
use crate::cache::response::cached;
use crate::journal::achievements::{evaluate, read_counts, read_member};
use crate::journal::drain::{REQUEST_BATCHES, drain};
use crate::request::Body;
use crate::response::Response;
use activity_rank_core::achievement::{AchievementsRequest, AwardRequest};
use activity_rank_core::board::{CLOSED_MAX_AGE, UserView};
use activity_rank_core::caller::Caller;
use activity_rank_core::config::Scope;
use activity_rank_core::error::Error;
use activity_rank_core::profile::Profile;
use activity_rank_store::{moderation, profiles};

/// The achievements, and the number of members with each step; cached like closed boards.
pub async fn list(context: RequestContext<'_>) -> Result<Response, Error> {
    let config = &context.deployment.config;
    let request = AchievementsRequest::parse(None, &context.request.query)?;
    let read = async {
        let rows = match &context.app.bindings.journal {
            Some(journal) if !config.achievements.is_empty() => {
                read_counts(journal, config).await?
            }
            Some(_) | None => Vec::new(),
        };
        Ok(request.render(&config.achievements, None, &rows))
    };
    cached(
        context,
        &request.normal_form(),
        CLOSED_MAX_AGE,
        Box::pin(read),
        None,
    )
    .await
}

/// The steps of a user. To others, a hidden user looks like one who has none.
pub async fn get(context: RequestContext<'_>, user: &str) -> Result<Response, Error> {
    let config = &context.deployment.config;
    let request = AchievementsRequest::parse(Some(user), &context.request.query)?;
    let user = request.user.as_str();
    let (profile, rows) = read(context, user).await?;
    let view = UserView::new(user, profile.as_ref());
    Ok(Response::json_text(request.render(
        &config.achievements,
        Some(&view),
        &rows,
    )))
}

/// `PUT` of a step that a moderator awards.
pub async fn award(
    context: RequestContext<'_>,
    [user, id]: [&str; 2],
    caller: Caller,
    body: Body<'_>,
) -> Result<Response, Error> {
    context.request.reject_parameters()?;
    let request = AwardRequest::parse(user, &body.json()?)?;
    change(context, id, caller, &request).await
}

/// `DELETE` of steps that a moderator withdraws.
pub async fn withdraw(
    context: RequestContext<'_>,
    [user, id]: [&str; 2],
    caller: Caller,
) -> Result<Response, Error> {
    let request = AwardRequest::parse_withdrawal(user, &context.request.query)?;
    change(context, id, caller, &request).await?;
    Ok(Response::no_content())
}

/// Awards or withdraws steps. The journal has the change, and its reader applies it before the response, unless it is far
/// behind.
async fn change(
    context: RequestContext<'_>,
    id: &str,
    caller: Caller,
    request: &AwardRequest,
) -> Result<Response, Error> {
    caller.must_be_service(Scope::Admin)?;
    let (deployment, now) = (context.deployment, context.request.now);
    let (config, user) = (&deployment.config, request.user.as_str());
    let found = context
        .app
        .bindings
        .journal
        .as_ref()
        .zip(config.achievements.get(id));
    let Some((journal, achievement)) = found else {
        return Err(Error::NotFound(format!("There is no achievement {id}.")));
    };
    let shard = config.shard_of(user);
    let (mut profile, _) = profiles::read(deployment, user).await?;
    let mut is_changed = false;
    let rows = loop {
        drain(deployment, journal, shard..shard + 1, REQUEST_BATCHES).await?;
        // Another process may have advanced in between.
        if evaluate(journal, config, now).await? {
            evaluate(journal, config, now).await?;
        }
        let rows = read_member(journal, config, (user, context.today(), now)).await?;
        let steps = request.changes(achievement, &rows)?;
        if is_changed || steps.is_empty() {
            break rows;
        }
        let actor = caller.actor();
        let award = (request, achievement);
        profile = moderation::award(deployment, award, &steps, actor.as_ref(), now).await?;
        is_changed = true;
    };
    let all = AchievementsRequest::parse(Some(user), "")?;
    let view = UserView::new(user, profile.as_ref());
    Ok(Response::json_text(all.render(
        &config.achievements,
        Some(&view),
        &rows,
    )))
}

/// Reads the profile and the steps of a user, as far as the caller may see them.
pub async fn read(
    context: RequestContext<'_>,
    user: &str,
) -> Result<(Option<Profile>, Vec<String>), Error> {
    let config = &context.deployment.config;
    let (profile, flags) = profiles::read(context.deployment, user).await?;
    let rows = match &context.app.bindings.journal {
        Some(journal) if !config.achievements.is_empty() => {
            let read = (user, context.today(), context.request.now);
            read_member(journal, config, read).await?
        }
        Some(_) | None => Vec::new(),
    };
    match flags.is_hidden() && !may_see_hidden(context, user).await {
        true => Ok((None, Vec::new())),
        false => Ok((profile, rows)),
    }
}
