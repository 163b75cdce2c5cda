//! The journal of a service: `GET /v1/journal`, decoded. The Worker's `src/journal` documents its
//! fields.

pub mod account;
pub mod retention;
pub mod rules;
pub mod settings;

use std::time::Duration;

use activity_rank_core::calendar::{Date, Instant, Period};
use activity_rank_core::config::{ADJUST, Once};
use activity_rank_core::content::{id_of_member, member_of_stub};
use activity_rank_core::event::Definitions;
use activity_rank_core::shard;
use activity_rank_store::count::{AuditDetails, BoardSet, RuleSnapshot, TimestampSource, Verb};
use activity_rank_store::keys::Keys;
use serde::Deserialize;
use serde_json::value::RawValue;

use account::AccountRecount;
use retention::Retention;
use rules::RecountRules;
use settings::Settings;

use crate::client::Client;
use crate::failure::Failure;
use crate::printable::printable;
use crate::request_error::RequestError;

/// Entries in one request.
const PAGE: u32 = 2000;

/// Reads the journal of a service.
#[derive(Clone)]
pub struct Journal {
    client: Client,
    retries: usize,
}

/// A page of the journal.
#[derive(Debug)]
pub struct Page {
    /// Key prefix of the service.
    pub prefix: String,
    /// The settings of the service.
    pub settings: Settings,
    /// Lifetimes of stored data.
    pub retention: Retention,
    /// The entries in order.
    pub entries: Vec<Entry>,
    /// Number after which the next page starts; `None` at the end.
    pub next: Option<u64>,
}

/// A page of the journal as the service sends it.
#[derive(Debug, Deserialize)]
pub struct RawPage {
    /// Key prefix of the service.
    pub prefix: String,
    /// Schema fingerprint of the service's settings, without a generation.
    pub stamp: String,
    /// Lifetimes of stored data.
    pub keep: Box<RawValue>,
    /// The entries in order.
    pub entries: Vec<Box<RawValue>>,
    /// Number after which the next page starts; `None` at the end.
    pub next: Option<u64>,
}

/// The number and the instant of an entry.
#[derive(Deserialize)]
struct Numbered {
    n: u64,
    now: Option<String>,
}

impl Journal {
    /// Creates a reader that repeats requests at most `retries` times.
    #[must_use]
    pub fn new(client: Client, retries: usize) -> Self {
        Self { client, retries }
    }

    /// Returns the entries of one shard, or of all shards, after the entry number `after`, as the service sends them.
    /// `notify` receives the cause of each retry and the wait before it.
    ///
    /// # Errors
    ///
    /// [`Failure`] if the service does not respond.
    pub async fn raw_page(
        &self,
        shard: Option<u32>,
        after: u64,
        notify: impl Fn(&RequestError, Duration),
    ) -> Result<RawPage, Failure> {
        self.raw_entries(shard, after, PAGE, notify).await
    }

    /// Returns the number of the last entry before an instant; 0 for none. The journal is searched with few requests.
    ///
    /// # Errors
    ///
    /// As [`Self::raw_page`].
    pub async fn last_number(
        &self,
        before: Instant,
        notify: impl Fn(&RequestError, Duration),
    ) -> Result<u64, Failure> {
        let (mut low, mut high) = (0, u64::from(u32::MAX));
        while low < high {
            let after = low + (high - low) / 2;
            let page = self.raw_entries(None, after, 1, &notify).await?;
            let entry = page.entries.first();
            let entry = entry.and_then(|entry| serde_json::from_str::<Numbered>(entry.get()).ok());
            let entry = entry.filter(|entry| {
                let now = entry.now.as_deref().and_then(|now| now.parse().ok());
                now.map_or(before.0 == i64::MAX, |now: i64| now < before.0)
            });
            match entry {
                Some(entry) => low = entry.n,
                None => high = after,
            }
        }
        Ok(low)
    }

