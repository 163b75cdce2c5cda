//! A forum as a source: its state, its dumps, and the webhooks that its recipe sends.

use std::collections::{BTreeMap, BTreeSet};

use jiff::{Timestamp, ToSpan};
use test_support::{Value, json};

use crate::app::demo_community;
use crate::random::Random;

/// A forum. Ids of posts are unique, and the first post of a topic has the number 1.
#[derive(Clone, Debug, Default)]
pub struct Forum {
    pub topics: BTreeMap<u64, Topic>,
    pub posts: BTreeMap<u64, Post>,
    /// Likes that stand, by user and post, with their instants.
    pub likes: BTreeMap<(u64, u64), Timestamp>,
    /// Users who were merged into others: their ids exist no more.
    pub merged: BTreeSet<u64>,
    clock: Timestamp,
    members: BTreeSet<u64>,
}

#[derive(Clone, Debug)]
pub struct Topic {
    pub author: u64,
    pub at: Timestamp,
    pub is_deleted: bool,
}

#[derive(Clone, Debug)]
pub struct Post {
    pub topic: u64,
    pub author: u64,
    pub at: Timestamp,
    pub is_first: bool,
    pub is_deleted: bool,
}

/// An activity that stands: user, action, target, instant, receiver and author of the target.
pub struct Standing {
    pub user: String,
    pub action: &'static str,
    pub target: String,
    pub at: Timestamp,
    pub on: Option<String>,
    pub author: Option<String>,
}

/// Webhooks of likes have no instant and count later.
fn month_ago() -> Timestamp {
    Timestamp::now() - (24 * 30).hours()
}

pub fn user(id: u64) -> String {
    format!("discourse:{id}")
}

pub fn topic(id: u64) -> String {
    format!("discourse:topic:{id}")
}

pub fn post(id: u64) -> String {
    format!("discourse:post:{id}")
}

impl Forum {
    /// Creates a forum without topics.
    pub fn new(users: u64) -> Self {
        Self {
            clock: month_ago(),
            members: (1..=users).collect(),
            ..Self::default()
        }
    }

    /// Returns a later instant.
    fn tick(&mut self) -> Timestamp {
        self.clock += 7.minutes();
        self.clock
    }

    fn member(&self, random: &mut Random) -> u64 {
        loop {
            let index = random.below(self.members.len() as u64) as usize;
            let member = self.members.iter().nth(index);
            if let Some(member) = member.filter(|member| !self.merged.contains(member)) {
                return *member;
            }
        }
    }

    pub fn is_shown(&self, id: u64) -> bool {
        let post = self.posts.get(&id);
        post.is_some_and(|post| !post.is_deleted && !self.topics[&post.topic].is_deleted)
    }

    fn some_post(&self, random: &mut Random, is_first: bool) -> Option<u64> {
        let posts = self.posts.iter();
        let posts = posts.filter(|(id, post)| self.is_shown(**id) && post.is_first == is_first);
        let posts: Vec<u64> = posts.map(|(id, _)| *id).collect();
        let index = random.below(posts.len().max(1) as u64);
        posts.get(index as usize).copied()
    }

    /// Adds a topic with its first post.
    pub fn add_topic(&mut self, author: u64) -> u64 {
        let (id, at) = (self.topics.len() as u64 + 1, self.tick());
        self.insert_topic(id, author, at);
        id
    }

    fn insert_topic(&mut self, id: u64, author: u64, at: Timestamp) {
        let is_deleted = false;
        let topic = Topic {
            author,
            at,
            is_deleted,
        };
        self.topics.insert(id, topic);
        self.add_post(id, author, true, at);
    }

    fn add_post(&mut self, topic: u64, author: u64, is_first: bool, at: Timestamp) -> u64 {
        let id = self.posts.len() as u64 + 1;
        let post = Post {
            topic,
            author,
            at,
            is_first,
            is_deleted: false,
        };
        self.posts.insert(id, post);
        id
    }

