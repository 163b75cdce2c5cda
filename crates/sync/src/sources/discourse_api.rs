//! A forum of Discourse over its API, with the facts of its [dump](super::discourse).
//!
//! `/posts.json` has all posts of listed topics, from the newest on. The topics are known by their first posts. Unlisted topics are
//! private, and read one by one, so that what has counted stays. The API does not say when a like was given, or a solution
//! accepted. It has the voters of a topic only by a request for each topic, so votes are not read.

use std::collections::HashSet;

use activity_rank_core::calendar::Instant;
use http::Method;
use http::header::{HeaderMap, HeaderName, HeaderValue};
use serde_json::Value;
use url::Url;

use super::api::{Api, Connection, check_page, text_at, unexpected, value_at};
use super::discourse::{
    ID_PREFIX, LIKE, Like, Post, REGULAR, Solution, TYPES, Tables, Topic, add_profile,
};
use super::{Adapter, Collector};
use crate::count::count;
use crate::failure::Failure;
use crate::platform::Progress;

/// Posts of one request.
const POSTS: i64 = 50;
/// Posts of a topic of one request.
const TOPIC_POSTS: usize = 20;
/// Likes of one request.
const LIKES: usize = 200;

/// A forum.
pub struct DiscourseApi<'a> {
    /// Its address.
    pub connection: &'a Connection,
    /// `DISCOURSE_API_KEY`: a key for all users.
    pub key: &'a str,
    /// `DISCOURSE_API_USERNAME`: the name of an administrator.
    pub username: &'a str,
}

/// The content of a forum, as far as it is read.
struct Forum<'a> {
    api: Api<'a>,
    url: &'a Url,
    headers: HeaderMap,
    site: String,
    tables: Tables,
    /// Posts with likes.
    liked: Vec<i64>,
    /// The categories that the forum has listed.
    categories: HashSet<i64>,
}

impl Adapter for DiscourseApi<'_> {
    const ID_PREFIX: &'static str = ID_PREFIX;
    const TYPES: &'static [(&'static str, &'static str)] = TYPES;
    const UNIT: &'static str = "id";

    async fn read(
        self,
        collector: &mut Collector<'_>,
        progress: &dyn Progress,
    ) -> Result<(), Failure> {
        let site = self
            .connection
            .url
            .as_str()
            .trim_end_matches('/')
            .to_owned();
        let mut forum = Forum {
            api: Api::new("Discourse", self.connection, progress),
            url: &self.connection.url,
            headers: self.headers()?,
            site: collector.mapping.site.clone().unwrap_or(site),
            tables: Tables::default(),
            liked: Vec::new(),
            categories: HashSet::new(),
        };
        forum.read_categories().await?;
        let mut topics = forum.read_posts(collector).await?;
        topics.extend(forum.unlisted_topics().await?);
        for topic in topics {
            forum.read_topic(collector, topic).await?;
        }
        forum.check_categories().await?;
        forum.read_likes(collector).await?;
        let site = forum.site;
        forum.tables.collect(collector, Some(&site));
        Ok(())
    }
}

impl DiscourseApi<'_> {
    /// Returns the headers of the key, and of the user for whom it acts.
    fn headers(&self) -> Result<HeaderMap, Failure> {
        let header = |name: &'static str, value: &str| -> Result<_, Failure> {
            let invalid =
                |_| Failure::Usage(format!("{name} contains characters that are invalid"));
            let mut value = HeaderValue::from_str(value).map_err(invalid)?;
            value.set_sensitive(true);
            Ok((HeaderName::from_static(name), value))
        };
        let (key, username) = (self.key, self.username);
        let headers = [header("api-key", key)?, header("api-username", username)?];
        Ok(headers.into_iter().collect())
    }
}

