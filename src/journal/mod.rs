//! The journal: every change in the order in which the store made it, in a D1 database from which
//! Redis can be rebuilt.
//!
//! The scripts append each change to an outbox in the same atomic step, see `journal.lua`, and `user.lua` for counted
//! and undone activity and adjustments. What others receive by an entry is read from there too, see `receive.rs` of the
//! store. A job copies the outbox to the table; `GET /v1/journal` reads it. The migrations in `migrations/journal`
//! describe the table.
//!
//! An entry has named text fields. Entries of a kind have the same fields in the same order, because
//! a stream then stores their names once. A target is the member of boards: its id, after a second `#` if it
//! begins with one.
//!
//! An erasure empties the earlier entries of the user. Those that have a `target` lose their `user` only. With
//! several shards such an entry may be drained after the erasure; the one that takes the author off the target follows
//! it, and clears it.
//!
//! | field | in entries of `count`, `undo`, `adjust`, `refused` |
//! |---|---|
//! | `did` | one of these; also an undo that found nothing, because it is remembered. `refused` is an activity or an undo that did not count: of members with accounts, and with `JOURNAL_REFUSED` of all |
//! | `now` | when it was processed, Unix ms |
//! | `user`, `action` | the user and the action |
//! | `once` | `d` per day, `s` while it stands |
//! | `points` | of the rule, or requested by an adjustment, in smallest steps |
//! | `cooldown` | `1` if the rule has one, else `0` |
//! | `mark`, `at` | the deduplication record, and when the activity happened, Unix ms |
//! | `dated` | the source of `at`: `0` the time of processing, `1` the caller, `2` the queue |
//! | `date`, `kinds`, `groups` | the boards: day, letters of periods, groups between commas; for an undo those of its record. Of an adjustment of an event `e` and the event. Empty periods and groups for a visitor |
//! | `skipped` | the boards left out because they are archived and expired: numbers from 1, between commas |
//! | `reason`, `actor` | the reason of an adjustment; of an undo `source-gone` or nothing; the actor as the audit log stores it, only in entries of adjustments and their undos. Here and below, old entries lack `actor` |
//! | `applied` | the points by which each board changed, in the order of its periods for all users and then for each group, between `/`: one number if all are equal, and nothing for an undo that found nothing. Old entries lack it |
//! | `counted`, `gave` | of an undo: the instant and the points of the record that it undoes; empty for an undo that found nothing. Old entries lack them |
//! | `public` | `1` if the user may read the reason of the adjustment; else absent |
//! | `outcome`, `undo`, `gives`, `on` | of `refused`: why it did not count; `1` if it is an undo, else empty; what others would have received, as in `received`, and without the number of the registration if the script looks it up; and who or what would have received it, if that is not the target |
//! | `account` | the number of the account of the user that sent it; only in entries of activity by an account |
//! | `received` | with boards of content: the end of the active record, such as `2wa;17;1`, which says what others receive, or lose by an undo, see `record.rs` of the store; empty for none, and in old entries of an undo |
//!
//! | field | in entries of `receive`: points that others receive, or that an undo takes back |
//! |---|---|
//! | `now` | when it was processed, Unix ms |
//! | `user` | who receives on boards of authors; empty for none, or on another shard |
//! | `target` | what receives on boards of content; empty for none, or on another shard |
//! | `points` | in smallest steps; negative for an undo, which takes back as much as is left |
//! | `kinds`, `date` | the boards: letters of periods, day |
//! | `skipped` | the boards left out because they are archived and expired: numbers from 1, first of the boards of content, if there is a target, and then of those of authors |
//! | `listed` | the target of the author, where `target` is empty; empty for a follow |
//! | `action`, `changed` | the action of the activity, and the instant of its record, Unix ms. Old entries lack them |
//! | `counts` | 1 or -1 for a target that is counted for the action, or not any more; else absent |
//! | `author` | not in the table: with several shards the author of the target, who receives on another one |
//!
//! | `did` | fields |
//! |---|---|
//! | `target` | `now`, `user` (the author, or empty), `target`, `number`, `instant`, `authorship`, `json`: the registration as it is from then on, see `users.lua`; `erased` (not in the table): the author whom an erasure on another shard takes off the target, or empty; `at` (not in the table): the instant of a new author, or empty |
//! | `list` | `now`, `user` (an author), `listed` (a target in the list), `instant` (empty if it leaves the list): with several shards |
//! | `preview` | not in the table: a preview of rules is to continue |
//! | `disown` | not in the table: `now`, `author` (who has been erased), `target`: with several shards |
//! | `stub` | of earlier versions: the author of a deleted target |
//! | `moderate-target` | `now`, `target`, `verb` (`h` hide, `u` show, `e` delete), `reason`, `actor`; `author` (not in the table): with several shards that of a deleted target |
//! | `moderate` | `now`, `user`, `hidden` (`1` or `0`), `frozen`, `reason`, `changed`: one or two of `hide`, `unhide`, `freeze`, `unfreeze`; old entries lack it; `actor`; `public`: `1` if the user may read the reason, else absent |
//! | `profile` | `now`, `user`, `json`, `hidden` (`1` or `0` if it changed, else empty), `actor` (if it changed) |
//! | `account` | `now`, `user`, `of` (the member of whom the user is an account from then on; empty if it leaves), `number` (of the account; empty if it leaves), `actor` |
//! | `award`, `withdraw` | `now`, `user`, `achievement`, `steps` (a JSON array, in smallest steps), `values` (the same as responses have them), `reason`, `actor` |
//! | `pause` | `now`, `user`, `pauses` (all that are kept, as stored; the pauses of earlier entries hold until the day before), `day`: the day of the change |
//! | `exclude` | `now`, `user`, `case`, `excluded`: the exclusions of the case from then on, between spaces, as in `users.lua`; empty for none; `reason`, `actor`, `public` |
//! | `dismiss`, `reopen` | `now`, `user`, `case`, `reason`, `actor`: a decision about a case of the user |
//! | `places` | `now`: the end of a board that has settled, or of a final event, Unix ms. With achievements; the Worker writes it and `place` to the table, under ids that begin with `0-0` |
//! | `place` | `now`, `user`, `action` (`place:w`: the letter of the period, or `E` for an event), `points` (the place) |
//! | `event` | `now`, `event`, `json` (its definition, empty if it is deleted), `definitions`: all definitions of the shard from then on, see `define.lua`; `recount`: `1` if this definition holds for all entries before too, empty if not; `reason` and `actor` of a version, empty for an event. Old entries lack these. A version of the rules has `#` and its number in the place of the event, see `rules` of the core. The command line writes the entry of a recount to the outbox |
//! | `recount` | of earlier versions: the beginning of a recount of an event |
//! | `rules` | `now`, `rules`: a recount of the shard's entries before, with what each action gives as JSON: from an instant in Unix ms, or null for all time before, `points` and `received` in smallest steps. The command line writes it to the outbox |
//! | `accounts` | `now`, `accounts`: a recount of the entries before, which adds activity of accounts before their joins to their members, as JSON: `until`, the number of the last entry that it has read, `changed`, the numbers of the entries that count by it and did not, or the reverse, and for readers that do not replay it `sources` and `receipts`, see `AccountRecount` of the command line, which writes it to the outbox. Old entries lack these |
//! | `erase` | `now`, `user` (not in the table), `hash`: SHA-1 of the user, `actor` |

pub mod accounts;
pub mod achievements;
pub mod drain;
pub mod fair_play;
mod members;
pub mod metrics;
mod page;
mod points;
pub mod refusals;
pub mod rules_preview;
pub mod sums;
pub mod syncs;
mod write;

pub use members::find_members;
pub use page::{JournalRequest, Page};
#[cfg(test)]
pub use points::recounted;
pub use points::{read_exclusion_reasons, read_moderation_reason, read_points};
pub use write::write;
