//! Parses a JSON body into one command or a batch of commands.

use std::{borrow::Cow, fmt};

use serde::{
    Deserializer,
    de::{self, DeserializeSeed, IgnoredAny, SeqAccess},
};
use serde_json::value::RawValue;

use crate::{command::Command, error::GatewayError, memory::Share};

/// Parses the body of `/`, such as `["SET", "key", "value", "EX", 100]`. The arguments take memory of `share`.
pub(crate) fn single(body: &[u8], share: &Share) -> Result<Command, GatewayError> {
    let mut parser = Parser {
        share,
        refusal: None,
    };
    let parsed = parse(body, Arguments(&mut parser));
    parser.check(body, GatewayError::BadCommand, parsed, |command| {
        let is_empty = command.arguments().len() == 0;
        match is_empty {
            true => Err(GatewayError::EmptyCommand),
            false => Ok(command),
        }
    })
}

/// Parses the body of `/pipeline` and `/multi-exec`: an array of commands. The arguments take memory of `share`.
///
/// An empty command is an error of that command. An invalid argument is an error of the request.
pub(crate) fn batch(
    body: &[u8],
    limit: usize,
    share: &Share,
) -> Result<Vec<Result<Command, GatewayError>>, GatewayError> {
    let mut parser = Parser {
        share,
        refusal: None,
    };
    let parsed = parse(body, Commands(&mut parser, limit));
    parser.check(body, GatewayError::BadPipeline, parsed, |commands| {
        if commands.is_empty() {
            return Err(GatewayError::EmptyPipeline);
        }
        Ok(commands)
    })
}

/// Parses a body while it counts what it stores.
struct Parser<'a> {
    share: &'a Share,
    /// Why the request is refused although its body is valid so far. The rest is parsed but not stored.
    refusal: Option<GatewayError>,
}

impl Parser<'_> {
    fn check<P, T>(
        self,
        body: &[u8],
        otherwise: GatewayError,
        parsed: serde_json::Result<P>,
        accept: impl FnOnce(P) -> Result<T, GatewayError>,
    ) -> Result<T, GatewayError> {
        match (parsed, self.refusal) {
            (Err(_error), _) => Err(classify(body, otherwise)),
            (Ok(_), Some(refusal)) => Err(refusal),
            (Ok(parsed), None) => accept(parsed),
        }
    }
}

fn parse<'de, S: DeserializeSeed<'de>>(body: &'de [u8], seed: S) -> serde_json::Result<S::Value> {
    let mut json = serde_json::Deserializer::from_slice(body);
    let parsed = seed.deserialize(&mut json)?;
    json.end()?;
    Ok(parsed)
}

/// Parses one command.
struct Arguments<'a, 'b>(&'a mut Parser<'b>);

impl<'de> DeserializeSeed<'de> for Arguments<'_, '_> {
    type Value = Command;

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<Command, D::Error> {
        json.deserialize_seq(self)
    }
}

impl<'de> de::Visitor<'de> for Arguments<'_, '_> {
    type Value = Command;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a command")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut arguments: A) -> Result<Command, A::Error> {
        let (mut command, parser) = (Command::default(), self.0);
        while parser.refusal.is_none()
            && let Some(argument) = arguments.next_element::<&RawValue>()?
        {
            let pushed = parser.share.charge_arguments(1);
            parser.refusal = pushed.and_then(|()| push(&mut command, argument)).err();
        }
        while arguments.next_element::<IgnoredAny>()?.is_some() {}
        Ok(command)
    }
}

/// Parses at most so many commands.
struct Commands<'a, 'b>(&'a mut Parser<'b>, usize);

impl<'de> DeserializeSeed<'de> for Commands<'_, '_> {
    type Value = Vec<Result<Command, GatewayError>>;

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<Self::Value, D::Error> {
        json.deserialize_seq(self)
    }
}

impl<'de> de::Visitor<'de> for Commands<'_, '_> {
    type Value = Vec<Result<Command, GatewayError>>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("commands")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut sent: A) -> Result<Self::Value, A::Error> {
        let Self(parser, limit) = self;
        let (mut commands, mut actual) = (Vec::new(), 0);
        while let Some(command) = sent.next_element_seed(Arguments(parser))? {
            actual += 1;
            if actual > limit {
                parser.refusal = Some(GatewayError::TooManyCommands { limit, actual });
            } else {
                let is_empty = command.arguments().len() == 0;
                commands.push(match is_empty {
                    true => Err(GatewayError::EmptyPipelineCommand),
                    false => Ok(command),
                });
            }
        }
        Ok(commands)
    }
}

/// Returns the error for a body that failed to parse: `otherwise`, unless it is empty or not an array.
fn classify(body: &[u8], otherwise: GatewayError) -> GatewayError {
    if body.trim_ascii().is_empty() {
        return GatewayError::EmptyBody;
    }
    match serde_json::from_slice::<&RawValue>(body) {
        Ok(value) if !value.get().starts_with('[') => GatewayError::NotAnArray,
        Ok(_) | Err(_) => otherwise,
    }
}

