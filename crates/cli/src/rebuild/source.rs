//! Where a replay reads the journal: a service or a file.

use std::rc::Rc;
use std::time::Duration;

use super::file::JournalFile;
use super::journal::{Journal, Page};
use crate::failure::Failure;
use crate::request_error::RequestError;

/// Where a replay reads the journal.
#[derive(Clone)]
pub enum Source {
    /// From the service.
    Service(Journal),
    /// From a file.
    File(Rc<JournalFile>),
}

impl Source {
    /// Returns the entries of a shard after the entry number `after`. `notify` receives the cause of each retry and the
    /// wait before it.
    ///
    /// # Errors
    ///
    /// As [`Journal::page`] and [`JournalFile::page`].
    pub async fn page(
        &self,
        shard: u32,
        after: u64,
        notify: impl Fn(&RequestError, Duration),
    ) -> Result<Page, Failure> {
        match self {
            Self::Service(journal) => journal.page(Some(shard), after, notify).await,
            Self::File(file) => file.page(shard, after),
        }
    }
}
