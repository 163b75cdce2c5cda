//! The audit list: entries, whatever their ids.

use std::collections::{HashMap, HashSet};

use super::difference::{Difference, Kind};
use super::findings::Findings;
use crate::failure::Failure;
use crate::rebuild::place::Place;

const PAGE: &str = "500";

/// Compares the list with its shadow. It never counts as more than the journal tells: a list that
/// has all that is told stays as it is, with what was before the journal, and of whom is gone.
///
/// # Errors
///
/// [`Failure`] where the store does not answer.
pub async fn compare(place: &Place, findings: &mut Findings) -> Result<(), Failure> {
    let [held, told] = [
        read(place, place.live_keys()).await?,
        read(place, &place.keys).await?,
    ];
    let difference = |entry: &String, held, told| Difference {
        kind: Kind::Audit,
        key: "l".to_owned(),
        field: entry.clone(),
        others: Vec::new(),
        held,
        told,
        more: false,
    };
    let there = || Some("an entry".to_owned());
    for (entry, number) in &held {
        for _ in told.get(entry).copied().unwrap_or(0)..*number {
            findings.add(difference(entry, there(), None));
        }
    }
    for (entry, number) in &told {
        for _ in held.get(entry).copied().unwrap_or(0)..*number {
            findings.add(difference(entry, None, there()));
        }
    }
    Ok(())
}

/// Whether the list has all that the journal tells of it.
///
/// # Errors
///
/// As [`compare`].
pub async fn is_whole(place: &Place) -> Result<bool, Failure> {
    let held = read(place, place.live_keys()).await?;
    let told = read(place, &place.keys).await?;
    let mut told = told.iter();
    Ok(told.all(|(entry, number)| held.get(entry) >= Some(number)))
}

/// How often each entry is there, of users that are not erased.
async fn read(
    place: &Place,
    keys: &activity_rank::keys::Keys,
) -> Result<HashMap<String, u64>, Failure> {
    let (list, who) = (keys.audit(), keys.who());
    let mut entries: HashMap<String, u64> = HashMap::new();
    let mut from = "-".to_owned();
    loop {
        let command = ["XRANGE", &list, &from, "+", "COUNT", PAGE];
        let page: Vec<(String, Vec<String>)> = place.live.ask(&command).await?;
        let Some((last, _)) = page.last() else {
            return Ok(entries);
        };
        from = format!("({last}");
        let subjects = page.iter().map(|(_, fields)| subject(fields));
        let subjects: HashSet<String> = subjects.map(|number| format!("s{number}")).collect();
        let subjects: Vec<String> = subjects.into_iter().collect();
        let named = ask_fields(place, &who, &subjects).await?;
        let ids: Vec<String> = page.iter().map(|(id, _)| id.clone()).collect();
        let reasons = ask_fields(place, &who, &ids).await?;
        for (id, fields) in page {
            let Some(user) = named.get(&format!("s{}", subject(&fields))) else {
                continue;
            };
            let mut words = vec![user.clone()];
            let pairs = fields.chunks(2);
            let told = pairs.filter(|pair| pair.first().is_some_and(|name| name != "subject"));
            words.extend(told.flatten().cloned());
            words.extend(reasons.get(&id).cloned());
            *entries.entry(words.join(" ")).or_default() += 1;
        }
    }
}

fn subject(fields: &[String]) -> &str {
    let mut pairs = fields.chunks(2);
    let number = pairs.find_map(|pair| match pair {
        [name, number] if name == "subject" => Some(number.as_str()),
        _ => None,
    });
    number.unwrap_or_default()
}

async fn ask_fields(
    place: &Place,
    key: &str,
    fields: &[String],
) -> Result<HashMap<String, String>, Failure> {
    if fields.is_empty() {
        return Ok(HashMap::new());
    }
    let names: Vec<&str> = fields.iter().map(String::as_str).collect();
    let command = [&["HMGET", key], names.as_slice()].concat();
    let values: Vec<Option<String>> = place.live.ask(&command).await?;
    let pairs = fields.iter().cloned().zip(values);
    Ok(pairs
        .filter_map(|(field, value)| Some((field, value?)))
        .collect())
}