impl Forum<'_> {
    async fn get(&self, path: &str, query: &[(&str, String)]) -> Result<(Url, Value), Failure> {
        let mut url = self.url.clone();
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.pop_if_empty().extend(path.split('/'));
        }
        if !query.is_empty() {
            url.query_pairs_mut().extend_pairs(query);
        }
        let request = self.api.request(Method::GET, &url, &self.headers, None);
        let answer = request.await?;
        Ok((url, answer.body))
    }

    fn add_category(&mut self, category: &Value) {
        let Some(id) = value_at(category, "/id").as_i64() else {
            return;
        };
        self.categories.insert(id);
        if value_at(category, "/read_restricted") == true {
            self.tables.restricted.insert(id);
        }
    }

    async fn read_categories(&mut self) -> Result<(), Failure> {
        let (url, site) = self.get("site.json", &[]).await?;
        for category in list(&url, &site, "/categories")? {
            self.add_category(category);
        }
        Ok(())
    }

    /// Reads the categories that the list of a large forum leaves out.
    async fn check_categories(&mut self) -> Result<(), Failure> {
        let topics = self.tables.topics.values();
        let named: HashSet<i64> = topics.filter_map(|topic| topic.category).collect();
        let unknown: Vec<i64> = named.difference(&self.categories).copied().collect();
        for id in unknown {
            let (_, answer) = self.get(&format!("c/{id}/show.json"), &[]).await?;
            self.add_category(value_at(&answer, "/category"));
        }
        Ok(())
    }

    /// Reads the posts of listed topics. Returns topics whose first post is not among them.
    async fn read_posts(&mut self, collector: &mut Collector<'_>) -> Result<Vec<i64>, Failure> {
        let (mut before, mut pages) = (None, 0);
        while before != Some(1) {
            let query: Vec<_> = before
                .iter()
                .map(|id: &i64| ("before", id.to_string()))
                .collect();
            let (url, answer) = self.get("posts.json", &query).await?;
            pages += 1;
            check_page(&url, pages)?;
            let mut first = None;
            for post in list(&url, &answer, "/latest_posts")? {
                let id = self.add_post(collector, &url, post)?;
                first = Some(first.unwrap_or(id).min(id));
            }
            // Former versions select from a range of ids, which may have no posts.
            before = match (before, first) {
                (None, None) => return Err(unexpected(&url, "no posts".to_owned())),
                (None, Some(first)) => Some(first.max(1)),
                (Some(before), Some(first)) if first < before => Some(first.max(1)),
                (Some(before), _) => Some((before - POSTS).max(1)),
            };
            let read = count(self.tables.posts.len() as u64, "post");
            self.api.progress.advance(0, read);
        }
        let posts = self.tables.posts.values().map(|post| post.topic);
        let topics: HashSet<i64> = posts
            .filter(|topic| !self.tables.topics.contains_key(topic))
            .collect();
        Ok(topics.into_iter().collect())
    }

    async fn unlisted_topics(&self) -> Result<Vec<i64>, Failure> {
        let mut topics = Vec::new();
        for page in 0.. {
            let query = [
                ("status", "unlisted".to_owned()),
                ("order", "created".to_owned()),
                ("page", u64::to_string(&page)),
            ];
            let (url, answer) = self.get("latest.json", &query).await?;
            check_page(&url, page)?;
            let found = list(&url, &answer, "/topic_list/topics")?;
            topics.extend(
                found
                    .iter()
                    .filter_map(|topic| value_at(topic, "/id").as_i64()),
            );
            if value_at(&answer, "/topic_list/more_topics_url").is_null() {
                break;
            }
        }
        Ok(topics)
    }

    /// Reads a topic with all its posts.
    async fn read_topic(&mut self, collector: &mut Collector<'_>, id: i64) -> Result<(), Failure> {
        let (url, topic) = self.get(&format!("t/{id}.json"), &[]).await?;
        let is_deleted = !value_at(&topic, "/deleted_at").is_null();
        if is_deleted || value_at(&topic, "/archetype") == "private_message" {
            return Ok(());
        }
        let found = Topic {
            user: member(value_at(&topic, "/user_id")),
            at: instant(&url, &topic)?,
            title: text_at(&topic, "/title"),
            slug: text_at(&topic, "/slug").unwrap_or_else(|| "topic".to_owned()),
            category: value_at(&topic, "/category_id").as_i64(),
            is_listed: value_at(&topic, "/visible") != false,
            line: id.unsigned_abs(),
        };
        self.tables.topics.insert(id, found);
        let mut posts: Vec<Value> = list(&url, &topic, "/post_stream/posts")?.to_vec();
        let known: HashSet<i64> = posts
            .iter()
            .filter_map(|post| value_at(post, "/id").as_i64())
            .collect();
        let stream = list(&url, &topic, "/post_stream/stream")?.iter();
        let stream = stream.filter_map(Value::as_i64);
        let missing: Vec<i64> = stream.filter(|id| !known.contains(id)).collect();
        for ids in missing.chunks(TOPIC_POSTS) {
            let query: Vec<_> = ids
                .iter()
                .map(|id| ("post_ids[]", id.to_string()))
                .collect();
            let (url, answer) = self.get(&format!("t/{id}/posts.json"), &query).await?;
            posts.extend(list(&url, &answer, "/post_stream/posts")?.to_vec());
        }
        for post in &posts {
            self.add_post(collector, &url, post)?;
        }
        Ok(())
    }

    /// Adds a post, and with the first one of a topic the topic. Returns its id.
    fn add_post(
        &mut self,
        collector: &mut Collector<'_>,
        url: &Url,
        post: &Value,
    ) -> Result<i64, Failure> {
        let integer = |name: &str| {
            let number = value_at(post, &format!("/{name}")).as_i64();
            number.ok_or_else(|| unexpected(url, format!("a post without {name}")))
        };
        let (id, topic, number) = (
            integer("id")?,
            integer("topic_id")?,
            integer("post_number")?,
        );
        let user = member(value_at(post, "/user_id"));
        let (at, line) = (instant(url, post)?, id.unsigned_abs());
        self.add_member(collector, user, post);
        let category = value_at(post, "/category_id").as_i64();
        if number == 1 && category.is_some() {
            let found = Topic {
                user,
                at,
                title: text_at(post, "/topic_title"),
                slug: text_at(post, "/topic_slug").unwrap_or_else(|| "topic".to_owned()),
                category,
                is_listed: true,
                line: topic.unsigned_abs(),
            };
            self.tables.topics.entry(topic).or_insert(found);
        }
        let is_deleted =
            !value_at(post, "/deleted_at").is_null() || value_at(post, "/user_deleted") == true;
        if is_deleted || self.tables.posts.contains_key(&id) {
            return Ok(id);
        }
        let actions = value_at(post, "/actions_summary").as_array();
        let is_like = |action: &&Value| value_at(action, "/id") == LIKE;
        let likes = actions.and_then(|actions| actions.iter().find(is_like));
        if likes.is_some_and(|likes| value_at(likes, "/count").as_u64() > Some(0)) {
            self.liked.push(id);
        }
        // A field of the plugin of solutions.
        if let Some(is_solution) = value_at(post, "/accepted_answer").as_bool() {
            let solutions = self.tables.solutions.get_or_insert_default();
            solutions.extend(is_solution.then_some(Solution {
                post: id,
                at: None,
                line,
            }));
        }
        let is_regular = value_at(post, "/post_type") == REGULAR;
        let found = Post {
            user,
            topic,
            number,
            at,
            is_regular,
            line,
        };
        self.tables.posts.insert(id, found);
        Ok(id)
    }

    /// Reads who likes each post that has likes.
    async fn read_likes(&mut self, collector: &mut Collector<'_>) -> Result<(), Failure> {
        let liked = std::mem::take(&mut self.liked);
        for (read, post) in (1..).zip(&liked) {
            for page in 0.. {
                let query = [
                    ("id", post.to_string()),
                    ("post_action_type_id", LIKE.to_string()),
                    ("limit", LIKES.to_string()),
                    ("page", u64::to_string(&page)),
                ];
                let (url, answer) = self.get("post_action_users.json", &query).await?;
                check_page(&url, page)?;
                let users = list(&url, &answer, "/post_action_users")?;
                for user in users {
                    let id = member(value_at(user, "/id"));
                    self.add_member(collector, id, user);
                    self.tables.likes.extend(id.map(|user| Like {
                        user,
                        post: *post,
                        at: None,
                        line: post.unsigned_abs(),
                    }));
                }
                if users.len() < LIKES {
                    break;
                }
            }
            let all = count(liked.len() as u64, "liked post");
            self.api.progress.advance(0, format!("{read} of {all}"));
        }
        Ok(())
    }

    fn add_member(&self, collector: &mut Collector<'_>, user: Option<i64>, item: &Value) {
        if let Some((id, username)) = user.zip(text_at(item, "/username")) {
            let name = text_at(item, "/name");
            add_profile(collector, id, username, name, Some(&self.site));
        }
    }
}

fn list<'a>(url: &Url, answer: &'a Value, place: &str) -> Result<&'a [Value], Failure> {
    let list = value_at(answer, place).as_array();
    list.map(Vec::as_slice)
        .ok_or_else(|| unexpected(url, format!("no {}", place.trim_start_matches('/'))))
}

/// Returns a user; `None` for the system and bots.
fn member(id: &Value) -> Option<i64> {
    id.as_i64().filter(|id| *id > 0)
}

fn instant(url: &Url, item: &Value) -> Result<Instant, Failure> {
    let at = value_at(item, "/created_at")
        .as_str()
        .and_then(Instant::parse);
    at.ok_or_else(|| unexpected(url, "an item without created_at".to_owned()))
}
