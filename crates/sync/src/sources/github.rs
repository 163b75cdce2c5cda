//! GitHub: the stars, issues, comments, reviews, merged pull requests and discussions of repositories, over its API.
//!
//! The ids are the same as in `recipes/github` and `recipes/giscus`. Bots do not count, nor do deleted users. Issues, merged pull
//! requests and discussions with a label of `labels` do not count; comments on them and reviews are private. A private
//! repository is not sent and what has counted stays, unless the file of `--users` has `"private": true`.

use std::collections::HashMap;

use activity_rank_core::calendar::Instant;
use http::Method;
use http::header::{ACCEPT, AUTHORIZATION, HeaderMap, HeaderValue, LINK};
use serde_json::{Value, json};
use url::Url;

use super::api::{Answer, Api, Connection, LIMITED, check_page, unexpected, value_at};
use super::{Adapter, Collector};
use crate::count::count;
use crate::facts::{Profile, Row, Target};
use crate::failure::Failure;
use crate::platform::Progress;
use crate::printable::printable;

const JSON: &str = "application/vnd.github+json";
/// Stars with their instants.
const STARS: &str = "application/vnd.github.star+json";
const AUTHOR: &str = "author{__typename login avatarUrl url ... on User{databaseId}}";
/// An item has at most 100 labels.
const LABELS: &str = "labels(first:100){nodes{name}}";
const PAGE: &str = "pageInfo{hasNextPage endCursor}";

/// Repositories.
pub struct Repositories<'a> {
    /// The address of the REST API.
    pub connection: &'a Connection,
    /// The header with the token.
    pub authorization: HeaderValue,
    /// Their names, as OWNER/NAME.
    pub names: &'a [String],
}

/// The APIs of GitHub.
struct Github<'a> {
    api: Api<'a>,
    base: &'a Url,
    authorization: HeaderValue,
}

/// Where a repository puts what it has.
struct Output<'a, 'b> {
    collector: &'a mut Collector<'b>,
    /// Whether the repository is private and does not count.
    is_private: bool,
}

/// An issue or a pull request, by number.
struct Issue {
    id: i64,
    is_excluded: bool,
    author: Option<i64>,
    title: Option<String>,
    url: Option<String>,
}

/// A discussion, as its comments need it.
struct Discussion {
    /// The target that receives.
    on: String,
    /// Whether its comments are private.
    is_private: bool,
}

/// A user who counts.
struct User {
    id: i64,
    profile: Profile,
}

impl Adapter for Repositories<'_> {
    const ID_PREFIX: &'static str = "github:";
    const TYPES: &'static [(&'static str, &'static str)] = &[
        ("star", "like"),
        ("issue", "comment"),
        ("comment", "comment"),
        ("review", "comment"),
        ("pull", "publish"),
        ("discussion", "publish"),
        ("discussion-comment", "comment"),
        ("solution", ""),
    ];
    const UNIT: &'static str = "id";

    async fn read(
        self,
        collector: &mut Collector<'_>,
        progress: &dyn Progress,
    ) -> Result<(), Failure> {
        let github = Github {
            api: Api::new("GitHub", self.connection, progress),
            base: &self.connection.url,
            authorization: self.authorization,
        };
        for repository in self.names {
            let is_read = read_repository(&github, collector, repository).await?;
            if !is_read {
                progress.print(&format!("{} is private: not sent", printable(repository)));
            }
        }
        Ok(())
    }
}

