//! What is kept besides the store, by the bindings a deployment has.

use super::call::Call;
use super::copies;
use super::database::Database;
use crate::archive::{self, Found, Lookup, Visibility};
use crate::error::Error;
use crate::keys::Keys;
use crate::ranking::Which;
use crate::redis::{Command, Pipeline, Reply};
use crate::site::{MOST_CALLS, Site};
use wasm_bindgen::JsValue;
use worker::Env;
use worker::js_sys::Reflect;

/// The bindings.
pub struct Held {
    /// Closed boards: a D1 database with the tables of `migrations/archive`.
    pub archive: Option<Database>,
}

impl Held {
    /// Those that a deployment has.
    #[must_use]
    pub fn of(env: &Env) -> Self {
        let binding = |name: &str| Reflect::get(env, &JsValue::from_str(name)).ok();
        let archive = binding("ARCHIVE").filter(|binding| !binding.is_undefined());
        Self {
            archive: archive.map(Database),
        }
    }

    /// What the archive has of a board.
    ///
    /// # Errors
    ///
    /// [`Error::StoreUnavailable`].
    pub async fn find(
        &self,
        site: &Site,
        which: &Which,
        lookup: &Lookup<'_>,
    ) -> Result<Option<Found>, Error> {
        let Some(archive) = &self.archive else {
            return Ok(None);
        };
        let name = Keys::board_name(which.period, which.date, which.group.as_deref());
        let statements = lookup.statements(&archive::site(&site.config), &name);
        Ok(lookup.found(&archive.run(&statements).await?)?)
    }

    /// Hides users from what is kept here, or brings them back, as the store has them by now.
    ///
    /// # Errors
    ///
    /// [`Error::StoreUnavailable`]; what was asked of the store is done, and may be asked again.
    pub async fn follow(&self, site: &Site, call: &Call, users: &[String]) -> Result<(), Error> {
        copies::forget(call).await;
        let Some(archive) = &self.archive else {
            return Ok(());
        };
        let mut told = None;
        // Two who change the same user come here in any order: whoever is last sees that what
        // they wrote is what the store says.
        for _ in 0..MOST_CALLS {
            let flags = look_up(site, &site.config.keys().flags(), users).await?;
            let is = Visibility::of(users, &flags)?;
            if told.as_ref() == Some(&is) {
                break;
            }
            let statements = is.statements(&archive::site(&site.config));
            archive.run(&statements).await?;
            told = Some(is);
        }
        Ok(())
    }

    /// Takes a user who is erased from what is kept here.
    ///
    /// # Errors
    ///
    /// As [`Held::follow`].
    pub async fn erase(&self, site: &Site, call: &Call, user: &str) -> Result<(), Error> {
        copies::forget(call).await;
        if let Some(archive) = &self.archive {
            let statements = archive::erase(&archive::site(&site.config), user);
            archive.run(&statements).await?;
        }
        Ok(())
    }
}

/// What the store has of each user in a hash.
///
/// # Errors
///
/// As [`Site::ask_all`].
pub async fn look_up(
    site: &Site,
    hash: &str,
    users: &[impl AsRef<str>],
) -> Result<Vec<Reply>, Error> {
    if users.is_empty() {
        return Ok(Vec::new());
    }
    let fields = users
        .iter()
        .fold(Command::new("HMGET").arg(hash), |command, user| {
            command.arg(user.as_ref())
        });
    let stamp = Command::new("GET").arg(&site.config.keys().stamp());
    let replies = site.ask_all(&Pipeline::new(vec![stamp, fields])).await?;
    Ok(replies.get(1).unwrap_or(&Reply::Nil).list()?.to_vec())
}
