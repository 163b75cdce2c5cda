//! Ghost: the posts of a site, of its export or over the Admin API.
//!
//! As in `recipes/ghost`: a published post is a `publish` of its primary author. Pages and drafts do not count. Posts that only
//! members can read are private.

use std::collections::HashMap;
use std::io::Read;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use reqwest::Url;
use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue};
use serde_json::{Value, json};

use super::api::{Answer, Api, Page, text_at, value_at};
use super::dump::{failure, open};
use super::{Adapter, Collector};
use crate::args::{FileOrUrl, FileOrUrlArgs};
use crate::failure::Failure;
use crate::key::secret_variable;
use crate::progress::Progress;
use crate::sync::facts::{Profile, Row, Target};
use crate::sync::instant::InstantFormat;
use crate::token::sign;

const KEY: &str = "GHOST_ADMIN_API_KEY";
/// The longest validity of a token that Ghost accepts, in seconds.
const VALIDITY: i64 = 300;
const VERSION: HeaderName = HeaderName::from_static("accept-version");
/// How an export writes the address of its site.
const SITE: &str = "__GHOST_URL__";

/// A site.
pub struct Ghost<'a>(pub &'a FileOrUrlArgs);

/// An Admin API key.
struct AdminKey {
    id: String,
    secret: Vec<u8>,
}

impl Adapter for Ghost<'_> {
    const ID_PREFIX: &'static str = "ghost:";
    const TYPES: &'static [(&'static str, &'static str)] = &[("post", "publish")];
    const UNIT: &'static str = "post";

    async fn read(self, collector: &mut Collector<'_>, progress: &Progress) -> Result<(), Failure> {
        let Self(FileOrUrlArgs { source, sync }) = self;
        let posts = match source {
            FileOrUrl::File(file) => exported_posts(file, collector.mapping.site.as_deref())?,
            FileOrUrl::Url(url) => {
                let api = Api::new("Ghost", url, sync.retries, progress)?;
                read_posts(&api, url).await?
            }
        };
        let instants = InstantFormat {
            format: None,
            zone: Some(TimeZone::UTC),
        };
        for (place, post) in (1..).zip(&posts) {
            if let Err(detail) = add(collector, &instants, post, place) {
                collector.facts.fault(place, detail);
            }
        }
        Ok(())
    }
}

impl AdminKey {
    /// Parses the identity of a key and its secret in hexadecimal digits, with a colon between them.
    fn parse(text: &str) -> Option<Self> {
        let (id, secret) = text.split_once(':')?;
        let bytes = secret.as_bytes().chunks(2);
        let bytes = bytes.map(|byte| u8::from_str_radix(str::from_utf8(byte).ok()?, 16).ok());
        Some(Self {
            id: id.to_owned(),
            secret: bytes.collect::<Option<_>>()?,
        })
    }

    /// Returns the headers of a request: a token is valid for some minutes.
    fn headers(&self) -> HeaderMap {
        let now = Timestamp::now().as_second();
        let header = json!({"alg": "HS256", "typ": "JWT", "kid": self.id});
        let claims = json!({"iat": now, "exp": now + VALIDITY, "aud": "/admin/"});
        let token = sign(&header, &claims, &self.secret);
        let authorization = HeaderValue::from_str(&format!("Ghost {token}")).map(|mut value| {
            value.set_sensitive(true);
            value
        });
        let authorization = authorization.ok().map(|value| (AUTHORIZATION, value));
        let version = (VERSION, HeaderValue::from_static("v5.0"));
        authorization.into_iter().chain([version]).collect()
    }
}

/// Reads the published posts of a site.
async fn read_posts(api: &Api<'_>, url: &Url) -> Result<Vec<Value>, Failure> {
    let key = secret_variable(KEY, "the Admin API key of an integration")?;
    let invalid = || Failure::Usage(format!("{KEY} is not an Admin API key, ID:SECRET"));
    let key = AdminKey::parse(&key).ok_or_else(invalid)?;
    let request = |page: u64| {
        let mut url = url.clone();
        if let Ok(mut segments) = url.path_segments_mut() {
            // With the last slash: Ghost redirects without it.
            segments
                .pop_if_empty()
                .extend(["ghost", "api", "admin", "posts", ""]);
        }
        let query = [
            ("filter", "status:[published,sent]"),
            ("include", "authors"),
            ("order", "id asc"),
            ("limit", "100"),
        ];
        url.query_pairs_mut()
            .extend_pairs(query)
            .append_pair("page", &page.to_string());
        (url, key.headers())
    };
    let page_of = |answer: &Answer| {
        let number = |name: &str| value_at(&answer.body, name).as_u64();
        Some(Page {
            items: value_at(&answer.body, "/posts").as_array()?.clone(),
            total: number("/meta/pagination/total")?,
            pages: number("/meta/pagination/pages")?,
        })
    };
    api.list("posts", request, page_of).await
}

/// Reads the published posts of an export, in the form of the API.
fn exported_posts(file: &str, site: Option<&str>) -> Result<Vec<Value>, Failure> {
    let mut text = String::new();
    let read = open(file)?.read_to_string(&mut text);
    read.map_err(|cause| failure(file, cause))?;
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

/// Adds a post.
fn add(
    collector: &mut Collector<'_>,
    instants: &InstantFormat,
    post: &Value,
    place: u64,
) -> Result<(), String> {
    let id = text_at(post, "/id").ok_or("has no id")?;
    let author = match value_at(post, "/primary_author") {
        Value::Null => value_at(post, "/authors/0"),
        author => author,
    };
    let Some(user) = text_at(author, "/id") else {
        return Ok(());
    };
    let visibility = value_at(post, "/visibility").as_str();
    let is_private = visibility.unwrap_or("public") != "public" && !collector.mapping.private;
    let target = format!("post:{id}");
    if !is_private {
        let profile = Profile {
            name: text_at(author, "/name"),
            avatar: text_at(author, "/profile_image"),
            url: text_at(author, "/url"),
        };
        collector.facts.profile(&user, profile);
        let found = Target {
            title: text_at(post, "/title"),
            url: text_at(post, "/url"),
            image: text_at(post, "/feature_image"),
            author: None,
        };
        collector.facts.target(&target, found, place);
    }
    let at = text_at(post, "/published_at");
    collector.activity(Row {
        kind: "post",
        user: &user,
        target: &target,
        at: at.map(|at| instants.parse(&at)).transpose()?,
        is_private,
        place,
        ..Row::default()
    });
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn admin_key_is_identity_and_hexadecimal_secret() {
        let key = AdminKey::parse("5f1:00ff7a").unwrap();
        assert_eq!((key.id.as_str(), &*key.secret), ("5f1", &[0, 255, 122][..]));
        for invalid in ["5f1", "5f1:0g", "5f1:ä"] {
            assert!(AdminKey::parse(invalid).is_none(), "{invalid}");
        }
    }
}
