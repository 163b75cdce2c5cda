//! The namespace of snapshots: boards as cron saw them last, and when somebody was hidden last.

use super::edge::perform;
use crate::calendar::Instant;
use crate::error::Error;
use crate::redis::Reply;
use std::cell::Cell;

thread_local! {
    /// Until when this isolate has marked that somebody was hidden.
    static MARKED: Cell<i64> = const { Cell::new(0) };
}

/// The KV namespace `SNAPSHOTS`, which any part of the platform may see up to a minute late.
pub struct Snapshots;

impl Snapshots {
    /// Keeps boards in the place of those before.
    ///
    /// # Errors
    ///
    /// [`Error::StoreUnavailable`] where the namespace fails; so with all that follow.
    pub async fn save(&self, site: &str, text: &str) -> Result<(), Error> {
        done("save", &[site, text]).await.map(|_| ())
    }

    /// What the script that reads the top of a board replied, and when.
    ///
    /// # Errors
    ///
    /// As [`Snapshots::save`].
    pub async fn find(&self, site: &str, name: &str) -> Result<Option<(Instant, Reply)>, Error> {
        let saved = done("saved", &[site, name]).await?;
        let read = || {
            let (made, reply) = saved.split_once('\n')?;
            let made = Instant(made.parse().ok()?);
            Some((made, Reply::parse(reply)?))
        };
        Ok(read())
    }

    /// Marks that what is made until then may show somebody who is hidden.
    ///
    /// One value takes one write a second: what the last mark covers well needs no other.
    ///
    /// # Errors
    ///
    /// As [`Snapshots::save`].
    pub async fn mark_hiding(&self, site: &str, now: Instant, until: Instant) -> Result<(), Error> {
        if MARKED.get() - now.0 > (until.0 - now.0) / 2 {
            return Ok(());
        }
        done("mark_hiding", &[site, &until.0.to_string()]).await?;
        MARKED.set(until.0);
        Ok(())
    }

    /// The last of these marks.
    ///
    /// # Errors
    ///
    /// As [`Snapshots::save`].
    pub async fn last_hiding(&self, site: &str) -> Result<Instant, Error> {
        let until = done("last_hiding", &[site]).await?;
        Ok(Instant(until.parse().unwrap_or(0)))
    }
}

async fn done(effect: &str, takes: &[&str]) -> Result<String, Error> {
    let done = perform(effect, takes).await;
    done.map_err(|cause| Error::StoreUnavailable(format!("SNAPSHOTS: {cause}")))
}
