//! Replies as the protocol's JSON carries them, and how to take them apart.

use super::Failure;
use serde::de::{self, Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde::{Serialize, Serializer};
use std::fmt;

/// One value of a reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    /// Nothing there.
    Nil,
    /// An integer.
    Integer(i64),
    /// A status or a string.
    Text(String),
    /// An array, nested to any depth.
    List(Vec<Reply>),
}

impl Reply {
    /// Reads a value; none where the text is not one of this protocol.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        // Of bytes, as all other JSON here: the library brings a reader of its own for texts.
        serde_json::from_slice(text.as_bytes()).ok()
    }

    /// The integer, also one written as text.
    ///
    /// # Errors
    ///
    /// [`Failure::Unavailable`] where the reply is anything else; so with all that follow.
    pub fn integer(&self) -> Result<i64, Failure> {
        match self {
            Self::Integer(number) => Ok(*number),
            Self::Text(text) => text.parse().map_err(|_| unexpected(self)),
            Self::Nil | Self::List(_) => Err(unexpected(self)),
        }
    }

    /// The integer where it cannot be negative.
    ///
    /// # Errors
    ///
    /// As [`Reply::integer`].
    pub fn unsigned(&self) -> Result<u64, Failure> {
        u64::try_from(self.integer()?).map_err(|_| unexpected(self))
    }

    /// The text.
    ///
    /// # Errors
    ///
    /// As [`Reply::integer`].
    pub fn text(&self) -> Result<&str, Failure> {
        match self {
            Self::Text(text) => Ok(text),
            Self::Nil | Self::Integer(_) | Self::List(_) => Err(unexpected(self)),
        }
    }

    /// The values of an array.
    ///
    /// # Errors
    ///
    /// As [`Reply::integer`].
    pub fn list(&self) -> Result<&[Self], Failure> {
        match self {
            Self::List(values) => Ok(values),
            Self::Nil | Self::Integer(_) | Self::Text(_) => Err(unexpected(self)),
        }
    }

    /// The value at a place of an array; nothing where the array is shorter.
    ///
    /// # Errors
    ///
    /// As [`Reply::integer`].
    pub fn at(&self, place: usize) -> Result<&Self, Failure> {
        Ok(self.list()?.get(place).unwrap_or(&Self::Nil))
    }

    /// The reply, unless nothing is there.
    #[must_use]
    pub fn some(&self) -> Option<&Self> {
        (*self != Self::Nil).then_some(self)
    }
}

/// A reply that a command of ours cannot have; what it holds is not for the log.
fn unexpected(reply: &Reply) -> Failure {
    let kind = match reply {
        Reply::Nil => "nothing",
        Reply::Integer(_) => "an integer",
        Reply::Text(_) => "a text",
        Reply::List(_) => "a list",
    };
    Failure::Unavailable(format!("unexpected reply: {kind}"))
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

/// Reads a value. Written by hand because what the library derives for a choice keeps a copy of
/// everything first: twice the time, and 10 KB of the bundle.
struct Reader;

/// Refuses kinds of value. The library would tell what it met instead, for which it brings the
/// printing of floats: 7 KB.
macro_rules! refuse {
    ($($visit:ident: $kind:ty),+) => {
        $(fn $visit<E: de::Error>(self, _: $kind) -> Result<Self::Value, E> {
            Err(no_reply())
        })+
    };
}

impl<'de> Visitor<'de> for Reader {
    type Value = Reply;

    refuse!(visit_bool: bool, visit_f64: f64);

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
            .map_err(|_| no_reply())
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
        Err(no_reply())
    }
}

fn no_reply<E: de::Error>() -> E {
    E::custom("not a reply")
}

/// What the protocol sends for one command.
pub(super) struct Slot {
    pub(super) error: Option<String>,
    pub(super) result: Reply,
}

impl<'de> Deserialize<'de> for Slot {
    fn deserialize<D: Deserializer<'de>>(source: D) -> Result<Self, D::Error> {
        source.deserialize_any(SlotReader)
    }
}

/// Reads an object with `result`, `error` or neither.
struct SlotReader;

impl<'de> Visitor<'de> for SlotReader {
    type Value = Slot;

    refuse!(visit_bool: bool, visit_i64: i64, visit_u64: u64, visit_f64: f64, visit_str: &str);

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a result or an error")
    }

    fn visit_unit<E: de::Error>(self) -> Result<Slot, E> {
        Err(no_reply())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, _: A) -> Result<Slot, A::Error> {
        Err(no_reply())
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
                ("error", Reply::Text(words)) => slot.error = Some(words),
                ("error", _) => return Err(no_reply()),
                (_, _) => {}
            }
        }
        Ok(slot)
    }
}

/// What the protocol sends for a pipeline.
pub(super) struct Slots(pub(super) Vec<Slot>);

impl<'de> Deserialize<'de> for Slots {
    fn deserialize<D: Deserializer<'de>>(source: D) -> Result<Self, D::Error> {
        source.deserialize_any(SlotsReader)
    }
}

/// Reads a list of slots.
struct SlotsReader;

impl<'de> Visitor<'de> for SlotsReader {
    type Value = Slots;

    refuse!(visit_bool: bool, visit_i64: i64, visit_u64: u64, visit_f64: f64, visit_str: &str);

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a list")
    }

    fn visit_unit<E: de::Error>(self) -> Result<Slots, E> {
        Err(no_reply())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Slots, A::Error> {
        let mut slots = Vec::new();
        while let Some(slot) = list.next_element()? {
            slots.push(slot);
        }
        Ok(Slots(slots))
    }

    fn visit_map<A: MapAccess<'de>>(self, _: A) -> Result<Slots, A::Error> {
        Err(no_reply())
    }
}
