//! A dump of Discourse: what `pg_dump` writes in plain format, or `dump.sql.gz` of a backup.
//!
//! As in `recipes/discourse`: a topic is a `publish`, a reply a `comment` on its topic, and a like a `like` of its post.
//! Users with negative ids are the system and bots. Unlisted topics, and topics of categories that the public cannot read, are
//! private; messages never count. Replies go with a deleted topic. After a merge of users everything is of the
//! remaining one.

use std::collections::{HashMap, HashSet};

use activity_rank_core::calendar::Instant;
use jiff::tz::TimeZone;

use super::dump::{CopyRow, read_copy};
use super::{Adapter, Collector};
use crate::failure::Failure;
use crate::progress::Progress;
use crate::sync::facts::{Profile, Row, Target};
use crate::sync::instant::InstantFormat;

const TABLES: [&str; 5] = ["categories", "post_actions", "posts", "topics", "users"];
/// The type of a post that a member writes, and of the action `like`.
pub const REGULAR: i64 = 1;
pub const LIKE: i64 = 2;

/// A dump file.
pub struct Discourse<'a>(pub &'a str);

/// The tables, as far as activity needs them.
#[derive(Default)]
pub struct Tables {
    pub restricted: HashSet<i64>,
    pub topics: HashMap<i64, Topic>,
    pub posts: HashMap<i64, Post>,
    pub likes: Vec<Like>,
    pub faults: Vec<(u64, String)>,
}

/// A topic.
pub struct Topic {
    pub user: Option<i64>,
    pub at: Instant,
    pub title: Option<String>,
    pub slug: String,
    pub category: Option<i64>,
    pub is_listed: bool,
    pub line: u64,
}

/// A post.
pub struct Post {
    pub user: Option<i64>,
    pub topic: i64,
    pub number: i64,
    pub at: Instant,
    pub is_regular: bool,
    pub line: u64,
}

/// A like.
pub struct Like {
    pub user: i64,
    pub post: i64,
    /// When, if the source knows.
    pub at: Option<Instant>,
    pub line: u64,
}

impl Adapter for Discourse<'_> {
    const ID_PREFIX: &'static str = "discourse:";
    const TYPES: &'static [(&'static str, &'static str)] =
        &[("topic", "publish"), ("reply", "comment"), ("like", "like")];
    const UNIT: &'static str = "line";

    async fn read(self, collector: &mut Collector<'_>, progress: &Progress) -> Result<(), Failure> {
        let instants = InstantFormat {
            format: None,
            zone: Some(TimeZone::UTC),
        };
        let site = collector.mapping.site.clone();
        let mut tables = Tables::default();
        read_copy(self.0, &TABLES, progress, |row| {
            let added = match row.table {
                "users" => add_user(collector, row, site.as_deref()),
                _ => tables.add(row, &instants),
            };
            if let Err(detail) = added {
                tables.faults.push((row.line, detail));
            }
        })?;
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

/// Adds the profile of a member.
pub fn add_profile(
    collector: &mut Collector<'_>,
    id: i64,
    username: String,
    name: Option<String>,
    site: Option<&str>,
) {
    if id > 0 {
        let url = site.map(|site| format!("{site}/u/{username}"));
        let name = name.filter(|name| !name.trim().is_empty());
        let profile = Profile {
            name: name.or(Some(username)),
            avatar: None,
            url,
        };
        collector.facts.profile(&id.to_string(), profile);
    }
}

impl Tables {
    fn add(&mut self, row: &CopyRow<'_>, instants: &InstantFormat) -> Result<(), String> {
        let table = row.table;
        let missing = |column: &str| format!("{table}: has no {column}");
        let integer = |column: &str| row.integer(column).ok_or_else(|| missing(column));
        let id = integer("id")?;
        let is_deleted = row.text("deleted_at").is_some();
        let created = row.text("created_at").ok_or_else(|| missing("created_at"));
        let at = || instants.parse(&created?);
        match table {
            "categories" if row.is_true("read_restricted") => {
                self.restricted.insert(id);
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
                self.topics.insert(id, topic);
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
                self.posts.insert(id, post);
            }
            "post_actions" if !is_deleted && integer("post_action_type_id")? == LIKE => {
                let Some(user) = member(row) else {
                    return Ok(());
                };
                self.likes.push(Like {
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

    /// Adds the facts of the tables. Links begin with the address of the forum.
    pub fn collect(self, collector: &mut Collector<'_>, site: Option<&str>) {
        for (line, detail) in &self.faults {
            collector.facts.fault(*line, detail.clone());
        }
        let (categories, private) = (&collector.mapping.categories, collector.mapping.private);
        let is_private: HashMap<i64, bool> = self
            .topics
            .iter()
            .map(|(id, topic)| {
                let category = topic.category;
                let is_hidden = category.is_some_and(|category| match categories.as_slice() {
                    [] => self.restricted.contains(&category),
                    counted => !counted.contains(&category),
                });
                (*id, !private && (is_hidden || !topic.is_listed))
            })
            .collect();
        let is_private = |topic: i64| is_private.get(&topic).copied().unwrap_or(false);
        for (id, topic) in &self.topics {
            let target = format!("topic:{id}");
            let is_private = is_private(*id);
            if !is_private {
                let found = Target {
                    title: topic.title.clone(),
                    url: site.map(|site| format!("{site}/t/{}/{id}", topic.slug)),
                    ..Target::default()
                };
                collector.facts.target(&target, found, topic.line);
            }
            if let Some(user) = topic.user {
                collector.activity(Row {
                    kind: "topic",
                    user: &user.to_string(),
                    target: &target,
                    at: Some(topic.at),
                    is_private,
                    place: topic.line,
                    ..Row::default()
                });
            }
        }
        for (id, post) in &self.posts {
            let Some(user) = post.user.filter(|_| post.is_regular && post.number != 1) else {
                continue;
            };
            if self.topics.contains_key(&post.topic) {
                collector.activity(Row {
                    kind: "reply",
                    user: &user.to_string(),
                    target: &format!("post:{id}"),
                    at: Some(post.at),
                    on: Some(&format!("topic:{}", post.topic)),
                    is_private: is_private(post.topic),
                    place: post.line,
                    ..Row::default()
                });
            }
        }
        for like in &self.likes {
            let post = self.posts.get(&like.post);
            let Some((post, topic)) = post.and_then(|post| {
                let topic = self.topics.get(&post.topic)?;
                Some((post, topic))
            }) else {
                continue;
            };
            let (target, is_private) = (format!("post:{}", like.post), is_private(post.topic));
            if !is_private {
                let path = format!("t/{}/{}/{}", topic.slug, post.topic, post.number);
                let found = Target {
                    title: topic.title.clone(),
                    url: site.map(|site| format!("{site}/{path}")),
                    ..Target::default()
                };
                collector.facts.target(&target, found, like.line);
            }
            let author = post.user.map(|author| author.to_string());
            collector.activity(Row {
                kind: "like",
                user: &like.user.to_string(),
                target: &target,
                at: like.at,
                author: author.as_deref(),
                is_private,
                place: like.line,
                ..Row::default()
            });
        }
    }
}
