//! JSON as the API takes it: no field twice in an object, nothing nested deep, no long list.
//!
//! serde_json's own `Value` lets the last of two equal fields win, while whoever checked the same
//! text before us (a proxy, a signing service) may have looked at the first. All of it is refused
//! while it is read: nothing is built of what comes behind.

use crate::error::{Error, pointer_part};
use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};
use std::fmt;

/// How deep objects and lists may lie in each other; an activity in an array needs 3.
pub const MOST_DEPTH: usize = 8;

/// The most items of a list.
pub const MOST_ITEMS: usize = 500;

/// Why a text is not taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refused {
    /// It is not JSON: where and why.
    Syntax(String),
    /// The field at this pointer is there twice.
    Repeated(String),
    /// The value at this pointer lies too deep.
    Deep(String),
    /// A list is longer than [`MOST_ITEMS`].
    Long,
}

/// Reads a whole text.
///
/// # Errors
///
/// The first thing that is wrong with it.
pub fn read(text: &[u8]) -> Result<Value, Refused> {
    let mut refused = None;
    let mut source = serde_json::Deserializer::from_slice(text);
    let reader = Reader {
        above: 0,
        refused: &mut refused,
    };
    let value = reader.deserialize(&mut source);
    let value = value.and_then(|value| source.end().map(|()| value));
    value.map_err(|error| refused.unwrap_or_else(|| Refused::Syntax(error.to_string())))
}

impl Refused {
    /// The same told from one level further up.
    fn within(&mut self, part: &str) {
        match self {
            Self::Repeated(pointer) | Self::Deep(pointer) => {
                pointer.insert_str(0, &pointer_part(part));
            }
            Self::Syntax(_) | Self::Long => {}
        }
    }
}

impl From<Refused> for Error {
    fn from(refused: Refused) -> Self {
        match refused {
            Refused::Syntax(why) => Self::invalid(format!("The body is not JSON: {why}.")),
            Refused::Repeated(pointer) => Self::fault(pointer, "must not be there twice"),
            Refused::Deep(pointer) => {
                let detail = format!("is nested deeper than {MOST_DEPTH} levels");
                Self::fault(pointer, detail)
            }
            Refused::Long => Self::TooLarge(format!("An array is at most {MOST_ITEMS} items.")),
        }
    }
}

/// Reads one value.
struct Reader<'a> {
    /// In how many objects and lists it lies.
    above: usize,
    /// What was refused; serde's errors carry texts alone.
    refused: &'a mut Option<Refused>,
}

impl Reader<'_> {
    /// Refuses what is being read.
    fn refuse<T, E: serde::de::Error>(&mut self, refused: Refused) -> Result<T, E> {
        *self.refused = Some(refused);
        Err(E::custom(""))
    }

    /// The reader of what lies in this object or list.
    fn inner<E: serde::de::Error>(&mut self) -> Result<Reader<'_>, E> {
        if self.above == MOST_DEPTH {
            return self.refuse(Refused::Deep(String::new()));
        }
        Ok(Reader {
            above: self.above + 1,
            refused: self.refused,
        })
    }

    /// Names the place in this object or list where something was refused.
    fn within<E>(&mut self, part: &str, error: E) -> E {
        if let Some(refused) = self.refused {
            refused.within(part);
        }
        error
    }
}

impl<'de> DeserializeSeed<'de> for Reader<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, source: D) -> Result<Value, D::Error> {
        source.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Reader<'_> {
    type Value = Value;

    fn expecting(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, truth: bool) -> Result<Value, E> {
        Ok(Value::Bool(truth))
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

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut list: A) -> Result<Value, A::Error> {
        let mut items = Vec::new();
        loop {
            let inner = self.inner()?;
            match list.next_element_seed(inner) {
                Ok(Some(_)) if items.len() == MOST_ITEMS => return self.refuse(Refused::Long),
                Ok(Some(item)) => items.push(item),
                Ok(None) => return Ok(Value::Array(items)),
                Err(error) => return Err(self.within(&items.len().to_string(), error)),
            }
        }
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut object: A) -> Result<Value, A::Error> {
        let mut fields = Map::new();
        // An empty object too is a level of its own.
        self.inner()?;
        while let Some(name) = object.next_key::<String>()? {
            if fields.contains_key(&name) {
                return self.refuse(Refused::Repeated(pointer_part(&name)));
            }
            let inner = self.inner()?;
            match object.next_value_seed(inner) {
                Ok(value) => fields.insert(name, value),
                Err(error) => return Err(self.within(&name, error)),
            };
        }
        Ok(Value::Object(fields))
    }
}

#[cfg(test)]
mod tests;
