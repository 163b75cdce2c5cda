//! One connection to Redis that reconnects after every failure.
//!
//! The reconnecting connection of the client library delays requests while it reconnects, and detects
//! a broken connection only when a request fails. Here a task watches the driver of the connection.
//! It detects the end of the connection at once, and requests fail immediately while it reconnects.

use std::{io, time::Duration};

use redis::{AsyncConnectionConfig, ConnectionInfo, RedisResult, aio::MultiplexedConnection, cmd};
use tokio::{
    sync::watch,
    task::JoinHandle,
    time::{sleep, timeout},
};

use super::{transport, utf8_lines::Utf8Lines};

const CONNECT_TIMEOUT: Duration = Duration::from_secs(2);
const FIRST_DELAY: Duration = Duration::from_millis(50);
const MAX_DELAY: Duration = Duration::from_secs(1);
/// Interval of PING, which detects a peer that disappeared without closing the connection.
const HEARTBEAT: Duration = Duration::from_secs(5);
/// Number of requests that can queue for the socket of one connection.
const QUEUE_LENGTH: usize = 1024;

#[derive(Clone)]
enum State {
    Connecting,
    Up(MultiplexedConnection),
    /// Holds the reason.
    Down(String),
}

/// One supervised connection.
pub(super) struct Connection {
    state: watch::Receiver<State>,
}

impl Connection {
    /// Starts a task that keeps the connection open until this value is dropped.
    ///
    /// The connection counts as lost if Redis does not reply to PING within `ping_timeout`.
    pub(super) fn open(info: ConnectionInfo, ping_timeout: Duration) -> Self {
        let (sender, state) = watch::channel(State::Connecting);
        tokio::spawn(supervise(info, ping_timeout, sender));
        Self { state }
    }

    /// Waits until the first attempt to connect has succeeded or failed.
    pub(super) async fn first_attempt(&self) {
        // An error means that the task has ended, and then the state does not change any more.
        let _ = self
            .state
            .clone()
            .wait_for(|state| !matches!(state, State::Connecting))
            .await;
    }

    /// Returns the open connection, or the reason why there is none.
    pub(super) fn get(&self) -> Result<MultiplexedConnection, String> {
        match &*self.state.borrow() {
            State::Up(connection) => Ok(connection.clone()),
            State::Connecting => Err("connecting".to_owned()),
            State::Down(reason) => Err(reason.clone()),
        }
    }
}

/// Connects and reconnects until the receiver of `state` is dropped.
async fn supervise(info: ConnectionInfo, ping_timeout: Duration, state: watch::Sender<State>) {
    let mut delay = FIRST_DELAY;
    let mut outage_logged = false;
    while !state.is_closed() {
        let attempt = timeout(CONNECT_TIMEOUT, connect(&info)).await;
        let reason = match attempt
            .unwrap_or_else(|_elapsed| Err(io::Error::from(io::ErrorKind::TimedOut).into()))
        {
            Ok((connection, driver)) => {
                eprintln!("redis-rest: connected to redis at {}", info.addr());
                delay = FIRST_DELAY;
                outage_logged = false;
                state.send_replace(State::Up(connection.clone()));
                monitor(connection, driver, ping_timeout, &state).await
            }
            Err(error) => error.to_string(),
        };
        if !outage_logged {
            eprintln!(
                "redis-rest: no connection to redis at {}: {reason}",
                info.addr()
            );
            outage_logged = true;
        }
        state.send_replace(State::Down(reason));
        tokio::select! {
            () = sleep(delay) => {}
            () = state.closed() => {}
        }
        delay = (delay * 2).min(MAX_DELAY);
    }
}

async fn connect(info: &ConnectionInfo) -> RedisResult<(MultiplexedConnection, JoinHandle<()>)> {
    // The response timeout of the library, half a second, would abort slow commands. The node applies
    // the timeout of each request.
    let config = AsyncConnectionConfig::new()
        .set_response_timeout(None)
        .set_pipeline_buffer_size(QUEUE_LENGTH);
    let transport = Utf8Lines::new(transport::open(info.addr()).await?);
    let (connection, driver) =
        MultiplexedConnection::new_with_config(info.redis_settings(), transport, config).await?;
    Ok((connection, tokio::spawn(driver)))
}

/// Waits until the connection is lost or no longer needed, and returns the reason.
async fn monitor(
    mut connection: MultiplexedConnection,
    mut driver: JoinHandle<()>,
    ping_timeout: Duration,
    state: &watch::Sender<State>,
) -> String {
    let reason = loop {
        tokio::select! {
            _ = &mut driver => return "the connection was closed".to_owned(),
            () = state.closed() => break "closed".to_owned(),
            () = sleep(HEARTBEAT) => {}
        }
        match timeout(ping_timeout, connection.send_packed_command(&cmd("PING"))).await {
            // Also an error reply, such as LOADING or NOPERM, proves that Redis is reachable.
            Ok(Ok(_)) => {}
            Ok(Err(error)) => break error.to_string(),
            Err(_elapsed) => break format!("no reply within {} ms", ping_timeout.as_millis()),
        }
    };
    // Requests that wait for a reply fail now instead of at their timeout.
    driver.abort();
    reason
}
