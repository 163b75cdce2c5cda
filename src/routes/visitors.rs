//! `POST /v1/visitors`, and the numbers that buttons show.

use crate::app::RequestContext;
use crate::cache::response::cached;
use crate::platform::visitors;
use crate::response::Response;
use activity_rank_core::counts::CountsRequest;
use activity_rank_core::error::{Error, FieldErrors};
use activity_rank_store::daily::{self, Daily};
use activity_rank_store::visitors as store;
use serde_json::Value;

/// Issues a visitor's token.
pub async fn post(context: RequestContext<'_>) -> Result<Response, Error> {
    let (request, config) = (context.request, &context.deployment.config);
    let settings = config.visitors.as_ref().ok_or_else(Error::no_visitors)?;
    let body = request.body()?;
    request.reject_parameters()?;
    let Value::Object(fields) = body.json()? else {
        return Err(Error::invalid("A visitor is a JSON object."));
    };
    let known: &[&str] = match settings.turnstile {
        Some(_) => &["turnstile"],
        None => &[],
    };
    let mut errors = FieldErrors::default();
    errors.reject_unknown(fields.keys(), known);
    errors.finish(Some(()))?;
    let token = fields.get("turnstile").and_then(Value::as_str);
    let token = token.unwrap_or_default();
    if settings.turnstile.is_some() && !(1..=2048).contains(&token.len()) {
        let detail = "must be the token of a Turnstile widget";
        return Err(Error::field("/turnstile", detail));
    }
    // Without Cloudflare's network all callers are one.
    let address = request.header("cf-connecting-ip").unwrap_or_default();
    let words = visitors::issue(settings, address, token).await;
    let words = words.map_err(Error::TurnstileUnavailable)?;
    let mut words = words.split(' ');
    let mut next = || words.next().unwrap_or_default();
    let (visitor, signature, address) = (next(), next(), next());
    if visitor.is_empty() {
        let detail = "Turnstile did not accept the token.";
        return Err(Error::Forbidden(detail.to_owned()));
    }
    let visitors = Daily::Visitors(address, settings.per_address);
    daily::count(context.deployment, visitors, request.now).await?;
    let body = format!("{{\"visitor\":\"{visitor}\",\"token\":\"{visitor}.{signature}\"}}");
    Ok(Response::json_text(body))
}

/// The number of activities of targets by action: from the edge cache while it is fresh.
pub async fn counts(context: RequestContext<'_>) -> Result<Response, Error> {
    let config = &context.deployment.config;
    let request = CountsRequest::parse(&context.request.query, config)?;
    let read = async {
        let counts = store::read_counts(context.deployment, &request).await?;
        Ok(request.render(&counts))
    };
    let (form, max_age) = (request.normal_form(), config.board_max_age);
    cached(context, &form, max_age, Box::pin(read), None).await
}
