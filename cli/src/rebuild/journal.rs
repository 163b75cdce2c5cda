//! The journal, as the service tells it.

use serde::Deserialize;

use super::entry::{Entry, Line};
use super::keep::Keep;
use crate::args::ServiceArgs;
use crate::call_error::CallError;
use crate::client::Client;
use crate::failure::Failure;
use crate::retry::patiently;

/// Entries asked for at once.
const PAGE: &str = "2000";

/// The journal of a service.
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
    pub stamp: String,
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

    /// What was done after an entry, up to now where `next` is none.
    ///
    /// # Errors
    ///
    /// [`Failure`] where the service does not answer, or tells what this version does not know.
    pub async fn page(
        &self,
        after: u64,
        told: impl Fn(&CallError, std::time::Duration),
    ) -> Result<Page, Failure> {
        let mut url = self.client.url(&["v1", "journal"]);
        let after = after.to_string();
        url.query_pairs_mut()
            .append_pair("after", &after)
            .append_pair("limit", PAGE);
        let ask = || self.client.get_with_key(&url);
        let answer = patiently(self.retries, told, ask).await?;
        let foreign = |what: String| {
            let url = url.to_string();
            Failure::Service(CallError::Foreign { url, what })
        };
        let answer: Answer =
            serde_json::from_slice(&answer).map_err(|error| foreign(error.to_string()))?;
        let entries = answer.entries.into_iter().map(Entry::try_from);
        Ok(Page {
            prefix: answer.prefix,
            stamp: answer.stamp,
            keep: answer.keep,
            entries: entries.collect::<Result<_, _>>().map_err(foreign)?,
            next: answer.next,
        })
    }
}
