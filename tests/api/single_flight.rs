//! Requests for the same URL that arrive while one is answered share its response:
//! `src/cache/shared.js`.

use std::collections::BTreeSet;

use futures::future::join_all;
use test_support::{Answer, Api, Fault, Forwarder, Method, Value, until};

use crate::app::TestApp;
use crate::bodies::{like, undo};
use crate::events::Event;

const READERS: usize = 24;
const STANDING: &str = "/v1/ranking/all/users/42";

/// Sends the same request many times at once, without a key.
async fn crowd(app: &TestApp, path: &str, headers: &[(&str, &str)]) -> Vec<Answer> {
    let api = Api::new(app.url());
    let read = |_| api.send(Method::GET, path, String::new(), headers);
    join_all((0..READERS).map(read)).await
}

/// Waits until the Worker has received the requests that were sent before: each later one needs a turn of its event
/// loop, which also reads all others that wait in a socket.
async fn until_received(url: &str) {
    let api = Api::new(url);
    for _ in 0..40 {
        api.get("/nowhere").await.assert_status(404);
    }
}

/// Sends requests while the store holds theirs, until the Worker has received all of them.
pub async fn together<T>(url: &str, forwarder: &Forwarder, requests: impl Future<Output = T>) -> T {
    forwarder.reset();
    forwarder.fail(|_| Some(Fault::Hold));
    let release = async {
        until_received(url).await;
        forwarder.heal();
    };
    futures::join!(requests, release).0
}

/// Returns the number of commands that the store received.
pub fn commands(forwarder: &Forwarder) -> usize {
    let requests = forwarder.requests();
    requests
        .iter()
        .map(|request| request.commands().len())
        .sum()
}

/// Starts a Worker with one user on the board, whose store has all scripts.
async fn start(max_age: &str) -> (TestApp, Forwarder) {
    let (app, forwarder) =
        TestApp::behind_forwarder(|worker| worker.var("BOARD_MAX_AGE", max_age).aborting());
    app.count("42", "like", "post-7").await;
    for path in PATHS {
        app.get(path).await.assert_status(200);
    }
    (app, forwarder)
}

const PATHS: [&str; 5] = [
    "/v1/ranking/all?limit=7",
    "/v1/ranking/day/winners",
    "/v1/ranking/day/users?ids=42,7",
    "/v1/ranking/day/users/42?around=2",
    STANDING,
];

/// Pages of several origins, and one of an origin that is not allowed.
#[tokio::test]
async fn origins_share_a_response() {
    let origins = [
        "https://a.example",
        "https://b.example",
        "https://c.example",
    ];
    let allowed = &origins[..2];
    let (app, forwarder) = TestApp::behind_forwarder(|worker| {
        let worker = worker.var("BOARD_MAX_AGE", "60").aborting();
        worker.var("ALLOWED_ORIGINS", &allowed.join(","))
    });
    app.count("42", "like", "post-7").await;
    app.get(STANDING).await.assert_status(200);
    let api = Api::new(app.url());
    for (path, exposed) in [
        (STANDING, "x-request-id"),
        ("/v1/ranking/all?limit=7", "etag, x-request-id"),
        ("/v1/ranking/all/users/8?around=9999", "x-request-id"),
    ] {
        let read = |number: usize| {
            let headers = [("origin", origins[number % 3])];
            let api = api.clone();
            async move { api.send(Method::GET, path, String::new(), &headers).await }
        };
        let reads = join_all((0..READERS).map(read));
        let answers = together(app.url(), &forwarder, reads).await;
        for (answer, origin) in answers.iter().zip(origins.iter().cycle()) {
            answer.assert(answers[0].status, answers[0].body.clone());
            let is_allowed = allowed.contains(origin);
            let expected = |value| is_allowed.then_some(value);
            assert_eq!(answer.header("vary"), Some("Origin"));
            let found = answer.header("access-control-allow-origin");
            assert_eq!(found, expected(*origin));
            let found = answer.header("access-control-expose-headers");
            assert_eq!(found, expected(exposed), "{path}");
        }
        assert!(commands(&forwarder) <= 1, "{path}");
    }
}

/// Reads a path many times at once. Returns one of the equal bodies.
async fn read_once(app: &TestApp, forwarder: &Forwarder, path: &str) -> Value {
    let answers = together(app.url(), forwarder, crowd(app, path, &[])).await;
    let ids = answers.iter().map(|answer| answer.header("x-request-id"));
    assert_eq!(ids.collect::<BTreeSet<_>>().len(), READERS, "{path}");
    for answer in &answers {
        answer.assert(200, answers[0].body.clone());
        for header in ["cache-control", "etag", "content-type"] {
            assert_eq!(answer.header(header), answers[0].header(header), "{path}");
        }
    }
    assert_eq!(commands(forwarder), 1, "{path}");
    answers[0].body.clone()
}

#[tokio::test]
async fn concurrent_readers_share_one_read() {
    let (app, forwarder) = start("0").await;
    for path in PATHS {
        read_once(&app, &forwarder, path).await;
    }
    let board = read_once(&app, &forwarder, PATHS[0]).await;
    assert_eq!(board["total"], 1);
    assert_eq!(
        read_once(&app, &forwarder, STANDING).await["score"],
        board["entries"][0]["score"]
    );
}

