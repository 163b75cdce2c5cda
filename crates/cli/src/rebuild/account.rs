//! The recount of accounts, as the journal has it: what else counts by it, so that a rebuild needs no rules and decides nothing.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

/// A recount of accounts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AccountRecount {
    /// The number of the last entry that it has read.
    pub until: u64,
    /// The numbers of the activities that count by it and did not, or the reverse.
    pub changed: BTreeSet<u64>,
}
