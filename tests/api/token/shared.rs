//! Tokens by the shared secret.

use test_support::{Value, json};

use super::row::{Row, Told, check};
use super::sign::{SECRET, claims, claims_with, encoded, hmac, hs256, now, token};
use crate::site::Site;

const NO_TOKEN: &str = "This is neither a known service key nor a user token.";
const SIGNATURE: &str = "The user token's signature is not right.";
const HEADER: &str = "The user token's header cannot be read.";
const ALGORITHM: &str = "The user token is signed by an algorithm that is not taken here.";
const EXPIRED: &str = "The user token has expired.";
const EARLY: &str = "The user token does not hold yet.";
const ISSUER: &str = "The user token comes from another issuer.";
const AUDIENCE: &str = "The user token is meant for another audience.";

fn with(what: &'static str, others: Value, told: Told) -> Row {
    (what, hs256(&claims_with(others)), told)
}

fn header(what: &'static str, header: &str, told: Told) -> Row {
    (what, token(header, claims("42"), hmac(SECRET)), told)
}

fn signed(what: &'static str, secret: &str) -> Row {
    let token = token(json!({"alg": "HS256"}), claims("42"), hmac(secret));
    (what, token, Told::Invalid(SIGNATURE))
}

fn times() -> Vec<Row> {
    let of = |what, others, told: Option<&'static str>| {
        with(what, others, told.map_or(Told::Taken, Told::Invalid))
    };
    let no_number = Some("The user token's exp is not a number.");
    vec![
        of(
            "expired within the leeway",
            json!({"exp": now() - 30}),
            None,
        ),
        of("expired", json!({"exp": now() - 61}), Some(EXPIRED)),
        of("expired long ago", json!({"exp": 0}), Some(EXPIRED)),
        of(
            "without exp",
            json!({"exp": null}),
            Some("The user token has no exp."),
        ),
        of("exp a text", json!({"exp": "4102444800"}), no_number),
        of("exp a list", json!({"exp": [4_102_444_800_u64]}), no_number),
        of(
            "exp with a fraction",
            json!({"exp": now() as f64 + 0.5}),
            None,
        ),
        of(
            "not yet, within the leeway",
            json!({"nbf": now() + 30}),
            None,
        ),
        of("not yet", json!({"nbf": now() + 90}), Some(EARLY)),
        of(
            "nbf a text",
            json!({"nbf": "0"}),
            Some("The user token's nbf is not a number."),
        ),
    ]
}

fn users() -> Vec<Row> {
    let nobody = || {
        let id = "must be 1 to 64 of A-Z a-z 0-9 _ . : @ | - and not '.' or '..'";
        Told::Forbidden(format!("This user token names no user: its sub {id}."))
    };
    let other = "This user token is for what is 7's alone.".to_owned();
    vec![
        with("good", json!({}), Told::Taken),
        with(
            "with claims of no interest",
            json!({"name": "Ada", "groups": ["eu"]}),
            Told::Taken,
        ),
        with("sub an integer", json!({"sub": 42}), Told::Taken),
        with(
            "another user's",
            json!({"sub": "7"}),
            Told::Forbidden(other),
        ),
        with("without sub", json!({"sub": null}), nobody()),
        with("sub no id", json!({"sub": "4 2"}), nobody()),
        with("sub too long", json!({"sub": "4".repeat(65)}), nobody()),
        with("sub a list", json!({"sub": ["42"]}), nobody()),
    ]
}

fn forms() -> Vec<Row> {
    let good = hs256(&claims("42"));
    let (head, signature) = good.rsplit_once('.').expect("three parts");
    let (first, body) = head.split_once('.').expect("three parts");
    let other = encoded(claims("7").to_string());
    let unread = Told::Invalid("The user token's signature cannot be read.");
    let (none, wrong) = (Told::Invalid(NO_TOKEN), Told::Invalid(SIGNATURE));
    // The last character of 32 bytes has two bits that mean nothing.
    let last = signature.chars().last().expect("a character");
    let alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let place = alphabet.find(last).expect("base64url");
    let respelled = format!(
        "{}{}",
        &good[..good.len() - 1],
        &alphabet[place + 1..place + 2]
    );
    let claims_are = |what, claims: &str| {
        let token = token(json!({"alg": "HS256"}), claims, hmac(SECRET));
        (
            what,
            token,
            Told::Invalid("The user token's claims cannot be read."),
        )
    };
    vec![
        ("no token at all", "nobody's".to_owned(), none.clone()),
        ("two parts", head.to_owned(), none.clone()),
        ("four parts", format!("{good}.{signature}"), none.clone()),
        ("a point behind", format!("{good}."), none),
        ("without signature", format!("{head}."), wrong.clone()),
        (
            "another's claims",
            format!("{first}.{other}.{signature}"),
            wrong.clone(),
        ),
        (
            "half a signature",
            format!("{head}.{}", &signature[..20]),
            wrong.clone(),
        ),
        (
            "a longer signature",
            format!("{head}.{signature}AAAA"),
            wrong.clone(),
        ),
        ("padded", format!("{good}="), unread.clone()),
        ("spelled in another way", respelled, unread),
        (
            "without header",
            format!(".{body}.{signature}"),
            Told::Invalid(HEADER),
        ),
        claims_are("claims a list", "[]"),
        claims_are("claims not JSON", "{"),
        claims_are("claims and more", &format!("{}7", claims("42"))),
        with(
            "too long",
            json!({"name": "A".repeat(8192)}),
            Told::Invalid("A user token is at most 8192 bytes."),
        ),
        with("long", json!({"name": "A".repeat(4096)}), Told::Taken),
    ]
}

