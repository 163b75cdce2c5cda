//! `GET /v1/achievements` and `GET /v1/users/{user}/achievements`.

use super::users::may_see_hidden;
use crate::app::RequestContext;
use crate::cache::response::cached;
use crate::journal::achievements::{read_counts, read_member};
use crate::response::Response;
use activity_rank_core::achievement::AchievementsRequest;
use activity_rank_core::board::{CLOSED_MAX_AGE, UserView};
use activity_rank_core::error::Error;
use activity_rank_core::profile::Profile;
use activity_rank_store::profiles;

/// The achievements, and the number of members with each step; cached like closed boards.
pub async fn list(context: RequestContext<'_>) -> Result<Response, Error> {
    let config = &context.deployment.config;
    let request = AchievementsRequest::parse(None, &context.request.query)?;
    let read = async {
        let rows = match &context.app.bindings.journal {
            Some(journal) if !config.achievements.is_empty() => {
                read_counts(journal, config).await?
            }
            Some(_) | None => Vec::new(),
        };
        Ok(request.render(&config.achievements, None, &rows))
    };
    cached(
        context,
        &request.normal_form(),
        CLOSED_MAX_AGE,
        Box::pin(read),
        None,
    )
    .await
}

/// The steps of a user. To others, a hidden user looks like one who has none.
pub async fn get(context: RequestContext<'_>, user: &str) -> Result<Response, Error> {
    let config = &context.deployment.config;
    let request = AchievementsRequest::parse(Some(user), &context.request.query)?;
    let user = request.user.as_str();
    let (profile, rows) = read(context, user).await?;
    let view = UserView::new(user, profile.as_ref());
    Ok(Response::json_text(request.render(
        &config.achievements,
        Some(&view),
        &rows,
    )))
}

/// Reads the profile and the steps of a user, as far as the caller may see them.
pub async fn read(
    context: RequestContext<'_>,
    user: &str,
) -> Result<(Option<Profile>, Vec<String>), Error> {
    let config = &context.deployment.config;
    let (profile, flags) = profiles::read(context.deployment, user).await?;
    let rows = match &context.app.bindings.journal {
        Some(journal) if !config.achievements.is_empty() => {
            let read = (user, context.today(), context.request.now);
            read_member(journal, config, read).await?
        }
        Some(_) | None => Vec::new(),
    };
    match flags.is_hidden() && !may_see_hidden(context, user).await {
        true => Ok((None, Vec::new())),
        false => Ok((profile, rows)),
    }
}
