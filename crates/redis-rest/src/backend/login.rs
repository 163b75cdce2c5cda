//! New connections to Redis, and the commands that the gateway itself sends.

use std::{sync::Arc, time::Duration};

use redis::{ConnectionInfo, Pipeline, Value, cmd};
use tokio::{sync::Notify, task::JoinHandle};

use super::{multiplexer::Multiplexer, reply_budget::ReplyBudget, transport};
use crate::error::{GatewayError, error_line};

/// Connects with the credentials of `REDIS_URL`.
pub(super) async fn authenticated(
    info: &ConnectionInfo,
    overdue_script: Arc<Notify>,
) -> Result<(Multiplexer, JoinHandle<()>), String> {
    let transport = transport::open(info.addr()).await;
    let transport = transport.map_err(|error| error.to_string())?;
    let (connection, driver) = Multiplexer::start(transport, overdue_script);
    let settings = info.redis_settings();
    if let Some(password) = settings.password() {
        let mut auth = Pipeline::new();
        auth.add_command(cmd("AUTH"))
            .arg(settings.username())
            .arg(password);
        for reply in send(&connection, &auth).await? {
            if let Value::ServerError(error) = reply {
                return Err(error_line(&error));
            }
        }
    }
    Ok((connection, driver))
}

/// Sends commands of the gateway itself. Fails if the connection is lost.
pub(super) async fn send(
    connection: &Multiplexer,
    pipeline: &Pipeline,
) -> Result<Vec<Value>, String> {
    let replies = connection.send(pipeline, ReplyBudget::unlimited(), Duration::MAX);
    let replies = replies
        .await
        .map_err(|_lost| "the connection was closed".to_owned())?;
    let values: Result<Vec<Value>, GatewayError> = replies.into_iter().collect();
    values.map_err(|error| error.message().into_owned())
}
