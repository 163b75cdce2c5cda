//! Facts: what stands in the source now. Every adapter fills them, and everything else of `sync` reads them.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use activity_rank_core::calendar::Instant;
use serde::Deserialize;
use serde_json::{Map, Value, json};

/// The longest name of a user and title of a target, in characters, as the API allows.
const NAME_LENGTH: usize = 80;
const TITLE_LENGTH: usize = 200;

/// An action whose target the API registers with the user as its author.
pub const PUBLISH: &str = "publish";

/// The content of the source.
#[derive(Debug, Default)]
pub struct Facts {
    /// Prefix of the ids of the source.
    pub id_prefix: String,
    /// The unit of places in the source, such as `line`.
    pub unit: &'static str,
    /// Activities.
    pub activities: BTreeMap<Key, Fact>,
    /// Public profiles by user. Members that `--users` names keep the profile that their site has set.
    pub profiles: BTreeMap<String, Profile>,
    /// Targets by id.
    pub targets: BTreeMap<String, Target>,
    /// Targets that the source has and that do not count: an undo of their activity does not say that the source is gone.
    pub excluded: BTreeSet<String>,
    /// Targets whose activity stays counted, although the source no longer has it.
    pub kept: BTreeSet<String>,
    /// Rows that cannot be sent.
    pub faults: Vec<RowError>,
    /// Rows that say what another one has said.
    pub repeated: u64,
    /// Types without an action, with the number of their rows.
    pub left_out: BTreeMap<String, u64>,
    /// Actions, and prefixes of their targets, that cannot be read: they are not compared.
    pub unread: Vec<(String, String)>,
    actions: BTreeMap<String, Option<String>>,
    users: HashMap<String, String>,
}

/// The identity of an activity.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key {
    /// The member.
    pub user: String,
    /// The action.
    pub action: String,
    /// The target.
    pub target: String,
    /// The instant of an activity that counts once a day: the same one may happen on another day.
    pub daily: Option<i64>,
}

/// An activity of the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fact {
    /// When it happened, if the source knows.
    pub at: Option<Instant>,
    /// The target that receives, if it is another one.
    pub on: Option<String>,
    /// The groups on whose boards it counts too.
    pub groups: Vec<String>,
    /// Whether the public cannot see it: it is not sent, and what has counted stays.
    pub is_private: bool,
    /// Place in the source.
    pub place: u64,
}

/// A public profile. Each field is optional.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Profile {
    /// Name.
    pub name: Option<String>,
    /// Address of a picture.
    pub avatar: Option<String>,
    /// Address of a page.
    pub url: Option<String>,
}

/// A target. Each field is optional.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Target {
    /// Title.
    pub title: Option<String>,
    /// Address.
    pub url: Option<String>,
    /// Address of a picture.
    pub image: Option<String>,
    /// The member who made it.
    pub author: Option<String>,
}

/// A row that cannot be sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowError {
    /// Place in the source.
    pub place: u64,
    /// The fault.
    pub detail: String,
}

/// An activity as an adapter reads it, with ids of the source.
#[derive(Clone, Debug, Default)]
pub struct Row<'a> {
    /// The type, which `--map` maps to an action.
    pub kind: &'a str,
    /// The user.
    pub user: &'a str,
    /// The target.
    pub target: &'a str,
    /// When it happened.
    pub at: Option<Instant>,
    /// The target that receives, if it is another one.
    pub on: Option<&'a str>,
    /// The author of the target that receives.
    pub author: Option<&'a str>,
    /// The groups.
    pub groups: Vec<String>,
    /// Whether the public cannot see it.
    pub is_private: bool,
    /// Place in the source.
    pub place: u64,
}

/// The file of `--users`: an object of ids, or a `mapping.json` with `users`.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Mapping {
    /// Ids of members by ids of the source.
    #[serde(default)]
    pub users: HashMap<String, String>,
    /// Address of the software.
    #[serde(default)]
    pub site: Option<String>,
    /// The categories that count; all if it is empty.
    #[serde(default)]
    pub categories: Vec<i64>,
    /// The labels whose content does not count.
    #[serde(default)]
    pub labels: Vec<String>,
    /// Whether private content counts too.
    #[serde(default)]
    pub private: bool,
}

