//! The databases: of closed boards, and of the journal.

use super::edge::{is_bound, perform};
use crate::archive::Statement;
use crate::error::Error;
use crate::redis::Reply;
use worker::Env;

/// A D1 database.
pub struct Database {
    name: &'static str,
}

impl Database {
    /// The one bound under a name.
    #[must_use]
    pub fn bound(env: &Env, name: &'static str) -> Option<Self> {
        is_bound(env, name).then_some(Self { name })
    }

    /// Runs statements, all or none; for each a list of rows.
    ///
    /// # Errors
    ///
    /// [`Error::StoreUnavailable`] where the database fails.
    pub async fn run(&self, statements: &[Statement]) -> Result<Vec<Reply>, Error> {
        let statements = serde_json::to_string(statements).unwrap_or_default();
        let rows = perform("run", &[self.name, &statements]).await;
        match Reply::parse(&rows.map_err(|cause| self.failed(&cause))?) {
            Some(Reply::List(rows)) => Ok(rows),
            Some(_) | None => Err(self.failed("unexpected rows")),
        }
    }

    fn failed(&self, cause: &str) -> Error {
        Error::StoreUnavailable(format!("{}: {cause}", self.name))
    }
}
