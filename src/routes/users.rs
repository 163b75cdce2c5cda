//! `/v1/users/…`: profiles, histories and erasure.

use super::array::Results;
use crate::app::RequestContext;
use crate::copies;
use crate::middleware::authentication::authenticate;
use crate::response::Response;
use activity_rank_core::board::UserView;
use activity_rank_core::caller::Caller;
use activity_rank_core::config::Scope;
use activity_rank_core::error::Error;
use activity_rank_core::history::HistoryRequest;
use activity_rank_core::profile::{NamedProfile, Profile};
use activity_rank_store::deployment::Deployment;
use activity_rank_store::{erasure, history, profiles};
use serde_json::Value;

/// `GET`, `PUT` and `DELETE` of one user.
pub async fn profile(context: RequestContext<'_>, user: &str) -> Result<Response, Error> {
    match context.request.method.as_str() {
        "PUT" => put_profile(context, user).await,
        "DELETE" => erase(context, user).await,
        _ => get_profile(context, user).await,
    }
}

async fn get_profile(context: RequestContext<'_>, user: &str) -> Result<Response, Error> {
    let user = context.request.path_user(user)?;
    let (profile, flags) = profiles::read(context.deployment, &user).await?;
    let missing = || Error::NotFound(format!("The user {user} has no profile."));
    let profile = profile.ok_or_else(missing)?;
    if flags.is_hidden() && !may_see_hidden(context, &user).await {
        return Err(missing());
    }
    let view = UserView::new(&user, Some(&profile)).with_hidden(flags.self_hidden);
    Ok(Response::json(&view))
}

/// Returns whether the caller is the user or a service: to others a hidden user has no profile.
pub async fn may_see_hidden(context: RequestContext<'_>, user: &str) -> bool {
    match authenticate(context).await {
        Ok(Caller::Service(_)) => true,
        Ok(Caller::User(member)) => member.is_some_and(|member| member.id == user),
        Err(_) => false,
    }
}

async fn put_profile(context: RequestContext<'_>, user: &str) -> Result<Response, Error> {
    let body = context.request.body()?;
    let caller = authenticate(context).await?;
    context.request.reject_parameters()?;
    let named = Profile::parse(user, &body.json()?)?;
    caller.must_be(&named.id, Scope::Profiles)?;
    let written = [named];
    let by_member = matches!(caller, Caller::User(_));
    let hidden = write_profiles(context, &written, by_member).await?;
    let mut views = views(&written, &hidden);
    Ok(Response::json(&views.next()))
}

/// `PUT` of an array of profiles.
pub async fn put_profiles(context: RequestContext<'_>) -> Result<Response, Error> {
    let body = context.request.body()?;
    let caller = authenticate(context).await?;
    context.request.reject_parameters()?;
    let json = body.json()?;
    let Value::Array(items) = &json else {
        return Err(Error::invalid("Profiles are a JSON array."));
    };
    caller.must_be_service(Scope::Profiles)?;
    let items: Vec<_> = items.iter().map(NamedProfile::parse).collect();
    let written: Vec<NamedProfile> = items.iter().flatten().cloned().collect();
    let hidden = match written.as_slice() {
        [] => Vec::new(),
        written => write_profiles(context, written, false).await?,
    };
    let mut views = views(&written, &hidden);
    let results = items.into_iter().map(|item| item.map(|_| views.next()));
    Ok(Response::json(&Results::new(results.collect())))
}

/// Writes profiles, and returns for each user whether they are opted out of boards now.
async fn write_profiles(
    context: RequestContext<'_>,
    written: &[NamedProfile],
    by_member: bool,
) -> Result<Vec<bool>, Error> {
    let now = context.request.now;
    let hidden = profiles::write(context.deployment, written, by_member, now).await?;
    let changed = written.iter().filter(|named| named.hidden.is_some());
    let changed: Vec<&str> = changed.map(|named| named.id.as_str()).collect();
    if !changed.is_empty() {
        copies::update_visibility(context, &changed).await?;
    }
    Ok(hidden)
}

fn views<'a>(
    written: &'a [NamedProfile],
    hidden: &'a [bool],
) -> impl Iterator<Item = UserView<'a>> {
    let users = written.iter().zip(hidden);
    users.map(|(named, hidden)| UserView::new(&named.id, Some(&named.profile)).with_hidden(*hidden))
}

/// `GET` of a user's last days.
pub async fn history(context: RequestContext<'_>, user: &str) -> Result<Response, Error> {
    let caller = authenticate(context).await?;
    let history = HistoryRequest::parse(user, &context.request.query, context.today())?;
    caller.must_be(user, Scope::Activity)?;
    let Deployment {
        calendar, config, ..
    } = context.deployment;
    let (profile, days) = history::read(context.deployment, &history).await?;
    let body = history.render(profile.as_ref(), &days, calendar, config.decimals);
    Ok(Response::json_text(body))
}

async fn erase(context: RequestContext<'_>, user: &str) -> Result<Response, Error> {
    let caller = authenticate(context).await?;
    let user = context.request.path_user(user)?;
    caller.must_be_service(Scope::Admin)?;
    erasure::erase(context.deployment, &user, context.request.now).await?;
    copies::erase(context, &user).await?;
    Ok(Response::no_content())
}
