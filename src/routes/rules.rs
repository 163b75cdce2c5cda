//! `/v1/rules`: the rules that hold, the versions that have been published, and the preview of others.

use crate::app::RequestContext;
use crate::cache::response::cached;
use crate::journal::drain::{REQUEST_BATCHES, drain};
use crate::journal::rules_preview::{self, Preview};
use crate::platform::d1::Database;
use crate::request::Body;
use crate::response::Response;
use activity_rank_core::calendar::Instant;
use activity_rank_core::caller::Caller;
use activity_rank_core::config::Scope;
use activity_rank_core::error::Error;
use activity_rank_core::rules::{PreviewRequest, Publication, TakeBack};
use activity_rank_store::rules as store;
use activity_rank_store::rules_preview::ChangedField;
use serde::Serialize;
use serde_json::{Map, Value};

/// The rules and the versions: for everyone, then cached like an open board; for operators with every reason and actor.
pub async fn get(
    context: RequestContext<'_>,
    caller: Result<Caller, Error>,
) -> Result<Response, Error> {
    context.request.reject_parameters()?;
    if context.request.bearer().is_none() {
        let max_age = context.deployment.config.board_max_age;
        let read = Box::pin(read(context, false));
        return cached(context, "/v1/rules", max_age, read, None).await;
    }
    let is_operator = caller?.must_be_service(Scope::Admin).is_ok();
    Ok(Response::json_text(read(context, is_operator).await?))
}

async fn read(context: RequestContext<'_>, is_operator: bool) -> Result<String, Error> {
    let versions = store::read(context.deployment).await?;
    let (config, now) = (&context.deployment.config, context.request.now);
    Ok(versions.render(config, now, is_operator))
}

/// `POST` of a new version.
pub async fn publish(
    context: RequestContext<'_>,
    caller: Caller,
    body: Body<'_>,
) -> Result<Response, Error> {
    context.request.reject_parameters()?;
    let (deployment, now) = (context.deployment, context.request.now);
    let publication = Publication::parse(&body.json()?, &deployment.config, now)?;
    caller.must_be_service(Scope::Admin)?;
    let actor = caller.actor();
    let written = store::publish(deployment, &publication, actor.as_ref(), now).await?;
    Ok(render(context, &written))
}

/// `DELETE` of a version, which takes it back.
pub async fn take_back(
    context: RequestContext<'_>,
    version: &str,
    caller: Caller,
) -> Result<Response, Error> {
    let (deployment, now) = (context.deployment, context.request.now);
    let request = TakeBack::parse(version, &context.request.query)?;
    caller.must_be_service(Scope::Admin)?;
    let actor = caller.actor();
    let written = store::take_back(deployment, &request, actor.as_ref(), now).await?;
    Ok(render(context, &written))
}

/// `POST` of a preview: returns its cost, and starts it if the request says so.
pub async fn start_preview(
    context: RequestContext<'_>,
    caller: Caller,
    body: Body<'_>,
) -> Result<Response, Error> {
    context.request.reject_parameters()?;
    let (deployment, now) = (context.deployment, context.request.now);
    let config = &deployment.config;
    let request = PreviewRequest::parse(&body.json()?, config, now)?;
    caller.must_be_service(Scope::Admin)?;
    let journal = journal(context)?;
    if request.is_confirmed {
        drain(deployment, journal, 0..config.shards, REQUEST_BATCHES).await?;
    }
    let cost = rules_preview::cost(journal, config, request.from).await?;
    let mut preview = None;
    if request.is_confirmed {
        let versions = store::read(deployment).await?;
        let started = (&request, &cost);
        if !rules_preview::start(journal, deployment, &versions, started, now).await? {
            let detail = "A preview of rules is running: cancel it, or wait for its end.";
            return Err(Error::RulesConflict(detail.to_owned()));
        }
        preview = rules_preview::read(journal, config, false).await?;
    }
    let cost = PreviewCostView {
        entries: cost.entries,
        commands: cost.commands,
        minutes: cost.minutes,
    };
    render_preview(context, preview.as_ref(), Some(cost))
}

/// `GET` of the last preview.
pub async fn get_preview(context: RequestContext<'_>, caller: Caller) -> Result<Response, Error> {
    context.request.reject_parameters()?;
    caller.must_be_service(Scope::Admin)?;
    let preview = rules_preview::read(journal(context)?, &context.deployment.config, false).await?;
    render_preview(context, preview.as_ref(), None)
}

/// `DELETE` of the preview that is running, which cancels it.
pub async fn cancel_preview(
    context: RequestContext<'_>,
    caller: Caller,
) -> Result<Response, Error> {
    context.request.reject_parameters()?;
    caller.must_be_service(Scope::Admin)?;
    let (journal, config) = (journal(context)?, &context.deployment.config);
    rules_preview::end(journal, config, "cancelled", None, context.request.now).await?;
    let preview = rules_preview::read(journal, config, false).await?;
    render_preview(context, preview.as_ref(), None)
}

fn journal(context: RequestContext<'_>) -> Result<&Database, Error> {
    let detail = "This deployment has no previews of rules: JOURNAL is not bound.";
    let journal = context.app.bindings.journal.as_ref();
    journal.ok_or_else(|| Error::NotFound(detail.to_owned()))
}

/// The last preview, and the cost of another one.
#[derive(Serialize)]
struct PreviewBody<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    cost: Option<PreviewCostView>,
    preview: Option<PreviewView<'a>>,
}

#[derive(Serialize)]
struct PreviewCostView {
    entries: i64,
    commands: u64,
    minutes: i64,
}

#[derive(Serialize)]
struct PreviewView<'a> {
    state: &'a str,
    from: String,
    to: String,
    changes: Vec<ChangedField>,
    /// Entries that were read, and all at most.
    read: i64,
    entries: i64,
    started_at: String,
    updated_at: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<Value>,
}

fn render_preview(
    context: RequestContext<'_>,
    preview: Option<&Preview>,
    cost: Option<PreviewCostView>,
) -> Result<Response, Error> {
    let mut view = None;
    if let Some(preview) = preview {
        let sets = rules_preview::rule_sets(context.app.parse_config()?, preview);
        let number = |values: &Map<String, Value>, name: &str| {
            values.get(name).and_then(Value::as_i64).unwrap_or_default()
        };
        let result = preview.result.as_ref();
        let (job, entries) = (&preview.job, number(&preview.job, "entries"));
        let left = number(job, "last") - number(&preview.progress, "n");
        view = Some(PreviewView {
            state: &preview.state,
            from: Instant(number(job, "from")).to_string(),
            to: Instant(number(job, "until")).to_string(),
            changes: sets.changes(),
            read: (entries - left).max(0),
            entries,
            started_at: Instant(preview.id).to_string(),
            updated_at: Instant(preview.updated).to_string(),
            error: preview.error.as_deref(),
            result: result.and_then(|result| serde_json::from_slice(result.as_bytes()).ok()),
        });
    }
    Ok(Response::json(&PreviewBody {
        cost,
        preview: view,
    }))
}

/// Returns the version that a request has written.
fn render(context: RequestContext<'_>, written: &store::Written) -> Response {
    let (config, now) = (&context.deployment.config, context.request.now);
    let view = written.versions.version_view(written.number, config, now);
    Response::json(&view)
}
