//! A dump of Stack Exchange: the XML files of a site.
//!
//! A question is a `publish`, an answer a `comment` on its question, a comment a `comment` on its post, and a favorite a
//! `bookmark`. An accepted answer is a `solution` by its author, if `--map` gives that type an action. Votes have no voters,
//! except favorites and the starts of bounties; what was deleted is not in the dump. Users with negative ids are the system.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use activity_rank_core::calendar::Instant;
use activity_rank_sync::facts::{Profile, Row, Target};
use activity_rank_sync::instant::InstantFormat;
use activity_rank_sync::sources::{Adapter, Collector};
use activity_rank_sync::{Failure, Progress};
use jiff::tz::TimeZone;
use quick_xml::events::Event;
use quick_xml::{Reader, XmlVersion};

use crate::count::count;
use crate::printable::printable;
use crate::sync::dump::{invalid, open_lines};

/// The files, in the order in which they are read: comments need the titles of posts.
const FILES: [&str; 4] = ["Users.xml", "Posts.xml", "Comments.xml", "Votes.xml"];
const QUESTION: &str = "1";
const ANSWER: &str = "2";
const ACCEPTED: &str = "1";
const FAVORITE: &str = "5";
const BOUNTY: &str = "8";
/// Rows between two messages of progress.
const ROWS: u64 = 100_000;

/// The folder of a dump, or its files.
pub struct StackExchange<'a>(pub &'a [String]);

/// The posts that have been read, and the receiver of rows.
struct Dump<'a, 'b> {
    collector: &'a mut Collector<'b>,
    instants: InstantFormat,
    site: Option<String>,
    posts: HashMap<i64, Post>,
    questions: HashMap<i64, String>,
    /// Accepted answers.
    accepted: HashSet<i64>,
}

/// A post: its question, and its author unless that is the system or a deleted user.
struct Post {
    question: i64,
    author: Option<i64>,
}

/// The attributes of a row.
struct Attributes {
    values: HashMap<String, String>,
    id: u64,
}

impl Attributes {
    fn text(&self, name: &str) -> Option<&str> {
        self.values.get(name).map(String::as_str)
    }

    fn integer(&self, name: &str) -> Option<i64> {
        self.text(name)?.parse().ok()
    }

    /// Returns the id of a member; `None` for the system and deleted users.
    fn member(&self, name: &str) -> Option<i64> {
        self.integer(name).filter(|id| *id > 0)
    }
}

impl Adapter for StackExchange<'_> {
    const ID_PREFIX: &'static str = "stackexchange:";
    const TYPES: &'static [(&'static str, &'static str)] = &[
        ("question", "publish"),
        ("answer", "comment"),
        ("comment", "comment"),
        ("favorite", "bookmark"),
        ("bounty", ""),
        ("solution", ""),
    ];
    const UNIT: &'static str = "row";

    async fn read(
        self,
        collector: &mut Collector<'_>,
        progress: &dyn Progress,
    ) -> Result<(), Failure> {
        let files = files(self.0)?;
        let mut dump = Dump {
            site: collector.mapping.site.clone(),
            collector,
            instants: InstantFormat {
                format: None,
                zone: Some(TimeZone::UTC),
            },
            posts: HashMap::new(),
            questions: HashMap::new(),
            accepted: HashSet::new(),
        };
        for (file, path) in files {
            read_rows(&path.to_string_lossy(), progress, |row| {
                let added = match file {
                    "Users.xml" => dump.add_user(row),
                    "Posts.xml" => dump.add_post(row),
                    "Comments.xml" => dump.add_comment(row),
                    _ => dump.add_vote(row),
                };
                if let Err(detail) = added {
                    dump.collector
                        .facts
                        .fault(row.id, format!("{file}: {detail}"));
                }
            })?;
        }
        Ok(())
    }
}

/// Returns the files of a dump that exist, in the order in which they are read.
fn files(paths: &[String]) -> Result<Vec<(&'static str, PathBuf)>, Failure> {
    let mut found = Vec::new();
    for file in FILES {
        for path in paths.iter().map(Path::new) {
            let is_file = path.file_name().is_some_and(|name| name == file);
            let path = if path.is_dir() {
                path.join(file)
            } else {
                path.to_owned()
            };
            if path.is_file() && (is_file || path.ends_with(file)) {
                found.push((file, path));
            }
        }
    }
    // With a part of a dump it would look as if the rest had been deleted.
    let is_missing = |file: &&&str| !found.iter().any(|(name, _)| *name == **file);
    if let Some(missing) = FILES.iter().find(is_missing) {
        let paths = printable(&paths.join(", "));
        return Err(Failure::Usage(format!(
            "{paths}: has no {missing}: give the folder of a dump, or its files {}",
            FILES.join(", ")
        )));
    }
    Ok(found)
}

