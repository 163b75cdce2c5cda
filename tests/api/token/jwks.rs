//! `JWKS_URL`: tokens signed by keys of a key server.

use test_support::{Fault, Forwarder, Value, json};

use super::issuer::{Pair, fail, key_server, serve};
use super::row::{Expected, Row, check};
use super::sign::{SECRET, claims, claims_with, hmac, hs256, now, token};
use crate::app::TestApp;
use crate::problem::problem;

const UNKNOWN: &str = "The user token was signed by an unknown key.";
const SIGNATURE: &str = "The signature of the user token is invalid.";
const ALGORITHM: &str = "The algorithm of the user token is not supported.";

fn start(server: &Forwarder) -> TestApp {
    TestApp::with(|worker| worker.var("JWKS_URL", &format!("{}/keys.json", server.url())))
}

fn signed(pair: &Pair, alg: &str, kid: &str) -> String {
    pair.token(&json!({"alg": alg, "kid": kid}), &claims("42"))
}

fn hmac_token(alg: &str, kid: &str, secret: &str) -> String {
    let header = json!({"alg": alg, "kid": kid});
    token(header, claims("42"), hmac(secret))
}

fn accepted(name: &'static str, token: String) -> Row {
    (name, token, Expected::Accepted)
}

fn invalid(name: &'static str, token: String, detail: &'static str) -> Row {
    (name, token, Expected::Invalid(detail))
}

#[tokio::test]
async fn tokens_by_published_keys_are_verified() {
    let (rsa, ec, ed, other) = (Pair::rsa(), Pair::ec(), Pair::ed(), Pair::ec());
    let server = key_server();
    let pairs = [(&rsa, "rsa"), (&ec, "ec"), (&ed, "ed"), (&other, "other")];
    serve(&server, &pairs.map(|(pair, kid)| pair.jwk(kid)));
    let app = start(&server);
    let modulus = rsa.jwk("rsa")["n"].as_str().expect("text").to_owned();
    let public = ed.jwk("ed")["x"].as_str().expect("text").to_owned();
    let hs = |kid: &str, secret: &str| hmac_token("HS256", kid, secret);
    let expired = claims_with(json!({"exp": now() - 90}));
    let mut tampered = signed(&ec, "ES256", "ec");
    tampered.replace_range(tampered.len() - 8..tampered.len() - 4, "AAAA");
    let embedded = json!({"alg": "ES256", "kid": "mine", "jwk": Pair::ec().jwk("mine"), "jku": "http://127.0.0.1:1"});
    let without_id = |pair: &Pair, alg: &str| pair.token(&json!({"alg": alg}), &claims("42"));
    let header = json!({"alg": "none", "kid": "ec"});
    let unsigned = token(header, claims("42"), |_| Vec::new());
    let rows = [
        accepted("RS256", signed(&rsa, "RS256", "rsa")),
        accepted("ES256", signed(&ec, "ES256", "ec")),
        accepted("EdDSA", signed(&ed, "EdDSA", "ed")),
        accepted("no key id, one RSA key", without_id(&rsa, "RS256")),
        accepted("no key id, one Ed25519 key", without_id(&ed, "EdDSA")),
        accepted("no key id, two EC keys", without_id(&other, "ES256")),
        invalid(
            "no key id, unpublished key",
            without_id(&Pair::ec(), "ES256"),
            SIGNATURE,
        ),
        invalid(
            "the id of another key",
            signed(&ec, "ES256", "other"),
            SIGNATURE,
        ),
        invalid(
            "an unpublished key",
            signed(&Pair::ed(), "EdDSA", "ed"),
            SIGNATURE,
        ),
        invalid("an unknown key id", signed(&ec, "ES256", "new"), UNKNOWN),
        invalid(
            "a key id of another type",
            signed(&ec, "ES256", "rsa"),
            UNKNOWN,
        ),
        invalid("RS256 with an EC key", signed(&ec, "RS256", "ec"), UNKNOWN),
        invalid("EdDSA with an EC key", signed(&ec, "EdDSA", "ec"), UNKNOWN),
        invalid("tampered", tampered, SIGNATURE),
        invalid("RSA modulus as HMAC secret", hs("rsa", &modulus), ALGORITHM),
        invalid("public key as HMAC secret", hs("ed", &public), ALGORITHM),
        invalid("a shared secret", hs256(&claims("42")), ALGORITHM),
        invalid(
            "ES384 with a P-256 key",
            signed(&ec, "ES384", "ec"),
            UNKNOWN,
        ),
        invalid("ES256K", signed(&ec, "ES256K", "ec"), ALGORITHM),
        invalid("HS512", hmac_token("HS512", "ec", &public), ALGORITHM),
        invalid("none", unsigned, ALGORITHM),
        invalid(
            "a key in the header",
            Pair::ec().token(&embedded, &claims("42")),
            UNKNOWN,
        ),
        invalid(
            "expired",
            ec.token(&json!({"alg": "ES256", "kid": "ec"}), &expired),
            "The user token has expired.",
        ),
    ];
    check(&app, &rows).await;
    // One fetch for the first token, one for the first unknown id.
    assert_eq!(server.count(), 2);
    assert_eq!(server.requests()[0].path, "/keys.json");
}

