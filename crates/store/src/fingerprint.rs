//! The schema fingerprint: the settings that stored data depends on.
//!
//! Each shard holds the fingerprint of the settings it was first written with. A deployment with
//! other settings must not read or write it.
//!
//! The fingerprint begins with the version of the keys and the generation of the data, which a rebuild changes. While the
//! end of a rebuild pauses the writers of a shard, `paused` and an id precede it.
//!
//! While a change of visibility or an erasure takes several steps, the stored value has a line for it
//! after the settings; `pending.lua` describes the lines.

use crate::keys::Keys;
use crate::redis::{Command, Reply};
use activity_rank_core::calendar::Instant;
use activity_rank_core::config::Config;
use activity_rank_core::error::Error;
use activity_rank_core::score::Layout;

/// Begins the fingerprint of data whose keys had no generation. A rebuild converts it.
const FORMER_VERSION: &str = "v3";

/// Begins the fingerprint of this version.
const VERSION: &str = "v4";

/// Precedes the generation of the data, the second word.
const GENERATION: &str = "generation=";

/// Precedes the stored fingerprint of a shard whose writers wait, with an id.
const PAUSED: &str = "paused";

/// Returns the fingerprint of a deployment's settings and a generation of its data.
#[must_use]
pub fn fingerprint(config: &Config, generation: u32) -> String {
    with_generation(&stamp(config), generation)
}

/// Returns the fingerprint of a generation for one without.
#[must_use]
pub fn with_generation(stamp: &str, generation: u32) -> String {
    let (version, settings) = stamp.split_once(' ').unwrap_or((stamp, ""));
    format!("{version} {GENERATION}{generation} {settings}")
}

/// Returns the fingerprint without a generation: what tools compare.
#[must_use]
pub fn stamp(config: &Config) -> String {
    with_settings(VERSION.to_owned(), config)
}

/// Returns the settings that scores depend on, as the databases name a deployment: their rows outlive versions and
/// generations of the keys.
#[must_use]
pub fn settings_id(config: &Config) -> String {
    with_settings(FORMER_VERSION.to_owned(), config)
}

/// The parts of a stored fingerprint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stored<'a> {
    /// Whether writers wait for the end of a rebuild.
    pub is_paused: bool,
    /// The generation of the data; `None` for data of another version.
    pub generation: Option<u32>,
    version: &'a str,
    settings: &'a str,
    /// All without the pause.
    pub unpaused: &'a str,
}

impl<'a> Stored<'a> {
    /// Parses a stored fingerprint. Its lines of pending changes are left out.
    #[must_use]
    pub fn parse(stored: &'a str) -> Self {
        let unpaused = stored
            .strip_prefix(PAUSED)
            .and_then(|rest| rest.trim_start().split_once(' '))
            .map(|(_, rest)| rest);
        let (is_paused, unpaused) = (unpaused.is_some(), unpaused.unwrap_or(stored));
        let line = unpaused.lines().next().unwrap_or_default();
        let (version, rest) = line.split_once(' ').unwrap_or((line, ""));
        let (number, settings) = match version {
            VERSION => rest.split_once(' ').unwrap_or((rest, "")),
            _ => ("", rest),
        };
        let number = number.strip_prefix(GENERATION);
        Self {
            is_paused,
            generation: number.and_then(|number| number.parse().ok()),
            version,
            settings,
            unpaused,
        }
    }

    /// Returns whether it is that of the version before, with the settings of this fingerprint without generation.
    #[must_use]
    pub fn is_former(&self, stamp: &str) -> bool {
        self.version == FORMER_VERSION && self.has_settings(stamp)
    }

    /// Returns whether it has the settings of this fingerprint without generation.
    #[must_use]
    pub fn has_settings(&self, stamp: &str) -> bool {
        stamp
            .split_once(' ')
            .is_some_and(|(_, settings)| settings == self.settings)
    }
}

/// Returns a fingerprint with a pause before it.
#[must_use]
pub fn paused(id: &str, fingerprint: &str) -> String {
    format!("{PAUSED} {id} {fingerprint}")
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

/// Compares a stored fingerprint, or nil, with the settings of a deployment. Returns the generation of the data; `None`
/// if there is no data.
///
/// # Errors
///
/// [`Error::Misconfigured`] for other settings or data of another version.
pub fn check(config: &Config, stored: &Reply) -> Result<Option<u32>, Error> {
    let Some(text) = stored.optional_text()? else {
        return Ok(None);
    };
    let stored = Stored::parse(text);
    match stored.generation {
        Some(generation) if stored.has_settings(&stamp(config)) => Ok(Some(generation)),
        Some(_) | None => Err(mismatch(config, &stored)),
    }
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

fn mismatch(config: &Config, stored: &Stored<'_>) -> Error {
    let prefix = &config.prefix;
    let named = |name: &str| {
        let mut settings = stored.settings.split(' ');
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
    let remedy = match stored.is_former(&stamp(config)) {
        true => format!(
            "the data under {prefix} was written by an earlier version; run `activity-rank rebuild`, which replaces it \
             from the journal, or choose another PREFIX"
        ),
        false => format!(
            "the data under {prefix} was written by another version ({}); choose another PREFIX",
            stored.unpaused.lines().next().unwrap_or_default()
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

    fn config() -> Config {
        let variables = serde_json::json!({"UPSTASH_REDIS_REST_URL": "https://store", "UPSTASH_REDIS_REST_TOKEN": "token", "SHARDS": 3});
        let variables = variables.as_object().unwrap().clone();
        Config::parse(&Vars::new(variables), Utc::named).unwrap()
    }

    /// The databases have rows with the id of every version.
    #[test]
    fn fingerprint_changes_with_generation_and_id_stays() {
        let (config, settings) = (config(), "shards=3 decimals=0 timezone=UTC");
        assert_eq!(
            fingerprint(&config, 12),
            format!("v4 generation=12 {settings}")
        );
        assert_eq!(settings_id(&config), format!("v3 {settings}"));
    }

    #[test]
    fn stored_fingerprint_is_checked_without_pause_and_changes() {
        let (config, settings) = (config(), "shards=3 decimals=0 timezone=UTC");
        let current = fingerprint(&config, 7);
        let generation = |stored: &str| check(&config, &Reply::Text(stored.to_owned())).ok();
        for stored in [
            current.clone(),
            paused("7f3a", &current),
            format!("{current}\nh 7 42"),
        ] {
            assert_eq!(generation(&stored), Some(Some(7)), "{stored}");
            let parsed = Stored::parse(&stored);
            assert_eq!(parsed.is_paused, stored.starts_with("paused"));
            assert!(stored.ends_with(parsed.unpaused) && !parsed.is_former(&stamp(&config)));
        }
        assert_eq!(check(&config, &Reply::Nil).ok(), Some(None));
        let former = format!("v3 {settings}");
        assert!(Stored::parse(&format!("{former}\nh 7 42")).is_former(&stamp(&config)));
        let shards = "v4 generation=7 shards=4";
        for other in [&former, "", "v5 x", "v4 generation=x", shards] {
            assert_eq!(generation(other), None, "{other}");
        }
        assert!(!Stored::parse("v3 shards=4").is_former(&stamp(&config)));
    }
}
