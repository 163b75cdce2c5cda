//! A comparison from beginning to end, and how it is told.

use super::everything;
use super::findings::Findings;
use super::settle::settle;
use crate::count::count;
use crate::failure::Failure;
use crate::rebuild::place::Place;
use crate::rebuild::replay::Replay;

/// Does the journal and compares, while the service goes on counting.
///
/// # Errors
///
/// [`Failure`] where service or store do not answer.
pub async fn while_it_counts(
    place: &Place,
    replay: &mut Replay,
) -> Result<(Findings, usize), Failure> {
    // What came meanwhile is little; what comes then, less.
    for _ in 0..3 {
        if replay.catch_up(place).await?.is_empty() {
            break;
        }
    }
    let mut findings = Findings::suspicious();
    everything(place, &mut findings).await?;
    let unsure = settle(place, replay, &mut findings).await?;
    Ok((findings, unsure))
}

/// Of whom the journal tells something twice.
///
/// # Errors
///
/// [`Failure`] where the store does not answer.
pub async fn counted_again(place: &Place) -> Result<Vec<String>, Failure> {
    let key = place.keys.again();
    place.live.ask(&["SMEMBERS", &key]).await
}

/// What was found, as lines.
#[must_use]
pub fn told(findings: &Findings, unsure: usize, again: &[String]) -> String {
    let mut told = findings.report();
    if unsure > 0 {
        let values = count(unsure.try_into().unwrap_or(u64::MAX), "value");
        told.push_str(&format!(
            "\n{values} kept changing while they were compared"
        ));
    }
    if !again.is_empty() {
        let users = count(again.len().try_into().unwrap_or(u64::MAX), "user");
        told.push_str(&format!(
            "\nof {users} something was counted again that had been counted: it counts once"
        ));
    }
    told
}
