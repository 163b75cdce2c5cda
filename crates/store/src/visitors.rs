//! The number of activities of a target.

use crate::deployment::Deployment;
use crate::keys::Keys;
use crate::redis::{Command, Reply, StoreError};
use activity_rank_core::content::{id_of_member, member};
use activity_rank_core::counts::CountsRequest;
use activity_rank_core::error::Error;

/// The most targets of an action whose numbers are read without their names.
const MAX_TARGETS: i64 = 100;

/// Reads the numbers of activities by target and action: of some targets in their order, or of those with the most of each action.
///
/// # Errors
///
/// As [`Deployment::run_script`].
pub async fn read_counts(
    deployment: &Deployment,
    request: &CountsRequest,
) -> Result<Vec<(String, Vec<u64>)>, Error> {
    let mut targets = request.targets.clone();
    if targets.is_empty() {
        targets = read_most(deployment, &request.actions).await?;
    }
    let read = |keys: &Keys, ids: &[&str]| {
        let members: Vec<String> = ids.iter().map(|id| member(id)).collect();
        let actions = request.actions.iter();
        let command = |action: &String| Command::new("ZMSCORE").arg(&keys.count_board(action));
        actions
            .map(|action| command(action).args(&members))
            .collect()
    };
    let ids: Vec<&str> = targets.iter().map(String::as_str).collect();
    let values = deployment.read_values(&ids, &read).await?;
    let mut counts = Vec::new();
    for (target, values) in targets.into_iter().zip(values) {
        let numbers = values.iter().map(read_number);
        counts.push((target, numbers.collect::<Result<Vec<u64>, _>>()?));
    }
    Ok(counts)
}

/// Decodes a number. The number of a hidden target is stored negated, and counts as 0.
fn read_number(value: &Reply) -> Result<u64, StoreError> {
    let number = value.some().map_or(Ok(0), Reply::integer)?;
    Ok(u64::try_from(number).unwrap_or(0))
}

/// Reads the targets with the most activities of each action.
async fn read_most(deployment: &Deployment, actions: &[String]) -> Result<Vec<String>, Error> {
    let shards = 0..deployment.config.shards;
    let commands = shards.flat_map(|shard| {
        let keys = deployment.keys(shard);
        actions.iter().map(move |action| {
            let range = Command::new("ZRANGE").arg(&keys.count_board(action));
            let range = range.arg("+inf").arg("1").arg("BYSCORE").arg("REV");
            range.arg("LIMIT").number(0).number(MAX_TARGETS)
        })
    });
    let replies = deployment.run_commands(commands.collect()).await?;
    let mut targets: Vec<String> = Vec::new();
    for reply in &replies {
        for found in reply.list()? {
            let id = id_of_member(found.text()?);
            if !targets.iter().any(|known| known == id) {
                targets.push(id.to_owned());
            }
        }
    }
    Ok(targets)
}
