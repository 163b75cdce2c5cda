//! `BADGE_KEY` and `BADGE_ISSUER`: credentials of achievements, and their issuer.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED, ED25519, RSA_PKCS1_2048_8192_SHA256, RsaPublicKeyComponents,
    UnparsedPublicKey, VerificationAlgorithm,
};
use test_support::{SERVICE_KEY, Value, json, peer};

use crate::app::TestApp;
use crate::bodies::{activity, with};
use crate::problem::{NO_PARAMETERS, field_error, problem};

/// Not the host of the requests.
const ISSUER: &str = "https://rank.example.com";
const AT: &str = "2026-11-20T08:00:00.25Z";
const CONTEXT: [&str; 2] = [
    "https://www.w3.org/ns/credentials/v2",
    "https://purl.imsglobal.org/spec/ob/v3p0/context-3.0.3.json",
];

/// The key of RFC 8037, appendix A.
fn ed() -> Value {
    json!({"kty": "OKP", "crv": "Ed25519", "key_ops": ["sign"],
        "d": "nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A", "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"})
}

/// The key of RFC 7515, appendix A.3.
fn ec() -> Value {
    json!({"kty": "EC", "crv": "P-256", "d": "jpsQnnGQmL-YBIffH1136cspYG6-0iY7X1fCE9-E9LI",
        "x": "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU", "y": "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"})
}

fn bytes(text: &str) -> Vec<u8> {
    URL_SAFE_NO_PAD.decode(text).expect("base64url")
}

fn part(text: &str) -> Value {
    serde_json::from_slice(&bytes(text)).expect("JSON")
}

/// Starts a deployment in which users have achievements after a run of cron.
fn start(key: Value) -> TestApp {
    TestApp::with(|worker| {
        let achievements = json!({
            "voter": {"name": {"en": "Voter", "de": "Wähler"}, "description": "Likes \"posts\".", "steps": [1, 3, 9],
                "icon": "https://example.com/voter.png", "count": "like"},
            "first": {"name": "First", "points": true},
        });
        let worker = worker.journal().json("ACHIEVEMENTS", achievements);
        let site = json!({"name": "Demo", "url": "https://example.com", "logo": "https://example.com/logo.png"});
        let worker = worker.json("SITE", site).json("BADGE_KEY", key);
        worker.var("BADGE_ISSUER", ISSUER)
    })
}

/// Gives a user the first two steps.
async fn earn(app: &TestApp, user: &str) {
    let likes = (0..4).map(|target| {
        let like = activity(user, "like", &target.to_string());
        with(like, json!({"at": AT}))
    });
    let likes: Vec<Value> = likes.collect();
    app.send_activity(json!(likes)).await.assert_status(200);
    app.worker.minute().await;
}

fn path(user: &str, rest: &str) -> String {
    format!("/v1/users/{user}/achievements/{rest}")
}

#[tokio::test]
async fn credential_has_the_step_and_the_issuer() {
    let app = start(ed());
    let user = &peer("a|b");
    earn(&app, user).await;
    let escaped = &user.replace('|', "%7C");
    let response = app.get(&path(escaped, "voter/credential")).await;
    response.assert_status(200);
    assert_eq!(
        (
            response.header("content-type"),
            response.header("cache-control")
        ),
        (Some("application/vc+jwt"), Some("no-store"))
    );
    let origin = ISSUER;
    let mut parts = response.text.split('.');
    let header = part(parts.next().expect("a header"));
    let keys = app.read("/v1/issuer/keys").await;
    let key = &keys["keys"][0];
    assert_eq!(keys["keys"].as_array().map(Vec::len), Some(1));
    let id = key["kid"].as_str().expect("an id");
    let kid = format!("{origin}/v1/issuer/keys/{id}");
    assert_eq!(header, json!({"alg": "EdDSA", "kid": kid, "typ": "JWT"}));
    let expected =
        json!({"kty": "OKP", "crv": "Ed25519", "x": ed()["x"], "alg": "EdDSA", "kid": id});
    let response = app.get(&format!("/v1/issuer/keys/{id}")).await;
    response.assert(200, expected);

    let issuer = json!({"id": format!("{origin}/v1/issuer"), "type": ["Profile"], "name": "Demo",
        "url": "https://example.com", "image": {"id": "https://example.com/logo.png", "type": "Image"}});
    let url = format!("{origin}/v1/users/{escaped}/achievements/voter/credential?step=3");
    let subject = format!("{origin}/u/{escaped}");
    let expected = json!({
        "iss": issuer["id"], "jti": url, "sub": subject, "nbf": 1_795_161_600,
        "@context": CONTEXT, "id": url, "type": ["VerifiableCredential", "OpenBadgeCredential"],
        "name": "Voter 3", "issuer": issuer, "validFrom": "2026-11-20T08:00:00Z",
        "credentialSubject": {"id": subject, "type": ["AchievementSubject"], "achievement": {
            "id": format!("{origin}/v1/achievements#voter-3"), "type": ["Achievement"], "name": "Voter 3",
            "description": "Likes \"posts\".", "criteria": {"narrative": "Likes \"posts\". (3)"},
            "image": {"id": "https://example.com/voter.png", "type": "Image"}}},
        "credentialSchema": [{"type": "1EdTechJsonSchemaValidator2019",
            "id": "https://purl.imsglobal.org/spec/ob/v3p0/schema/json/ob_v3p0_achievementcredential_schema.json"}],
    });
    assert_eq!(part(parts.next().expect("claims")), expected);
    let mut document = issuer;
    document["@context"] = json!(CONTEXT);
    app.get("/v1/issuer").await.assert(200, document);

    // The texts of a language.
    let german = app
        .get(&path(escaped, "voter/credential?step=1&lang=de"))
        .await;
    let claims = part(german.text.split('.').nth(1).expect("claims"));
    assert_eq!(claims["name"], "Wähler 1");
}