/// The readers of a board that no cache has yet, or not any more.
#[tokio::test]
async fn crowd_at_uncached_board_reads_it_once() {
    let (app, forwarder) = start("60").await;
    let path = "/v1/ranking/all?limit=8";
    let board = read_once(&app, &forwarder, path).await;
    for answer in crowd(&app, path, &[]).await {
        answer.assert(200, board.clone());
        assert!(answer.header("age").is_some(), "{}", answer.text);
    }
    assert_eq!(commands(&forwarder), 1);
}

/// A crowd that arrives before a write is answered must not answer a reader who comes after it.
#[tokio::test]
async fn reader_after_write_sees_it() {
    let (app, forwarder) = start("0").await;
    let score = |answer: &Answer| answer.body["score"].clone();
    let anonymous = app.without_key();
    for (activity, expected) in [
        (like("42", "post-8"), 4),
        (undo(like("42", "post-8")), 2),
        (like("42", "post-9"), 4),
    ] {
        // The store executes the read and responds after the write and the read of it.
        forwarder.fail_next(Fault::HoldResponse);
        let count = forwarder.count();
        let before = crowd(&app, STANDING, &[]);
        let write_and_read = async {
            let done = async || (forwarder.count() > count).then_some(());
            until("the first read", done).await;
            app.send_activity(activity).await.assert_status(200);
            let after = anonymous.get(STANDING).await;
            forwarder.heal();
            after
        };
        let (_, after) = futures::join!(before, write_and_read);
        assert_eq!(score(after.assert_status(200)), Value::from(expected));
    }
}

#[tokio::test]
async fn failed_read_is_shared() {
    let (app, forwarder) = start("0").await;
    forwarder.reset();
    forwarder.fail(|_| Some(Fault::HoldThenCut));
    let release = async {
        until_received(app.url()).await;
        forwarder.heal();
    };
    let (answers, ()) = futures::join!(crowd(&app, STANDING, &[]), release);
    for answer in answers {
        answer.assert_status(503);
        assert_eq!(answer.header("retry-after"), Some("1"));
    }
    assert_eq!(commands(&forwarder), 1);
    app.get(STANDING).await.assert_status(200);
}

/// The clients of the first readers go away while the store works.
#[tokio::test]
async fn aborted_leader_serves_its_followers() {
    let (app, forwarder) = start("0").await;
    forwarder.reset();
    forwarder.fail(|_| Some(Fault::Hold));
    let aborted = async {
        let aborted = crowd(&app, STANDING, &[("x-abort-after", "100")]).await;
        forwarder.heal();
        aborted
    };
    let (aborted, others) = futures::join!(aborted, crowd(&app, STANDING, &[]));
    assert!(aborted.iter().all(|answer| answer.status == 499));
    for answer in others {
        answer.assert_status(200);
    }
    assert_eq!(commands(&forwarder), 1);
}

/// The response may depend on who sends a key or token.
#[tokio::test]
async fn authenticated_readers_share_nothing() {
    let (app, forwarder) = start("0").await;
    let of_service = join_all((0..READERS).map(|_| app.get(STANDING)));
    let reads = async { futures::join!(crowd(&app, STANDING, &[]), of_service) };
    let (anonymous, service) = together(app.url(), &forwarder, reads).await;
    for answer in anonymous.iter().chain(&service) {
        answer.assert(200, anonymous[0].body.clone());
    }
    assert_eq!(commands(&forwarder), 1 + READERS);
}

#[tokio::test]
async fn shared_response_has_its_own_conditions() {
    let (app, forwarder) = start("5").await;
    let first = app.get("/v1/ranking/all?limit=9").await;
    let etag = first.header("etag").expect("an ETag");
    let (path, condition) = ("/v1/ranking/all?limit=8", [("if-none-match", etag)]);
    let reads = async { futures::join!(crowd(&app, path, &[]), crowd(&app, path, &condition)) };
    let (full, known) = together(app.url(), &forwarder, reads).await;
    for answer in full {
        answer.assert(200, first.body.clone());
    }
    for answer in known {
        assert_eq!((answer.status, answer.text.as_str()), (304, ""));
    }
    assert_eq!(commands(&forwarder), 1);
}

/// The readers of boards of content and of an event.
#[tokio::test]
async fn boards_of_every_kind_are_shared() {
    let (app, forwarder) = TestApp::behind_forwarder(|worker| {
        let worker = worker.var("CONTENT_PERIODS", "all");
        worker.var("BOARD_MAX_AGE", "60").aborting()
    });
    Event::new("spring").put(&app).await;
    for (path, other) in [
        ("/v1/content/all?limit=7", "/v1/content/all?limit=8"),
        ("/v1/authors/all?limit=7", "/v1/authors/all?limit=8"),
        (
            "/v1/events/spring/ranking?limit=7",
            "/v1/events/spring/ranking?limit=8",
        ),
    ] {
        app.get(path).await.assert_status(200);
        read_once(&app, &forwarder, other).await;
    }
}
