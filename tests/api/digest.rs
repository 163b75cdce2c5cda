//! `GET /v1/digest/{week}` and the feeds of past weeks.

use roxmltree::{Document, Node};
use test_support::{Fault, Value, json, peers, until};

use crate::app::TestApp;
use crate::bodies::{dated, like};
use crate::client::Client;
use crate::clock::{day, id, noon, period};
use crate::problem::problem;

/// A day of the last week, and one of the week before.
const LAST: i64 = 7;
const BEFORE: i64 = 14;

fn users() -> [String; 5] {
    peers(["a", "b", "c", "d", "e"])
}

/// Returns the path of the digest of the week with a day.
fn path(back: i64) -> String {
    format!("/v1/digest/{}", id("week", day(back)))
}

/// Counts likes of targets: a prefix and the numbers from 0 on.
async fn likes(app: &Client, user: &str, count: u32, prefix: &str, back: i64) {
    for target in 0..count {
        let like = dated(like(user, &format!("{prefix}{target}")), noon(back));
        app.counted(like).await;
    }
}

/// The ranks of the week before are a, b, c, d; the ranks of the last week are d, c, a, b, e.
async fn fill(app: &Client) {
    let [a, b, c, d, e] = &users();
    for (user, before, last) in [(a, 5, 3), (b, 4, 2), (c, 3, 4), (d, 2, 5), (e, 0, 1)] {
        for (count, back) in [(before, BEFORE), (last, LAST)] {
            likes(app, user, count, &format!("{back} "), back).await;
        }
    }
}

fn entry(rank: u32, previous: Option<u32>, score: u32, user: &str) -> Value {
    json!({"rank": rank, "previous_rank": previous, "score": score, "user": {"id": user}})
}

#[tokio::test]
async fn digest_has_winners_and_movers() {
    let app = TestApp::start();
    fill(&app).await;
    let [a, _, c, d, _] = &users();
    let winners = [
        entry(1, Some(4), 10, d),
        entry(2, Some(3), 8, c),
        entry(3, Some(1), 6, a),
    ];
    let expected = json!({
        "period": period("week", day(LAST)), "total": 5, "winners": winners, "movers": winners[..2],
    });
    app.assert_get(&format!("{}?utm_source=rss", path(LAST)), expected)
        .await;
    app.moderate(d, true, false).await;
    let winners = [entry(1, Some(3), 8, c), entry(2, Some(1), 6, a)];
    let after = app.read(&path(LAST)).await;
    assert_eq!(after["winners"].as_array().expect("winners")[..2], winners);
    assert_eq!(after["total"], 4);
    let empty = app.read(&path(BEFORE + 14)).await;
    let expected = json!({
        "period": period("week", day(BEFORE + 14)), "total": 0, "winners": [], "movers": [],
    });
    assert_eq!(empty, expected);
}

/// Of content and of authors, the first rows of their boards.
#[tokio::test]
async fn digest_has_content_and_authors() {
    let app = TestApp::with(|worker| worker.var("CONTENT_PERIODS", "week").cron());
    let [a, b, c, ..] = &users();
    for target in 0..5 {
        let body = json!({"author": a, "title": format!("Title {target}")});
        app.write(&format!("/v1/targets/{target}"), &body).await;
    }
    for (user, count) in [(b, 5), (c, 4)] {
        likes(&app, user, count, "", LAST).await;
    }
    app.minute().await;
    let digest = app.read(&path(LAST)).await;
    let date = format!("date={}&limit=3", day(LAST));
    for (name, board) in [("content", "content"), ("authors", "authors")] {
        let board = app.read(&format!("/v1/{board}/week?{date}")).await;
        assert_ne!(board["entries"], json!([]));
        assert_eq!(digest[name], board["entries"], "{name}");
    }
}

