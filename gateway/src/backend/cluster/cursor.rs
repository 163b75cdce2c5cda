//! One cursor over all primaries: SCAN goes through them one after the other.
//!
//! A cursor of the client holds the cursor of the node, which node that is, and a check of who
//! serves which slots. A scan that began before slots moved cannot be complete, and is told so.

use crate::error::Fault;

/// Primaries a cursor can tell apart.
const PLACES: u32 = 10;
/// Bits of the check.
const CHECK: u32 = 16;

/// Where a scan stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cursor {
    /// What the node gave.
    pub(super) at: u64,
    /// Which of the primaries.
    pub(super) node: usize,
}

impl Cursor {
    /// What a client sent. `check` is that of the slots as they are now.
    pub(super) fn read(text: &[u8], check: u16) -> Result<Self, Fault> {
        let number = str::from_utf8(text)
            .ok()
            .and_then(|text| text.parse::<u128>().ok())
            .ok_or_else(|| Fault::Redis("ERR invalid cursor".to_owned()))?;
        if number == 0 {
            return Ok(Self { at: 0, node: 0 });
        }
        if number & ((1 << CHECK) - 1) != u128::from(check) {
            return Err(Fault::Redis(
                "ERR slots have moved since this scan began; begin again with cursor 0".to_owned(),
            ));
        }
        let node = (number >> CHECK) & ((1 << PLACES) - 1);
        let at = u64::try_from(number >> (CHECK + PLACES));
        match (at, usize::try_from(node)) {
            (Ok(at), Ok(node)) => Ok(Self { at, node }),
            _ => Err(Fault::Redis("ERR invalid cursor".to_owned())),
        }
    }

    /// What the client gets, after the node answered with its own next cursor.
    pub(super) fn next(self, answered: u64, nodes: usize, check: u16) -> String {
        let next = match answered {
            0 if self.node + 1 >= nodes => return "0".to_owned(),
            0 => Self {
                at: 0,
                node: self.node + 1,
            },
            at => Self {
                at,
                node: self.node,
            },
        };
        let number = (u128::from(next.at) << (CHECK + PLACES))
            | (u128::try_from(next.node).unwrap_or(0) << CHECK)
            | u128::from(check);
        number.to_string()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::Cursor;
    use crate::error::Fault;

    #[test]
    fn a_scan_ends_after_the_last_node() {
        let begun = Cursor::read(b"0", 7);
        assert_eq!(begun, Ok(Cursor { at: 0, node: 0 }));
        let begun = Cursor { at: 0, node: 0 };
        let second = begun.next(0, 2, 7);
        assert_eq!(
            Cursor::read(second.as_bytes(), 7),
            Ok(Cursor { at: 0, node: 1 })
        );
        assert_eq!(Cursor { at: 5, node: 1 }.next(0, 2, 7), "0");
    }

    #[test]
    fn a_cursor_of_other_slots_or_none_at_all_is_refused() {
        let moved = "ERR slots have moved since this scan began; begin again with cursor 0";
        let cursor = Cursor { at: 0, node: 0 }.next(3, 2, 7);
        assert_eq!(
            Cursor::read(cursor.as_bytes(), 8),
            Err(Fault::Redis(moved.to_owned()))
        );
        for text in [&b"x"[..], b"", b"-1", b"\xff"] {
            assert_eq!(
                Cursor::read(text, 7),
                Err(Fault::Redis("ERR invalid cursor".to_owned()))
            );
        }
    }

    proptest! {
        #[test]
        fn any_cursor_comes_back(at in 1_u64.., node in 0_usize..1000, check: u16) {
            let cursor = Cursor { at: 0, node }.next(at, 1000, check);
            prop_assert_eq!(Cursor::read(cursor.as_bytes(), check), Ok(Cursor { at, node }));
        }
    }
}
