//! Keys and their shadows, read together: at one instant, where they are small.

use std::collections::HashMap;

use super::board::{self, Scores};
use super::difference::{Difference, Kind};
use super::fields::{self, is_more, said};
use super::findings::Findings;
use super::pages;
use crate::archive::key::Key;
use crate::archive::reading::exact;
use crate::archive::walk::{Read, read_keys};
use crate::failure::Failure;
use crate::rebuild::keep::RUN_OUT;
use crate::rebuild::place::Place;

/// Pairs of keys asked for at once.
const PAIRS: usize = 100;

/// A key whose values are compared.
#[derive(Clone, Debug)]
pub struct Named {
    /// Without its tag.
    pub name: String,
    /// Of what kind its values are.
    pub kind: Kind,
}

impl Named {
    /// None of keys whose values are not compared.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Some(Self {
            name: name.to_owned(),
            kind: Kind::of(&Key::parse(name)?)?,
        })
    }
}

/// What a key holds.
pub enum Held {
    /// Of a board.
    Scores(Scores),
    /// Of all else.
    Fields(HashMap<String, String>),
}

/// Compares them.
///
/// # Errors
///
/// [`Failure`] where the store does not answer, or holds what no site does.
pub async fn compare(
    place: &Place,
    named: &[Named],
    findings: &mut Findings,
) -> Result<(), Failure> {
    let mut left = named;
    while !left.is_empty() {
        let asked = left.get(..PAIRS).unwrap_or(left);
        let keys: Vec<String> = asked
            .iter()
            .flat_map(|named| place.pair(&named.name))
            .collect();
        let replies = read_keys(&place.live, &keys).await?;
        let (pairs, _) = replies.as_chunks::<2>();
        if pairs.is_empty() {
            return Err(Failure::Store("the store answers for no key".to_owned()));
        }
        left = left.get(pairs.len()..).unwrap_or_default();
        for (named, [held, told]) in asked.iter().zip(pairs) {
            findings.keys += 1;
            if has_run_out(place, told) && held.0 == "none" {
                continue;
            }
            let (Some(held), Some(told)) = (small(named, held)?, small(named, told)?) else {
                pages::compare(place, named, findings).await?;
                continue;
            };
            for difference in differences(named, &held, &told) {
                findings.add(difference);
            }
        }
    }
    Ok(())
}

/// Whether a shadow is of a key that the site has forgotten.
fn has_run_out(place: &Place, (_, expiry, _): &Read) -> bool {
    let most = i64::try_from(RUN_OUT).unwrap_or(i64::MAX / 2000) * 900;
    *expiry > place.now.saturating_add(most)
}

/// What was read, unless there is more.
fn small(named: &Named, (kind, _, values): &Read) -> Result<Option<Held>, Failure> {
    let expected = match named.kind {
        Kind::Board => "zset",
        _ => "hash",
    };
    if kind == "none" {
        return Ok(Some(held(named, Vec::new())?));
    }
    if kind != expected {
        return Err(strange(named, &format!("is a {kind}")));
    }
    values.clone().map(|values| held(named, values)).transpose()
}

/// Values as they are compared.
///
/// # Errors
///
/// [`Failure::Store`] where a score is no number.
pub fn held(named: &Named, values: Vec<String>) -> Result<Held, Failure> {
    let mut values = values.into_iter();
    let (mut scores, mut texts) = (Scores::new(), HashMap::new());
    while let (Some(name), Some(value)) = (values.next(), values.next()) {
        if named.kind == Kind::Board {
            let score = exact(&value).map_err(|what| strange(named, &what))?;
            scores.insert(name, score);
        } else if let Some(said) = said(named.kind, &name, value) {
            texts.insert(name, said);
        }
    }
    Ok(match named.kind {
        Kind::Board => Held::Scores(scores),
        _ => Held::Fields(texts),
    })
}

/// What differs between a key and its shadow.
#[must_use]
pub fn differences(named: &Named, held: &Held, told: &Held) -> Vec<Difference> {
    let kind = named.kind;
    let difference = |field, held, told, more| Difference {
        kind,
        key: named.name.clone(),
        field,
        others: Vec::new(),
        held,
        told,
        more,
    };
    match (held, told) {
        (Held::Scores(held), Held::Scores(told)) => board::compare(held, told)
            .into_iter()
            .map(|row| Difference {
                others: row.before,
                ..difference(row.member, row.held, row.told, row.more)
            })
            .collect(),
        (Held::Fields(held), Held::Fields(told)) => fields::compare(held, told)
            .into_iter()
            .map(|(field, held, told)| {
                let more = is_more(kind, held.as_deref(), told.as_deref());
                difference(field, held, told, more)
            })
            .collect(),
        (Held::Scores(_), Held::Fields(_)) | (Held::Fields(_), Held::Scores(_)) => Vec::new(),
    }
}

fn strange(named: &Named, what: &str) -> Failure {
    let name = crate::printable::printable(&named.name);
    Failure::Store(format!(
        "the store holds something else under this prefix: {name} {what}"
    ))
}
