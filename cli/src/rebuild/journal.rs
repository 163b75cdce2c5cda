//! The journal, as the service tells it.

use serde::Deserialize;

use super::entry::{Entry, Line};
use super::keep::Keep;
use crate::archive::stamp::Stamp;
use crate::args::ServiceArgs;
use crate::call_error::CallError;
use crate::client::Client;
use crate::failure::Failure;
use crate::printable::printable;
use crate::retry::patiently;

/// Entries asked for at once.
const PAGE: &str = "2000";

/// The journal of a service.
#[derive(Clone)]
pub struct Journal {
    client: Client,
    retries: usize,
}

/// A stretch of it.
#[derive(Debug)]
pub struct Page {
    /// The prefix of the service's keys.
    pub prefix: String,
    /// The stamp of the site.
    pub stamp: Stamp,
    /// How long what entries write is kept.
    pub keep: Keep,
    /// The entries in their order.
    pub entries: Vec<Entry>,
    /// Where to go on; none at the end.
    pub next: Option<u64>,
}

#[derive(Deserialize)]
struct Answer {
    prefix: String,
    stamp: String,
    keep: Keep,
    entries: Vec<Line>,
    next: Option<u64>,
}

impl Journal {
    /// That of the service that the arguments name.
    ///
    /// # Errors
    ///
    /// As [`Client::new`].
    pub fn new(service: &ServiceArgs, retries: usize) -> Result<Self, Failure> {
        let client = Client::new(service)?;
        Ok(Self { client, retries })
    }

    /// What was done on a shard, or on all, after an entry; up to now where `next` is none.
    ///
    /// # Errors
    ///
    /// [`Failure`] where the service does not answer, or tells what this version does not know.
    pub async fn page(
        &self,
        shard: Option<u32>,
        after: u64,
        told: impl Fn(&CallError, std::time::Duration),
    ) -> Result<Page, Failure> {
        let mut url = self.client.url(&["v1", "journal"]);
        let after = after.to_string();
        url.query_pairs_mut()
            .append_pair("after", &after)
            .append_pair("limit", PAGE);
        if let Some(shard) = shard {
            url.query_pairs_mut()
                .append_pair("shard", &shard.to_string());
        }
        let ask = || self.client.get_with_key(&url);
        let answer = patiently(self.retries, told, ask).await?;
        let foreign = |what: String| {
            let url = url.to_string();
            Failure::Service(CallError::Foreign { url, what })
        };
        let answer: Answer =
            serde_json::from_slice(&answer).map_err(|error| foreign(error.to_string()))?;
        let stamp = Stamp::parse(&answer.stamp).ok_or_else(|| {
            let stamp = printable(&answer.stamp);
            foreign(format!("its data are of another version ({stamp})"))
        })?;
        let mut entries = Vec::new();
        for line in answer.entries {
            let entry = line.entry(stamp.shards).map_err(foreign)?;
            if shard.is_some_and(|shard| entry.shard != shard) {
                let Entry { n, shard, .. } = entry;
                let what =
                    format!("entry {n} of the journal is of shard {shard}, another than asked for");
                return Err(foreign(what));
            }
            entries.push(entry);
        }
        Ok(Page {
            prefix: answer.prefix,
            stamp,
            keep: answer.keep,
            entries,
            next: answer.next,
        })
    }
}
