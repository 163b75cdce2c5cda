//! `SITE`: the owner's site, as pages, link previews, feeds, the digest, cards and the web app manifest show it.

use super::Vars;
use crate::error::Error;
use crate::profile;
use crate::text;
use serde::Serialize;
use serde_json::{Map, Value};

const NAME: &str = "SITE";
const MAX_LINKS: usize = 8;

/// The parts of the front page that may be left out.
const PARTS: [&str; 3] = ["events", "winners", "rules"];

/// The site, as a valid table. Without `SITE` it is empty: the site has no name, and its page shows every part.
///
/// | field | value |
/// |---|---|
/// | `name` | 1 to 60 characters |
/// | `description` | 1 to 200 characters about the leaderboard |
/// | `url` | `https` URL of the site |
/// | `logo` | `https` URL of a square picture |
/// | `accent` | colour of links and buttons: `#` and six hexadecimal digits |
/// | `links` | 1 to 8 links below each page, each with `text` (1 to 40 characters) and `url` (`https`) |
/// | `parts` | parts of the front page beside the boards: some of `events`, `winners`, `rules` |
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Branding(Map<String, Value>);

impl Branding {
    /// Parses the variable: a table.
    ///
    /// # Errors
    ///
    /// [`Error::Misconfigured`] names the first invalid field.
    pub fn parse(vars: &Vars) -> Result<Self, Error> {
        let table = vars.table(NAME)?.unwrap_or_default();
        for (field, value) in &table {
            let checked = match field.as_str() {
                "name" => check_line(value, 60),
                "description" => check_line(value, 200),
                "url" | "logo" => check_url(value),
                "accent" => check_colour(value),
                "links" => check_links(value),
                "parts" => check_parts(value),
                _ => {
                    Err("is none of name, description, url, logo, accent, links, parts".to_owned())
                }
            };
            checked.map_err(|detail| Error::Misconfigured(NAME, format!("{field} {detail}")))?;
        }
        Ok(Self(table))
    }

    /// Returns whether nothing is set.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the text of a field.
    #[must_use]
    pub fn text(&self, field: &str) -> Option<&str> {
        self.0.get(field)?.as_str()
    }

    /// Returns the name.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        self.text("name")
    }

    /// Returns the table as JSON.
    #[must_use]
    pub fn json(&self) -> String {
        serde_json::to_string(&self.0).unwrap_or_default()
    }
}

fn check_line(value: &Value, max_characters: usize) -> Result<(), String> {
    text::check(value.as_str().unwrap_or_default(), max_characters).map(|_| ())
}

fn check_url(value: &Value) -> Result<(), String> {
    profile::check_link(value.as_str().unwrap_or_default()).map(|_| ())
}

fn check_colour(value: &Value) -> Result<(), String> {
    let digits = value.as_str().and_then(|text| text.strip_prefix('#'));
    let is_colour =
        |text: &str| text.len() == 6 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    if digits.is_some_and(is_colour) {
        return Ok(());
    }
    Err("must be # and six hexadecimal digits, such as #00695c".to_owned())
}

fn check_links(value: &Value) -> Result<(), String> {
    let links = value.as_array().map_or(&[][..], Vec::as_slice);
    if !(1..=MAX_LINKS).contains(&links.len()) {
        return Err(format!("must be a list of 1 to {MAX_LINKS} tables"));
    }
    for link in links {
        let (Some(text), Some(url), Some(2)) = (
            link.get("text"),
            link.get("url"),
            link.as_object().map(Map::len),
        ) else {
            return Err("must have text and url each".to_owned());
        };
        check_line(text, 40).map_err(|detail| format!("have a text that {detail}"))?;
        check_url(url).map_err(|detail| format!("have a url that {detail}"))?;
    }
    Ok(())
}

fn check_parts(value: &Value) -> Result<(), String> {
    let parts = value.as_array().map(|parts| parts.iter());
    let is_part = |part: &Value| part.as_str().is_some_and(|part| PARTS.contains(&part));
    match parts.is_some_and(|mut parts| parts.all(is_part)) {
        true => Ok(()),
        false => Err(format!("must be a list of {}", PARTS.join(", "))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn parse(site: Value) -> Result<Branding, Error> {
        let vars = Map::from_iter([(NAME.to_owned(), site)]);
        Branding::parse(&Vars::new(vars))
    }

    #[test]
    fn complete_site_is_read() {
        let table = json!({
            "name": "Robotics forum",
            "description": "Who helps most.",
            "url": "https://forum.example",
            "logo": "https://forum.example/logo.png",
            "accent": "#7c3aed",
            "links": [{ "text": "Imprint", "url": "https://forum.example/imprint" }],
            "parts": ["rules", "events"],
        });
        let site = parse(table.clone()).unwrap();
        assert_eq!(site.name(), Some("Robotics forum"));
        assert_eq!(site.text("accent"), Some("#7c3aed"));
        assert_eq!(serde_json::from_str::<Value>(&site.json()).unwrap(), table);
        assert_eq!(parse(json!(table.to_string())).unwrap(), site);
    }

    #[test]
    fn site_is_optional() {
        let site = Branding::parse(&Vars::new(Map::new())).unwrap();
        assert_eq!(site, Branding::default());
        assert_eq!((site.name(), &*site.json()), (None, "{}"));
    }
}
