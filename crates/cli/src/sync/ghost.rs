//! The export of a site of Ghost.

use std::collections::HashMap;
use std::io::Read;

use activity_rank_sync::sources::api::value_at;
use activity_rank_sync::sources::ghost::{ID_PREFIX, TYPES, UNIT, add_posts};
use activity_rank_sync::sources::{Adapter, Collector};
use activity_rank_sync::{Failure, Progress};
use serde_json::{Value, json};

use crate::sync::dump::{failure, invalid, open};

/// The largest export, in bytes: it is read as a whole.
const MAX_EXPORT: u64 = 512 * 1024 * 1024;
/// How an export writes the address of its site.
const SITE: &str = "__GHOST_URL__";

/// An export.
pub struct Export<'a>(pub &'a str);

impl Adapter for Export<'_> {
    const ID_PREFIX: &'static str = ID_PREFIX;
    const TYPES: &'static [(&'static str, &'static str)] = TYPES;
    const UNIT: &'static str = UNIT;

    async fn read(self, collector: &mut Collector<'_>, _: &dyn Progress) -> Result<(), Failure> {
        let posts = exported_posts(self.0, collector.mapping.site.as_deref())?;
        add_posts(collector, &posts);
        Ok(())
    }
}

/// Reads the published posts of an export, in the form of the API.
fn exported_posts(file: &str, site: Option<&str>) -> Result<Vec<Value>, Failure> {
    let mut text = String::new();
    let read = open(file)?.take(MAX_EXPORT + 1).read_to_string(&mut text);
    read.map_err(|cause| failure(file, cause))?;
    if text.len() as u64 > MAX_EXPORT {
        return Err(invalid(
            file,
            format!("has more than {} MB", MAX_EXPORT >> 20),
        ));
    }
    let invalid = |what: String| Failure::Usage(format!("{file} is no export of Ghost: {what}"));
    let export: Value = serde_json::from_str(&text).map_err(|error| invalid(error.to_string()))?;
    let data = export.pointer("/db/0/data").or_else(|| export.get("data"));
    let table = |name: &str| {
        let rows = data.and_then(|data| data.get(name)?.as_array());
        rows.ok_or_else(|| invalid(format!("it has no table {name}")))
    };
    let users = table("users")?.iter();
    let users: HashMap<Option<&str>, &Value> = users
        .map(|user| (value_at(user, "/id").as_str(), user))
        .collect();
    // The first author of a post.
    let mut authors: HashMap<Option<&str>, (i64, &Value)> = HashMap::new();
    for row in table("posts_authors")? {
        let order = value_at(row, "/sort_order").as_i64().unwrap_or_default();
        let Some(author) = users.get(&value_at(row, "/author_id").as_str()) else {
            continue;
        };
        let known = authors
            .entry(value_at(row, "/post_id").as_str())
            .or_insert((order, author));
        if order < known.0 {
            *known = (order, author);
        }
    }
    let is_post = |post: &&Value| {
        value_at(post, "/type").as_str().unwrap_or("post") == "post"
            && matches!(
                value_at(post, "/status").as_str(),
                Some("published" | "sent")
            )
    };
    let posts = table("posts")?.iter().filter(is_post).map(|post| {
        let author = authors.get(&value_at(post, "/id").as_str());
        let mut post = post.clone();
        let link = |path: Option<&str>| Some(path?.replace(SITE, site?));
        let image = link(value_at(&post, "/feature_image").as_str());
        let author = author.map_or(Value::Null, |(_, author)| {
            let image = link(value_at(author, "/profile_image").as_str());
            let slug = value_at(author, "/slug").as_str();
            let url = slug.zip(site).map(|(slug, site)| format!("{site}/author/{slug}/"));
            json!({"id": author.get("id"), "name": author.get("name"), "profile_image": image, "url": url})
        });
        if let Value::Object(fields) = &mut post {
            fields.insert("feature_image".to_owned(), image.into());
            fields.insert("primary_author".to_owned(), author);
        }
        post
    });
    Ok(posts.collect())
}
