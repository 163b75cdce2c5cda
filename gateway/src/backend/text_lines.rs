//! Makes status and error lines UTF-8 on their way from Redis.
//!
//! The client library gives a whole connection up, with everything in flight on it, when such a
//! line is not UTF-8. Yet Redis repeats bytes of the caller in its errors (`unknown command
//! '\xff'`), and scripts write what they like: one odd request would fail its neighbours.
//! Bytes inside strings are not touched.

use std::{
    io,
    pin::Pin,
    task::{Context, Poll},
};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// A stream whose status and error lines are UTF-8; each byte that is not becomes `?`.
pub(super) struct TextLines<S> {
    inner: S,
    at: At,
}

/// Where in the protocol the next byte stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum At {
    /// At the byte that tells the kind of a reply.
    Kind,
    /// In a line of text.
    Text,
    /// In a line of digits that matters to nobody here.
    Number,
    /// In the line that gives the length of a string; the null string has none.
    Length(Option<usize>),
    /// In a string, with so many bytes to go, its line end included.
    String(usize),
}

impl<S> TextLines<S> {
    pub(super) fn new(inner: S) -> Self {
        Self {
            inner,
            at: At::Kind,
        }
    }
}

impl At {
    /// Mends `bytes` and returns where the byte after them stands.
    fn pass(mut self, mut bytes: &mut [u8]) -> Self {
        while let Some(first) = bytes.first().copied() {
            let taken = match self {
                Self::Kind => {
                    self = match first {
                        b'+' | b'-' => Self::Text,
                        b'$' => Self::Length(Some(0)),
                        _ => Self::Number,
                    };
                    1
                }
                Self::String(left) => {
                    let taken = left.min(bytes.len());
                    self = if taken == left {
                        Self::Kind
                    } else {
                        Self::String(left - taken)
                    };
                    taken
                }
                Self::Length(length) => {
                    self = match (first, length) {
                        (b'\n', Some(length)) => Self::String(length.saturating_add(2)),
                        (b'\n', None) => Self::Kind,
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
                        mend(bytes.get_mut(..taken).unwrap_or_default());
                    }
                    if end.is_some() {
                        self = Self::Kind;
                    }
                    taken
                }
            };
            bytes = bytes.get_mut(taken..).unwrap_or_default();
        }
        self
    }
}

/// A character torn apart by the end of a read is mended away as well: a rare and small loss, in
/// a text for people.
fn mend(mut line: &mut [u8]) {
    while let Err(fault) = str::from_utf8(line) {
        let bad = fault
            .error_len()
            .unwrap_or(line.len() - fault.valid_up_to());
        let (_, rest) = line.split_at_mut(fault.valid_up_to());
        let (bad, rest) = rest.split_at_mut(bad);
        bad.fill(b'?');
        line = rest;
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for TextLines<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        let read = Pin::new(&mut self.inner).poll_read(cx, buf);
        self.at = self
            .at
            .pass(buf.filled_mut().get_mut(before..).unwrap_or_default());
        read
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for TextLines<S> {
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

    use super::At;

    fn passed(chunks: &[&[u8]]) -> (Vec<u8>, At) {
        let mut at = At::Kind;
        let mut all = Vec::new();
        for chunk in chunks {
            let mut chunk = chunk.to_vec();
            at = at.pass(&mut chunk);
            all.extend(chunk);
        }
        (all, at)
    }

    #[test]
    fn lines_are_mended_and_strings_are_not() {
        let sent = b"-ERR \xff\xc3\xa9\xe2\x82\r\n$4\r\n\xff\r\n-\r\n+\xfe\r\n*2\r\n$-1\r\n:12\r\n$0\r\n\r\n-\xff\r\n";
        let mended =
            b"-ERR ?\xc3\xa9??\r\n$4\r\n\xff\r\n-\r\n+?\r\n*2\r\n$-1\r\n:12\r\n$0\r\n\r\n-?\r\n";
        assert_eq!(passed(&[sent]), (mended.to_vec(), At::Kind));
    }

    #[test]
    fn it_does_not_matter_where_the_stream_is_cut() {
        let sent: &[u8] = b"-a\xff\r\n$12\r\n\xff23456789\r\n-\xff\r\n*1\r\n$-1\r\n+\xffb\r\n";
        let whole = passed(&[sent]);
        for cut in 0..=sent.len() {
            let (first, second) = sent.split_at(cut);
            assert_eq!(passed(&[first, second]), whole, "cut at {cut}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_keep_their_number(chunks: Vec<Vec<u8>>) {
            let chunks: Vec<&[u8]> = chunks.iter().map(Vec::as_slice).collect();
            prop_assert_eq!(passed(&chunks).0.len(), chunks.concat().len());
        }
    }
}