fn algorithms() -> Vec<Row> {
    let other = |what, text| header(what, text, Told::Invalid(ALGORITHM));
    let crit = "The user token demands what is not known here (crit).";
    let unsigned = token(json!({"alg": "none"}), claims("42"), |_| Vec::new());
    vec![
        signed("another secret", "another secret of thirty-two byte"),
        signed("the secret in capitals", &SECRET.to_uppercase()),
        signed("an empty secret", ""),
        (
            "no algorithm and no signature",
            unsigned,
            Told::Invalid(ALGORITHM),
        ),
        other("none, and a signature", r#"{"alg":"none"}"#),
        other("None", r#"{"alg":"None"}"#),
        other("lower case", r#"{"alg":"hs256"}"#),
        other("HS512", r#"{"alg":"HS512"}"#),
        other("RS256 with the secret as key", r#"{"alg":"RS256"}"#),
        other("a list of algorithms", r#"{"alg":["HS256"]}"#),
        other("no algorithm", "{}"),
        header(
            "crit",
            r#"{"alg":"HS256","crit":["exp"]}"#,
            Told::Invalid(crit),
        ),
        header(
            "an empty crit",
            r#"{"alg":"HS256","crit":[]}"#,
            Told::Invalid(crit),
        ),
        header("header not JSON", "{alg:HS256}", Told::Invalid(HEADER)),
        header("header a text", r#""HS256""#, Told::Invalid(HEADER)),
        header(
            "a key of its own",
            r#"{"alg":"HS256","jwk":{"kty":"oct","k":"AA"}}"#,
            Told::Taken,
        ),
        header(
            "with a kid",
            r#"{"alg":"HS256","kid":"../../dev/null"}"#,
            Told::Taken,
        ),
    ]
}

fn meant() -> Vec<Row> {
    let of = |what, iss: Value, aud: Value, told: Option<&'static str>| {
        let told = told.map_or(Told::Taken, Told::Invalid);
        with(what, json!({"iss": iss, "aud": aud}), told)
    };
    let iss = || json!("https://id.example.com/");
    vec![
        of("issuer and audience", iss(), json!("board"), None),
        of(
            "one of several audiences",
            iss(),
            json!(["chat", "board"]),
            None,
        ),
        of(
            "another issuer",
            json!("https://id.example.org/"),
            json!("board"),
            Some(ISSUER),
        ),
        of("without issuer", json!(null), json!("board"), Some(ISSUER)),
        of("another audience", iss(), json!("chat"), Some(AUDIENCE)),
        of(
            "other audiences",
            iss(),
            json!(["chat", "boards"]),
            Some(AUDIENCE),
        ),
        of("without audience", iss(), json!(null), Some(AUDIENCE)),
    ]
}

#[tokio::test]
async fn every_token_by_a_shared_secret_is_taken_or_told_why_not() {
    let rows = [times(), users(), forms(), algorithms()].concat();
    assert!(rows.len() >= 40, "only {} rows", rows.len());
    let site = Site::with(|worker| worker.var("JWT_SECRET", SECRET));
    check(&site, &rows).await;
}

#[tokio::test]
async fn issuer_and_audience_must_be_those_configured() {
    let site = Site::with(|worker| {
        let worker = worker.var("JWT_SECRET", SECRET);
        let worker = worker.var("JWT_ISSUER", "https://id.example.com/");
        worker.var("JWT_AUDIENCE", "board")
    });
    check(&site, &meant()).await;
}
