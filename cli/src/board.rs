//! The answers about boards, as far as they are printed.

use std::fmt;

use reqwest::Url;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Number;

use crate::args::{BoardArgs, Period, ServiceArgs};
use crate::call_error::CallError;
use crate::client::Client;
use crate::failure::Failure;
use crate::printable::printable;
use crate::retry::patiently;
use crate::screen::Screen;

/// Attempts after the first: somebody is waiting at the screen.
const RETRIES: usize = 2;

/// Which instance of a period a board is of.
#[derive(Debug, Deserialize)]
pub struct BoardPeriod {
    /// `day`, `week`, `month`, `year` or `all`.
    pub kind: String,
    /// `2026-11-20`, `2026-W47`, `2026-11`, `2026` or `all`.
    pub id: String,
    /// Its first instant; none for `all`.
    pub start: Option<String>,
    /// The first instant after it; none for `all`.
    pub end: Option<String>,
    /// IANA name of the zone whose midnights bound it.
    pub timezone: String,
}

/// One place on a board.
#[derive(Debug, Deserialize)]
pub struct Entry {
    /// 1 for the first.
    pub rank: u64,
    /// Points.
    pub score: Number,
    /// Who.
    pub user: User,
}

/// A user, with a name if there is a profile.
#[derive(Debug, Deserialize)]
pub struct User {
    /// The user's id.
    pub id: String,
    /// The name of the profile.
    pub name: Option<String>,
}

/// `day 2026-11-20 · 2026-11-19T16:00:00Z to 2026-11-20T16:00:00Z (Asia/Shanghai)`.
impl fmt::Display for BoardPeriod {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.kind == self.id {
            write!(f, "{}", printable(&self.id))?;
        } else {
            write!(f, "{} {}", printable(&self.kind), printable(&self.id))?;
        }
        if let (Some(start), Some(end)) = (&self.start, &self.end) {
            write!(f, " · {} to {}", printable(start), printable(end))?;
        }
        write!(f, " ({})", printable(&self.timezone))
    }
}

/// The name and the id, or the id alone.
impl fmt::Display for User {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.name {
            Some(name) => write!(f, "{} ({})", printable(name), printable(&self.id)),
            None => write!(f, "{}", printable(&self.id)),
        }
    }
}

/// Asks for `/v1/ranking/{period}` and what hangs below it.
///
/// # Errors
///
/// [`Failure::Service`] after a few attempts.
pub async fn ask(
    service: &ServiceArgs,
    period: Period,
    below: &[&str],
    board: &BoardArgs,
    numbers: &[(&str, Option<u32>)],
) -> Result<Answer, Failure> {
    let client = Client::new(service)?;
    let kind = period.to_string();
    let mut url = client.url(&[&["v1", "ranking", kind.as_str()], below].concat());
    for (name, number) in numbers {
        if let Some(number) = number {
            url.query_pairs_mut().append_pair(name, &number.to_string());
        }
    }
    for (name, text) in [("date", &board.date), ("group", &board.group)] {
        if let Some(text) = text {
            url.query_pairs_mut().append_pair(name, text);
        }
    }
    let body = patiently(RETRIES, |_, _| (), || client.get(&url)).await?;
    Ok(Answer { url, body })
}

/// An answer and the address it came from.
#[derive(Debug)]
pub struct Answer {
    url: Url,
    body: Vec<u8>,
}

impl Answer {
    /// Prints the answer as it came or in words.
    ///
    /// # Errors
    ///
    /// [`Failure`] if it has another shape, or there is nowhere to print it.
    pub fn print<T: DeserializeOwned>(
        &self,
        as_json: bool,
        in_words: impl FnOnce(&T) -> String,
    ) -> Result<(), Failure> {
        let text = if as_json {
            self.json()?
        } else {
            in_words(&self.read()?)
        };
        Screen::print(&text)
    }

    /// The answer in its shape.
    ///
    /// # Errors
    ///
    /// [`CallError::Foreign`] if it has another.
    fn read<T: DeserializeOwned>(&self) -> Result<T, CallError> {
        serde_json::from_slice(&self.body).map_err(|error| CallError::Foreign {
            url: self.url.to_string(),
            what: error.to_string(),
        })
    }

    /// The answer as it came.
    ///
    /// # Errors
    ///
    /// [`CallError::Foreign`] if it is no JSON.
    fn json(&self) -> Result<String, CallError> {
        self.read::<Box<serde_json::value::RawValue>>()
            .map(|json| crate::printable::printable_json(json.get()))
    }
}
