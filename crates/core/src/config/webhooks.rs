//! `WEBHOOKS`: the servers that receive messages.

use super::tokens::secure_authority;
use super::{ACHIEVEMENT_EARNED, Vars};
use crate::error::Error;
use crate::shard::fnv_64;
use serde_json::{Map, Value};
use std::ops::RangeInclusive;

pub(super) const NAME: &str = "WEBHOOKS";
const MAX_ENDPOINTS: usize = 10;

/// The kinds of messages that an endpoint may list. `moderation.*` are several.
const KINDS: [&str; 9] = [
    "period.closed",
    "event.final",
    LEVEL_REACHED,
    ACHIEVEMENT_EARNED,
    "member.joined",
    "moderation.*",
    CASE_OPENED,
    CASE_DECIDED,
    "journal.lagging",
];

/// The kind of a message about a member who has reached a level.
pub const LEVEL_REACHED: &str = "level.reached";

/// The kind of a message about a case that opens.
pub const CASE_OPENED: &str = "case.opened";

/// The kind of a message about a moderator's decision on a case.
pub const CASE_DECIDED: &str = "case.decided";

/// The prefix of a signing secret in base64 (Standard Webhooks).
const SECRET_PREFIX: &str = "whsec_";

/// Bytes of a signing secret (Standard Webhooks).
const SECRET_BYTES: RangeInclusive<usize> = 24..=64;

/// A server that receives messages.
#[derive(Clone, Debug)]
pub struct Endpoint {
    /// Host and port, a space, and a hash of the URL.
    pub name: String,
    /// The URL, which may be a secret.
    pub url: String,
    /// The signing secret in base64; empty for none.
    pub secret: String,
    kinds: Vec<String>,
}

/// The endpoints; empty if there are none.
#[derive(Clone, Debug, Default)]
pub struct Webhooks(Vec<Endpoint>);

impl Webhooks {
    /// Parses the variable: a list of objects.
    ///
    /// # Errors
    ///
    /// [`Error::Misconfigured`] identifies the first invalid endpoint by its number, because its texts may be
    /// secrets.
    pub fn parse(vars: &Vars) -> Result<Self, Error> {
        let mut endpoints: Vec<Endpoint> = Vec::new();
        let Some(list) = vars.list(NAME)? else {
            return Ok(Self::default());
        };
        let error = |remedy| Error::Misconfigured(NAME, remedy);
        if !(1..=MAX_ENDPOINTS).contains(&list.len()) {
            return Err(error(format!("must have 1 to {MAX_ENDPOINTS} endpoints")));
        }
        for (number, value) in (1..).zip(list) {
            let endpoint = value.as_object().map_or_else(
                || Err("must be a table with url, secret and kinds".to_owned()),
                Endpoint::parse,
            );
            let endpoint = endpoint.map_err(|detail| error(format!("number {number} {detail}")))?;
            if endpoints.iter().any(|other| other.url == endpoint.url) {
                let remedy = format!("number {number} has a URL that is there already");
                return Err(error(remedy));
            }
            endpoints.push(endpoint);
        }
        Ok(Self(endpoints))
    }

    /// Returns the endpoints.
    #[must_use]
    pub fn endpoints(&self) -> &[Endpoint] {
        &self.0
    }

    /// Returns whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns whether an endpoint wants messages of a kind, as `kinds` lists it.
    #[must_use]
    pub fn want(&self, kind: &str) -> bool {
        let mut kinds = self.0.iter().flat_map(|endpoint| &endpoint.kinds);
        kinds.any(|wanted| wanted == kind)
    }

    /// Returns `[name, kind]` of each endpoint and each kind that it wants, as a JSON array.
    #[must_use]
    pub fn wanted(&self) -> String {
        let mut pairs = Vec::new();
        for Endpoint { name, kinds, .. } in &self.0 {
            pairs.extend(kinds.iter().map(|kind| Value::from(vec![&**name, kind])));
        }
        Value::Array(pairs).to_string()
    }
}

impl Endpoint {
    /// Parses an endpoint. Returns what is invalid, without its text.
    fn parse(fields: &Map<String, Value>) -> Result<Self, String> {
        let known = |name: &String| ["url", "secret", "kinds"].contains(&name.as_str());
        if !fields.keys().all(known) {
            return Err("has an unknown field; expected url, secret, kinds".to_owned());
        }
        let text = |name| fields.get(name).and_then(Value::as_str).unwrap_or_default();
        let url = text("url");
        let authority = secure_authority(url)
            .filter(|_| url.bytes().all(|byte| byte.is_ascii_graphic()))
            .ok_or(
                "must have a url that begins with https://, or http://localhost, and names no user",
            )?;
        let secret = match fields.get("secret") {
            None if is_chat(url) => "",
            _ => base64_secret(text("secret")).ok_or(
                "must have a secret: whsec_ and the base64 of 24 to 64 bytes, from: \
                 echo whsec_$(openssl rand -base64 32)",
            )?,
        };
        Ok(Self {
            name: format!("{authority} {:016x}", fnv_64(&[url])),
            url: url.to_owned(),
            secret: secret.to_owned(),
            kinds: kinds(fields.get("kinds"))?,
        })
    }
}

