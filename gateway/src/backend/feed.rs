//! What Redis sends by itself: messages of channels, and every command it runs.
//!
//! Each feed has a connection of its own, which ends with it.

use futures_util::{StreamExt, stream, stream::BoxStream};
use redis::{Client, ConnectionInfo, Msg, RedisError, aio::PubSub};

use super::socket;
use crate::{error::Fault, reply};

/// What to listen to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Channels,
    Patterns,
    Monitor,
}

impl Kind {
    /// The command that begins it.
    pub(crate) fn command(self) -> &'static str {
        match self {
            Self::Channels => "SUBSCRIBE",
            Self::Patterns => "PSUBSCRIBE",
            Self::Monitor => "MONITOR",
        }
    }
}

/// The lines of a feed, as they appear in events; it ends when the connection does.
pub(crate) type Feed = BoxStream<'static, Vec<u8>>;

pub(super) async fn open(
    info: &ConnectionInfo,
    kind: Kind,
    names: Vec<Vec<u8>>,
) -> Result<Feed, Fault> {
    match kind {
        Kind::Channels => published(info, names, false).await,
        Kind::Patterns => published(info, names, true).await,
        Kind::Monitor => monitored(info).await,
    }
}

async fn published(
    info: &ConnectionInfo,
    names: Vec<Vec<u8>>,
    patterns: bool,
) -> Result<Feed, Fault> {
    let down = |problem: std::io::Error| Fault::RedisDown(problem.to_string());
    let socket = socket::open(info.addr()).await.map_err(down)?;
    let mut subscription = PubSub::new(info.redis_settings(), socket)
        .await
        .map_err(fault)?;
    let mut confirmed = Vec::with_capacity(names.len());
    for (index, name) in names.iter().enumerate() {
        let word: &[u8] = if patterns {
            subscription.psubscribe(name).await.map_err(fault)?;
            b"psubscribe"
        } else {
            subscription.subscribe(name).await.map_err(fault)?;
            b"subscribe"
        };
        let count = (index + 1).to_string();
        confirmed.push(joined(&[word, name, count.as_bytes()]));
    }
    let messages = subscription.into_on_message().map(|message| line(&message));
    Ok(stream::iter(confirmed).chain(messages).boxed())
}

async fn monitored(info: &ConnectionInfo) -> Result<Feed, Fault> {
    let client = Client::open(info.clone()).map_err(fault)?;
    let monitor = client.get_async_monitor().await.map_err(fault)?;
    let lines = monitor.into_on_message::<String>().map(String::into_bytes);
    Ok(stream::iter([b"\"OK\"".to_vec()]).chain(lines).boxed())
}

fn line(message: &Msg) -> Vec<u8> {
    let channel: &[u8] = &message.get_channel::<Vec<u8>>().unwrap_or_default();
    match message.get_pattern::<Option<Vec<u8>>>() {
        Ok(Some(pattern)) => joined(&[b"pmessage", &pattern, channel, message.get_payload_bytes()]),
        Ok(None) | Err(_) => joined(&[b"message", channel, message.get_payload_bytes()]),
    }
}

fn joined(words: &[&[u8]]) -> Vec<u8> {
    words.join(&b',')
}

fn fault(problem: RedisError) -> Fault {
    match redis::ServerError::try_from(problem) {
        Ok(error) => Fault::Redis(reply::error_line(&error)),
        Err(problem) => Fault::RedisDown(problem.to_string()),
    }
}
