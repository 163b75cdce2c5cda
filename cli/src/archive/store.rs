//! The store, over the Upstash REST protocol.

use std::env::{self, VarError};
use std::rc::Rc;

use activity_rank::keys::Keys;
use reqwest::{Method, Url};
use ring::digest::{SHA1_FOR_LEGACY_USE_ONLY, digest};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::archive::key::Key;
use crate::archive::progress::Progress;
use crate::args::{ServiceArgs, StoreArgs};
use crate::call_error::CallError;
use crate::client::Client;
use crate::failure::Failure;
use crate::printable::printable;
use crate::retry::patiently;

/// The variable of the token. It is never an argument: lists of processes show those.
const TOKEN: &str = "UPSTASH_REDIS_REST_TOKEN";

/// Keys that a step of SCAN looks at, of a site of one shard.
const SCANNED: u32 = 1000;
/// The most it looks at: some milliseconds of the store.
const MOST_SCANNED: u32 = 10_000;

/// The keys of one shard of a site in a store.
#[derive(Clone, Debug)]
pub struct Store {
    client: Client,
    pipeline: Url,
    retries: usize,
    /// The site's prefix.
    pub prefix: String,
    /// Which shard.
    pub shard: u32,
    /// Over how many shards the site's users are split.
    pub shards: u32,
    /// What all keys of the shard begin with.
    pub tag: String,
    /// Told of requests that are sent again.
    pub progress: Rc<Progress>,
}

/// A script, sent by its digest as long as the store knows it.
#[derive(Debug)]
pub struct Script {
    text: String,
    sha: String,
}

impl Script {
    /// A script of this text.
    #[must_use]
    pub fn new(text: &str) -> Self {
        let digest = digest(&SHA1_FOR_LEGACY_USE_ONLY, text.as_bytes());
        let hex = digest.as_ref().iter().map(|byte| format!("{byte:02x}"));
        Self {
            text: text.to_owned(),
            sha: hex.collect(),
        }
    }
}

#[derive(Deserialize)]
struct Slot {
    #[serde(default)]
    result: Value,
    error: Option<String>,
}

impl Store {
    /// The store that the arguments and the environment name: the shard that every site has.
    ///
    /// # Errors
    ///
    /// [`Failure::Usage`] without a token.
    pub fn new(args: &StoreArgs, progress: Progress) -> Result<Self, Failure> {
        let token = match env::var(TOKEN) {
            Ok(token) if !token.trim().is_empty() => token,
            Ok(_) | Err(VarError::NotPresent) => {
                let needed = format!("set the variable {TOKEN} to the token of the store");
                return Err(Failure::Usage(needed));
            }
            Err(VarError::NotUnicode(_)) => {
                return Err(Failure::Usage(format!("{TOKEN} is not UTF-8")));
            }
        };
        let client = Client::new(&ServiceArgs {
            url: args.store.clone(),
            key: token.parse().ok(),
        })?;
        Ok(Self {
            pipeline: client.url(&["pipeline"]),
            client,
            retries: args.retries,
            prefix: args.prefix.clone(),
            shard: 0,
            shards: 1,
            tag: Keys::new(&args.prefix, 0).tag().to_owned(),
            progress: Rc::new(progress),
        })
    }

    /// The same store, for one of so many shards.
    #[must_use]
    pub fn of_shard(&self, shard: u32, shards: u32) -> Self {
        Self {
            shard,
            shards,
            tag: Keys::new(&self.prefix, shard).tag().to_owned(),
            ..self.clone()
        }
    }

    /// Shows how far it is, by so many more parts, and with which shard.
    pub fn moved(&self, parts: u64, message: &str) {
        let shard = match self.shards {
            1 => String::new(),
            shards => format!("shard {} ({} of {shards}): ", self.shard, self.shard + 1),
        };
        self.progress.moved(parts, format!("{shard}{message}"));
    }

    /// A key in full.
    #[must_use]
    pub fn key(&self, key: &Key) -> String {
        format!("{}{key}", self.tag)
    }

    /// Runs a command and reads its reply.
    ///
    /// # Errors
    ///
    /// [`Failure::Store`] where it is refused, or no answer comes after several attempts.
    pub async fn ask<T: DeserializeOwned>(&self, command: &[&str]) -> Result<T, Failure> {
        match self.send(command).await? {
            Ok(result) => self.read(result),
            Err(error) => {
                let command = command.first().copied().unwrap_or_default();
                let words = printable(&error);
                let told = format!("the store refuses {command}: {words}");
                Err(Failure::Store(told))
            }
        }
    }

    /// Runs a command: its result, or the store's own words where it refuses.
    async fn send(&self, command: &[&str]) -> Result<Result<Value, String>, Failure> {
        let odd = |what: String| Failure::Store(format!("{}: {what}", self.pipeline));
        let body = serde_json::to_string(&[command]).map_err(|error| odd(error.to_string()))?;
        let told = |failure: &CallError, wait| self.progress.waiting(&failure.to_string(), wait);
        let send = || self.client.send(Method::POST, &self.pipeline, body.clone());
        let answer = patiently(self.retries, told, send).await.map_err(refused)?;
        let slots: [Slot; 1] = serde_json::from_slice(&answer)
            .map_err(|error| odd(format!("no answer of a store: {error}")))?;
        let [Slot { result, error }] = slots;
        Ok(error.map_or(Ok(result), Err))
    }

