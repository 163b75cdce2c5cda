//! WordPress: the posts and comments of a site, over its REST API.
//!
//! The ids are the same as in the plugin `recipes/wordpress`: users are numbers, targets `post-7` and `comment-3`, and
//! `site-2:post-7` on another site of a network. A published post is a `publish`, an approved comment of a member a `comment`
//! on its post. Without an application password the API hides comments on private posts and on posts with a password.

use std::collections::HashSet;

use activity_rank_core::calendar::Instant;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::header::{AUTHORIZATION, HeaderMap, HeaderValue};
use quick_xml::escape::unescape;
use serde::Deserialize;
use serde_json::Value;
use url::Url;

use super::api::{Answer, Api, Connection, Page, text_at, unexpected, value_at};
use super::{Adapter, Collector};
use crate::facts::{Profile, Row, Target};
use crate::failure::Failure;
use crate::platform::Progress;

const TOTAL: &str = "x-wp-total";
const PAGES: &str = "x-wp-totalpages";
/// The parameter of the API's address on a site without pretty permalinks.
const ROUTE: &str = "rest_route";

const POST_FIELDS: &str =
    "id,author,date_gmt,title,link,content.protected,featured_media,_links,_embedded";
const COMMENT_FIELDS: &str = "id,post,author,date_gmt";
const USER_FIELDS: &str = "id,name,url,avatar_urls";

/// A site.
pub struct Wordpress<'a> {
    /// Its address.
    pub connection: &'a Connection,
    /// Without them, the API hides comments on private posts.
    pub credentials: Option<&'a Credentials>,
    /// The types of posts that count, by their names in the API.
    pub types: &'a [String],
    /// Its number in a network, from 1.
    pub site: u64,
}

/// An application password of an administrator.
#[derive(Deserialize)]
pub struct Credentials {
    /// `WORDPRESS_USER`: the name of the administrator.
    pub user: String,
    /// `WORDPRESS_APPLICATION_PASSWORD`.
    pub password: String,
}

/// The REST API of a site.
struct RestApi<'a> {
    api: Api<'a>,
    url: &'a Url,
    headers: HeaderMap,
    /// Prefix of targets on another site of a network.
    prefix: String,
}

impl Adapter for Wordpress<'_> {
    const ID_PREFIX: &'static str = "";
    const TYPES: &'static [(&'static str, &'static str)] =
        &[("post", "publish"), ("comment", "comment")];
    const UNIT: &'static str = "id";

    fn target_prefixes(&self) -> Vec<String> {
        let prefix = self.prefix();
        vec![format!("{prefix}post-"), format!("{prefix}comment-")]
    }

    async fn read(
        self,
        collector: &mut Collector<'_>,
        progress: &dyn Progress,
    ) -> Result<(), Failure> {
        let authorization = self.credentials.map(Credentials::header).transpose()?;
        let is_administrator = authorization.is_some();
        let authorization = authorization.map(|value| (AUTHORIZATION, value));
        let site = RestApi {
            api: Api::new("WordPress", self.connection, progress),
            url: &self.connection.url,
            headers: authorization.into_iter().collect(),
            prefix: self.prefix(),
        };
        // The API lists all users for administrators, and only authors for all others. This order is refused to all others:
        // they would not see all comments.
        let order = if is_administrator {
            "registered_date"
        } else {
            "id"
        };
        let query = [("orderby", order), ("_fields", USER_FIELDS)];
        for user in site.list("users", &query).await? {
            add_user(collector, &user);
        }
        let query = [("orderby", "id"), ("_fields", COMMENT_FIELDS)];
        let mut commented = HashSet::new();
        for comment in site.list("comments", &query).await? {
            commented.extend(value_at(&comment, "/post").as_i64());
            site.add_comment(collector, &comment)?;
        }
        let query = [
            ("orderby", "id"),
            ("_fields", POST_FIELDS),
            ("_embed", "wp:featuredmedia"),
        ];
        for path in self.types {
            for post in site.list(path, &query).await? {
                site.add_target(collector, &post)?;
                site.add_post(collector, &post)?;
            }
        }
        if !self.types.iter().any(|path| path == "pages") {
            for page in site.list("pages", &query).await? {
                if commented.contains(&id(&page, site.url)?) {
                    site.add_target(collector, &page)?;
                }
            }
        }
        Ok(())
    }
}

impl Wordpress<'_> {
    fn prefix(&self) -> String {
        match self.site {
            1 => String::new(),
            site => format!("site-{site}:"),
        }
    }
}

impl Credentials {
    fn header(&self) -> Result<HeaderValue, Failure> {
        let credentials = STANDARD.encode(format!("{}:{}", self.user, self.password));
        let header = HeaderValue::from_str(&format!("Basic {credentials}"));
        let mut header = header.map_err(|error| Failure::Usage(error.to_string()))?;
        header.set_sensitive(true);
        Ok(header)
    }
}

