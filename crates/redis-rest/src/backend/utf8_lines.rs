//! Replaces invalid UTF-8 in the status and error lines of Redis.
//!
//! The client library drops a connection, with all requests in flight, when such a line is not UTF-8.
//! But Redis quotes arguments in its errors (`unknown command '\xff'`), and a script may return any
//! bytes as an error, so one request could fail all others. Bulk strings are not changed.

use std::{
    io,
    pin::Pin,
    task::{Context, Poll},
};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// A RESP2 stream in which each invalid byte of a status or error line is replaced by `?`.
pub(super) struct Utf8Lines<S> {
    inner: S,
    state: State,
}

/// The position of the next byte in the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// The first byte of a reply, which is its type.
    Type,
    /// In a status or error line.
    Text,
    /// In an integer or the length of an array.
    Number,
    /// In the length of a bulk string, with the value so far. `None` for the null string.
    Length(Option<usize>),
    /// In a bulk string, with the number of remaining bytes, including CRLF.
    String(usize),
}

impl<S> Utf8Lines<S> {
    pub(super) fn new(inner: S) -> Self {
        Self {
            inner,
            state: State::Type,
        }
    }
}

impl State {
    /// Sanitizes `bytes` and returns the state after them.
    fn advance(mut self, mut bytes: &mut [u8]) -> Self {
        while let Some(first) = bytes.first().copied() {
            let taken = match self {
                Self::Type => {
                    self = match first {
                        b'+' | b'-' => Self::Text,
                        b'$' => Self::Length(Some(0)),
                        _ => Self::Number,
                    };
                    1
                }
                Self::String(remaining) => {
                    let taken = remaining.min(bytes.len());
                    self = if taken == remaining {
                        Self::Type
                    } else {
                        Self::String(remaining - taken)
                    };
                    taken
                }
                Self::Length(length) => {
                    self = match (first, length) {
                        (b'\n', Some(length)) => Self::String(length.saturating_add(2)),
                        (b'\n', None) => Self::Type,
                        (b'0'..=b'9', Some(length)) => {
                            let digit = usize::from(first - b'0');
                            Self::Length(Some(length.saturating_mul(10).saturating_add(digit)))
                        }
                        (b'-', _) => Self::Length(None),
                        _ => self,
                    };
                    1
                }
                Self::Text | Self::Number => {
                    let end = bytes.iter().position(|byte| *byte == b'\n');
                    let taken = end.map_or(bytes.len(), |end| end + 1);
                    if self == Self::Text {
                        sanitize(bytes.get_mut(..taken).unwrap_or_default());
                    }
                    if end.is_some() {
                        self = Self::Type;
                    }
                    taken
                }
            };
            bytes = bytes.get_mut(taken..).unwrap_or_default();
        }
        self
    }
}

/// Replaces each invalid byte by `?`. A character that is split between two reads is replaced too,
/// which is rare and affects only a message for humans.
fn sanitize(mut line: &mut [u8]) {
    while let Err(error) = str::from_utf8(line) {
        let length = error
            .error_len()
            .unwrap_or(line.len() - error.valid_up_to());
        let (_, rest) = line.split_at_mut(error.valid_up_to());
        let (invalid, rest) = rest.split_at_mut(length);
        invalid.fill(b'?');
        line = rest;
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Utf8Lines<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        let read = Pin::new(&mut self.inner).poll_read(cx, buf);
        self.state = self
            .state
            .advance(buf.filled_mut().get_mut(before..).unwrap_or_default());
        read
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Utf8Lines<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.inner).poll_write(cx, buf)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::State;

    fn sanitized(chunks: &[&[u8]]) -> (Vec<u8>, State) {
        let mut state = State::Type;
        let mut all = Vec::new();
        for chunk in chunks {
            let mut chunk = chunk.to_vec();
            state = state.advance(&mut chunk);
            all.extend(chunk);
        }
        (all, state)
    }

    #[test]
    fn lines_are_sanitized_and_strings_are_not() {
        let sent = b"-ERR \xff\xc3\xa9\xe2\x82\r\n$4\r\n\xff\r\n-\r\n+\xfe\r\n*2\r\n$-1\r\n:12\r\n$0\r\n\r\n-\xff\r\n";
        let expected =
            b"-ERR ?\xc3\xa9??\r\n$4\r\n\xff\r\n-\r\n+?\r\n*2\r\n$-1\r\n:12\r\n$0\r\n\r\n-?\r\n";
        assert_eq!(sanitized(&[sent]), (expected.to_vec(), State::Type));
    }

    #[test]
    fn result_does_not_depend_on_chunks() {
        let sent: &[u8] = b"-a\xff\r\n$12\r\n\xff23456789\r\n-\xff\r\n*1\r\n$-1\r\n+\xffb\r\n";
        let complete = sanitized(&[sent]);
        for cut in 0..=sent.len() {
            let (first, second) = sent.split_at(cut);
            assert_eq!(sanitized(&[first, second]), complete, "cut at {cut}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_keep_their_length(chunks: Vec<Vec<u8>>) {
            let chunks: Vec<&[u8]> = chunks.iter().map(Vec::as_slice).collect();
            prop_assert_eq!(sanitized(&chunks).0.len(), chunks.concat().len());
        }
    }
}