    /// As [`Self::raw_page`], with at most `limit` entries.
    async fn raw_entries(
        &self,
        shard: Option<u32>,
        after: u64,
        limit: u32,
        notify: impl Fn(&RequestError, Duration),
    ) -> Result<RawPage, Failure> {
        let mut url = self.client.url(&["v1", "journal"]);
        let (after, limit) = (after.to_string(), limit.to_string());
        url.query_pairs_mut()
            .append_pair("after", &after)
            .append_pair("limit", &limit);
        if let Some(shard) = shard {
            url.query_pairs_mut()
                .append_pair("shard", &shard.to_string());
        }
        let get = || self.client.get_with_key(&url);
        let response = self.client.with_backoff(self.retries, notify, get).await?;
        serde_json::from_slice(&response).map_err(|error| self.unexpected(error.to_string()))
    }

    fn unexpected(&self, what: String) -> Failure {
        let url = self.client.url(&["v1", "journal"]).to_string();
        Failure::Service(RequestError::UnexpectedResponse { url, what })
    }

    /// Decodes what [`Self::raw_page`] returns.
    ///
    /// # Errors
    ///
    /// [`Failure`] if the service does not respond, or an entry is invalid.
    pub async fn page(
        &self,
        shard: Option<u32>,
        after: u64,
        notify: impl Fn(&RequestError, Duration),
    ) -> Result<Page, Failure> {
        let page = self.raw_page(shard, after, notify).await?;
        let invalid = |what| self.unexpected(what);
        let settings = Settings::parse(&page.stamp).ok_or_else(|| {
            let stored = printable(&page.stamp);
            invalid(format!(
                "its data was written by another version ({stored})"
            ))
        })?;
        let mut entries = Vec::new();
        for entry in page.entries {
            let entry: JsonEntry =
                serde_json::from_str(entry.get()).map_err(|error| invalid(error.to_string()))?;
            let entry = entry.decode(settings.shards).map_err(invalid)?;
            if let Some(requested) = shard.filter(|shard| entry.shard != *shard) {
                let Entry { number, shard, .. } = entry;
                return Err(invalid(format!(
                    "journal entry {number} is on shard {shard}, but shard {requested} was requested"
                )));
            }
            entries.push(entry);
        }
        Ok(Page {
            prefix: page.prefix,
            settings,
            retention: serde_json::from_str(page.keep.get())
                .map_err(|error| invalid(error.to_string()))?,
            entries,
            next: page.next,
        })
    }
}

/// A journal entry.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Number of the entry.
    pub number: u64,
    /// The number in the journal of the service: a file may be of another deployment.
    pub original: u64,
    /// The number of the last entry that is complete with this one.
    pub completes: u64,
    /// Its place among entries of the same number.
    pub part: u64,
    /// Shard of the change.
    pub shard: u32,
    /// Unix ms at which the change was applied.
    pub applied_at: i64,
    /// The change.
    pub change: Change,
}

/// A change that the journal records.
#[derive(Clone, Debug)]
#[allow(missing_docs, reason = "the journal documents the fields")]
pub enum Change {
    Activity(Activity),
    /// Activity that did not count.
    Refused(Activity),
    Receive(Receipt),
    Target(Registration),
    List {
        user: String,
        listed: String,
        instant: String,
    },
    ModerateTarget {
        target: String,
        verb: String,
        reason: String,
        actor: String,
    },
    Moderate {
        user: String,
        hidden: String,
        frozen: String,
        reason: String,
        actor: String,
    },
    Profile {
        user: String,
        json: String,
        hidden: String,
        actor: String,
    },
    /// The pauses that the user has from then on, as stored; empty for none.
    Pause {
        user: String,
        pauses: String,
    },
    /// The user is an account of a member from then on, or none any more (empty).
    Account {
        user: String,
        of: String,
        account: String,
        actor: String,
    },
    /// The exclusions of a case that the user has from then on.
    Exclude {
        user: String,
        case: String,
        excluded: String,
        reason: String,
        actor: String,
    },
    /// A moderator's decision about a case of the user (`dismiss` or `reopen`): no data but the audit log.
    Case {
        verb: String,
        user: String,
        case: String,
        reason: String,
        actor: String,
    },
    /// Steps of an achievement that a moderator awards or withdraws: no data but the audit log.
    Award {
        verb: String,
        user: String,
        achievement: String,
        steps: String,
        values: String,
        reason: String,
        actor: String,
    },
    Erase {
        hash: String,
        actor: String,
    },
    Event {
        event: String,
        /// The definition; empty after a deletion.
        json: String,
        /// All definitions of the shard afterwards.
        definitions: Definitions,
        /// Whether the definition holds for all entries before too.
        is_recount: bool,
        /// The reason and the actor of a version of the rules.
        reason: String,
        actor: String,
    },
    /// A recount of all entries before, by these rules.
    Rules(RecountRules),
    /// A recount of accounts.
    Accounts(AccountRecount),
    /// Nothing: a recount of an event has read the entries before, or an earlier version kept the author of a deleted
    /// target.
    Nothing,
}

