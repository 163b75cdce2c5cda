//! Ids of users and groups.

use serde_json::Value;

/// Maximum number of groups of one activity.
pub const MAX_GROUPS: usize = 4;

/// The requirements of an id, as the detail of an error.
pub const ID: &str = "must be 1 to 64 characters of A-Z a-z 0-9 _ . : @ | - and not '.' or '..'";

/// Returns whether a text is a valid id of a user or group.
#[must_use]
pub fn is_id(text: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"_.:@|-".contains(&byte);
    (1..=64).contains(&text.len()) && text.bytes().all(allowed) && text != "." && text != ".."
}

/// Precedes the random part of a visitor's id.
const VISITOR: &str = "visitor:";

/// The length of the random part: 16 bytes in base64url.
const VISITOR_CHARS: usize = 22;

/// The requirements of the id of a member, as the detail of an error.
pub const NO_VISITOR: &str = "must not be the id of a visitor";

/// Returns whether an id is that of a visitor, who has no account: `visitor:` and 22 characters of base64url. A visitor
/// is on no board, also if a service sends the activity.
#[must_use]
pub fn is_visitor(id: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"_-".contains(&byte);
    id.strip_prefix(VISITOR)
        .is_some_and(|random| random.len() == VISITOR_CHARS && random.bytes().all(allowed))
}

/// Returns the valid id of a member.
///
/// # Errors
///
/// [`ID`] if the text is not a valid id, [`NO_VISITOR`] if it is that of a visitor.
pub fn checked_member(text: &str) -> Result<String, String> {
    match is_visitor(text) {
        true => Err(NO_VISITOR.to_owned()),
        false => checked(text),
    }
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

/// Returns the id of a member in a JSON string or integer.
///
/// # Errors
///
/// As [`checked_member`] and [`required`].
pub fn member(value: Option<&Value>) -> Result<String, String> {
    checked_member(&required_user(value)?)
}

/// Returns the user id in a field that must be there: a JSON string or integer.
///
/// # Errors
///
/// Returns what is valid.
pub fn required_user(value: Option<&Value>) -> Result<String, String> {
    user(required(value)?).ok_or_else(|| ID.to_owned())
}

/// Returns the value of a field that must be there.
///
/// # Errors
///
/// Returns that it is missing, or null.
pub fn required(value: Option<&Value>) -> Result<&Value, String> {
    match value {
        None => Err("is missing".to_owned()),
        Some(Value::Null) => Err("must not be null".to_owned()),
        Some(value) => Ok(value),
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
