//! `/v1/cases`: members whose giving their activity does not explain.

use crate::app::RequestContext;
use crate::journal::fair_play;
use crate::platform::d1::Database;
use crate::request::Body;
use crate::response::Response;
use activity_rank_core::caller::Caller;
use activity_rank_core::config::{FairPlay, Scope};
use activity_rank_core::error::Error;
use activity_rank_core::fair_play::{
    CaseDecision, CasesRequest, NewCase, checked_id, excludes, taken,
};
use activity_rank_core::query::Query;
use activity_rank_store::accounts::{Exclusion, audit, exclude};
use activity_rank_store::boards::read_losses;
use activity_rank_store::deployment::MAX_CALLS;
use serde_json::Value;

/// `GET` of a page of cases, and the numbers of fairness.
pub async fn list(context: RequestContext<'_>, caller: Caller) -> Result<Response, Error> {
    let page = CasesRequest::parse(&context.request.query)?;
    caller.must_be_service(Scope::Admin)?;
    let (journal, _) = bound(context)?;
    let config = &context.deployment.config;
    let (cases, search) = fair_play::read_page(journal, config, &page).await?;
    Ok(Response::json_text(page.render(&cases, &search)))
}

/// `POST` that opens a case of members.
pub async fn open(
    context: RequestContext<'_>,
    caller: Caller,
    body: Body<'_>,
) -> Result<Response, Error> {
    context.request.reject_parameters()?;
    let case = NewCase::parse(&body.json()?)?;
    caller.must_be_service(Scope::Admin)?;
    let (journal, thresholds) = bound(context)?;
    let (actor, now) = (caller.actor(), context.request.now);
    let config = &context.deployment.config;
    let case = (&case, actor.as_ref());
    let case = fair_play::open(journal, config, thresholds, case, now).await?;
    Ok(Response::json_text(case.ok_or_else(unknown)?))
}

/// `POST` that searches for cases.
pub async fn search(context: RequestContext<'_>, caller: Caller) -> Result<Response, Error> {
    context.request.reject_parameters()?;
    caller.must_be_service(Scope::Admin)?;
    let (journal, thresholds) = bound(context)?;
    let (config, now) = (&context.deployment.config, context.request.now);
    let searched = fair_play::search_now(journal, config, thresholds, now).await?;
    let is_complete = searched.is_some();
    let searched = searched.unwrap_or_default();
    let cut = match searched.cut.as_str() {
        "" => String::new(),
        kinds => format!("\"{}\"", kinds.replace(',', "\",\"")),
    };
    Ok(Response::json_text(format!(
        "{{\"complete\":{is_complete},\"opened\":{},\"updated\":{},\"cut\":[{cut}]}}",
        searched.opened, searched.updated
    )))
}

/// `GET` of a case with its pairs.
pub async fn get(context: RequestContext<'_>, id: &str, caller: Caller) -> Result<Response, Error> {
    let mut query = Query::parse(&context.request.query, &[]);
    let id = query.check("/id", checked_id(id)).unwrap_or_default();
    query.finish()?;
    caller.must_be_service(Scope::Admin)?;
    let (journal, thresholds) = bound(context)?;
    let (config, now) = (&context.deployment.config, context.request.now);
    let case = fair_play::read_case(journal, config, thresholds, &id).await?;
    let case = case.ok_or_else(unknown)?;
    let today = context.deployment.calendar.date_at(now);
    // A recount has already taken the points of an exclusion.
    let taken = match is_recounted(&case) {
        true => Vec::new(),
        false => {
            let gifts = fair_play::read_gifts(journal, config, &id, now).await?;
            taken(&gifts, [&config.periods, &config.content_periods], today)
        }
    };
    let losses = read_losses(context.deployment, &taken, today).await?;
    let losses = serde_json::to_string(&losses).unwrap_or_default();
    let fields = case.strip_suffix('}').unwrap_or_default();
    Ok(Response::json_text(format!(
        "{fields},\"losses\":{losses}}}"
    )))
}

/// Returns whether the boards are without the points that a case excludes.
fn is_recounted(case: &str) -> bool {
    let case: Value = serde_json::from_str(case).unwrap_or_default();
    let is = |pointer, value| case.pointer(pointer).is_some_and(|found| found == value);
    is("/state", "excluded") && is("/decision/past", "counted")
}

/// `PUT` of a decision about a case.
pub async fn put(
    context: RequestContext<'_>,
    id: &str,
    caller: Caller,
    body: Body<'_>,
) -> Result<Response, Error> {
    context.request.reject_parameters()?;
    let decision = CaseDecision::parse(id, &body.json()?)?;
    caller.must_be_service(Scope::Admin)?;
    let (journal, _) = bound(context)?;
    let (actor, now) = (caller.actor(), context.request.now);
    let config = &context.deployment.config;
    let read = async || {
        let known = fair_play::read_members(journal, config, &decision.id).await?;
        known.ok_or_else(unknown)
    };
    let mut known = read().await?;
    for _ in 0..MAX_CALLS {
        let members: Vec<&str> = known.members.iter().map(String::as_str).collect();
        let exclusion = Exclusion {
            case: &decision.id,
            members: &members,
            span: decision.span,
            reason: &decision.reason,
            is_public: decision.has_public_reason,
        };
        // Also of a case that excludes nothing: an earlier decision may have failed halfway.
        exclude(context.deployment, &exclusion, actor.as_ref(), now).await?;
        if decision.span.is_none()
            && !excludes(&known.state)
            && (&known.state, &known.reason) != (&decision.state, &decision.reason)
        {
            let (case, reason) = (decision.id.as_str(), decision.reason.as_str());
            let entry = (decision.audit_action(), case, reason);
            audit(context.deployment, &members, entry, actor.as_ref(), now).await?;
        }
        let values = (&decision, actor.as_ref());
        if let Some(case) = fair_play::decide(journal, config, &known, values, now).await? {
            return Ok(Response::json_text(case));
        }
        known = read().await?;
    }
    // Other decisions were stored each time: the last one decides what counts.
    loop {
        let members: Vec<&str> = known.members.iter().map(String::as_str).collect();
        let exclusion = Exclusion {
            case: &decision.id,
            members: &members,
            span: known.span,
            reason: &known.reason,
            is_public: known.is_public,
        };
        exclude(context.deployment, &exclusion, known.actor.as_ref(), now).await?;
        let stored = read().await?;
        if stored == known {
            let cause = "other decisions about the case were made between every two attempts";
            return Err(Error::StoreUnavailable(cause.to_owned()));
        }
        known = stored;
    }
}

fn unknown() -> Error {
    Error::NotFound("No case has this id.".to_owned())
}

fn bound<'a>(context: RequestContext<'a>) -> Result<(&'a Database, &'a FairPlay), Error> {
    let journal = context.app.bindings.journal.as_ref();
    let thresholds = context.deployment.config.fair_play.as_ref();
    let missing =
        || Error::NotFound("This deployment has no cases: FAIR_PLAY is not set.".to_owned());
    journal.zip(thresholds).ok_or_else(missing)
}
