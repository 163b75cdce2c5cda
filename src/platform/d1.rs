//! D1 databases: the bindings `ARCHIVE` and `JOURNAL`.

use super::budget::{Budget, Cost};
use activity_rank_core::error::Error;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::rc::Rc;
use wasm_bindgen::JsValue;
use worker::{D1Database, D1Result, Env};

/// One SQL statement with the values of `?1`, `?2` and so on.
#[derive(Clone, Debug, PartialEq)]
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
}

/// A database.
pub struct Database {
    name: &'static str,
    binding: D1Database,
    budget: Option<Rc<Budget>>,
}

/// The rows of one statement.
pub struct Rows<'a> {
    database: &'a Database,
    result: D1Result,
}

impl Database {
    /// Returns the database of a binding; `None` if it is not bound.
    #[must_use]
    pub fn bound(env: &Env, name: &'static str) -> Option<Self> {
        let binding = env.d1(name).ok()?;
        Some(Self {
            name,
            binding,
            budget: None,
        })
    }

    /// Returns a database that refuses every statement.
    #[cfg(test)]
    pub fn refusing() -> Self {
        use wasm_bindgen::JsCast;
        Self {
            name: "TEST",
            binding: JsValue::NULL.unchecked_into(),
            budget: Some(Budget::new(Cost::default())),
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
    /// effect.
    pub async fn run(&self, statements: &[Statement]) -> Result<Vec<Rows<'_>>, Error> {
        if let Some(budget) = &self.budget {
            budget.spend(Cost::new(1, statements.len() as u32))?;
        }
        let mut prepared = Vec::new();
        for Statement { sql, values } in statements {
            let values: Vec<JsValue> = values.iter().map(to_js).collect();
            let bound = self.binding.prepare(sql).bind(&values);
            prepared.push(bound.map_err(|error| self.error(&error.to_string()))?);
        }
        let results = self.binding.batch(prepared).await;
        let results = results.map_err(|error| self.error(&error.to_string()))?;
        let rows = results.into_iter().map(|result| Rows {
            database: self,
            result,
        });
        Ok(rows.collect())
    }

    /// Runs one statement and decodes its rows.
    ///
    /// # Errors
    ///
    /// [`Error::StoreUnavailable`] if the database fails or returns other columns.
    pub async fn query<T: DeserializeOwned>(&self, statement: Statement) -> Result<Vec<T>, Error> {
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

/// A row of one column.
#[derive(Deserialize)]
struct Text {
    text: String,
}

impl Rows<'_> {
    /// Returns the column `text` of each row. A type of its own for each query would take more space in
    /// the wasm.
    ///
    /// # Errors
    ///
    /// [`Error::StoreUnavailable`] for other columns.
    pub fn texts(&self) -> Result<Vec<String>, Error> {
        let rows: Vec<Text> = self.decode()?;
        Ok(rows.into_iter().map(|row| row.text).collect())
    }

    /// Decodes the rows by the names of their columns.
    ///
    /// # Errors
    ///
    /// [`Error::StoreUnavailable`] for other columns.
    pub fn decode<T: DeserializeOwned>(&self) -> Result<Vec<T>, Error> {
        let rows = self.result.results();
        rows.map_err(|error| self.database.error(&error.to_string()))
    }
}

/// Converts a value to what D1 binds: numbers are doubles, because D1 has no 64-bit integers.
fn to_js(value: &Value) -> JsValue {
    match value {
        Value::Null | Value::Array(_) | Value::Object(_) => JsValue::NULL,
        Value::Bool(flag) => JsValue::from_bool(*flag),
        Value::Number(number) => JsValue::from_f64(number.as_f64().unwrap_or(f64::NAN)),
        Value::String(text) => JsValue::from_str(text),
    }
}
