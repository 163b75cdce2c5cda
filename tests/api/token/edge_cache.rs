//! The key set in the edge cache, which isolates share.
//!
//! These tests run in Miniflare. A restarted Miniflare keeps its cache
//! and nothing else.

use test_support::{Fault, Forwarder, Worker, json};

use super::issuer::{Pair, fail, key_server, serve};
use super::row::{Expected, Row, check};
use super::sign::claims;
use crate::client::Client;

const UNKNOWN: Expected = Expected::Invalid("The user token was signed by an unknown key.");

fn row(pair: &Pair, kid: &str, expected: Expected) -> Row {
    let header = json!({"alg": "EdDSA", "kid": kid});
    ("a token", pair.token(&header, &claims("42")), expected)
}

fn accepted(pair: &Pair, kid: &str) -> Row {
    row(pair, kid, Expected::Accepted)
}

fn start(server: &Forwarder) -> Worker {
    Worker::builder()
        .var("JWKS_URL", &server.url())
        .miniflare()
        .start()
}

async fn check_rows(miniflare: &Worker, rows: &[Row]) {
    check(&Client::new(miniflare.api()), rows).await;
}

fn down() -> Fault {
    Fault::Respond(500, "down".to_owned())
}

/// A new isolate uses the cached key set, also while the key server is down. Only an unknown key
/// id causes a fetch, which replaces the cached set.
#[tokio::test]
async fn edge_cached_keys_outlive_isolates_and_outages() {
    let (server, old, new) = (key_server(), Pair::ed(), Pair::ed());
    serve(&server, &[old.jwk("old")]);
    let miniflare = start(&server);
    check_rows(&miniflare, &[accepted(&old, "old")]).await;
    assert_eq!(server.count(), 1);

    fail(&server, down());
    let miniflare = miniflare.restart();
    check_rows(&miniflare, &[accepted(&old, "old")]).await;
    assert_eq!(server.count(), 1, "fetched although cached");
    let rows = [row(&new, "new", UNKNOWN), accepted(&old, "old")];
    check_rows(&miniflare, &rows).await;
    assert_eq!(server.count(), 2);

    serve(&server, &[new.jwk("new")]);
    let miniflare = miniflare.restart();
    let rows = [
        accepted(&old, "old"),
        accepted(&new, "new"),
        row(&old, "old", UNKNOWN),
    ];
    check_rows(&miniflare, &rows).await;
    assert_eq!(server.count(), 3);

    fail(&server, down());
    let miniflare = miniflare.restart();
    check_rows(&miniflare, &[accepted(&new, "new")]).await;
    assert_eq!(server.count(), 3);
    check_rows(&miniflare, &[row(&old, "old", UNKNOWN)]).await;
}

/// Makes the cached key set older than its maximum age.
async fn expire_cache(miniflare: Worker, server: &Forwarder) -> Worker {
    let script = r"export default {
      async fetch() {
        const name = 'https://activity-rank.invalid/keys?' + encodeURIComponent('SERVER');
        const { headers, body } = await caches.default.match(name);
        const aged = new Headers(headers);
        aged.set('x-made', String(headers.get('x-made') - 601000));
        await caches.default.put(name, new Response(body, { headers: aged }));
        return new Response('aged');
      },
    };";
    let miniflare = miniflare.replace(&script.replace("SERVER", &server.url()));
    let response = miniflare.api().get("/").await;
    assert_eq!((response.status, response.text.as_str()), (200, "aged"));
    miniflare.restart()
}

/// Expired keys are fetched again. They are used only while the key server is down.
#[tokio::test]
async fn expired_cached_keys_serve_only_during_outage() {
    let (server, old, new) = (key_server(), Pair::ed(), Pair::ed());
    serve(&server, &[old.jwk("old")]);
    let miniflare = start(&server);
    check_rows(&miniflare, &[accepted(&old, "old")]).await;

    fail(&server, down());
    let miniflare = expire_cache(miniflare, &server).await;
    check_rows(&miniflare, &[accepted(&old, "old")]).await;
    assert_eq!(server.count(), 2);

    serve(&server, &[new.jwk("new")]);
    let miniflare = miniflare.restart();
    check_rows(&miniflare, &[row(&old, "old", UNKNOWN)]).await;
    assert_eq!(server.count(), 3);
}

#[tokio::test]
async fn invalid_key_set_is_not_cached() {
    let (server, pair) = (key_server(), Pair::ed());
    fail(&server, Fault::Respond(200, r#"{"keys":[]}"#.to_owned()));
    let miniflare = start(&server);
    let row = accepted(&pair, "a");
    let client = Client::new(miniflare.api().with_key(&row.1));
    let profile = json!({"name": "Ada"});
    let refused = client.put("/v1/users/42", &profile).await;
    refused.assert_status(503);
    serve(&server, &[pair.jwk("a")]);
    let miniflare = miniflare.restart();
    check_rows(&miniflare, &[row]).await;
    assert_eq!(server.count(), 2);
}
