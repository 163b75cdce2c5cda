//! Limits of a day of UTC: new visitors of an address, and changes that members make of their own data, which the journal and
//! the audit log keep.

use crate::deployment::Deployment;
use crate::redis::{Command, Reply};
use activity_rank_core::calendar::{Date, Instant};
use activity_rank_core::error::Error;
use activity_rank_core::shard::{self, fnv_64};

/// The lifetime of a number in seconds. Its day ends before.
const LIFETIME: i64 = 172_800;

/// A limited change.
#[derive(Clone, Copy, Debug)]
pub enum Daily<'a> {
    /// New visitors of an address, by its hash, and the most of a day.
    Visitors(&'a str, u32),
    /// Changes that a user makes: profile, pauses, accounts, erasure.
    Changes(&'a str),
    /// Times that a user hides from boards: each makes the copies of boards useless until they are made again.
    Hidings(&'a str),
}

impl Daily<'_> {
    /// Returns the name of the number, the most, and what is said beyond. An erasure leaves the number: it has no user id.
    fn parts(self) -> (String, u32, &'static str) {
        let of = |letter: &str, user: &str| format!("{letter}:{:016x}", fnv_64(&[user]));
        match self {
            Self::Visitors(address, most) => {
                let detail = "This address has had all of its visitors of the day.";
                (address.to_owned(), most, detail)
            }
            Self::Changes(user) => {
                let detail = "A user may change their own data 100 times a day.";
                (of("c", user), 100, detail)
            }
            Self::Hidings(user) => {
                let detail = "A user may hide from boards 5 times a day.";
                (of("h", user), 5, detail)
            }
        }
    }
}

/// Counts one more on this day.
///
/// # Errors
///
/// [`Error::RateLimited`] beyond the most of a day; else as [`Deployment::run_script`].
pub async fn count(deployment: &Deployment, daily: Daily<'_>, now: Instant) -> Result<(), Error> {
    let (name, most, detail) = daily.parts();
    let day = now.0.div_euclid(Date::MILLIS);
    let shard = shard::of(&name, deployment.config.shards);
    let key = deployment.keys(shard).daily(day, &name);
    let set = Command::new("SET").arg(&key).number(0);
    let commands = vec![
        set.arg("EX").number(LIFETIME).arg("NX"),
        Command::new("INCR").arg(&key),
    ];
    let replies = deployment.run_commands(commands).await?;
    if replies.get(1).unwrap_or(&Reply::Nil).unsigned()? <= u64::from(most) {
        return Ok(());
    }
    let left = Date::MILLIS - now.0.rem_euclid(Date::MILLIS);
    let seconds = u32::try_from(left / 1000).unwrap_or(0) + 1;
    Err(Error::RateLimited(detail, seconds))
}
