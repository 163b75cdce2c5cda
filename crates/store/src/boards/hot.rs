//! `hot.lua`: the targets that receive most at present.

use super::ranked;
use super::rows::take_rows;
use crate::deployment::Deployment;
use crate::keys::Keys;
use crate::profiles::complete_authors;
use crate::redis::Command;
use crate::scripts::HOT;
use activity_rank_core::board::{BoardKind, HotRequest, Row};
use activity_rank_core::error::Error;

/// Reads the targets that receive most at present, best first and equal scores by id, descending, with the
/// scores of `hot.lua`.
///
/// # Errors
///
/// As [`Deployment::run_script`].
pub async fn read_hot(deployment: &Deployment, request: &HotRequest) -> Result<Vec<Row>, Error> {
    let config = &deployment.config;
    let calls = (0..config.shards).map(|shard| hot_call(&deployment.keys(shard), request));
    let mut rows = Vec::new();
    for reply in deployment.run_scripts(calls.collect()).await? {
        rows.extend(take_rows(reply, 1)?);
    }
    // Members sort as ids do.
    rows.sort_by(|a, b| (b.score, &b.user).cmp(&(a.score, &a.user)));
    rows.truncate(request.limit as usize);
    let mut rows = ranked(rows, 0, BoardKind::Content);
    if config.shards > 1 {
        let contents = rows.iter_mut().filter_map(|row| row.content.as_deref_mut());
        complete_authors(deployment, contents.collect()).await?;
    }
    Ok(rows)
}

/// Returns the call that reads the first targets of a shard.
#[must_use]
pub fn hot_call(keys: &Keys, request: &HotRequest) -> Command {
    let mut all = vec![keys.users(), keys.register()];
    all.extend(request.boards().map(|name| keys.board_named(&name)));
    Command::script(&HOT, &all).number(request.limit)
}
