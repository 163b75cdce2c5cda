//! How far a rebuild is: kept beside the data, so that it can be gone on with.

use std::hash::{BuildHasher, RandomState};

use super::place::Place;
use super::scripts::{BEGIN, TURN};
use crate::failure::Failure;

/// Begins what stands in place of the stamp while writes are held.
pub const REBUILDING: &str = "rebuilding ";

/// What is being done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// The journal is done again on the shadow.
    Replay,
    /// The same, while the service writes nothing.
    Held,
    /// Keys without a shadow are taken away.
    Delete,
    /// Shadows take their places.
    Rename,
    /// All are in their places; other shards are not.
    Done,
    /// The shadow is given up.
    Drop,
}

impl Phase {
    const ALL: [Self; 6] = [
        Self::Replay,
        Self::Held,
        Self::Delete,
        Self::Rename,
        Self::Done,
        Self::Drop,
    ];

    /// Its name in the store.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Replay => "replay",
            Self::Held => "held",
            Self::Delete => "delete",
            Self::Rename => "rename",
            Self::Done => "done",
            Self::Drop => "drop",
        }
    }

    fn parse(name: &str) -> Result<Self, Failure> {
        let mut all = Self::ALL.into_iter();
        all.find(|phase| phase.name() == name).ok_or_else(|| {
            let name = crate::printable::printable(name);
            Failure::Store(format!("a rebuild by another version is at '{name}'"))
        })
    }
}

/// A rebuild of a shard that this run goes on with.
#[derive(Clone, Debug)]
pub struct State {
    /// Says that it is this run, and none of before or after it.
    pub owner: String,
    /// What is being done.
    pub phase: Phase,
    /// The last entry of the journal that is in the shadow.
    pub entry: u64,
    /// The stamp of the site it was begun for.
    pub stamp: String,
}

impl State {
    /// What a rebuild that is there is at.
    ///
    /// # Errors
    ///
    /// [`Failure::Store`] where the store does not answer.
    pub async fn look(place: &Place) -> Result<Option<Phase>, Failure> {
        let key = place.live_keys().rebuild();
        let phase: Option<String> = place.live.ask(&["HGET", &key, "phase"]).await?;
        phase.map(|phase| Phase::parse(&phase)).transpose()
    }

    /// Takes hold of the rebuild that is there, or begins one.
    ///
    /// # Errors
    ///
    /// As [`State::look`].
    pub async fn begin(place: &Place, stamp: &str) -> Result<Self, Failure> {
        let owner = format!("{:016x}", RandomState::new().hash_one(place.now));
        let keys = [place.live_keys().rebuild()];
        let args = [owner.clone(), stamp.to_owned()];
        let (phase, entry, stamp): (String, String, String) =
            place.live.run(&BEGIN, &keys, &args).await?;
        let odd = || Failure::Store(format!("a rebuild is at the entry '{entry}'"));
        Ok(Self {
            owner,
            phase: Phase::parse(&phase)?,
            entry: entry.parse().map_err(|_| odd())?,
            stamp,
        })
    }

    /// Goes to a phase. `keeps_audit` matters to what is deleted.
    ///
    /// # Errors
    ///
    /// [`Failure::Store`] where somebody else has gone on, or the stamp is another site's.
    pub async fn turn(
        &mut self,
        place: &Place,
        to: Phase,
        keeps_audit: bool,
    ) -> Result<(), Failure> {
        let keys = place.live_keys();
        let index = keys.index();
        let keys = [keys.rebuild(), keys.stamp(), index];
        let args = [self.owner.as_str(), self.phase.name(), to.name()];
        let mut args = args.map(str::to_owned).to_vec();
        args.push(u8::from(keeps_audit).to_string());
        let (phase, stamp): (Option<String>, Option<String>) =
            place.live.run(&TURN, &keys, &args).await?;
        match phase {
            Some(phase) if phase == to.name() => {
                self.phase = to;
                Ok(())
            }
            Some(_) => Err(other_stamp(&stamp.unwrap_or_default())),
            None => Err(taken_over()),
        }
    }

    /// Lets the service write again, unless the swap has begun: whether it has.
    ///
    /// # Errors
    ///
    /// As [`State::look`].
    pub async fn let_go(mut self, place: &Place) -> Result<bool, Failure> {
        // As far as it can have come.
        self.phase = Phase::Held;
        let _ = self.turn(place, Phase::Replay, false).await;
        let phase = State::look(place).await?;
        Ok(matches!(phase, Some(Phase::Delete | Phase::Rename)))
    }

    /// Whether the audit list that is there stays.
    ///
    /// # Errors
    ///
    /// As [`State::look`].
    pub async fn keeps_audit(&self, place: &Place) -> Result<bool, Failure> {
        let key = place.live_keys().rebuild();
        let kept: Option<String> = place.live.ask(&["HGET", &key, "audit"]).await?;
        Ok(kept.as_deref() == Some("1"))
    }
}

/// Refuses a shard that is not of the site the journal tells of.
///
/// # Errors
///
/// [`Failure::Usage`] for data of another site or version.
pub async fn check_stamp(place: &Place, expected: &str) -> Result<(), Failure> {
    match place.live.stamp().await? {
        Some(held) if held != expected && held != format!("{REBUILDING}{expected}") => {
            Err(other_stamp(&held))
        }
        Some(_) | None => Ok(()),
    }
}

/// Refuses to go on with what was begun for a site with other settings.
///
/// # Errors
///
/// [`Failure::Usage`] where that is so.
pub async fn check_begun(place: &Place, expected: &str) -> Result<(), Failure> {
    let key = place.live_keys().rebuild();
    let begun: Option<String> = place.live.ask(&["HGET", &key, "stamp"]).await?;
    match begun {
        Some(begun) if begun != expected => Err(other_settings(&begun, expected)),
        Some(_) | None => Ok(()),
    }
}

/// What is said where the service has been given other settings meanwhile.
#[must_use]
pub fn other_settings(begun: &str, now: &str) -> Failure {
    let [begun, now] = [begun, now].map(crate::printable::printable);
    Failure::Usage(format!(
        "a rebuild was begun with other settings of the service ({begun}; now {now}): --fresh begins anew"
    ))
}

fn other_stamp(held: &str) -> Failure {
    let held = crate::printable::printable(held);
    Failure::Usage(format!(
        "the data under this prefix are not those of the service's journal ({held})"
    ))
}

/// What is said when the state is gone, or somebody else's.
#[must_use]
pub fn taken_over() -> Failure {
    let what = "another run has gone on with this rebuild, or the store was emptied; run it again";
    Failure::Store(what.to_owned())
}
