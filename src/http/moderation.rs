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
use crate::redis::{Command, Pipeline, Reply};
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
    let keys = site.config.keys();
    let of_user = |key: &str| Command::new("HGET").arg(key).arg(&user);
    let commands = vec![
        Command::new("GET").arg(&keys.stamp()),
        of_user(&keys.profiles()),
        of_user(&keys.flags()),
    ];
    let replies = site.ask_all(&Pipeline::new(commands)).await?;
    let reply = |place: usize| replies.get(place).unwrap_or(&Reply::Nil);
    Ok(Answer::json(&View::stored(&user, reply(1), reply(2))?))
}

async fn put_verdict(site: &Site, kept: &Kept, call: &Call, user: &str) -> Result<Answer, Error> {
    let body = call.body().await?;
    let caller = identify(call, &site.config).await?;
    call.no_parameters()?;
    let verdict = Verdict::read(user, &body.json()?)?;
    caller.must_be_service(Scope::Admin)?;
    let command = |names: &[String]| verdict.command(names, call.now, &site.config);
    let reply = site.ask_everywhere(command).await?;
    kept.follow(site, call, &[user.to_owned()]).await?;
    Ok(Answer::json(&verdict.view(&reply)?))
}

/// `POST` of an adjustment.
pub async fn adjustment(site: &Site, call: &Call, user: &str) -> Result<Answer, Error> {
    let body = call.body().await?;
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
    let reply = site.ask(query.command(&site.config)).await?;
    Ok(Answer::json(&query.view(&reply, site.config.decimals)?))
}
