//! User tokens: JWTs (RFC 7519) taken apart and checked. Whether a signature is right only the
//! platform's WebCrypto says, at the edge.

mod base64url;
mod claims;
pub mod keys;
mod member;

pub use member::Member;

use crate::calendar::Instant;
use crate::config::Tokens;
use crate::json;
use serde_json::{Map, Value};

/// A longer token is not even read.
const MOST_BYTES: usize = 8 * 1024;

/// A token taken apart; nothing in it is to be trusted before its signature was verified.
#[derive(Clone, Debug, PartialEq)]
pub struct Token<'a> {
    /// The algorithm that it claims. It chooses among the keys configured, never how one is used.
    pub algorithm: String,
    /// The id of the key that signed it, as it claims.
    pub key_id: Option<String>,
    /// What is signed.
    pub signed: &'a str,
    /// The signature, in base64url.
    pub signature: &'a str,
    claims: &'a str,
}

impl<'a> Token<'a> {
    /// Takes a token apart.
    ///
    /// # Errors
    ///
    /// Why it is none.
    pub fn parse(text: &'a str) -> Result<Self, &'static str> {
        if text.len() > MOST_BYTES {
            return Err("A user token is at most 8192 bytes.");
        }
        let parts = text.rsplit_once('.');
        let parts = parts.and_then(|(signed, signature)| {
            let (header, claims) = signed.split_once('.')?;
            (!claims.contains('.')).then_some((signed, header, claims, signature))
        });
        let Some((signed, header, claims, signature)) = parts else {
            return Err("This is neither a known service key nor a user token.");
        };
        let header = object(header).ok_or("The user token's header cannot be read.")?;
        // Extensions that must be understood: there are none here.
        if header.contains_key("crit") {
            return Err("The user token demands what is not known here (crit).");
        }
        if base64url::decode(signature).is_none() {
            return Err("The user token's signature cannot be read.");
        }
        Ok(Self {
            algorithm: text_of(&header, "alg").unwrap_or_default(),
            key_id: text_of(&header, "kid"),
            signed,
            signature,
            claims,
        })
    }

    /// The bearer of a token whose signature is right, if it holds now; `None` where its `sub` is
    /// not the id of a user.
    ///
    /// # Errors
    ///
    /// Why it does not hold.
    pub fn member(&self, tokens: &Tokens, now: Instant) -> Result<Option<Member>, &'static str> {
        let claims = object(self.claims).ok_or("The user token's claims cannot be read.")?;
        claims::check(&claims, tokens, now)?;
        Ok(Member::read(&claims, tokens.groups_claim.as_deref()))
    }
}

/// A part of a token: a JSON object in base64url.
fn object(part: &str) -> Option<Map<String, Value>> {
    match json::read(&base64url::decode(part)?) {
        Ok(Value::Object(fields)) => Some(fields),
        Ok(_) | Err(_) => None,
    }
}

fn text_of(object: &Map<String, Value>, name: &str) -> Option<String> {
    object.get(name)?.as_str().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    // {"alg":"HS256"} . {"sub":"42","exp":1900000000} . 0x01
    const HEADER: &str = "eyJhbGciOiJIUzI1NiJ9";
    const CLAIMS: &str = "eyJzdWIiOiI0MiIsImV4cCI6MTkwMDAwMDAwMH0";

    #[test]
    fn a_token_is_header_claims_and_signature() {
        let text = format!("{HEADER}.{CLAIMS}.AQ");
        let token = Token::parse(&text).unwrap();
        assert_eq!((token.algorithm.as_str(), token.signature), ("HS256", "AQ"));
        assert_eq!(token.signed, format!("{HEADER}.{CLAIMS}"));
        let member = token.member(&Tokens::default(), Instant(1_800_000_000_000));
        assert_eq!(member.unwrap().unwrap().id, "42");
    }

    #[test]
    fn other_numbers_of_parts_are_no_token() {
        let none = "This is neither a known service key nor a user token.";
        let more = format!("{HEADER}.{CLAIMS}.AQ.AQ");
        let five = format!("{HEADER}.{CLAIMS}.AQ.AQ.AQ");
        for text in ["", "a", "a.b", &more, &five] {
            assert_eq!(Token::parse(text), Err(none), "{text}");
        }
    }

    #[test]
    fn a_header_is_an_object_in_base64url() {
        let told = Err("The user token's header cannot be read.");
        // "", padding, not JSON, [], "HS256", an object and more, {"alg":"none","alg":"HS256"}.
        for header in [
            "",
            "eyJhbGciOiJIUzI1NiJ9=",
            "e30x",
            "W10",
            "IkhTMjU2Ig",
            "e317fQ",
            "eyJhbGciOiJub25lIiwiYWxnIjoiSFMyNTYifQ",
        ] {
            assert_eq!(
                Token::parse(&format!("{header}.{CLAIMS}.AQ")),
                told,
                "{header}"
            );
        }
        // {} and {"alg":1}: no algorithm.
        for header in ["e30", "eyJhbGciOjF9"] {
            let text = format!("{header}.{CLAIMS}.AQ");
            assert_eq!(Token::parse(&text).unwrap().algorithm, "");
        }
    }

    #[test]
    fn extensions_and_oversize_are_refused() {
        // {"alg":"HS256","crit":[]}
        let text = format!("eyJhbGciOiJIUzI1NiIsImNyaXQiOltdfQ.{CLAIMS}.AQ");
        let told = "The user token demands what is not known here (crit).";
        assert_eq!(Token::parse(&text), Err(told));
        let text = format!("{HEADER}.{}.AQ", "A".repeat(8192));
        assert_eq!(
            Token::parse(&text),
            Err("A user token is at most 8192 bytes.")
        );
    }

    #[test]
    fn claims_are_an_object_in_base64url() {
        for claims in [
            "",
            "W10",
            "NDI",
            "eyJzdWIiOiI0MiIsImV4cCI6MTkwMDAwMDAwMH0=",
            "e31",
            // {"sub":"42","sub":"7"}
            "eyJzdWIiOiI0MiIsInN1YiI6IjcifQ",
        ] {
            let text = format!("{HEADER}.{claims}.AQ");
            let member = Token::parse(&text)
                .unwrap()
                .member(&Tokens::default(), Instant(0));
            assert_eq!(
                member,
                Err("The user token's claims cannot be read."),
                "{claims}"
            );
        }
    }
}
