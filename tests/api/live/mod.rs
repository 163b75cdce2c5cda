//! `GET /v1/ranking/{period}/live`: boards as a stream of server-sent events.

mod changes;
mod crowd;
mod midnight;
mod opening;
mod outage;
mod resume;
mod shared_reads;
mod watched;

use std::time::{Duration, Instant};

use activity_rank_store::scripts;
use test_support::{
    Answer, Api, Event, Forwarder, Recorded, Stream, WorkerBuilder, json, scaled, until,
};

use crate::app::TestApp;
use crate::bodies::{like, with};

/// Returns the longest time between a change and its event: the pause of a second between two reads of a board, and the
/// time that a machine takes.
fn max_delay() -> Duration {
    Duration::from_secs(1) + scaled(Duration::from_secs(10))
}

/// Starts a deployment with live boards, and the forwarder that counts its store requests.
fn start() -> (TestApp, Forwarder) {
    start_with(|worker| worker)
}

fn start_with(configure: impl FnOnce(WorkerBuilder) -> WorkerBuilder) -> (TestApp, Forwarder) {
    TestApp::behind_forwarder(|worker| configure(worker.live()))
}

async fn open(app: &TestApp, path: &str) -> Stream {
    open_with(app, path, &[]).await
}

/// Opens a stream with request headers.
async fn open_with(app: &TestApp, path: &str, headers: &[(&str, &str)]) -> Stream {
    let stream = Api::new(app.url()).stream(path, headers).await;
    assert_eq!(stream.status(), 200, "{path}");
    stream
}

/// Asserts that an event carries the same body and version as the response of the board route.
#[track_caller]
fn assert_board(event: &Event, board: &Answer) {
    assert_eq!((board.status, &event.data), (200, &board.text));
    let version = board.header("etag").map(|tag| tag.trim_matches('"'));
    let (name, id) = (event.name.as_str(), event.id.as_str());
    assert_eq!((name, Some(id)), ("board", version));
}

/// Asserts that the next event is the current board and arrives within [`max_delay`].
async fn assert_change(app: &TestApp, stream: &mut Stream, board: &str) {
    let started = Instant::now();
    let event = stream.event().await;
    let delay = started.elapsed();
    assert_board(&event, &app.get(board).await);
    assert!(delay < max_delay(), "{board}: {delay:?}");
}

/// Returns the requests that read a board.
pub fn board_reads(forwarder: &Forwarder) -> Vec<Recorded> {
    let mut requests = forwarder.requests();
    requests.retain(|request| {
        let commands = request.commands();
        commands
            .iter()
            .any(|command| command[1] == scripts::TOP.sha)
    });
    requests
}

/// Waits until the Worker has read no board for longer than it takes after a change.
async fn until_quiet(forwarder: &Forwarder) {
    let (mut count, mut since) = (0, Instant::now());
    let quiet = Duration::from_secs(1) + scaled(Duration::from_secs(1));
    until("a time without a board read", async || {
        let reads = board_reads(forwarder).len();
        if reads != count {
            (count, since) = (reads, Instant::now());
        }
        (since.elapsed() > quiet).then_some(())
    })
    .await;
}

/// Counts a like on the global board and on the board of a group.
async fn count_in_group(app: &TestApp, user: &str, target: &str, group: &str) {
    let like = with(like(user, target), json!({"groups": [group]}));
    app.counted(like).await;
}