impl Github<'_> {
    fn url(&self, path: &str) -> Url {
        let mut url = self.base.clone();
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.pop_if_empty().extend(path.split('/'));
        }
        url
    }

    async fn request(
        &self,
        method: Method,
        url: &Url,
        accept: &'static str,
        body: Option<String>,
    ) -> Result<Answer, Failure> {
        let headers = HeaderMap::from_iter([
            (ACCEPT, HeaderValue::from_static(accept)),
            (AUTHORIZATION, self.authorization.clone()),
        ]);
        self.api.request(method, url, &headers, body).await
    }

    /// Calls `each` for every item of a list.
    async fn list(
        &self,
        path: &str,
        query: &[(&str, &str)],
        accept: &'static str,
        mut each: impl FnMut(&Value) -> Result<(), String>,
    ) -> Result<(), Failure> {
        let mut url = self.url(path);
        let query = query.iter().chain(&[("per_page", "100")]);
        url.query_pairs_mut().extend_pairs(query);
        let (mut next, mut items, mut pages) = (Some(url), 0, 0);
        while let Some(url) = next {
            pages += 1;
            check_page(&url, pages)?;
            let answer = self.request(Method::GET, &url, accept, None).await?;
            for item in answer.body.as_array().into_iter().flatten() {
                items += 1;
                each(item).map_err(|what| unexpected(&url, what))?;
            }
            let read = format!("{} of {path}", count(items, "item"));
            self.api.progress.advance(0, read);
            // The key is sent to no other host.
            next = next_page(&answer.headers).filter(|next| next.origin() == url.origin());
        }
        Ok(())
    }

    /// Calls `each` for every node of a connection of GraphQL; `path` is where the connection is in `data`.
    async fn nodes(
        &self,
        query: &str,
        variables: &Value,
        path: &str,
        mut each: impl FnMut(&Value) -> Result<(), String>,
    ) -> Result<(), Failure> {
        let url = self.graphql_url();
        let mut variables = variables.clone();
        for page in 1.. {
            check_page(&url, page)?;
            let body = json!({"query": query, "variables": variables}).to_string();
            let answer = self.query(&url, &body).await?;
            let connection = answer.pointer(&format!("/data{path}"));
            let connection = connection.unwrap_or(&Value::Null);
            for node in value_at(connection, "/nodes")
                .as_array()
                .into_iter()
                .flatten()
            {
                each(node).map_err(|what| unexpected(&url, what))?;
            }
            let page = value_at(connection, "/pageInfo");
            if value_at(page, "/hasNextPage") != true {
                return Ok(());
            }
            if let Value::Object(variables) = &mut variables {
                variables.insert("after".to_owned(), value_at(page, "/endCursor").clone());
            }
        }
        Ok(())
    }

    /// Sends a query of GraphQL. Repeats it if the rate limit refuses it, which has the status 200.
    async fn query(&self, url: &Url, body: &str) -> Result<Value, Failure> {
        let mut retries = self.api.connection.retries;
        loop {
            let body = Some(body.to_owned());
            let answer = self.request(Method::POST, url, JSON, body).await?;
            let Some(error) = answer.body.pointer("/errors/0") else {
                return Ok(answer.body);
            };
            if value_at(error, "/type") != "RATE_LIMITED" || retries == 0 {
                let message = value_at(error, "/message").as_str().unwrap_or_default();
                return Err(unexpected(url, printable(message)));
            }
            retries -= 1;
            if !answer.has_waited {
                self.api.wait(LIMITED).await;
            }
        }
    }

    /// Returns the address of GraphQL, which GitHub Enterprise has beside its REST API.
    fn graphql_url(&self) -> Url {
        let mut url = self.base.clone();
        let path = url.path().trim_end_matches('/');
        let path = path.strip_suffix("/v3").unwrap_or(path);
        let path = format!("{path}/graphql");
        url.set_path(&path);
        url
    }
}

/// Returns the next page: `<https://…?page=2>; rel="next", <https://…>; rel="last"`.
fn next_page(headers: &HeaderMap) -> Option<Url> {
    let links = headers.get(LINK)?.to_str().ok()?;
    let mut links = links.split(',').map(str::trim);
    let next = links.find_map(|link| link.strip_suffix(">; rel=\"next\"")?.strip_prefix('<'))?;
    next.parse().ok()
}

/// Returns the user of an object of REST, unless it is a bot.
fn rest_user(user: &Value) -> Option<User> {
    if value_at(user, "/type") == "Bot" {
        return None;
    }
    let text = |name: &str| {
        value_at(user, &format!("/{name}"))
            .as_str()
            .map(str::to_owned)
    };
    Some(User {
        id: value_at(user, "/id").as_i64()?,
        profile: Profile {
            name: text("login"),
            avatar: text("avatar_url"),
            url: text("html_url"),
        },
    })
}

