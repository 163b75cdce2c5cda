//! `/v1/users/…`.

use super::answer::Answer;
use super::array::Results;
use super::call::Call;
use super::caller::identify;
use crate::error::Error;
use crate::query::Query;
use crate::ranking::User;
use crate::redis::{Command, Pipeline, Reply};
use crate::site::Site;
use crate::users::{Erasure, History, NamedProfile, Profile, write_profiles};
use serde_json::Value;

/// `GET`, `PUT` and `DELETE` of one user.
pub async fn profile(site: &Site, call: &mut Call, user: &str) -> Result<Answer, Error> {
    match call.method.as_str() {
        "PUT" => put(site, call, user).await,
        "DELETE" => erase(site, call, user).await,
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
    let replies = site.ask_all(&Pipeline::new(vec![stamp, profile])).await?;
    match Profile::stored(replies.get(1).unwrap_or(&Reply::Nil))? {
        Some(profile) => Ok(Answer::json(&User::new(&user, Some(profile)))),
        None => Err(Error::NotFound(format!("The user {user} has no profile."))),
    }
}

async fn put(site: &Site, call: &mut Call, user: &str) -> Result<Answer, Error> {
    let body = call.body().await?;
    let caller = identify(call, &site.config).await?;
    call.no_parameters()?;
    let named = Profile::read(user, &body.json()?)?;
    caller.must_be(&named.id)?;
    site.ask(write_profiles([&named].into_iter(), &site.config))
        .await?;
    Ok(Answer::json(&User::new(&named.id, Some(named.profile))))
}

/// `PUT` of an array of profiles.
pub async fn put_all(site: &Site, call: &mut Call) -> Result<Answer, Error> {
    let body = call.body().await?;
    let caller = identify(call, &site.config).await?;
    call.no_parameters()?;
    let json = body.json()?;
    let Value::Array(items) = &json else {
        return Err(Error::invalid("Profiles are a JSON array."));
    };
    caller.must_be_service()?;
    let items: Vec<_> = items.iter().map(NamedProfile::read).collect();
    if items.iter().any(Result::is_ok) {
        site.ask(write_profiles(items.iter().flatten(), &site.config))
            .await?;
    }
    let view = |named: NamedProfile| User::new(&named.id, Some(named.profile));
    let results = items.into_iter().map(|item| item.map(view)).collect();
    Ok(Answer::json(&Results::of(results)))
}

/// A user's last days.
pub async fn history(site: &Site, call: &Call, user: &str) -> Result<Answer, Error> {
    let caller = identify(call, &site.config).await?;
    let today = site.calendar.date_at(call.now);
    let history = History::read(user, &call.query, today)?;
    caller.must_be(user)?;
    let replies = site.ask_all(&history.pipeline(&site.config)).await?;
    let (_, replies) = replies.split_first().unwrap_or((&Reply::Nil, &[]));
    Ok(Answer::json(&history.view(
        replies,
        &site.calendar,
        site.config.decimals,
    )?))
}

async fn erase(site: &Site, call: &Call, user: &str) -> Result<Answer, Error> {
    let caller = identify(call, &site.config).await?;
    let erasure = Erasure::read(user, &call.query, call.now)?;
    caller.must_be_service()?;
    let replies = site.ask_all(&erasure.look(&site.config)).await?;
    let index = replies.get(1).unwrap_or(&Reply::Nil);
    site.ask_all(&erasure.erase(index, &site.config)?).await?;
    Ok(Answer::nothing())
}