/// A counted activity, an undo or an adjustment.
#[derive(Clone, Debug)]
#[allow(missing_docs, reason = "the journal documents the fields")]
pub struct Activity {
    pub verb: Verb,
    pub user: String,
    pub rule: RuleSnapshot,
    /// Action and target of the deduplication record.
    pub record: String,
    pub at: Instant,
    pub dated: TimestampSource,
    pub boards: BoardSet,
    /// Positions, from 1, of the boards that were skipped because they were archived.
    pub skipped: Vec<usize>,
    pub audit: Option<AuditDetails>,
    /// The points by which an adjustment changed the board of an event.
    pub applied: Option<i64>,
    /// What others received for it, as the end of the active record; `None` if the entry does not say.
    pub received: Option<String>,
    /// Of an undo: the instant and the points of the record that it undoes, if the entry says them.
    pub undone: Option<(Instant, i64)>,
    /// The number of the account that sent it; empty for the user.
    pub account: String,
    /// Why it did not count.
    pub refusal: Option<String>,
    /// Of one that did not count: who would have received, if that is not the target.
    pub on: String,
}

/// Points that a target and its author received, or that an undo took back. Each is empty for none.
#[derive(Clone, Debug)]
#[allow(missing_docs, reason = "the journal documents the fields")]
pub struct Receipt {
    pub target: String,
    pub user: String,
    pub points: i64,
    /// 1 if the target is counted for the action, -1 if it is not any more; else 0.
    pub counts: i64,
    /// The action, and the instant of the record of the activity; `None` if the entry does not say.
    pub activity: Option<(String, Instant)>,
    pub boards: BoardSet,
    /// Positions, from 1, of the boards that were skipped because they were archived: those of the target, then those
    /// of the author.
    pub skipped: Vec<usize>,
    /// The target of the author, if it lies on another shard.
    pub listed: String,
}

/// The registration of a target.
#[derive(Clone, Debug)]
#[allow(missing_docs, reason = "the journal documents the fields")]
pub struct Registration {
    pub target: String,
    /// The author; empty for none.
    pub user: String,
    pub number: String,
    pub instant: String,
    /// The registration as stored.
    pub text: String,
}

impl Entry {
    /// Returns what an entry of this number becomes.
    #[must_use]
    pub fn replaced(number: u64, shard: u32, applied_at: i64, change: Change) -> Self {
        Self {
            number,
            original: number,
            completes: number,
            part: 0,
            shard,
            applied_at,
            change,
        }
    }

    /// Returns the users and the members of targets whose data the entry changes. For an erasure it is the SHA-1 of the
    /// user.
    pub fn participants(&self) -> impl Iterator<Item = &str> {
        let (user, target) = match &self.change {
            Change::Activity(Activity { user, .. })
            | Change::Account { user, .. }
            | Change::Award { user, .. }
            | Change::Case { user, .. }
            | Change::Exclude { user, .. }
            | Change::Moderate { user, .. }
            | Change::Pause { user, .. }
            | Change::Profile { user, .. } => (user.as_str(), ""),
            Change::Receive(Receipt { user, target, .. })
            | Change::Target(Registration { user, target, .. }) => (user.as_str(), target.as_str()),
            Change::List { user, listed, .. } => (user.as_str(), listed.as_str()),
            Change::ModerateTarget { target, .. } => ("", target.as_str()),
            Change::Erase { hash, .. } => (hash.as_str(), ""),
            Change::Event { event, .. } => (event.as_str(), Keys::DEFINITIONS),
            Change::Refused(_) | Change::Rules(_) | Change::Accounts(_) | Change::Nothing => {
                ("", "")
            }
        };
        [user, target].into_iter().filter(|name| !name.is_empty())
    }