/// Returns the author of an object of GraphQL, unless it is a bot.
fn graphql_user(author: &Value) -> Option<User> {
    let text = |name: &str| {
        value_at(author, &format!("/{name}"))
            .as_str()
            .map(str::to_owned)
    };
    Some(User {
        id: value_at(author, "/databaseId").as_i64()?,
        profile: Profile {
            name: text("login"),
            avatar: text("avatarUrl"),
            url: text("url"),
        },
    })
}

/// Returns whether an item of REST or GraphQL has one of these labels.
fn has_label(item: &Value, labels: &[String]) -> bool {
    let given = value_at(item, "/labels");
    let given = given.as_array().or_else(|| given.get("nodes")?.as_array());
    let mut names = given
        .into_iter()
        .flatten()
        .filter_map(|label| label.get("name")?.as_str());
    names.any(|name| labels.iter().any(|label| label == name))
}

/// Returns an instant of an object.
fn instant(item: &Value, field: &str) -> Result<Instant, String> {
    let at = value_at(item, &format!("/{field}"))
        .as_str()
        .and_then(Instant::parse);
    at.ok_or_else(|| format!("an item without {field}"))
}

fn id(item: &Value) -> Result<i64, String> {
    // GraphQL gives large numbers as text.
    let full = value_at(item, "/fullDatabaseId")
        .as_str()
        .and_then(|id| id.parse().ok());
    let id = full
        .or_else(|| value_at(item, "/id").as_i64())
        .or_else(|| value_at(item, "/databaseId").as_i64());
    id.ok_or_else(|| "an item without an id".to_owned())
}

/// An activity of GitHub.
struct Done<'a> {
    kind: &'a str,
    user: User,
    target: String,
    at: Instant,
    on: Option<String>,
    id: i64,
    is_private: bool,
}

impl Output<'_, '_> {
    /// Returns whether an item has one of the labels whose content does not count.
    fn is_excluded(&self, item: &Value) -> bool {
        has_label(item, &self.collector.mapping.labels)
    }

    fn target(&mut self, target: &str, found: Target, id: i64) {
        if !self.is_private {
            let place = id.unsigned_abs();
            self.collector.facts.target(target, found, place);
        }
    }

    fn activity(&mut self, done: Done<'_>) {
        let user = done.user.id.to_string();
        let is_private = done.is_private || self.is_private;
        if !is_private {
            self.collector.facts.profile(&user, done.user.profile);
        }
        self.collector.activity(Row {
            kind: done.kind,
            user: &user,
            target: &done.target,
            at: Some(done.at),
            on: done.on.as_deref(),
            is_private,
            place: done.id.unsigned_abs(),
            ..Row::default()
        });
    }
}

/// Reads a repository. Returns `false` if it is private and does not count: it is not sent, and what has counted stays.
async fn read_repository(
    github: &Github<'_>,
    collector: &mut Collector<'_>,
    name: &str,
) -> Result<bool, Failure> {
    let path = format!("repos/{name}");
    let url = github.url(&path);
    let repository = github.request(Method::GET, &url, JSON, None).await?.body;
    // An internal repository is private too.
    let is_private = value_at(&repository, "/private") == true && !collector.mapping.private;
    let repository_id = id(&repository).map_err(|what| unexpected(&url, what))?;
    let target = format!("repository:{repository_id}");
    let text = |item: &Value, field: &str| {
        value_at(item, &format!("/{field}"))
            .as_str()
            .map(str::to_owned)
    };
    let found = Target {
        title: text(&repository, "full_name"),
        url: text(&repository, "html_url"),
        ..Target::default()
    };
    let output = &mut Output {
        collector,
        is_private,
    };
    output.target(&target, found, repository_id);
    if is_private {
        // GitHub has removed the stars of when the repository was public.
        output.collector.facts.keep(&target);
    } else {
        read_stars(github, output, &path, repository_id).await?;
    }
    let issues = read_issues(github, output, &path).await?;
    read_comments(github, output, &path, &issues).await?;
    read_pulls(github, output, &path).await?;
    let (owner, name) = name.split_once('/').unwrap_or_default();
    let repository = json!({"owner": owner, "name": name, "after": null});
    read_reviews(github, output, &repository).await?;
    read_discussions(github, output, &repository).await?;
    Ok(!is_private)
}

