//! `JWT_SECRET`: tokens signed with the shared secret.

use test_support::{Value, json};

use super::row::{Expected, Row, check};
use super::sign::{SECRET, claims, claims_with, encoded, hmac, hs256, now, token};
use crate::app::TestApp;

const NO_TOKEN: &str = "This is neither a known service key nor a user token.";
const SIGNATURE: &str = "The signature of the user token is invalid.";
const HEADER: &str = "The header of the user token is malformed.";
const CLAIMS: &str = "The claims of the user token are malformed.";
const ALGORITHM: &str = "The algorithm of the user token is not supported.";
const EXPIRED: &str = "The user token has expired.";
const EARLY: &str = "The user token is not valid yet.";
const ISSUER: &str =
    "The user token's iss is 'https://id.example.org/', expected 'https://id.example.com/'.";
const AUDIENCE: &str = "The user token's aud is 'chat', expected 'board'.";
const MILLISECONDS: &str = "The user token's exp is in milliseconds, expected seconds.";

/// A token whose claims are valid except for these changes.
fn accepted(name: &'static str, changes: Value) -> Row {
    (name, hs256(&claims_with(changes)), Expected::Accepted)
}

fn invalid(name: &'static str, changes: Value, detail: &'static str) -> Row {
    (
        name,
        hs256(&claims_with(changes)),
        Expected::Invalid(detail),
    )
}

fn forbidden(name: &'static str, changes: Value, detail: String) -> Row {
    (
        name,
        hs256(&claims_with(changes)),
        Expected::Forbidden(detail),
    )
}

fn with_header(name: &'static str, header: &str, expected: Expected) -> Row {
    (name, token(header, claims("42"), hmac(SECRET)), expected)
}

fn signed_with(name: &'static str, secret: &str) -> Row {
    let token = token(json!({"alg": "HS256"}), claims("42"), hmac(secret));
    (name, token, Expected::Invalid(SIGNATURE))
}

/// `exp` and `nbf`, with 60 seconds of leeway.
fn times() -> Vec<Row> {
    vec![
        accepted("expired within the leeway", json!({"exp": now() - 30})),
        invalid("expired", json!({"exp": now() - 61}), EXPIRED),
        accepted("early within the leeway", json!({"nbf": now() + 30})),
        invalid("early", json!({"nbf": now() + 90}), EARLY),
        invalid("milliseconds", json!({"exp": now() * 1000}), MILLISECONDS),
    ]
}

/// `sub` is the user.
fn users() -> Vec<Row> {
    let id = "must be 1 to 64 characters of A-Z a-z 0-9 _ . : @ | - and not '.' or '..'";
    let no_user = || format!("The user id of this user token {id}.");
    let no_text = "The user token's sub must be a text or an integer.".to_owned();
    let no_sub = "The user token has no sub.".to_owned();
    let other = "This user token only grants access to the data of user 7.".to_owned();
    vec![
        accepted("valid", json!({})),
        accepted("unused claims", json!({"name": "Ada", "groups": ["eu"]})),
        accepted("sub an integer", json!({"sub": 42})),
        forbidden("another user", json!({"sub": "7"}), other),
        forbidden("no sub", json!({"sub": null}), no_sub),
        forbidden("sub not an id", json!({"sub": "4 2"}), no_user()),
        forbidden("sub too long", json!({"sub": "4".repeat(65)}), no_user()),
        forbidden("sub an array", json!({"sub": ["42"]}), no_text),
    ]
}

