//! Comparison of the data that counts with the next generation, which has it according to the journal.
//!
//! While the service writes, the live data is ahead of the journal. So a difference is provisional
//! until the next entries of the journal have been replayed: if they have no change of the users and targets
//! that the difference is about, it is confirmed; else it is compared again.
//!
//! - [`keys`]: reads a key of both generations. [`board`], [`fields`], [`audit`]: compare the values.
//! - [`findings`]: the differences.

pub mod audit;
pub mod board;
pub mod fields;
pub mod findings;
pub mod keys;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::hash::{BuildHasher, RandomState};

use activity_rank_store::keys::Keys;
use activity_rank_store::redis::Command;
use serde::Serialize;

use super::replay::Replay;
use super::state::Shard;
use crate::count::count;
use crate::failure::Failure;
use crate::rebuild::store::{Cursor, sha1_hex, unexpected_data};
use findings::{Difference, Findings, Kind};
use keys::ComparedKey;

/// Maximum number of comparisons of a value that keeps changing.
const MAX_ROUNDS: u32 = 20;

/// Provisional differences by key and field.
type Provisional = HashMap<(String, String), Difference>;

/// A comparison of several shards.
#[derive(Debug, Default)]
pub struct Comparison {
    /// The differences.
    pub findings: Findings,
    /// Number of values that kept changing.
    unstable: u64,
    /// Users with repeated activity in the journal.
    repeated_users: Vec<String>,
}

/// The result of a comparison in numbers.
#[derive(Debug, Serialize)]
pub struct Totals {
    /// Compared keys.
    keys: u64,
    /// Differences by the name of their kind.
    differences: BTreeMap<&'static str, u64>,
    /// Values that a rebuild would delete.
    excess: usize,
    /// Values that kept changing.
    unstable: u64,
    /// Users with repeated activity in the journal.
    repeated_users: usize,
}

impl Comparison {
    /// Replays and compares a shard while the service writes.
    ///
    /// # Errors
    ///
    /// [`Failure`] if service or store do not respond.
    pub async fn compare_live(
        &mut self,
        shard: &Shard,
        replay: &mut Replay,
    ) -> Result<(), Failure> {
        replay.approach_end(shard).await?;
        self.findings.provisional = Some(HashMap::new());
        compare_shard(shard, &mut self.findings).await?;
        let unstable = confirm(shard, replay, &mut self.findings).await?;
        self.unstable += u64::try_from(unstable).unwrap_or(u64::MAX);
        self.add_repeated_users(shard).await
    }

    async fn add_repeated_users(&mut self, shard: &Shard) -> Result<(), Failure> {
        let key = shard.written.recounted_users();
        let users: Vec<String> = shard.store.run(Command::new("SMEMBERS").arg(&key)).await?;
        self.findings.accept_excess_of(&users);
        self.repeated_users.extend(users);
        Ok(())
    }

    /// Returns the result for JSON.
    #[must_use]
    pub fn totals(&self) -> Totals {
        Totals {
            keys: self.findings.keys,
            differences: self.findings.by_kind(),
            excess: self.findings.excess.len(),
            unstable: self.unstable,
            repeated_users: self.repeated_users.len(),
        }
    }

    /// Formats the result as lines.
    #[must_use]
    pub fn report(&self) -> String {
        let mut report = self.findings.report();
        if self.unstable > 0 {
            let values = count(self.unstable, "value");
            report.push_str(&format!("\n{values} kept changing during the comparison"));
        }
        if !self.repeated_users.is_empty() {
            let users = self.repeated_users.len().try_into().unwrap_or(u64::MAX);
            let users = count(users, "user");
            report.push_str(&format!(
                "\nthe journal has repeated activity of {users}: each activity counts once"
            ));
        }
        report
    }
}

/// Compares all keys of a shard.
async fn compare_shard(shard: &Shard, findings: &mut Findings) -> Result<(), Failure> {
    audit::compare(shard, findings).await?;
    let (hasher, mut seen) = (RandomState::new(), HashSet::new());
    let mut cursor = Cursor::start();
    while let Some(names) = shard.store.scan(&mut cursor).await? {
        let mut new = Vec::new();
        for name in &names {
            // SCAN returns a key of both generations, and may return either twice.
            let Some(base) = shard.base_name(name) else {
                check_known(shard, name)?;
                continue;
            };
            match ComparedKey::parse(base) {
                Some(key) if seen.insert(hasher.hash_one(base)) => new.push(key),
                Some(_) => {}
                None => check_known(shard, name)?,
            }
        }
        keys::compare(shard, &new, findings).await?;
        shard.show_progress(|| format!("compared {}", findings.format_keys()));
    }
    Ok(())
}

/// Checks that a key without comparable values is one of this version.
fn check_known(shard: &Shard, name: &str) -> Result<(), Failure> {
    if Keys::kind(name).is_some() {
        return Ok(());
    }
    let name = format!("{}{name}", shard.store.tag);
    Err(unexpected_data(&name, "is not a key of this version"))
}

/// Replays and compares until no difference is provisional. Returns the number of values that kept
/// changing.
async fn confirm(
    shard: &Shard,
    replay: &mut Replay,
    findings: &mut Findings,
) -> Result<usize, Failure> {
    let mut provisional = findings.provisional.take().unwrap_or_default();
    for _ in 0..MAX_ROUNDS {
        if provisional.is_empty() {
            break;
        }
        let changed = replay.catch_up(shard).await?;
        provisional.retain(|_, difference| {
            let may_be_outdated = is_about_any(difference, &changed);
            if !may_be_outdated {
                findings.confirm(difference.clone());
            }
            may_be_outdated
        });
        let again = compare_again(shard, &provisional).await?;
        // A value that was equal before has changed since; it is no finding.
        provisional = again
            .into_iter()
            .filter(|(at, _)| provisional.contains_key(at))
            .collect();
    }
    Ok(provisional.len())
}

/// Returns whether a difference is about any of these users, given by id or hash, or of these targets.
fn is_about_any(difference: &Difference, changed: &HashSet<String>) -> bool {
    if changed.is_empty() {
        return false;
    }
    difference
        .participants()
        .any(|user| changed.contains(user) || changed.contains(&sha1_hex(user)))
}

async fn compare_again(shard: &Shard, provisional: &Provisional) -> Result<Provisional, Failure> {
    let mut findings = Findings::default();
    findings.provisional = Some(HashMap::new());
    if provisional
        .values()
        .any(|difference| difference.kind == Kind::AuditLog)
    {
        audit::compare(shard, &mut findings).await?;
    }
    let names: HashSet<&String> = provisional.keys().map(|(key, _)| key).collect();
    let keys = names
        .into_iter()
        .filter_map(|name| ComparedKey::parse(name));
    let keys: Vec<ComparedKey> = keys.collect();
    keys::compare(shard, &keys, &mut findings).await?;
    Ok(findings.provisional.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn difference_is_about_user_and_tied_users() {
        let difference = Difference {
            kind: Kind::Board,
            key: "ba:all".to_owned(),
            field: "42".to_owned(),
            tied_users: vec!["7".to_owned()],
            stored: None,
            expected: None,
            is_excess: false,
        };
        let is_about = |users: &[&str]| {
            let users = users.iter().map(|user| (*user).to_owned()).collect();
            is_about_any(&difference, &users)
        };
        assert!(is_about(&["42"]) && is_about(&["7"]));
        assert!(is_about(&["92cfceb39d57d914ed8b14d0e37643de0797ae56"]));
        assert!(!is_about(&[]) && !is_about(&["4"]));
    }
}
