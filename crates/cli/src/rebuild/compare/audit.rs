//! Compares audit logs by the content of their entries. Ids differ after a replay.

use std::collections::{HashMap, HashSet};

use activity_rank_store::keys::Keys;
use activity_rank_store::redis::Command;

use super::findings::{Difference, Findings, Kind};
use crate::failure::Failure;
use crate::rebuild::state::Shard;
use crate::rebuild::store::Pairs;

const PAGE: u32 = 500;

/// Number of occurrences by entry. An entry is user, fields and reason, joined by spaces.
type Entries = HashMap<String, u64>;

/// Compares the audit log with its shadow. A difference is never excess: a live log with all entries
/// of the journal is kept, including older entries and entries of erased users.
///
/// # Errors
///
/// [`Failure`] if the store does not respond.
pub async fn compare(shard: &Shard, findings: &mut Findings) -> Result<(), Failure> {
    let [live, shadow] = [
        read(shard, &shard.keys).await?,
        read(shard, &shard.written).await?,
    ];
    let mut add = |entry: &String, stored: Option<String>, expected: Option<String>| {
        findings.add(Difference {
            kind: Kind::AuditLog,
            key: "l".to_owned(),
            field: entry.clone(),
            tied_users: Vec::new(),
            stored,
            expected,
            is_excess: false,
        });
    };
    let present = || Some("an entry".to_owned());
    for (entry, number) in &live {
        for _ in shadow.get(entry).copied().unwrap_or(0)..*number {
            add(entry, present(), None);
        }
    }
    for (entry, number) in &shadow {
        for _ in live.get(entry).copied().unwrap_or(0)..*number {
            add(entry, None, present());
        }
    }
    Ok(())
}

/// Returns whether the live audit log has all entries of the journal, and as many opt-outs: these are
/// trimmed, so their number alone shows a loss.
///
/// # Errors
///
/// As [`compare`].
pub async fn is_complete(shard: &Shard) -> Result<bool, Failure> {
    let live = read(shard, &shard.keys).await?;
    let shadow = read(shard, &shard.written).await?;
    let mut shadow = shadow.iter();
    if !shadow.all(|(entry, number)| live.get(entry) >= Some(number)) {
        return Ok(false);
    }
    Ok(count_opt_outs(shard, &shard.keys).await? >= count_opt_outs(shard, &shard.written).await?)
}

async fn count_opt_outs(shard: &Shard, keys: &Keys) -> Result<i64, Failure> {
    let length = Command::new("XLEN").arg(&keys.opt_outs());
    shard.store.run(length).await
}

/// Reads the entries about versions of the rules, and of all users that are not erased.
async fn read(shard: &Shard, keys: &Keys) -> Result<Entries, Failure> {
    let (log, details) = (keys.audit_log(), keys.audit_subjects());
    let mut entries = Entries::new();
    let mut start = "-".to_owned();
    loop {
        let page = shard.store.stream_entries(&log, &start, PAGE).await?;
        let Some((last, _)) = page.last() else {
            return Ok(entries);
        };
        start = format!("({last}");
        let subjects = page.iter().map(|(_, fields)| subject_field(fields));
        let subjects: HashSet<String> = subjects.collect();
        let ids = page.iter().map(|(id, _)| id);
        let names: Vec<&str> = subjects.iter().chain(ids).map(String::as_str).collect();
        let details = shard.store.hash_fields(&details, &names).await?;
        let details: HashMap<String, String> = details.into_iter().collect();
        for (id, fields) in page {
            // An entry about a version of the rules has no user.
            let user = match fields.iter().any(|(name, _)| name == "version") {
                true => Some(String::new()),
                false => details.get(&subject_field(&fields)).cloned(),
            };
            let Some(user) = user else {
                continue;
            };
            let mut words = vec![user];
            let fields = fields.into_iter().filter(|(name, _)| name != "subject");
            words.extend(fields.flat_map(<[String; 2]>::from));
            words.extend(details.get(&id).cloned());
            *entries.entry(words.join(" ")).or_default() += 1;
        }
    }
}

/// Returns the field of the audit details that has the user of an entry.
fn subject_field(fields: &Pairs) -> String {
    let number = fields.iter().find(|(name, _)| name == "subject");
    format!("s{}", number.map_or("", |(_, number)| number))
}
