//! Events as this isolate has last read them.
//!
//! Every response about an event contains its definition, which hardly changes: an isolate reads it again when caches
//! would read a board again, and keeps the last one for an outage of the store.

use crate::app::RequestContext;
use activity_rank_core::board::Heading;
use activity_rank_core::calendar::Instant;
use activity_rank_core::error::Error;
use activity_rank_core::event::Event;
use activity_rank_store::events;
use std::cell::RefCell;

/// Events remembered by an isolate.
const MAX_REMEMBERED: usize = 50;

thread_local! {
    /// The events that were last read, newest last, and when.
    static EVENTS: RefCell<Vec<(Event, Instant)>> = const { RefCell::new(Vec::new()) };
}

/// Returns whether something that was read at an instant is as fresh as a board in a cache.
fn is_fresh(context: RequestContext<'_>, read: Instant) -> bool {
    let max_age = i64::from(context.deployment.config.board_max_age) * 1000;
    context.request.now.0 < read.0 + max_age
}

/// Returns the heading of an event as this isolate knows it.
#[must_use]
pub fn known_heading(context: RequestContext<'_>, id: &str) -> Option<Heading> {
    find(id, |event, _| {
        Heading::Event(event.view(context.request.now))
    })
}

/// Returns the heading of an event.
///
/// # Errors
///
/// [`Error::NotFound`], and the errors of the store.
pub async fn read_heading(context: RequestContext<'_>, id: &str) -> Result<Heading, Error> {
    let now = context.request.now;
    let fresh = find(id, |event, read| {
        is_fresh(context, read).then(|| event.view(now))
    });
    if let Some(view) = fresh.flatten() {
        return Ok(Heading::Event(view));
    }
    let event = events::read(context.deployment, id).await?;
    forget(id);
    let event = event.ok_or_else(|| unknown(id))?;
    let view = event.view(now);
    EVENTS.with_borrow_mut(|all| {
        if all.len() >= MAX_REMEMBERED {
            all.remove(0);
        }
        all.push((event, now));
    });
    Ok(Heading::Event(view))
}

/// Forgets an event: it has been changed.
pub fn forget(id: &str) {
    EVENTS.with_borrow_mut(|all| all.retain(|(event, _)| event.id != id));
}

/// Returns the error for an event that does not exist.
#[must_use]
pub fn unknown(id: &str) -> Error {
    Error::NotFound(format!("There is no event {id}."))
}

fn find<T>(id: &str, view: impl FnOnce(&Event, Instant) -> T) -> Option<T> {
    EVENTS.with_borrow(|all| {
        let (event, read) = all.iter().find(|(event, _)| event.id == id)?;
        Some(view(event, *read))
    })
}
