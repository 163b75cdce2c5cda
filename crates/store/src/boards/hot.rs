//! `hot.lua`: the targets that receive most at present.

use super::rows::content;
use crate::deployment::Deployment;
use crate::keys::Keys;
use crate::redis::{Command, Reply, StoreError};
use crate::scripts::HOT;
use activity_rank_core::board::{HotRequest, HotTarget};
use activity_rank_core::config::Config;
use activity_rank_core::content::id_of_member;
use activity_rank_core::error::Error;

/// Reads the targets that receive most at present, best first and equal scores by id, descending.
///
/// # Errors
///
/// As [`Deployment::run_script`].
pub async fn read_hot(
    deployment: &Deployment,
    request: &HotRequest,
) -> Result<Vec<HotTarget>, Error> {
    let config = &deployment.config;
    let calls = (0..config.shards).map(|shard| hot_call(config, request, shard));
    let mut hot = Vec::new();
    for reply in deployment.run_scripts(calls.collect()).await? {
        hot.extend(decode(&reply)?);
    }
    hot.sort_by(|one, other| (other.score, &other.id).cmp(&(one.score, &one.id)));
    hot.truncate(request.limit as usize);
    Ok(hot)
}

/// Returns the call that reads the first targets of a shard.
#[must_use]
pub fn hot_call(config: &Config, request: &HotRequest, shard: u32) -> Command {
    let keys = Keys::of_shard(config, shard);
    let mut all = vec![keys.users(), keys.register()];
    all.extend(request.boards().map(|name| keys.board_named(&name)));
    Command::script(&HOT, &all).number(request.limit)
}

fn decode(reply: &Reply) -> Result<Vec<HotTarget>, StoreError> {
    let (scores, registrations, authors) = (reply.at(2)?, reply.at(3)?, reply.at(4)?);
    let members = reply.at(1)?.list()?.iter().enumerate();
    let targets = members.map(|(index, member)| {
        let registration = registrations.at(index)?.optional_text()?;
        Ok(HotTarget {
            id: id_of_member(member.text()?).to_owned(),
            score: scores.at(index)?.unsigned()?,
            content: content(registration, authors.at(index)?.optional_text()?),
        })
    });
    targets.collect()
}
