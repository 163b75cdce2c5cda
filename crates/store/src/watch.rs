//! Watched boards: how an object that shows a board to its watchers learns of changes.
//!
//! The object registers the board by `watch.lua`. A counting call returns the registrations, and the deployment that
//! counted wakes the objects of the boards that the call may have changed. Changes of profiles and visibility
//! wake the objects of all registered boards. For any other change, the object compares the reply to
//! [`WatchRequests::check`] with the one before.

use crate::deployment::Deployment;
use crate::keys::Keys;
use crate::redis::{Command, Pipeline};
use crate::scripts::WATCH;
use activity_rank_core::board::{BoardId, BoardKind, BoardSlice};

/// Requests to the store about a watched board: bodies that need no other request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WatchRequests {
    /// Reads what every change of the board changes: on each shard the order counter, which each change
    /// of a score increments, the schema fingerprint, which pending changes are part of, and the scores
    /// and profiles of the listed users.
    pub check: String,
    /// Registers the board, for the number of seconds that replaces `<lifetime>`. Each reply is 1 if the
    /// board is registered.
    pub register: String,
}

impl WatchRequests {
    /// Returns the requests for a board with these rows.
    #[must_use]
    pub fn new(deployment: &Deployment, board: &BoardId, slice: &BoardSlice) -> Self {
        let config = &deployment.config;
        let name = board.name();
        let (mut check, mut register) = (Vec::new(), Vec::new());
        for shard in 0..config.shards {
            let keys = deployment.keys(shard);
            let rows = slice.rows.iter();
            let rows = rows.filter(|row| config.shard_of(&row.user) == shard);
            let members: Vec<String> = rows.map(|row| board.kind.member(&row.user)).collect();
            let read = |name, key: &str| Command::new(name).arg(key);
            let scores = read("ZMSCORE", &keys.board_named(&name)).arg("#");
            check.push(scores.args(&members));
            let users = read("HMGET", &keys.users()).arg(Keys::FINGERPRINT);
            match board.kind {
                BoardKind::Members | BoardKind::Authors | BoardKind::Event => {
                    check.push(users.args(&members))
                }
                BoardKind::Content => {
                    check.push(users);
                    check.push(read("HMGET", &keys.register()).args(&members));
                }
            }
            let call = Command::script(&WATCH, &[keys.users()]);
            register.push(call.arg(&name).arg("<lifetime>"));
        }
        Self {
            check: Pipeline::new(check).standalone_body(),
            register: Pipeline::new(register).standalone_body(),
        }
    }
}