    pub fn add_reply(&mut self, topic: u64, author: u64) -> u64 {
        let at = self.tick();
        self.add_post(topic, author, false, at)
    }

    pub fn like(&mut self, user: u64, post: u64) {
        let at = self.tick();
        self.likes.insert((user, post), at);
    }

    /// Changes something at random. Returns the deliveries of its webhooks.
    pub fn change(&mut self, random: &mut Random) -> Vec<Value> {
        let kind = random.below(12);
        let member = self.member(random);
        let reply = self.some_post(random, false);
        let first = self.some_post(random, true);
        match (kind, reply, first) {
            (0, ..) | (_, _, None) | (_, None, _) if self.topics.len() < 4 || kind == 0 => {
                let id = self.add_topic(member);
                vec![self.publication(id)]
            }
            (1 | 2, _, Some(first)) => {
                let topic = self.posts[&first].topic;
                let id = self.add_reply(topic, member);
                vec![self.comment(id)]
            }
            (3..=5, Some(reply), Some(first)) => {
                let id = [reply, first][random.below(2) as usize];
                if self.posts[&id].author == member || self.likes.contains_key(&(member, id)) {
                    return Vec::new();
                }
                self.like(member, id);
                let author = user(self.posts[&id].author);
                let like = json!({"user": user(member), "action": "like", "target": post(id), "author": author});
                vec![like]
            }
            // Discourse has no webhook of a withdrawn like.
            (6, ..) => {
                let likes: Vec<_> = self.likes.keys().copied().collect();
                let index = random.below(likes.len().max(1) as u64) as usize;
                if let Some(like) = likes.get(index) {
                    self.likes.remove(like);
                }
                Vec::new()
            }
            (7, Some(id), _) => {
                let undo = self.undo(&self.comment(id));
                self.delete_post(id, true);
                vec![undo]
            }
            (8, _, Some(first)) if random.below(3) == 0 => {
                let id = self.posts[&first].topic;
                let undo = self.undo(&self.publication(id));
                self.delete_topic(id);
                vec![undo]
            }
            (8, ..) => {
                let mut posts = self.posts.iter_mut();
                let Some((id, deleted)) = posts.find(|(_, post)| post.is_deleted) else {
                    return Vec::new();
                };
                deleted.is_deleted = false;
                let id = *id;
                let mut comment = self.comment(id);
                if let Some(fields) = comment.as_object_mut() {
                    fields.remove("at");
                }
                match self.is_shown(id) {
                    true => vec![comment],
                    false => Vec::new(),
                }
            }
            // No webhook has the changes below.
            (9, Some(id), Some(first)) => {
                let topic = self.posts[&first].topic;
                self.move_post(id, topic);
                Vec::new()
            }
            (10, Some(reply), Some(first)) => {
                let id = [reply, first][random.below(2) as usize];
                self.give(id, member);
                Vec::new()
            }
            (11, ..) if random.below(6) == 0 => {
                let other = self.member(random);
                if other != member && self.merged.len() < self.members.len() / 3 {
                    self.merge(member, other);
                }
                Vec::new()
            }
            _ => Vec::new(),
        }
    }

    pub fn delete_post(&mut self, id: u64, is_deleted: bool) {
        let post = self.posts.entry(id);
        post.and_modify(|post| post.is_deleted = is_deleted);
    }

    pub fn delete_topic(&mut self, id: u64) {
        let topic = self.topics.entry(id);
        topic.and_modify(|topic| topic.is_deleted = true);
    }

    pub fn move_post(&mut self, id: u64, topic: u64) {
        let post = self.posts.entry(id);
        post.and_modify(|post| post.topic = topic);
    }

    /// Gives a post to another author, and with the first post its topic.
    pub fn give(&mut self, id: u64, author: u64) {
        if let Some(post) = self.posts.get_mut(&id) {
            post.author = author;
            let (is_first, topic) = (post.is_first, post.topic);
            let topics = self.topics.entry(topic);
            topics.and_modify(|topic| topic.author = if is_first { author } else { topic.author });
        }
    }

