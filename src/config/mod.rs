//! The configuration, read once from the deployment's variables.

mod bound;
mod origins;
mod rules;
mod scopes;
mod service_keys;
mod tokens;
mod vars;

pub use bound::Bound;
pub use origins::Origins;
pub use rules::{Once, Rule, Rules};
pub use scopes::{Scope, Scopes};
pub use service_keys::ServiceKeys;
pub use tokens::Tokens;
pub use vars::Vars;

use crate::calendar::Period;
use crate::error::Error;
use crate::keys::Keys;
use crate::shard;

/// A deployment's settings, checked.
#[derive(Clone, Debug)]
pub struct Config {
    /// Where the store answers, without a trailing `/`.
    pub store_url: String,
    /// The store's bearer token.
    pub store_token: String,
    /// Deadline of one request to the store, in milliseconds: 1 to 30,000.
    pub store_timeout: u32,
    /// Keys of trusted services.
    pub service_keys: ServiceKeys,
    /// How user tokens are checked.
    pub tokens: Tokens,
    /// Where pages may come from that call this service.
    pub allowed_origins: Origins,
    /// IANA name of the time zone.
    pub timezone: String,
    /// The kinds of board kept, shortest first; at least one.
    pub periods: Vec<Period>,
    /// What counts, and how.
    pub rules: Rules,
    /// Decimal places of points: 0 to 2.
    pub decimals: u32,
    /// How long what is written lives.
    pub keep: Keep,
    /// How long an open board may be served from a cache, in seconds: 1 to 3,600.
    pub board_max_age: u32,
    /// Begins every key.
    pub prefix: String,
    /// What there is besides the store.
    pub bound: Bound,
    /// Over how many shards the users are split: 1 to 64.
    pub shards: u32,
}

/// Lifetimes in days, from the first write: 1 to 36,500.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Keep {
    /// Boards of a day.
    pub day: u64,
    /// Boards of a week.
    pub week: u64,
    /// Boards of a month.
    pub month: u64,
    /// Boards of a year.
    pub year: u64,
    /// Standing marks, from the user's last counted activity.
    pub marks: u64,
}

const DAY_SECONDS: u64 = 86_400;

/// Stands before the stamp while a rebuild holds the site.
const REBUILDING: &str = "rebuilding";

impl Keep {
    /// Seconds that a board lives; `None` for ever.
    #[must_use]
    pub fn board_seconds(&self, period: Period) -> Option<u64> {
        let days = match period {
            Period::Day => self.day,
            Period::Week => self.week,
            Period::Month => self.month,
            Period::Year => self.year,
            Period::All => return None,
        };
        Some(days * DAY_SECONDS)
    }

    /// Seconds that standing marks live after the user's last counted activity.
    #[must_use]
    pub fn marks_seconds(&self) -> u64 {
        self.marks * DAY_SECONDS
    }
}

impl Config {
    /// Reads and checks every variable.
    ///
    /// # Errors
    ///
    /// [`Error::Misconfigured`] names the first variable that is missing or not valid.
    pub fn read(vars: &Vars) -> Result<Self, Error> {
        let decimals = vars.whole("POINT_DECIMALS", 0..=2)?.unwrap_or(0);
        Ok(Self {
            store_url: store_url(vars)?,
            store_token: vars.required("UPSTASH_REDIS_REST_TOKEN")?,
            store_timeout: vars.whole("STORE_TIMEOUT_MS", 1..=30_000)?.unwrap_or(800),
            service_keys: ServiceKeys::read(vars)?,
            tokens: Tokens::read(vars)?,
            allowed_origins: Origins::read(vars)?,
            timezone: vars.text("TIMEZONE")?.unwrap_or_else(|| "UTC".to_owned()),
            periods: periods(vars)?,
            rules: Rules::read(vars, decimals)?,
            decimals,
            keep: keep(vars)?,
            board_max_age: vars.whole("BOARD_MAX_AGE", 1..=3600)?.unwrap_or(5),
            prefix: prefix(vars)?,
            bound: Bound::default(),
            shards: vars.whole("SHARDS", 1..=64)?.unwrap_or(1),
        })
    }

    /// The keys of a shard.
    #[must_use]
    pub fn keys(&self, shard: u32) -> Keys {
        Keys::new(&self.prefix, shard)
    }

    /// The shard of a user.
    #[must_use]
    pub fn shard_of(&self, user: &str) -> u32 {
        shard::of(user, self.shards)
    }

    /// The places of users in a list by their shards, of those shards that have any.
    #[must_use]
    pub fn places_by_shard(&self, users: &[&str]) -> Vec<(u32, Vec<usize>)> {
        let mut shards: Vec<(u32, Vec<usize>)> = Vec::new();
        for (place, user) in users.iter().enumerate() {
            let shard = self.shard_of(user);
            match shards.iter_mut().find(|(known, _)| *known == shard) {
                Some((_, places)) => places.push(place),
                None => shards.push((shard, vec![place])),
            }
        }
        shards
    }