/// The numbers are the sums of the days, for everyone only with `PUBLIC_STATS`.
#[tokio::test]
async fn digest_has_public_numbers() {
    for is_public in [false, true] {
        let app = TestApp::with(|worker| {
            let worker = worker.journal().json("CRON_BUDGET", json!(1000));
            worker.json("PUBLIC_STATS", json!(is_public))
        });
        fill(&app).await;
        app.worker.minute().await;
        app.worker.tick().await;
        let digest = app.without_key().read(&path(LAST)).await;
        let numbers = json!({
            "new": 1, "activities": 15, "points": 30, "actions": {"like": {"count": 15, "points": 30}},
        });
        let expected = is_public.then_some(&numbers);
        assert_eq!(digest.get("numbers"), expected, "{is_public}");
    }
}

#[tokio::test]
async fn digests_and_feeds_are_cached_like_closed_boards() {
    let app = TestApp::with(|worker| worker.var("BOARD_MAX_AGE", "5"));
    for path in [
        path(0),
        "/v1/feed.atom".to_owned(),
        "/v1/feed.json".to_owned(),
    ] {
        let response = app.without_key().get(&path).await;
        response.assert_status(200);
        let control = "public, max-age=300, stale-if-error=86400";
        assert_eq!(response.header("cache-control"), Some(control), "{path}");
        let tag = response.header("etag").expect("a tag");
        let known = app.get_if_none_match(&path, tag).await;
        known.assert(304, json!(null));
    }
}

#[tokio::test]
async fn digest_of_other_weeks_is_refused() {
    let app = TestApp::start();
    let coming = problem("not-found", "The week has not begun.");
    app.get(&path(-7)).await.assert(404, coming);
    let app = TestApp::with(|worker| worker.var("PERIODS", "day,all"));
    for path in [
        path(LAST),
        "/v1/feed.atom".to_owned(),
        "/v1/feed.json".to_owned(),
    ] {
        let off = problem("not-found", "The period week is switched off.");
        app.get(&path).await.assert(404, off);
    }
}

fn text<'a>(node: Node<'a, '_>, name: &str) -> &'a str {
    let mut children = node.children();
    let child = children.find(|child| child.has_tag_name(name));
    child.and_then(|child| child.text()).unwrap_or_default()
}

#[tokio::test]
async fn feeds_have_the_winners_of_past_weeks() {
    let app = TestApp::with(|worker| worker.var("CONTENT_PERIODS", "week").cron());
    let [a, _, c, d, _] = &users();
    app.put_profile(
        d,
        json!({"name": "<b> \"R&D\"", "url": "https://example.com/d?a&b"}),
    )
    .await;
    let target = json!({"author": "9", "title": "1 < 2", "url": "https://example.com/p"});
    app.write(&format!("/v1/targets/{LAST}%200"), &target).await;
    fill(&app).await;
    app.minute().await;
    // The current week is not in a feed.
    app.count(a, "visit", "/").await;

    // Readers of feeds append parameters.
    let json = app.get("/v1/feed.json?utm_source=rss").await;
    json.assert_status(200);
    assert_eq!(json.header("content-type"), Some("application/feed+json"));
    let feed = &json.body;
    let home = feed["home_page_url"].as_str().expect("a URL");
    let origin = home.trim_end_matches('/');
    let item = |back: i64, html: &str| {
        let url = format!("{origin}{}", path(back));
        let title = format!("Most active members, {}", id("week", day(back)));
        json!({
            "id": url, "url": url, "title": title, "content_html": html,
            "date_published": period("week", day(back))["end"],
        })
    };
    let last = feed["items"][0]["content_html"].as_str().expect("HTML");
    let members = format!(
        "<p>Members on the board: 5</p><ol><li><a href=\"https://example.com/d?a&amp;b\"><bdi>&lt;b&gt; \
         &quot;R&amp;D&quot;</bdi></a>: 10</li><li><bdi>{c}</bdi>: 8</li><li><bdi>{a}</bdi>: 6</li></ol><h2>Content</h2>\
         <ol><li><a href=\"https://example.com/p\"><bdi>1 &lt; 2</bdi></a>: "
    );
    assert!(last.starts_with(&members), "{last}");
    assert!(last.contains("</ol><h2>Authors</h2><ol><li>"), "{last}");
    let before = "<p>Members on the board: 4</p><ol><li>";
    let html = feed["items"][1]["content_html"].as_str().expect("HTML");
    assert!(html.starts_with(before) && !html.contains("<h2>"), "{html}");
    let expected = json!({
        "version": "https://jsonfeed.org/version/1.1", "title": "Most active members",
        "home_page_url": home, "feed_url": format!("{origin}/v1/feed.json"),
        "authors": [{"name": "activity-rank"}], "items": [item(LAST, last), item(BEFORE, html)],
    });
    assert_eq!(*feed, expected);

    let atom = app.get("/v1/feed.atom?x=1").await;
    atom.assert_status(200);
    let media_type = "application/atom+xml; charset=utf-8";
    assert_eq!(atom.header("content-type"), Some(media_type));
    let document = Document::parse(&atom.text).expect("XML");
    let root = document.root_element();
    let name = root.tag_name();
    let expected = (Some("http://www.w3.org/2005/Atom"), "feed");
    assert_eq!((name.namespace(), name.name()), expected);
    assert_eq!(text(root, "title"), "Most active members");
    assert_eq!(text(root, "id"), format!("{origin}/v1/feed.atom"));
    let week = period("week", day(LAST));
    assert_eq!(text(root, "updated"), week["end"]);
    let entries = root.children().filter(|child| child.has_tag_name("entry"));
    let entries = entries.map(|entry| {
        json!({
            "id": text(entry, "id"), "url": text(entry, "id"), "title": text(entry, "title"),
            "content_html": text(entry, "content"), "date_published": text(entry, "updated"),
        })
    });
    assert_eq!(Value::Array(entries.collect()), feed["items"]);
}

