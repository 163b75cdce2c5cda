//! `/v1/users/{user}/account`: of whom a user is an account.

use crate::app::RequestContext;
use crate::journal::accounts::read_past;
use crate::middleware::authentication::identify;
use crate::request::Body;
use crate::response::Response;
use activity_rank_core::account::{self, Accounts, JoinRequest, Past};
use activity_rank_core::caller::Caller;
use activity_rank_core::config::Scope;
use activity_rank_core::error::Error;
use activity_rank_store::accounts;

/// `GET` of whom a user is an account, and of the accounts of a member.
pub async fn get(
    context: RequestContext<'_>,
    user: &str,
    caller: Caller,
) -> Result<Response, Error> {
    let user = context.request.path_user(user)?;
    caller.must_be(&user, Scope::Admin)?;
    let known = accounts::read(context.deployment, &user).await?;
    respond(context, &user, &known).await
}

/// Returns the accounts of a user, whether their past counts, and how far the recount is.
async fn respond(
    context: RequestContext<'_>,
    user: &str,
    known: &Accounts,
) -> Result<Response, Error> {
    let journal = context.app.bindings.journal.as_ref();
    let past = read_past(journal, &context.deployment.config, (user, known)).await?;
    let recount = match past {
        Some(Past::Pending) => accounts::read_recount(context.deployment).await?,
        Some(Past::Counted | Past::LeftOut) | None => None,
    };
    Ok(Response::json_text(account::render(
        user, known, past, recount,
    )))
}

/// `PUT` of the member of whom a user is an account. A member proves to be both by two tokens.
pub async fn put(
    context: RequestContext<'_>,
    user: &str,
    caller: Caller,
    body: Body<'_>,
) -> Result<Response, Error> {
    let (deployment, now) = (context.deployment, context.request.now);
    context.request.reject_parameters()?;
    let JoinRequest { user, of, token } = JoinRequest::parse(user, &body.json()?)?;
    if !deployment.config.member_accounts {
        caller.must_be_service(Scope::Admin)?;
    }
    if let Caller::User(_) | Caller::Visitor(_) = caller {
        let is_account = caller.must_be(&user, Scope::Admin).is_ok();
        let other = if is_account { &of } else { &user };
        if !is_account {
            caller.must_be(&of, Scope::Admin)?;
        }
        let proven = identify(context, Some(&token)).await;
        if !proven.is_ok_and(|proven| proven.is_user(other)) {
            return Err(Error::field(
                "/token",
                format!("must be a user token of {other}"),
            ));
        }
    } else {
        caller.must_have(Scope::Admin)?;
    }
    let known = accounts::join(deployment, &user, &of, caller.actor().as_ref(), now).await?;
    respond(context, &user, &known).await
}

/// `DELETE` of the member of whom a user is an account. Either of them may do it.
pub async fn delete(
    context: RequestContext<'_>,
    user: &str,
    caller: Caller,
) -> Result<Response, Error> {
    let (deployment, now) = (context.deployment, context.request.now);
    let user = context.request.path_user(user)?;
    if !deployment.config.member_accounts {
        caller.must_be_service(Scope::Admin)?;
    }
    let known = accounts::read(deployment, &user).await?;
    let member = known.member().map(|(_, member)| member);
    if !member.is_some_and(|member| caller.is_user(member)) {
        caller.must_be(&user, Scope::Admin)?;
    }
    if let Some(member) = member {
        accounts::detach(deployment, &user, member, caller.actor().as_ref(), now).await?;
    }
    Ok(Response::no_content())
}