    /// The keys of a user's shard.
    #[must_use]
    pub fn keys_of(&self, user: &str) -> Keys {
        self.keys(self.shard_of(user))
    }

    /// The settings that the data in Redis depends on, as they are stamped there.
    #[must_use]
    pub fn stamp(&self) -> String {
        let settings = self
            .stamped()
            .map(|(_, name, value)| format!("{name}={value}"));
        format!("v2 {}", settings.join(" "))
    }

    /// Whether this stamp says that the data is ours, and being made anew: until that is done
    /// nobody may change it, and what there is of it may be little.
    #[must_use]
    pub fn is_held(&self, held: &str) -> bool {
        let ours = held.strip_prefix(REBUILDING).map(str::trim_start);
        ours.is_some_and(|ours| ours.is_empty() || ours == self.stamp())
    }

    /// What to do about data that was stamped otherwise: wait, or mend the settings.
    #[must_use]
    pub fn other_stamp(&self, held: &str) -> Error {
        if self.is_held(held) {
            return Error::StoreUnavailable("it is being rebuilt".to_owned());
        }
        let known = |name: &str| {
            held.split(' ')
                .find_map(|setting| setting.strip_prefix(name)?.strip_prefix('='))
        };
        for (variable, name, ours) in self.stamped() {
            let Some(held) = known(name).filter(|held| *held != ours) else {
                continue;
            };
            let way_out = format!(
                "is {ours}, but the data under PREFIX {} was written with {held}; set {variable} \
                 back to {held}, or choose another PREFIX to start anew",
                self.prefix
            );
            return Error::Misconfigured(variable, way_out);
        }
        let way_out = format!(
            "the data under {} was written by another version ({held}); choose another PREFIX",
            self.prefix
        );
        Error::Misconfigured("PREFIX", way_out)
    }

    fn stamped(&self) -> [(&'static str, &'static str, String); 3] {
        [
            ("SHARDS", "shards", self.shards.to_string()),
            ("POINT_DECIMALS", "decimals", self.decimals.to_string()),
            ("TIMEZONE", "timezone", self.timezone.clone()),
        ]
    }
}

fn store_url(vars: &Vars) -> Result<String, Error> {
    const NAME: &str = "UPSTASH_REDIS_REST_URL";
    let url = vars.required(NAME)?;
    if !url.starts_with("https://") && !url.starts_with("http://") {
        let way_out = "must begin with https:// or http://".to_owned();
        return Err(Error::Misconfigured(NAME, way_out));
    }
    Ok(url.trim_end_matches('/').to_owned())
}

fn periods(vars: &Vars) -> Result<Vec<Period>, Error> {
    const NAME: &str = "PERIODS";
    let Some(names) = vars.words(NAME)? else {
        return Ok(Period::ALL.to_vec());
    };
    if let Some(unknown) = names.iter().find(|name| Period::parse(name).is_none()) {
        let way_out = format!("'{unknown}' is none of day, week, month, year, all");
        return Err(Error::Misconfigured(NAME, way_out));
    }
    let named = |period: &Period| names.iter().any(|name| name == period.name());
    let periods: Vec<Period> = Period::ALL.into_iter().filter(named).collect();
    if periods.is_empty() {
        let way_out = "name at least one of day, week, month, year, all".to_owned();
        return Err(Error::Misconfigured(NAME, way_out));
    }
    Ok(periods)
}

fn keep(vars: &Vars) -> Result<Keep, Error> {
    const NAME: &str = "KEEP_DAYS";
    let mut keep = Keep {
        day: 31,
        week: 91,
        month: 366,
        year: 731,
        marks: 400,
    };
    for (name, value) in vars.table(NAME)?.unwrap_or_default() {
        let days = value
            .as_u64()
            .filter(|days| (1..=36_500).contains(days))
            .ok_or_else(|| {
                Error::Misconfigured(NAME, format!("'{name}' must be a whole number, 1 to 36500"))
            })?;
        match name.as_str() {
            "day" => keep.day = days,
            "week" => keep.week = days,
            "month" => keep.month = days,
            "year" => keep.year = days,
            "marks" => keep.marks = days,
            _ => {
                let way_out = format!("'{name}' is none of day, week, month, year, marks");
                return Err(Error::Misconfigured(NAME, way_out));
            }
        }
    }
    Ok(keep)
}

fn prefix(vars: &Vars) -> Result<String, Error> {
    const NAME: &str = "PREFIX";
    let prefix = vars.text(NAME)?.unwrap_or_else(|| "ar".to_owned());
    let fits = |c: char| c.is_ascii_alphanumeric() || "_.:-".contains(c);
    if prefix.len() > 64 || !prefix.chars().all(fits) {
        let way_out = "takes 1 to 64 of A-Z a-z 0-9 _ . : -".to_owned();
        return Err(Error::Misconfigured(NAME, way_out));
    }
    Ok(prefix)
}
