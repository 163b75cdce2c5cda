//! `/v1/users/…`: profiles, histories and erasure.

use super::array::Results;
use crate::app::RequestContext;
use crate::archive;
use crate::cache::hiding;
use crate::middleware::authentication::authenticate_counted;
use crate::platform::text::to_nfc;
use crate::request::Body;
use crate::response::Response;
use activity_rank_core::activity::DoneRequest;
use activity_rank_core::actor::Actor;
use activity_rank_core::board::UserView;
use activity_rank_core::caller::Caller;
use activity_rank_core::config::Scope;
use activity_rank_core::error::Error;
use activity_rank_core::history::{Access, HistoryRequest, is_public};
use activity_rank_core::id::is_id;
use activity_rank_core::json::Items;
use activity_rank_core::profile::{NamedProfile, Profile};
use activity_rank_store::deployment::Deployment;
use activity_rank_store::{accounts, erasure, history, profiles};

/// `GET` of one user.
pub async fn get_profile(context: RequestContext<'_>, user: &str) -> Result<Response, Error> {
    let user = context.request.path_user(user)?;
    let (profile, flags) = profiles::read(context.deployment, &user).await?;
    let missing = || Error::NotFound(format!("The user {user} has no profile."));
    let profile = profile.ok_or_else(missing)?;
    if flags.is_hidden() && !may_see_hidden(context, &user).await {
        return Err(missing());
    }
    let view = UserView::from_profile(&user, &profile, flags.self_hidden);
    Ok(Response::json(&view))
}

/// Returns whether the caller is the user or a service: to others a hidden user has no profile. The read has been counted:
/// one of a hidden user must cost as much as any other.
pub async fn may_see_hidden(context: RequestContext<'_>, user: &str) -> bool {
    match authenticate_counted(context).await {
        Ok(Caller::Service(_)) => true,
        Ok(Caller::User(member)) => {
            member.is_ok_and(|member| member.id == user || member.id == context.account)
        }
        Ok(Caller::Visitor(_)) | Err(_) => false,
    }
}

/// `PUT` of one user.
pub async fn put_profile(
    context: RequestContext<'_>,
    user: &str,
    caller: Caller,
    body: Body<'_>,
) -> Result<Response, Error> {
    context.request.reject_parameters()?;
    let named = Profile::parse(user, &body.json()?)?;
    caller.must_be(&named.id, Scope::Profiles)?;
    let written = [named];
    let hidden = write_profiles(context, &written, caller.actor()).await?;
    let mut views = views(&written, &hidden);
    Ok(Response::json(&views.next()))
}

/// `PUT` of an array of profiles.
pub async fn put_profiles(
    context: RequestContext<'_>,
    caller: Caller,
    body: Body<'_>,
) -> Result<Response, Error> {
    context.request.reject_parameters()?;
    let Items::Array(items) = body.items()? else {
        return Err(Error::invalid("Profiles are a JSON array."));
    };
    caller.must_be_service(Scope::Profiles)?;
    let items = items.into_iter().map(|item| NamedProfile::parse(&item?));
    let items: Vec<_> = items.collect();
    let written: Vec<NamedProfile> = items.iter().flatten().cloned().collect();
    let hidden = match written.as_slice() {
        [] => Vec::new(),
        written => write_profiles(context, written, caller.actor()).await?,
    };
    let mut views = views(&written, &hidden);
    let results = items.into_iter().map(|item| item.map(|_| views.next()));
    Ok(Response::json(&Results::new(results.collect())))
}

/// Writes profiles, and returns for each user whether they are opted out of boards now.
async fn write_profiles(
    context: RequestContext<'_>,
    written: &[NamedProfile],
    actor: Option<Actor>,
) -> Result<Vec<bool>, Error> {
    let now = context.request.now;
    let with = |hides: &dyn Fn(bool) -> bool| -> Vec<&str> {
        let named = written
            .iter()
            .filter(|named| named.hidden.is_some_and(hides));
        named.map(|named| named.id.as_str()).collect()
    };
    let hiding = with(&|hides| hides);
    if !hiding.is_empty() {
        let member = hiding
            .first()
            .copied()
            .filter(|_| actor == Some(Actor::User));
        hiding::before_hiding(context, &hiding, member).await?;
    }
    let hidden = profiles::write(context.deployment, written, actor.as_ref(), now).await?;
    let changed = with(&|_| true);
    if !changed.is_empty() {
        hiding::update_visibility(context, &changed).await?;
    }
    Ok(hidden)
}

