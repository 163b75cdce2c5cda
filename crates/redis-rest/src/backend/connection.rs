//! One connection to Redis that reconnects after every failure.
//!
//! The reconnecting connection of the client library delays requests while it reconnects, and detects
//! a broken connection only when a request fails. Here a task watches the driver of the connection.
//! It detects the end of the connection at once, and requests fail immediately while it reconnects.

use std::{io, sync::Arc, time::Duration};

use redis::{ConnectionInfo, Pipeline, Value, cmd};
use tokio::{
    sync::{Notify, watch},
    task::JoinHandle,
    time::{sleep, timeout},
};

use super::{
    login::{authenticated, send},
    multiplexer::Multiplexer,
    restriction::Restriction,
    script_kill,
};
use crate::error::error_line;
use crate::log;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(2);
const FIRST_DELAY: Duration = Duration::from_millis(50);
const MAX_DELAY: Duration = Duration::from_secs(1);
/// Interval of PING, which detects a peer that disappeared without closing the connection.
const HEARTBEAT: Duration = Duration::from_secs(5);
/// RESP2.
const PROTOCOL_VERSION: u8 = 2;

#[derive(Clone)]
enum State {
    Connecting,
    Up {
        connection: Multiplexer,
        rejects_shebang: bool,
    },
    /// Holds the reason.
    Down(String),
}

/// One supervised connection.
pub(super) struct Connection {
    state: watch::Receiver<State>,
    /// Ends the connection to open another one.
    reconnect: Arc<Notify>,
}

impl Connection {
    /// Starts a task that keeps the connection open until this value is dropped, and one that kills
    /// its overdue scripts.
    ///
    /// The connection counts as lost if Redis does not reply to PING within `ping_timeout`.
    pub(super) fn open(
        info: ConnectionInfo,
        ping_timeout: Duration,
        restriction: Arc<Restriction>,
    ) -> Self {
        let (sender, state) = watch::channel(State::Connecting);
        let overdue_script = Arc::new(Notify::new());
        tokio::spawn(script_kill::kill_overdue(
            info.clone(),
            Arc::clone(&overdue_script),
            state.clone(),
        ));
        let reconnect = Arc::new(Notify::new());
        tokio::spawn(supervise(
            Server {
                info,
                restriction,
                overdue_script,
                reconnect: Arc::clone(&reconnect),
            },
            ping_timeout,
            sender,
        ));
        Self { state, reconnect }
    }

