//! `VISITORS`: activity of readers without an account.

use super::rules::Rules;
use super::tokens::secure_authority;
use super::{MIN_SECRET_BYTES, Vars};
use crate::error::Error;

const NAME: &str = "VISITORS";
const KEY: &str = "VISITOR_KEY";
const TURNSTILE_URL: &str = "TURNSTILE_URL";

/// The service that checks the tokens of Turnstile.
const SITEVERIFY: &str = "https://challenges.cloudflare.com/turnstile/v0/siteverify";

/// The settings for readers without an account.
#[derive(Clone, Debug)]
pub struct Visitors {
    /// The actions that visitors may send, which are also counted by target.
    pub actions: Vec<String>,
    /// The secret that signs tokens.
    pub key: String,
    /// The most visitors of an address and day: 1 to 10,000.
    pub per_address: u32,
    /// How a new visitor is checked; `None` if they are not.
    pub turnstile: Option<Turnstile>,
}

/// The check of new visitors by Turnstile.
#[derive(Clone, Debug)]
pub struct Turnstile {
    /// The URL that checks a token.
    pub url: String,
    /// The secret key of the widget.
    pub secret: String,
}

impl Visitors {
    /// Parses the variables. `VISITORS` is `true`, `false`, or a list of actions.
    ///
    /// # Errors
    ///
    /// [`Error::Misconfigured`]; also without boards of content, which have what visitors give.
    pub(super) fn parse(
        vars: &Vars,
        rules: &Rules,
        has_content: bool,
    ) -> Result<Option<Self>, Error> {
        let error = |name, remedy: &str| Error::Misconfigured(name, remedy.to_owned());
        let actions = match vars.boolean(NAME) {
            Ok(None | Some(false)) => return Ok(None),
            Ok(Some(true)) => vec!["like".to_owned()],
            Err(_) => vars.words(NAME)?.unwrap_or_default(),
        };
        for action in &actions {
            let mut dated = rules.dated(action).peekable();
            if dated.peek().is_none() || dated.any(|(_, rule)| rule.service_only) {
                let remedy = format!("'{action}' is no action that users may send");
                return Err(Error::Misconfigured(NAME, remedy));
            }
        }
        if !has_content {
            return Err(error(NAME, "needs boards of content: set CONTENT_PERIODS"));
        }
        let key = vars.text(KEY)?.unwrap_or_default();
        if key.len() < MIN_SECRET_BYTES {
            return Err(error(KEY, "must be a secret of at least 32 bytes"));
        }
        let url = vars.text(TURNSTILE_URL)?;
        let url = url.unwrap_or_else(|| SITEVERIFY.to_owned());
        if secure_authority(&url).is_none() {
            let remedy = "must begin with https://, or http://localhost, and name no user";
            return Err(error(TURNSTILE_URL, remedy));
        }
        Ok(Some(Self {
            actions,
            key,
            per_address: vars
                .integer("VISITORS_PER_ADDRESS", 1..=10_000)?
                .unwrap_or(5),
            turnstile: vars
                .text("TURNSTILE_SECRET")?
                .map(|secret| Turnstile { url, secret }),
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::score::Layout;
    use serde_json::{Value, json};

    const SECRET: &str = "a secret of thirty-two bytes, ok?";

    fn parse(vars: &Value) -> Result<Option<Visitors>, Error> {
        let vars = Vars::new(vars.as_object().unwrap().clone());
        let rules = Rules::parse(&vars, Layout::DEFAULT, &|_| Err(Error::no_visitors()))?;
        Visitors::parse(&vars, &rules, true)
    }

    #[test]
    fn setting_names_actions() {
        for off in [json!({}), json!({"VISITORS": false, "VISITOR_KEY": 1})] {
            assert!(parse(&off).unwrap().is_none(), "{off}");
        }
        for (setting, actions) in [
            (json!(true), vec!["like"]),
            (json!("true"), vec!["like"]),
            (json!("like, bookmark"), vec!["like", "bookmark"]),
            (json!(["comment"]), vec!["comment"]),
        ] {
            let vars = json!({"VISITORS": setting, "VISITOR_KEY": SECRET});
            let visitors = parse(&vars).unwrap().unwrap();
            let expected = actions.iter().map(|a| (*a).to_owned()).collect();
            assert_eq!((visitors.actions, visitors.per_address), (expected, 5));
            assert!(visitors.turnstile.is_none());
        }
    }

    #[test]
    fn turnstile_has_the_default_url() {
        let vars = json!({"VISITORS": true, "VISITOR_KEY": SECRET, "TURNSTILE_SECRET": "s"});
        let turnstile = parse(&vars).unwrap().unwrap().turnstile.unwrap();
        assert_eq!([&*turnstile.url, &*turnstile.secret], [SITEVERIFY, "s"]);
    }
}