#[tokio::test]
async fn signatures_are_valid_by_every_algorithm() {
    let rsa = part(include_str!("rsa.jwk").trim());
    let [n, e] = ["n", "e"].map(|field| bytes(rsa[field].as_str().expect("a number")));
    let user = &peer("42");
    for (key, algorithm) in [(ed(), "EdDSA"), (ec(), "ES256"), (rsa, "RS256")] {
        let app = start(json!({"keys": [key, ec()]}));
        earn(&app, user).await;
        let token = app.get(&path(user, "first/credential")).await.text.clone();
        let (signed, signature) = token.rsplit_once('.').expect("a signature");
        let header = signed.split('.').next().expect("a header");
        assert_eq!(part(header)["alg"], algorithm);
        let (signed, signature) = (signed.as_bytes(), bytes(signature));
        let x = bytes(key["x"].as_str().unwrap_or_default());
        let y = bytes(key["y"].as_str().unwrap_or_default());
        let verify = |kind: &'static dyn VerificationAlgorithm, key: Vec<u8>| {
            UnparsedPublicKey::new(kind, key).verify(signed, &signature)
        };
        let verified = match algorithm {
            "EdDSA" => verify(&ED25519, x),
            "ES256" => verify(&ECDSA_P256_SHA256_FIXED, [vec![4], x, y].concat()),
            _ => RsaPublicKeyComponents { n: &n, e: &e }.verify(
                &RSA_PKCS1_2048_8192_SHA256,
                signed,
                &signature,
            ),
        };
        assert_eq!(verified, Ok(()), "{algorithm}");
        let keys = app.read("/v1/issuer/keys").await;
        assert_eq!(keys["keys"][1]["x"], ec()["x"]);
    }
}

#[tokio::test]
async fn steps_that_a_user_lacks_are_not_found() {
    let app = start(ed());
    let [user, hidden] = &["42", "43"].map(peer);
    earn(&app, user).await;
    earn(&app, hidden).await;
    app.put_profile(hidden, json!({"hidden": true})).await;
    let missing = |user: &str| {
        let detail = format!("The user {user} does not have this achievement.");
        problem("not-found", &detail)
    };
    for rest in [
        "voter/credential?step=9",
        "voter/credential?step=2",
        "other/credential",
    ] {
        app.get(&path(user, rest)).await.assert(404, missing(user));
    }
    let unknown = &peer("44");
    let visitor = app.without_key();
    for user in [hidden, unknown] {
        let response = visitor.get(&path(user, "voter/credential")).await;
        response.assert(404, missing(user));
    }
    let service = app.with_key(SERVICE_KEY);
    let response = service.get(&path(hidden, "voter/credential")).await;
    response.assert_status(200);
    let response = app.get("/v1/issuer/keys/other").await;
    let expected = problem("not-found", "The issuer has no key with this id.");
    response.assert(404, expected);
    let response = app.get("/v1/issuer?x=1").await;
    response.assert(400, field_error("x", NO_PARAMETERS).body());
}

/// The platform imports a key when it signs first.
#[tokio::test]
async fn key_that_cannot_sign_is_a_misconfiguration() {
    let mut key = ed();
    key["d"] = json!("AA");
    let app = start(key);
    let user = &peer("42");
    earn(&app, user).await;
    let response = app.get(&path(user, "voter/credential")).await;
    let expected = problem("misconfigured", "BADGE_KEY: is no key that can sign");
    response.assert(500, expected);
}