/// A token that OpenSSL signed: the library of the tests has no P-521.
const ES512_TOKEN: &str = "eyJhbGciOiJFUzUxMiIsImtpZCI6InA1MjEifQ.eyJzdWIiOiI0MiIsImV4cCI6NDEwMjQ0NDgwMH0.AeXsuFb6s_ufFhPU_fR3b_DBNDgLQU6jO0NedqG2RChre-yFBRYosFgl6f9lCPbYRV7wTJF7LQtFZK65H1vlB6DFAAFQLFCBYdGZddYpRXc7cMSPA08sZyaxYBX4eYAKhpc8zA4zkNCSRAbx4Ur8rdljWfo4mBFiG77PVBmw_4hKljHj";

fn p521() -> Value {
    json!({
        "kty": "EC", "crv": "P-521", "kid": "p521",
        "x": "AYC_IdCrJf9RRqqlAsigQVlb2aToIOxZ0yOX5T8s0fSHQbCBAAXLMTuCFzzVTGgtFyJ-XWJgQ0nu9BZltXZQ65T2",
        "y": "Afpql_Oglhejucpd3yhKX3r9RyMUVSCSABFS5QhBDvZl8_34L1nhQN4wZgeTpi9OpxBOBAR3R4ew2XuzdU_gftyo",
    })
}

#[tokio::test]
async fn every_algorithm_of_key_sets_is_verified() {
    let (rsa, ec, p384, ed) = (Pair::rsa(), Pair::ec(), Pair::p384(), Pair::ed());
    let server = key_server();
    let mut only_rs512 = rsa.jwk("rs512");
    only_rs512["alg"] = json!("RS512");
    let keys = [
        rsa.jwk("rsa"),
        ec.jwk("ec"),
        p384.jwk("p384"),
        ed.jwk("ed"),
        p521(),
        only_rs512,
    ];
    serve(&server, &keys);
    let app = start(&server);
    let forged = ES512_TOKEN.replace("AeXs", "AeXt");
    check(
        &app,
        &[
            accepted("RS256", signed(&rsa, "RS256", "rsa")),
            accepted("RS384", signed(&rsa, "RS384", "rsa")),
            accepted("RS512", signed(&rsa, "RS512", "rsa")),
            accepted("PS256", signed(&rsa, "PS256", "rsa")),
            accepted("PS384", signed(&rsa, "PS384", "rsa")),
            accepted("PS512", signed(&rsa, "PS512", "rsa")),
            accepted("ES256", signed(&ec, "ES256", "ec")),
            accepted("ES384", signed(&p384, "ES384", "p384")),
            accepted("ES512", ES512_TOKEN.to_owned()),
            accepted("EdDSA", signed(&ed, "EdDSA", "ed")),
            accepted("Ed25519", signed(&ed, "Ed25519", "ed")),
            accepted("RS512 of the key", signed(&rsa, "RS512", "rs512")),
            invalid(
                "RS256 by a key of RS512",
                signed(&rsa, "RS256", "rs512"),
                UNKNOWN,
            ),
            invalid("forged ES512", forged, SIGNATURE),
        ],
    )
    .await;
}

/// Servers that rotate keys may keep the id, or publish keys without ids.
#[tokio::test]
async fn every_key_of_an_id_is_tried() {
    let (old, new, newest) = (Pair::ed(), Pair::ed(), Pair::ed());
    let server = key_server();
    let mut broken = old.jwk("a");
    broken["x"] = json!("AA");
    let mut anonymous = new.jwk("b");
    anonymous["kid"].take();
    serve(&server, &[broken, old.jwk("a"), new.jwk("a"), anonymous]);
    let app = start(&server);
    let without_id = new.token(&json!({"alg": "EdDSA"}), &claims("42"));
    let rows = [
        accepted("old", signed(&old, "EdDSA", "a")),
        accepted("new", signed(&new, "EdDSA", "a")),
        accepted("without id", without_id),
    ];
    check(&app, &rows).await;
    assert_eq!(server.count(), 1);
    serve(&server, &[newest.jwk("a")]);
    let rows = [
        accepted("replaced under its id", signed(&newest, "EdDSA", "a")),
        invalid("removed", signed(&old, "EdDSA", "a"), SIGNATURE),
    ];
    check(&app, &rows).await;
    assert_eq!(server.count(), 2);
}

