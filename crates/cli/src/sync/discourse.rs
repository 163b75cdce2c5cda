//! A dump of Discourse: what `pg_dump` writes in plain format, or `dump.sql.gz` of a backup.

use activity_rank_sync::instant::InstantFormat;
use activity_rank_sync::sources::discourse::{
    ID_PREFIX, LIKE, Like, Post, REGULAR, Solution, TYPES, Tables, Topic, Vote, add_profile,
};
use activity_rank_sync::sources::{Adapter, Collector};
use activity_rank_sync::{Failure, Progress};
use jiff::tz::TimeZone;

use crate::sync::dump::{CopyRow, read_copy};

const TABLES: [&str; 5] = ["categories", "post_actions", "posts", "topics", "users"];
/// The table of a plugin, which a forum may never have had.
const VOTES: &str = "topic_voting_votes";
/// The table of the plugin of solutions, and the one where older versions of it have them, as fields of this name.
const SOLVED: &str = "discourse_solved_solved_topics";
const FIELDS: &str = "topic_custom_fields";
const SOLVED_FIELD: &str = "accepted_answer_post_id";

/// A dump file.
pub struct Discourse<'a>(pub &'a str);

impl Adapter for Discourse<'_> {
    const ID_PREFIX: &'static str = ID_PREFIX;
    const TYPES: &'static [(&'static str, &'static str)] = TYPES;
    const UNIT: &'static str = "line";

    async fn read(
        self,
        collector: &mut Collector<'_>,
        progress: &dyn Progress,
    ) -> Result<(), Failure> {
        let instants = InstantFormat {
            format: None,
            zone: Some(TimeZone::UTC),
        };
        let site = collector.mapping.site.clone();
        let mut tables = Tables::default();
        let (mut votes, mut solved, mut fields) = (Vec::new(), Vec::new(), Vec::new());
        let optional = [VOTES, SOLVED, FIELDS];
        let absent = read_copy(self.0, &TABLES, &optional, progress, |row| {
            let added = match row.table {
                "users" => add_user(collector, row, site.as_deref()),
                VOTES => add_vote(&mut votes, row, &instants),
                SOLVED => add_solution(&mut solved, row, "answer_post_id", &instants),
                FIELDS => match row.text("name").as_deref() {
                    Some(SOLVED_FIELD) => add_solution(&mut fields, row, "value", &instants),
                    _ => Ok(()),
                },
                _ => add(&mut tables, row, &instants),
            };
            if let Err(detail) = added {
                tables.faults.push((row.line, detail));
            }
        })?;
        let has = |table: &str| !absent.contains(&table);
        tables.votes = has(VOTES).then_some(votes);
        tables.solutions = match has(SOLVED) {
            true => Some(solved),
            // Without a solution, the forum may be without the plugin.
            false => Some(fields).filter(|fields| !fields.is_empty()),
        };
        tables.collect(collector, site.as_deref());
        Ok(())
    }
}

/// Returns the id of a member; `None` for the system, bots and deleted users.
fn member(row: &CopyRow<'_>) -> Option<i64> {
    row.integer("user_id").filter(|id| *id > 0)
}

fn add_user(
    collector: &mut Collector<'_>,
    row: &CopyRow<'_>,
    site: Option<&str>,
) -> Result<(), String> {
    let id = row.integer("id").ok_or("users: has no id")?;
    let username = row.text("username").unwrap_or_default();
    add_profile(collector, id, username, row.text("name"), site);
    Ok(())
}

/// Adds a vote. An archived one counts: a closed topic only gives voters their votes back.
fn add_vote(
    votes: &mut Vec<Vote>,
    row: &CopyRow<'_>,
    instants: &InstantFormat,
) -> Result<(), String> {
    let missing = |column: &str| format!("{VOTES}: has no {column}");
    let Some(user) = member(row) else {
        return Ok(());
    };
    let topic = row.integer("topic_id");
    let created = row.text("created_at");
    votes.push(Vote {
        user,
        topic: topic.ok_or_else(|| missing("topic_id"))?,
        at: instants.parse(&created.ok_or_else(|| missing("created_at"))?)?,
        line: row.line,
    });
    Ok(())
}

/// Adds an accepted solution, whose post is in a column.
fn add_solution(
    solutions: &mut Vec<Solution>,
    row: &CopyRow<'_>,
    column: &str,
    instants: &InstantFormat,
) -> Result<(), String> {
    let missing = |column: &str| format!("{}: has no {column}", row.table);
    let created = row.text("created_at");
    solutions.push(Solution {
        post: row.integer(column).ok_or_else(|| missing(column))?,
        at: Some(instants.parse(&created.ok_or_else(|| missing("created_at"))?)?),
        line: row.line,
    });
    Ok(())
}

/// Adds a row.
fn add(tables: &mut Tables, row: &CopyRow<'_>, instants: &InstantFormat) -> Result<(), String> {
    let table = row.table;
    let missing = |column: &str| format!("{table}: has no {column}");
    let integer = |column: &str| row.integer(column).ok_or_else(|| missing(column));
    let id = integer("id")?;
    let is_deleted = row.text("deleted_at").is_some();
    let created = row.text("created_at").ok_or_else(|| missing("created_at"));
    let at = || instants.parse(&created?);
    match table {
        "categories" if row.is_true("read_restricted") => {
            tables.restricted.insert(id);
        }
        "topics" if !is_deleted && row.text("archetype").as_deref() == Some("regular") => {
            let topic = Topic {
                user: member(row),
                at: at()?,
                title: row.text("title"),
                slug: row.text("slug").unwrap_or_else(|| "topic".to_owned()),
                category: row.integer("category_id"),
                is_listed: row.is_true("visible"),
                line: row.line,
            };
            tables.topics.insert(id, topic);
        }
        "posts" if !is_deleted && !row.is_true("user_deleted") => {
            let post = Post {
                user: member(row),
                topic: integer("topic_id")?,
                number: integer("post_number")?,
                at: at()?,
                is_regular: row.integer("post_type") == Some(REGULAR),
                line: row.line,
            };
            tables.posts.insert(id, post);
        }
        "post_actions" if !is_deleted && integer("post_action_type_id")? == LIKE => {
            let Some(user) = member(row) else {
                return Ok(());
            };
            tables.likes.push(Like {
                user,
                post: integer("post_id")?,
                at: Some(at()?),
                line: row.line,
            });
        }
        _ => {}
    }
    Ok(())
}
