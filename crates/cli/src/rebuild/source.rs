//! Where a replay reads the journal: a service or a file.

use std::rc::Rc;
use std::time::Duration;

use super::file::JournalFile;
use super::journal::{Journal, Page};
use super::settings::Settings;
use super::state::{Shard, settings_changed};
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
            Self::Service(journal) => Ok(journal.page(Some(shard), after, notify).await?),
            Self::File(file) => file.page(shard, after),
        }
    }
}

/// Reads a page of a shard's journal and checks that the service's settings are still the same.
///
/// # Errors
///
/// As [`Source::page`], and if the settings have changed.
pub async fn read_page(
    journal: &Source,
    shard: &Shard,
    settings: &Settings,
    after: u64,
) -> Result<Page, Failure> {
    let store = &shard.store;
    let notify = |error: &RequestError, wait: Duration| {
        store.progress.retrying(&error.to_string(), wait);
    };
    let page = journal.page(store.shard, after, notify).await?;
    if page.settings == *settings && page.prefix == store.prefix {
        return Ok(page);
    }
    Err(settings_changed(
        &format!("{} {}", store.prefix, settings.stamp),
        &format!("{} {}", page.prefix, page.settings.stamp),
    ))
}
