//! What may name a user, a group and a target.

use serde_json::Value;

/// What an id must be, in words.
pub const ID: &str = "must be 1 to 64 of A-Z a-z 0-9 _ . : @ | - and not '.' or '..'";

/// Whether a text can be the id of a user or group.
#[must_use]
pub fn is_id(text: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"_.:@|-".contains(&byte);
    (1..=64).contains(&text.len()) && text.bytes().all(fits) && text != "." && text != ".."
}

/// The id, or what it must be.
///
/// # Errors
///
/// [`ID`], where the text cannot be one.
pub fn checked(text: &str) -> Result<String, String> {
    if is_id(text) {
        Ok(text.to_owned())
    } else {
        Err(ID.to_owned())
    }
}

/// A user's id as a JSON text or integer.
#[must_use]
pub fn user(value: &Value) -> Option<String> {
    let text = match value {
        Value::String(text) => text.clone(),
        Value::Number(number) if number.is_i64() || number.is_u64() => number.to_string(),
        Value::Number(number) => whole(number.as_f64()?)?.to_string(),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => {
            return None;
        }
    };
    is_id(&text).then_some(text)
}

/// The integer that was written as a decimal such as `42.0`, as JSON allows; from 2^53 on a
/// decimal stands for several integers.
fn whole(decimal: f64) -> Option<i64> {
    const SEVERAL: f64 = 9_007_199_254_740_992.0;
    (decimal.abs() < SEVERAL && decimal.fract() == 0.0).then_some(decimal as i64)
}

/// The path of a visit without query, fragment and one trailing `/`, so that the ways to link
/// to a page count as one.
#[must_use]
pub fn visited_path(target: &str) -> &str {
    let path = target.split(['?', '#']).next().unwrap_or(target);
    match path.strip_suffix('/') {
        Some("") | None => path,
        Some(shorter) => shorter,
    }
}
