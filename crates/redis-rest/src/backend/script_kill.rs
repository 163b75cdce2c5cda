//! Kills scripts that run longer than the timeout of their request.
//!
//! Redis runs nothing else while a script runs. It accepts SCRIPT KILL after `busy-reply-threshold`, on
//! another connection than that of the script, and does not kill a script that has written.

use std::{sync::Arc, time::Duration};

use redis::{ConnectionInfo, Pipeline, Value, cmd};
use tokio::{
    sync::{Notify, watch},
    time::sleep,
};

use super::login::{authenticated, send};
use crate::error::error_line;
use crate::log;

/// Pause between two attempts, in which Redis stops the script. A pipeline may run another one.
const PAUSE: Duration = Duration::from_millis(20);

/// The state of the script that Redis runs.
enum Script {
    Killed,
    /// Redis runs no script.
    NotRunning,
    /// Redis does not kill it. Holds the reason.
    Running(String),
}

/// Kills the running script whenever `overdue` is notified, until the sender of `state` is dropped.
pub(super) async fn kill_overdue<T>(
    info: ConnectionInfo,
    overdue: Arc<Notify>,
    mut state: watch::Receiver<T>,
) {
    let address = info.addr();
    let mut is_reported = false;
    loop {
        tokio::select! {
            () = overdue.notified() => {}
            _ = dropped(&mut state) => return,
        }
        let outcome = tokio::select! {
            outcome = kill(&info) => outcome,
            _ = dropped(&mut state) => return,
        };
        // A script that cannot be killed is reported once, not each second.
        let was_reported = std::mem::replace(&mut is_reported, outcome.is_err());
        match outcome {
            Ok(0) => {}
            Ok(_killed) => log::line(&format!(
                "killed a script that ran longer than TIMEOUT_MS at {address}"
            )),
            Err(_) if was_reported => {}
            Err(reason) => log::line(&format!(
                "a script that runs longer than TIMEOUT_MS at {address} was not killed: {reason}"
            )),
        }
    }
}

/// Waits until the sender of the state is dropped.
async fn dropped<T>(state: &mut watch::Receiver<T>) {
    while state.changed().await.is_ok() {}
}

/// Kills scripts until none is running. Returns their number, at least 1 if there was one.
async fn kill(info: &ConnectionInfo) -> Result<usize, String> {
    let (connection, _driver) = authenticated(info, Arc::new(Notify::new())).await?;
    let mut kill = Pipeline::new();
    for name in ["SCRIPT", "FUNCTION"] {
        kill.add_command(cmd(name)).arg("KILL");
    }
    let mut killed = 0;
    loop {
        match script(send(&connection, &kill).await?) {
            Script::Killed => killed += 1,
            Script::NotRunning => return Ok(killed),
            Script::Running(reason) => return Err(reason),
        }
        sleep(PAUSE).await;
    }
}

/// Interprets the replies to SCRIPT KILL and FUNCTION KILL.
fn script(replies: Vec<Value>) -> Script {
    let mut reasons = Vec::new();
    for reply in replies {
        match reply {
            Value::Okay => return Script::Killed,
            Value::ServerError(error) if error.code() == "NOTBUSY" => return Script::NotRunning,
            Value::ServerError(error) => reasons.push(error_line(&error)),
            _ => {}
        }
    }
    // Redis refuses the command that does not fit with BUSY.
    let reason = reasons
        .into_iter()
        .max_by_key(|reason| reason.starts_with("UNKILLABLE"));
    Script::Running(reason.unwrap_or_default())
}
