//! Reads what changed a user's points from the active records, for a deployment without a journal.

use crate::count::ActiveRecord;
use crate::deployment::Deployment;
use crate::keys::Keys;
use crate::profiles::decode_own;
use crate::redis::{Command, Reply};
use activity_rank_core::error::Error;
use activity_rank_core::point_changes::{PointChange, PointsPage, PointsRequest, Source};
use activity_rank_core::profile::Profile;

/// The place of a record in the order of the pages: the instant of its last change, and its field.
type Position<'a> = (i64, &'a str);

/// Reads the profile of a user, and a page of the active records: what still counts, newest first.
///
/// # Errors
///
/// [`Error::InvalidRequest`] for a position that is not one; else as [`Deployment::run_script`].
pub async fn read(
    deployment: &Deployment,
    request: &PointsRequest,
) -> Result<(Option<Profile>, PointsPage), Error> {
    let before = match &request.before {
        Some(text) => Some(parse_position(text).ok_or_else(PointsRequest::invalid_position)?),
        None => None,
    };
    let keys = deployment.keys_of(&request.user);
    let profile = Command::new("HMGET").arg(&keys.users()).arg(&request.user);
    let profile = profile.arg(&Keys::flags_field(&request.user));
    let records = Command::new("HGETALL").arg(&keys.active_records(&request.user));
    let replies = deployment.run_commands(vec![profile, records]).await?;
    let (profile, _) = decode_own(replies.first().unwrap_or(&Reply::Nil).list()?)?;
    let records = replies.get(1).unwrap_or(&Reply::Nil).list()?;
    let limit = request.limit as usize;
    let mut page: Vec<(Position<'_>, PointChange)> = Vec::new();
    for pair in records.chunks(2) {
        let [field, record] = pair else { continue };
        let field = field.text()?;
        // Other fields are not records: instants of cooldowns.
        let Some(record) = ActiveRecord::parse(record.text()?) else {
            continue;
        };
        let position = (record.at, field);
        if request.contains(record.at) && before.is_none_or(|before| position < before) {
            let after = page.partition_point(|(other, _)| *other > position);
            page.insert(after, (position, change(field, &record)));
            // One more than the page, which shows that there is another one.
            page.truncate(limit + 1);
        }
    }
    let more = page.len() > limit;
    page.truncate(limit);
    let last = page.last().filter(|_| more);
    let page = PointsPage {
        source: Source::Records,
        next: last.map(|((changed, field), _)| format!("{changed}-{field}")),
        changes: page.into_iter().map(|(_, change)| change).collect(),
        is_behind: false,
        moderation: None,
        exclusions: Vec::new(),
        refused: request.refused.then(Vec::new),
    };
    Ok((profile, page))
}

/// Returns the change that a record keeps: the points on the board of its longest period.
fn change(field: &str, record: &ActiveRecord) -> PointChange {
    let longest = record.boards.periods.len().saturating_sub(1);
    let amount = record.amounts.get(longest).or(record.amounts.first());
    let record_name = Keys::record_of_field(field);
    PointChange::from_record(
        &record_name,
        record.at,
        amount.copied().unwrap_or_default(),
        record.boards.event.clone(),
    )
}

fn parse_position(text: &str) -> Option<Position<'_>> {
    let (changed, field) = text.split_once('-')?;
    Some((changed.parse().ok()?, field))
}
