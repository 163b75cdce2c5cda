//! Secrets: the service key, which is never printed, and environment variables.

use std::convert::Infallible;
use std::env::{self, VarError};
use std::fmt;
use std::str::FromStr;

use reqwest::header::HeaderValue;

use crate::failure::Failure;

/// A service key. It has no `Display`, and its `Debug` is a placeholder.
#[derive(Clone)]
pub struct Key(String);

impl Key {
    /// Returns the `Authorization` header, or `None` for an empty key: unset variables are often empty.
    ///
    /// # Errors
    ///
    /// Returns [`Failure::Usage`] if the key contains characters that are invalid in a header.
    pub fn authorization(&self) -> Result<Option<HeaderValue>, Failure> {
        let key = self.0.trim();
        if key.is_empty() {
            return Ok(None);
        }
        let mut header = HeaderValue::from_str(&format!("Bearer {key}")).map_err(|_| {
            Failure::Usage("the key contains characters that are invalid in a header".to_owned())
        })?;
        header.set_sensitive(true);
        Ok(Some(header))
    }
}

/// Never fails, because clap would print the invalid value in its error.
impl FromStr for Key {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Ok(Self(text.to_owned()))
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(hidden)")
    }
}

/// Returns the trimmed value of the environment variable that has `secret`, such as "the token of
/// the store". Secrets are no arguments, because process lists show arguments.
///
/// # Errors
///
/// Returns [`Failure::Usage`] if the variable is not set, empty, or not UTF-8.
pub fn secret_variable(name: &str, secret: &str) -> Result<String, Failure> {
    match env::var(name) {
        Ok(value) if !value.trim().is_empty() => Ok(value.trim().to_owned()),
        Ok(_) | Err(VarError::NotPresent) => Err(Failure::Usage(format!(
            "set the variable {name} to {secret}"
        ))),
        Err(VarError::NotUnicode(_)) => Err(Failure::Usage(format!("{name} is not UTF-8"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn key_is_hidden_in_debug_output() -> Result<(), Box<dyn std::error::Error>> {
        let key: Key = "s3cret".parse()?;
        let header = key.authorization()?.ok_or("no header")?;
        assert_eq!(format!("{key:?} {header:?}"), "Key(hidden) Sensitive");
        Ok(())
    }

    #[test]
    fn empty_key_sends_no_header() -> Result<(), Box<dyn std::error::Error>> {
        let key: Key = " \n".parse()?;
        assert!(key.authorization()?.is_none());
        Ok(())
    }

    #[test]
    fn invalid_key_is_refused_and_not_printed() -> Result<(), Box<dyn std::error::Error>> {
        let key: Key = "s3\ncret".parse()?;
        let failure = key.authorization().err().ok_or("was accepted")?;
        let expected = "the key contains characters that are invalid in a header";
        assert_eq!(failure.to_string(), expected);
        Ok(())
    }
}
