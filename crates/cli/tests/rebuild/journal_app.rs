//! A running service with a journal.

use std::ops::Deref;

use redis::{Connection, RedisResult};
use test_support::reference::waiting;
use test_support::{Api, Method, WorkerBuilder, gateway, key_in, owner, redis, shard_of, until};

use crate::app::{Endpoint, TestApp, builder};
use crate::stored::{StoredData, generation, read_data, redis_command};

/// A running service with a journal.
pub struct JournalApp {
    app: TestApp,
    /// URL of the service.
    pub url: String,
}

impl Deref for JournalApp {
    type Target = TestApp;

    fn deref(&self) -> &TestApp {
        &self.app
    }
}

impl JournalApp {
    /// Starts a service with additional settings.
    pub fn start(configure: impl FnOnce(WorkerBuilder) -> WorkerBuilder) -> Self {
        Self::on(&gateway().url(), configure)
    }

    /// Starts a service on a store of its own.
    pub fn on(store: &str, configure: impl FnOnce(WorkerBuilder) -> WorkerBuilder) -> Self {
        let worker = configure(builder().journal().store(store)).start();
        let endpoint = Endpoint {
            store: store.to_owned(),
            prefix: worker.prefix().to_owned(),
        };
        let url = worker.url().to_owned();
        Self {
            app: TestApp::new(worker.api(), endpoint, worker),
            url,
        }
    }

    /// Runs an SQL statement in the database of the journal.
    pub async fn sql(&self, statement: &str) {
        let api = Api::new(&self.url);
        let response = api.send(Method::POST, "/sql", statement.to_owned(), &[]);
        response.await.assert_status(200);
    }

    /// Returns the URL of the store.
    pub fn store(&self) -> String {
        gateway().url()
    }

    /// Waits until others have received everything.
    pub async fn wait_for_receivers(&self) {
        let (mut redis, prefix) = (self.redis(), &self.endpoint.prefix);
        let exists = |shard: &u32| {
            let users = format!("{{{prefix}:{shard}}}p");
            redis_command::<bool>(&mut self.redis(), &["EXISTS", &users]) == Ok(true)
        };
        let shards = (1..64).take_while(|shard| exists(shard)).count() as u32 + 1;
        // Receivers run at most once a second after responses, and at once by cron.
        until("the receivers", async || {
            let is_done = waiting(&mut redis, prefix, shards) == 0;
            if !is_done {
                self.api.minute().await;
            }
            is_done.then_some(())
        })
        .await;
    }

    /// Starts another Worker on the same data, with empty caches.
    pub fn without_cache(&self) -> TestApp {
        TestApp::on(&self.endpoint)
    }

    /// Connects to Redis.
    pub fn redis(&self) -> Connection {
        redis().connection()
    }

    /// Drains the outbox to the journal, then deletes all data of the service in Redis.
    pub async fn lose_data(&self) -> RedisResult<()> {
        self.api.get("/v1/journal").await.assert_status(200);
        let mut redis = self.redis();
        let pattern = format!("{{{}:*", self.endpoint.prefix);
        let keys: Vec<String> = redis_command(&mut redis, &["KEYS", &pattern])?;
        keys.iter()
            .try_for_each(|key| redis_command(&mut redis, &["DEL", key]))
    }

    /// Reads all data in Redis.
    pub fn data(&self) -> RedisResult<StoredData> {
        read_data(&mut self.redis(), &self.endpoint.prefix)
    }

    /// Returns a full key of the present data, on the shard of the user it names, else of user 42.
    pub fn key(&self, name: &str) -> String {
        self.key_of(owner(name).unwrap_or("42"), name)
    }

    /// Returns a full key of the present data on the shard of a user.
    pub fn key_of(&self, user: &str, name: &str) -> String {
        self.key_on(shard_of(user), name)
    }

    /// Returns a full key of the present data on a shard.
    pub fn key_on(&self, shard: u32, name: &str) -> String {
        let prefix = &self.endpoint.prefix;
        let generation = generation(&mut self.redis(), prefix, &shard.to_string());
        key_in(generation.unwrap_or(1), prefix, shard, name)
    }
}