async fn read_stars(
    github: &Github<'_>,
    output: &mut Output<'_, '_>,
    path: &str,
    repository_id: i64,
) -> Result<(), Failure> {
    github
        .list(&format!("{path}/stargazers"), &[], STARS, |star| {
            if let Some(user) = rest_user(value_at(star, "/user")) {
                let done = Done {
                    kind: "star",
                    user,
                    target: format!("repository:{repository_id}"),
                    at: instant(star, "starred_at")?,
                    on: None,
                    id: repository_id,
                    is_private: false,
                };
                output.activity(done);
            }
            Ok(())
        })
        .await
}

/// Reads issues. Returns them and pull requests by number.
async fn read_issues(
    github: &Github<'_>,
    output: &mut Output<'_, '_>,
    path: &str,
) -> Result<HashMap<i64, Issue>, Failure> {
    let mut issues = HashMap::new();
    // In the order of creation: what is new while the pages are read is on the last one.
    let query = [("state", "all"), ("sort", "created"), ("direction", "asc")];
    github
        .list(&format!("{path}/issues"), &query, JSON, |item| {
            let (id, user) = (id(item)?, rest_user(value_at(item, "/user")));
            let text = |field: &str| {
                value_at(item, &format!("/{field}"))
                    .as_str()
                    .map(str::to_owned)
            };
            let issue = Issue {
                id,
                is_excluded: output.is_excluded(item),
                author: user.as_ref().map(|user| user.id),
                title: text("title"),
                url: text("html_url"),
            };
            if issue.is_excluded {
                output.collector.facts.exclude(&format!("issue:{id}"));
            }
            let is_counted = value_at(item, "/pull_request").is_null() && !issue.is_excluded;
            if let Some(user) = user.filter(|_| is_counted) {
                add_issue(output, &issue);
                let done = Done {
                    kind: "issue",
                    user,
                    target: format!("issue:{id}"),
                    at: instant(item, "created_at")?,
                    on: None,
                    id,
                    is_private: false,
                };
                output.activity(done);
            }
            issues.insert(
                value_at(item, "/number").as_i64().unwrap_or_default(),
                issue,
            );
            Ok(())
        })
        .await?;
    Ok(issues)
}

fn add_issue(output: &mut Output<'_, '_>, issue: &Issue) {
    let found = Target {
        title: issue.title.clone(),
        url: issue.url.clone(),
        image: None,
        author: issue.author.map(|author| author.to_string()),
    };
    let target = format!("issue:{}", issue.id);
    output.target(&target, found, issue.id);
}

async fn read_comments(
    github: &Github<'_>,
    output: &mut Output<'_, '_>,
    path: &str,
    issues: &HashMap<i64, Issue>,
) -> Result<(), Failure> {
    let query = [("sort", "created"), ("direction", "asc")];
    github
        .list(&format!("{path}/issues/comments"), &query, JSON, |item| {
            let number = value_at(item, "/issue_url")
                .as_str()
                .and_then(|url| url.rsplit('/').next());
            let issue = number.and_then(|number| issues.get(&number.parse().ok()?));
            if let Some((user, issue)) = rest_user(value_at(item, "/user")).zip(issue) {
                let id = id(item)?;
                if !issue.is_excluded {
                    add_issue(output, issue);
                }
                let done = Done {
                    kind: "comment",
                    user,
                    target: format!("comment:{id}"),
                    at: instant(item, "created_at")?,
                    on: Some(format!("issue:{}", issue.id)),
                    id,
                    is_private: issue.is_excluded,
                };
                output.activity(done);
            }
            Ok(())
        })
        .await
}