/// The options of a run.
#[derive(Debug, Default)]
pub struct Options {
    /// The action of each type; `None` leaves the type out.
    pub map: Vec<(String, Option<String>)>,
    /// Prefix of users and targets; that of the adapter if `None`.
    pub id_prefix: Option<String>,
    /// Prefixes of the targets that are compared; if it is empty, the prefixes of the adapter.
    pub prefixes: Vec<String>,
    /// Ids of members, and what counts.
    pub mapping: Mapping,
    /// The most repetitions of a request.
    pub retries: usize,
}

impl Mapping {
    /// Parses the file.
    ///
    /// # Errors
    ///
    /// The fault of the JSON.
    pub fn parse(text: &str) -> serde_json::Result<Self> {
        let value: Value = serde_json::from_str(text)?;
        let is_mapping = value.get("users").is_some_and(Value::is_object);
        serde_json::from_value(match is_mapping {
            true => value,
            false => json!({ "users": value }),
        })
    }
}

impl Facts {
    /// Creates facts without content, with the actions of the types of a source.
    pub fn new(
        id_prefix: &str,
        options: &Options,
        types: &[(&str, &str)],
        unit: &'static str,
    ) -> Self {
        let mut actions: BTreeMap<String, Option<String>> = types
            .iter()
            .map(|(kind, action)| {
                let action = Some((*action).to_owned()).filter(|action| !action.is_empty());
                ((*kind).to_owned(), action)
            })
            .collect();
        actions.extend(options.map.iter().cloned());
        Self {
            id_prefix: id_prefix.to_owned(),
            unit,
            actions,
            users: options.mapping.users.clone(),
            ..Self::default()
        }
    }

    /// Returns the actions that the source has, after `--map`.
    pub fn actions(&self) -> impl Iterator<Item = &str> {
        let mapped = self.actions.values().flatten().map(String::as_str);
        mapped.chain(self.activities.keys().map(|key| key.action.as_str()))
    }

    /// Returns the id of a target or a user of the source, before `--users`. A path is one of the site.
    fn id(&self, id: &str) -> String {
        match id.starts_with('/') {
            true => id.to_owned(),
            false => format!("{}{id}", self.id_prefix),
        }
    }

    /// Returns the id of the member who a user of the source is.
    fn member(&self, user: &str) -> String {
        let id = self.id(user);
        self.users.get(&id).cloned().unwrap_or(id)
    }

    /// Adds an activity. `is_daily` says whether an action counts once a day.
    pub fn activity(&mut self, row: Row<'_>, is_daily: impl Fn(&str) -> bool) {
        let action = match self.actions.get(row.kind) {
            Some(Some(action)) => action.clone(),
            Some(None) => {
                *self.left_out.entry(row.kind.to_owned()).or_default() += 1;
                return;
            }
            None => row.kind.to_owned(),
        };
        let (user, target) = (self.member(row.user), self.id(row.target));
        // A publication is a target of its own.
        let on = row.on.filter(|_| action != PUBLISH);
        let on = on.map(|on| self.id(on)).filter(|on| *on != target);
        let receiver = on.clone().unwrap_or_else(|| target.clone());
        if !row.is_private {
            if let Some(author) = row.author {
                self.author(&receiver, self.member(author), row.place);
            }
            if action == PUBLISH {
                self.author(&target, user.clone(), row.place);
            }
        }
        let daily = is_daily(&action).then_some(row.at.map_or(0, |at| at.0));
        let key = Key {
            user,
            action,
            target,
            daily,
        };
        let fact = Fact {
            at: row.at,
            on,
            groups: row.groups,
            is_private: row.is_private,
            place: row.place,
        };
        match self.activities.get(&key) {
            None => {
                self.activities.insert(key, fact);
            }
            Some(known)
                if (known.at, &known.on, &known.groups) == (fact.at, &fact.on, &fact.groups) =>
            {
                self.repeated += 1;
            }
            Some(known) => {
                let (unit, first) = (self.unit, known.place);
                let Key {
                    user,
                    action,
                    target,
                    ..
                } = &key;
                let what = format!(
                    "{user} {action} {target} is also in {unit} {first}, with another instant, receiver or groups"
                );
                self.fault(row.place, what);
            }
        }
    }

    fn author(&mut self, target: &str, author: String, place: u64) {
        let known = self.targets.entry(target.to_owned()).or_default();
        match &known.author {
            None => known.author = Some(author),
            Some(known) if *known == author => {}
            Some(known) => {
                let what = format!("the author of {target} is {author} here, and {known} before");
                self.fault(place, what);
            }
        }
    }

