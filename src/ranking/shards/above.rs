//! How many on other shards rank above a score.

use crate::config::Config;
use crate::error::Error;
use crate::redis::{Command, Failure, Reply};
use crate::scripts;
use crate::site::Site;

/// A score with its rank, from 0: first among those of its shard, then of all.
#[derive(Clone, Copy, Debug)]
pub struct Ranked {
    /// The place of its board among those asked about.
    pub board: usize,
    /// Its shard.
    pub shard: u32,
    /// The score, packed.
    pub score: u64,
    /// The rank.
    pub rank: u64,
}

/// Adds to ranks on their own shards how many rank above on the others, on boards of these names.
///
/// # Errors
///
/// As [`Site::ask`].
pub async fn rank_among_all(
    site: &Site,
    ranked: &mut [Ranked],
    boards: &[String],
) -> Result<(), Error> {
    let commands = commands(&site.config, ranked, boards);
    if commands.is_empty() {
        return Ok(());
    }
    let replies = site.ask_each(commands).await?;
    Ok(add_above(&site.config, ranked, &replies)?)
}

/// The commands that count on each shard who ranks above those of others; none where nobody is
/// to be ranked, or there is one shard.
pub fn commands(config: &Config, ranked: &[Ranked], boards: &[String]) -> Vec<Command> {
    let mut commands = Vec::new();
    for shard in 0..config.shards {
        if !is_asked(shard, ranked) {
            continue;
        }
        let keys = config.keys(shard);
        let mut all = vec![keys.stamp()];
        for name in boards {
            all.push(keys.board_named(name));
        }
        let mut command = Command::script(&scripts::ABOVE, &all);
        for one in ranked.iter().filter(|one| one.shard != shard) {
            let least = least_above(shard, one.shard, one.score);
            command = command.arg(&(one.board + 1).to_string()).arg(&least);
        }
        commands.push(command);
    }
    commands
}

/// Adds what the shards replied to these commands.
pub fn add_above(config: &Config, ranked: &mut [Ranked], replies: &[Reply]) -> Result<(), Failure> {
    let mut replies = replies.iter();
    for shard in 0..config.shards {
        if !is_asked(shard, ranked) {
            continue;
        }
        let counts = replies.next().unwrap_or(&Reply::Nil).at(1)?;
        let others = ranked.iter_mut().filter(|one| one.shard != shard);
        for (place, one) in others.enumerate() {
            one.rank += counts.at(place)?.unsigned()?;
        }
    }
    Ok(())
}

/// Whether any of these are of another shard.
fn is_asked(shard: u32, ranked: &[Ranked]) -> bool {
    ranked.iter().any(|one| one.shard != shard)
}

/// The least score on a shard that ranks above one of another shard: equals rank by shard.
pub fn least_above(shard: u32, of: u32, score: u64) -> String {
    if shard < of {
        score.to_string()
    } else {
        format!("({score}")
    }
}