    /// Gives everything of a user to another one, as a merge of users does.
    pub fn merge(&mut self, from: u64, to: u64) {
        self.merged.insert(from);
        let topics = self.topics.values_mut().map(|topic| &mut topic.author);
        let posts = self.posts.values_mut().map(|post| &mut post.author);
        for author in topics.chain(posts).filter(|author| **author == from) {
            *author = to;
        }
        let likes = std::mem::take(&mut self.likes);
        for ((user, post), at) in likes {
            let user = if user == from { to } else { user };
            if self.posts[&post].author != user {
                self.likes.entry((user, post)).or_insert(at);
            }
        }
    }

    fn publication(&self, id: u64) -> Value {
        let Topic { author, at, .. } = &self.topics[&id];
        json!({"user": user(*author), "action": "publish", "target": topic(id), "at": at.to_string()})
    }

    fn comment(&self, id: u64) -> Value {
        let Post {
            author,
            at,
            topic: on,
            ..
        } = &self.posts[&id];
        json!({"user": user(*author), "action": "comment", "target": post(id), "on": topic(*on), "at": at.to_string()})
    }

    fn undo(&self, activity: &Value) -> Value {
        let (user, action, target) = (&activity["user"], &activity["action"], &activity["target"]);
        json!({"user": user, "action": action, "target": target, "undo": true, "source_gone": true})
    }

    /// Returns what stands.
    pub fn standing(&self) -> Vec<Standing> {
        let mut all = Vec::new();
        let mut add = |member, action, target, at, on, author: Option<u64>| {
            all.push(Standing {
                user: user(member),
                action,
                target,
                at,
                on,
                author: author.map(user),
            });
        };
        for (id, Topic { author, at, .. }) in
            self.topics.iter().filter(|(_, topic)| !topic.is_deleted)
        {
            add(*author, "publish", topic(*id), *at, None, Some(*author));
        }
        for (id, reply) in self.replies() {
            let on = Some(topic(reply.topic));
            add(reply.author, "comment", post(id), reply.at, on, None);
        }
        for ((member, id), at) in self.likes.iter().filter(|((_, id), _)| self.is_shown(*id)) {
            let author = Some(self.posts[id].author);
            add(*member, "like", post(*id), *at, None, author);
        }
        all
    }

    /// Returns the replies that are shown.
    fn replies(&self) -> impl Iterator<Item = (u64, &Post)> {
        let posts = self.posts.iter();
        let replies = posts.filter(|(id, post)| self.is_shown(**id) && !post.is_first);
        replies.map(|(id, post)| (*id, post))
    }

    /// Reads the demo community: publications become topics, comments replies, and bookmarks likes of first posts.
    pub fn demo() -> Result<Self, Box<dyn std::error::Error>> {
        let mut forum = Self::new(0);
        let (mut lines, mut topics) = (demo_community()?, BTreeMap::new());
        // Bookmarks of a day precede its publications.
        lines.sort_by_key(|line| line["action"] != "publish");
        for line in lines {
            let text = |name: &str| line[name].as_str().unwrap_or_default();
            let (user, target): (u64, _) = (text("user").parse()?, text("target").to_owned());
            let at: Timestamp = text("at").parse()?;
            forum.members.insert(user);
            match (text("action"), topics.get(&target).copied()) {
                ("publish", None) => {
                    let id = forum.topics.len() as u64 + 1;
                    topics.insert(target, id);
                    forum.insert_topic(id, user, at);
                }
                ("comment", Some(id)) => drop(forum.add_post(id, user, false, at)),
                ("bookmark", Some(id)) => {
                    let posts = forum.posts.iter();
                    let mut first = posts.filter(|(_, post)| post.is_first && post.topic == id);
                    if let Some((post, _)) = first.next() {
                        forum.likes.entry((user, *post)).or_insert(at);
                    }
                }
                _ => {}
            }
        }
        Ok(forum)
    }