/// Reads merged pull requests.
async fn read_pulls(
    github: &Github<'_>,
    output: &mut Output<'_, '_>,
    path: &str,
) -> Result<(), Failure> {
    let query = [
        ("state", "closed"),
        ("sort", "created"),
        ("direction", "asc"),
    ];
    github
        .list(&format!("{path}/pulls"), &query, JSON, |item| {
            let is_merged = !value_at(item, "/merged_at").is_null();
            if let Some(user) = rest_user(value_at(item, "/user")).filter(|_| is_merged) {
                let id = id(item)?;
                let target = format!("pull:{id}");
                if output.is_excluded(item) {
                    output.collector.facts.exclude(&target);
                    return Ok(());
                }
                let found = Target {
                    title: value_at(item, "/title").as_str().map(str::to_owned),
                    url: value_at(item, "/html_url").as_str().map(str::to_owned),
                    ..Target::default()
                };
                output.target(&target, found, id);
                let done = Done {
                    kind: "pull",
                    user,
                    target,
                    at: instant(item, "merged_at")?,
                    on: None,
                    id,
                    is_private: false,
                };
                output.activity(done);
            }
            Ok(())
        })
        .await
}

/// Reads the reviews that approve or request changes.
async fn read_reviews(
    github: &Github<'_>,
    output: &mut Output<'_, '_>,
    repository: &Value,
) -> Result<(), Failure> {
    let fields = format!("nodes{{fullDatabaseId state submittedAt {AUTHOR}}}");
    let pulls = format!(
        "query($owner:String!,$name:String!,$after:String){{repository(owner:$owner,name:$name)\
         {{pullRequests(first:50,after:$after){{{PAGE} nodes{{id {LABELS} reviews(first:50){{{PAGE} {fields}}}}}}}}}}}"
    );
    let mut more = Vec::new();
    github.nodes(&pulls, repository, "/repository/pullRequests", |pull| {
        let is_private = output.is_excluded(pull);
        let reviews = value_at(pull, "/reviews");
        for review in value_at(reviews, "/nodes").as_array().into_iter().flatten() {
            add_review(output, review, is_private)?;
        }
        if value_at(reviews, "/pageInfo/hasNextPage") == true {
            let variables = json!({"id": value_at(pull, "/id"), "after": value_at(reviews, "/pageInfo/endCursor")});
            more.push((variables, is_private));
        }
        Ok(())
    })
    .await?;
    let rest = format!(
        "query($id:ID!,$after:String){{node(id:$id){{... on PullRequest{{reviews(first:100,after:$after){{{PAGE} {fields}}}}}}}}}"
    );
    for (variables, is_private) in more {
        let add = |review: &Value| add_review(output, review, is_private);
        github
            .nodes(&rest, &variables, "/node/reviews", add)
            .await?;
    }
    Ok(())
}

fn add_review(output: &mut Output<'_, '_>, review: &Value, is_private: bool) -> Result<(), String> {
    let counts = ["APPROVED", "CHANGES_REQUESTED"]
        .contains(&value_at(review, "/state").as_str().unwrap_or(""));
    if let Some(user) = graphql_user(value_at(review, "/author")).filter(|_| counts) {
        let id = id(review)?;
        let done = Done {
            kind: "review",
            user,
            target: format!("review:{id}"),
            at: instant(review, "submittedAt")?,
            on: None,
            id,
            is_private,
        };
        output.activity(done);
    }
    Ok(())
}

