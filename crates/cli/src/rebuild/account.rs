//! The recount of accounts, as the journal has it: what else counts by it, so that a rebuild needs no rules and decides nothing.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

/// A recount of accounts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AccountRecount {
    /// The number of the last entry that it has read.
    pub until: u64,
    /// The numbers of the activities that count by it and did not, or the reverse.
    pub changed: BTreeSet<u64>,
    /// For readers of the journal that do not replay it: the number of the entry whose points an entry has, or takes back as an
    /// undo; 0 for none. Entries that say it themselves are absent. Of a receipt, the entry with the receiver: a registration,
    /// or a follow.
    #[serde(default)]
    pub sources: BTreeMap<u64, u64>,
    /// Undos whose source comes later in the journal, because it is of another shard, by their numbers: they follow it.
    #[serde(default)]
    pub late: BTreeMap<u64, u64>,
    /// Receipts that the journal lacks.
    #[serde(default)]
    pub receipts: Vec<AddedReceipt>,
}

/// A receipt that the journal lacks: the numbers of the activity or undo, of the entry with its points and of the entry with its
/// receiver, as in [`AccountRecount::sources`], and -1 if it takes points back, else 1. It follows the later one of the first two.
pub type AddedReceipt = (u64, u64, u64, i8);
