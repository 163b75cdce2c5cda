//! The store of a deployment: the commands that a rebuild needs.

use std::rc::Rc;
use std::sync::LazyLock;

use activity_rank_store::fingerprint;
use activity_rank_store::keys::{FIRST_GENERATION, Keys};
use activity_rank_store::redis::transport::{
    Endpoint, HttpResponse, PostFuture, ReqwestTransport, Transport,
};
use activity_rank_store::redis::{Client, Command, Pipeline, Reply, StoreError};
use activity_rank_store::scripts::{CALLS_LUA, Script};
use activity_rank_sync::retry::backoff;
pub use activity_rank_sync::sha1_hex;
use backon::Retryable;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};

use crate::args::StoreArgs;
use crate::client::http_client;
use crate::failure::Failure;
use crate::key::secret_variable;
use crate::printable::printable;
use crate::progress::Progress;

/// Environment variable of the token.
const TOKEN: &str = "UPSTASH_REDIS_REST_TOKEN";

static READ: LazyLock<Script> = LazyLock::new(|| script(include_str!("read.lua")));

/// `COUNT` of SCAN for a deployment of one shard.
const SCAN_COUNT: u32 = 1000;
/// Largest `COUNT` of SCAN: it blocks Redis for some milliseconds.
const MAX_SCAN_COUNT: u32 = 10_000;
/// Largest number of members of a key that is read atomically.
const MAX_MEMBERS: &str = "500";
/// Approximate largest number of members in one reply: up to half a kilobyte each.
const REPLY_MEMBERS: &str = "4000";

/// Deadline of a request in milliseconds. The gateway responds or gives up earlier; the rest is for
/// slow connections.
const TIMEOUT: u32 = 30_000;

/// The keys of one shard of a deployment.
#[derive(Clone)]
pub struct Store {
    client: Rc<Client>,
    url: Rc<str>,
    /// Key prefix of the deployment.
    pub prefix: String,
    /// Index of the shard.
    pub shard: u32,
    /// Number of shards of the deployment.
    pub shards: u32,
    /// Common prefix of the shard's keys: `{ar:0}`.
    pub tag: String,
    /// Shows retries and the progress of the command.
    pub progress: Rc<Progress>,
}

/// Retries requests that fail transiently. Every command of this program is idempotent.
struct RetryingTransport {
    transport: ReqwestTransport,
    url: Rc<str>,
    retries: usize,
    progress: Rc<Progress>,
}

impl Transport for RetryingTransport {
    fn post(&self, body: String) -> PostFuture<'_> {
        Box::pin(async move {
            let attempt = || async {
                let response = self.transport.post(body.clone()).await?;
                match response.status {
                    408 | 429 | 500..=599 => Err(response.cause()),
                    _ => Ok::<HttpResponse, String>(response),
                }
            };
            let notify = |cause: &String, wait| {
                let cause = printable(cause);
                self.progress
                    .retrying(&format!("{}: {cause}", self.url), wait);
            };
            let retry = attempt.retry(backoff(self.retries));
            retry.sleep(tokio::time::sleep).notify(notify).await
        })
    }
}

/// Returns the text of scripts of the service as functions of KEYS and ARGV in the table `scripts`, and what their callers
/// share.
#[must_use]
pub fn functions(scripts: &[(&str, &Script)]) -> String {
    let mut text = String::new();
    for (name, script) in scripts {
        let body = script.text();
        text.push_str(&format!(
            "scripts.{name} = function(KEYS, ARGV)\n{body}\nend\n"
        ));
    }
    text + CALLS_LUA
}

/// Returns a script without flags, for a `static`.
#[must_use]
pub fn script(text: &'static str) -> Script {
    let sha = sha1_hex(text).leak();
    Script {
        shebang: "",
        parts: Box::leak(Box::new([&*Box::leak(Box::new(text))])),
        sha,
        plain_sha: sha,
    }
}

/// The position of a SCAN, HSCAN or ZSCAN.
pub struct Cursor(Option<String>);

impl Cursor {
    /// Returns the position before the first page.
    #[must_use]
    pub fn start() -> Self {
        Self(Some("0".to_owned()))
    }
}

/// Names and values, or members and scores, in the order of the reply.
pub type Pairs = Vec<(String, String)>;

/// Type, expiry and members of one key, read atomically.
#[derive(Debug, Deserialize)]
pub struct KeyContent {
    /// Redis type: `hash`, `zset` and so on; `none` for a missing key.
    pub kind: String,
    /// Unix ms; negative without expiry.
    pub expires_at: i64,
    /// The members; `None` if there are too many for one reply, or the type has none.
    #[serde(deserialize_with = "optional_pairs")]
    pub members: Option<Pairs>,
}

