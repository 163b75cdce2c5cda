//! Published keys in the edge cache, where isolates find them that never asked the key server.
//!
//! Plain workerd has no cache, so these run in wrangler; restarted, it has its cache and nothing
//! else.

use test_support::{Fault, Forwarder, Wrangler, json};

use super::issuer::{Pair, answer, key_server, serve};
use super::row::{Row, Told, check};
use super::sign::claims;
use crate::client::Client;
use crate::site::patient;

fn by(pair: &Pair, kid: &str, told: Told) -> Row {
    let header = json!({"alg": "EdDSA", "kid": kid});
    ("a token", pair.token(&header, &claims("42")), told)
}

async fn told(wrangler: &Wrangler, rows: &[Row]) {
    check(&Client::new(wrangler.api()), rows).await;
}

#[tokio::test]
async fn keys_fetched_once_are_found_by_isolates_that_come_later_also_while_the_server_is_down() {
    let (server, old, new) = (key_server(), Pair::ed(), Pair::ed());
    let unknown = Told::Invalid("The key that the user token names is not known.");
    let by_old = |told| by(&old, "old", told);
    let by_new = |told| by(&new, "new", told);
    serve(&server, &[old.jwk("old")]);
    let start = patient().var("JWKS_URL", &server.url());
    let wrangler = start.start_wrangler();
    told(&wrangler, &[by_old(Told::Taken)]).await;
    assert_eq!(server.count(), 1);

    let down = || answer(&server, Fault::Answer(500, "down".to_owned()));
    down();
    let wrangler = wrangler.restart();
    told(&wrangler, &[by_old(Told::Taken)]).await;
    assert_eq!(server.count(), 1, "asked for what the cache has");
    // A key that is not there may be new: that alone is worth a question.
    let rows = [by_new(unknown.clone()), by_old(Told::Taken)];
    told(&wrangler, &rows).await;
    assert_eq!(server.count(), 2);

    serve(&server, &[new.jwk("new")]);
    let wrangler = wrangler.restart();
    let rows = [
        by_old(Told::Taken),
        by_new(Told::Taken),
        by_old(unknown.clone()),
    ];
    told(&wrangler, &rows).await;
    assert_eq!(server.count(), 3);

    // What the cache has now is what was fetched last.
    down();
    let wrangler = wrangler.restart();
    told(&wrangler, &[by_new(Told::Taken)]).await;
    assert_eq!(server.count(), 3);
    told(&wrangler, &[by_old(unknown)]).await;
}

/// Makes the keys in the cache older than they may be without asking for new ones.
async fn age(wrangler: Wrangler, server: &Forwarder) -> Wrangler {
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
    let wrangler = wrangler.replace(&script.replace("SERVER", &server.url()));
    let answer = wrangler.api().get("/").await;
    assert_eq!((answer.status, answer.text.as_str()), (200, "aged"));
    wrangler.restart()
}

#[tokio::test]
async fn old_keys_are_asked_for_anew_and_used_only_while_the_server_is_down() {
    let (server, old, new) = (key_server(), Pair::ed(), Pair::ed());
    serve(&server, &[old.jwk("old")]);
    let start = patient().var("JWKS_URL", &server.url());
    let wrangler = start.start_wrangler();
    told(&wrangler, &[by(&old, "old", Told::Taken)]).await;

    answer(&server, Fault::Answer(500, "down".to_owned()));
    let wrangler = age(wrangler, &server).await;
    told(&wrangler, &[by(&old, "old", Told::Taken)]).await;
    assert_eq!(server.count(), 2);

    serve(&server, &[new.jwk("new")]);
    let wrangler = wrangler.restart();
    let unknown = Told::Invalid("The key that the user token names is not known.");
    told(&wrangler, &[by(&old, "old", unknown)]).await;
    assert_eq!(server.count(), 3);
}

#[tokio::test]
async fn what_is_not_a_key_set_is_not_kept() {
    let (server, pair) = (key_server(), Pair::ed());
    answer(&server, Fault::Answer(200, r#"{"keys":[]}"#.to_owned()));
    let wrangler = patient().var("JWKS_URL", &server.url()).start_wrangler();
    let row = || by(&pair, "a", Told::Taken);
    let client = Client::new(wrangler.api().with_key(&row().1));
    let profile = json!({"name": "Ada"});
    let refused = client.put("/v1/users/42", &profile).await;
    refused.assert_status(503);
    serve(&server, &[pair.jwk("a")]);
    let wrangler = wrangler.restart();
    told(&wrangler, &[row()]).await;
    assert_eq!(server.count(), 2);
}
