//! What is done on the shadow: the journal's entries, as calls of the service's own scripts.

use activity_rank::activity::{Head, Operations};
use activity_rank::calendar::Instant;
use activity_rank::keys::Keys;
use serde_json::Value;

use super::keep::Keep;

/// One call.
pub struct Step {
    /// The last entry that is done with it; none where an entry takes more.
    pub n: Option<u64>,
    /// How many entries these are.
    pub entries: u64,
    /// What is called.
    pub call: Call,
}

/// What can be called.
pub enum Call {
    /// Counts, undoes, adjusts.
    Count {
        /// What, in order.
        operations: Operations,
        /// When, Unix ms.
        then: i64,
        /// Of each operation the user, if points are expected of it.
        users: Vec<String>,
    },
    /// A script that has to know all boards.
    Everywhere {
        /// Which one.
        script: Everywhere,
        /// When, Unix ms.
        then: i64,
        /// Whom it is about.
        user: String,
        /// The names of the index, as far as it is known that they are asked for.
        names: Vec<String>,
    },
    /// A command.
    Run {
        /// Its name.
        name: &'static str,
        /// The key it changes.
        key: String,
        /// What follows the key.
        args: Vec<String>,
    },
}

/// Scripts that change all boards.
#[allow(missing_docs, reason = "fields are those of the journal")]
pub enum Everywhere {
    Moderate {
        hidden: String,
        frozen: String,
        reason: String,
    },
    Profile {
        json: String,
        hidden: String,
    },
    Erase,
}

/// What all calls of a run share.
pub struct Terms {
    /// The keys of the shadow.
    pub keys: Keys,
    /// The stamp of the site.
    pub stamp: String,
    /// How long things are kept.
    pub keep: Keep,
    /// Now, Unix ms.
    pub now: i64,
}

/// A call as the store is sent it.
pub struct Words {
    /// Which script, by the name that `replay.lua` has for it.
    pub script: &'static str,
    /// Its keys.
    pub keys: Vec<String>,
    /// Its arguments.
    pub args: Vec<String>,
}

impl Step {
    /// A command that belongs to the entry that comes next.
    #[must_use]
    pub fn run(name: &'static str, key: String, args: Vec<String>) -> Self {
        let call = Call::Run { name, key, args };
        Self {
            n: None,
            entries: 0,
            call,
        }
    }

    /// Of whom points are expected, by operation.
    #[must_use]
    pub fn users(&self) -> &[String] {
        match &self.call {
            Call::Count { users, .. } => users,
            Call::Everywhere { .. } | Call::Run { .. } => &[],
        }
    }

    /// The call.
    #[must_use]
    pub fn words(&self, terms: &Terms) -> Words {
        match &self.call {
            Call::Count {
                operations, then, ..
            } => {
                let (keys, args) = operations.call(&Head {
                    keys: terms.keys.clone(),
                    stamp: terms.stamp.clone(),
                    now: Instant(terms.now),
                    then: Instant(*then),
                    lifetimes: terms.keep.left(*then, terms.now),
                    standings: false,
                    journals: NOT_AGAIN,
                });
                let script = "count";
                Words { script, keys, args }
            }
            Call::Everywhere {
                script,
                then,
                user,
                names,
            } => script.words(terms, *then, user, names),
            Call::Run { name, key, args } => Words {
                script: "run",
                keys: vec![key.clone()],
                args: [(*name).to_owned()]
                    .into_iter()
                    .chain(args.clone())
                    .collect(),
            },
        }
    }

    /// Takes in what the script says it has to be told, second in its reply.
    ///
    /// # Errors
    ///
    /// Where that is nothing it can say.
    pub fn learn(&mut self, asked: &Value) -> Result<(), String> {
        let odd = || format!("a script asks for {asked}");
        let list = asked.as_array().ok_or_else(odd)?;
        match &mut self.call {
            Call::Count { operations, .. } => {
                for item in list {
                    let op = item.get(0).and_then(Value::as_u64);
                    let mark = item.get(1).and_then(Value::as_str);
                    let (Some(op), Some(mark)) = (op, mark) else {
                        return Err(odd());
                    };
                    operations.add_place_of_mark(op, mark).map_err(|_| odd())?;
                }
            }
            Call::Everywhere { names, .. } => {
                let all = list.iter().map(|name| name.as_str().map(str::to_owned));
                *names = all.collect::<Option<_>>().ok_or_else(odd)?;
            }
            Call::Run { .. } => return Err(odd()),
        }
        Ok(())
    }
}

/// What is done again is in the journal already.
const NOT_AGAIN: &str = "0";

impl Everywhere {
    fn words(&self, terms: &Terms, then: i64, user: &str, names: &[String]) -> Words {
        let (boards, spans): (Vec<&String>, Vec<&String>) =
            names.iter().partition(|name| name.starts_with('{'));
        let mut keys = terms.keys.of_everywhere();
        let mut args = vec![terms.stamp.clone(), then.to_string()];
        let mut say = |words: &[&str]| args.extend(words.iter().map(|word| (*word).to_owned()));
        let script = match self {
            Self::Moderate {
                hidden,
                frozen,
                reason,
            } => {
                keys.extend(boards.into_iter().cloned());
                say(&[user, hidden, frozen, reason, NOT_AGAIN]);
                "moderate"
            }
            Self::Profile { json, hidden } => {
                keys.extend(boards.into_iter().cloned());
                say(&[NOT_AGAIN, user, json, hidden]);
                "profiles"
            }
            Self::Erase => {
                keys.push(terms.keys.tombstones());
                say(&[user, NOT_AGAIN, "1", &boards.len().to_string()]);
                keys.extend(boards.into_iter().cloned());
                for span in spans {
                    keys.push(terms.keys.history(span, user));
                    keys.push(terms.keys.day_marks(span, user));
                    say(&[span]);
                }
                keys.push(terms.keys.marks(user));
                keys.extend(terms.keys.all_undo_memories(user, Instant(then)));
                "erase"
            }
        };
        Words { script, keys, args }
    }
}
