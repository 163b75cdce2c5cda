//! Parses a JSON body into one command or a batch of commands.

use std::{borrow::Cow, fmt};

use serde::{Deserializer, de};
use serde_json::value::RawValue;

use crate::{command::Command, error::GatewayError};

/// Parses the body of `/`, such as `["SET", "key", "value", "EX", 100]`.
pub(crate) fn single(body: &[u8]) -> Result<Command, GatewayError> {
    let arguments = serde_json::from_slice::<Vec<&RawValue>>(body)
        .map_err(|_error| classify(body, GatewayError::BadCommand))?;
    if arguments.is_empty() {
        return Err(GatewayError::EmptyCommand);
    }
    command(&arguments)
}

/// Parses the body of `/pipeline` and `/multi-exec`: an array of commands.
///
/// An empty command is an error of that command. An invalid argument is an error of the request.
pub(crate) fn batch(
    body: &[u8],
    limit: usize,
) -> Result<Vec<Result<Command, GatewayError>>, GatewayError> {
    let commands = serde_json::from_slice::<Vec<Vec<&RawValue>>>(body)
        .map_err(|_error| classify(body, GatewayError::BadPipeline))?;
    if commands.is_empty() {
        return Err(GatewayError::EmptyPipeline);
    }
    if commands.len() > limit {
        return Err(GatewayError::TooManyCommands {
            limit,
            actual: commands.len(),
        });
    }
    commands
        .iter()
        .map(|arguments| match arguments.as_slice() {
            [] => Ok(Err(GatewayError::EmptyPipelineCommand)),
            arguments => command(arguments).map(Ok),
        })
        .collect()
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

fn command(arguments: &[&RawValue]) -> Result<Command, GatewayError> {
    let bytes = arguments.iter().map(|argument| argument.get().len()).sum();
    let mut command = Command::with_capacity(arguments.len(), bytes);
    for argument in arguments {
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
    }
    Ok(command)
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

    use super::{batch, single};
    use crate::command::Command;

    fn arguments(command: &Command) -> Vec<Vec<u8>> {
        command.arguments().map(<[u8]>::to_vec).collect()
    }

    proptest! {
        #[test]
        fn any_bytes_parse_or_return_error(body: Vec<u8>) {
            let _ = single(&body);
            let _ = batch(&body, 10);
        }

        #[test]
        fn any_json_like_text_parses_or_returns_error(body in r#"[\[\]{}",:\\u0-9a-fnrte.\-+ ]{0,40}"#) {
            let _ = single(body.as_bytes());
            let _ = batch(body.as_bytes(), 10);
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
