//! Decodes the replies to one request from RESP2, as their bytes arrive and within a budget.
//!
//! The client library stores all replies of a pipeline before a caller sees the first one. A pipeline
//! of 5 KB can read gigabytes, so here a reply that exceeds a limit is skipped while it arrives.

use std::{io, sync::Arc};

use redis::{Value, parse_redis_value};

use super::{Reply, reply_budget::ReplyBudget};
use crate::error::GatewayError;

/// The memory that a value takes besides its string, in bytes: 32 bytes, doubled because the list that
/// holds it grows by doubling.
const VALUE_BYTES: usize = 64;
/// Maximum number of nested arrays. Values are encoded and freed by recursion.
const MAX_DEPTH: usize = 100;
/// Maximum length of a status or error line, in bytes. Longer errors are cut.
const MAX_LINE: usize = 65_536;

/// Decodes the replies to one request.
pub(super) struct Decoder {
    budget: Arc<ReplyBudget>,
    /// Number of replies that are still missing.
    missing: usize,
    /// Number of missing replies at the reply to EXEC, which holds the replies to the commands of a
    /// transaction. `None` without a transaction.
    exec: Option<usize>,
    state: State,
    /// The type of the current line, and its text so far.
    line_type: u8,
    line: Vec<u8>,
    /// The length of the current line so far, in bytes.
    line_length: usize,
    /// The arrays that are not complete, the outermost first.
    arrays: Vec<PartialArray>,
    /// The memory that the replies take, in bytes.
    charged: usize,
    /// The reply to the current command.
    current: Current,
    /// Whether no caller waits for the replies.
    is_discarded: bool,
}

enum State {
    /// Before the byte that gives the type of a value.
    Type,
    /// In a line.
    Line,
    /// In a string of which this many bytes are missing, including CRLF.
    String { missing: usize, text: Vec<u8> },
}

struct PartialArray {
    missing: usize,
    values: Vec<Value>,
}

/// The reply to one command while it arrives.
#[derive(Default)]
struct Current {
    /// The memory that it takes, in bytes.
    charged: usize,
    /// The length of all its strings, in bytes.
    strings: usize,
    /// The reason why it is skipped.
    skipped: Option<GatewayError>,
}

impl Decoder {
    /// Creates a decoder for `replies` replies. `exec` is the number of replies from that to EXEC on, if
    /// there is one.
    pub(super) fn new(replies: usize, exec: Option<usize>, budget: Arc<ReplyBudget>) -> Self {
        Self {
            budget,
            missing: replies,
            exec,
            state: State::Type,
            line_type: 0,
            line: Vec::new(),
            line_length: 0,
            arrays: Vec::new(),
            charged: 0,
            current: Current::default(),
            is_discarded: false,
        }
    }

    /// Returns whether all replies have arrived.
    pub(super) fn is_complete(&self) -> bool {
        self.missing == 0
    }

    /// Frees the replies. The rest of them is read but not stored.
    pub(super) fn discard(&mut self) {
        if !self.is_discarded {
            self.is_discarded = true;
            self.skip(GatewayError::Internal);
            for array in &mut self.arrays {
                array.values = Vec::new();
            }
            self.budget.release(self.charged);
            self.charged = 0;
        }
    }

    /// Decodes bytes until a reply is complete or all bytes are used. Returns the number of used bytes
    /// and the reply.
    ///
    /// # Errors
    ///
    /// Fails if the bytes are not RESP2. The connection cannot be used any more.
    pub(super) fn decode(&mut self, bytes: &[u8]) -> io::Result<(usize, Option<Reply>)> {
        let mut rest = bytes;
        while let Some(first) = rest.first() {
            let value = match &mut self.state {
                State::Type => {
                    self.line_type = *first;
                    self.line.clear();
                    self.line_length = 0;
                    self.state = State::Line;
                    rest = rest.get(1..).unwrap_or_default();
                    continue;
                }
                State::Line => {
                    let end = rest.iter().position(|byte| *byte == b'\n');
                    let taken = end.map_or(rest.len(), |end| end + 1);
                    let (text, after) = rest.split_at(taken);
                    rest = after;
                    let room = MAX_LINE.saturating_sub(self.line.len()).min(text.len());
                    self.line
                        .extend_from_slice(text.get(..room).unwrap_or_default());
                    self.line_length += taken;
                    if end.is_none() {
                        continue;
                    }
                    self.line_end()?
                }
                State::String { missing, text } => {
                    let (taken, after) = rest.split_at(rest.len().min(*missing));
                    rest = after;
                    // The last two bytes are CRLF.
                    let content = taken.len().min(missing.saturating_sub(2));
                    if self.current.skipped.is_none() {
                        text.extend_from_slice(taken.get(..content).unwrap_or_default());
                    }
                    *missing -= taken.len();
                    if *missing > 0 {
                        continue;
                    }
                    Some(Value::BulkString(std::mem::take(text)))
                }
            };
            if let Some(value) = value {
                self.state = State::Type;
                if let Some(reply) = self.complete(value) {
                    self.missing -= 1;
                    return Ok((bytes.len() - rest.len(), Some(reply)));
                }
            }
        }
        Ok((bytes.len(), None))
    }