    /// Adds the profile of a user, unless `--users` names the member. Leaves out names and links that the API refuses.
    pub fn profile(&mut self, user: &str, profile: Profile) {
        let id = self.id(user);
        if self.users.contains_key(&id) {
            return;
        }
        let known = self.profiles.entry(id).or_default();
        let name = profile.name.and_then(|name| text(&name, NAME_LENGTH));
        known.name = name.or(known.name.take());
        known.avatar = profile.avatar.and_then(link).or(known.avatar.take());
        known.url = profile.url.and_then(link).or(known.url.take());
    }

    /// Adds a target. Leaves out titles and links that the API refuses.
    pub fn target(&mut self, target: &str, found: Target, place: u64) {
        let id = self.id(target);
        if let Some(author) = &found.author {
            self.author(&id, self.member(author), place);
        }
        let known = self.targets.entry(id).or_default();
        let title = found.title.and_then(|title| text(&title, TITLE_LENGTH));
        known.title = title.or(known.title.take());
        known.url = found.url.and_then(link).or(known.url.take());
        known.image = found.image.and_then(link).or(known.image.take());
    }

    /// Adds a target that does not count. It is not sent.
    pub fn exclude(&mut self, target: &str) {
        let id = self.id(target);
        self.excluded.insert(id);
    }

    /// Adds a target whose activity stays counted.
    pub fn keep(&mut self, target: &str) {
        let id = self.id(target);
        self.kept.insert(id);
    }

    /// Notes that a type, whose targets begin with a prefix, cannot be read. On these targets, its action and that of the type
    /// with the same default are not compared.
    pub fn unread(&mut self, kind: &str, same: &str, prefix: &str) {
        let prefix = self.id(prefix);
        let actions = [self.actions.remove(kind), self.actions.get(same).cloned()];
        let actions = actions.into_iter().flatten().flatten();
        self.unread
            .extend(actions.map(|action| (action, prefix.clone())));
    }

    /// Notes a row that cannot be sent.
    pub fn fault(&mut self, place: u64, detail: String) {
        self.faults.push(RowError { place, detail });
    }
}

impl Key {
    /// Returns the activity as the API accepts it, with an instant.
    pub fn json(&self, fact: &Fact, at: Option<Instant>) -> Value {
        let mut activity = json!({"user": self.user, "action": self.action, "target": self.target});
        if let Value::Object(fields) = &mut activity {
            if let Some(at) = at {
                fields.insert("at".to_owned(), at.to_string().into());
            }
            if let Some(on) = &fact.on {
                fields.insert("on".to_owned(), on.as_str().into());
            }
            if !fact.groups.is_empty() {
                fields.insert("groups".to_owned(), fact.groups.clone().into());
            }
        }
        activity
    }
}

impl Profile {
    /// Returns the profile of a user as the API accepts it.
    pub fn json(&self, user: &str) -> Map<String, Value> {
        let fields = [
            ("name", &self.name),
            ("avatar", &self.avatar),
            ("url", &self.url),
        ];
        object(user, &fields)
    }

    /// Returns whether the source says anything about the user.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl Target {
    /// Returns the target as the API accepts it.
    pub fn json(&self, id: &str) -> Map<String, Value> {
        let fields = [
            ("title", &self.title),
            ("url", &self.url),
            ("image", &self.image),
            ("author", &self.author),
        ];
        object(id, &fields)
    }
}

fn object(id: &str, fields: &[(&str, &Option<String>)]) -> Map<String, Value> {
    let known = fields.iter().filter_map(|(name, value)| {
        let value = value.as_deref()?;
        Some(((*name).to_owned(), value.into()))
    });
    let id = ("id".to_owned(), id.into());
    [id].into_iter().chain(known).collect()
}

/// Returns a text in one line of at most `length` characters, without what the API refuses; `None` if nothing is left.
fn text(text: &str, length: usize) -> Option<String> {
    let is_refused = |c: &char| matches!(c, '\u{2028}' | '\u{2029}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let space = |c: char| if c.is_control() { ' ' } else { c };
    let clean: String = text.chars().filter(|c| !is_refused(c)).map(space).collect();
    let cut: String = clean.trim().chars().take(length).collect();
    Some(cut.trim_end().to_owned()).filter(|text| !text.is_empty())
}

/// Returns a link if the API accepts links of its scheme.
fn link(link: String) -> Option<String> {
    link.starts_with("https://").then_some(link)
}