fn optional_pairs<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Pairs>, D::Error> {
    Ok(Option::<Vec<String>>::deserialize(deserializer)?.map(into_pairs))
}

fn into_pairs(values: Vec<String>) -> Pairs {
    let (pairs, _) = values.as_chunks::<2>();
    pairs
        .iter()
        .cloned()
        .map(<(String, String)>::from)
        .collect()
}

impl Store {
    /// Opens shard 0 of the store that the arguments and the environment name.
    ///
    /// # Errors
    ///
    /// [`Failure::Usage`] without a token.
    pub fn new(args: &StoreArgs, retries: usize, progress: Progress) -> Result<Self, Failure> {
        let token = secret_variable(TOKEN, "the token of the store")?;
        let Ok(key) = token.parse::<crate::key::Key>();
        key.authorization()?;
        let url = args.store.as_str().trim_end_matches('/');
        let endpoint = Endpoint::new(url, &token, TIMEOUT);
        let (url, progress): (Rc<str>, _) = (endpoint.url.as_str().into(), Rc::new(progress));
        let transport = RetryingTransport {
            transport: ReqwestTransport::with_client(http_client(&args.store)?, endpoint),
            url: Rc::clone(&url),
            retries,
            progress: Rc::clone(&progress),
        };
        // A clock that stands still never opens the circuit breaker: this client retries instead.
        let client = Client::new(Box::new(transport), TIMEOUT, || 0);
        Ok(Self {
            client: Rc::new(client),
            url,
            prefix: args.prefix.clone(),
            shard: 0,
            shards: 1,
            tag: Keys::new(&args.prefix, 0, FIRST_GENERATION)
                .tag()
                .to_owned(),
            progress,
        })
    }

    /// Returns the same store for shard `shard` of `shards`.
    #[must_use]
    pub fn with_shard(&self, shard: u32, shards: u32) -> Self {
        Self {
            shard,
            shards,
            tag: Keys::new(&self.prefix, shard, FIRST_GENERATION)
                .tag()
                .to_owned(),
            ..self.clone()
        }
    }

    /// Advances the progress by `units` and shows a message, with the shard if there are several.
    pub fn show_progress(&self, units: u64, message: &str) {
        let shard = match self.shards {
            1 => String::new(),
            shards => format!("shard {} ({} of {shards}): ", self.shard, self.shard + 1),
        };
        self.progress.advance(units, format!("{shard}{message}"));
    }

    /// Runs a command or script and decodes its reply.
    ///
    /// # Errors
    ///
    /// [`Failure::Store`] if Redis rejects the command or all attempts fail.
    pub async fn run<T: DeserializeOwned>(&self, command: Command) -> Result<T, Failure> {
        let mut replies = self.send(vec![command]).await?;
        self.decode(replies.pop().unwrap_or_default())
    }

    /// Runs commands in one request, those of other shards too, and decodes their replies.
    ///
    /// # Errors
    ///
    /// As [`Store::run`].
    pub async fn run_all<T: DeserializeOwned>(
        &self,
        commands: Vec<Command>,
    ) -> Result<Vec<T>, Failure> {
        let replies = self.send(commands).await?.into_iter();
        replies.map(|reply| self.decode(reply)).collect()
    }

    async fn send(&self, commands: Vec<Command>) -> Result<Vec<Reply>, Failure> {
        let replies = self.client.run(&Pipeline::new(commands)).await;
        replies.map_err(|error| self.failure(error))
    }

    fn decode<T: DeserializeOwned>(&self, reply: Reply) -> Result<T, Failure> {
        let json = serde_json::to_value(reply);
        json.and_then(serde_json::from_value).map_err(|error| {
            let cause = format!("unexpected reply: {error}");
            self.failure(StoreError::Unavailable(cause))
        })
    }

    fn failure(&self, error: StoreError) -> Failure {
        Failure::Store(match error {
            StoreError::Unauthorized => format!("the store rejected the token: check {TOKEN}"),
            StoreError::Refused(cause) => {
                format!("the store rejected a command: {}", printable(&cause))
            }
            StoreError::Unavailable(cause) => format!("{}: {}", self.url, printable(&cause)),
        })
    }