    /// Handles the end of a line. Returns the value, unless more bytes belong to it.
    fn line_end(&mut self) -> io::Result<Option<Value>> {
        self.state = State::Type;
        let text = self.line.strip_suffix(b"\r\n").unwrap_or(&self.line);
        match self.line_type {
            b'+' => {
                let value = match text {
                    b"OK" => Value::Okay,
                    text => Value::SimpleString(utf8(text)),
                };
                self.store(self.line_length);
                if self.line_length > MAX_LINE {
                    self.skip(GatewayError::ReplyTooLarge {
                        limit: MAX_LINE,
                        actual: 0,
                    });
                }
                Ok(Some(value))
            }
            b'-' => {
                let value = error_value(&utf8(text));
                self.store(0);
                Ok(Some(value))
            }
            b':' => {
                let value = Value::Int(number(text)?);
                self.store(0);
                Ok(Some(value))
            }
            b'$' => match usize::try_from(number(text)?) {
                Ok(length) => {
                    self.store(length);
                    self.string(length).map(|()| None)
                }
                Err(_negative) => {
                    self.store(0);
                    Ok(Some(Value::Nil))
                }
            },
            b'*' => {
                let length = usize::try_from(number(text)?);
                // The array of a transaction is not part of a reply.
                if self.arrays.len() >= self.reply_depth() {
                    self.store(0);
                }
                match length {
                    Err(_negative) => Ok(Some(Value::Nil)),
                    Ok(0) => Ok(Some(Value::Array(Vec::new()))),
                    Ok(missing) => {
                        if self.arrays.len() >= MAX_DEPTH + self.reply_depth() {
                            self.skip(GatewayError::ReplyTooDeep { limit: MAX_DEPTH });
                        }
                        self.arrays.push(PartialArray {
                            missing,
                            values: Vec::new(),
                        });
                        Ok(None)
                    }
                }
            }
            _ => Err(io::Error::from(io::ErrorKind::InvalidData)),
        }
    }

    /// Begins a string.
    fn string(&mut self, length: usize) -> io::Result<()> {
        let mut text = Vec::new();
        if self.current.skipped.is_none() {
            text.try_reserve_exact(length).map_err(io::Error::other)?;
        }
        self.state = State::String {
            missing: length.saturating_add(2),
            text,
        };
        Ok(())
    }

    /// Takes the memory of a value with a string of `length` bytes from the budget, or skips the
    /// current reply.
    fn store(&mut self, length: usize) {
        self.current.strings = self.current.strings.saturating_add(length);
        if self.current.skipped.is_some() {
            return;
        }
        if self.is_discarded {
            return self.skip(GatewayError::Internal);
        }
        if self.current.strings > self.budget.limits().command {
            // The reply is skipped to its end, where its length is known.
            let limit = self.budget.limits().command;
            return self.skip(GatewayError::ReplyTooLarge { limit, actual: 0 });
        }
        let bytes = VALUE_BYTES.saturating_add(length);
        match self.budget.charge(bytes) {
            Ok(()) => {
                self.charged += bytes;
                self.current.charged += bytes;
            }
            Err(error) => self.skip(error),
        }
    }

    /// Frees the current reply. The rest of it is read but not stored.
    fn skip(&mut self, error: GatewayError) {
        let depth = self.reply_depth();
        for array in self.arrays.iter_mut().skip(depth) {
            array.values = Vec::new();
        }
        self.budget.release(self.current.charged);
        self.charged -= self.current.charged;
        self.current.charged = 0;
        self.current.skipped.get_or_insert(error);
    }

