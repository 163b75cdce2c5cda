//! `GET /v1/users/{user}/card`, `card.svg` and `badge.svg`.

use crate::app::RequestContext;
use crate::archive;
use crate::cache::response::cached;
use crate::journal::achievements;
use crate::log;
use crate::response::Response;
use activity_rank_core::card::{Card, CardFormat, CardRequest, Preview};
use activity_rank_core::error::Error;
use activity_rank_store::boards::read_card;

/// The policy of a picture that is opened as a page: its own style and nothing else.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'";

/// The card of a user, as JSON or as a picture, cached like an open board.
pub async fn get(
    context: RequestContext<'_>,
    format: CardFormat,
    user: &str,
) -> Result<Response, Error> {
    let (config, query) = (&context.deployment.config, &context.request.query);
    let request = CardRequest::parse(format, user, query, config, context.today())?;
    let read = async {
        let mut card = read(context, &request).await?;
        if request.shows_achievements() {
            card.achievements = count_achievements(context, &request).await;
        }
        Ok(request.render(&card, config))
    };
    let (form, max_age) = (request.normal_form(), config.board_max_age);
    let response = cached(context, &form, max_age, Box::pin(read), None).await?;
    Ok(match request.picture_type() {
        Some(media_type) => response
            .with("content-type", media_type)
            .with("content-security-policy", POLICY),
        None => response,
    })
}

/// Returns what a page about a user says of them.
///
/// # Errors
///
/// [`Error::NotFound`] for a user who has no card, and the errors of the store.
pub async fn preview(context: RequestContext<'_>, user: &str) -> Result<Preview, Error> {
    let config = &context.deployment.config;
    let request = CardRequest::parse(CardFormat::Json, user, "", config, context.today())?;
    Ok(request.preview(&read(context, &request).await?, config))
}

/// Reads a card from the store, and with a public history its older days from the archive.
async fn read(context: RequestContext<'_>, request: &CardRequest) -> Result<Card, Error> {
    let card = read_card(context.deployment, request).await?;
    let mut card = card.ok_or_else(|| request.not_found())?;
    if let (Some(history), Some(archive)) = (&mut card.history, &context.app.bindings.archive) {
        let config = &context.deployment.config;
        history.older = archive::read_points(archive, config, &request.days).await?;
    }
    Ok(card)
}

/// Returns the number of the user's achievements; `None` without achievements, and if the journal is unavailable.
async fn count_achievements(context: RequestContext<'_>, request: &CardRequest) -> Option<usize> {
    let config = &context.deployment.config;
    let journal = context.app.bindings.journal.as_ref();
    let journal = journal.filter(|_| !config.achievements.is_empty())?;
    let count = achievements::count(journal, config, &request.standings.user).await;
    count
        .inspect_err(|error| log::failure(context.request, error))
        .ok()
}
