//! Replies, and the JSON in which the protocol carries them.

use super::StoreError;
use serde::de::{self, Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde::{Serialize, Serializer};
use std::fmt;

/// One value of a reply.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Reply {
    /// Nil.
    #[default]
    Nil,
    /// An integer.
    Integer(i64),
    /// A status or a bulk string.
    Text(String),
    /// An array, nested to any depth.
    List(Vec<Reply>),
}

impl Reply {
    /// Parses a reply; `None` if the text is not one of this protocol.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        // From bytes, as everywhere: serde_json's reader of `str` is separate code in the wasm.
        serde_json::from_slice(text.as_bytes()).ok()
    }

    /// Returns the integer, also if the reply is its decimal text.
    ///
    /// # Errors
    ///
    /// [`StoreError::Unavailable`] for any other reply.
    pub fn integer(&self) -> Result<i64, StoreError> {
        match self {
            Self::Integer(number) => Ok(*number),
            Self::Text(text) => text.parse().map_err(|_| unexpected(self)),
            Self::Nil | Self::List(_) => Err(unexpected(self)),
        }
    }

    /// Returns the non-negative integer.
    ///
    /// # Errors
    ///
    /// As [`Reply::integer`].
    pub fn unsigned(&self) -> Result<u64, StoreError> {
        u64::try_from(self.integer()?).map_err(|_| unexpected(self))
    }

    /// Returns the text.
    ///
    /// # Errors
    ///
    /// As [`Reply::integer`].
    pub fn text(&self) -> Result<&str, StoreError> {
        match self {
            Self::Text(text) => Ok(text),
            Self::Nil | Self::Integer(_) | Self::List(_) => Err(unexpected(self)),
        }
    }

    /// Returns the values of an array.
    ///
    /// # Errors
    ///
    /// As [`Reply::integer`].
    pub fn list(&self) -> Result<&[Self], StoreError> {
        match self {
            Self::List(values) => Ok(values),
            Self::Nil | Self::Integer(_) | Self::Text(_) => Err(unexpected(self)),
        }
    }

    /// Converts the reply into the values of an array.
    ///
    /// # Errors
    ///
    /// As [`Reply::integer`].
    pub fn into_list(self) -> Result<Vec<Self>, StoreError> {
        match self {
            Self::List(values) => Ok(values),
            Self::Nil | Self::Integer(_) | Self::Text(_) => Err(unexpected(&self)),
        }
    }

    /// Converts the reply into its text; `None` for nil.
    ///
    /// # Errors
    ///
    /// As [`Reply::integer`].
    pub fn into_text(self) -> Result<Option<String>, StoreError> {
        match self {
            Self::Nil => Ok(None),
            Self::Text(text) => Ok(Some(text)),
            Self::Integer(_) | Self::List(_) => Err(unexpected(&self)),
        }
    }

    /// Returns the value at an index of an array; nil if the array is shorter.
    ///
    /// # Errors
    ///
    /// As [`Reply::integer`].
    pub fn at(&self, index: usize) -> Result<&Self, StoreError> {
        Ok(self.list()?.get(index).unwrap_or(&Self::Nil))
    }

    /// Returns the text, or `None` for nil.
    ///
    /// # Errors
    ///
    /// As [`Reply::integer`].
    pub fn optional_text(&self) -> Result<Option<&str>, StoreError> {
        self.some().map(Self::text).transpose()
    }

    /// Returns the non-negative integer, or `None` for nil.
    ///
    /// # Errors
    ///
    /// As [`Reply::integer`].
    pub fn optional_unsigned(&self) -> Result<Option<u64>, StoreError> {
        self.some().map(Self::unsigned).transpose()
    }

    /// Returns the reply, or `None` for nil.
    #[must_use]
    pub fn some(&self) -> Option<&Self> {
        (*self != Self::Nil).then_some(self)
    }
}

/// Returns the error for a reply of the wrong kind. It omits the value, which does not belong in a log.
fn unexpected(reply: &Reply) -> StoreError {
    let kind = match reply {
        Reply::Nil => "nothing",
        Reply::Integer(_) => "an integer",
        Reply::Text(_) => "a text",
        Reply::List(_) => "a list",
    };
    StoreError::Unavailable(format!("unexpected reply: {kind}"))
}

