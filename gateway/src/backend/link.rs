//! One connection to Redis that is made again whenever it breaks.
//!
//! The client library's own reconnecting connection lets requests wait for it and finds out that
//! it broke from the request that fails. Here the driver of the connection is watched: its end is
//! known at once, requests are refused at once, and the next connection is made meanwhile.

use std::{io, time::Duration};

use redis::{AsyncConnectionConfig, ConnectionInfo, aio::MultiplexedConnection, cmd};
use tokio::{
    sync::watch,
    task::JoinHandle,
    time::{sleep, timeout},
};

use super::{socket, text_lines::TextLines};

const CONNECT: Duration = Duration::from_secs(2);
const FIRST_PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_secs(1);
/// Only a peer that vanished without a word is found this way.
const HEARTBEAT: Duration = Duration::from_secs(5);
/// Requests that can queue for the socket of one connection before the next one waits.
const QUEUE: usize = 1024;

#[derive(Clone)]
enum State {
    Connecting,
    Up(MultiplexedConnection),
    Down(String),
}

/// One supervised connection.
pub(super) struct Link {
    state: watch::Receiver<State>,
}

impl Link {
    /// Starts a task that keeps the connection for as long as this value lives.
    pub(super) fn open(info: ConnectionInfo, patience: Duration) -> Self {
        let (sender, state) = watch::channel(State::Connecting);
        tokio::spawn(keep(info, patience, sender));
        Self { state }
    }

    /// Waits until it is known whether Redis is there.
    pub(super) async fn first_attempt(&self) {
        // An error means the task has ended, which leaves the state as it is.
        let _ = self
            .state
            .clone()
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
}

async fn keep(info: ConnectionInfo, patience: Duration, state: watch::Sender<State>) {
    let mut pause = FIRST_PAUSE;
    let mut told = false;
    while !state.is_closed() {
        let attempt = timeout(CONNECT, connect(&info)).await;
        let why = match attempt
            .unwrap_or_else(|_elapsed| Err(io::Error::from(io::ErrorKind::TimedOut).into()))
        {
            Ok((connection, driver)) => {
                eprintln!("redis-rest: connected to redis at {}", info.addr());
                pause = FIRST_PAUSE;
                told = false;
                state.send_replace(State::Up(connection.clone()));
                watch_over(connection, driver, patience, &state).await
            }
            Err(problem) => problem.to_string(),
        };
        if !told {
            // Once per outage: further attempts are silent.
            eprintln!(
                "redis-rest: no connection to redis at {}: {why}",
                info.addr()
            );
            told = true;
        }
        state.send_replace(State::Down(why));
        tokio::select! {
            () = sleep(pause) => {}
            () = state.closed() => {}
        }
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}

async fn connect(
    info: &ConnectionInfo,
) -> redis::RedisResult<(MultiplexedConnection, JoinHandle<()>)> {
    // The library's own answer timeout of half a second would cut slow commands short; the
    // deadline of a request is kept by the backend.
    let config = AsyncConnectionConfig::new()
        .set_response_timeout(None)
        .set_pipeline_buffer_size(QUEUE);
    let socket = TextLines::new(socket::open(info.addr()).await?);
    let (connection, driver) =
        MultiplexedConnection::new_with_config(info.redis_settings(), socket, config).await?;
    Ok((connection, tokio::spawn(driver)))
}

/// Returns when the connection is of no use any more, and why.
async fn watch_over(
    mut connection: MultiplexedConnection,
    mut driver: JoinHandle<()>,
    patience: Duration,
    state: &watch::Sender<State>,
) -> String {
    let why = loop {
        tokio::select! {
            _ = &mut driver => return "the connection was closed".to_owned(),
            () = state.closed() => break "closed".to_owned(),
            () = sleep(HEARTBEAT) => {}
        }
        match timeout(patience, connection.send_packed_command(&cmd("PING"))).await {
            // Even an error Redis answers (loading, no permission) shows that it is there.
            Ok(Ok(_)) => {}
            Ok(Err(problem)) => break problem.to_string(),
            Err(_elapsed) => break format!("no answer within {} ms", patience.as_millis()),
        }
    };
    // Requests still waiting on it would otherwise wait for their own deadline.
    driver.abort();
    why
}
