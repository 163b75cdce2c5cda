//! Ghost: the posts of a site, of its export or over the Admin API.
//!
//! As in `recipes/ghost`: a published post is a `publish` of its primary author. Pages and drafts do not count. Posts that only
//! members can read are private.

use http::header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde_json::{Value, json};

use super::api::{Answer, Api, Connection, Page, text_at, value_at};
use super::{Adapter, Collector};
use crate::facts::{Profile, Row, Target};
use crate::failure::Failure;
use crate::instant::InstantFormat;
use crate::platform::Progress;
use crate::token::sign;

/// Prefix of the ids of a site.
pub const ID_PREFIX: &str = "ghost:";
/// The type of activity and its action.
pub const TYPES: &[(&str, &str)] = &[("post", "publish")];
/// The unit of places.
pub const UNIT: &str = "post";
/// The longest validity of a token that Ghost accepts, in seconds.
const VALIDITY: i64 = 300;
const VERSION: HeaderName = HeaderName::from_static("accept-version");

/// A site.
pub struct GhostApi<'a> {
    /// Its address.
    pub connection: &'a Connection,
    /// `GHOST_ADMIN_API_KEY`: the Admin API key of an integration.
    pub key: &'a str,
}

/// An Admin API key.
struct AdminKey {
    id: String,
    secret: Vec<u8>,
}

impl Adapter for GhostApi<'_> {
    const ID_PREFIX: &'static str = ID_PREFIX;
    const TYPES: &'static [(&'static str, &'static str)] = TYPES;
    const UNIT: &'static str = UNIT;

    async fn read(
        self,
        collector: &mut Collector<'_>,
        progress: &dyn Progress,
    ) -> Result<(), Failure> {
        let api = Api::new("Ghost", self.connection, progress);
        add_posts(collector, &read_posts(&api, self.key).await?);
        Ok(())
    }
}

/// Adds posts, as the API and exports write them.
pub fn add_posts(collector: &mut Collector<'_>, posts: &[Value]) {
    let instants = InstantFormat {
        format: None,
        zone: Some(TimeZone::UTC),
    };
    for (place, post) in (1..).zip(posts) {
        if let Err(detail) = add(collector, &instants, post, place) {
            collector.facts.fault(place, detail);
        }
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
        let authorization = token.and_then(|token| {
            let mut value = HeaderValue::from_str(&format!("Ghost {token}")).ok()?;
            value.set_sensitive(true);
            Some((AUTHORIZATION, value))
        });
        let version = (VERSION, HeaderValue::from_static("v5.0"));
        authorization.into_iter().chain([version]).collect()
    }
}

/// Reads the published posts of a site.
async fn read_posts(api: &Api<'_>, key: &str) -> Result<Vec<Value>, Failure> {
    let message = "GHOST_ADMIN_API_KEY is not an Admin API key, ID:SECRET";
    let invalid = || Failure::Usage(message.to_owned());
    let key = AdminKey::parse(key).ok_or_else(invalid)?;
    let request = |page: u64| {
        let mut url = api.connection.url.clone();
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
