//! The configuration, parsed from the variables of the deployment.

mod achievements;
mod badge_key;
mod bound;
mod branding;
mod fair_play;
mod levels;
mod origins;
mod rules;
mod scopes;
mod service_keys;
mod tokens;
mod user_ids;
mod vars;
mod visitors;
mod webhooks;

pub use achievements::{ACHIEVEMENT_EARNED, Achievement, Achievements, PLACE, check_language};
pub use badge_key::{BadgeKey, PublicKey};
pub use bound::Bound;
pub use branding::Branding;
pub use fair_play::FairPlay;
pub use levels::{Level, LevelView, Levels};
pub use origins::Origins;
pub(crate) use rules::parse_rule;
pub use rules::{ADJUST, Once, Rule, RuleView, Rules, StartOf, is_action};
pub use scopes::{Scope, Scopes};
pub use service_keys::{ServiceKey, ServiceKeys};
use tokens::MIN_SECRET_BYTES;
pub use tokens::Tokens;
pub use user_ids::UserIds;
pub use vars::Vars;
pub use visitors::{Turnstile, Visitors};
pub use webhooks::{CASE_DECIDED, CASE_OPENED, Endpoint, LEVEL_REACHED, Webhooks};

use crate::calendar::{Calendar, Period, Zone};
use crate::error::Error;
use crate::score::Layout;
use crate::shard;

/// The validated settings of a deployment.
#[derive(Clone, Debug)]
pub struct Config {
    /// The URL of the store, without a trailing `/`.
    pub store_url: String,
    /// The bearer token of the store.
    pub store_token: String,
    /// Timeout of one request to the store, in milliseconds: 1 to 30,000.
    pub store_timeout: u32,
    /// The most subrequests, and the most database queries, of one run of cron: 50 to 1,000.
    pub cron_budget: u32,
    /// The keys of trusted services.
    pub service_keys: ServiceKeys,
    /// How user tokens are verified.
    pub tokens: Tokens,
    /// Origins of the pages that may call the API.
    pub allowed_origins: Origins,
    /// The IANA name of the time zone.
    pub timezone: String,
    /// The enabled periods, shortest first; at least one.
    pub periods: Vec<Period>,
    /// The periods for which boards of content and of authors are kept, shortest first; empty if there
    /// are none.
    pub content_periods: Vec<Period>,
    /// The rule of each action.
    pub rules: Rules,
    /// Whether no version of the rules can be published.
    pub rules_locked: bool,
    /// The levels.
    pub levels: Levels,
    /// The achievements.
    pub achievements: Achievements,
    /// The keys of credentials; `None` if there are no credentials.
    pub badge_key: Option<BadgeKey>,
    /// How boards store points.
    pub layout: Layout,
    /// The lifetimes of stored data.
    pub keep: Keep,
    /// Maximum age of an open board in a cache, in seconds: 1 to 3,600.
    pub board_max_age: u32,
    /// Whether everyone may read the numbers of the site.
    pub public_stats: bool,
    /// Whether members may join their own accounts.
    pub member_accounts: bool,
    /// The settings for visitors; `None` if there are none.
    pub visitors: Option<Visitors>,
    /// Whether the page for developers is served.
    pub playground: bool,
    /// The owner's site.
    pub site: Branding,
    /// The missed days of a month that do not end a streak: 0 to 31.
    pub streak_freezes: u32,
    /// The rows of each board in the snapshots: 1 to 100,000.
    pub snapshot_members: u32,
    /// The time after the end of an event in which late activity counts, in milliseconds: up to 30 days.
    pub settling: i64,
    /// The prefix of every key.
    pub prefix: String,
    /// Days that activities which did not count are kept: up to 400, or 0 to delete all. `None` if there are none.
    pub refused_days: Option<u32>,
    /// Whether the journal has activities that did not count.
    pub journal_refused: bool,
    /// The thresholds of cases; `None` if giving is not searched.
    pub fair_play: Option<FairPlay>,
    /// The servers that receive messages.
    pub webhooks: Webhooks,
    /// The optional bindings.
    pub bound: Bound,
    /// Number of shards: 1 to 64.
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
    /// Active records, from the user's last counted activity.
    pub marks: u64,
    /// Boards of an event, from the instant at which it is final.
    pub event: u64,
}

/// The name of a variable.
const REFUSED_DAYS: &str = "REFUSED_DAYS";
const JOURNAL_REFUSED: &str = "JOURNAL_REFUSED";

const DAY_SECONDS: u64 = 86_400;

impl Keep {
    /// Returns the lifetime of a board in seconds; `None` if it never expires.
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

