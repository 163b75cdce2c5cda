//! The public keys that sign user tokens: a key set (RFC 7517), and when to ask for it anew.

use super::{base64url, text_of};
use crate::calendar::Instant;
use crate::json;
use serde_json::{Map, Value};

/// From this age on, in milliseconds, keys are asked for anew: one taken back must not hold long.
pub const FRESH: i64 = 600_000;
/// The least time between two questions while there are keys.
const PAUSE: i64 = 60_000;
/// The same while there are none.
const RETRY: i64 = 1_000;
/// Shorter RSA keys can be broken (RFC 7518, 3.3).
const LEAST_RSA_BYTES: usize = 256;

/// A public key, good for one algorithm.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    /// `RS256`, `ES256` or `EdDSA`: what the kind of key decides, not the token.
    pub algorithm: &'static str,
    /// The public parts alone, as JSON.
    pub jwk: String,
    id: Option<String>,
}

/// The usable keys of a key set, in its order; `None` where there are none.
#[must_use]
pub fn read(text: &str) -> Option<Vec<Key>> {
    let set = json::read(text.as_bytes()).ok()?;
    let keys = set.get("keys")?.as_array()?;
    let keys: Vec<Key> = keys
        .iter()
        .filter_map(|key| read_key(key.as_object()?))
        .collect();
    (!keys.is_empty()).then_some(keys)
}

fn read_key(jwk: &Map<String, Value>) -> Option<Key> {
    let text = |name: &str| jwk.get(name).and_then(Value::as_str);
    let (algorithm, names, parts): (_, &[&str], &[&str]) = match (text("kty")?, text("crv")) {
        ("RSA", _) => ("RS256", &["RS256"], &["kty", "n", "e"]),
        ("EC", Some("P-256")) => ("ES256", &["ES256"], &["kty", "crv", "x", "y"]),
        ("OKP", Some("Ed25519")) => ("EdDSA", &["EdDSA", "Ed25519"], &["kty", "crv", "x"]),
        _ => return None,
    };
    let other_use = text("use").is_some_and(|used| used != "sig");
    let other_algorithm = jwk
        .get("alg")
        .is_some_and(|_| !text("alg").is_some_and(|alg| names.contains(&alg)));
    let no_verifying = jwk.get("key_ops").is_some_and(|ops| {
        !ops.as_array()
            .is_some_and(|ops| ops.iter().any(|op| op == "verify"))
    });
    let short = algorithm == "RS256" && base64url::decode(text("n")?)?.len() < LEAST_RSA_BYTES;
    if other_use || other_algorithm || no_verifying || short {
        return None;
    }
    let mut public = Map::new();
    for part in parts {
        public.insert((*part).to_owned(), text(part)?.into());
    }
    Some(Key {
        algorithm,
        jwk: Value::Object(public).to_string(),
        id: text_of(jwk, "kid"),
    })
}

/// The keys held, and when they came.
#[derive(Debug, Default)]
pub struct Held {
    keys: Vec<Key>,
    loaded: i64,
    asked: i64,
}

impl Held {
    /// The key that a token names: by its id, or without one the only key of its algorithm.
    #[must_use]
    pub fn find(&self, algorithm: &str, id: Option<&str>) -> Option<Key> {
        let mut fitting = self
            .keys
            .iter()
            .filter(|key| key.algorithm == algorithm && (id.is_none() || key.id.as_deref() == id));
        let key = fitting.next()?;
        (id.is_some() || fitting.next().is_none()).then(|| key.clone())
    }

    /// Whether there are no keys at all.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// Whether keys should be had before any is looked for.
    #[must_use]
    pub fn is_due(&self, now: Instant) -> bool {
        let old = now.0 - self.loaded >= FRESH;
        self.is_empty() || (old && self.may_ask(now))
    }

    /// Whether the key server may be asked now.
    #[must_use]
    pub fn may_ask(&self, now: Instant) -> bool {
        now.0 - self.asked >= if self.is_empty() { RETRY } else { PAUSE }
    }

    /// Notes that the key server is asked.
    pub fn ask(&mut self, now: Instant) {
        self.asked = now.0;
    }

