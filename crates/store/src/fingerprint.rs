//! The schema fingerprint: the settings that stored data depends on.
//!
//! Each shard holds the fingerprint of the settings it was first written with. A deployment with
//! other settings must not read or write it.
//!
//! While a change of visibility or an erasure takes several steps, the stored value has a line for it
//! after the settings; `pending.lua` describes the lines.

use crate::keys::{GENERATION, Keys};
use crate::redis::{Command, Reply};
use activity_rank_core::calendar::Instant;
use activity_rank_core::config::Config;
use activity_rank_core::error::Error;
use activity_rank_core::score::Layout;

/// Precedes the stored fingerprint while a rebuild locks the shard for writes.
const REBUILDING: &str = "rebuilding";

/// Begins the fingerprint of data whose keys had no generation. A rebuild converts it.
pub const FORMER_VERSION: &str = "v3";

/// Returns the beginning of a fingerprint: the version of the keys and the generation of the data.
#[must_use]
pub fn version() -> String {
    format!("v4 generation={GENERATION}")
}

/// Returns the fingerprint of a deployment's settings, which names the generation of the data.
#[must_use]
pub fn fingerprint(config: &Config) -> String {
    with_settings(version(), config)
}

/// Returns the settings that scores depend on, as the databases name a deployment: their rows outlive a version of the
/// keys.
#[must_use]
pub fn settings_id(config: &Config) -> String {
    with_settings(FORMER_VERSION.to_owned(), config)
}

/// Returns whether a stored fingerprint is that of the former version with the same settings.
#[must_use]
pub fn is_former(config: &Config, stored: &str) -> bool {
    settings_of(stored) == settings_id(config)
}

fn with_settings(mut text: String, config: &Config) -> String {
    for (_, name, value) in settings(config) {
        if default_of(name).as_ref() != Some(&value) {
            text = format!("{text} {name}={value}");
        }
    }
    text
}

/// Returns the command that reads the stored fingerprint of a shard.
#[must_use]
pub fn read(keys: &Keys) -> Command {
    command("HGET", keys)
}

/// Returns the command that reads the stored fingerprint of a shard and the definitions of events.
#[must_use]
pub fn read_with_definitions(keys: &Keys) -> Command {
    command("HMGET", keys).arg(Keys::DEFINITIONS)
}

/// Returns a command on the stored fingerprint of a shard, without its further arguments.
#[must_use]
pub fn command(name: &'static str, keys: &Keys) -> Command {
    Command::new(name).arg(&keys.users()).arg(Keys::FINGERPRINT)
}

/// Returns whether a stored fingerprint says that a rebuild of this deployment is running: until it
/// ends, no writes are allowed and data may be missing.
#[must_use]
pub fn is_write_locked(config: &Config, stored: &str) -> bool {
    let ours = stored.strip_prefix(REBUILDING).map(str::trim_start);
    ours.is_some_and(|ours| ours.is_empty() || ours == fingerprint(config))
}

/// Compares a stored fingerprint, or nil, with the `own` one of a configuration.
///
/// # Errors
///
/// [`Error::Misconfigured`] if they differ, [`Error::StoreUnavailable`] during a rebuild.
pub fn check(config: &Config, own: &str, stored: &Reply) -> Result<(), Error> {
    match stored.optional_text()? {
        Some(stored) if settings_of(stored) != own => Err(mismatch(config, stored)),
        Some(_) | None => Ok(()),
    }
}

/// Returns a stored fingerprint without the lines of pending changes.
fn settings_of(stored: &str) -> &str {
    stored
        .split_once('\n')
        .map_or(stored, |(settings, _)| settings)
}

/// Returns whether a stored fingerprint has the line of a pending change.
#[must_use]
pub fn has_pending_changes(stored: &Reply) -> bool {
    matches!(stored, Reply::Text(stored) if stored.contains('\n'))
}

/// A change of visibility or an erasure that is not complete.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PendingChange<'a> {
    /// Whether anything but boards is to be written.
    pub is_incomplete: bool,
    /// Whether the participant is being erased.
    pub is_erasure: bool,
    /// When it began.
    pub began: Instant,
    /// Whom it concerns.
    pub participant: Participant<'a>,
}

