//! How user tokens are checked.

use super::Vars;
use crate::error::Error;

/// Below this an HS256 secret could be guessed (RFC 7518, 3.2).
const LEAST_SECRET_BYTES: usize = 32;

/// What user tokens must be; without a key nobody can have one.
#[derive(Clone, Debug, Default)]
pub struct Tokens {
    /// The secret of tokens signed by HS256.
    pub secret: Option<String>,
    /// Where the public keys are of tokens signed by RS256, ES256 or EdDSA.
    pub jwks_url: Option<String>,
    /// What `iss` must be.
    pub issuer: Option<String>,
    /// What `aud` must be, or be among.
    pub audience: Option<String>,
    /// The name of the claim that holds a user's groups.
    pub groups_claim: Option<String>,
}

impl Tokens {
    pub(super) fn read(vars: &Vars) -> Result<Self, Error> {
        Ok(Self {
            secret: secret(vars)?,
            jwks_url: jwks_url(vars)?,
            issuer: vars.text("JWT_ISSUER")?,
            audience: vars.text("JWT_AUDIENCE")?,
            groups_claim: vars.text("JWT_GROUPS_CLAIM")?,
        })
    }

    /// Whether users can have tokens at all.
    #[must_use]
    pub fn are_taken(&self) -> bool {
        self.secret.is_some() || self.jwks_url.is_some()
    }

    /// The names of the variables that are set.
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
        set.map(|(name, _)| *name).collect()
    }
}

fn secret(vars: &Vars) -> Result<Option<String>, Error> {
    const NAME: &str = "JWT_SECRET";
    let secret = vars.text(NAME)?;
    if secret
        .as_ref()
        .is_some_and(|secret| secret.len() < LEAST_SECRET_BYTES)
    {
        let way_out = format!("must be at least {LEAST_SECRET_BYTES} bytes");
        return Err(Error::Misconfigured(NAME, way_out));
    }
    Ok(secret)
}

/// What is fetched from it decides who is who, so nobody on the way may change it.
fn jwks_url(vars: &Vars) -> Result<Option<String>, Error> {
    const NAME: &str = "JWKS_URL";
    let Some(url) = vars.text(NAME)? else {
        return Ok(None);
    };
    let (scheme, rest) = url.split_once("://").unwrap_or_default();
    let authority = rest.split(['/', '?', '#', '\\']).next().unwrap_or_default();
    let host = authority.split(':').next().unwrap_or_default();
    let local = ["localhost", "127.0.0.1"].contains(&host);
    let secure = scheme == "https" || (scheme == "http" && local);
    if !secure || host.is_empty() || authority.contains('@') {
        let way_out = "must begin with https://, or http://localhost, and name no user".to_owned();
        return Err(Error::Misconfigured(NAME, way_out));
    }
    Ok(Some(url))
}
