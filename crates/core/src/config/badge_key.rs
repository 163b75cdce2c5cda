//! `BADGE_KEY` and `BADGE_ISSUER`: the keys of credentials, and their issuer.

use super::{Vars, origins};
use crate::error::Error;
use crate::shard::fnv_64;
use serde_json::Value;

const NAME: &str = "BADGE_KEY";
const ISSUER: &str = "BADGE_ISSUER";

/// The characters of the shortest RSA modulus, 2,048 bits in base64url.
const MIN_MODULUS: usize = 342;

/// The keys of credentials: the one that signs, and earlier ones, whose signatures stay verifiable.
#[derive(Clone, Debug)]
pub struct BadgeKey {
    /// The private key that signs, as a JWK.
    pub private: String,
    /// The public keys. The first is that of the private key.
    pub public: Vec<PublicKey>,
    /// The origin of the deployment in credentials. A request may name any host.
    pub issuer: String,
}

/// A public key of credentials.
#[derive(Clone, Debug)]
pub struct PublicKey {
    /// A hash of the key.
    pub id: String,
    /// The algorithm of its signatures.
    pub algorithm: &'static str,
    /// The key as a JWK.
    pub jwk: String,
}

impl BadgeKey {
    /// Parses the variables: a private key as a JWK, or a key set whose first key is one, and an origin.
    ///
    /// # Errors
    ///
    /// [`Error::Misconfigured`].
    pub(super) fn parse(vars: &Vars) -> Result<Option<Self>, Error> {
        let remedy = "must be a private key as a JWK, or a list of keys whose first one is: RSA of 2048 bits or more, \
             P-256 or Ed25519";
        let error = || Error::Misconfigured(NAME, remedy.to_owned());
        let Some(mut set) = vars.table(NAME).map_err(|_| error())? else {
            return Ok(None);
        };
        let keys = match set.remove("keys") {
            Some(Value::Array(keys)) => keys,
            Some(_) => return Err(error()),
            None => vec![Value::Object(set)],
        };
        let public: Option<Vec<_>> = keys.iter().map(public).collect();
        let private = keys.into_iter().next().and_then(private);
        let (Some(private), Some(public)) = (private, public) else {
            return Err(error());
        };
        let issuer = vars.text(ISSUER)?.unwrap_or_default();
        let issuer = origins::normal_form(&issuer).filter(|origin| origin.starts_with("http"));
        let remedy = "must be the origin of this deployment such as https://rank.example.com: each credential names it";
        let issuer = issuer.ok_or_else(|| Error::Misconfigured(ISSUER, remedy.to_owned()))?;
        Ok(Some(Self {
            private,
            public,
            issuer,
        }))
    }
}

/// Returns a private key without the fields that restrict its use: the platform refuses a key for other uses.
fn private(key: Value) -> Option<String> {
    let Value::Object(mut key) = key else {
        return None;
    };
    key.get("d")?.as_str()?;
    for field in ["alg", "ext", "key_ops", "kid", "use"] {
        key.remove(field);
    }
    Some(Value::Object(key).to_string())
}

/// Returns the public part of a key.
fn public(key: &Value) -> Option<PublicKey> {
    let text = |field: &str| key.get(field).and_then(Value::as_str);
    let (algorithm, fields): (_, &[&str]) = match (text("kty")?, text("crv")) {
        ("RSA", _) if text("n")?.len() >= MIN_MODULUS => ("RS256", &["kty", "n", "e"]),
        ("EC", Some("P-256")) => ("ES256", &["kty", "crv", "x", "y"]),
        ("OKP", Some("Ed25519")) => ("EdDSA", &["kty", "crv", "x"]),
        _ => return None,
    };
    let mut jwk = String::new();
    for field in fields {
        let value = text(field).filter(|value| is_plain(value))?;
        jwk.push_str(&format!("\"{field}\":\"{value}\","));
    }
    let id = format!("{:016x}", fnv_64(&[&jwk]));
    let jwk = format!("{{{jwk}\"alg\":\"{algorithm}\",\"kid\":\"{id}\"}}");
    Some(PublicKey { id, algorithm, jwk })
}

