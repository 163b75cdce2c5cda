//! The key set (RFC 7517) that verifies user tokens, and when to fetch it.

use super::{base64url, string_field};
use crate::calendar::Instant;
use crate::json;
use serde_json::{Map, Value};

/// Age in milliseconds from which keys are fetched again, so that a revoked key soon becomes
/// invalid.
pub const FRESH: i64 = 600_000;
/// Minimum time in milliseconds between two fetches while there are keys.
const FETCH_INTERVAL: i64 = 60_000;
/// Minimum time in milliseconds between two fetches while there are no keys.
const RETRY_INTERVAL: i64 = 1_000;
/// Minimum length of an RSA modulus (RFC 7518, 3.3).
const MIN_RSA_BYTES: usize = 256;

/// Maximum number of keys that are tried for one token: each costs the verification of a signature.
const MAX_TRIED: usize = 8;
/// The algorithms of RSA keys that do not name one.
const RSA: [&str; 6] = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512"];
/// Two names of one algorithm (RFC 9864).
const ED25519: [&str; 2] = ["EdDSA", "Ed25519"];
const ES256: [&str; 1] = ["ES256"];
const ES384: [&str; 1] = ["ES384"];
const ES512: [&str; 1] = ["ES512"];

/// Returns whether a public key can verify an algorithm.
#[must_use]
pub fn is_supported(algorithm: &str) -> bool {
    [&RSA[..], &ED25519, &ES256, &ES384, &ES512]
        .concat()
        .contains(&algorithm)
}

/// A public key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    /// The algorithms of its signatures; type and `alg` of the key decide them, not the token.
    algorithms: &'static [&'static str],
    /// The public parameters as JSON.
    pub jwk: String,
    id: Option<String>,
}

/// Parses the usable keys of a key set, in their order; `None` if there are none.
#[must_use]
pub fn read(text: &str) -> Option<Vec<Key>> {
    let set = json::read(text.as_bytes()).ok()?;
    let keys = set.get("keys")?.as_array()?;
    let keys: Vec<Key> = keys
        .iter()
        .filter_map(|key| parse_key(key.as_object()?))
        .collect();
    (!keys.is_empty()).then_some(keys)
}

fn parse_key(jwk: &Map<String, Value>) -> Option<Key> {
    let text = |name: &str| jwk.get(name).and_then(Value::as_str);
    let kty = text("kty")?;
    let (mut algorithms, parts): (&'static [&str], &[&str]) = match (kty, text("crv")) {
        ("RSA", _) => (&RSA, &["kty", "n", "e"]),
        ("EC", Some("P-256")) => (&ES256, &["kty", "crv", "x", "y"]),
        ("EC", Some("P-384")) => (&ES384, &["kty", "crv", "x", "y"]),
        ("EC", Some("P-521")) => (&ES512, &["kty", "crv", "x", "y"]),
        ("OKP", Some("Ed25519")) => (&ED25519, &["kty", "crv", "x"]),
        _ => return None,
    };
    if let Some(alg) = jwk.get("alg") {
        let index = algorithms.iter().position(|name| alg == name)?;
        if kty == "RSA" {
            algorithms = algorithms.get(index..=index)?;
        }
    }
    let other_use = jwk.get("use").is_some_and(|usage| usage != "sig");
    let cannot_verify = jwk.get("key_ops").is_some_and(|ops| {
        !ops.as_array()
            .is_some_and(|ops| ops.iter().any(|op| op == "verify"))
    });
    let short = kty == "RSA" && base64url::decode(text("n")?)?.len() < MIN_RSA_BYTES;
    if other_use || cannot_verify || short {
        return None;
    }
    let mut public = Map::new();
    for part in parts {
        public.insert((*part).to_owned(), text(part)?.into());
    }
    Some(Key {
        algorithms,
        jwk: Value::Object(public).to_string(),
        id: string_field(jwk, "kid"),
    })
}

/// The current keys, and the times of the last fetches.
#[derive(Debug, Default)]
pub struct KeySet {
    keys: Vec<Key>,
    loaded_at: i64,
    fetched_at: i64,
}

impl KeySet {
    /// Returns the keys that may have signed a token, at most 8: those of its algorithm
    /// with its key id, or all of its algorithm if it has no key id.
    #[must_use]
    pub fn find(&self, algorithm: &str, id: Option<&str>) -> Vec<Key> {
        let matches = |key: &&Key| {
            key.algorithms.contains(&algorithm) && (id.is_none() || key.id.as_deref() == id)
        };
        let matching = self.keys.iter().filter(matches);
        matching.take(MAX_TRIED).cloned().collect()
    }

    /// Returns whether there are no keys.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// Returns whether the keys should be fetched before the next lookup.
    #[must_use]
    pub fn is_due(&self, now: Instant) -> bool {
        let old = now.0 - self.loaded_at >= FRESH;
        self.is_empty() || (old && self.may_fetch(now))
    }

    /// Returns whether enough time has passed since the last fetch.
    #[must_use]
    pub fn may_fetch(&self, now: Instant) -> bool {
        let interval = if self.is_empty() {
            RETRY_INTERVAL
        } else {
            FETCH_INTERVAL
        };
        now.0 - self.fetched_at >= interval
    }

    /// Records the start of a fetch.
    pub fn record_fetch(&mut self, now: Instant) {
        self.fetched_at = now.0;
    }

