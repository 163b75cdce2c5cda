//! A comparison from beginning to end, shard by shard, and how it is told.

use super::everything;
use super::findings::Findings;
use super::settle::settle;
use crate::count::count;
use crate::failure::Failure;
use crate::rebuild::place::Place;
use crate::rebuild::replay::Replay;

/// What was found, on all shards that were looked at.
#[derive(Debug, Default)]
pub struct Look {
    /// Differences.
    pub findings: Findings,
    /// How many values kept changing.
    unsure: u64,
    /// Of whom the journal tells something twice.
    again: Vec<String>,
}

impl Look {
    /// Does the journal of a shard and compares, while the service goes on counting.
    ///
    /// # Errors
    ///
    /// [`Failure`] where service or store do not answer.
    pub async fn while_it_counts(
        &mut self,
        place: &Place,
        replay: &mut Replay,
    ) -> Result<(), Failure> {
        replay.draw_near(place).await?;
        self.findings.suspect();
        everything(place, &mut self.findings).await?;
        let unsure = settle(place, replay, &mut self.findings).await?;
        self.unsure += u64::try_from(unsure).unwrap_or(u64::MAX);
        self.take_again(place).await
    }

    /// Compares a shard that nobody writes.
    ///
    /// # Errors
    ///
    /// [`Failure`] where the store does not answer.
    pub async fn while_held(&mut self, place: &Place) -> Result<(), Failure> {
        everything(place, &mut self.findings).await?;
        self.take_again(place).await
    }

    async fn take_again(&mut self, place: &Place) -> Result<(), Failure> {
        let key = place.keys.again();
        let again: Vec<String> = place.live.ask(&["SMEMBERS", &key]).await?;
        self.findings.explained(&again);
        self.again.extend(again);
        Ok(())
    }

    /// What was found, as lines.
    #[must_use]
    pub fn told(&self) -> String {
        let mut told = self.findings.report();
        if self.unsure > 0 {
            let values = count(self.unsure, "value");
            told.push_str(&format!(
                "\n{values} kept changing while they were compared"
            ));
        }
        if !self.again.is_empty() {
            let users = count(self.again.len().try_into().unwrap_or(u64::MAX), "user");
            told.push_str(&format!(
                "\nof {users} something was counted again that had been counted: it counts once"
            ));
        }
        told
    }
}
