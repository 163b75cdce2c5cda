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
        let id = value.get("id").and_then(Value::as_str);
        let id = id.map_or_else(|| Err("must be a text".to_owned()), checked_id);
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

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn details(error: Error) -> Vec<String> {
        let problem = serde_json::to_value(error.problem()).unwrap();
        let errors = problem["errors"].as_array().cloned().unwrap_or_default();
        let detail = |error: &Value| {
            let (pointer, detail) = (&error["pointer"], &error["detail"]);
            format!("{} {}", pointer.as_str().unwrap(), detail.as_str().unwrap())
        };
        errors.iter().map(detail).collect()
    }

    #[test]
    fn target_parses_from_path_and_from_item() {
        let body = json!({"author": 9, "title": "A title", "url": "https://a.example/7"});
        let named = NamedTarget::parse("post-7", &body).unwrap();
        let mut item = body;
        item["id"] = json!("post-7");
        assert_eq!(NamedTarget::parse_item(&item), Ok(named.clone()));
        assert_eq!(named.author.as_deref(), Some("9"));
        let json = serde_json::to_string(&named.target).unwrap();
        assert_eq!(Target::from_json(&json), Some(named.target.clone()));
        let view = serde_json::to_value(TargetView::new("post-7", &named.target)).unwrap();
        let expected = json!({"id": "post-7", "title": "A title", "url": "https://a.example/7"});
        assert_eq!(view, expected);
    }

    #[test]
    fn invalid_fields_are_listed() {
        let body = json!({"author": "a b", "title": "\u{2028}", "url": "http://a.example", "image": 7, "x": 1});
        let error = NamedTarget::parse("..", &body).unwrap_err();
        let pointers: Vec<String> = details(error)
            .iter()
            .filter_map(|detail| detail.split(' ').next().map(str::to_owned))
            .collect();
        let expected = ["/x", "/target", "/author", "/title", "/url", "/image"];
        assert_eq!(pointers, expected);
        let error = NamedTarget::parse_item(&json!({"title": "A"})).unwrap_err();
        assert_eq!(details(error), ["/id must be a text"]);
    }
}