/// Returns whether a URL is one of Discord or Slack, which check no signature. `src/platform/webhooks.js` writes messages
/// to them as they expect.
fn is_chat(url: &str) -> bool {
    let chats = [
        "https://discord.com/api/webhooks/",
        "https://hooks.slack.com/",
    ];
    chats.into_iter().any(|chat| url.starts_with(chat))
}

fn kinds(value: Option<&Value>) -> Result<Vec<String>, String> {
    let Some(value) = value else {
        return Ok(KINDS.map(str::to_owned).to_vec());
    };
    let listed = value.as_array().map_or(&[][..], Vec::as_slice).iter();
    let known = listed.map(|kind| kind.as_str().filter(|kind| KINDS.contains(kind)));
    let kinds: Option<Vec<String>> = known.map(|kind| kind.map(str::to_owned)).collect();
    kinds
        .filter(|kinds| !kinds.is_empty())
        .ok_or_else(|| format!("must have kinds among {}", KINDS.join(", ")))
}

/// Returns the base64 of a signing secret.
fn base64_secret(secret: &str) -> Option<&str> {
    let text = secret.strip_prefix(SECRET_PREFIX)?;
    let digits = text.trim_end_matches('=');
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'+' || byte == b'/';
    let is_base64 =
        text.len() % 4 == 0 && text.len() - digits.len() <= 2 && digits.bytes().all(allowed);
    let bytes = digits.len() * 3 / 4;
    (is_base64 && SECRET_BYTES.contains(&bytes)).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
    const BASE64: &str = "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

    fn parse(value: Value) -> Result<Webhooks, Error> {
        let vars = json!({ NAME: value });
        Webhooks::parse(&Vars::new(vars.as_object().unwrap().clone()))
    }

    #[test]
    fn chats_need_no_secret() {
        let webhooks = parse(json!([
            {"url": "https://example.com:8443/hook?a", "secret": SECRET, "kinds": ["period.closed"]},
            {"url": "https://discord.com/api/webhooks/1/token"},
            {"url": "https://hooks.slack.com/services/T/B/x", "secret": SECRET},
            {"url": "http://127.0.0.1:9/", "secret": SECRET},
        ]));
        let webhooks = webhooks.unwrap();
        let name = &webhooks.endpoints()[0].name;
        assert!(
            name.starts_with("example.com:8443 ") && name.len() == 33,
            "{name}"
        );
        assert_eq!(webhooks.endpoints()[0].secret, BASE64);
        assert!(webhooks.want("moderation.*") && !webhooks.want("moderation.hidden"));
        assert!(webhooks.wanted().contains(r#""moderation.*"]"#));
    }

    #[test]
    fn unset_variable_has_no_endpoint() {
        assert!(parse(json!(null)).unwrap().is_empty());
        assert!(parse(json!("")).unwrap().is_empty());
        let text = format!(r#"[{{"url":"https://a.example","secret":"{SECRET}"}}]"#);
        let webhooks = parse(json!(text)).unwrap();
        assert_eq!(webhooks.endpoints().len(), 1);
    }

    #[test]
    fn error_of_invalid_endpoint_omits_its_texts() {
        let endpoint = |name: &str, value: Value| {
            let mut endpoint = json!({"url": "https://s3cret.example", "secret": SECRET});
            endpoint[name] = value;
            endpoint
        };
        let short = "whsec_czNjcmV0";
        for endpoint in [
            endpoint("url", json!("http://s3cret.example")),
            endpoint("url", json!("https://s3cret@a.example")),
            endpoint("url", json!("https://s3cret.example/ a")),
            endpoint("url", json!(1)),
            endpoint("secret", json!(null)),
            endpoint("secret", json!("s3cret")),
            endpoint("secret", json!(short)),
            endpoint("secret", json!(BASE64)),
            endpoint("secret", json!(format!("{SECRET}="))),
            endpoint("kinds", json!([])),
            endpoint("kinds", json!("period.closed")),
            endpoint("kinds", json!(["period.closed", "s3cret"])),
            endpoint("kinds", json!(["s3cret", "period.closed"])),
            endpoint("s3cret", json!(1)),
            json!("s3cret"),
        ] {
            let Err(Error::Misconfigured(NAME, remedy)) = parse(json!([endpoint])) else {
                panic!("{endpoint} was accepted");
            };
            assert!(remedy.starts_with("number 1 "), "{remedy}");
            assert!(!remedy.contains("s3cret"), "{remedy}");
        }
        let endpoint = endpoint("kinds", json!(["period.closed"]));
        let remedy = "number 2 has a URL that is there already".to_owned();
        let error = Error::Misconfigured(NAME, remedy);
        assert_eq!(parse(json!([endpoint, endpoint])).err(), Some(error));
    }
}