    /// Returns the lifetime of active records in seconds, from the first activity that counts on a day
    /// of UTC: they live this long, or up to a day less, after the last one.
    #[must_use]
    pub fn records_seconds(&self) -> u64 {
        (self.marks + 1) * DAY_SECONDS
    }

    /// Returns the lifetime of an event's board in seconds, from the instant at which it is final.
    #[must_use]
    pub fn event_seconds(&self) -> u64 {
        self.event * DAY_SECONDS
    }
}

impl Config {
    /// Parses and validates every variable. `zone` returns the time zone with a name, for dates in `RULES`.
    ///
    /// # Errors
    ///
    /// [`Error::Misconfigured`] names the first variable that is missing or invalid.
    pub fn parse(
        vars: &Vars,
        zone: impl Fn(&str) -> Result<Box<dyn Zone>, Error>,
    ) -> Result<Self, Error> {
        let order_bits = vars.integer("ORDER_BITS", Layout::ORDER_BITS)?;
        let layout = Layout {
            order_bits: order_bits.unwrap_or(Layout::DEFAULT.order_bits),
            decimals: vars
                .integer("POINT_DECIMALS", Layout::DECIMALS)?
                .unwrap_or(0),
        };
        let periods = periods(vars)?;
        let timezone = vars.text("TIMEZONE")?.unwrap_or_else(|| "UTC".to_owned());
        let start_of = |date| Ok(Calendar::new(&timezone, zone(&timezone)?).start_of(date));
        let rules = Rules::parse(vars, layout, &start_of)?;
        let content_periods = named_periods(vars, "CONTENT_PERIODS")?.unwrap_or_default();
        if let Some(action) = rules.with_pair_cap().filter(|_| content_periods.is_empty()) {
            let remedy = format!("{action}.pair_cap needs boards of content: set CONTENT_PERIODS");
            return Err(Error::Misconfigured(rules::NAME, remedy));
        }
        let levels = Levels::parse(vars, &periods, layout)?;
        let streak_freezes = vars.integer("STREAK_FREEZES", 0..=31)?.unwrap_or(0);
        let context = achievements::Context {
            rules: &rules,
            levels: &levels,
            periods: &periods,
            layout,
            start_of: &start_of,
            freezes: streak_freezes,
        };
        let achievements = Achievements::parse(vars, &context)?;
        Ok(Self {
            store_url: store_url(vars)?,
            store_token: vars.required("UPSTASH_REDIS_REST_TOKEN")?,
            store_timeout: vars
                .integer("STORE_TIMEOUT_MS", 1..=30_000)?
                .unwrap_or(2000),
            cron_budget: vars.integer("CRON_BUDGET", 50..=1000)?.unwrap_or(50),
            service_keys: ServiceKeys::parse(vars)?,
            tokens: Tokens::parse(vars)?,
            allowed_origins: Origins::parse(vars)?,
            timezone,
            levels,
            achievements,
            badge_key: BadgeKey::parse(vars)?,
            periods,
            fair_play: FairPlay::parse(vars, !content_periods.is_empty())?,
            visitors: Visitors::parse(vars, &rules, !content_periods.is_empty())?,
            content_periods,
            rules,
            rules_locked: vars.boolean("RULES_LOCKED")?.unwrap_or_default(),
            layout,
            keep: keep(vars)?,
            board_max_age: vars.integer("BOARD_MAX_AGE", 0..=3600)?.unwrap_or(5),
            public_stats: vars.boolean("PUBLIC_STATS")?.unwrap_or_default(),
            member_accounts: vars.boolean("MEMBER_ACCOUNTS")?.unwrap_or_default(),
            playground: vars.boolean("PLAYGROUND")?.unwrap_or_default(),
            site: Branding::parse(vars)?,
            streak_freezes,
            snapshot_members: vars
                .integer("SNAPSHOT_MEMBERS", 1..=100_000)?
                .unwrap_or(1000),
            settling: i64::from(vars.integer("SETTLE_MINUTES", 0..=43_200)?.unwrap_or(180))
                * 60_000,
            prefix: prefix(vars)?,
            refused_days: vars.integer(REFUSED_DAYS, 0..=400)?,
            journal_refused: vars.boolean(JOURNAL_REFUSED)?.unwrap_or_default(),
            webhooks: Webhooks::parse(vars)?,
            bound: Bound::default(),
            shards: vars.integer("SHARDS", 1..=64)?.unwrap_or(1),
        })
    }

