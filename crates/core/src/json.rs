//! A strict JSON parser: it rejects repeated fields, deep nesting and long arrays.
//!
//! `serde_json::Value` keeps the last of two fields with the same name, but a proxy or signing
//! service in front of the Worker may have checked the first. The parser stops at the first error,
//! so the rest of the text allocates no memory.

use crate::error::{Error, pointer_part};
use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;
use serde_json::{Map, Number, Value};
use std::fmt;

/// Maximum nesting depth of objects and arrays; an array of activities needs 3.
pub const MAX_DEPTH: usize = 8;

/// Maximum number of items of an array.
pub const MAX_ITEMS: usize = 500;

/// Why a text was rejected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JsonError {
    /// The text is not JSON: the position and cause.
    Syntax(String),
    /// The text is JSON, but no [`Value`] holds the string or number at this pointer: why.
    Value(String, &'static str),
    /// The field at this pointer is repeated.
    RepeatedField(String),
    /// The value at this pointer is nested deeper than [`MAX_DEPTH`].
    TooDeep(String),
    /// An array has more than [`MAX_ITEMS`] items.
    TooLong,
}

/// Parses a complete JSON text.
///
/// # Errors
///
/// The first error in the text.
pub fn read(text: &[u8]) -> Result<Value, JsonError> {
    let mut error = None;
    let mut deserializer = serde_json::Deserializer::from_slice(text);
    let parser = Parser {
        depth: 0,
        error: &mut error,
    };
    let value = parser.deserialize(&mut deserializer);
    let value = value.and_then(|value| deserializer.end().map(|()| value));
    value.map_err(
        |cause| match error.unwrap_or_else(|| JsonError::value(&cause)) {
            JsonError::Value(..) if serde_json::from_slice::<&RawValue>(text).is_err() => {
                JsonError::Syntax(cause.to_string())
            }
            error => error,
        },
    )
}

/// A JSON text that may be an array of independent items.
#[derive(Clone, Debug, PartialEq)]
pub enum Items {
    /// An array. The error of an item affects no other.
    Array(Vec<Result<Value, Error>>),
    /// Another value.
    Other(Value),
}

/// Parses a complete JSON text, and each item of an array on its own.
///
/// # Errors
///
/// The first error in the text, except for a string or number that no [`Value`] holds: it is the error of its item.
pub fn read_items(text: &[u8]) -> Result<Items, JsonError> {
    match read(text) {
        Ok(Value::Array(items)) => Ok(Items::Array(items.into_iter().map(Ok).collect())),
        Ok(other) => Ok(Items::Other(other)),
        Err(error @ JsonError::Value(..)) => {
            let items = serde_json::from_slice::<Vec<&RawValue>>(text).map_err(|_| error)?;
            if items.len() > MAX_ITEMS {
                return Err(JsonError::TooLong);
            }
            let items = items.into_iter().enumerate().map(|(index, item)| {
                match read(item.get().as_bytes()) {
                    Ok(value) => Ok(Ok(value)),
                    Err(error @ JsonError::Value(..)) => Ok(Err(error.into())),
                    Err(mut error) => {
                        error.prepend(&index.to_string());
                        Err(error)
                    }
                }
            });
            items.collect::<Result<_, _>>().map(Items::Array)
        }
        Err(error) => Err(error),
    }
}

impl JsonError {
    /// Returns the error of a string or number, by its cause.
    fn value(cause: &impl fmt::Display) -> Self {
        let is_number = cause.to_string().starts_with("number");
        let detail = match is_number {
            true => "must not have a number beyond the range of 64-bit floating point",
            false => "must not have half of a surrogate pair, such as \\ud83d alone",
        };
        Self::Value(String::new(), detail)
    }

    /// Prepends a field name or array index to the pointer.
    fn prepend(&mut self, part: &str) {
        match self {
            Self::RepeatedField(pointer) | Self::TooDeep(pointer) | Self::Value(pointer, _) => {
                pointer.insert_str(0, &pointer_part(part));
            }
            Self::Syntax(_) | Self::TooLong => {}
        }
    }
}

impl From<JsonError> for Error {
    fn from(error: JsonError) -> Self {
        match error {
            JsonError::Syntax(cause) => Self::invalid(format!("The body is not JSON: {cause}.")),
            JsonError::Value(pointer, detail) => Self::field(pointer, detail),
            JsonError::RepeatedField(pointer) => Self::field(pointer, "must not be repeated"),
            JsonError::TooDeep(pointer) => {
                let detail = format!("is nested deeper than {MAX_DEPTH} levels");
                Self::field(pointer, detail)
            }
            JsonError::TooLong => Self::TooLarge(format!("An array is at most {MAX_ITEMS} items.")),
        }
    }
}

/// Parses one value.
struct Parser<'a> {
    /// Number of objects and arrays around the value.
    depth: usize,
    /// The typed error; an error of serde carries only a text.
    error: &'a mut Option<JsonError>,
}

impl Parser<'_> {
    /// Stops parsing with an error.
    fn reject<T, E: serde::de::Error>(&mut self, error: JsonError) -> Result<T, E> {
        *self.error = Some(error);
        Err(E::custom(""))
    }

    /// Returns the parser of the values inside this object or array.
    fn nested<E: serde::de::Error>(&mut self) -> Result<Parser<'_>, E> {
        if self.depth == MAX_DEPTH {
            return self.reject(JsonError::TooDeep(String::new()));
        }
        Ok(Parser {
            depth: self.depth + 1,
            error: self.error,
        })
    }

    /// Prepends a field name or array index to the pointer of the typed error.
    fn prepend<E: fmt::Display>(&mut self, part: &str, serde_error: E) -> E {
        let error = self
            .error
            .get_or_insert_with(|| JsonError::value(&serde_error));
        error.prepend(part);
        serde_error
    }
}

impl<'de> DeserializeSeed<'de> for Parser<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Parser<'_> {
    type Value = Value;

    fn expecting(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Value, E> {
        Ok(Value::Number(number.into()))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Value, E> {
        Ok(Value::Number(number.into()))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Value, E> {
        Ok(Number::from_f64(number).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E>(self, text: &str) -> Result<Value, E> {
        Ok(Value::String(text.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut array: A) -> Result<Value, A::Error> {
        let mut items = Vec::new();
        loop {
            let nested = self.nested()?;
            match array.next_element_seed(nested) {
                Ok(Some(_)) if items.len() == MAX_ITEMS => return self.reject(JsonError::TooLong),
                Ok(Some(item)) => items.push(item),
                Ok(None) => return Ok(Value::Array(items)),
                Err(error) => return Err(self.prepend(&items.len().to_string(), error)),
            }
        }
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut object: A) -> Result<Value, A::Error> {
        let mut fields = Map::new();
        // An empty object counts as a level too.
        self.nested()?;
        while let Some(name) = object.next_key::<String>()? {
            if fields.contains_key(&name) {
                return self.reject(JsonError::RepeatedField(pointer_part(&name)));
            }
            let nested = self.nested()?;
            match object.next_value_seed(nested) {
                Ok(value) => fields.insert(name, value),
                Err(error) => return Err(self.prepend(&name, error)),
            };
        }
        Ok(Value::Object(fields))
    }
}

#[cfg(test)]
mod tests;