fn push(command: &mut Command, argument: &RawValue) -> Result<(), GatewayError> {
    let json = argument.get();
    match json.as_bytes() {
        [b'"', inner @ .., b'"'] if !inner.contains(&b'\\') => command.push(inner),
        [b'"', ..] => command.push(&unescape(json)?),
        [b'n', ..] => return Err(GatewayError::NullArgument),
        [b'[', ..] => return Err(GatewayError::NestedArgument('[')),
        [b'{', ..] => return Err(GatewayError::NestedArgument('{')),
        // Numbers and booleans keep their literal text.
        literal => command.push(literal),
    }
    Ok(())
}

/// Decodes a JSON string with escapes. An unpaired surrogate, which JavaScript can send as an
/// escape, becomes U+FFFD.
fn unescape(json: &str) -> Result<Vec<u8>, GatewayError> {
    let mut bytes = serde_json::Deserializer::from_str(json)
        .deserialize_bytes(Bytes)
        .map_err(|_error| GatewayError::BadCommand)?
        .into_owned();
    // serde_json decodes an unpaired surrogate to the bytes ED A0..BF xx, which are invalid UTF-8.
    let mut rest = bytes.as_mut_slice();
    while let Some(at) = rest
        .windows(2)
        .position(|pair| matches!(pair, [0xED, 0xA0..=0xBF]))
    {
        let (_, surrogate) = rest.split_at_mut(at);
        let Some((surrogate, after)) = surrogate.split_first_chunk_mut::<3>() else {
            break;
        };
        *surrogate = *b"\xEF\xBF\xBD";
        rest = after;
    }
    Ok(bytes)
}

struct Bytes;

impl<'de> de::Visitor<'de> for Bytes {
    type Value = Cow<'de, [u8]>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    fn visit_borrowed_bytes<E: de::Error>(self, bytes: &'de [u8]) -> Result<Self::Value, E> {
        Ok(Cow::Borrowed(bytes))
    }

    fn visit_bytes<E: de::Error>(self, bytes: &[u8]) -> Result<Self::Value, E> {
        Ok(Cow::Owned(bytes.to_vec()))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::batch;
    use crate::{
        command::Command,
        error::GatewayError,
        memory::{Share, SharedLimit},
    };

    fn single(body: &[u8]) -> Result<Command, GatewayError> {
        super::single(body, &share())
    }

    fn share() -> Share {
        Share::new(&SharedLimit::new(usize::MAX))
    }

    fn arguments(command: &Command) -> Vec<Vec<u8>> {
        command.arguments().map(<[u8]>::to_vec).collect()
    }

    proptest! {
        #[test]
        fn any_bytes_parse_or_return_error(body: Vec<u8>) {
            let _ = single(&body);
            let _ = batch(&body, 10, &share());
        }

        #[test]
        fn any_json_like_text_parses_or_returns_error(body in r#"[\[\]{}",:\\u0-9a-fnrte.\-+ ]{0,40}"#) {
            let _ = single(body.as_bytes());
            let _ = batch(body.as_bytes(), 10, &share());
        }

        #[test]
        fn strings_become_utf8(strings in prop::collection::vec(any::<String>(), 1..8)) {
            let body = serde_json::to_vec(&strings).unwrap_or_default();
            let sent: Vec<Vec<u8>> = strings.into_iter().map(String::into_bytes).collect();
            prop_assert_eq!(single(&body).map(|command| arguments(&command)), Ok(sent));
        }

        #[test]
        fn escaped_characters_become_utf8(text: String) {
            let escaped: String = text.encode_utf16().map(|unit| format!("\\u{unit:04x}")).collect();
            let command = single(format!("[\"{escaped}\"]").as_bytes());
            prop_assert_eq!(command.map(|command| arguments(&command)), Ok(vec![text.into_bytes()]));
        }

        #[test]
        fn unpaired_surrogates_become_u_fffd(units: Vec<u16>) {
            let escaped: String = units.iter().map(|unit| format!("\\u{unit:04X}")).collect();
            let command = single(format!("[\"{escaped}\"]").as_bytes());
            let text = String::from_utf16_lossy(&units);
            prop_assert_eq!(command.map(|command| arguments(&command)), Ok(vec![text.into_bytes()]));
        }

        #[test]
        fn numbers_keep_their_literal_text(literal in "-?(0|[1-9][0-9]{0,30})([.][0-9]{1,20})?([eE][+-]?[0-9]{1,5})?") {
            let command = single(format!("[ {literal} ]").as_bytes());
            prop_assert_eq!(command.map(|command| arguments(&command)), Ok(vec![literal.into_bytes()]));
        }
    }
}
