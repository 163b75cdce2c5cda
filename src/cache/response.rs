//! Responses about boards from caches, and from copies while the store is unavailable.

use super::{edge, hiding};
use crate::app::RequestContext;
use crate::log;
use crate::request::Request;
use crate::response::{Handling, Response, Source};
use activity_rank_core::board::CachedResponse;
use activity_rank_core::calendar::Instant;
use activity_rank_core::error::Error;
use std::pin::Pin;

/// The reading of a response body. Boxed: the future of each route would contain all of [`cached`].
pub type Reading<'a> = Pin<Box<dyn Future<Output = Result<String, Error>> + 'a>>;

/// Looks for a copy that was made at an instant or later.
pub type Copying<'a> = Box<dyn FnOnce(Instant) -> FoundCopy<'a> + 'a>;

/// The look-up of a copy.
pub type FoundCopy<'a> = Pin<Box<dyn Future<Output = Result<Option<CachedResponse>, Error>> + 'a>>;

/// Returns the entry of the edge cache while it is fresh, else what `read` returns. While the store
/// is unavailable, returns the newest of an older entry and the copy that `copy` finds.
///
/// `normal_form` is the path and query that all spellings of the request have in common; `max_age`
/// the seconds for which a response stays fresh. With `BOARD_MAX_AGE = 0` none does.
///
/// # Errors
///
/// The errors of `read`.
pub async fn cached(
    context: RequestContext<'_>,
    normal_form: &str,
    max_age: u32,
    read: Reading<'_>,
    copy: Option<Copying<'_>>,
) -> Result<Response, Error> {
    let request = context.request;
    let max_age = match context.deployment.config.board_max_age {
        0 => 0,
        _ => max_age,
    };
    let url = format!("{}{normal_form}", request.origin);
    let lifetime = i64::from(max_age) * 1000;
    let oldest = Instant(request.now.0 - lifetime + 1);
    let found = edge::find(&url, oldest).await;
    let age = found
        .as_ref()
        .map(|found| found.age(request.now).to_string());
    let (body, made, edge_url, source) = match found {
        Some(CachedResponse { body, made }) => (body, made, None, Source::Edge),
        None => match read.await {
            Ok(body) => (body, request.now, Some(url), Source::Miss),
            Err(error) => {
                let copy = last_copy(context, &url, async |oldest| match copy {
                    Some(copy) => copy(oldest).await,
                    None => Ok(None),
                });
                let response = stale(request, error, copy).await?;
                let response = response
                    .with("cache-control", "public, max-age=1")
                    .with_etag();
                return Ok(response);
            }
        },
    };
    let control = format!("public, max-age={max_age}, stale-if-error=86400");
    let mut response = Response::text("application/json", body)
        .with("cache-control", control)
        .with_etag();
    response.source = source;
    // A request without a date means another board from midnight on.
    let tomorrow = context.today().next();
    let midnight = context.deployment.calendar.start_of(tomorrow);
    response.handling = Handling::Cache {
        made,
        until: Instant(made.0 + lifetime).min(midnight),
        edge_url,
    };
    if let Some(age) = age {
        response = response.with("age", age);
    }
    Ok(response)
}

/// Returns the newest copy, in the edge cache or by `copy`, that shows no user who has been hidden or
/// erased since.
///
/// # Errors
///
/// [`Error::StoreUnavailable`] if a source fails.
pub async fn last_copy(
    context: RequestContext<'_>,
    url: &str,
    copy: impl AsyncFnOnce(Instant) -> Result<Option<CachedResponse>, Error>,
) -> Result<Option<CachedResponse>, Error> {
    let oldest = hiding::oldest_allowed(context).await?;
    let cached = edge::find(url, oldest).await;
    let copy = copy(oldest).await?;
    Ok(cached.into_iter().chain(copy).max_by_key(|copy| copy.made))
}

/// Returns a copy as the response to a request that failed because the store is unavailable.
///
/// # Errors
///
/// The error of the request, if it has another reason or there is no copy. Errors of the look-up
/// are logged.
pub async fn stale(
    request: &Request,
    error: Error,
    copy: impl Future<Output = Result<Option<CachedResponse>, Error>>,
) -> Result<Response, Error> {
    let Error::StoreUnavailable(cause) = &error else {
        return Err(error);
    };
    let copy = copy.await.unwrap_or_else(|other| {
        log::failure(request, &other);
        None
    });
    let Some(copy) = copy else {
        return Err(error);
    };
    log::warning(request, &format!("responded with a cached copy: {cause}"));
    let age = copy.age(request.now).to_string();
    let mut response = Response::text("application/json", copy.stale()).with("age", age);
    response.source = Source::Stale;
    Ok(response)
}
