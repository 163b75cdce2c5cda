//! `GET /v1/moderation`: what was done to whom, the newest first.

use super::EntryId;
use crate::calendar::Instant;
use crate::config::Config;
use crate::error::Error;
use crate::query::Query;
use crate::ranking::User;
use crate::redis::{Command, Failure, Reply};
use crate::score::Points;
use crate::scripts;
use serde::Serialize;

/// What is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditQuery {
    before: Option<EntryId>,
    limit: u32,
}

/// What is answered.
#[derive(Debug, Serialize)]
pub struct View {
    entries: Vec<Entry>,
    /// What to ask for as `before` to read on; nothing at the end.
    next: Option<String>,
}

#[derive(Debug, Default, Serialize)]
struct Entry {
    id: String,
    at: String,
    action: String,
    /// Nobody, once the user has been erased.
    user: Option<User>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    adjustment: Option<Adjusted>,
    #[serde(skip_serializing_if = "Option::is_none")]
    removed: Option<Removed>,
}

/// Of an adjustment, or its undo.
#[derive(Debug, Serialize)]
struct Adjusted {
    id: String,
    date: String,
    points: Points,
}

/// How much of an erased user there was.
#[derive(Debug, Serialize)]
struct Removed {
    boards: u64,
    keys: u64,
    profiles: u64,
}

impl AuditQuery {
    /// Reads the question.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidRequest`] for faults of the query.
    pub fn read(query: &str) -> Result<Self, Error> {
        let mut query = Query::parse(query, &["before", "limit"]);
        let (before, limit) = (query.before(), query.whole("limit", 1..=100, 30));
        query.finish()?;
        Ok(Self { before, limit })
    }

    /// The command that answers it of a shard.
    #[must_use]
    pub fn command(&self, config: &Config, shard: u32) -> Command {
        let keys = config.keys(shard);
        let all = [keys.stamp(), keys.audit(), keys.who(), keys.profiles()];
        let from = self.before.map(|id| id.before(shard));
        let from = from.unwrap_or_else(|| "+".to_owned());
        Command::script(&scripts::AUDITED, &all)
            .arg(&from)
            .arg(&self.limit.to_string())
    }

    /// The answer.
    ///
    /// # Errors
    ///
    /// [`Failure::Unavailable`] where a reply is not one of this script.
    pub fn view(&self, replies: &[Reply], decimals: u32) -> Result<View, Failure> {
        let mut ids: Vec<EntryId> = Vec::new();
        let mut entries = Vec::new();
        for (shard, reply) in (0..).zip(replies) {
            let (reasons, users) = (reply.at(2)?, reply.at(3)?);
            for (place, entry) in reply.at(1)?.list()?.iter().enumerate() {
                let id = EntryId::of(shard, entry.at(0)?.text()?).ok_or_else(unexpected)?;
                let mut read = Entry::read(id, entry, decimals)?;
                let reason = reasons.at(place)?.some().map(Reply::text).transpose()?;
                read.reason = reason.map(str::to_owned);
                if let Some(user) = users.at(place)?.some() {
                    let profile = reply.at(4)?.at(place)?;
                    read.user = Some(User::stored(user.text()?, profile)?);
                }
                let place = ids.partition_point(|other| *other > id);
                ids.insert(place, id);
                entries.insert(place, read);
            }
        }
        entries.truncate(self.limit as usize);
        let full = entries.len() >= self.limit as usize;
        let last = entries.last().filter(|_| full);
        let next = last.map(|entry| entry.id.clone());
        Ok(View { entries, next })
    }
}

impl Entry {
    /// From names and values one after the other, behind its id.
    fn read(id: EntryId, reply: &Reply, decimals: u32) -> Result<Self, Failure> {
        let fields = reply.at(1)?.list()?;
        let field = |name: &str| {
            let mut pairs = fields.chunks(2);
            let value = pairs.find_map(|pair| match pair {
                [known, value] if known.text() == Ok(name) => Some(value),
                _ => None,
            });
            value.map_or(Ok(""), Reply::text)
        };
        let number =
            |name: &str| -> Result<i64, Failure> { field(name)?.parse().map_err(|_| unexpected()) };
        let count = |name: &str| number(name).map(|count| count.unsigned_abs());
        let action = field("action")?.to_owned();
        let adjustment = match field("adjustment")? {
            "" => None,
            id => Some(Adjusted {
                id: id.to_owned(),
                date: field("date")?.to_owned(),
                points: Points {
                    steps: number("points")?,
                    decimals,
                },
            }),
        };
        let removed = if action == "erase" {
            Some(Removed {
                boards: count("boards")?,
                keys: count("keys")?,
                profiles: count("profiles")?,
            })
        } else {
            None
        };
        Ok(Self {
            id: id.to_string(),
            at: Instant(number("at")?).to_string(),
            action,
            adjustment,
            removed,
            ..Self::default()
        })
    }
}

fn unexpected() -> Failure {
    Failure::Unavailable("unexpected entry in the audit list".to_owned())
}
