//! SCAN over all primaries, one after the other.
//!
//! The cursor of the client contains the cursor of the node, the index of the node and a checksum of
//! the slot assignment. A scan during which slots move could miss keys, so it fails.

use redis::Value;

use crate::{command::Command, error::GatewayError};

/// Bits of the node index, which allow 1,024 primaries.
const NODE_BITS: u32 = 10;
/// Bits of the checksum.
const CHECKSUM_BITS: u32 = 16;

/// The position of a scan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ScanCursor {
    /// The cursor on the node.
    cursor: u64,
    /// The index of the node among the primaries.
    pub(super) node: usize,
}

impl ScanCursor {
    const START: Self = Self { cursor: 0, node: 0 };

    /// Parses the cursor of a client. `checksum` is that of the current slot assignment.
    pub(super) fn parse(text: &[u8], checksum: u16) -> Result<Self, GatewayError> {
        let invalid = || GatewayError::Redis("ERR invalid cursor".to_owned());
        let number = str::from_utf8(text)
            .ok()
            .and_then(|text| text.parse::<u128>().ok())
            .ok_or_else(invalid)?;
        if number == 0 {
            return Ok(Self::START);
        }
        if number & ((1 << CHECKSUM_BITS) - 1) != u128::from(checksum) {
            return Err(GatewayError::Redis(
                "ERR hash slots have moved since this SCAN started; start again with cursor 0"
                    .to_owned(),
            ));
        }
        let node = (number >> CHECKSUM_BITS) & ((1 << NODE_BITS) - 1);
        let cursor = u64::try_from(number >> (CHECKSUM_BITS + NODE_BITS));
        match (cursor, usize::try_from(node)) {
            (Ok(cursor), Ok(node)) => Ok(Self { cursor, node }),
            _ => Err(invalid()),
        }
    }

    /// Returns the SCAN command for the node.
    pub(super) fn node_command(self, command: &Command) -> Command {
        command.with_argument(1, self.cursor.to_string().as_bytes())
    }

    /// Replaces the cursor in the reply of the node by that of the client. `nodes` is the number of
    /// primaries.
    pub(super) fn client_reply(self, mut reply: Value, nodes: usize, checksum: u16) -> Value {
        if let Value::Array(values) = &mut reply
            && let Some(Value::BulkString(next)) = values.first_mut()
            && let Some(cursor) = str::from_utf8(next).ok().and_then(|next| next.parse().ok())
        {
            *next = self.next(cursor, nodes, checksum).into_bytes();
        }
        reply
    }

    /// Returns the next cursor of the client, given the next cursor of the node.
    fn next(self, cursor: u64, nodes: usize, checksum: u16) -> String {
        let node = match cursor {
            0 if self.node + 1 >= nodes => return "0".to_owned(),
            0 => self.node + 1,
            _ => self.node,
        };
        let number = (u128::from(cursor) << (CHECKSUM_BITS + NODE_BITS))
            | (u128::try_from(node).unwrap_or(0) << CHECKSUM_BITS)
            | u128::from(checksum);
        number.to_string()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::ScanCursor;
    use crate::error::GatewayError;

    #[test]
    fn scan_ends_after_last_node() {
        let start = ScanCursor::START;
        assert_eq!(ScanCursor::parse(b"0", 7), Ok(start));
        let second = start.next(0, 2, 7);
        assert_eq!(
            ScanCursor::parse(second.as_bytes(), 7),
            Ok(ScanCursor { cursor: 0, node: 1 })
        );
        assert_eq!(ScanCursor { cursor: 5, node: 1 }.next(0, 2, 7), "0");
    }

    #[test]
    fn invalid_and_outdated_cursors_are_rejected() {
        let moved = "ERR hash slots have moved since this SCAN started; start again with cursor 0";
        let cursor = ScanCursor::START.next(3, 2, 7);
        assert_eq!(
            ScanCursor::parse(cursor.as_bytes(), 8),
            Err(GatewayError::Redis(moved.to_owned()))
        );
        for text in [&b"x"[..], b"", b"-1", b"\xff"] {
            assert_eq!(
                ScanCursor::parse(text, 7),
                Err(GatewayError::Redis("ERR invalid cursor".to_owned()))
            );
        }
    }

    proptest! {
        #[test]
        fn any_cursor_round_trips(cursor in 1_u64.., node in 0_usize..1000, checksum: u16) {
            let text = ScanCursor { cursor: 0, node }.next(cursor, 1000, checksum);
            prop_assert_eq!(ScanCursor::parse(text.as_bytes(), checksum), Ok(ScanCursor { cursor, node }));
        }
    }
}
