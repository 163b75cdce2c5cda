//! Reads a request body within its limits and timeout.

use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody};
use futures_util::StreamExt;
use tokio::time::timeout;

use crate::{
    error::GatewayError,
    memory::{Exceeded, Share},
};

/// Reads the complete body, at most `limit` bytes, before `deadline` has elapsed. It takes memory of
/// `share`.
pub(crate) async fn read(
    body: Body,
    limit: usize,
    share: &Share,
    deadline: Duration,
) -> Result<Bytes, GatewayError> {
    timeout(deadline, collect(body, limit, share))
        .await
        .unwrap_or(Err(GatewayError::BodyTimeout))
}

async fn collect(body: Body, limit: usize, share: &Share) -> Result<Bytes, GatewayError> {
    let expected_length = body.size_hint().exact();
    let mut chunks = body.into_data_stream();
    let mut collected = Collected::Empty;
    let mut received: u64 = 0;
    let mut refusal = None;
    while let Some(chunk) = chunks.next().await {
        let chunk = chunk.map_err(|_error| GatewayError::BodyAborted)?;
        received += chunk.len() as u64;
        // A body over a limit is read to its end but not stored: a client that is still sending
        // would see a broken connection instead of the response.
        if refusal.is_none() {
            refusal = share.charge(chunk.len(), limit).err();
        }
        collected = if refusal.is_some() {
            share.set(0);
            Collected::Empty
        } else {
            collected.append(chunk, expected_length)
        };
    }
    if received > limit as u64 {
        return Err(GatewayError::BodyTooLarge {
            limit,
            actual: received,
        });
    }
    if let Some(Exceeded::All(limit)) = refusal {
        return Err(GatewayError::TooManyBodies { limit });
    }
    Ok(match collected {
        Collected::Empty => Bytes::new(),
        Collected::One(chunk) => chunk,
        Collected::Several(bytes) => bytes.into(),
    })
}

/// The chunks received so far. Most bodies arrive in one chunk, which needs no copy.
enum Collected {
    Empty,
    One(Bytes),
    Several(Vec<u8>),
}

impl Collected {
    fn append(self, chunk: Bytes, expected_length: Option<u64>) -> Self {
        let mut bytes = match self {
            Self::Empty => return Self::One(chunk),
            Self::One(first) => {
                let capacity =
                    expected_length.map_or(first.len() + chunk.len(), |length| length as usize);
                let mut bytes = Vec::with_capacity(capacity);
                bytes.extend_from_slice(&first);
                bytes
            }
            Self::Several(bytes) => bytes,
        };
        bytes.extend_from_slice(&chunk);
        Self::Several(bytes)
    }
}
