//! How a run begins, or goes on.

use super::drop::give_up;
use super::journal::{Journal, Page};
use super::keep::Keep;
use super::place::Place;
use super::state::{Phase, State, check_begun, check_stamp};
use crate::archive::progress::Progress;
use crate::archive::stamp::MOST_SHARDS;
use crate::archive::store::Store;
use crate::args::{ServiceArgs, StoreArgs};
use crate::failure::Failure;
use crate::printable::printable;

/// A run that has taken hold of all shards.
pub struct Begun {
    /// The journal of the service.
    pub journal: Journal,
    /// How long what entries write is kept.
    pub keep: Keep,
    /// Whether the journal tells anything: then every shard of the site is stamped.
    pub written: bool,
    /// The shards, in their order.
    pub shards: Vec<Shard>,
    store: Store,
}

/// A shard, and how far it is.
pub struct Shard {
    /// Where it is.
    pub place: Place,
    /// How far it was when this run began.
    pub state: State,
}

impl Begun {
    /// Takes the progress away.
    pub fn finish_progress(&self) {
        self.store.progress.finish();
    }
}

/// Begins, or goes on with what was begun before; `fresh` gives that up. Where anything is of another
/// site nothing has changed.
///
/// # Errors
///
/// [`Failure`] where service or store do not answer, or there is another site.
pub async fn begin(service: &ServiceArgs, args: &StoreArgs, fresh: bool) -> Result<Begun, Failure> {
    let store = Store::new(args, Progress::new(None))?;
    let journal = Journal::new(service, args.retries)?;
    let first = first_page(&store, &journal).await?;
    let (stamp, shards) = (first.stamp.to_string(), first.stamp.shards);
    let now = store.now().await?;
    let place = |shard| Place::new(store.of_shard(shard, shards), now);
    for shard in 0..shards {
        check_stamp(&place(shard), &stamp).await?;
    }
    if fresh {
        start_over((0..MOST_SHARDS).map(place), &stamp).await?;
    }
    for shard in 0..shards {
        check_begun(&place(shard), &stamp).await?;
    }
    let mut held = Vec::new();
    for place in (0..shards).map(place) {
        if State::look(&place).await? == Some(Phase::Drop) {
            let mut state = State::begin(&place, &stamp).await?;
            give_up(&place, &mut state).await?;
        }
        let state = State::begin(&place, &stamp).await?;
        held.push(Shard { place, state });
    }
    Ok(Begun {
        journal,
        keep: first.keep,
        written: !first.entries.is_empty(),
        shards: held,
        store,
    })
}

/// The first page of the journal, if it is that of the site under this prefix.
async fn first_page(store: &Store, journal: &Journal) -> Result<Page, Failure> {
    let told = |failure: &_, wait| store.progress.waiting(&format!("{failure}"), wait);
    let page = journal.page(None, 0, told).await?;
    if page.prefix == store.prefix {
        return Ok(page);
    }
    Err(Failure::Usage(format!(
        "the service keeps its data under the prefix {}, not {}: is PREFIX that of the service?",
        printable(&page.prefix),
        store.prefix
    )))
}

/// Gives up what was begun before, also on shards that the site does not have any more.
async fn start_over(places: impl Iterator<Item = Place>, stamp: &str) -> Result<(), Failure> {
    let mut begun = Vec::new();
    for place in places {
        match State::look(&place).await? {
            None => {}
            Some(Phase::Replay | Phase::Held | Phase::Done | Phase::Drop) => begun.push(place),
            Some(Phase::Delete | Phase::Rename) => {
                return Err(Failure::Usage(
                    "a rebuild is bringing everything to its place, and has to be finished: leave \
                     out --fresh"
                        .to_owned(),
                ));
            }
        }
    }
    for place in begun {
        let mut state = State::begin(&place, stamp).await?;
        give_up(&place, &mut state).await?;
    }
    Ok(())
}
