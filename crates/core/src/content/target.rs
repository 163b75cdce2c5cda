//! Parses targets, and renders them.

use crate::error::{Error, FieldErrors};
use crate::id;
use crate::json;
use crate::profile::{check_link, optional};
use crate::text;
use serde::Serialize;
use serde_json::Value;

const MAX_TITLE_CHARACTERS: usize = 200;
const MAX_ID_BYTES: usize = 512;

/// The title and links of a target, as boards show them. Every field is optional.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Target {
    /// The title: 1 to 200 characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The `https` URL of its page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// The `https` URL of a picture.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub image: Option<String>,
}

/// A target to register.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedTarget {
    /// The id of the target.
    pub id: String,
    /// The id of its author; `None` keeps the one that it has.
    pub author: Option<String>,
    /// The title and links, which replace the earlier ones.
    pub target: Target,
}

/// A target in a response: its id and what boards show of it.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct TargetView<'a> {
    id: &'a str,
    #[serde(flatten)]
    target: &'a Target,
}

impl<'a> TargetView<'a> {
    /// Returns the view of a target.
    #[must_use]
    pub fn new(id: &'a str, target: &'a Target) -> Self {
        Self { id, target }
    }
}

impl Target {
    /// Parses JSON as the store holds it.
    #[must_use]
    pub fn from_json(text: &str) -> Option<Self> {
        let Ok(Value::Object(mut fields)) = json::read(text.as_bytes()) else {
            return None;
        };
        let mut text = |field| match fields.remove(field) {
            Some(Value::String(text)) => Some(text),
            Some(_) | None => None,
        };
        Some(Self {
            title: text("title"),
            url: text("url"),
            image: text("image"),
        })
    }
}

impl NamedTarget {
    /// Parses a target whose id comes from the path.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidRequest`] lists every invalid field, and the id if it is invalid.
    pub fn parse(id: &str, value: &Value) -> Result<Self, Error> {
        let id = checked_id(id);
        parse(id, "/target", value, &["author", "title", "url", "image"])
    }

    /// Parses an item of an array of targets.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidRequest`] lists every invalid field.
    pub fn parse_item(value: &Value) -> Result<Self, Error> {
        let id = id::required(value.get("id"))
            .and_then(|id| id.as_str().ok_or_else(|| "must be a text".to_owned()))
            .and_then(checked_id);
        let known = ["id", "author", "title", "url", "image"];
        parse(id, "/id", value, &known)
    }
}

fn parse(
    id: Result<String, String>,
    pointer: &str,
    value: &Value,
    known: &[&str],
) -> Result<NamedTarget, Error> {
    let Value::Object(fields) = value else {
        return Err(Error::invalid("A target is a JSON object."));
    };
    let mut errors = FieldErrors::default();
    errors.reject_unknown(fields.keys(), known);
    let id = errors.check(pointer, id);
    let author = match fields.get("author") {
        None => Ok(None),
        author => id::member(author).map(Some),
    };
    let author = errors.check("/author", author);
    let check_title = |title: &str| text::check(title, MAX_TITLE_CHARACTERS);
    let title = errors.check("/title", optional(fields, "title", check_title));
    let url = errors.check("/url", optional(fields, "url", check_link));
    let image = errors.check("/image", optional(fields, "image", check_link));
    let target = || {
        Some(NamedTarget {
            id: id?,
            author: author?,
            target: Target {
                title: title?,
                url: url?,
                image: image?,
            },
        })
    };
    errors.finish(target())
}

/// Returns a valid id of a target: 1 to 512 bytes without control characters, and not `.` or `..`,
/// which no path can name.
///
/// # Errors
///
/// Returns what is valid.
pub fn checked_id(text: &str) -> Result<String, String> {
    let length = text.len();
    if !(1..=MAX_ID_BYTES).contains(&length) {
        return Err(format!("must be 1 to {MAX_ID_BYTES} bytes, not {length}"));
    }
    if text.chars().any(char::is_control) {
        return Err("must not contain control characters".to_owned());
    }
    if text == "." || text == ".." {
        return Err("must not be '.' or '..'".to_owned());
    }
    Ok(text.to_owned())
}
