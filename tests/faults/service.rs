//! The components of the service, each of which can fail.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use test_support::reference::{Store, noon_zone};
use test_support::{
    Answer, Api, Forwarder, Gateway, Method, RedisOptions, RedisServer, Replica, Worker, scaled,
    until,
};

use crate::log;

/// The timeout of a client. No request should reach it.
const CLIENT_TIMEOUT: Duration = Duration::from_secs(10);

/// The Worker's timeout of a store request, shorter than the default so that outages are short.
pub const STORE_TIMEOUT: Duration = Duration::from_millis(800);

/// The time Miniflare has to start another workerd before it is restarted itself.
const RESTART_TIMEOUT: Duration = Duration::from_secs(20);

/// Redis that writes to disk before it replies, a replica, the gateway, a forwarder, and the built
/// Worker in Miniflare with the bindings of wrangler.toml.
pub struct Service {
    pub redis: Mutex<RedisServer>,
    pub replica: Replica,
    pub gateway: Mutex<Gateway>,
    pub forwarder: Forwarder,
    /// A Worker in another location. Its isolate has the sync token of its own reads only.
    _remote: Worker,
    remote_api: Api,
    /// `None` only during a restart.
    miniflare: Mutex<Option<LoggedMiniflare>>,
    api: Mutex<Api>,
    /// The periods in which workerd was down; the end is `None` while it still is.
    downtimes: Mutex<Vec<(Instant, Option<Instant>)>>,
}

/// The result of a request for its client.
pub enum Received {
    Response(Answer),
    Nothing,
    /// The client disconnected before a response.
    Aborted,
}

/// Miniflare, and the number of bytes of its log that have been read.
struct LoggedMiniflare {
    miniflare: Worker,
    log_offset: usize,
}

impl Service {
    /// Starts all components and waits until the service is healthy.
    pub async fn start() -> Self {
        let options = RedisOptions::default().append_only();
        // By default a primary waits for five seconds before it sends its data to a replica.
        let options = options.arg("--repl-diskless-sync-delay").arg("0");
        let redis = RedisServer::spawn(options);
        let replica = Replica::of(&redis);
        let gateway = Gateway::spawn(&redis.url());
        let forwarder = Forwarder::with_replica(&gateway.url(), &replica);
        let worker = Worker::builder().store(&forwarder.url());
        let timeout = scaled(STORE_TIMEOUT).as_millis().to_string();
        let worker = worker.var("STORE_TIMEOUT_MS", &timeout);
        let worker = worker.var("TIMEZONE", noon_zone());
        let remote = worker.clone().start();
        let miniflare = worker.archive().shipped_queues().miniflare().start();
        let service = Self {
            redis: Mutex::new(redis),
            replica,
            gateway: Mutex::new(gateway),
            forwarder,
            remote_api: remote.api(),
            _remote: remote,
            api: Mutex::new(miniflare.api()),
            miniflare: Mutex::new(Some(LoggedMiniflare {
                miniflare,
                log_offset: 0,
            })),
            downtimes: Mutex::default(),
        };
        until("the service", async || {
            let health = service.get("/healthz").await?;
            (health.status == 200).then_some(())
        })
        .await;
        service
    }

    /// Returns a client with the service key.
    pub fn api(&self) -> Api {
        lock(&self.api).clone()
    }

    /// Returns a reader of the data in Redis.
    pub fn store(&self) -> Store {
        let miniflare = lock(&self.miniflare);
        let prefix = miniflare.as_ref().expect("Miniflare").miniflare.prefix();
        Store::new(&lock(&self.redis), prefix)
    }

    /// Returns the lines that Miniflare has logged since the previous call.
    pub fn new_log_lines(&self) -> String {
        let mut miniflare = lock(&self.miniflare);
        miniflare.as_mut().map_or_else(String::new, |logged| {
            let lines = logged.miniflare.log_from(logged.log_offset);
            logged.log_offset += lines.len();
            lines
        })
    }