impl RestApi<'_> {
    fn page_url(&self, path: &str, query: &[(&str, &str)], page: u64) -> Url {
        let (mut url, page) = (self.url.clone(), page.to_string());
        let is_route = url.query_pairs().any(|(name, _)| name == ROUTE);
        if is_route {
            url.set_query(None);
            let route = format!("/wp/v2/{path}");
            url.query_pairs_mut().append_pair(ROUTE, &route);
        } else if let Ok(mut segments) = url.path_segments_mut() {
            let path = ["wp-json", "wp", "v2", path];
            segments.pop_if_empty().extend(path);
        }
        // An item that is added while the pages are read is on the last one.
        let order = [("order", "asc"), ("per_page", "100")];
        let query = query.iter().chain(&order);
        url.query_pairs_mut()
            .extend_pairs(query)
            .append_pair("page", &page);
        url
    }

    async fn list(&self, path: &str, query: &[(&str, &str)]) -> Result<Vec<Value>, Failure> {
        let request = |page| (self.page_url(path, query, page), self.headers.clone());
        let page_of = |answer: &Answer| {
            let number = |name: &str| answer.headers.get(name)?.to_str().ok()?.parse().ok();
            Some(Page {
                items: answer.body.as_array()?.clone(),
                total: number(TOTAL)?,
                pages: number(PAGES)?,
            })
        };
        self.api.list(path, request, page_of).await
    }

    fn add_post(&self, collector: &mut Collector<'_>, post: &Value) -> Result<(), Failure> {
        let id = id(post, self.url)?;
        if let Some(author) = member(post) {
            collector.activity(Row {
                kind: "post",
                user: &author,
                target: &format!("{}post-{id}", self.prefix),
                at: instant(post),
                place: id.unsigned_abs(),
                ..Row::default()
            });
        }
        Ok(())
    }

    fn add_comment(&self, collector: &mut Collector<'_>, comment: &Value) -> Result<(), Failure> {
        let id = id(comment, self.url)?;
        let post = value_at(comment, "/post").as_i64();
        if let Some((user, post)) = member(comment).zip(post) {
            collector.activity(Row {
                kind: "comment",
                user: &user,
                target: &format!("{}comment-{id}", self.prefix),
                at: instant(comment),
                on: Some(&format!("{}post-{post}", self.prefix)),
                place: id.unsigned_abs(),
                ..Row::default()
            });
        }
        Ok(())
    }

    /// Adds the author of a post, and if it has no password its title, link and image.
    fn add_target(&self, collector: &mut Collector<'_>, post: &Value) -> Result<(), Failure> {
        let id = id(post, self.url)?;
        let author = member(post);
        let found = match value_at(post, "/content/protected") == true {
            true => Target {
                author,
                ..Target::default()
            },
            false => Target {
                title: text_at(post, "/title/rendered").map(|title| plain_text(&title)),
                url: text_at(post, "/link"),
                image: image(post),
                author,
            },
        };
        let target = format!("{}post-{id}", self.prefix);
        collector.facts.target(&target, found, id.unsigned_abs());
        Ok(())
    }
}

fn add_user(collector: &mut Collector<'_>, user: &Value) {
    let Some(id) = value_at(user, "/id").as_i64() else {
        return;
    };
    let profile = Profile {
        name: text_at(user, "/name").map(|name| plain_text(&name)),
        avatar: text_at(user, "/avatar_urls/96"),
        url: text_at(user, "/url"),
    };
    collector.facts.profile(&id.to_string(), profile);
}

fn id(item: &Value, url: &Url) -> Result<i64, Failure> {
    let id = value_at(item, "/id").as_i64();
    id.ok_or_else(|| unexpected(url, "an item without an id".to_owned()))
}

/// Returns the author of a post or comment. Visitors have the number 0.
fn member(item: &Value) -> Option<String> {
    let author = value_at(item, "/author").as_i64();
    let author = author.filter(|author| *author > 0);
    author.map(|author| author.to_string())
}

/// Returns the instant of a post or comment. Content of other plugins may have none.
fn instant(item: &Value) -> Option<Instant> {
    Instant::parse(&format!("{}Z", value_at(item, "/date_gmt").as_str()?))
}

/// Returns the link of the image, in the size that the theme shows.
fn image(post: &Value) -> Option<String> {
    let media = value_at(post, "/_embedded/wp:featuredmedia/0");
    let size = "/media_details/sizes/post-thumbnail/source_url";
    text_at(media, size).or_else(|| text_at(media, "/source_url"))
}

/// Returns HTML without tags, and with the characters of its entities.
fn plain_text(html: &str) -> String {
    let mut is_tag = false;
    let without_tags: String = html
        .chars()
        .filter(|c| {
            let was_tag = is_tag;
            is_tag = (is_tag || *c == '<') && *c != '>';
            !was_tag && !is_tag
        })
        .collect();
    let mut parts = without_tags.split('&');
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let entity = part.split_once(';');
        let decoded = entity.and_then(|(name, rest)| {
            let decoded = unescape(&format!("&{name};")).ok()?.into_owned();
            Some(decoded + rest)
        });
        text.push_str(&decoded.unwrap_or_else(|| format!("&{part}")));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles_become_plain_text() {
        for (html, text) in [
            ("Q&amp;A: a &lt; b", "Q&A: a < b"),
            ("It&#8217;s <em>new</em>&hellip;", "It’s new…"),
            ("Tom & Jerry &co; 5 > 4", "Tom & Jerry &co; 5 > 4"),
            ("&#x41;&nbsp;&#0;", "A\u{a0}&#0;"),
        ] {
            assert_eq!(plain_text(html), text, "{html}");
        }
    }
}
