//! `sync discourse` with an address, against a server that answers as Discourse does.

use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use test_support::{Value, json};
use tokio::sync::Mutex;

use super::forum::Forum;
use super::{Source, assert_ends, boards, query, send_all, serve, start};
use crate::TestResult;
use crate::cli::{command, finish};
use crate::journal_app::JournalApp;
use crate::random::Random;
use crate::run::Run;

/// A listed topic of a restricted category, and an unlisted one. The public cannot read them.
const RESTRICTED: u64 = 901;
const UNLISTED: u64 = 902;
/// Posts of the unlisted topic.
const UNLISTED_POSTS: std::ops::RangeInclusive<u64> = 9021..=9045;

/// A forum, and what it does to its next requests.
pub struct StandIn {
    forum: Forum,
    /// The posts that are solutions, with the plugin.
    pub solutions: Option<Vec<u64>>,
    is_limited: bool,
    is_broken: bool,
}

type Shared = Arc<Mutex<StandIn>>;

fn post(id: u64, topic: u64, number: u64, user: u64, category: Option<u64>) -> Value {
    let mut post = json!({"id": id, "user_id": user, "username": format!("user-{user}"), "name": "", "topic_id": topic,
        "post_number": number, "post_type": 1, "created_at": "2026-11-02T08:00:00.000Z", "deleted_at": null,
        "user_deleted": false, "actions_summary": []});
    if let Some(category) = category {
        post["category_id"] = json!(category);
        post["topic_title"] = json!(format!("Topic {topic}"));
        post["topic_slug"] = json!("topic");
    }
    post
}

/// Starts a server with a forum without the plugin of solutions.
pub async fn start_server(forum: Forum) -> std::io::Result<(Shared, String)> {
    let site = Shared::new(Mutex::new(StandIn {
        forum,
        solutions: None,
        is_limited: false,
        is_broken: false,
    }));
    let url = serve(Router::new().fallback(respond).with_state(site.clone())).await?;
    Ok((site, url))
}

/// Returns the posts of listed topics, from the newest on.
fn listed_posts(site: &StandIn) -> Vec<Value> {
    let (forum, solutions) = (&site.forum, &site.solutions);
    let shown = forum.posts.iter().filter(|(id, _)| forum.is_shown(**id));
    let posts = shown.map(|(id, found)| {
        let number = if found.is_first { 1 } else { id + 1 };
        let mut post = post(*id, found.topic, number, found.author, Some(1));
        post["created_at"] = json!(found.at.to_string());
        let likes = forum.likes.keys().filter(|(_, liked)| liked == id).count();
        post["actions_summary"] = json!([{"id": 2, "count": likes}, {"id": 3, "count": 1}]);
        if let Some(solutions) = solutions {
            post["accepted_answer"] = json!(solutions.contains(id));
        }
        post
    });
    let mut posts: Vec<Value> = posts.collect();
    let mut deleted = post(9013, RESTRICTED, 3, 3, Some(2));
    deleted["user_deleted"] = json!(true);
    let mut system = post(9012, RESTRICTED, 2, 3, Some(2));
    system["user_id"] = json!(-1);
    posts.extend([post(9011, RESTRICTED, 1, 3, Some(2)), system, deleted]);
    posts.reverse();
    posts
}

async fn respond(State(site): State<Shared>, uri: Uri, headers: HeaderMap) -> Response {
    assert_eq!(headers["api-key"], "discourse-key");
    assert_eq!(headers["api-username"], "system");
    let query = query(&uri);
    let mut site = site.lock().await;
    let number = |name: &str| -> Option<u64> { query.get(name)?.parse().ok() };
    if std::mem::take(&mut site.is_limited) {
        let body = json!({"errors": ["Slow down."], "error_type": "rate_limit"});
        let headers = [("retry-after", "0")];
        return (StatusCode::TOO_MANY_REQUESTS, headers, axum::Json(body)).into_response();
    }
    let unlisted = UNLISTED_POSTS.map(|id| post(id, UNLISTED, id - 9020, 3, None));
    let unlisted: Vec<Value> = unlisted.collect();
    let answer = match uri.path() {
        "/site.json" => json!({"categories": [{"id": 1, "read_restricted": false}]}),
        "/c/2/show.json" => json!({"category": {"id": 2, "read_restricted": true}}),
        "/posts.json" if site.is_broken && query.contains_key("before") => {
            return StatusCode::BAD_GATEWAY.into_response();
        }
        "/posts.json" => {
            let posts = listed_posts(&site).into_iter();
            let before = number("before").unwrap_or(u64::MAX);
            let posts = posts.filter(|post| post["id"].as_u64() < Some(before));
            json!({"latest_posts": posts.take(50).collect::<Vec<_>>()})
        }
        "/latest.json" => {
            assert_eq!(query["status"], "unlisted");
            json!({"topic_list": {"topics": [{"id": UNLISTED, "visible": false}]}})
        }
        "/t/902.json" => {
            let stream: Vec<&Value> = unlisted.iter().map(|post| &post["id"]).collect();
            json!({"id": UNLISTED, "user_id": 3, "created_at": "2026-11-02T08:00:00.000Z", "title": "Secret", "slug": "secret",
                "category_id": 1, "archetype": "regular", "visible": false, "deleted_at": null,
                "post_stream": {"posts": unlisted.get(..20), "stream": stream}})
        }
        "/t/902/posts.json" => {
            let ids = uri.query().unwrap_or_default().matches("post_ids");
            assert_eq!(ids.count(), 5);
            json!({"post_stream": {"posts": unlisted.get(20..)}})
        }
        "/post_action_users.json" => {
            let likes = site.forum.likes.keys();
            let likes = likes.filter(|(_, post)| Some(*post) == number("id"));
            let member = |(id, _): &(u64, u64)| json!({"id": id, "username": format!("user-{id}")});
            json!({"post_action_users": likes.map(member).collect::<Vec<_>>()})
        }
        path => return (StatusCode::NOT_FOUND, path.to_owned()).into_response(),
    };
    axum::Json(answer).into_response()
}

