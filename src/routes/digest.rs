//! `GET /v1/digest/{week}`, `GET /v1/feed.atom` and `GET /v1/feed.json`.

use super::ranking::BoardReader;
use crate::app::RequestContext;
use crate::cache::response::cached;
use crate::journal::sums;
use crate::response::Response;
use activity_rank_core::board::{CLOSED_MAX_AGE, PeriodView};
use activity_rank_core::calendar::Period;
use activity_rank_core::digest::{DigestRequest, FeedFormat, FeedRequest};
use activity_rank_core::error::Error;
use activity_rank_store::boards::read_tops;

/// The digest of a week, cached like a closed board.
pub async fn get(context: RequestContext<'_>, week: &str) -> Result<Response, Error> {
    let config = &context.deployment.config;
    let request = DigestRequest::parse(week, config, context.today())?;
    let (form, read) = (request.normal_form(), read(context, &request));
    cached(context, &form, CLOSED_MAX_AGE, Box::pin(read), None).await
}

/// Reads the boards of a week, and the sums of the journal where everyone may read them.
async fn read(context: RequestContext<'_>, request: &DigestRequest) -> Result<String, Error> {
    let config = &context.deployment.config;
    let mut slices = Vec::new();
    for page in &request.pages {
        slices.push(BoardReader::new(context, page).read().await?);
    }
    let sums = match &context.app.bindings.journal {
        Some(journal) if config.public_stats => {
            let days = (request.first.to_string(), request.last().to_string());
            Some(sums::read(journal, config, days).await?)
        }
        Some(_) | None => None,
    };
    let (calendar, now) = (&context.deployment.calendar, context.request.now);
    let period = PeriodView::new(Period::Week, request.first, calendar, now);
    Ok(request.render(&slices, sums.as_ref(), &period, config))
}

/// The winners of past weeks as a feed, cached like a closed board.
pub async fn feed(context: RequestContext<'_>, format: FeedFormat) -> Result<Response, Error> {
    let deployment = context.deployment;
    let config = &deployment.config;
    let request = FeedRequest::parse(format, config, context.today())?;
    let read = async {
        let tops = read_tops(deployment, &request.boards, FeedRequest::ROWS).await?;
        let slices: Vec<_> = tops.into_iter().map(|top| top.slice()).collect();
        let origin = &context.request.origin;
        Ok(request.render(&slices, origin, &deployment.calendar, config))
    };
    let response = cached(context, format.path(), CLOSED_MAX_AGE, Box::pin(read), None).await?;
    Ok(response.with("content-type", format.media_type()))
}
