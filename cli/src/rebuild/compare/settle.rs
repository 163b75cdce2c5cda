//! What differs, told from what changed while it was read.
//!
//! A store that counts meanwhile is ahead of the journal. So what comes next from the journal is done
//! before a difference is believed: where it has nothing about those whom the difference is about, they
//! did not change; else it is looked at again.

use std::collections::{HashMap, HashSet};

use super::audit;
use super::difference::{Difference, Kind};
use super::findings::Findings;
use super::some;
use crate::failure::Failure;
use crate::rebuild::people::hash;
use crate::rebuild::place::Place;
use crate::rebuild::replay::Replay;

/// How often something that keeps changing is looked at.
const ROUNDS: u32 = 20;

/// By key and field.
type Suspects = HashMap<(String, String), Difference>;

/// Looks again at what is suspicious, until it is not; how many values kept changing.
///
/// # Errors
///
/// What comparing and catching up can fail with.
pub async fn settle(
    place: &Place,
    replay: &mut Replay,
    findings: &mut Findings,
) -> Result<usize, Failure> {
    let mut suspects = findings.suspects.take().unwrap_or_default();
    for _ in 0..ROUNDS {
        if suspects.is_empty() {
            break;
        }
        let changed = replay.catch_up(place).await?;
        suspects.retain(|_, difference| {
            let sure = !is_about(difference, &changed);
            if sure {
                findings.settled(difference.clone());
            }
            !sure
        });
        let again = look_again(place, &suspects).await?;
        // What was equal before has only changed since.
        suspects = again
            .into_iter()
            .filter(|(at, _)| suspects.contains_key(at))
            .collect();
    }
    Ok(suspects.len())
}

/// Whether it is about one of these; who was erased is told by a hash.
fn is_about(difference: &Difference, changed: &HashSet<String>) -> bool {
    if changed.is_empty() {
        return false;
    }
    difference
        .about()
        .any(|user| changed.contains(user) || changed.contains(&hash(user)))
}

async fn look_again(place: &Place, suspects: &Suspects) -> Result<Suspects, Failure> {
    let mut again = Findings::suspicious();
    if suspects
        .values()
        .any(|difference| difference.kind == Kind::Audit)
    {
        audit::compare(place, &mut again).await?;
    }
    let names: HashSet<&String> = suspects.keys().map(|(key, _)| key).collect();
    let names: Vec<String> = names.into_iter().cloned().collect();
    some(place, &names, &mut again).await?;
    Ok(again.suspects.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_is_about_who_it_is_of_and_whom_they_are_compared_with() {
        let difference = Difference {
            kind: Kind::Board,
            key: "ba:all".to_owned(),
            field: "42".to_owned(),
            others: vec!["7".to_owned()],
            held: None,
            told: None,
            more: false,
        };
        let about = |changed: &[&str]| {
            let changed = changed.iter().map(|user| (*user).to_owned()).collect();
            is_about(&difference, &changed)
        };
        assert!(about(&["42"]) && about(&["7"]));
        assert!(about(&["92cfceb39d57d914ed8b14d0e37643de0797ae56"]));
        assert!(!about(&[]) && !about(&["4"]));
    }
}