    /// Returns an error if a variable needs the journal, and it is not bound.
    ///
    /// # Errors
    ///
    /// [`Error::Misconfigured`].
    pub fn check_journal(&self) -> Result<(), Error> {
        let names = [
            (!self.webhooks.is_empty()).then_some(webhooks::NAME),
            self.refused_days.map(|_| REFUSED_DAYS),
            self.journal_refused.then_some(JOURNAL_REFUSED),
            self.fair_play.map(|_| fair_play::NAME),
        ];
        match names.into_iter().flatten().next() {
            Some(name) if !self.bound.journal => {
                let remedy =
                    "needs the database of the journal: bind JOURNAL, or remove this variable";
                Err(Error::Misconfigured(name, remedy.to_owned()))
            }
            _ => Ok(()),
        }
    }

    /// Returns whether there are boards of content and of authors.
    #[must_use]
    pub fn has_content(&self) -> bool {
        !self.content_periods.is_empty()
    }

    /// Returns whether the activities with an action are counted by target.
    #[must_use]
    pub fn counts(&self, action: &str) -> bool {
        self.visitors
            .as_ref()
            .is_some_and(|visitors| visitors.actions.iter().any(|known| known == action))
    }

    /// Returns the script argument that enables tombstones of erased users.
    ///
    /// Without a queue, journal or boards of content, nothing of before an erasure can arrive after it.
    #[must_use]
    pub fn tombstone_flag(&self) -> &'static str {
        bound::flag(self.bound.queue || self.bound.journal || self.has_content())
    }

    /// Returns the shard of a user.
    #[must_use]
    pub fn shard_of(&self, user: &str) -> u32 {
        shard::of(user, self.shards)
    }

    /// Returns the indexes of users in a list, grouped by shard; shards without users are omitted.
    #[must_use]
    pub fn indexes_by_shard(&self, users: &[&str]) -> Vec<(u32, Vec<usize>)> {
        let mut shards: Vec<(u32, Vec<usize>)> = Vec::new();
        for (index, user) in users.iter().enumerate() {
            let shard = self.shard_of(user);
            match shards.iter_mut().find(|(known, _)| *known == shard) {
                Some((_, indexes)) => indexes.push(index),
                None => shards.push((shard, vec![index])),
            }
        }
        shards
    }
}

fn store_url(vars: &Vars) -> Result<String, Error> {
    const NAME: &str = "UPSTASH_REDIS_REST_URL";
    let url = vars.required(NAME)?;
    if !url.starts_with("https://") && !url.starts_with("http://") {
        let remedy = "must begin with https:// or http://".to_owned();
        return Err(Error::Misconfigured(NAME, remedy));
    }
    Ok(url.trim_end_matches('/').to_owned())
}

/// Parses names of periods; `None` if the variable is not set.
fn named_periods(vars: &Vars, name: &'static str) -> Result<Option<Vec<Period>>, Error> {
    let Some(names) = vars.words(name)? else {
        return Ok(None);
    };
    if let Some(unknown) = names.iter().find(|name| Period::parse(name).is_none()) {
        let remedy = format!("'{unknown}' is none of day, week, month, year, all");
        return Err(Error::Misconfigured(name, remedy));
    }
    let enabled = |period: &Period| names.iter().any(|name| name == period.name());
    Ok(Some(Period::ALL.into_iter().filter(enabled).collect()))
}

fn periods(vars: &Vars) -> Result<Vec<Period>, Error> {
    const NAME: &str = "PERIODS";
    let Some(periods) = named_periods(vars, NAME)? else {
        return Ok(Period::ALL.to_vec());
    };
    if periods.is_empty() {
        let remedy = "name at least one of day, week, month, year, all".to_owned();
        return Err(Error::Misconfigured(NAME, remedy));
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
        event: 366,
    };
    for (name, value) in vars.table(NAME)?.unwrap_or_default() {
        let days = value
            .as_u64()
            .filter(|days| (1..=36_500).contains(days))
            .ok_or_else(|| {
                Error::Misconfigured(NAME, format!("'{name}' must be an integer from 1 to 36500"))
            })?;
        match name.as_str() {
            "day" => keep.day = days,
            "week" => keep.week = days,
            "month" => keep.month = days,
            "year" => keep.year = days,
            "marks" => keep.marks = days,
            "event" => keep.event = days,
            _ => {
                let remedy = format!("'{name}' is none of day, week, month, year, marks, event");
                return Err(Error::Misconfigured(NAME, remedy));
            }
        }
    }
    Ok(keep)
}

fn prefix(vars: &Vars) -> Result<String, Error> {
    const NAME: &str = "PREFIX";
    let prefix = vars.text(NAME)?.unwrap_or_else(|| "ar".to_owned());
    let allowed = |c: char| c.is_ascii_alphanumeric() || "_.:-".contains(c);
    if prefix.len() > 64 || !prefix.chars().all(allowed) {
        let remedy = "takes 1 to 64 of A-Z a-z 0-9 _ . : -".to_owned();
        return Err(Error::Misconfigured(NAME, remedy));
    }
    Ok(prefix)
}