    /// Returns the forum as `pg_dump` writes the tables of Discourse, with rows that do not count.
    pub fn discourse(&self) -> String {
        let at = |at: &Timestamp| at.strftime("%Y-%m-%d %H:%M:%S%.6f").to_string();
        let deleted = |is_deleted: bool| match is_deleted {
            true => "2026-01-01 00:00:00",
            false => "\\N",
        };
        let now = at(&self.clock);
        let mut dump = "SET search_path = public;\n\nCOPY public.categories (id, name, read_restricted) FROM stdin;\n\
                        1\tGeneral\tf\n2\tStaff\tt\n\\.\n\n\
                        COPY public.post_actions (id, post_id, user_id, post_action_type_id, deleted_at, created_at) FROM stdin;\n"
            .to_owned();
        for (index, ((user, post), liked)) in self.likes.iter().enumerate() {
            let (id, liked) = (2 * index + 1, at(liked));
            dump.push_str(&format!("{id}\t{post}\t{user}\t2\t\\N\t{liked}\n"));
            // A withdrawn like of another post, and a flag.
            dump.push_str(&format!(
                "{}\t{post}\t{user}\t{}\t{}\t{liked}\n",
                id + 1,
                2 + index % 2,
                deleted(index % 2 == 0)
            ));
        }
        dump.push_str("\\.\n\nCOPY public.posts (id, user_id, topic_id, post_number, raw, created_at, deleted_at, user_deleted, post_type) FROM stdin;\n");
        for (id, found) in &self.posts {
            let number = if found.is_first { 1 } else { id + 1 };
            let (author, topic, created) = (found.author, found.topic, at(&found.at));
            let deleted = deleted(found.is_deleted);
            dump.push_str(&format!(
                "{id}\t{author}\t{topic}\t{number}\ta\\tb\\\\\\n\t{created}\t{deleted}\tf\t1\n"
            ));
        }
        // A message, a private topic, a post of the system and a small action.
        let (topic, post) = (1_000_000, 1_000_000);
        for (id, author, topic, number, kind) in [
            (post, 1, topic, 2, 1),
            (post + 1, 1, topic + 1, 2, 1),
            (post + 2, -1, 1, 900, 1),
            (post + 3, 1, 1, 901, 3),
        ] {
            dump.push_str(&format!(
                "{id}\t{author}\t{topic}\t{number}\t\t{now}\t\\N\tf\t{kind}\n"
            ));
        }
        dump.push_str("\\.\n\nCOPY public.topics (id, title, created_at, user_id, deleted_at, archetype, slug, category_id, visible) FROM stdin;\n");
        for (id, found) in &self.topics {
            let (author, created) = (found.author, at(&found.at));
            let deleted = deleted(found.is_deleted);
            dump.push_str(&format!(
                "{id}\tTopic \\\\ {id}\t{created}\t{author}\t{deleted}\tregular\ttopic-{id}\t1\tt\n"
            ));
        }
        let staff = topic + 1;
        dump.push_str(&format!(
            "{topic}\tMessage\t{now}\t1\t\\N\tprivate_message\tm\t\\N\tt\n\
             {staff}\tStaff\t{now}\t1\t\\N\tregular\ts\t2\tt\n"
        ));
        dump.push_str("\\.\n\nCOPY public.users (id, username, created_at, name) FROM stdin;\n-1\tsystem\t2018-01-01 00:00:00\tsystem\n");
        for id in self.members.difference(&self.merged) {
            let name = match id % 2 {
                0 => format!("Name {id}"),
                _ => "\\N".to_owned(),
            };
            dump.push_str(&format!("{id}\tuser{id}\t2018-01-01 00:00:00\t{name}\n"));
        }
        dump.push_str("\\.\n");
        dump
    }

