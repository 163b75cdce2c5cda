//! Ids of users and groups.

use serde_json::Value;

/// Maximum number of groups of one activity.
pub const MAX_GROUPS: usize = 4;

/// The requirements of an id, as the detail of an error.
pub const ID: &str = "must be 1 to 64 of A-Z a-z 0-9 _ . : @ | - and not '.' or '..'";

/// Returns whether a text is a valid id of a user or group.
#[must_use]
pub fn is_id(text: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"_.:@|-".contains(&byte);
    (1..=64).contains(&text.len()) && text.bytes().all(allowed) && text != "." && text != ".."
}

/// Returns a valid id.
///
/// # Errors
///
/// [`ID`] if the text is not a valid id.
pub fn checked(text: &str) -> Result<String, String> {
    if is_id(text) {
        Ok(text.to_owned())
    } else {
        Err(ID.to_owned())
    }
}

/// Returns the user id in a JSON string or integer; `None` if it is not valid.
#[must_use]
pub fn user(value: &Value) -> Option<String> {
    text(value).filter(|text| is_id(text))
}

/// Returns the text of a JSON string or integer; `None` for another value.
#[must_use]
pub fn text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) if number.is_i64() || number.is_u64() => Some(number.to_string()),
        Value::Number(number) => Some(exact_integer(number.as_f64()?)?.to_string()),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

/// Returns the integer in a JSON number such as `42.0`.
///
/// From 2^53 on an `f64` stands for several integers, so the result is `None`.
fn exact_integer(number: f64) -> Option<i64> {
    const LIMIT: f64 = 9_007_199_254_740_992.0;
    (number.abs() < LIMIT && number.fract() == 0.0).then_some(number as i64)
}