/// Reads discussions and their comments. A bot starts the discussions of giscus, with a path of the site as title.
async fn read_discussions(
    github: &Github<'_>,
    output: &mut Output<'_, '_>,
    repository: &Value,
) -> Result<(), Failure> {
    let query = format!(
        "query($owner:String!,$name:String!,$after:String){{repository(owner:$owner,name:$name)\
         {{discussions(first:50,after:$after,orderBy:{{field:CREATED_AT,direction:ASC}}){{{PAGE} nodes{{id databaseId title url createdAt {LABELS} {AUTHOR} answerChosenAt answer{{databaseId {AUTHOR}}}}}}}}}}}"
    );
    let mut discussions = Vec::new();
    github
        .nodes(&query, repository, "/repository/discussions", |item| {
            let (id, title) = (
                id(&json!({"id": value_at(item, "/databaseId")}))?,
                value_at(item, "/title").as_str(),
            );
            let target = format!("discussion:{id}");
            let is_bot = value_at(item, "/author/__typename") == "Bot";
            let is_private = output.is_excluded(item);
            if is_private {
                output.collector.facts.exclude(&target);
            }
            if let Some(user) = graphql_user(value_at(item, "/author")).filter(|_| !is_private) {
                let found = Target {
                    title: title.map(str::to_owned),
                    url: value_at(item, "/url").as_str().map(str::to_owned),
                    ..Target::default()
                };
                output.target(&target, found, id);
                let done = Done {
                    kind: "discussion",
                    user,
                    target: target.clone(),
                    at: instant(item, "createdAt")?,
                    on: None,
                    id,
                    is_private: false,
                };
                output.activity(done);
            }
            add_answer(output, item, is_private)?;
            let on = match is_bot {
                true => format!("/{}", title.unwrap_or_default()),
                false => target,
            };
            discussions.push((value_at(item, "/id").clone(), Discussion { on, is_private }));
            Ok(())
        })
        .await?;
    let fields = format!("databaseId createdAt {AUTHOR}");
    let comments = format!(
        "query($id:ID!,$after:String){{node(id:$id){{... on Discussion{{comments(first:50,after:$after)\
         {{{PAGE} nodes{{id {fields} replies(first:50){{{PAGE} nodes{{{fields}}}}}}}}}}}}}}}"
    );
    let rest = format!(
        "query($id:ID!,$after:String){{node(id:$id){{... on DiscussionComment{{replies(first:100,after:$after){{{PAGE} nodes{{{fields}}}}}}}}}}}"
    );
    for (id, discussion) in discussions {
        let mut more = Vec::new();
        let variables = json!({"id": id, "after": null});
        github.nodes(&comments, &variables, "/node/comments", |comment| {
            add_discussion_comment(output, comment, &discussion)?;
            let replies = value_at(comment, "/replies");
            for reply in value_at(replies, "/nodes").as_array().into_iter().flatten() {
                add_discussion_comment(output, reply, &discussion)?;
            }
            if value_at(replies, "/pageInfo/hasNextPage") == true {
                more.push(
                    json!({"id": value_at(comment, "/id"), "after": value_at(replies, "/pageInfo/endCursor")}),
                );
            }
            Ok(())
        })
        .await?;
        for variables in more {
            let add = |reply: &Value| add_discussion_comment(output, reply, &discussion);
            github
                .nodes(&rest, &variables, "/node/replies", add)
                .await?;
        }
    }
    Ok(())
}

/// Adds the chosen answer of a discussion, by its author.
fn add_answer(
    output: &mut Output<'_, '_>,
    discussion: &Value,
    is_private: bool,
) -> Result<(), String> {
    let answer = value_at(discussion, "/answer");
    if let Some(user) = graphql_user(value_at(answer, "/author")) {
        let id = id(&json!({"id": value_at(answer, "/databaseId")}))?;
        let done = Done {
            kind: "solution",
            user,
            target: format!("discussion-comment:{id}"),
            at: instant(discussion, "answerChosenAt")?,
            on: None,
            id,
            is_private,
        };
        output.activity(done);
    }
    Ok(())
}

fn add_discussion_comment(
    output: &mut Output<'_, '_>,
    comment: &Value,
    discussion: &Discussion,
) -> Result<(), String> {
    if let Some(user) = graphql_user(value_at(comment, "/author")) {
        let id = id(&json!({"id": value_at(comment, "/databaseId")}))?;
        let done = Done {
            kind: "discussion-comment",
            user,
            target: format!("discussion-comment:{id}"),
            at: instant(comment, "createdAt")?,
            on: Some(discussion.on.clone()),
            id,
            is_private: discussion.is_private,
        };
        output.activity(done);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::api::tests::headers;
    use super::*;

    #[test]
    fn next_page_is_that_of_the_link() {
        let link = "<https://api.github.com/a?page=1>; rel=\"prev\", <https://api.github.com/a?page=3>; rel=\"next\"";
        let next = next_page(&headers(&[("link", link)])).unwrap();
        assert_eq!(next.as_str(), "https://api.github.com/a?page=3");
        assert_eq!(
            next_page(&headers(&[("link", "<https://a>; rel=\"last\"")])),
            None
        );
    }
}