    /// Returns the forum as a dump of Stack Exchange: topics are questions, replies comments, likes favorites.
    pub fn stack_exchange(&self) -> [(&'static str, String); 4] {
        let at = |at: &Timestamp| at.strftime("%Y-%m-%dT%H:%M:%S%.3f").to_string();
        let file = |name: &'static str, rows: Vec<String>| {
            let tag = name.trim_end_matches(".xml").to_lowercase();
            let rows = rows.join("\n");
            (
                name,
                format!(
                    "\u{feff}<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<{tag}>\n{rows}\n</{tag}>\n"
                ),
            )
        };
        let members = self.members.iter().map(|id| *id as i64);
        let users = [-1].into_iter().chain(members).map(|id| {
            format!("<row Id=\"{id}\" DisplayName=\"A &amp; {id}\" AboutMe=\"&lt;p&gt;\" />")
        });
        let shown = self.topics.iter().filter(|(_, topic)| !topic.is_deleted);
        let posts = shown.map(|(id, topic)| {
            let (author, at) = (topic.author, at(&topic.at));
            format!("<row Id=\"{id}\" PostTypeId=\"1\" CreationDate=\"{at}\" Body=\"&lt;p&gt;\" OwnerUserId=\"{author}\" Title=\"Topic &quot;{id}&quot;\" />")
        });
        let comments = self.replies().map(|(id, post)| {
            let (author, topic, at) = (post.author, post.topic, at(&post.at));
            format!("<row Id=\"{id}\" PostId=\"{topic}\" Text=\"x\" CreationDate=\"{at}\" UserId=\"{author}\" />")
        });
        let likes = self.likes.iter().enumerate();
        let votes = likes.map(|(index, ((user, post), liked))| {
            let (topic, at) = (self.posts[post].topic, at(liked));
            let favorite = format!("<row Id=\"{}\" PostId=\"{topic}\" VoteTypeId=\"5\" UserId=\"{user}\" CreationDate=\"{at}\" />", 2 * index);
            format!("{favorite}\n<row Id=\"{}\" PostId=\"{topic}\" VoteTypeId=\"2\" CreationDate=\"{at}\" />", 2 * index + 1)
        });
        [
            file("Users.xml", users.collect()),
            file("Posts.xml", posts.collect()),
            file("Comments.xml", comments.collect()),
            file("Votes.xml", votes.collect()),
        ]
    }

    /// Returns what stands as CSV.
    pub fn csv(&self) -> String {
        let mut csv = "user,action,target,at,on,author\n".to_owned();
        for row in self.standing() {
            let (on, author) = (row.on.unwrap_or_default(), row.author.unwrap_or_default());
            let line = format!(
                "{},{},{},{},{on},{author}\n",
                row.user, row.action, row.target, row.at
            );
            csv.push_str(&line.replace("discourse:", ""));
        }
        csv
    }

    /// Returns the points of all members, and what authors and targets have received: a small reference.
    pub fn points(&self) -> [BTreeMap<String, i64>; 3] {
        let mut boards: [BTreeMap<String, i64>; 3] = Default::default();
        for row in self.standing() {
            if row.action == "like" && row.author.as_ref() == Some(&row.user) {
                continue;
            }
            let points = match row.action {
                "publish" => 10,
                "comment" => 3,
                _ => 2,
            };
            *boards[0].entry(row.user).or_default() += points;
            if row.action == "publish" {
                continue;
            }
            let receiver = row.on.unwrap_or(row.target);
            let author = row.author.unwrap_or_else(|| {
                let topics = self.topics.iter();
                let found = topics.filter(|(id, _)| topic(**id) == receiver);
                found.map(|(_, topic)| user(topic.author)).collect()
            });
            *boards[1].entry(author).or_default() += points;
            *boards[2].entry(receiver).or_default() += points;
        }
        boards
    }
}