    /// Closes the connection, and opens another one unless that takes long. No request can get the closed one any more.
    pub(super) async fn reconnect(&self) {
        let mut state = self.state.clone();
        state.mark_unchanged();
        self.reconnect.notify_one();
        // An error means that the task has ended, and its connection with it.
        let _ = state.changed().await;
        let is_up = state.wait_for(|state| matches!(state, State::Up { .. }));
        let _ = timeout(CONNECT_TIMEOUT, is_up).await;
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
    pub(super) fn get(&self) -> Result<Multiplexer, String> {
        match &*self.state.borrow() {
            State::Up { connection, .. } => Ok(connection.clone()),
            State::Connecting => Err("connecting".to_owned()),
            State::Down(reason) => Err(reason.clone()),
        }
    }

    /// Returns whether the server is known to reject scripts with a shebang line.
    pub(super) fn rejects_shebang(&self) -> bool {
        matches!(
            &*self.state.borrow(),
            State::Up {
                rejects_shebang: true,
                ..
            }
        )
    }
}

/// What a connection attempt needs.
struct Server {
    info: ConnectionInfo,
    restriction: Arc<Restriction>,
    overdue_script: Arc<Notify>,
    reconnect: Arc<Notify>,
}

/// Connects and reconnects until the receiver of `state` is dropped.
async fn supervise(server: Server, ping_timeout: Duration, state: watch::Sender<State>) {
    let address = server.info.addr();
    let mut delay = FIRST_DELAY;
    let mut outage_logged = false;
    while !state.is_closed() {
        let attempt = timeout(CONNECT_TIMEOUT, connect(&server)).await;
        let reason = match attempt
            .unwrap_or_else(|_elapsed| Err(io::Error::from(io::ErrorKind::TimedOut).to_string()))
        {
            Ok(Connected {
                connection,
                driver,
                rejects_shebang,
            }) => {
                log::line(&format!("connected to redis at {address}"));
                delay = FIRST_DELAY;
                outage_logged = false;
                state.send_replace(State::Up {
                    connection: connection.clone(),
                    rejects_shebang,
                });
                monitor(connection, driver, ping_timeout, &server.reconnect, &state).await
            }
            Err(reason) => reason,
        };
        if !outage_logged {
            log::line(&format!("no connection to redis at {address}: {reason}"));
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

/// A new connection.
struct Connected {
    connection: Multiplexer,
    driver: JoinHandle<()>,
    rejects_shebang: bool,
}

async fn connect(server: &Server) -> Result<Connected, String> {
    let overdue_script = Arc::clone(&server.overdue_script);
    let (connection, driver) = authenticated(&server.info, overdue_script).await?;
    // Unlike INFO, an ACL cannot forbid HELLO.
    let mut setup = Pipeline::new();
    setup.add_command(cmd("HELLO")).arg(PROTOCOL_VERSION);
    let database = server.info.redis_settings().db();
    if database != 0 {
        setup.add_command(cmd("SELECT")).arg(database);
    }
    let mut replies = send(&connection, &setup).await?.into_iter();
    let hello = replies.next().unwrap_or(Value::Nil);
    if let Some(Value::ServerError(error)) = replies.next() {
        return Err(error_line(&error));
    }
    server.restriction.apply(&connection, &server.info).await?;
    Ok(Connected {
        connection,
        driver,
        rejects_shebang: is_before_redis_7(&hello),
    })
}

/// Returns whether the reply to HELLO is that of a Redis before 7.0, which rejects shebang lines.
fn is_before_redis_7(hello: &Value) -> bool {
    match hello {
        Value::Array(fields) => {
            let mut fields = fields.iter();
            let version = fields
                .by_ref()
                .find(|name| matches!(name, Value::BulkString(name) if name == b"version"))
                .and_then(|_name| fields.next());
            let Some(Value::BulkString(version)) = version else {
                return false;
            };
            let major = version.split(|byte| *byte == b'.').next();
            major
                .and_then(|major| str::from_utf8(major).ok()?.parse::<u32>().ok())
                .is_some_and(|major| major < 7)
        }
        // HELLO is unknown before version 6.
        Value::ServerError(error) => error
            .details()
            .is_some_and(|details| details.starts_with("unknown command")),
        _ => false,
    }
}

/// Waits until the connection is lost or no longer needed, and returns the reason.
async fn monitor(
    connection: Multiplexer,
    mut driver: JoinHandle<()>,
    ping_timeout: Duration,
    reconnect: &Notify,
    state: &watch::Sender<State>,
) -> String {
    let mut ping = Pipeline::new();
    ping.add_command(cmd("PING"));
    let reason = loop {
        tokio::select! {
            _ = &mut driver => return "the connection was closed".to_owned(),
            () = state.closed() => break "closed".to_owned(),
            () = reconnect.notified() => break "it sent more replies than commands".to_owned(),
            () = sleep(HEARTBEAT) => {}
        }
        match timeout(ping_timeout, send(&connection, &ping)).await {
            // Also an error reply, such as LOADING or NOPERM, proves that Redis is reachable.
            Ok(Ok(_)) => {}
            Ok(Err(reason)) => break reason,
            Err(_elapsed) => break format!("no reply within {} ms", ping_timeout.as_millis()),
        }
    };
    // Requests that wait for a reply fail now instead of at their timeout.
    driver.abort();
    reason
}

#[cfg(test)]
mod tests {
    use redis::{Value, parse_redis_value};

    use super::is_before_redis_7;

    #[test]
    fn hello_reveals_version() {
        for (hello, expected) in [
            (
                &b"*4\r\n$6\r\nserver\r\n$5\r\nredis\r\n$7\r\nversion\r\n$6\r\n6.2.14\r\n"[..],
                true,
            ),
            (
                b"*4\r\n$6\r\nserver\r\n$5\r\nredis\r\n$7\r\nversion\r\n$6\r\n7.0.15\r\n",
                false,
            ),
            (
                b"*4\r\n$6\r\nserver\r\n$6\r\nvalkey\r\n$7\r\nversion\r\n$5\r\n9.0.0\r\n",
                false,
            ),
            (b"*2\r\n$7\r\nversion\r\n$6\r\n10.0.0\r\n", false),
            (b"*1\r\n$7\r\nversion\r\n", false),
            (
                b"-ERR unknown command `HELLO`, with args beginning with: `2`, \r\n",
                true,
            ),
            (
                b"-LOADING Redis is loading the dataset in memory\r\n",
                false,
            ),
        ] {
            let hello = parse_redis_value(hello).unwrap_or(Value::Nil);
            assert_eq!(is_before_redis_7(&hello), expected, "{hello:?}");
        }
    }
}