    /// Replaces the keys.
    pub fn replace(&mut self, keys: Vec<Key>, now: Instant) {
        self.keys = keys;
        self.loaded_at = now.0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn ed(id: &str) -> Value {
        json!({"kty": "OKP", "crv": "Ed25519", "x": "AA", "kid": id})
    }

    fn ed_with(name: &str, value: Value) -> Value {
        let mut key = ed("a");
        key[name] = value;
        key
    }

    fn keys(set: &[Value]) -> Option<Vec<Key>> {
        read(&json!({"keys": set}).to_string())
    }

    #[test]
    fn key_type_decides_algorithm() {
        let n = "A".repeat(342) + "AA";
        let rsa = json!({"kty": "RSA", "n": n, "e": "AQAB", "d": "secret", "kid": "r"});
        let ec = json!({"kty": "EC", "crv": "P-256", "x": "AA", "y": "AA", "alg": "ES256"});
        let ps384 = json!({"kty": "RSA", "n": n, "e": "AQAB", "alg": "PS384"});
        let p384 = json!({"kty": "EC", "crv": "P-384", "x": "AA", "y": "AA"});
        let p521 = json!({"kty": "EC", "crv": "P-521", "x": "AA", "y": "AA"});
        let ed25519 = ed_with("alg", json!("Ed25519"));
        let read = keys(&[rsa, ec, ed("a"), ed25519, ps384, p384, p521]).unwrap();
        let algorithms: Vec<&[&str]> = read.iter().map(|key| key.algorithms).collect();
        let expected: [&[&str]; 7] = [&RSA, &ES256, &ED25519, &ED25519, &["PS384"], &ES384, &ES512];
        assert_eq!(algorithms, expected);
        assert!(expected.concat().iter().all(|name| is_supported(name)));
        assert!(
            ["", "none", "HS256", "HS512", "ES256K"]
                .iter()
                .all(|name| !is_supported(name))
        );
        assert!(!read[0].jwk.contains("secret"), "{}", read[0].jwk);
    }

    #[test]
    fn unusable_keys_are_skipped() {
        let unusable = [
            json!(null),
            json!({}),
            json!({"kty": "oct", "k": "AA"}),
            json!({"kty": "EC", "crv": "secp256k1", "x": "AA", "y": "AA"}),
            json!({"kty": "EC", "crv": "P-384", "x": "AA", "y": "AA", "alg": "ES256"}),
            json!({"kty": "RSA", "n": "A".repeat(342) + "AA", "e": "AQAB", "alg": "HS256"}),
            json!({"kty": "EC", "crv": "P-256", "x": "AA"}),
            json!({"kty": "RSA", "n": "A".repeat(172), "e": "AQAB"}),
            ed_with("use", json!("enc")),
            ed_with("use", json!(["sig"])),
            ed_with("alg", json!("ES256")),
            ed_with("alg", json!(null)),
            ed_with("key_ops", json!(["sign"])),
            ed_with("x", json!(7)),
        ];
        for key in &unusable {
            assert_eq!(keys(std::slice::from_ref(key)), None, "{key}");
        }
        let several = [&unusable[..], &[ed_with("use", json!("sig"))]].concat();
        assert_eq!(keys(&several).map(|keys| keys.len()), Some(1));
        for text in ["", "<html>", "[]", "{}", r#"{"keys":{}}"#, r#"{"keys":[]}"#] {
            assert_eq!(read(text), None, "{text}");
        }
    }

    #[test]
    fn token_without_id_may_be_of_any_key() {
        let mut set = KeySet::default();
        let twice = ed_with("x", json!("AB"));
        set.replace(keys(&[ed("a"), ed("b"), twice]).unwrap(), Instant(0));
        let found = |algorithm: &str, id: Option<&str>| {
            let keys = set.find(algorithm, id);
            let text = |key: Key| format!("{} {}", key.id.unwrap(), key.jwk.contains("AB"));
            keys.into_iter().map(text).collect::<Vec<_>>()
        };
        assert_eq!(found("EdDSA", Some("b")), ["b false"]);
        assert_eq!(found("Ed25519", Some("a")), ["a false", "a true"]);
        assert_eq!(found("EdDSA", None), ["a false", "b false", "a true"]);
        assert_eq!(found("EdDSA", Some("c")), [""; 0]);
        assert_eq!(found("ES256", Some("b")), [""; 0]);
    }

    #[test]
    fn tried_keys_are_limited() {
        let mut set = KeySet::default();
        set.replace(keys(&vec![ed("a"); 9]).unwrap(), Instant(0));
        assert_eq!(set.find("EdDSA", None).len(), MAX_TRIED);
    }

    #[test]
    fn fetch_intervals_and_key_age_are_limited() {
        let at = |millis: i64| Instant(1_800_000_000_000 + millis);
        let mut set = KeySet::default();
        assert!(set.is_due(at(0)) && set.may_fetch(at(0)));
        set.record_fetch(at(0));
        assert!(set.is_due(at(999)) && !set.may_fetch(at(999)) && set.may_fetch(at(1000)));
        set.replace(keys(&[ed("a")]).unwrap(), at(0));
        assert!(!set.may_fetch(at(59_999)) && set.may_fetch(at(60_000)));
        assert!(!set.is_due(at(599_999)) && set.is_due(at(600_000)));
        set.record_fetch(at(600_000));
        assert!(!set.is_due(at(600_001)) && set.is_due(at(660_000)));
    }
}
