//! Who is calling.

use crate::config::Config;
use crate::error::Error;
use subtle::{Choice, ConstantTimeEq};

/// A caller who may do more than read public answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Caller {
    /// A trusted service, known by its key.
    Service,
}

impl Caller {
    /// The caller that an `Authorization` header proves.
    ///
    /// # Errors
    ///
    /// [`Error::Unauthenticated`] where it proves none.
    pub fn identify(authorization: Option<&str>, config: &Config) -> Result<Self, Error> {
        if config.service_keys.is_empty() {
            let closed = "No service key is configured, so nobody may do this.";
            return Err(Error::Unauthenticated(closed));
        }
        let token = authorization.and_then(|header| {
            let (scheme, token) = header.split_once(' ')?;
            scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
        });
        let Some(token) = token else {
            let how = "Send the header Authorization: Bearer <service key>.";
            return Err(Error::Unauthenticated(how));
        };
        // Every key is compared to its end: the time taken tells nothing about them.
        let same = |key: &String| key.as_bytes().ct_eq(token.as_bytes());
        let known = config
            .service_keys
            .iter()
            .map(same)
            .fold(Choice::from(0), |a, b| a | b);
        if known.into() {
            Ok(Self::Service)
        } else {
            Err(Error::Unauthenticated("This service key is not known."))
        }
    }
}
