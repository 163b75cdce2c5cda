//! What a run is for, as its state says: no run continues what was written for another purpose.

use super::account::AccountRecount;
use super::event::EventRecount;
use super::rules::RecountRules;

/// The purpose of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// A rebuild, or a comparison with the live data.
    Rebuild,
    /// The preview of a recount.
    Preview,
    /// A recount.
    Recount(Recount),
    /// The import of a journal, with what identifies the file.
    Import(String),
}

/// Begins the stored text of a recount of accounts.
const ACCOUNTS: &str = "accounts ";

/// Begins the stored text of an import.
pub const IMPORT: &str = "import ";

impl Purpose {
    /// Returns the stored text.
    #[must_use]
    pub fn stored(&self) -> String {
        match self {
            Self::Rebuild => String::new(),
            Self::Preview => "preview".to_owned(),
            Self::Recount(recount) => recount.stored(),
            Self::Import(file) => format!("{IMPORT}{file}"),
        }
    }

    /// Returns whether a stored purpose is the recount of an event.
    #[must_use]
    pub fn recounts_event(stored: &str) -> bool {
        stored.starts_with('[')
    }

    /// Returns the recount.
    #[must_use]
    pub fn recount(&self) -> Option<&Recount> {
        match self {
            Self::Recount(recount) => Some(recount),
            Self::Rebuild | Self::Preview | Self::Import(_) => None,
        }
    }
}

/// What counts otherwise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Recount {
    /// All activities, by these rules.
    Rules(RecountRules),
    /// The activities of an event.
    Event(EventRecount),
    /// The activity of accounts before their joins.
    Accounts(AccountRecount),
}

impl Recount {
    /// Returns the text by which a rebuild's state, and the scripts, know the recount.
    #[must_use]
    pub fn stored(&self) -> String {
        match self {
            Self::Rules(rules) => serde_json::to_string(rules).unwrap_or_default(),
            Self::Event(recount) => recount.stored(),
            Self::Accounts(recount) => {
                let json = serde_json::to_string(recount).unwrap_or_default();
                format!("{ACCOUNTS}{json}")
            }
        }
    }

    /// Returns the recount that an interrupted run has stored, if this one continues it.
    #[must_use]
    pub fn begun(&self, stored: &str) -> Option<Self> {
        match self {
            Self::Rules(_) => (stored == self.stored()).then(|| self.clone()),
            Self::Event(recount) => recount.begun(stored).map(Self::Event),
            Self::Accounts(_) => {
                let recount = serde_json::from_str(stored.strip_prefix(ACCOUNTS)?);
                recount.ok().map(Self::Accounts)
            }
        }
    }

    /// Returns what a recount cannot change.
    #[must_use]
    pub fn limits(&self) -> &'static str {
        match self {
            Self::Rules(_) => {
                "What caps and cooldowns refused at the time is not in the journal and stays refused. \
                 What gave others nothing at the time still gives them nothing. \
                 Published versions of the rules do not apply: each activity gives what the file says."
            }
            Self::Event(_) => {
                "What caps and cooldowns refused at the time is not in the journal and stays refused."
            }
            Self::Accounts(_) => {
                "What was refused before a join is in the journal with JOURNAL_REFUSED alone; else it stays refused."
            }
        }
    }
}
