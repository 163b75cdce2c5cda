//! The caches, and what each of them holds. A reader of a board meets these in this order:
//!
//! | cache | holds | for | readers |
//! |---|---|---|---|
//! | isolate, `shared.js` | responses by URL, at most 8 MB | while they are fresh | without a key or token |
//! | leaders, `shared.js` | the response that is being made for a URL | two seconds | without a key or token |
//! | edge cache, [`edge`] | bodies by normal form of the URL, in a data center | `BOARD_MAX_AGE`; a day as a copy | all |
//! | snapshots and archive, [`copies`] | boards without the store | while the store is unavailable | all |
//!
//! The table of routes says whose responses the first two share. [`response`] reads the third, and the copies while the
//! store is unavailable; [`hiding`] says which copies may still be shown.

pub mod copies;
pub mod edge;
pub mod hiding;
pub mod response;