/// Who has scores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Participant<'a> {
    /// A user.
    User(&'a str),
    /// A target, by its member.
    Target(&'a str),
}

impl<'a> Participant<'a> {
    /// Parses a participant as scripts name it: a target is a tab and its member.
    #[must_use]
    pub fn parse(text: &'a str) -> Self {
        match text.strip_prefix('\t') {
            Some(member) => Self::Target(member),
            None => Self::User(text),
        }
    }
}

/// Parses the lines of a stored fingerprint.
pub fn pending_changes(stored: &str) -> impl Iterator<Item = PendingChange<'_>> {
    stored.lines().skip(1).filter_map(|line| {
        let (verb, rest) = line.split_once(' ')?;
        let (number, participant) = rest.split_once(' ')?;
        let number: i64 = number.parse().ok()?;
        Some(PendingChange {
            is_incomplete: verb.starts_with('!'),
            is_erasure: verb.ends_with('e'),
            began: Instant(number / 1000),
            participant: Participant::parse(participant),
        })
    })
}

fn mismatch(config: &Config, stored: &str) -> Error {
    if is_write_locked(config, stored) {
        return Error::StoreUnavailable("the data is being rebuilt".to_owned());
    }
    let (prefix, stored) = (&config.prefix, settings_of(stored));
    let named = |name: &str| {
        let mut settings = stored.split(' ');
        let value = settings.find_map(|setting| setting.strip_prefix(name)?.strip_prefix('='));
        value.map(str::to_owned)
    };
    // The fingerprint of another version may name no setting at all.
    let stored_value =
        |name| named(name).or_else(|| named("shards").and_then(|_| default_of(name)));
    for (variable, name, ours) in settings(config) {
        let Some(stored) = stored_value(name).filter(|stored| *stored != ours) else {
            continue;
        };
        let remedy = format!(
            "is {ours}, but the data under PREFIX {prefix} was written with {stored}; set {variable} \
             back to {stored}, or choose another PREFIX to start anew"
        );
        return Error::Misconfigured(variable, remedy);
    }
    let remedy = match is_former(config, stored) {
        true => format!(
            "the data under {prefix} was written by an earlier version; run `activity-rank rebuild`, which replaces it \
             from the journal, or choose another PREFIX"
        ),
        false => format!(
            "the data under {prefix} was written by another version ({stored}); choose another PREFIX"
        ),
    };
    Error::Misconfigured("PREFIX", remedy)
}

/// Returns the value that a fingerprint does not name: of a setting that older data lacks.
fn default_of(name: &str) -> Option<String> {
    (name == "order_bits").then(|| Layout::DEFAULT.order_bits.to_string())
}

/// Returns variable, name and value of each setting in the fingerprint.
fn settings(config: &Config) -> [(&'static str, &'static str, String); 4] {
    let layout = config.layout;
    [
        ("SHARDS", "shards", config.shards.to_string()),
        ("POINT_DECIMALS", "decimals", layout.decimals.to_string()),
        ("TIMEZONE", "timezone", config.timezone.clone()),
        ("ORDER_BITS", "order_bits", layout.order_bits.to_string()),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use activity_rank_core::calendar::Utc;
    use activity_rank_core::config::Vars;

    /// The databases have rows with the id of every version.
    #[test]
    fn fingerprint_changes_with_generation_and_id_stays() {
        let variables = serde_json::json!({"UPSTASH_REDIS_REST_URL": "https://store", "UPSTASH_REDIS_REST_TOKEN": "token", "SHARDS": 3});
        let variables = variables.as_object().unwrap().clone();
        let config = Config::parse(&Vars::new(variables), Utc::named).unwrap();
        let settings = "shards=3 decimals=0 timezone=UTC";
        assert_eq!(fingerprint(&config), format!("v4 generation=1 {settings}"));
        assert_eq!(settings_id(&config), format!("v3 {settings}"));
        assert!(is_former(&config, &format!("v3 {settings}\nh 7 42")));
        assert!(!is_former(&config, &fingerprint(&config)));
    }
}
