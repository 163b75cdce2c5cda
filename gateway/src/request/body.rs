//! Reads a body whole, within its limits.

use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody};
use futures_util::StreamExt;
use tokio::time::timeout;

use crate::error::Fault;

/// The whole body, at most `limit` bytes, within `patience`.
pub(crate) async fn read(body: Body, limit: usize, patience: Duration) -> Result<Bytes, Fault> {
    match timeout(patience, collect(body, limit)).await {
        Ok(read) => read,
        Err(_elapsed) => Err(Fault::BodyTimeout),
    }
}

async fn collect(body: Body, limit: usize) -> Result<Bytes, Fault> {
    let announced = body.size_hint().exact();
    let mut chunks = body.into_data_stream();
    let mut kept = Kept::Nothing;
    let mut arrived: u64 = 0;
    while let Some(chunk) = chunks.next().await {
        let chunk = chunk.map_err(|_cut| Fault::BodyAborted)?;
        arrived += chunk.len() as u64;
        // Too much is read to its end all the same, unkept: a client that is still sending
        // would otherwise see a broken connection instead of the answer.
        kept = if arrived > limit as u64 {
            Kept::Nothing
        } else {
            kept.and(chunk, announced)
        };
    }
    if arrived > limit as u64 {
        return Err(Fault::BodyTooLarge {
            limit,
            actual: arrived,
        });
    }
    Ok(match kept {
        Kept::Nothing => Bytes::new(),
        Kept::One(chunk) => chunk,
        Kept::Many(bytes) => bytes.into(),
    })
}

/// A body mostly arrives in one piece, which then need not be copied.
enum Kept {
    Nothing,
    One(Bytes),
    Many(Vec<u8>),
}

impl Kept {
    fn and(self, chunk: Bytes, announced: Option<u64>) -> Self {
        let mut bytes = match self {
            Self::Nothing => return Self::One(chunk),
            Self::One(first) => {
                let room = announced.map_or(first.len() + chunk.len(), |all| all as usize);
                let mut bytes = Vec::with_capacity(room);
                bytes.extend_from_slice(&first);
                bytes
            }
            Self::Many(bytes) => bytes,
        };
        bytes.extend_from_slice(&chunk);
        Self::Many(bytes)
    }
}
