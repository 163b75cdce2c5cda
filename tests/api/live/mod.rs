//! `GET /v1/ranking/{period}/live`

mod away;
mod changed;
mod crowd;
mod opened;
mod resumed;
mod shared;
mod turned;

use std::time::{Duration, Instant};

use test_support::{Answer, Api, Event, Forwarder, Stream, WorkerBuilder, json};

use crate::site::Site;

/// A change is there so soon.
const SOON: Duration = Duration::from_secs(2);

/// A service whose requests to the store are counted, and that may be watched.
fn start() -> (Site, Forwarder) {
    start_with(|worker| worker)
}

fn start_with(configure: impl FnOnce(WorkerBuilder) -> WorkerBuilder) -> (Site, Forwarder) {
    let forwarder = Forwarder::to(&test_support::gateway().url());
    let site = Site::with(|worker| configure(worker.store(&forwarder.url()).live()));
    (site, forwarder)
}

/// A stream that is opened, with these headers.
async fn watch_with(site: &Site, path: &str, headers: &[(&str, &str)]) -> Stream {
    let stream = Api::new(site.url()).stream(path, headers).await;
    assert_eq!(stream.status(), 200, "{path}");
    stream
}

async fn watch(site: &Site, path: &str) -> Stream {
    watch_with(site, path, &[]).await
}

/// Fails the test unless an event is a board as it is answered to who asks for it.
#[track_caller]
fn is_board(event: &Event, board: &Answer) {
    assert_eq!((board.status, &event.data), (200, &board.text));
    let version = board.header("etag").map(|tag| tag.trim_matches('"'));
    let (name, id) = (event.name.as_str(), event.id.as_str());
    assert_eq!((name, Some(id)), ("board", version));
}

/// The next event, which has to be the board as it is and soon there.
async fn change(site: &Site, stream: &mut Stream, board: &str) {
    let asked = Instant::now();
    let event = stream.event().await;
    let late = asked.elapsed();
    is_board(&event, &site.get(board).await);
    assert!(late < SOON, "{board}: {late:?}");
}

/// Counts an activity of a user on the board of a group too.
async fn count_in(site: &Site, user: &str, target: &str, group: &str) {
    let like = json!({"user": user, "action": "like", "target": target, "groups": [group]});
    site.outcome(like, "counted").await;
}