/// Returns whether a text has only the characters of base64url.
fn is_plain(text: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
    !text.is_empty() && text.bytes().all(allowed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn parse(value: &Value) -> Result<Option<BadgeKey>, Error> {
        parse_with(value, "https://rank.example.com:443")
    }

    fn parse_with(value: &Value, issuer: &str) -> Result<Option<BadgeKey>, Error> {
        let vars = json!({ "BADGE_KEY": value, "BADGE_ISSUER": issuer });
        BadgeKey::parse(&Vars::new(vars.as_object().unwrap().clone()))
    }

    fn ed(x: &str) -> Value {
        json!({"kty": "OKP", "crv": "Ed25519", "x": x, "d": "secret"})
    }

    #[test]
    fn public_keys_have_no_private_fields() {
        let mut first = ed("AA");
        first["key_ops"] = json!(["sign"]);
        first["kid"] = json!("own");
        let rsa =
            json!({"kty": "RSA", "n": "A".repeat(342), "e": "AQAB", "d": "secret", "p": "secret"});
        let ec = json!({"kty": "EC", "crv": "P-256", "x": "AA", "y": "AA"});
        let keys = parse(&json!({"keys": [first, rsa, ec]})).unwrap().unwrap();
        let private: Value = serde_json::from_str(&keys.private).unwrap();
        assert_eq!(private, ed("AA"));
        let fields = keys.public.iter().map(|key| {
            let jwk: Value = serde_json::from_str(&key.jwk).unwrap();
            let jwk = jwk.as_object().unwrap();
            assert_eq!(
                (&jwk["kid"], &jwk["alg"]),
                (&json!(key.id), &json!(key.algorithm))
            );
            let names: Vec<&str> = jwk.keys().map(String::as_str).collect();
            (names.join(" "), key.algorithm)
        });
        assert_eq!(
            fields.collect::<Vec<_>>(),
            [
                ("alg crv kid kty x".to_owned(), "EdDSA"),
                ("alg e kid kty n".to_owned(), "RS256"),
                ("alg crv kid kty x y".to_owned(), "ES256"),
            ]
        );
    }

    #[test]
    fn key_without_set_is_the_only_one() {
        let keys = parse(&ed("AA")).unwrap().unwrap();
        assert_eq!(keys.public.len(), 1);
        let other = parse(&ed("AB")).unwrap().unwrap();
        assert_ne!(keys.public[0].id, other.public[0].id);
        assert!(parse(&json!("")).unwrap().is_none());
    }

    #[test]
    fn other_keys_are_rejected() {
        for invalid in [
            json!("secret"),
            json!({}),
            json!({"keys": []}),
            json!({"keys": 1}),
            json!({"keys": [1]}),
            json!({"keys": [ed("AA"), {}]}),
            json!({"kty": "OKP", "crv": "Ed25519", "x": "AA"}),
            json!({"kty": "OKP", "crv": "Ed25519", "x": "A\"A", "d": "AA"}),
            json!({"kty": "OKP", "crv": "X25519", "x": "AA", "d": "AA"}),
            json!({"kty": "EC", "crv": "P-256", "x": "AA", "d": "AA"}),
            json!({"kty": "RSA", "n": "A".repeat(341), "e": "AQAB", "d": "AA"}),
        ] {
            assert!(parse(&invalid).is_err(), "{invalid}");
        }
    }

    #[test]
    fn issuer_is_an_origin() {
        let key = parse(&ed("AA")).unwrap().unwrap();
        assert_eq!(key.issuer, "https://rank.example.com");
        for issuer in [
            "",
            "rank.example.com",
            "https://rank.example.com/",
            "ftp://a",
        ] {
            let error = parse_with(&ed("AA"), issuer).unwrap_err();
            assert!(
                matches!(error, Error::Misconfigured("BADGE_ISSUER", _)),
                "{issuer}"
            );
        }
    }
}
