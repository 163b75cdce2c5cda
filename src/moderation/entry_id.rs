//! Which entry of the audit list, over all shards.

use std::fmt;

/// An entry: when its shard wrote it, how many it had in that millisecond, and which shard it is.
/// In this order they are listed, from the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct EntryId {
    at: u64,
    count: u64,
    shard: u32,
}

impl EntryId {
    /// From a shard's own id of it.
    #[must_use]
    pub fn of(shard: u32, id: &str) -> Option<Self> {
        let (at, count) = id.split_once('-')?;
        let (at, count) = (number(at)?, number(count)?);
        (at > 0).then_some(Self { at, count, shard })
    }

    /// From its text, as an answer showed it.
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

    /// Where a shard begins to read the entries before this one.
    #[must_use]
    pub fn before(self, shard: u32) -> String {
        let Self { at, count, .. } = self;
        let own = if shard < self.shard { "" } else { "(" };
        format!("{own}{at}-{count}")
    }
}

/// As Redis has it where there is one shard.
impl fmt::Display for EntryId {
    fn fmt(&self, text: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { at, count, shard } = self;
        write!(text, "{at}-{count}")?;
        match shard {
            0 => Ok(()),
            shard => write!(text, "-{shard}"),
        }
    }
}

/// A number as it is written, without a sign or zeros before it.
fn number(text: &str) -> Option<u64> {
    text.parse()
        .ok()
        .filter(|number: &u64| number.to_string() == text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_read_as_it_is_written() {
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
    fn entries_of_one_millisecond_are_told_apart_by_shard() {
        let [first, second] = ["5-0", "5-0-2"].map(|text| EntryId::parse(text).unwrap());
        assert!(first < second);
        assert_eq!(
            [0, 1, 2, 3].map(|shard| second.before(shard)),
            ["5-0", "5-0", "(5-0", "(5-0"]
        );
    }
}