    /// Checks that the shard exists and is that of the user or target. The user of an erasure is unknown.
    fn check_shard(&self, shards: u32) -> Result<(), String> {
        let shard = self.shard;
        if shard >= shards {
            return Err(format!("has the shard {shard}, but `shards` is {shards}"));
        }
        let (kind, id) = match &self.change {
            Change::Receive(Receipt { target, .. })
            | Change::Target(Registration { target, .. })
            | Change::ModerateTarget { target, .. }
                if !target.is_empty() =>
            {
                ("target", id_of_member(target))
            }
            Change::Activity(Activity { user, .. })
            | Change::Refused(Activity { user, .. })
            | Change::Receive(Receipt { user, .. })
            | Change::Target(Registration { user, .. })
            | Change::List { user, .. }
            | Change::Account { user, .. }
            | Change::Award { user, .. }
            | Change::Case { user, .. }
            | Change::Exclude { user, .. }
            | Change::Moderate { user, .. }
            | Change::Pause { user, .. }
            | Change::Profile { user, .. } => ("user", user.as_str()),
            Change::ModerateTarget { .. }
            | Change::Erase { .. }
            | Change::Event { .. }
            | Change::Rules(_)
            | Change::Accounts(_)
            | Change::Nothing => return Ok(()),
        };
        let home = shard::of(id, shards);
        if home == shard {
            return Ok(());
        }
        Err(format!(
            "is on shard {shard}, but {kind} '{id}' belongs to shard {home} of {shards}"
        ))
    }
}

/// An entry as JSON. The set of fields depends on `did`.
#[allow(missing_docs, reason = "the journal documents the fields")]
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct JsonEntry {
    pub n: u64,
    /// The number in the journal of the service, if a file has given it another one.
    #[serde(skip)]
    pub original: u64,
    pub shard: u32,
    pub id: String,
    pub did: String,
    pub now: String,
    pub user: String,
    pub action: String,
    pub once: String,
    pub points: String,
    pub cooldown: String,
    pub mark: String,
    pub at: String,
    pub dated: String,
    pub date: String,
    pub kinds: String,
    pub groups: String,
    pub skipped: String,
    pub reason: String,
    pub actor: String,
    pub applied: String,
    pub hidden: String,
    pub frozen: String,
    pub json: String,
    pub hash: String,
    pub received: Option<String>,
    pub counts: String,
    pub target: String,
    pub number: String,
    pub instant: String,
    pub authorship: String,
    pub listed: String,
    pub verb: String,
    pub event: String,
    pub definitions: String,
    pub recount: String,
    pub changed: String,
    pub counted: String,
    pub gave: String,
    pub rules: String,
    pub of: String,
    pub account: String,
    pub outcome: String,
    pub undo: String,
    pub gives: Option<String>,
    pub on: String,
    pub accounts: String,
    pub achievement: String,
    pub steps: String,
    pub values: String,
    pub pauses: String,
    pub case: String,
    pub excluded: String,
}

impl JsonEntry {
    /// Decodes the entry of a deployment with `shards` shards.
    pub fn decode(self, shards: u32) -> Result<Entry, String> {
        let (number, shard) = (self.n, self.shard);
        let decode = || {
            let entry = Entry {
                number,
                original: match self.original {
                    0 => number,
                    original => original,
                },
                completes: number,
                part: 0,
                shard,
                change: self.decode_change()?,
                applied_at: parse_number("now", &self.now)?,
            };
            entry.check_shard(shards).map(|()| entry)
        };
        decode().map_err(|error| format!("journal entry {number} {error}"))
    }