/// Parts and encoding.
fn formats() -> Vec<Row> {
    let valid = hs256(&claims("42"));
    let (head, signature) = valid.rsplit_once('.').expect("three parts");
    let (header, payload) = head.split_once('.').expect("three parts");
    let other = encoded(claims("7").to_string());
    // The last character of 32 bytes in base64url has two unused bits.
    let last = signature.chars().last().expect("a character");
    let alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let index = alphabet.find(last).expect("base64url");
    let respelled = format!(
        "{}{}",
        &valid[..valid.len() - 1],
        &alphabet[index + 1..index + 2]
    );
    let invalid_token = |name, token, detail| (name, token, Expected::Invalid(detail));
    let bad_claims = |name, claims: &str| {
        let token = token(json!({"alg": "HS256"}), claims, hmac(SECRET));
        invalid_token(name, token, CLAIMS)
    };
    let unreadable = "The signature of the user token is malformed.";
    let rows = [
        ("not a token", "unknown".to_owned(), NO_TOKEN),
        ("two parts", head.to_owned(), NO_TOKEN),
        ("four parts", format!("{valid}.{signature}"), NO_TOKEN),
        ("five parts", format!("{valid}.AQ.AQ"), NO_TOKEN),
        ("a trailing dot", format!("{valid}."), NO_TOKEN),
        ("an empty signature", format!("{head}."), SIGNATURE),
        (
            "claims of another user",
            format!("{header}.{other}.{signature}"),
            SIGNATURE,
        ),
        (
            "half a signature",
            format!("{head}.{}", &signature[..20]),
            SIGNATURE,
        ),
        (
            "a longer signature",
            format!("{head}.{signature}AAAA"),
            SIGNATURE,
        ),
        ("a padded signature", format!("{valid}="), unreadable),
        ("unused bits set", respelled, unreadable),
        ("no header", format!(".{payload}.{signature}"), HEADER),
        ("a padded header", format!("{header}=.{payload}.AQ"), HEADER),
    ];
    let rows = rows.map(|(name, token, detail)| invalid_token(name, token, detail));
    let mut rows: Vec<Row> = rows.to_vec();
    rows.extend([
        bad_claims("claims an array", "[]"),
        bad_claims("claims a number", "42"),
        bad_claims("claims not JSON", "{"),
        bad_claims("repeated claims", r#"{"sub":"42","sub":"7"}"#),
        bad_claims("data after the claims", &format!("{}7", claims("42"))),
        invalid(
            "too long",
            json!({"name": "A".repeat(8192)}),
            "A user token is at most 8192 bytes.",
        ),
        accepted("long", json!({"name": "A".repeat(4096)})),
    ]);
    rows
}

fn algorithms() -> Vec<Row> {
    let refused = |name, header| with_header(name, header, Expected::Invalid(ALGORITHM));
    let malformed = |name, header| with_header(name, header, Expected::Invalid(HEADER));
    let crit = Expected::Invalid("The user token requires unsupported extensions (crit).");
    let unsigned = token(json!({"alg": "none"}), claims("42"), |_| Vec::new());
    vec![
        signed_with("another secret", "another secret of thirty-two byte"),
        signed_with("the secret in upper case", &SECRET.to_uppercase()),
        signed_with("an empty secret", ""),
        (
            "none without a signature",
            unsigned,
            Expected::Invalid(ALGORITHM),
        ),
        refused("none with a signature", r#"{"alg":"none"}"#),
        refused("None", r#"{"alg":"None"}"#),
        refused("lower case", r#"{"alg":"hs256"}"#),
        refused("HS512", r#"{"alg":"HS512"}"#),
        refused("RS256 with the secret as key", r#"{"alg":"RS256"}"#),
        refused("an array of algorithms", r#"{"alg":["HS256"]}"#),
        refused("no algorithm", "{}"),
        refused("a number as algorithm", r#"{"alg":1}"#),
        with_header("crit", r#"{"alg":"HS256","crit":["exp"]}"#, crit.clone()),
        with_header("an empty crit", r#"{"alg":"HS256","crit":[]}"#, crit),
        malformed("header not JSON", "{alg:HS256}"),
        malformed("header a string", r#""HS256""#),
        malformed("header an array", "[]"),
        malformed("data after the header", r#"{"alg":"HS256"}7"#),
        malformed("a repeated field", r#"{"alg":"none","alg":"HS256"}"#),
        with_header(
            "a key in the header",
            r#"{"alg":"HS256","jwk":{"kty":"oct","k":"AA"}}"#,
            Expected::Accepted,
        ),
        with_header(
            "a key id",
            r#"{"alg":"HS256","kid":"../../dev/null"}"#,
            Expected::Accepted,
        ),
    ]
}

#[tokio::test]
async fn tokens_by_shared_secret_are_verified() {
    let rows = [times(), users(), formats(), algorithms()].concat();
    assert!(rows.len() >= 40, "only {} rows", rows.len());
    check(&super::start(), &rows).await;
}

#[tokio::test]
async fn issuer_and_audience_must_match() {
    let app = TestApp::with(|worker| {
        let worker = worker.var("JWT_SECRET", SECRET);
        let worker = worker.var("JWT_ISSUER", "https://id.example.com/");
        worker.var("JWT_AUDIENCE", "board")
    });
    let with = |issuer: Value, audience: Value| json!({"iss": issuer, "aud": audience});
    let (issuer, other) = (
        || json!("https://id.example.com/"),
        json!("https://id.example.org/"),
    );

    let rows = [
        accepted("issuer and audience", with(issuer(), json!("board"))),
        invalid("another issuer", with(other, json!("board")), ISSUER),
        invalid("another audience", with(issuer(), json!("chat")), AUDIENCE),
    ];
    check(&app, &rows).await;
}
