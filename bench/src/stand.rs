//! A contender that runs.

use crate::bundles;
use crate::client;
use crate::contender::Contender;
use crate::ledger::Ledger;
use crate::load::{Load, Requests, name_of};
use crate::templates::{Answers, Templates};
use std::cell::RefCell;
use test_support::{Api, Gateway, Method, RedisOptions, RedisServer, Worker, WorkerBuilder, json};

/// What all contenders stand before.
pub struct Parts {
    /// The store.
    pub redis: RedisServer,
    /// How it is reached.
    pub gateway: Gateway,
}

impl Parts {
    /// Starts both.
    pub fn start() -> Self {
        let redis = RedisServer::spawn(RedisOptions::default());
        let gateway = Gateway::spawn(&redis.url());
        Self { redis, gateway }
    }
}

/// A contender, its Workers, and what they were sent.
pub struct Stand {
    /// Which it is.
    pub who: Contender,
    /// What it was sent.
    pub ledger: RefCell<Ledger>,
    builder: WorkerBuilder,
    plain: Worker,
    cached: Worker,
    /// The Worker over the boards of a contender that keeps them as it does.
    keeper: Option<Worker>,
}

impl Stand {
    /// Starts a contender, and has it count one activity of every user.
    pub async fn start(
        who: Contender,
        parts: &Parts,
        words: &(Templates, Answers),
        users: usize,
    ) -> Result<Self, String> {
        let prefix = format!("bench-{}", who.name());
        let store = parts.gateway.url();
        let builder = builder(who, &prefix, words).store(&store);
        let keeper = who
            .has_our_boards()
            .then(|| patient(&prefix).store(&store).start());
        let stand = Self {
            who,
            ledger: RefCell::new(Ledger::new(users)),
            plain: builder.clone().start(),
            cached: with_cache(builder.clone()).start(),
            builder,
            keeper,
        };
        match &stand.keeper {
            Some(keeper) => profiles(&keeper.api(), users).await?,
            None => plain_profiles(&parts.redis, &prefix, users)?,
        }
        if who != Contender::Fixed {
            let mut requests = Requests::new(Load::Fresh, &stand.ledger);
            client::send(stand.plain.url(), &mut requests, client::CONNECTIONS, users).await?;
            crate::boards::check(&stand).await?;
        }
        Ok(stand)
    }

    /// The Worker that takes a load.
    pub fn worker(&self, load: Load) -> &Worker {
        match load {
            Load::Cached => &self.cached,
            Load::Fresh | Load::Repeats | Load::Top | Load::Standing => &self.plain,
        }
    }

    /// Another Worker of its kind that takes a load, with its store elsewhere.
    pub fn another(&self, load: Load, store: &str) -> Worker {
        let builder = self.builder.clone().store(store);
        match load {
            Load::Cached => with_cache(builder).start(),
            Load::Fresh | Load::Repeats | Load::Top | Load::Standing => builder.start(),
        }
    }

    /// Who reads its boards.
    pub fn reader(&self) -> Api {
        self.keeper.as_ref().unwrap_or(&self.plain).api()
    }
}

/// A Worker over the keys of a prefix, whose deadline a busy machine keeps too: an answer that is late
/// shows in the figures, and voids no run.
pub fn patient(prefix: &str) -> WorkerBuilder {
    let builder = Worker::builder().var("PREFIX", prefix);
    builder.var("STORE_TIMEOUT_MS", "20000")
}

/// A contender over the keys of a prefix.
pub fn builder(
    who: Contender,
    prefix: &str,
    (templates, answers): &(Templates, Answers),
) -> WorkerBuilder {
    let builder = patient(prefix);
    match who {
        Contender::Ours => builder,
        Contender::Limit | Contender::Posts | Contender::Hono | Contender::Fixed => builder
            .bundle(&bundles::folder(who))
            .json("TEMPLATES", json!(templates.under(prefix)))
            .json("ANSWERS", json!(answers)),
    }
}

fn with_cache(builder: WorkerBuilder) -> WorkerBuilder {
    builder.cached().json("CACHED", json!(true))
}

fn profile(user: usize) -> test_support::Value {
    let id = name_of(user);
    json!({
        "name": format!("Member {id}"),
        "avatar": format!("https://pictures.example/{id}.png"),
        "url": format!("https://site.example/members/{id}"),
    })
}

/// Gives every user a profile.
pub async fn profiles(api: &Api, users: usize) -> Result<(), String> {
    for hundreds in (0..users).step_by(500) {
        let some = (hundreds..users.min(hundreds + 500)).map(|user| {
            let mut profile = profile(user);
            profile["id"] = json!(name_of(user));
            profile
        });
        let some = json!(some.collect::<Vec<_>>()).to_string();
        let json = [("content-type", "application/json")];
        let answer = api.send(Method::PUT, "/v1/users", some, &json).await;
        if answer.status != 200 {
            return Err(format!("profiles: {} {}", answer.status, answer.text));
        }
    }
    Ok(())
}

/// The same where they are a plain hash.
fn plain_profiles(redis: &RedisServer, prefix: &str, users: usize) -> Result<(), String> {
    let mut command = redis::cmd("HSET");
    command.arg(format!("{prefix}:profiles"));
    for user in 0..users {
        command.arg(name_of(user)).arg(profile(user).to_string());
    }
    let written = command.query::<i64>(&mut redis.connection());
    written.map(drop).map_err(|error| error.to_string())
}