    fn read<T: DeserializeOwned>(&self, result: Value) -> Result<T, Failure> {
        let odd = |error| Failure::Store(format!("{}: an odd reply: {error}", self.pipeline));
        serde_json::from_value(result).map_err(odd)
    }

    /// Runs a script on these keys, by its digest if the store knows it.
    ///
    /// # Errors
    ///
    /// As [`Store::ask`].
    pub async fn run<T: DeserializeOwned>(
        &self,
        script: &Script,
        keys: &[String],
        args: &[String],
    ) -> Result<T, Failure> {
        let number = keys.len().to_string();
        let mut command = vec!["EVALSHA", &script.sha, &number];
        command.extend(keys.iter().chain(args).map(String::as_str));
        match self.send(&command).await? {
            Ok(result) => self.read(result),
            Err(error) if error.starts_with("NOSCRIPT") => {
                self.eval(&script.text, keys, args).await
            }
            Err(error) => {
                let words = printable(&error);
                Err(Failure::Store(format!(
                    "the store refuses a script: {words}"
                )))
            }
        }
    }

    /// Runs a script on these keys.
    ///
    /// # Errors
    ///
    /// As [`Store::ask`].
    pub async fn eval<T: DeserializeOwned>(
        &self,
        script: &str,
        keys: &[String],
        args: &[String],
    ) -> Result<T, Failure> {
        let number = keys.len().to_string();
        let mut command = vec!["EVAL", script, &number];
        command.extend(keys.iter().chain(args).map(String::as_str));
        self.ask(&command).await
    }

    /// The stamp.
    ///
    /// # Errors
    ///
    /// As [`Store::ask`].
    pub async fn stamp(&self) -> Result<Option<String>, Failure> {
        self.ask(&["GET", &self.key(&Key::Stamp)]).await
    }

    /// The keys of the shard that a step of SCAN finds, without their tag, and where to go on.
    ///
    /// # Errors
    ///
    /// As [`Store::ask`].
    pub async fn scan(&self, cursor: &str) -> Result<(String, Vec<String>), Failure> {
        let (next, keys) = self.scan_for(cursor, &format!("{}*", self.tag)).await?;
        let rest = |key: String| key.strip_prefix(&self.tag).map(str::to_owned);
        Ok((next, keys.into_iter().filter_map(rest).collect()))
    }

    /// The same of the keys of all shards that a site under this prefix can have; in full.
    ///
    /// # Errors
    ///
    /// As [`Store::ask`].
    pub async fn scan_all(&self, cursor: &str) -> Result<(String, Vec<String>), Failure> {
        let begin = format!("{{{}:", self.prefix);
        let (next, keys) = self.scan_for(cursor, &format!("{begin}*}}*")).await?;
        let is_ours = |key: &String| {
            let rest = key.strip_prefix(&begin).and_then(|key| key.split_once('}'));
            rest.is_some_and(|(shard, _)| shard.bytes().all(|byte| byte.is_ascii_digit()))
        };
        Ok((next, keys.into_iter().filter(is_ours).collect()))
    }

    /// No prefix has a character that means something in a pattern.
    async fn scan_for(
        &self,
        cursor: &str,
        pattern: &str,
    ) -> Result<(String, Vec<String>), Failure> {
        // Of several shards a step finds as much as of one.
        let count = (SCANNED * self.shards).min(MOST_SCANNED).to_string();
        let command = ["SCAN", cursor, "MATCH", pattern, "COUNT", &count];
        self.ask(&command).await
    }

    /// The store's clock, Unix ms.
    ///
    /// # Errors
    ///
    /// As [`Store::ask`].
    pub async fn now(&self) -> Result<i64, Failure> {
        let (seconds, micros): (String, String) = self.ask(&["TIME"]).await?;
        match (seconds.parse::<i64>(), micros.parse::<i64>()) {
            (Ok(seconds), Ok(micros)) => Ok(seconds * 1000 + micros / 1000),
            (Ok(_) | Err(_), Ok(_) | Err(_)) => {
                Err(Failure::Store("the store tells no time".to_owned()))
            }
        }
    }
}

/// A store has other words than the service.
fn refused(error: CallError) -> Failure {
    Failure::Store(match error {
        CallError::Refused { problem, .. } if matches!(problem.status, 401 | 403) => {
            format!("the store does not take this token: is it {TOKEN}?")
        }
        CallError::Refused { problem, .. } => format!("the store refuses: {problem}"),
        CallError::Foreign { url, what } => format!("{url} does not answer like a store: {what}"),
        CallError::Unanswered { .. } => error.to_string(),
    })
}
