//! What the Worker asks its store, taken down as it asks it, so that its peers ask the same word
//! for word whatever keys and scripts look like.

use crate::load::TOP;
use crate::stand::{Parts, patient, profiles};
use serde::Serialize;
use std::time::{SystemTime, UNIX_EPOCH};
use test_support::{Api, Forwarder, Method, json};

const PREFIX: &str = "bench-words";
const USER: &str = "somebody";
const TARGET: &str = "something";
/// How many are on the board that always the same answer shows.
const BOARD: usize = 30;

/// Pipelines as JSON, in which `<user>`, `<target>` and `<now>` stand for what differs.
#[derive(Clone, Serialize)]
pub struct Templates {
    /// Counts a like.
    pub count: String,
    /// Reads the top 30 of the day.
    pub top: String,
    /// Reads a standing with two neighbours on either side.
    pub standing: String,
}

/// What the Worker answers, for who answers always the same.
#[derive(Clone, Serialize)]
pub struct Answers {
    count: String,
    top: String,
}

impl Templates {
    /// The same for another key prefix.
    pub fn under(&self, prefix: &str) -> Self {
        let put = |text: &String| text.replace(PREFIX, prefix);
        Self {
            count: put(&self.count),
            top: put(&self.top),
            standing: put(&self.standing),
        }
    }
}

/// Asks the Worker once of each kind. Afterwards Redis knows the scripts too.
pub async fn capture(parts: &Parts) -> Result<(Templates, Answers), String> {
    let forwarder = Forwarder::to(&parts.gateway.url());
    let worker = patient(PREFIX);
    let worker = worker.store(&forwarder.url()).start();
    let api = worker.api();
    profiles(&api, BOARD).await?;
    let like = |user: &str| json!({"user": user, "action": "like", "target": TARGET});
    let likes: Vec<_> = (0..BOARD)
        .map(|user| like(&crate::load::name_of(user)))
        .collect();
    api.post("/v1/activity", &json!(likes)).await;

    let before = now();
    let (count, counted) = asked(
        &forwarder,
        &api,
        Method::POST,
        "/v1/activity",
        &like(USER).to_string(),
    )
    .await?;
    let (top, board) = asked(&forwarder, &api, Method::GET, TOP, "").await?;
    let standing = format!("/v1/ranking/day/users/{USER}?around=2");
    let (standing, _) = asked(&forwarder, &api, Method::GET, &standing, "").await?;
    let mut count = count.replace(USER, "<user>").replace(TARGET, "<target>");
    for instant in before..=now() {
        count = count.replace(&instant.to_string(), "<now>");
    }
    let standing = standing.replace(USER, "<user>");
    let templates = Templates {
        count,
        top,
        standing,
    };
    let answers = Answers {
        count: counted,
        top: board,
    };
    Ok((templates, answers))
}

/// What the Worker asks first when it is asked this, and what it answers.
async fn asked(
    forwarder: &Forwarder,
    api: &Api,
    method: Method,
    path: &str,
    body: &str,
) -> Result<(String, String), String> {
    forwarder.reset();
    let json = [("content-type", "application/json")];
    let answer = api.send(method, path, body.to_owned(), &json).await;
    if answer.status != 200 {
        return Err(format!("{path}: {} {}", answer.status, answer.text));
    }
    let requests = forwarder.requests();
    let first = requests.first().ok_or("the Worker did not ask its store")?;
    let pipeline = String::from_utf8_lossy(&first.body).into_owned();
    Ok((pipeline, answer.text))
}

fn now() -> u128 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.unwrap_or_default().as_millis()
}