    /// Returns the number of arrays around the reply to a command.
    fn reply_depth(&self) -> usize {
        usize::from(self.exec == Some(self.missing))
    }

    /// Adds a complete value to its array. Returns the reply if that is complete too.
    fn complete(&mut self, mut value: Value) -> Option<Reply> {
        loop {
            let mut skipped = None;
            if self.arrays.len() <= self.reply_depth() {
                skipped = self.end_current();
            }
            let Some(array) = self.arrays.last_mut() else {
                return Some(skipped.map_or(Ok(value), Err));
            };
            if let Some(error) = skipped {
                value = error_value(&error.message());
            }
            if self.current.skipped.is_none() && !self.is_discarded {
                array.values.push(value);
            }
            array.missing -= 1;
            if array.missing > 0 {
                return None;
            }
            value = Value::Array(std::mem::take(&mut array.values));
            self.arrays.pop();
        }
    }

    /// Ends the reply to a command. Returns the reason if it was skipped.
    fn end_current(&mut self) -> Option<GatewayError> {
        let current = std::mem::take(&mut self.current);
        match current.skipped? {
            GatewayError::ReplyTooLarge { limit, .. } => Some(GatewayError::ReplyTooLarge {
                limit,
                actual: current.strings,
            }),
            error => Some(error),
        }
    }
}

fn number(text: &[u8]) -> io::Result<i64> {
    str::from_utf8(text)
        .ok()
        .and_then(|text| text.parse().ok())
        .ok_or_else(|| io::Error::from(io::ErrorKind::InvalidData))
}

/// Returns an error reply with this line.
fn error_value(line: &str) -> Value {
    let line = line.replace(['\r', '\n'], " ");
    parse_redis_value(format!("-{line}\r\n").as_bytes()).unwrap_or(Value::Nil)
}

