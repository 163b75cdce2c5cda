//! The check of an item by the service's own parsers, so that a file is refused before it is sent for what the service
//! would refuse.

use std::sync::Arc;

use activity_rank_core::activity::{ActivityReader, read_fields};
use activity_rank_core::calendar::{Date, Instant};
use activity_rank_core::caller::Caller;
use activity_rank_core::config::{Once, Rules, Scopes, Vars};
use activity_rank_core::content::NamedTarget;
use activity_rank_core::error::Error;
use activity_rank_core::history;
use activity_rank_core::profile::NamedProfile;
use activity_rank_core::score::Layout;
use http::Method;
use http::header::HeaderMap;
use jiff::Timestamp;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::client::Client;

/// The kind of items.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ItemKind {
    /// Activities.
    Activity,
    /// Profiles.
    Profile,
    /// Targets.
    Target,
}

/// The check of an item.
#[derive(Clone, Debug)]
pub enum ItemCheck {
    /// Of an activity, by the rules of the service if they are known.
    Activity(Option<Arc<Rules>>),
    /// Of a profile.
    Profile,
    /// Of a target.
    Target,
}

/// What the upload needs of an item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// Id of the user or of the target in a register.
    pub id: String,
    /// Instant of an activity that has `at`.
    pub at: Option<Instant>,
    /// Whether it is an activity that counts once a day, of a day whose records the service does not have.
    pub is_forgotten: bool,
}

/// Returns whether the service does not have the daily records of an instant, in any time zone: the activity is `stale`.
#[must_use]
pub fn is_forgotten(at: Instant) -> bool {
    let days = (Timestamp::now().as_millisecond() - at.0) / Date::MILLIS;
    days >= i64::from(history::DAYS)
}

/// The response of `/healthz`.
#[derive(Deserialize)]
struct Health {
    configured: Configured,
}

#[derive(Deserialize)]
struct Configured {
    rules: Value,
    decimals: u32,
    order_bits: u32,
}

impl ItemCheck {
    /// Creates the check. That of activities reads the rules of the service from `/healthz`, once: a service that does not
    /// respond with them refuses unknown actions itself.
    pub async fn new(kind: ItemKind, client: &Client) -> Self {
        match kind {
            ItemKind::Activity => {
                let health = client.url(&["healthz"]);
                let response = client.request(Method::GET, &health, HeaderMap::new()).await;
                Self::activities(response.ok().and_then(|response| rules(&response.body)))
            }
            ItemKind::Profile => Self::Profile,
            ItemKind::Target => Self::Target,
        }
    }

    /// Creates the check of activities by the rules of a service; without them, actions are not checked.
    #[must_use]
    pub fn activities(rules: Option<Rules>) -> Self {
        Self::Activity(rules.map(Arc::new))
    }

    /// Returns what of an item the check cannot know.
    #[must_use]
    pub fn unchecked(&self) -> Vec<&'static str> {
        let stored = match self {
            Self::Activity(None) => &["actions, because /healthz of the service gave no rules"][..],
            Self::Activity(Some(_)) | Self::Profile | Self::Target => &[],
        };
        let key = ["the key", "what depends on stored data"];
        stored.iter().copied().chain(key).collect()
    }

    /// Returns whether an item may have a field.
    #[must_use]
    pub fn has_field(&self, field: &str) -> bool {
        let item = Value::Object(Map::from_iter([(field.to_owned(), Value::Null)]));
        let problem = self.read(&item).err().map(|error| error.problem());
        let errors = problem.into_iter().flat_map(|problem| problem.errors);
        !errors
            .into_iter()
            .any(|error| error.detail.starts_with("is unknown"))
    }

    /// Parses an item as the service does.
    ///
    /// # Errors
    ///
    /// The error with which the service would refuse the item. What depends on stored data or on the key is not checked.
    pub fn read(&self, value: &Value) -> Result<Item, Error> {
        match self {
            Self::Activity(rules) => {
                let now = Instant(Timestamp::now().as_millisecond());
                // The normal form of a path is not sent.
                let to_nfc = str::to_owned;
                let (activity, once) = match rules {
                    Some(rules) => {
                        let reader = ActivityReader { rules, now, to_nfc };
                        let read = reader.read(value, &Caller::Service(Scopes::ALL.into()));
                        let (activity, rule) = read?;
                        (activity, Some(rule.once))
                    }
                    None => (read_fields(value, now, to_nfc)?, None),
                };
                Ok(Item {
                    is_forgotten: once == Some(Once::Day) && is_forgotten(activity.at),
                    at: activity.dated.then_some(activity.at),
                    id: activity.user,
                })
            }
            Self::Profile => NamedProfile::parse(value).map(|profile| Item {
                id: profile.id,
                at: None,
                is_forgotten: false,
            }),
            Self::Target => NamedTarget::parse_item(value).map(|target| Item {
                id: target.id,
                at: None,
                is_forgotten: false,
            }),
        }
    }
}

/// Returns the rules in a response of `/healthz`, of any status.
#[must_use]
pub fn rules(health: &[u8]) -> Option<Rules> {
    let Health { configured } = serde_json::from_slice(health).ok()?;
    let layout = Layout {
        order_bits: configured.order_bits,
        decimals: configured.decimals,
    };
    let vars = Vars::new(Map::from_iter([("RULES".to_owned(), configured.rules)]));
    // Rules that begin later have no date in the response.
    let start_of = |_| Err(Error::invalid("a rule without a date"));
    Rules::parse(&vars, layout, &start_of).ok()
}
