//! Tokens by the keys of a key server.

use test_support::{Fault, Forwarder, Value, json};

use super::issuer::{Pair, answer, key_server, serve};
use super::row::{Row, Told, check};
use super::sign::{SECRET, claims, claims_with, hmac, hs256, now, token};
use crate::site::Site;

const UNKNOWN: &str = "The key that the user token names is not known.";
const SIGNATURE: &str = "The user token's signature is not right.";
const ALGORITHM: &str = "The user token is signed by an algorithm that is not taken here.";

fn site(server: &Forwarder) -> Site {
    Site::with(|worker| worker.var("JWKS_URL", &format!("{}/keys.json", server.url())))
}

fn by(pair: &Pair, alg: &str, kid: &str) -> String {
    pair.token(&json!({"alg": alg, "kid": kid}), &claims("42"))
}

fn invalid(what: &'static str, token: String, told: &'static str) -> Row {
    (what, token, Told::Invalid(told))
}

fn taken(what: &'static str, token: String) -> Row {
    (what, token, Told::Taken)
}

#[tokio::test]
async fn every_token_by_a_published_key_is_taken_or_told_why_not() {
    let (rsa, ec, ed, other) = (Pair::rsa(), Pair::ec(), Pair::ed(), Pair::ec());
    let server = key_server();
    let keys = [
        rsa.jwk("rsa"),
        ec.jwk("ec"),
        ed.jwk("ed"),
        other.jwk("other"),
    ];
    serve(&server, &keys);
    let site = site(&server);
    let modulus = rsa.jwk("rsa")["n"].as_str().expect("text").to_owned();
    let public = ed.jwk("ed")["x"].as_str().expect("text").to_owned();
    let hs = |kid: &str, secret: &str| {
        token(
            json!({"alg": "HS256", "kid": kid}),
            claims("42"),
            hmac(secret),
        )
    };
    let expired = claims_with(json!({"exp": now() - 90}));
    let mut tampered = by(&ec, "ES256", "ec");
    tampered.replace_range(tampered.len() - 8..tampered.len() - 4, "AAAA");
    let own = json!({"alg": "ES256", "kid": "mine", "jwk": Pair::ec().jwk("mine"), "jku": "http://127.0.0.1:1"});
    let unnamed = |pair: &Pair, alg: &str| pair.token(&json!({"alg": alg}), &claims("42"));
    let unsigned = token(json!({"alg": "none", "kid": "ec"}), claims("42"), |_| {
        Vec::new()
    });
    let rows = [
        taken("RS256", by(&rsa, "RS256", "rsa")),
        taken("ES256", by(&ec, "ES256", "ec")),
        taken("EdDSA", by(&ed, "EdDSA", "ed")),
        taken("the only RSA key, unnamed", unnamed(&rsa, "RS256")),
        taken("the only Ed25519 key, unnamed", unnamed(&ed, "EdDSA")),
        invalid("one of two keys, unnamed", unnamed(&ec, "ES256"), UNKNOWN),
        invalid("another key's name", by(&ec, "ES256", "other"), SIGNATURE),
        invalid(
            "a key that is not published",
            by(&Pair::ed(), "EdDSA", "ed"),
            SIGNATURE,
        ),
        invalid("an unknown name", by(&ec, "ES256", "new"), UNKNOWN),
        invalid("a name of another kind", by(&ec, "ES256", "rsa"), UNKNOWN),
        invalid("RS256 by an EC key", by(&ec, "RS256", "ec"), UNKNOWN),
        invalid("EdDSA by an EC key", by(&ec, "EdDSA", "ec"), UNKNOWN),
        invalid("tampered", tampered, SIGNATURE),
        invalid("the modulus as a secret", hs("rsa", &modulus), ALGORITHM),
        invalid("a public key as a secret", hs("ed", &public), ALGORITHM),
        invalid("a shared secret", hs256(&claims("42")), ALGORITHM),
        invalid("RS512", by(&rsa, "RS512", "rsa"), ALGORITHM),
        invalid("PS256", by(&rsa, "PS256", "rsa"), ALGORITHM),
        invalid("ES384", by(&ec, "ES384", "ec"), ALGORITHM),
        invalid("none", unsigned, ALGORITHM),
        invalid(
            "a key of its own",
            Pair::ec().token(&own, &claims("42")),
            UNKNOWN,
        ),
        invalid(
            "expired",
            ec.token(&json!({"alg": "ES256", "kid": "ec"}), &expired),
            "The user token has expired.",
        ),
    ];
    check(&site, &rows).await;
    // Once for all, and once more for the first unknown name.
    assert_eq!(server.count(), 2);
    assert_eq!(server.requests()[0].path, "/keys.json");
}