/// Calls `each` for every row of a file.
fn read_rows(
    name: &str,
    progress: &dyn Progress,
    mut each: impl FnMut(&Attributes),
) -> Result<(), Failure> {
    let invalid = |what: String| invalid(name, what);
    let mut reader = Reader::from_reader(open_lines(name)?);
    let (mut buffer, mut rows) = (Vec::new(), 0);
    let mut is_complete = false;
    loop {
        buffer.clear();
        let event = reader.read_event_into(&mut buffer);
        match event.map_err(|error| invalid(error.to_string()))? {
            Event::Eof if is_complete => return Ok(()),
            Event::Eof => return Err(invalid("ends before its last row".to_owned())),
            Event::End(element) if element.name().as_ref() != "row" => is_complete = true,
            Event::Empty(element) | Event::Start(element) if element.name().as_ref() == "row" => {
                let mut row = Attributes {
                    values: HashMap::new(),
                    id: 0,
                };
                for attribute in element.attributes() {
                    let attribute = attribute.map_err(|error| invalid(error.to_string()))?;
                    let key = attribute.key.as_ref().to_owned();
                    // The texts of posts are the largest part of a dump, and not used.
                    if ["Body", "Text", "AboutMe"].contains(&key.as_str()) {
                        continue;
                    }
                    let value = attribute.normalized_value(XmlVersion::Implicit1_0);
                    let value = value.map_err(|error| invalid(error.to_string()))?;
                    row.values.insert(key, value.into_owned());
                }
                let id = row.integer("Id").and_then(|id| u64::try_from(id).ok());
                row.id = id.unwrap_or_default();
                each(&row);
                rows += 1;
                if rows % ROWS == 0 {
                    progress.advance(0, format!("{} of {}", count(rows, "row"), printable(name)));
                }
            }
            _ => {}
        }
    }
}

impl Dump<'_, '_> {
    fn at(&self, row: &Attributes) -> Result<Instant, String> {
        let at = row.text("CreationDate").ok_or("has no CreationDate")?;
        self.instants.parse(at)
    }

    fn link(&self, path: &str) -> Option<String> {
        let site = self.site.as_ref();
        site.map(|site| format!("{site}/{path}"))
    }

    fn add_user(&mut self, row: &Attributes) -> Result<(), String> {
        let Some(id) = row.member("Id") else {
            return Ok(());
        };
        let profile = Profile {
            name: row.text("DisplayName").map(str::to_owned),
            avatar: row.text("ProfileImageUrl").map(str::to_owned),
            url: self.link(&format!("users/{id}")),
        };
        self.collector.facts.profile(&id.to_string(), profile);
        Ok(())
    }

    fn add_post(&mut self, row: &Attributes) -> Result<(), String> {
        let id = row.integer("Id").ok_or("has no Id")?;
        let author = row.member("OwnerUserId");
        let (kind, question) = match row.text("PostTypeId") {
            Some(QUESTION) => ("question", id),
            Some(ANSWER) => ("answer", row.integer("ParentId").ok_or("has no ParentId")?),
            _ => return Ok(()),
        };
        self.posts.insert(id, Post { question, author });
        let target = format!("post:{id}");
        let on = (kind == "answer").then(|| format!("post:{question}"));
        if kind == "question" {
            let title = row.text("Title").unwrap_or_default().to_owned();
            self.questions.insert(id, title);
            self.add_target(id, row.id);
        }
        let Some(author) = author else {
            return Ok(());
        };
        self.collector.activity(Row {
            kind,
            user: &author.to_string(),
            target: &target,
            at: Some(self.at(row)?),
            on: on.as_deref(),
            place: row.id,
            ..Row::default()
        });
        Ok(())
    }

    /// Adds a post that others receive points for.
    fn add_target(&mut self, id: i64, place: u64) {
        let Some(post) = self.posts.get(&id) else {
            return;
        };
        let path = match post.question == id {
            true => format!("questions/{id}"),
            false => format!("a/{id}"),
        };
        let target = Target {
            title: self.questions.get(&post.question).cloned(),
            url: self.link(&path),
            image: None,
            author: post.author.map(|author| author.to_string()),
        };
        self.collector
            .facts
            .target(&format!("post:{id}"), target, place);
    }

    /// Adds the post of a comment or a vote. Returns it with the member; `None` if the dump lacks one of them.
    fn add_post_of(&mut self, row: &Attributes) -> Result<Option<(i64, i64)>, String> {
        let post = row.integer("PostId").ok_or("has no PostId")?;
        let user = row.member("UserId");
        let user = user.filter(|_| self.posts.contains_key(&post));
        if user.is_some() {
            self.add_target(post, row.id);
        }
        Ok(user.map(|user| (post, user)))
    }

    fn add_comment(&mut self, row: &Attributes) -> Result<(), String> {
        let id = row.integer("Id").ok_or("has no Id")?;
        let Some((post, user)) = self.add_post_of(row)? else {
            return Ok(());
        };
        self.collector.activity(Row {
            kind: "comment",
            user: &user.to_string(),
            target: &format!("comment:{id}"),
            at: Some(self.at(row)?),
            on: Some(&format!("post:{post}")),
            place: row.id,
            ..Row::default()
        });
        Ok(())
    }

    fn add_vote(&mut self, row: &Attributes) -> Result<(), String> {
        let kind = match row.text("VoteTypeId") {
            Some(ACCEPTED) => return self.add_solution(row),
            Some(FAVORITE) => "favorite",
            Some(BOUNTY) => "bounty",
            _ => return Ok(()),
        };
        let Some((post, user)) = self.add_post_of(row)? else {
            return Ok(());
        };
        self.collector.activity(Row {
            kind,
            user: &user.to_string(),
            target: &format!("post:{post}"),
            at: Some(self.at(row)?),
            place: row.id,
            ..Row::default()
        });
        Ok(())
    }

    /// Adds an accepted answer. Its vote has no voter: the author of the answer is the member.
    fn add_solution(&mut self, row: &Attributes) -> Result<(), String> {
        let post = row.integer("PostId").ok_or("has no PostId")?;
        let author = self.posts.get(&post).and_then(|post| post.author);
        // An answer may be accepted again.
        let Some(author) = author.filter(|_| self.accepted.insert(post)) else {
            return Ok(());
        };
        self.collector.activity(Row {
            kind: "solution",
            user: &author.to_string(),
            target: &format!("post:{post}"),
            at: Some(self.at(row)?),
            place: row.id,
            ..Row::default()
        });
        Ok(())
    }
}