impl Serialize for Reply {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Nil => serializer.serialize_unit(),
            Self::Integer(number) => serializer.serialize_i64(*number),
            Self::Text(text) => serializer.serialize_str(text),
            Self::List(values) => serializer.collect_seq(values),
        }
    }
}

impl<'de> Deserialize<'de> for Reply {
    fn deserialize<D: Deserializer<'de>>(source: D) -> Result<Self, D::Error> {
        source.deserialize_any(Reader)
    }
}

/// Parses a reply. Written by hand: the derived parser of an untagged enum buffers its input, which
/// takes twice the time and 10 KB of the wasm.
struct Reader;

/// Rejects kinds of value. The default methods of `Visitor` print the unexpected value, which
/// brings 7 KB of float formatting into the wasm.
macro_rules! reject {
    ($($visit:ident: $kind:ty),+) => {
        $(fn $visit<E: de::Error>(self, _: $kind) -> Result<Self::Value, E> {
            Err(not_a_reply())
        })+
    };
}

impl<'de> Visitor<'de> for Reader {
    type Value = Reply;

    reject!(visit_bool: bool, visit_f64: f64);

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a reply")
    }

    fn visit_unit<E>(self) -> Result<Reply, E> {
        Ok(Reply::Nil)
    }

    fn visit_i64<E>(self, number: i64) -> Result<Reply, E> {
        Ok(Reply::Integer(number))
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<Reply, E> {
        i64::try_from(number)
            .map(Reply::Integer)
            .map_err(|_| not_a_reply())
    }

    fn visit_str<E>(self, text: &str) -> Result<Reply, E> {
        Ok(Reply::Text(text.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Reply, A::Error> {
        let mut values = Vec::new();
        while let Some(value) = list.next_element()? {
            values.push(value);
        }
        Ok(Reply::List(values))
    }

    fn visit_map<A: MapAccess<'de>>(self, _: A) -> Result<Reply, A::Error> {
        Err(not_a_reply())
    }
}

fn not_a_reply<E: de::Error>() -> E {
    E::custom("not a reply")
}

/// The result of one command.
pub(super) struct Slot {
    pub(super) error: Option<String>,
    pub(super) result: Reply,
}

impl<'de> Deserialize<'de> for Slot {
    fn deserialize<D: Deserializer<'de>>(source: D) -> Result<Self, D::Error> {
        source.deserialize_any(SlotReader)
    }
}

/// Parses an object with `result`, `error` or neither.
struct SlotReader;

impl<'de> Visitor<'de> for SlotReader {
    type Value = Slot;

    reject!(visit_bool: bool, visit_i64: i64, visit_u64: u64, visit_f64: f64, visit_str: &str);

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a result or an error")
    }

    fn visit_unit<E: de::Error>(self) -> Result<Slot, E> {
        Err(not_a_reply())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, _: A) -> Result<Slot, A::Error> {
        Err(not_a_reply())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<Slot, A::Error> {
        let mut slot = Slot {
            error: None,
            result: Reply::Nil,
        };
        while let Some(Reply::Text(name)) = object.next_key()? {
            let value = object.next_value()?;
            match (name.as_str(), value) {
                ("result", value) => slot.result = value,
                ("error", Reply::Text(message)) => slot.error = Some(message),
                ("error", _) => return Err(not_a_reply()),
                (_, _) => {}
            }
        }
        Ok(slot)
    }
}

/// The results of a pipeline.
pub(super) struct Slots(pub(super) Vec<Slot>);

impl<'de> Deserialize<'de> for Slots {
    fn deserialize<D: Deserializer<'de>>(source: D) -> Result<Self, D::Error> {
        source.deserialize_any(SlotsReader)
    }
}

/// Parses a list of slots.
struct SlotsReader;

impl<'de> Visitor<'de> for SlotsReader {
    type Value = Slots;

    reject!(visit_bool: bool, visit_i64: i64, visit_u64: u64, visit_f64: f64, visit_str: &str);

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a list")
    }

    fn visit_unit<E: de::Error>(self) -> Result<Slots, E> {
        Err(not_a_reply())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Slots, A::Error> {
        let mut slots = Vec::new();
        while let Some(slot) = list.next_element()? {
            slots.push(slot);
        }
        Ok(Slots(slots))
    }

    fn visit_map<A: MapAccess<'de>>(self, _: A) -> Result<Slots, A::Error> {
        Err(not_a_reply())
    }
}
