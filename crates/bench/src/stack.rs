//! The servers, the Worker settings and the profiles that all contenders share.

use crate::load::user_id;
use test_support::{
    Answer, Api, Gateway, RedisOptions, RedisServer, Value, Worker, WorkerBuilder, json,
};

/// The store that all contenders share.
pub struct Stack {
    /// The redis-server.
    pub redis: RedisServer,
    /// The gateway in front of it.
    pub gateway: Gateway,
}

impl Stack {
    /// Starts redis-server and gateway.
    pub fn start() -> Self {
        let redis = RedisServer::spawn(RedisOptions::default());
        let gateway = Gateway::spawn(&redis.url());
        Self { redis, gateway }
    }
}

/// Configures a Worker with a key prefix.
pub fn worker_builder(prefix: &str) -> WorkerBuilder {
    Worker::builder().var("PREFIX", prefix)
}

/// Writes a profile for every user through the API.
pub async fn write_profiles(api: &Api, users: usize) -> Result<(), String> {
    for first in (0..users).step_by(500) {
        let profiles = (first..users.min(first + 500)).map(|user| {
            let mut profile = profile(user);
            profile["id"] = json!(user_id(user));
            profile
        });
        succeeded(&api.put("/v1/users", &profiles.collect()).await)?;
    }
    Ok(())
}

/// Returns an error unless a response has status 200.
pub fn succeeded(response: &Answer) -> Result<(), String> {
    let Answer {
        request,
        status,
        text,
        ..
    } = response;
    match status {
        200 => Ok(()),
        _ => Err(format!("{request}: {status} {text}")),
    }
}

/// Returns the profile of a user.
pub fn profile(user: usize) -> Value {
    let id = user_id(user);
    json!({
        "name": format!("Member {id}"),
        "avatar": format!("https://pictures.example/{id}.png"),
        "url": format!("https://site.example/members/{id}"),
    })
}