/// Runs `sync` with the address of the forum.
pub fn sync(app: &JournalApp, url: &str, args: &[&str]) -> std::io::Result<Run> {
    let all = ["sync", "discourse", url, "--retries", "0"];
    let mut command = command(app, &[&all, args].concat());
    command.env("DISCOURSE_API_KEY", "discourse-key");
    command.env("DISCOURSE_API_USERNAME", "system");
    finish(command)
}

/// The API gives the same boards as the dump, after random changes too.
#[tokio::test(flavor = "multi_thread")]
async fn sync_reads_discourse_api() -> TestResult {
    let (app, source) = (start(), Source::new()?);
    let (mut forum, mut random) = (Forum::new(20), Random::new(11));
    for _ in 0..240 {
        forum.change(&mut random);
    }
    let (site, url) = start_server(forum.clone()).await?;
    site.lock().await.is_limited = true;
    // A webhook from before the topic was unlisted.
    let unlisted = json!({"user": "discourse:3", "action": "comment", "target": "discourse:post:9045", "on": "discourse:topic:902"});
    app.send(unlisted).await;
    let synced = sync(&app, &url, &[])?.assert_code(0);
    assert_eq!(synced.stderr, "rate limit of Discourse: waiting 0 s\n");
    assert_ends(&sync(&app, &url, &["--compare"])?, 0, "0 differ");
    let compared = source.discourse(&app, &forum, &["--compare"])?;
    assert_ends(&compared, 4, "1 differ");
    let expected = |forum: &Forum| {
        let [mut members, authors, targets] = forum.points();
        *members.entry("discourse:3".to_owned()).or_default() += 3;
        [members, authors, targets]
    };
    let shown = |mut boards: [std::collections::BTreeMap<String, i64>; 3]| {
        boards[2].remove("discourse:topic:902");
        boards
    };
    assert_eq!(shown(boards(&app).await), expected(&forum));
    let topic = app.api.get("/v1/targets/discourse:topic:902").await;
    assert_eq!(topic.status, 404, "{}", topic.text);

    for _ in 0..120 {
        let deliveries = forum.change(&mut random);
        if random.below(3) > 0 {
            send_all(&app, &deliveries).await;
        }
    }
    site.lock().await.forum = forum.clone();
    // A part of the source heals nothing.
    let before = boards(&app).await;
    site.lock().await.is_broken = true;
    sync(&app, &url, &["--heal"])?.assert_error(3, "status 502");
    assert_eq!(boards(&app).await, before);
    site.lock().await.is_broken = false;
    assert_ends(&sync(&app, &url, &["--heal"])?, 0, "0 differ");
    assert_eq!(shown(boards(&app).await), expected(&forum));
    Ok(())
}

/// A vote for a topic counts by its webhook, and the API is not read for votes.
#[tokio::test(flavor = "multi_thread")]
async fn discourse_api_leaves_votes_of_topics() -> TestResult {
    let app = start();
    let mut forum = Forum::new(3);
    forum.add_topic(1);
    let (_, url) = start_server(forum).await?;
    assert_eq!(sync(&app, &url, &[])?.code, Some(0));
    app.act("discourse:2", "like", "discourse:topic:1").await;
    let counted = boards(&app).await;
    app.act("discourse:2", "like", "discourse:post:1").await;
    let expected = "too many: discourse:2 like discourse:post:1\n1 differ\n";
    sync(&app, &url, &["--compare"])?.assert_stdout(4, expected);
    assert_ends(&sync(&app, &url, &["--heal"])?, 0, "0 differ");
    assert_eq!(boards(&app).await, counted);
    Ok(())
}