#[tokio::test]
async fn secret_and_key_server_each_take_their_own_algorithms() {
    let server = key_server();
    let ed = Pair::ed();
    serve(&server, &[ed.jwk("ed")]);
    let site = Site::with(|worker| {
        let worker = worker.var("JWT_SECRET", SECRET);
        worker.var("JWKS_URL", &server.url())
    });
    let public = ed.jwk("ed")["x"].as_str().expect("text").to_owned();
    let confused = token(
        json!({"alg": "HS256", "kid": "ed"}),
        claims("42"),
        hmac(public),
    );
    let by_secret = token(
        json!({"alg": "EdDSA", "kid": "ed"}),
        claims("42"),
        hmac(SECRET),
    );
    let rows = [
        taken("by the secret", hs256(&claims("42"))),
        taken("by the key", by(&ed, "EdDSA", "ed")),
        invalid("the public key as a secret", confused, SIGNATURE),
        invalid("the secret as a key", by_secret, SIGNATURE),
    ];
    check(&site, &rows).await;
}

#[tokio::test]
async fn a_rotated_key_is_asked_for_once_a_minute_at_most() {
    let (server, old, new) = (key_server(), Pair::ec(), Pair::ed());
    serve(&server, &[old.jwk("old")]);
    let site = site(&server);
    check(&site, &[taken("old", by(&old, "ES256", "old"))]).await;
    assert_eq!(server.count(), 1);
    serve(&server, &[new.jwk("new")]);
    let rows = [
        taken(
            "old as long as nothing new is seen",
            by(&old, "ES256", "old"),
        ),
        taken("new", by(&new, "EdDSA", "new")),
        invalid("old", by(&old, "ES256", "old"), UNKNOWN),
        invalid("unknown", by(&new, "EdDSA", "newer"), UNKNOWN),
        invalid("unknown again", by(&new, "EdDSA", "newest"), UNKNOWN),
    ];
    check(&site, &rows).await;
    assert_eq!(server.count(), 2);
}

fn faults() -> Vec<Fault> {
    let says = |status, text: &str| Fault::Answer(status, text.to_owned());
    let private = json!({"keys": [{"kty": "oct", "kid": "a", "k": "AAAA"}]}).to_string();
    let huge = format!("{{\"keys\":[]{}}}", " ".repeat(64 * 1024));
    vec![
        Fault::CutBefore,
        says(200, ""),
        says(200, "<html>"),
        says(200, "{}"),
        says(200, r#"{"keys":[]}"#),
        says(200, &private),
        says(200, &huge),
        says(302, ""),
        says(404, r#"{"keys":[]}"#),
        says(500, "error"),
        Fault::HangBefore,
    ]
}

#[tokio::test]
async fn while_the_key_server_is_down_slow_or_lying_the_old_keys_are_used() {
    let sites = faults().into_iter().map(|fault| async move {
        let (server, pair) = (key_server(), Pair::ec());
        serve(&server, &[pair.jwk("a")]);
        let site = site(&server);
        check(&site, &[taken("while it is up", by(&pair, "ES256", "a"))]).await;
        // The platform itself repeats a GET whose connection was cut.
        let asked = if fault == Fault::CutBefore {
            2..=3
        } else {
            2..=2
        };
        let what = format!("{fault:?}");
        answer(&server, fault);
        let rows = [
            invalid("unknown", by(&pair, "ES256", "b"), UNKNOWN),
            taken("known", by(&pair, "ES256", "a")),
            invalid("unknown again", by(&pair, "ES256", "c"), UNKNOWN),
        ];
        check(&site, &rows).await;
        assert!(
            asked.contains(&server.count()),
            "{what:.40}: {}",
            server.count()
        );
    });
    futures::future::join_all(sites).await;
}

fn unavailable() -> Value {
    json!({"type": "/problems/keys-unavailable", "title": "The key server did not answer",
        "status": 503, "detail": "Nothing was done; sending the same request again is safe."})
}

#[tokio::test]
async fn without_any_key_a_token_is_503_and_taken_once_the_server_is_back() {
    let sites = faults().into_iter().map(|fault| async move {
        let (server, pair) = (key_server(), Pair::ed());
        answer(&server, fault);
        let site = site(&server);
        let client = super::client_with(&site, &by(&pair, "EdDSA", "a"));
        let profile = json!({"name": "Ada"});
        let answered = client.put("/v1/users/42", &profile).await;
        answered.assert(503, unavailable());
        assert_eq!(answered.header("retry-after"), Some("1"));
        // A service needs no key server.
        site.put("/v1/users/42", &profile).await.assert_status(200);
        serve(&server, &[pair.jwk("a")]);
        test_support::until("an answer", async || {
            let answer = client.put("/v1/users/42", &profile).await;
            (answer.status == 200).then_some(())
        })
        .await;
    });
    futures::future::join_all(sites).await;
}