fn views<'a>(
    written: &'a [NamedProfile],
    hidden: &'a [bool],
) -> impl Iterator<Item = UserView<'a>> {
    let users = written.iter().zip(hidden);
    users.map(|(named, hidden)| UserView::from_profile(&named.id, &named.profile, *hidden))
}

/// `GET` of a user's last days.
pub async fn history(
    context: RequestContext<'_>,
    user: &str,
    caller: Result<Caller, Error>,
) -> Result<Response, Error> {
    let Deployment {
        calendar, config, ..
    } = context.deployment;
    let denied = match caller {
        Ok(caller) => caller.may_read(user).err(),
        Err(error @ Error::Unauthenticated(_)) if context.request.bearer().is_none() => Some(error),
        // Invalid credentials are refused: the owner of an expired token must notice.
        Err(error) => return Err(error),
    };
    let request = match HistoryRequest::parse(user, &context.request.query, config, context.today())
    {
        Ok(request) => request,
        Err(invalid) => {
            return Err(before_invalid(context, user, denied)
                .await?
                .unwrap_or(invalid));
        }
    };
    let mut history = history::read(context.deployment, &request).await?;
    let access = match denied {
        None => Access::Own,
        Some(_) if history.is_public() => Access::Public,
        Some(denied) => return Err(denied),
    };
    if let Some(archive) = &context.app.bindings.archive {
        history.older = archive::read_points(archive, config, &request).await?;
    }
    let body = request.render(&history, access, calendar, config.layout.decimals);
    Ok(Response::json_text(body))
}

/// `GET` of which activities of a user have counted.
pub async fn done(
    context: RequestContext<'_>,
    user: &str,
    caller: Caller,
) -> Result<Response, Error> {
    let (request, rules) = (context.request, &context.deployment.config.rules);
    let request = DoneRequest::parse(user, &request.query, rules, request.now, to_nfc)?;
    caller.may_read(&request.user)?;
    let done = history::read_done(context.deployment, &request, context.today()).await?;
    Ok(Response::json_text(request.render(&done)))
}

/// Returns the error that precedes that of an invalid request: a caller without credentials learns
/// nothing more, unless the calendar is public.
async fn before_invalid(
    context: RequestContext<'_>,
    user: &str,
    denied: Option<Error>,
) -> Result<Option<Error>, Error> {
    let Some(denied @ Error::Unauthenticated(_)) = denied else {
        return Ok(None);
    };
    if !is_id(user) {
        return Ok(Some(denied));
    }
    let (profile, flags) = profiles::read(context.deployment, user).await?;
    Ok((!is_public(profile.as_ref(), flags)).then_some(denied))
}

/// `DELETE` of one user.
pub async fn erase(
    context: RequestContext<'_>,
    user: &str,
    caller: Caller,
) -> Result<Response, Error> {
    let user = context.request.path_user(user)?;
    caller.must_be_service(Scope::Admin)?;
    let (actor, now) = (caller.actor(), context.request.now);
    let deployment = context.deployment;
    let mut users = vec![user];
    // Each account is detached before it is erased: its member keeps no trace of it.
    while let Some(user) = users.last() {
        let Some(found) = erasure::erase(deployment, user, actor.as_ref(), now).await? else {
            hiding::erase(context, user).await?;
            users.pop();
            continue;
        };
        if let Some((_, member)) = found.member() {
            accounts::detach(deployment, user, member, actor.as_ref(), now).await?;
        }
        let mut released = Vec::new();
        for (_, account) in found.list() {
            let release = accounts::release(deployment, account, user, actor.as_ref(), now);
            // A join that has ended in between leaves a user in the list who is no account.
            if release.await? {
                released.push(account.to_owned());
            }
        }
        users.extend(released);
    }
    Ok(Response::no_content())
}
