//! Redis commands of an activity with accounts, refusals and achievements, and without them.

use test_support::{Gateway, RedisOptions, RedisServer, WorkerBuilder, json};

use crate::app::TestApp;
use crate::bodies::{like, undo};
use crate::store::take_commands;

fn everything(worker: WorkerBuilder) -> WorkerBuilder {
    worker
        .json("MEMBER_ACCOUNTS", json!(true))
        .json("JOURNAL_REFUSED", json!(true))
        .var("REFUSED_DAYS", "90")
        .json("STREAK_FREEZES", json!(2))
        .json(
            "ACHIEVEMENTS",
            json!({"voter": {"name": "Voter", "count": "like"}}),
        )
}

/// Only an activity that does not count takes a command more, which adds it to the journal.
#[tokio::test]
async fn redis_commands_of_a_like_with_everything() {
    let server = RedisServer::spawn(RedisOptions::default());
    let gateway = Gateway::spawn(&server.url());
    let mut connection = server.connection();
    let start = |configure: fn(WorkerBuilder) -> WorkerBuilder| {
        let worker = |worker: WorkerBuilder| worker.store(&gateway.url()).json("SHARDS", json!(1));
        TestApp::with(|builder| configure(worker(builder)).journal())
    };
    let mut costs = Vec::new();
    for app in [start(|worker| worker), start(everything)] {
        app.count("42", "like", "loads").await;
        app.outcome(undo(like("42", "loads")), "undone").await;
        let mut cost = Vec::new();
        for (activity, outcome) in [
            (like("42", "a"), "counted"),
            (like("42", "a"), "duplicate"),
            (undo(like("42", "a")), "undone"),
        ] {
            take_commands(&mut connection);
            app.outcome(activity, outcome).await;
            cost.push(take_commands(&mut connection));
        }
        costs.push(cost);
    }
    let more = costs[1].iter().zip(&costs[0]);
    let more: Vec<u64> = more.map(|(more, plain)| more - plain).collect();
    assert_eq!(more, [0, 1, 0], "{costs:?}");
}
