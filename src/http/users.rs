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
use crate::redis::{Command, Reply};
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
    let keys = site.config.keys_of(&user);
    let profile = Command::new("HGET").arg(&keys.profiles()).arg(&user);
    let flags = Command::new("HGET").arg(&keys.flags()).arg(&user);
    let replies = site.ask_all(&keys, vec![profile, flags]).await?;
    let reply = |place: usize| replies.get(place).unwrap_or(&Reply::Nil);
    let flags = Flags::stored(reply(1))?;
    match Profile::stored(reply(0))? {
        Some(profile) => {
            let user = User::new(&user, Some(profile)).hiding(flags.self_hidden);
            Ok(Answer::json(&user))
        }
        None => Err(Error::NotFound(format!("The user {user} has no profile."))),
    }
}

async fn put(site: &Site, kept: &Kept, call: &Call, user: &str) -> Result<Answer, Error> {
    let body = call.body()?;
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
    let ids: Vec<&str> = profiles.iter().map(|named| named.id.as_str()).collect();
    let shards = site.config.places_by_shard(&ids);
    let command = |shard, names: &[String]| {
        let places = shards.iter().filter(|(of, _)| *of == shard);
        let places = places.flat_map(|(_, places)| places);
        let named = places.filter_map(|place| profiles.get(*place));
        write_profiles(named, call.now, names, &site.config, shard)
    };
    let asked: Vec<u32> = shards.iter().map(|(shard, _)| *shard).collect();
    site.claim().await?;
    let replies = site.ask_everywhere(&asked, &command).await?;
    let mut hides = vec![None; profiles.len()];
    for ((_, places), reply) in shards.iter().zip(&replies) {
        for (place, hidden) in places.iter().zip(reply.at(2)?.list()?) {
            if let Some(hides) = hides.get_mut(*place) {
                *hides = Some(*hidden == Reply::Integer(1));
            }
        }
    }
    let asked = profiles.iter().filter(|named| named.hidden.is_some());
    let asked: Vec<String> = asked.map(|named| named.id.clone()).collect();
    if !asked.is_empty() {
        kept.follow(site, call, &asked).await?;
    }
    let mut views = Vec::new();
    for (named, hides) in profiles.into_iter().zip(hides) {
        let user = User::new(&named.id, Some(named.profile));
        views.push(user.hiding(hides.ok_or_else(too_few)?));
    }
    Ok(views)
}

fn too_few() -> Error {
    Error::StoreUnavailable("another number of profiles than was sent".to_owned())
}

/// `PUT` of an array of profiles.
pub async fn put_all(site: &Site, kept: &Kept, call: &Call) -> Result<Answer, Error> {
    let body = call.body()?;
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
    let keys = site.config.keys_of(user);
    let replies = site.ask_all(&keys, history.commands(&keys)).await?;
    Ok(Answer::json(&history.view(
        &replies,
        &site.calendar,
        site.config.decimals,
    )?))
}

async fn erase(site: &Site, kept: &Kept, call: &Call, user: &str) -> Result<Answer, Error> {
    let caller = identify(call, &site.config).await?;
    let erasure = Erasure::read(user, &call.query, call.now)?;
    caller.must_be_service(Scope::Admin)?;
    let command = |_, names: &[String]| erasure.command(names, &site.config);
    let shard = site.config.shard_of(user);
    site.ask_everywhere(&[shard], &command).await?;
    kept.erase(site, call, user).await?;
    Ok(Answer::nothing())
}
