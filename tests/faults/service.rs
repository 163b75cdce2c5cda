//! The parts, each of which can fail.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use test_support::reference::{Store, noon_zone};
use test_support::{
    Answer, Api, Forwarder, Gateway, Method, RedisOptions, RedisServer, Worker, Wrangler, until,
};

use crate::say;

/// How long a caller waits at most; nobody should have to.
const PATIENCE: Duration = Duration::from_secs(10);

/// What the Worker is given for one request to its store, by default.
pub const STORE_TIMEOUT: Duration = Duration::from_millis(800);

/// How long wrangler may take to start another workerd before it is started anew itself.
const ANOTHER: Duration = Duration::from_secs(20);

/// Redis that writes to disk before it answers, the gateway, a forwarder, and the built Worker in
/// wrangler with all that wrangler.toml binds.
pub struct Service {
    pub redis: Mutex<RedisServer>,
    pub gateway: Mutex<Gateway>,
    pub forwarder: Forwarder,
    /// Always there, but for while it is started anew.
    wrangler: Mutex<Option<Log>>,
    api: Mutex<Api>,
    /// When there was no workerd, or none that answers: from, and to if there is one again.
    dead: Mutex<Vec<(Instant, Option<Instant>)>>,
}

/// wrangler, and how many bytes of its log were read.
struct Log {
    wrangler: Wrangler,
    read: usize,
}

impl Service {
    /// Starts them, and waits until they answer.
    pub async fn start() -> Self {
        let redis = RedisServer::spawn(RedisOptions::default().append_only());
        let gateway = Gateway::spawn(&redis.url());
        let forwarder = Forwarder::to(&gateway.url());
        let worker = Worker::builder().store(&forwarder.url());
        let worker = worker.var("TIMEZONE", noon_zone());
        let wrangler = worker.archive().shipped_queues().start_wrangler();
        let service = Self {
            redis: Mutex::new(redis),
            gateway: Mutex::new(gateway),
            forwarder,
            api: Mutex::new(wrangler.api()),
            wrangler: Mutex::new(Some(Log { wrangler, read: 0 })),
            dead: Mutex::default(),
        };
        until("the service", async || {
            let health = service.get("/healthz").await?;
            (health.status == 200).then_some(())
        })
        .await;
        service
    }

    /// A client with the service key.
    pub fn api(&self) -> Api {
        lock(&self.api).clone()
    }

    /// What lies in Redis.
    pub fn store(&self) -> Store {
        let log = lock(&self.wrangler);
        let prefix = log.as_ref().expect("wrangler").wrangler.prefix();
        Store::new(&lock(&self.redis), prefix)
    }

    /// What wrangler has logged since the last time.
    pub fn news(&self) -> String {
        let mut log = lock(&self.wrangler);
        log.as_mut().map_or_else(String::new, |log| {
            let news = log.wrangler.log_from(log.read);
            log.read += news.len();
            news
        })
    }

    /// What the Worker itself answers, if it does: while it is dead wrangler answers in its place.
    pub async fn send(&self, method: Method, path: &str, body: String) -> Option<Answer> {
        let (api, json) = (self.api(), &[("content-type", "application/json")]);
        let answer = api.try_send(method, path, body, json);
        let answer = tokio::time::timeout(PATIENCE, answer).await.ok()?.ok()?;
        answer.header("x-request-id").is_some().then_some(answer)
    }

    pub async fn get(&self, path: &str) -> Option<Answer> {
        self.send(Method::GET, path, String::new()).await
    }

    /// Whether there was no workerd at some time between two instants.
    pub fn was_dead(&self, from: Instant, to: Instant) -> bool {
        let dead = lock(&self.dead);
        let overlaps = |(since, until): &(Instant, Option<Instant>)| {
            *since <= to && until.is_none_or(|until| from <= until)
        };
        // Only the last ones can matter.
        dead.iter().rev().take(20).any(overlaps)
    }

    /// Kills workerd, does something just before, and something before there is another that answers.
    pub async fn kill_workerd(&self, just_before: impl FnOnce(), meanwhile: impl FnOnce()) {
        tokio::task::block_in_place(|| {
            let log = lock(&self.wrangler);
            let wrangler = &log.as_ref().expect("wrangler").wrangler;
            wrangler.kill_workerd(|| {
                just_before();
                lock(&self.dead).push((Instant::now(), None));
            });
        });
        meanwhile();
        if !self.answers_within(ANOTHER).await {
            tokio::task::block_in_place(|| self.start_anew());
            assert!(self.answers_within(ANOTHER * 2).await, "wrangler answers");
        }
        if let Some((_, until)) = lock(&self.dead).last_mut() {
            *until = Some(Instant::now());
        }
    }

    async fn answers_within(&self, patience: Duration) -> bool {
        let deadline = Instant::now() + patience;
        // For this it needs no store.
        while self.get("/openapi.json").await.is_none() {
            if Instant::now() > deadline {
                return false;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        true
    }

    /// Ends wrangler and starts it again. It gives up where another process has taken the port of
    /// its workerd before the next one has.
    fn start_anew(&self) {
        let wrangler = lock(&self.wrangler).take().expect("wrangler").wrangler;
        let log = wrangler.log();
        // Past what the Worker says.
        let own = log
            .lines()
            .filter(|line| line.contains("rror") && !line.contains("level"));
        let own: Vec<&str> = own.collect();
        let last = own.get(own.len().saturating_sub(20)..).unwrap_or(&own);
        say(&format!("wrangler is started anew:\n{}", last.join("\n")));
        let wrangler = wrangler.restart();
        *lock(&self.api) = wrangler.api();
        *lock(&self.wrangler) = Some(Log { wrangler, read: 0 });
    }
}

/// What another task left when it failed is as good as ever.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
