//! Entries of the stream of changes, the outbox, and what others receive by them.

use crate::keys::Keys;
use crate::redis::{Reply, StoreError};
use activity_rank_core::calendar::{Date, Instant, Period};
use activity_rank_core::config::{Config, Keep};
use activity_rank_core::content::{id_of_member, member, member_of_stub};

/// One change, in the order in which the store made it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutboxEntry {
    /// The id within the shard's stream.
    pub id: String,
    /// Names and values.
    pub fields: Vec<(String, String)>,
}

impl OutboxEntry {
    /// Decodes an entry of a stream.
    ///
    /// # Errors
    ///
    /// [`StoreError::Unavailable`] for any other reply.
    pub fn decode(entry: &Reply) -> Result<Self, StoreError> {
        let mut fields = Vec::new();
        for pair in entry.at(1)?.list()?.chunks(2) {
            if let [name, value] = pair {
                fields.push((name.text()?.to_owned(), value.text()?.to_owned()));
            }
        }
        Ok(Self {
            id: entry.at(0)?.text()?.to_owned(),
            fields,
        })
    }

    /// Returns the value of a field; empty if there is none.
    #[must_use]
    pub fn field(&self, name: &str) -> &str {
        let mut fields = self.fields.iter();
        let found = fields.find(|(known, _)| known == name);
        found.map_or("", |(_, value)| value.as_str())
    }
}

/// The kind of an entry that is not for the journal: a preview of rules is to continue. The length of the outbox alone shows the
/// run of every minute that there is work.
pub const PREVIEW: &str = "preview";

/// Before the first entry of a stream.
pub(crate) const START: &str = "0-0";

/// The receiver of points.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Receiver {
    /// A target, and with one shard its author, by number and authorship of its registration.
    Target {
        /// The member of boards.
        member: String,
        /// The number.
        number: String,
        /// The authorship; empty for no author.
        authorship: String,
    },
    /// A user who is followed, or the author of a target.
    User {
        /// The user.
        id: String,
        /// The target.
        listed: Option<String>,
        /// Whether the list of the user must have the target. The list of a member lacks the targets of an account.
        is_checked: bool,
    },
}

/// Points that others receive for an activity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Receipt {
    /// The receiver.
    pub receiver: Receiver,
    /// The points in smallest steps; negative to take them back.
    pub points: i64,
    /// 1 if the target is counted for the action, -1 if it is not any more; else 0.
    pub counts: i64,
    /// The periods of the boards.
    pub periods: Vec<Period>,
    /// The day of the boards.
    pub date: Date,
    /// The action of the activity.
    pub action: String,
    /// The instant of the activity.
    pub at: Instant,
    /// Whether the activity may have been before an erasure of the author.
    pub is_dated: bool,
}

/// What an entry of the stream changes for others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// Points.
    Receipt(Receipt),
    /// With several shards, the list of an author gains or loses a target.
    List {
        /// The author.
        user: String,
        /// The target.
        member: String,
        /// The instant in the list; empty for a target that leaves it.
        instant: String,
        /// The instant of the registration.
        at: Instant,
    },
    /// With several shards, a target loses its author, who has been erased.
    Disown {
        /// The target.
        member: String,
        /// The author.
        user: String,
    },
}

impl Change {
    /// Returns what an entry changes for others; `None` if nothing.
    #[must_use]
    pub fn decode(entry: &OutboxEntry, has_shards: bool) -> Option<Self> {
        let text = |name: &str| entry.field(name);
        let owned = |name: &str| text(name).to_owned();
        let instant = |name: &str| text(name).parse().ok().map(Instant);
        match (text("did"), has_shards) {
            ("count" | "undo", _) => Receipt::from_activity(entry).map(Self::Receipt),
            ("receive", true) if !text("author").is_empty() => Some(Self::Receipt(Receipt {
                receiver: Receiver::User {
                    id: owned("author"),
                    // Without a target the author is an account of this member.
                    listed: ["target", "listed"]
                        .into_iter()
                        .map(owned)
                        .find(|id| !id.is_empty()),
                    is_checked: !text("target").is_empty(),
                },
                points: text("points").parse().ok()?,
                counts: 0,
                periods: parse_periods(text("kinds"))?.0,
                date: Date::parse(text("date"))?,
                action: owned("action"),
                at: instant("changed")?,
                is_dated: true,
            })),
            ("target", true) if !text("at").is_empty() => Some(Self::List {
                user: owned("user"),
                member: owned("target"),
                instant: owned("instant"),
                at: instant("at")?,
            }),
            ("moderate-target", true) if !text("author").is_empty() => Some(Self::List {
                user: owned("author"),
                member: owned("target"),
                instant: String::new(),
                at: instant("now")?,
            }),
            ("disown", true) => Some(Self::Disown {
                member: owned("target"),
                user: owned("author"),
            }),
            _ => None,
        }
    }

    /// Returns the shard of the receiver.
    pub(crate) fn shard(&self, config: &Config) -> u32 {
        config.shard_of(match self {
            Self::Receipt(Receipt {
                receiver: Receiver::User { id, .. },
                ..
            }) => id,
            Self::Receipt(Receipt {
                receiver: Receiver::Target { member, .. },
                ..
            }) => id_of_member(member),
            Self::List { user, .. } => user,
            Self::Disown { member, .. } => id_of_member(member_of_stub(member)),
        })
    }
}

