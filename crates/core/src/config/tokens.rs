//! The settings for user tokens.

use super::Vars;
use super::user_ids::{self, UserIds};
use crate::error::Error;
use serde_json::{Map, Value};

const REQUIRED: &str = "JWT_REQUIRED";

/// Minimum length of an HS256 secret (RFC 7518, 3.2).
pub(super) const MIN_SECRET_BYTES: usize = 32;

/// How user tokens are verified. Without a secret or a key set, user tokens are disabled.
#[derive(Clone, Debug, Default)]
pub struct Tokens {
    /// The shared secret of tokens signed with HS256.
    pub secret: Option<String>,
    /// The URL of the key set for tokens signed with public keys.
    pub jwks_url: Option<String>,
    /// The required value of `iss`.
    pub issuer: Option<String>,
    /// The required value of `aud`, or one of its values if `aud` is an array.
    pub audience: Option<String>,
    /// The name of the claim that contains the groups of the user.
    pub groups_claim: Option<String>,
    /// Claims that a token must have: a value, or a list or words with the value.
    pub required: Map<String, Value>,
    /// The user id that a token stands for.
    pub user_ids: UserIds,
}

impl Tokens {
    pub(super) fn parse(vars: &Vars) -> Result<Self, Error> {
        Ok(Self {
            secret: secret(vars)?,
            jwks_url: jwks_url(vars)?,
            issuer: vars.text("JWT_ISSUER")?,
            audience: vars.text("JWT_AUDIENCE")?,
            groups_claim: vars.text("JWT_GROUPS_CLAIM")?,
            required: required(vars)?,
            user_ids: UserIds::parse(vars)?,
        })
    }

    /// Returns whether user tokens can be verified.
    #[must_use]
    pub fn are_enabled(&self) -> bool {
        self.secret.is_some() || self.jwks_url.is_some()
    }

    /// Returns the names of the variables that are set.
    #[must_use]
    pub fn configured(&self) -> Vec<&'static str> {
        let variables = [
            ("JWT_SECRET", &self.secret),
            ("JWKS_URL", &self.jwks_url),
            ("JWT_ISSUER", &self.issuer),
            ("JWT_AUDIENCE", &self.audience),
            ("JWT_GROUPS_CLAIM", &self.groups_claim),
        ];
        let set = variables.iter().filter(|(_, value)| value.is_some());
        let tables = [
            (REQUIRED, !self.required.is_empty()),
            (user_ids::NAME, self.user_ids != UserIds::default()),
        ];
        let tables = tables.into_iter().filter(|(_, is_set)| *is_set);
        let names = set.map(|(name, _)| *name);
        names.chain(tables.map(|(name, _)| name)).collect()
    }
}

fn required(vars: &Vars) -> Result<Map<String, Value>, Error> {
    let required = vars.table(REQUIRED)?.unwrap_or_default();
    let is_plain = |value: &Value| value.is_string() || value.is_boolean() || value.is_i64();
    if let Some((name, _)) = required.iter().find(|(_, value)| !is_plain(value)) {
        let remedy = format!("'{name}' must be a text, an integer, true or false");
        return Err(Error::Misconfigured(REQUIRED, remedy));
    }
    Ok(required)
}

fn secret(vars: &Vars) -> Result<Option<String>, Error> {
    const NAME: &str = "JWT_SECRET";
    let secret = vars.text(NAME)?;
    if secret
        .as_ref()
        .is_some_and(|secret| secret.len() < MIN_SECRET_BYTES)
    {
        let remedy = format!("must be at least {MIN_SECRET_BYTES} bytes");
        return Err(Error::Misconfigured(NAME, remedy));
    }
    Ok(secret)
}

/// Parses the URL of the key set.
///
/// The key set decides which tokens are valid. Plain HTTP is allowed only on localhost: elsewhere
/// the key set could be replaced in transit.
fn jwks_url(vars: &Vars) -> Result<Option<String>, Error> {
    const NAME: &str = "JWKS_URL";
    let Some(url) = vars.text(NAME)? else {
        return Ok(None);
    };
    if secure_authority(&url).is_none() {
        let remedy = "must begin with https://, or http://localhost, and name no user".to_owned();
        return Err(Error::Misconfigured(NAME, remedy));
    }
    Ok(Some(url))
}

/// Returns host and port of a URL with HTTPS, or with HTTP on this machine; `None` for any other URL, and for one
/// that names a user.
pub(super) fn secure_authority(url: &str) -> Option<&str> {
    let (scheme, rest) = url.split_once("://")?;
    let authority = rest.split(['/', '?', '#', '\\']).next()?;
    let host = authority.split(':').next().unwrap_or_default();
    let local = ["localhost", "127.0.0.1"].contains(&host);
    let secure = scheme == "https" || (scheme == "http" && local);
    (secure && !host.is_empty() && !authority.contains('@')).then_some(authority)
}
