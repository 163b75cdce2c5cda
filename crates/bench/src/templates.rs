//! Templates of the Worker's store requests. They are recorded from the Worker itself, so that the
//! peers send exactly the same requests, independent of key layout and scripts.

use crate::load::{TOP, user_id};
use crate::stack::{Stack, succeeded, worker_builder, write_profiles};
use serde::Serialize;
use std::time::{SystemTime, UNIX_EPOCH};
use test_support::{Answer, Forwarder, json};

const PREFIX: &str = "bench-templates";
const USER: &str = "somebody";
const TARGET: &str = "something";
/// The number of users on the board of the constant response.
const BOARD: usize = 30;

/// Pipelines as JSON with the placeholders `<user>`, `<target>` and `<now>`.
#[derive(Clone, Serialize)]
pub struct Templates {
    /// Counts a like.
    pub count: String,
    /// Reads the top 30 of the day.
    pub top: String,
    /// Reads a standing with two neighbours on either side.
    pub standing: String,
}

/// Responses of the Worker, for the contender with constant responses.
#[derive(Clone, Serialize)]
pub struct Responses {
    count: String,
    top: String,
}

impl Templates {
    /// Returns the templates for another key prefix.
    pub fn with_prefix(&self, prefix: &str) -> Self {
        let replace = |text: &String| text.replace(PREFIX, prefix);
        Self {
            count: replace(&self.count),
            top: replace(&self.top),
            standing: replace(&self.standing),
        }
    }
}

/// Records one request of each kind. This also loads the scripts into Redis.
pub async fn capture(stack: &Stack) -> Result<(Templates, Responses), String> {
    let forwarder = Forwarder::to(&stack.gateway.url());
    let worker = worker_builder(PREFIX);
    let worker = worker.store(&forwarder.url()).start();
    let api = worker.api();
    write_profiles(&api, BOARD).await?;
    let like = |user: &str| json!({"user": user, "action": "like", "target": TARGET});
    let likes: Vec<_> = (0..BOARD).map(|user| like(&user_id(user))).collect();
    api.post("/v1/activity", &json!(likes)).await;

    let before = now();
    let (count, counted) = record(&forwarder, api.post("/v1/activity", &like(USER))).await?;
    let (top, board) = record(&forwarder, api.get(TOP)).await?;
    let standing = format!("/v1/ranking/day/users/{USER}?around=2");
    let (standing, _) = record(&forwarder, api.get(&standing)).await?;
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
    let responses = Responses {
        count: counted,
        top: board,
    };
    Ok((templates, responses))
}

/// Waits for the response of a request to the Worker. Returns the body of its first store request, and
/// the response.
async fn record(
    forwarder: &Forwarder,
    request: impl Future<Output = Answer>,
) -> Result<(String, String), String> {
    forwarder.reset();
    let response = request.await;
    succeeded(&response)?;
    let requests = forwarder.requests();
    let first = requests.first();
    let first = first.ok_or("the Worker sent no request to its store")?;
    let pipeline = String::from_utf8_lossy(&first.body).into_owned();
    Ok((pipeline, response.text))
}

fn now() -> u128 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.unwrap_or_default().as_millis()
}