/// Points that others receive for an activity: `2wa;17;1`, the end of its active record. With a cap of pairs `2wa` is followed by `>` and
/// 12 digits of the SHA-1 of the author who receives: an undo then takes the points from what the two have on the day.
#[derive(Debug, PartialEq, Eq)]
pub struct Received<'a> {
    /// The points on each board.
    pub points: i64,
    /// The periods of the boards.
    pub periods: Vec<Period>,
    /// Whether the target is counted for the action: `n` after the periods.
    pub is_counted: bool,
    /// The number of the target's registration; empty for a user.
    pub number: &'a str,
    /// The number of its authorship; empty without an author.
    pub authorship: &'a str,
    /// The member of the target, or the user, if it is not the target of the activity: `2wa;17;1;post-8`.
    pub on: Option<&'a str>,
}

impl<'a> Received<'a> {
    /// Parses the end of an active record; `None` for any other text.
    #[must_use]
    pub fn parse(text: &'a str) -> Option<Self> {
        let mut parts = text.splitn(4, ';');
        let head = parts.next()?.split('>').next()?;
        let letters = head.trim_start_matches(|digit: char| digit.is_ascii_digit());
        let (periods, is_counted) = parse_periods(letters)?;
        Some(Self {
            points: head.strip_suffix(letters)?.parse().ok()?,
            periods,
            is_counted,
            number: parts.next()?,
            authorship: parts.next()?,
            on: parts.next(),
        })
    }
}

impl Receipt {
    /// Decodes what others receive for an activity, or lose by its undo.
    fn from_activity(entry: &OutboxEntry) -> Option<Self> {
        let received = Received::parse(entry.field("received"))?;
        let (_, target) = entry.field("mark").split_once(':')?;
        let receiver = match received.number {
            "" => Receiver::User {
                id: received.on.unwrap_or(target).to_owned(),
                listed: None,
                is_checked: false,
            },
            number => Receiver::Target {
                member: received.on.map_or_else(|| member(target), str::to_owned),
                number: number.to_owned(),
                authorship: received.authorship.to_owned(),
            },
        };
        let is_undo = entry.field("did") == "undo";
        let sign = if is_undo { -1 } else { 1 };
        let at = if is_undo { "counted" } else { "at" };
        Some(Self {
            receiver,
            points: sign * received.points,
            counts: if received.is_counted { sign } else { 0 },
            periods: received.periods,
            date: Date::parse(entry.field("date"))?,
            action: entry.field("action").to_owned(),
            at: Instant(entry.field(at).parse().ok()?),
            is_dated: is_undo || entry.field("dated") != "0",
        })
    }
}

/// Follows the letters of the periods if the target is counted for the action.
pub const COUNTED: char = 'n';

/// Parses the letters of periods with boards of content, and whether the target is counted for the action; `None` if a
/// letter is unknown.
fn parse_periods(letters: &str) -> Option<(Vec<Period>, bool)> {
    let counted = letters.strip_suffix(COUNTED);
    let periods = counted.unwrap_or(letters).chars();
    let periods: Option<Vec<Period>> = periods.map(Period::from_letter).collect();
    Some((periods?, counted.is_some()))
}

/// Returns whether an id of a stream is after another one.
pub(crate) fn is_after(id: &str, other: &str) -> bool {
    let parse = |id: &str| {
        let (ms, sequence) = id.split_once('-')?;
        Some((ms.parse::<u64>().ok()?, sequence.parse::<u64>().ok()?))
    };
    parse(id) > parse(other)
}

/// Returns the field of the hash of users with the last entry of the shard's stream that all receivers have applied: with
/// one shard the position that the script stores.
#[must_use]
pub fn position_field(has_shards: bool) -> String {
    let name = if has_shards { "o" } else { "0" };
    format!("{}{name}", Keys::WATCHED)
}

/// Returns the lifetimes of the boards of a deployment, in the order of [`Period::ALL`].
#[must_use]
pub fn board_lifetimes(keep: &Keep) -> [u64; 5] {
    Period::ALL.map(|period| keep.board_seconds(period).unwrap_or(0))
}

/// Returns the lifetime of the boards of a period from [`board_lifetimes`].
pub(crate) fn board_lifetime(lifetimes: &[u64; 5], period: Period) -> u64 {
    let lifetimes = Period::ALL.iter().zip(lifetimes);
    let mut lifetimes = lifetimes.filter(|(known, _)| **known == period);
    lifetimes.next().map_or(0, |(_, seconds)| *seconds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn received_parses_in_each_form() {
        let received = Received {
            points: 20,
            periods: vec![Period::Week, Period::All],
            is_counted: true,
            number: "17",
            authorship: "",
            on: Some("a;b"),
        };
        let text = "20wan>0a4d55a8d778;17;;a;b";
        assert_eq!(Received::parse(text), Some(received));
        for text in ["", "2wa", "2wa;17", "wa;17;1", "2x;17;1", "2wä;17;1"] {
            assert_eq!(Received::parse(text), None, "{text}");
        }
    }
}
