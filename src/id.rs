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
        Value::Number(_) | Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => {
            return None;
        }
    };
    is_id(&text).then_some(text)
}

/// The path of a visit, which begins with `/`, without query, fragment and what `/` it ends with,
/// so that the ways to link to a page count as one. Of its own result it makes the same again.
#[must_use]
pub fn visited_path(target: &str) -> &str {
    let path = target.split(['?', '#']).next().unwrap_or(target);
    match path.trim_end_matches('/') {
        "" => "/",
        shorter => shorter,
    }
}
