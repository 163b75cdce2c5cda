//! Finds the boards of groups with the most members.

use crate::deployment::Deployment;
use crate::redis::{Command, Reply, StoreError};
use activity_rank_core::board::board_name;
use activity_rank_core::board::snapshot::{GROUP_BOARDS, GroupPeriod};
use activity_rank_core::calendar::{Date, Instant, Period};
use activity_rank_core::error::Error;

/// Groups that are compared at most.
const GROUPS: u32 = 10_000;

/// Commands of one request at most.
const COMMANDS: usize = 5_000;

/// The requests that [`largest_group_boards`] sends at most.
pub const LARGEST_GROUPS_REQUESTS: u32 = 4;

/// Seconds that an entry of the index outlives the board, and one for rounding.
const LATE: i64 = 86_401;

/// Returns the groups and periods whose current boards have the most members, at most [`GROUP_BOARDS`].
///
/// A board of a longer period has the members of a shorter one, so only the largest groups of the longest period are
/// compared in the others. With several shards the first one decides: members are spread evenly.
///
/// # Errors
///
/// As [`Deployment::run_script`].
pub async fn largest_group_boards(
    deployment: &Deployment,
    date: Date,
    now: Instant,
) -> Result<Vec<GroupPeriod>, Error> {
    let periods = &deployment.config.periods;
    let Some(longest) = periods.last() else {
        return Ok(Vec::new());
    };
    let groups = read_groups(deployment, *longest, date, now).await?;
    let boards = groups.into_iter().map(|group| (group, *longest)).collect();
    let mut largest = largest_of(sized(deployment, date, boards).await?);
    let shorter = largest.iter().flat_map(|(_, (group, _))| {
        let shorter = periods.iter().filter(|period| *period != longest);
        shorter.map(|period| (group.clone(), *period))
    });
    let shorter = shorter.collect();
    largest.extend(sized(deployment, date, shorter).await?);
    let largest = largest_of(largest).into_iter();
    Ok(largest.map(|(_, board)| board).collect())
}

/// A board of a group with its number of members.
type Sized = (u64, GroupPeriod);

/// Returns the boards with the most members, in their order among equals.
fn largest_of(mut boards: Vec<Sized>) -> Vec<Sized> {
    let mut largest = Vec::new();
    while largest.len() < GROUP_BOARDS {
        let Some(most) = boards.iter().map(|(size, _)| *size).max() else {
            break;
        };
        let first = boards.iter().position(|(size, _)| *size == most);
        largest.extend(first.map(|index| boards.remove(index)));
    }
    largest
}

/// Reads the groups with a current board of a period from the index.
async fn read_groups(
    deployment: &Deployment,
    period: Period,
    date: Date,
    now: Instant,
) -> Result<Vec<String>, Error> {
    let (config, calendar) = (&deployment.config, &deployment.calendar);
    let keys = deployment.keys(0);
    // A board is in the index by its expiry, which depends on when it was first written.
    let lifetime = config.keep.board_seconds(period);
    let expiries = lifetime
        .zip(period.days(date))
        .map(|(seconds, (first, _))| {
            let seconds = i64::try_from(seconds).unwrap_or(i64::MAX / 2);
            let second = |instant: Instant| instant.0 / 1000 + seconds;
            let (earliest, latest) = (second(calendar.start_of(first)), second(now) + LATE);
            (earliest.to_string(), latest.to_string())
        });
    let (earliest, latest) = expiries.unwrap_or_else(|| ("inf".to_owned(), "inf".to_owned()));
    let range = Command::new("ZRANGEBYSCORE").arg(&keys.index());
    let range = range.arg(&earliest).arg(&latest);
    let range = range.arg("LIMIT").number(0).number(GROUPS);
    let names = deployment.run_command(range).await?;
    let start = format!("{}:", board_name(period, date, None));
    let mut groups = Vec::new();
    for name in names.list()? {
        groups.extend(name.text()?.strip_prefix(&start).map(str::to_owned));
    }
    Ok(groups)
}

/// Reads the numbers of members of boards, and leaves out empty ones.
async fn sized(
    deployment: &Deployment,
    date: Date,
    boards: Vec<GroupPeriod>,
) -> Result<Vec<Sized>, Error> {
    let keys = deployment.keys(0);
    let mut replies = Vec::new();
    for boards in boards.chunks(COMMANDS) {
        let commands = boards.iter().map(|(group, period)| {
            let name = board_name(*period, date, Some(group));
            Command::new("ZCARD").arg(&keys.board_named(&name))
        });
        let commands = commands.collect();
        replies.extend(deployment.run_commands(commands).await?);
    }
    let sizes = replies.iter().map(Reply::unsigned);
    let sizes = sizes.collect::<Result<Vec<_>, StoreError>>()?;
    let sized = sizes.into_iter().zip(boards);
    Ok(sized.filter(|(size, _)| *size > 0).collect())
}
