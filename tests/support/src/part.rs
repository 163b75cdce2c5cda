//! The body of an answer, whole or broken off.

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use hyper::body::{Body, Frame};

/// An error that makes hyper close the connection where it is.
#[derive(Debug)]
pub(crate) struct Cut;

impl fmt::Display for Cut {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("the connection is cut on purpose")
    }
}

impl std::error::Error for Cut {}

/// Bytes, and what comes after them.
pub(crate) struct Part {
    bytes: Option<Bytes>,
    end: End,
}

/// What follows the bytes.
#[derive(Clone, Copy)]
pub(crate) enum End {
    Regular,
    Cut,
    Hang,
}

impl Part {
    pub(crate) fn whole(bytes: Bytes) -> Self {
        Self {
            bytes: Some(bytes),
            end: End::Regular,
        }
    }

    pub(crate) fn half(bytes: &Bytes, end: End) -> Self {
        Self {
            bytes: Some(bytes.slice(..bytes.len() / 2)),
            end,
        }
    }
}

impl Body for Part {
    type Data = Bytes;
    type Error = Cut;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Cut>>> {
        match (self.bytes.take(), self.end) {
            (Some(bytes), _) => Poll::Ready(Some(Ok(Frame::data(bytes)))),
            (None, End::Regular) => Poll::Ready(None),
            (None, End::Cut) => Poll::Ready(Some(Err(Cut))),
            // Nobody wakes it: it hangs until the other side gives up.
            (None, End::Hang) => Poll::Pending,
        }
    }
}
