//! `/v1/moderation` and what moderators do to a user.

use super::answer::Answer;
use super::call::Call;
use super::caller::identify;
use super::kept::Kept;
use crate::activity::adjust;
use crate::config::Scope;
use crate::error::Error;
use crate::moderation::{Adjustment, AuditQuery, Verdict, View};
use crate::query::Query;
use crate::redis::{Command, Reply};
use crate::site::Site;

/// `GET` and `PUT` of whether a user is hidden or frozen.
pub async fn verdict(site: &Site, kept: &Kept, call: &Call, user: &str) -> Result<Answer, Error> {
    if call.method == "PUT" {
        put_verdict(site, kept, call, user).await
    } else {
        get_verdict(site, call, user).await
    }
}

async fn get_verdict(site: &Site, call: &Call, user: &str) -> Result<Answer, Error> {
    let caller = identify(call, &site.config).await?;
    let mut query = Query::parse(&call.query, &[]);
    let user = query.user(user);
    query.finish()?;
    caller.must_be_service(Scope::Admin)?;
    let keys = site.config.keys_of(&user);
    let of_user = |key: &str| Command::new("HGET").arg(key).arg(&user);
    let commands = vec![of_user(&keys.profiles()), of_user(&keys.flags())];
    let replies = site.ask_all(&keys, commands).await?;
    let reply = |place: usize| replies.get(place).unwrap_or(&Reply::Nil);
    Ok(Answer::json(&View::stored(&user, reply(0), reply(1))?))
}

async fn put_verdict(site: &Site, kept: &Kept, call: &Call, user: &str) -> Result<Answer, Error> {
    let body = call.body()?;
    let caller = identify(call, &site.config).await?;
    call.no_parameters()?;
    let verdict = Verdict::read(user, &body.json()?)?;
    caller.must_be_service(Scope::Admin)?;
    if verdict.restricts() {
        site.claim().await?;
    }
    let command = |_, names: &[String]| verdict.command(names, call.now, &site.config);
    let shard = site.config.shard_of(user);
    let replies = site.ask_everywhere(&[shard], &command).await?;
    kept.follow(site, call, &[user.to_owned()]).await?;
    let reply = replies.first().unwrap_or(&Reply::Nil);
    Ok(Answer::json(&verdict.view(reply)?))
}

/// `POST` of an adjustment.
pub async fn adjustment(site: &Site, call: &Call, user: &str) -> Result<Answer, Error> {
    let body = call.body()?;
    let caller = identify(call, &site.config).await?;
    call.no_parameters()?;
    let adjustment = Adjustment::read(user, &body.json()?, site.config.decimals, call.now)?;
    caller.must_be_service(Scope::Admin)?;
    Ok(Answer::json(&adjust(site, adjustment, call.now).await?))
}

/// The audit list.
pub async fn audit(site: &Site, call: &Call) -> Result<Answer, Error> {
    let caller = identify(call, &site.config).await?;
    let query = AuditQuery::read(&call.query)?;
    caller.must_be_service(Scope::Admin)?;
    let commands = (0..site.config.shards).map(|shard| query.command(&site.config, shard));
    let replies = site.ask_each(commands.collect()).await?;
    Ok(Answer::json(&query.view(&replies, site.config.decimals)?))
}