    /// Sends a request, and disconnects after a time if one is given.
    pub async fn send(
        &self,
        method: Method,
        path: &str,
        body: String,
        disconnect_after: Option<Duration>,
    ) -> Received {
        let after = disconnect_after.map(|after| after.as_millis().to_string());
        let mut headers = vec![("content-type", "application/json")];
        headers.extend(after.iter().map(|after| ("x-abort-after", after.as_str())));
        receive(self.api().try_send(method, path, body, &headers)).await
    }

    /// Sends a read to the Worker in another location.
    pub async fn read_remotely(&self, path: &str) -> Received {
        receive(self.remote_api.try_send(Method::GET, path, "", &[])).await
    }

    pub async fn get(&self, path: &str) -> Option<Answer> {
        match self.send(Method::GET, path, String::new(), None).await {
            Received::Response(response) => Some(response),
            Received::Nothing | Received::Aborted => None,
        }
    }

    /// Returns whether workerd was down at some time between two instants.
    pub fn was_down(&self, from: Instant, to: Instant) -> bool {
        let downtimes = lock(&self.downtimes);
        let overlaps = |(since, until): &(Instant, Option<Instant>)| {
            *since <= to && until.is_none_or(|until| from <= until)
        };
        // Requests are short, so only recent downtimes can overlap.
        downtimes.iter().rev().take(20).any(overlaps)
    }

    /// Kills workerd and waits for the next one. `just_before` runs right before the kill, `meanwhile`
    /// before the next workerd responds.
    pub async fn kill_workerd(&self, just_before: impl FnOnce(), meanwhile: impl FnOnce()) {
        tokio::task::block_in_place(|| {
            let logged = lock(&self.miniflare);
            let miniflare = &logged.as_ref().expect("Miniflare").miniflare;
            miniflare.kill_workerd(|| {
                just_before();
                lock(&self.downtimes).push((Instant::now(), None));
            });
        });
        meanwhile();
        if !self.responds_within(scaled(RESTART_TIMEOUT)).await {
            tokio::task::block_in_place(|| self.restart_miniflare());
            assert!(
                self.responds_within(scaled(RESTART_TIMEOUT * 2)).await,
                "Miniflare responds"
            );
        }
        if let Some((_, until)) = lock(&self.downtimes).last_mut() {
            *until = Some(Instant::now());
        }
    }

    async fn responds_within(&self, timeout: Duration) -> bool {
        let deadline = Instant::now() + timeout;
        // This route needs no store.
        while self.get("/openapi.json").await.is_none() {
            if Instant::now() > deadline {
                return false;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        true
    }

    /// Restarts Miniflare, which gives up when another process has taken the port of its workerd.
    fn restart_miniflare(&self) {
        let miniflare = lock(&self.miniflare).take().expect("Miniflare").miniflare;
        let text = miniflare.log();
        // Errors of Miniflare, without the Worker's own log lines.
        let errors = text
            .lines()
            .filter(|line| line.contains("rror") && !line.contains("level"));
        let errors: Vec<&str> = errors.collect();
        let last = errors
            .get(errors.len().saturating_sub(20)..)
            .unwrap_or(&errors);
        log(&format!("restarting Miniflare:\n{}", last.join("\n")));
        let miniflare = miniflare.restart();
        *lock(&self.api) = miniflare.api();
        *lock(&self.miniflare) = Some(LoggedMiniflare {
            miniflare,
            log_offset: 0,
        });
    }
}

/// Returns the Worker's own response, which has the header `X-Request-Id`.
async fn receive<E>(response: impl Future<Output = Result<Answer, E>>) -> Received {
    match tokio::time::timeout(scaled(CLIENT_TIMEOUT), response).await {
        Ok(Ok(response)) if response.header("x-request-id").is_some() => {
            Received::Response(response)
        }
        Ok(Ok(response)) if response.status == 499 => Received::Aborted,
        Ok(_) | Err(_) => Received::Nothing,
    }
}

/// Ignores poisoning: the data is valid even if another task has panicked.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