#[tokio::test]
async fn digest_and_feeds_name_the_site() {
    let site = json!({"name": "R&D forum", "logo": "https://forum.example/logo.png"});
    let app = TestApp::with(|worker| worker.json("SITE", site.clone()));
    let digest = app.read(&path(LAST)).await;
    assert_eq!(digest["site"], site);
    let feed = app.read("/v1/feed.json").await;
    assert_eq!(feed["title"], "Most active members · R&D forum");
    assert_eq!(feed["icon"], site["logo"]);
    assert_eq!(feed["authors"], json!([{"name": "R&D forum"}]));
    let atom = app.get("/v1/feed.atom").await;
    let document = Document::parse(&atom.text).expect("XML");
    let root = document.root_element();
    assert_eq!(text(root, "title"), "Most active members · R&D forum");
    assert_eq!(text(root, "icon"), "https://forum.example/logo.png");
    let author = root.children().find(|child| child.has_tag_name("author"));
    assert_eq!(text(author.expect("an author"), "name"), "R&D forum");
}

/// Responses say that they are stale, except a feed that is not a JSON object.
#[tokio::test]
async fn digests_and_feeds_are_served_during_an_outage() {
    let (app, forwarder) =
        TestApp::behind_forwarder(|worker| worker.cached().var("BOARD_MAX_AGE", "0"));
    fill(&app).await;
    for path in [
        path(LAST),
        "/v1/feed.json".to_owned(),
        "/v1/feed.atom".to_owned(),
    ] {
        let before = app.get(&path).await;
        before.assert_status(200);
        forwarder.fail(|_| Some(Fault::CutBefore));
        let stale = until("a stored copy", async || {
            let response = app.get(&path).await;
            (response.status == 200).then_some(response)
        });
        let mut stale = stale.await;
        forwarder.fail(|_| None);
        assert_eq!(stale.header("content-type"), before.header("content-type"));
        if let Some(fields) = stale.body.as_object_mut() {
            assert_eq!(fields.remove("stale"), Some(json!(true)));
            assert!(fields.remove("as_of").is_some());
            assert_eq!(stale.body, before.body, "{path}");
        } else {
            assert_eq!(stale.text, before.text, "{path}");
        }
    }
}
