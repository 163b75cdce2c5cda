//! Ids of audit log entries, unique across shards.

use std::fmt;

/// The id of an entry: the millisecond of its Redis stream id, the sequence number within that
/// millisecond, and the shard. The audit log lists entries in descending order of their ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct EntryId {
    millis: u64,
    sequence: u64,
    shard: u32,
}

impl EntryId {
    /// Returns the id of an entry on a shard, from its Redis stream id.
    #[must_use]
    pub fn of(shard: u32, id: &str) -> Option<Self> {
        let (millis, sequence) = id.split_once('-')?;
        let (millis, sequence) = (number(millis)?, number(sequence)?);
        (millis > 0).then_some(Self {
            millis,
            sequence,
            shard,
        })
    }

    /// Parses an id as responses contain it.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        match text.rsplit_once('-') {
            Some((id, shard)) if id.contains('-') => {
                let shard = u32::try_from(number(shard)?)
                    .ok()
                    .filter(|shard| (1..64).contains(shard));
                Self::of(shard?, id)
            }
            _ => Self::of(0, text),
        }
    }

    /// Returns the end of the stream range of a shard that contains the entries before this one.
    #[must_use]
    pub fn before(self, shard: u32) -> String {
        let Self {
            millis, sequence, ..
        } = self;
        // With equal stream ids, the entry of a lower shard sorts before this one.
        let exclusive = if shard < self.shard { "" } else { "(" };
        format!("{exclusive}{millis}-{sequence}")
    }
}

impl fmt::Display for EntryId {
    /// Formats an entry of shard 0 as its Redis stream id; other shards append their number.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            millis,
            sequence,
            shard,
        } = self;
        write!(f, "{millis}-{sequence}")?;
        match shard {
            0 => Ok(()),
            shard => write!(f, "-{shard}"),
        }
    }
}

/// Parses a number without a sign or leading zeros.
fn number(text: &str) -> Option<u64> {
    text.parse()
        .ok()
        .filter(|number: &u64| number.to_string() == text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn any_entry_id_parses_back(millis in 1u64.., sequence: u64, shard in 0u32..64) {
            let id = EntryId::of(shard, &format!("{millis}-{sequence}")).unwrap();
            prop_assert_eq!(EntryId::parse(&id.to_string()), Some(id));
        }
    }

    #[test]
    fn formatted_entry_id_parses_back() {
        for text in ["1795132800000-0", "1-7", "1795132800000-0-1", "1-0-63"] {
            assert_eq!(EntryId::parse(text).unwrap().to_string(), text);
        }
        for text in [
            "", "1", "0-1", "1-", "-1", "1-01", "+1-0", "1-0-0", "1-0-01", "1-0-x", "1-0-0-1",
            "1-0-64",
        ] {
            assert_eq!(EntryId::parse(text), None, "{text}");
        }
    }

    #[test]
    fn equal_stream_ids_sort_by_shard() {
        let [first, second] = ["5-0", "5-0-2"].map(|text| EntryId::parse(text).unwrap());
        assert!(first < second);
        assert_eq!(
            [0, 1, 2, 3].map(|shard| second.before(shard)),
            ["5-0", "5-0", "(5-0", "(5-0"]
        );
    }
}