    fn decode_change(&self) -> Result<Change, String> {
        let (user, target) = (self.user.clone(), self.target.clone());
        Ok(match self.did.as_str() {
            "count" => Change::Activity(self.decode_activity(Verb::Count)?),
            "undo" => Change::Activity(self.decode_activity(Verb::Undo)?),
            "adjust" => Change::Activity(self.decode_activity(Verb::Adjust)?),
            "refused" => {
                let verb = match self.undo.as_str() {
                    "" => Verb::Count,
                    _ => Verb::Undo,
                };
                Change::Refused(Activity {
                    refusal: Some(self.outcome.clone()),
                    received: self.gives.clone(),
                    ..self.decode_activity(verb)?
                })
            }
            // It named a member for another shard.
            "receive" if user.is_empty() && target.is_empty() => Change::Nothing,
            "receive" => Change::Receive(self.decode_receipt()?),
            "target" => Change::Target(self.decode_registration()?),
            "list" if member_of_stub(&self.listed) != self.listed => Change::Nothing,
            "list" => Change::List {
                user,
                listed: self.listed.clone(),
                instant: self.instant.clone(),
            },
            "stub" => Change::Nothing,
            "moderate-target" => Change::ModerateTarget {
                target,
                verb: self.verb.clone(),
                reason: self.reason.clone(),
                actor: self.actor.clone(),
            },
            "moderate" => Change::Moderate {
                user,
                hidden: self.hidden.clone(),
                frozen: self.frozen.clone(),
                reason: self.reason.clone(),
                actor: self.actor.clone(),
            },
            "profile" => Change::Profile {
                user,
                json: self.json.clone(),
                hidden: self.hidden.clone(),
                actor: self.actor.clone(),
            },
            "pause" => Change::Pause {
                user,
                pauses: self.pauses.clone(),
            },
            "erase" => Change::Erase {
                hash: self.hash.clone(),
                actor: self.actor.clone(),
            },
            "event" => Change::Event {
                event: self.event.clone(),
                json: self.json.clone(),
                definitions: Definitions::new(&self.definitions),
                is_recount: self.recount == "1",
                reason: self.reason.clone(),
                actor: self.actor.clone(),
            },
            // Places on closed boards, for achievements.
            "recount" | "place" | "places" => Change::Nothing,
            "account" => Change::Account {
                user,
                of: self.of.clone(),
                account: self.number.clone(),
                actor: self.actor.clone(),
            },
            "exclude" => Change::Exclude {
                user,
                case: self.case.clone(),
                excluded: self.excluded.clone(),
                reason: self.reason.clone(),
                actor: self.actor.clone(),
            },
            "dismiss" | "reopen" => Change::Case {
                verb: self.did.clone(),
                user,
                case: self.case.clone(),
                reason: self.reason.clone(),
                actor: self.actor.clone(),
            },
            "award" | "withdraw" => Change::Award {
                verb: self.did.clone(),
                user,
                achievement: self.achievement.clone(),
                steps: self.steps.clone(),
                values: self.values.clone(),
                reason: self.reason.clone(),
                actor: self.actor.clone(),
            },
            "rules" => {
                let rules = serde_json::from_str(&self.rules);
                Change::Rules(rules.map_err(|_| invalid_field("rules", &self.rules))?)
            }
            "accounts" => {
                let recount = serde_json::from_str(&self.accounts);
                Change::Accounts(recount.map_err(|_| invalid_field("accounts", &self.accounts))?)
            }
            other => return Err(invalid_field("did", other)),
        })
    }

    fn decode_activity(&self, verb: Verb) -> Result<Activity, String> {
        let once = match self.once.as_str() {
            "d" => Once::Day,
            "s" => Once::Standing,
            other => return Err(invalid_field("once", other)),
        };
        let dated = match self.dated.as_str() {
            "0" => TimestampSource::Now,
            "1" => TimestampSource::Caller,
            "2" => TimestampSource::Queue,
            other => return Err(invalid_field("dated", other)),
        };
        Ok(Activity {
            verb,
            user: self.user.clone(),
            rule: RuleSnapshot {
                action: self.action.clone(),
                once,
                points: parse_number("points", &self.points)?,
                // The journal has only activities that passed caps and cooldowns. The smallest
                // cooldown, 1 ms, stores the instant of the activity for later cooldowns.
                daily_cap: 0,
                pair_cap: 0,
                cooldown: u64::from(self.cooldown == "1"),
                received: 0,
                own: true,
                is_counted: false,
            },
            record: self.mark.clone(),
            at: Instant(parse_number("at", &self.at)?),
            dated,
            boards: BoardSet::parse(self.decode_date()?, &self.kinds, &self.groups)
                .ok_or_else(|| invalid_field("kinds", &self.kinds))?,
            skipped: self.decode_skipped()?,
            audit: (self.action == ADJUST && !self.reason.is_empty()).then(|| AuditDetails {
                reason: self.reason.clone(),
                actor: self.actor.clone(),
                is_public: false,
            }),
            applied: self.applied.parse().ok(),
            received: self.received.clone(),
            undone: self
                .counted
                .parse()
                .ok()
                .map(Instant)
                .zip(self.gave.parse().ok()),
            account: self.account.clone(),
            refusal: None,
            on: self.on.clone(),
        })
    }

