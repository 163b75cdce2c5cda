//! The query string: the token, and arguments of a path command.

use std::borrow::Cow;

use percent_encoding::percent_decode;

const TOKEN: &str = "_token";

/// The value of `_token`, if there is one.
pub(crate) fn token(raw: &str) -> Option<Vec<u8>> {
    raw.split('&').find_map(|pair| {
        let (key, value) = pair.split_once('=')?;
        (key == TOKEN).then(|| decode(value))
    })
}

/// Keys and values in their order, without the token; a key with no `=` is one argument.
pub(crate) fn arguments(raw: &str) -> impl Iterator<Item = Vec<u8>> {
    raw.split('&')
        .filter(|pair| !pair.is_empty() && pair.split('=').next() != Some(TOKEN))
        .flat_map(|pair| pair.splitn(2, '='))
        .map(decode)
}

/// As forms are encoded: `+` is a space.
fn decode(text: &str) -> Vec<u8> {
    let text = if text.contains('+') {
        Cow::Owned(text.replace('+', " "))
    } else {
        Cow::Borrowed(text)
    };
    percent_decode(text.as_bytes()).collect()
}