    /// Returns the content of the first of `names`, as many as fit into one reply and at least one.
    ///
    /// # Errors
    ///
    /// As [`Store::run`].
    pub async fn read_keys(&self, names: &[String]) -> Result<Vec<KeyContent>, Failure> {
        let command = Command::script(&READ, names).args([MAX_MEMBERS, REPLY_MEMBERS]);
        self.run(command).await
    }

    /// Returns the stored schema fingerprint.
    ///
    /// # Errors
    ///
    /// As [`Store::run`].
    pub async fn fingerprint(&self) -> Result<Option<String>, Failure> {
        let keys = Keys::new(&self.prefix, self.shard, FIRST_GENERATION);
        self.run(fingerprint::read(&keys)).await
    }

    /// Returns the next page of the shard's keys without their tag, or `None` at the end. As with
    /// SCAN, a key may be returned twice.
    ///
    /// # Errors
    ///
    /// As [`Store::run`].
    pub async fn scan(&self, cursor: &mut Cursor) -> Result<Option<Vec<String>>, Failure> {
        // SCAN visits the keys of all shards, so a page of one shard needs a larger COUNT. Prefixes contain no special
        // character of a pattern.
        let count = (SCAN_COUNT * self.shards).min(MAX_SCAN_COUNT);
        let pattern = format!("{}*", self.tag);
        let command = |from: &str| Command::new("SCAN").args([from, "MATCH", &pattern]);
        let page = self.next_page(cursor, command, count).await?;
        let without_tag = |key: String| key.strip_prefix(&self.tag).map(str::to_owned);
        Ok(page.map(|keys| keys.into_iter().filter_map(without_tag).collect()))
    }

    /// Returns the next page of a hash (HSCAN) or sorted set (ZSCAN), or `None` at the end.
    ///
    /// # Errors
    ///
    /// As [`Store::run`].
    pub async fn scan_members(
        &self,
        command: &'static str,
        key: &str,
        count: u32,
        cursor: &mut Cursor,
    ) -> Result<Option<Pairs>, Failure> {
        let command = |from: &str| Command::new(command).args([key, from]);
        let page = self.next_page(cursor, command, count).await?;
        Ok(page.map(into_pairs))
    }

    async fn next_page(
        &self,
        cursor: &mut Cursor,
        command: impl FnOnce(&str) -> Command,
        count: u32,
    ) -> Result<Option<Vec<String>>, Failure> {
        let Some(from) = cursor.0.take() else {
            return Ok(None);
        };
        let command = command(&from).arg("COUNT").number(count);
        let (next, values): (String, Vec<String>) = self.run(command).await?;
        cursor.0 = (next != "0").then_some(next);
        Ok(Some(values))
    }

    /// Returns up to `count` entries of a stream from `start`, an id or an exclusive `(id`.
    ///
    /// # Errors
    ///
    /// As [`Store::run`].
    pub async fn stream_entries(
        &self,
        key: &str,
        start: &str,
        count: u32,
    ) -> Result<Vec<(String, Pairs)>, Failure> {
        let command = Command::new("XRANGE").args([key, start, "+", "COUNT"]);
        let entries: Vec<(String, Vec<String>)> = self.run(command.number(count)).await?;
        let decoded = |(id, fields)| (id, into_pairs(fields));
        Ok(entries.into_iter().map(decoded).collect())
    }

    /// Returns the present values of the given fields of a hash.
    ///
    /// # Errors
    ///
    /// As [`Store::run`].
    pub async fn hash_fields(&self, key: &str, fields: &[&str]) -> Result<Pairs, Failure> {
        if fields.is_empty() {
            return Ok(Vec::new());
        }
        let command = Command::new("HMGET").arg(key).args(fields);
        let values: Vec<Option<String>> = self.run(command).await?;
        let present = |(field, value): (&&str, Option<String>)| Some(((*field).to_owned(), value?));
        Ok(fields.iter().zip(values).filter_map(present).collect())
    }

    /// Returns the time of Redis' clock in Unix ms.
    ///
    /// # Errors
    ///
    /// As [`Store::run`].
    pub async fn now(&self) -> Result<i64, Failure> {
        let time: Reply = self.run(Command::new("TIME")).await?;
        let millis = || Ok(time.at(0)?.integer()? * 1000 + time.at(1)?.integer()? / 1000);
        millis().map_err(|error| self.failure(error))
    }
}

/// Returns the failure for a key or value that this version does not write.
#[must_use]
pub fn unexpected_data(key: &str, problem: &str) -> Failure {
    Failure::Data(format!("{} {problem}", printable(key)))
}