    /// Holds these keys from now on.
    pub fn hold(&mut self, keys: Vec<Key>, now: Instant) {
        self.keys = keys;
        self.loaded = now.0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn ed(id: &str) -> Value {
        json!({"kty": "OKP", "crv": "Ed25519", "x": "AA", "kid": id})
    }

    fn with(name: &str, value: Value) -> Value {
        let mut key = ed("a");
        key[name] = value;
        key
    }

    fn keys(set: &[Value]) -> Option<Vec<Key>> {
        read(&json!({"keys": set}).to_string())
    }

    #[test]
    fn a_key_is_good_for_the_algorithm_of_its_kind_alone() {
        let n = "A".repeat(342) + "AA";
        let rsa = json!({"kty": "RSA", "n": n, "e": "AQAB", "d": "secret", "kid": "r"});
        let ec = json!({"kty": "EC", "crv": "P-256", "x": "AA", "y": "AA", "alg": "ES256"});
        let read = keys(&[rsa, ec, ed("a"), with("alg", json!("Ed25519"))]).unwrap();
        let algorithms: Vec<&str> = read.iter().map(|key| key.algorithm).collect();
        assert_eq!(algorithms, ["RS256", "ES256", "EdDSA", "EdDSA"]);
        assert!(!read[0].jwk.contains("secret"), "{}", read[0].jwk);
    }

    #[test]
    fn other_keys_are_left_out_and_a_set_without_any_is_none() {
        let unusable = [
            json!(null),
            json!({}),
            json!({"kty": "oct", "k": "AA"}),
            json!({"kty": "EC", "crv": "P-384", "x": "AA", "y": "AA"}),
            json!({"kty": "EC", "crv": "P-256", "x": "AA"}),
            json!({"kty": "RSA", "n": "A".repeat(172), "e": "AQAB"}),
            with("use", json!("enc")),
            with("alg", json!("ES256")),
            with("alg", json!(null)),
            with("key_ops", json!(["sign"])),
            with("x", json!(7)),
        ];
        for key in &unusable {
            assert_eq!(keys(std::slice::from_ref(key)), None, "{key}");
        }
        let several = [&unusable[..], &[with("use", json!("sig"))]].concat();
        assert_eq!(keys(&several).map(|keys| keys.len()), Some(1));
        for text in ["", "<html>", "[]", "{}", r#"{"keys":{}}"#, r#"{"keys":[]}"#] {
            assert_eq!(read(text), None, "{text}");
        }
    }

    #[test]
    fn a_key_is_found_by_id_and_algorithm_or_where_it_is_the_only_one() {
        let mut held = Held::default();
        held.hold(keys(&[ed("a"), ed("b")]).unwrap(), Instant(0));
        assert_eq!(
            held.find("EdDSA", Some("b")).unwrap().id.as_deref(),
            Some("b")
        );
        assert_eq!(held.find("EdDSA", Some("c")), None);
        assert_eq!(held.find("ES256", Some("b")), None);
        assert_eq!(held.find("EdDSA", None), None);
        held.hold(keys(&[ed("a")]).unwrap(), Instant(0));
        assert!(held.find("EdDSA", None).is_some());
    }

    #[test]
    fn the_key_server_is_asked_once_a_minute_and_for_old_keys() {
        let (start, at) = (1_800_000_000_000, |after: i64| {
            Instant(1_800_000_000_000 + after)
        });
        let mut held = Held::default();
        assert!(held.is_due(at(0)) && held.may_ask(at(0)));
        held.ask(at(0));
        assert!(held.is_due(at(999)) && !held.may_ask(at(999)) && held.may_ask(at(1000)));
        held.hold(keys(&[ed("a")]).unwrap(), Instant(start));
        assert!(!held.may_ask(at(59_999)) && held.may_ask(at(60_000)));
        assert!(!held.is_due(at(599_999)) && held.is_due(at(600_000)));
        held.ask(at(600_000));
        assert!(!held.is_due(at(600_001)) && held.is_due(at(660_000)));
    }
}
