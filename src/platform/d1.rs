//! D1 databases: the bindings `ARCHIVE` and `JOURNAL`.
//!
//! Statements and rows pass as JSON. The `worker` crate decodes rows by `serde-wasm-bindgen`, a second decoder beside that of
//! JSON, which the Worker needs anyway.

use super::budget::{Budget, Cost};
use super::env::is_bound;
use super::message;
use activity_rank_core::error::Error;
use serde::Serialize;
use serde_json::Value;
use std::rc::Rc;
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;
use worker::Env;

#[wasm_bindgen(raw_module = "platform/d1.js")]
extern "C" {
    #[wasm_bindgen(catch)]
    async fn run(binding: &str, statements: &str, timeout: u32) -> Result<JsValue, JsValue>;
}

/// Milliseconds that a request waits for a database.
const REQUEST_TIMEOUT: u32 = 5_000;

/// Milliseconds that a run of cron waits: it is over before the next one begins, also if both databases hang.
const CRON_TIMEOUT: u32 = 20_000;

/// One SQL statement with the values of `?1`, `?2` and so on.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Statement {
    sql: String,
    /// The values in the order of their numbers.
    pub values: Vec<Value>,
}

impl Statement {
    /// Returns a statement with these values: texts, numbers and null.
    #[must_use]
    pub fn new(sql: &str, values: Vec<Value>) -> Self {
        #[cfg(test)]
        crate::query_plans::record(sql);
        Self {
            sql: sql.to_owned(),
            values,
        }
    }

    /// Returns the text and the values as JSON.
    #[cfg(test)]
    pub fn json(&self) -> Value {
        serde_json::json!([self.sql, self.values])
    }
}

/// A database.
pub struct Database {
    name: &'static str,
    budget: Option<Rc<Budget>>,
}

/// The rows of one statement.
pub struct Rows<'a> {
    database: &'a Database,
    /// A JSON array.
    json: String,
}

impl Database {
    /// Returns the database of a binding; `None` if it is not bound.
    #[must_use]
    pub fn bound(env: &Env, name: &'static str) -> Option<Self> {
        is_bound(env, name).then_some(Self { name, budget: None })
    }

    /// Returns a database that refuses every statement.
    #[cfg(test)]
    pub fn refusing() -> Self {
        Self {
            name: "TEST",
            budget: Some(Budget::new(Cost::default())),
        }
    }

    /// Returns rows that a test has read, arrays of columns.
    #[cfg(test)]
    pub fn rows(&self, rows: &Value) -> Rows<'_> {
        Rows {
            database: self,
            json: rows.to_string(),
        }
    }

    /// Counts its batches and statements against a budget from now on.
    #[must_use]
    pub fn with_budget(mut self, budget: &Rc<Budget>) -> Self {
        self.budget = Some(Rc::clone(budget));
        self
    }

    /// Runs statements in one transaction, and returns the rows of each.
    ///
    /// # Errors
    ///
    /// [`Error::StoreUnavailable`] if the database fails; then none of the statements has any
    /// effect, unless it did not respond in time.
    pub async fn run(&self, statements: &[Statement]) -> Result<Vec<Rows<'_>>, Error> {
        if let Some(budget) = &self.budget {
            budget.spend(Cost::new(1, statements.len() as u32))?;
        }
        let json = serde_json::to_string(statements).unwrap_or_default();
        let timeout = match self.budget {
            Some(_) => CRON_TIMEOUT,
            None => REQUEST_TIMEOUT,
        };
        let rows = run(self.name, &json, timeout).await;
        let rows = rows.map_err(|error| self.error(&message(&error)))?;
        let rows = rows.as_string().unwrap_or_default();
        let rows = rows.lines().map(|json| Rows {
            database: self,
            json: json.to_owned(),
        });
        Ok(rows.collect())
    }

    /// Runs one statement and decodes its rows.
    ///
    /// # Errors
    ///
    /// [`Error::StoreUnavailable`] if the database fails or returns other columns.
    pub async fn query<T: FromRow>(&self, statement: Statement) -> Result<Vec<T>, Error> {
        let rows = self.run(&[statement]).await?;
        rows.first().map_or(Ok(Vec::new()), Rows::decode)
    }

    /// Runs one statement and returns its rows as [`Rows::texts`] does.
    ///
    /// # Errors
    ///
    /// [`Error::StoreUnavailable`] if the database fails or returns other columns.
    pub async fn texts(&self, statement: Statement) -> Result<Vec<String>, Error> {
        let rows = self.run(&[statement]).await?;
        rows.first().map_or(Ok(Vec::new()), Rows::texts)
    }

    fn error(&self, cause: &str) -> Error {
        Error::StoreUnavailable(format!("{}: {cause}", self.name))
    }
}

/// The columns of a row, in the order of its statement.
pub struct Columns(Vec<Value>);

impl Columns {
    /// Takes the text of a column; `None` for another value.
    pub fn text(&mut self, column: usize) -> Option<String> {
        match self.0.get_mut(column).map(Value::take) {
            Some(Value::String(text)) => Some(text),
            Some(_) | None => None,
        }
    }

    /// Returns the integer of a column; `None` for another value, and for one outside the range of the type.
    pub fn integer<T: TryFrom<i64>>(&self, column: usize) -> Option<T> {
        T::try_from(self.0.get(column)?.as_i64()?).ok()
    }
}

/// A value that a row holds.
pub trait FromRow: Sized {
    /// Decodes a row; returns `None` for one with other columns.
    fn from_row(columns: Columns) -> Option<Self>;
}

/// The first column.
impl FromRow for String {
    fn from_row(mut columns: Columns) -> Option<Self> {
        columns.text(0)
    }
}

/// The first column.
impl FromRow for i64 {
    fn from_row(columns: Columns) -> Option<Self> {
        columns.integer(0)
    }
}

impl Rows<'_> {
    /// Returns the first column of each row, a text.
    ///
    /// # Errors
    ///
    /// As [`Self::decode`].
    pub fn texts(&self) -> Result<Vec<String>, Error> {
        self.decode()
    }

    /// Decodes the rows.
    ///
    /// # Errors
    ///
    /// [`Error::StoreUnavailable`] for other columns.
    pub fn decode<T: FromRow>(&self) -> Result<Vec<T>, Error> {
        let unexpected = || self.database.error("unexpected row");
        let Ok(Value::Array(rows)) = serde_json::from_str(&self.json) else {
            return Err(unexpected());
        };
        let row = |row| match row {
            Value::Array(columns) => T::from_row(Columns(columns)),
            _ => None,
        };
        let rows: Option<Vec<T>> = rows.into_iter().map(row).collect();
        rows.ok_or_else(unexpected)
    }
}