    fn decode_receipt(&self) -> Result<Receipt, String> {
        Ok(Receipt {
            target: self.target.clone(),
            user: self.user.clone(),
            points: parse_number("points", &self.points)?,
            counts: match self.counts.as_str() {
                "" => 0,
                counts => parse_number("counts", counts)?,
            },
            activity: match self.changed.as_str() {
                "" => None,
                changed => {
                    let changed = Instant(parse_number("changed", changed)?);
                    Some((self.action.clone(), changed))
                }
            },
            boards: BoardSet::for_content(self.decode_date()?, self.decode_periods()?),
            skipped: self.decode_skipped()?,
            listed: self.listed.clone(),
        })
    }

    fn decode_registration(&self) -> Result<Registration, String> {
        parse_number("instant", &self.instant)?;
        parse_number("authorship", &self.authorship)?;
        let parts = [
            &self.number,
            &self.instant,
            &self.authorship,
            &self.user,
            &self.json,
        ];
        Ok(Registration {
            target: self.target.clone(),
            user: self.user.clone(),
            number: self.number.clone(),
            instant: self.instant.clone(),
            text: parts.map(String::as_str).join(";"),
        })
    }

    fn decode_date(&self) -> Result<Date, String> {
        Date::parse(&self.date).ok_or_else(|| invalid_field("date", &self.date))
    }

    fn decode_periods(&self) -> Result<Vec<Period>, String> {
        let periods: Option<Vec<Period>> = self.kinds.chars().map(Period::from_letter).collect();
        periods.ok_or_else(|| invalid_field("kinds", &self.kinds))
    }

    fn decode_skipped(&self) -> Result<Vec<usize>, String> {
        let skipped = split_list(&self.skipped).map(|word| word.parse());
        let skipped: Result<Vec<usize>, _> = skipped.collect();
        skipped.map_err(|_| invalid_field("skipped", &self.skipped))
    }
}

fn split_list(text: &str) -> impl Iterator<Item = &str> {
    text.split(',').filter(|word| !word.is_empty())
}

fn parse_number(field: &str, text: &str) -> Result<i64, String> {
    text.parse().map_err(|_| invalid_field(field, text))
}

