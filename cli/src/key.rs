//! The service key, which no output ever shows.

use std::convert::Infallible;
use std::fmt;
use std::str::FromStr;

use reqwest::header::HeaderValue;

use crate::failure::Failure;

/// A service key. It has no `Display`, and its `Debug` is a placeholder.
#[derive(Clone)]
pub struct Key(String);

impl Key {
    /// The `Authorization` header; none for an empty key, which is what an unset variable often is.
    ///
    /// # Errors
    ///
    /// [`Failure::Usage`] if the key holds characters no header can carry.
    pub fn authorization(&self) -> Result<Option<HeaderValue>, Failure> {
        let key = self.0.trim();
        if key.is_empty() {
            return Ok(None);
        }
        let mut header = HeaderValue::from_str(&format!("Bearer {key}")).map_err(|_| {
            Failure::Usage("the key holds characters no header can carry".to_owned())
        })?;
        header.set_sensitive(true);
        Ok(Some(header))
    }
}

/// Never fails, as the parser of the arguments would print what it could not read.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_does_not_show_itself() -> Result<(), Box<dyn std::error::Error>> {
        let key: Key = "s3cret".parse()?;
        let header = key.authorization()?.ok_or("no header")?;
        assert_eq!(format!("{key:?} {header:?}"), "Key(hidden) Sensitive");
        Ok(())
    }

    #[test]
    fn an_empty_key_is_no_key() -> Result<(), Box<dyn std::error::Error>> {
        let key: Key = " \n".parse()?;
        assert!(key.authorization()?.is_none());
        Ok(())
    }

    #[test]
    fn a_key_no_header_can_carry_is_refused_without_being_shown()
    -> Result<(), Box<dyn std::error::Error>> {
        let key: Key = "s3\ncret".parse()?;
        let failure = key.authorization().err().ok_or("was accepted")?;
        assert_eq!(
            failure.to_string(),
            "the key holds characters no header can carry"
        );
        Ok(())
    }
}
