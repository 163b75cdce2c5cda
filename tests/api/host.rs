//! The client of the store that the host has, in place of the platform's: it makes the same promises.

use std::time::{Duration, Instant};

use activity_rank::redis::{Command, Failure, Pipeline, Store};
use test_support::{Api, Fault, Forwarder, TOKEN, gateway};

const DEADLINE: Duration = Duration::from_millis(500);

#[tokio::test]
async fn it_waits_no_longer_than_its_deadline_and_follows_nobody_elsewhere() {
    // The harness chooses the process' provider of cryptography; nothing here uses it.
    drop(Api::new(""));
    let (forwarder, elsewhere) = (
        Forwarder::to(&gateway().url()),
        Forwarder::to(&gateway().url()),
    );
    let store = Store::new(&forwarder.url(), TOKEN, 500, || 0);
    let ping = Pipeline::new(vec![Command::new("PING")]);
    let told = store.run(&ping).await.map(|replies| replies.len());
    assert_eq!(told, Ok(1));

    for fault in [
        Fault::CutBefore,
        Fault::HalfAnswer,
        Fault::HangBefore,
        Fault::HangInAnswer,
        Fault::Redirect(format!("{}/pipeline", elsewhere.url())),
        Fault::Answer(502, "Bad gateway".to_owned()),
    ] {
        forwarder.fail_next(fault.clone());
        let began = Instant::now();
        let Err(Failure::Unavailable(cause)) = store.run(&ping).await else {
            panic!("{fault:?}");
        };
        assert!(
            !cause.is_empty() && !cause.contains("//") && !cause.contains(TOKEN),
            "{fault:?}: {cause}"
        );
        assert!(began.elapsed() < 10 * DEADLINE, "{fault:?}");
    }
    assert_eq!(elsewhere.count(), 0);
    forwarder.fail_next(Fault::Answer(401, String::new()));
    assert_eq!(store.run(&ping).await, Err(Failure::Unauthorized));
}
