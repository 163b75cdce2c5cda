//! Keys with many values, read page by page. What changes meanwhile may be read as before or after.

use std::collections::HashMap;

use super::board::Scores;
use super::difference::{Difference, Kind};
use super::fields::{is_more, said};
use super::findings::Findings;
use super::pairs::{Held, Named, differences, held};
use crate::failure::Failure;
use crate::rebuild::place::Place;

/// Values in a page.
const PAGE: usize = 1000;

/// Compares a key with its shadow.
///
/// # Errors
///
/// [`Failure`] where the store does not answer.
pub async fn compare(place: &Place, named: &Named, findings: &mut Findings) -> Result<(), Failure> {
    let [key, shadow] = place.pair(&named.name);
    if named.kind == Kind::Board {
        // Ranks are of the whole.
        let held = Held::Scores(board(place, named, &key).await?);
        let told = Held::Scores(board(place, named, &shadow).await?);
        for difference in differences(named, &held, &told) {
            findings.add(difference);
        }
        return Ok(());
    }
    let mut cursor = Some("0".to_owned());
    while let Some(from) = cursor {
        let (next, page) = page(place, named, &key, &from).await?;
        let told = look_up(place, named, &shadow, page.keys()).await?;
        let (held, told) = (Held::Fields(page), Held::Fields(told));
        for difference in differences(named, &held, &told) {
            findings.add(difference);
        }
        cursor = next;
    }
    let mut cursor = Some("0".to_owned());
    while let Some(from) = cursor {
        let (next, page) = page(place, named, &shadow, &from).await?;
        let held = look_up(place, named, &key, page.keys()).await?;
        for (field, told) in page {
            if !held.contains_key(&field) {
                findings.add(Difference {
                    kind: named.kind,
                    key: named.name.clone(),
                    field,
                    others: Vec::new(),
                    more: is_more(named.kind, None, Some(&told)),
                    held: None,
                    told: Some(told),
                });
            }
        }
        cursor = next;
    }
    Ok(())
}

/// By SCAN, which misses nobody who is there all the time; ranks move.
async fn board(place: &Place, named: &Named, key: &str) -> Result<Scores, Failure> {
    let (mut scores, count) = (Scores::new(), PAGE.to_string());
    let mut cursor = "0".to_owned();
    loop {
        let command = ["ZSCAN", key, &cursor, "COUNT", &count];
        let (next, values): (String, Vec<String>) = place.live.ask(&command).await?;
        if let Held::Scores(page) = held(named, values)? {
            scores.extend(page);
        }
        if next == "0" {
            return Ok(scores);
        }
        cursor = next;
    }
}

/// A page of a hash, and where to go on.
async fn page(
    place: &Place,
    named: &Named,
    key: &str,
    cursor: &str,
) -> Result<(Option<String>, HashMap<String, String>), Failure> {
    let count = PAGE.to_string();
    let command = ["HSCAN", key, cursor, "COUNT", &count];
    let (next, values): (String, Vec<String>) = place.live.ask(&command).await?;
    let fields = match held(named, values)? {
        Held::Fields(fields) => fields,
        Held::Scores(_) => HashMap::new(),
    };
    Ok(((next != "0").then_some(next), fields))
}

/// What another key has of these fields.
async fn look_up(
    place: &Place,
    named: &Named,
    key: &str,
    fields: impl Iterator<Item = &String>,
) -> Result<HashMap<String, String>, Failure> {
    let fields: Vec<&str> = fields.map(String::as_str).collect();
    let mut found = HashMap::new();
    if fields.is_empty() {
        return Ok(found);
    }
    let command = [&["HMGET", key], fields.as_slice()].concat();
    let values: Vec<Option<String>> = place.live.ask(&command).await?;
    for (field, value) in fields.into_iter().zip(values) {
        if let Some(said) = value.and_then(|value| said(named.kind, field, value)) {
            found.insert(field.to_owned(), said);
        }
    }
    Ok(found)
}