/// Replaces each invalid byte by `?`: Redis quotes arguments in its errors (`unknown command '\xff'`),
/// and a script may return any bytes as an error.
fn utf8(line: &[u8]) -> String {
    let mut text = String::with_capacity(line.len());
    for chunk in line.utf8_chunks() {
        text.push_str(chunk.valid());
        text.extend(chunk.invalid().iter().map(|_byte| '?'));
    }
    text
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use proptest::prelude::*;
    use redis::Value;

    use super::{Decoder, MAX_DEPTH, error_value};
    use crate::{
        backend::{
            Reply,
            reply_budget::{ReplyBudget, ReplyLimits},
        },
        error::GatewayError,
    };

    fn decode(
        chunks: &[&[u8]],
        replies: usize,
        exec: Option<usize>,
        limits: &Arc<ReplyLimits>,
    ) -> Result<Vec<Reply>, String> {
        let mut decoder = Decoder::new(replies, exec, ReplyBudget::new(limits, None));
        let mut decoded = Vec::new();
        for chunk in chunks {
            let mut rest = *chunk;
            while !rest.is_empty() {
                let (used, reply) = decoder.decode(rest).map_err(|error| error.to_string())?;
                rest = rest.get(used..).unwrap_or_default();
                decoded.extend(reply);
            }
        }
        Ok(decoded)
    }

    fn unlimited() -> Arc<ReplyLimits> {
        ReplyLimits::new(usize::MAX, usize::MAX, usize::MAX)
    }

    const REPLIES: &[u8] = b"+OK\r\n+PONG\r\n-ERR no\r\n:-12\r\n$5\r\na\r\nbc\r\n$0\r\n\r\n$-1\r\n*-1\r\n*0\r\n*2\r\n*1\r\n:1\r\n$1\r\nx\r\n";

    fn decoded_replies() -> Vec<Reply> {
        [
            Value::Okay,
            Value::SimpleString("PONG".to_owned()),
            error_value("ERR no"),
            Value::Int(-12),
            Value::BulkString(b"a\r\nbc".to_vec()),
            Value::BulkString(Vec::new()),
            Value::Nil,
            Value::Nil,
            Value::Array(Vec::new()),
            Value::Array(vec![
                Value::Array(vec![Value::Int(1)]),
                Value::BulkString(b"x".to_vec()),
            ]),
        ]
        .into_iter()
        .map(Ok)
        .collect()
    }

    #[test]
    fn replies_do_not_depend_on_chunks() {
        for cut in 0..=REPLIES.len() {
            let (first, second) = REPLIES.split_at(cut);
            assert_eq!(
                decode(&[first, second], 10, None, &unlimited()),
                Ok(decoded_replies()),
                "cut at {cut}"
            );
        }
    }

    #[test]
    fn invalid_utf8_in_lines_is_replaced() {
        let error = error_value("ERR ?é?");
        let sent = b"-ERR \xff\xc3\xa9\xe2\r\n$1\r\n\xff\r\n";
        assert_eq!(
            decode(&[sent], 2, None, &unlimited()),
            Ok(vec![Ok(error), Ok(Value::BulkString(vec![0xff]))])
        );
    }

    #[test]
    fn only_oversized_replies_are_skipped() {
        let sent = b"*2\r\n$3\r\nabc\r\n$3\r\ndef\r\n$5\r\nabcde\r\n$6\r\nabcdef\r\n:1\r\n";
        let too_large = || {
            Err(GatewayError::ReplyTooLarge {
                limit: 5,
                actual: 6,
            })
        };
        assert_eq!(
            decode(
                &[sent],
                4,
                None,
                &ReplyLimits::new(5, usize::MAX, usize::MAX)
            ),
            Ok(vec![
                too_large(),
                Ok(Value::BulkString(b"abcde".to_vec())),
                too_large(),
                Ok(Value::Int(1))
            ])
        );
    }

    /// A reply that does not fit takes no memory, so that a later one may fit.
    #[test]
    fn skipped_reply_returns_its_memory() {
        let sent = b"*3\r\n:1\r\n:2\r\n:3\r\n:4\r\n*1\r\n:5\r\n:6\r\n";
        let too_large = |limit| Err(GatewayError::RepliesTooLarge { limit });
        let limits = ReplyLimits::new(9, 192, usize::MAX);
        assert_eq!(
            decode(&[sent], 4, None, &limits),
            Ok(vec![
                too_large(192),
                Ok(Value::Int(4)),
                Ok(Value::Array(vec![Value::Int(5)])),
                too_large(192)
            ])
        );
    }

    /// The result of EXEC is an array of replies, each with the limit of a reply.
    #[test]
    fn transaction_skips_oversized_replies() {
        let sent = b"+OK\r\n+QUEUED\r\n+QUEUED\r\n*2\r\n*1\r\n$9\r\nabcdefghi\r\n$6\r\nabcdef\r\n";
        let error = GatewayError::ReplyTooLarge {
            limit: 8,
            actual: 9,
        };
        let replies = decode(
            &[sent],
            4,
            Some(1),
            &ReplyLimits::new(8, usize::MAX, usize::MAX),
        );
        assert_eq!(
            replies.map(|mut replies| replies.pop()),
            Ok(Some(Ok(Value::Array(vec![
                error_value(&error.message()),
                Value::BulkString(b"abcdef".to_vec())
            ]))))
        );
    }

    #[test]
    fn deep_reply_is_skipped() {
        let nested = |depth: usize| format!("{}:1\r\n:2\r\n", "*1\r\n".repeat(depth));
        let replies = |depth| decode(&[nested(depth).as_bytes()], 2, None, &unlimited());
        let deepest = (0..MAX_DEPTH).fold(Value::Int(1), |value, _| Value::Array(vec![value]));
        assert_eq!(replies(MAX_DEPTH), Ok(vec![Ok(deepest), Ok(Value::Int(2))]));
        let limit = MAX_DEPTH;
        assert_eq!(
            replies(MAX_DEPTH + 1),
            Ok(vec![
                Err(GatewayError::ReplyTooDeep { limit }),
                Ok(Value::Int(2))
            ])
        );
    }

    #[test]
    fn long_error_line_is_cut() {
        let sent = format!("-ERR {}\r\n:1\r\n", "x".repeat(1_000_000));
        let replies = decode(&[sent.as_bytes()], 2, None, &unlimited());
        let cut = error_value(&format!("ERR {}", "x".repeat(super::MAX_LINE - 4)));
        assert_eq!(replies, Ok(vec![Ok(cut), Ok(Value::Int(1))]));
    }

    proptest! {
        #[test]
        fn any_bytes_end_without_panic(chunks: Vec<Vec<u8>>) {
            let chunks: Vec<&[u8]> = chunks.iter().map(Vec::as_slice).collect();
            let _ = decode(&chunks, usize::MAX, None, &ReplyLimits::new(99, 999, 9999));
        }
    }
}
