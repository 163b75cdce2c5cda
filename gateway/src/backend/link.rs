//! One connection to Redis that is made again whenever it breaks.
//!
//! The client library's own reconnecting connection lets requests wait for it; a gateway has to
//! refuse them at once, so that callers can fall back, and to try again on its own.

use std::{sync::Arc, time::Duration};

use redis::{AsyncConnectionConfig, Client, aio::MultiplexedConnection, cmd};
use tokio::{
    sync::{Notify, watch},
    time::{sleep, timeout},
};

const CONNECT: Duration = Duration::from_secs(2);
const FIRST_PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_secs(1);
/// An idle connection that was cut is found within this time, mostly before any request meets it.
const HEARTBEAT: Duration = Duration::from_millis(500);

#[derive(Clone)]
enum State {
    Connecting,
    Up(MultiplexedConnection),
    Down(String),
}

/// One supervised connection.
pub(super) struct Link {
    state: watch::Receiver<State>,
    suspicion: Arc<Notify>,
}

impl Link {
    /// Starts a task that keeps the connection for as long as this value lives.
    pub(super) fn open(client: Client, patience: Duration) -> Self {
        let (sender, state) = watch::channel(State::Connecting);
        let suspicion = Arc::new(Notify::new());
        tokio::spawn(keep(client, patience, sender, Arc::clone(&suspicion)));
        Self { state, suspicion }
    }

    /// Waits until it is known whether Redis is there.
    pub(super) async fn first_attempt(&mut self) {
        // An error means the task has ended, which leaves the state as it is.
        let _ = self
            .state
            .wait_for(|state| !matches!(state, State::Connecting))
            .await;
    }

    /// The connection, or why there is none.
    pub(super) fn connection(&self) -> Result<MultiplexedConnection, String> {
        match &*self.state.borrow() {
            State::Up(connection) => Ok(connection.clone()),
            State::Connecting => Err("connecting".to_owned()),
            State::Down(why) => Err(why.clone()),
        }
    }

    /// A request met an error: look at once instead of at the next heartbeat.
    pub(super) fn suspect(&self) {
        self.suspicion.notify_one();
    }
}

async fn keep(
    client: Client,
    patience: Duration,
    state: watch::Sender<State>,
    suspicion: Arc<Notify>,
) {
    // The library's own answer timeout of half a second would cut slow commands short; the
    // deadline of a request is kept by the backend.
    let config = AsyncConnectionConfig::new()
        .set_connection_timeout(Some(CONNECT))
        .set_response_timeout(None);
    let address = client.get_connection_info().addr().to_string();
    let mut pause = FIRST_PAUSE;
    let mut quiet = false;
    while !state.is_closed() {
        let why = match client
            .get_multiplexed_async_connection_with_config(&config)
            .await
        {
            Ok(connection) => {
                eprintln!("redis-rest: connected to redis at {address}");
                pause = FIRST_PAUSE;
                quiet = false;
                state.send_replace(State::Up(connection.clone()));
                watch_over(connection, patience, &state, &suspicion).await
            }
            Err(problem) => problem.to_string(),
        };
        if !quiet {
            // Once per outage: attempts go on silently.
            eprintln!("redis-rest: no connection to redis at {address}: {why}");
            quiet = true;
        }
        state.send_replace(State::Down(why));
        tokio::select! {
            () = sleep(pause) => {}
            () = state.closed() => {}
        }
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}

/// Returns when the connection is of no use any more, and why.
async fn watch_over(
    mut connection: MultiplexedConnection,
    patience: Duration,
    state: &watch::Sender<State>,
    suspicion: &Notify,
) -> String {
    loop {
        tokio::select! {
            () = sleep(HEARTBEAT) => {}
            () = suspicion.notified() => {}
            () = state.closed() => return "closed".to_owned(),
        }
        match timeout(patience, connection.send_packed_command(&cmd("PING"))).await {
            // Even an error Redis answers (loading, no permission) shows that it is there.
            Ok(Ok(_)) => {}
            Ok(Err(problem)) => return problem.to_string(),
            Err(_elapsed) => return format!("no answer within {} ms", patience.as_millis()),
        }
    }
}