fn invalid_field(field: &str, text: &str) -> String {
    format!("has an invalid `{field}`: '{text}'")
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use test_support::journal_entry;

    use super::*;

    fn entry(number: u64, fields: Value) -> Result<Entry, String> {
        let entry: JsonEntry = serde_json::from_value(journal_entry(number, &fields)).unwrap();
        entry.decode(1)
    }

    #[test]
    fn activity_is_decoded_with_boards() {
        let fields = json!({"groups": "eu,a|b", "skipped": "1,12", "dated": "2", "cooldown": "1"});
        let entry = entry(7, fields).unwrap();
        let Change::Activity(activity) = entry.change else {
            panic!("{entry:?}");
        };
        assert_eq!((entry.number, entry.applied_at), (7, 1_795_132_800_000));
        let found = (activity.verb, activity.dated);
        assert_eq!(found, (Verb::Count, TimestampSource::Queue));
        assert_eq!(activity.boards.periods, Period::ALL);
        assert_eq!(activity.boards.groups, ["eu", "a|b"]);
        assert_eq!(activity.skipped, [1, 12]);
        assert_eq!((activity.rule.points, activity.rule.cooldown), (2, 1));
        assert_eq!((activity.audit, activity.received), (None, None));
    }

    #[test]
    fn undo_with_reason_is_no_adjustment() {
        let fields = json!({"did": "undo", "reason": "source-gone"});
        let Change::Activity(undo) = entry(1, fields).unwrap().change else {
            panic!("not an activity");
        };
        assert_eq!(undo.audit, None);
    }

    #[test]
    fn adjustment_of_event_is_decoded() {
        let fields = json!({"did": "adjust", "action": "adjust", "mark": "adjust:case-17",
            "points": "-5", "kinds": "e", "groups": "hackathon", "reason": "Likes bought"});
        let Change::Activity(activity) = entry(1, fields).unwrap().change else {
            panic!("not an activity");
        };
        let date = Date::parse("2026-11-20").unwrap();
        let expected = BoardSet::for_event(date, "hackathon".to_owned());
        assert_eq!(activity.boards, expected);
    }

    #[test]
    fn entries_of_content_are_decoded() {
        let receipt = json!({"did": "receive", "user": "", "target": "#7", "points": "-3",
            "kinds": "wa", "skipped": "1"});
        let Change::Receive(receipt) = entry(1, receipt).unwrap().change else {
            panic!("no receipt");
        };
        assert_eq!((receipt.target.as_str(), receipt.points), ("#7", -3));
        assert_eq!(receipt.boards.content, [Period::Week, Period::All]);
        assert_eq!((receipt.user.as_str(), receipt.skipped), ("", vec![1]));
        let target = json!({"did": "target", "user": "9", "target": "post-7", "number": "3.17",
            "instant": "5", "authorship": "1", "json": "{\"title\":\"A; b\"}"});
        let target = entry(1, target).unwrap();
        assert_eq!(target.participants().collect::<Vec<_>>(), ["9", "post-7"]);
        let Change::Target(registration) = target.change else {
            panic!("no registration");
        };
        assert_eq!(registration.text, r#"3.17;5;1;9;{"title":"A; b"}"#);
    }

    /// Earlier versions kept the author of a deleted target under its number. Places on closed boards are of achievements
    /// alone, and on the first shard for users of any.
    #[test]
    fn stubs_and_places_change_nothing() {
        for stub in [
            json!({"did": "places"}),
            json!({"did": "place", "user": "9", "action": "place:w", "points": "2"}),
            json!({"did": "list", "user": "9", "listed": "#17 post-7", "instant": "5"}),
            json!({"did": "stub", "target": "post-7", "name": "#17 post-7", "stub": ";1;9"}),
        ] {
            let entry = entry(1, stub).unwrap();
            assert!(matches!(entry.change, Change::Nothing), "{entry:?}");
        }
    }

    #[test]
    fn invalid_fields_are_named() {
        let target = json!({"did": "target", "target": "post-7", "instant": "now"});
        for (fields, field, value) in [
            (json!({"did": "merge"}), "did", "merge"),
            (json!({"date": "2026-02-30"}), "date", "2026-02-30"),
            (json!({"kinds": "dq"}), "kinds", "dq"),
            (json!({"kinds": "e"}), "kinds", "e"),
            (json!({"points": "2.5"}), "points", "2.5"),
            (target, "instant", "now"),
        ] {
            let expected = format!("journal entry 3 has an invalid `{field}`: '{value}'");
            assert_eq!(entry(3, fields).unwrap_err(), expected);
        }
        let expected = "journal entry 3 has the shard 1, but `shards` is 1";
        assert_eq!(entry(3, json!({"shard": 1})).unwrap_err(), expected);
    }

    /// With 8 shards, user 42 belongs to shard 3.
    #[test]
    fn entry_on_wrong_shard_is_rejected() {
        let shard_of = |did: &str, shard: u32| {
            let entry = json!({"n": 3, "shard": shard, "did": did, "now": "1", "user": "42"});
            let entry: JsonEntry = serde_json::from_value(entry).unwrap();
            entry.decode(8).map(|entry| entry.shard)
        };
        for did in ["moderate", "profile", "pause", "list"] {
            assert_eq!(shard_of(did, 3), Ok(3));
            let expected = "journal entry 3 is on shard 4, but user '42' belongs to shard 3 of 8";
            assert_eq!(shard_of(did, 4), Err(expected.to_owned()));
        }
        // The target 42 and the author bob, who belongs to shard 4.
        for (target, user, shard) in [("42", "bob", 3), ("##42", "42", 0), ("", "bob", 4)] {
            let entry = json!({"n": 3, "shard": shard, "did": "receive", "now": "1", "user": user,
                "target": target, "points": "2", "date": "2026-11-20"});
            let entry: JsonEntry = serde_json::from_value(entry).unwrap();
            assert_eq!(entry.decode(8).map(|entry| entry.shard), Ok(shard));
        }
        // An erasure has only a hash, so its user's shard is unknown.
        assert_eq!(shard_of("erase", 4), Ok(4));
        assert!(shard_of("erase", 8).is_err());
    }
}
