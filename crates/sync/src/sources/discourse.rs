//! A forum of Discourse, as far as activity needs it: what its dump and its API have in common.
//!
//! As in `recipes/discourse`: a topic is a `publish`, a reply a `comment` on its topic, a like a `like` of its post, and a vote
//! a `like` of its topic. An accepted solution is a `solution` by the author of the post, if `--map` gives that type an action.
//! Users with negative ids are the system and bots. Unlisted topics, and topics of categories that the public cannot read, are
//! private; messages never count. Replies go with a deleted topic. After a merge of users everything is of the
//! remaining one.

use std::collections::{HashMap, HashSet};

use activity_rank_core::calendar::Instant;

use super::Collector;
use crate::facts::{Profile, Row, Target};

/// Prefix of the ids of a forum.
pub const ID_PREFIX: &str = "discourse:";
/// The types of activity and their actions.
pub const TYPES: &[(&str, &str)] = &[
    ("topic", "publish"),
    ("reply", "comment"),
    ("like", "like"),
    ("vote", "like"),
    // The rules of a deployment have no such action by default.
    ("solution", ""),
];
/// The type of a post that a member writes.
pub const REGULAR: i64 = 1;
/// The type of an action that is a like.
pub const LIKE: i64 = 2;

/// The tables, as far as activity needs them.
#[derive(Default)]
pub struct Tables {
    /// Categories that the public cannot read.
    pub restricted: HashSet<i64>,
    /// Topics by id.
    pub topics: HashMap<i64, Topic>,
    /// Posts by id.
    pub posts: HashMap<i64, Post>,
    /// Likes.
    pub likes: Vec<Like>,
    /// Votes; `None` if the source cannot be read for them.
    pub votes: Option<Vec<Vote>>,
    /// Accepted solutions; `None` if the source cannot be read for them.
    pub solutions: Option<Vec<Solution>>,
    /// Rows that cannot be read: their places, and what is invalid.
    pub faults: Vec<(u64, String)>,
}

/// A topic.
pub struct Topic {
    /// Its author; `None` for the system, bots and deleted users.
    pub user: Option<i64>,
    /// When it was created.
    pub at: Instant,
    /// Title.
    pub title: Option<String>,
    /// The name in its address.
    pub slug: String,
    /// Category.
    pub category: Option<i64>,
    /// Whether lists show it.
    pub is_listed: bool,
    /// Place in the source.
    pub line: u64,
}

/// A post.
pub struct Post {
    /// Its author; `None` for the system, bots and deleted users.
    pub user: Option<i64>,
    /// Topic.
    pub topic: i64,
    /// Its place in the topic, from 1.
    pub number: i64,
    /// When it was created.
    pub at: Instant,
    /// Whether a member has written it.
    pub is_regular: bool,
    /// Place in the source.
    pub line: u64,
}

/// A like.
pub struct Like {
    /// The user.
    pub user: i64,
    /// The post.
    pub post: i64,
    /// When, if the source knows.
    pub at: Option<Instant>,
    /// Place in the source.
    pub line: u64,
}

/// A vote for a topic.
pub struct Vote {
    /// The user.
    pub user: i64,
    /// The topic.
    pub topic: i64,
    /// When.
    pub at: Instant,
    /// Place in the source.
    pub line: u64,
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

/// An accepted solution.
pub struct Solution {
    /// The post.
    pub post: i64,
    /// When it was accepted, if the source says so.
    pub at: Option<Instant>,
    /// Place in the source.
    pub line: u64,
}

impl Tables {
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
        match &self.solutions {
            Some(solutions) => {
                for solution in solutions {
                    let post = self.posts.get(&solution.post);
                    let post = post.filter(|post| self.topics.contains_key(&post.topic));
                    let Some((post, user)) = post.and_then(|post| Some((post, post.user?))) else {
                        continue;
                    };
                    collector.activity(Row {
                        kind: "solution",
                        user: &user.to_string(),
                        target: &format!("post:{}", solution.post),
                        at: solution.at,
                        is_private: is_private(post.topic),
                        place: solution.line,
                        ..Row::default()
                    });
                }
            }
            None => collector.facts.unread("solution", "solution", "post:"),
        }
        let Some(votes) = &self.votes else {
            // Else each counted vote is too much, and healing undoes it.
            collector.facts.unread("vote", "like", "topic:");
            return;
        };
        for vote in votes {
            let Some(topic) = self.topics.get(&vote.topic) else {
                continue;
            };
            let author = topic.user.map(|author| author.to_string());
            collector.activity(Row {
                kind: "vote",
                user: &vote.user.to_string(),
                target: &format!("topic:{}", vote.topic),
                at: Some(vote.at),
                author: author.as_deref(),
                is_private: is_private(vote.topic),
                place: vote.line,
                ..Row::default()
            });
        }
    }
}
