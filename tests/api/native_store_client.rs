//! The store client of native builds behaves like that of the Worker.

use std::time::{Duration, Instant};

use activity_rank_store::redis::transport::{Endpoint, ReqwestTransport};
use activity_rank_store::redis::{Client, Command, Pipeline, StoreError};
use test_support::{Api, Fault, Forwarder, TOKEN, gateway};

const DEADLINE: Duration = Duration::from_millis(500);

#[tokio::test]
async fn native_client_times_out_and_never_redirects() {
    // Creating a client of the harness selects the TLS provider of the process.
    drop(Api::new(""));
    let (forwarder, other) = (
        Forwarder::to(&gateway().url()),
        Forwarder::to(&gateway().url()),
    );
    let endpoint = Endpoint::new(&forwarder.url(), TOKEN, 500);
    let transport = Box::new(ReqwestTransport::new(endpoint));
    let store = Client::new(transport, 500, || 0);
    let ping = Pipeline::new(vec![Command::new("PING")]);
    let replies = store.run(&ping).await.map(|replies| replies.len());
    assert_eq!(replies, Ok(1));

    for fault in [
        Fault::CutBefore,
        Fault::PartialResponse,
        Fault::HangBefore,
        Fault::HangInResponse,
        Fault::Redirect(format!("{}/pipeline", other.url())),
        Fault::Respond(502, "Bad gateway".to_owned()),
    ] {
        forwarder.fail_next(fault.clone());
        let start = Instant::now();
        let Err(StoreError::Unavailable(cause)) = store.run(&ping).await else {
            panic!("{fault:?}");
        };
        assert!(
            !cause.is_empty() && !cause.contains("//") && !cause.contains(TOKEN),
            "{fault:?}: {cause}"
        );
        assert!(start.elapsed() < 10 * DEADLINE, "{fault:?}");
    }
    assert_eq!(other.count(), 0);
    forwarder.fail_next(Fault::Respond(401, String::new()));
    assert_eq!(store.run(&ping).await, Err(StoreError::Unauthorized));
}
