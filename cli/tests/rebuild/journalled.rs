//! A site that keeps a journal, in a store of its own that may be emptied.

use std::ops::Deref;

use redis::{Connection, RedisResult};
use test_support::{Api, Gateway, Method, RedisOptions, RedisServer, WorkerBuilder};

use crate::command::Place;
use crate::content::{Content, ask, content};
use crate::site::{Site, builder};

/// The running service and what it stands on.
pub struct Journalled {
    site: Site,
    /// The service's address.
    pub url: String,
    redis: RedisServer,
    gateway: Gateway,
}

impl Deref for Journalled {
    type Target = Site;

    fn deref(&self) -> &Site {
        &self.site
    }
}

impl Journalled {
    /// One with these settings beside the usual ones.
    pub fn start(configure: impl FnOnce(WorkerBuilder) -> WorkerBuilder) -> Self {
        let redis = RedisServer::spawn(RedisOptions::default());
        let gateway = Gateway::spawn(&redis.url());
        let builder = configure(builder().store(&gateway.url()).journal());
        let wrangler = builder.start_wrangler();
        let place = Place {
            store: gateway.url(),
            prefix: wrangler.prefix().to_owned(),
        };
        let url = wrangler.url().to_owned();
        Self {
            site: Site::of(wrangler.api(), place, wrangler),
            url,
            redis,
            gateway,
        }
    }

    /// Runs a statement in the journal's database.
    pub async fn sql(&self, statement: &str) {
        let api = Api::new(&self.url);
        let answer = api.send(Method::POST, "/sql", statement.to_owned(), &[]);
        answer.await.assert_status(200);
    }

    /// Where its store answers.
    pub fn store(&self) -> String {
        self.gateway.url()
    }

    /// Reads past every cache: another Worker on the same data.
    pub fn reader(&self) -> Site {
        Site::on(&self.place)
    }

    /// Past everything.
    pub fn redis(&self) -> Connection {
        self.redis.connection()
    }

    /// Empties the store, when all that was done has reached the journal.
    pub async fn lose(&self) -> RedisResult<()> {
        self.api.get("/v1/journal").await.assert_status(200);
        ask(&mut self.redis(), &["FLUSHALL"])
    }

    /// All that lies in the store.
    pub fn content(&self) -> RedisResult<Content> {
        content(&mut self.redis(), &self.place.prefix)
    }

    /// A key in full: on the shard of the user whom it names, else of 42.
    pub fn key(&self, name: &str) -> String {
        test_support::key(&self.place.prefix, name)
    }

    /// A key in full, on the shard of a user.
    pub fn key_of(&self, user: &str, name: &str) -> String {
        test_support::key_of(&self.place.prefix, user, name)
    }
}