/// An HMAC token is checked with the secret only, an EdDSA token with the key set only.
#[tokio::test]
async fn secret_and_key_set_keep_separate_algorithms() {
    let server = key_server();
    let ed = Pair::ed();
    serve(&server, &[ed.jwk("ed")]);
    let app = TestApp::with(|worker| {
        let worker = worker.var("JWT_SECRET", SECRET);
        worker.var("JWKS_URL", &server.url())
    });
    let public = ed.jwk("ed")["x"].as_str().expect("text").to_owned();
    let confused = hmac_token("HS256", "ed", &public);
    let by_secret = hmac_token("EdDSA", "ed", SECRET);
    let rows = [
        accepted("the secret", hs256(&claims("42"))),
        accepted("the key", signed(&ed, "EdDSA", "ed")),
        invalid("public key as HMAC secret", confused, SIGNATURE),
        invalid("the secret as a key", by_secret, SIGNATURE),
    ];
    check(&app, &rows).await;
}

/// The key set is fetched again for an unknown key id, once a minute at most.
#[tokio::test]
async fn unknown_key_is_fetched_once_a_minute() {
    let (server, old, new) = (key_server(), Pair::ec(), Pair::ed());
    serve(&server, &[old.jwk("old")]);
    let app = start(&server);
    check(&app, &[accepted("old", signed(&old, "ES256", "old"))]).await;
    assert_eq!(server.count(), 1);
    serve(&server, &[new.jwk("new")]);
    let rows = [
        accepted(
            "the old key before any unknown id",
            signed(&old, "ES256", "old"),
        ),
        accepted("new", signed(&new, "EdDSA", "new")),
        invalid("old", signed(&old, "ES256", "old"), UNKNOWN),
        invalid("unknown", signed(&new, "EdDSA", "newer"), UNKNOWN),
        invalid("unknown again", signed(&new, "EdDSA", "newest"), UNKNOWN),
    ];
    check(&app, &rows).await;
    assert_eq!(server.count(), 2);
}

/// Failures and invalid responses of a key server.
fn faults() -> Vec<Fault> {
    let response = |status, text: &str| Fault::Respond(status, text.to_owned());
    let private = json!({"keys": [{"kty": "oct", "kid": "a", "k": "AAAA"}]}).to_string();
    let huge = format!("{{\"keys\":[]{}}}", " ".repeat(64 * 1024));
    vec![
        Fault::CutBefore,
        response(200, ""),
        response(200, "<html>"),
        response(200, "{}"),
        response(200, r#"{"keys":[]}"#),
        response(200, &private),
        response(200, &huge),
        response(302, ""),
        response(404, r#"{"keys":[]}"#),
        response(500, "error"),
        Fault::HangBefore,
    ]
}

/// While the key server is down, slow or invalid, loaded keys stay in use.
#[tokio::test]
async fn known_keys_survive_key_server_failures() {
    let apps = faults().into_iter().map(|fault| async move {
        let (server, pair) = (key_server(), Pair::ec());
        serve(&server, &[pair.jwk("a")]);
        let app = start(&server);
        let up = accepted("key server up", signed(&pair, "ES256", "a"));
        check(&app, &[up]).await;
        // The platform repeats a GET whose connection was cut.
        let fetches = match fault {
            Fault::CutBefore => 2..=3,
            _ => 2..=2,
        };
        let name = format!("{fault:?}");
        fail(&server, fault);
        let rows = [
            invalid("unknown", signed(&pair, "ES256", "b"), UNKNOWN),
            accepted("known", signed(&pair, "ES256", "a")),
            invalid("unknown again", signed(&pair, "ES256", "c"), UNKNOWN),
        ];
        check(&app, &rows).await;
        let count = server.count();
        assert!(fetches.contains(&count), "{name:.40}: {count}");
    });
    futures::future::join_all(apps).await;
}

/// The token is accepted once the key server is back. Service keys need no key server.
#[tokio::test]
async fn token_without_loaded_keys_returns_503() {
    let apps = faults().into_iter().map(|fault| async move {
        let (server, pair) = (key_server(), Pair::ed());
        fail(&server, fault);
        let app = start(&server);
        let client = app.with_key(&signed(&pair, "EdDSA", "a"));
        let profile = json!({"name": "Ada"});
        let response = client.put("/v1/users/42", &profile).await;
        let detail = "Nothing was changed. Retrying the request is safe.";
        response.assert(503, problem("keys-unavailable", detail));
        assert_eq!(response.header("retry-after"), Some("1"));
        app.write("/v1/users/42", &profile).await;
        serve(&server, &[pair.jwk("a")]);
        test_support::until("an accepted token", async || {
            let response = client.put("/v1/users/42", &profile).await;
            (response.status == 200).then_some(())
        })
        .await;
    });
    futures::future::join_all(apps).await;
}
