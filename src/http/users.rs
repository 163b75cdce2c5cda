//! `/v1/users/…`.

use super::answer::Answer;
use super::array::Results;
use super::call::Call;
use super::caller::identify;
use super::kept::Kept;
use crate::config::Scope;
use crate::error::Error;
use crate::moderation::Flags;
use crate::query::Query;
use crate::ranking::User;
use crate::redis::{Command, Pipeline, Reply};
use crate::site::Site;
use crate::users::{Erasure, History, NamedProfile, Profile, write_profiles};
use serde_json::Value;

/// `GET`, `PUT` and `DELETE` of one user.
pub async fn profile(site: &Site, kept: &Kept, call: &Call, user: &str) -> Result<Answer, Error> {
    match call.method.as_str() {
        "PUT" => put(site, kept, call, user).await,
        "DELETE" => erase(site, kept, call, user).await,
        _ => get(site, call, user).await,
    }
}

async fn get(site: &Site, call: &Call, user: &str) -> Result<Answer, Error> {
    let mut query = Query::parse(&call.query, &[]);
    let user = query.user(user);
    query.finish()?;
    let keys = site.config.keys();
    let stamp = Command::new("GET").arg(&keys.stamp());
    let profile = Command::new("HGET").arg(&keys.profiles()).arg(&user);
    let flags = Command::new("HGET").arg(&keys.flags()).arg(&user);
    let pipeline = Pipeline::new(vec![stamp, profile, flags]);
    let replies = site.ask_all(&pipeline).await?;
    let reply = |place: usize| replies.get(place).unwrap_or(&Reply::Nil);
    let flags = Flags::stored(reply(2))?;
    match Profile::stored(reply(1))? {
        Some(profile) => {
            let user = User::new(&user, Some(profile)).hiding(flags.self_hidden);
            Ok(Answer::json(&user))
        }
        None => Err(Error::NotFound(format!("The user {user} has no profile."))),
    }
}

async fn put(site: &Site, kept: &Kept, call: &Call, user: &str) -> Result<Answer, Error> {
    let body = call.body().await?;
    let caller = identify(call, &site.config).await?;
    call.no_parameters()?;
    let named = Profile::read(user, &body.json()?)?;
    caller.must_be(&named.id, Scope::Profiles)?;
    let mut views = write(site, kept, call, vec![named]).await?.into_iter();
    let view = views.next().ok_or_else(too_few)?;
    Ok(Answer::json(&view))
}

/// Writes profiles, and returns them as they are now.
async fn write(
    site: &Site,
    kept: &Kept,
    call: &Call,
    profiles: Vec<NamedProfile>,
) -> Result<Vec<User>, Error> {
    let command = |names: &[String]| write_profiles(profiles.iter(), call.now, names, &site.config);
    let reply = site.ask_everywhere(command).await?;
    let asked = profiles.iter().filter(|named| named.hidden.is_some());
    let asked: Vec<String> = asked.map(|named| named.id.clone()).collect();
    if !asked.is_empty() {
        kept.follow(site, call, &asked).await?;
    }
    let hidden = reply.at(2)?.list()?;
    if hidden.len() != profiles.len() {
        return Err(too_few());
    }
    let view = |(named, hidden): (NamedProfile, &Reply)| {
        User::new(&named.id, Some(named.profile)).hiding(*hidden == Reply::Integer(1))
    };
    Ok(profiles.into_iter().zip(hidden).map(view).collect())
}

fn too_few() -> Error {
    Error::StoreUnavailable("another number of profiles than was sent".to_owned())
}

/// `PUT` of an array of profiles.
pub async fn put_all(site: &Site, kept: &Kept, call: &Call) -> Result<Answer, Error> {
    let body = call.body().await?;
    let caller = identify(call, &site.config).await?;
    call.no_parameters()?;
    let json = body.json()?;
    let Value::Array(items) = &json else {
        return Err(Error::invalid("Profiles are a JSON array."));
    };
    caller.must_be_service(Scope::Profiles)?;
    let items: Vec<_> = items.iter().map(NamedProfile::read).collect();
    let profiles: Vec<NamedProfile> = items.iter().flatten().cloned().collect();
    let written = if profiles.is_empty() {
        Vec::new()
    } else {
        write(site, kept, call, profiles).await?
    };
    let mut written = written.into_iter();
    let mut next = || written.next().ok_or_else(too_few);
    let results = items.into_iter().map(|item| item.and_then(|_| next()));
    let results = results.collect();
    Ok(Answer::json(&Results::of(results)))
}

/// A user's last days.
pub async fn history(site: &Site, call: &Call, user: &str) -> Result<Answer, Error> {
    let caller = identify(call, &site.config).await?;
    let today = site.calendar.date_at(call.now);
    let history = History::read(user, &call.query, today)?;
    caller.must_be(user, Scope::Activity)?;
    let replies = site.ask_all(&history.pipeline(&site.config)).await?;
    let (_, replies) = replies.split_first().unwrap_or((&Reply::Nil, &[]));
    Ok(Answer::json(&history.view(
        replies,
        &site.calendar,
        site.config.decimals,
    )?))
}

async fn erase(site: &Site, kept: &Kept, call: &Call, user: &str) -> Result<Answer, Error> {
    let caller = identify(call, &site.config).await?;
    let erasure = Erasure::read(user, &call.query, call.now)?;
    caller.must_be_service(Scope::Admin)?;
    site.ask_everywhere(|names| erasure.command(names, &site.config))
        .await?;
    kept.erase(site, call, user).await?;
    Ok(Answer::nothing())
}
