//! Messages that Redis pushes: Pub/Sub messages, and the commands that MONITOR reports.
//!
//! Each stream has a connection of its own, which closes with the stream.

use std::io;

use futures_util::{StreamExt, stream, stream::BoxStream};
use redis::{Client, ConnectionInfo, Msg, RedisError, ServerError, aio::PubSub};

use super::transport;
use crate::error::{GatewayError, error_line};

/// The kind of a message stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StreamKind {
    Channels,
    Patterns,
    Monitor,
}

impl StreamKind {
    /// Returns the Redis command that opens the stream.
    pub(crate) fn command(self) -> &'static str {
        match self {
            Self::Channels => "SUBSCRIBE",
            Self::Patterns => "PSUBSCRIBE",
            Self::Monitor => "MONITOR",
        }
    }
}

/// The messages of a stream, in the form of event data. It ends when the connection closes.
pub(crate) type MessageStream = BoxStream<'static, Vec<u8>>;

/// Connects and opens a stream. `names` are channels or patterns.
pub(super) async fn open(
    info: &ConnectionInfo,
    kind: StreamKind,
    names: Vec<Vec<u8>>,
) -> Result<MessageStream, GatewayError> {
    match kind {
        StreamKind::Channels => subscribe(info, names, false).await,
        StreamKind::Patterns => subscribe(info, names, true).await,
        StreamKind::Monitor => monitor(info).await,
    }
}

async fn subscribe(
    info: &ConnectionInfo,
    names: Vec<Vec<u8>>,
    patterns: bool,
) -> Result<MessageStream, GatewayError> {
    let down = |error: io::Error| GatewayError::RedisDown(error.to_string());
    let transport = transport::open(info.addr()).await.map_err(down)?;
    let mut subscription = PubSub::new(info.redis_settings(), transport)
        .await
        .map_err(gateway_error)?;
    let mut confirmations = Vec::with_capacity(names.len());
    for (index, name) in names.iter().enumerate() {
        let kind: &[u8] = if patterns {
            subscription.psubscribe(name).await.map_err(gateway_error)?;
            b"psubscribe"
        } else {
            subscription.subscribe(name).await.map_err(gateway_error)?;
            b"subscribe"
        };
        let count = (index + 1).to_string();
        confirmations.push(comma_separated(&[kind, name, count.as_bytes()]));
    }
    let messages = subscription
        .into_on_message()
        .map(|message| event_data(&message));
    Ok(stream::iter(confirmations).chain(messages).boxed())
}

async fn monitor(info: &ConnectionInfo) -> Result<MessageStream, GatewayError> {
    let client = Client::open(info.clone()).map_err(gateway_error)?;
    let monitor = client.get_async_monitor().await.map_err(gateway_error)?;
    let lines = monitor.into_on_message::<String>().map(String::into_bytes);
    Ok(stream::iter([b"\"OK\"".to_vec()]).chain(lines).boxed())
}

fn event_data(message: &Msg) -> Vec<u8> {
    let channel: &[u8] = &message.get_channel::<Vec<u8>>().unwrap_or_default();
    let payload = message.get_payload_bytes();
    match message.get_pattern::<Option<Vec<u8>>>() {
        Ok(Some(pattern)) => comma_separated(&[b"pmessage", &pattern, channel, payload]),
        Ok(None) | Err(_) => comma_separated(&[b"message", channel, payload]),
    }
}

fn comma_separated(fields: &[&[u8]]) -> Vec<u8> {
    fields.join(&b',')
}

fn gateway_error(error: RedisError) -> GatewayError {
    match ServerError::try_from(error) {
        Ok(error) => GatewayError::Redis(error_line(&error)),
        Err(error) => GatewayError::RedisDown(error.to_string()),
    }
}
